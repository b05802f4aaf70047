/* SPDX-License-Identifier: Apache-2.0
 * Copies and fills, at once and in stream order; the rules in AscendCL's order of evaluation.
 */
#include <inttypes.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "memory.h"
#include "stream.h"

enum {
  HOST_TO_HOST = 0,
  HOST_TO_DEVICE = 1,
  DEVICE_TO_HOST = 2,
  DEVICE_TO_DEVICE = 3,
  DEFAULT_KIND = 4,
  HOST_TO_BUF_TO_DEVICE = 5
};

/* One end of a copy. */
struct end_ {
  const char *name;
  uintptr_t address;
  struct eng_memory *memory; /* NULL: memory that we did not allocate, so pageable host memory */
};

static bool on_device_(const struct end_ *end) {
  return end->memory != NULL && end->memory->kind == ACLPY_MEMORY_DEVICE;
}

static void let_go_(struct end_ *end) {
  if (end->memory != NULL) eng_release(&end->memory->head);
  end->memory = NULL;
}

/* What must be wrong with memory that is not ours: it begins just behind one of our allocations, or it is none. */
static int32_t check_pageable_(const struct end_ *end, size_t count, const char *function) {
  size_t size = 0;
  if (eng_memory_ends_before(end->address, &size)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "an address inside an allocation",
                      "check the pointer arithmetic", "0x%" PRIxPTR ", behind the end of an allocation of %zu bytes",
                      end->address, size);
  }
  if (!eng_bytes_mapped(end->address, count)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "the address of that many bytes of memory",
                      "pass a live allocation or host memory",
                      "%zu bytes at 0x%" PRIxPTR ", where the process has no memory", count, end->address);
  }
  return ACLPY_ACL_SUCCESS;
}

/* Finds the allocation and refuses to run past its end. */
static int32_t look_up_(struct end_ *end, size_t count, const char *function) {
  end->memory = eng_memory_find(end->address);
  if (end->memory == NULL) return check_pageable_(end, count, function);
  size_t inside = end->address - end->memory->base;
  size_t room = end->memory->size - inside;
  if (count <= room) return ACLPY_ACL_SUCCESS;
  int32_t status = aclpy_fail(
      ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "at most as many bytes as the allocation has from there",
      "copy fewer bytes or allocate more", "%zu bytes at 0x%" PRIxPTR ", where an allocation of %zu bytes has %zu left",
      count, end->address, end->memory->size, room);
  let_go_(end);
  return status;
}

static int32_t look_up_both_(struct end_ *dst, struct end_ *src, size_t count, const char *function) {
  int32_t status = look_up_(dst, count, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  status = look_up_(src, count, function);
  if (status != ACLPY_ACL_SUCCESS) let_go_(dst);
  return status;
}

static int32_t refuse_kind_(const char *function, int32_t status, int32_t kind, const char *expected) {
  return aclpy_fail(status, function, "kind", expected, "name the direction in which the bytes go", "kind %" PRId32,
                    kind);
}

static int32_t refuse_count_(const char *function, const char *limit_name, size_t count, size_t limit) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "count",
                    "a count of at most the room at the destination", "pass the size of the destination as it is",
                    "count %zu, %s %zu", count, limit_name, limit);
}

/* Everything before the context is looked at. *done: nothing is left to do, whatever the status. */
static int32_t check_copy_(const char *function, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count,
                           int32_t kind, bool *done) {
  *done = true;
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "dst");
  if (src == 0) return eng_fail_null(function, "src");
  if (kind < HOST_TO_HOST || kind > HOST_TO_BUF_TO_DEVICE) {
    return refuse_kind_(function, ACLPY_ACL_ERROR_INVALID_PARAM, kind, "a kind from 0 to 5");
  }
  if (count > dst_max) return refuse_count_(function, "destMax", count, dst_max);
  *done = dst == src;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_memcpy(aclpy_handle ctx, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count, int32_t kind) {
  static const char function[] = "aclrtMemcpy";
  bool done;
  int32_t status = check_copy_(function, dst, dst_max, src, count, kind, &done);
  if (done) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct end_ to = {.name = "dst", .address = dst}, from = {.name = "src", .address = src};
  status = look_up_both_(&to, &from, count, function);
  if (status == ACLPY_ACL_SUCCESS) memmove((void *)dst, (const void *)src, count);
  let_go_(&to);
  let_go_(&from);
  eng_release(&context->head);
  return status;
}

int32_t aclpy_memset(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count) {
  static const char function[] = "aclrtMemset";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "devPtr");
  if (count > max) return refuse_count_(function, "maxCount", count, max);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct end_ to = {.name = "devPtr", .address = dst};
  status = look_up_(&to, count, function);
  if (status == ACLPY_ACL_SUCCESS) memset((void *)dst, value & 0xff, count);
  let_go_(&to);
  eng_release(&context->head);
  return status;
}

/* ---- in stream order ---- */

/* The direction by where the two ends lie; a kind that contradicts the known end is refused. */
static int32_t correct_kind_(const char *function, const struct end_ *dst, const struct end_ *src, int32_t kind,
                             int32_t *real) {
  bool dst_known = dst->memory != NULL, src_known = src->memory != NULL;
  int32_t by_place = on_device_(src) ? (on_device_(dst) ? DEVICE_TO_DEVICE : DEVICE_TO_HOST)
                                     : (on_device_(dst) ? HOST_TO_DEVICE : HOST_TO_HOST);
  *real = by_place;
  if ((dst_known && src_known) || kind == DEFAULT_KIND) return ACLPY_ACL_SUCCESS;
  if (kind == HOST_TO_BUF_TO_DEVICE) kind = HOST_TO_DEVICE;
  *real = kind;
  if (!dst_known && !src_known) return ACLPY_ACL_SUCCESS;
  int32_t first, second;
  const char *expected;
  if (on_device_(dst)) {
    first = HOST_TO_DEVICE, second = DEVICE_TO_DEVICE, expected = "a kind that ends on the device, as dst does";
  } else if (on_device_(src)) {
    first = DEVICE_TO_HOST, second = DEVICE_TO_DEVICE, expected = "a kind that begins on the device, as src does";
  } else if (src_known) {
    first = HOST_TO_HOST, second = HOST_TO_DEVICE, expected = "a kind that begins on the host, as src does";
  } else {
    first = HOST_TO_HOST, second = DEVICE_TO_HOST, expected = "a kind that ends on the host, as dst does";
  }
  if (kind == first || kind == second) return ACLPY_ACL_SUCCESS;
  return refuse_kind_(function, ACLPY_ACL_ERROR_RT_PARAM_INVALID, kind, expected);
}

/* The task takes over the reference. */
static void give_(struct eng_task *task, struct end_ *end) {
  task->hold[task->n_holds++] = (uintptr_t)end->memory;
  end->memory = NULL;
}

static int32_t queue_copy_(struct eng_stream *stream, struct end_ *dst, struct end_ *src, size_t count,
                           const char *function) {
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_COPY);
  task.u.copy.dst = dst->address;
  task.u.copy.src = src->address;
  task.u.copy.count = count;
  give_(&task, dst);
  give_(&task, src);
  int32_t status = eng_stream_submit(stream, &task, function, NULL);
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(&task);
  return status;
}

static int32_t copy_in_stream_(struct eng_stream *stream, struct end_ *dst, struct end_ *src, size_t count,
                               int32_t kind, const char *function) {
  int32_t real = kind;
  int32_t status = correct_kind_(function, dst, src, kind, &real);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (real == HOST_TO_HOST) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "kind", "a copy that touches the device",
                      "use aclrtMemcpy between two places on the host", "a copy from host to host in a stream");
  }
  if (dst->memory != NULL && src->memory != NULL) return queue_copy_(stream, dst, src, count, function);
  /* Pageable host memory may be gone when the task runs: wait for the stream and copy now, as the hardware does. */
  status = eng_stream_synchronize(stream, function);
  if (status == ACLPY_ACL_SUCCESS) memmove((void *)dst->address, (const void *)src->address, count);
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
  struct end_ to = {.name = "dst", .address = dst}, from = {.name = "src", .address = src};
  status = look_up_both_(&to, &from, count, function);
  if (status == ACLPY_ACL_SUCCESS) status = copy_in_stream_(found, &to, &from, count, kind, function);
  let_go_(&to);
  let_go_(&from);
  eng_release(&found->head);
  return status;
}

static int32_t set_in_stream_(struct eng_stream *stream, struct end_ *dst, int32_t value, size_t count,
                              const char *function) {
  if (dst->memory == NULL) {
    int32_t status = eng_stream_synchronize(stream, function);
    if (status == ACLPY_ACL_SUCCESS) memset((void *)dst->address, value & 0xff, count);
    return status;
  }
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_SET);
  task.u.copy.dst = dst->address;
  task.u.copy.count = count;
  task.u.copy.value = value & 0xff;
  give_(&task, dst);
  int32_t status = eng_stream_submit(stream, &task, function, NULL);
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(&task);
  return status;
}

int32_t aclpy_memset_async(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count,
                           aclpy_handle stream) {
  static const char function[] = "aclrtMemsetAsync";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "devPtr");
  if (count > max) return refuse_count_(function, "maxCount", count, max);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct end_ to = {.name = "devPtr", .address = dst};
  status = look_up_(&to, count, function);
  if (status == ACLPY_ACL_SUCCESS) status = set_in_stream_(found, &to, value, count, function);
  let_go_(&to);
  eng_release(&found->head);
  return status;
}
