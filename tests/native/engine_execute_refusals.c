/* SPDX-License-Identifier: Apache-2.0
 * Phase 2: what is refused, in which order, and that nothing is lost.
 */
#include "execute_support.h"

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
  step.shape.rounds = -1;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  step = kernel_step(0, 1, 1);
  step.n_params = ACLPY_MAX_PARAMS + 1;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 561000);
  CHECK_EQUAL(plan, 5);
  CHECK_EQUAL(aclpy_plan_release(plan), 561000);
  CHECK_EQUAL(aclpy_operator_id("aclnnFake"), op_id);
  CHECK(aclpy_operator_id("aclnnThird") > other_op);
}

int main(int argc, char **argv) {
  (void)argc;
  begin_harness(argv);
  RUN(phase2_refuses_in_order);
  RUN(streams_of_other_contexts_are_refused);
  RUN(hazards_are_refused);
  RUN(the_strictness_switch_keeps_memory_safe);
  RUN(wrong_memory_is_refused);
  RUN(executors_check_their_tensors);
  RUN(bad_plans_are_refused);
  end_harness();
  return 0;
}
