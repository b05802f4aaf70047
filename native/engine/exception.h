/* SPDX-License-Identifier: Apache-2.0
 * Failed tasks as the program's exception callbacks see them.
 */
#ifndef ACLPY_ENGINE_EXCEPTION_H
#define ACLPY_ENGINE_EXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

struct eng_stream;

/* By whoever ran the task, before anybody who waits can know of its end. */
void eng_exception_report(const struct eng_stream *stream, int32_t status);
/* Forgets the device's last fault. */
void eng_exception_forget(int32_t device);
void eng_exceptions_before_fork(void);
void eng_exceptions_after_fork(bool child);

#endif
