/* SPDX-License-Identifier: Apache-2.0
 * Phase 2: every refusal in its order, which address counts, repeatable runs, the vendor's cache, the pool.
 */
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

/* ---- a fake operator: out[i] = a[i] + param, one step through the workspace when it has two ---- */

static atomic_int runs;

static void add_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  const float *a = (const float *)args->addr[0];
  float *out = (float *)args->addr[1];
  for (int64_t i = begin; i < end; i++) out[i] = a[i] + (float)args->params[0];
  if (scratch != NULL) memset(scratch, 0x5a, 64);
  atomic_fetch_add(&runs, 1);
}

static int32_t call_run(uint64_t token, unsigned char *const *addr) {
  const float *a = (const float *)addr[0];
  float *out = (float *)addr[1];
  for (int i = 0; i < 16; i++) out[i] = a[i] * (float)token;
  atomic_fetch_add(&runs, 1);
  return token == 13 ? aclpy_fail(507018, "call", "", "", "", "an unlucky number") : 0;
}

enum { N = 16, BYTES = N * sizeof(float) };

struct setup {
  aclpy_handle stream, plan, in, out;
  uintptr_t in_address, out_address, workspace;
};

static uint32_t op_id, other_op;

static const int64_t one = 1;
static aclpy_slot_desc two_slots[2] = {{"self", 0, BYTES, 0, NULL},
                                       {"out", 0, BYTES, ACLPY_SLOT_CAPTURED | ACLPY_SLOT_WRITTEN, NULL}};
static const aclpy_hazard self_out = {0, 1};

static aclpy_step_desc kernel_step(int32_t from, int32_t to, double cost_ns) {
  return (aclpy_step_desc){
      .run = add_run,
      .shape = {.passes = 1, .items = {N}, .grain = {1}, .thread_scratch_bytes = 64, .cost_ns = cost_ns},
      .n_operands = 2,
      .operands = {{from, 0}, {to, 0}},
      .n_params = 1,
      .params = &one};
}

static aclpy_handle make_plan(uint64_t workspace, uint32_t flags, double cost_ns) {
  aclpy_step_desc direct[1] = {kernel_step(0, 1, cost_ns)};
  aclpy_step_desc staged[2] = {kernel_step(0, ACLPY_BASE_WORKSPACE, cost_ns),
                               kernel_step(ACLPY_BASE_WORKSPACE, 1, cost_ns)};
  aclpy_plan_desc desc = {.op = op_id,
                          .flags = flags,
                          .workspace_bytes = workspace,
                          .n_slots = 2,
                          .slots = two_slots,
                          .n_steps = workspace > 0 ? 2 : 1,
                          .steps = workspace > 0 ? staged : direct,
                          .n_hazards = 1,
                          .hazards = &self_out,
                          .refusal = "a copy task that cannot be repeated"};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static aclpy_handle tensor_at(uintptr_t address) {
  const int64_t dims[1] = {N};
  aclpy_handle tensor = 0;
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, address, &tensor, NULL), 0);
  return tensor;
}

static uintptr_t new_floats(float first) {
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &address), 0);
  for (int i = 0; i < N; i++) ((float *)address)[i] = first + (float)i;
  return address;
}

static struct setup set_up(uint64_t workspace, uint32_t flags, double cost_ns) {
  struct setup s = {0};
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &s.stream), 0);
  s.plan = make_plan(workspace, flags, cost_ns);
  s.in_address = new_floats(0);
  s.out_address = new_floats(-100);
  CHECK_EQUAL(aclpy_malloc(0, 512, 0, &s.workspace), 0);
  s.in = tensor_at(s.in_address);
  s.out = tensor_at(s.out_address);
  return s;
}

static void tear_down(struct setup *s) {
  CHECK_EQUAL(aclpy_stream_destroy(0, s->stream), 0);
  CHECK_EQUAL(aclpy_plan_release(s->plan), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(s->in), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(s->out), 0);
  CHECK_EQUAL(aclpy_free(s->in_address), 0);
  CHECK_EQUAL(aclpy_free(s->out_address), 0);
  CHECK_EQUAL(aclpy_free(s->workspace), 0);
}

static aclpy_handle phase1(const struct setup *s) {
  aclpy_handle executor = aclpy_executor_new(s->plan, s->in, s->out, 0, 0);
  CHECK(executor != 0);
  return executor;
}

static float first_out(const struct setup *s) { return ((const float *)s->out_address)[0]; }

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

/* ---- refusals ---- */

static void refuse(int32_t wanted, const char *argument, const char *text, int32_t got) {
  CHECK_EQUAL(got, wanted);
  const aclpy_error *error = aclpy_error_last();
  CHECK_EQUAL(error->status, wanted);
  CHECK_CONTAINS(error->function, "aclnnFake");
  CHECK_CONTAINS(error->argument, argument);
  char all[1200];
  snprintf(all, sizeof(all), "%s | %s | %s", error->got, error->expected, error->hint);
  CHECK_CONTAINS(all, text);
}

static void phase2_refuses_in_order(void) {
  struct setup s = set_up(512, 0, 1000);
  int before = atomic_load(&runs);
  refuse(161001, "executor", "NULL", aclpy_execute(op_id, 0, 512, 0, s.stream));
  aclpy_handle executor = phase1(&s);
  refuse(161001, "workspace", "512", aclpy_execute(op_id, 0, 512, executor, s.stream));
  refuse(161002, "executor", "destroyed already", aclpy_execute(op_id, s.workspace, 512, executor, s.stream));

  executor = phase1(&s);
  refuse(161002, "executor", "aclnnFake in a call of aclnnFakeOther", aclpy_execute(other_op, 0, 0, executor, 12345));
  refuse(161002, "workspaceSize", "511 bytes, while phase 1 reported 512",
         aclpy_execute(op_id, s.workspace, 511, executor, 12345));
  refuse(161002, "workspaceSize", "0 bytes", aclpy_execute(op_id, 0, 0, executor, 12345));
  refuse(161002, "workspace", "in no allocation", aclpy_execute(op_id, 4096, 512, executor, 12345));
  refuse(161002, "workspace", "513 bytes", aclpy_execute(op_id, s.workspace, 513, executor, 12345));
  refuse(161002, "workspace", "has 504 left", aclpy_execute(op_id, s.workspace + 8, 512, executor, 12345));
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, 0), 0);
  refuse(161002, "self", "NULL", aclpy_execute(op_id, s.workspace, 512, executor, 12345));
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, 64), 0);
  refuse(161002, "self", "0x40", aclpy_execute(op_id, s.workspace, 512, executor, 12345));
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, s.in_address + 4), 0);
  refuse(161002, "self", "has 60 left", aclpy_execute(op_id, s.workspace, 512, executor, 12345));
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, s.in_address), 0);
  refuse(361001, "stream", "107017", aclpy_execute(op_id, s.workspace, 512, executor, 12345));
  CHECK_EQUAL(atomic_load(&runs), before);                                    /* nothing ran */
  CHECK_EQUAL(aclpy_execute(op_id, s.workspace, 512, executor, s.stream), 0); /* and nothing was lost */
  refuse(161002, "executor", "already consumed; plan again or make it repeatable",
         aclpy_execute(op_id, s.workspace, 512, executor, s.stream));
  refuse(161002, "executor", "never created", aclpy_execute(op_id, s.workspace, 512, 99, s.stream));
  tear_down(&s);
}

static void streams_of_other_contexts_are_refused(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle executor = phase1(&s), primary = 0, own = 0;
  CHECK_EQUAL(aclpy_context_get_current(&primary), 0);
  CHECK_EQUAL(aclpy_context_create(0, &own), 0);
  refuse(361001, "stream", "107003", aclpy_execute(op_id, 0, 0, executor, s.stream));
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, 0), 0); /* the new context's default stream */
  CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  executor = phase1(&s);
  CHECK_EQUAL(aclpy_context_destroy(own), 0);
  refuse(361001, "stream", "107002", aclpy_execute(op_id, 0, 0, executor, 0));
  refuse(361001, "stream", "107002", aclpy_execute(op_id, 0, 0, executor, s.stream));
  aclpy_handle loose = 0;
  CHECK_EQUAL(aclpy_stream_create(primary, 0, 0, &loose), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, loose), 0); /* free-standing: needs no current context */
  CHECK_EQUAL(aclpy_stream_synchronize(0, loose), 0);
  CHECK_EQUAL(aclpy_stream_destroy(primary, loose), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  tear_down(&s);
}

static void hazards_are_refused(void) {
  struct setup s = set_up(0, 0, 1000);
  uintptr_t both = 0;
  CHECK_EQUAL(aclpy_malloc(0, 2 * BYTES, 0, &both), 0);
  memset((void *)both, 0, 2 * BYTES);
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, both), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.out, both + 4), 0);
  aclpy_handle executor = phase1(&s);
  refuse(161002, "out", "overlaps self", aclpy_execute(op_id, 0, 0, executor, s.stream));
  aclpy_set_strict(0); /* a wrong result is not a matter of strictness */
  refuse(161002, "out", "overlaps self", aclpy_execute(op_id, 0, 0, executor, s.stream));
  aclpy_set_strict(1);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.out, both), 0); /* in place */
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), s.stream), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.out, both + BYTES), 0); /* side by side */
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, phase1(&s), s.stream), 0);
  CHECK_EQUAL(aclpy_free(both), 0);
  tear_down(&s);
}

static void the_strictness_switch_keeps_memory_safe(void) {
  struct setup s = set_up(512, 0, 1000);
  aclpy_set_strict(0);
  aclpy_handle executor = phase1(&s);
  refuse(161002, "workspace", "NULL", aclpy_execute(op_id, 0, 0, executor, s.stream));
  refuse(161002, "workspace", "has 504 left", aclpy_execute(op_id, s.workspace + 8, 1, executor, s.stream));
  CHECK_EQUAL(aclpy_execute(other_op, s.workspace, 1, executor, s.stream), 0);
  CHECK(first_out(&s) == 2.0f);
  aclpy_set_strict(1);
  tear_down(&s);
}

static void wrong_memory_is_refused(void) {
  struct setup s = set_up(0, 0, 1000);
  uintptr_t pinned = 0;
  CHECK_EQUAL(aclpy_malloc_host(0, BYTES, &pinned), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, pinned), 0);
  aclpy_handle executor = phase1(&s);
  refuse(161002, "self", "pinned host memory", aclpy_execute(op_id, 0, 0, executor, s.stream));
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_free_host(pinned), 0);
  CHECK_EQUAL(aclpy_set_device(1), 0); /* two devices: see the environment in main */
  uintptr_t far = new_floats(0);
  CHECK_EQUAL(aclpy_reset_device(1), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, far), 0);
  executor = phase1(&s);
  refuse(161002, "self", "memory of device 1", aclpy_execute(op_id, 0, 0, executor, s.stream));
  CHECK_EQUAL(aclpy_free(far), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 161002); /* freed in between */
  CHECK_CONTAINS(aclpy_error_last()->got, "freed already");
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  tear_down(&s);
}

static void executors_check_their_tensors(void) {
  struct setup s = set_up(0, 0, 1000);
  aclpy_handle gone = tensor_at(0), executor = 77;
  CHECK_EQUAL(aclpy_tensor_destroy(gone), 0);
  CHECK_EQUAL(aclpy_executor_new(s.plan, s.in, gone, 0, 0), 0);
  CHECK_EQUAL(aclpy_error_last()->status, 161002);
  CHECK_CONTAINS(aclpy_error_last()->argument, "out");
  CHECK_EQUAL(aclpy_executor_new(s.plan, s.stream, s.out, 0, 0), 0);
  CHECK_CONTAINS(aclpy_error_last()->argument, "self");
  CHECK_EQUAL(aclpy_executor_new(12, s.in, s.out, 0, 0), 0);
  CHECK_EQUAL(aclpy_executor_create(s.plan, &s.in, 1, &executor), 561000);
  CHECK_EQUAL(executor, 77);
  CHECK_EQUAL(aclpy_executor_destroy(0), 561103);
  CHECK_EQUAL(aclpy_executor_destroy(77), 561000);
  CHECK_EQUAL(aclpy_executor_set_repeatable(0), 561103);
  CHECK_EQUAL(aclpy_executor_set_repeatable(77), 561000);
  executor = phase1(&s);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 561000);
  executor = phase1(&s);
  while (aclpy_recent_message() != NULL) {
  }
  aclpy_executor_discard(executor);
  aclpy_executor_discard(executor); /* says nothing */
  aclpy_executor_discard(0);
  CHECK(aclpy_recent_message() == NULL);
  CHECK_EQUAL(aclpy_live_count("executor"), 0);
  tear_down(&s);
}

static void bad_plans_are_refused(void) {
  aclpy_step_desc step = kernel_step(0, 1, 1);
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 2, .slots = two_slots, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 5;
  step.operands[0].base = 2;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  step = kernel_step(0, 1, 1);
  step.call = call_run;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  step = kernel_step(0, 1, 1);
  step.shape.passes = ACLPY_MAX_PASSES + 1;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  step = kernel_step(0, 1, 1);
  step.n_params = ACLPY_MAX_PARAMS + 1;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  CHECK_EQUAL(plan, 5);
  CHECK_EQUAL(aclpy_plan_release(plan), 561000);
  CHECK_EQUAL(aclpy_operator_id("aclnnFake"), op_id);
  CHECK(aclpy_operator_id("aclnnThird") > other_op);
}

/* ---- addresses ---- */

static void first_runs_capture_marked_slots_only(void) {
  struct setup s = set_up(0, 0, 1000);
  uintptr_t in2 = new_floats(100), out2 = new_floats(-7);
  aclpy_handle executor = phase1(&s);
  CHECK_EQUAL(aclpy_executor_set_address(executor, 99, s.in, in2), 0);
  CHECK_EQUAL(aclpy_executor_set_address(executor, 0, s.out, out2), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 101.0f); /* out: phase 1's address; self: the tensor's of now */
  CHECK(((const float *)out2)[0] == -7.0f);
  CHECK_EQUAL(aclpy_executor_set_address(executor, 0, 0, out2), 561103);
  CHECK_EQUAL(aclpy_executor_set_address(0, 0, s.in, s.in_address), 561103);
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

/* ---- the vendor's cache ---- */

static int32_t hit(aclpy_handle executor) {
  int32_t is_hit = -1;
  CHECK_EQUAL(aclpy_executor_is_cache_hit(executor, &is_hit), 0);
  return is_hit;
}

static void *other_thread_misses(void *arg) {
  struct setup *s = arg;
  aclpy_handle executor = phase1(s);
  CHECK_EQUAL(hit(executor), 0);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  return NULL;
}

static void completed_calls_hit_the_vendor_cache(void) {
  struct setup s = set_up(0, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE, 1000);
  uintptr_t in2 = new_floats(50);
  aclpy_handle executor = phase1(&s), early = phase1(&s);
  CHECK_EQUAL(hit(executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  executor = phase1(&s);
  CHECK_EQUAL(hit(executor), 1);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 561000);
  CHECK_CONTAINS(aclpy_error_last()->got, "cache");
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, in2), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 1.0f); /* a hit uses phase 1's addresses */
  join_thread(start_thread(other_thread_misses, &s));
  aclpy_set_vendor_cache(0, -1);
  CHECK_EQUAL(hit(executor = phase1(&s)), 0);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  aclpy_set_vendor_cache(1, -1);
  CHECK_EQUAL(hit(executor = phase1(&s)), 1);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_executor_destroy(early), 0);
  CHECK_EQUAL(aclpy_free(in2), 0);
  tear_down(&s);
}

static void repeatable_executors_leave_the_vendor_cache(void) {
  struct setup s = set_up(0, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE, 1000);
  aclpy_handle first = phase1(&s), second = phase1(&s);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, first, s.stream), 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(second), 0); /* planned before the flag was set: no hit */
  aclpy_handle third = phase1(&s);
  CHECK_EQUAL(hit(third), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, second, s.stream), 0);
  CHECK_EQUAL(aclpy_executor_destroy(third), 0);
  third = phase1(&s);
  CHECK_EQUAL(hit(third), 0); /* repeatable runs do not enter it */
  CHECK_EQUAL(aclpy_executor_destroy(second), 0);
  CHECK_EQUAL(aclpy_executor_destroy(third), 0);
  tear_down(&s);
}

static void *fill_own_cache(void *arg) {
  enum { LIMIT = 100, EVICTED = 30 };
  CHECK_EQUAL(aclpy_context_set_current(*(aclpy_handle *)arg), 0);
  struct setup s = set_up(0, 0, 1000);
  aclpy_set_vendor_cache(1, LIMIT);
  aclpy_handle plans[LIMIT + 1];
  for (int i = 0; i <= LIMIT; i++) {
    plans[i] = make_plan(0, ACLPY_PLAN_VENDOR_CACHEABLE, 10);
    if (i == LIMIT) { /* refresh the oldest before the cache overflows */
      aclpy_handle again = aclpy_executor_new(plans[0], s.in, s.out, 0, 0);
      CHECK_EQUAL(hit(again), 1);
      CHECK_EQUAL(aclpy_executor_destroy(again), 0);
    }
    CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plans[i], s.in, s.out, 0, 0), s.stream), 0);
  }
  int hits = 0;
  for (int i = 0; i <= LIMIT; i++) {
    aclpy_handle executor = aclpy_executor_new(plans[i], s.in, s.out, 0, 0);
    if (i == 0 || i > EVICTED) CHECK_EQUAL(hit(executor), 1);
    hits += hit(executor);
    CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
    CHECK_EQUAL(aclpy_plan_release(plans[i]), 0);
  }
  CHECK_EQUAL(hits, LIMIT + 1 - EVICTED);
  aclpy_set_vendor_cache(1, -1);
  tear_down(&s);
  return NULL;
}

static void the_vendor_cache_evicts_the_least_recent(void) {
  aclpy_handle context = 0;
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  join_thread(start_thread(fill_own_cache, &context)); /* a thread of its own begins with an empty cache */
}

/* ---- the pool ---- */

enum { ROWS = 4096, BIG = ROWS * N };
static _Atomic int64_t rows_done[2];

static void rows_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  float *own = scratch;
  const float *a = (const float *)args->addr[0];
  float *out = (float *)args->addr[1];
  CHECK(pass == 0 || atomic_load(&rows_done[0]) % ROWS == 0); /* a barrier lies between the passes */
  for (int64_t row = begin; row < end; row++) {
    for (int i = 0; i < N; i++) own[i] = a[row * N + i] * 2;
    for (int i = 0; i < N; i++) out[row * N + i] = pass == 0 ? own[i] : out[row * N + i] + own[i];
  }
  if (pass == 0 && args->params[0] == 1) atomic_fetch_add(&rows_done[0], end - begin);
}

static aclpy_handle big_plan(int64_t checked) {
  static aclpy_slot_desc slots[2] = {{"self", 0, BIG * 4, 0, NULL}, {"out", 0, BIG * 4, ACLPY_SLOT_WRITTEN, NULL}};
  aclpy_step_desc step = {.run = rows_run,
                          .shape = {.passes = 2,
                                    .items = {ROWS, ROWS},
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

/* ---- speed, printed ---- */

static void empty_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)args, (void)pass, (void)begin, (void)end, (void)scratch;
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void costs(void) {
  enum { ROUNDS = SANITIZED ? 2000 : 300000 };
  struct setup s = set_up(0, 0, 1000);
  aclpy_step_desc step = kernel_step(0, 1, 100);
  step.run = empty_run;
  aclpy_plan_desc desc = {.op = op_id,
                          .flags = ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE,
                          .n_slots = 2,
                          .slots = two_slots,
                          .n_steps = 1,
                          .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
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
  desc.flags = ACLPY_PLAN_REPEATABLE;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
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
  if (getenv("ACLNN_PY_DEVICES") == NULL) { /* settings are read when the program starts */
    setenv("ACLNN_PY_DEVICES", "2", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  op_id = aclpy_operator_id("aclnnFake");
  other_op = aclpy_operator_id("aclnnFakeOther");
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(small_plans_run_on_the_caller);
  RUN(small_plans_and_quiet_streams_say_so);
  RUN(a_failure_that_nobody_has_seen_is_not_quiet);
  RUN(nothing_runs_inline_behind_a_parked_task);
  RUN(memory_and_objects_may_go_while_queued);
  RUN(calls_run_on_the_worker_and_may_fail);
  RUN(empty_plans_launch_nothing);
  RUN(phase2_refuses_in_order);
  RUN(streams_of_other_contexts_are_refused);
  RUN(hazards_are_refused);
  RUN(the_strictness_switch_keeps_memory_safe);
  RUN(wrong_memory_is_refused);
  RUN(executors_check_their_tensors);
  RUN(bad_plans_are_refused);
  RUN(first_runs_capture_marked_slots_only);
  RUN(repeatable_runs_read_every_address);
  RUN(repeatable_is_refused_where_the_vendor_refuses);
  RUN(completed_calls_hit_the_vendor_cache);
  RUN(repeatable_executors_leave_the_vendor_cache);
  RUN(the_vendor_cache_evicts_the_least_recent);
  RUN(large_kernels_share_the_pool);
  RUN(one_thread_wins_an_executor);
  RUN(costs);
  CHECK_EQUAL(aclpy_reset_device_force(0), 0);
  CHECK_EQUAL(aclpy_live_count("executor"), 0);
  CHECK_EQUAL(aclpy_live_count("tensor"), 0);
  CHECK_EQUAL(aclpy_live_count("plan"), 0);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  return 0;
}
