/* SPDX-License-Identifier: Apache-2.0
 * Wake-ups that wait: a pool thread that looks for work watches over the sleeping worker of a stream. None may get
 * lost, whoever comes in between; and the pool never lets more threads compute than it may.
 *
 * Nothing here synchronises while it waits for a task: a synchroniser would run the task itself.
 */
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "engine.h"

enum { ROWS = 64, BYTES = ROWS * 4, ROUNDS = SANITIZED ? 400 : 4000, PATIENCE_SECONDS = 120 };

static uint32_t op_id;
static aclpy_handle context, tensor;
static uintptr_t memory;
static atomic_int inside, most_inside, rows_done;
static atomic_int lasts_ns; /* a run, at least */

static void pass_time(int64_t span_ns) {
  struct timespec time;
  int64_t begin = -1, now = 0;
  do {
    CHECK_EQUAL(clock_gettime(CLOCK_MONOTONIC, &time), 0);
    now = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    if (begin < 0) begin = now;
  } while (now - begin < span_ns);
}

static void count_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)args, (void)pass, (void)scratch;
  int now = atomic_fetch_add(&inside, 1) + 1;
  int most = atomic_load(&most_inside);
  while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) {
  }
  if (atomic_load(&lasts_ns) > 0) pass_time(atomic_load(&lasts_ns));
  atomic_fetch_add(&rows_done, (int)(end - begin));
  atomic_fetch_sub(&inside, 1);
}

static aclpy_handle make_plan(void) {
  aclpy_slot_desc slot = {"self", 0, BYTES, 0, NULL};
  aclpy_step_desc step = {
      .run = count_run, .shape = {.passes = 1, .items = {ROWS}, .grain = {1}, .cost_ns = 1e6}, .n_operands = 1};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 1, .slots = &slot, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static void queue_plan(aclpy_handle plan, aclpy_handle stream) {
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plan, tensor, 0, 0, 0), stream), 0);
}

static int32_t open_latch(void *arg) {
  latch_add(arg);
  return 0;
}

/* Leaves a pool thread looking for work for some microseconds. */
static void stir_pool(aclpy_handle plan, aclpy_handle stream) {
  queue_plan(plan, stream);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
}

/* Two streams, so that one finds the other one watched already; tasks that only the worker may run, or anybody. */
static void *submit_and_wait(void *arg) {
  (void)arg;
  aclpy_handle plan = make_plan(), stream[2] = {0, 0};
  struct latch ran = LATCH;
  int wanted = 0;
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  for (int i = 0; i < 2; i++) CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream[i]), 0);
  for (int round = 0; round < ROUNDS; round++) {
    aclpy_handle mine = stream[round & 1];
    if (round % 3 != 0) stir_pool(plan, mine);
    if (round % 5 == 0) queue_plan(plan, stream[~round & 1]);
    if (round % 2 == 0) queue_plan(plan, mine);
    CHECK_EQUAL(aclpy_submit(0, mine, "open", open_latch, NULL, &ran, 0), 0);
    latch_wait(&ran, ++wanted);
  }
  for (int i = 0; i < 2; i++) CHECK_EQUAL(aclpy_stream_destroy(0, stream[i]), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  return NULL;
}

static void no_wake_up_is_lost(void) {
  enum { THREADS = 3 };
  submit_and_wait(NULL);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(submit_and_wait, NULL);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
}

/* A plan task alone: nobody synchronises, yet every row is done in the end. */
static void a_kernel_starts_by_itself(void) {
  aclpy_handle plan = make_plan(), stream = 0;
  int32_t busy = 1;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  for (int round = 0; round < ROUNDS; round++) {
    stir_pool(plan, stream);
    int before = atomic_load(&rows_done);
    queue_plan(plan, stream);
    do {
      CHECK_EQUAL(aclpy_stream_query(0, stream, &busy), 0);
    } while (busy != 0);
    CHECK_EQUAL(atomic_load(&rows_done), before + ROWS);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

/* The watched stream ends: its queued work still runs, and its worker learns that it can go. */
static void a_watched_stream_may_end(void) {
  aclpy_handle plan = make_plan();
  int64_t threads = aclpy_live_count("stream");
  for (int round = 0; round < ROUNDS / 8; round++) {
    aclpy_handle stream = 0;
    struct latch ran = LATCH;
    CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
    stir_pool(plan, stream);
    int before = atomic_load(&rows_done);
    queue_plan(plan, stream);
    if (round % 2 == 0) {
      CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
      CHECK_EQUAL(atomic_load(&rows_done), before + ROWS);
    } else {
      CHECK_EQUAL(aclpy_submit(0, stream, "open", open_latch, NULL, &ran, 0), 0);
      CHECK_EQUAL(aclpy_stream_release(stream), 0);
      latch_wait(&ran, 1);
      CHECK_EQUAL(atomic_load(&rows_done), before + ROWS);
    }
  }
  CHECK_EQUAL(aclpy_live_count("stream"), threads);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

/* Forked while a stream is watched: the parent's task runs, the child's pool and streams are its own. */
static void a_watched_stream_survives_a_fork(void) {
  aclpy_handle plan = make_plan(), stream = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  for (int round = 0; round < 20; round++) {
    struct latch ran = LATCH;
    stir_pool(plan, stream);
    CHECK_EQUAL(aclpy_submit(0, stream, "open", open_latch, NULL, &ran, 0), 0);
    pid_t child = fork();
    if (child == 0) {
      alarm(PATIENCE_SECONDS);
      aclpy_handle own = 0;
      struct latch there = LATCH;
      CHECK_EQUAL(aclpy_set_device(0), 0);
      CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &own), 0);
      if (!THREAD_SANITIZED) { /* which cannot start threads in such a child */
        CHECK_EQUAL(aclpy_submit(0, own, "open", open_latch, NULL, &there, 0), 0);
        latch_wait(&there, 1);
      }
      _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    latch_wait(&ran, 1);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

/* What follows tasks that synchronisers took, so that the worker of a single thread naps, or sleeps after many naps. */
static void follow(aclpy_handle plan, aclpy_handle stream, int way) {
  struct latch ran = LATCH;
  int32_t busy = 1;
  int before = atomic_load(&rows_done);
  if (way % 4 < 3) queue_plan(plan, stream);
  if (way % 4 > 0) CHECK_EQUAL(aclpy_submit(0, stream, "open", open_latch, NULL, &ran, 0), 0);
  if (way % 4 == 2) {
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0); /* takes the first, and gives the queue back */
  } else if (way % 4 > 0) {
    latch_wait(&ran, 1);
  } else {
    do {
      CHECK_EQUAL(aclpy_stream_query(0, stream, &busy), 0);
    } while (busy != 0);
  }
  CHECK_EQUAL(atomic_load(&rows_done), before + (way % 4 < 3 ? ROWS : 0));
}

static void a_napping_worker_misses_nothing(void) {
  enum { MOST = 9, LASTS_NS = 40000, IDLE_NS = 8000000 };
  aclpy_handle plan = make_plan(), stream = 0;
  CHECK_EQUAL(aclpy_set_thread_count(1), 0);
  atomic_store(&lasts_ns, LASTS_NS); /* a worker that was woken comes too late */
  for (int round = 0; round < ROUNDS / 4; round++) {
    if (stream == 0) CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
    for (int i = round % MOST; i > 0; i--) stir_pool(plan, stream);
    if (round % MOST == MOST - 1 && round % 2 == 0) pass_time(IDLE_NS);
    follow(plan, stream, round / MOST);
    if (round % 7 != 0) continue;
    for (int i = 0; i < MOST; i++) stir_pool(plan, stream);
    int before = atomic_load(&rows_done);
    queue_plan(plan, stream);
    CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
    CHECK_EQUAL(atomic_load(&rows_done), before + ROWS);
    stream = 0;
  }
  if (stream != 0) CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_set_thread_count(2), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

/* For the shutdown, which has to wake it. */
static void leave_a_napping_worker(void) {
  aclpy_handle plan = make_plan(), stream = 0;
  CHECK_EQUAL(aclpy_set_thread_count(1), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  for (int i = 0; i < 20; i++) stir_pool(plan, stream);
}

/* One pool for all streams: a caller each, and at most count - 1 helpers of all of them together. */
static void compute_threads_are_bounded(void) {
  enum { STREAMS = 4, COUNT = 3 };
  aclpy_handle plan = make_plan(), stream[STREAMS];
  CHECK_EQUAL(aclpy_set_thread_count(COUNT), 0);
  for (int i = 0; i < STREAMS; i++) CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream[i]), 0);
  for (int used = 1; used <= STREAMS; used += STREAMS - 1) {
    atomic_store(&most_inside, 0);
    for (int round = 0; round < ROUNDS / 4; round++) queue_plan(plan, stream[round % used]);
    for (int i = 0; i < used; i++) CHECK_EQUAL(aclpy_stream_synchronize(0, stream[i]), 0);
    CHECK(atomic_load(&most_inside) >= 1);
    CHECK(atomic_load(&most_inside) <= used + COUNT - 1);
  }
  for (int i = 0; i < STREAMS; i++) CHECK_EQUAL(aclpy_stream_destroy(0, stream[i]), 0);
  CHECK_EQUAL(aclpy_set_thread_count(2), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

int main(void) {
  const int64_t dims[1] = {ROWS};
  alarm(PATIENCE_SECONDS); /* a lost wake-up would wait for ever */
  op_id = aclpy_operator_id("aclnnFake");
  CHECK_EQUAL(aclpy_set_thread_count(2), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, NULL), 0);
  RUN(no_wake_up_is_lost);
  RUN(a_kernel_starts_by_itself);
  RUN(a_watched_stream_may_end);
  RUN(compute_threads_are_bounded);
  RUN(a_watched_stream_survives_a_fork);
  RUN(a_napping_worker_misses_nothing);
  RUN(leave_a_napping_worker);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  aclpy_shutdown();
  return 0;
}
