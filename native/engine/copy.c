/* SPDX-License-Identifier: Apache-2.0
 * Copies of one range, at once and in stream order; the rules in AscendCL's order of evaluation.
 */
#include "copy.h"

#include <string.h>

#include "aclpy_status.h"
#include "capture.h"
#include "context.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "stream.h"

/* Everything before the context is looked at. *done: nothing is left to do, whatever the status. */
static int32_t check_copy_(const char *function, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count,
                           int32_t kind, bool *done) {
  *done = true;
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "dst");
  if (src == 0) return eng_fail_null(function, "src");
  if (kind < ENG_HOST_TO_HOST || kind > ENG_HOST_TO_BUF_TO_DEVICE) {
    return eng_refuse_kind(function, ACLPY_ACL_ERROR_INVALID_PARAM, kind, "a kind from 0 to 5");
  }
  if (count > dst_max) return eng_refuse_count(function, "destMax", count, dst_max);
  *done = dst == src;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_memcpy(aclpy_handle ctx, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count, int32_t kind) {
  static const char function[] = "aclrtMemcpy";
  bool done;
  int32_t status = check_copy_(function, dst, dst_max, src, count, kind, &done);
  if (done) return status;
  struct eng_context *context = eng_capture_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_end to = {.name = "dst", .address = dst, .span = count};
  struct eng_end from = {.name = "src", .address = src, .span = count};
  status = eng_ends_find(&to, &from, context->device, function);
  if (status == ACLPY_ACL_SUCCESS) {
    status = eng_bytes_move(to.memory, from.memory, dst, src, count);
    eng_ends_release(&to, &from);
  }
  eng_release(&context->head);
  return status;
}

/* ---- in stream order ---- */

/* The bytes as they are now, so that the program may reuse its buffer as soon as the call returns. */
static int32_t stage_(struct eng_end *src, size_t count, const char *function) {
  struct eng_memory *staged = eng_memory_stage(src->memory->device, count);
  if (staged == NULL) return eng_fail_memory(function, "the buffer between host and device");
  memcpy((void *)staged->base, (const void *)src->address, count);
  eng_end_release(src);
  src->memory = staged;
  src->address = staged->base;
  return ACLPY_ACL_SUCCESS;
}

static int32_t queue_copy_(struct eng_stream *stream, struct eng_end *dst, struct eng_end *src, size_t count,
                           const char *function) {
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_COPY);
  task.u.copy.dst = dst->address;
  task.u.copy.src = src->address;
  task.u.copy.count = count;
  eng_task_give(&task, dst);
  eng_task_give(&task, src);
  return eng_stream_put(stream, &task, function);
}

static int32_t copy_in_stream_(struct eng_stream *stream, struct eng_end *dst, struct eng_end *src, size_t count,
                               int32_t kind, const char *function) {
  int32_t real = kind;
  int32_t status = eng_kind_correct(function, dst, src, kind, &real);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (real == ENG_HOST_TO_HOST) return eng_refuse_host_to_host(function);
  if (dst->memory != NULL && src->memory != NULL) {
    if (kind == ENG_HOST_TO_BUF_TO_DEVICE && !eng_end_on_device(src)) status = stage_(src, count, function);
    return status == ACLPY_ACL_SUCCESS ? queue_copy_(stream, dst, src, count, function) : status;
  }
  /* Pageable host memory may be gone when the task runs: wait for the stream and copy now, as the hardware does. */
  status = eng_stream_settle(stream, function);
  if (status == ACLPY_ACL_SUCCESS) {
    status = eng_bytes_move(dst->memory, src->memory, dst->address, src->address, count);
  }
  return status;
}

int32_t aclpy_memcpy_async(aclpy_handle ctx, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count, int32_t kind,
                           aclpy_handle stream) {
  static const char function[] = "aclrtMemcpyAsync";
  bool done;
  int32_t status = check_copy_(function, dst, dst_max, src, count, kind, &done);
  if (done) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_end to = {.name = "dst", .address = dst, .span = count};
  struct eng_end from = {.name = "src", .address = src, .span = count};
  status = eng_ends_find(&to, &from, found->device, function);
  if (status == ACLPY_ACL_SUCCESS) status = copy_in_stream_(found, &to, &from, count, kind, function);
  eng_ends_release(&to, &from);
  eng_release(&found->head);
  return status;
}
