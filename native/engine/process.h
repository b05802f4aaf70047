/* SPDX-License-Identifier: Apache-2.0
 * What fork has to do in files that have no other private header.
 */
#ifndef ACLPY_ENGINE_PROCESS_H
#define ACLPY_ENGINE_PROCESS_H

#include <stdbool.h>

/* What is done at a fork is registered from here on, once; at load time at the latest. */
void eng_fork_guard(void);

void eng_init_before_fork(void);
void eng_init_after_fork(bool child);

#endif
