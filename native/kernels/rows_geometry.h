/* SPDX-License-Identifier: Apache-2.0
 * How a [outer, n, inner] problem with a reduction over n is cut into work items.
 *
 *   ROWS         inner == 1: an item is a row
 *   ROW_CHUNKS   inner == 1, few or very long rows: partial results per chunk, combine per row, write per chunk
 *   TILES        inner > 1: an item is a tile of columns, all n rows of it held in cache
 *   TILE_CHUNKS  inner > 1, few or very long columns: as ROW_CHUNKS, with tiles. Also for two operands where a
 *                tile would be so narrow that each of its rows is a line or two of some page, and for doubles where
 *                it would be narrower still: wide tiles are read twice
 *
 * Where inner is small, `group` consecutive rows are seen as one virtual row of group * inner virtual columns (memory
 * is contiguous), so that vectors are full; the virtual columns of one real column are merged after each reduction.
 * Which way is taken and where chunks end depends on outer, n and inner alone (for double also on its size), so that
 * float16, bfloat16 and float32 do the same arithmetic in the same order, for any number of threads.
 */
#ifndef ACLPY_KERNELS_ROWS_GEOMETRY_H
#define ACLPY_KERNELS_ROWS_GEOMETRY_H

#include "define.h"
#include "row_map.h"

enum { ACLPY_ROWS = 0, ACLPY_ROW_CHUNKS, ACLPY_TILES, ACLPY_TILE_CHUNKS };
enum { ACLPY_BLOCK = 2048, ACLPY_ROW_CHUNK = 16384, ACLPY_TILE_MAX = 512, ACLPY_CHUNK_ELEMENTS = 65536 };
enum { ACLPY_TILE_NARROW = 256 /* bytes of a tile's rows, as REAL, below which reading twice is cheaper */ };
enum { ACLPY_TILE_SMALL = 1 << 20 /* elements of two operands that stay in the caches between two readings */ };
enum { ACLPY_ROW_MAX = 1 << 20 /* bytes of a row of one operand, as REAL, that is read twice in one go */ };
enum { ACLPY_PITCHES = 3 };
enum { ACLPY_SCRATCH_MAX = 512 * 1024, ACLPY_SCRATCH_GOOD = 256 * 1024, ACLPY_SCRATCH_ROW = 1536 * 1024 };
enum { ACLPY_CHUNKS_KEPT = 8 * 1024 * 1024 /* bytes of a row, as REAL, whose exponentials wait for its sum */ };
enum { ACLPY_FEW_ROWS = 8, ACLPY_FEW_LONG_ROWS = 32 /* fewer would leave threads without work: chunks */ };

/* How a tensor lies: elements from one outer position to the next and from one virtual row to the next; a row's columns
 * are dense in runs of `run`, which begin `step` elements apart. */
typedef struct aclpy_spacing {
  int64_t outer, row, run, step;
} aclpy_spacing;

typedef struct aclpy_geometry {
  int mode;
  int streaming; /* write past the caches: the problem moves more than `past` */
  int64_t past;  /* bytes */
  int far;       /* the operands lie beyond the second-level caches */
  int half;      /* they fill half of the last level */
  int vast;      /* they are more than twice the last level */
  int core;      /* aclpy_core_kind */
  int64_t bytes; /* moved by the launch */
  int64_t outer, n, inner;
  int64_t group;   /* real rows in a virtual row */
  int64_t rows;    /* virtual rows */
  int64_t columns; /* virtual columns: inner * group */
  int64_t width;   /* virtual columns of a tile */
  int64_t stride;  /* reals between the rows of a tile in scratch */
  int64_t tiles;
  int64_t chunk; /* virtual rows of a chunk */
  int64_t chunks;
  int64_t turn; /* ROW_CHUNKS: rows that all passes are made over before the next ones: they stay in the last level */
  int64_t pitch[ACLPY_PITCHES]; /* where inner == 1: elements between the rows of each operand, the result last */
  aclpy_spacing out;            /* of the result, where inner > 1 */
} aclpy_geometry;

ACLPY_INLINE int64_t aclpy_round16(int64_t x) { return (x + 15) / 16 * 16; }

/* A row of results (forward, in scratch) or two of two operands (backward, where they are) stay in the last level, or
 * nearer: chunks read everything twice. */
ACLPY_INLINE void aclpy_geometry_rows_(aclpy_geometry *g, int64_t real_bytes, int64_t operands) {
  const int64_t forward = g->outer < ACLPY_FEW_LONG_ROWS ? ACLPY_SCRATCH_MAX : ACLPY_SCRATCH_ROW;
  const int64_t longest = operands == 2 ? ACLPY_ROW_MAX : forward;
  const int few = g->outer < ACLPY_FEW_ROWS && g->n >= 2 * ACLPY_ROW_CHUNK;
  g->mode = few || g->n > longest / real_bytes ? ACLPY_ROW_CHUNKS : ACLPY_ROWS;
  g->rows = g->n;
  g->columns = g->width = g->stride = g->tiles = g->group = 1;
  g->chunk = ACLPY_ROW_CHUNK;
}

/* This and what else is asked once a launch of many elements are functions of their own: they would stand in each
 * kernel that asks. */
#define ACLPY_ONCE ACLPY_APART
ACLPY_ONCE void aclpy_geometry_tiles_(aclpy_geometry *g, int64_t bytes, int64_t operands) {
  const int64_t real_bytes = bytes * operands;
  g->group = aclpy_max_i64(1, aclpy_min_i64(64 / g->inner, g->n));
  g->columns = g->group * g->inner;
  g->rows = aclpy_ceil_div(g->n, g->group);
  const int64_t most = ACLPY_SCRATCH_MAX / real_bytes / 16 / g->rows * 16;
  const int64_t good = ACLPY_SCRATCH_GOOD / real_bytes / 16 / g->rows * 16;
  const int few = g->rows >= 4096 && g->outer <= 256 / g->inner;
  const int fits = g->group > 1 ? most >= aclpy_round16(g->columns) : most >= 16;
  const int lean = g->group == 1 && g->inner > 32 && good < aclpy_min_i64(g->inner, ACLPY_TILE_NARROW / bytes);
  const int narrow = lean && (operands == 2 || bytes == 4 || good == 0);
  const int small = operands == 2 && bytes == 4 && g->group == 1 && g->inner > ACLPY_TILE_NARROW / bytes &&
                    g->rows >= 64 && g->outer * g->n * g->inner <= ACLPY_TILE_SMALL;
  g->mode = few || narrow || small || !fits ? ACLPY_TILE_CHUNKS : ACLPY_TILES;
  int64_t width = ACLPY_TILE_MAX;
  if (g->group > 1) {
    width = g->columns;
  } else if (g->mode == ACLPY_TILES) {
    width = aclpy_min_i64(aclpy_max_i64(good, aclpy_min_i64(most, 32)), ACLPY_TILE_MAX);
  }
  g->tiles = aclpy_ceil_div(g->columns, width);
  /* Gradients and chunks do best in whole strips of four vectors. */
  const int64_t even = aclpy_round16(aclpy_ceil_div(g->columns, g->tiles)), strips = aclpy_ceil_div(even, 64) * 64;
  const int whole = (operands == 2 || g->mode == ACLPY_TILE_CHUNKS) && strips <= width;
  g->width = g->tiles == 1 ? g->columns : whole ? strips : even;
  g->tiles = aclpy_ceil_div(g->columns, g->width);
  g->stride = aclpy_round16(g->width);
  g->chunk = g->group > 1 ? 1024 : ACLPY_CHUNK_ELEMENTS / g->stride;
}

/* Rows of results that wait in scratch where they are not kept in place: two in turn, one where they are long. */
ACLPY_INLINE int64_t aclpy_rows_waiting(int64_t n, int64_t real_bytes, int plain) {
  return plain || n * real_bytes > ACLPY_SCRATCH_MAX / 2 ? 1 : 2;
}

/* Where `bytes` lie, the whole problem's. */
ACLPY_INLINE void aclpy_geometry_caches_(aclpy_geometry *g, int64_t bytes) {
  g->streaming = bytes > g->past;
  g->far = bytes > 4 * aclpy_cache_bytes_l2(); /* several cores have one each */
  g->half = bytes > aclpy_cache_bytes_last_level() / 2;
  g->vast = bytes / 2 > aclpy_cache_bytes_last_level();
  g->core = aclpy_core_kind();
}

/* Rows whose `read_bytes` an element, which the last pass reads again, or those that wait for it, are a quarter of the
 * last level: what is written meanwhile takes its place, too. At most a million rounds. */
ACLPY_INLINE int64_t aclpy_geometry_turn_(const aclpy_geometry *g, int64_t read_bytes) {
  const int64_t held = aclpy_cache_bytes_last_level() / 4 / (g->n * read_bytes);
  return aclpy_min_i64(g->outer, aclpy_max_i64(held, g->outer / (1 << 20) + 1));
}
/* Whether exponentials of chunks wait in scratch; else they are taken twice. */
ACLPY_INLINE int aclpy_chunks_kept(const aclpy_geometry *g, int64_t real_bytes) {
  return g->n <= ACLPY_CHUNKS_KEPT / real_bytes;
}
/* The pass, and the items among those of all rounds, for what `run` is given. */
ACLPY_INLINE void aclpy_turn_items(const aclpy_geometry *g, int32_t *pass, int64_t *begin, int64_t *end) {
  const int64_t each = *pass % 3 == 1 ? 1 : g->chunks, before = *pass / 3 * g->turn * each, all = g->outer * each;
  *begin = aclpy_min_i64(before + *begin, all);
  *end = aclpy_min_i64(before + *end, all);
  *pass %= 3;
}

/* Returns 0, or -1 where the parameters make no sense. `held`: tiles a thread holds in scratch at once; `tensors`: how
 * many the kernel moves (for the cache decision). */
ACLPY_INLINE int aclpy_geometry_make(aclpy_geometry *g, const int64_t *params, int64_t real_bytes, int64_t held,
                                     int64_t stored_bytes, int64_t tensors) {
  g->outer = params[0];
  g->n = params[1];
  g->inner = params[2];
  if (g->outer < 0 || g->n < 0 || g->inner < 0) return -1;
  int64_t bytes = 0;
  if (g->outer == 0 || g->n == 0 || g->inner == 0) {
    g->outer = g->n = 0;
    g->inner = 1;
  } else if (__builtin_mul_overflow(g->outer, g->n, &bytes) || __builtin_mul_overflow(bytes, g->inner, &bytes) ||
             __builtin_mul_overflow(bytes, tensors * stored_bytes, &bytes)) {
    return -1;
  }
  g->bytes = bytes;
  g->past = aclpy_cache_bytes_last_level();
  if (g->inner == 1) {
    aclpy_geometry_rows_(g, real_bytes, held);
  } else {
    aclpy_geometry_tiles_(g, real_bytes, held);
    if (g->columns * stored_bytes % 64 == 0) g->past = aclpy_stream_bytes();
  }
  aclpy_geometry_caches_(g, bytes);
  g->chunks = g->mode == ACLPY_ROWS ? 1 : aclpy_ceil_div(g->rows, g->chunk);
  g->turn =
      g->mode == ACLPY_ROW_CHUNKS ? aclpy_geometry_turn_(g, held == 1 ? real_bytes : held * stored_bytes) : g->outer;
  for (int k = 0; k < ACLPY_PITCHES; ++k) g->pitch[k] = g->n;
  g->out = (aclpy_spacing){g->n * g->inner, g->columns, g->columns, g->columns};
  return 0;
}

/* Dense rows that lie anywhere: params [outer, n, elements from row to row of each of the `tensors` operands]. */
ACLPY_ONCE int aclpy_geometry_pitched(aclpy_geometry *g, const int64_t *params, int64_t real_bytes, int64_t held,
                                      int64_t stored_bytes, int64_t tensors) {
  const int64_t dense[3] = {params[0], params[1], 1};
  if (aclpy_geometry_make(g, dense, real_bytes, held, stored_bytes, tensors) != 0) return -1;
  for (int64_t k = 0; k < tensors; ++k) {
    int64_t bytes;
    if (__builtin_mul_overflow(params[2 + k], stored_bytes, &bytes)) return -1;
    if (__builtin_mul_overflow(bytes, g->outer, &bytes)) return -1;
    g->pitch[k] = params[2 + k];
  }
  return 0;
}

/* Results of which some lines are shared with gaps, past the caches: tiles of so many runs that the next one's begin
 * with a line, and as wide as is good for writing runs, where scratch of `real_bytes` a column and row allows. Narrower
 * ones are written through the caches where that was measured to be better. */
enum { ACLPY_RUNS_WIDE = 256, ACLPY_RUNS_NARROW = 192 };
ACLPY_INLINE void aclpy_geometry_runs_(aclpy_geometry *g, int64_t stored_bytes, int64_t real_bytes) {
  int64_t runs = 1;
  while ((uint64_t)runs * (uint64_t)(g->out.step * stored_bytes) % 64 != 0) runs *= 2;
  const int64_t most = aclpy_min_i64(ACLPY_SCRATCH_MAX / real_bytes / g->rows, ACLPY_RUNS_WIDE);
  const int64_t period = runs * aclpy_min_i64(g->out.run, 2 * ACLPY_TILE_MAX); /* no tile has more */
  const int64_t whole = aclpy_max_i64(g->width, most) / period * period;
  if (g->mode == ACLPY_TILES && g->tiles > 1 && whole >= g->width / 4 * 3) {
    g->width = aclpy_min_i64(whole, g->columns);
    g->tiles = aclpy_ceil_div(g->columns, g->width);
    g->stride = aclpy_round16(g->width);
  }
  if (g->core == ACLPY_CORE_ZEN_3 && g->width < ACLPY_RUNS_NARROW) g->streaming = 0;
}

/* Results with gaps: params [outer, n, inner], then the result's spacing. -1, too, where several rows would be one.
 * Where lines have gaps, they are written past the caches only by vectors of a whole line: one that is left half
 * written costs more than to read it. */
ACLPY_ONCE int aclpy_geometry_spaced(aclpy_geometry *g, const int64_t *params, int64_t real_bytes, int64_t held,
                                     int64_t stored_bytes, int64_t tensors, int64_t vector_bytes) {
  if (aclpy_geometry_make(g, params, real_bytes, held, stored_bytes, tensors) != 0) return -1;
  const aclpy_spacing out = {params[3], params[4], params[5], params[6]};
  if (g->inner == 1 || g->group > 1 || out.run < 1 || g->inner % out.run != 0) return -1;
  const int64_t steps[3] = {out.outer, out.row, out.step}, counts[3] = {g->outer, g->n, g->inner / out.run};
  for (int k = 0; k < 3; ++k) {
    int64_t bytes;
    if (__builtin_mul_overflow(steps[k], stored_bytes, &bytes)) return -1;
    if (__builtin_mul_overflow(bytes, counts[k], &bytes)) return -1;
  }
  g->out = out;
  const uint64_t all = (uint64_t)(out.outer | out.row | out.run | out.step);
  const int whole = all * (uint64_t)stored_bytes % 64 == 0;
  if (!whole && vector_bytes < 64) g->streaming = 0;
  if (!whole && g->streaming) aclpy_geometry_runs_(g, stored_bytes, real_bytes * held);
  return 0;
}

/* Where column `c` of a result's row lies, and where the run ends that it is in, at most at `end`. */
ACLPY_INLINE int64_t aclpy_out_at(const aclpy_geometry *g, int64_t c) {
  return g->out.run >= g->columns ? c : c / g->out.run * g->out.step + c % g->out.run;
}
ACLPY_INLINE int64_t aclpy_run_end(const aclpy_geometry *g, int64_t c, int64_t end) {
  return g->out.run >= g->columns ? end : aclpy_min_i64(end, (c / g->out.run + 1) * g->out.run);
}

/* What `run` knows and `plan` does not: the problem may be larger than this launch. */
ACLPY_INLINE void aclpy_geometry_whole(aclpy_geometry *g, const aclpy_kernel_args *args) {
  aclpy_geometry_caches_(g, aclpy_whole_bytes(args, g->bytes));
}

/* On Zen 5 a loop that streams with little arithmetic runs so far ahead of memory that its fetches are more than the
 * core can hold, and what it then needs is not there: one that waits for itself every so many groups of four vectors
 * takes 0.7 to 0.9 of the time. Not where much of the tensors is still in the last level. */
enum { ACLPY_PACE_GROUPS = 2 };
ACLPY_INLINE int aclpy_paced(const aclpy_geometry *g) { return g->core == ACLPY_CORE_ZEN_5 && g->vast; }

/* Rows of virtual row `row` that exist, times inner: the last virtual row may be short. */
ACLPY_INLINE int64_t aclpy_row_columns(const aclpy_geometry *g, int64_t row) {
  return aclpy_min_i64(g->columns, g->n * g->inner - row * g->columns);
}

#endif
