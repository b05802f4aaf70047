/* SPDX-License-Identifier: Apache-2.0
 * Events: the three kinds, row by row of the behaviour matrix, and ordering between streams.
 */
#include <stdatomic.h>

#include "order_support.h"

enum { DEVICE_USE_ONLY = 16, EXTERNAL = 32, IPC = 64 };

static int32_t query(aclpy_handle event) {
  int32_t recorded = -1;
  CHECK_EQUAL(aclpy_event_query(event, &recorded), 0);
  return recorded;
}

static void flags_are_checked(void) {
  aclpy_handle event = 5;
  struct row {
    int32_t kind;
    uint32_t flags;
    int32_t status;
  } rows[] = {{ACLPY_EVENT_PLAIN, 0, 0},
              {ACLPY_EVENT_WITH_FLAG, 0, 107000},
              {ACLPY_EVENT_EX_WITH_FLAG, 0, 107000},
              {ACLPY_EVENT_WITH_FLAG, 128, 107000},
              {ACLPY_EVENT_EX_WITH_FLAG, 1u << 31 | SYNC, 107000},
              {ACLPY_EVENT_WITH_FLAG, SYNC, 0},
              {ACLPY_EVENT_WITH_FLAG, SYNC | PROGRESS | TIME_LINE, 0},
              {ACLPY_EVENT_WITH_FLAG, DEVICE_USE_ONLY, 0},
              {ACLPY_EVENT_WITH_FLAG, DEVICE_USE_ONLY | SYNC, 107000},
              {ACLPY_EVENT_WITH_FLAG, EXTERNAL, 0},
              {ACLPY_EVENT_EX_WITH_FLAG, EXTERNAL, 107000},
              {ACLPY_EVENT_WITH_FLAG, IPC, 107000},
              {ACLPY_EVENT_EX_WITH_FLAG, IPC, 0},
              {ACLPY_EVENT_EX_WITH_FLAG, IPC | SYNC, 107000},
              {3, SYNC, 107000}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CHECK_EQUAL(aclpy_event_create(0, rows[i].kind, rows[i].flags, &event), rows[i].status);
    if (rows[i].status == 0) CHECK_EQUAL(aclpy_event_destroy(event), 0);
  }
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, NULL), 100000);
}

static void before_any_record(void) {
  aclpy_handle stream = new_stream();
  aclpy_handle plain = new_event(ACLPY_EVENT_PLAIN, 0), ex = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  aclpy_handle flag = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  CHECK_EQUAL(aclpy_event_wait(0, stream, plain), 107000);
  CHECK_EQUAL(aclpy_event_wait(0, stream, ex), 0);
  CHECK_EQUAL(query(plain), 0);
  CHECK_EQUAL(query(flag), 0);
  CHECK_EQUAL(query(ex), 1);
  CHECK_EQUAL(aclpy_event_synchronize(plain), 0);
  CHECK_EQUAL(aclpy_event_synchronize(flag), 0);
  CHECK_EQUAL(aclpy_event_synchronize(ex), 0);
  CHECK_EQUAL(aclpy_event_reset(0, ex, stream), 207000);
  CHECK_EQUAL(aclpy_event_reset(0, plain, stream), 0);
  int32_t status;
  CHECK_EQUAL(aclpy_stream_query(0, stream, &status), 0);
  CHECK_EQUAL(status, 0); /* nothing was queued */
  CHECK_EQUAL(aclpy_event_destroy(plain), 0);
  CHECK_EQUAL(aclpy_event_destroy(flag), 0);
  CHECK_EQUAL(aclpy_event_destroy(ex), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static void dead_and_null_events(void) {
  aclpy_handle stream = new_stream(), event = new_event(ACLPY_EVENT_PLAIN, 0);
  int32_t recorded;
  float ms;
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 107017);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 107017);
  CHECK_EQUAL(aclpy_event_wait(0, stream, event), 107017);
  CHECK_EQUAL(aclpy_event_reset(0, event, stream), 107017);
  CHECK_EQUAL(aclpy_event_synchronize(event), 107017);
  CHECK_EQUAL(aclpy_event_query(event, &recorded), 107017);
  CHECK_EQUAL(aclpy_event_elapsed_ms(event, event, &ms), 107017);
  CHECK_EQUAL(aclpy_event_destroy(0), 100000);
  CHECK_EQUAL(aclpy_event_record(0, 0, stream), 100000);
  CHECK_EQUAL(aclpy_event_wait(0, stream, 0), 100000);
  CHECK_EQUAL(aclpy_event_query(event, NULL), 100000);
  event = new_event(ACLPY_EVENT_PLAIN, 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(event, event, NULL), 100000);
  CHECK_EQUAL(aclpy_event_record(0, event, event), 107017); /* an event is no stream */
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 107017);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
}

static void events_without_sync_are_no_barriers(void) {
  aclpy_handle stream = new_stream();
  aclpy_handle timing = new_event(ACLPY_EVENT_WITH_FLAG, TIME_LINE),
               progress = new_event(ACLPY_EVENT_EX_WITH_FLAG, PROGRESS);
  aclpy_handle external = new_event(ACLPY_EVENT_WITH_FLAG, EXTERNAL);
  CHECK_EQUAL(aclpy_event_record(0, timing, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, stream, timing), 207000);
  CHECK_EQUAL(aclpy_event_wait(0, stream, progress), 207000);
  CHECK_EQUAL(aclpy_event_synchronize(external), 207000);
  CHECK_EQUAL(aclpy_event_record(0, external, stream), 0); /* a flag that graphs wait for; see engine_capture.c */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_event_destroy(timing), 0);
  CHECK_EQUAL(aclpy_event_destroy(progress), 0);
  CHECK_EQUAL(aclpy_event_destroy(external), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

/* A snapshot: the wait is for the record before it, whatever is recorded later. */
static void snapshots_order_streams(int32_t kind, uint32_t flags) {
  struct park first = PARK, second = PARK;
  struct latch done = LATCH;
  aclpy_handle a = new_stream(), b = new_stream(), c = new_stream(), event = new_event(kind, flags);
  park_stream(a, &first);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(query(event), 0);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0);
  submit_mark(b, &done);
  park_stream(c, &second);
  CHECK_EQUAL(aclpy_event_record(0, event, c), 0); /* a new snapshot: b still waits for a */
  latch_add(&second.go);
  CHECK_EQUAL(aclpy_event_synchronize(event), 0);
  CHECK_EQUAL(query(event), 1);
  CHECK_EQUAL(latch_count(&done), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0); /* legal while pending */
  latch_add(&first.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
  CHECK_EQUAL(latch_count(&done), 1);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, c), 0);
}

static void plain_events_are_snapshots(void) { snapshots_order_streams(ACLPY_EVENT_PLAIN, 0); }
static void ex_events_are_snapshots(void) { snapshots_order_streams(ACLPY_EVENT_EX_WITH_FLAG, SYNC); }

static void waits_that_need_no_task(void) {
  aclpy_handle a = new_stream(), b = new_stream(), event = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  struct park park = PARK;
  park_stream(a, &park);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  int64_t tasks = aclpy_live_count("task");
  CHECK_EQUAL(aclpy_event_wait(0, a, event), 0); /* same stream */
  CHECK_EQUAL(aclpy_live_count("task"), tasks);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_event_synchronize(event), 0);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0); /* done already */
  int32_t status;
  CHECK_EQUAL(aclpy_stream_query(0, b, &status), 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

static void flag_events_are_manual_reset_flags(void) {
  struct latch done = LATCH;
  aclpy_handle a = new_stream(), b = new_stream(), event = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0); /* blocks until a later record */
  submit_mark(b, &done);
  struct park park = PARK;
  park_stream(a, &park);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(latch_count(&done), 0);
  latch_add(&park.go);
  latch_wait(&done, 1);
  CHECK_EQUAL(aclpy_event_synchronize(event), 0);
  CHECK_EQUAL(query(event), 1);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0); /* the flag stays set */
  submit_mark(b, &done);
  latch_wait(&done, 2);
  CHECK_EQUAL(aclpy_event_reset(0, event, b), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
  CHECK_EQUAL(query(event), 0);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0); /* blocks again */
  submit_mark(b, &done);
  int32_t status;
  CHECK_EQUAL(aclpy_stream_query(0, b, &status), 0);
  CHECK_EQUAL(status, 1);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
  CHECK_EQUAL(latch_count(&done), 3);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

static void elapsed_time(void) {
  aclpy_handle stream = new_stream();
  aclpy_handle start = new_event(ACLPY_EVENT_PLAIN, 0), end = new_event(ACLPY_EVENT_EX_WITH_FLAG, TIME_LINE);
  aclpy_handle untimed = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  float ms = -1;
  CHECK_EQUAL(aclpy_event_elapsed_ms(start, end, &ms), 507000);
  CHECK_EQUAL(aclpy_event_record(0, start, stream), 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(start, end, &ms), 507000);
  struct park park = PARK;
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_event_record(0, end, stream), 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(start, end, &ms), 107006);
  CHECK_CONTAINS(aclpy_error_last()->hint, "aclrtSynchronizeEvent");
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_event_synchronize(end), 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(start, end, &ms), 0);
  CHECK(ms > 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(end, start, &ms), 0);
  CHECK(ms < 0);
  CHECK_EQUAL(aclpy_event_record(0, untimed, stream), 0);
  CHECK_EQUAL(aclpy_event_elapsed_ms(start, untimed, &ms), 107006);
  CHECK_CONTAINS(aclpy_error_last()->hint, "TIME_LINE");
  CHECK_EQUAL(aclpy_event_destroy(start), 0);
  CHECK_EQUAL(aclpy_event_destroy(end), 0);
  CHECK_EQUAL(aclpy_event_destroy(untimed), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static aclpy_handle own_event;
static int32_t wait_for_later(void *arg) {
  struct park *park = arg;
  latch_add(&park->begun);
  latch_wait(&park->go, 1);
  return aclpy_event_synchronize(own_event);
}

static void a_task_does_not_wait_for_an_event_behind_it(void) {
  struct park park = PARK;
  aclpy_handle stream = new_stream();
  own_event = new_event(ACLPY_EVENT_PLAIN, 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "wait", wait_for_later, NULL, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_event_record(0, own_event, stream), 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507000);
  CHECK_EQUAL(aclpy_event_destroy(own_event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

/* A ring of streams, each waiting for the one before: the values come out in order. */
enum { RING = 4, LAPS = SANITIZED ? 100 : 1000 };
static long counter;

static int32_t bump(void *arg) {
  if (counter != (long)(intptr_t)arg) return 507000;
  counter++;
  return 0;
}

static void streams_hand_over_in_a_ring(void) {
  aclpy_handle streams[RING], events[RING];
  for (int i = 0; i < RING; i++) {
    streams[i] = new_stream();
    events[i] = new_event(i % 2 == 0 ? ACLPY_EVENT_PLAIN : ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  }
  for (long turn = 0; turn < (long)RING * LAPS; turn++) {
    int here = (int)(turn % RING), before = (here + RING - 1) % RING;
    if (turn > 0) CHECK_EQUAL(aclpy_event_wait(0, streams[here], events[before]), 0);
    CHECK_EQUAL(aclpy_submit(0, streams[here], "bump", bump, NULL, (void *)(intptr_t)turn, 0), 0);
    CHECK_EQUAL(aclpy_event_record(0, events[here], streams[here]), 0);
  }
  CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  CHECK_EQUAL(counter, (long)RING * LAPS);
  for (int i = 0; i < RING; i++) {
    CHECK_EQUAL(aclpy_event_destroy(events[i]), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, streams[i]), 0);
  }
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(flags_are_checked);
  RUN(before_any_record);
  RUN(dead_and_null_events);
  RUN(events_without_sync_are_no_barriers);
  RUN(plain_events_are_snapshots);
  RUN(ex_events_are_snapshots);
  RUN(waits_that_need_no_task);
  RUN(flag_events_are_manual_reset_flags);
  RUN(elapsed_time);
  RUN(a_task_does_not_wait_for_an_event_behind_it);
  RUN(streams_hand_over_in_a_ring);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("event"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  return 0;
}
