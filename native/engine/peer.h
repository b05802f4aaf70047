/* SPDX-License-Identifier: Apache-2.0
 * Which device may reach the memory of which other one.
 */
#ifndef ACLPY_ENGINE_PEER_H
#define ACLPY_ENGINE_PEER_H

#include <stdint.h>

struct eng_memory;

/* Whether work of `device` may copy between these allocations: 107000 without the peer access it needs. */
int32_t eng_peer_check(int32_t device, const struct eng_memory *dst, const struct eng_memory *src,
                       const char *function);
/* Takes back what aclrtDeviceEnablePeerAccess gave the device. */
void eng_peer_forget(int32_t device);
void eng_peer_after_fork(void);

#endif
