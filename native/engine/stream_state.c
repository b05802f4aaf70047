/* SPDX-License-Identifier: Apache-2.0
 * Gates, aborts, and contexts that stop on the first failure.
 */
#include "stream_state.h"

#include <inttypes.h>

#include "aclpy_status.h"
#include "context.h"
#include "door.h"
#include "failure.h"
#include "lot.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

int32_t eng_deadline_of_ms(int32_t timeout_ms, const char *function, int64_t *deadline_ns) {
  if (timeout_ms < -1 || timeout_ms == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "timeout", "-1 (for ever) or more than 0 ms",
                      "pass -1, or the milliseconds to wait", "%" PRId32, timeout_ms);
  }
  *deadline_ns = timeout_ms < 0 ? ENG_NEVER : eng_clock_ns() + (int64_t)timeout_ms * 1000000;
  return ACLPY_ACL_SUCCESS;
}

/* ---- gates ---- */

static int32_t refuse_closed_(const struct eng_stream *stream, const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "stream", "a live stream", "create a new stream",
                    "stream 0x%" PRIx64 ", which is being destroyed", stream->handle);
}

int32_t eng_stream_refuse_gate(const struct eng_stream *stream, const char *function) {
  unsigned gate = atomic_load(&stream->gate);
  if (gate & ENG_GATE_CLOSED) return refuse_closed_(stream, function);
  if (gate & ENG_GATE_STOPPED) return eng_context_report_stopped(stream->context);
  if (gate & ENG_GATE_DEVICE) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream that the host may use",
                      "create it without ACL_STREAM_DEVICE_USE_ONLY", "a stream for the device only");
  }
  if ((gate & ENG_GATE_PERSISTENT) && !(gate & ENG_GATE_CAPTURE)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, "stream", "a persistent stream bound to a model",
                      "call aclmdlRIBindStream first, or create the stream without ACL_STREAM_PERSISTENT", "%s",
                      gate & ENG_GATE_MODEL ? "a stream whose tasks have ended: aclmdlRIEndTask or aclmdlRIBuildEnd"
                                            : "a persistent stream that is bound to no model");
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t eng_stream_check_captured(struct eng_stream *stream, const char *function) {
  if (!(atomic_load(&stream->gate) & ENG_GATE_CAPTURE)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURED, function, "stream", "a stream that is not being captured",
                    "call aclmdlRICaptureEnd first", "stream 0x%" PRIx64 ", which is being captured", stream->handle);
}

int32_t eng_stream_synchronize_gated(struct eng_stream *stream, const char *function, bool *done) {
  unsigned gate = atomic_load(&stream->gate);
  *done = true;
  if (gate & (ENG_GATE_PERSISTENT | ENG_GATE_DEVICE)) return ACLPY_ACL_SUCCESS;
  if (gate & ENG_GATE_CAPTURE) return eng_stream_check_captured(stream, function);
  *done = false;
  return ACLPY_ACL_SUCCESS;
}

int32_t eng_stream_refuse_timeout(const struct eng_stream *stream, const char *function) {
  if (eng_schedule_stuck()) return eng_schedule_refuse_stuck(ACLPY_ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function, "timeout", "a stream that ends its work in time",
                    "wait longer, or find out what its tasks are waiting for",
                    "stream 0x%" PRIx64 " with %" PRIu64 " tasks left", stream->handle,
                    atomic_load(&stream->submitted) - atomic_load(&stream->completed));
}

/* ---- aborting ---- */

void eng_stream_discard_queued(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  if (atomic_load(&stream->discard_until) < stream->queued) atomic_store(&stream->discard_until, stream->queued);
  pthread_mutex_unlock(&stream->lock);
  eng_lot_interrupt(stream);
}

static int32_t fail_aborted_(const struct eng_stream *stream) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_ABORT, "aclrtStreamAbort or aclrtDestroyStreamForce", "stream", "",
                    "queue the discarded work again where it is still wanted",
                    "stream 0x%" PRIx64 ", which was aborted", stream->handle);
}

int32_t eng_stream_report_abort(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  struct eng_failure *failure = stream->failure;
  stream->failure = NULL;
  atomic_store(&stream->failed, false);
  pthread_mutex_unlock(&stream->lock);
  eng_failure_drop(failure);
  return fail_aborted_(stream);
}

void eng_stream_tell_abort(struct eng_stream *stream) {
  (void)fail_aborted_(stream);
  struct eng_failure *failure = eng_failure_new(ACLPY_ACL_ERROR_RT_STREAM_ABORT, 0, NULL);
  aclpy_error_clear();
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  struct eng_failure *old = stream->failure;
  stream->failure = failure;
  atomic_store(&stream->failed, true);
  pthread_mutex_unlock(&stream->lock);
  eng_failure_drop(old);
  atomic_fetch_add(&stream->aborts, 1);
}

static int32_t abort_(struct eng_stream *stream, const char *function) {
  int32_t status = eng_stream_check_captured(stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  eng_stream_tell_abort(stream);
  eng_stream_discard_queued(stream);
  return status;
}

int32_t aclpy_stream_abort(aclpy_handle ctx, aclpy_handle handle) {
  static const char function[] = "aclrtStreamAbort";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = eng_stream_resolve(ctx, handle, function, &status);
  if (stream == NULL) return status;
  status = abort_(stream, function);
  eng_release(&stream->head);
  return status;
}

int32_t aclpy_context_abort(aclpy_handle ctx) {
  static const char function[] = "Context.abort";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  uint64_t id = 0;
  for (struct eng_stream *stream; (stream = eng_context_next_stream(context, ENG_STREAMS_ALL, id)) != NULL;) {
    id = stream->id;
    int32_t one = eng_stream_empty(stream) ? ACLPY_ACL_SUCCESS : abort_(stream, function);
    if (status == ACLPY_ACL_SUCCESS) status = one;
    eng_release(&stream->head);
  }
  eng_release(&context->head);
  return status;
}

int32_t aclpy_stream_stop(aclpy_handle ctx, aclpy_handle handle) {
  static const char function[] = "aclrtStreamStop";
  if (handle == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "stream", "a stream other than NULL", "", "NULL");
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = eng_stream_resolve(ctx, handle, function, &status);
  if (stream == NULL) return status;
  if (!eng_stream_empty(stream)) {
    atomic_store(&stream->stop_task, atomic_load(&stream->taken));
    eng_lot_interrupt(stream);
  }
  eng_release(&stream->head);
  return status;
}

/* ---- a whole context ---- */

void eng_context_stop(struct eng_context *context, struct eng_failure *failure) {
  pthread_mutex_lock(&context->lock);
  bool first = context->stopped == NULL;
  if (first) context->stopped = eng_failure_share(failure);
  for (struct eng_stream *stream = context->first; first && stream != NULL; stream = stream->next) {
    atomic_fetch_or(&stream->gate, ENG_GATE_STOPPED);
    eng_door_bolt(stream);
    atomic_store(&stream->discard_until, UINT64_MAX);
  }
  pthread_mutex_unlock(&context->lock);
  if (!first) return;
  pthread_mutex_lock(&context->lock);
  for (struct eng_stream *stream = context->first; stream != NULL; stream = stream->next) eng_lot_interrupt(stream);
  pthread_mutex_unlock(&context->lock);
}

int32_t eng_context_report_stopped(struct eng_context *context) {
  pthread_mutex_lock(&context->lock);
  struct eng_failure *failure = context->stopped == NULL ? NULL : eng_failure_share(context->stopped);
  pthread_mutex_unlock(&context->lock);
  if (failure == NULL) return ACLPY_ACL_SUCCESS;
  eng_failure_mark_delivered(failure);
  int32_t status = eng_failure_report_stopped(failure);
  eng_failure_drop(failure);
  return status;
}
