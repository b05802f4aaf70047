/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of inputs in which the reduced axis is the dense one (transposed.h). ACLPY_T names
 * the instance; after softmax_tile_chunks.h.
 *
 * Here what softmax_words.h leaves: in mode TILES a strip is turned into scratch, where its results are made. In mode
 * TILE_CHUNKS exponentials are computed twice anyway: chunks are turned to be summed, then the strip is read again and
 * its results are turned.
 */
#include "../simd/instance.h"

/* A strip at work. */
typedef struct FN(strip) {
  aclpy_tile t;
  const STORED *x;
  REAL *dense; /* its elements, or those of one chunk of one vector of columns */
  FN(columns) * s;
  double *sum; /* partial results by (chunk, column) */
  REAL *max;
  aclpy_fetch_range next;
} FN(strip);

/* Rows [first, last) of one vector of columns, to rows of scratch `stride` apart; returns their maxima. */
ACLPY_INLINE VEC FN(strip_load)(const aclpy_geometry *g, const FN(strip) * p, int64_t c, int64_t first, int64_t last,
                                REAL *to, int64_t stride) {
  VEC top = V(set1)((REAL)-INFINITY);
  for (int64_t r = first; r < last; r += LANES, to += LANES * stride) {
    const int64_t rows = aclpy_min_i64(LANES, last - r);
    if (rows == LANES) {
      FN(square_turn)(p->x + c * g->n + r, g->n, rows, p->t.width - c, to, stride);
    } else { /* its square may be longer than the scratch */
      REAL square[FN(side) * FN(side)];
      FN(square_turn)(p->x + c * g->n + r, g->n, rows, p->t.width - c, square, LANES);
      for (int64_t k = 0; k < rows; ++k) V(store)(to + k * stride, V(load)(square + k * LANES));
    }
    for (int64_t k = 0; k < rows; ++k) top = V(max)(V(load)(to + k * stride), top);
  }
  return top;
}

/* The sum of e = exp(x - max) of `rows` rows of scratch, as in tile_exp; e replaces x where `keep`. */
ACLPY_INLINE V(acc) FN(strip_exp)(FN(strip) * p, REAL *x, int64_t stride, int64_t rows, VEC max, int keep) {
  V(acc) sum = V(acc_zero)();
  for (; rows >= 2; rows -= 2, x += 2 * stride) {
    aclpy_fetch_some(&p->next, 2 * LANES * (int64_t)sizeof(STORED));
    const VEC a = FN(exp_of)(V(sub)(V(load)(x), max), keep);
    const VEC b = FN(exp_of)(V(sub)(V(load)(x + stride), max), keep);
    if (keep) V(store)(x, a);
    if (keep) V(store)(x + stride, b);
    sum = V(acc_add)(sum, V(add)(a, b));
  }
  if (rows > 0) {
    const VEC a = FN(exp_of)(V(sub)(V(load)(x), max), keep);
    if (keep) V(store)(x, a);
    sum = V(acc_add)(sum, a);
  }
  return sum;
}

ACLPY_INLINE void FN(strip_tile)(const aclpy_geometry *g, FN(strip) * p, STORED *y, int logarithm) {
  for (int64_t c = 0; c < g->stride; c += LANES) {
    const VEC top = FN(strip_load)(g, p, c, 0, g->rows, p->dense + c, g->stride);
    V(store)(p->s->max + c, top);
    V(acc_store_total)(p->s->sum + c, FN(strip_exp)(p, p->dense + c, g->stride, g->rows, top, !logarithm));
  }
  FN(tile_factors)(p->s->sum, p->s->factor, g->stride, logarithm);
  for (int64_t r = 0; r < g->rows; ++r) {
    FN(tile_write_row)(p->dense + r * g->stride, y + r * g->columns, p->s, 0, p->t.width, logarithm, g->streaming);
  }
}

/* Maxima and factors of all columns of a strip, as softmax_tile_chunks.h has them. */
ACLPY_INLINE void FN(strip_reduce)(const aclpy_geometry *g, FN(strip) * p, int logarithm) {
  const VEC least = V(set1)(sizeof(REAL) == sizeof(float) ? (REAL)-FLT_MAX : (REAL)-DBL_MAX);
  for (int64_t c = 0; c < g->stride; c += LANES) {
    for (int64_t k = 0; k < g->chunks; ++k) {
      const int64_t first = k * g->chunk, last = aclpy_min_i64(first + g->chunk, g->rows);
      const VEC top = FN(strip_load)(g, p, c, first, last, p->dense, LANES);
      V(store)(p->max + k * g->stride + c, top);
      /* A column of only -inf sums to 0, relative to anything. */
      const VEC from = V(pick_greater)(least, top, V(set1)(0), top);
      V(acc_store_total)(p->sum + k * g->stride + c, FN(strip_exp)(p, p->dense, LANES, last - first, from, 0));
    }
  }
  FN(combine_chunks)(p->max, p->sum, g->chunks, g->stride, p->t.width, p->s->max, p->s->factor, logarithm);
}

/* Results of one square, into `to`. Not inline: it fills the registers. */
ACLPY_APART void FN(strip_square)(const aclpy_geometry *g, const FN(strip) * p, int64_t c, int64_t r, int64_t rows,
                                  REAL *to, int logarithm) {
  VEC v[FN(side)];
  const STORED *x = p->x + c * g->n + r;
  const int64_t columns = p->t.width - c;
  const int whole = rows >= LANES && columns >= LANES;
  for (int k = 0; k < LANES; ++k) {
    const VEC top = V(set1)(p->s->max[c + k]), factor = V(set1)(p->s->factor[c + k]);
    const VEC one = whole ? LD(x + k * g->n) : k < columns ? FN(tile_ld)(x + k * g->n, rows, 0) : V(set1)(0);
    const VEC d = V(sub)(one, top);
    v[k] = logarithm ? V(sub)(d, factor) : V(mul)(FN(exp_of)(d, 1), factor);
  }
  V(transpose)(v);
  for (int k = 0; k < LANES; ++k) V(store)(to + k * ACLPY_STRIP_MOST, v[k]);
}

ACLPY_INLINE void FN(strip_chunks)(const aclpy_geometry *g, FN(strip) * p, STORED *y, int logarithm) {
  REAL results[FN(side) * ACLPY_STRIP_MOST];
  FN(strip_reduce)(g, p, logarithm);
  for (int64_t r = 0; r < g->rows; r += LANES) {
    const int64_t rows = aclpy_min_i64(LANES, g->rows - r);
    for (int64_t c = 0; c < g->stride; c += LANES) FN(strip_square)(g, p, c, r, rows, results + c, logarithm);
    FN(strip_put)(g, results, y + r * g->columns, rows, p->t.width);
  }
}

ACLPY_INLINE void FN(strips_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 REAL *scratch, int logarithm) {
  FN(columns) s;
  FN(strip) p = {.s = &s, .dense = scratch};
  p.sum = (double *)(void *)(scratch + g->chunk * LANES);
  p.max = (REAL *)(void *)(p.sum + g->chunks * g->stride);
  for (int64_t i = begin; i < end; ++i) {
    p.t = aclpy_tile_of(g, i, 0);
    p.x = FN(strip_of)(g, args->addr[0], &p.t);
    p.next = FN(strip_behind)(g, args->addr[0], &p.t, i + 1 < end);
    STORED *y = (STORED *)(void *)args->addr[1] + p.t.offset;
    if (g->mode == ACLPY_TILES) {
      FN(strip_tile)(g, &p, y, logarithm);
    } else {
      FN(strip_chunks)(g, &p, y, logarithm);
    }
  }
  if (g->streaming) aclpy_stream_fence();
}

#include "softmax_words.h"

ACLPY_INLINE int FN(transposed_geometry)(aclpy_geometry *g, const int64_t *params) {
  if (aclpy_geometry_transposed(g, params, sizeof(REAL), 1, sizeof(STORED), 2, sizeof(STORED), sizeof(REAL)) != 0) {
    return -1;
  }
  FN(strips_chunked)(g);
  return 0;
}
static void FN(softmax_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                       void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_any)(&g, args, begin, end, scratch, 0);
}
static void FN(log_softmax_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                           void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_any)(&g, args, begin, end, scratch, 1);
}
static int32_t FN(transposed_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 3 || FN(transposed_geometry)(&g, params) != 0) return -1;
  const int64_t partial = g.chunks * g.stride * (int64_t)(sizeof(double) + sizeof(REAL));
  const int64_t chunk = g.chunk * LANES * (int64_t)sizeof(REAL);
  const int64_t tile = g.rows * g.stride * (int64_t)sizeof(REAL);
  shape->thread_scratch_bytes = FN(strips_scratch)(&g, g.mode == ACLPY_TILES ? tile : chunk + partial);
  if (shape->thread_scratch_bytes > ACLPY_SCRATCH_MAX) return -1;
  return aclpy_transposed_plan(&g, shape, aclpy_forward_cost(sizeof(STORED), g.streaming), sizeof(STORED));
}
