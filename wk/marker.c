/* SPDX-License-Identifier: Apache-2.0
 * Markers and the threads that wait for them.
 */
#include "marker.h"

#include <stdlib.h>

#include "fault.h"
#include "park.h"
#include "thread.h"

struct eng_marker_waiter {
  struct eng_parker *parker;
  atomic_bool released;
  struct eng_marker_waiter *next;
};

/* Markers are many and small, so they share a few locks. */
enum { LOCKS = 16 };
static pthread_mutex_t locks_[LOCKS] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of_(const struct eng_marker *marker) { return &locks_[((uintptr_t)marker >> 6) % LOCKS]; }

struct eng_marker *eng_marker_new(uint64_t stream_id) {
  struct eng_marker *marker = eng_object_alloc(sizeof(*marker));
  if (marker == NULL) return NULL;
  atomic_init(&marker->owners, 1);
  atomic_init(&marker->reached, false);
  atomic_init(&marker->time_ns, 0);
  marker->stream_id = stream_id;
  marker->waiters = NULL;
  return marker;
}

struct eng_marker *eng_marker_share(struct eng_marker *marker) {
  atomic_fetch_add_explicit(&marker->owners, 1, memory_order_relaxed);
  return marker;
}

void eng_marker_drop(struct eng_marker *marker) {
  if (marker != NULL && atomic_fetch_sub_explicit(&marker->owners, 1, memory_order_acq_rel) == 1) free(marker);
}

void eng_marker_reach(struct eng_marker *marker) {
  atomic_store(&marker->time_ns, eng_clock_ns());
  pthread_mutex_t *lock = lock_of_(marker);
  pthread_mutex_lock(lock);
  atomic_store(&marker->reached, true);
  struct eng_marker_waiter *waiter = marker->waiters;
  marker->waiters = NULL;
  while (waiter != NULL) {
    struct eng_marker_waiter *next = waiter->next; /* the waiter is gone once it is released */
    struct eng_parker *parker = waiter->parker;
    atomic_store(&waiter->released, true);
    eng_unpark(parker);
    waiter = next;
  }
  pthread_mutex_unlock(lock);
}

void eng_marker_clear(struct eng_marker *marker) {
  pthread_mutex_t *lock = lock_of_(marker);
  pthread_mutex_lock(lock);
  atomic_store(&marker->reached, false);
  pthread_mutex_unlock(lock);
}

static void forget_waiter_(struct eng_marker *marker, struct eng_marker_waiter *waiter) {
  struct eng_marker_waiter **link = &marker->waiters;
  while (*link != NULL && *link != waiter) link = &(*link)->next;
  if (*link != NULL) *link = waiter->next;
}

bool eng_marker_wait(struct eng_marker *marker) {
  for (int round = eng_spin_rounds(); round > 0; round--) {
    if (eng_marker_reached(marker)) return true;
    eng_spin_pause();
  }
  struct eng_marker_waiter waiter = {.parker = eng_parker_self()};
  atomic_init(&waiter.released, false);
  pthread_mutex_t *lock = lock_of_(marker);
  pthread_mutex_lock(lock);
  if (eng_marker_reached(marker)) {
    pthread_mutex_unlock(lock);
    return true;
  }
  waiter.next = marker->waiters;
  marker->waiters = &waiter;
  pthread_mutex_unlock(lock);
  while (!atomic_load(&waiter.released) && !eng_stopping()) eng_park(waiter.parker);
  /* The lock is taken in any case: the one who released us may still hold on to our parker. */
  pthread_mutex_lock(lock);
  bool released = atomic_load(&waiter.released);
  if (!released) forget_waiter_(marker, &waiter);
  pthread_mutex_unlock(lock);
  return released;
}

void eng_marker_before_fork(void) {
  for (int i = 0; i < LOCKS; i++) pthread_mutex_lock(&locks_[i]);
}

void eng_marker_after_fork(bool child) {
  for (int i = 0; i < LOCKS; i++) {
    if (child) {
      pthread_mutex_init(&locks_[i], NULL);
    } else {
      pthread_mutex_unlock(&locks_[i]);
    }
  }
}
