/* SPDX-License-Identifier: Apache-2.0
 * Jobs, helpers, and how many of them there may be at once.
 *
 * A job lives on its caller's stack and is listed while it wants helpers. Helpers enter it under the pool's lock, so
 * nobody enters any more once its caller has taken it off the list; they leave it without the lock, which the caller is
 * after at the same moment, and touch it no more. The number of threads inside kernels, callers included, bounds the
 * helpers: with as many busy streams as processors nobody is woken.
 */
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fault.h"
#include "offer.h"
#include "processor.h"
#include "settings.h"
#include "thread.h"
#include "watch.h"

/* LOOKS: how much longer than elsewhere the pool looks before it sleeps. Waking a helper, or its caller, costs more
 * than many a job is worth, and one job often follows another. */
enum {
  CHUNKS_PER_THREAD = 8,
  CHUNKS_PER_GRAIN = 4,
  CHUNKS_AT_ONCE = 4,
  GRAINS_PER_CHUNK = 3,
  WAKE_AT_ONCE = 64,
  LOOKS = 16
};
enum { SECTIONS_MAX = 16, PIECES = 4 };
/* Beside the number of a job's helpers: its caller sleeps, or is about to. */
enum { PARKED = 1 << 30 };
/* Nanoseconds. HELP: jobs from here on take helpers that look for one; WAKE: from here on they wake sleeping ones, and
 * smaller jobs do when one follows another within SOON; SMALL: from here on the list costs little beside the work;
 * SPARE: less than this of a section is left to its owner. */
enum { HELP_NS = 3000, WAKE_NS = 10000, SMALL_NS = 60000, SOON_NS = 50000, SPARE_NS = 4000 };

/* A thread begins with the same section of the items in every job of one size, so that tensors used again are found
 * in its own caches, and then helps with the others', but not with the last of a section whose owner is there: to bring
 * lines from one core's caches to another's, and back for the next job, costs more than to wait a moment. */
struct section_ {
  _Alignas(64) _Atomic int64_t next;
  atomic_bool owned; /* a thread is there that takes all that others leave */
  int64_t begin, end;
};

struct job_ {
  atomic_int helpers; /* grows under the lock; with PARKED it shrinks there, too */
  int n_sections;
  aclpy_kernel_run run;
  const aclpy_kernel_args *args;
  int32_t pass;
  int64_t most_items, least_items; /* of a chunk, which is half of what its section has left, within these */
  int64_t spare_items;             /* so few are left to a section's owner */
  size_t scratch_bytes;
  int most_helpers;
  bool wakes;
  bool backwards; /* chunks are taken from a section's end */
  struct eng_parker *caller;
  int processor; /* the caller's */
  struct job_ *following;
  struct section_ sections[SECTIONS_MAX];
};

struct helper_ {
  struct eng_parker parker;
  struct helper_ *next_idle;
  pthread_t thread;
  int number; /* from 1; callers are 0 */
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended_ = PTHREAD_COND_INITIALIZER;
static struct job_ *jobs_;
static struct helper_ *idle_;
static int n_helpers_;
static bool stopping_;
static int64_t last_ns_;   /* when the job before was listed */
static atomic_int listed_; /* how many jobs are; changed under the lock */
/* Grows after a helper may find a job: what idle helpers spin on. Without the lock, for they are after it at once. */
static _Atomic uint32_t news_;
static atomic_bool backwards_; /* the last large job was */
static atomic_int computing_;  /* threads inside large kernels */

/* Chunks shrink towards the end, so that threads that began at different times end together. */
static bool take_(const struct job_ *job, struct section_ *section, int64_t *begin, int64_t *end) {
  *begin = atomic_load_explicit(&section->next, memory_order_relaxed);
  do {
    int64_t left = section->end - *begin;
    if (left <= 0) return false;
    int64_t chunk = left / 2;
    if (chunk > job->most_items) chunk = job->most_items;
    if (chunk < job->least_items) chunk = job->least_items;
    *end = chunk < left ? *begin + chunk : section->end;
  } while (
      !atomic_compare_exchange_weak_explicit(&section->next, begin, *end, memory_order_relaxed, memory_order_relaxed));
  if (job->backwards) {
    int64_t mirrored = section->begin + section->end - *end;
    *end = section->begin + section->end - *begin;
    *begin = mirrored;
  }
  return true;
}

static bool is_spare_(const struct job_ *job, const struct section_ *section) {
  return atomic_load_explicit(&section->owned, memory_order_relaxed) &&
         section->end - atomic_load_explicit(&section->next, memory_order_relaxed) <= job->spare_items;
}

static void work_(struct job_ *job, int number, void *scratch) {
  atomic_store_explicit(&job->sections[number % job->n_sections].owned, true, memory_order_relaxed);
  for (int k = 0; k < job->n_sections; k++) {
    struct section_ *section = &job->sections[(number + k) % job->n_sections];
    int64_t begin, end;
    while ((k == 0 || !is_spare_(job, section)) && take_(job, section, &begin, &end)) {
      job->run(job->args, job->pass, begin, end, scratch);
    }
  }
}

static bool has_work_(struct job_ *job) {
  for (int k = 0; k < job->n_sections; k++) {
    struct section_ *section = &job->sections[k];
    if (atomic_load_explicit(&section->next, memory_order_relaxed) < section->end && !is_spare_(job, section))
      return true;
  }
  return false;
}

/* Under the lock: the job that has the fewest helpers and wants another, if one more thread may compute. */
static struct job_ *choose_(void) {
  if (atomic_load(&computing_) >= aclpy_thread_count()) return NULL;
  struct job_ *best = NULL;
  for (struct job_ *job = jobs_; job != NULL; job = job->following) {
    int helpers = atomic_load_explicit(&job->helpers, memory_order_relaxed);
    if (helpers >= job->most_helpers || !has_work_(job)) continue;
    if (best == NULL || helpers < atomic_load_explicit(&best->helpers, memory_order_relaxed)) best = job;
  }
  return best;
}

/* Not under the lock. The job may be gone the moment it counts one helper less. */
static void leave_(struct job_ *job) {
  int seen = atomic_load_explicit(&job->helpers, memory_order_relaxed);
  while ((seen & PARKED) == 0) {
    if (atomic_compare_exchange_weak_explicit(&job->helpers, &seen, seen - 1, memory_order_release,
                                              memory_order_relaxed)) {
      return;
    }
  }
  pthread_mutex_lock(&lock_); /* its caller looks under it, so it finds the wake-up done */
  if (atomic_fetch_sub(&job->helpers, 1) == (PARKED | 1)) eng_unpark(job->caller);
  pthread_mutex_unlock(&lock_);
}

/* Under the lock, which is given up. */
static void help_(struct job_ *job, int number) {
  atomic_fetch_add(&job->helpers, 1);
  atomic_fetch_add(&computing_, 1);
  pthread_mutex_unlock(&lock_);
  /* Schedulers like to wake a thread where its waker runs: both would take turns there, while others stand idle. */
  if (job->processor >= 0 && eng_processor() == job->processor) eng_processor_leave(job->processor);
  void *scratch;
  if (eng_thread_scratch(job->scratch_bytes, &scratch)) {
    work_(job, number, scratch);
  } else { /* memory is short: leave the rest to those who have theirs */
    pthread_mutex_lock(&lock_);
    job->most_helpers = 0;
    pthread_mutex_unlock(&lock_);
  }
  atomic_fetch_sub(&computing_, 1);
  leave_(job);
}

/* Not while as many threads compute as may: there a looking thread would be one too many. */
static bool may_look_(uint32_t known) {
  return atomic_load_explicit(&news_, memory_order_relaxed) == known &&
         atomic_load_explicit(&computing_, memory_order_relaxed) < aclpy_thread_count();
}

static bool spin_(uint32_t known, bool attends) {
  int patience = 0, rounds = LOOKS * eng_spin_rounds();
  eng_watch_begin();
  while (rounds > 0) {
    if (attends && eng_offer_made()) {
      eng_watch_end();
      eng_offer_serve();
      eng_watch_begin();
      rounds = LOOKS * eng_spin_rounds();
    }
    if (!attends) attends = eng_offer_attend();
    if (!attends || !eng_offer_engaged()) {
      if (!may_look_(known)) break;
      rounds--;
    }
    eng_watch_look(&patience);
    eng_spin_pause();
  }
  eng_watch_end();
  return attends;
}

static void spin_for_news_(uint32_t known) {
  bool attends = false;
  do {
    attends = spin_(known, attends);
  } while (attends && !eng_offer_leave());
}

/* Under the lock. */
static void rest_(struct helper_ *self) {
  self->next_idle = idle_;
  idle_ = self;
  pthread_mutex_unlock(&lock_);
  eng_park(&self->parker);
  pthread_mutex_lock(&lock_);
}

/* Looks for news without the lock, which callers want now, and sleeps only after a look under it that found nothing.
 * Another job that is listed when one has been helped calls for such a look at once. If it is listed later, or if the
 * one that was helped goes first, there are news. */
static void *helper_main_(void *arg) {
  struct helper_ *self = arg;
  bool looked = false;
  pthread_mutex_lock(&lock_);
  while (!stopping_) {
    struct job_ *job = choose_();
    if (job == NULL && looked) {
      rest_(self);
      looked = false;
      continue;
    }
    uint32_t known = atomic_load_explicit(&news_, memory_order_relaxed);
    if (job != NULL) {
      help_(job, self->number);
    } else {
      pthread_mutex_unlock(&lock_);
    }
    looked = job == NULL || atomic_load_explicit(&listed_, memory_order_relaxed) <= 1;
    if (looked) spin_for_news_(known);
    pthread_mutex_lock(&lock_);
  }
  n_helpers_--;
  pthread_cond_broadcast(&ended_);
  pthread_mutex_unlock(&lock_);
  eng_parker_close(&self->parker);
  free(self);
  return NULL;
}

/* Under the lock. Fewer helpers than wanted is not an error: the callers do more themselves. */
static void hire_(int wanted) {
  while (n_helpers_ < wanted && !stopping_) {
    struct helper_ *helper = calloc(1, sizeof(*helper));
    if (helper == NULL) return;
    eng_parker_init(&helper->parker);
    helper->number = n_helpers_ + 1;
    if (eng_thread_start(&helper->thread, "aclpy-pool", helper_main_, helper) != 0) {
      eng_parker_close(&helper->parker);
      free(helper);
      return;
    }
    pthread_detach(helper->thread);
    n_helpers_++;
  }
}

/* Under the lock. Waking inside it keeps a helper from ending in between. Those that spin have no need of it. */
static void wake_(int wanted) {
  for (int woken = 0; woken < wanted && idle_ != NULL; woken++) {
    struct helper_ *helper = idle_;
    idle_ = helper->next_idle;
    eng_unpark(&helper->parker);
  }
}

static void tell_(void) { atomic_fetch_add_explicit(&news_, 1, memory_order_relaxed); }

static void list_(struct job_ *job) {
  int64_t now_ns = eng_clock_ns();
  pthread_mutex_lock(&lock_);
  bool wakes = job->wakes || now_ns - last_ns_ <= SOON_NS;
  last_ns_ = now_ns;
  if (wakes) hire_(job->most_helpers);
  struct job_ **link = &jobs_;
  while (*link != NULL) link = &(*link)->following;
  *link = job;
  atomic_fetch_add_explicit(&listed_, 1, memory_order_relaxed);
  wake_(!wakes ? 0 : job->most_helpers < WAKE_AT_ONCE ? job->most_helpers : WAKE_AT_ONCE);
  pthread_mutex_unlock(&lock_);
  tell_();
}

/* Of a job off the list. */
static void await_helpers_(struct job_ *job) {
  for (int rounds = LOOKS * eng_spin_rounds(); rounds > 0; rounds--) {
    if (atomic_load_explicit(&job->helpers, memory_order_acquire) == 0) return;
    eng_spin_pause();
  }
  if (atomic_fetch_or(&job->helpers, PARKED) == 0) return;
  pthread_mutex_lock(&lock_);
  while (atomic_load(&job->helpers) != PARKED) {
    pthread_mutex_unlock(&lock_);
    eng_park(job->caller);
    pthread_mutex_lock(&lock_);
  }
  pthread_mutex_unlock(&lock_);
}

/* Under the lock, which is given up, by a thread that computes no longer: another job may have one more. */
static void release_(void) {
  bool others = jobs_ != NULL;
  if (others) wake_(1);
  pthread_mutex_unlock(&lock_);
  if (others) tell_();
}

static void unlist_(struct job_ *job) {
  pthread_mutex_lock(&lock_);
  struct job_ **link = &jobs_;
  while (*link != job) link = &(*link)->following;
  *link = job->following;
  atomic_fetch_sub_explicit(&listed_, 1, memory_order_relaxed);
  atomic_fetch_sub(&computing_, 1);
  release_();
}

/* A job that is worth one helper, if one attends. */
static bool share_(const struct eng_share *job, void *scratch) {
  if (atomic_load_explicit(&computing_, memory_order_relaxed) + 2 > aclpy_thread_count()) return false;
  if (!eng_offer_place(job)) return false;
  atomic_fetch_add_explicit(&computing_, 2, memory_order_relaxed);
  eng_offer_work(job, scratch);
  /* Before the helper looks on: it would find as many computing as may, and sleep. */
  atomic_fetch_sub_explicit(&computing_, 1, memory_order_relaxed);
  eng_offer_settle(job, scratch);
  atomic_fetch_sub_explicit(&computing_, 1, memory_order_relaxed);
  if (atomic_load_explicit(&listed_, memory_order_relaxed) > 0) {
    pthread_mutex_lock(&lock_);
    release_();
  }
  return true;
}

static void divide_(struct job_ *job, int64_t items) {
  int64_t sections = job->most_helpers + 1 < SECTIONS_MAX ? job->most_helpers + 1 : SECTIONS_MAX;
  int64_t begin = 0;
  for (int64_t k = 0; k < sections; k++) {
    int64_t end = begin + (items - begin) / (sections - k);
    atomic_init(&job->sections[k].next, begin);
    atomic_init(&job->sections[k].owned, false);
    job->sections[k].begin = begin;
    job->sections[k].end = end;
    begin = end;
  }
  job->n_sections = (int)sections;
}

/* Large jobs go through their items in turn forwards and backwards: what the job before ended with, the results it
 * wrote or operands that they share, lies in the caches still, where all of it may be more than they hold. */
static bool turn_(void) {
  bool backwards = !atomic_load_explicit(&backwards_, memory_order_relaxed);
  atomic_store_explicit(&backwards_, backwards, memory_order_relaxed);
  return backwards;
}

/* Pieces that a thread goes through in turn. */
static int64_t pieces_(int64_t items, int64_t at_once) {
  int64_t most = at_once > 1 ? items / at_once : items;
  return most < 1 ? 1 : most < PIECES ? most : PIECES;
}

static void run_alone_(aclpy_kernel_run run, const aclpy_kernel_args *args, int32_t pass, const struct eng_load *load,
                       void *scratch) {
  bool backwards = turn_();
  int64_t begin = 0;
  for (int64_t left = pieces_(load->items, load->at_once); left > 0; left--) {
    int64_t end = begin + (load->items - begin) / left;
    if (backwards) {
      run(args, pass, load->items - end, load->items - begin, scratch);
    } else {
      run(args, pass, begin, end, scratch);
    }
    begin = end;
  }
}

static void cut_(struct job_ *job, const struct eng_load *load, int64_t grain, int threads) {
  int64_t chunk = load->items / ((int64_t)threads * CHUNKS_PER_THREAD);
  int64_t least = grain / CHUNKS_PER_GRAIN + (grain % CHUNKS_PER_GRAIN != 0);
  int64_t together = load->items / threads < load->at_once ? load->items / threads : load->at_once;
  if (least < together) least = together;
  /* Of small jobs, whose chunks are worth a few calls of the kernel at most. */
  int64_t small = grain > load->items / GRAINS_PER_CHUNK ? load->items : grain > 1 ? GRAINS_PER_CHUNK * grain : least;
  /* A chunk's first and last rows have nothing beside them, and what a row is done with is made ready for each. */
  int64_t several = load->at_once > 1 ? CHUNKS_AT_ONCE * load->at_once : 0;
  if (chunk < several) chunk = several;
  job->most_items = chunk < small ? small : chunk;
  job->least_items = least;
  job->spare_items = (int64_t)((double)load->items * (SPARE_NS / load->cost_ns));
}

bool eng_pool_run(aclpy_kernel_run run, const aclpy_kernel_args *args, int32_t pass, const struct eng_load *load) {
  const int64_t items = load->items, grain = load->grain < 1 ? 1 : load->grain;
  const size_t scratch_bytes = (size_t)load->thread_scratch_bytes;
  if (items <= 0) return true;
  void *scratch;
  if (!eng_thread_scratch(scratch_bytes, &scratch)) return false;
  int threads = aclpy_thread_count();
  bool alone = !(load->cost_ns >= HELP_NS); /* so is a cost that is not a number */
  bool large = load->cost_ns >= WAKE_NS && items > grain && items >= PIECES;
  if (alone || threads <= 1 || items <= grain) {
    if (large) {
      run_alone_(run, args, pass, load, scratch);
    } else {
      run(args, pass, 0, items, scratch);
    }
    return true;
  }
  int64_t most = (items - 1) / grain; /* beyond the caller */
  bool backwards = large && turn_();
  if (load->cost_ns < SMALL_NS && (threads == 2 || most == 1)) {
    const int64_t pieces = large ? pieces_(items / 2, load->at_once) : 1;
    const struct eng_share job = {.run = run,
                                  .args = args,
                                  .end = items,
                                  .scratch_bytes = scratch_bytes,
                                  .pass = pass,
                                  .processor = (int16_t)eng_processor(),
                                  .pieces = (int8_t)pieces,
                                  .spare = load->cost_ns < 2.0 * (double)pieces * SPARE_NS,
                                  .backwards = backwards};
    if (share_(&job, scratch)) return true;
  }
  struct job_ job; /* not its sections, a thousand bytes, which it may not need */
  atomic_init(&job.helpers, 0);
  job.run = run;
  job.args = args;
  job.pass = pass;
  cut_(&job, load, grain, threads);
  job.scratch_bytes = scratch_bytes;
  job.most_helpers = most < threads - 1 ? (int)most : threads - 1;
  job.wakes = load->cost_ns >= WAKE_NS;
  job.backwards = backwards;
  job.caller = eng_parker_self();
  job.processor = eng_processor();
  job.following = NULL;
  divide_(&job, items);
  atomic_fetch_add(&computing_, 1);
  list_(&job);
  work_(&job, 0, scratch);
  unlist_(&job);
  await_helpers_(&job);
  return true;
}

void eng_pool_stop(void) {
  pthread_mutex_lock(&lock_);
  stopping_ = true;
  wake_(n_helpers_);
  tell_();
  while (n_helpers_ > 0) pthread_cond_wait(&ended_, &lock_);
  pthread_mutex_unlock(&lock_);
}

void eng_pool_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_pool_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  pthread_cond_init(&ended_, NULL);
  jobs_ = NULL;
  atomic_store(&listed_, 0);
  idle_ = NULL;
  n_helpers_ = 0;
  stopping_ = false;
  atomic_store(&computing_, 0);
  eng_watch_after_fork();
  eng_offer_after_fork();
}
