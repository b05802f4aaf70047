/* SPDX-License-Identifier: Apache-2.0
 * Phase 2: where plans run, which addresses they read, one executor among threads, and what a call costs.
 */
#include <sched.h>
#include <time.h>

#include "execute_support.h"
#include "handle_table.h"

/* ---- running ---- */

static void small_plans_run_on_the_caller(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 1.0f); /* the stream was empty: done at once */
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK(((const float *)s.out_address)[N - 1] == N);
  tear_down(&s);
}

/* What a caller asks who must not block. */
static void small_plans_and_quiet_streams_say_so(void) {
  struct setup small = set_up(0, 0, 1000), large = set_up(0, 0, 1000000);
  CHECK_EQUAL(aclpy_plan_is_small(small.plan), 1);
  CHECK_EQUAL(aclpy_plan_is_small(large.plan), 0);
  CHECK_EQUAL(aclpy_plan_is_small(0), 0);
  CHECK_EQUAL(aclpy_plan_is_small(small.stream), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(0), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(small.plan), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(small.stream), 1);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, small.stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_stream_is_quiet(small.stream), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(large.stream), 1);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, small.stream), 0);
  CHECK_EQUAL(aclpy_stream_is_quiet(small.stream), 1);
  aclpy_handle gone = large.stream;
  tear_down(&small);
  tear_down(&large);
  CHECK_EQUAL(aclpy_stream_is_quiet(gone), 0);
}

static void a_failure_that_nobody_has_seen_is_not_quiet(void) {
  struct setup s = set_up(0, 0, 1000);
  CHECK_EQUAL(aclpy_bench_is_on(), 0);
  CHECK_EQUAL(aclpy_fail_task(NULL, 1, 507000), 0);
  CHECK_EQUAL(aclpy_bench_is_on(), 1);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), s.stream), 0);
  for (int32_t state = 1; state != 0; sched_yield()) CHECK_EQUAL(aclpy_stream_query(0, s.stream, &state), 0);
  CHECK_EQUAL(aclpy_bench_is_on(), 0); /* it has failed the one it was meant for */
  CHECK_EQUAL(aclpy_stream_is_quiet(s.stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 507000);
  CHECK_EQUAL(aclpy_stream_is_quiet(s.stream), 1);
  tear_down(&s);
}

/* A hand-over costs some microseconds; it buys time for the caller, and helpers where there are any. */
static void brief_plans_run_on_the_caller_where_nobody_helps(void) {
  const double costs[] = {9000, 30000, 50000};
  const bool on_caller[][3] = {{true, true, false}, {true, false, false}}; /* with one thread, with two */
  int32_t before = aclpy_thread_count();
  for (int threads = 1; threads <= 2; threads++) {
    CHECK_EQUAL(aclpy_set_thread_count(threads), 0);
    for (int i = 0; i < 3; i++) {
      struct setup s = set_up(0, 0, costs[i]);
      int ran = atomic_load(&runs);
      CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), s.stream), 0);
      while (atomic_load(&runs) == ran) sched_yield(); /* a thread that synchronises might run it itself */
      CHECK_EQUAL(atomic_load(&ran_on) == (uintptr_t)pthread_self(), on_caller[threads - 1][i]);
      CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
      CHECK(first_out(&s) == 1.0f);
      tear_down(&s);
    }
  }
  CHECK_EQUAL(aclpy_set_thread_count(before), 0);
}

static void nothing_runs_inline_behind_a_parked_task(void) {
  struct setup s = set_up(512, 0, 1000);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, s.stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_execute(op_id, s.workspace, 512, phase1(&s), s.stream), 0);
  CHECK(first_out(&s) == -100.0f); /* returned while out is untouched */
  aclpy_memory_info info;
  CHECK_EQUAL(aclpy_memory_query(s.out_address + 4, &info), 0);
  CHECK_EQUAL(info.pending, 1);
  CHECK_EQUAL(info.size, BYTES);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_memory_wait(s.out_address), 0);
  CHECK(first_out(&s) == 2.0f);
  tear_down(&s);
}

static void memory_and_objects_may_go_while_queued(void) {
  struct setup s = set_up(512, 0, 1000);
  struct park park = PARK;
  uint64_t in_use = aclpy_memory_in_use();
  CHECK_EQUAL(aclpy_submit(0, s.stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_tensor_destroy(s.in), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(s.out), 0);
  CHECK_EQUAL(aclpy_plan_release(s.plan), 0);
  CHECK_EQUAL(aclpy_execute(op_id, s.workspace, 512, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_free(s.in_address), 0);
  CHECK_EQUAL(aclpy_free(s.workspace), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), in_use);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK(first_out(&s) == 2.0f);
  CHECK(aclpy_memory_in_use() < in_use);
  CHECK_EQUAL(aclpy_free(s.out_address), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, s.stream), 0);
}

static void calls_run_on_the_worker_and_may_fail(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_step_desc step = {.call = call_run, .call_token = 3, .n_operands = 2, .operands = {{0, 0}, {1, 0}}};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 2, .slots = two_slots, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  aclpy_handle tensors[2] = {s.in, s.out}, executor = 0;
  CHECK_EQUAL(aclpy_executor_create(plan, tensors, 2, &executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK(((const float *)s.out_address)[2] == 6.0f);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  step.call_token = 13;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  CHECK_EQUAL(aclpy_executor_create(plan, tensors, 2, &executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_memory_wait(s.out_address), 507018); /* once for each allocation */
  CHECK_EQUAL(aclpy_memory_wait(s.out_address), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 507018); /* and once for the stream */
  CHECK_CONTAINS(aclpy_error_last()->function, "aclnnFake");
  CHECK_CONTAINS(aclpy_error_last()->got, "unlucky");
  CHECK_EQUAL(aclpy_memory_wait(s.in_address), 0); /* the synchronise has told it already */
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  tear_down(&s);
}

/* What a call's token stands for is needed as long as anything can run the plan. */
static void tokens_retire_with_the_last_user_of_their_plan(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_step_desc steps[2] = {{.call = call_run, .call_token = 5, .n_operands = 2, .operands = {{0, 0}, {1, 0}}},
                              {.call = call_run, .call_token = 6, .n_operands = 2, .operands = {{0, 0}, {1, 0}}}};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 2, .slots = two_slots, .n_steps = 2, .steps = steps};
  aclpy_handle plan = 0, tensors[2] = {s.in, s.out}, executor = 0;
  uint64_t token = 0;
  for (aclpy_retired *old = aclpy_retired_take(); old != NULL;) old = aclpy_retired_next(old, &token);
  CHECK_EQUAL(token, 0);
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  CHECK_EQUAL(aclpy_executor_create(plan, tensors, 2, &executor), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  CHECK(aclpy_retired_take() == NULL);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, s.stream), 0); /* and its worker, which has dropped the task then */
  aclpy_retired *plans = aclpy_retired_take();
  CHECK(plans != NULL);
  plans = aclpy_retired_next(plans, &token);
  CHECK_EQUAL(token, 5);
  plans = aclpy_retired_next(plans, &token);
  CHECK_EQUAL(token, 6);
  CHECK(aclpy_retired_next(plans, &token) == NULL);
  CHECK_EQUAL(token, 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &s.stream), 0);
  tear_down(&s);
}

static void empty_plans_launch_nothing(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_slot_desc unused[2] = {{"self", 0, 0, ACLPY_SLOT_UNUSED, NULL}, {"out", 0, 0, ACLPY_SLOT_UNUSED, NULL}};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 2, .slots = unused};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  aclpy_handle executor = aclpy_executor_new(plan, 0, s.out, 0, 0);
  CHECK(executor != 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 161002);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  tear_down(&s);
}

/* ---- addresses ---- */

static void first_runs_capture_marked_slots_only(void) {
  struct setup s = set_up(0, 0, 1000);
  uintptr_t in2 = new_floats(100), out2 = new_floats(-7);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", executor, 99, s.in, in2), 0);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", executor, 0, s.out, out2), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 101.0f); /* out: phase 1's address; self: the tensor's of now */
  CHECK(((const float *)out2)[0] == -7.0f);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", executor, 0, 0, out2), 561103);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", 0, 0, s.in, s.in_address), 561103);
  uintptr_t now = 0;
  CHECK_EQUAL(aclpy_tensor_get_address(s.in, &now), 0);
  CHECK_EQUAL(now, s.in_address); /* stored although the executor was NULL */
  CHECK_EQUAL(aclpy_free(in2), 0);
  CHECK_EQUAL(aclpy_free(out2), 0);
  tear_down(&s);
}

static void repeatable_runs_read_every_address(void) {
  struct setup s = set_up(0, ACLPY_PLAN_REPEATABLE, 1000);
  uintptr_t out2 = new_floats(-7);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 1.0f);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, s.stream, NULL, park_run, park_drop, &park, 0), 0);
  /* Two runs in flight, each with its own addresses. */
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, s.out_address), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.out, out2), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, out2), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.out, s.out_address), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK(((const float *)out2)[0] == 2.0f);
  CHECK(first_out(&s) == 3.0f);
  /* Even a repeatable executor goes with a NULL workspace of some size. */
  CHECK_EQUAL(aclpy_execute(op_id, 0, 1, executor, s.stream), 161001);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 161002);
  CHECK_EQUAL(aclpy_free(out2), 0);
  tear_down(&s);
}

static void repeatable_is_refused_where_the_vendor_refuses(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 561000);
  CHECK_CONTAINS(aclpy_error_last()->got, "copy task");
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  aclpy_handle plan = make_plan(0, ACLPY_PLAN_REPEATABLE, 1000);
  aclpy_handle first = aclpy_executor_new(plan, s.in, s.out, 0, 0),
               second = aclpy_executor_new(plan, s.in, s.out, 0, 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(first), 561000);
  CHECK_CONTAINS(aclpy_error_last()->got, "latest phase 1");
  CHECK_EQUAL(aclpy_executor_set_repeatable(second), 0);
  CHECK_EQUAL(aclpy_executor_destroy(first), 0);
  CHECK_EQUAL(aclpy_executor_destroy(second), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  tear_down(&s);
}

/* ---- the pool ---- */

enum { ROWS = 4096, BIG = ROWS * N, ROUND = 1500, ROUNDS = 3 /* the last has rows for some of its items only */ };
static _Atomic int64_t rows_done[2];

static void rows_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  float *own = scratch;
  const float *a = (const float *)args->addr[0];
  float *out = (float *)args->addr[1];
  const int64_t before = pass / 2 * ROUND, after = before + ROUND < ROWS ? before + ROUND : ROWS;
  /* A barrier lies between the passes, and between the rounds. */
  if (args->params[0] == 1 && pass % 2 == 1) CHECK(atomic_load(&rows_done[0]) % ROWS == after % ROWS);
  begin = begin + before < ROWS ? begin + before : ROWS;
  end = end + before < ROWS ? end + before : ROWS;
  for (int64_t row = begin; row < end; row++) {
    for (int i = 0; i < N; i++) own[i] = a[row * N + i] * 2;
    for (int i = 0; i < N; i++) out[row * N + i] = pass % 2 == 0 ? own[i] : out[row * N + i] + own[i];
  }
  if (pass % 2 == 0 && args->params[0] == 1) atomic_fetch_add(&rows_done[0], end - begin);
}

static aclpy_handle big_plan(int64_t checked) {
  static aclpy_slot_desc slots[2] = {{"self", 0, BIG * 4, 0, NULL}, {"out", 0, BIG * 4, ACLPY_SLOT_WRITTEN, NULL}};
  aclpy_step_desc step = {.run = rows_run,
                          .shape = {.passes = 2,
                                    .rounds = ROUNDS,
                                    .items = {ROUND, ROUND},
                                    .grain = {16, 16},
                                    .scratch_bytes = 4096,
                                    .thread_scratch_bytes = N * 4,
                                    .cost_ns = 1e6},
                          .n_operands = 2,
                          .operands = {{0, 0}, {1, 0}},
                          .n_params = 1,
                          .params = &checked};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 2, .slots = slots, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

struct user {
  aclpy_handle context;
  int64_t checked;
  int rounds;
};

static void *use_pool(void *arg) {
  struct user *user = arg;
  CHECK_EQUAL(aclpy_context_set_current(user->context), 0);
  aclpy_handle stream = 0, plan = big_plan(user->checked);
  uintptr_t in = 0, out = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_malloc(0, BIG * 4, 0, &in), 0);
  CHECK_EQUAL(aclpy_malloc(0, BIG * 4, 0, &out), 0);
  for (int i = 0; i < BIG; i++) ((float *)in)[i] = (float)(i % 1000);
  aclpy_handle self = tensor_at(in), result = tensor_at(out);
  for (int round = 0; round < user->rounds; round++) {
    CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plan, self, result, 0, 0), stream), 0);
    if (round % 8 != 7) continue;
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    for (int i = 0; i < BIG; i++) CHECK(((float *)out)[i] == (float)(i % 1000) * 4);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(self), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(result), 0);
  CHECK_EQUAL(aclpy_free(in), 0);
  CHECK_EQUAL(aclpy_free(out), 0);
  return NULL;
}

static void large_kernels_share_the_pool(void) {
  struct user user = {.checked = 1, .rounds = 64};
  CHECK_EQUAL(aclpy_context_get_current(&user.context), 0);
  int32_t before = aclpy_thread_count();
  for (int32_t threads = 1; threads <= 5; threads += 2) {
    CHECK_EQUAL(aclpy_set_thread_count(threads), 0);
    CHECK_EQUAL(aclpy_thread_count(), threads);
    use_pool(&user);
  }
  CHECK_EQUAL(aclpy_set_thread_count(4), 0);
  user.checked = 0; /* several streams at once */
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) threads[i] = start_thread(use_pool, &user);
  for (int i = 0; i < 6; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_set_thread_count(0), 100000);
  CHECK_EQUAL(aclpy_set_thread_count(before), 0);
}

/* ---- several threads, one executor ---- */

struct racer {
  const struct setup *s;
  aclpy_handle context, executor;
  atomic_int *wins;
};

static void *race(void *arg) {
  struct racer *racer = arg;
  CHECK_EQUAL(aclpy_context_set_current(racer->context), 0);
  int32_t status = aclpy_execute(op_id, 0, 0, racer->executor, racer->s->stream);
  CHECK(status == 0 || status == 161002);
  if (status == 0) atomic_fetch_add(racer->wins, 1);
  return NULL;
}

static void one_thread_wins_an_executor(void) {
  struct setup s = set_up(0, 0, 1000);
  for (int round = 0; round < 50; round++) {
    atomic_int wins = 0;
    struct racer racer = {.s = &s, .executor = phase1(&s), .wins = &wins};
    CHECK_EQUAL(aclpy_context_get_current(&racer.context), 0);
    pthread_t a = start_thread(race, &racer), b = start_thread(race, &racer);
    join_thread(a);
    join_thread(b);
    CHECK_EQUAL(atomic_load(&wins), 1);
  }
  tear_down(&s);
}

/* Somebody who looks at it, a getter of another thread, keeps a run from taking it; it ends all the same. */
static void an_executor_that_is_held_ends_with_its_run(void) {
  struct setup s = set_up(0, 0, 1000);
  const aclpy_handle executor = phase1(&s);
  struct eng_object *held = eng_handle_acquire(ENG_EXECUTOR, executor);
  CHECK(held != NULL);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 161002);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  CHECK_EQUAL(atomic_load(&held->slot->word) & (ENG_SLOT_SHARED - 1), 1); /* one reference, which is ours */
  eng_release(held);
  tear_down(&s);
}

/* ---- speed, printed ---- */

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void costs(void) {
  enum { ROUNDS = SANITIZED ? 2000 : 300000 };
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle plan = plan_of(empty_run, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE);
  double start = now_ns();
  for (int i = 0; i < ROUNDS; i++) CHECK_EQUAL(aclpy_tensor_destroy(tensor_at(s.in_address)), 0);
  fprintf(stderr, "    tensor create + destroy: %.0f ns\n", (now_ns() - start) / ROUNDS);
  start = now_ns();
  for (int i = 0; i < ROUNDS; i++) CHECK_EQUAL(aclpy_executor_destroy(aclpy_executor_new(plan, s.in, s.out, 0, 0)), 0);
  fprintf(stderr, "    executor create + destroy: %.0f ns\n", (now_ns() - start) / ROUNDS);
  start = now_ns();
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plan, s.in, s.out, 0, 0), s.stream), 0);
  }
  fprintf(stderr, "    executor create + phase 2 inline: %.0f ns\n", (now_ns() - start) / ROUNDS);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  plan = plan_of(empty_run, ACLPY_PLAN_REPEATABLE);
  aclpy_handle executor = aclpy_executor_new(plan, s.in, s.out, 0, 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 0);
  start = now_ns();
  for (int i = 0; i < ROUNDS; i++) CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  fprintf(stderr, "    repeatable phase 2 inline: %.0f ns\n", (now_ns() - start) / ROUNDS);
  struct park park = PARK;
  CHECK_EQUAL(aclpy_submit(0, s.stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  start = now_ns();
  for (int i = 0; i < ROUNDS; i++) CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  fprintf(stderr, "    repeatable phase 2 queued: %.0f ns\n", (now_ns() - start) / ROUNDS);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, s.stream), 0);
  start = now_ns();
  for (int i = 0; i < ROUNDS; i++) (void)now_ns();
  fprintf(stderr, "    clock_gettime: %.0f ns\n", (now_ns() - start) / ROUNDS);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  tear_down(&s);
}

int main(int argc, char **argv) {
  (void)argc;
  begin_harness(argv);
  RUN(small_plans_run_on_the_caller);
  RUN(small_plans_and_quiet_streams_say_so);
  RUN(a_failure_that_nobody_has_seen_is_not_quiet);
  RUN(brief_plans_run_on_the_caller_where_nobody_helps);
  RUN(nothing_runs_inline_behind_a_parked_task);
  RUN(memory_and_objects_may_go_while_queued);
  RUN(calls_run_on_the_worker_and_may_fail);
  RUN(tokens_retire_with_the_last_user_of_their_plan);
  RUN(empty_plans_launch_nothing);
  RUN(first_runs_capture_marked_slots_only);
  RUN(repeatable_runs_read_every_address);
  RUN(repeatable_is_refused_where_the_vendor_refuses);
  RUN(large_kernels_share_the_pool);
  RUN(one_thread_wins_an_executor);
  RUN(an_executor_that_is_held_ends_with_its_run);
  RUN(costs);
  end_harness();
  return 0;
}
