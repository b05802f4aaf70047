/* SPDX-License-Identifier: Apache-2.0
 * The ends of a copy: whose memory they are, how much of it there is, and which way the bytes go.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "copy.h"
#include "failure.h"
#include "memory.h"
#include "peer.h"
#include "stream.h"

bool eng_end_on_device(const struct eng_end *end) {
  return end->memory != NULL && end->memory->kind == ACLPY_MEMORY_DEVICE;
}

void eng_end_release(struct eng_end *end) {
  if (end->memory != NULL) eng_release(&end->memory->head);
  end->memory = NULL;
}

void eng_ends_release(struct eng_end *dst, struct eng_end *src) {
  eng_end_release(dst);
  eng_end_release(src);
}

/* What must be wrong with memory that is not ours: it begins just behind one of our allocations, or before one that it
 * reaches into, or it is none. */
static int32_t check_pageable_(const struct eng_end *end, const char *function) {
  size_t size = 0;
  if (eng_memory_ends_before(end->address, &size)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "an address inside an allocation",
                      "check the pointer arithmetic", "0x%" PRIxPTR ", behind the end of an allocation of %zu bytes",
                      end->address, size);
  }
  uintptr_t base = 0;
  if (eng_memory_runs_into(end->address, end->span, &base, &size)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name,
                      "an address inside an allocation, or bytes that are all outside of it",
                      "check the pointer arithmetic",
                      "%zu bytes at 0x%" PRIxPTR ", %zu bytes before an allocation of %zu bytes", end->span,
                      end->address, (size_t)(base - end->address), size);
  }
  if (!eng_bytes_mapped(end->address, end->span)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "the address of that many bytes of memory",
                      "pass a live allocation or host memory",
                      "%zu bytes at 0x%" PRIxPTR ", where the process has no memory", end->span, end->address);
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t eng_end_find(struct eng_end *end, const char *function) {
  end->memory = eng_memory_find(end->address);
  if (end->memory == NULL) return check_pageable_(end, function);
  size_t room = end->memory->size - (end->address - end->memory->base);
  if (end->span <= room) return ACLPY_ACL_SUCCESS;
  int32_t status = aclpy_fail(
      ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "at most as many bytes as the allocation has from there",
      "copy fewer bytes or allocate more", "%zu bytes at 0x%" PRIxPTR ", where an allocation of %zu bytes has %zu left",
      end->span, end->address, end->memory->size, room);
  eng_end_release(end);
  return status;
}

int32_t eng_ends_find(struct eng_end *dst, struct eng_end *src, int32_t device, const char *function) {
  int32_t status = eng_end_find(dst, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  status = eng_end_find(src, function);
  if (status == ACLPY_ACL_SUCCESS && eng_end_on_device(dst) && eng_end_on_device(src)) {
    status = eng_peer_check(device, dst->memory, src->memory, function);
  }
  if (status != ACLPY_ACL_SUCCESS) eng_ends_release(dst, src);
  return status;
}

void eng_task_give(struct eng_task *task, struct eng_end *end) {
  if (end->memory == NULL) return;
  eng_task_holds(task)[task->n_holds++] = (uintptr_t)end->memory;
  end->memory = NULL;
}

int32_t eng_stream_put(struct eng_stream *stream, struct eng_task *task, const char *function) {
  int32_t status = eng_stream_submit(stream, task, function, NULL);
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(task);
  return status;
}

/* ---- direction ---- */

int32_t eng_refuse_kind(const char *function, int32_t status, int32_t kind, const char *expected) {
  return aclpy_fail(status, function, "kind", expected, "name the direction in which the bytes go", "kind %" PRId32,
                    kind);
}

int32_t eng_refuse_count(const char *function, const char *limit_name, size_t count, size_t limit) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "count",
                    "a count of at most the room at the destination", "pass the size of the destination as it is",
                    "count %zu, %s %zu", count, limit_name, limit);
}

int32_t eng_refuse_host_to_host(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "kind", "a copy that touches the device",
                    "use aclrtMemcpy between two places on the host", "a copy from host to host in a stream");
}

int32_t eng_kind_correct(const char *function, const struct eng_end *dst, const struct eng_end *src, int32_t kind,
                         int32_t *real) {
  bool dst_known = dst->memory != NULL, src_known = src->memory != NULL;
  bool to_device = eng_end_on_device(dst), from_device = eng_end_on_device(src);
  *real = from_device ? (to_device ? ENG_DEVICE_TO_DEVICE : ENG_DEVICE_TO_HOST)
                      : (to_device ? ENG_HOST_TO_DEVICE : ENG_HOST_TO_HOST);
  if ((dst_known && src_known) || kind == ENG_DEFAULT_KIND) return ACLPY_ACL_SUCCESS;
  if (kind == ENG_HOST_TO_BUF_TO_DEVICE) kind = ENG_HOST_TO_DEVICE;
  *real = kind;
  if (!dst_known && !src_known) return ACLPY_ACL_SUCCESS;
  int32_t first, second;
  const char *expected;
  if (to_device) {
    first = ENG_HOST_TO_DEVICE, second = ENG_DEVICE_TO_DEVICE, expected = "a kind that ends on the device, as dst does";
  } else if (from_device) {
    first = ENG_DEVICE_TO_HOST, second = ENG_DEVICE_TO_DEVICE,
    expected = "a kind that begins on the device, as src does";
  } else if (src_known) {
    first = ENG_HOST_TO_HOST, second = ENG_HOST_TO_DEVICE, expected = "a kind that begins on the host, as src does";
  } else {
    first = ENG_HOST_TO_HOST, second = ENG_DEVICE_TO_HOST, expected = "a kind that ends on the host, as dst does";
  }
  if (kind == first || kind == second) return ACLPY_ACL_SUCCESS;
  return eng_refuse_kind(function, ACLPY_ACL_ERROR_RT_PARAM_INVALID, kind, expected);
}
