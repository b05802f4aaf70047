/* SPDX-License-Identifier: Apache-2.0
 * A stack of them without a lock, which a fork could leave held: pushed one by one, taken as a whole.
 */
#include "retired.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "fault.h"

struct aclpy_retired {
  aclpy_retired *next;
  int32_t n, told;
  uint64_t tokens[];
};

static _Atomic(aclpy_retired *) newest_;

bool eng_retired_prepare(const aclpy_plan_desc *desc, aclpy_retired **made) {
  int32_t n = 0;
  for (int32_t i = 0; i < desc->n_steps; i++) n += desc->steps[i].call != NULL;
  *made = NULL;
  if (n == 0) return true;
  aclpy_retired *plan = eng_object_zalloc(sizeof(*plan) + (size_t)n * sizeof(plan->tokens[0]));
  if (plan == NULL) return false;
  for (int32_t i = 0; i < desc->n_steps; i++) {
    if (desc->steps[i].call != NULL) plan->tokens[plan->n++] = desc->steps[i].call_token;
  }
  *made = plan;
  return true;
}

void eng_retire(aclpy_retired *plan) {
  if (plan == NULL) return;
  plan->next = atomic_load_explicit(&newest_, memory_order_relaxed);
  while (
      !atomic_compare_exchange_weak_explicit(&newest_, &plan->next, plan, memory_order_release, memory_order_relaxed)) {
  }
}

aclpy_retired *aclpy_retired_take(void) { return atomic_exchange_explicit(&newest_, NULL, memory_order_acquire); }

aclpy_retired *aclpy_retired_next(aclpy_retired *plans, uint64_t *token) {
  *token = 0;
  while (plans != NULL && plans->told == plans->n) {
    aclpy_retired *next = plans->next;
    free(plans);
    plans = next;
  }
  if (plans != NULL) *token = plans->tokens[plans->told++];
  return plans;
}
