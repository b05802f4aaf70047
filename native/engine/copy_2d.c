/* SPDX-License-Identifier: Apache-2.0
 * Copies of rectangles: `height` rows of `width` bytes, `pitch` bytes apart on either side.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "capture.h"
#include "context.h"
#include "copy.h"
#include "failure.h"
#include "memory.h"
#include "stream.h"
#include "transfer.h"

static const size_t MOST_ROWS = (size_t)5 * 1024 * 1024;
static const size_t WIDEST_ROW = 5000000;

static int32_t check_kind_(const char *function, int32_t kind) {
  if (kind >= ENG_HOST_TO_DEVICE && kind <= ENG_DEFAULT_KIND) return ACLPY_ACL_SUCCESS;
  return eng_refuse_kind(function, ACLPY_ACL_ERROR_INVALID_PARAM, kind, "a kind from 1 to 4");
}

static int32_t refuse_extent_(const char *function, int32_t status, const char *argument, const char *expected,
                              const char *other, size_t got, size_t limit) {
  return aclpy_fail(status, function, argument, expected, "check width, height and pitches: all but height are bytes",
                    "%s %zu, %s %zu", argument, got, other, limit);
}

static int32_t check_extents_(const char *function, const struct eng_transfer *what) {
  static const char row[] = "a row that fits into its pitch", size[] = "a rectangle that the hardware can copy";
  if (what->width > what->dst_pitch) {
    return refuse_extent_(function, ACLPY_ACL_ERROR_INVALID_PARAM, "width", row, "dpitch", what->width,
                          what->dst_pitch);
  }
  if (what->width > what->src_pitch) {
    return refuse_extent_(function, ACLPY_ACL_ERROR_INVALID_PARAM, "width", row, "spitch", what->width,
                          what->src_pitch);
  }
  if (what->height > MOST_ROWS) {
    return refuse_extent_(function, ACLPY_ACL_ERROR_RT_PARAM_INVALID, "height", size, "the limit is", what->height,
                          MOST_ROWS);
  }
  if (what->width > WIDEST_ROW) {
    return refuse_extent_(function, ACLPY_ACL_ERROR_RT_PARAM_INVALID, "width", size, "the limit is", what->width,
                          WIDEST_ROW);
  }
  return ACLPY_ACL_SUCCESS;
}

/* From the first byte to the one behind the last. */
static bool span_(const struct eng_transfer *what, size_t pitch, size_t *span) {
  size_t rows = what->height - 1;
  if (rows > 0 && pitch > (SIZE_MAX - what->width) / rows) return false;
  *span = rows * pitch + what->width;
  return true;
}

static int32_t ends_(const struct eng_transfer *what, struct eng_end ends[2]) {
  ends[0] = (struct eng_end){.name = "dst", .address = what->dst};
  ends[1] = (struct eng_end){.name = "src", .address = what->src};
  if (span_(what, what->dst_pitch, &ends[0].span) && span_(what, what->src_pitch, &ends[1].span)) {
    return ACLPY_ACL_SUCCESS;
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, what->function, "pitch", "a rectangle that fits into memory",
                    "check the pitches", "pitches %zu and %zu with %zu rows", what->dst_pitch, what->src_pitch,
                    what->height);
}

static int32_t check_(const struct eng_transfer *what, int32_t kind) {
  if (what->dst == 0) return eng_fail_null(what->function, "dst");
  if (what->src == 0) return eng_fail_null(what->function, "src");
  int32_t status = check_kind_(what->function, kind);
  return status == ACLPY_ACL_SUCCESS ? check_extents_(what->function, what) : status;
}

int32_t aclpy_memcpy_2d(aclpy_handle ctx, uintptr_t dst, size_t dst_pitch, uintptr_t src, size_t src_pitch,
                        size_t width, size_t height, int32_t kind) {
  if (width == 0 || height == 0) return ACLPY_ACL_SUCCESS;
  struct eng_transfer what = {.form = ENG_TRANSFER_2D,
                              .function = "aclrtMemcpy2d",
                              .dst = dst,
                              .src = src,
                              .dst_pitch = dst_pitch,
                              .src_pitch = src_pitch,
                              .width = width,
                              .height = height};
  int32_t status = check_(&what, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_capture_resolve(ctx, what.function, &status);
  if (context == NULL) return status;
  struct eng_end ends[2];
  status = ends_(&what, ends);
  if (status == ACLPY_ACL_SUCCESS) status = eng_ends_find(&ends[0], &ends[1], context->device, what.function);
  if (status == ACLPY_ACL_SUCCESS) {
    if (eng_end_on_device(&ends[0]) && eng_end_on_device(&ends[1])) {
      status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, what.function, "kind",
                          "one end on the host and one on the device",
                          "use aclrtMemcpy2dAsync and synchronise the stream", "a rectangle from device to device");
    } else {
      status = eng_copy_2d(&what, ends[0].memory, ends[1].memory);
    }
    eng_ends_release(&ends[0], &ends[1]);
  }
  eng_release(&context->head);
  return status;
}

static int32_t in_stream_(struct eng_stream *stream, const struct eng_transfer *what, struct eng_end ends[2],
                          int32_t kind) {
  int32_t real = kind;
  int32_t status = eng_kind_correct(what->function, &ends[0], &ends[1], kind, &real);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (real == ENG_HOST_TO_HOST) return eng_refuse_host_to_host(what->function);
  if (ends[0].memory != NULL && ends[1].memory != NULL) return eng_transfer_queue(stream, what, NULL, ends, 2);
  status = eng_stream_settle(stream, what->function); /* as aclrtMemcpyAsync with pageable memory */
  if (status == ACLPY_ACL_SUCCESS) status = eng_copy_2d(what, ends[0].memory, ends[1].memory);
  return status;
}

int32_t aclpy_memcpy_2d_async(aclpy_handle ctx, uintptr_t dst, size_t dst_pitch, uintptr_t src, size_t src_pitch,
                              size_t width, size_t height, int32_t kind, aclpy_handle stream) {
  if (width == 0 || height == 0) return ACLPY_ACL_SUCCESS;
  struct eng_transfer what = {.form = ENG_TRANSFER_2D,
                              .function = "aclrtMemcpy2dAsync",
                              .dst = dst,
                              .src = src,
                              .dst_pitch = dst_pitch,
                              .src_pitch = src_pitch,
                              .width = width,
                              .height = height};
  int32_t status = check_(&what, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, what.function, &status);
  if (found == NULL) return status;
  struct eng_end ends[2];
  status = ends_(&what, ends);
  if (status == ACLPY_ACL_SUCCESS) status = eng_ends_find(&ends[0], &ends[1], found->device, what.function);
  if (status == ACLPY_ACL_SUCCESS) {
    status = in_stream_(found, &what, ends, kind);
    eng_ends_release(&ends[0], &ends[1]);
  }
  eng_release(&found->head);
  return status;
}
