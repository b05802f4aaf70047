/* SPDX-License-Identifier: Apache-2.0
 * What the harnesses of phase 2 share: a fake operator, its plans and tensors, and how such a harness begins and ends.
 */
#ifndef ACLPY_TESTS_EXECUTE_SUPPORT_H
#define ACLPY_TESTS_EXECUTE_SUPPORT_H

#include <stdatomic.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

/* ---- a fake operator: out[i] = a[i] + param, one step through the workspace when it has two ---- */

static atomic_int runs;
static atomic_uintptr_t ran_on; /* the thread of the latest */

static inline void add_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass;
  const float *a = (const float *)args->addr[0];
  float *out = (float *)args->addr[1];
  for (int64_t i = begin; i < end; i++) out[i] = a[i] + (float)args->params[0];
  if (scratch != NULL) memset(scratch, 0x5a, 64);
  atomic_store(&ran_on, (uintptr_t)pthread_self());
  atomic_fetch_add(&runs, 1);
}

static inline int32_t call_run(uint64_t token, unsigned char *const *addr) {
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

static inline aclpy_step_desc kernel_step(int32_t from, int32_t to, double cost_ns) {
  return (aclpy_step_desc){
      .run = add_run,
      .shape = {.passes = 1, .items = {N}, .grain = {1}, .thread_scratch_bytes = 64, .cost_ns = cost_ns},
      .n_operands = 2,
      .operands = {{from, 0}, {to, 0}},
      .n_params = 1,
      .params = &one};
}

static inline aclpy_handle make_plan(uint64_t workspace, uint32_t flags, double cost_ns) {
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

/* A plan of one small step. */
static inline aclpy_handle plan_of(aclpy_kernel_run run, uint32_t flags) {
  aclpy_step_desc step = kernel_step(0, 1, 100);
  step.run = run;
  aclpy_plan_desc desc = {.op = op_id, .flags = flags, .n_slots = 2, .slots = two_slots, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static inline void empty_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)args, (void)pass, (void)begin, (void)end, (void)scratch;
}

static inline aclpy_handle tensor_at(uintptr_t address) {
  const int64_t dims[1] = {N};
  aclpy_handle tensor = 0;
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, address, &tensor, NULL), 0);
  return tensor;
}

static inline uintptr_t new_floats(float first) {
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &address), 0);
  for (int i = 0; i < N; i++) ((float *)address)[i] = first + (float)i;
  return address;
}

static inline struct setup set_up(uint64_t workspace, uint32_t flags, double cost_ns) {
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

static inline void tear_down(struct setup *s) {
  CHECK_EQUAL(aclpy_stream_destroy(0, s->stream), 0);
  CHECK_EQUAL(aclpy_plan_release(s->plan), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(s->in), 0);
  CHECK_EQUAL(aclpy_tensor_destroy(s->out), 0);
  CHECK_EQUAL(aclpy_free(s->in_address), 0);
  CHECK_EQUAL(aclpy_free(s->out_address), 0);
  CHECK_EQUAL(aclpy_free(s->workspace), 0);
}

/* Streams made with an explicit context are everybody's. */
static inline aclpy_handle free_standing(aclpy_handle like) {
  aclpy_handle context = 0, stream = 0;
  CHECK_EQUAL(aclpy_stream_context(like, &context), 0);
  CHECK_EQUAL(aclpy_stream_create(context, 0, 0, &stream), 0);
  return stream;
}

static inline aclpy_handle phase1(const struct setup *s) {
  aclpy_handle executor = aclpy_executor_new(s->plan, s->in, s->out, 0, 0);
  CHECK(executor != 0);
  return executor;
}

static inline float first_out(const struct setup *s) { return ((const float *)s->out_address)[0]; }

static inline void begin_harness(char **argv) {
  if (getenv("ACLNN_PY_DEVICES") == NULL) { /* settings are read when the program starts */
    setenv("ACLNN_PY_DEVICES", "2", 1);
    execv("/proc/self/exe", argv);
    exit(1);
  }
  op_id = aclpy_operator_id("aclnnFake");
  other_op = aclpy_operator_id("aclnnFakeOther");
  CHECK_EQUAL(aclpy_set_device(0), 0);
}

/* Nothing is left. */
static inline void end_harness(void) {
  CHECK_EQUAL(aclpy_reset_device_force(0), 0);
  CHECK_EQUAL(aclpy_live_count("executor"), 0);
  CHECK_EQUAL(aclpy_live_count("tensor"), 0);
  CHECK_EQUAL(aclpy_live_count("plan"), 0);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
}

#endif
