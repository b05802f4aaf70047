/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax, turned square by square as floats (or doubles), where the reduced axis
 * is the dense one of both inputs (transposed.h). ACLPY_T names the instance; after backward_tiles.h.
 *
 * A strip is read twice, the second time from the cache, and its results are turned: they need no neighbours.
 */
#include "../simd/instance.h"

/* Those whose strips are not always turned as they are stored (backward_words.h): floats and doubles, and float16 where
 * each conversion is arithmetic. */
#undef ACLPY_SQUARES
#define ACLPY_SQUARES (PLAIN || (KEEPS && !ACLPY_FUSES))
#if ACLPY_SQUARES

/* A strip at work. */
typedef struct FN(squares) {
  aclpy_tile t;
  const STORED *g, *y;
  STORED *out;
  double total[2 * ACLPY_REST_AT];
  FN(totals) totals;
  aclpy_fetch_range next_g, next_y;
} FN(squares);

/* Adds rows [first, last), at most a block of a tile, of a vector of columns to their sums. Several side by side would
 * be several chains of additions, but their lines evict each other. */
ACLPY_INLINE void FN(squares_sum_block)(const aclpy_geometry *g, const FN(squares) * p, FN(column_sums) * sums,
                                        int64_t c, int64_t first, int64_t last, int logarithm) {
  V(acc) term = V(acc_zero)();
  V(dot) product = V(dot_zero)();
  for (int64_t r = first; r < last; r += LANES) {
    REAL a[FN(side) * FN(side)], b[FN(side) * FN(side)];
    const int64_t rows = aclpy_min_i64(LANES, last - r), at = c * g->n + r;
    FN(square_turn)(p->g + at, g->n, rows, p->t.width - c, a, LANES);
    if (!logarithm) FN(square_turn)(p->y + at, g->n, rows, p->t.width - c, b, LANES);
    for (int64_t i = 0; i < rows; ++i) {
      const VEC v = V(load)(a + i * LANES);
      if (logarithm) term = V(acc_add)(term, v);
      if (!logarithm) product = V(dot_add)(product, v, V(load)(b + i * LANES), !PLAIN);
    }
  }
  FN(sums_add)(sums, c, term, product, logarithm);
}

/* Rows from `start` to `stop`, block by block. */
ACLPY_INLINE void FN(squares_sum_columns)(const aclpy_geometry *g, FN(squares) * p, FN(column_sums) * sums, int64_t c,
                                          int64_t start, int64_t stop, int logarithm) {
  for (int64_t first = start; first < stop; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, stop);
    aclpy_fetch_some(&p->next_g, (last - first) * LANES * (int64_t)sizeof(STORED));
    FN(squares_sum_block)(g, p, sums, c, first, last, logarithm);
  }
}

/* The sums of all columns: by chunks, as backward_tiles.h has them. */
ACLPY_INLINE void FN(squares_sum)(const aclpy_geometry *g, FN(squares) * p, int logarithm) {
  FN(column_sums) sums;
  memset(p->total, 0, sizeof p->total);
  for (int64_t chunk = 0; chunk < g->chunks; ++chunk) {
    const int64_t start = chunk * g->chunk, stop = aclpy_min_i64(start + g->chunk, g->rows);
    FN(sums_clear)(&sums, g->stride);
    for (int64_t c = 0; c < g->stride; c += LANES) FN(squares_sum_columns)(g, p, &sums, c, start, stop, logarithm);
    FN(sums_total)(g, &sums, p->total);
  }
  for (int64_t c = 0; c < g->stride; ++c) p->total[c] = aclpy_dot_total(p->total[c], p->total[ACLPY_REST_AT + c]);
  FN(totals_set)(&p->totals, 0, p->total, g->stride);
}

/* Results of one square, into `to`, whose rows are a strip's width apart. Not inline: it fills the registers. */
ACLPY_APART void FN(squares_one)(const aclpy_geometry *g, const FN(squares) * p, int64_t c, int64_t r, int64_t rows,
                                 REAL *to, int logarithm) {
  VEC v[FN(side)];
  const STORED *a = p->g + c * g->n + r, *b = p->y + c * g->n + r;
  const int64_t columns = p->t.width - c;
  const REAL *high = p->totals.high + c, *low = p->totals.low + c;
  const int whole = rows >= LANES && columns >= LANES;
  const int looks = FN(looks) && logarithm && whole;
  for (int k = 0; k < LANES && looks; k += 4) {
    VEC one[4], h[4], l[4];
    for (int j = 0; j < 4; ++j) {
      one[j] = LD(a + (k + j) * g->n);
      v[k + j] = LD(b + (k + j) * g->n);
      h[j] = V(set1)(high[k + j]);
      l[j] = V(set1)(low[k + j]);
    }
    FN(results_log)(one, v + k, h, l);
  }
  for (int k = 0; k < LANES && !looks; ++k) {
    const VEC one = whole ? LD(a + k * g->n) : k < columns ? FN(tile_ld)(a + k * g->n, rows, 0) : V(set1)(0);
    const VEC two = whole ? LD(b + k * g->n) : k < columns ? FN(tile_ld)(b + k * g->n, rows, 0) : V(set1)(0);
    v[k] = FN(result)(one, two, V(set1)(high[k]), V(set1)(low[k]), logarithm);
  }
  V(transpose)(v);
  for (int k = 0; k < LANES; ++k) V(store)(to + k * ACLPY_STRIP_MOST, v[k]);
}

ACLPY_INLINE void FN(squares_write)(const aclpy_geometry *g, FN(squares) * p, int logarithm) {
  REAL results[FN(side) * ACLPY_STRIP_MOST];
  for (int64_t r = 0; r < g->rows; r += LANES) {
    const int64_t rows = aclpy_min_i64(LANES, g->rows - r);
    for (int64_t c = 0; c < g->stride; c += LANES) {
      aclpy_fetch_some(&p->next_y, LANES * LANES * (int64_t)sizeof(STORED));
      FN(squares_one)(g, p, c, r, rows, results + c, logarithm);
    }
    FN(strip_put)(g, results, p->out + r * g->columns, rows, p->t.width);
  }
}

ACLPY_INLINE void FN(squares_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                  int logarithm) {
  FN(squares) p;
  for (int64_t i = begin; i < end; ++i) {
    p.t = aclpy_tile_of(g, i, 0);
    p.g = FN(strip_of)(g, args->addr[0], &p.t);
    p.y = FN(strip_of)(g, args->addr[1], &p.t);
    p.out = (STORED *)(void *)args->addr[2] + p.t.offset;
    p.next_g = FN(strip_behind)(g, args->addr[0], &p.t, i + 1 < end);
    p.next_y = FN(strip_behind)(g, args->addr[1], &p.t, i + 1 < end);
    FN(squares_sum)(g, &p, logarithm);
    FN(squares_write)(g, &p, logarithm);
  }
  if (g->streaming) aclpy_stream_fence();
}
#endif
