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
  unsigned char *ways; /* of strips of four vectors (calm.h) */
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
static void FN(swap_pair)(const aclpy_geometry *g, const FN(swap_tile) * given, const FN(swap_tile) * next) {
  double sum[FN(sum_room)];
  const FN(swap_tile) summed = {given->x, given->max, sum, given->width, given->live}, *here = &summed;
  for (int64_t c = 0; c < g->stride && next->live; c += LANES) V(store)(next->max + c, V(set1)((REAL)-INFINITY));
  FN(sums_begun)(sum, g->stride);
  for (int64_t first = 0; first < g->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, g->rows);
    int64_t c = 0;
    for (; c + 4 * LANES <= g->stride; c += 4 * LANES) FN(swap_block)(g, here, next, c, 4, first, last);
    for (; c < g->stride; c += LANES) FN(swap_block)(g, here, next, c, 1, first, last);
  }
  FN(sums_complete)(sum, g->stride);
  if (here->live) memcpy(given->sum, sum, (size_t)g->stride * sizeof(double));
}

/* The same where both tiles are whole strips of four vectors: `count` rows of one strip, x of this tile, `next` of the
 * next one or NULL, `far` what to fetch. */
typedef struct FN(swap_lines) {
  const STORED *x, *next, *far;
  int64_t pitch;
  const REAL *max;
  double *sum;
} FN(swap_lines);
ACLPY_INLINE void FN(swap_quads)(const FN(swap_lines) l, TOPS *given, int64_t count, int way, int reads) {
  TOPS tops = *given;
  for (int64_t r = 0; r < count; r += 2) {
    VEC e[4];
    const int two = r + 1 < count;
    for (int64_t i = r; i <= r + two && reads; ++i) {
      aclpy_fetch_row(l.far + i * l.pitch, 4 * LANES * (int64_t)sizeof(STORED), ACLPY_FETCH_L2);
      TOPS_ROW(&tops, l.next + i * l.pitch);
    }
    FN(summed_rows)(l.x + r * l.pitch, l.pitch, l.max, e, two, way);
    for (int k = 0; k < 4; ++k) {
      double *sum = l.sum + k * LANES;
      V(acc_store)(sum, V(acc_add)(V(acc_load)(sum), e[k]));
    }
  }
  *given = tops;
}
/* Functions of their own, so that registers are shared out for each of these loops alone. */
#define ACLPY_SWAPS_(name, way, reads)                                              \
  ACLPY_APART void FN(name)(const FN(swap_lines) * l, TOPS * tops, int64_t count) { \
    FN(swap_quads)(*l, tops, count, way, reads);                                    \
  }
ACLPY_SWAPS_(swap_calm, ACLPY_WAY_CALM, 1)
ACLPY_SWAPS_(swap_any, ACLPY_WAY_ANY, 1)
ACLPY_SWAPS_(swap_calm_alone, ACLPY_WAY_CALM, 0)
ACLPY_SWAPS_(swap_any_alone, ACLPY_WAY_ANY, 0)
#undef ACLPY_SWAPS_

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

/* The maxima of a tile as they were seen, to where they are used. */
ACLPY_INLINE void FN(swap_tops)(const FN(swap_room) * room, int64_t column, int64_t width, const TOPS *tops) {
  const int calm = CALM_WAY(0) == ACLPY_WAY_CALM ? ACLPY_WAY_CALM : ACLPY_WAY_ANY;
  for (int64_t c = 0; c < width; c += 4 * LANES) {
    VEC most[4];
    const int near = TOPS_VALUES(&tops[c / (4 * LANES)], most, ACLPY_WAY_ANY);
    room->ways[(column + c) / (4 * LANES)] = (unsigned char)(near ? calm : ACLPY_WAY_ANY);
    for (int k = 0; k < 4; ++k) V(store)(room->max + column + c + k * LANES, most[k]);
  }
}

static void FN(swap_strips)(const aclpy_geometry *g, const FN(swap_room) * room, const STORED *x) {
  TOPS tops[ACLPY_TILE_MAX / (4 * LANES)];
  const int64_t strip = 4 * LANES;
  double sum[FN(sum_room)];
  for (int64_t k = 0; k <= g->tiles; ++k) {
    FN(sums_begun)(sum, g->width);
    const int64_t next = k * g->width, here = next - g->width;
    const int64_t reads = k < g->tiles ? aclpy_min_i64(g->width, g->columns - next) : 0;
    const int64_t sums = k > 0 ? aclpy_min_i64(g->width, g->columns - here) : 0;
    for (int64_t c = 0; c < reads; c += strip) tops[c / strip] = TOPS_FIRST();
    for (int64_t first = 0; first < g->rows; first += ACLPY_TILE_BLOCK) {
      const int64_t count = aclpy_min_i64(ACLPY_TILE_BLOCK, g->rows - first);
      for (int64_t c = 0; c < aclpy_max_i64(reads, sums); c += strip) {
        const STORED *from = x + next + c;
        const FN(swap_lines) l = {.x = sums > 0 ? x + first * g->columns + here + c : NULL,
                                  .next = from + first * g->columns,
                                  .far = from + aclpy_tile_fetch(g, first, ACLPY_TILE_BLOCK, g->rows, g->width),
                                  .pitch = g->columns,
                                  .max = sums > 0 ? room->max + here + c : NULL,
                                  .sum = sums > 0 ? sum + c : NULL};
        TOPS *top = &tops[c / strip];
        const int calm = c < sums && room->ways[(here + c) / strip] != ACLPY_WAY_ANY;
        if (c >= sums) {
          for (int64_t r = 0; r < count; ++r) TOPS_ROW(top, l.next + r * l.pitch);
        } else if (c < reads) {
          if (calm) FN(swap_calm)(&l, top, count);
          if (!calm) FN(swap_any)(&l, top, count);
        } else {
          if (calm) FN(swap_calm_alone)(&l, top, count);
          if (!calm) FN(swap_any_alone)(&l, top, count);
        }
      }
    }
    FN(sums_complete)(sum, g->width);
    if (sums > 0) memcpy(room->sum + here, sum, (size_t)sums * sizeof(double));
    if (reads > 0) FN(swap_tops)(room, next, reads, tops);
  }
}

ACLPY_INLINE void FN(swap_stats)(const aclpy_geometry *g, const FN(swap_room) * room, const STORED *x, int logarithm) {
  if (g->width % (4 * LANES) == 0 && g->columns % (4 * LANES) == 0) {
    FN(swap_strips)(g, room, x);
  } else {
    FN(swap_tile) here = FN(swap_tile_of)(g, room, x, -1);
    memset(room->ways, ACLPY_WAY_ANY, (size_t)(g->columns / (4 * LANES)));
    for (int64_t k = 0; k <= g->tiles; ++k) {
      const FN(swap_tile) next = FN(swap_tile_of)(g, room, x, k);
      FN(swap_pair)(g, &here, &next);
      here = next;
    }
  }
  FN(tile_factors)(room->sum, room->factor, aclpy_round16(g->inner), logarithm);
}

/* Four vectors of results, which are not streamed. */
ACLPY_INLINE void FN(swap_result)(const STORED *x, STORED *y, const REAL *max, const REAL *factor, int logarithm,
                                  int way) {
  VEC v[4];
  FN(quad_load)(x, v, ACLPY_WAY_CALM);
  for (int k = 0; k < 4; ++k) v[k] = V(sub)(v[k], V(load)(max + k * LANES));
  if (!logarithm) V(exp_quad)(v, way != ACLPY_WAY_ANY ? ACLPY_EXP_NORMAL : FN(exp_results)(1));
  for (int k = 0; k < 4; ++k) {
    const VEC f = V(load)(factor + k * LANES);
    v[k] = logarithm ? V(sub)(v[k], f) : V(mul)(v[k], f);
    if (way == ACLPY_WAY_ANY) QUAD(y, v, k, 0);
  }
  if (way != ACLPY_WAY_ANY) STC(y, v, 0, way);
}
ACLPY_INLINE void FN(swap_results)(const STORED *x, STORED *y, const FN(swap_room) room, int64_t n, int logarithm) {
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    const REAL *max = room.max + i, *factor = room.factor + i;
    if (CALM_WAY(0) == ACLPY_WAY_CALM && room.ways[i / (4 * LANES)] != ACLPY_WAY_ANY) {
      FN(swap_result)(x + i, y + i, max, factor, logarithm, ACLPY_WAY_CALM);
    } else {
      FN(swap_result)(x + i, y + i, max, factor, logarithm, ACLPY_WAY_ANY);
    }
  }
  FN(chunk_write_run)(x + i, y + i, room.max + i, room.factor + i, n - i, logarithm, 0);
}
ACLPY_APART void FN(swap_results_exp)(const STORED *x, STORED *y, const FN(swap_room) * room, int64_t n) {
  FN(swap_results)(x, y, *room, n, 0);
}
ACLPY_APART void FN(swap_results_log)(const STORED *x, STORED *y, const FN(swap_room) * room, int64_t n) {
  FN(swap_results)(x, y, *room, n, 1);
}

ACLPY_INLINE void FN(swap_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                               void *scratch, int logarithm) {
  const int64_t rows = args->params[2], columns = args->params[3], padded = aclpy_swapped_padded(g);
  FN(swap_room) room = {.sum = (double *)scratch};
  room.max = (REAL *)(void *)(room.sum + padded);
  room.factor = room.max + padded;
  room.plane = (STORED *)(void *)(room.factor + padded);
  room.block = room.plane + g->inner;
  room.ways = (unsigned char *)(room.block + 64 / (int64_t)sizeof(STORED) * columns);
  memset(room.sum, 0, (size_t)padded * sizeof(double));
  memset(room.max, 0, (size_t)padded * sizeof(REAL));
  for (int64_t o = begin; o < end; ++o) {
    const STORED *x = (const STORED *)(const void *)args->addr[0] + o * g->n * g->inner;
    STORED *y = (STORED *)(void *)args->addr[1] + o * g->n * g->inner;
    FN(swap_stats)(g, &room, x, logarithm);
    for (int64_t r = 0; r < g->n; ++r) {
      if (o + 1 < end) {
        const STORED *far = x + (g->n + r) * g->inner;
        aclpy_fetch_row(far, g->width * (int64_t)sizeof(STORED), ACLPY_FETCH_L2);
      }
      if (logarithm) FN(swap_results_log)(x + r * g->inner, room.plane, &room, g->inner);
      if (!logarithm) FN(swap_results_exp)(x + r * g->inner, room.plane, &room, g->inner);
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
  return aclpy_swapped_plan(&g, params, shape, each, sizeof(double) + 2 * sizeof(REAL) + 1, sizeof(STORED));
}
