/* SPDX-License-Identifier: Apache-2.0
 * What tasks do, and what they give back.
 */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "callback.h"
#include "event.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "graph.h"
#include "mark.h"
#include "marker.h"
#include "memory.h"
#include "operator.h"
#include "plan.h"
#include "steer.h"
#include "stream.h"
#include "transfer.h"

bool eng_task_reserve(struct eng_task *task, int32_t n_slots) {
  task->more = NULL;
  if (n_slots <= ENG_TASK_SLOTS) return true;
  task->more = eng_object_alloc((2 * (size_t)n_slots + 1) * sizeof(uintptr_t));
  task->more_slots = (uint32_t)n_slots;
  return task->more != NULL;
}

eng_hold *eng_task_holds(struct eng_task *task) {
  return task->more != NULL ? task->more + task->more_slots : task->hold;
}

void eng_task_pin(struct eng_task *task) {
  eng_hold *holds = eng_task_holds(task);
  for (uint32_t i = 0; i < task->n_holds; i++) holds[i] = eng_memory_hold((struct eng_memory *)holds[i]);
  task->pinned = true;
}

static void release_holds_(struct eng_task *task) {
  eng_hold *holds = eng_task_holds(task);
  for (uint32_t i = 0; i < task->n_holds; i++) {
    if (task->pinned) {
      eng_memory_unhold(holds[i]);
    } else {
      eng_release(&((struct eng_memory *)holds[i])->head);
    }
  }
  task->n_holds = 0;
}

void eng_task_let_go(struct eng_task *task) {
  release_holds_(task);
  if (task->more != NULL) free(task->more);
}

static void drop_mark_(struct eng_task *task) {
  eng_marker_drop(task->u.mark.marker);
  eng_marker_drop(task->u.mark.flag);
  if (task->u.mark.object == NULL) return;
  if (task->kind == ENG_TASK_WAIT && task->work == ENG_MARK_EVENT && !task->u.mark.external) {
    eng_event_wait_over(task->u.mark.object);
  }
  eng_release(task->u.mark.object);
}

static void drop_work_(struct eng_task *task) {
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      eng_release(&task->u.plan.plan->head);
      break;
    case ENG_WORK_FOREIGN:
      if (task->u.foreign.drop != NULL) task->u.foreign.drop(task->u.foreign.arg);
      break;
    case ENG_WORK_POST:
      eng_callback_release(task->u.post.callback);
      eng_marker_drop(task->u.post.marker);
      break;
    case ENG_WORK_REPLAY:
      eng_replay_done(task->u.replay.replay, task->u.replay.last);
      break;
    case ENG_WORK_UPDATE:
      eng_update_free(task->u.update.update);
      break;
    case ENG_WORK_TRANSFER:
      eng_transfer_drop(task->u.transfer);
      break;
    case ENG_WORK_STEER:
      eng_steer_drop(task);
      break;
    case ENG_WORK_COPY:
    case ENG_WORK_SET:
    default:
      break;
  }
}

void eng_task_drop(struct eng_task *task) {
  release_holds_(task);
  if (task->kind != ENG_TASK_RUN) {
    drop_mark_(task);
  } else {
    drop_work_(task);
  }
  if (task->more != NULL) free(task->more);
}

void eng_task_discard(struct eng_task *task, int32_t status) {
  if (task->kind == ENG_TASK_RECORD && task->u.mark.marker != NULL) eng_marker_lose(task->u.mark.marker, status);
  if (task->kind == ENG_TASK_RUN && task->work == ENG_WORK_POST && task->u.post.marker != NULL) {
    eng_marker_lose(task->u.post.marker, status);
  }
  eng_task_drop(task);
}

void eng_task_init_mark(struct eng_task *task, enum eng_task_kind kind, enum eng_task_mark mark) {
  eng_task_init(task, kind, (enum eng_task_work)mark);
  memset(&task->u.mark, 0, sizeof(task->u.mark));
}

bool eng_task_copy(const struct eng_task *task, struct eng_task *copy) {
  *copy = *task;
  copy->pinned = false;
  copy->launch = ENG_LAUNCH_NONE;
  if (task->more != NULL) {
    if (!eng_task_reserve(copy, (int32_t)task->more_slots)) return false;
    memcpy(copy->more, task->more, (2 * (size_t)task->more_slots + 1) * sizeof(uintptr_t));
  }
  eng_hold *holds = eng_task_holds(copy);
  for (uint32_t i = 0; i < copy->n_holds; i++) {
    holds[i] = (uintptr_t)eng_hold_memory(holds[i]);
    eng_retain(&((struct eng_memory *)holds[i])->head);
  }
  if (copy->kind == ENG_TASK_RUN && copy->work == ENG_WORK_PLAN) eng_retain(&copy->u.plan.plan->head);
  if (copy->kind == ENG_TASK_RUN && copy->work == ENG_WORK_TRANSFER) eng_transfer_retain(copy->u.transfer);
  return true;
}

bool eng_task_ready(const struct eng_task *task) { return task->kind != ENG_TASK_WAIT || eng_mark_ready(task); }

bool eng_task_lendable(const struct eng_task *task) {
  if (task->launch != ENG_LAUNCH_NONE && task->kind == ENG_TASK_RUN) return true;
  if (task->kind == ENG_TASK_RECORD) return true;
  if (task->kind == ENG_TASK_WAIT) return task->work == ENG_MARK_EVENT && eng_task_ready(task);
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return !task->u.plan.plan->calls;
    case ENG_WORK_FOREIGN:
      return false;
    case ENG_WORK_REPLAY:
      return !task->u.replay.foreign;
    case ENG_WORK_COPY:
    case ENG_WORK_SET:
    case ENG_WORK_TRANSFER:
    case ENG_WORK_POST:
    case ENG_WORK_UPDATE:
    case ENG_WORK_STEER:
    default:
      return true;
  }
}

static int32_t run_foreign_(const struct eng_task *task) {
  aclpy_error_clear();
  int32_t status =
      eng_worker_enter_foreign() ? task->u.foreign.run(task->u.foreign.arg) : eng_fail_stopped(task->u.foreign.label);
  eng_worker_leave_foreign();
  return status;
}

/* Named functions, so that a tool which watches memory can tell the host program's bytes from the engine's own. */
static void move_bytes_(const struct eng_task *task) {
  memmove((void *)task->u.copy.dst, (const void *)task->u.copy.src, task->u.copy.count);
}

static void set_bytes_(const struct eng_task *task) {
  memset((void *)task->u.copy.dst, task->u.copy.value, task->u.copy.count);
}

/* Copies and fills. */
static int32_t move_(struct eng_stream *stream, struct eng_task *task) {
  int32_t status;
  if (eng_foreign_moves(stream, task, &status)) return status;
  if (task->work == ENG_WORK_TRANSFER) return eng_transfer_run(task->u.transfer);
  if (task->work == ENG_WORK_COPY) {
    move_bytes_(task);
  } else {
    set_bytes_(task);
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t run_work_(struct eng_stream *stream, struct eng_task *task) {
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return eng_plan_run(task->u.plan.plan, stream, eng_task_addresses(task), task->u.plan.workspace);
    case ENG_WORK_FOREIGN:
      return run_foreign_(task);
    case ENG_WORK_COPY:
    case ENG_WORK_SET:
    case ENG_WORK_TRANSFER:
      return move_(stream, task);
    case ENG_WORK_POST:
      return eng_callback_post(task->u.post.callback, task->u.post.marker);
    case ENG_WORK_REPLAY:
      return eng_replay_run(task->u.replay.replay, stream, task->u.replay.first, task->u.replay.end);
    case ENG_WORK_UPDATE:
      eng_update_apply(task->u.update.update);
      return ACLPY_ACL_SUCCESS;
    case ENG_WORK_STEER:
      return eng_steer_run(stream, task);
    default:
      return ACLPY_ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
  }
}

int32_t eng_task_run(struct eng_stream *stream, struct eng_task *task) {
  switch ((enum eng_task_kind)task->kind) {
    case ENG_TASK_RUN:
      return run_work_(stream, task);
    case ENG_TASK_WAIT:
      return eng_mark_wait(stream, task);
    case ENG_TASK_RECORD:
      eng_mark_record(task);
      return ACLPY_ACL_SUCCESS;
    default:
      return ACLPY_ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
  }
}

const char *eng_task_name(const struct eng_task *task) {
  if (task->kind != ENG_TASK_RUN) return eng_mark_name(task);
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return eng_operator_name(task->op);
    case ENG_WORK_FOREIGN:
      return task->u.foreign.label;
    case ENG_WORK_COPY:
      return "aclrtMemcpyAsync";
    case ENG_WORK_TRANSFER:
      return task->u.transfer->function;
    case ENG_WORK_POST:
      return "aclrtLaunchCallback";
    case ENG_WORK_REPLAY:
      return "aclmdlRIExecuteAsync";
    case ENG_WORK_UPDATE:
      return "aclmdlRICaptureTaskUpdateEnd";
    case ENG_WORK_STEER:
      return eng_steer_name(task);
    case ENG_WORK_SET:
    default:
      return "aclrtMemsetAsync";
  }
}
