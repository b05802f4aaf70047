/* SPDX-License-Identifier: Apache-2.0
 * Every acquisition fails once: each call says so with its status, nothing leaks, and the next try works.
 */
#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

enum { N = 16, BYTES = N * 4 };
static const int64_t dims[1] = {N};
static uint32_t op_id;

static void noop_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  memset(scratch, 1, 1 << 16);
  memset(args->scratch + begin * 64, 2, (size_t)(end - begin) * 64); /* shared: each range its own part */
  memset(args->addr[0] + begin * 4, 3, (size_t)(end - begin) * 4);
}

static int32_t nothing(void *arg) {
  (void)arg;
  return 0;
}

/* Everything the engine can make, once; the first failure ends it. Everything made is given back. */
static int32_t whole_life(void) {
  aclpy_handle context = 0, stream = 0, event = 0, tensor = 0, plan = 0, executor = 0;
  uintptr_t memory = 0, host = 0;
  aclpy_step_desc step = {.run = noop_run,
                          .shape = {.passes = 1,
                                    .items = {N},
                                    .grain = {1},
                                    .scratch_bytes = 1 << 16,
                                    .thread_scratch_bytes = 1 << 16,
                                    .cost_ns = 1e6},
                          .n_operands = 1,
                          .operands = {{0, 0}}};
  aclpy_slot_desc slot = {"self", 0, BYTES, ACLPY_SLOT_WRITTEN, NULL};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 1, .slots = &slot, .n_steps = 1, .steps = &step};
  int32_t status = aclpy_context_create(0, &context);
  if (status == 0) status = aclpy_stream_create(0, 0, 0, &stream);
  if (status == 0) status = aclpy_event_create(0, ACLPY_EVENT_WITH_FLAG, 1, &event);
  if (status == 0) status = aclpy_malloc(0, BYTES, 0, &memory);
  if (status == 0) status = aclpy_malloc_host(0, BYTES, &host);
  if (status == 0) status = aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, NULL);
  if (status == 0) status = aclpy_plan_create(&desc, &plan);
  if (status == 0) status = aclpy_executor_create(plan, &tensor, 1, &executor);
  if (status == 0) status = aclpy_event_record(0, event, stream);
  if (status == 0) status = aclpy_event_wait(0, 0, event);
  if (status == 0) status = aclpy_execute(op_id, 0, 0, executor, stream);
  if (status == 0) executor = 0;
  if (status == 0) status = aclpy_submit(0, stream, NULL, nothing, NULL, NULL, 0);
  if (status == 0) status = aclpy_memcpy_async(0, host, BYTES, memory, BYTES, 2, stream);
  if (status == 0) status = aclpy_synchronize_device(0);
  if (status == 0) CHECK_EQUAL(*(unsigned char *)host, 3);
  CHECK_EQUAL(aclpy_fail_after("memory", 0), 0);
  CHECK_EQUAL(aclpy_fail_after("thread", 0), 0);
  CHECK_EQUAL(aclpy_fail_after("object", 0), 0);
  if (executor != 0) CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  if (plan != 0) CHECK_EQUAL(aclpy_plan_release(plan), 0);
  if (tensor != 0) CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  if (memory != 0) CHECK_EQUAL(aclpy_free(memory), 0);
  if (host != 0) CHECK_EQUAL(aclpy_free_host(host), 0);
  if (event != 0) CHECK_EQUAL(aclpy_event_destroy(event), 0);
  if (stream != 0) CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  if (context != 0) CHECK_EQUAL(aclpy_context_destroy(context), 0);
  static const char *const kinds[] = {"context", "stream", "event", "memory", "tensor", "plan", "executor", "task"};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) CHECK_EQUAL(aclpy_live_count(kinds[i]), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  return status;
}

/* Fails the first, second, ... acquisition until nothing fails any more. */
static int fail_each(const char *what, int32_t first_status, int32_t second_status, int32_t third_status) {
  for (int n = 1;; n++) {
    CHECK(n < 1000);
    CHECK_EQUAL(aclpy_fail_after(what, n), 0);
    int32_t status = whole_life();
    if (status == 0) return n - 1;
    if (status != first_status && status != second_status && status != third_status) {
      fprintf(stderr, "%s %d gave %d\n", what, n, status);
      abort();
    }
    CHECK_EQUAL(aclpy_error_last()->status, status);
    CHECK_EQUAL(whole_life(), 0);
  }
}

static void objects(void) {
  int points = fail_each("object", 207001, 561101, 361001);
  fprintf(stderr, "    %d points of failure\n", points);
  CHECK(points >= 12);
}

static void memory(void) {
  int points = fail_each("memory", 207001, 207001, 207001);
  fprintf(stderr, "    %d points of failure\n", points);
  CHECK(points >= 3); /* device, pinned, scratch at least */
}

static void threads(void) {
  int points = fail_each("thread", 207005, 361001, 207005);
  fprintf(stderr, "    %d points of failure\n", points);
  CHECK(points >= 1);
}

static void a_failed_thread_loses_nothing(void) {
  aclpy_handle stream = 0;
  struct park park = PARK;
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_fail_after("thread", 1), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 207005);
  CHECK_CONTAINS(aclpy_error_last()->got, "worker thread");
  CHECK_EQUAL(latch_count(&park.begun), 0);
  CHECK_EQUAL(latch_count(&park.dropped), 1);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(latch_count(&park.begun), 1);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_fail_after("disk", 1), 100000);
  CHECK_EQUAL(aclpy_fail_after(NULL, 1), 100000);
  CHECK_EQUAL(aclpy_fail_after("object", 1), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0); /* the context is there already */
  CHECK_EQUAL(aclpy_reset_device_force(0), 0);
  CHECK_EQUAL(aclpy_set_device(0), 507033);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
}

/* The pool works with fewer threads when it cannot have more. */
static void a_pool_without_threads(void) {
  CHECK_EQUAL(aclpy_set_thread_count(4), 0);
  for (int n = 1; n <= 6; n++) {
    CHECK_EQUAL(aclpy_fail_after("thread", n), 0);
    int32_t status = whole_life();
    CHECK(status == 0 || status == 207005 || status == 361001);
  }
}

int main(void) {
  op_id = aclpy_operator_id("aclnnFake");
  CHECK_EQUAL(whole_life(), 0); /* whatever is made once and kept, is made here */
  RUN(objects);
  RUN(memory);
  RUN(threads);
  RUN(a_failed_thread_loses_nothing);
  RUN(a_pool_without_threads);
  return 0;
}
