/* SPDX-License-Identifier: Apache-2.0
 * The table of layouts.
 */
#include "layout.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

enum { FIRST_BUCKETS = 1024, UNUSED_LIMIT = 65536 };

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_layout **buckets_;
static size_t n_buckets_; /* a power of two */
static size_t n_layouts_;
static size_t n_unused_;
static struct eng_layout *oldest_, *newest_; /* unused ones */
static uint64_t ids_;

static uint64_t hash_(const int64_t *word, uint32_t words) {
  uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ words;
  for (uint32_t i = 0; i < words; i++) {
    hash = (hash ^ (uint64_t)word[i]) * UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 32;
  }
  return hash;
}

static struct eng_layout **bucket_(uint64_t hash) { return &buckets_[hash & (n_buckets_ - 1)]; }

/* Doubles the table when it is full. A failure is no failure: chains get longer. */
static bool room_(void) {
  if (buckets_ != NULL && n_layouts_ < n_buckets_) return true;
  size_t wanted = buckets_ == NULL ? FIRST_BUCKETS : n_buckets_ * 2;
  struct eng_layout **grown = calloc(wanted, sizeof(struct eng_layout *));
  if (grown == NULL) return buckets_ != NULL;
  struct eng_layout **old = buckets_;
  size_t n_old = n_buckets_;
  buckets_ = grown;
  n_buckets_ = wanted;
  for (size_t i = 0; i < n_old; i++) {
    while (old[i] != NULL) {
      struct eng_layout *layout = old[i];
      old[i] = layout->chain;
      layout->chain = *bucket_(layout->hash);
      *bucket_(layout->hash) = layout;
    }
  }
  free(old);
  return true;
}

static void unlink_unused_(struct eng_layout *layout) {
  if (layout->older != NULL) layout->older->newer = layout->newer;
  if (layout->newer != NULL) layout->newer->older = layout->older;
  if (oldest_ == layout) oldest_ = layout->newer;
  if (newest_ == layout) newest_ = layout->older;
  layout->older = layout->newer = NULL;
  n_unused_--;
}

static void forget_(struct eng_layout *layout) {
  unlink_unused_(layout);
  struct eng_layout **link = bucket_(layout->hash);
  while (*link != layout) link = &(*link)->chain;
  *link = layout->chain;
  n_layouts_--;
  free(layout);
}

/* Under the lock. */
static struct eng_layout *find_or_add_(const int64_t *word, uint32_t words, uint64_t hash) {
  size_t bytes = words * sizeof(*word);
  if (buckets_ != NULL) {
    for (struct eng_layout *layout = *bucket_(hash); layout != NULL; layout = layout->chain) {
      if (layout->hash != hash || layout->words != words || memcmp(layout->word, word, bytes) != 0) continue;
      if (layout->users++ == 0) unlink_unused_(layout);
      return layout;
    }
  }
  if (!room_()) return NULL;
  struct eng_layout *layout = eng_object_alloc(sizeof(*layout) + bytes);
  if (layout == NULL) return NULL;
  layout->id = ++ids_ << 1 | (uint64_t)(word[ENG_LAYOUT_FOREIGN] != 0);
  layout->hash = hash;
  layout->users = 1;
  layout->older = layout->newer = NULL;
  layout->words = words;
  memcpy(layout->word, word, bytes);
  layout->chain = *bucket_(hash);
  *bucket_(hash) = layout;
  n_layouts_++;
  return layout;
}

struct eng_layout *eng_layout_intern(const int64_t *word, uint32_t words) {
  uint64_t hash = hash_(word, words);
  pthread_mutex_lock(&lock_);
  struct eng_layout *layout = find_or_add_(word, words, hash);
  pthread_mutex_unlock(&lock_);
  return layout;
}

void eng_layout_leave(struct eng_layout *layout) {
  pthread_mutex_lock(&lock_);
  if (--layout->users == 0) {
    layout->older = newest_;
    if (newest_ != NULL) newest_->newer = layout;
    newest_ = layout;
    if (oldest_ == NULL) oldest_ = layout;
    if (++n_unused_ > UNUSED_LIMIT) forget_(oldest_);
  }
  pthread_mutex_unlock(&lock_);
}

void eng_layouts_before_fork(void) { pthread_mutex_lock(&lock_); }

/* The child keeps the table: ids that Python remembers stay true. */
void eng_layouts_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
