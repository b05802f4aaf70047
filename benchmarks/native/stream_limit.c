/* SPDX-License-Identifier: Apache-2.0
 * What the memory of this machine gives: streaming reads and non-temporal writes by a fixed number of threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lines.h"

enum { MAX_THREADS = 256, LINE_BYTES = 64 };

typedef struct job {
  const char* first;
  const char* second; /* NULL: one read */
  char* out;
  size_t bytes;
  int passes;
  pthread_barrier_t* barrier;
} job;

static void pass_(const job* work) {
  const size_t end = work->bytes / LINE_BYTES * LINE_BYTES;
  if (work->second) {
    for (size_t at = 0; at < end; at += LINE_BYTES)
      store_(work->out + at, mix_(load_(work->first + at), load_(work->second + at)));
  } else {
    for (size_t at = 0; at < end; at += LINE_BYTES) store_(work->out + at, load_(work->first + at));
  }
  fence_();
}

static void* run_(void* argument) {
  const job* work = argument;
  for (int pass = 0; pass < work->passes; pass++) {
    pthread_barrier_wait(work->barrier);
    pass_(work);
    pthread_barrier_wait(work->barrier);
  }
  return NULL;
}

static int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Nanoseconds of `passes` passes over `bytes` of each stream; second NULL: one read a write. -1: no threads. */
int64_t bench_stream(const char* first, const char* second, char* out, size_t bytes, int threads, int passes) {
  if (threads < 1 || threads > MAX_THREADS || passes < 1) return -1;
  pthread_barrier_t barrier;
  if (pthread_barrier_init(&barrier, NULL, (unsigned)threads)) return -1;
  job jobs[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  const size_t share = (bytes / (size_t)threads + 4095) / 4096 * 4096;
  for (int i = 0; i < threads; i++) {
    const size_t begin = (size_t)i * share < bytes ? (size_t)i * share : bytes;
    const size_t end = begin + share < bytes ? begin + share : bytes;
    jobs[i] = (job){first + begin, second ? second + begin : NULL, out + begin, end - begin, passes, &barrier};
  }
  for (int i = 1; i < threads; i++) {
    /* The others already wait at the barrier and could not be called back: leave the process to its report. */
    if (pthread_create(&ids[i], NULL, run_, &jobs[i])) return -1;
  }
  int64_t total = 0;
  for (int pass = 0; pass < passes; pass++) {
    pthread_barrier_wait(&barrier);
    const int64_t start = now_();
    pass_(&jobs[0]);
    pthread_barrier_wait(&barrier);
    total += now_() - start;
  }
  for (int i = 1; i < threads; i++) pthread_join(ids[i], NULL);
  pthread_barrier_destroy(&barrier);
  return total;
}
