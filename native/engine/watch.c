/* SPDX-License-Identifier: Apache-2.0
 * The slot that holds the watched stream, and who has to empty it.
 *
 * No wake-up is lost: a submitter fills the slot and then looks whether anybody still watches; the last watcher stops
 * watching and then looks into the slot. One of them sees the other. Whoever takes a stream out of the slot owns its
 * reference and the duty to wake its worker, or to note that it sleeps on.
 */
#include "watch.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "stream.h"

enum { PATIENCE = 200 }; /* looks, of some 20 nanoseconds each */

static struct eng_stream *_Atomic watched_;
static atomic_int watchers_;

static bool take_(struct eng_stream *stream) {
  return atomic_compare_exchange_strong(&watched_, &(struct eng_stream *){stream}, NULL);
}

static bool watch_(struct eng_stream *stream) {
  if (atomic_load(&watchers_) == 0 || atomic_load_explicit(&watched_, memory_order_relaxed) != NULL) return false;
  eng_retain(&stream->head);
  if (!atomic_compare_exchange_strong(&watched_, &(struct eng_stream *){NULL}, stream)) {
    eng_release(&stream->head);
    return false;
  }
  if (atomic_load(&watchers_) != 0 || !take_(stream)) return true;
  eng_release(&stream->head);
  return false;
}

void eng_watch_or_wake(struct eng_stream *stream) {
  if (!watch_(stream)) eng_unpark(&stream->parker);
}

void eng_watch_cancel(struct eng_stream *stream) {
  if (atomic_load_explicit(&watched_, memory_order_relaxed) != stream || !take_(stream)) return;
  stream->worker_sleeping = true;
  eng_release(&stream->head); /* never the last one: the caller has its own */
}

/* Takes over what is in the slot. */
static bool resolve_(void) {
  if (atomic_load(&watched_) == NULL) return false;
  struct eng_stream *stream = atomic_exchange(&watched_, NULL);
  if (stream == NULL) return false;
  pthread_mutex_lock(&stream->lock);
  bool waiting = atomic_load_explicit(&stream->visible, memory_order_relaxed) !=
                 atomic_load_explicit(&stream->taken, memory_order_relaxed);
  bool wake = (waiting && !stream->lent) || stream->closing || eng_stopping();
  stream->worker_sleeping = !wake; /* a borrower wakes it for what is left when it gives the queue back */
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
  eng_release(&stream->head);
  return wake;
}

void eng_watch_begin(void) { atomic_fetch_add(&watchers_, 1); }

void eng_watch_look(int *patience) {
  if (atomic_load_explicit(&watched_, memory_order_relaxed) == NULL) {
    *patience = 0;
  } else if (++*patience > PATIENCE) {
    *patience = 0;
    if (resolve_()) sched_yield(); /* the worker may want this very processor */
  }
}

void eng_watch_end(void) {
  atomic_fetch_sub(&watchers_, 1);
  (void)resolve_();
}

void eng_watch_after_fork(void) {
  atomic_store(&watched_, NULL); /* the parent's stream stays behind, as all of them do */
  atomic_store(&watchers_, 0);
}
