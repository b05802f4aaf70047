/* SPDX-License-Identifier: Apache-2.0
 * Streams, events, notifies and values beyond the everyday: timeouts, failure modes, limits, counts.
 */
#include "order_support.h"

/* ---- streams ---- */

static void host_waits_time_out_in_milliseconds(void) {
  aclpy_handle stream = new_stream(), event = new_event(ACLPY_EVENT_PLAIN, 0);
  struct park park = PARK;
  static const int32_t bad[] = {0, -2, INT32_MIN};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, bad[i]), 107000);
    CHECK_EQUAL(aclpy_event_synchronize_with_timeout(event, bad[i]), 107000);
    CHECK_EQUAL(aclpy_synchronize_device_with_timeout(0, bad[i]), 107000);
  }
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 1), 507046);
  CHECK_EQUAL(aclpy_synchronize_device_with_timeout(0, 1), 507046);
  CHECK_EQUAL(aclpy_event_synchronize_with_timeout(event, 1), 507047);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_event_synchronize_with_timeout(event, -1), 0);
  CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 60000), 0);
  CHECK_EQUAL(aclpy_synchronize_device_with_timeout(0, -1), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(stream);
}

static void facts_of_streams(void) {
  aclpy_handle stream = 0, config = 0, standard = 0;
  aclpy_stream_info info, other;
  uint64_t value = 7;
  uint32_t before = 0, after = 0;
  CHECK_EQUAL(aclpy_stream_available(0, &before), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 9, 3, &stream), 0); /* priorities are clamped, unknown bits ignored */
  CHECK_EQUAL(aclpy_stream_available(0, &after), 0);
  CHECK_EQUAL(after, before - 1);
  CHECK_EQUAL(aclpy_stream_facts(0, stream, "aclrtStreamGetPriority", &info), 0);
  CHECK_EQUAL(info.priority, 7);
  CHECK_EQUAL(info.flags, 3);
  CHECK_EQUAL(aclpy_stream_facts(0, 0, "aclrtStreamGetId", &other), 0); /* NULL: the default stream */
  CHECK(other.id != info.id);
  CHECK_EQUAL(aclpy_stream_facts(0, stream, "aclrtStreamGetId", NULL), 100000);
  CHECK_EQUAL(aclpy_stream_available(0, NULL), 100000);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 5, 2, "aclrtSetStreamAttribute"), 0);
  CHECK_EQUAL(aclpy_stream_get_attribute(0, stream, 5, &value, "aclrtGetStreamAttribute"), 0);
  CHECK_EQUAL(value, 2);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 2, 1, "aclrtSetStreamOverflowSwitch"), 0);
  CHECK_EQUAL(aclpy_stream_get_attribute(0, stream, 2, &value, "aclrtGetStreamOverflowSwitch"), 0);
  CHECK_EQUAL(value, 1);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 2, 2, "aclrtSetStreamOverflowSwitch"), 107000);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 6, 0, "aclrtSetStreamAttribute"), 107000);
  CHECK_EQUAL(aclpy_stream_get_attribute(0, stream, 0, &value, "aclrtGetStreamAttribute"), 107000);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, 0, 3, 0, "aclrtSetStreamAttribute"), 100000);
  CHECK_EQUAL(aclpy_stream_get_attribute(0, stream, 3, NULL, "aclrtGetStreamAttribute"), 100000);
  CHECK_EQUAL(aclpy_stream_model_only(0, stream, "aclrtPersistentTaskClean"), 107005);
  CHECK_EQUAL(aclpy_stream_default(0, &standard), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, standard), 107000); /* goes with its context */
  destroy_stream(stream);
  CHECK_EQUAL(aclpy_stream_config_create(&config), 0);
  CHECK_EQUAL(aclpy_stream_config_create(NULL), 100000);
  CHECK_EQUAL(aclpy_stream_config_set(config, 3, 4), 0);
  CHECK_EQUAL(aclpy_stream_config_set(config, 2, 1), 0);
  CHECK_EQUAL(aclpy_stream_config_set(config, 4, 1), 107000);
  CHECK_EQUAL(aclpy_stream_create_from(0, config, &stream), 0);
  CHECK_EQUAL(aclpy_stream_facts(0, stream, "aclrtStreamGetPriority", &info), 0);
  CHECK_EQUAL(info.priority, 4);
  CHECK_EQUAL(info.flags, 1);
  CHECK_EQUAL(aclpy_stream_config_destroy(config), 0);
  CHECK_EQUAL(aclpy_stream_config_destroy(config), 107017);
  CHECK_EQUAL(aclpy_stream_create_from(0, 0, &stream), 100000);
  destroy_stream(stream);
}

static void special_streams(void) {
  aclpy_handle persistent = new_stream_with(PERSISTENT), device = new_stream_with(DEVICE_USE_ONLY_STREAM);
  struct latch ran = LATCH;
  int32_t state = -1;
  CHECK_EQUAL(aclpy_submit(0, persistent, NULL, mark, NULL, &ran, 0), 107005);
  CHECK_EQUAL(aclpy_stream_query(0, persistent, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, persistent), 0);
  CHECK_EQUAL(aclpy_submit(0, device, NULL, mark, NULL, &ran, 0), 207000);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, device, 1, 1, "aclrtSetStreamFailureMode"), 207000);
  destroy_stream(persistent);
  destroy_stream(device);
}

static void limits(void) {
  aclpy_handle stream = 0, event = 0, notify = 0, kept = new_stream();
  uint32_t left = 9;
  aclpy_set_limits(1, 0, 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 207008);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 207007);
  CHECK_EQUAL(aclpy_notify_create(0, 0, &notify), 207009);
  CHECK_EQUAL(aclpy_event_available(0, &left), 0);
  CHECK_EQUAL(left, 0);
  aclpy_set_limits(1984, 65536, 8192);
  destroy_stream(kept);
}

static int32_t fail_it(void *arg) {
  (void)arg;
  return aclpy_fail(507015, "kernel", "", "", "", "an exception");
}

static void stopping_on_failure(void) {
  aclpy_handle back = 0, context = 0;
  CHECK_EQUAL(aclpy_context_get_current(&back), 0);
  CHECK_EQUAL(aclpy_context_create(0, &context), 0);
  aclpy_handle stream = new_stream(), other = new_stream(), late = 0;
  struct latch ran = LATCH;
  struct park park = PARK;
  int32_t state;
  const char *function = "aclrtSetStreamFailureMode";
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 1, 2, function), 107000);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 1, 0, function), 0);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 1, 1, function), 0);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 1, 1, function), 0);
  CHECK_EQUAL(aclpy_stream_set_attribute(0, stream, 1, 0, function), 207000);
  park_stream(other, &park);
  submit_mark(other, &ran);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, fail_it, NULL, NULL, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507015);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, other), 507015);  /* the whole context */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507015); /* for good */
  CHECK_EQUAL(aclpy_stream_query(0, stream, &state), 507015);
  CHECK_EQUAL(aclpy_submit(0, other, NULL, mark, NULL, &ran, 0), 507015);
  CHECK_EQUAL(latch_count(&ran), 0);
  late = new_stream();
  CHECK_EQUAL(aclpy_submit(0, late, NULL, mark, NULL, &ran, 0), 507015);
  CHECK_EQUAL(aclpy_context_destroy(context), 0);
  CHECK_EQUAL(aclpy_context_set_current(back), 0);
  stream = new_stream(); /* other contexts go on */
  submit_mark(stream, &ran);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(latch_count(&ran), 1);
  destroy_stream(stream);
}

static struct {
  aclpy_handle stream;
  int32_t state;
} heard[8];
static int n_heard;
static void hear(aclpy_handle stream, int32_t state, void *arg) {
  CHECK(arg == &n_heard);
  heard[n_heard].stream = stream;
  heard[n_heard++].state = state;
}

static atomic_int n_ends;
static void count_ends(aclpy_handle stream, int32_t state, void *arg) {
  (void)stream, (void)arg;
  if (state == 2) atomic_fetch_add(&n_ends, 1);
}

static void *destroy_it(void *arg) {
  (void)aclpy_stream_destroy(0, *(aclpy_handle *)arg); /* one of several is first */
  return NULL;
}

static void the_end_is_announced_once(void) {
  enum { STREAMS = 50, ENDERS = 3 };
  aclpy_handle context = 0;
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_stream_listen("ends", count_ends, NULL), 0);
  for (int i = 0; i < STREAMS; i++) {
    aclpy_handle stream = 0;
    CHECK_EQUAL(aclpy_stream_create(context, 0, 0, &stream), 0); /* free-standing: other threads need no context */
    pthread_t threads[ENDERS];
    for (int k = 0; k < ENDERS; k++) threads[k] = start_thread(destroy_it, &stream);
    for (int k = 0; k < ENDERS; k++) join_thread(threads[k]);
    CHECK_EQUAL(atomic_load(&n_ends), i + 1);
  }
  CHECK_EQUAL(aclpy_stream_listen("ends", NULL, NULL), 0);
}

static void listeners(void) {
  CHECK_EQUAL(aclpy_stream_listen("mine", hear, &n_heard), 0);
  CHECK_EQUAL(aclpy_stream_listen("mine", hear, &n_heard), 107000);
  CHECK_EQUAL(aclpy_stream_listen(NULL, hear, NULL), 100000);
  aclpy_handle stream = new_stream();
  destroy_stream(stream);
  CHECK_EQUAL(aclpy_stream_listen("mine", NULL, NULL), 0);
  destroy_stream(new_stream());
  CHECK_EQUAL(n_heard, 2);
  CHECK(heard[0].stream == stream && heard[0].state == 1);
  CHECK(heard[1].stream == stream && heard[1].state == 2);
}

/* ---- events ---- */

static void both_queries(void) {
  aclpy_handle stream = new_stream(), plain = new_event(ACLPY_EVENT_PLAIN, 0),
               flag = new_event(ACLPY_EVENT_WITH_FLAG, SYNC), ex = new_event(ACLPY_EVENT_EX_WITH_FLAG, SYNC);
  int32_t state = -1;
  uint64_t us = 0;
  uint32_t id = 0;
  struct park park = PARK;
  CHECK_EQUAL(aclpy_event_query_old(ex, &state), 207000);
  CHECK_EQUAL(aclpy_event_query_waits(ex, &state), 207000);
  CHECK_EQUAL(aclpy_event_query_old(plain, NULL), 100000);
  CHECK_EQUAL(aclpy_event_query_waits(0, &state), 100000);
  CHECK_EQUAL(aclpy_event_query_waits(flag, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_event_wait(0, stream, flag), 0);
  CHECK_EQUAL(aclpy_event_query_waits(flag, &state), 0);
  CHECK_EQUAL(state, 1);
  CHECK_EQUAL(aclpy_event_query_old(flag, &state), 0);
  CHECK_EQUAL(state, 1);
  aclpy_handle other = new_stream();
  CHECK_EQUAL(aclpy_event_record(0, flag, other), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_event_query_waits(flag, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_event_query_old(flag, &state), 0);
  CHECK_EQUAL(state, 0);
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_event_timestamp_us(plain, &us), 507000);
  CHECK_EQUAL(aclpy_event_record(0, plain, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, stream, plain), 0); /* queued all the same, in its own stream too */
  CHECK_EQUAL(aclpy_event_query_waits(plain, &state), 0);
  CHECK_EQUAL(state, 1);
  CHECK_EQUAL(aclpy_event_timestamp_us(plain, &us), 107006);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_event_timestamp_us(plain, &us), 0);
  CHECK(us > 0);
  CHECK_EQUAL(aclpy_event_timestamp_us(flag, &us), 107006); /* keeps no time */
  CHECK_EQUAL(aclpy_event_timestamp_us(plain, NULL), 100000);
  CHECK_EQUAL(aclpy_event_id(plain, &id), 0);
  CHECK_EQUAL(aclpy_event_id(plain, NULL), 100000);
  CHECK_EQUAL(aclpy_event_ipc(ex, "aclrtIpcGetEventHandle"), 207000);
  CHECK_EQUAL(aclpy_event_destroy(plain), 0);
  CHECK_EQUAL(aclpy_event_destroy(flag), 0);
  CHECK_EQUAL(aclpy_event_destroy(ex), 0);
  destroy_stream(stream);
  destroy_stream(other);
}

static void stream_waits_time_out_in_seconds(void) {
  aclpy_handle stream = new_stream(), event = new_event(ACLPY_EVENT_WITH_FLAG, SYNC);
  struct latch ran = LATCH;
  CHECK_EQUAL(aclpy_event_wait_with_timeout(0, stream, event, -1), 107000);
  CHECK_EQUAL(aclpy_event_wait_with_flag(0, stream, event, 1, 2), 107000);
  CHECK_EQUAL(aclpy_event_wait_with_timeout(0, stream, event, 1), 0);
  submit_mark(stream, &ran);
  CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 1), 507046); /* the host's milliseconds end first */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107019);
  CHECK_EQUAL(latch_count(&ran), 1); /* what follows a wait in vain still runs */
  CHECK_EQUAL(aclpy_set_op_wait_timeout(1), 0);
  CHECK_EQUAL(aclpy_event_wait(0, stream, event), 0);
  CHECK_EQUAL(aclpy_set_op_wait_timeout(0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107019);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  destroy_stream(stream);
}

/* ---- notifies and values ---- */

static void a_notify_lets_one_waiter_go(void) {
  aclpy_handle a = new_stream(), b = new_stream(), c = new_stream(), notify = 0, second = 0;
  struct latch ran = LATCH;
  uint32_t id = 0, other = 0;
  CHECK_EQUAL(aclpy_notify_create(0, 2, &notify), 107000);
  CHECK_EQUAL(aclpy_notify_create(0, 0, NULL), 100000);
  CHECK_EQUAL(aclpy_notify_create(0, 0, &notify), 0);
  CHECK_EQUAL(aclpy_notify_create(0, 1, &second), 0);
  CHECK_EQUAL(aclpy_notify_id(notify, &id), 0);
  CHECK_EQUAL(aclpy_notify_id(second, &other), 0);
  CHECK(id != other);
  CHECK_EQUAL(aclpy_notify_record(0, second, a), 207000); /* for devices only */
  CHECK_EQUAL(aclpy_notify_destroy(second), 0);
  CHECK_EQUAL(aclpy_notify_record(0, second, a), 107017);
  CHECK_EQUAL(aclpy_notify_record(0, 0, a), 100000);
  CHECK_EQUAL(aclpy_count_reset(0, notify, a), 107017); /* of the other kind */
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 0), 0);
  CHECK_EQUAL(aclpy_notify_wait(0, notify, b, 0), 0);
  submit_mark(a, &ran);
  submit_mark(b, &ran);
  CHECK_EQUAL(aclpy_notify_record(0, notify, c), 0);
  latch_wait(&ran, 1);
  CHECK_EQUAL(aclpy_stream_synchronize(0, c), 0);
  CHECK_EQUAL(latch_count(&ran), 1); /* exactly one */
  CHECK_EQUAL(aclpy_notify_record(0, notify, c), 0);
  latch_wait(&ran, 2);
  CHECK_EQUAL(aclpy_notify_record(0, notify, c), 0); /* set before anybody waits: it stays */
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, UINT32_MAX), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 1), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 107019);
  CHECK_EQUAL(aclpy_notify_record(0, notify, c), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, c), 0);
  CHECK_EQUAL(aclpy_notify_batch_reset(NULL, 1), 100000);
  CHECK_EQUAL(aclpy_notify_batch_reset(&second, 1), 107017);
  CHECK_EQUAL(aclpy_notify_batch_reset(&notify, 1), 0);
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 1), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 107019);
  CHECK_EQUAL(aclpy_notify_ipc(notify, "aclrtNotifyGetExportKey"), 207000);
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 0), 0);
  CHECK_EQUAL(aclpy_notify_record(0, notify, c), 0);
  CHECK_EQUAL(aclpy_notify_destroy(notify), 0); /* while it is queued */
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  destroy_stream(a);
  destroy_stream(b);
  destroy_stream(c);
}

static void counts_compare(void) {
  enum { LESS, EQUAL, BIGGER, BIGGER_OR_EQUAL, MASK };
  static const struct {
    uint32_t record_mode, record, wait_mode, wait;
  } rows[] = {{0, 5, EQUAL, 5},  {1, 2, BIGGER, 6}, {1, 1, BIGGER_OR_EQUAL, 8},
              {2, 16, MASK, 16}, {4, 8, EQUAL, 8},  {0, 1, LESS, 2}};
  aclpy_handle a = new_stream(), b = new_stream(), count = 0;
  uint32_t id;
  CHECK_EQUAL(aclpy_count_create(0, 0, &count), 0);
  CHECK_EQUAL(aclpy_count_id(count, &id), 0);
  CHECK_EQUAL(aclpy_count_record(0, count, a, 3, 1), 107000);
  CHECK_EQUAL(aclpy_count_wait(0, count, a, 5, 1, 0), 107000);
  CHECK_EQUAL(aclpy_notify_record(0, count, a), 107017);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct latch ran = LATCH;
    struct park park = PARK;
    park_stream(b, &park);
    CHECK_EQUAL(aclpy_count_record(0, count, b, rows[i].record_mode, rows[i].record), 0);
    CHECK_EQUAL(aclpy_count_wait(0, count, a, rows[i].wait_mode, rows[i].wait, 0), 0);
    submit_mark(a, &ran);
    CHECK_EQUAL(latch_count(&ran), 0);
    latch_add(&park.go);
    CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  }
  CHECK_EQUAL(aclpy_count_reset(0, count, b), 0);
  CHECK_EQUAL(aclpy_count_wait(0, count, a, EQUAL, 0, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK_EQUAL(aclpy_count_destroy(count), 0);
  destroy_stream(a);
  destroy_stream(b);
}

static void values_in_memory(void) {
  static const struct {
    uint64_t now, value;
    uint32_t flag;
  } rows[] = {{5, 5, 0}, {UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, 0}, {9, 9, 1}, {6, 2, 2}, {1, 2, 3}};
  aclpy_handle a = new_stream(), b = new_stream();
  uintptr_t memory = 0;
  struct latch ran = LATCH;
  CHECK_EQUAL(aclpy_malloc(0, 64, 0, &memory), 0);
  CHECK_EQUAL(aclpy_value_write(0, 0, 1, 0, a), 100000);
  CHECK_EQUAL(aclpy_value_write(0, memory + 4, 1, 0, a), 107008);
  CHECK_EQUAL(aclpy_value_write(0, memory + 64, 1, 0, a), 107000);
  CHECK_EQUAL(aclpy_value_write(0, memory, 1, 1, a), 107000);
  CHECK_EQUAL(aclpy_value_wait(0, memory, 1, 4, a), 107000);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    __atomic_store_n((uint64_t *)memory, rows[i].flag == 3 ? UINT64_MAX : 0, __ATOMIC_RELEASE);
    CHECK_EQUAL(aclpy_value_wait(0, memory, rows[i].value, rows[i].flag, a), 0);
    CHECK_EQUAL(aclpy_value_write(0, memory, rows[i].now, 0, b), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
    CHECK_EQUAL(*(uint64_t *)memory, rows[i].now);
  }
  CHECK_EQUAL(aclpy_value_wait(0, memory, 77, 1, a), 0);
  submit_mark(a, &ran);
  CHECK_EQUAL(latch_count(&ran), 0);
  __atomic_store_n((uint64_t *)memory, 77, __ATOMIC_RELEASE); /* nobody announces what the host writes */
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  destroy_stream(a);
  destroy_stream(b);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(host_waits_time_out_in_milliseconds);
  RUN(facts_of_streams);
  RUN(special_streams);
  RUN(limits);
  RUN(stopping_on_failure);
  RUN(listeners);
  RUN(the_end_is_announced_once);
  RUN(both_queries);
  RUN(stream_waits_time_out_in_seconds);
  RUN(a_notify_lets_one_waiter_go);
  RUN(counts_compare);
  RUN(values_in_memory);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("event"), 0);
  CHECK_EQUAL(aclpy_live_count("notify"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
