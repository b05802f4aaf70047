/* SPDX-License-Identifier: Apache-2.0
 * Streams from C: enqueueing behind a parked task, memory a queued task, record -> wait -> run across streams. */
#define _GNU_SOURCE
#include <malloc.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

enum { MAX_STREAMS = 256 };

typedef struct latch {
  sem_t open;
  sem_t reached;
} latch;

typedef struct stamp {
  _Atomic int64_t at;
} stamp;

typedef struct enqueue_result {
  int64_t total_ns;
  int64_t worst_ns;
  int64_t over_10us;   /* single enqueues that took longer than 10 microseconds */
  int64_t heap_queued; /* bytes the heap grew by while they were queued */
  int64_t rss_queued;  /* resident bytes likewise */
  int64_t heap_after;  /* heap above the start once they have run */
  int64_t rss_after;
  int64_t drain_ns;
} enqueue_result;

static int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int64_t heap_(void) {
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

static int64_t resident_(void) {
  long total = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  fclose(file);
  return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static int32_t park_run_(void* argument) {
  latch* parked = argument;
  sem_post(&parked->reached);
  while (sem_wait(&parked->open)) {
  }
  return 0;
}

static int32_t stamp_run_(void* argument) {
  atomic_store(&((stamp*)argument)->at, now_());
  return 0;
}

static int32_t nothing_run_(void* argument) {
  (void)argument;
  return 0;
}

static void keep_(void* argument) { (void)argument; }

/* Parks every stream, so that nothing queued behind runs; waits until each worker is in its latch. */
static int32_t park_(aclpy_handle ctx, const aclpy_handle* streams, int n, latch* latches) {
  for (int i = 0; i < n; i++) {
    sem_init(&latches[i].open, 0, 0);
    sem_init(&latches[i].reached, 0, 0);
    const int32_t status = aclpy_submit(ctx, streams[i], "park", park_run_, keep_, &latches[i], 0);
    if (status) return status;
  }
  for (int i = 0; i < n; i++)
    while (sem_wait(&latches[i].reached)) {
    }
  return 0;
}

static void release_(latch* latches, int n) {
  for (int i = 0; i < n; i++) sem_post(&latches[i].open);
}

static int32_t drain_(aclpy_handle ctx, const aclpy_handle* streams, int n) {
  int32_t first = 0;
  for (int i = 0; i < n; i++) {
    const int32_t status = aclpy_stream_synchronize(ctx, streams[i]);
    if (!first) first = status;
  }
  return first;
}

/* `count` executions dealt to n parked streams in turn. op 0: empty tasks instead of executors. */
int32_t bench_enqueue(uint32_t op, uintptr_t workspace, uint64_t workspace_size, const aclpy_handle* executors,
                      aclpy_handle ctx, const aclpy_handle* streams, int32_t n, int64_t count, enqueue_result* result) {
  static latch latches[MAX_STREAMS];
  if (n < 1 || n > MAX_STREAMS) return -1;
  int32_t status = park_(ctx, streams, n, latches);
  if (status) return status;
  const int64_t heap = heap_(), resident = resident_();
  *result = (enqueue_result){0};
  const int64_t start = now_();
  int64_t before = start;
  for (int64_t i = 0; i < count && !status; i++) {
    const int64_t which = i % n;
    status = op ? aclpy_execute(op, workspace, workspace_size, executors[which], streams[which])
                : aclpy_submit(ctx, streams[which], "nothing", nothing_run_, keep_, NULL, 0);
    const int64_t after = now_();
    if (after - before > result->worst_ns) result->worst_ns = after - before;
    result->over_10us += after - before > 10000;
    before = after;
  }
  result->total_ns = before - start;
  result->heap_queued = heap_() - heap;
  result->rss_queued = resident_() - resident;
  const int64_t released = now_();
  release_(latches, n);
  const int32_t drained = drain_(ctx, streams, n);
  result->drain_ns = now_() - released;
  result->heap_after = heap_() - heap;
  malloc_trim(0);
  result->rss_after = resident_() - resident;
  return status ? status : drained;
}

/* From the end of a task in one stream to the start of a task in another that waits for its event. */
int32_t bench_handover(aclpy_handle ctx, aclpy_handle from, aclpy_handle to, aclpy_handle event, int32_t count,
                       int64_t* took) {
  for (int32_t i = 0; i < count; i++) {
    latch parked;
    stamp first = {0}, second = {0};
    int32_t status = park_(ctx, &from, 1, &parked);
    if (!status) status = aclpy_submit(ctx, from, "first", stamp_run_, keep_, &first, 0);
    if (!status) status = aclpy_event_record(ctx, event, from);
    if (!status) status = aclpy_event_wait(ctx, to, event);
    if (!status) status = aclpy_submit(ctx, to, "second", stamp_run_, keep_, &second, 0);
    /* Let the second stream's worker find its wait and go to sleep: the harder case. */
    const struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
    release_(&parked, 1);
    const aclpy_handle both[2] = {from, to};
    const int32_t drained = drain_(ctx, both, 2);
    if (status || drained) return status ? status : drained;
    took[i] = atomic_load(&second.at) - atomic_load(&first.at);
  }
  return 0;
}

/* `count` executions of `m` executors in turn, dealt to n streams, from the first enqueue to the last synchronise. */
int64_t bench_spread(uint32_t op, uintptr_t workspace, uint64_t workspace_size, const aclpy_handle* executors,
                     aclpy_handle ctx, const aclpy_handle* streams, int32_t m, int32_t n, int64_t count) {
  const int64_t start = now_();
  for (int64_t i = 0; i < count; i++) {
    const int32_t status = aclpy_execute(op, workspace, workspace_size, executors[i % m], streams[i % n]);
    if (status) return -(int64_t)status;
  }
  const int32_t status = drain_(ctx, streams, n);
  return status ? -(int64_t)status : now_() - start;
}
