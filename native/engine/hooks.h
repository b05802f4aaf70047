/* SPDX-License-Identifier: Apache-2.0
 * Functions of other components that aclInit and aclFinalize call.
 */
#ifndef ACLPY_ENGINE_HOOKS_H
#define ACLPY_ENGINE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each calls every registered function in the order of registration and returns the first status other than 0. */
int32_t eng_hooks_init(const char *config, size_t length);
int32_t eng_hooks_finalize(void);
void eng_hooks_before_fork(void);
void eng_hooks_after_fork(bool child);

#endif
