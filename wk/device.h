/* SPDX-License-Identifier: Apache-2.0
 * Devices: how often each primary context is held, by aclrtSetDevice and by the Python nouns.
 */
#ifndef ACLPY_ENGINE_DEVICE_H
#define ACLPY_ENGINE_DEVICE_H

#include <stdint.h>

/* A number that changes whenever aclrtResetDevice gives the primary context up; 0 while no aclrtSetDevice holds it. */
uint64_t eng_device_epoch(int32_t device);

#endif
