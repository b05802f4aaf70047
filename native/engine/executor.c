/* SPDX-License-Identifier: Apache-2.0
 * Making, changing and destroying executors; running them is in execute.c.
 */
#include "executor.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "message.h"
#include "operator.h"
#include "thread.h"
#include "vendor_cache.h"

static void free_(struct eng_executor *executor, int32_t bound) {
  for (int32_t i = 0; i < bound; i++) {
    if (executor->binding[i].tensor != NULL) eng_release(&executor->binding[i].tensor->head);
  }
  eng_release(&executor->plan->head);
  free(executor);
}

void eng_executor_dispose(void *object) {
  struct eng_executor *executor = object;
  free_(executor, executor->plan->n_slots);
}

static int32_t no_memory_(const char *function) {
  return aclpy_fail(ACLPY_ACLNN_ERR_INNER_CREATE_EXECUTOR, function, "", "memory for the executor",
                    "free memory and try again", "no memory for an executor");
}

/* The address of a live tensor, without a reference: enough for who never asks again. */
static bool read_address_(aclpy_handle tensor, uintptr_t *address) {
  struct eng_spot spot;
  if (!eng_handle_spot(ENG_TENSOR, tensor, &spot) || !eng_spot_lives(&spot)) return false;
  *address = (uintptr_t)atomic_load_explicit(&spot.slot->note, memory_order_acquire);
  return eng_spot_lives(&spot);
}

static int32_t bind_(struct eng_executor *executor, const struct eng_plan *plan, int32_t slot, aclpy_handle handle) {
  struct eng_binding *binding = &executor->binding[slot];
  const uint32_t flags = plan->slots[slot].flags;
  binding->tensor = NULL;
  binding->borrowed = 0;
  binding->captured = 0;
  if (handle == 0 && (flags & ACLPY_SLOT_UNUSED) != 0) return ACLPY_ACL_SUCCESS;
  const bool once = executor->cache_hit || (flags & ACLPY_SLOT_CAPTURED) != 0;
  if (once && read_address_(handle, &binding->captured)) {
    if (!executor->cache_hit) binding->borrowed = handle; /* it may become repeatable */
    return ACLPY_ACL_SUCCESS;
  }
  binding->tensor = eng_handle_acquire(ENG_TENSOR, handle);
  if (binding->tensor == NULL) return eng_tensor_refuse(handle, eng_operator_name(plan->op), plan->slots[slot].name);
  binding->captured = eng_tensor_address(binding->tensor);
  return ACLPY_ACL_SUCCESS;
}

int32_t eng_executor_make(struct eng_plan *plan, const aclpy_handle *tensors, aclpy_handle *handle) {
  const char *function = eng_operator_name(plan->op);
  struct eng_executor *executor =
      eng_object_alloc(sizeof(*executor) + (size_t)plan->n_slots * sizeof(struct eng_binding));
  if (executor == NULL) {
    eng_release(&plan->head);
    return no_memory_(function);
  }
  executor->plan = plan;
  atomic_init(&executor->repeatable, false);
  atomic_init(&executor->running, false);
  executor->cache_hit = (plan->flags & ACLPY_PLAN_VENDOR_CACHEABLE) != 0 && eng_vendor_cache_has(plan->handle);
  for (int32_t slot = 0; slot < plan->n_slots; slot++) {
    int32_t status = bind_(executor, plan, slot, tensors[slot]);
    if (status != ACLPY_ACL_SUCCESS) {
      free_(executor, slot);
      return status;
    }
  }
  if (!eng_handle_open(ENG_EXECUTOR, &executor->head, &executor->handle)) {
    free_(executor, plan->n_slots);
    return no_memory_(function);
  }
  *handle = executor->handle;
  eng_self()->last_executor = executor->handle;
  return ACLPY_ACL_SUCCESS;
}

static struct eng_plan *find_plan_(aclpy_handle handle, int32_t n, bool exact, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped("phase 1");
    return NULL;
  }
  struct eng_plan *plan = eng_handle_acquire(ENG_PLAN, handle);
  if (plan == NULL) {
    *status = aclpy_fail(ACLPY_ACLNN_ERR_INNER, "phase 1", "plan", "a live plan", "plan again",
                         "plan 0x%" PRIx64 ", %s", handle, eng_handle_past_text(ENG_PLAN, handle));
    return NULL;
  }
  if (plan->n_slots == n || (!exact && plan->n_slots < n)) return plan;
  *status =
      aclpy_fail(ACLPY_ACLNN_ERR_INNER, eng_operator_name(plan->op), "tensors", "one tensor for each slot of the plan",
                 "this is a fault of the planner", "%" PRId32 " for %" PRId32 " slots", n, plan->n_slots);
  eng_release(&plan->head);
  return NULL;
}

int32_t aclpy_executor_create(aclpy_handle plan, const aclpy_handle *tensors, int32_t n, aclpy_handle *executor) {
  if (executor == NULL || (n > 0 && tensors == NULL)) {
    return eng_fail_null("phase 1", executor == NULL ? "executor" : "tensors");
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_plan *found = find_plan_(plan, n, true, &status);
  return found == NULL ? status : eng_executor_make(found, tensors, executor);
}

aclpy_handle aclpy_executor_new(aclpy_handle plan, aclpy_handle t0, aclpy_handle t1, aclpy_handle t2, aclpy_handle t3) {
  const aclpy_handle tensors[4] = {t0, t1, t2, t3};
  int32_t status = ACLPY_ACL_SUCCESS;
  aclpy_handle executor = 0;
  struct eng_plan *found = find_plan_(plan, 4, false, &status);
  if (found == NULL || eng_executor_make(found, tensors, &executor) != ACLPY_ACL_SUCCESS) return 0;
  return executor;
}

/* The executor with a reference; NULL handles give 561103 and unknown ones 561000. */
static struct eng_executor *find_(aclpy_handle handle, const char *function, int32_t *status) {
  struct eng_executor *executor = NULL;
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
  } else if (handle == 0) {
    eng_message_code_next(ENG_MESSAGE_NULL);
    *status = aclpy_fail(ACLPY_ACLNN_ERR_INNER_NULLPTR, function, "executor", "an executor",
                         "pass what phase 1 returned", "NULL");
  } else {
    executor = eng_handle_acquire(ENG_EXECUTOR, handle);
    if (executor == NULL) {
      *status = aclpy_fail(ACLPY_ACLNN_ERR_INNER, function, "executor", "a live executor", "pass what phase 1 returned",
                           "executor 0x%" PRIx64 ", %s", handle, eng_handle_past_text(ENG_EXECUTOR, handle));
    }
  }
  return executor;
}

/* Runs after the first read addresses from the tensors. A run that has begun meanwhile is one-shot and reads none. */
static int32_t keep_borrowed_(struct eng_executor *executor, const char *function) {
  for (int32_t slot = 0; slot < executor->plan->n_slots; slot++) {
    struct eng_binding *binding = &executor->binding[slot];
    if (binding->borrowed == 0) continue;
    binding->tensor = eng_handle_acquire(ENG_TENSOR, binding->borrowed);
    if (binding->tensor == NULL) {
      return eng_tensor_refuse(binding->borrowed, function, executor->plan->slots[slot].name);
    }
    binding->borrowed = 0;
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t make_repeatable_(struct eng_executor *executor, const char *function) {
  const char *why = NULL;
  const char *hint = "use the executor once and plan again for the next run";
  if (executor->cache_hit) {
    why = "an executor from the cache: this thread has completed the same call before";
    hint = "make the first executor repeatable before it runs, or set DISABLE_L2_CACHE";
  } else if ((executor->plan->flags & ACLPY_PLAN_REPEATABLE) == 0) {
    why = executor->plan->refusal != NULL ? executor->plan->refusal : "a plan that cannot be repeated";
  } else if (!atomic_load(&executor->repeatable) && eng_self()->last_executor != executor->handle) {
    why = "an executor that is not the one of this thread's latest phase 1";
    hint = "call it right after phase 1, in the same thread";
  }
  if (why != NULL) {
    return aclpy_fail(ACLPY_ACLNN_ERR_INNER, function, "executor", "an executor that can be made repeatable", hint,
                      "%s", why);
  }
  int32_t status = keep_borrowed_(executor, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  atomic_store(&executor->repeatable, true);
  eng_handle_share(&executor->head); /* it can run twice at once */
  eng_vendor_cache_remove(executor->plan->handle);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_executor_set_repeatable(aclpy_handle handle) {
  static const char function[] = "aclSetAclOpExecutorRepeatable";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_executor *executor = find_(handle, function, &status);
  if (executor == NULL) return status;
  status = make_repeatable_(executor, function);
  eng_release(&executor->head);
  return status;
}

int32_t aclpy_executor_destroy(aclpy_handle handle) {
  static const char function[] = "aclDestroyAclOpExecutor";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_executor *executor = find_(handle, function, &status);
  if (executor == NULL) return status;
  if (eng_handle_close(ENG_EXECUTOR, handle, false) != NULL) eng_release(&executor->head);
  eng_release(&executor->head);
  return ACLPY_ACL_SUCCESS;
}

void aclpy_executor_discard(aclpy_handle handle) {
  struct eng_executor *executor = eng_handle_close(ENG_EXECUTOR, handle, false);
  if (executor != NULL) eng_release(&executor->head);
}

int32_t aclpy_executor_is_cache_hit(aclpy_handle handle, int32_t *hit) {
  static const char function[] = "Executor.is_cache_hit";
  if (hit == NULL) return eng_fail_null(function, "hit");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_executor *executor = find_(handle, function, &status);
  if (executor == NULL) return status;
  *hit = executor->cache_hit ? 1 : 0;
  eng_release(&executor->head);
  return ACLPY_ACL_SUCCESS;
}

/* `index` is ignored, as it is for every hand-written composite operator. */
int32_t aclpy_executor_set_address(const char *function, aclpy_handle executor, size_t index, aclpy_handle tensor,
                                   uintptr_t address) {
  (void)index;
  if (eng_stopping()) return eng_fail_stopped(function);
  if (tensor == 0) {
    eng_message_code_next(ENG_MESSAGE_NULL);
    return aclpy_fail(ACLPY_ACLNN_ERR_INNER_NULLPTR, function, "tensor", "a tensor", "pass a tensor of phase 1",
                      "NULL");
  }
  struct eng_tensor *found = eng_handle_acquire(ENG_TENSOR, tensor);
  if (found == NULL) return eng_tensor_refuse(tensor, function, "tensor");
  eng_tensor_place(found, address); /* kept even when the executor turns out to be none */
  eng_release(&found->head);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_executor *known = find_(executor, function, &status);
  if (known != NULL) eng_release(&known->head);
  return status;
}
