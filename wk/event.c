/* SPDX-License-Identifier: Apache-2.0
 * Events: the three kinds that AscendCL creates, over markers.
 *
 * A record makes a new marker, which is the snapshot that waits, queries and timings refer to. An event made with
 * aclrtCreateEventWithFlag also has a flag: every record sets it, waits wait for it, a reset clears it, all in stream
 * order, like a manual-reset event. Resetting an ordinary event has nothing to clear and succeeds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "marker.h"
#include "stream.h"

enum {
  FLAG_SYNC = 0x01,
  FLAG_PROGRESS = 0x02,
  FLAG_DEVICE_SYNC = 0x04,
  FLAG_TIME_LINE = 0x08,
  FLAG_DEVICE_USE_ONLY = 0x10,
  FLAG_EXTERNAL = 0x20,
  FLAG_IPC = 0x40,
  FLAGS_KNOWN = 0x7f,
  FLAGS_PLAIN = FLAG_PROGRESS | FLAG_DEVICE_SYNC | FLAG_TIME_LINE
};

struct event_ {
  struct eng_object head;
  int32_t kind; /* ACLPY_EVENT_* */
  uint32_t flags;
  pthread_mutex_t lock;
  struct eng_marker *latest; /* of the latest record; NULL before the first */
  struct eng_marker *flag;   /* ACLPY_EVENT_WITH_FLAG only */
};

static bool flags_fit_(int32_t kind, uint32_t flags) {
  if (kind == ACLPY_EVENT_PLAIN) return true;
  if (flags == 0 || (flags & ~(uint32_t)FLAGS_KNOWN) != 0) return false;
  uint32_t alone = flags & (FLAG_DEVICE_USE_ONLY | FLAG_EXTERNAL | FLAG_IPC);
  if (alone != 0 && alone != flags) return false;
  if (alone != 0 && (alone & (alone - 1)) != 0) return false;
  if ((flags & FLAG_EXTERNAL) != 0 && kind == ACLPY_EVENT_EX_WITH_FLAG) return false;
  return (flags & FLAG_IPC) == 0 || kind == ACLPY_EVENT_EX_WITH_FLAG;
}

static const char *creator_(int32_t kind) {
  return kind == ACLPY_EVENT_PLAIN       ? "aclrtCreateEvent"
         : kind == ACLPY_EVENT_WITH_FLAG ? "aclrtCreateEventWithFlag"
                                         : "aclrtCreateEventExWithFlag";
}

int32_t aclpy_event_create(aclpy_handle ctx, int32_t kind, uint32_t flags, aclpy_handle *event) {
  const char *function = creator_(kind);
  if (event == NULL) return eng_fail_null(function, "event");
  if (kind < ACLPY_EVENT_PLAIN || kind > ACLPY_EVENT_EX_WITH_FLAG || !flags_fit_(kind, flags)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag",
                      "ACL_EVENT_SYNC, CAPTURE_STREAM_PROGRESS and TIME_LINE in any combination, or another flag alone",
                      "pass ACL_EVENT_SYNC (1) for ordering, with ACL_EVENT_TIME_LINE (8) for timing as well",
                      "0x%" PRIx32, flags);
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  eng_release(&context->head);
  struct event_ *made = eng_object_zalloc(sizeof(*made));
  if (made != NULL && kind == ACLPY_EVENT_WITH_FLAG) made->flag = eng_marker_new(0);
  if (made == NULL || (kind == ACLPY_EVENT_WITH_FLAG && made->flag == NULL)) {
    free(made);
    return eng_fail_memory(function, "an event");
  }
  made->kind = kind;
  made->flags = kind == ACLPY_EVENT_PLAIN ? FLAGS_PLAIN : flags;
  pthread_mutex_init(&made->lock, NULL);
  if (eng_handle_open(ENG_EVENT, &made->head, event)) return ACLPY_ACL_SUCCESS;
  eng_event_dispose(made);
  return eng_fail_memory(function, "an event");
}

void eng_event_dispose(void *object) {
  struct event_ *event = object;
  eng_marker_drop(event->latest);
  eng_marker_drop(event->flag);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

static struct event_ *find_(aclpy_handle handle, const char *function, const char *argument, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
    return NULL;
  }
  if (handle == 0) {
    *status = eng_fail_null(function, argument);
    return NULL;
  }
  struct event_ *event = eng_handle_acquire(ENG_EVENT, handle);
  if (event == NULL) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, argument, "a live event",
                         "use an event that has not been destroyed", "event 0x%" PRIx64 ", %s", handle,
                         eng_handle_past_text(ENG_EVENT, handle));
  }
  return event;
}

int32_t aclpy_event_destroy(aclpy_handle handle) {
  static const char function[] = "aclrtDestroyEvent";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  /* Queued tasks hold the markers, not the event. */
  if (eng_handle_close(ENG_EVENT, handle, false) != NULL) eng_release(&event->head);
  eng_release(&event->head);
  return ACLPY_ACL_SUCCESS;
}

static struct eng_marker *latest_(struct event_ *event) {
  pthread_mutex_lock(&event->lock);
  struct eng_marker *marker = event->latest == NULL ? NULL : eng_marker_share(event->latest);
  pthread_mutex_unlock(&event->lock);
  return marker;
}

/* ---- in streams ---- */

/* Queues a WAIT or RECORD; takes over the marker and the flag. A RECORD on an empty stream is done at once. */
static int32_t queue_(struct eng_stream *stream, enum eng_task_kind kind, struct eng_marker *marker,
                      struct eng_marker *flag, bool clears, const char *function) {
  struct eng_task task;
  eng_task_init(&task, kind, ENG_WORK_PLAN);
  task.u.mark.marker = marker;
  task.u.mark.flag = flag;
  task.u.mark.clears = clears;
  bool run_now = false;
  int32_t status = eng_stream_submit(stream, &task, function, kind == ENG_TASK_RECORD ? &run_now : NULL);
  if (status == ACLPY_ACL_SUCCESS && !run_now) return status;
  if (run_now) (void)eng_task_run(stream, &task);
  eng_task_drop(&task);
  if (run_now) eng_stream_inline_done(stream);
  return status;
}

static int32_t record_(struct event_ *event, struct eng_stream *stream, const char *function) {
  struct eng_marker *marker = eng_marker_new(stream->id);
  if (marker == NULL) return eng_fail_memory(function, "a record of the event");
  struct eng_marker *flag = event->flag == NULL ? NULL : eng_marker_share(event->flag);
  (void)eng_marker_share(marker); /* one owner is the event, one the task */
  /* Latest and queue move together, so that two threads leave the event at the record queued last. */
  pthread_mutex_lock(&event->lock);
  int32_t status = queue_(stream, ENG_TASK_RECORD, marker, flag, false, function);
  struct eng_marker *unused = marker;
  if (status == ACLPY_ACL_SUCCESS) {
    unused = event->latest;
    event->latest = marker;
  }
  pthread_mutex_unlock(&event->lock);
  eng_marker_drop(unused);
  return status;
}

static int32_t refuse_external_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event",
                    "an event that is not ACL_EVENT_EXTERNAL", "external events belong into captured graphs",
                    "an event made with ACL_EVENT_EXTERNAL");
}

int32_t aclpy_event_record(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  static const char function[] = "aclrtRecordEvent";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL) {
    status = (event->flags & FLAG_EXTERNAL) != 0 ? refuse_external_(function) : record_(event, found, function);
    eng_release(&found->head);
  }
  eng_release(&event->head);
  return status;
}

static int32_t wait_(struct event_ *event, struct eng_stream *stream, const char *function) {
  if ((event->flags & (FLAG_SYNC | FLAG_DEVICE_SYNC | FLAG_IPC)) == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event", "an event made with ACL_EVENT_SYNC",
                      "add ACL_EVENT_SYNC (1) to the flags when the event is created",
                      "an event with flags 0x%" PRIx32 ", which keeps time or progress only", event->flags);
  }
  if (event->flag != NULL) {
    return queue_(stream, ENG_TASK_WAIT, eng_marker_share(event->flag), NULL, false, function);
  }
  struct eng_marker *marker = latest_(event);
  if (marker == NULL && event->kind == ACLPY_EVENT_PLAIN) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "event", "an event that has been recorded",
                      "call aclrtRecordEvent first", "an event that was never recorded");
  }
  /* Earlier work of the same stream is done anyway when later work runs. */
  if (marker == NULL || eng_marker_reached(marker) || marker->stream_id == stream->id) {
    eng_marker_drop(marker);
    return ACLPY_ACL_SUCCESS;
  }
  return queue_(stream, ENG_TASK_WAIT, marker, NULL, false, function);
}

int32_t aclpy_event_wait(aclpy_handle ctx, aclpy_handle stream, aclpy_handle handle) {
  static const char function[] = "aclrtStreamWaitEvent";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL) {
    status = wait_(event, found, function);
    eng_release(&found->head);
  }
  eng_release(&event->head);
  return status;
}

static int32_t reset_(struct event_ *event, struct eng_stream *stream, const char *function) {
  if (event->kind == ACLPY_EVENT_EX_WITH_FLAG) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event", "an event of aclrtCreateEventWithFlag",
                      "record it again instead of resetting it", "an event of aclrtCreateEventExWithFlag");
  }
  if (event->flag == NULL) return ACLPY_ACL_SUCCESS;
  return queue_(stream, ENG_TASK_RECORD, NULL, eng_marker_share(event->flag), true, function);
}

int32_t aclpy_event_reset(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  static const char function[] = "aclrtResetEvent";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL) {
    status = reset_(event, found, function);
    eng_release(&found->head);
  }
  eng_release(&event->head);
  return status;
}

/* ---- on the host ---- */

int32_t aclpy_event_synchronize(aclpy_handle handle) {
  static const char function[] = "aclrtSynchronizeEvent";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_marker *marker = latest_(event);
  struct eng_stream *own = eng_self()->worker_of;
  if ((event->flags & FLAG_EXTERNAL) != 0) {
    status = refuse_external_(function);
  } else if (marker != NULL && !eng_marker_reached(marker)) {
    if (own != NULL && marker->stream_id == own->id) {
      status = aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "event", "an event of another stream",
                          "do not wait inside a host function for the stream that runs it",
                          "an event recorded behind the host function that waits for it");
    } else if (!eng_marker_wait(marker)) {
      status = eng_fail_stopped(function);
    }
  }
  eng_marker_drop(marker);
  eng_release(&event->head);
  return status;
}

int32_t aclpy_event_query(aclpy_handle handle, int32_t *recorded) {
  static const char function[] = "aclrtQueryEventStatus";
  if (recorded == NULL) return eng_fail_null(function, "status");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct event_ *event = find_(handle, function, "event", &status);
  if (event == NULL) return status;
  struct eng_marker *marker = latest_(event);
  if (marker == NULL) {
    *recorded = event->kind == ACLPY_EVENT_EX_WITH_FLAG ? 1 : 0;
  } else {
    *recorded = eng_marker_reached(marker) && (event->flag == NULL || eng_marker_reached(event->flag)) ? 1 : 0;
  }
  eng_marker_drop(marker);
  eng_release(&event->head);
  return status;
}

static int32_t time_of_(struct event_ *event, const char *argument, int64_t *time_ns) {
  static const char function[] = "aclrtEventElapsedTime";
  struct eng_marker *marker = latest_(event);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (marker == NULL) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, argument, "an event that has been recorded",
                        "call aclrtRecordEvent first", "an event that was never recorded");
  } else if ((event->flags & FLAG_TIME_LINE) == 0) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, argument, "an event that keeps time",
                        "create it with ACL_EVENT_TIME_LINE (8)", "an event with flags 0x%" PRIx32, event->flags);
  } else if (!eng_marker_reached(marker)) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function, argument, "an event that has happened",
                        "call aclrtSynchronizeEvent first", "an event whose record has not run yet");
  } else {
    *time_ns = atomic_load(&marker->time_ns);
  }
  eng_marker_drop(marker);
  return status;
}

int32_t aclpy_event_elapsed_ms(aclpy_handle start, aclpy_handle end, float *ms) {
  static const char function[] = "aclrtEventElapsedTime";
  if (ms == NULL) return eng_fail_null(function, "ms");
  int32_t status = ACLPY_ACL_SUCCESS;
  int64_t from = 0, to = 0;
  struct event_ *first = find_(start, function, "startEvent", &status);
  struct event_ *second = first == NULL ? NULL : find_(end, function, "endEvent", &status);
  if (second != NULL) {
    status = time_of_(first, "startEvent", &from);
    if (status == ACLPY_ACL_SUCCESS) status = time_of_(second, "endEvent", &to);
    if (status == ACLPY_ACL_SUCCESS) *ms = (float)((double)(to - from) * 1e-6);
    eng_release(&second->head);
  }
  if (first != NULL) eng_release(&first->head);
  return status;
}
