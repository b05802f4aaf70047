/* SPDX-License-Identifier: Apache-2.0
 * Ready calls: they run as phase 2 would, and do nothing at all as soon as anything is not as it was.
 */
#include <sched.h>
#include <sys/wait.h>

#include "execute_support.h"

enum { THREADS = 3, ROUNDS = 3000, FLAGS = ACLPY_PLAN_REPEATABLE };

/* A repeatable executor that has run once, on a stream of its own. */
struct repeat {
  struct setup s;
  aclpy_handle stream, executor;
  uint64_t workspace_size;
  struct aclpy_ready *ready;
};

static struct aclpy_ready *ready_of(const struct repeat *r) {
  return aclpy_ready_new(op_id, r->workspace_size > 0 ? r->s.workspace : 0, r->workspace_size, r->executor, r->stream);
}

static int32_t execute(const struct repeat *r) {
  return aclpy_execute(op_id, r->workspace_size > 0 ? r->s.workspace : 0, r->workspace_size, r->executor, r->stream);
}

static struct repeat repeat_of(uint64_t workspace_size, double cost_ns) {
  struct repeat r = {.s = set_up(workspace_size, FLAGS, cost_ns), .workspace_size = workspace_size};
  r.stream = free_standing(r.s.stream);
  r.executor = phase1(&r.s);
  CHECK_EQUAL(aclpy_executor_set_repeatable(r.executor), 0);
  CHECK_EQUAL(execute(&r), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, r.stream), 0);
  r.ready = ready_of(&r);
  return r;
}

static void end(struct repeat *r) {
  aclpy_ready_free(r->ready);
  aclpy_executor_discard(r->executor);
  if (r->stream != 0) CHECK_EQUAL(aclpy_stream_destroy(0, r->stream), 0);
  tear_down(&r->s);
}

static void clear_out(const struct repeat *r) { ((float *)r->s.out_address)[0] = -1.0f; }

static void it_runs_and_sees_new_values(void) {
  for (uint64_t workspace = 0; workspace <= 512; workspace += 512) {
    struct repeat r = repeat_of(workspace, 1000);
    CHECK(r.ready != NULL);
    for (int turn = 1; turn <= 3; turn++) {
      ((float *)r.s.in_address)[0] = (float)turn;
      CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
      CHECK_EQUAL(aclpy_stream_is_quiet(r.stream), 1);
      CHECK(first_out(&r.s) == (float)turn + (workspace > 0 ? 2.0f : 1.0f));
    }
    end(&r);
  }
}

static void moved_tensors_are_seen(void) {
  struct repeat r = repeat_of(0, 1000);
  uintptr_t other = new_floats(7);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", r.executor, 0, r.s.in, other), 0);
  clear_out(&r);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  CHECK(first_out(&r.s) == -1.0f);
  CHECK_EQUAL(execute(&r), 0);
  CHECK(first_out(&r.s) == 8.0f);
  CHECK_EQUAL(aclpy_executor_set_address("aclSetTensorAddr", r.executor, 0, r.s.in, r.s.in_address), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  CHECK(first_out(&r.s) == 1.0f);
  CHECK_EQUAL(aclpy_tensor_destroy(r.s.in), 0); /* the executor still has it */
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  r.s.in = tensor_at(other);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  CHECK(first_out(&r.s) == 1.0f);
  end(&r);
  CHECK_EQUAL(aclpy_free(other), 0);
}

/* Also when the same addresses are somebody else's by now. */
static void freed_memory_is_seen(void) {
  for (int which = 0; which < 3; which++) {
    struct repeat r = repeat_of(512, 1000);
    uintptr_t *address = which == 0 ? &r.s.in_address : which == 1 ? &r.s.out_address : &r.s.workspace;
    uintptr_t before = *address;
    CHECK_EQUAL(aclpy_free(before), 0);
    CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
    CHECK_EQUAL(execute(&r), ACLPY_ACLNN_ERR_PARAM_INVALID);
    CHECK_EQUAL(aclpy_malloc(0, 512, 0, address), 0);
    CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
    /* The workspace is passed anew, the tensors are where they were. */
    bool good = which == 2 || (before >= *address && before - *address <= 512 - BYTES);
    CHECK_EQUAL(execute(&r), good ? 0 : ACLPY_ACLNN_ERR_PARAM_INVALID);
    CHECK_EQUAL(aclpy_stream_is_quiet(r.stream), 1);
    end(&r);
  }
}

static void dead_executors_and_streams_are_seen(void) {
  struct repeat r = repeat_of(0, 1000);
  CHECK_EQUAL(aclpy_stream_destroy(0, r.stream), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  CHECK_EQUAL(execute(&r), ACLPY_ACLNN_ERR_RUNTIME_ERROR);
  r.stream = free_standing(r.s.stream); /* in the place of the other one */
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  aclpy_ready_free(r.ready);
  CHECK_EQUAL(execute(&r), 0); /* the first task opens the door */
  r.ready = ready_of(&r);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  CHECK_EQUAL(aclpy_executor_destroy(r.executor), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  aclpy_handle later = phase1(&r.s);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  aclpy_executor_discard(later);
  end(&r);
}

static void it_does_not_pass_queued_work(void) {
  struct repeat r = repeat_of(0, 1000);
  struct park park = PARK;
  clear_out(&r);
  CHECK_EQUAL(aclpy_submit(0, r.stream, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
  CHECK(first_out(&r.s) == -1.0f);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, r.stream), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 0); /* somebody has to open the door again */
  CHECK_EQUAL(execute(&r), 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  end(&r);
}

static void none_for_other_calls(void) {
  struct repeat r = repeat_of(512, 1000);
  CHECK(aclpy_ready_new(other_op, r.s.workspace, 512, r.executor, r.stream) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 511, r.executor, r.stream) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 4096, r.executor, r.stream) == NULL); /* more than there is */
  CHECK(aclpy_ready_new(op_id, r.s.in_address, 512, r.executor, r.stream) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, r.executor, r.s.stream) == NULL); /* belongs to a context */
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, r.executor, 0) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, r.executor, r.executor) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, 0, r.stream) == NULL);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, r.stream, r.stream) == NULL);
  aclpy_handle once = phase1(&r.s);
  CHECK(aclpy_ready_new(op_id, r.s.workspace, 512, once, r.stream) == NULL);
  aclpy_executor_discard(once);
  aclpy_set_strict(0);
  CHECK(ready_of(&r) == NULL);
  aclpy_set_strict(1);
  end(&r);
  r = repeat_of(0, 1e6); /* a large plan is its worker's */
  CHECK(r.ready == NULL);
  end(&r);
  aclpy_ready_free(NULL);
}

/* The slot of a plan that is gone is the next one's. */
static void the_plan_goes_with_it(void) {
  struct repeat r = repeat_of(0, 1000);
  uint32_t slot = (uint32_t)r.s.plan;
  end(&r);
  r = repeat_of(0, 1000);
  CHECK_EQUAL((uint32_t)r.s.plan, slot);
  end(&r);
}

static void a_child_has_nothing_of_it(void) {
  struct repeat r = repeat_of(0, 1000);
  pid_t child = fork();
  if (child == 0) {
    clear_out(&r);
    CHECK_EQUAL(aclpy_ready_run(r.ready), 0);
    CHECK(first_out(&r.s) == -1.0f);
    aclpy_ready_free(r.ready);
    _exit(0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQUAL(aclpy_ready_run(r.ready), 1);
  end(&r);
}

/* ---- threads ---- */

static int64_t runs_of_stream; /* changed by tasks of one stream only */

static void count_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)begin, (void)end, (void)scratch;
  ((float *)args->addr[1])[0] = ((const float *)args->addr[0])[0];
  runs_of_stream++;
}

struct crowd {
  struct repeat r;
  atomic_int running;
  atomic_llong done;
};

static void *run_ready(void *arg) {
  struct crowd *crowd = arg;
  for (int i = 0; i < ROUNDS; i++) {
    int32_t ran = aclpy_ready_run(crowd->r.ready);
    if (ran == 0 && execute(&crowd->r) == 0) ran = 1;
    atomic_fetch_add(&crowd->done, ran);
    if (i % 16 == 0) sched_yield();
  }
  atomic_fetch_sub(&crowd->running, 1);
  return NULL;
}

static struct crowd crowd_of(aclpy_kernel_run run) {
  struct crowd crowd = {.r = repeat_of(0, 1000)};
  struct repeat *r = &crowd.r;
  aclpy_ready_free(r->ready);
  aclpy_executor_discard(r->executor);
  CHECK_EQUAL(aclpy_plan_release(r->s.plan), 0);
  r->s.plan = plan_of(run, FLAGS);
  r->executor = phase1(&r->s);
  CHECK_EQUAL(aclpy_executor_set_repeatable(r->executor), 0);
  r->ready = ready_of(r);
  CHECK(r->ready != NULL);
  runs_of_stream = 0;
  return crowd;
}

static void start(struct crowd *crowd, pthread_t *threads) {
  atomic_store(&crowd->running, THREADS);
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(run_ready, crowd);
}

static void one_run_at_a_time(void) {
  struct crowd crowd = crowd_of(count_run);
  pthread_t threads[THREADS];
  start(&crowd, threads);
  while (atomic_load(&crowd.running) > 0) {
    CHECK_EQUAL(execute(&crowd.r), 0);
    atomic_fetch_add(&crowd.done, 1);
    CHECK_EQUAL(aclpy_stream_synchronize(0, crowd.r.stream), 0);
    sched_yield();
  }
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_stream_synchronize(0, crowd.r.stream), 0);
  CHECK_EQUAL(runs_of_stream, atomic_load(&crowd.done));
  CHECK_EQUAL(atomic_load(&crowd.done) >= THREADS * ROUNDS, 1);
  end(&crowd.r);
}

/* A run that has begun keeps the bytes; later ones are refused. */
static void everything_goes_while_threads_run(void) {
  for (int which = 0; which < 4; which++) {
    struct crowd crowd = crowd_of(count_run);
    struct repeat *r = &crowd.r;
    pthread_t threads[THREADS];
    start(&crowd, threads);
    while (atomic_load(&crowd.done) < 100) sched_yield();
    if (which == 0) CHECK_EQUAL(aclpy_free(r->s.in_address), 0);
    if (which == 1) CHECK_EQUAL(aclpy_free(r->s.out_address), 0);
    if (which == 2) CHECK_EQUAL(aclpy_executor_destroy(r->executor), 0);
    if (which == 3) CHECK_EQUAL(aclpy_stream_destroy(0, r->stream), 0);
    CHECK_EQUAL(aclpy_ready_run(r->ready), 0);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    if (which == 0) r->s.in_address = new_floats(0);
    if (which == 1) r->s.out_address = new_floats(0);
    if (which == 3) r->stream = 0;
    end(r);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  begin_harness(argv);
  RUN(it_runs_and_sees_new_values);
  RUN(moved_tensors_are_seen);
  RUN(freed_memory_is_seen);
  RUN(dead_executors_and_streams_are_seen);
  RUN(it_does_not_pass_queued_work);
  RUN(none_for_other_calls);
  RUN(the_plan_goes_with_it);
  RUN(a_child_has_nothing_of_it);
  RUN(one_run_at_a_time);
  RUN(everything_goes_while_threads_run);
  end_harness();
  return 0;
}
