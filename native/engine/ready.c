/* SPDX-License-Identifier: Apache-2.0
 * Ready calls: what the checks of a repeatable executor's phase 2 have found, kept for the next run.
 *
 * Of all that the checks depend on only this can change: whether the stream, the executor and the allocations live,
 * and where the tensors' data begins. These are looked at in each run, everything else once. A run that finds any of
 * it changed, or the stream's door shut, has done nothing; the caller then takes the ordinary way, which says what is
 * wrong. Handles are remembered by their slots, which outlive everything, and only the plan by a reference: in a forked
 * child, where all handles but those of plans are dead, there is nothing to give back that is not there.
 */
#include <stdlib.h>

#include "aclpy_status.h"
#include "door.h"
#include "execute.h"
#include "executor.h"
#include "fault.h"
#include "memory.h"
#include "settings.h"
#include "stream.h"

/* The start of a tensor's data: what it was, and where that is kept. NULL: it cannot change. */
struct place_ {
  uintptr_t address;
  const _Atomic uint64_t *now;
};

struct aclpy_ready {
  struct eng_plan *plan; /* a reference */
  uintptr_t workspace;
  struct eng_spot stream, executor;
  int32_t n_slots;
  uint32_t n_holds;
  struct place_ place[ENG_TASK_SLOTS];
  struct eng_spot memory[ENG_TASK_HOLDS];
};

/* ---- running ---- */

/* Only while the executor lives are the notes those of its tensors; a later tensor's may at most be equal. */
static bool in_place_(const struct aclpy_ready *ready, struct eng_task *task) {
  for (int32_t slot = 0; slot < ready->n_slots; slot++) {
    const struct place_ *place = &ready->place[slot];
    if (place->now != NULL && atomic_load_explicit(place->now, memory_order_acquire) != place->address) return false;
    task->address[slot] = place->address;
  }
  return eng_spot_lives(&ready->executor);
}

static bool hold_(const struct aclpy_ready *ready, struct eng_task *task) {
  for (uint32_t i = 0; i < ready->n_holds; i++) {
    struct eng_memory *memory = eng_spot_acquire(&ready->memory[i]);
    if (memory == NULL) return false;
    task->hold[task->n_holds++] = (uintptr_t)memory;
  }
  return true;
}

int32_t aclpy_ready_run(const struct aclpy_ready *ready) {
  struct eng_stream *stream = eng_door_enter_at(&ready->stream);
  if (stream == NULL) return 0;
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_PLAN);
  task.op = ready->plan->op;
  task.u.plan.plan = ready->plan;
  task.u.plan.workspace = ready->workspace;
  if (in_place_(ready, &task) && hold_(ready, &task)) {
    eng_execute_here(&task, stream);
    return 1;
  }
  eng_task_let_go(&task);
  eng_door_leave(stream);
  return 0;
}

/* ---- making ---- */

/* A short plan of few tensors that does something. Checks that are relaxed just now may be asked for later. */
static bool may_be_kept_(const struct eng_executor *executor, uint32_t op) {
  const struct eng_plan *plan = executor->plan;
  return eng_strict() && atomic_load_explicit(&executor->repeatable, memory_order_acquire) && plan->small &&
         plan->op == op && plan->n_steps > 0 && plan->n_slots <= ENG_TASK_SLOTS;
}

static void note_places_(struct aclpy_ready *ready, const struct eng_executor *executor, const struct eng_task *task) {
  ready->n_slots = executor->plan->n_slots;
  for (int32_t slot = 0; slot < ready->n_slots; slot++) {
    const struct eng_tensor *tensor = executor->binding[slot].tensor;
    ready->place[slot] =
        (struct place_){.address = task->address[slot], .now = tensor == NULL ? NULL : tensor->address};
  }
}

static void note_holds_(struct aclpy_ready *ready, const struct eng_task *task) {
  ready->n_holds = task->n_holds;
  for (uint32_t i = 0; i < task->n_holds; i++) {
    (void)eng_handle_spot(ENG_MEMORY, ((const struct eng_memory *)task->hold[i])->handle, &ready->memory[i]);
  }
}

static struct aclpy_ready *keep_(struct eng_executor *executor, uintptr_t workspace, const struct eng_stream *stream,
                                 const struct eng_task *task) {
  struct aclpy_ready *ready = eng_object_alloc(sizeof(*ready));
  if (ready == NULL) return NULL;
  ready->plan = executor->plan;
  eng_retain(&ready->plan->head);
  ready->workspace = workspace;
  (void)eng_handle_spot(ENG_STREAM, stream->handle, &ready->stream);
  (void)eng_handle_spot(ENG_EXECUTOR, executor->handle, &ready->executor);
  note_places_(ready, executor, task);
  note_holds_(ready, task);
  return ready;
}

static struct aclpy_ready *check_and_keep_(struct eng_executor *executor, uintptr_t workspace, uint64_t workspace_size,
                                           const struct eng_stream *stream) {
  struct aclpy_ready *ready = NULL;
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_PLAN);
  if (eng_execute_check(executor, workspace, workspace_size, stream->device, &task) == ACLPY_ACL_SUCCESS) {
    ready = keep_(executor, workspace, stream, &task);
  }
  eng_task_let_go(&task);
  return ready;
}

struct aclpy_ready *aclpy_ready_new(uint32_t op, uintptr_t workspace, uint64_t workspace_size, aclpy_handle executor,
                                    aclpy_handle stream) {
  struct aclpy_ready *ready = NULL;
  struct eng_executor *found = eng_handle_acquire(ENG_EXECUTOR, executor);
  struct eng_stream *queue = found == NULL ? NULL : eng_handle_acquire(ENG_STREAM, stream);
  if (queue != NULL && queue->free_standing && may_be_kept_(found, op)) {
    ready = check_and_keep_(found, workspace, workspace_size, queue);
  }
  if (queue != NULL) eng_release(&queue->head);
  if (found != NULL) eng_release(&found->head);
  return ready;
}

void aclpy_ready_free(struct aclpy_ready *ready) {
  if (ready == NULL) return;
  eng_release(&ready->plan->head);
  free(ready);
}
