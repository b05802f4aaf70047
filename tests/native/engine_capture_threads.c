/* SPDX-License-Identifier: Apache-2.0
 * Captures that several threads begin, end, destroy and wait for at once: one of them has its way, the others are told.
 */
#include "capture_support.h"

enum { TURNS = 3000 };

static atomic_int stop;
static aclpy_handle ctx; /* the main thread's */
static aclpy_handle shared_stream, shared_events[2];

static void end_if_captured(aclpy_handle stream) {
  aclpy_handle graph = 0;
  int32_t status = aclpy_capture_end(ctx, stream, &graph);
  CHECK((status == 0) == (graph != 0));
  if (graph != 0) CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
}

static void *ends(void *arg) {
  (void)arg;
  while (!atomic_load(&stop)) end_if_captured(shared_stream);
  return NULL;
}

static void *begins_and_ends(void *arg) {
  (void)arg;
  for (int i = 0; i < TURNS; i++) {
    int32_t status = aclpy_capture_begin(ctx, shared_stream, RELAXED);
    CHECK(status == 0 || status == ACLPY_ACL_ERROR_RT_STREAM_CAPTURED);
    end_if_captured(shared_stream);
  }
  return NULL;
}

static void beside(void *(*other)(void *), void *(*own)(void *)) {
  atomic_store(&stop, 0);
  pthread_t thread = start_thread(other, NULL);
  (void)own(NULL);
  atomic_store(&stop, 1);
  join_thread(thread);
}

static void a_capture_has_one_end(void) {
  shared_stream = new_stream();
  beside(ends, begins_and_ends);
  CHECK_EQUAL(state_of(shared_stream), 0);
  destroy_stream(shared_stream);
}

static void a_capture_has_one_beginning(void) {
  shared_stream = new_stream();
  beside(begins_and_ends, begins_and_ends);
  end_if_captured(shared_stream);
  CHECK_EQUAL(state_of(shared_stream), 0);
  destroy_stream(shared_stream);
}

/* ---- streams that go ---- */

static _Atomic aclpy_handle victim;

static void *destroys(void *arg) {
  (void)arg;
  while (!atomic_load(&stop)) {
    if (atomic_load(&victim) != 0) (void)aclpy_stream_destroy_force(ctx, atomic_load(&victim));
  }
  return NULL;
}

static void *captures_on_streams_that_go(void *arg) {
  (void)arg;
  for (int i = 0; i < TURNS; i++) {
    aclpy_handle stream = 0;
    CHECK_EQUAL(aclpy_stream_create(ctx, 0, 0, &stream), 0);
    atomic_store(&victim, stream);
    (void)aclpy_capture_begin(ctx, stream, RELAXED);
    end_if_captured(stream);
    (void)aclpy_stream_destroy_force(ctx, stream);
  }
  return NULL;
}

static void streams_go_in_the_middle(void) { beside(destroys, captures_on_streams_that_go); }

/* ---- events ---- */

static void *records_and_waits(void *arg) {
  uintptr_t id = (uintptr_t)arg;
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_stream_create(ctx, 0, 0, &stream), 0);
  for (int i = 0; i < TURNS; i++) {
    if (aclpy_capture_begin(ctx, stream, RELAXED) == 0) (void)aclpy_event_record(ctx, shared_events[id], stream);
    end_if_captured(stream);
    (void)aclpy_event_wait(ctx, stream, shared_events[1 - id]);
  }
  int32_t status = ACLPY_ACL_ERROR_RT_STREAM_CAPTURED; /* as long as it is a side stream of the other's capture */
  while (status == ACLPY_ACL_ERROR_RT_STREAM_CAPTURED) status = aclpy_stream_synchronize(ctx, stream);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(aclpy_stream_destroy(ctx, stream), 0);
  return NULL;
}

static void two_captures_share_events(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) shared_events[i] = ex_event();
  for (uintptr_t i = 0; i < 2; i++) threads[i] = start_thread(records_and_waits, (void *)i);
  for (int i = 0; i < 2; i++) join_thread(threads[i]);
  for (int i = 0; i < 2; i++) CHECK_EQUAL(aclpy_event_destroy(shared_events[i]), 0);
}

static void *waits(void *arg) {
  while (!atomic_load(&stop)) (void)aclpy_event_wait(ctx, (aclpy_handle)(uintptr_t)arg, shared_events[0]);
  return NULL;
}

/* A wait for a record that is only captured joins, is refused, or is nothing: what is queued for real comes to an end.
 */
static void no_wait_outlives_a_capture(void) {
  aclpy_handle stream = new_stream(), side = new_stream();
  shared_events[0] = ex_event();
  atomic_store(&stop, 0);
  pthread_t thread = start_thread(waits, (void *)(uintptr_t)side);
  for (int i = 0; i < TURNS; i++) {
    begin(stream, RELAXED);
    (void)aclpy_event_record(ctx, shared_events[0], stream);
    end_if_captured(stream);
  }
  atomic_store(&stop, 1);
  join_thread(thread);
  CHECK_EQUAL(aclpy_stream_synchronize(ctx, side), 0);
  CHECK_EQUAL(aclpy_event_destroy(shared_events[0]), 0);
  destroy_stream(stream);
  destroy_stream(side);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&ctx), 0);
  RUN(a_capture_has_one_end);
  RUN(a_capture_has_one_beginning);
  RUN(streams_go_in_the_middle);
  RUN(two_captures_share_events);
  RUN(no_wait_outlives_a_capture);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("graph"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
