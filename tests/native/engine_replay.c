/* SPDX-License-Identifier: Apache-2.0
 * Captured graphs: replays in stream order, failures, joins, updates, events outside of the graph.
 */
#include "capture_support.h"

/* ---- replay ---- */

static void replays_run_in_stream_order(void) {
  aclpy_handle stream = new_stream();
  uintptr_t a = new_memory(), b = new_memory();
  atomic_int ran = 0;
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_memset_async(0, a, BYTES, 7, BYTES, stream), 0);
  submit(stream, count, &ran);
  CHECK_EQUAL(aclpy_memcpy_async(0, b, BYTES, a, BYTES, 3, stream), 0);
  aclpy_handle graph = end(stream);
  CHECK_EQUAL(atomic_load(&ran), 0);
  CHECK_EQUAL(*(int32_t *)b, 0);
  for (int replay = 1; replay <= 3; replay++) {
    memset((void *)b, 0, BYTES);
    CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    CHECK_EQUAL(atomic_load(&ran), replay);
    CHECK_EQUAL(*(char *)(b + BYTES - 1), 7);
  }
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 107037); /* queued counts as running */
  CHECK_EQUAL(aclpy_free(a), 0);                   /* captured tasks keep their memory */
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, 0), 0); /* the default stream */
  CHECK_EQUAL(aclpy_stream_synchronize(0, 0), 0);
  CHECK_EQUAL(atomic_load(&ran), 5);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_free(b), 0);
  destroy_stream(stream);
}

static int32_t fail_it(void *arg) {
  (void)arg;
  return aclpy_fail(507018, "inner", "", "", "", "no good");
}

static void failures_of_a_replay_surface(void) {
  aclpy_handle stream = new_stream(), side = new_stream(), out = ex_event(), back = ex_event();
  atomic_int ran = 0;
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_event_record(0, out, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, side, out), 0);
  submit(side, fail_it, NULL);
  CHECK_EQUAL(aclpy_event_record(0, back, side), 0);
  CHECK_EQUAL(aclpy_event_wait(0, stream, back), 0);
  submit(stream, count, &ran);
  aclpy_handle graph = end(stream);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507018); /* of the side branch, at the stream that replays */
  CHECK_EQUAL(atomic_load(&ran), 1);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(out), 0);
  CHECK_EQUAL(aclpy_event_destroy(back), 0);
  destroy_stream(stream);
  destroy_stream(side);
}

static atomic_int order_;
struct stamp {
  int at;
};
static int32_t stamp(void *arg) {
  ((struct stamp *)arg)->at = atomic_fetch_add(&order_, 1);
  return 0;
}

static void joins_hold_in_every_replay(void) {
  aclpy_handle a = new_stream(), b = new_stream(), c = new_stream(), out = ex_event(), back = ex_event();
  struct stamp first, side, last;
  begin(a, GLOBAL);
  submit(a, stamp, &first);
  CHECK_EQUAL(aclpy_event_record(0, out, a), 0);
  CHECK_EQUAL(aclpy_event_wait(0, b, out), 0);
  submit(b, stamp, &side);
  CHECK_EQUAL(aclpy_event_record(0, back, b), 0);
  CHECK_EQUAL(aclpy_event_wait(0, a, back), 0);
  submit(a, stamp, &last);
  aclpy_handle graph = end(a);
  for (int i = 0; i < (SANITIZED ? 100 : 1000); i++) {
    aclpy_handle on = i % 2 == 0 ? a : c; /* replays of one graph follow each other, whatever the stream */
    CHECK_EQUAL(aclpy_graph_execute(0, graph, on), 0);
    if (i % 4 != 3) continue;
    CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, c), 0);
    CHECK(first.at < side.at && side.at < last.at);
    CHECK_EQUAL(atomic_load(&order_), 3 * (i + 1));
  }
  CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(out), 0);
  CHECK_EQUAL(aclpy_event_destroy(back), 0);
  destroy_stream(a);
  destroy_stream(b);
  destroy_stream(c);
}

/* ---- task groups ---- */

static void groups_are_updated(void) {
  aclpy_handle stream = new_stream(), other = new_stream(), group = 0,
               gate = new_event(ACLPY_EVENT_WITH_FLAG, EXTERNAL);
  uintptr_t a = new_memory(), b = new_memory();
  CHECK_EQUAL(aclpy_task_group_begin(0, stream), 107029);
  CHECK_EQUAL(aclpy_task_group_end(0, stream, &group), 107029);
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_task_group_end(0, stream, &group), 107033);
  CHECK_EQUAL(aclpy_task_group_begin(0, stream), 0);
  CHECK_EQUAL(aclpy_task_group_begin(0, stream), 107033);
  end_fails(stream, 107033);
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_event_wait(0, stream, gate), 0); /* at each replay: for a record from outside */
  CHECK_EQUAL(aclpy_event_reset(0, gate, stream), 0);
  CHECK_EQUAL(aclpy_task_group_begin(0, stream), 0);
  CHECK_EQUAL(aclpy_memset_async(0, a, BYTES, 1, BYTES, stream), 0);
  CHECK_EQUAL(aclpy_task_group_end(0, stream, &group), 0);
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 107026);
  aclpy_handle graph = end(stream);
  CHECK_EQUAL(aclpy_task_update_end(0, other), 107033);
  CHECK_EQUAL(aclpy_task_update_begin(0, other, 0), 100000);
  CHECK_EQUAL(aclpy_task_update_begin(0, other, graph), 107017);
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 0);
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 107033);
  CHECK_EQUAL(aclpy_task_update_end(0, other), 107040); /* no task at all */
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, b, BYTES, a, BYTES, 3, other), 0);
  CHECK_EQUAL(aclpy_task_update_end(0, other), 107040); /* of another sort */
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 0);
  CHECK_EQUAL(aclpy_event_record(0, gate, other), 207019);
  CHECK_EQUAL(aclpy_task_update_end(0, other), 107040);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0); /* waits for the gate, so it sees the update */
  CHECK_EQUAL(aclpy_task_update_begin(0, other, group), 0);
  CHECK_EQUAL(aclpy_memset_async(0, b, BYTES, 5, BYTES, other), 0);
  CHECK_EQUAL(aclpy_task_update_end(0, other), 0);
  CHECK_EQUAL(aclpy_event_record(0, gate, other), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(*(char *)a, 0);
  CHECK_EQUAL(*(char *)b, 5);
  aclpy_task_group_release(group);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(gate), 0);
  CHECK_EQUAL(aclpy_free(a), 0);
  CHECK_EQUAL(aclpy_free(b), 0);
  destroy_stream(stream);
  destroy_stream(other);
}

static void external_records_are_seen_outside(void) {
  aclpy_handle stream = new_stream(), other = new_stream(), event = ex_event(), second = ex_event();
  int32_t state;
  CHECK_EQUAL(aclpy_event_record_with_flag(0, event, stream, 2), 107000);
  CHECK_EQUAL(aclpy_event_record_with_flag(0, event, stream, 1), 107029);
  CHECK_EQUAL(aclpy_event_wait_with_flag(0, stream, event, 0, 1), 107029);
  CHECK_EQUAL(aclpy_event_wait_with_flag(0, stream, event, 5, 1), 107000);
  begin(stream, GLOBAL);
  aclpy_handle plain = new_event(ACLPY_EVENT_PLAIN, 0);
  CHECK_EQUAL(aclpy_event_record_with_flag(0, plain, stream, 1), 207000);
  CHECK_EQUAL(aclpy_event_record_with_flag(0, event, stream, 1), 0);
  CHECK_EQUAL(aclpy_event_record_with_flag(0, event, stream, 0), 107000); /* the flag stays what it was */
  aclpy_handle graph = end(stream);
  CHECK_EQUAL(aclpy_event_record_with_flag(0, second, other, 0), 0);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
  CHECK_EQUAL(aclpy_event_query(event, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_event_wait(0, other, event), 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, other), 0);
  CHECK_EQUAL(aclpy_event_query(event, &state), 0);
  CHECK_EQUAL(state, 1);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_event_destroy(second), 0);
  CHECK_EQUAL(aclpy_event_destroy(plain), 0);
  destroy_stream(stream);
  destroy_stream(other);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(replays_run_in_stream_order);
  RUN(failures_of_a_replay_surface);
  RUN(joins_hold_in_every_replay);
  RUN(groups_are_updated);
  RUN(external_records_are_seen_outside);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("graph"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
