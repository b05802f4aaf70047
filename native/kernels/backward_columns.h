/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_tiles.h: sums of columns, and tiles at work. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

#include "tile_pieces.h"

/* Where the results are made from. */
typedef struct FN(dense) {
  REAL *g;
  REAL *y;
} FN(dense);

/* Sums by column, and ACLPY_REST_AT further on what they leave over. */
typedef struct FN(column_sums) {
  double sum[2 * ACLPY_REST_AT];
} FN(column_sums);

ACLPY_INLINE void FN(add_to)(double *to, V(acc) s) { V(acc_store)(to, V(acc_join)(V(acc_load)(to), s)); }

ACLPY_INLINE void FN(sums_clear)(FN(column_sums) * sums, int64_t columns) {
  memset(sums->sum, 0, (size_t)columns * sizeof(double));
  memset(sums->sum + ACLPY_REST_AT, 0, (size_t)columns * sizeof(double));
}
/* What a block of rows gave for the vector of columns from `c` on. */
ACLPY_INLINE void FN(sums_add)(FN(column_sums) * sums, int64_t c, V(acc) term, V(dot) product, int logarithm) {
  FN(add_to)(sums->sum + c, logarithm ? term : V(dot_sums)(product));
  if (!logarithm && sizeof(REAL) != sizeof(double)) {
    FN(add_to)(sums->sum + ACLPY_REST_AT + c, V(dot_rests)(product));
  }
}
/* The sums of a chunk, or of all rows, to the totals of an item that has all of its columns; as column_sums. */
ACLPY_INLINE void FN(sums_total)(const aclpy_geometry *g, const FN(column_sums) * sums, double *total) {
  for (int64_t c = 0; c < g->stride; ++c) {
    const double sum = aclpy_dot_total(sums->sum[c], sums->sum[ACLPY_REST_AT + c]);
    const int joins = g->mode == ACLPY_TILE_CHUNKS;
    const aclpy_sum all = {joins ? total[c] : 0.0, joins ? total[ACLPY_REST_AT + c] : 0.0},
                    next = aclpy_sum_add(all, sum);
    total[c] = next.all;
    total[ACLPY_REST_AT + c] = next.rest;
  }
}

/* The two parts of each column's sum; those of whole quads in the order of ldx, too, where that is another one. */
typedef struct FN(totals) {
  REAL high[ACLPY_TILE_PAD];
  REAL low[ACLPY_TILE_PAD];
#if PAIRED
  _Alignas(64) REAL paired_high[ACLPY_TILE_PAD];
  _Alignas(64) REAL paired_low[ACLPY_TILE_PAD];
#endif
} FN(totals);

ACLPY_INLINE void FN(totals_set)(FN(totals) * totals, int64_t at, const double *sum, int64_t n) {
  for (int64_t c = 0; c < n; ++c) {
    const FN(total) one = FN(total_of)(sum[c]);
    totals->high[at + c] = one.high;
    totals->low[at + c] = one.low;
  }
}

/* Of the first n columns: done once all of these are set. */
ACLPY_INLINE void FN(totals_pair)(FN(totals) * totals, int64_t n) {
#if PAIRED
  const int64_t whole = n / (4 * LANES) * (4 * LANES);
  PAIRS(totals->high, totals->paired_high, whole);
  PAIRS(totals->low, totals->paired_low, whole);
#else
  (void)totals, (void)n;
#endif
}

/* Those of whole quads, in the order of ldx. */
ACLPY_INLINE const REAL *FN(quad_highs)(const FN(totals) * totals) {
#if PAIRED
  return totals->paired_high;
#else
  return totals->high;
#endif
}
ACLPY_INLINE const REAL *FN(quad_lows)(const FN(totals) * totals) {
#if PAIRED
  return totals->paired_low;
#else
  return totals->low;
#endif
}

/* A tile whose sums are known, to be written. */
typedef struct FN(tile_rest) {
  aclpy_tile t;
  const STORED *g, *y;
  FN(dense) dense; /* NULL: the operands themselves */
  STORED *out;
  const FN(totals) * sum;
  int live, streaming;
  int by_rows;
  const aclpy_pieces *pieces; /* of each whole strip, where results are in pieces */
  int fetches;                /* operands that no other work fetches */
  int64_t after;              /* elements to the tile to be written next */
} FN(tile_rest);

/* A tile holds two operands. */
enum { FN(tile_element_bytes) = 2 * sizeof(REAL) };

/* A tile to be summed, and what is written meanwhile. */
typedef struct FN(tile_task) {
  aclpy_tile t;
  const STORED *g, *y;
  FN(dense) dense;
  int64_t after; /* elements from the tile's start to that of the one behind it */
  int fetches;
  int walks; /* what is fetched is in the order of memory: only the tile itself is worked on */
  int paced;
} FN(tile_task);

/* Whether strips are fetched in the order of memory (aclpy_ahead). */
ACLPY_INLINE int FN(tile_walks)(const aclpy_geometry *geometry, const FN(tile_task) * p) {
  return ACLPY_ISA_RANK == 2 && p->walks && geometry->tiles > 1;
}
ACLPY_INLINE void FN(tile_fetch_ahead)(const FN(tile_task) * p, aclpy_ahead *ahead) {
  const int64_t bytes = 4 * LANES * (int64_t)sizeof(STORED);
  aclpy_fetch_row(p->g + ahead->at, bytes, ACLPY_FETCH_L2);
  aclpy_fetch_row(p->y + ahead->at, bytes, ACLPY_FETCH_L2);
  aclpy_ahead_next(ahead);
}

/* Some rows below row r, `vectors` vectors of columns from column c on. */
ACLPY_INLINE void FN(tile_fetch)(const aclpy_geometry *geometry, const FN(tile_task) * p, int64_t r, int64_t c,
                                 int vectors) {
  const int64_t far = aclpy_tile_fetch(geometry, r, ACLPY_TILE_BLOCK, p->t.rows, p->after) + c;
  aclpy_fetch_row(p->g + far, vectors * LANES * (int64_t)sizeof(STORED), p->fetches);
  aclpy_fetch_row(p->y + far, vectors * LANES * (int64_t)sizeof(STORED), p->fetches);
}

/* What is asked for beside rows from `first` on of the strip at column `c`: results of the tile before some rows below,
 * at its end those of the tile that is summed. */
ACLPY_INLINE aclpy_asked FN(tile_asked)(const aclpy_geometry *geometry, const FN(tile_task) * p,
                                        const FN(tile_rest) * before, int64_t c, int64_t first) {
  const aclpy_asked none = {0};
  const int64_t far = first + ACLPY_TILE_BLOCK, below = far - before->t.rows, size = (int64_t)sizeof(STORED);
  const aclpy_tile *t = below < 0 ? &before->t : &p->t;
  if (!before->live || before->pieces == NULL || !geometry->half || below >= p->t.rows) return none;
  if (c + 4 * LANES > t->width) return none;
  const int64_t row = (below < 0 ? far : below) * geometry->out.row + t->to - before->t.to;
  return aclpy_asked_of(geometry, t, (uintptr_t)before->out + (uintptr_t)(row * size), c, 4 * LANES, size);
}
