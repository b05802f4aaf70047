/* SPDX-License-Identifier: Apache-2.0
 * Waiting for a stream, and the failures that waiting brings to light.
 */
#include "aclpy_status.h"
#include "failure.h"
#include "memory.h"
#include "plan.h"
#include "stream.h"

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

static bool lendable_(const struct eng_task *task) {
  if (task->kind != ENG_TASK_RUN) return eng_task_ready(task);
  if (task->work != ENG_WORK_PLAN) return task->work != ENG_WORK_FOREIGN;
  return !task->u.plan.plan->calls;
}

static bool waiting_(struct eng_stream *stream) {
  return atomic_load_explicit(&stream->visible, memory_order_acquire) !=
         atomic_load_explicit(&stream->taken, memory_order_relaxed);
}

static bool borrow_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool free = !stream->worker_running && !stream->lent && !stream->inline_busy && !eng_stopping() && waiting_(stream);
  if (free) stream->lent = true;
  pthread_mutex_unlock(&stream->lock);
  return free;
}

static void give_back_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->lent = false;
  bool wake = stream->worker_sleeping && (waiting_(stream) || stream->closing || eng_stopping());
  if (wake) stream->worker_sleeping = false;
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
}

static void lend_a_hand_(struct eng_stream *stream, uint64_t target) {
  if (eng_self()->worker_of != NULL || !borrow_(stream)) return;
  while (!eng_stopping() && !reached_(stream, target) && waiting_(stream) &&
         lendable_(eng_queue_first(&stream->queue))) {
    eng_stream_run_next(stream);
  }
  give_back_(stream);
}

bool eng_stream_drain(struct eng_stream *stream) {
  uint64_t target = atomic_load(&stream->submitted);
  if (reached_(stream, target)) return true;
  lend_a_hand_(stream, target);
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
  while (!reached_(stream, target) && !eng_stopping()) eng_park(waiter.parker);
  pthread_mutex_lock(&stream->lock);
  remove_(stream, &waiter);
  set_next_target_(stream);
  pthread_mutex_unlock(&stream->lock);
  return reached_(stream, target);
}

static int32_t report_failure_(struct eng_stream *stream) {
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

int32_t eng_stream_synchronize(struct eng_stream *stream, const char *function) {
  if (eng_self()->worker_of == stream) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "stream", "a stream other than the caller's own",
                      "do not wait inside a host function for the stream that runs it",
                      "the stream whose task is making this call: it would wait for itself");
  }
  if (!eng_stream_drain(stream)) return eng_fail_stopped(function);
  return report_failure_(stream);
}

void eng_stream_fail(struct eng_stream *stream, struct eng_task *task, int32_t status) {
  struct eng_failure *failure = eng_failure_new(status, task->token, eng_task_name(task));
  const eng_hold *holds = eng_task_holds(task);
  for (uint32_t i = 0; i < task->n_holds; i++) eng_memory_fail(eng_hold_memory(holds[i]), failure);
  pthread_mutex_lock(&stream->lock);
  if (stream->failure == NULL) {
    stream->failure = eng_failure_share(failure);
    atomic_store(&stream->failed, true);
  }
  pthread_mutex_unlock(&stream->lock);
  eng_failure_drop(failure);
}
