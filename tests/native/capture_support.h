/* SPDX-License-Identifier: Apache-2.0
 * What the harnesses of captures share: short names for the calls that must succeed.
 */
#ifndef ACLPY_TESTS_CAPTURE_SUPPORT_H
#define ACLPY_TESTS_CAPTURE_SUPPORT_H

#include "order_support.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { EXTERNAL = 32 };
enum { N = 16, BYTES = N * 4 };

static inline aclpy_handle ex_event(void) { return new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC); }

static inline void begin(aclpy_handle stream, int32_t mode) { CHECK_EQUAL(aclpy_capture_begin(0, stream, mode), 0); }

static inline aclpy_handle end(aclpy_handle stream) {
  aclpy_handle graph = 0;
  CHECK_EQUAL(aclpy_capture_end(0, stream, &graph), 0);
  CHECK(graph != 0);
  return graph;
}

static inline void end_fails(aclpy_handle stream, int32_t status) {
  aclpy_handle graph = 7;
  CHECK_EQUAL(aclpy_capture_end(0, stream, &graph), status);
  CHECK_EQUAL(graph, 0);
}

static inline int32_t state_of(aclpy_handle stream) {
  int32_t state = -1;
  CHECK_EQUAL(aclpy_capture_info(0, stream, &state, NULL), 0);
  return state;
}

static inline int32_t count(void *arg) {
  atomic_fetch_add((atomic_int *)arg, 1);
  return 0;
}

static inline void submit(aclpy_handle stream, aclpy_task_run run, void *arg) {
  CHECK_EQUAL(aclpy_submit(0, stream, "host", run, NULL, arg, 0), 0);
}

static inline uintptr_t new_memory(void) {
  uintptr_t memory = 0;
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  memset((void *)memory, 0, BYTES);
  return memory;
}

#endif
