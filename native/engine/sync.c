/* SPDX-License-Identifier: Apache-2.0
 * Waiting for a stream, and the failures that waiting brings to light.
 */
#include "aclpy_status.h"
#include "bench.h"
#include "callback.h"
#include "context.h"
#include "door.h"
#include "exception.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "plan.h"
#include "schedule.h"
#include "stream.h"
#include "stream_state.h"
#include "watch.h"

struct eng_sync_waiter {
  struct eng_parker *parker;
  uint64_t target;
  struct eng_sync_waiter *next;
};

/* Under the lock: the smallest target that has not been reached. */
static void set_next_target_(struct eng_stream *stream) {
  uint64_t completed = atomic_load(&stream->completed);
  uint64_t smallest = UINT64_MAX;
  for (struct eng_sync_waiter *waiter = stream->waiters; waiter != NULL; waiter = waiter->next) {
    if (waiter->target > completed && waiter->target < smallest) smallest = waiter->target;
  }
  atomic_store(&stream->next_target, smallest);
}

void eng_stream_wake_waiters(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  uint64_t completed = atomic_load(&stream->completed);
  for (struct eng_sync_waiter *waiter = stream->waiters; waiter != NULL; waiter = waiter->next) {
    if (waiter->target <= completed) eng_unpark(waiter->parker);
  }
  set_next_target_(stream);
  pthread_mutex_unlock(&stream->lock);
}

static void remove_(struct eng_stream *stream, struct eng_sync_waiter *waiter) {
  struct eng_sync_waiter **link = &stream->waiters;
  while (*link != waiter) link = &(*link)->next;
  *link = waiter->next;
}

static bool reached_(struct eng_stream *stream, uint64_t target) { return atomic_load(&stream->completed) >= target; }

/* ---- a synchroniser lends its thread ----
 *
 * Waking a sleeping worker takes longer than many a task. So a thread that waits for a stream whose worker has not
 * begun yet runs the tasks itself, in order, as far as it waits for them and as they are our own code: never host
 * functions, which belong on the stream's thread, and never a wait that would block. */

static bool waiting_(struct eng_stream *stream) {
  return atomic_load_explicit(&stream->visible, memory_order_acquire) !=
         atomic_load_explicit(&stream->taken, memory_order_relaxed);
}

static bool borrow_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool free = !stream->worker_running && !stream->lent && !stream->inline_busy && !eng_stopping() && waiting_(stream);
  if (free) {
    stream->lent = true;
    eng_watch_cancel(stream);
  }
  pthread_mutex_unlock(&stream->lock);
  return free;
}

static void give_back_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->lent = false;
  bool left = waiting_(stream) && !(stream->foreign && stream->napping && !atomic_load(&stream->hurried));
  bool wake = stream->worker_sleeping && (left || stream->closing || eng_stopping());
  if (wake) stream->worker_sleeping = false;
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
}

static void lend_a_hand_(struct eng_stream *stream, uint64_t target) {
  if (eng_self()->worker_of != NULL || !borrow_(stream)) return;
  while (!eng_stopping() && !reached_(stream, target) && waiting_(stream) &&
         eng_task_lendable(eng_queue_first(&stream->queue))) {
    eng_stream_run_next(stream);
  }
  give_back_(stream);
}

struct goal_ {
  struct eng_stream *stream;
  uint64_t target;
};

static bool goal_reached_(void *arg) { return reached_(((struct goal_ *)arg)->stream, ((struct goal_ *)arg)->target); }

/* Under a schedule: its tasks run here. False: there is none. */
static bool drain_scheduled_(struct eng_stream *stream, uint64_t target, int64_t deadline_ns) {
  struct goal_ goal = {.stream = stream, .target = target};
  return eng_schedule_wait(&(struct eng_host_wait){
             .over = goal_reached_, .arg = &goal, .stream = stream, .deadline_ns = deadline_ns}) !=
         ENG_WAIT_INTERRUPTED;
}

/* Whether `target` was reached before the deadline and the engine's end. */
static bool drain_until_(struct eng_stream *stream, int64_t deadline_ns) {
  if (eng_door_busy(stream)) {
    pthread_mutex_lock(&stream->lock);
    eng_door_shut(stream); /* counts who is inside */
    pthread_mutex_unlock(&stream->lock);
  }
  uint64_t target = atomic_load(&stream->submitted);
  if (reached_(stream, target)) return true;
  if (eng_scheduling() && drain_scheduled_(stream, target, deadline_ns)) return reached_(stream, target);
  if (deadline_ns == ENG_NEVER) lend_a_hand_(stream, target); /* a task may take longer than the time that is left */
  if (reached_(stream, target)) return true;
  for (int round = eng_spin_rounds(); round > 0; round--) {
    eng_spin_pause();
    if (reached_(stream, target)) return true;
  }
  struct eng_sync_waiter waiter = {.parker = eng_parker_self(), .target = target};
  pthread_mutex_lock(&stream->lock);
  waiter.next = stream->waiters;
  stream->waiters = &waiter;
  /* Announced before the last look, while the worker completes before it looks for announcements: one sees the other.
   */
  if (target < atomic_load(&stream->next_target)) atomic_store(&stream->next_target, target);
  pthread_mutex_unlock(&stream->lock);
  eng_worker_hurry(stream);
  while (!reached_(stream, target) && !eng_stopping()) {
    if (!eng_park_patiently(waiter.parker, deadline_ns)) break;
  }
  pthread_mutex_lock(&stream->lock);
  remove_(stream, &waiter);
  set_next_target_(stream);
  pthread_mutex_unlock(&stream->lock);
  return reached_(stream, target);
}

bool eng_stream_drain(struct eng_stream *stream) { return drain_until_(stream, ENG_NEVER); }

int32_t eng_stream_report_failure(struct eng_stream *stream) {
  if (!atomic_load(&stream->failed)) return ACLPY_ACL_SUCCESS;
  pthread_mutex_lock(&stream->lock);
  struct eng_failure *failure = stream->failure;
  stream->failure = NULL;
  atomic_store(&stream->failed, false);
  pthread_mutex_unlock(&stream->lock);
  if (failure == NULL) return ACLPY_ACL_SUCCESS;
  eng_failure_mark_delivered(failure);
  int32_t status = eng_failure_report(failure);
  eng_failure_drop(failure);
  return status;
}

int32_t eng_stream_check_own_callbacks(struct eng_stream *stream, int64_t deadline_ns, const char *function) {
  enum { PATIENCE_NS = 1000000000 };
  if (!eng_reporter_waits_for_itself(stream)) return ACLPY_ACL_SUCCESS;
  /* A callback that has just been called may still be counted: only a wait that lasts is one that cannot end. */
  int64_t patience_ns = eng_clock_ns() + PATIENCE_NS;
  if (patience_ns >= deadline_ns || drain_until_(stream, patience_ns)) return ACLPY_ACL_SUCCESS;
  return eng_reporter_waits_for_itself(stream) ? eng_reporter_refuse_own_wait(function, "stream") : ACLPY_ACL_SUCCESS;
}

int32_t eng_stream_synchronize(struct eng_stream *stream, const char *function) {
  return eng_stream_synchronize_until(stream, ENG_NEVER, function);
}

int32_t eng_stream_synchronize_until(struct eng_stream *stream, int64_t deadline_ns, const char *function) {
  if (atomic_load_explicit(&stream->gate, memory_order_relaxed) != 0) {
    bool done = false;
    int32_t status = eng_stream_synchronize_gated(stream, function, &done);
    if (done) return status;
  }
  if (eng_self()->worker_of == stream) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "stream", "a stream other than the caller's own",
                      "do not wait inside a host function for the stream that runs it",
                      "the stream whose task is making this call: it would wait for itself");
  }
  if (atomic_load_explicit(&stream->blocking_callbacks, memory_order_relaxed) != 0) {
    int32_t status = eng_stream_check_own_callbacks(stream, deadline_ns, function);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  uint64_t aborts = atomic_load_explicit(&stream->aborts, memory_order_relaxed);
  if (!drain_until_(stream, deadline_ns)) {
    return eng_stopping() ? eng_fail_stopped(function) : eng_stream_refuse_timeout(stream, function);
  }
  if (atomic_load_explicit(&stream->aborts, memory_order_relaxed) != aborts) return eng_stream_report_abort(stream);
  if (atomic_load_explicit(&stream->gate, memory_order_relaxed) & ENG_GATE_STOPPED) {
    return eng_context_report_stopped(stream->context);
  }
  if (stream->foreign && atomic_load(&stream->exposed)) { /* the program's own work counts, too */
    int32_t status = eng_foreign_settle(stream);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  return eng_stream_report_failure(stream);
}

void eng_stream_fail(struct eng_stream *stream, struct eng_task *task, int32_t status) {
  struct eng_failure *failure = eng_failure_new(status, task->token, eng_task_name(task));
  eng_exception_report(stream, status);
  const eng_hold *holds = eng_task_holds(task);
  for (uint32_t i = 0; i < task->n_holds; i++) eng_memory_fail(eng_hold_memory(holds[i]), failure);
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  if (stream->failure == NULL) {
    stream->failure = eng_failure_share(failure);
    atomic_store(&stream->failed, true);
  }
  pthread_mutex_unlock(&stream->lock);
  if (atomic_load_explicit(&stream->context->stop_on_failure, memory_order_relaxed)) {
    eng_context_stop(stream->context, failure);
  }
  eng_failure_drop(failure);
}
