/* SPDX-License-Identifier: Apache-2.0
 * Contexts: the objects, the thread's choice among them, and the public calls on explicit ones.
 */
#include "context.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "callback.h"
#include "capture.h"
#include "device.h"
#include "failure.h"
#include "fault.h"
#include "stream.h"
#include "stream_state.h"
#include "thread.h"

struct eng_context *eng_context_new(int32_t device, bool primary, const char *function, int32_t *status) {
  struct eng_context *context = eng_object_zalloc(sizeof(*context));
  if (context != NULL) {
    context->device = device;
    context->primary = primary;
    pthread_mutex_init(&context->lock, NULL);
    if (eng_handle_open(ENG_CONTEXT, &context->head, &context->handle)) return context;
    pthread_mutex_destroy(&context->lock);
    free(context);
  }
  *status = eng_fail_memory(function, "a context");
  return NULL;
}

void eng_context_dispose(void *object) {
  struct eng_context *context = object;
  eng_failure_drop(context->stopped);
  pthread_mutex_destroy(&context->lock);
  free(context);
}

void eng_context_end(struct eng_context *context, bool wait) {
  if (eng_handle_close(ENG_CONTEXT, context->handle, false) == NULL) return;
  pthread_mutex_lock(&context->lock);
  context->closing = true;
  pthread_mutex_unlock(&context->lock);
  eng_context_end_streams(context, ENG_STREAMS_ALL, wait);
  eng_release(&context->head);
}

/* ---- which context a call means ---- */

static struct eng_context *slot_acquire_(const struct eng_context_slot *slot) {
  if (slot->handle == 0) return NULL;
  struct eng_context *context = eng_handle_acquire(ENG_CONTEXT, slot->handle);
  if (context == NULL || !context->primary || eng_device_epoch(context->device) == slot->epoch) return context;
  eng_release(&context->head);
  return NULL;
}

struct eng_context *eng_context_current(void) {
  const struct eng_thread *self = eng_self();
  struct eng_context *context = slot_acquire_(&self->explicit_context);
  return context != NULL ? context : slot_acquire_(&self->primary_context);
}

/* Whether the slot means that context; no reference is taken. */
static bool slot_means_(const struct eng_context_slot *slot, const struct eng_context *context) {
  struct eng_spot spot;
  return slot->handle == context->handle && eng_handle_spot(ENG_CONTEXT, slot->handle, &spot) &&
         eng_spot_lives(&spot) && (!context->primary || eng_device_epoch(context->device) == slot->epoch);
}

bool eng_context_is_current(const struct eng_context *context) {
  const struct eng_thread *self = eng_self();
  if (self->explicit_context.handle != 0) return slot_means_(&self->explicit_context, context);
  return slot_means_(&self->primary_context, context);
}

struct eng_context *eng_context_resolve(aclpy_handle ctx, const char *function, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
    return NULL;
  }
  struct eng_context *context = ctx == 0 ? eng_context_current() : eng_handle_acquire(ENG_CONTEXT, ctx);
  if (context == NULL && ctx == 0 && eng_device_use_default()) context = eng_context_current();
  if (context != NULL) return context;
  if (ctx == 0) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_CONTEXT_NULL, function, "", "a current context in this thread",
                         "call aclrtSetDevice or aclrtSetCurrentContext in this thread first",
                         "a thread without a current context");
  } else {
    *status =
        aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "context", "a live context", "open the device again",
                   "context 0x%" PRIx64 ", %s", ctx, eng_handle_past_text(ENG_CONTEXT, ctx));
  }
  return NULL;
}

/* ---- the streams of a context ---- */

static _Atomic uint64_t stream_ids_;

bool eng_context_add_stream(struct eng_context *context, struct eng_stream *stream) {
  pthread_mutex_lock(&context->lock);
  bool open = !context->closing;
  if (open) {
    stream->id = atomic_fetch_add(&stream_ids_, 1) + 1; /* under the lock: walks go by the order of ids */
    stream->previous = context->last;
    stream->next = NULL;
    if (context->last != NULL) context->last->next = stream;
    if (context->first == NULL) context->first = stream;
    context->last = stream;
  }
  pthread_mutex_unlock(&context->lock);
  return open;
}

void eng_context_remove_stream(struct eng_stream *stream) {
  struct eng_context *context = stream->context;
  pthread_mutex_lock(&context->lock);
  if (stream->previous != NULL) stream->previous->next = stream->next;
  if (stream->next != NULL) stream->next->previous = stream->previous;
  if (context->first == stream) context->first = stream->next;
  if (context->last == stream) context->last = stream->previous;
  stream->previous = stream->next = NULL;
  if (context->default_stream == stream->handle) context->default_stream = 0;
  pthread_mutex_unlock(&context->lock);
}

aclpy_handle eng_context_default_stream(struct eng_context *context, const char *function, int32_t *status) {
  pthread_mutex_lock(&context->lock);
  aclpy_handle known = context->default_stream;
  pthread_mutex_unlock(&context->lock);
  if (known != 0) return known;
  struct eng_stream *stream = eng_stream_new(context, false, 0, 0, function, status);
  if (stream == NULL) return 0;
  pthread_mutex_lock(&context->lock);
  if (context->default_stream == 0) context->default_stream = stream->handle;
  known = context->default_stream;
  pthread_mutex_unlock(&context->lock);
  if (known != stream->handle) { /* another thread was first */
    aclpy_handle mine = stream->handle;
    if (eng_handle_close(ENG_STREAM, mine, false) != NULL) eng_stream_finish_later(stream);
  }
  eng_release(&stream->head);
  return known;
}

struct eng_stream *eng_context_next_stream(struct eng_context *context, int sorts, uint64_t id) {
  pthread_mutex_lock(&context->lock);
  struct eng_stream *stream = context->first;
  for (; stream != NULL; stream = stream->next) {
    int sort = stream->free_standing ? ENG_STREAMS_FREE_STANDING : ENG_STREAMS_ORDINARY;
    if (stream->id > id && (sort & sorts) != 0) break;
  }
  if (stream != NULL) eng_retain(&stream->head); /* a listed stream has an owner */
  pthread_mutex_unlock(&context->lock);
  return stream;
}

void eng_context_end_streams(struct eng_context *context, int sorts, bool wait) {
  uint64_t id = 0;
  for (struct eng_stream *stream; (stream = eng_context_next_stream(context, sorts, id)) != NULL;) {
    id = stream->id;
    if (stream->limited && !eng_stopping()) eng_stream_announce(stream, false);
    if (wait && eng_reporter_waits_for_itself(stream)) eng_reporter_leave(stream); /* nobody else calls them */
    if (eng_handle_close(ENG_STREAM, stream->handle, false) != NULL) {
      if (wait) {
        eng_stream_finish_waiting(stream);
      } else {
        eng_reporter_leave(stream);
        eng_stream_finish_later(stream);
      }
    } else if (wait) {
      (void)eng_stream_drain(stream); /* somebody else is ending it; its work still counts */
    }
    eng_release(&stream->head);
  }
}

static int32_t synchronize_(aclpy_handle ctx, int64_t deadline_ns, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  status = eng_capture_check_context(context, function);
  uint64_t id = status == ACLPY_ACL_SUCCESS ? 0 : UINT64_MAX;
  for (struct eng_stream *stream; (stream = eng_context_next_stream(context, ENG_STREAMS_ALL, id)) != NULL;) {
    id = stream->id;
    int32_t one = eng_stream_synchronize_until(stream, deadline_ns, function);
    if (status == ACLPY_ACL_SUCCESS) status = one;
    eng_release(&stream->head);
    if (eng_stopping()) break;
  }
  /* A stream that had nothing to do says nothing about the others. */
  if (status == ACLPY_ACL_SUCCESS && eng_stopping()) status = eng_fail_stopped(function);
  eng_release(&context->head);
  return status;
}

int32_t aclpy_synchronize_device(aclpy_handle ctx) { return synchronize_(ctx, ENG_NEVER, "aclrtSynchronizeDevice"); }

int32_t aclpy_synchronize_device_with_timeout(aclpy_handle ctx, int32_t timeout_ms) {
  static const char function[] = "aclrtSynchronizeDeviceWithTimeout";
  int64_t deadline_ns;
  int32_t status = eng_deadline_of_ms(timeout_ms, function, &deadline_ns);
  return status == ACLPY_ACL_SUCCESS ? synchronize_(ctx, deadline_ns, function) : status;
}

/* ---- public calls on explicit contexts ---- */

int32_t aclpy_context_create(int32_t device, aclpy_handle *ctx) {
  static const char function[] = "aclrtCreateContext";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (ctx == NULL) return eng_fail_null(function, "context");
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_new(device, false, function, &status);
  if (context == NULL) return status;
  if (eng_context_default_stream(context, function, &status) == 0) {
    eng_context_end(context, false);
    return status;
  }
  *ctx = context->handle;
  struct eng_thread *self = eng_self();
  self->explicit_context = (struct eng_context_slot){.handle = context->handle};
  self->primary_context = (struct eng_context_slot){0};
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_context_destroy(aclpy_handle ctx) {
  static const char function[] = "aclrtDestroyContext";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (ctx == 0) return eng_fail_null(function, "context");
  struct eng_context *context = eng_handle_acquire(ENG_CONTEXT, ctx);
  if (context == NULL || context->primary) {
    const bool primary = context != NULL;
    const char *what = primary ? "the default context of a device" : eng_handle_past_text(ENG_CONTEXT, ctx);
    if (context != NULL) eng_release(&context->head);
    return aclpy_fail(ACLPY_ACL_ERROR_RT_CONTEXT_NULL, function, "context", "a context made by aclrtCreateContext",
                      primary ? "the default context goes with aclrtResetDevice"
                              : "destroy each context once, by the handle that aclrtCreateContext gave",
                      "context 0x%" PRIx64 ", %s", ctx, what);
  }
  eng_context_end(context, true);
  eng_release(&context->head);
  return eng_stopping() ? eng_fail_stopped(function) : ACLPY_ACL_SUCCESS;
}

int32_t aclpy_context_set_current(aclpy_handle ctx) {
  static const char function[] = "aclrtSetCurrentContext";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (ctx == 0) return eng_fail_null(function, "context");
  struct eng_context *context = eng_handle_acquire(ENG_CONTEXT, ctx);
  uint64_t epoch = context == NULL || !context->primary ? 0 : eng_device_epoch(context->device);
  bool usable = context != NULL && (!context->primary || epoch != 0);
  if (context != NULL) eng_release(&context->head);
  if (!usable) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "context", "a live context",
                      "create a context or call aclrtSetDevice", "context 0x%" PRIx64 ", %s", ctx,
                      context != NULL ? "given up by aclrtResetDevice" : eng_handle_past_text(ENG_CONTEXT, ctx));
  }
  struct eng_thread *self = eng_self();
  self->explicit_context = (struct eng_context_slot){.handle = ctx, .epoch = epoch};
  self->primary_context = (struct eng_context_slot){0};
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_context_get_current(aclpy_handle *ctx) {
  static const char function[] = "aclrtGetCurrentContext";
  if (ctx == NULL) return eng_fail_null(function, "context");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(0, function, &status);
  if (context == NULL) return status;
  *ctx = context->handle;
  eng_release(&context->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_context_device(aclpy_handle ctx, int32_t *device) {
  static const char function[] = "aclrtGetDevice";
  if (device == NULL) return eng_fail_null(function, "deviceId");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  *device = context->device;
  eng_release(&context->head);
  return ACLPY_ACL_SUCCESS;
}
