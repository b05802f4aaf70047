/* SPDX-License-Identifier: Apache-2.0
 * What the memory of this machine gives: streaming reads and non-temporal writes by a fixed number of threads. */
#include "passes.h"

enum { PIECE_BYTES = 1 << 16 };

struct job {
  const char* first;
  const char* second; /* NULL: one read */
  char* out;
  size_t bytes;
};

static void piece_(const job* work, size_t begin, size_t end) {
  if (work->second) {
    for (size_t at = begin; at < end; at += LINE_BYTES)
      store_(work->out + at, mix_(load_(work->first + at), load_(work->second + at)));
  } else {
    for (size_t at = begin; at < end; at += LINE_BYTES) store_(work->out + at, load_(work->first + at));
  }
}

/* Piece by piece, forwards and backwards in turn: a pass begins with what the one before has left in the caches, as the
 * library's large jobs do. */
static void pass_(const job* work, int number, pthread_barrier_t* all) {
  (void)all;
  const size_t lines = work->bytes / LINE_BYTES * LINE_BYTES, pieces = (lines + PIECE_BYTES - 1) / PIECE_BYTES;
  for (size_t i = 0; i < pieces; i++) {
    const size_t begin = (number & 1 ? pieces - 1 - i : i) * PIECE_BYTES;
    piece_(work, begin, begin + PIECE_BYTES < lines ? begin + PIECE_BYTES : lines);
  }
  fence_();
}

/* Nanoseconds of `passes` passes over `bytes` of each stream; second NULL: one read a write. -1: no threads. */
int64_t bench_stream(const char* first, const char* second, char* out, size_t bytes, int threads, int passes) {
  if (threads < 1 || threads > MAX_THREADS || passes < 1) return -1;
  job jobs[MAX_THREADS];
  const size_t share = (bytes / (size_t)threads + 4095) / 4096 * 4096;
  for (int i = 0; i < threads; i++) {
    const size_t begin = (size_t)i * share < bytes ? (size_t)i * share : bytes;
    const size_t end = begin + share < bytes ? begin + share : bytes;
    jobs[i] = (job){first + begin, second ? second + begin : NULL, out + begin, end - begin};
  }
  return time_passes_(jobs, sizeof *jobs, threads, passes);
}
