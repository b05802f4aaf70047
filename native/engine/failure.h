/* SPDX-License-Identifier: Apache-2.0
 * Failures as values: the text of a failed task on its way from the worker to whoever waits for it.
 */
#ifndef ACLPY_ENGINE_FAILURE_H
#define ACLPY_ENGINE_FAILURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine.h"

/* Shared by the stream of the task and by the allocations that the task touched. */
struct eng_failure {
  atomic_int owners;
  atomic_bool delivered; /* a synchronise of the stream has reported it */
  aclpy_error error;
};

/* Takes over the thread's last error when it is about `status`, otherwise makes a text of its own. One owner.
 * Never NULL: without memory it is a shared constant that says so. */
struct eng_failure *eng_failure_new(int32_t status, uint64_t token, const char *function);
struct eng_failure *eng_failure_share(struct eng_failure *failure);
void eng_failure_drop(struct eng_failure *failure);
void eng_failure_mark_delivered(struct eng_failure *failure);
/* Makes it the calling thread's last error and recent message; returns its status. */
int32_t eng_failure_report(const struct eng_failure *failure);
/* The same to a call that came later, in the context that it stopped. */
int32_t eng_failure_report_stopped(const struct eng_failure *failure);

/* Puts a finished error into the thread's last error and recent messages; returns its status. */
int32_t eng_error_keep(const aclpy_error *error);
/* For aclrtGetLastError of the calling thread, if it is of the kind that is kept there. */
void eng_error_remember(int32_t status);
/* The common refusals. */
int32_t eng_fail_stopped(const char *function);
int32_t eng_fail_null(const char *function, const char *argument);
int32_t eng_fail_memory(const char *function, const char *what);

#endif
