/* SPDX-License-Identifier: Apache-2.0
 * The little that the C harnesses share: checks that end the program, latches instead of sleeps, threads.
 */
#ifndef ACLPY_TESTS_CHECK_H
#define ACLPY_TESTS_CHECK_H

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sanitizers.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                  \
    }                                                                           \
  } while (0)

#define CHECK_EQUAL(got, wanted)                                                                 \
  do {                                                                                           \
    long long got_ = (long long)(got), wanted_ = (long long)(wanted);                            \
    if (got_ != wanted_) {                                                                       \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_, wanted_); \
      abort();                                                                                   \
    }                                                                                            \
  } while (0)

#define CHECK_CONTAINS(text, part)                                                      \
  do {                                                                                  \
    const char *text_ = (text);                                                         \
    if (strstr(text_, part) == NULL) {                                                  \
      fprintf(stderr, "%s:%d: no \"%s\" in \"%s\"\n", __FILE__, __LINE__, part, text_); \
      abort();                                                                          \
    }                                                                                   \
  } while (0)

#define RUN(test)                     \
  do {                                \
    fprintf(stderr, "  %s\n", #test); \
    test();                           \
  } while (0)

/* Opens once; everybody who waits goes on. */
struct latch {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  int count;
};

#define LATCH {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void latch_add(struct latch *latch) {
  pthread_mutex_lock(&latch->lock);
  latch->count++;
  pthread_cond_broadcast(&latch->cond);
  pthread_mutex_unlock(&latch->lock);
}

static inline void latch_wait(struct latch *latch, int count) {
  pthread_mutex_lock(&latch->lock);
  while (latch->count < count) pthread_cond_wait(&latch->cond, &latch->lock);
  pthread_mutex_unlock(&latch->lock);
}

static inline int latch_count(struct latch *latch) {
  pthread_mutex_lock(&latch->lock);
  int count = latch->count;
  pthread_mutex_unlock(&latch->lock);
  return count;
}

/* A host function that parks its stream: says that it has begun, then waits to be let go. */
struct park {
  struct latch begun, go, dropped;
};
#define PARK {LATCH, LATCH, LATCH}

static inline int32_t park_run(void *arg) {
  struct park *park = arg;
  latch_add(&park->begun);
  latch_wait(&park->go, 1);
  return 0;
}

static inline void park_drop(void *arg) { latch_add(&((struct park *)arg)->dropped); }

static inline pthread_t start_thread(void *(*run)(void *), void *arg) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, arg) == 0);
  return thread;
}

static inline void join_thread(pthread_t thread) { CHECK(pthread_join(thread, NULL) == 0); }

#endif
