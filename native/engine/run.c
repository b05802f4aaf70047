/* SPDX-License-Identifier: Apache-2.0
 * Running the steps of a plan on the thread that has the stream's turn.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "chain.h"
#include "failure.h"
#include "launch.h"
#include "operator.h"
#include "plan.h"
#include "pool.h"
#include "stream.h"

static int32_t no_scratch_(const struct eng_plan *plan, int64_t bytes) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION, eng_operator_name(plan->op), "",
                    "memory for a kernel's scratch", "free memory and run it again", "no memory for %" PRId64 " bytes",
                    bytes);
}

static int32_t run_kernel_(const struct eng_plan *plan, const aclpy_step_desc *step, struct eng_stream *stream,
                           aclpy_kernel_args *args) {
  const aclpy_kernel_shape *shape = &step->shape;
  void *shared;
  if (!eng_scratch_get(&stream->scratch, (size_t)shape->scratch_bytes, &shared)) {
    return no_scratch_(plan, shape->scratch_bytes);
  }
  args->scratch = shared;
  args->params = step->params;
  const int32_t rounds = shape->rounds > 1 ? shape->rounds : 1;
  for (int32_t i = 0; i < shape->passes * rounds; i++) {
    const int32_t pass = i % shape->passes;
    const struct eng_load load = {shape->items[pass], shape->grain[pass], shape->at_once, shape->thread_scratch_bytes,
                                  shape->cost_ns / rounds};
    if (!eng_pool_run(step->run, args, i, &load)) {
      return no_scratch_(plan, shape->thread_scratch_bytes);
    }
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t call_(const struct eng_plan *plan, const aclpy_step_desc *step, aclpy_kernel_args *args) {
  const struct eng_step_place place = {.plan = plan, .step = step}, *outer = eng_self()->launching_step;
  eng_self()->launching_step = &place;
  int32_t status = step->call(step->call_token, args->addr);
  eng_self()->launching_step = outer;
  return status;
}

static int32_t run_call_(const struct eng_plan *plan, const aclpy_step_desc *step, struct eng_stream *stream,
                         aclpy_kernel_args *args) {
  int32_t status;
  const struct eng_prepared *launch = eng_launch_find(plan, step, stream);
  if (launch == NULL) aclpy_error_clear();
  if (!eng_worker_enter_foreign()) {
    status = eng_fail_stopped(eng_operator_name(plan->op));
  } else if (launch == NULL || !eng_launch_run(launch, stream, args->addr, &status)) {
    status = call_(plan, step, args);
  }
  eng_worker_leave_foreign();
  if (status != ACLPY_ACL_SUCCESS) eng_self()->error.token = step->call_token; /* Python finds its exception by it */
  return status;
}

static int32_t run_step_(const struct eng_plan *plan, const aclpy_step_desc *step, struct eng_stream *stream,
                         const uintptr_t *address, uintptr_t workspace) {
  aclpy_kernel_args args = {.parts = 1};
  for (int32_t operand = 0; operand < step->n_operands; operand++) {
    const aclpy_operand *place = &step->operands[operand];
    uintptr_t base = place->base == ACLPY_BASE_WORKSPACE ? workspace : address[place->base];
    args.addr[operand] = (unsigned char *)(base + (uintptr_t)place->byte_offset);
  }
  return step->run != NULL ? run_kernel_(plan, step, stream, &args) : run_call_(plan, step, stream, &args);
}

static int32_t run_chain_(const struct eng_plan *plan, const struct eng_chain *chain, struct eng_stream *stream,
                          const uintptr_t *address, uintptr_t workspace) {
  if (chain->desc.whole != NULL) return run_step_(plan, chain->desc.whole, stream, address, workspace);
  if (eng_chain_run(plan, chain, address, workspace)) return ACLPY_ACL_SUCCESS;
  return no_scratch_(plan, chain->thread_bytes);
}

int32_t eng_plan_run(const struct eng_plan *plan, struct eng_stream *stream, const uintptr_t *address,
                     uintptr_t workspace) {
  const struct eng_chain *chain = plan->chains, *chains_end = chain + plan->n_chains;
  for (int32_t i = 0; i < plan->n_steps; i++) {
    const aclpy_step_desc *step = &plan->steps[i];
    if (i > 0 && eng_stopping()) return eng_fail_stopped(eng_operator_name(plan->op));
    if (chain < chains_end && chain->desc.first_step == i) {
      const struct eng_chain *here = chain++;
      if (eng_chain_apart(plan, here, address)) {
        int32_t status = run_chain_(plan, here, stream, address, workspace);
        if (status != ACLPY_ACL_SUCCESS) return status;
        i += here->desc.n_steps - 1;
        continue;
      }
    }
    int32_t status = run_step_(plan, step, stream, address, workspace);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  return ACLPY_ACL_SUCCESS;
}
