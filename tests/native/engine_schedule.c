/* SPDX-License-Identifier: Apache-2.0
 * The test bench: deterministic schedules and their replays, deadlocks, the recorder, latches, planned failures.
 */
#include <stdatomic.h>

#include "order_support.h"

/* Host functions that write their letter behind those of the others. */
static char written[4096];
static size_t n_written;

static int32_t write_letter(void *arg) {
  written[n_written++] = (char)(uintptr_t)arg;
  written[n_written] = 0;
  return 0;
}

static void begin(const char *policy) {
  n_written = 0;
  written[0] = 0;
  CHECK_EQUAL(aclpy_schedule_start(policy), 0);
}

static void submit(aclpy_handle stream, char letter) {
  CHECK_EQUAL(aclpy_submit(0, stream, "letter", write_letter, NULL, (void *)(uintptr_t)letter, 0), 0);
}

static void replay_of(char *text, size_t room) { CHECK(aclpy_schedule_replay(text, room) < room); }

/* ---- order ---- */

static void two_streams(const char *policy, char *result) {
  aclpy_handle a = new_stream(), b = new_stream();
  begin(policy);
  submit(a, 'a');
  submit(b, 'x');
  submit(a, 'b');
  submit(b, 'y');
  strcat(written, "|");
  n_written++;
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  strcat(written, "|");
  n_written++;
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  strcpy(result, written);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

static void policies_decide_the_order(void) {
  char result[64];
  two_streams("eager", result);
  CHECK(strcmp(result, "axby||") == 0);
  two_streams("lazy", result);
  CHECK(strcmp(result, "|ab|xy") == 0);
  two_streams("reverse", result);
  CHECK(strcmp(result, "|xyab|") == 0);
}

static void a_replay_repeats_every_seed(void) {
  char first[64], second[64], replay[256], again[256], seed[16];
  int different = 0;
  for (int i = 0; i < 40; i++) {
    snprintf(seed, sizeof(seed), "%d", i);
    two_streams(seed, first);
    replay_of(replay, sizeof(replay));
    two_streams(seed, second);
    CHECK(strcmp(first, second) == 0);
    two_streams(replay, second);
    CHECK(strcmp(first, second) == 0);
    aclpy_schedule_info info;
    aclpy_schedule_facts(&info);
    CHECK_EQUAL(info.diverged, 0);
    CHECK_EQUAL(info.steps, 4);
    replay_of(again, sizeof(again));
    CHECK(strcmp(replay, again) == 0);
    different += strcmp(first, "|ab|xy") != 0;
  }
  CHECK(different > 10);
}

static void a_replay_of_another_program_says_where_it_parts(void) {
  char result[64];
  two_streams("r1:.4c", result);
  CHECK(strcmp(result, "|ab|xy") == 0);
  aclpy_schedule_info info;
  aclpy_schedule_facts(&info);
  CHECK_EQUAL(info.diverged, 1);
}

static void the_program_may_decide(void) {
  aclpy_handle a = new_stream(), b = new_stream();
  int32_t ran = -1;
  uint64_t ready[4];
  begin("lazy");
  submit(a, 'a');
  submit(b, 'x');
  submit(a, 'b');
  CHECK_EQUAL(aclpy_schedule_ready(ready, 4), 2);
  CHECK_EQUAL(aclpy_schedule_step(0, b, &ran), 0);
  CHECK_EQUAL(ran, 1);
  CHECK_EQUAL(aclpy_schedule_step(0, b, &ran), 0);
  CHECK_EQUAL(ran, 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK(strcmp(written, "xab") == 0);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

static void a_query_lets_one_task_run(void) {
  aclpy_handle a = new_stream();
  int32_t state = -1;
  begin("lazy");
  submit(a, 'a');
  submit(a, 'b');
  CHECK_EQUAL(aclpy_stream_query(0, a, &state), 0);
  CHECK_EQUAL(state, 1);
  CHECK(strcmp(written, "a") == 0);
  CHECK_EQUAL(aclpy_stream_query(0, a, &state), 0);
  CHECK_EQUAL(state, 1);
  CHECK_EQUAL(aclpy_stream_query(0, a, &state), 0);
  CHECK_EQUAL(state, 0);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
}

static void events_order_every_schedule(void) {
  char policy[16];
  for (int i = 0; i < 60; i++) {
    snprintf(policy, sizeof(policy), "%d", i);
    aclpy_handle a = new_stream(), b = new_stream(), event = new_event(i % 3, i % 3 == 0 ? 0 : SYNC);
    begin(i == 0 ? "lazy" : i == 1 ? "reverse" : i == 2 ? "eager" : policy);
    submit(a, 'a');
    CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
    CHECK_EQUAL(aclpy_event_wait(0, b, event), 0);
    submit(b, 'b');
    CHECK_EQUAL(aclpy_event_synchronize(event), 0);
    CHECK(written[0] == 'a');
    CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
    CHECK(strcmp(written, "ab") == 0);
    CHECK_EQUAL(aclpy_schedule_stop(), 0);
    CHECK_EQUAL(aclpy_event_destroy(event), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
  }
}

static void a_missing_wait_shows_every_time(void) {
  for (int i = 0; i < 5; i++) {
    aclpy_handle a = new_stream(), b = new_stream();
    begin("lazy");
    submit(a, 'a');
    submit(b, 'b');
    CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
    CHECK(strcmp(written, "b") == 0);
    CHECK_EQUAL(aclpy_schedule_stop(), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
  }
}

/* ---- deadlocks ---- */

static void a_cycle_is_told(void) {
  aclpy_handle a = new_stream(), b = new_stream(), p, q;
  CHECK_EQUAL(aclpy_notify_create(0, 0, &p), 0);
  CHECK_EQUAL(aclpy_notify_create(0, 0, &q), 0);
  begin("lazy");
  CHECK_EQUAL(aclpy_notify_wait(0, p, a, 0), 0);
  CHECK_EQUAL(aclpy_notify_record(0, q, a), 0);
  CHECK_EQUAL(aclpy_notify_wait(0, q, b, 0), 0);
  CHECK_EQUAL(aclpy_notify_record(0, p, b), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 507046);
  CHECK_CONTAINS(aclpy_error_last()->got, "a deadlock");
  CHECK_CONTAINS(aclpy_error_last()->got, "aclrtWaitAndResetNotify for task 2 of stream");
  CHECK_CONTAINS(aclpy_error_last()->hint, "ACLNN_PY_SCHEDULE=r1:");
  CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, a, 60000), 507046); /* at once */
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 507046);                         /* what cannot run goes with it */
  CHECK_EQUAL(aclpy_stream_destroy_force(0, b), 0);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_notify_destroy(p), 0);
  CHECK_EQUAL(aclpy_notify_destroy(q), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
}

static void a_record_that_nobody_queued(void) {
  aclpy_handle a = new_stream(), event = new_event(ACLPY_EVENT_WITH_FLAG, SYNC), notify;
  CHECK_EQUAL(aclpy_notify_create(0, 0, &notify), 0);
  begin("7");
  CHECK_EQUAL(aclpy_event_wait(0, a, event), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(aclpy_event_synchronize(event), 507047);
  CHECK_CONTAINS(aclpy_error_last()->got, "behind it in the same stream");
  CHECK_EQUAL(aclpy_stream_abort(0, a), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 107023);
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 507046);
  CHECK_CONTAINS(aclpy_error_last()->got, "for what nobody has queued");
  CHECK_EQUAL(aclpy_schedule_stop(), 507046); /* its worker has the rest now, and waits in earnest */
  CHECK_EQUAL(aclpy_stream_abort(0, a), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 107023);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_notify_destroy(notify), 0);
}

static void a_timeout_passes_when_nothing_else_can_happen(void) {
  aclpy_handle a = new_stream(), notify;
  CHECK_EQUAL(aclpy_notify_create(0, 0, &notify), 0);
  begin("lazy");
  CHECK_EQUAL(aclpy_notify_wait(0, notify, a, 3600), 0);
  submit(a, 'a');
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 107019);
  CHECK(strcmp(written, "a") == 0);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_notify_destroy(notify), 0);
}

/* ---- several host threads ---- */

struct sender {
  aclpy_handle ctx, stream;
  atomic_int ran;
};

static int32_t count_run(void *arg) {
  atomic_fetch_add(&((struct sender *)arg)->ran, 1);
  return 0;
}

static void *send(void *arg) {
  struct sender *sender = arg;
  for (int i = 0; i < 200; i++) {
    CHECK_EQUAL(aclpy_submit(sender->ctx, sender->stream, "count", count_run, NULL, sender, 0), 0);
    if (i % 7 == 0) CHECK_EQUAL(aclpy_stream_synchronize(sender->ctx, sender->stream), 0);
  }
  CHECK_EQUAL(aclpy_stream_synchronize(sender->ctx, sender->stream), 0);
  return NULL;
}

static void threads_share_a_schedule(void) {
  enum { THREADS = 4 };
  struct sender senders[THREADS];
  pthread_t threads[THREADS];
  aclpy_handle ctx = 0;
  CHECK_EQUAL(aclpy_context_get_current(&ctx), 0);
  begin("11");
  for (int i = 0; i < THREADS; i++) {
    senders[i].ctx = ctx;
    senders[i].stream = new_stream();
    atomic_init(&senders[i].ran, 0);
    threads[i] = start_thread(send, &senders[i]);
  }
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(atomic_load(&senders[i].ran), 200);
    CHECK_EQUAL(aclpy_stream_destroy(0, senders[i].stream), 0);
  }
}

struct server {
  struct sender sender;
  struct latch subscribed;
};

static void *serve(void *arg) {
  struct server *server = arg;
  CHECK_EQUAL(aclpy_subscribe_report(server->sender.ctx, aclpy_thread_id(), server->sender.stream), 0);
  latch_add(&server->subscribed);
  CHECK_EQUAL(aclpy_process_report(-1), 0);
  return NULL;
}

static void callbacks_run_on_their_own_thread(void) {
  struct server both = {.subscribed = LATCH};
  CHECK_EQUAL(aclpy_context_get_current(&both.sender.ctx), 0);
  both.sender.stream = new_stream();
  begin("lazy");
  pthread_t thread = start_thread(serve, &both);
  latch_wait(&both.subscribed, 1);
  CHECK_EQUAL(aclpy_launch_callback(0, both.sender.stream, count_run, NULL, &both.sender, 0, 1), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, both.sender.stream), 0);
  CHECK_EQUAL(atomic_load(&both.sender.ran), 1);
  join_thread(thread);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, both.sender.stream), 0);
}

/* ---- lives ---- */

static void streams_come_and_go(void) {
  static const char *const policies[] = {"eager", "lazy", "reverse", "5"};
  for (int i = 0; i < 4; i++) {
    aclpy_handle old = new_stream(), a;
    n_written = 0;
    submit(old, 'o'); /* its worker is there already */
    CHECK_EQUAL(aclpy_stream_synchronize(0, old), 0);
    begin(policies[i]);
    a = new_stream();
    submit(a, 'a');
    submit(old, 'p');
    CHECK_EQUAL(aclpy_stream_release(a), 0); /* still runs */
    CHECK_EQUAL(aclpy_stream_synchronize(0, old), 0);
    CHECK_EQUAL(aclpy_schedule_start("lazy"), 100000);
    CHECK_EQUAL(aclpy_schedule_stop(), 0);
    CHECK_EQUAL(n_written, 2);
    submit(old, 'q'); /* and is in use again */
    CHECK_EQUAL(aclpy_stream_synchronize(0, old), 0);
    CHECK_EQUAL(n_written, 3);
    CHECK_EQUAL(aclpy_stream_destroy(0, old), 0);
  }
  CHECK_EQUAL(aclpy_schedule_stop(), 100000);
}

static void a_released_stream_outlives_the_schedule(void) {
  static const char *const policies[] = {"eager", "lazy", "reverse", "5"};
  for (int i = 0; i < 4; i++) {
    aclpy_handle a, latch = 0, event = new_event(ACLPY_EVENT_PLAIN, 0);
    CHECK_EQUAL(aclpy_latch_create(&latch), 0);
    begin(policies[i]);
    a = new_stream();
    CHECK_EQUAL(aclpy_latch_park(0, latch, a), 0);
    n_written = 0;
    submit(a, 'a');
    CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
    CHECK_EQUAL(aclpy_stream_release(a), 0);
    CHECK_EQUAL(aclpy_schedule_stop(), 507046); /* from here on its worker has it, and ends it */
    CHECK_EQUAL(n_written, 0);
    CHECK_EQUAL(aclpy_latch_destroy(latch), 0);
    CHECK_EQUAL(aclpy_event_synchronize(event), 0);
    CHECK_EQUAL(n_written, 1);
    CHECK_EQUAL(aclpy_event_destroy(event), 0);
  }
}

static void only_policies_are_taken(void) {
  static const char *const bad[] = {"", "LAZY", "-1", "7x", "r1", "r1:a0", "r1:<5", "r1: a", "99999999999999999999"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) CHECK_EQUAL(aclpy_schedule_start(bad[i]), 100000);
  CHECK(aclpy_schedule_start(NULL) != 0);
  aclpy_handle a = new_stream();
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, a, "park", park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_schedule_start("lazy"), 507004);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
}

/* ---- recorder, latches, failures ---- */

static void the_recorder_sees_starts_and_ends(void) {
  aclpy_handle a = new_stream(), event = new_event(ACLPY_EVENT_PLAIN, 0);
  aclpy_task_event events[16];
  n_written = 0;
  CHECK_EQUAL(aclpy_record_start(), 0);
  CHECK_EQUAL(aclpy_record_start(), 100000);
  CHECK_EQUAL(aclpy_label("mine"), 0);
  submit(a, 'a');
  CHECK_EQUAL(aclpy_label(NULL), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK_EQUAL(aclpy_record_stop(), 0);
  CHECK_EQUAL(aclpy_record_stop(), 100000);
  CHECK_EQUAL(aclpy_record_count(), 4);
  CHECK_EQUAL(aclpy_record_read(0, events, 16), 4);
  CHECK(strcmp(events[0].label, "mine") == 0 && strcmp(events[2].label, "aclrtRecordEvent") == 0);
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(events[i].sequence, i + 1);
    CHECK_EQUAL(events[i].finish, i % 2);
    CHECK_EQUAL(events[i].number, i / 2 + 1);
  }
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
}

static void latches_hold_streams(void) {
  for (int scheduled = 0; scheduled < 2; scheduled++) {
    aclpy_handle a = new_stream(), latch = 0;
    int32_t state = -1;
    CHECK_EQUAL(aclpy_latch_create(&latch), 0);
    if (scheduled) begin("eager");
    n_written = 0;
    CHECK_EQUAL(aclpy_latch_park(0, latch, a), 0);
    submit(a, 'a');
    CHECK_EQUAL(aclpy_stream_query(0, a, &state), 0);
    CHECK_EQUAL(state, 1);
    if (scheduled) CHECK_EQUAL(aclpy_stream_synchronize(0, a), 507046);
    CHECK_EQUAL(n_written, 0);
    CHECK_EQUAL(aclpy_latch_release(latch), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
    CHECK_EQUAL(n_written, 1);
    if (scheduled) CHECK_EQUAL(aclpy_schedule_stop(), 0);
    CHECK_EQUAL(aclpy_latch_destroy(latch), 0);
    CHECK_EQUAL(aclpy_latch_release(latch), 107017);
    CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  }
}

static void tasks_fail_as_planned(void) {
  aclpy_handle a = new_stream();
  n_written = 0;
  CHECK_EQUAL(aclpy_fail_task("letter", -1, 1), 100000);
  CHECK_EQUAL(aclpy_fail_task("letter", 1, 0), 100000);
  CHECK_EQUAL(aclpy_fail_task("letter", 2, 507015), 0);
  submit(a, 'a');
  submit(a, 'b');
  submit(a, 'c');
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 507015);
  CHECK_EQUAL(n_written, 2);
  CHECK_EQUAL(written[1], 'c');
  CHECK_EQUAL(aclpy_stream_synchronize(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
}

static void a_trace_is_written(void) {
  char path[] = "/tmp/aclpy-trace-XXXXXX";
  int made = mkstemp(path);
  CHECK(made >= 0);
  aclpy_handle a = new_stream(), b = new_stream(), event = new_event(ACLPY_EVENT_PLAIN, 0);
  CHECK_EQUAL(aclpy_trace_start("/nowhere/at/all"), 100003);
  CHECK_EQUAL(aclpy_trace_start(path), 0);
  CHECK_EQUAL(aclpy_trace_start(path), 100000);
  begin("lazy");
  submit(a, 'a');
  CHECK_EQUAL(aclpy_event_record(0, event, a), 0);
  CHECK_EQUAL(aclpy_event_wait(0, b, event), 0);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
  CHECK_EQUAL(aclpy_trace_stop(), 0);
  CHECK_EQUAL(aclpy_trace_stop(), 100000);
  FILE *file = fdopen(made, "r");
  char text[8192];
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  fclose(file);
  CHECK_CONTAINS(text, "\"thread_name\"");
  CHECK_CONTAINS(text, "\"ph\":\"s\"");
  CHECK_CONTAINS(text, "\"ph\":\"f\"");
  CHECK_CONTAINS(text, "\"name\":\"letter\"");
  CHECK_CONTAINS(text, "\n]}\n");
  remove(path);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(policies_decide_the_order);
  RUN(a_replay_repeats_every_seed);
  RUN(a_replay_of_another_program_says_where_it_parts);
  RUN(the_program_may_decide);
  RUN(a_query_lets_one_task_run);
  RUN(events_order_every_schedule);
  RUN(a_missing_wait_shows_every_time);
  RUN(a_cycle_is_told);
  RUN(a_record_that_nobody_queued);
  RUN(a_timeout_passes_when_nothing_else_can_happen);
  RUN(threads_share_a_schedule);
  RUN(callbacks_run_on_their_own_thread);
  RUN(streams_come_and_go);
  RUN(a_released_stream_outlives_the_schedule);
  RUN(only_policies_are_taken);
  RUN(the_recorder_sees_starts_and_ends);
  RUN(latches_hold_streams);
  RUN(tasks_fail_as_planned);
  RUN(a_trace_is_written);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  return 0;
}
