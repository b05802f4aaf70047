/* SPDX-License-Identifier: Apache-2.0
 * How many streams, events and notifies a device has, and how many are taken.
 */
#ifndef ACLPY_ENGINE_LIMIT_H
#define ACLPY_ENGINE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

enum eng_limit { ENG_LIMIT_STREAMS, ENG_LIMIT_EVENTS, ENG_LIMIT_NOTIFIES, ENG_LIMITS };

/* Takes one of the device's; the kind's own status (207007, 207008, 207009) when none is left. */
int32_t eng_limit_take(enum eng_limit kind, int32_t device, const char *function);
void eng_limit_give(enum eng_limit kind, int32_t device);
/* How many are left on the context's device. */
int32_t eng_limit_available(enum eng_limit kind, aclpy_handle ctx, uint32_t *number, const char *function,
                            const char *argument);
void eng_limits_after_fork(bool child);
void eng_limits_before_fork(void);

#endif
