/* SPDX-License-Identifier: Apache-2.0
 * What tasks do, and what they give back.
 */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "marker.h"
#include "memory.h"
#include "operator.h"
#include "plan.h"
#include "stream.h"

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

static void let_go_(struct eng_task *task) {
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

void eng_task_drop(struct eng_task *task) {
  let_go_(task);
  if (task->kind != ENG_TASK_RUN) {
    eng_marker_drop(task->u.mark.marker);
    eng_marker_drop(task->u.mark.flag);
  } else if (task->work == ENG_WORK_PLAN) {
    eng_release(&task->u.plan.plan->head);
  } else if (task->work == ENG_WORK_FOREIGN && task->u.foreign.drop != NULL) {
    task->u.foreign.drop(task->u.foreign.arg);
  }
  if (task->more != NULL) free(task->more);
}

bool eng_task_ready(const struct eng_task *task) {
  return task->kind != ENG_TASK_WAIT || eng_marker_reached(task->u.mark.marker);
}

static int32_t run_foreign_(const struct eng_task *task) {
  aclpy_error_clear();
  int32_t status =
      eng_worker_enter_foreign() ? task->u.foreign.run(task->u.foreign.arg) : eng_fail_stopped(task->u.foreign.label);
  eng_worker_leave_foreign();
  return status;
}

static int32_t run_work_(struct eng_stream *stream, struct eng_task *task) {
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return eng_plan_run(task->u.plan.plan, stream, eng_task_addresses(task), task->u.plan.workspace);
    case ENG_WORK_FOREIGN:
      return run_foreign_(task);
    case ENG_WORK_COPY:
      memmove((void *)task->u.copy.dst, (const void *)task->u.copy.src, task->u.copy.count);
      return ACLPY_ACL_SUCCESS;
    case ENG_WORK_SET:
      memset((void *)task->u.copy.dst, task->u.copy.value, task->u.copy.count);
      return ACLPY_ACL_SUCCESS;
    default:
      return ACLPY_ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
  }
}

/* The flag before the marker: whoever sees the record done sees the flag set. */
static void record_(struct eng_task *task) {
  if (task->u.mark.flag != NULL) {
    if (task->u.mark.clears) {
      eng_marker_clear(task->u.mark.flag);
    } else {
      eng_marker_reach(task->u.mark.flag);
    }
  }
  if (task->u.mark.marker != NULL) eng_marker_reach(task->u.mark.marker);
}

int32_t eng_task_run(struct eng_stream *stream, struct eng_task *task) {
  switch ((enum eng_task_kind)task->kind) {
    case ENG_TASK_RUN:
      return run_work_(stream, task);
    case ENG_TASK_WAIT:
      return eng_marker_wait(task->u.mark.marker) ? ACLPY_ACL_SUCCESS : eng_fail_stopped("aclrtStreamWaitEvent");
    case ENG_TASK_RECORD:
      record_(task);
      return ACLPY_ACL_SUCCESS;
    default:
      return ACLPY_ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
  }
}

const char *eng_task_name(const struct eng_task *task) {
  if (task->kind == ENG_TASK_WAIT) return "aclrtStreamWaitEvent";
  if (task->kind == ENG_TASK_RECORD) return "aclrtRecordEvent";
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return eng_operator_name(task->op);
    case ENG_WORK_FOREIGN:
      return task->u.foreign.label;
    case ENG_WORK_COPY:
      return "aclrtMemcpyAsync";
    case ENG_WORK_SET:
    default:
      return "aclrtMemsetAsync";
  }
}
