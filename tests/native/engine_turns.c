/* SPDX-License-Identifier: Apache-2.0
 * Whose turn it is: tasks of one stream run on the worker, on a synchroniser or on the submitter, and never two at
 * once.
 *
 * The tasks add to a plain, unprotected counter. One lost addition, or one report of the thread sanitizer, and a task
 * has run beside another one of its stream.
 */
#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

enum { THREADS = 4, ROUNDS = SANITIZED ? 300 : 3000, BYTES = 64 };

static uint32_t op_id;
static aclpy_handle context, stream, side;
static uintptr_t memory, scratch_memory;
static aclpy_handle counter_tensor;
static atomic_long additions;

static long *counter(void) { return (long *)memory; }

static void add_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)begin, (void)end, (void)scratch;
  *(long *)args->addr[0] += 1;
}

static int32_t add_in_host_function(void *arg) {
  *(long *)arg += 1;
  return 0;
}

static aclpy_handle make_plan(double cost_ns) {
  aclpy_slot_desc slot = {"self", 0, BYTES, ACLPY_SLOT_WRITTEN, NULL};
  aclpy_step_desc step = {
      .run = add_run, .shape = {.passes = 1, .items = {1}, .grain = {1}, .cost_ns = cost_ns}, .n_operands = 1};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 1, .slots = &slot, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static void run_plan(aclpy_handle plan) {
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plan, counter_tensor, 0, 0, 0), stream), 0);
  atomic_fetch_add(&additions, 1);
}

static void *take_turns(void *arg) {
  unsigned random = (unsigned)(uintptr_t)arg * 2654435761u;
  aclpy_handle small = make_plan(1000), large = make_plan(1e6), event = 0;
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_EX_WITH_FLAG, 1, &event), 0);
  for (int round = 0; round < ROUNDS; round++) {
    random = random * 1103515245u + 12345u;
    switch (random >> 16 & 7) {
      case 0:
      case 1:
        run_plan(small); /* may run right here */
        break;
      case 2:
      case 3:
        run_plan(large);
        break;
      case 4:
        CHECK_EQUAL(aclpy_submit(0, stream, "add", add_in_host_function, NULL, counter(), 0), 0);
        atomic_fetch_add(&additions, 1);
        break;
      case 5: /* through another stream and back */
        CHECK_EQUAL(aclpy_memset_async(0, scratch_memory, BYTES, 1, BYTES, side), 0);
        CHECK_EQUAL(aclpy_event_record(0, event, side), 0);
        CHECK_EQUAL(aclpy_event_wait(0, stream, event), 0);
        break;
      case 6:
        CHECK_EQUAL(aclpy_memory_wait(memory), 0);
        break;
      default:
        CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    }
  }
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_plan_release(small), 0);
  CHECK_EQUAL(aclpy_plan_release(large), 0);
  return NULL;
}

static void nobody_runs_out_of_turn(void) {
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(take_turns, (void *)(i + 1));
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(*counter(), atomic_load(&additions));
}

/* A synchroniser must leave a host function, and everything behind it, to the worker. */
static pthread_t host_thread;
static bool same_thread;

static int32_t look_at_thread(void *arg) {
  (void)arg;
  same_thread = pthread_equal(host_thread, pthread_self()) != 0;
  return 0;
}

static void host_functions_stay_on_the_worker(void) {
  aclpy_handle large = make_plan(1e6);
  host_thread = pthread_self();
  for (int i = 0; i < 100; i++) {
    same_thread = true;
    run_plan(large);
    CHECK_EQUAL(aclpy_submit(0, stream, "look", look_at_thread, NULL, NULL, 0), 0);
    run_plan(large);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
    CHECK(!same_thread);
  }
  CHECK_EQUAL(*counter(), atomic_load(&additions));
  CHECK_EQUAL(aclpy_plan_release(large), 0);
}

/* A host function that ends the device it runs on: its own stream goes later, by itself. */
struct resetter {
  struct latch go;
  int32_t status;
};

static int32_t reset_inside(void *arg) {
  struct resetter *resetter = arg;
  latch_wait(&resetter->go, 1);
  resetter->status = aclpy_reset_device(0);
  return 0;
}

static void a_host_function_may_reset_its_device(void) {
  struct resetter resetter = {.go = LATCH, .status = -1};
  aclpy_handle own = 0;
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &own), 0);
  struct park park = PARK;
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_submit(0, own, "reset", reset_inside, NULL, &resetter, 0), 0);
  CHECK_EQUAL(aclpy_submit(0, own, "park", park_run, park_drop, &park, 0), 0);
  latch_add(&resetter.go);
  latch_wait(&park.dropped, 1);
  CHECK_EQUAL(resetter.status, 0);
}

int main(void) {
  const int64_t dims[1] = {BYTES / 4};
  op_id = aclpy_operator_id("aclnnFake");
  CHECK_EQUAL(aclpy_set_thread_count(2), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &side), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &scratch_memory), 0);
  memset((void *)memory, 0, BYTES);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &counter_tensor, NULL), 0);
  RUN(nobody_runs_out_of_turn);
  RUN(host_functions_stay_on_the_worker);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, side), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(counter_tensor), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_free(scratch_memory), 0);
  RUN(a_host_function_may_reset_its_device);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
  CHECK_EQUAL(aclpy_live_count("executor"), 0);
  return 0;
}
