/* SPDX-License-Identifier: Apache-2.0
 * Parkers and the list of them.
 */
#include "park.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "thread.h"

static pthread_mutex_t list_lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_parker *list_;
atomic_bool eng_stopping_flag;

enum { SPIN_ROUNDS = 120 }; /* about 3 to 5 microseconds of pause instructions */

int eng_spin_rounds(void) {
  static atomic_int rounds = -1;
  int known = atomic_load_explicit(&rounds, memory_order_relaxed);
  if (known < 0) {
    known = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPIN_ROUNDS : 0;
    atomic_store_explicit(&rounds, known, memory_order_relaxed);
  }
  return known;
}

void eng_parker_init(struct eng_parker *parker) {
  pthread_mutex_init(&parker->lock, NULL);
#if defined(__APPLE__)
  pthread_cond_init(&parker->cond, NULL);
#else
  pthread_condattr_t steady;
  pthread_condattr_init(&steady);
  pthread_condattr_setclock(&steady, CLOCK_MONOTONIC); /* the clock of eng_clock_ns */
  pthread_cond_init(&parker->cond, &steady);
  pthread_condattr_destroy(&steady);
#endif
  parker->token = false;
  parker->listed = false;
  parker->previous = NULL;
  parker->next = NULL;
}

struct eng_parker *eng_parker_self(void) {
  struct eng_parker *parker = &eng_self()->parker;
  if (parker->listed) return parker;
  eng_thread_attach();
  eng_parker_init(parker);
  pthread_mutex_lock(&list_lock_);
  parker->next = list_;
  if (list_ != NULL) list_->previous = parker;
  list_ = parker;
  parker->listed = true;
  pthread_mutex_unlock(&list_lock_);
  return parker;
}

static void unlist_(struct eng_parker *parker) {
  pthread_mutex_lock(&list_lock_);
  if (parker->previous != NULL) parker->previous->next = parker->next;
  if (parker->next != NULL) parker->next->previous = parker->previous;
  if (list_ == parker) list_ = parker->next;
  parker->listed = false;
  pthread_mutex_unlock(&list_lock_);
}

void eng_parker_close(struct eng_parker *parker) {
  if (parker->listed) unlist_(parker);
  /* An unparker may still be leaving its critical section: it got this parker under a lock we have left since, but
   * not necessarily this one. Taking the lock once lets it out before the mutex goes. */
  pthread_mutex_lock(&parker->lock);
  pthread_mutex_unlock(&parker->lock);
  pthread_cond_destroy(&parker->cond);
  pthread_mutex_destroy(&parker->lock);
}

void eng_park(struct eng_parker *parker) {
  pthread_mutex_lock(&parker->lock);
  while (!parker->token) pthread_cond_wait(&parker->cond, &parker->lock);
  parker->token = false;
  pthread_mutex_unlock(&parker->lock);
}

static int wait_until_(struct eng_parker *parker, int64_t deadline_ns) {
#if defined(__APPLE__)
  int64_t left = deadline_ns - eng_clock_ns();
  if (left <= 0) return ETIMEDOUT;
  struct timespec span = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
  return pthread_cond_timedwait_relative_np(&parker->cond, &parker->lock, &span);
#else
  struct timespec time = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
  return pthread_cond_timedwait(&parker->cond, &parker->lock, &time);
#endif
}

bool eng_park_until(struct eng_parker *parker, int64_t deadline_ns) {
  if (deadline_ns == ENG_NEVER) {
    eng_park(parker);
    return true;
  }
  pthread_mutex_lock(&parker->lock);
  int failed = 0;
  while (!parker->token && failed == 0) failed = wait_until_(parker, deadline_ns);
  bool news = parker->token;
  parker->token = false;
  pthread_mutex_unlock(&parker->lock);
  return news;
}

bool eng_park_patiently(struct eng_parker *parker, int64_t deadline_ns) {
  enum { PULSE_NS = 100000000 };
  struct eng_thread *self = eng_self();
  if (self->pulse == NULL) return eng_park_until(parker, deadline_ns) || eng_clock_ns() < deadline_ns;
  const int64_t next = eng_clock_ns() + PULSE_NS;
  if (eng_park_until(parker, next < deadline_ns ? next : deadline_ns)) return true;
  self->pulsed = self->pulse(self->pulse_arg) != 0;
  return !self->pulsed && eng_clock_ns() < deadline_ns;
}

int32_t aclpy_set_pulse(int32_t (*pulse)(void *arg), void *arg) {
  struct eng_thread *self = eng_self();
  const bool pulsed = self->pulsed;
  self->pulse = pulse;
  self->pulse_arg = arg;
  self->pulsed = false;
  return pulsed;
}

void eng_unpark(struct eng_parker *parker) {
  pthread_mutex_lock(&parker->lock);
  parker->token = true;
  pthread_cond_signal(&parker->cond);
  pthread_mutex_unlock(&parker->lock);
}

void eng_park_wake_all(void) {
  pthread_mutex_lock(&list_lock_);
  for (struct eng_parker *parker = list_; parker != NULL; parker = parker->next) eng_unpark(parker);
  pthread_mutex_unlock(&list_lock_);
}

void eng_park_before_fork(void) { pthread_mutex_lock(&list_lock_); }

void eng_park_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&list_lock_);
    return;
  }
  pthread_mutex_init(&list_lock_, NULL);
  list_ = NULL;
  eng_self()->parker.listed = false; /* made anew at its next use: its old mutex may have been held by a lost thread */
}
