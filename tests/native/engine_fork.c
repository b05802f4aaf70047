/* SPDX-License-Identifier: Apache-2.0
 * Forking: the child starts fresh, the parent goes on, nobody hangs.
 */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"
#include "fork_support.h"

enum { N = 4096, BYTES = N * 4, PATIENCE_SECONDS = 60 };
static const int64_t dims[1] = {N};
static uint32_t op_id;
static const double LARGE = 1e6, SMALL = 1e3;

static void fill_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)scratch;
  for (int64_t i = begin; i < end; i++) ((float *)args->addr[0])[i] = (float)i;
}

static aclpy_handle make_plan(double cost_ns) {
  aclpy_slot_desc slot = {"out", 0, BYTES, ACLPY_SLOT_WRITTEN, NULL};
  aclpy_step_desc step = {
      .run = fill_run,
      .shape = {.passes = 1, .items = {N}, .grain = {64}, .thread_scratch_bytes = 64, .cost_ns = cost_ns},
      .n_operands = 1};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 1, .slots = &slot, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static void use(aclpy_handle plan) {
  aclpy_handle stream = 0, tensor = 0, executor = 0;
  uintptr_t memory = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, NULL), 0);
  CHECK_EQUAL(aclpy_executor_create(plan, &tensor, 1, &executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), 0);
  CHECK_EQUAL(aclpy_memory_wait(memory), 0);
  CHECK(((float *)memory)[N - 1] == N - 1);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
}

/* The thread sanitizer cannot start threads in a child of a process that had some: there, what runs on the caller. */
static aclpy_handle plan_for_children(void) { return make_plan(THREAD_SANITIZED ? SMALL : LARGE); }

static void wait_for(pid_t child) {
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
}

static void a_child_starts_fresh(void) {
  struct park park = PARK;
  aclpy_handle context = 0, stream = 0, event = 0, tensor = 0, plan = make_plan(LARGE), shared = plan_for_children(),
               executor = 0, current = 0;
  uintptr_t memory = 0;
  uint64_t layout = 0, again = 0;
  CHECK_EQUAL(aclpy_set_thread_count(3), 0);
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  memset((void *)memory, 0x77, BYTES);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, &layout), 0);
  use(plan); /* the pool has threads now */
  CHECK_EQUAL(aclpy_executor_create(plan, &tensor, 1, &executor), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  pid_t child = fork_at_rest();
  if (child == 0) {
    alarm(PATIENCE_SECONDS);
    CHECK_EQUAL(aclpy_context_get_current(&current), 107002);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107017);
    CHECK_CONTAINS(aclpy_error_last()->got, "the parent process's");
    CHECK_EQUAL(aclpy_event_synchronize(event), 107017);
    CHECK_EQUAL(aclpy_context_set_current(context), 107000);
    CHECK_EQUAL(aclpy_tensor_destroy(tensor), 161002);
    CHECK_EQUAL(aclpy_executor_destroy(executor), 561000);
    CHECK_EQUAL(aclpy_free(memory), 107000);
    CHECK_EQUAL(((unsigned char *)memory)[BYTES - 1], 0x77); /* the copy of the bytes stays readable */
    CHECK_EQUAL(aclpy_memory_in_use(), 0);
    CHECK_EQUAL(aclpy_live_count("stream"), 0);
    CHECK_EQUAL(aclpy_live_count("task"), 0);
    CHECK_EQUAL(aclpy_reset_device(0), 507007);
    CHECK_EQUAL(aclpy_init(NULL), 0); /* counted from the start again */
    CHECK_EQUAL(aclpy_set_device(0), 0);
    CHECK_EQUAL(aclpy_operator_id("aclnnFake"), op_id);
    use(shared); /* plans and layouts are as good as before */
    aclpy_handle mine = 0;
    CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, 0, &mine, &again), 0);
    CHECK_EQUAL(again, layout);
    CHECK_EQUAL(aclpy_tensor_destroy(mine), 0);
    CHECK_EQUAL(aclpy_plan_release(plan), 0);
    CHECK_EQUAL(aclpy_reset_device(0), 0);
    aclpy_shutdown();
    _exit(0);
  }
  wait_for(child);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_event_synchronize(event), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  CHECK_EQUAL(aclpy_plan_release(shared), 0);
}

static atomic_bool stop;

static void *keep_busy(void *arg) {
  aclpy_handle context = *(aclpy_handle *)arg, plan = make_plan(LARGE);
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  while (!atomic_load(&stop)) use(plan);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  return NULL;
}

/* Threads hold every lock there is, now and then; a fork in the middle must find the child usable. */
static void forks_among_busy_threads(void) {
  enum { FORKS = 20, THREADS = 3 };
  aclpy_handle context = 0, plan = plan_for_children();
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(keep_busy, &context);
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(PATIENCE_SECONDS);
      CHECK_EQUAL(aclpy_set_device(0), 0);
      use(plan);
      pid_t grandchild = fork();
      if (grandchild == 0) {
        CHECK_EQUAL(aclpy_set_device(0), 0);
        use(plan);
        _exit(0);
      }
      wait_for(grandchild);
      _exit(0);
    }
    wait_for(child);
    use(plan);
  }
  atomic_store(&stop, true);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
}

static int32_t fork_inside(void *arg) {
  (void)arg;
  pid_t child = fork_at_rest();
  if (child == 0) {
    alarm(PATIENCE_SECONDS);
    aclpy_handle stream = 0;
    CHECK_EQUAL(aclpy_set_device(0), 0);
    CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    _exit(0);
  }
  wait_for(child);
  return 0;
}

static void a_host_function_may_fork(void) {
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, fork_inside, NULL, NULL, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static pid_t forked;
static int ran;

static int32_t fork_once(void *arg) {
  (void)arg;
  ran++;
  if (ran == 1) forked = fork_at_rest();
  if (forked == 0) alarm(PATIENCE_SECONDS);
  return 0;
}

static void start_over(uint64_t self) {
  CHECK_EQUAL(aclpy_live_count("callback"), 0);
  CHECK_EQUAL(aclpy_process_report(1), 107012);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  aclpy_handle stream = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

/* A callback that forks: the child does not run those behind it, nor is it subscribed any more. */
static void callbacks_stay_with_the_parent(void) {
  aclpy_handle stream = 0, event = 0;
  uint64_t self = aclpy_thread_id();
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  CHECK_EQUAL(aclpy_subscribe_report(0, self, stream), 0);
  for (int i = 0; i < 2; i++) CHECK_EQUAL(aclpy_launch_callback(0, stream, fork_once, NULL, NULL, 0, 0), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_event_synchronize(event), 0);
  CHECK_EQUAL(aclpy_live_count("callback"), 2);
  pid_t child = fork_at_rest();
  if (child == 0) {
    start_over(self);
    _exit(0);
  }
  wait_for(child);
  CHECK_EQUAL(aclpy_process_report(-1), 0);
  if (forked == 0) {
    CHECK_EQUAL(ran, 1);
    start_over(self);
    _exit(0);
  }
  wait_for(forked);
  CHECK_EQUAL(ran, 2);
  CHECK_EQUAL(aclpy_live_count("callback"), 0);
  CHECK_EQUAL(aclpy_unsubscribe_report(0, self, stream), 0);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

int main(void) {
  op_id = aclpy_operator_id("aclnnFake");
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(a_child_starts_fresh);
  if (SANITIZED) {
    /* The sanitizers' own allocators do not survive a fork while other threads allocate. */
    fprintf(stderr, "  forks_among_busy_threads: left to the build without sanitizers\n");
  } else {
    RUN(forks_among_busy_threads);
  }
  RUN(a_host_function_may_fork);
  RUN(callbacks_stay_with_the_parent);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  return 0;
}
