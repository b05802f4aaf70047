/* SPDX-License-Identifier: Apache-2.0
 * Events: the three kinds that AscendCL creates, their numbers and their end.
 *
 * A record makes a new marker, which is the snapshot that waits, queries and timings refer to. An event made with
 * aclrtCreateEventWithFlag also has a flag: every record sets it, waits wait for it, a reset clears it, all in stream
 * order, like a manual-reset event. Resetting an ordinary event has nothing to clear and succeeds.
 */
#include "event.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "capture.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "limit.h"
#include "marker.h"
#include "stream.h"

enum { FLAGS_KNOWN = 0x7f, FLAGS_PLAIN = ENG_EVENT_PROGRESS | ENG_EVENT_DEVICE_SYNC | ENG_EVENT_TIME_LINE };

static _Atomic uint32_t ids_;

static bool flags_fit_(int32_t kind, uint32_t flags) {
  if (kind == ACLPY_EVENT_PLAIN) return true;
  if (flags == 0 || (flags & ~(uint32_t)FLAGS_KNOWN) != 0) return false;
  uint32_t alone = flags & (ENG_EVENT_DEVICE_USE_ONLY | ENG_EVENT_EXTERNAL | ENG_EVENT_IPC);
  if (alone != 0 && alone != flags) return false;
  if (alone != 0 && (alone & (alone - 1)) != 0) return false;
  if ((flags & ENG_EVENT_EXTERNAL) != 0 && kind == ACLPY_EVENT_EX_WITH_FLAG) return false;
  return (flags & ENG_EVENT_IPC) == 0 || kind == ACLPY_EVENT_EX_WITH_FLAG;
}

static const char *creator_(int32_t kind) {
  return kind == ACLPY_EVENT_PLAIN       ? "aclrtCreateEvent"
         : kind == ACLPY_EVENT_WITH_FLAG ? "aclrtCreateEventWithFlag"
                                         : "aclrtCreateEventExWithFlag";
}

static struct eng_event *new_(int32_t kind, uint32_t flags, int32_t device, aclpy_handle *handle) {
  struct eng_event *made = eng_object_zalloc(sizeof(*made));
  if (made != NULL && kind == ACLPY_EVENT_WITH_FLAG) made->flag = eng_marker_new(0);
  if (made == NULL || (kind == ACLPY_EVENT_WITH_FLAG && made->flag == NULL)) {
    free(made);
    return NULL;
  }
  made->kind = kind;
  made->flags = kind == ACLPY_EVENT_PLAIN ? FLAGS_PLAIN : flags;
  made->device = device;
  made->record_flag = -1;
  made->id = atomic_fetch_add(&ids_, 1);
  pthread_mutex_init(&made->lock, NULL);
  if (eng_handle_open(ENG_EVENT, &made->head, handle)) return made;
  eng_marker_drop(made->flag);
  pthread_mutex_destroy(&made->lock);
  free(made);
  return NULL;
}

/* An Ex event takes its id of the hardware when it is recorded and gives it back when the record is done. */
static bool limited_(int32_t kind) { return kind != ACLPY_EVENT_EX_WITH_FLAG; }

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
  int32_t device = context->device;
  eng_release(&context->head);
  if (limited_(kind)) status = eng_limit_take(ENG_LIMIT_EVENTS, device, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (new_(kind, flags, device, event) != NULL) return ACLPY_ACL_SUCCESS;
  if (limited_(kind)) eng_limit_give(ENG_LIMIT_EVENTS, device);
  return eng_fail_memory(function, "an event");
}

void eng_event_dispose(void *object) {
  struct eng_event *event = object;
  eng_marker_drop(event->latest);
  eng_marker_drop(event->flag);
  pthread_mutex_destroy(&event->lock);
  if (limited_(event->kind)) eng_limit_give(ENG_LIMIT_EVENTS, event->device);
  free(event);
}

struct eng_event *eng_event_find(aclpy_handle handle, const char *function, const char *argument, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
    return NULL;
  }
  if (handle == 0) {
    *status = eng_fail_null(function, argument);
    return NULL;
  }
  struct eng_event *event = eng_handle_acquire(ENG_EVENT, handle);
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
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  /* Queued tasks hold what they need. */
  if (eng_handle_close(ENG_EVENT, handle, false) != NULL) eng_release(&event->head);
  eng_release(&event->head);
  return ACLPY_ACL_SUCCESS;
}

struct eng_marker *eng_event_latest(struct eng_event *event) {
  pthread_mutex_lock(&event->lock);
  struct eng_marker *marker = event->latest == NULL ? NULL : eng_marker_share(event->latest);
  pthread_mutex_unlock(&event->lock);
  if (marker == NULL || marker->capture_id == 0 || eng_capture_is_active(marker->capture_id)) return marker;
  eng_marker_drop(marker);
  return NULL;
}

void eng_event_wait_over(struct eng_object *event) { atomic_fetch_sub(&((struct eng_event *)event)->waits, 1); }

int32_t aclpy_event_id(aclpy_handle handle, uint32_t *id) {
  static const char function[] = "aclrtGetEventId";
  if (id == NULL) return eng_fail_null(function, "eventId");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  *id = event->id;
  eng_release(&event->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_event_available(aclpy_handle ctx, uint32_t *number) {
  return eng_limit_available(ENG_LIMIT_EVENTS, ctx, number, "aclrtGetEventAvailNum", "eventCount");
}

/* Handles of events for other processes: one process emulates its devices for itself. */
int32_t aclpy_event_ipc(aclpy_handle handle, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_event *event = eng_event_find(handle, function, "event", &status);
  if (event == NULL) return status;
  eng_release(&event->head);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event", "an event used in its own process",
                    "emulated devices belong to one process", "an event to be shared with another process");
}
