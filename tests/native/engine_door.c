/* SPDX-License-Identifier: Apache-2.0
 * The door of streams: threads that run small work on one stream at once, while others wait for it, queue work behind
 * it, or end it. What the kernel counts is not atomic: two runs at once on a stream are a race for the thread
 * sanitizer.
 */
#include <sched.h>

#include "execute_support.h"

enum { THREADS = 4, ROUNDS = 2000, LIVES = 150 };

static int64_t runs_of_stream; /* changed by tasks of one stream only */

static void count_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)args, (void)pass, (void)begin, (void)end, (void)scratch;
  runs_of_stream++;
}

/* Of streams that end, others run at the same time. */
static int32_t count_call(void *arg) {
  (void)arg;
  runs_of_stream++;
  return 0;
}

struct crowd {
  struct setup s;
  aclpy_handle context;        /* current in each thread, its streams are used; 0: streams that are everybody's */
  _Atomic aclpy_handle stream; /* 0: it is over */
  atomic_int running;          /* threads that have not ended */
  atomic_llong done;           /* runs that were not refused */
};

static aclpy_handle new_stream(const struct crowd *crowd) {
  aclpy_handle stream = 0;
  if (crowd->context == 0) return free_standing(crowd->s.stream);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  return stream;
}

static void join_context(const struct crowd *crowd) {
  if (crowd->context != 0) CHECK_EQUAL(aclpy_context_set_current(crowd->context), 0);
}

static struct crowd crowd_of(aclpy_kernel_run run, bool in_context) {
  struct crowd crowd = {.s = set_up(0, 0, 1000)};
  if (in_context) CHECK_EQUAL(aclpy_stream_context(crowd.s.stream, &crowd.context), 0);
  CHECK_EQUAL(aclpy_plan_release(crowd.s.plan), 0);
  crowd.s.plan = plan_of(run, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE);
  atomic_store(&crowd.stream, new_stream(&crowd));
  runs_of_stream = 0;
  return crowd;
}

static void *run_small_work(void *arg) {
  struct crowd *crowd = arg;
  join_context(crowd);
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&crowd->s), atomic_load(&crowd->stream)), 0);
    atomic_fetch_add(&crowd->done, 1);
    if (i % 7 == 0) CHECK_EQUAL(aclpy_stream_synchronize(0, atomic_load(&crowd->stream)), 0);
  }
  atomic_fetch_sub(&crowd->running, 1);
  return NULL;
}

static void *queue_work(void *arg) {
  struct crowd *crowd = arg;
  join_context(crowd);
  while (atomic_load(&crowd->running) > 0) {
    aclpy_handle stream = atomic_load(&crowd->stream);
    CHECK_EQUAL(aclpy_submit(0, stream, "count", count_call, NULL, NULL, 0), 0);
    atomic_fetch_add(&crowd->done, 1);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    for (int i = 0; i < 50; i++) (void)aclpy_stream_is_quiet(stream);
    sched_yield();
  }
  return NULL;
}

static void one_run_at_a_time_in(bool context) {
  struct crowd crowd = crowd_of(count_run, context);
  atomic_store(&crowd.running, THREADS);
  pthread_t threads[THREADS], queues = start_thread(queue_work, &crowd);
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(run_small_work, &crowd);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  join_thread(queues);
  aclpy_handle stream = atomic_load(&crowd.stream);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(runs_of_stream, atomic_load(&crowd.done));
  CHECK_EQUAL(aclpy_stream_is_quiet(stream), 1);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  tear_down(&crowd.s);
}

static void *run_until_it_is_over(void *arg) {
  struct crowd *crowd = arg;
  join_context(crowd);
  for (aclpy_handle stream; (stream = atomic_load(&crowd->stream)) != 0;) {
    aclpy_handle executor = phase1(&crowd->s);
    int32_t status = aclpy_execute(op_id, 0, 0, executor, stream);
    if (status == 0) {
      (void)aclpy_stream_is_quiet(stream);
      continue;
    }
    CHECK_EQUAL(status, ACLPY_ACLNN_ERR_RUNTIME_ERROR); /* the stream has gone meanwhile */
    aclpy_executor_discard(executor);
  }
  return NULL;
}

/* Every stream takes the place of the one before it, which some threads still mean. */
static void streams_end_in(bool context) {
  struct crowd crowd = crowd_of(empty_run, context);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(run_until_it_is_over, &crowd);
  for (int life = 0; life < LIVES; life++) {
    aclpy_handle old = atomic_load(&crowd.stream);
    sched_yield();
    if (life % 3 == 0) CHECK_EQUAL(aclpy_stream_destroy(0, old), 0);
    if (life % 3 == 1) CHECK_EQUAL(aclpy_stream_destroy_force(0, old), 0);
    if (life % 3 == 2) CHECK_EQUAL(aclpy_stream_release(old), 0);
    atomic_store(&crowd.stream, new_stream(&crowd));
  }
  aclpy_handle last = atomic_exchange(&crowd.stream, 0);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_stream_destroy(0, last), 0);
  tear_down(&crowd.s);
}

static void one_run_at_a_time(void) {
  one_run_at_a_time_in(false);
  one_run_at_a_time_in(true);
}
static void streams_end_while_threads_use_them(void) {
  streams_end_in(false);
  streams_end_in(true);
}

/* Idle streams, too, are those of the thread's current context only, and that may come and go. */
static void an_idle_stream_of_another_context_is_refused(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle first = 0, other = 0, executor = phase1(&s);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), s.stream), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(s.stream), 1);
  CHECK_EQUAL(aclpy_stream_context(s.stream, &first), 0);
  CHECK_EQUAL(aclpy_context_create(0, &other), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), ACLPY_ACLNN_ERR_RUNTIME_ERROR);
  CHECK_CONTAINS(aclpy_error_last()->got, "while context");
  CHECK_EQUAL(aclpy_context_set_current(first), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_context_set_current(other), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  executor = phase1(&s);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), ACLPY_ACLNN_ERR_RUNTIME_ERROR);
  CHECK_EQUAL(aclpy_context_destroy(other), 0);
  CHECK_EQUAL(aclpy_context_set_current(first), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  tear_down(&s);
}

/* An executor that is refused is as it was; one that has run is not. */
static void a_taken_executor_is_put_back(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle executor = phase1(&s), stream = free_standing(s.stream);
  CHECK_EQUAL(aclpy_execute(other_op, 0, 0, executor, stream), ACLPY_ACLNN_ERR_PARAM_INVALID);
  CHECK_EQUAL(aclpy_live_count("executor"), 1);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.in), ACLPY_ACLNN_ERR_RUNTIME_ERROR);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), 0);
  CHECK_EQUAL(aclpy_live_count("executor"), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), ACLPY_ACLNN_ERR_PARAM_INVALID);
  CHECK_CONTAINS(aclpy_error_last()->got, "consumed already");
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  tear_down(&s);
}

int main(int argc, char **argv) {
  (void)argc;
  begin_harness(argv);
  RUN(one_run_at_a_time);
  RUN(streams_end_while_threads_use_them);
  RUN(an_idle_stream_of_another_context_is_refused);
  RUN(a_taken_executor_is_put_back);
  end_harness();
  return 0;
}
