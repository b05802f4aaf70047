/* SPDX-License-Identifier: Apache-2.0
 * What moving a cell's elements takes without any arithmetic: every line of the inputs read once for the sums, which
 * all results need, and once more for the results, a tile of columns at a time; every line of the result written.
 *
 * Lines of the next tile may be read in turn with those of this one, so that memory and caches overlap. */
#include "passes.h"

/* A tile is read for its sums while the one before is written; or everything is read before any result is written, so
 * that tiles need not fit a cache; or a tile is read, then written. */
enum { TOGETHER = 0, APART, ONE_BY_ONE };

/* All strides in bytes. Line (a, b, s) of a tile is read at a * in_a + b * in_b + s * in_s and what came of it written
 * at a * out_a + b * out_b + s * out_s. Where `run` is not 0, rows (a) of b lines are written as dense runs of so many
 * bytes, `step` apart, that need not be whole lines. */
typedef struct traffic {
  int64_t outer, tiles, in_outer, out_outer, in_tile, out_tile;
  int64_t a, b, s, in_a, in_b, in_s, out_a, out_b, out_s;
  int64_t runs, run_lines, run_pitch; /* how the tile lies in the inputs */
  int64_t run, step;
  int64_t twice;  /* the second input is read for the sums, too; else it is only fetched */
  int64_t plain;  /* partial lines: everything written through the caches */
  int64_t ahead;  /* runs of the next tile that are fetched before they are read; 0: none */
  int64_t order;  /* TOGETHER, APART or ONE_BY_ONE */
  int64_t dense;  /* 1: the result is written row by row (b, s, then a), 2: (a, s, then b), and the inputs read as they
                     lie, whichever line belongs to which; else by squares (a, b, then s) */
} traffic;

struct job {
  const traffic* how;
  const char *first, *second; /* second NULL: one input */
  char* out;
  int64_t begin, end;
};

/* Where reading for the sums has come to. */
typedef struct cursor {
  const char *first, *second;
  int64_t run, at; /* of the tile's runs, bytes within it */
  line seen;
} cursor;

static int64_t in_at_(const traffic* t, int64_t tile) {
  return tile / t->tiles * t->in_outer + tile % t->tiles * t->in_tile;
}

static void sum_lines_(const traffic* t, cursor* c, int64_t lines) {
  const int64_t end = t->run_lines * LINE_BYTES;
  for (; lines > 0 && c->run < t->runs; lines--) {
    const int64_t at = c->run * t->run_pitch + c->at, far = at + t->ahead * t->run_pitch;
    c->seen = mix_(c->seen, load_(c->first + at));
    if (t->ahead) __builtin_prefetch(c->first + far, 0, 2);
    if (c->second && t->twice) c->seen = mix_(c->seen, load_(c->second + at));
    if (c->second && (t->ahead || !t->twice)) __builtin_prefetch(c->second + far, 0, 2);
    c->at += LINE_BYTES;
    if (c->at == end) c->at = 0, c->run++;
  }
}

static line result_(const job* work, int64_t at) {
  const line one = load_(work->first + at);
  return work->second ? mix_(one, load_(work->second + at)) : one;
}

/* Row a of a tile, in dense runs; `column` bytes of the row lie before the tile. */
static void write_runs_(const job* work, int64_t in, char* row, int64_t column, int64_t bytes) {
  const traffic* t = work->how;
  for (int64_t p = column, stop; p < column + bytes; p = stop) {
    stop = (p / t->run + 1) * t->run;
    if (stop > column + bytes) stop = column + bytes;
    char* to = row + p / t->run * t->step + p % t->run;
    int64_t from = in + p - column, left = stop - p;
    if (!t->plain) {
      int64_t head = (int64_t)(-(uintptr_t)to & 63u);
      if (head > left) head = left;
      if (head) store_part_(to, result_(work, from), head);
      to += head, from += head, left -= head;
      for (; left >= LINE_BYTES; left -= LINE_BYTES, to += LINE_BYTES, from += LINE_BYTES)
        store_(to, result_(work, from));
    }
    for (; left >= LINE_BYTES; left -= LINE_BYTES, to += LINE_BYTES, from += LINE_BYTES)
      store_plain_(to, result_(work, from));
    if (left) store_part_(to, result_(work, from), left);
  }
}

/* Both sides in the order in which they are dense. */
static void tile_dense_(const job* work, int64_t in, char* out, cursor* next) {
  const traffic* t = work->how;
  const int64_t middle = t->s, outer = t->dense == 1 ? t->b : t->a, inner = t->dense == 1 ? t->a : t->b;
  const int64_t out_outer = t->dense == 1 ? t->out_b : t->out_a, out_inner = t->dense == 1 ? t->out_a : t->out_b;
  int64_t run = in, at = 0;
  for (int64_t i = 0; i < outer; i++) {
    for (int64_t s = 0; s < middle; s++) {
      sum_lines_(t, next, inner);
      for (int64_t k = 0; k < inner; k++) {
        store_(out + i * out_outer + s * t->out_s + k * out_inner, result_(work, run + at));
        at += LINE_BYTES;
        if (at == t->run_lines * LINE_BYTES) at = 0, run += t->run_pitch;
      }
    }
  }
}

static void tile_(const job* work, int64_t tile, cursor* next) {
  const traffic* t = work->how;
  const int64_t in = in_at_(t, tile);
  char* out = work->out + tile / t->tiles * t->out_outer;
  if (!t->run) out += tile % t->tiles * t->out_tile;
  if (t->dense) {
    tile_dense_(work, in, out, next);
    return;
  }
  for (int64_t a = 0; a < t->a; a++) {
    sum_lines_(t, next, t->b * t->s);
    if (t->run) {
      write_runs_(work, in + a * t->in_a, out + a * t->out_a, tile % t->tiles * t->in_tile, t->b * LINE_BYTES);
      continue;
    }
    for (int64_t b = 0; b < t->b; b++) {
      for (int64_t s = 0; s < t->s; s++)
        store_(out + a * t->out_a + b * t->out_b + s * t->out_s,
               result_(work, in + a * t->in_a + b * t->in_b + s * t->in_s));
    }
  }
}

static void begin_(const job* work, cursor* next, int64_t tile) {
  const traffic* t = work->how;
  const int64_t in = tile < work->end ? in_at_(t, tile) : 0;
  next->first = work->first + in;
  next->second = work->second ? work->second + in : NULL;
  next->run = tile < work->end ? 0 : t->runs;
  next->at = 0;
}

static void pass_(const job* work, int number, pthread_barrier_t* all) {
  (void)number;
  const traffic* t = work->how;
  cursor next = {.seen = load_(work->first)};
  if (t->order == APART) {
    for (int64_t tile = work->begin; tile < work->end; tile++) {
      begin_(work, &next, tile);
      sum_lines_(t, &next, INT64_MAX);
    }
    pthread_barrier_wait(all);
    for (int64_t tile = work->begin; tile < work->end; tile++) tile_(work, tile, &next);
  }
  for (int64_t tile = work->begin - 1; tile < work->end && t->order == TOGETHER; tile++) {
    begin_(work, &next, tile + 1);
    if (tile >= work->begin) tile_(work, tile, &next);
    sum_lines_(t, &next, INT64_MAX);
  }
  for (int64_t tile = work->begin; tile < work->end && t->order == ONE_BY_ONE; tile++) {
    begin_(work, &next, tile);
    sum_lines_(t, &next, INT64_MAX);
    tile_(work, tile, &next);
  }
  keep_(next.seen);
  fence_();
}

/* Nanoseconds of `passes` passes; -1: no threads. */
int64_t bench_traffic(const traffic* how, const char* first, const char* second, char* out, int threads, int passes) {
  if (threads < 1 || threads > MAX_THREADS || passes < 1) return -1;
  job jobs[MAX_THREADS];
  const int64_t all = how->outer * how->tiles;
  for (int i = 0; i < threads; i++)
    jobs[i] = (job){how, first, second, out, all * i / threads, all * (i + 1) / threads};
  return time_passes_(jobs, sizeof *jobs, threads, passes);
}
