/* SPDX-License-Identifier: Apache-2.0
 * Devices: how often each primary context is held, by aclrtSetDevice and by the Python nouns.
 */
#ifndef ACLPY_ENGINE_DEVICE_H
#define ACLPY_ENGINE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* A number that changes whenever aclrtResetDevice gives the primary context up; 0 while no aclrtSetDevice holds it. */
uint64_t eng_device_epoch(int32_t device);

/* aclInit's defaultDevice: what a thread without a current context sets implicitly; -1 for none. */
void eng_device_set_default(int32_t device);
/* Sets that device for the calling thread. False: there is none, or it could not be set up. */
bool eng_device_use_default(void);

#endif
