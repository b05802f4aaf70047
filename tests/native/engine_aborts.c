/* SPDX-License-Identifier: Apache-2.0
 * Streams whose queued work is discarded, by force or by aborting, and what those are told that wait for it.
 */
#include "order_support.h"

static void force_drops_what_has_not_begun(void) {
  aclpy_handle stream = new_stream(), other = new_stream(), event = new_event(ACLPY_EVENT_PLAIN, 0);
  struct park park = PARK, queued = PARK;
  struct latch ran = LATCH;
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &queued, 0), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, other, event), 0);
  submit_mark(other, &ran);
  CHECK_EQUAL(aclpy_stream_destroy_force(0, 0), 100000);
  CHECK_EQUAL(aclpy_stream_destroy_force(0, stream), 0); /* although a task runs */
  CHECK_EQUAL(aclpy_stream_destroy_force(0, stream), 107017);
  latch_add(&park.go);
  latch_wait(&queued.dropped, 1);
  CHECK_EQUAL(latch_count(&queued.begun), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, other), 107023); /* its wait ends, with a failure */
  CHECK_EQUAL(latch_count(&ran), 1);
  CHECK_EQUAL(aclpy_event_synchronize(event), 107023);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(other);
}

struct waiter {
  aclpy_handle stream;
  struct latch begun;
  int32_t status;
};

static void *synchronize_it(void *arg) {
  struct waiter *self = arg;
  latch_add(&self->begun);
  self->status = aclpy_stream_synchronize(0, self->stream);
  return NULL;
}

static int32_t destroy_under_a_waiter(void) {
  struct waiter waiter = {.stream = new_stream(), .begun = LATCH};
  struct park park = PARK;
  struct latch dropped = LATCH;
  park_stream(waiter.stream, &park);
  submit_mark(waiter.stream, &dropped);
  pthread_t thread = start_thread(synchronize_it, &waiter);
  latch_wait(&waiter.begun, 1);
  CHECK_EQUAL(aclpy_stream_destroy_force(0, waiter.stream), 0);
  latch_add(&park.go);
  join_thread(thread);
  latch_wait(&park.dropped, 1);                              /* the next turn's lies at the same place */
  CHECK(waiter.status == 107023 || waiter.status == 107017); /* the second: it came too late to wait */
  CHECK_EQUAL(latch_count(&dropped), 0);
  return waiter.status;
}

static void force_is_told_to_who_waits(void) {
  while (destroy_under_a_waiter() != 107023) continue;
}

static void aborting(void) {
  aclpy_handle event = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  struct waiter waiter = {.stream = new_stream(), .begun = LATCH};
  struct latch dropped = LATCH, ran = LATCH;
  CHECK_EQUAL(aclpy_event_wait(0, waiter.stream, event), 0); /* would block for ever */
  submit_mark(waiter.stream, &dropped);
  pthread_t thread = start_thread(synchronize_it, &waiter);
  latch_wait(&waiter.begun, 1);
  CHECK_EQUAL(aclpy_stream_abort(0, waiter.stream), 0);
  join_thread(thread);
  CHECK_EQUAL(waiter.status, 107023);
  submit_mark(waiter.stream, &ran);
  int32_t status = aclpy_stream_synchronize(0, waiter.stream);
  CHECK(status == 0 || status == 107023); /* the interrupted wait may still have to tell */
  CHECK_EQUAL(latch_count(&ran), 1);      /* it is usable again */
  CHECK_EQUAL(latch_count(&dropped), 0);
  CHECK_EQUAL(aclpy_stream_abort(0, waiter.stream), 0); /* idle: still told at the next synchronise */
  CHECK_EQUAL(aclpy_stream_synchronize(0, waiter.stream), 107023);
  CHECK_EQUAL(aclpy_stream_synchronize(0, waiter.stream), 0);
  CHECK_EQUAL(aclpy_stream_abort(0, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, 0), 107023);
  CHECK_EQUAL(aclpy_stream_stop(0, 0), 107000);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(waiter.stream);
}

static void a_whole_context(void) {
  aclpy_handle before = 0, context = 0, event = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  CHECK_EQUAL(aclpy_context_get_current(&before), 0);
  CHECK_EQUAL(aclpy_context_create(0, &context), 0);
  struct latch dropped = LATCH, idle_ran = LATCH;
  aclpy_handle idle = new_stream(), stuck = new_stream(), released = new_stream();
  CHECK_EQUAL(aclpy_event_wait(0, 0, event), 0); /* the default stream */
  CHECK_EQUAL(aclpy_event_wait(0, stuck, event), 0);
  CHECK_EQUAL(aclpy_event_wait(0, released, event), 0);
  submit_mark(released, &dropped);
  CHECK_EQUAL(aclpy_stream_release(released), 0);
  CHECK_EQUAL(aclpy_context_abort(context), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stuck), 107023);
  CHECK_EQUAL(aclpy_stream_synchronize(0, 0), 107023);
  submit_mark(idle, &idle_ran); /* what was empty knows nothing of it */
  CHECK_EQUAL(aclpy_stream_synchronize(0, idle), 0);
  CHECK_EQUAL(latch_count(&idle_ran), 1);
  CHECK_EQUAL(aclpy_context_destroy(context), 0); /* does not wait for ever */
  CHECK_EQUAL(latch_count(&dropped), 0);
  CHECK_EQUAL(aclpy_context_abort(context), 107017);
  CHECK_EQUAL(aclpy_context_set_current(before), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(force_drops_what_has_not_begun);
  RUN(force_is_told_to_who_waits);
  RUN(aborting);
  RUN(a_whole_context);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
