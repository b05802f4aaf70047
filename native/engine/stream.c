/* SPDX-License-Identifier: Apache-2.0
 * Streams: making, finding and ending them.
 */
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "bench.h"
#include "callback.h"
#include "capture.h"
#include "context.h"
#include "door.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "graph.h"
#include "limit.h"
#include "schedule.h"
#include "stream_state.h"

static bool init_(struct eng_stream *stream) {
  pthread_mutex_init(&stream->lock, NULL);
  eng_parker_init(&stream->parker);
  atomic_store(&stream->next_target, UINT64_MAX);
  if (!eng_handle_open_noted(ENG_STREAM, &stream->head, ENG_DOOR_SHUT, &stream->handle)) return false;
  stream->door = eng_handle_note(&stream->head);
  return true;
}

static unsigned gate_of_flags_(uint32_t flags) {
  return ((flags & ENG_STREAM_PERSISTENT) != 0 ? ENG_GATE_PERSISTENT : 0) |
         ((flags & ENG_STREAM_DEVICE_USE_ONLY) != 0 ? ENG_GATE_DEVICE : 0);
}

static struct eng_stream *make_(struct eng_context *context, bool free_standing, uint32_t priority, uint32_t flags,
                                const char *function, int32_t *status) {
  struct eng_stream *stream = eng_object_zalloc(sizeof(*stream));
  if (stream == NULL || !init_(stream)) {
    free(stream);
    *status = eng_fail_memory(function, "a stream");
    return NULL;
  }
  stream->free_standing = free_standing;
  stream->priority = priority > 7 ? 7 : priority;
  stream->flags = flags;
  atomic_store(&stream->gate, gate_of_flags_(flags));
  stream->device = context->device;
  stream->foreign = eng_device_foreign(stream->device);
  stream->context = context;
  eng_retain(&context->head);
  return stream;
}

/* From here on other threads find it, and may end it at once. */
static struct eng_stream *publish_(struct eng_stream *stream, const char *function, int32_t *status) {
  struct eng_context *context = stream->context;
  eng_retain(&stream->head); /* the caller's */
  if (eng_context_add_stream(context, stream)) {
    pthread_mutex_lock(&context->lock);
    if (context->stopped != NULL) atomic_fetch_or(&stream->gate, ENG_GATE_STOPPED);
    pthread_mutex_unlock(&context->lock);
    return stream;
  }
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_CONTEXT_NULL, function, "", "a context that is not being destroyed",
                       "create the stream before the context goes", "a context on its way out");
  if (eng_handle_close(ENG_STREAM, stream->handle, false) != NULL) eng_release(&stream->head);
  eng_release(&stream->head);
  return NULL;
}

struct eng_stream *eng_stream_new(struct eng_context *context, bool free_standing, uint32_t priority, uint32_t flags,
                                  const char *function, int32_t *status) {
  *status = eng_limit_take(ENG_LIMIT_STREAMS, context->device, function);
  if (*status != ACLPY_ACL_SUCCESS) return NULL;
  struct eng_stream *stream = make_(context, free_standing, priority, flags, function, status);
  if (stream == NULL) {
    eng_limit_give(ENG_LIMIT_STREAMS, context->device);
    return NULL;
  }
  stream->limited = true;
  stream = publish_(stream, function, status);
  if (stream != NULL) eng_stream_announce(stream, true);
  return stream;
}

struct eng_stream *eng_stream_new_unlimited(struct eng_context *context, bool free_standing, uint32_t priority,
                                            uint32_t flags, const char *function, int32_t *status) {
  struct eng_stream *stream = make_(context, free_standing, priority, flags, function, status);
  return stream == NULL ? NULL : publish_(stream, function, status);
}

void eng_stream_dispose(void *object) {
  struct eng_stream *stream = object;
  if (stream->foreign && stream->id != 0) eng_foreign_end(stream);
  eng_queue_close(&stream->queue);
  eng_tags_free(stream->tags);
  eng_scratch_free(&stream->scratch);
  if (stream->reporter != NULL) eng_reporter_forget(stream);
  eng_failure_drop(stream->failure);
  eng_allocator_forget(stream);
  if (stream->limited) eng_limit_give(ENG_LIMIT_STREAMS, stream->device);
  eng_parker_close(&stream->parker);
  pthread_mutex_destroy(&stream->lock);
  eng_release(&stream->context->head);
  free(stream);
}

/* What was being made with the stream. */
static void abandon_(struct eng_stream *stream) {
  if (atomic_load(&stream->gate) & (ENG_GATE_CAPTURE | ENG_GATE_MODEL)) eng_capture_abandon(stream);
  if (atomic_load(&stream->gate) & ENG_GATE_UPDATE) eng_update_abandon(stream);
}

/* Refuses further tasks; an idle worker learns that it can end. True when there is a worker. The caller has a reference
 * of its own. */
static bool close_(struct eng_stream *stream, bool released) {
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  stream->closing = true;
  atomic_fetch_or(&stream->gate, ENG_GATE_CLOSED);
  stream->released = released;
  bool started = stream->worker_started;
  bool wake = stream->worker_sleeping;
  stream->worker_sleeping = false;
  pthread_mutex_unlock(&stream->lock);
  abandon_(stream); /* what another thread has begun since the first time: from here on nothing can be */
  if (wake) eng_unpark(&stream->parker);
  return started;
}

static void finish_unattended_(struct eng_stream *stream) {
  eng_retain(&stream->head); /* from here on a worker may end it */
  bool started = close_(stream, true);
  if (!eng_schedule_forget(stream) && !started) { /* else the schedule or the worker does the rest */
    eng_context_remove_stream(stream);
    eng_release(&stream->head);
  }
  eng_release(&stream->head);
}

void eng_stream_finish_waiting(struct eng_stream *stream) {
  abandon_(stream);
  if (eng_self()->worker_of == stream) { /* a host function ends its own stream's context: waiting would never end */
    eng_stream_finish_later(stream);
    return;
  }
  (void)close_(stream, false);
  bool drained = eng_stream_drain(stream);
  if (!drained && eng_stopping()) return; /* the worker may never end, so the stream is left behind */
  if (!drained) { /* a deadlock in a schedule: what can never run is dropped, and the schedule or the worker ends it */
    eng_stream_discard_queued(stream);
    finish_unattended_(stream);
    return;
  }
  eng_schedule_settle(stream); /* else its thread would end the stream as well */
  (void)eng_schedule_forget(stream);
  eng_worker_join(stream);
  eng_context_remove_stream(stream);
  eng_release(&stream->head);
}

void eng_stream_finish_later(struct eng_stream *stream) {
  abandon_(stream);
  finish_unattended_(stream);
}

/* ---- which stream a call means ---- */

int32_t eng_stream_refuse_dead(aclpy_handle stream, const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "stream", "a live stream",
                    "use a stream that has not been destroyed", "stream 0x%" PRIx64 ", %s", stream,
                    eng_handle_past_text(ENG_STREAM, stream));
}

static struct eng_stream *in_context_(struct eng_context *context, aclpy_handle handle, const char *function,
                                      int32_t *status) {
  struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle);
  if (stream == NULL) {
    *status = eng_stream_refuse_dead(handle, function);
    return NULL;
  }
  if (stream->context == context) return stream;
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CONTEXT, function, "stream", "a stream of the current context",
                       "call aclrtSetCurrentContext with the stream's context first",
                       "a stream of context 0x%" PRIx64 ", while context 0x%" PRIx64 " is in use",
                       stream->context->handle, context->handle);
  eng_release(&stream->head);
  return NULL;
}

struct eng_stream *eng_stream_resolve(aclpy_handle ctx, aclpy_handle handle, const char *function, int32_t *status) {
  if (ctx == 0 && handle != 0) { /* the common cases first: no context's references are touched */
    struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle);
    if (stream != NULL && stream->free_standing) return stream;
    if (stream != NULL && eng_context_is_current(stream->context) && !eng_stopping()) return stream;
    if (stream == NULL) { /* before the thread's context is missed: a dead handle belongs to none */
      *status = eng_stopping() ? eng_fail_stopped(function) : eng_stream_refuse_dead(handle, function);
      return NULL;
    }
    eng_release(&stream->head);
  }
  struct eng_context *context = eng_context_resolve(ctx, function, status);
  if (context == NULL) return NULL;
  struct eng_stream *stream = NULL;
  if (handle == 0) handle = eng_context_default_stream(context, function, status);
  if (handle != 0) stream = in_context_(context, handle, function, status);
  eng_release(&context->head);
  return stream;
}
