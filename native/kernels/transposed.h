/* SPDX-License-Identifier: Apache-2.0
 * Template: what the kernels share that read inputs whose reduced axis is the dense one, but write results in which it
 * is not: x lies as [outer, inner, n], y as [outer, n, inner]. ACLPY_T names the instance.
 *
 * A work item is a strip of columns with all of their n elements, which are dense memory in x. Squares of it are turned
 * in registers, so that a lane is a column and sums run in the order of tiles (or chunks of them), to the same bits.
 */
#include "../simd/instance.h"

#ifndef ACLPY_KERNELS_TRANSPOSED_H
#define ACLPY_KERNELS_TRANSPOSED_H

#include "../simd/transpose.h"
#include "rows_geometry.h"

enum { ACLPY_STRIP_MOST = 64 /* columns */, ACLPY_STRIP_GOOD = 256 * 1024, ACLPY_STRIP_BYTES = 1024 * 1024 };
/* Forward, in chunks: a run of one line in each row is slow to write. Elements of 2 bytes gain nothing by it. */
enum { ACLPY_STRIP_WIDE = 512 * 1024 };
enum { ACLPY_STRIP_ITEMS = 8 };

/* Cuts strips: `bytes` of an element of it (in mode TILES `tile_bytes`) stay in the second-level cache. -1, too, where
 * columns are too long for that, or so few that the sums of tiles run otherwise. */
ACLPY_ONCE int aclpy_geometry_transposed(aclpy_geometry *g, const int64_t *params, int64_t real_bytes, int64_t held,
                                         int64_t stored_bytes, int64_t tensors, int64_t bytes, int64_t tile_bytes) {
  if (aclpy_geometry_make(g, params, real_bytes, held, stored_bytes, tensors) != 0) return -1;
  if ((g->mode != ACLPY_TILES && g->mode != ACLPY_TILE_CHUNKS) || g->group > 1) return -1;
  const int64_t line = 64 / stored_bytes;
  if (g->mode == ACLPY_TILES) bytes = tile_bytes;
  if (g->n > ACLPY_STRIP_BYTES / bytes / line) return -1;
  if (g->mode == ACLPY_TILES) g->chunk = g->rows;
  g->chunks = aclpy_ceil_div(g->rows, g->chunk);
  const int wide = held == 1 && g->mode == ACLPY_TILE_CHUNKS && stored_bytes >= 4;
  const int64_t room = wide ? ACLPY_STRIP_WIDE : ACLPY_STRIP_GOOD;
  const int64_t good = aclpy_max_i64(line, room / bytes / g->n / line * line);
  g->width = aclpy_min_i64(good, ACLPY_STRIP_MOST);
  if (g->outer * aclpy_ceil_div(g->inner, g->width) < ACLPY_STRIP_ITEMS) g->width = line;
  g->width = aclpy_min_i64(g->width, g->columns);
  g->tiles = aclpy_ceil_div(g->columns, g->width);
  g->stride = aclpy_round16(g->width);
  return 0;
}

/* One launch, whatever the mode: an item has all of its columns. */
ACLPY_INLINE int32_t aclpy_transposed_plan(const aclpy_geometry *g, aclpy_kernel_shape *shape, double element_ns,
                                           int64_t stored_bytes) {
  const double elements = (double)g->outer * (double)g->n * (double)g->inner;
  shape->passes = 1;
  shape->items[0] = g->outer * g->tiles;
  shape->cost_ns = 30.0 + elements * (element_ns + 0.03 * (double)stored_bytes);
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  return 0;
}

/* Memory to fetch while something else is done: [at, end). */
typedef struct aclpy_fetch_range {
  uintptr_t at, end;
  int level;
} aclpy_fetch_range;

ACLPY_INLINE void aclpy_fetch_some(aclpy_fetch_range *f, int64_t bytes) {
  const uintptr_t stop = f->at + (uintptr_t)bytes;
  for (; f->at < stop && f->at < f->end; f->at += 64) aclpy_fetch_row((const void *)f->at, 64, f->level);
}

#endif

/* The lanes of a vector, as a constant. */
enum { FN(side) = sizeof(VEC) / sizeof(REAL) };

/* A square of x, whose columns are `pitch` apart, turned: row k to `to` + k * step. Columns that do not exist are 0,
 * rows that do not exist are anything. Not inline: it fills the registers. */
ACLPY_APART void FN(square_turn)(const STORED *x, int64_t pitch, int64_t rows, int64_t columns, REAL *to,
                                 int64_t step) {
  VEC v[FN(side)];
  if (rows >= LANES && columns >= LANES) {
    for (int k = 0; k < LANES; ++k) v[k] = LD(x + k * pitch);
  } else {
    for (int k = 0; k < LANES; ++k) v[k] = k < columns ? FN(tile_ld)(x + k * pitch, rows, 0) : V(set1)(0);
  }
  V(transpose)(v);
  for (int k = 0; k < LANES; ++k) V(store)(to + k * step, v[k]);
}

/* A strip of columns of one tensor, as it lies. */
ACLPY_INLINE const STORED *FN(strip_of)(const aclpy_geometry *g, const unsigned char *x, const aclpy_tile *t) {
  return (const STORED *)(const void *)x + t->outer * g->n * g->inner + t->column * g->n;
}

/* Its words, and room for them. */
ACLPY_INLINE FN(words)
    FN(words_of)(const aclpy_geometry *g, const unsigned char *x, const aclpy_tile *t, STORED *room) {
  const FN(words) w = {.x = FN(strip_of)(g, x, t),
                       .pitch = g->n,
                       .columns = t->width,
                       .rows = g->rows,
                       .room = room,
                       .stride = FN(words_stride)(g->width),
                       .held = 1};
  return w;
}

/* The strip behind it, to be fetched; nothing behind the last one. */
ACLPY_INLINE aclpy_fetch_range FN(strip_behind)(const aclpy_geometry *g, const unsigned char *x, const aclpy_tile *t,
                                                int live) {
  const STORED *next = FN(strip_of)(g, x, t) + t->width * g->n;
  const aclpy_fetch_range f = {(uintptr_t)next, (uintptr_t)(next + (live ? g->width * g->n : 0)),
                               aclpy_fetch_level(g, 1)};
  return f;
}

/* Results of a block of rows, `results` being ACLPY_STRIP_MOST apart from row to row. */
ACLPY_INLINE void FN(strip_put)(const aclpy_geometry *g, const REAL *results, STORED *to, int64_t rows, int64_t n) {
  for (int64_t k = 0; k < rows; ++k) {
    const REAL *from = results + k * ACLPY_STRIP_MOST;
#define FULL_(i) V(load)(from + (i))
#define PART_(i, m) LDNR(from + (i), m, 0)
    ACLPY_MAP(to + k * g->columns, n, g->streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}
