/* SPDX-License-Identifier: Apache-2.0
 * Loops of measurements on several threads: all begin each pass together, the caller's clock runs from there until the
 * last one is done. The including file says what a `job` is and what pass `number` of it does (`pass_`), in which all
 * threads may meet at the barrier.
 */
#ifndef BENCH_PASSES_H
#define BENCH_PASSES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"

enum { MAX_THREADS = 256, LINE_BYTES = 64 };

typedef struct job job;
static void pass_(const job* work, int number, pthread_barrier_t* all);

typedef struct worker {
  const job* work;
  int first, passes;
  pthread_barrier_t* barrier;
} worker;

static void* run_(void* argument) {
  const worker* self = argument;
  for (int pass = 0; pass < self->passes; pass++) {
    pthread_barrier_wait(self->barrier);
    pass_(self->work, self->first + pass, self->barrier);
    pthread_barrier_wait(self->barrier);
  }
  return NULL;
}

/* Nanoseconds of `passes` passes; -1: no threads. `jobs[i]`, one a thread, as far apart as `job_bytes`. */
static int64_t time_passes_(const job* jobs, size_t job_bytes, int threads, int passes) {
  static int passes_before; /* numbers go on from call to call */
  const int first = passes_before;
  passes_before = (passes_before + passes) & 1;
  pthread_barrier_t barrier;
  if (pthread_barrier_init(&barrier, NULL, (unsigned)threads)) return -1;
  worker workers[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  for (int i = 1; i < threads; i++) {
    workers[i] = (worker){(const job*)(const void*)((const char*)jobs + (size_t)i * job_bytes), first, passes, &barrier};
    /* The others already wait at the barrier and could not be called back: leave the process to its report. */
    if (pthread_create(&ids[i], NULL, run_, &workers[i])) return -1;
  }
  int64_t total = 0;
  for (int pass = 0; pass < passes; pass++) {
    pthread_barrier_wait(&barrier);
    const int64_t start = now_();
    pass_(jobs, first + pass, &barrier);
    pthread_barrier_wait(&barrier);
    total += now_() - start;
  }
  for (int i = 1; i < threads; i++) pthread_join(ids[i], NULL);
  pthread_barrier_destroy(&barrier);
  return total;
}

#endif
