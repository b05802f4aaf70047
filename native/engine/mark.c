/* SPDX-License-Identifier: Apache-2.0
 * Running WAIT and RECORD tasks.
 */
#include "mark.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "aclpy_status.h"
#include "failure.h"
#include "lot.h"
#include "marker.h"
#include "stream.h"
#include "thread.h"

/* Values in memory change without anybody announcing it (a kernel, a copy, the host), so their waiters look often. */
enum { POLL_NS = 200000 };

static _Atomic uint32_t op_wait_seconds_;

int64_t eng_wait_span_ns(uint32_t seconds) { return (int64_t)seconds * 1000000000; }

uint32_t eng_op_wait_seconds(void) { return atomic_load_explicit(&op_wait_seconds_, memory_order_relaxed); }

int32_t aclpy_set_op_wait_timeout(uint32_t seconds) {
  atomic_store(&op_wait_seconds_, seconds);
  return ACLPY_ACL_SUCCESS;
}

bool eng_value_matches(uint64_t now, uint64_t value, uint32_t mode) {
  switch (mode) {
    case ENG_CMP_GREATER_EQUAL:
      return (int64_t)(now - value) >= 0;
    case ENG_CMP_EQUAL:
      return now == value;
    case ENG_CMP_AND:
      return (now & value) != 0;
    default:
      return ~(now | value) != 0;
  }
}

static uint64_t load_(uintptr_t address) {
  return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE); /* plain memory of the caller */
}

bool eng_mark_ready(const struct eng_task *task) {
  switch ((enum eng_task_mark)task->work) {
    case ENG_MARK_NOTIFY:
      return eng_notify_is_set(task->u.mark.object);
    case ENG_MARK_COUNT:
      return eng_count_matches(task->u.mark.object, task->u.mark.mode, (uint32_t)task->u.mark.value);
    case ENG_MARK_VALUE:
      return eng_value_matches(load_(task->u.mark.address), task->u.mark.value, task->u.mark.mode);
    case ENG_MARK_EVENT:
    default:
      return eng_marker_reached(task->u.mark.marker);
  }
}

static bool look_(void *arg) {
  const struct eng_task *task = arg;
  return task->work == ENG_MARK_NOTIFY ? eng_notify_take(task->u.mark.object) : eng_mark_ready(task);
}

static const void *key_(const struct eng_task *task) {
  return task->work == ENG_MARK_VALUE ? (const void *)task->u.mark.address : (const void *)task->u.mark.object;
}

static enum eng_wait_end wait_(struct eng_stream *stream, const struct eng_task *task) {
  int64_t span = task->u.mark.timeout_ns;
  int64_t deadline = span == 0 ? ENG_NEVER : eng_clock_ns() + span;
  if (task->work == ENG_MARK_EVENT) return eng_marker_wait(task->u.mark.marker, deadline, stream);
  return eng_lot_wait(&(struct eng_wait){.key = key_(task),
                                         .look = look_,
                                         .arg = (void *)(uintptr_t)task,
                                         .deadline_ns = deadline,
                                         .poll_ns = task->work == ENG_MARK_VALUE ? POLL_NS : 0,
                                         .stream = stream});
}

int32_t eng_mark_wait(struct eng_stream *stream, const struct eng_task *task) {
  const char *function = eng_mark_name(task);
  switch (wait_(stream, task)) {
    case ENG_WAIT_TIMED_OUT:
      return aclpy_fail(ACLPY_ACL_ERROR_RT_WAIT_TIMEOUT, function, "timeout", "what the stream waits for, in time",
                        "find out why it was never recorded, or wait longer",
                        "a wait that ended after %" PRId64 " ms without it", task->u.mark.timeout_ns / 1000000);
    case ENG_WAIT_INTERRUPTED:
      return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_ABORT, function, "", "a stream that is left alone", "",
                        "a wait that aborting the stream has ended");
    case ENG_WAIT_STOPPED:
      return eng_fail_stopped(function);
    case ENG_WAIT_DONE:
    default:
      break;
  }
  int32_t lost = task->work == ENG_MARK_EVENT ? atomic_load(&task->u.mark.marker->status) : ACLPY_ACL_SUCCESS;
  if (lost == ACLPY_ACL_SUCCESS) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(lost, function, "", "a record that runs",
                    "what follows in this stream has run without waiting: queue both again",
                    "a wait for a record that was discarded with its stream's work");
}

static void record_event_(struct eng_task *task) {
  struct eng_marker *marker = task->u.mark.marker, *flag = task->u.mark.flag;
  if (flag != NULL && task->u.mark.clears) {
    eng_marker_clear(flag);
  } else if (flag != NULL && marker != NULL) {
    eng_marker_reach_both(marker, flag);
  } else if (marker != NULL) {
    eng_marker_reach(marker);
  }
}

void eng_mark_record(struct eng_task *task) {
  switch ((enum eng_task_mark)task->work) {
    case ENG_MARK_NOTIFY:
      eng_notify_set(task->u.mark.object);
      break;
    case ENG_MARK_COUNT:
      eng_count_change(task->u.mark.object, task->u.mark.mode, (uint32_t)task->u.mark.value, task->u.mark.clears);
      break;
    case ENG_MARK_VALUE:
      __atomic_store_n((uint64_t *)task->u.mark.address, task->u.mark.value, __ATOMIC_RELEASE);
      eng_lot_wake((const void *)task->u.mark.address);
      break;
    case ENG_MARK_EVENT:
    default:
      record_event_(task);
      break;
  }
}

const char *eng_mark_name(const struct eng_task *task) {
  static const char *const names[][2] = {{"aclrtStreamWaitEvent", "aclrtRecordEvent"},
                                         {"aclrtWaitAndResetNotify", "aclrtRecordNotify"},
                                         {"aclrtCntNotifyWaitWithTimeout", "aclrtCntNotifyRecord"},
                                         {"aclrtValueWait", "aclrtValueWrite"}};
  return names[task->work][task->kind == ENG_TASK_RECORD];
}
