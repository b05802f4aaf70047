/* SPDX-License-Identifier: Apache-2.0
 * Filling memory with a byte or with a 32-bit pattern, at once and in stream order.
 */
#include <inttypes.h>
#include <string.h>

#include "aclpy_status.h"
#include "capture.h"
#include "context.h"
#include "copy.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "stream.h"
#include "transfer.h"

int32_t aclpy_memset(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count) {
  static const char function[] = "aclrtMemset";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "devPtr");
  if (count > max) return eng_refuse_count(function, "maxCount", count, max);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_capture_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_end to = {.name = "devPtr", .address = dst, .span = count};
  status = eng_end_find(&to, function);
  if (status == ACLPY_ACL_SUCCESS) status = eng_bytes_set(to.memory, dst, value & 0xff, count);
  eng_end_release(&to);
  eng_release(&context->head);
  return status;
}

static int32_t set_in_stream_(struct eng_stream *stream, struct eng_end *dst, int32_t value, size_t count,
                              const char *function) {
  if (dst->memory == NULL) {
    int32_t status = eng_stream_settle(stream, function);
    if (status == ACLPY_ACL_SUCCESS) memset((void *)dst->address, value & 0xff, count);
    return status;
  }
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_SET);
  task.u.copy.dst = dst->address;
  task.u.copy.count = count;
  task.u.copy.value = value & 0xff;
  eng_task_give(&task, dst);
  return eng_stream_put(stream, &task, function);
}

int32_t aclpy_memset_async(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count,
                           aclpy_handle stream) {
  static const char function[] = "aclrtMemsetAsync";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "devPtr");
  if (count > max) return eng_refuse_count(function, "maxCount", count, max);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_end to = {.name = "devPtr", .address = dst, .span = count};
  status = eng_end_find(&to, function);
  if (status == ACLPY_ACL_SUCCESS) status = set_in_stream_(found, &to, value, count, function);
  eng_end_release(&to);
  eng_release(&found->head);
  return status;
}

/* ---- 32-bit patterns: only memory that the runtime knows ---- */

static int32_t check_d32_(const char *function, uintptr_t dst, size_t size, size_t count) {
  if (dst == 0) return eng_fail_null(function, "ptr");
  if (dst % sizeof(uint32_t) != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "ptr", "an address that is a multiple of 4",
                      "start at a whole 32-bit value", "0x%" PRIxPTR, dst);
  }
  if (count <= size / sizeof(uint32_t)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "N", "a number of values that fits into memSize bytes",
                    "N counts values of 4 bytes, memSize counts bytes", "N %zu, memSize %zu", count, size);
}

static int32_t find_known_(struct eng_end *end, const char *function) {
  int32_t status = eng_end_find(end, function);
  if (status != ACLPY_ACL_SUCCESS || end->memory != NULL) return status;
  char place[256];
  eng_memory_describe(end->address, place, sizeof(place));
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "memory that the runtime allocated",
                    "allocate it with aclrtMalloc or aclrtMallocHost", "%s", place);
}

int32_t aclpy_memset_d32(aclpy_handle ctx, uintptr_t dst, size_t size, uint32_t value, size_t count) {
  static const char function[] = "aclrtMemsetD32";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  int32_t status = check_d32_(function, dst, size, count);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_end to = {.name = "ptr", .address = dst, .span = count * sizeof(uint32_t)};
  status = find_known_(&to, function);
  if (status == ACLPY_ACL_SUCCESS) status = eng_fill_d32(to.memory, dst, value, count);
  eng_end_release(&to);
  eng_release(&context->head);
  return status;
}

int32_t aclpy_memset_d32_async(aclpy_handle ctx, uintptr_t dst, size_t size, uint32_t value, size_t count,
                               aclpy_handle stream) {
  static const char function[] = "aclrtMemsetD32Async";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  int32_t status = check_d32_(function, dst, size, count);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_end to = {.name = "ptr", .address = dst, .span = count * sizeof(uint32_t)};
  status = find_known_(&to, function);
  struct eng_transfer what = {.form = ENG_TRANSFER_D32, .function = function, .dst = dst, .value = value, .n = count};
  if (status == ACLPY_ACL_SUCCESS) status = eng_transfer_queue(found, &what, NULL, &to, 1);
  eng_end_release(&to);
  eng_release(&found->head);
  return status;
}
