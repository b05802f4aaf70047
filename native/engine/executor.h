/* SPDX-License-Identifier: Apache-2.0
 * Executors: a plan with the tensors of one phase 1.
 */
#ifndef ACLPY_ENGINE_EXECUTOR_H
#define ACLPY_ENGINE_EXECUTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"
#include "plan.h"
#include "tensor.h"

struct eng_binding {
  struct eng_tensor *tensor; /* NULL for unused slots, and for those that need only `captured` */
  aclpy_handle borrowed;     /* the tensor of such a slot, if it may still be needed: 0, or without a reference */
  uintptr_t captured;        /* its address in phase 1 */
};

struct eng_executor {
  struct eng_object head;
  aclpy_handle handle;
  struct eng_plan *plan;
  atomic_bool repeatable;
  atomic_bool running; /* phase 2 of a one-shot executor has begun */
  bool cache_hit;
  struct eng_binding binding[]; /* plan->n_slots */
};

/* An executor of `plan`, whose reference it takes over, for as many tensors as the plan has slots. */
int32_t eng_executor_make(struct eng_plan *plan, const aclpy_handle *tensors, aclpy_handle *executor);

#endif
