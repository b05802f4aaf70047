/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax over an axis before the last one. ACLPY_T names the instance.
 *
 * The first pass sums by column; where the tile would not stay in cache (rows a large power of two apart) it also
 * copies both operands into dense scratch, from which the second pass reads.
 */
#include "../simd/instance.h"

/* Where pass 2 reads from. */
typedef struct FN(dense) {
  REAL *g;
  REAL *y;
} FN(dense);

/* Sums by column, and what the sums of products leave over. */
typedef struct FN(column_sums) {
  double sum[ACLPY_TILE_PAD];
  double rest[ACLPY_TILE_PAD];
} FN(column_sums);

ACLPY_INLINE void FN(add_to)(double *to, V(acc) s) { V(acc_store)(to, V(acc_join)(V(acc_load)(to), s)); }

/* Adds rows [first, last) of `vectors` vectors of columns, from column c on, to their sums. */
ACLPY_INLINE void FN(tile_sum_block)(const aclpy_geometry *geometry, const aclpy_tile *t, const STORED *g,
                                     const STORED *y, const FN(dense) * dense, FN(column_sums) * sums, int64_t c,
                                     int vectors, int64_t first, int64_t last, int logarithm, int copy) {
  const int64_t ahead = aclpy_fetch_ahead(geometry, (int64_t)sizeof(STORED));
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  for (int64_t r = first; r < last; ++r) {
    const int64_t at = r * geometry->columns + c, to = r * geometry->stride + c;
    const int64_t left = aclpy_tile_columns(geometry, t, r) - c;
    for (int k = 0; k < vectors; ++k) {
      const int64_t i = k * LANES;
      const VEC a = FN(tile_ld)(g + at + i, left - i, 0);
      if (ahead > 0) ACLPY_PREFETCH(g + at + i + ahead);
      if (ahead > 0) ACLPY_PREFETCH(y + at + i + ahead);
      if (copy) V(store)(dense->g + to + i, a);
      if (logarithm) term[k] = V(acc_add)(term[k], a);
      if (logarithm && !copy) continue;
      const VEC b = FN(tile_ld)(y + at + i, left - i, 0);
      if (copy) V(store)(dense->y + to + i, b);
      if (!logarithm) product[k] = V(dot_add)(product[k], a, b);
    }
  }
  for (int k = 0; k < vectors; ++k) {
    const int64_t i = c + k * LANES;
    FN(add_to)(sums->sum + i, logarithm ? term[k] : V(dot_sums)(product[k]));
    if (!logarithm) FN(add_to)(sums->rest + i, V(dot_rests)(product[k]));
  }
}

/* Sums by column, into sums->sum. */
ACLPY_INLINE void FN(tile_sum)(const aclpy_geometry *geometry, const aclpy_tile *t, const STORED *g, const STORED *y,
                               const FN(dense) * dense, FN(column_sums) * sums, int logarithm, int copy) {
  const int64_t stride = geometry->stride;
  memset(sums->sum, 0, (size_t)stride * sizeof(double));
  memset(sums->rest, 0, (size_t)stride * sizeof(double));
  for (int64_t first = 0; first < t->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, t->rows);
    int64_t c = 0;
    for (; c + 4 * LANES <= t->width; c += 4 * LANES) {
      FN(tile_sum_block)(geometry, t, g, y, dense, sums, c, 4, first, last, logarithm, copy);
    }
    for (; c < t->width; c += LANES) {
      FN(tile_sum_block)(geometry, t, g, y, dense, sums, c, 1, first, last, logarithm, copy);
    }
  }
  for (int64_t c = 0; c < stride; ++c) sums->sum[c] = aclpy_dot_total(sums->sum[c], sums->rest[c]);
  aclpy_merge_sums(geometry, sums->sum);
}

/* The two parts of each column's sum. */
typedef struct FN(totals) {
  REAL high[ACLPY_TILE_PAD];
  REAL low[ACLPY_TILE_PAD];
} FN(totals);

ACLPY_INLINE void FN(totals_set)(FN(totals) * totals, int64_t at, const double *sum, int64_t n) {
  for (int64_t c = 0; c < n; ++c) {
    const FN(total) one = FN(total_of)(sum[c]);
    totals->high[at + c] = one.high;
    totals->low[at + c] = one.low;
  }
}

ACLPY_INLINE void FN(tile_out)(const aclpy_geometry *geometry, const aclpy_tile *t, const STORED *g, const STORED *y,
                               STORED *out, const FN(totals) * sum, int logarithm, int streaming) {
  const REAL *high = sum->high, *low = sum->low;
  for (int64_t r = 0; r < t->rows; ++r) {
    const STORED *a = g + r * geometry->columns, *b = y + r * geometry->columns;
    const int64_t n = aclpy_tile_columns(geometry, t, r);
    STORED *to = out + r * geometry->columns;
#define FULL_(i) FN(result)(LD(a + (i)), LD(b + (i)), V(load)(high + (i)), V(load)(low + (i)), logarithm)
#define PART_(i, m) \
  FN(result)(LDN(a + (i), m, 0), LDN(b + (i), m, 0), LDNR(high + (i), m, 0), LDNR(low + (i), m, 0), logarithm)
    ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

/* The same from dense scratch. */
ACLPY_INLINE void FN(tile_out_dense)(const aclpy_geometry *geometry, const aclpy_tile *t, const FN(dense) * dense,
                                     STORED *out, const FN(totals) * sum, int logarithm, int streaming) {
  const REAL *high = sum->high, *low = sum->low;
  for (int64_t r = 0; r < t->rows; ++r) {
    const REAL *a = dense->g + r * geometry->stride, *b = dense->y + r * geometry->stride;
    const int64_t n = aclpy_tile_columns(geometry, t, r);
    STORED *to = out + r * geometry->columns;
#define FULL_(i) FN(result)(V(load)(a + (i)), V(load)(b + (i)), V(load)(high + (i)), V(load)(low + (i)), logarithm)
#define PART_(i, m) \
  FN(result)(LDNR(a + (i), m, 0), LDNR(b + (i), m, 0), LDNR(high + (i), m, 0), LDNR(low + (i), m, 0), logarithm)
    ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

ACLPY_INLINE void FN(tile_run)(const aclpy_geometry *geometry, const aclpy_tile *t, const FN(operands) * p,
                               const FN(dense) * dense, int logarithm) {
  FN(column_sums) sums;
  FN(totals) totals;
  const STORED *g = p->g + t->offset, *y = p->y + t->offset;
  if (dense->g != NULL) {
    FN(tile_sum)(geometry, t, g, y, dense, &sums, logarithm, 1);
    FN(totals_set)(&totals, 0, sums.sum, geometry->stride);
    FN(tile_out_dense)(geometry, t, dense, p->out + t->offset, &totals, logarithm, p->streaming);
  } else {
    FN(tile_sum)(geometry, t, g, y, dense, &sums, logarithm, 0);
    FN(totals_set)(&totals, 0, sums.sum, geometry->stride);
    FN(tile_out)(geometry, t, g, y, p->out + t->offset, &totals, logarithm, p->streaming);
  }
}

/* Where the tile would not stay in cache, it is copied. */
ACLPY_INLINE int FN(tile_copies)(const aclpy_geometry *g) {
  return g->mode == ACLPY_TILES && aclpy_rows_collide(g, (int64_t)sizeof(STORED));
}

static void FN(tiles_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                          REAL *scratch, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  FN(dense) dense = {NULL, NULL};
  if (FN(tile_copies)(geometry)) {
    dense.g = scratch;
    dense.y = scratch + geometry->rows * geometry->stride;
  }
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(geometry, i, 0);
    if (logarithm) {
      FN(tile_run)(geometry, &t, &p, &dense, 1);
    } else {
      FN(tile_run)(geometry, &t, &p, &dense, 0);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}

/* Pass 0: sums by (outer, chunk, column); pass 1: totals by (outer, column), behind them; pass 2: write. */
static void FN(tile_chunks_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int32_t pass,
                                int64_t begin, int64_t end, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  const FN(dense) none = {NULL, NULL};
  const int64_t inner = geometry->inner, chunks = geometry->chunks;
  double *partial = (double *)(void *)args->scratch;
  double *total = partial + geometry->outer * chunks * inner;
  for (int64_t i = begin; i < end; ++i) {
    FN(column_sums) sums;
    if (pass == 1) {
      double s = 0.0;
      for (int64_t c = 0; c < chunks; ++c) s += partial[(i / inner * chunks + c) * inner + i % inner];
      total[i] = s;
      continue;
    }
    const aclpy_tile t = aclpy_tile_of(geometry, i, 1);
    const STORED *g = p.g + t.offset, *y = p.y + t.offset;
    if (pass == 0) {
      if (logarithm) {
        FN(tile_sum)(geometry, &t, g, y, &none, &sums, 1, 0);
      } else {
        FN(tile_sum)(geometry, &t, g, y, &none, &sums, 0, 0);
      }
      memcpy(partial + (t.outer * chunks + t.chunk) * inner + t.real, sums.sum, (size_t)t.reals * sizeof(double));
      continue;
    }
    FN(totals) totals;
    for (int64_t k = 0; k < geometry->group; ++k) {
      FN(totals_set)(&totals, k * t.reals, total + t.outer * inner + t.real, t.reals);
    }
    if (logarithm) {
      FN(tile_out)(geometry, &t, g, y, p.out + t.offset, &totals, 1, p.streaming);
    } else {
      FN(tile_out)(geometry, &t, g, y, p.out + t.offset, &totals, 0, p.streaming);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}
