/* SPDX-License-Identifier: Apache-2.0
 * Phase 2: the checks in their order, then one task into the stream.
 *
 * The vendor's own checks come first; ours follow and leave no trace when they refuse: nothing is queued, nothing is
 * written, and the executor can still be used. The task is built while checking, so an address is looked up once.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "door.h"
#include "execute.h"
#include "executor.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "offer.h"
#include "operator.h"
#include "settings.h"
#include "stream.h"
#include "text.h"
#include "vendor_cache.h"

enum { WORKSPACE_ALIGNMENT = 16 /* that of the largest element */ };

/* One call of phase 2. */
struct call_ {
  const char *function; /* the operator that was called */
  uint32_t op;
  uintptr_t workspace;
  uint64_t workspace_size;
  struct eng_executor *executor;
  const struct eng_plan *plan;
  bool repeatable;
  int32_t device; /* of the stream; -1 while the stream is in doubt */
  struct eng_task *task;
};

static int32_t refuse_consumed_(const char *function, aclpy_handle handle) {
  enum eng_past past = eng_handle_past(ENG_EXECUTOR, handle);
  const char *hint = past == ENG_PAST_CONSUMED ? "already consumed; plan again or make it repeatable"
                                               : "plan again: call phase 1 for a new executor";
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, "executor", "an executor that has not run yet", hint,
                    "executor 0x%" PRIx64 ", %s", handle, eng_handle_past_text(ENG_EXECUTOR, handle));
}

static int32_t check_operator_(const struct call_ *call) {
  if (call->op == call->plan->op || !eng_strict()) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "executor", "an executor planned by this operator",
                    "run it with the operator that planned it", "an executor of %s in a call of %s",
                    eng_operator_name(call->plan->op), call->function);
}

/* ---- ranges of memory ---- */

static void keep_(struct eng_task *task, struct eng_memory *memory) {
  eng_task_holds(task)[task->n_holds++] = (uintptr_t)memory;
}

static int32_t refuse_place_(const struct call_ *call, const char *argument, const char *what, uintptr_t address) {
  char place[256];
  eng_memory_describe(address, place, sizeof(place));
  char expected[96];
  if (call->device >= 0) {
    eng_text(expected, sizeof(expected), "an address in a live allocation of device %" PRId32, call->device);
  } else {
    eng_text(expected, sizeof(expected), "an address in a live allocation of the stream's device");
  }
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, argument, expected,
                    "allocate it with aclrtMalloc on the stream's device and keep it until the work is done", "%s %s",
                    what, address == 0 ? "NULL" : place);
}

/* The allocation of the address, if the task holds it already: tensors are often parts of one. */
static struct eng_memory *held_(struct eng_task *task, uintptr_t address) {
  const eng_hold *holds = eng_task_holds(task);
  for (uint32_t i = 0; i < task->n_holds; i++) {
    struct eng_memory *memory = (struct eng_memory *)holds[i];
    if (address - memory->base < memory->size) return memory;
  }
  return NULL;
}

/* Finds the allocation of [address, address + bytes) and lets the task hold it. */
static int32_t check_range_(const struct call_ *call, const char *argument, const char *what, uintptr_t address,
                            uint64_t bytes) {
  struct eng_memory *held = held_(call->task, address), *memory = held;
  if (memory == NULL && address != 0) memory = eng_memory_find(address);
  if (memory == NULL) return refuse_place_(call, argument, what, address);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (memory->kind != ACLPY_MEMORY_DEVICE || (call->device >= 0 && memory->device != call->device)) {
    char expected[64];
    eng_text(expected, sizeof(expected), "memory of device %" PRId32, call->device >= 0 ? call->device : 0);
    status = aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, argument, expected,
                        "copy the data to the stream's device first", "%s 0x%" PRIxPTR " in %s %" PRId32, what, address,
                        memory->kind == ACLPY_MEMORY_HOST ? "pinned host memory of device" : "memory of device",
                        memory->device);
  } else if (bytes > memory->size - (address - memory->base)) {
    status =
        aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, argument, "a range that ends inside its allocation",
                   "allocate more, or pass a smaller tensor or workspace",
                   "%s of %" PRIu64 " bytes at 0x%" PRIxPTR ", where an allocation of %zu bytes has %zu left", what,
                   bytes, address, memory->size, (size_t)(memory->size - (address - memory->base)));
  }
  if (memory == held) return status;
  if (status == ACLPY_ACL_SUCCESS) {
    keep_(call->task, memory);
  } else {
    eng_release(&memory->head);
  }
  return status;
}

static int32_t check_workspace_(const struct call_ *call) {
  uint64_t planned = call->plan->workspace_bytes;
  if (planned == 0) return ACLPY_ACL_SUCCESS;
  bool strict = eng_strict();
  if (strict && call->workspace_size < planned) {
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "workspaceSize",
                      "at least the size that phase 1 reported",
                      "allocate a workspace of that size and pass both its address and its size",
                      "%" PRIu64 " bytes, while phase 1 reported %" PRIu64, call->workspace_size, planned);
  }
  uint64_t used = strict && call->workspace_size > planned ? call->workspace_size : planned;
  int32_t status = check_range_(call, "workspace", "a workspace", call->workspace, used);
  if (status != ACLPY_ACL_SUCCESS || call->workspace % WORKSPACE_ALIGNMENT == 0) return status;
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "workspace", "an address that is a multiple of 16",
                    "pass what the allocator returned, or start at a multiple of 16 in it", "0x%" PRIxPTR,
                    call->workspace);
}

static bool overlap_(uintptr_t a_low, uintptr_t a_high, uintptr_t b_low, uintptr_t b_high) {
  return a_low < b_high && b_low < a_high;
}

/* A workspace inside a tensor would be written while the tensor is still read. */
static int32_t check_workspace_apart_(const struct call_ *call, const uintptr_t *address) {
  const struct eng_plan *plan = call->plan;
  if (plan->workspace_bytes == 0) return ACLPY_ACL_SUCCESS;
  uintptr_t low = call->workspace, high = low + (uintptr_t)plan->workspace_bytes;
  for (int32_t slot = 0; slot < plan->n_slots; slot++) {
    const aclpy_slot_desc *desc = &plan->slots[slot];
    if ((desc->flags & ACLPY_SLOT_UNUSED) != 0 || desc->high_bytes <= desc->low_bytes) continue;
    uintptr_t first = address[slot] + (uintptr_t)desc->low_bytes, end = address[slot] + (uintptr_t)desc->high_bytes;
    if (!overlap_(low, high, first, end)) continue;
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "workspace", "memory apart from every tensor",
                      "allocate the workspace by itself",
                      "[0x%" PRIxPTR ", 0x%" PRIxPTR "), which overlaps %s at [0x%" PRIxPTR ", 0x%" PRIxPTR ")", low,
                      high, desc->name, first, end);
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t check_hazards_(const struct call_ *call, const uintptr_t *address) {
  const struct eng_plan *plan = call->plan;
  if (plan->n_hazards == 0) return ACLPY_ACL_SUCCESS;
  for (int32_t i = 0; i < plan->n_hazards; i++) {
    int32_t read = plan->hazards[i].read_slot, write = plan->hazards[i].write_slot;
    const aclpy_slot_desc *r = &plan->slots[read], *w = &plan->slots[write];
    if (r->high_bytes <= r->low_bytes || w->high_bytes <= w->low_bytes) continue;
    uintptr_t r_low = address[read] + (uintptr_t)r->low_bytes, r_high = address[read] + (uintptr_t)r->high_bytes;
    uintptr_t w_low = address[write] + (uintptr_t)w->low_bytes, w_high = address[write] + (uintptr_t)w->high_bytes;
    if (r_low == w_low || !overlap_(r_low, r_high, w_low, w_high)) continue;
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, w->name,
                      "memory apart from the inputs, or exactly the same start",
                      "use a separate buffer for the result, or run in place",
                      "%s at [0x%" PRIxPTR ", 0x%" PRIxPTR ") overlaps %s at [0x%" PRIxPTR ", 0x%" PRIxPTR ")", w->name,
                      w_low, w_high, r->name, r_low, r_high);
  }
  return ACLPY_ACL_SUCCESS;
}

/* Which address counts is AscendCL's rule: a hit uses those of phase 1; a first, one-shot run uses them for slots that
 * the plan marks; everything else is read from the tensor now. */
static uintptr_t address_now_(const struct call_ *call, int32_t slot) {
  const struct eng_binding *binding = &call->executor->binding[slot];
  bool captured =
      call->executor->cache_hit || (!call->repeatable && (call->plan->slots[slot].flags & ACLPY_SLOT_CAPTURED) != 0);
  if (captured || binding->tensor == NULL) return binding->captured;
  return eng_tensor_address(binding->tensor);
}

/* An address in the middle of an element: kernels that write whole lines past the caches find no element from which
 * on they could, and another device stops there. */
static int32_t check_alignment_(const struct call_ *call, const aclpy_slot_desc *desc, uintptr_t address) {
  uintptr_t alignment = desc->flags >> ACLPY_SLOT_ALIGNMENT;
  if (alignment <= 1 || (address & (alignment - 1)) == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, desc->name,
                    "an address that is a multiple of the element size", "start the tensor at a whole element",
                    "0x%" PRIxPTR " for elements of %" PRIuPTR " bytes", address, alignment);
}

static int32_t check_tensors_(const struct call_ *call) {
  const struct eng_plan *plan = call->plan;
  uintptr_t *address = eng_task_addresses(call->task);
  for (int32_t slot = 0; slot < plan->n_slots; slot++) {
    const aclpy_slot_desc *desc = &plan->slots[slot];
    address[slot] = address_now_(call, slot);
    if ((desc->flags & ACLPY_SLOT_UNUSED) != 0 || desc->high_bytes <= desc->low_bytes) continue;
    uintptr_t first = address[slot] == 0 ? 0 : address[slot] + (uintptr_t)desc->low_bytes;
    uint64_t bytes = (uint64_t)desc->high_bytes - (uint64_t)desc->low_bytes;
    int32_t status = check_range_(call, desc->name, "a tensor's data", first, bytes);
    if (status == ACLPY_ACL_SUCCESS) status = check_alignment_(call, desc, address[slot]);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  int32_t status = check_workspace_apart_(call, address);
  return status == ACLPY_ACL_SUCCESS ? check_hazards_(call, address) : status;
}

/* ---- the stream ---- */

static int32_t wrap_stream_status_(const struct call_ *call, int32_t inner) {
  aclpy_error why = *aclpy_error_last();
  char expected[320];
  eng_text(expected, sizeof(expected), "%s", why.expected);
  return aclpy_fail(ACLPY_ACLNN_ERR_RUNTIME_ERROR, call->function, "stream", expected, why.hint,
                    "status %" PRId32 ": %s", inner, why.got);
}

void eng_execute_here(struct eng_task *task, struct eng_stream *stream) {
  int32_t status = eng_task_run(stream, task);
  /* Like any task's failure, it shows at the next synchronise. */
  if (status != ACLPY_ACL_SUCCESS) eng_stream_fail(stream, task, status);
  eng_task_let_go(task);
  eng_door_leave(stream);
}

static int32_t launch_(const struct call_ *call, struct eng_stream *stream, bool here) {
  bool run_now = false;
  struct eng_plan *plan = call->executor->plan;
  eng_retain(&plan->head); /* the queued task's */
  int32_t status = eng_stream_submit(stream, call->task, call->function, here ? &run_now : NULL);
  if (status == ACLPY_ACL_SUCCESS && !run_now) return status;
  if (run_now) {
    eng_execute_here(call->task, stream);
  } else {
    status = wrap_stream_status_(call, status);
    eng_task_let_go(call->task);
  }
  eng_release(&plan->head);
  return status;
}

/* After the tensors, whose refusal says more. */
static int32_t check_device_(const struct call_ *call) {
  bool foreign = (call->plan->flags & ACLPY_PLAN_FOREIGN) != 0;
  if (call->device < 0 || foreign == eng_device_foreign(call->device)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "executor",
                    "an executor planned for the stream's device", "plan again once the tensors have their memory",
                    "a plan for %s on a stream of device %" PRId32, foreign ? "a CUDA device" : "an emulated device",
                    call->device);
}

/* Small work may run on the calling thread. */
static bool may_run_here_(const struct eng_plan *plan) {
  return plan->small || (plan->halved && eng_offer_waits()) || (plan->brief && aclpy_thread_count() == 1);
}

static int32_t check_(const struct call_ *call) {
  int32_t status = check_workspace_(call);
  if (status == ACLPY_ACL_SUCCESS) status = check_tensors_(call);
  return status == ACLPY_ACL_SUCCESS ? check_device_(call) : status;
}

int32_t eng_execute_check(struct eng_executor *executor, uintptr_t workspace, uint64_t workspace_size, int32_t device,
                          struct eng_task *task) {
  const struct eng_plan *plan = executor->plan;
  const struct call_ call = {.function = eng_operator_name(plan->op),
                             .op = plan->op,
                             .workspace = workspace,
                             .workspace_size = workspace_size,
                             .executor = executor,
                             .plan = plan,
                             .repeatable = true,
                             .device = device,
                             .task = task};
  return check_(&call);
}

/* On an idle stream, which needs neither a lock nor a reference. */
static int32_t check_and_run_(struct call_ *call, struct eng_stream *stream) {
  call->device = stream->device;
  int32_t status = check_(call);
  if (status == ACLPY_ACL_SUCCESS) {
    eng_execute_here(call->task, stream);
  } else {
    eng_task_let_go(call->task);
    eng_door_leave(stream);
  }
  return status;
}

static int32_t check_and_launch_(struct call_ *call, aclpy_handle stream) {
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_PLAN);
  if (!eng_task_reserve(&task, call->plan->n_slots)) return eng_fail_memory(call->function, "a task");
  task.op = call->plan->op;
  task.u.plan.plan = call->executor->plan;
  task.u.plan.workspace = call->workspace;
  call->task = &task;
  bool here = may_run_here_(call->plan);
  struct eng_stream *found = here ? eng_door_enter(stream) : NULL;
  if (found != NULL) return check_and_run_(call, found);
  int32_t stream_status = ACLPY_ACL_SUCCESS;
  found = eng_stream_resolve(0, stream, call->function, &stream_status);
  call->device = found == NULL ? -1 : found->device;
  int32_t status = check_(call);
  /* The thread's last failure is the stream's: checks that pass keep none. */
  if (status == ACLPY_ACL_SUCCESS && found == NULL) status = wrap_stream_status_(call, stream_status);
  if (status == ACLPY_ACL_SUCCESS) {
    status = launch_(call, found, here);
  } else {
    eng_task_let_go(&task);
  }
  if (found != NULL) eng_release(&found->head);
  return status;
}

/* ---- the executor's life ---- */

static void note_run_(const struct call_ *call) {
  if ((call->plan->flags & ACLPY_PLAN_VENDOR_CACHEABLE) != 0 && !call->executor->cache_hit) {
    eng_vendor_cache_put(call->plan->handle);
  }
}

static int32_t check_operator_and_run_(struct call_ *call, aclpy_handle stream) {
  int32_t status = check_operator_(call);
  /* An empty plan launches nothing, so there is nothing to check either. */
  return status == ACLPY_ACL_SUCCESS && call->plan->n_steps > 0 ? check_and_launch_(call, stream) : status;
}

/* An executor that was taken: it cannot be repeated, and nobody else knows it. */
static int32_t run_taken_(struct call_ *call, aclpy_handle stream) {
  int32_t status = check_operator_and_run_(call, stream);
  if (status != ACLPY_ACL_SUCCESS) {
    eng_handle_put_back(&call->executor->head);
    return status;
  }
  note_run_(call);
  eng_handle_finish(&call->executor->head);
  return status;
}

static int32_t run_(struct call_ *call, aclpy_handle stream) {
  struct eng_executor *executor = call->executor;
  call->repeatable = atomic_load_explicit(&executor->repeatable, memory_order_acquire);
  if (!call->repeatable && atomic_exchange(&executor->running, true)) {
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, call->function, "executor",
                      "an executor that nobody else is running", "plan again or make it repeatable",
                      "an executor that another thread is running");
  }
  int32_t status = check_operator_and_run_(call, stream);
  if (call->repeatable) return status;
  if (status != ACLPY_ACL_SUCCESS) {
    atomic_store(&executor->running, false);
    return status;
  }
  note_run_(call);
  if (eng_handle_close(ENG_EXECUTOR, executor->handle, true) != NULL) eng_release(&executor->head);
  return status;
}

int32_t aclpy_execute(uint32_t op, uintptr_t workspace, uint64_t workspace_size, aclpy_handle executor,
                      aclpy_handle stream) {
  const char *function = eng_operator_name(op);
  if (eng_stopping()) return eng_fail_stopped(function);
  if (executor == 0) {
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, "executor", "an executor", "pass what phase 1 returned",
                      "NULL");
  }
  if (workspace_size > 0 && workspace == 0) {
    struct eng_executor *lost = eng_handle_close(ENG_EXECUTOR, executor, false);
    if (lost != NULL) eng_release(&lost->head);
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, "workspace", "an address of that many bytes",
                      "plan again, the executor is gone; allocate workspaceSize bytes and pass them",
                      "NULL with size %" PRIu64, workspace_size);
  }
  struct eng_executor *taken = eng_handle_take(ENG_EXECUTOR, executor);
  struct eng_executor *found = taken != NULL ? taken : eng_handle_acquire(ENG_EXECUTOR, executor);
  if (found == NULL) return refuse_consumed_(function, executor);
  struct call_ call = {.function = function,
                       .op = op,
                       .workspace = workspace,
                       .workspace_size = workspace_size,
                       .executor = found,
                       .plan = found->plan};
  if (taken != NULL) return run_taken_(&call, stream);
  int32_t status = run_(&call, stream);
  eng_release(&found->head);
  return status;
}
