/* SPDX-License-Identifier: Apache-2.0
 * Subscribed callbacks: the statuses of the reference, the right thread, blocking or not, failures.
 */
#include <sched.h>
#include <stdatomic.h>

#include "order_support.h"

enum { NO_BLOCK, BLOCK };

/* A thread that processes callbacks until its stream is unsubscribed. */
struct server {
  struct latch ready;
  uint64_t id;
  int32_t last; /* status that ended it */
  pthread_t thread;
};

static struct latch subscribed = LATCH;

static void *serve(void *arg) {
  struct server *self = arg;
  self->id = aclpy_thread_id();
  CHECK_EQUAL(aclpy_process_report(10), 107012); /* not subscribed yet */
  latch_add(&self->ready);
  latch_wait(&subscribed, 1);
  do self->last = aclpy_process_report(-1);
  while (self->last == 0);
  return NULL;
}

struct seen {
  uint64_t thread;
  struct latch begun, go, done, dropped;
};
#define SEEN {.begun = LATCH, .go = LATCH, .done = LATCH, .dropped = LATCH}

static int32_t see(void *arg) {
  struct seen *seen = arg;
  seen->thread = aclpy_thread_id();
  latch_add(&seen->begun);
  latch_wait(&seen->go, 1);
  latch_add(&seen->done);
  return 0;
}

static void drop_seen(void *arg) { latch_add(&((struct seen *)arg)->dropped); }

static int32_t fail_it(void *arg) {
  (void)arg;
  return aclpy_fail(507000, "inner", "", "", "", "bad callback");
}

static void arguments_are_checked(void) {
  aclpy_handle stream = new_stream(), host = new_stream();
  struct seen seen = SEEN;
  struct latch hosted = LATCH;
  uint64_t self = aclpy_thread_id();
  CHECK_EQUAL(aclpy_process_report(0), 100000);
  CHECK_EQUAL(aclpy_process_report(-2), 100000);
  CHECK_EQUAL(aclpy_process_report(1), 107012);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, 0), 100000);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, 0), 100000);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 107011);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, NO_BLOCK), 107015);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, 2), 100000);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, NULL, drop_seen, &seen, 0, BLOCK), 107000);
  CHECK_EQUAL(latch_count(&seen.dropped), 3); /* once each, though nothing was queued */
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 107011);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, mark, NULL, &hosted, 0), 107011); /* the two sorts do not mix */
  CHECK_EQUAL(aclpy_process_report(1), 507012);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self + 1, stream), 107012);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, host, NULL, mark, NULL, &hosted, 0), 0);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, host), 107011);
  CHECK_EQUAL(aclpy_launch_callback(0, host, see, NULL, &seen, 0, BLOCK), 107011);
  destroy_stream(stream);
  destroy_stream(host);
}

static void callbacks_run_on_their_thread(int block) {
  struct server server = {.ready = LATCH};
  struct seen seen = SEEN;
  struct park park = PARK;
  aclpy_handle stream = new_stream(), watcher = new_stream(), event = 0;
  int32_t state = -1;
  subscribed.count = 0;
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  server.thread = start_thread(serve, &server);
  latch_wait(&server.ready, 1);
  CHECK_EQUAL(aclpy_subscribe_report(0, server.id, stream), 0);
  latch_add(&subscribed);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, block), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  latch_wait(&seen.begun, 1);
  CHECK_EQUAL(seen.thread, server.id);
  if (block == NO_BLOCK) {
    CHECK_EQUAL(aclpy_event_synchronize(event), 0); /* the stream goes on meanwhile */
    CHECK_EQUAL(latch_count(&seen.done), 0);
  } else {
    CHECK_EQUAL(aclpy_event_query(event, &state), 0);
    CHECK_EQUAL(state, 0);
    CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 1), 507046);
  }
  latch_add(&seen.go);
  latch_wait(&seen.done, 1);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  latch_wait(&seen.dropped, 1);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, fail_it, NULL, NULL, 99, BLOCK), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507000);
  CHECK_EQUAL(aclpy_error_last()->token, 99);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, server.id, stream), 0);
  join_thread(server.thread);
  CHECK_EQUAL(server.last, 107012);
  (void)park;
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(stream);
  destroy_stream(watcher);
}

static void without_blocking(void) { callbacks_run_on_their_thread(NO_BLOCK); }
static void with_blocking(void) { callbacks_run_on_their_thread(BLOCK); }

static void one_thread_does_everything(void) {
  aclpy_handle stream = new_stream();
  struct latch first = LATCH, second = LATCH;
  uint64_t self = aclpy_thread_id();
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, mark, NULL, &first, 0, BLOCK), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, mark, NULL, &second, 0, BLOCK), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507000); /* it would wait for itself */
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 507000);
  CHECK_EQUAL(aclpy_process_report(-1), 0);
  CHECK_EQUAL(latch_count(&first), 1);
  CHECK_EQUAL(latch_count(&second), 0); /* the stream had to go on first */
  CHECK_EQUAL(aclpy_process_report(-1), 0);
  CHECK_EQUAL(latch_count(&second), 1);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  destroy_stream(stream);
}

static void unsubscribing_fails_what_is_pending(void) {
  aclpy_handle stream = new_stream(), event = 0;
  struct seen seen = SEEN;
  struct latch ran = LATCH;
  uint64_t self = aclpy_thread_id();
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, BLOCK), 0);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, mark, NULL, &ran, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107015);
  CHECK_EQUAL(latch_count(&ran), 1); /* what follows runs */
  CHECK_EQUAL(latch_count(&seen.begun), 0);
  latch_wait(&seen.dropped, 1);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(stream);
}

static void captured_callbacks_run_at_each_replay(void) {
  aclpy_handle stream = new_stream(), graph = 0;
  struct latch ran = LATCH;
  struct seen seen = SEEN;
  uint64_t self = aclpy_thread_id();
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_capture_begin(0, stream, 2), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, mark, NULL, &ran, 0, BLOCK), 0);
  latch_add(&seen.go);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, NO_BLOCK), 0);
  CHECK_EQUAL(aclpy_capture_end(0, stream, &graph), 0);
  CHECK_EQUAL(aclpy_process_report(1), 507012);
  for (int replay = 1; replay <= 3; replay++) {
    CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
    while (latch_count(&seen.done) < replay) CHECK_EQUAL(aclpy_process_report(-1), 0);
    CHECK_EQUAL(latch_count(&ran), replay);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  }
  CHECK_EQUAL(latch_count(&seen.dropped), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(latch_count(&seen.dropped), 1); /* with the graph */
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  destroy_stream(stream);
}

struct brief {
  aclpy_handle stream;
  struct seen *seen;
};

static void *subscribe_and_end(void *arg) {
  struct brief *brief = arg;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  brief->stream = new_stream();
  CHECK_EQUAL(aclpy_subscribe_report(0, aclpy_thread_id(), brief->stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, brief->stream, see, drop_seen, brief->seen, 0, NO_BLOCK), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, brief->stream), 0);
  CHECK_EQUAL(aclpy_live_count("callback"), 1);
  CHECK_EQUAL(aclpy_reset_device(0), 0); /* its own set_device; the other thread holds the device */
  return NULL;
}

/* Its number is soon another thread's, which must not get its callbacks. */
static void a_thread_that_ends_calls_nothing(void) {
  struct seen seen = SEEN;
  struct brief brief = {.seen = &seen};
  int64_t streams = aclpy_live_count("stream");
  join_thread(start_thread(subscribe_and_end, &brief));
  latch_wait(&seen.dropped, 1);
  CHECK_EQUAL(aclpy_live_count("callback"), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, brief.stream, see, drop_seen, &seen, 0, BLOCK), 107015);
  CHECK_EQUAL(aclpy_stream_synchronize(0, brief.stream), 107015); /* what was dropped is told */
  destroy_stream(brief.stream);
  CHECK_EQUAL(aclpy_live_count("stream"), streams);
  CHECK_EQUAL(latch_count(&seen.begun), 0);
}

static int32_t end_thread(void *arg) {
  (void)arg;
  pthread_exit(NULL);
}

static void *subscribe_and_leave(void *arg) {
  struct brief *brief = arg;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  brief->stream = new_stream();
  CHECK_EQUAL(aclpy_subscribe_report(0, aclpy_thread_id(), brief->stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, brief->stream, end_thread, NULL, NULL, 0, BLOCK), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0); /* as above */
  (void)aclpy_process_report(-1);
  CHECK(false);
  return NULL;
}

/* So is one that an exception leaves: both unwind the stack. */
static void a_callback_that_is_left_is_over(void) {
  struct brief brief = {0};
  int64_t streams = aclpy_live_count("stream");
  join_thread(start_thread(subscribe_and_leave, &brief));
  CHECK_EQUAL(aclpy_stream_synchronize(0, brief.stream), 507000);
  CHECK_EQUAL(aclpy_live_count("callback"), 0);
  destroy_stream(brief.stream);
  CHECK_EQUAL(aclpy_live_count("stream"), streams);
}

/* Until the threads of ended streams have let go of them. */
static void wait_for_streams(int64_t left) {
  while (aclpy_live_count("stream") != left) sched_yield();
}

static void ending_by_force_drops_callbacks(void) {
  struct seen seen = SEEN;
  uint64_t self = aclpy_thread_id();
  int64_t streams = aclpy_live_count("stream");
  aclpy_handle stream = new_stream();
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, NO_BLOCK), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy_force(0, stream), 0);
  latch_wait(&seen.dropped, 1);
  CHECK_EQUAL(aclpy_live_count("callback"), 0);
  wait_for_streams(streams);
  CHECK_EQUAL(aclpy_process_report(1), 107012); /* it serves no stream any more */
}

/* Nobody else would call them, so that the wait for the stream's work would not end. */
static void resetting_drops_callbacks_of_its_own_thread(bool released) {
  struct seen seen = SEEN;
  aclpy_handle stream = new_stream();
  CHECK_EQUAL(aclpy_subscribe_report(0, aclpy_thread_id(), stream), 0);
  CHECK_EQUAL(aclpy_launch_callback(0, stream, see, drop_seen, &seen, 0, BLOCK), 0);
  if (released) CHECK_EQUAL(aclpy_stream_release(stream), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  latch_wait(&seen.dropped, 1);
  CHECK_EQUAL(latch_count(&seen.begun), 0);
  wait_for_streams(0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(arguments_are_checked);
  RUN(without_blocking);
  RUN(with_blocking);
  RUN(one_thread_does_everything);
  RUN(unsubscribing_fails_what_is_pending);
  RUN(captured_callbacks_run_at_each_replay);
  RUN(a_thread_that_ends_calls_nothing);
  RUN(a_callback_that_is_left_is_over);
  RUN(ending_by_force_drops_callbacks);
  resetting_drops_callbacks_of_its_own_thread(false);
  resetting_drops_callbacks_of_its_own_thread(true);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
