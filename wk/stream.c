/* SPDX-License-Identifier: Apache-2.0
 * Streams: making, finding and ending them, and the public calls on them.
 */
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "text.h"

static _Atomic uint64_t ids_;

static bool init_(struct eng_stream *stream) {
  pthread_mutex_init(&stream->lock, NULL);
  eng_parker_init(&stream->parker);
  atomic_store(&stream->next_target, UINT64_MAX);
  stream->id = atomic_fetch_add(&ids_, 1) + 1;
  return eng_handle_open(ENG_STREAM, &stream->head, &stream->handle);
}

struct eng_stream *eng_stream_new(struct eng_context *context, bool free_standing, uint32_t priority, uint32_t flags,
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
  stream->device = context->device;
  stream->context = context;
  eng_retain(&context->head);
  if (eng_context_add_stream(context, stream)) return stream;
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_CONTEXT_NULL, function, "", "a context that is not being destroyed",
                       "create the stream before the context goes", "a context on its way out");
  if (eng_handle_close(ENG_STREAM, stream->handle, false) != NULL) eng_release(&stream->head);
  return NULL;
}

void eng_stream_dispose(void *object) {
  struct eng_stream *stream = object;
  eng_queue_close(&stream->queue);
  eng_scratch_free(&stream->scratch);
  eng_failure_drop(stream->failure);
  eng_parker_close(&stream->parker);
  pthread_mutex_destroy(&stream->lock);
  eng_release(&stream->context->head);
  free(stream);
}

/* Refuses further tasks; an idle worker learns that it can end. True when there is a worker. */
static bool close_(struct eng_stream *stream, bool released) {
  pthread_mutex_lock(&stream->lock);
  stream->closing = true;
  stream->released = released;
  bool started = stream->worker_started;
  bool wake = stream->worker_sleeping;
  stream->worker_sleeping = false;
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
  return started;
}

void eng_stream_finish_waiting(struct eng_stream *stream) {
  if (eng_self()->worker_of == stream) { /* a host function ends its own stream's context: waiting would never end */
    eng_stream_finish_later(stream);
    return;
  }
  (void)close_(stream, false);
  if (!eng_stream_drain(stream)) return; /* shutdown: the worker may never end, so the stream is left behind */
  eng_worker_join(stream);
  eng_context_remove_stream(stream);
  eng_release(&stream->head);
}

void eng_stream_finish_later(struct eng_stream *stream) {
  if (close_(stream, true)) return; /* the worker does the rest */
  eng_context_remove_stream(stream);
  eng_release(&stream->head);
}

/* ---- which stream a call means ---- */

static int32_t refuse_dead_(aclpy_handle stream, const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "stream", "a live stream",
                    "use a stream that has not been destroyed", "stream 0x%" PRIx64 ", %s", stream,
                    eng_handle_past_text(ENG_STREAM, stream));
}

static struct eng_stream *in_context_(struct eng_context *context, aclpy_handle handle, const char *function,
                                      int32_t *status) {
  struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle);
  if (stream == NULL) {
    *status = refuse_dead_(handle, function);
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
  if (ctx == 0 && handle != 0) { /* the common case first: no context is touched for a free-standing stream */
    struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle);
    if (stream != NULL && stream->free_standing) return stream;
    if (stream == NULL) { /* before the thread's context is missed: a dead handle belongs to none */
      *status = eng_stopping() ? eng_fail_stopped(function) : refuse_dead_(handle, function);
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

/* ---- public calls ---- */

int32_t aclpy_stream_create(aclpy_handle ctx, uint32_t priority, uint32_t flags, aclpy_handle *stream) {
  static const char function[] = "aclrtCreateStream";
  if (stream == NULL) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_stream *made = eng_stream_new(context, ctx != 0, priority, flags, function, &status);
  if (made != NULL) *stream = made->handle;
  eng_release(&context->head);
  return status;
}

int32_t aclpy_stream_destroy(aclpy_handle ctx, aclpy_handle stream) {
  static const char function[] = "aclrtDestroyStream";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (stream == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  if (eng_self()->worker_of == found) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "stream", "a stream other than the caller's own",
                        "destroy it from another thread",
                        "the stream whose task is making this call: it would wait for itself");
  } else if (eng_handle_close(ENG_STREAM, stream, false) == NULL) {
    status = refuse_dead_(stream, function);
  } else {
    eng_stream_finish_waiting(found);
    if (eng_stopping()) status = eng_fail_stopped(function);
  }
  eng_release(&found->head);
  return status;
}

int32_t aclpy_stream_release(aclpy_handle stream) {
  static const char function[] = "Stream.close";
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_stream *found = eng_handle_close(ENG_STREAM, stream, false);
  if (found == NULL) return ACLPY_ACL_ERROR_RT_INVALID_HANDLE; /* gone with its context: no mistake, so no message */
  eng_stream_finish_later(found);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_default(aclpy_handle ctx, aclpy_handle *stream) {
  static const char function[] = "aclrtCtxGetCurrentDefaultStream";
  if (stream == NULL) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  aclpy_handle found = eng_context_default_stream(context, function, &status);
  if (found != 0) *stream = found;
  eng_release(&context->head);
  return status;
}

int32_t aclpy_stream_context(aclpy_handle stream, aclpy_handle *ctx) {
  static const char function[] = "Stream.context";
  if (ctx == NULL) return eng_fail_null(function, "context");
  struct eng_stream *found = eng_handle_acquire(ENG_STREAM, stream);
  if (found == NULL) return refuse_dead_(stream, function);
  *ctx = found->context->handle;
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_synchronize(aclpy_handle ctx, aclpy_handle stream) {
  static const char function[] = "aclrtSynchronizeStream";
  if (eng_stopping()) return eng_fail_stopped(function);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found;
  if (stream != 0) { /* allowed across contexts */
    found = eng_handle_acquire(ENG_STREAM, stream);
    if (found == NULL) return refuse_dead_(stream, function);
  } else {
    found = eng_stream_resolve(ctx, 0, function, &status);
    if (found == NULL) return status;
  }
  status = eng_stream_synchronize(found, function);
  eng_release(&found->head);
  return status;
}

int32_t aclpy_stream_query(aclpy_handle ctx, aclpy_handle stream, int32_t *status) {
  static const char function[] = "aclrtStreamQuery";
  if (status == NULL) return eng_fail_null(function, "status");
  int32_t failure = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &failure);
  if (found == NULL) return failure;
  *status = eng_stream_empty(found) ? 0 : 1;
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_submit(aclpy_handle ctx, aclpy_handle stream, const char *label, aclpy_task_run run, aclpy_task_drop drop,
                     void *arg, uint64_t token) {
  static const char function[] = "aclrtLaunchHostFunc";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_FOREIGN);
  task.token = token;
  task.u.foreign.run = run;
  task.u.foreign.drop = drop;
  task.u.foreign.arg = arg;
  eng_text(task.u.foreign.label, sizeof(task.u.foreign.label), "%s", label == NULL ? "host function" : label);
  struct eng_stream *found = NULL;
  if (run == NULL) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "fn", "a function", "", "NULL");
  } else {
    found = eng_stream_resolve(ctx, stream, function, &status);
  }
  if (found != NULL) {
    status = eng_stream_submit(found, &task, function, NULL);
    eng_release(&found->head);
  }
  if (status != ACLPY_ACL_SUCCESS && drop != NULL) drop(arg); /* exactly once, also when nothing was queued */
  return status;
}
