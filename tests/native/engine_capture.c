/* SPDX-License-Identifier: Apache-2.0
 * Captures: the statuses of the reference row by row, modes, joins, names, ends.
 */
#include "capture_support.h"

/* ---- statuses ---- */

static void begin_and_end_are_checked(void) {
  aclpy_handle stream = new_stream(), other = 0, fresh = new_stream(), graph = 7;
  CHECK_EQUAL(aclpy_stream_default(0, &other), 0);
  CHECK_EQUAL(aclpy_capture_begin(0, 0, GLOBAL), 100000);
  CHECK_EQUAL(aclpy_capture_end(0, 0, &graph), 100000);
  CHECK_EQUAL(aclpy_capture_end(0, stream, NULL), 100000);
  CHECK_EQUAL(aclpy_capture_info(0, 0, NULL, &graph), 100000);
  CHECK_EQUAL(aclpy_capture_info(0, stream, NULL, NULL), 100000);
  CHECK_EQUAL(aclpy_capture_begin(0, other, GLOBAL), 207000);
  end_fails(other, 207000);
  CHECK_EQUAL(aclpy_capture_begin(0, stream, 3), 107000);
  CHECK_EQUAL(aclpy_capture_begin(0, stream, -1), 107000);
  end_fails(stream, 107029);
  begin(stream, GLOBAL);
  CHECK_EQUAL(state_of(stream), 1);
  CHECK_EQUAL(state_of(fresh), 0);
  CHECK_EQUAL(aclpy_capture_begin(0, stream, GLOBAL), 107027);
  aclpy_handle busy = 0;
  CHECK_EQUAL(aclpy_capture_info(0, stream, NULL, &busy), 0);
  CHECK_EQUAL(aclpy_graph_execute(0, busy, fresh), 107026);
  CHECK_EQUAL(aclpy_graph_destroy(busy), 107026);
  graph = end(stream);
  CHECK_EQUAL(graph, busy);
  CHECK_EQUAL(state_of(stream), 0);
  CHECK_EQUAL(aclpy_graph_execute_sync(graph, -1), 107000);
  CHECK_EQUAL(aclpy_graph_abort(graph), 207000);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0); /* empty */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 107017);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 107017);
  CHECK_EQUAL(aclpy_graph_execute(0, 0, stream), 100000);
  CHECK_EQUAL(aclpy_graph_destroy(0), 100000);
  aclpy_handle persistent = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 4, &persistent), 0);
  CHECK_EQUAL(aclpy_capture_begin(0, persistent, GLOBAL), 507000);
  destroy_stream(persistent);
  destroy_stream(stream);
  destroy_stream(fresh);
}

static void capturing_forbids(void) {
  aclpy_handle stream = new_stream(), side = new_stream(), event = ex_event();
  uintptr_t memory = new_memory(), pinned = 0;
  char pageable[BYTES] = {0};
  int32_t state;
  float ms;
  uint64_t us;
  CHECK_EQUAL(aclpy_malloc_host(0, BYTES, &pinned), 0);
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107027);
  CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 10), 107027);
  CHECK_EQUAL(aclpy_stream_query(0, stream, &state), 107027);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 107027);
  CHECK_EQUAL(aclpy_synchronize_device(0), 107027);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_event_synchronize(event), 107028);
  CHECK_EQUAL(aclpy_event_query(event, &state), 107028);
  CHECK_EQUAL(aclpy_event_elapsed_ms(event, event, &ms), 107028);
  CHECK_EQUAL(aclpy_event_timestamp_us(event, &us), 107028);
  CHECK_EQUAL(aclpy_memcpy(0, memory, BYTES, (uintptr_t)pageable, BYTES, 1), 107030);
  CHECK_EQUAL(aclpy_memset(0, memory, BYTES, 1, BYTES), 107030);
  CHECK_EQUAL(aclpy_memcpy_async(0, memory, BYTES, (uintptr_t)pageable, BYTES, 1, stream), 107000);
  CHECK_EQUAL(aclpy_memcpy_async(0, memory, BYTES, (uintptr_t)pageable, BYTES, 1, side), 107041);
  CHECK_EQUAL(aclpy_memcpy_async(0, memory, BYTES, pinned, BYTES, 1, side), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, side), 0); /* not captured: its own business */
  CHECK_EQUAL(state_of(stream), 1);                  /* none of this invalidates */
  aclpy_handle graph = end(stream);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_event_query(event, &state), 0); /* a record in a graph is no record of the event */
  CHECK_EQUAL(state, 1);
  begin(side, RELAXED);
  CHECK_EQUAL(aclpy_graph_execute(0, graph, side), 107027);
  CHECK_EQUAL(aclpy_graph_destroy(end(side)), 0);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_free_host(pinned), 0);
  destroy_stream(stream);
  destroy_stream(side);
}

/* The decision table: a capture's mode, by this thread or another, and the thread's exchange mode. */
struct try_ {
  aclpy_handle context;
  uintptr_t memory;
  int32_t exchange, status;
};

static void *try_memset(void *arg) {
  struct try_ *self = arg;
  int32_t mode = self->exchange;
  CHECK_EQUAL(aclpy_context_set_current(self->context), 0);
  CHECK_EQUAL(aclpy_capture_exchange_mode(&mode), 0);
  CHECK_EQUAL(mode, GLOBAL); /* every thread begins with it */
  self->status = aclpy_memset(0, self->memory, BYTES, 0, BYTES);
  return NULL;
}

static void modes_govern_synchronous_calls(void) {
  enum { NO = 107030 };
  static const int32_t own[3][3] = {/* capture mode x exchange mode, in the thread that captures */
                                    {NO, NO, 0},
                                    {NO, NO, 0},
                                    {0, 0, 0}};
  static const int32_t others[3][3] = {{NO, 0, 0}, {0, 0, 0}, {0, 0, 0}}; /* in another thread of the context */
  aclpy_handle stream = new_stream();
  struct try_ other = {.memory = new_memory()};
  CHECK_EQUAL(aclpy_context_get_current(&other.context), 0);
  for (int32_t mode = GLOBAL; mode <= RELAXED; mode++) {
    begin(stream, mode);
    for (int32_t exchange = GLOBAL; exchange <= RELAXED; exchange++) {
      int32_t swapped = exchange;
      CHECK_EQUAL(aclpy_capture_exchange_mode(&swapped), 0);
      CHECK_EQUAL(aclpy_memset(0, other.memory, BYTES, 0, BYTES), own[mode][exchange]);
      CHECK_EQUAL(aclpy_capture_exchange_mode(&swapped), 0);
      CHECK_EQUAL(swapped, exchange);
      other.exchange = exchange;
      join_thread(start_thread(try_memset, &other));
      CHECK_EQUAL(other.status, others[mode][exchange]);
    }
    uintptr_t more = 0; /* allocating is never restricted */
    CHECK_EQUAL(aclpy_malloc(0, 32, 0, &more), 0);
    CHECK_EQUAL(aclpy_free(more), 0);
    CHECK_EQUAL(aclpy_graph_destroy(end(stream)), 0);
  }
  int32_t bad = 3;
  CHECK_EQUAL(aclpy_capture_exchange_mode(&bad), 107000);
  CHECK_EQUAL(aclpy_capture_exchange_mode(NULL), 100000);
  CHECK_EQUAL(aclpy_free(other.memory), 0);
  destroy_stream(stream);
}

static void illegal_events_invalidate(void) {
  aclpy_handle stream = new_stream(), other = new_stream(), ex = ex_event(), foreign = ex_event();
  aclpy_handle plain = new_event(ACLPY_EVENT_PLAIN, 0), flag = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  aclpy_handle basic = 0;
  struct park park = PARK;
  CHECK_EQUAL(aclpy_stream_default(0, &basic), 0);
  CHECK_EQUAL(aclpy_submit(0, other, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_event_record(0, foreign, other), 0);
  CHECK_EQUAL(aclpy_event_record(0, plain, other), 0);
  struct row {
    int which;
    int32_t status;
  } rows[] = {{0, 207000}, {1, 207000}, {2, 207000}, {3, 207000}, {4, 107024}, {5, 107031}, {6, 207000}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    begin(stream, GLOBAL);
    CHECK_EQUAL(aclpy_event_record(0, ex, stream), 0);
    int32_t got[] = {0, 0, 0, 0, 0, 0, 0};
    switch (rows[i].which) {
      case 0:
        got[0] = aclpy_event_record(0, plain, stream);
        break;
      case 1:
        got[1] = aclpy_event_record(0, flag, stream);
        break;
      case 2:
        got[2] = aclpy_event_wait(0, stream, plain);
        break;
      case 3:
        got[3] = aclpy_event_wait(0, stream, flag);
        break;
      case 4:
        got[4] = aclpy_event_wait(0, stream, foreign);
        break;
      case 5:
        got[5] = aclpy_event_wait(0, basic, ex);
        break;
      default:
        got[6] = aclpy_event_reset(0, ex, stream);
        break;
    }
    CHECK_EQUAL(got[rows[i].which], rows[i].status);
    CHECK_EQUAL(state_of(stream), 2);
    CHECK_EQUAL(aclpy_event_record(0, ex, stream), 507903);
    end_fails(stream, 507903);
    CHECK_EQUAL(state_of(stream), 0);
  }
  latch_add(&park.go);
  aclpy_handle third = new_stream();
  begin(stream, GLOBAL);
  begin(third, GLOBAL);
  CHECK_EQUAL(aclpy_event_record(0, ex, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, third, ex), 107032);
  end_fails(third, 507903);
  CHECK_EQUAL(aclpy_graph_destroy(end(stream)), 0);
  CHECK_EQUAL(aclpy_event_destroy(ex), 0);
  CHECK_EQUAL(aclpy_event_destroy(foreign), 0);
  CHECK_EQUAL(aclpy_event_destroy(plain), 0);
  CHECK_EQUAL(aclpy_event_destroy(flag), 0);
  destroy_stream(stream);
  destroy_stream(other);
  destroy_stream(third);
}

struct ender {
  aclpy_handle context, stream, graph;
  int32_t status;
};

static void *end_it(void *arg) {
  struct ender *self = arg;
  CHECK_EQUAL(aclpy_context_set_current(self->context), 0);
  self->status = aclpy_capture_end(0, self->stream, &self->graph);
  return NULL;
}

static void captures_end_where_they_began(void) {
  struct ender ender = {.stream = new_stream()};
  CHECK_EQUAL(aclpy_context_get_current(&ender.context), 0);
  for (int32_t mode = GLOBAL; mode <= RELAXED; mode++) {
    begin(ender.stream, mode);
    join_thread(start_thread(end_it, &ender));
    CHECK_EQUAL(ender.status, mode == RELAXED ? 0 : 107038);
    CHECK_EQUAL(ender.graph != 0, mode == RELAXED);
    CHECK_EQUAL(state_of(ender.stream), 0); /* thrown away */
  }
  CHECK_EQUAL(aclpy_graph_destroy(ender.graph), 0);
  destroy_stream(ender.stream);
}

static void side_streams_come_back(void) {
  aclpy_handle origin = new_stream(), side = new_stream(), out = ex_event(), back = ex_event();
  atomic_int ran = 0;
  for (int variant = 0; variant < 3; variant++) {
    begin(origin, GLOBAL);
    CHECK_EQUAL(aclpy_event_record(0, out, origin), 0);
    CHECK_EQUAL(aclpy_event_wait(0, side, out), 0);
    CHECK_EQUAL(state_of(side), 1);
    end_fails(side, 107036);
    CHECK_EQUAL(aclpy_stream_synchronize(0, side), 107027);
    submit(side, count, &ran);
    if (variant > 0) {
      CHECK_EQUAL(aclpy_event_record(0, back, side), 0);
      CHECK_EQUAL(aclpy_event_wait(0, origin, back), 0);
    }
    if (variant == 1) submit(side, count, &ran); /* behind the join */
    if (variant < 2) {
      end_fails(origin, 107025);
    } else {
      aclpy_handle graph = end(origin);
      uint32_t tasks = 0, streams = 0;
      CHECK_EQUAL(aclpy_graph_size(graph, &tasks, &streams), 0);
      CHECK_EQUAL(tasks, 5);
      CHECK_EQUAL(streams, 2);
      CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
    }
    CHECK_EQUAL(state_of(origin) + state_of(side), 0);
  }
  CHECK_EQUAL(atomic_load(&ran), 0); /* nothing captured ran */
  CHECK_EQUAL(aclpy_event_destroy(out), 0);
  CHECK_EQUAL(aclpy_event_destroy(back), 0);
  destroy_stream(origin);
  destroy_stream(side);
}

/* ---- the rest ---- */

static void names_and_pictures(void) {
  aclpy_handle stream = new_stream();
  char name[600], long_name[600];
  uint32_t id = 0;
  atomic_int ran = 0;
  begin(stream, GLOBAL);
  submit(stream, count, &ran);
  aclpy_handle graph = end(stream);
  memset(long_name, 'x', sizeof(long_name));
  long_name[513] = 0;
  CHECK_EQUAL(aclpy_graph_set_name(graph, long_name), 107000);
  long_name[512] = 0;
  CHECK_EQUAL(aclpy_graph_set_name(graph, long_name), 0);
  CHECK_EQUAL(aclpy_graph_get_name(graph, 512, name), 107039);
  CHECK_EQUAL(aclpy_graph_get_name(graph, 513, name), 0);
  CHECK_EQUAL(strcmp(name, long_name), 0);
  CHECK_EQUAL(aclpy_graph_id(graph, &id), 0);
  CHECK(id > 0);
  CHECK_EQUAL(aclpy_graph_print_json(graph, "/nowhere/at/all.json", 0), 107009);
  CHECK_EQUAL(aclpy_graph_print_json(graph, "/dev/full", 0), 107010);
  CHECK_EQUAL(aclpy_graph_print_json(graph, NULL, 0), 100000);
  CHECK_EQUAL(aclpy_graph_print_json(graph, "x", 2), 107000);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  destroy_stream(stream);
}

static void contexts_end_in_the_middle(void) {
  aclpy_handle context = 0, back = 0, stream = 0, graph = 0, event = 0;
  CHECK_EQUAL(aclpy_context_get_current(&back), 0);
  CHECK_EQUAL(aclpy_context_create(0, &context), 0);
  stream = new_stream();
  begin(stream, GLOBAL);
  event = ex_event();
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  graph = end(stream);
  begin(stream, GLOBAL);
  CHECK_EQUAL(aclpy_context_destroy(context), 0); /* throws the capture away */
  CHECK_EQUAL(aclpy_context_set_current(back), 0);
  stream = new_stream();
  CHECK_EQUAL(aclpy_graph_execute(0, graph, stream), 107004);
  CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(stream);
}

static void no_memory(void) {
  aclpy_handle stream = new_stream(), graph = 0;
  atomic_int ran = 0;
  for (int64_t n = 1; n < 8; n++) {
    aclpy_fail_after("object", n);
    int32_t status = aclpy_capture_begin(0, stream, GLOBAL);
    CHECK(status == 0 || status == 207001);
    if (status == 0) {
      status = aclpy_submit(0, stream, "host", count, NULL, &ran, 0);
      CHECK(status == 0 || status == 207001);
      status = aclpy_capture_end(0, stream, &graph);
      CHECK(status == 0 || status == 207001);
      if (status == 0) {
        status = aclpy_graph_execute(0, graph, stream);
        CHECK(status == 0 || status == 207001);
      }
    }
    aclpy_fail_after("object", 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    if (graph != 0) CHECK_EQUAL(aclpy_graph_destroy(graph), 0);
    graph = 0;
  }
  destroy_stream(stream);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(begin_and_end_are_checked);
  RUN(capturing_forbids);
  RUN(modes_govern_synchronous_calls);
  RUN(illegal_events_invalidate);
  RUN(captures_end_where_they_began);
  RUN(side_streams_come_back);
  RUN(names_and_pictures);
  RUN(contexts_end_in_the_middle);
  RUN(no_memory);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("graph"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
