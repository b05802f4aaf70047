/* SPDX-License-Identifier: Apache-2.0
 * The worker of a stream: takes tasks in order, sleeps when there are none, and ends with its stream.
 *
 * Shutdown and the worker agree through two flags, each written before the other is read: the worker announces what it
 * is about to do and then looks whether the engine stops; shutdown says that it stops and then looks what the worker
 * does. So either the worker sees the stop, or shutdown sees the task. From then on only one of them touches the
 * queue: the one that finds `stolen` unset under the stream's lock.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "bell.h"
#include "bench.h"
#include "context.h"
#include "failure.h"
#include "foreign.h"
#include "settings.h"
#include "stream.h"

enum { IN_VAIN = 3, NAPS = 20, NAP_NS = 50000, FOREIGN_NAP_NS = 500000 };

/* Guards the list of workers and announces their ends. Taken after a stream's lock, never before one. */
static pthread_mutex_t list_lock_ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended_ = PTHREAD_COND_INITIALIZER;
static struct eng_stream *list_;

bool eng_worker_enter_foreign(void) {
  struct eng_stream *stream = eng_self()->worker_of;
  if (stream != NULL) atomic_store(&stream->activity, ENG_FOREIGN);
  if (eng_scheduling()) eng_bell_ring(); /* others need not wait for the end of what may never end */
  return !eng_stopping();
}

void eng_worker_leave_foreign(void) {
  struct eng_stream *stream = eng_self()->worker_of;
  if (stream != NULL) atomic_store(&stream->activity, ENG_IDLE);
}

static void complete_(struct eng_stream *stream) {
  uint64_t completed = atomic_fetch_add(&stream->completed, 1) + 1;
  if (completed >= atomic_load(&stream->next_target)) eng_stream_wake_waiters(stream);
}

static uint64_t taken_(const struct eng_stream *stream) {
  return atomic_load_explicit(&stream->taken, memory_order_relaxed);
}

void eng_stream_run_next(struct eng_stream *stream) {
  struct eng_task *task = eng_queue_next(&stream->queue);
  atomic_store_explicit(&stream->taken, taken_(stream) + 1, memory_order_relaxed);
  if (taken_(stream) <= atomic_load_explicit(&stream->discard_until, memory_order_relaxed)) {
    if (stream->foreign) eng_foreign_discarded(stream, task);
    eng_task_discard(task, ACLPY_ACL_ERROR_RT_STREAM_ABORT);
    complete_(stream);
    return;
  }
  int32_t status;
  if (stream->foreign) {
    status = eng_foreign_run(stream, task);
  } else {
    status = eng_bench() == 0 ? eng_task_run(stream, task) : eng_bench_run(stream, task);
  }
  if (status != ACLPY_ACL_SUCCESS) eng_stream_fail(stream, task, status);
  eng_task_drop(task);
  complete_(stream);
}

/* The worker's half of shutdown. */
static void drop_rest_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool mine = !stream->stolen;
  stream->stolen = true;
  uint64_t left = stream->queued - taken_(stream);
  pthread_mutex_unlock(&stream->lock);
  if (mine) eng_queue_peek(&stream->queue, left, eng_task_drop);
}

/* Under the lock, with nothing to run: whether nothing can come any more. */
static bool at_end_(const struct eng_stream *stream) {
  return eng_stopping() || (stream->closing && !stream->inline_busy && stream->queued == taken_(stream));
}

/* Under the lock. */
static bool waiting_(const struct eng_stream *stream) {
  return atomic_load_explicit(&stream->visible, memory_order_relaxed) != taken_(stream);
}

void eng_worker_hurry(struct eng_stream *stream) {
  if (!stream->foreign) return;
  atomic_store(&stream->hurried, true);
  eng_unpark(&stream->parker);
}

/* Under the lock: whether the worker has something to do at once. What a foreign device does needs nobody to look on:
 * the worker first rests for a nap, then lets go of all that has been done meanwhile by one wait; unless somebody waits
 * for that. */
static bool due_(const struct eng_stream *stream, bool rested) {
  if (!waiting_(stream)) return false;
  return !stream->foreign || rested || stream->closing || eng_stopping() || atomic_load(&stream->hurried) ||
         atomic_load(&stream->next_target) != UINT64_MAX;
}

/* To wake a sleeping thread can cost the host 20 us. Where synchronisers have taken all tasks lately, the worker naps:
 * nobody wakes it, and a task that nobody waits for begins when the NAP is over. After NAPS in which nothing ran it
 * sleeps until it is woken. With more than one thread the pool watches instead (watch.h), and naps would disturb it. */
static bool naps_(const struct eng_stream *stream, int naps) {
  if (stream->foreign) return naps < NAPS || (waiting_(stream) && !stream->lent);
  return stream->in_vain >= IN_VAIN && naps < NAPS && aclpy_thread_count() == 1;
}

/* Under the lock, which is given up meanwhile. True: for a whole nap. */
static bool sleep_(struct eng_stream *stream, int *naps, uint64_t *known) {
  bool nap = naps_(stream, *naps);
  int64_t span_ns = stream->foreign ? FOREIGN_NAP_NS : NAP_NS;
  stream->worker_sleeping = true;
  stream->napping = nap;
  pthread_mutex_unlock(&stream->lock);
  bool woken = eng_park_until(&stream->parker, nap ? eng_clock_ns() + span_ns : ENG_NEVER);
  pthread_mutex_lock(&stream->lock);
  stream->worker_sleeping = stream->napping = false;
  if (woken && stream->in_vain < IN_VAIN) stream->in_vain++;
  *naps = taken_(stream) == *known ? *naps + nap : 0;
  *known = taken_(stream);
  return nap && !woken;
}

/* True when there is something to run, and the queue is the worker's; false when the worker has to end. Sleeps in
 * between, also while the queue is lent. */
static bool await_work_(struct eng_stream *stream) {
  for (int round = stream->foreign ? 0 : eng_spin_rounds(); round > 0; round--) {
    if (atomic_load_explicit(&stream->visible, memory_order_acquire) != taken_(stream)) break;
    eng_spin_pause();
  }
  bool work = true, rested = false;
  int naps = 0;
  pthread_mutex_lock(&stream->lock);
  uint64_t known = taken_(stream);
  while (stream->lent || !due_(stream, rested)) {
    if (!stream->lent && !waiting_(stream)) {
      if (at_end_(stream)) {
        work = false;
        break;
      }
      if (stream->queued == taken_(stream)) eng_queue_rewind(&stream->queue);
    }
    rested = sleep_(stream, &naps, &known);
  }
  if (work) stream->in_vain = 0;
  if (work) atomic_store(&stream->hurried, false);
  stream->worker_running = work;
  pthread_mutex_unlock(&stream->lock);
  return work;
}

/* Of a foreign device's stream what there is by now: what comes meanwhile may rest again. */
static void run_all_(struct eng_stream *stream) {
  uint64_t end = stream->foreign ? atomic_load_explicit(&stream->visible, memory_order_acquire) : UINT64_MAX;
  while (!eng_stopping() && taken_(stream) < end &&
         atomic_load_explicit(&stream->visible, memory_order_acquire) != taken_(stream)) {
    eng_stream_run_next(stream);
  }
  pthread_mutex_lock(&stream->lock);
  stream->worker_running = false;
  pthread_mutex_unlock(&stream->lock);
}

static void enlist_(struct eng_stream *stream) {
  pthread_mutex_lock(&list_lock_);
  stream->worker_previous = NULL;
  stream->worker_next = list_;
  if (list_ != NULL) list_->worker_previous = stream;
  list_ = stream;
  pthread_mutex_unlock(&list_lock_);
}

/* The last thing shutdown or the destroyer may see of a worker. */
static void unlist_(struct eng_stream *stream) {
  pthread_mutex_lock(&list_lock_);
  if (stream->worker_previous != NULL) stream->worker_previous->worker_next = stream->worker_next;
  if (stream->worker_next != NULL) stream->worker_next->worker_previous = stream->worker_previous;
  if (list_ == stream) list_ = stream->worker_next;
  atomic_store(&stream->activity, ENG_EXITED);
  pthread_cond_broadcast(&ended_);
  pthread_mutex_unlock(&list_lock_);
}

/* Nobody joins the worker of a released stream, or one that shutdown ends: it sees to itself. */
static void leave_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool released = stream->released;
  bool alone = !stream->joined && (released || eng_stopping());
  if (alone) {
    stream->joined = true;
    if (!released) eng_retain(&stream->head); /* a released stream's worker has the handle's reference already */
  }
  pthread_mutex_unlock(&stream->lock);
  if (!alone) {
    unlist_(stream);
    return;
  }
  pthread_detach(pthread_self());
  if (released) eng_context_remove_stream(stream);
  unlist_(stream);
  eng_release(&stream->head);
}

static void *worker_(void *arg) {
  struct eng_stream *stream = arg;
  struct eng_thread *self = eng_self();
  self->worker_of = stream;
  while (await_work_(stream)) {
    run_all_(stream);
    if (eng_stopping()) break;
  }
  if (eng_stopping()) drop_rest_(stream);
  self->worker_of = NULL;
  leave_(stream);
  return NULL;
}

int32_t eng_worker_start(struct eng_stream *stream, const char *function) {
  enlist_(stream);
  if (eng_thread_start(&stream->worker, "aclpy-stream", worker_, stream) != 0) {
    unlist_(stream);
    atomic_store(&stream->activity, ENG_IDLE);
    return aclpy_fail(ACLPY_ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "stream", "a worker thread for the stream",
                      "destroy streams that are no longer needed, or raise the limit on threads; nothing was queued",
                      "stream 0x%" PRIx64 ", whose worker thread could not be started", stream->handle);
  }
  stream->worker_started = true;
  return ACLPY_ACL_SUCCESS;
}

void eng_worker_join(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool mine = stream->worker_started && !stream->joined;
  stream->joined = true;
  pthread_mutex_unlock(&stream->lock);
  if (mine) pthread_join(stream->worker, NULL);
}

static void stop_one_(struct eng_stream *stream) {
  eng_unpark(&stream->parker);
  pthread_mutex_lock(&stream->lock);
  bool steal = !stream->stolen && atomic_load(&stream->activity) == ENG_FOREIGN;
  if (steal) stream->stolen = true;
  uint64_t left = steal ? stream->queued - taken_(stream) : 0;
  pthread_mutex_unlock(&stream->lock);
  if (steal) eng_queue_peek(&stream->queue, left, eng_task_drop);
  pthread_mutex_lock(&list_lock_);
  while (atomic_load(&stream->activity) == ENG_IDLE) pthread_cond_wait(&ended_, &list_lock_);
  pthread_mutex_unlock(&list_lock_);
}

/* Under the list's lock: a worker that has not been stopped yet. */
static struct eng_stream *next_to_stop_(void) {
  for (struct eng_stream *stream = list_; stream != NULL; stream = stream->worker_next) {
    if (!stream->stop_seen) return stream;
  }
  return NULL;
}

void eng_workers_stop(void) {
  pthread_mutex_lock(&list_lock_);
  for (struct eng_stream *stream = next_to_stop_(); stream != NULL; stream = next_to_stop_()) {
    stream->stop_seen = true;
    eng_retain(&stream->head); /* a listed stream has an owner */
    pthread_mutex_unlock(&list_lock_);
    stop_one_(stream);
    eng_release(&stream->head);
    pthread_mutex_lock(&list_lock_);
  }
  pthread_mutex_unlock(&list_lock_);
}

int64_t eng_workers_pending(void) {
  int64_t pending = 0;
  pthread_mutex_lock(&list_lock_);
  for (struct eng_stream *stream = list_; stream != NULL; stream = stream->worker_next) {
    uint64_t completed = atomic_load(&stream->completed); /* read first: never more than what was submitted */
    pending += (int64_t)(atomic_load(&stream->submitted) - completed) + eng_door_busy(stream);
  }
  pthread_mutex_unlock(&list_lock_);
  return pending;
}

void eng_workers_hurry(void) {
  pthread_mutex_lock(&list_lock_);
  for (struct eng_stream *stream = list_; stream != NULL; stream = stream->worker_next) eng_worker_hurry(stream);
  pthread_mutex_unlock(&list_lock_);
}

void eng_workers_before_fork(void) { pthread_mutex_lock(&list_lock_); }

void eng_workers_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&list_lock_);
    return;
  }
  pthread_mutex_init(&list_lock_, NULL);
  pthread_cond_init(&ended_, NULL);
  list_ = NULL;
  eng_self()->worker_of = NULL;
}
