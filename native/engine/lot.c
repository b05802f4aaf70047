/* SPDX-License-Identifier: Apache-2.0
 * Waiting threads in buckets by the address they wait at.
 */
#include "lot.h"

#include <stdatomic.h>
#include <stddef.h>

#include "bell.h"
#include "bench.h"
#include "park.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

struct waiter_ {
  const struct eng_wait *wait;
  struct eng_parker *parker;
  atomic_bool woken;
  struct waiter_ *previous, *next;
};

struct bucket_ {
  pthread_mutex_t lock;
  struct waiter_ *first;
};

enum { BUCKETS = 16 };
#define BUCKET {.lock = PTHREAD_MUTEX_INITIALIZER}
static struct bucket_ buckets_[BUCKETS] = {BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET,
                                           BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET, BUCKET};

static struct bucket_ *bucket_of_(const void *key) { return &buckets_[((uintptr_t)key >> 6) % BUCKETS]; }

static void enter_(struct bucket_ *bucket, struct waiter_ *waiter) {
  pthread_mutex_lock(&bucket->lock);
  waiter->next = bucket->first;
  if (bucket->first != NULL) bucket->first->previous = waiter;
  bucket->first = waiter;
  pthread_mutex_unlock(&bucket->lock);
}

/* Also the last moment at which somebody may hold on to the waiter's parker. */
static void leave_(struct bucket_ *bucket, struct waiter_ *waiter) {
  pthread_mutex_lock(&bucket->lock);
  if (waiter->previous != NULL) waiter->previous->next = waiter->next;
  if (waiter->next != NULL) waiter->next->previous = waiter->previous;
  if (bucket->first == waiter) bucket->first = waiter->next;
  pthread_mutex_unlock(&bucket->lock);
}

static bool over_(const struct eng_wait *wait, struct waiter_ *waiter) {
  return (wait->latched && atomic_load(&waiter->woken)) || wait->look(wait->arg);
}

static enum eng_wait_end sleep_(const struct eng_wait *wait, struct waiter_ *waiter) {
  for (;;) {
    if (over_(wait, waiter)) return ENG_WAIT_DONE;
    if (eng_stopping()) return ENG_WAIT_STOPPED;
    if (wait->stream != NULL && eng_stream_interrupted(wait->stream)) return ENG_WAIT_INTERRUPTED;
    int64_t until = wait->deadline_ns;
    if (wait->poll_ns != 0 || until != ENG_NEVER) {
      int64_t now = eng_clock_ns();
      if (now >= wait->deadline_ns) return ENG_WAIT_TIMED_OUT;
      if (wait->poll_ns != 0 && now + wait->poll_ns < until) until = now + wait->poll_ns;
    }
    if (!eng_park_patiently(waiter->parker, until) && eng_self()->pulsed) return ENG_WAIT_TIMED_OUT;
  }
}

/* Under a schedule tasks wait only where they can go on, and host threads run tasks meanwhile. False: in vain. */
static bool wait_scheduled_(const struct eng_wait *wait, enum eng_wait_end *end) {
  if (wait->stream != NULL && wait->stream->lane == NULL) return false;
  if (wait->stream != NULL) {
    *end = eng_schedule_task_wait(wait);
    return true;
  }
  *end = eng_schedule_wait(&(struct eng_host_wait){
      .over = wait->look, .arg = wait->arg, .key = wait->key, .deadline_ns = wait->deadline_ns});
  return *end != ENG_WAIT_INTERRUPTED;
}

enum eng_wait_end eng_lot_wait(const struct eng_wait *wait) {
  enum eng_wait_end scheduled;
  if (eng_scheduling() && wait_scheduled_(wait, &scheduled)) return scheduled;
  for (int round = eng_spin_rounds(); round > 0; round--) {
    if (wait->look(wait->arg)) return ENG_WAIT_DONE;
    eng_spin_pause();
  }
  struct waiter_ waiter = {.wait = wait, .parker = eng_parker_self()};
  struct bucket_ *bucket = bucket_of_(wait->key);
  enter_(bucket, &waiter);
  enum eng_wait_end end = sleep_(wait, &waiter);
  leave_(bucket, &waiter);
  return end;
}

void eng_lot_wake(const void *key) {
  struct bucket_ *bucket = bucket_of_(key);
  pthread_mutex_lock(&bucket->lock);
  for (struct waiter_ *waiter = bucket->first; waiter != NULL; waiter = waiter->next) {
    if (waiter->wait->key != key) continue;
    atomic_store(&waiter->woken, true);
    eng_unpark(waiter->parker);
  }
  pthread_mutex_unlock(&bucket->lock);
  if (eng_scheduling()) eng_bell_ring();
}

void eng_lot_lock(const void *key) { pthread_mutex_lock(&bucket_of_(key)->lock); }

void eng_lot_unlock(const void *key) { pthread_mutex_unlock(&bucket_of_(key)->lock); }

void eng_lot_interrupt(const struct eng_stream *stream) {
  for (int i = 0; i < BUCKETS; i++) {
    pthread_mutex_lock(&buckets_[i].lock);
    for (struct waiter_ *waiter = buckets_[i].first; waiter != NULL; waiter = waiter->next) {
      if (waiter->wait->stream == stream) eng_unpark(waiter->parker);
    }
    pthread_mutex_unlock(&buckets_[i].lock);
  }
}

void eng_lot_before_fork(void) {
  for (int i = 0; i < BUCKETS; i++) pthread_mutex_lock(&buckets_[i].lock);
}

void eng_lot_after_fork(bool child) {
  for (int i = BUCKETS; i-- > 0;) {
    if (child) {
      pthread_mutex_init(&buckets_[i].lock, NULL);
      buckets_[i].first = NULL;
    } else {
      pthread_mutex_unlock(&buckets_[i].lock);
    }
  }
}
