/* SPDX-License-Identifier: Apache-2.0
 * Events seen from the host: waiting, asking, measuring.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "bench.h"
#include "callback.h"
#include "capture.h"
#include "event.h"
#include "failure.h"
#include "foreign.h"
#include "marker.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

int32_t eng_event_check_captured(struct eng_event *event, const struct eng_marker *latest, const char *function) {
  (void)event;
  if (latest == NULL || latest->capture_id == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_CAPTURED, function, "event", "an event outside of a capture",
                    "end the capture, or use another event", "an event whose latest record is being captured");
}

static int32_t refuse_external_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event",
                    "an event that is not ACL_EVENT_EXTERNAL", "external events belong into captured graphs",
                    "an event made with ACL_EVENT_EXTERNAL");
}

/* A record behind a callback that this very thread is to call does not happen while it waits. */
static enum eng_wait_end wait_served_(struct eng_marker *marker, int64_t deadline_ns, bool *own) {
  enum { LOOK_NS = 1000000000 };
  for (;;) {
    const int64_t next = eng_clock_ns() + LOOK_NS, until = next < deadline_ns ? next : deadline_ns;
    enum eng_wait_end end = eng_marker_wait(marker, until, NULL);
    if (end != ENG_WAIT_TIMED_OUT || until == deadline_ns || eng_self()->pulsed) return end;
    *own = eng_reporter_holds(marker->stream_id);
    if (*own) return end;
  }
}

static int32_t wait_(struct eng_marker *marker, int64_t deadline_ns, const char *function) {
  const struct eng_stream *own = eng_self()->worker_of;
  if (own != NULL && marker->stream_id == own->id) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "event", "an event of another stream",
                      "do not wait inside a host function for the stream that runs it",
                      "an event recorded behind the host function that waits for it");
  }
  bool own_callback = false;
  switch (eng_self()->serves && !eng_scheduling() ? wait_served_(marker, deadline_ns, &own_callback)
                                                  : eng_marker_wait(marker, deadline_ns, NULL)) {
    case ENG_WAIT_TIMED_OUT:
      if (own_callback) return eng_reporter_refuse_own_wait(function, "event");
      if (eng_schedule_stuck()) return eng_schedule_refuse_stuck(ACLPY_ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, function);
      return aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, function, "event", "an event that happens in time",
                        "wait longer, or find out what its stream is doing", "an event whose record has not run yet");
    case ENG_WAIT_STOPPED:
      return eng_fail_stopped(function);
    case ENG_WAIT_DONE:
    case ENG_WAIT_INTERRUPTED:
    default:
      return ACLPY_ACL_SUCCESS;
  }
}

static int32_t check_lost_(struct eng_marker *marker, const char *function) {
  int32_t lost = atomic_load(&marker->status);
  if (lost == ACLPY_ACL_SUCCESS) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(lost, function, "event", "an event whose record runs", "record it again",
                    "an event whose record was discarded with its stream's work");
}

static int32_t synchronize_(aclpy_handle handle, int64_t deadline_ns, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_marker *marker = eng_event_latest(event);
  status = (event->flags & ENG_EVENT_EXTERNAL) != 0 ? refuse_external_(function)
                                                    : eng_event_check_captured(event, marker, function);
  if (status == ACLPY_ACL_SUCCESS && marker != NULL && !eng_marker_reached(marker)) {
    status = wait_(marker, deadline_ns, function);
  }
  if (status == ACLPY_ACL_SUCCESS && marker != NULL) status = check_lost_(marker, function);
  eng_marker_drop(marker);
  eng_release(&event->head);
  return status;
}

int32_t aclpy_event_synchronize(aclpy_handle handle) {
  return synchronize_(handle, ENG_NEVER, "aclrtSynchronizeEvent");
}

int32_t aclpy_event_synchronize_with_timeout(aclpy_handle handle, int32_t timeout_ms) {
  static const char function[] = "aclrtSynchronizeEventWithTimeout";
  if (handle == 0) return eng_fail_null(function, "event"); /* before the timeout is looked at */
  int64_t deadline_ns;
  int32_t status = eng_deadline_of_ms(timeout_ms, function, &deadline_ns);
  return status == ACLPY_ACL_SUCCESS ? synchronize_(handle, deadline_ns, function) : status;
}

/* ---- questions ---- */

static int32_t recorded_(aclpy_handle handle, const char *function, bool ex_allowed, bool *recorded) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_marker *marker = eng_event_latest(event);
  if (!ex_allowed && event->kind == ACLPY_EVENT_EX_WITH_FLAG) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event",
                        "an event of aclrtCreateEvent or aclrtCreateEventWithFlag", "use aclrtQueryEventStatus",
                        "an event of aclrtCreateEventExWithFlag");
  } else {
    status = eng_event_check_captured(event, marker, function);
  }
  if (marker == NULL) {
    *recorded = event->kind == ACLPY_EVENT_EX_WITH_FLAG;
  } else {
    if (event->flag != NULL) eng_lot_lock(event->flag); /* who has seen the flag shall see the record */
    *recorded = eng_marker_reached(marker) && (event->flag == NULL || eng_marker_reached(event->flag));
    if (event->flag != NULL) eng_lot_unlock(event->flag);
  }
  eng_marker_drop(marker);
  eng_release(&event->head);
  if (!*recorded && eng_scheduling()) eng_schedule_asked();
  return status;
}

int32_t aclpy_event_query(aclpy_handle handle, int32_t *recorded) {
  static const char function[] = "aclrtQueryEventStatus";
  if (recorded == NULL) return eng_fail_null(function, "status");
  bool done = false;
  int32_t status = recorded_(handle, function, true, &done);
  if (status == ACLPY_ACL_SUCCESS) *recorded = done ? 1 : 0;
  return status;
}

int32_t aclpy_event_query_old(aclpy_handle handle, int32_t *state) {
  static const char function[] = "aclrtQueryEvent";
  if (state == NULL) return eng_fail_null(function, "status");
  bool done = false;
  int32_t status = recorded_(handle, function, false, &done);
  if (status == ACLPY_ACL_SUCCESS) *state = done ? 0 : 1;
  return status;
}

int32_t aclpy_event_query_waits(aclpy_handle handle, int32_t *state) {
  static const char function[] = "aclrtQueryEventWaitStatus";
  if (state == NULL) return eng_fail_null(function, "status");
  bool recorded = false;
  int32_t status = recorded_(handle, function, false, &recorded);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  *state = atomic_load(&event->waits) == 0 ? 0 : 1;
  eng_release(&event->head);
  return ACLPY_ACL_SUCCESS;
}

/* ---- time ---- */

static int32_t time_of_(struct eng_event *event, const char *function, const char *argument, int64_t *time_ns) {
  struct eng_marker *marker = eng_event_latest(event);
  int32_t status = eng_event_check_captured(event, marker, function);
  if (status != ACLPY_ACL_SUCCESS) {
    eng_marker_drop(marker);
    return status;
  }
  if (marker == NULL) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, argument, "an event that has been recorded",
                        "call aclrtRecordEvent first", "an event that was never recorded");
  } else if ((event->flags & ENG_EVENT_TIME_LINE) == 0) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, argument, "an event that keeps time",
                        "create it with ACL_EVENT_TIME_LINE (8)", "an event with flags 0x%" PRIx32, event->flags);
  } else if (!eng_marker_reached(marker)) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, argument, "an event that has happened",
                        "call aclrtSynchronizeEvent first", "an event whose record has not run yet");
  } else {
    status = check_lost_(marker, function);
    *time_ns = atomic_load(&marker->time_ns);
  }
  eng_marker_drop(marker);
  return status;
}

/* By a foreign device's own clock. */
static bool on_device_(struct eng_event *start, struct eng_event *end, float *ms) {
  struct eng_marker *from = eng_event_latest(start), *to = eng_event_latest(end);
  bool known = from != NULL && to != NULL && eng_foreign_elapsed(from, to, ms);
  eng_marker_drop(from);
  eng_marker_drop(to);
  return known;
}

int32_t aclpy_event_elapsed_ms(aclpy_handle start, aclpy_handle end, float *ms) {
  static const char function[] = "aclrtEventElapsedTime";
  if (ms == NULL) return eng_fail_null(function, "ms");
  int32_t status = ACLPY_ACL_SUCCESS;
  int64_t from = 0, to = 0;
  struct eng_event *first = eng_event_find(start, function, "startEvent", &status);
  struct eng_event *second = first == NULL ? NULL : eng_event_find(end, function, "endEvent", &status);
  if (second != NULL) {
    status = time_of_(first, function, "startEvent", &from);
    if (status == ACLPY_ACL_SUCCESS) status = time_of_(second, function, "endEvent", &to);
    if (status == ACLPY_ACL_SUCCESS && !on_device_(first, second, ms)) *ms = (float)((double)(to - from) * 1e-6);
    eng_release(&second->head);
  }
  if (first != NULL) eng_release(&first->head);
  return status;
}

int32_t aclpy_event_timestamp_us(aclpy_handle handle, uint64_t *us) {
  static const char function[] = "aclrtEventGetTimestamp";
  if (us == NULL) return eng_fail_null(function, "timestamp");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  int64_t time_ns = 0;
  status = time_of_(event, function, "event", &time_ns);
  if (status == ACLPY_ACL_SUCCESS) *us = (uint64_t)(time_ns / 1000);
  eng_release(&event->head);
  return status;
}
