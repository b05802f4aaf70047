/* SPDX-License-Identifier: Apache-2.0
 * The bell and who listens.
 */
#include "bell.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "park.h"
#include "thread.h"

struct listener_ {
  struct eng_parker *parker;
  struct listener_ *next;
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct listener_ *listeners_;
static _Atomic uint64_t count_;

uint64_t eng_bell_count(void) { return atomic_load(&count_); }

void eng_bell_ring(void) {
  pthread_mutex_lock(&lock_);
  atomic_fetch_add(&count_, 1);
  for (struct listener_ *one = listeners_; one != NULL; one = one->next) eng_unpark(one->parker);
  pthread_mutex_unlock(&lock_);
}

bool eng_bell_await(uint64_t heard, int64_t deadline_ns) {
  struct listener_ self = {.parker = eng_parker_self()};
  pthread_mutex_lock(&lock_);
  self.next = listeners_;
  listeners_ = &self;
  pthread_mutex_unlock(&lock_);
  bool in_time = true;
  while (in_time && atomic_load(&count_) == heard && !eng_stopping()) {
    in_time = eng_park_patiently(self.parker, deadline_ns);
  }
  pthread_mutex_lock(&lock_);
  struct listener_ **link = &listeners_;
  while (*link != &self) link = &(*link)->next;
  *link = self.next;
  pthread_mutex_unlock(&lock_);
  return in_time;
}

void eng_bell_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_bell_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  listeners_ = NULL;
}
