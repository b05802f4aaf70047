/* SPDX-License-Identifier: Apache-2.0
 * The public calls that make, end and wait for streams, and the one that queues host functions.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "bench.h"
#include "callback.h"
#include "context.h"
#include "door.h"
#include "failure.h"
#include "model.h"
#include "schedule.h"
#include "stream.h"
#include "stream_state.h"
#include "text.h"

int32_t aclpy_stream_create(aclpy_handle ctx, uint32_t priority, uint32_t flags, aclpy_handle *stream) {
  static const char function[] = "aclrtCreateStream";
  if (stream == NULL) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_stream *made = eng_stream_new(context, ctx != 0, priority, flags, function, &status);
  if (made != NULL) {
    *stream = made->handle;
    eng_release(&made->head);
  }
  eng_release(&context->head);
  return status;
}

/* ---- the end ---- */

static bool is_default_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->context->lock);
  bool yes = stream->context->default_stream == stream->handle;
  pthread_mutex_unlock(&stream->context->lock);
  return yes;
}

static int32_t check_destroy_(struct eng_stream *stream, bool force, const char *function) {
  if (eng_self()->worker_of == stream && !force) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "stream", "a stream other than the caller's own",
                      "destroy it from another thread",
                      "the stream whose task is making this call: it would wait for itself");
  }
  if (is_default_(stream)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "stream", "a stream that aclrtCreateStream made",
                      "the default stream goes with its context", "the default stream of its context");
  }
  int32_t status = eng_stream_check_bound(stream, function);
  if (status == ACLPY_ACL_SUCCESS) status = eng_stream_check_captured(stream, function);
  if (status == ACLPY_ACL_SUCCESS && !force) status = eng_stream_check_own_callbacks(stream, ENG_NEVER, function);
  return status;
}

enum end_ { WAIT, WAIT_AND_TELL, FORCE };

static int32_t end_waiting_(struct eng_stream *stream, bool tell, const char *function) {
  eng_stream_finish_waiting(stream);
  if (eng_schedule_stuck()) return eng_stream_refuse_timeout(stream, function);
  if (eng_stopping()) return eng_fail_stopped(function);
  return tell ? eng_stream_report_failure(stream) : ACLPY_ACL_SUCCESS;
}

static int32_t destroy_(aclpy_handle ctx, aclpy_handle stream, enum end_ how, const char *function) {
  if (eng_stopping()) return eng_fail_stopped(function);
  if (stream == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  status = check_destroy_(found, how == FORCE, function);
  if (status == ACLPY_ACL_SUCCESS) {
    eng_stream_announce(found, false);
    if (eng_handle_close(ENG_STREAM, stream, false) == NULL) {
      status = eng_stream_refuse_dead(stream, function);
    } else if (how == FORCE) {
      if (!eng_stream_empty(found)) eng_stream_tell_abort(found); /* to who waits for it */
      eng_stream_discard_queued(found);
      eng_reporter_leave(found);
      eng_stream_finish_later(found);
    } else {
      status = end_waiting_(found, how == WAIT_AND_TELL, function);
    }
  }
  eng_release(&found->head);
  return status;
}

int32_t aclpy_stream_destroy(aclpy_handle ctx, aclpy_handle stream) {
  return destroy_(ctx, stream, WAIT, "aclrtDestroyStream");
}

int32_t aclpy_stream_close(aclpy_handle ctx, aclpy_handle stream) {
  return destroy_(ctx, stream, WAIT_AND_TELL, "aclrtDestroyStream");
}

int32_t aclpy_stream_destroy_force(aclpy_handle ctx, aclpy_handle stream) {
  return destroy_(ctx, stream, FORCE, "aclrtDestroyStreamForce");
}

int32_t aclpy_stream_release(aclpy_handle stream) {
  static const char function[] = "Stream.close";
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_stream *found = eng_handle_close(ENG_STREAM, stream, false);
  if (found == NULL) return ACLPY_ACL_ERROR_RT_INVALID_HANDLE; /* gone with its context: no mistake, so no message */
  eng_stream_finish_later(found);
  return ACLPY_ACL_SUCCESS;
}

/* ---- which one ---- */

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
  if (found == NULL) return eng_stream_refuse_dead(stream, function);
  *ctx = found->context->handle;
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

/* ---- waiting and asking ---- */

static int32_t synchronize_(aclpy_handle ctx, aclpy_handle stream, int64_t deadline_ns, const char *function) {
  if (eng_stopping()) return eng_fail_stopped(function);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found;
  if (stream != 0) { /* allowed across contexts */
    found = eng_handle_acquire(ENG_STREAM, stream);
    if (found == NULL) return eng_stream_refuse_dead(stream, function);
  } else {
    found = eng_stream_resolve(ctx, 0, function, &status);
    if (found == NULL) return status;
  }
  status = eng_stream_synchronize_until(found, deadline_ns, function);
  eng_release(&found->head);
  return status;
}

int32_t aclpy_stream_synchronize(aclpy_handle ctx, aclpy_handle stream) {
  return synchronize_(ctx, stream, ENG_NEVER, "aclrtSynchronizeStream");
}

/* The failure is looked at last: it is set before its task counts as completed. */
int32_t aclpy_stream_is_quiet(aclpy_handle stream) {
  if (!eng_stopping() && eng_door_quiet(stream)) return 1;
  struct eng_stream *found = eng_stopping() ? NULL : eng_handle_acquire(ENG_STREAM, stream);
  if (found == NULL) return 0;
  bool quiet = atomic_load_explicit(&found->gate, memory_order_relaxed) == 0 &&
               atomic_load_explicit(&found->blocking_callbacks, memory_order_relaxed) == 0 && eng_stream_empty(found) &&
               !atomic_load(&found->failed) && !atomic_load(&found->exposed);
  eng_release(&found->head);
  return quiet;
}

int32_t aclpy_stream_synchronize_with_timeout(aclpy_handle ctx, aclpy_handle stream, int32_t timeout_ms) {
  static const char function[] = "aclrtSynchronizeStreamWithTimeout";
  int64_t deadline_ns;
  int32_t status = eng_deadline_of_ms(timeout_ms, function, &deadline_ns);
  return status == ACLPY_ACL_SUCCESS ? synchronize_(ctx, stream, deadline_ns, function) : status;
}

int32_t aclpy_stream_query(aclpy_handle ctx, aclpy_handle stream, int32_t *state) {
  static const char function[] = "aclrtStreamQuery";
  if (state == NULL) return eng_fail_null(function, "status");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  unsigned gate = atomic_load(&found->gate);
  bool complete = (gate & ENG_GATE_PERSISTENT) != 0 || eng_stream_empty(found);
  if (!(gate & ENG_GATE_PERSISTENT)) status = eng_stream_check_captured(found, function);
  if (status == ACLPY_ACL_SUCCESS && (gate & ENG_GATE_STOPPED) != 0)
    status = eng_context_report_stopped(found->context);
  if (status == ACLPY_ACL_SUCCESS) *state = complete ? 0 : 1;
  if (!complete && eng_scheduling()) eng_schedule_asked();
  if (!complete) eng_worker_hurry(found); /* who asks again shall hear */
  eng_release(&found->head);
  return status;
}

/* ---- host functions ---- */

static int32_t submit_foreign_(struct eng_stream *stream, const struct eng_task *task, const char *function) {
  int32_t status = eng_reporter_claim_host_functions(stream, function);
  return status == ACLPY_ACL_SUCCESS ? eng_stream_submit(stream, task, function, NULL) : status;
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
    status = submit_foreign_(found, &task, function);
    eng_release(&found->head);
  }
  if (status != ACLPY_ACL_SUCCESS && drop != NULL) drop(arg); /* exactly once, also when nothing was queued */
  return status;
}
