/* SPDX-License-Identifier: Apache-2.0
 * The line that an offer takes, and whose it is.
 *
 * READY to BUSY, and what follows up to READY again, is the caller's; but that MADE becomes TAKEN is the helper's, and
 * TAKEN becomes DONE. An offer that is not taken when the caller has done its own part is taken back.
 */
#include "offer.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "park.h"
#include "processor.h"
#include "thread.h"

enum state_ { NOBODY = 0, READY, BUSY, MADE, TAKEN, DONE };
enum { PATIENCE = 16 /* times eng_spin_rounds */, YIELDS = 100, OWN = 0, HELPERS = 1 };

static struct {
  _Alignas(64) atomic_int state;
  struct eng_share share;
} offer_;

/* The next piece of each half, from 0. A line each: both count at the same time. */
static struct {
  _Alignas(64) atomic_int next;
} halves_[2];

static bool move_(int from, int to, memory_order order) {
  return atomic_compare_exchange_strong_explicit(&offer_.state, &from, to, order, memory_order_relaxed);
}

static void run_piece_(const struct eng_share *share, int half, int piece, void *scratch) {
  int64_t middle = share->begin + (share->end - share->begin) / 2;
  int64_t start = half == OWN ? share->begin : middle, items = (half == OWN ? middle : share->end) - start;
  int64_t at = share->backwards ? share->pieces - 1 - piece : piece, each = items / share->pieces;
  int64_t longer = items % share->pieces; /* the first so many have one more */
  int64_t begin = start + each * at + (at < longer ? at : longer), end = begin + each + (at < longer);
  if (end > begin) share->run(share->args, share->pass, begin, end, scratch);
}

/* What is left of a half, but for the spare. */
static void run_half_(const struct eng_share *share, int half, int spare, void *scratch) {
  atomic_int *next = &halves_[half].next;
  while (share->pieces - atomic_load_explicit(next, memory_order_relaxed) > spare) {
    int piece = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    if (piece < share->pieces) run_piece_(share, half, piece, scratch);
  }
}

bool eng_offer_waits(void) { return atomic_load_explicit(&offer_.state, memory_order_relaxed) == READY; }

bool eng_offer_place(const struct eng_share *share) {
  if (!eng_offer_waits() || !move_(READY, BUSY, memory_order_acquire)) return false;
  offer_.share = *share;
  for (int half = 0; half < 2; half++) atomic_store_explicit(&halves_[half].next, 0, memory_order_relaxed);
  atomic_store_explicit(&offer_.state, MADE, memory_order_release);
  return true;
}

void eng_offer_work(const struct eng_share *share, void *scratch) {
  run_half_(share, OWN, 0, scratch);
  run_half_(share, HELPERS, share->spare, scratch);
}

/* Until the helper that has taken the offer is through. */
static void await_(void) {
  const struct timespec nap = {.tv_nsec = 50000};
  int rounds = PATIENCE * eng_spin_rounds(), yields = YIELDS;
  while (atomic_load_explicit(&offer_.state, memory_order_acquire) == TAKEN) {
    if (rounds > 0) {
      rounds--;
      eng_spin_pause();
    } else if (yields-- > 0) {
      (void)sched_yield(); /* the helper may want this very processor */
    } else {
      (void)nanosleep(&nap, NULL); /* also from a thread of a higher priority */
    }
  }
}

void eng_offer_settle(const struct eng_share *share, void *scratch) {
  if (!move_(MADE, BUSY, memory_order_relaxed)) await_();
  run_half_(share, HELPERS, 0, scratch);
  atomic_store_explicit(&offer_.state, READY, memory_order_release);
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
  if (able) {
    run_half_(&share, HELPERS, 0, scratch);
    run_half_(&share, OWN, share.spare, scratch);
  }
  atomic_store_explicit(&offer_.state, DONE, memory_order_release);
}

bool eng_offer_leave(void) { return move_(READY, NOBODY, memory_order_acq_rel); }

void eng_offer_after_fork(void) { atomic_store(&offer_.state, NOBODY); }
