/* SPDX-License-Identifier: Apache-2.0
 * Names of operators by number, for messages.
 */
#ifndef ACLPY_ENGINE_OPERATOR_H
#define ACLPY_ENGINE_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Never NULL. */
const char *eng_operator_name(uint32_t op);
void eng_operators_before_fork(void);
void eng_operators_after_fork(bool child);

#endif
