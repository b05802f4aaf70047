/* SPDX-License-Identifier: Apache-2.0
 * The waiting lot: threads that wait for something to happen at an address, whatever it is that is there.
 *
 * What happened is the business of whoever waits: he brings a function that looks, and that may take what it finds.
 * Whoever changes something wakes all who wait at that address, and each of them looks again.
 */
#ifndef ACLPY_ENGINE_LOT_H
#define ACLPY_ENGINE_LOT_H

#include <stdbool.h>
#include <stdint.h>

struct eng_stream;

enum eng_wait_end { ENG_WAIT_DONE, ENG_WAIT_TIMED_OUT, ENG_WAIT_INTERRUPTED, ENG_WAIT_STOPPED };

struct eng_wait {
  const void *key;
  bool (*look)(void *arg); /* true: the wait is over; called by the waiting thread, without locks */
  void *arg;
  bool latched;              /* one wake is enough, whatever `look` says afterwards */
  int64_t deadline_ns;       /* of eng_clock_ns; ENG_NEVER */
  int64_t poll_ns;           /* looks by itself this often, where changes are not announced; 0: never */
  struct eng_stream *stream; /* whose current task waits, so that aborting it ends the wait; or NULL */
};

enum eng_wait_end eng_lot_wait(const struct eng_wait *wait);
void eng_lot_wake(const void *key);
/* Around changes that must be seen together by whoever does the same. */
void eng_lot_lock(const void *key);
void eng_lot_unlock(const void *key);
/* Lets the waits of a stream's task look whether they have been interrupted. */
void eng_lot_interrupt(const struct eng_stream *stream);

void eng_lot_before_fork(void);
void eng_lot_after_fork(bool child);

#endif
