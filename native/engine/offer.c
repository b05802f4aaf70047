/* SPDX-License-Identifier: Apache-2.0
 * The line that an offer takes, and whose it is.
 *
 * READY to BUSY, and what follows up to READY again, is the caller's; but that MADE becomes TAKEN is the helper's, and
 * TAKEN becomes DONE or LEFT. An offer that is not taken when the caller has done its own part is taken back.
 */
#include "offer.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "park.h"
#include "processor.h"
#include "thread.h"

enum state_ { NOBODY = 0, READY, BUSY, MADE, TAKEN, DONE, LEFT };
enum { PIECES = 4, PATIENCE = 16 /* times eng_spin_rounds */, YIELDS = 100 };

static struct {
  _Alignas(64) atomic_int state;
  struct eng_share share;
} offer_;

static bool move_(int from, int to, memory_order order) {
  return atomic_compare_exchange_strong_explicit(&offer_.state, &from, to, order, memory_order_relaxed);
}

void eng_share_run(const struct eng_share *share, void *scratch) {
  int64_t begin = share->begin, items = share->end - share->begin;
  for (int64_t left = share->large ? PIECES : 1; left > 0; left--) {
    int64_t end = begin + (share->end - begin) / left;
    int64_t first = share->backwards ? share->begin + items - (end - share->begin) : begin;
    if (end > begin) share->run(share->args, share->pass, first, first + (end - begin), scratch);
    begin = end;
  }
}

bool eng_offer_place(const struct eng_share *share) {
  if (atomic_load_explicit(&offer_.state, memory_order_relaxed) != READY) return false;
  if (!move_(READY, BUSY, memory_order_acquire)) return false;
  offer_.share = *share;
  atomic_store_explicit(&offer_.state, MADE, memory_order_release);
  return true;
}

bool eng_offer_settle(void) {
  if (move_(MADE, READY, memory_order_release)) return false;
  const struct timespec nap = {.tv_nsec = 50000};
  int state, rounds = PATIENCE * eng_spin_rounds(), yields = YIELDS;
  while ((state = atomic_load_explicit(&offer_.state, memory_order_acquire)) == TAKEN) {
    if (rounds > 0) {
      rounds--;
      eng_spin_pause();
    } else if (yields-- > 0) {
      (void)sched_yield(); /* the helper may want this very processor */
    } else {
      (void)nanosleep(&nap, NULL); /* also from a thread of a higher priority */
    }
  }
  atomic_store_explicit(&offer_.state, READY, memory_order_release);
  return state == DONE;
}

bool eng_offer_attend(void) {
  if (atomic_load_explicit(&offer_.state, memory_order_relaxed) != NOBODY) return false;
  return move_(NOBODY, READY, memory_order_acq_rel);
}

bool eng_offer_engaged(void) { return atomic_load_explicit(&offer_.state, memory_order_relaxed) != READY; }

bool eng_offer_made(void) { return atomic_load_explicit(&offer_.state, memory_order_relaxed) == MADE; }

void eng_offer_serve(void) {
  if (!move_(MADE, TAKEN, memory_order_acquire)) return;
  const struct eng_share share = offer_.share;
  /* Schedulers like to run a thread where its waker runs: both would take turns there, while others stand idle. */
  if (share.processor >= 0 && eng_processor() == share.processor) eng_processor_leave(share.processor);
  void *scratch;
  bool able = eng_thread_scratch(share.scratch_bytes, &scratch);
  if (able) eng_share_run(&share, scratch);
  atomic_store_explicit(&offer_.state, able ? DONE : LEFT, memory_order_release);
}

bool eng_offer_leave(void) { return move_(READY, NOBODY, memory_order_acq_rel); }

void eng_offer_after_fork(void) { atomic_store(&offer_.state, NOBODY); }
