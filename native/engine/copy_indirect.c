/* SPDX-License-Identifier: Apache-2.0
 * Copies inside a device whose addresses stand in memory and are read when the copy runs: behind a pointer and an
 * offset, or in a descriptor that aclrtSetMemcpyDesc wrote.
 */
#include <inttypes.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "copy.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "stream.h"
#include "transfer.h"

enum { INNER_DEVICE_TO_DEVICE = 6 };

/* What a descriptor holds; the mark tells one from other bytes. */
struct desc_ {
  uint64_t mark;
  uint64_t src, dst, count;
  uint64_t spare[4];
};
static const uint64_t MARK = UINT64_C(0x61636c5f64657363);

static int32_t check_kind_(const char *function, int32_t kind) {
  if (kind == INNER_DEVICE_TO_DEVICE) return ACLPY_ACL_SUCCESS;
  return eng_refuse_kind(function, ACLPY_ACL_ERROR_INVALID_PARAM, kind, "ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6)");
}

/* The place of a pointer or of a descriptor: memory that tasks may read later. */
static int32_t find_place_(struct eng_end *end, const char *function) {
  int32_t status = eng_end_find(end, function);
  if (status != ACLPY_ACL_SUCCESS || eng_end_on_device(end)) {
    if (status != ACLPY_ACL_SUCCESS || !eng_memory_foreign(end->memory)) return status;
    eng_end_release(end);
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, end->name, "memory of an emulated device",
                      "copy with aclrtMemcpyAsync", "memory of a CUDA device");
  }
  char place[256];
  eng_memory_describe(end->address, place, sizeof(place));
  bool host = end->memory != NULL;
  eng_end_release(end);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, end->name, "device memory",
                    "allocate it with aclrtMalloc", "%s", host ? "pinned host memory" : place);
}

static int32_t check_stream_(const struct eng_stream *stream, const char *function) {
  if (!stream->foreign) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream of an emulated device",
                    "copy with aclrtMemcpyAsync", "a stream of a CUDA device");
}

/* ---- when the copy runs ---- */

static int32_t refuse_address_(const char *function, const char *which, uintptr_t address, size_t count) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_DEVICE_MEM_ERROR, function, which,
                    "the address of that many bytes of device memory when the copy runs",
                    "write the address before the copy's turn, and free nothing before it has run",
                    "%zu bytes at 0x%" PRIxPTR, count, address);
}

/* The allocation that holds the bytes just now, with a reference; NULL: none does. */
static struct eng_memory *find_bytes_(uintptr_t address, size_t count) {
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) return NULL;
  bool good = memory->kind == ACLPY_MEMORY_DEVICE && count <= memory->size - (address - memory->base);
  if (good) return memory;
  eng_release(&memory->head);
  return NULL;
}

static int32_t move_(const char *function, uintptr_t dst, uintptr_t src, size_t count) {
  struct eng_memory *to = find_bytes_(dst, count);
  if (to == NULL) return refuse_address_(function, "dst", dst, count);
  struct eng_memory *from = find_bytes_(src, count);
  int32_t status = from == NULL ? refuse_address_(function, "src", src, count) : ACLPY_ACL_SUCCESS;
  if (from != NULL) {
    status = eng_bytes_move(to, from, dst, src, count);
    eng_release(&from->head);
  }
  eng_release(&to->head);
  return status;
}

int32_t eng_copy_behind(const struct eng_transfer *what) {
  uintptr_t dst, src;
  memcpy(&dst, (const void *)what->dst, sizeof(dst));
  memcpy(&src, (const void *)what->src, sizeof(src));
  return move_(what->function, dst + what->dst_pitch, src + what->src_pitch, what->width);
}

int32_t eng_copy_described(const struct eng_transfer *what) {
  struct desc_ desc;
  memcpy(&desc, (const void *)what->src, sizeof(desc));
  if (desc.mark == MARK) {
    return desc.count == 0 ? ACLPY_ACL_SUCCESS
                           : move_(what->function, (uintptr_t)desc.dst, (uintptr_t)desc.src, (size_t)desc.count);
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_DEVICE_MEM_ERROR, what->function, "desc", "a descriptor when the copy runs",
                    "set it with aclrtSetMemcpyDesc", "other bytes");
}

/* ---- behind pointers ---- */

int32_t aclpy_memcpy_async_with_offset(aclpy_handle ctx, uintptr_t dst, size_t dst_max, size_t dst_offset,
                                       uintptr_t src, size_t count, size_t src_offset, int32_t kind,
                                       aclpy_handle stream) {
  static const char function[] = "aclrtMemcpyAsyncWithOffset";
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (dst == 0) return eng_fail_null(function, "dst");
  if (src == 0) return eng_fail_null(function, "src");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (count > dst_max) return eng_refuse_count(function, "destMax", count, dst_max);
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_end ends[] = {{.name = "dst", .address = dst, .span = sizeof(uintptr_t)},
                           {.name = "src", .address = src, .span = sizeof(uintptr_t)}};
  status = check_stream_(found, function);
  if (status == ACLPY_ACL_SUCCESS) status = find_place_(&ends[0], function);
  if (status == ACLPY_ACL_SUCCESS) status = find_place_(&ends[1], function);
  struct eng_transfer what = {.form = ENG_TRANSFER_BEHIND,
                              .function = function,
                              .dst = dst,
                              .src = src,
                              .dst_pitch = dst_offset,
                              .src_pitch = src_offset,
                              .width = count};
  if (status == ACLPY_ACL_SUCCESS) status = eng_transfer_queue(found, &what, NULL, ends, 2);
  eng_ends_release(&ends[0], &ends[1]);
  eng_release(&found->head);
  return status;
}

/* ---- descriptors ---- */

int32_t aclpy_memcpy_desc_size(aclpy_handle ctx, int32_t kind, size_t *size) {
  static const char function[] = "aclrtGetMemcpyDescSize";
  if (size == NULL) return eng_fail_null(function, "descSize");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  eng_release(&context->head);
  *size = sizeof(struct desc_);
  return ACLPY_ACL_SUCCESS;
}

static int32_t check_ends_(const char *function, uintptr_t src, uintptr_t dst, size_t count) {
  struct eng_end ends[] = {{.name = "srcAddr", .address = src, .span = count},
                           {.name = "dstAddr", .address = dst, .span = count}};
  int32_t status = find_place_(&ends[0], function);
  if (status == ACLPY_ACL_SUCCESS) status = find_place_(&ends[1], function);
  eng_ends_release(&ends[0], &ends[1]);
  return status;
}

int32_t aclpy_memcpy_desc_set(aclpy_handle ctx, uintptr_t desc, int32_t kind, uintptr_t src, uintptr_t dst,
                              size_t count, const void *config) {
  static const char function[] = "aclrtSetMemcpyDesc";
  if (desc == 0) return eng_fail_null(function, "desc");
  if (src == 0) return eng_fail_null(function, "srcAddr");
  if (dst == 0) return eng_fail_null(function, "dstAddr");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (config != NULL) return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "config", "NULL", "", "a pointer");
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  eng_release(&context->head);
  struct desc_ value = {.mark = MARK, .src = src, .dst = dst, .count = count};
  struct eng_end place = {.name = "desc", .address = desc, .span = sizeof(value)};
  if (count != 0) status = check_ends_(function, src, dst, count);
  if (status == ACLPY_ACL_SUCCESS) status = find_place_(&place, function);
  if (status == ACLPY_ACL_SUCCESS) memcpy((void *)desc, &value, sizeof(value));
  eng_end_release(&place);
  return status;
}

int32_t aclpy_memcpy_async_with_desc(aclpy_handle ctx, uintptr_t desc, int32_t kind, aclpy_handle stream) {
  static const char function[] = "aclrtMemcpyAsyncWithDesc";
  if (desc == 0) return eng_fail_null(function, "desc");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  struct eng_end place = {.name = "desc", .address = desc, .span = sizeof(struct desc_)};
  status = check_stream_(found, function);
  if (status == ACLPY_ACL_SUCCESS) status = find_place_(&place, function);
  struct eng_transfer what = {.form = ENG_TRANSFER_DESCRIBED, .function = function, .src = desc};
  if (status == ACLPY_ACL_SUCCESS) status = eng_transfer_queue(found, &what, NULL, &place, 1);
  eng_end_release(&place);
  eng_release(&found->head);
  return status;
}
