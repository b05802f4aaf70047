/* SPDX-License-Identifier: Apache-2.0
 * What the harnesses of stream order share: short names for the calls that must succeed, streams that are held back.
 */
#ifndef ACLPY_TESTS_ORDER_SUPPORT_H
#define ACLPY_TESTS_ORDER_SUPPORT_H

#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

enum { SYNC = 1, PROGRESS = 2, TIME_LINE = 8 };       /* flags of events */
enum { PERSISTENT = 4, DEVICE_USE_ONLY_STREAM = 32 }; /* of streams */

static inline aclpy_handle new_stream_with(uint32_t flags) {
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, flags, &stream), 0);
  return stream;
}

static inline aclpy_handle new_stream(void) { return new_stream_with(0); }

static inline void destroy_stream(aclpy_handle stream) { CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0); }

static inline aclpy_handle new_event(int32_t kind, uint32_t flags) {
  aclpy_handle event = 0;
  CHECK_EQUAL(aclpy_event_create(0, kind, flags, &event), 0);
  return event;
}

static inline void park_stream(aclpy_handle stream, struct park *park) {
  CHECK_EQUAL(aclpy_submit(0, stream, "park", park_run, park_drop, park, 0), 0);
  latch_wait(&park->begun, 1);
}

static inline int32_t mark(void *arg) {
  latch_add((struct latch *)arg);
  return 0;
}

static inline void submit_mark(aclpy_handle stream, struct latch *latch) {
  CHECK_EQUAL(aclpy_submit(0, stream, "mark", mark, NULL, latch, 0), 0);
}

#endif
