/* SPDX-License-Identifier: Apache-2.0
 * Events in streams: record, wait, reset.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "capture.h"
#include "door.h"
#include "event.h"
#include "failure.h"
#include "mark.h"
#include "marker.h"
#include "schedule.h"
#include "stream.h"

/* The flag of aclrtRecordEventWithFlag and aclrtStreamWaitEventWithFlag. */
enum { FLAG_DEFAULT = 0, FLAG_EXTERNAL = 1 };

/* Queues a WAIT or RECORD; takes over what it holds. A RECORD on an empty stream is done at once. */
static int32_t queue_(struct eng_stream *stream, struct eng_task *task, const char *function) {
  bool run_now = false, at_once = task->kind == ENG_TASK_RECORD && !stream->foreign; /* its own clock is better */
  int32_t status = eng_stream_submit(stream, task, function, at_once ? &run_now : NULL);
  if (status == ACLPY_ACL_SUCCESS && !run_now) return status;
  if (status == ENG_SUBMIT_NOTHING) status = ACLPY_ACL_SUCCESS;
  if (run_now) (void)eng_task_run(stream, task);
  eng_task_drop(task);
  if (run_now) eng_door_leave(stream);
  return status;
}

/* ---- record ---- */

int32_t eng_event_record_now(struct eng_event *event, struct eng_stream *stream, const char *function) {
  struct eng_marker *marker = eng_marker_new(stream->id);
  if (marker == NULL) return eng_fail_memory(function, "a record of the event");
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_EVENT);
  task.u.mark.marker = eng_marker_share(marker); /* one owner is the event, one the task */
  task.u.mark.flag = event->flag == NULL ? NULL : eng_marker_share(event->flag);
  /* Latest and queue move together, so that two threads leave the event at the record queued last. */
  bool held = eng_schedule_hold();
  pthread_mutex_lock(&event->lock);
  int32_t status = queue_(stream, &task, function);
  struct eng_marker *unused = marker;
  if (status == ACLPY_ACL_SUCCESS) {
    unused = event->latest;
    event->latest = marker;
  }
  pthread_mutex_unlock(&event->lock);
  eng_schedule_let_go(held);
  eng_marker_drop(unused);
  return status;
}

/* A record or a reset that a replay will do for real, to an event outside of the graph. */
static int32_t capture_external_(struct eng_event *event, struct eng_stream *stream, enum eng_task_kind kind,
                                 bool clears, const char *function) {
  struct eng_task task;
  eng_task_init_mark(&task, kind, ENG_MARK_EVENT);
  task.u.mark.external = true;
  task.u.mark.clears = clears;
  task.u.mark.object = &event->head;
  eng_retain(&event->head);
  return queue_(stream, &task, function);
}

static int32_t record_(struct eng_event *event, struct eng_stream *stream, const char *function) {
  if (!eng_stream_capturing(stream)) return eng_event_record_now(event, stream, function);
  if ((event->flags & ENG_EVENT_EXTERNAL) != 0) {
    return capture_external_(event, stream, ENG_TASK_RECORD, false, function);
  }
  if (event->kind != ACLPY_EVENT_EX_WITH_FLAG) return eng_capture_refuse_kind(stream, function);
  return eng_event_record_now(event, stream, function);
}

typedef int32_t (*act_)(struct eng_event *event, struct eng_stream *stream, const char *function);

static int32_t with_both_(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream, act_ act, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL) {
    status = act(event, found, function);
    eng_release(&found->head);
  }
  eng_release(&event->head);
  return status;
}

int32_t aclpy_event_record(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  return with_both_(ctx, handle, stream, record_, "aclrtRecordEvent");
}

static int32_t refuse_flag_(const char *function, uint32_t flag) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag", "0 (default) or 1 (external)",
                    "pass 0 outside of a capture", "flag %" PRIu32, flag);
}

/* External use in a capture needs an event whose record is a snapshot that streams can wait for. */
static int32_t check_external_(const struct eng_event *event, struct eng_stream *stream, const char *function) {
  if (!eng_stream_capturing(stream)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_NOT_CAPTURED, function, "flag", "a stream that is being captured",
                      "call aclmdlRICaptureBegin first, or pass flag 0", "flag 1 on a stream that is not captured");
  }
  if (event->kind == ACLPY_EVENT_EX_WITH_FLAG && (event->flags & ENG_EVENT_SYNC) != 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event",
                    "an event of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC", "create the event that way",
                    "an event with flags 0x%" PRIx32 " of another kind", event->flags);
}

static int32_t record_external_(struct eng_event *event, struct eng_stream *stream, const char *function) {
  int32_t status = check_external_(event, stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&event->lock);
  bool changed = event->record_flag == FLAG_DEFAULT;
  if (!changed) event->record_flag = FLAG_EXTERNAL;
  pthread_mutex_unlock(&event->lock);
  if (changed) return refuse_flag_(function, FLAG_EXTERNAL);
  return capture_external_(event, stream, ENG_TASK_RECORD, false, function);
}

static int32_t record_default_(struct eng_event *event, struct eng_stream *stream, const char *function) {
  pthread_mutex_lock(&event->lock);
  bool changed = event->record_flag == FLAG_EXTERNAL;
  if (!changed) event->record_flag = FLAG_DEFAULT;
  pthread_mutex_unlock(&event->lock);
  return changed ? refuse_flag_(function, FLAG_DEFAULT) : record_(event, stream, function);
}

int32_t aclpy_event_record_with_flag(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream, uint32_t flag) {
  static const char function[] = "aclrtRecordEventWithFlag";
  if (handle == 0) return eng_fail_null(function, "event");
  if (flag > FLAG_EXTERNAL) return refuse_flag_(function, flag);
  return with_both_(ctx, handle, stream, flag == FLAG_EXTERNAL ? record_external_ : record_default_, function);
}

/* ---- wait ---- */

static int32_t queue_wait_(struct eng_event *event, struct eng_marker *marker, struct eng_stream *stream,
                           int64_t timeout_ns, const char *function) {
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_WAIT, ENG_MARK_EVENT);
  task.u.mark.marker = marker;
  task.u.mark.object = &event->head;
  task.u.mark.timeout_ns = timeout_ns;
  eng_retain(&event->head);
  atomic_fetch_add(&event->waits, 1);
  return queue_(stream, &task, function);
}

static int32_t check_waitable_(const struct eng_event *event, const char *function) {
  enum { WAITABLE = ENG_EVENT_SYNC | ENG_EVENT_DEVICE_SYNC | ENG_EVENT_IPC | ENG_EVENT_EXTERNAL };
  if ((event->flags & WAITABLE) != 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event", "an event made with ACL_EVENT_SYNC",
                    "add ACL_EVENT_SYNC (1) to the flags when the event is created",
                    "an event with flags 0x%" PRIx32 ", which keeps time or progress only", event->flags);
}

/* Takes over the marker. Earlier work of the same stream is done anyway when later work runs; an event of
 * aclrtCreateEvent queues its wait all the same. */
static int32_t wait_for_snapshot_(struct eng_event *event, struct eng_marker *marker, struct eng_stream *stream,
                                  int64_t timeout_ns, const char *function) {
  if (marker == NULL && event->kind == ACLPY_EVENT_PLAIN) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "event", "an event that has been recorded",
                      "call aclrtRecordEvent first", "an event that was never recorded");
  }
  bool same = marker != NULL && marker->stream_id == stream->id && event->kind != ACLPY_EVENT_PLAIN;
  bool done = marker != NULL && eng_marker_reached(marker) && atomic_load(&marker->status) == ACLPY_ACL_SUCCESS;
  if (marker != NULL && !same && !done) return queue_wait_(event, marker, stream, timeout_ns, function);
  eng_marker_drop(marker);
  return ACLPY_ACL_SUCCESS;
}

static int32_t wait_(struct eng_event *event, struct eng_stream *stream, int64_t timeout_ns, const char *function) {
  int32_t status = check_waitable_(event, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  bool capturing = eng_stream_capturing(stream);
  if (capturing && (event->flags & ENG_EVENT_EXTERNAL) != 0) {
    return capture_external_(event, stream, ENG_TASK_WAIT, false, function);
  }
  if (capturing && event->kind != ACLPY_EVENT_EX_WITH_FLAG) return eng_capture_refuse_kind(stream, function);
  if (event->flag != NULL) return queue_wait_(event, eng_marker_share(event->flag), stream, timeout_ns, function);
  struct eng_marker *marker = eng_event_latest(event);
  if (marker != NULL && (capturing || marker->capture_id != 0)) {
    status = eng_capture_join(stream, marker, function);
    bool same = marker->stream_id == stream->id;
    if (status == ACLPY_ACL_SUCCESS && !same) return queue_wait_(event, marker, stream, timeout_ns, function);
    eng_marker_drop(marker);
    return status;
  }
  return wait_for_snapshot_(event, marker, stream, timeout_ns, function);
}

int32_t eng_event_wait_now(struct eng_event *event, struct eng_stream *stream, const char *function) {
  return wait_(event, stream, 0, function);
}

static int32_t find_and_wait_(aclpy_handle ctx, aclpy_handle stream, aclpy_handle handle, int64_t timeout_ns,
                              bool external, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL && external) {
    status = check_external_(event, found, function);
    if (status == ACLPY_ACL_SUCCESS) status = capture_external_(event, found, ENG_TASK_WAIT, false, function);
  } else if (found != NULL) {
    status = wait_(event, found, timeout_ns, function);
  }
  if (found != NULL) eng_release(&found->head);
  eng_release(&event->head);
  return status;
}

int32_t aclpy_event_wait(aclpy_handle ctx, aclpy_handle stream, aclpy_handle handle) {
  int64_t span = eng_wait_span_ns(eng_op_wait_seconds());
  return find_and_wait_(ctx, stream, handle, span, false, "aclrtStreamWaitEvent");
}

int32_t aclpy_event_wait_with_timeout(aclpy_handle ctx, aclpy_handle stream, aclpy_handle handle, int32_t seconds) {
  static const char function[] = "aclrtStreamWaitEventWithTimeout";
  if (handle == 0) return eng_fail_null(function, "event");
  if (seconds < 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "timeout", "0 (for ever) or more seconds",
                      "this timeout counts seconds, not milliseconds", "%" PRId32, seconds);
  }
  return find_and_wait_(ctx, stream, handle, eng_wait_span_ns((uint32_t)seconds), false, function);
}

int32_t aclpy_event_wait_with_flag(aclpy_handle ctx, aclpy_handle stream, aclpy_handle handle, uint32_t seconds,
                                   uint32_t flag) {
  static const char function[] = "aclrtStreamWaitEventWithFlag";
  if (handle == 0) return eng_fail_null(function, "event");
  if (flag > FLAG_EXTERNAL) return refuse_flag_(function, flag);
  if (flag == FLAG_EXTERNAL && seconds != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "timeout", "0 with flag 1", "pass 0",
                      "%" PRIu32 " seconds", seconds);
  }
  return find_and_wait_(ctx, stream, handle, eng_wait_span_ns(seconds), flag == FLAG_EXTERNAL, function);
}

/* ---- reset ---- */

int32_t eng_event_reset_now(struct eng_event *event, struct eng_stream *stream, const char *function) {
  if (event->flag == NULL) return ACLPY_ACL_SUCCESS;
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_EVENT);
  task.u.mark.flag = eng_marker_share(event->flag);
  task.u.mark.clears = true;
  return queue_(stream, &task, function);
}

static int32_t reset_(struct eng_event *event, struct eng_stream *stream, const char *function) {
  bool capturing = eng_stream_capturing(stream);
  if (capturing && (event->flags & ENG_EVENT_EXTERNAL) != 0) {
    return capture_external_(event, stream, ENG_TASK_RECORD, true, function);
  }
  if (capturing) return eng_capture_refuse_kind(stream, function);
  if (event->kind == ACLPY_EVENT_EX_WITH_FLAG) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event", "an event of aclrtCreateEventWithFlag",
                      "record it again instead of resetting it", "an event of aclrtCreateEventExWithFlag");
  }
  return eng_event_reset_now(event, stream, function);
}

int32_t aclpy_event_reset(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  return with_both_(ctx, handle, stream, reset_, "aclrtResetEvent");
}
