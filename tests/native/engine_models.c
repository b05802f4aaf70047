/* SPDX-License-Identifier: Apache-2.0
 * Models built from persistent streams: who may be bound, when their tasks run, how they end.
 */
#include <stdatomic.h>

#include "order_support.h"

enum { HEAD = 0 };

static aclpy_handle new_model(void) {
  aclpy_handle model = 0;
  CHECK_EQUAL(aclpy_model_build_begin(0, 0, &model), 0);
  return model;
}

static void bind(aclpy_handle model, aclpy_handle stream) { CHECK_EQUAL(aclpy_model_bind(0, model, stream, HEAD), 0); }

static void finish(aclpy_handle model, aclpy_handle stream) {
  CHECK_EQUAL(aclpy_model_end_task(0, model, stream), 0);
  CHECK_EQUAL(aclpy_model_build_end(model, NULL), 0);
}

/* Numbers in the order in which tasks ran. */
static atomic_int turn;

static int32_t take_turn(void *arg) {
  atomic_store((atomic_int *)arg, atomic_fetch_add(&turn, 1) + 1);
  return 0;
}

static int32_t wait_latch(void *arg) {
  latch_wait(arg, 1);
  return 0;
}

static int32_t fail(void *arg) {
  (void)arg;
  return 507015;
}

static void submit(aclpy_handle stream, aclpy_task_run run, void *arg) {
  CHECK_EQUAL(aclpy_submit(0, stream, "host", run, NULL, arg, 0), 0);
}

/* ---- statuses ---- */

static void building_is_checked(void) {
  aclpy_handle model = 0, plain = new_stream(), stream = new_stream_with(PERSISTENT), other = 0, graph = 0;
  atomic_int ran = 0;
  CHECK_EQUAL(aclpy_model_build_begin(0, 0, NULL), 100000);
  CHECK_EQUAL(aclpy_model_build_begin(0, 1, &model), 107000);
  model = new_model();
  other = new_model();
  CHECK_EQUAL(aclpy_model_bind(0, 0, stream, HEAD), 100000);
  CHECK_EQUAL(aclpy_model_bind(0, model, 0, HEAD), 100000);
  CHECK_EQUAL(aclpy_model_bind(0, model, stream, 1), 107000);
  CHECK_EQUAL(aclpy_model_bind(0, model, plain, HEAD), 107005);
  CHECK_EQUAL(aclpy_model_end_task(0, model, stream), 107005);
  CHECK_EQUAL(aclpy_model_unbind(0, model, stream), 107005);
  CHECK_EQUAL(aclpy_model_build_end(model, NULL), 107005);
  bind(model, stream);
  CHECK_EQUAL(aclpy_model_bind(0, model, stream, HEAD), 107005);
  CHECK_EQUAL(aclpy_model_bind(0, other, stream, HEAD), 107005);
  CHECK_EQUAL(aclpy_model_end_task(0, other, stream), 107005);
  CHECK_EQUAL(aclpy_model_unbind(0, other, stream), 107005);
  CHECK_EQUAL(aclpy_model_unbind(0, model, stream), 107005); /* while it is built */
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 107005);
  CHECK_EQUAL(aclpy_stream_destroy_force(0, stream), 107005);
  CHECK_EQUAL(aclpy_capture_begin(0, stream, 0), 107005);
  CHECK_EQUAL(aclpy_capture_end(0, stream, &graph), 107029);
  CHECK_EQUAL(aclpy_stream_model_only(0, stream, "aclrtPersistentTaskClean"), 207000);
  CHECK_EQUAL(aclpy_graph_execute(0, model, plain), 507011);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 507011);
  CHECK_EQUAL(aclpy_model_build_end(model, &ran), 107000);
  CHECK_EQUAL(aclpy_model_build_end(model, NULL), 107005); /* no stream has ended its tasks */
  submit(stream, take_turn, &ran);
  CHECK_EQUAL(aclpy_model_end_task(0, model, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "host", take_turn, NULL, &ran, 0), 107005);
  CHECK_EQUAL(aclpy_model_build_end(model, NULL), 0);
  CHECK_EQUAL(aclpy_model_build_end(model, NULL), 107005);
  CHECK_EQUAL(aclpy_model_bind(0, model, new_stream_with(PERSISTENT), HEAD), 107005);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, 0), 107000);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -2), 107000);
  CHECK_EQUAL(ran, 0);
  CHECK_EQUAL(aclpy_model_unbind(0, model, stream), 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 507011);
  destroy_stream(stream);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 107017);
  CHECK_EQUAL(aclpy_graph_destroy(other), 0);
  destroy_stream(plain);
}

static void captures_are_no_models(void) {
  aclpy_handle stream = new_stream(), persistent = new_stream_with(PERSISTENT), graph = 0;
  CHECK_EQUAL(aclpy_capture_begin(0, stream, 0), 0);
  CHECK_EQUAL(aclpy_capture_end(0, stream, &graph), 0);
  CHECK_EQUAL(aclpy_model_bind(0, graph, persistent, HEAD), 107000);
  CHECK_EQUAL(aclpy_model_build_end(graph, NULL), 107000);
  CHECK_EQUAL(aclpy_graph_abort(graph), 207000);
  CHECK_EQUAL(aclpy_graph_execute_sync(graph, -1), 107000);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  destroy_stream(stream);
  destroy_stream(persistent);
}

static void building_forbids_nothing_else(void) {
  aclpy_handle model = new_model(), stream = new_stream_with(PERSISTENT);
  int32_t state = -1, info = -1;
  uintptr_t memory = 0;
  bind(model, stream);
  CHECK_EQUAL(aclpy_malloc(0, 64, 0, &memory), 0);
  CHECK_EQUAL(aclpy_memset(0, memory, 64, 1, 64), 0);
  CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_stream_query(0, stream, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_capture_info(0, stream, &info, NULL), 0);
  CHECK_EQUAL(info, 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0); /* in the middle; the stream is its own again */
  CHECK_EQUAL(aclpy_submit(0, stream, "host", take_turn, NULL, &state, 0), 107005);
  destroy_stream(stream);
}

/* ---- order ---- */

static void tasks_run_at_each_execution(void) {
  aclpy_handle model = new_model(), stream = new_stream_with(PERSISTENT), plain = new_stream();
  atomic_int first = 0, inside = 0, last = 0;
  bind(model, stream);
  submit(stream, take_turn, &inside);
  finish(model, stream);
  CHECK_EQUAL(inside, 0);
  atomic_store(&turn, 0);
  for (int round = 0; round < 3; round++) {
    int before = turn;
    submit(plain, take_turn, &first);
    CHECK_EQUAL(aclpy_graph_execute(0, model, plain), 0);
    submit(plain, take_turn, &last);
    CHECK_EQUAL(aclpy_stream_synchronize(0, plain), 0);
    CHECK_EQUAL(first, before + 1);
    CHECK_EQUAL(inside, before + 2);
    CHECK_EQUAL(last, before + 3);
    CHECK_EQUAL(aclpy_graph_execute_sync(model, round == 0 ? -1 : 60000), 0);
    CHECK_EQUAL(inside, before + 4);
  }
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  destroy_stream(stream);
  destroy_stream(plain);
}

static void every_stream_starts_and_ends_with_the_model(void) {
  aclpy_handle model = new_model(), one = new_stream_with(PERSISTENT), two = new_stream_with(PERSISTENT),
               plain = new_stream();
  aclpy_handle done = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  struct latch before = LATCH, inside = LATCH;
  atomic_int quick = 0, slow = 0;
  int32_t recorded = 1;
  bind(model, one);
  bind(model, two);
  submit(one, take_turn, &quick);
  submit(two, wait_latch, &inside);
  submit(two, take_turn, &slow);
  finish(model, one);
  submit(plain, wait_latch, &before);
  CHECK_EQUAL(aclpy_graph_execute(0, model, plain), 0);
  CHECK_EQUAL(aclpy_event_record(0, done, plain), 0);
  CHECK_EQUAL(quick, 0); /* the stream has not come so far */
  CHECK_EQUAL(aclpy_graph_destroy(model), 107037);
  CHECK_EQUAL(aclpy_model_unbind(0, model, one), 107037);
  latch_add(&before);
  CHECK_EQUAL(aclpy_event_query(done, &recorded), 0);
  CHECK_EQUAL(recorded, 0); /* the second stream is not through */
  CHECK_EQUAL(slow, 0);
  latch_add(&inside);
  CHECK_EQUAL(aclpy_stream_synchronize(0, plain), 0);
  CHECK(quick > 0 && slow > 0);
  CHECK_EQUAL(aclpy_event_destroy(done), 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  destroy_stream(one);
  destroy_stream(two);
  destroy_stream(plain);
}

static void events_order_the_streams_of_a_model(void) {
  aclpy_handle model = new_model(), one = new_stream_with(PERSISTENT), two = new_stream_with(PERSISTENT),
               plain = new_stream();
  aclpy_handle event = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC), outside = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC),
               wrong = 0;
  atomic_int produced = 0, consumed = 0;
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &wrong), 0);
  CHECK_EQUAL(aclpy_event_record(0, outside, plain), 0);
  bind(model, two);
  bind(model, one);
  submit(one, take_turn, &produced);
  CHECK_EQUAL(aclpy_event_record(0, event, one), 0);
  CHECK_EQUAL(aclpy_event_record(0, wrong, one), 207000);
  CHECK_EQUAL(aclpy_event_wait(0, two, outside), 107024);
  CHECK_EQUAL(aclpy_event_wait(0, plain, event), 107005);
  CHECK_EQUAL(aclpy_event_synchronize(event), 107028);
  CHECK_EQUAL(aclpy_event_wait(0, two, event), 0); /* what was refused has changed nothing */
  submit(two, take_turn, &consumed);
  finish(model, two);
  for (int round = 0; round < 50; round++) {
    CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 0);
    CHECK_EQUAL(consumed, produced + 1);
  }
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_event_destroy(outside), 0);
  CHECK_EQUAL(aclpy_event_destroy(wrong), 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  destroy_stream(one);
  destroy_stream(two);
  destroy_stream(plain);
}

/* ---- failures and ends ---- */

static void failures_and_timeouts_surface(void) {
  aclpy_handle model = new_model(), stream = new_stream_with(PERSISTENT), plain = new_stream(), other = 0, back = 0;
  struct latch latch = LATCH;
  bind(model, stream);
  submit(stream, wait_latch, &latch);
  submit(stream, fail, NULL);
  finish(model, stream);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, 1), 507046);
  latch_add(&latch);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 507015);
  CHECK_EQUAL(aclpy_graph_execute(0, model, plain), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, plain), 507015);
  CHECK_EQUAL(aclpy_context_get_current(&back), 0);
  CHECK_EQUAL(aclpy_context_create(0, &other), 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 107004);
  CHECK_EQUAL(aclpy_context_destroy(other), 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 107002);
  CHECK_EQUAL(aclpy_context_set_current(back), 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  destroy_stream(stream);
  destroy_stream(plain);
}

static void an_aborted_model_leaves_out_the_rest(void) {
  aclpy_handle model = new_model(), stream = new_stream_with(PERSISTENT), plain = new_stream();
  struct latch latch = LATCH;
  atomic_int ran = 0;
  bind(model, stream);
  submit(stream, wait_latch, &latch);
  submit(stream, take_turn, &ran);
  finish(model, stream);
  CHECK_EQUAL(aclpy_graph_abort(model), 0); /* nothing runs: nothing to end */
  CHECK_EQUAL(aclpy_graph_execute(0, model, plain), 0);
  CHECK_EQUAL(aclpy_graph_abort(model), 0);
  latch_add(&latch);
  CHECK_EQUAL(aclpy_stream_synchronize(0, plain), 507023);
  CHECK_EQUAL(ran, 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(model, -1), 0);
  CHECK(ran > 0);
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  destroy_stream(stream);
  destroy_stream(plain);
}

static char told[8];

static void tell(void *data) { strncat(told, data, 1); }
static void tell_twice(void *data) {
  strncat(told, data, 1);
  strncat(told, data, 1);
}

static void streams_are_listed_and_the_end_is_told(void) {
  aclpy_handle model = new_model(), one = new_stream_with(PERSISTENT), two = new_stream_with(PERSISTENT),
               found[3] = {0};
  uint32_t n = 0;
  char a[] = "a", b[] = "b", c[] = "c";
  bind(model, one);
  bind(model, two);
  CHECK_EQUAL(aclpy_graph_streams(model, NULL, NULL), 100000);
  CHECK_EQUAL(aclpy_graph_streams(model, NULL, &n), 0);
  CHECK_EQUAL(n, 2);
  n = 1;
  CHECK_EQUAL(aclpy_graph_streams(model, found, &n), 107039);
  n = 3;
  CHECK_EQUAL(aclpy_graph_streams(model, found, &n), 0);
  CHECK_EQUAL(n, 2);
  CHECK(found[0] == one && found[1] == two && found[2] == 0);
  CHECK_EQUAL(aclpy_graph_farewell_register(model, NULL, a), 107000);
  CHECK_EQUAL(aclpy_graph_farewell_unregister(model, tell), 107000);
  CHECK_EQUAL(aclpy_graph_farewell_register(model, tell, a), 0);
  CHECK_EQUAL(aclpy_graph_farewell_register(model, tell_twice, b), 0);
  CHECK_EQUAL(aclpy_graph_farewell_register(model, tell, c), 0);
  CHECK_EQUAL(aclpy_graph_farewell_unregister(model, tell), 0); /* the first of them */
  CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  CHECK_EQUAL(strcmp(told, "bbc"), 0);
  destroy_stream(one);
  destroy_stream(two);
}

static void contexts_end_in_the_middle(void) {
  aclpy_handle context = 0, back = 0, building = 0, built = 0, streams[2];
  CHECK_EQUAL(aclpy_context_get_current(&back), 0);
  CHECK_EQUAL(aclpy_context_create(0, &context), 0);
  building = new_model();
  built = new_model();
  for (int i = 0; i < 2; i++) streams[i] = new_stream_with(PERSISTENT);
  bind(building, streams[0]);
  bind(built, streams[1]);
  finish(built, streams[1]);
  CHECK_EQUAL(aclpy_context_destroy(context), 0);
  CHECK_EQUAL(aclpy_context_set_current(back), 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(building, -1), 507011);
  CHECK_EQUAL(aclpy_graph_execute_sync(built, -1), 507011);
  CHECK_EQUAL(aclpy_graph_destroy(building), 0);
  CHECK_EQUAL(aclpy_graph_destroy(built), 0);
}

static void no_memory(void) {
  aclpy_handle one = new_stream_with(PERSISTENT), two = new_stream_with(PERSISTENT);
  atomic_int ran = 0;
  for (int64_t n = 1; n < 20; n++) {
    aclpy_handle model = 0;
    aclpy_fail_after("object", n);
    int32_t status = aclpy_model_build_begin(0, 0, &model);
    if (status == 0) status = aclpy_model_bind(0, model, one, HEAD);
    if (status == 0) status = aclpy_model_bind(0, model, two, HEAD);
    if (status == 0) status = aclpy_submit(0, two, "host", take_turn, NULL, &ran, 0);
    if (status == 0) status = aclpy_model_end_task(0, model, two);
    if (status == 0) status = aclpy_model_build_end(model, NULL);
    if (status == 0) status = aclpy_graph_execute_sync(model, -1);
    CHECK(status == 0 || status == 207001);
    aclpy_fail_after("object", 0);
    if (model != 0) CHECK_EQUAL(aclpy_graph_destroy(model), 0);
  }
  CHECK(ran > 0);
  destroy_stream(one);
  destroy_stream(two);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(building_is_checked);
  RUN(captures_are_no_models);
  RUN(building_forbids_nothing_else);
  RUN(tasks_run_at_each_execution);
  RUN(every_stream_starts_and_ends_with_the_model);
  RUN(events_order_the_streams_of_a_model);
  RUN(failures_and_timeouts_surface);
  RUN(an_aborted_model_leaves_out_the_rest);
  RUN(streams_are_listed_and_the_end_is_told);
  RUN(contexts_end_in_the_middle);
  RUN(no_memory);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("graph"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
