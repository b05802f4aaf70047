/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax where the reduced axis is the dense one of both inputs (transposed.h).
 * ACLPY_T names the instance; after backward_tiles.h.
 *
 * A strip is read twice, the second time from the cache, and its results are turned: they need no neighbours.
 */
#include "../simd/instance.h"

/* A strip at work. */
typedef struct FN(strip) {
  aclpy_tile t;
  const STORED *g, *y;
  STORED *out;
  double total[ACLPY_STRIP_MOST + 16];
  FN(totals) totals;
  aclpy_fetch_range next_g, next_y;
} FN(strip);

/* Vectors of columns that are summed side by side, for each is one chain of additions. Lines of longer elements would
 * evict each other. */
enum { FN(strip_vectors) = sizeof(STORED) == 2 ? 4 : 1 };

/* Adds rows [first, last), at most a block of a tile, of `vectors` vectors of columns to their sums. */
ACLPY_INLINE void FN(strip_sum_block)(const aclpy_geometry *g, const FN(strip) * p, FN(column_sums) * sums, int64_t c,
                                      int vectors, int64_t first, int64_t last, int logarithm) {
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  for (int64_t r = first; r < last; r += LANES) {
    REAL a[FN(strip_vectors)][FN(side) * FN(side)], b[FN(strip_vectors)][FN(side) * FN(side)];
    const int64_t rows = aclpy_min_i64(LANES, last - r);
    for (int k = 0; k < vectors; ++k) {
      const int64_t column = c + k * LANES, at = column * g->n + r;
      FN(square_turn)(p->g + at, g->n, rows, p->t.width - column, a[k], LANES);
      if (!logarithm) FN(square_turn)(p->y + at, g->n, rows, p->t.width - column, b[k], LANES);
    }
    for (int64_t i = 0; i < rows; ++i) {
      for (int k = 0; k < vectors; ++k) {
        const VEC v = V(load)(a[k] + i * LANES);
        if (logarithm) term[k] = V(acc_add)(term[k], v);
        if (!logarithm) product[k] = V(dot_add)(product[k], v, V(load)(b[k] + i * LANES));
      }
    }
  }
  for (int k = 0; k < vectors; ++k) {
    const int64_t column = c + k * LANES;
    FN(add_to)(sums->sum + column, logarithm ? term[k] : V(dot_sums)(product[k]));
    if (!logarithm) FN(add_to)(sums->rest + column, V(dot_rests)(product[k]));
  }
}

/* Rows from `start` to `stop`, block by block. */
ACLPY_INLINE void FN(strip_sum_columns)(const aclpy_geometry *g, FN(strip) * p, FN(column_sums) * sums, int64_t c,
                                        int vectors, int64_t start, int64_t stop, int logarithm) {
  for (int64_t first = start; first < stop; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, stop);
    aclpy_fetch_some(&p->next_g, (last - first) * vectors * LANES * (int64_t)sizeof(STORED));
    FN(strip_sum_block)(g, p, sums, c, vectors, first, last, logarithm);
  }
}

/* The sums of all columns: by chunks, as backward_tiles.h has them. */
ACLPY_INLINE void FN(strip_sum)(const aclpy_geometry *g, FN(strip) * p, int logarithm) {
  FN(column_sums) sums;
  memset(p->total, 0, sizeof p->total);
  for (int64_t chunk = 0; chunk < g->chunks; ++chunk) {
    const int64_t start = chunk * g->chunk, stop = aclpy_min_i64(start + g->chunk, g->rows);
    memset(sums.sum, 0, (size_t)g->stride * sizeof(double));
    memset(sums.rest, 0, (size_t)g->stride * sizeof(double));
    const int64_t several = FN(strip_vectors) * LANES, whole = g->stride / several * several;
    for (int64_t c = 0; c < whole; c += several) {
      FN(strip_sum_columns)(g, p, &sums, c, FN(strip_vectors), start, stop, logarithm);
    }
    for (int64_t c = whole; c < g->stride; c += LANES) {
      FN(strip_sum_columns)(g, p, &sums, c, 1, start, stop, logarithm);
    }
    for (int64_t c = 0; c < g->stride; ++c) {
      const double sum = aclpy_dot_total(sums.sum[c], sums.rest[c]);
      p->total[c] = g->mode == ACLPY_TILE_CHUNKS ? p->total[c] + sum : sum;
    }
  }
  FN(totals_set)(&p->totals, 0, p->total, g->stride);
}

/* Results of one square, into `to`, whose rows are a strip's width apart. Not inline: it fills the registers. */
static __attribute__((noinline)) void FN(strip_square)(const aclpy_geometry *g, const FN(strip) * p, int64_t c,
                                                       int64_t r, int64_t rows, REAL *to, int logarithm) {
  VEC v[FN(side)];
  const STORED *a = p->g + c * g->n + r, *b = p->y + c * g->n + r;
  const int64_t columns = p->t.width - c;
  const REAL *high = p->totals.high + c, *low = p->totals.low + c;
  const int whole = rows >= LANES && columns >= LANES;
  for (int k = 0; k < LANES; ++k) {
    const VEC one = whole ? LD(a + k * g->n) : k < columns ? FN(tile_ld)(a + k * g->n, rows, 0) : V(set1)(0);
    const VEC two = whole ? LD(b + k * g->n) : k < columns ? FN(tile_ld)(b + k * g->n, rows, 0) : V(set1)(0);
    v[k] = FN(result)(one, two, V(set1)(high[k]), V(set1)(low[k]), logarithm);
  }
  V(transpose)(v);
  for (int k = 0; k < LANES; ++k) V(store)(to + k * ACLPY_STRIP_MOST, v[k]);
}

ACLPY_INLINE void FN(strip_write)(const aclpy_geometry *g, FN(strip) * p, int logarithm) {
  REAL results[FN(side) * ACLPY_STRIP_MOST];
  for (int64_t r = 0; r < g->rows; r += LANES) {
    const int64_t rows = aclpy_min_i64(LANES, g->rows - r);
    for (int64_t c = 0; c < g->stride; c += LANES) {
      aclpy_fetch_some(&p->next_y, LANES * LANES * (int64_t)sizeof(STORED));
      FN(strip_square)(g, p, c, r, rows, results + c, logarithm);
    }
    FN(strip_put)(g, results, p->out + r * g->columns, rows, p->t.width);
  }
}

ACLPY_INLINE void FN(strips_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 int logarithm) {
  FN(strip) p;
  for (int64_t i = begin; i < end; ++i) {
    p.t = aclpy_tile_of(g, i, 0);
    p.g = FN(strip_of)(g, args->addr[0], &p.t);
    p.y = FN(strip_of)(g, args->addr[1], &p.t);
    p.out = (STORED *)(void *)args->addr[2] + p.t.offset;
    p.next_g = FN(strip_behind)(g, args->addr[0], &p.t, i + 1 < end);
    p.next_y = FN(strip_behind)(g, args->addr[1], &p.t, i + 1 < end);
    FN(strip_sum)(g, &p, logarithm);
    FN(strip_write)(g, &p, logarithm);
  }
  if (g->streaming) aclpy_stream_fence();
}

ACLPY_INLINE int FN(transposed_geometry)(aclpy_geometry *g, const int64_t *params) {
  return aclpy_geometry_transposed(g, params, sizeof(REAL), 2, sizeof(STORED), 3, 2 * sizeof(STORED),
                                   2 * sizeof(STORED));
}
static void FN(softmax_backward_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                                void *scratch) {
  aclpy_geometry g;
  (void)pass, (void)scratch;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_run)(&g, args, begin, end, 0);
}
static void FN(log_softmax_backward_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                                    int64_t end, void *scratch) {
  aclpy_geometry g;
  (void)pass, (void)scratch;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_run)(&g, args, begin, end, 1);
}
static int32_t FN(transposed_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape,
                                      int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 3 || FN(transposed_geometry)(&g, params) != 0) return -1;
  const double each = aclpy_backward_cost(sizeof(STORED), logarithm, g.streaming);
  return aclpy_transposed_plan(&g, shape, each, 2 * sizeof(STORED));
}
static int32_t FN(softmax_backward_transposed_plan)(const int64_t *params, int32_t n_params,
                                                    aclpy_kernel_shape *shape) {
  return FN(transposed_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_transposed_plan)(const int64_t *params, int32_t n_params,
                                                        aclpy_kernel_shape *shape) {
  return FN(transposed_plan_as)(params, n_params, shape, 1);
}
