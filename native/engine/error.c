/* SPDX-License-Identifier: Apache-2.0
 * Texts of failures: built once, kept for the thread, handed on from workers to waiters.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "failure.h"
#include "message.h"
#include "text.h"
#include "thread.h"

/* Only what the runtime itself refuses is remembered: neither the layer above it nor "feature not supported". */
static bool is_runtime_error_(int32_t status) {
  int32_t family = status / 1000;
  return (family == 107 || family == 207 || family == 507) && status != ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

void eng_error_remember(int32_t status) {
  if (!is_runtime_error_(status)) return;
  struct eng_thread *self = eng_self();
  self->runtime_error_before = self->runtime_error;
  self->runtime_error = status;
}

int32_t aclpy_last_error(int32_t level, int32_t clear, int32_t *code) {
  const char *function = clear ? "aclrtGetLastError" : "aclrtPeekAtLastError";
  if (code == NULL) return eng_fail_null(function, "code");
  if (level != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "level", "0 (the calling thread)", "pass 0", "%d",
                      (int)level);
  }
  struct eng_thread *self = eng_self();
  *code = self->runtime_error;
  if (clear) self->runtime_error = self->runtime_error_before = ACLPY_ACL_SUCCESS;
  return ACLPY_ACL_SUCCESS;
}

static void copy_(char *to, size_t room, const char *text) { eng_text(to, room, "%s", text == NULL ? "" : text); }

int32_t eng_error_keep(const aclpy_error *error) {
  aclpy_error *last = &eng_self()->error;
  if (last != error) *last = *error;
  char text[1200];
  eng_text(text, sizeof(text), "%s%s%s: got %s%s%s%s%s", last->function, last->argument[0] != 0 ? ", argument " : "",
           last->argument, last->got, last->expected[0] != 0 ? "; expected " : "", last->expected,
           last->hint[0] != 0 ? "\n        Solution: " : "", last->hint);
  aclpy_error_push(last->status, text);
  return last->status;
}

int32_t aclpy_fail(int32_t status, const char *function, const char *argument, const char *expected, const char *hint,
                   const char *got_format, ...) {
  aclpy_error *last = &eng_self()->error;
  last->status = status;
  last->token = 0;
  copy_(last->function, sizeof(last->function), function);
  copy_(last->argument, sizeof(last->argument), argument);
  copy_(last->expected, sizeof(last->expected), expected);
  copy_(last->hint, sizeof(last->hint), hint);
  last->got[0] = 0;
  if (got_format != NULL) {
    va_list values;
    va_start(values, got_format);
    eng_text_list(last->got, sizeof(last->got), got_format, values);
    va_end(values);
  }
  /* What is expected of an argument is also what to pass, unless somebody knows better. */
  if (last->hint[0] == 0 && last->argument[0] != 0 && last->expected[0] != 0) {
    eng_text(last->hint, sizeof(last->hint), "pass %s", last->expected);
  }
  return eng_error_keep(last);
}

const aclpy_error *aclpy_error_last(void) { return &eng_self()->error; }

void aclpy_error_clear(void) { memset(&eng_self()->error, 0, sizeof(aclpy_error)); }

static struct eng_failure without_memory_ = {.owners = 1,
                                             .error = {.status = ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION,
                                                       .function = "task",
                                                       .got = "a failed task, and no memory left to keep its text",
                                                       .hint = "free memory"}};

/* It surfaces where the stream is waited for, not in the thread that happened to run the task. Not inlined: the null
 * checks of gcc's sanitizer go wrong on thread-local variables in the middle of a longer function. */
__attribute__((noinline)) static void take_back_(struct eng_thread *self, int32_t status) {
  if (self->runtime_error == status) self->runtime_error = self->runtime_error_before;
}

void aclpy_error_take_back(void) {
  struct eng_thread *self = eng_self();
  take_back_(self, self->error.status);
  eng_messages_take_back();
  aclpy_error_clear();
}

struct eng_failure *eng_failure_new(int32_t status, uint64_t token, const char *function) {
  struct eng_failure *failure = malloc(sizeof(*failure));
  if (failure == NULL) return &without_memory_;
  atomic_init(&failure->owners, 1);
  atomic_init(&failure->delivered, false);
  struct eng_thread *self = eng_self();
  const aclpy_error *last = &self->error;
  if (last->status == status) {
    failure->error = *last;
    take_back_(self, status);
    eng_messages_take_back();
  } else {
    memset(&failure->error, 0, sizeof(failure->error));
    eng_text(failure->error.got, sizeof(failure->error.got), "status %d from the task", (int)status);
    copy_(failure->error.expected, sizeof(failure->error.expected), "0");
  }
  failure->error.status = status;
  failure->error.token = token != 0 ? token : last->token;
  if (function != NULL && function[0] != 0) copy_(failure->error.function, sizeof(failure->error.function), function);
  return failure;
}

struct eng_failure *eng_failure_share(struct eng_failure *failure) {
  if (failure != &without_memory_) atomic_fetch_add(&failure->owners, 1);
  return failure;
}

void eng_failure_drop(struct eng_failure *failure) {
  if (failure == NULL || failure == &without_memory_) return;
  if (atomic_fetch_sub(&failure->owners, 1) == 1) free(failure);
}

void eng_failure_mark_delivered(struct eng_failure *failure) {
  if (failure != &without_memory_) atomic_store(&failure->delivered, true);
}

int32_t eng_failure_report(const struct eng_failure *failure) { return eng_error_keep(&failure->error); }

int32_t eng_failure_report_stopped(const struct eng_failure *failure) {
  aclpy_error error = failure->error;
  const char *hint = failure->error.hint;
  eng_text(error.hint, sizeof(error.hint),
           "%s%sthe context has stopped with it (ACL_STOP_ON_FAILURE): go on in another one, or reset the device", hint,
           hint[0] != 0 ? "; " : "");
  return eng_error_keep(&error);
}

int32_t eng_fail_stopped(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_UNINITIALIZE, function, "", "a running engine",
                    "call it before the interpreter exits", "a call after the engine was shut down");
}

int32_t eng_fail_null(const char *function, const char *argument) {
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, argument, "a pointer or handle other than NULL",
                    "pass what its creator returned, or the address of a variable for a result", "NULL");
}

int32_t eng_fail_memory(const char *function, const char *what) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION, function, "", "memory for it", "free memory and try again",
                    "no memory for %s", what);
}
