/* SPDX-License-Identifier: Apache-2.0
 * Copying and checking what the planner hands over.
 */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "chain.h"
#include "failure.h"
#include "fault.h"
#include "launch.h"
#include "operator.h"
#include "park.h"
#include "retired.h"

enum { MOST_SLOTS = 4096, MOST_STEPS = 4096, INLINE_NS = 10000, INLINE_HALVED_NS = 20000, INLINE_ALONE_NS = 40000 };

static int32_t refuse_(const aclpy_plan_desc *desc, const char *what, int64_t number) {
  return aclpy_fail(ACLPY_ACLNN_ERR_INNER, eng_operator_name(desc->op), "plan", "a plan that makes sense",
                    "this is a fault of the planner", "%s %" PRId64, what, number);
}

static bool shape_fits_(const aclpy_kernel_shape *shape) {
  if (shape->passes < 0 || shape->passes > ACLPY_MAX_PASSES) return false;
  if (shape->rounds < 0 || shape->rounds > INT32_MAX / ACLPY_MAX_PASSES) return false;
  if (shape->scratch_bytes < 0 || shape->thread_scratch_bytes < 0) return false;
  for (int32_t pass = 0; pass < shape->passes; pass++) {
    if (shape->items[pass] < 0) return false;
  }
  return true;
}

static int32_t check_step_(const aclpy_plan_desc *desc, const aclpy_step_desc *step, int32_t index) {
  if ((step->run == NULL) == (step->call == NULL))
    return refuse_(desc, "neither or both of kernel and call in step", index);
  if (step->n_operands < 0 || step->n_operands > ACLPY_MAX_ARGS)
    return refuse_(desc, "operand count", step->n_operands);
  for (int32_t i = 0; i < step->n_operands; i++) {
    int32_t base = step->operands[i].base;
    if (base < ACLPY_BASE_WORKSPACE || base >= desc->n_slots) return refuse_(desc, "operand base", base);
  }
  if (step->n_params < 0 || step->n_params > ACLPY_MAX_PARAMS || (step->n_params > 0 && step->params == NULL)) {
    return refuse_(desc, "parameter count", step->n_params);
  }
  if (step->run != NULL && !shape_fits_(&step->shape)) return refuse_(desc, "kernel shape of step", index);
  return ACLPY_ACL_SUCCESS;
}

static int32_t check_(const aclpy_plan_desc *desc) {
  if (desc->n_slots < 0 || desc->n_slots > MOST_SLOTS || (desc->n_slots > 0 && desc->slots == NULL)) {
    return refuse_(desc, "slot count", desc->n_slots);
  }
  if (desc->n_steps < 0 || desc->n_steps > MOST_STEPS || (desc->n_steps > 0 && desc->steps == NULL)) {
    return refuse_(desc, "step count", desc->n_steps);
  }
  if (desc->n_hazards < 0 || desc->n_hazards > MOST_SLOTS || (desc->n_hazards > 0 && desc->hazards == NULL)) {
    return refuse_(desc, "hazard count", desc->n_hazards);
  }
  for (int32_t i = 0; i < desc->n_hazards; i++) {
    int32_t read = desc->hazards[i].read_slot, write = desc->hazards[i].write_slot;
    if (read < 0 || read >= desc->n_slots || write < 0 || write >= desc->n_slots) return refuse_(desc, "hazard", i);
  }
  for (int32_t i = 0; i < desc->n_steps; i++) {
    int32_t status = check_step_(desc, &desc->steps[i], i);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  if (desc->n_chains < 0 || desc->n_chains > MOST_STEPS || (desc->n_chains > 0 && desc->chains == NULL)) {
    return refuse_(desc, "chain count", desc->n_chains);
  }
  for (int32_t i = 0; i < desc->n_chains; i++) {
    const char *fault = eng_chain_fault(desc, &desc->chains[i]);
    if (fault != NULL) return refuse_(desc, fault, i);
    const aclpy_step_desc *whole = desc->chains[i].whole;
    int32_t status = whole == NULL ? ACLPY_ACL_SUCCESS : check_step_(desc, whole, desc->chains[i].first_step);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  return ACLPY_ACL_SUCCESS;
}

static size_t text_bytes_(const char *text) { return text == NULL ? 1 : strlen(text) + 1; }

/* A copy of the text, or of "" for NULL, where `to` stands; moves `to` behind it. */
static const char *copy_text_(char **to, const char *text) {
  char *copied = *to;
  memcpy(copied, text == NULL ? "" : text, text_bytes_(text));
  *to += text_bytes_(text);
  return copied;
}

static bool copy_texts_(struct eng_plan *plan, const aclpy_plan_desc *desc) {
  size_t bytes = text_bytes_(desc->refusal);
  for (int32_t i = 0; i < desc->n_slots; i++) {
    bytes += text_bytes_(desc->slots[i].name) + text_bytes_(desc->slots[i].about);
  }
  plan->texts = eng_object_alloc(bytes);
  if (plan->texts == NULL) return false;
  char *to = plan->texts;
  for (int32_t i = 0; i < desc->n_slots; i++) {
    plan->slots[i].name = copy_text_(&to, desc->slots[i].name);
    plan->slots[i].about = copy_text_(&to, desc->slots[i].about);
  }
  if (desc->refusal != NULL) plan->refusal = copy_text_(&to, desc->refusal);
  return true;
}

static bool copy_params_(struct eng_plan *plan) {
  size_t count = 0;
  for (int32_t i = 0; i < plan->n_steps; i++) count += (size_t)plan->steps[i].n_params;
  plan->params = eng_object_alloc((count + 1) * sizeof(int64_t));
  if (plan->params == NULL) return false;
  int64_t *to = plan->params;
  for (int32_t i = 0; i < plan->n_steps; i++) {
    aclpy_step_desc *step = &plan->steps[i];
    if (step->n_params > 0) memcpy(to, step->params, (size_t)step->n_params * sizeof(int64_t));
    step->params = to;
    to += step->n_params;
  }
  return true;
}

/* A copy of `count` entries; an array of none is a valid pointer, too. */
static void *copy_(const void *from, int32_t count, size_t size) {
  void *to = eng_object_alloc((size_t)count * size + 1);
  if (to != NULL && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

static bool copy_chains_(struct eng_plan *plan, const aclpy_plan_desc *desc) {
  if (desc->n_chains == 0) return true;
  plan->chains = eng_object_zalloc((size_t)desc->n_chains * sizeof(*plan->chains));
  if (plan->chains == NULL) return false;
  for (; plan->n_chains < desc->n_chains; plan->n_chains++) {
    struct eng_chain *chain = &plan->chains[plan->n_chains];
    if (eng_chain_copy(chain, &desc->chains[plan->n_chains], plan->steps)) continue;
    eng_chain_free(chain);
    return false;
  }
  return true;
}

static void free_parts_(struct eng_plan *plan) {
  for (int32_t i = 0; i < plan->n_chains; i++) eng_chain_free(&plan->chains[i]);
  free(plan->chains);
  eng_launches_free(plan);
  free(plan->slots);
  free(plan->steps);
  free(plan->hazards);
  free(plan->texts);
  free(plan->params);
  free(plan->retired);
  free(plan);
}

static struct eng_plan *copy_plan_(const aclpy_plan_desc *desc) {
  struct eng_plan *plan = eng_object_zalloc(sizeof(*plan));
  if (plan == NULL) return NULL;
  plan->op = desc->op;
  plan->flags = desc->flags;
  plan->workspace_bytes = desc->workspace_bytes;
  plan->n_slots = desc->n_slots;
  plan->n_steps = desc->n_steps;
  plan->n_hazards = desc->n_hazards;
  plan->slots = copy_(desc->slots, desc->n_slots, sizeof(*desc->slots));
  plan->steps = copy_(desc->steps, desc->n_steps, sizeof(*desc->steps));
  plan->hazards = copy_(desc->hazards, desc->n_hazards, sizeof(*desc->hazards));
  if (plan->slots == NULL || plan->steps == NULL || plan->hazards == NULL || !copy_texts_(plan, desc) ||
      !copy_params_(plan) || !copy_chains_(plan, desc) || !eng_retired_prepare(desc, &plan->retired) ||
      !eng_launches_prepare(plan)) {
    free_parts_(plan);
    return NULL;
  }
  return plan;
}

static void judge_size_(struct eng_plan *plan) {
  double cost_ns = 0;
  for (int32_t i = 0; i < plan->n_steps; i++) {
    if (plan->steps[i].run == NULL) plan->calls = true;
    cost_ns += plan->steps[i].shape.cost_ns;
  }
  plan->small = !plan->calls && cost_ns <= INLINE_NS; /* a cost that is not a number counts as large */
  plan->halved = !plan->calls && cost_ns <= INLINE_HALVED_NS;
  plan->brief = !plan->calls && cost_ns <= INLINE_ALONE_NS;
}

int32_t aclpy_plan_create(const aclpy_plan_desc *desc, aclpy_handle *handle) {
  if (desc == NULL || handle == NULL) return eng_fail_null("aclpy_plan_create", desc == NULL ? "desc" : "plan");
  const char *function = eng_operator_name(desc->op);
  if (eng_stopping()) return eng_fail_stopped(function);
  int32_t status = check_(desc);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_plan *plan = copy_plan_(desc);
  if (plan != NULL) {
    judge_size_(plan);
    if (eng_handle_open(ENG_PLAN, &plan->head, &plan->handle)) {
      *handle = plan->handle;
      return ACLPY_ACL_SUCCESS;
    }
    free_parts_(plan);
  }
  return aclpy_fail(ACLPY_ACLNN_ERR_INNER_CREATE_EXECUTOR, function, "", "memory for the plan",
                    "free memory and try again", "no memory for a plan of %" PRId32 " steps", desc->n_steps);
}

int32_t aclpy_plan_is_small(aclpy_handle handle) {
  struct eng_plan *plan = eng_handle_acquire(ENG_PLAN, handle);
  if (plan == NULL) return 0;
  int32_t small = plan->small;
  eng_release(&plan->head);
  return small;
}

void eng_plan_dispose(void *object) {
  struct eng_plan *plan = object;
  eng_retire(plan->retired);
  plan->retired = NULL;
  free_parts_(plan);
}

int32_t aclpy_plan_release(aclpy_handle handle) {
  struct eng_plan *plan = eng_handle_close(ENG_PLAN, handle, false);
  if (plan == NULL) {
    return aclpy_fail(ACLPY_ACLNN_ERR_INNER, "aclpy_plan_release", "plan", "a live plan", "release a plan once",
                      "plan 0x%" PRIx64 ", %s", handle, eng_handle_past_text(ENG_PLAN, handle));
  }
  eng_release(&plan->head);
  return ACLPY_ACL_SUCCESS;
}
