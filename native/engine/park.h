/* SPDX-License-Identifier: Apache-2.0
 * Parking: how a thread of the engine sleeps until another one has news for it.
 *
 * A parker holds one token. Unparking leaves the token, parking takes it or sleeps until it comes; so nothing is
 * lost when the news comes first. Every waiter re-checks its own condition, hence stray tokens do no harm.
 */
#ifndef ACLPY_ENGINE_PARK_H
#define ACLPY_ENGINE_PARK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ENG_NEVER INT64_MAX /* a deadline that does not come */

struct eng_parker {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool token;
  bool listed;
  struct eng_parker *previous, *next; /* list of all parkers, for shutdown */
};

void eng_parker_init(struct eng_parker *parker); /* one that is not in the list */
/* The calling thread's own parker, ready for use and known to eng_park_wake_all. */
struct eng_parker *eng_parker_self(void);
void eng_park(struct eng_parker *parker);
/* The same, at most until that time of eng_clock_ns. False: the time came first. */
bool eng_park_until(struct eng_parker *parker, int64_t deadline_ns);
/* The same, with the thread's pulse. False: the time is over, or the pulse has ended the wait; true says nothing. */
bool eng_park_patiently(struct eng_parker *parker, int64_t deadline_ns);
void eng_unpark(struct eng_parker *parker);
void eng_parker_close(struct eng_parker *parker); /* at thread exit */
void eng_park_wake_all(void);

extern atomic_bool eng_stopping_flag;
/* True once the engine shuts down: every wait ends, no task begins. */
static inline bool eng_stopping(void) { return atomic_load(&eng_stopping_flag); }

/* A few microseconds of looking before sleeping; 0 rounds on a machine with one processor. */
int eng_spin_rounds(void);
static inline void eng_spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void eng_park_before_fork(void);
void eng_park_after_fork(bool child);

#endif
