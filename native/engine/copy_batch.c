/* SPDX-License-Identifier: Apache-2.0
 * Many copies in one call: all to the device or all from it, in no order among themselves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "copy.h"
#include "failure.h"
#include "foreign.h"
#include "fault.h"
#include "memory.h"
#include "stream.h"
#include "transfer.h"

struct batch_ {
  const char *function;
  const aclpy_copy *copies;
  size_t n;
  const aclpy_copy_place *places;
  const size_t *firsts; /* places[i] holds from copy firsts[i] on */
  size_t n_places;
  size_t *fail_index;
};

enum { PLACE_HOST = 0, PLACE_DEVICE = 1 };

static int32_t failed_(const struct batch_ *batch, size_t index, int32_t status) {
  if (batch->fail_index != NULL && status != ACLPY_ACL_SUCCESS) *batch->fail_index = index;
  return status;
}

static int32_t check_places_(const struct batch_ *batch) {
  if (batch->n_places == 0 || batch->n_places > batch->n) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, batch->function, "numAttrs",
                      "at least one attribute, and no more than there are copies", "describe where both ends are",
                      "%zu attributes for %zu copies", batch->n_places, batch->n);
  }
  if (batch->places == NULL) return eng_fail_null(batch->function, "attrs");
  if (batch->firsts == NULL) return eng_fail_null(batch->function, "attrsIndexes");
  for (size_t i = 0; i < batch->n_places; i++) {
    size_t least = i == 0 ? 0 : batch->firsts[i - 1] + 1;
    if (batch->firsts[i] < least || (i == 0 && batch->firsts[i] != 0) || batch->firsts[i] >= batch->n) {
      return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, batch->function, "attrsIndexes",
                        "0, then ever larger indexes of copies", "say for each attribute with which copy it begins",
                        "%zu at position %zu, for %zu copies", batch->firsts[i], i, batch->n);
    }
    const aclpy_copy_place *place = &batch->places[i];
    bool host_to_device = place->src_type == PLACE_HOST && place->dst_type == PLACE_DEVICE;
    bool device_to_host = place->src_type == PLACE_DEVICE && place->dst_type == PLACE_HOST;
    if (!host_to_device && !device_to_host) {
      return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, batch->function, "attrs",
                        "one end on the host (0) and one on a device (1)", "use aclrtMemcpy for other directions",
                        "from %" PRId32 " to %" PRId32 " at position %zu", place->src_type, place->dst_type, i);
    }
    if (place->src_type != batch->places[0].src_type) {
      return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, batch->function, "attrs", "one direction for all copies",
                        "make one batch to the device and one from it", "two directions");
    }
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t check_copy_(const struct batch_ *batch, size_t index) {
  const aclpy_copy *copy = &batch->copies[index];
  if (copy->count == 0) return ACLPY_ACL_SUCCESS;
  if (copy->dst == 0) return eng_fail_null(batch->function, "dsts");
  if (copy->src == 0) return eng_fail_null(batch->function, "srcs");
  if (copy->count <= copy->dst_max) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, batch->function, "sizes", "sizes of at most the room in destMaxs",
                    "pass the size of each destination as it is", "sizes[%zu] %zu, destMaxs[%zu] %zu", index,
                    copy->count, index, copy->dst_max);
}

/* *done: nothing is left to do, whatever the status. */
static int32_t check_(const struct batch_ *batch, bool *done) {
  *done = true;
  if (batch->fail_index != NULL) *batch->fail_index = SIZE_MAX;
  if (batch->n > 0 && batch->copies == NULL) return eng_fail_null(batch->function, "dsts");
  size_t total = 0;
  for (size_t i = 0; i < batch->n; i++) total |= batch->copies[i].count;
  if (total == 0) return ACLPY_ACL_SUCCESS;
  int32_t status = check_places_(batch);
  for (size_t i = 0; status == ACLPY_ACL_SUCCESS && i < batch->n; i++) {
    status = failed_(batch, i, check_copy_(batch, i));
  }
  *done = status != ACLPY_ACL_SUCCESS;
  return status;
}

static int32_t check_direction_(const struct batch_ *batch, const struct eng_end *dst, const struct eng_end *src) {
  bool to_device = batch->places[0].dst_type == PLACE_DEVICE;
  if (eng_end_on_device(dst) == to_device && eng_end_on_device(src) == !to_device) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, batch->function, "attrs",
                    to_device ? "copies from the host to device memory" : "copies from device memory to the host",
                    "describe the ends as they are", "a copy from %s to %s memory",
                    eng_end_on_device(src) ? "device" : "host", eng_end_on_device(dst) ? "device" : "host");
}

/* Finds all ends, two a copy. On failure none is held. */
static int32_t find_(const struct batch_ *batch, int32_t device, struct eng_end *ends) {
  for (size_t i = 0; i < batch->n; i++) {
    const aclpy_copy *copy = &batch->copies[i];
    struct eng_end *dst = &ends[2 * i], *src = &ends[2 * i + 1];
    *dst = (struct eng_end){.name = "dsts", .address = copy->dst, .span = copy->count};
    *src = (struct eng_end){.name = "srcs", .address = copy->src, .span = copy->count};
    if (copy->count == 0) continue;
    int32_t status = eng_ends_find(dst, src, device, batch->function);
    if (status == ACLPY_ACL_SUCCESS) status = check_direction_(batch, dst, src);
    if (status == ACLPY_ACL_SUCCESS) continue;
    for (size_t held = 0; held < 2 * i + 2; held++) eng_end_release(&ends[held]);
    return failed_(batch, i, status);
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t copy_now_(const struct batch_ *batch, const struct eng_end *ends) {
  int32_t status = ACLPY_ACL_SUCCESS;
  for (size_t i = 0; i < batch->n && status == ACLPY_ACL_SUCCESS; i++) {
    const aclpy_copy *copy = &batch->copies[i];
    status = eng_bytes_move(ends[2 * i].memory, ends[2 * i + 1].memory, copy->dst, copy->src, copy->count);
  }
  return status;
}

/* One task for those whose host side is pinned; with pageable memory the stream is waited for, as always. */
static int32_t in_stream_(struct eng_stream *stream, const struct batch_ *batch, struct eng_end *ends,
                          struct eng_piece *pieces) {
  bool pageable = false;
  for (size_t i = 0; i < batch->n; i++) {
    const aclpy_copy *copy = &batch->copies[i];
    pieces[i] = (struct eng_piece){.dst = copy->dst, .src = copy->src, .count = copy->count};
    pageable |= copy->count > 0 && (ends[2 * i].memory == NULL || ends[2 * i + 1].memory == NULL);
  }
  if (!pageable) {
    struct eng_transfer what = {.form = ENG_TRANSFER_LIST, .function = batch->function, .n = batch->n};
    return eng_transfer_queue(stream, &what, pieces, ends, 2 * batch->n);
  }
  int32_t status = eng_stream_settle(stream, batch->function);
  if (status == ACLPY_ACL_SUCCESS) status = copy_now_(batch, ends);
  return status;
}

/* With a stream, or with the device of a context. */
static int32_t run_(const struct batch_ *batch, struct eng_stream *stream, int32_t device) {
  size_t each = 2 * sizeof(struct eng_end) + sizeof(struct eng_piece);
  struct eng_end *ends = batch->n > SIZE_MAX / each ? NULL : eng_object_alloc(batch->n * each);
  if (ends == NULL) return eng_fail_memory(batch->function, "the batch");
  int32_t status = find_(batch, device, ends);
  if (status == ACLPY_ACL_SUCCESS) {
    if (stream == NULL) {
      status = copy_now_(batch, ends);
    } else {
      status = in_stream_(stream, batch, ends, (struct eng_piece *)(ends + 2 * batch->n));
    }
    for (size_t i = 0; i < 2 * batch->n; i++) eng_end_release(&ends[i]);
  }
  free(ends);
  return status;
}

int32_t aclpy_memcpy_batch(aclpy_handle ctx, const aclpy_copy *copies, size_t n, const aclpy_copy_place *places,
                           const size_t *firsts, size_t n_places, size_t *fail_index) {
  struct batch_ batch = {"aclrtMemcpyBatch", copies, n, places, firsts, n_places, fail_index};
  bool done;
  int32_t status = check_(&batch, &done);
  if (done) return status;
  struct eng_context *context = eng_context_resolve(ctx, batch.function, &status);
  if (context == NULL) return status;
  status = run_(&batch, NULL, context->device);
  eng_release(&context->head);
  return status;
}

int32_t aclpy_memcpy_batch_async(aclpy_handle ctx, const aclpy_copy *copies, size_t n, const aclpy_copy_place *places,
                                 const size_t *firsts, size_t n_places, size_t *fail_index, aclpy_handle stream) {
  struct batch_ batch = {"aclrtMemcpyBatchAsync", copies, n, places, firsts, n_places, fail_index};
  bool done;
  int32_t status = check_(&batch, &done);
  if (done) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, batch.function, &status);
  if (found == NULL) return status;
  status = run_(&batch, found, found->device);
  eng_release(&found->head);
  return status;
}
