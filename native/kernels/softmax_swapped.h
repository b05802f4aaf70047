/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of inputs with axes behind the reduced one in another order (swapped.h). ACLPY_T
 * names the instance; after softmax_tile_chunks.h.
 *
 * A tile's exponentials are summed, from the second-level cache, beside the maxima of the next one. They are computed a
 * second time for the results: of all planes they would not fit a cache.
 */
#include "../simd/instance.h"

/* Columns [c, c + width) of an outer position. */
typedef struct FN(swap_tile) {
  const STORED *x;
  REAL *max;
  double *sum;
  int64_t width;
  int live;
} FN(swap_tile);

/* All of them, and buffers. */
typedef struct FN(swap_room) {
  double *sum;
  REAL *max, *factor;
  STORED *plane, *block;
} FN(swap_room);

ACLPY_INLINE VEC FN(swap_ld)(const FN(swap_tile) * t, const aclpy_geometry *g, int64_t r, int64_t c) {
  return FN(tile_ld)(t->x + r * g->columns + c, t->width - c, (REAL)-INFINITY);
}

/* Rows r and, with `rows` 2, r + 1 of one strip of both tiles. Sums as in tile_exp. */
ACLPY_INLINE void FN(swap_rows)(const aclpy_geometry *g, const FN(swap_tile) * here, const FN(swap_tile) * next,
                                int64_t r, int rows, int64_t c, int vectors, const VEC *max, VEC *top, V(acc) * sum) {
  for (int k = 0; k < vectors; ++k) {
    const int64_t i = c + k * LANES;
    if (next->live) {
      top[k] = V(max)(FN(swap_ld)(next, g, r, i), top[k]);
      if (rows == 2) top[k] = V(max)(FN(swap_ld)(next, g, r + 1, i), top[k]);
    }
    if (here->live) {
      const VEC a = FN(exp_of)(V(sub)(FN(swap_ld)(here, g, r, i), max[k]), 0);
      if (rows == 2) {
        const VEC b = FN(exp_of)(V(sub)(FN(swap_ld)(here, g, r + 1, i), max[k]), 0);
        sum[k] = V(acc_add)(sum[k], V(add)(a, b));
      } else {
        sum[k] = V(acc_add)(sum[k], a);
      }
    }
  }
}

ACLPY_INLINE void FN(swap_block)(const aclpy_geometry *g, const FN(swap_tile) * here, const FN(swap_tile) * next,
                                 int64_t c, int vectors, int64_t first, int64_t last) {
  VEC max[4], top[4];
  V(acc) sum[4];
  for (int k = 0; k < vectors; ++k) {
    max[k] = V(load)(here->max + c + k * LANES);
    sum[k] = V(acc_load)(here->sum + c + k * LANES);
    top[k] = V(load)(next->max + c + k * LANES);
  }
  for (int64_t r = first; r < last; r += 2) {
    const STORED *far = next->x + aclpy_tile_fetch(g, r, ACLPY_TILE_BLOCK, g->rows, g->width) + c;
    for (int64_t k = 0; k < 2 && next->live; ++k) {
      aclpy_fetch_row(far + k * g->columns, vectors * LANES * (int64_t)sizeof(STORED), ACLPY_FETCH_L2);
    }
    if (r + 2 <= last) {
      FN(swap_rows)(g, here, next, r, 2, c, vectors, max, top, sum);
    } else {
      FN(swap_rows)(g, here, next, r, 1, c, vectors, max, top, sum);
    }
  }
  for (int k = 0; k < vectors; ++k) {
    if (here->live) V(acc_store)(here->sum + c + k * LANES, sum[k]);
    if (next->live) V(store)(next->max + c + k * LANES, top[k]);
  }
}

/* Sums of one tile beside the maxima of the next. */
static void FN(swap_pair)(const aclpy_geometry *g, const FN(swap_tile) * here, const FN(swap_tile) * next) {
  for (int64_t c = 0; c < g->stride && next->live; c += LANES) V(store)(next->max + c, V(set1)((REAL)-INFINITY));
  if (here->live) memset(here->sum, 0, (size_t)g->stride * sizeof(double));
  for (int64_t first = 0; first < g->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, g->rows);
    int64_t c = 0;
    for (; c + 4 * LANES <= g->stride; c += 4 * LANES) FN(swap_block)(g, here, next, c, 4, first, last);
    for (; c < g->stride; c += LANES) FN(swap_block)(g, here, next, c, 1, first, last);
  }
}

/* A tile that is not there has the statistics of one that is, which it leaves alone. */
ACLPY_INLINE FN(swap_tile)
    FN(swap_tile_of)(const aclpy_geometry *g, const FN(swap_room) * room, const STORED *x, int64_t k) {
  const int live = k >= 0 && k < g->tiles;
  const int64_t c = live ? k * g->width : 0;
  const FN(swap_tile) t = {.x = x + c,
                           .max = room->max + c,
                           .sum = room->sum + c,
                           .width = aclpy_min_i64(g->width, g->columns - c),
                           .live = live};
  return t;
}

ACLPY_INLINE void FN(swap_stats)(const aclpy_geometry *g, const FN(swap_room) * room, const STORED *x, int logarithm) {
  FN(swap_tile) here = FN(swap_tile_of)(g, room, x, -1);
  for (int64_t k = 0; k <= g->tiles; ++k) {
    const FN(swap_tile) next = FN(swap_tile_of)(g, room, x, k);
    FN(swap_pair)(g, &here, &next);
    here = next;
  }
  FN(tile_factors)(room->sum, room->factor, aclpy_round16(g->inner), logarithm);
}

ACLPY_INLINE void FN(swap_results)(const STORED *x, STORED *y, const FN(swap_room) * room, int64_t n, int logarithm) {
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    VEC v[4];
    for (int k = 0; k < 4; ++k) {
      const int64_t at = i + k * LANES;
      const VEC d = V(sub)(LD(x + at), V(load)(room->max + at)), f = V(load)(room->factor + at);
      v[k] = logarithm ? V(sub)(d, f) : V(mul)(FN(exp_of)(d, 1), f);
      QUAD(y + i, v, k, 0);
    }
  }
  FN(chunk_write_run)(x + i, y + i, room->max + i, room->factor + i, n - i, logarithm, 0);
}

ACLPY_INLINE void FN(swap_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                               void *scratch, int logarithm) {
  const int64_t rows = args->params[2], columns = args->params[3], padded = aclpy_swapped_padded(g);
  FN(swap_room) room = {.sum = (double *)scratch};
  room.max = (REAL *)(void *)(room.sum + padded);
  room.factor = room.max + padded;
  room.plane = (STORED *)(void *)(room.factor + padded);
  room.block = room.plane + g->inner;
  memset(room.sum, 0, (size_t)padded * sizeof(double));
  memset(room.max, 0, (size_t)padded * sizeof(REAL));
  for (int64_t o = begin; o < end; ++o) {
    const STORED *x = (const STORED *)(const void *)args->addr[0] + o * g->n * g->inner;
    STORED *y = (STORED *)(void *)args->addr[1] + o * g->n * g->inner;
    FN(swap_stats)(g, &room, x, logarithm);
    for (int64_t r = 0; r < g->n; ++r) {
      FN(swap_results)(x + r * g->inner, room.plane, &room, g->inner, logarithm);
      FN(plane_put)(room.plane, room.block, y + r * g->inner, rows, columns, g->streaming);
    }
  }
  if (g->streaming) aclpy_stream_fence();
}

ACLPY_INLINE int FN(swapped_geometry)(aclpy_geometry *g, const int64_t *params) {
  return aclpy_geometry_swapped(g, params, sizeof(REAL), 1, sizeof(STORED), 2);
}
static void FN(softmax_swapped_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                    void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(swapped_geometry)(&g, args->params) == 0) FN(swap_run)(&g, args, begin, end, scratch, 0);
}
static void FN(log_softmax_swapped_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                        void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(swapped_geometry)(&g, args->params) == 0) FN(swap_run)(&g, args, begin, end, scratch, 1);
}
static int32_t FN(swapped_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 4 || FN(swapped_geometry)(&g, params) != 0) return -1;
  const double each = aclpy_forward_cost(sizeof(STORED), g.streaming);
  return aclpy_swapped_plan(&g, params, shape, each, sizeof(double) + 2 * sizeof(REAL), sizeof(STORED));
}
