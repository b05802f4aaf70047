/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax over an axis before the last one. ACLPY_T names the instance; after tile.h.
 */
#include "../simd/instance.h"

typedef struct FN(columns) {
  REAL max[ACLPY_TILE_PAD];
  REAL factor[ACLPY_TILE_PAD]; /* 1 / sum, or log(sum) */
  double sum[FN(sum_room)];
} FN(columns);

ACLPY_INLINE void FN(merge_maxima)(const aclpy_geometry *g, REAL *max) {
  for (int64_t j = 0; j < g->inner && g->group > 1; ++j) {
    REAL top = (REAL)-INFINITY;
    for (int64_t k = 0; k < g->group; ++k) top = max[k * g->inner + j] > top ? max[k * g->inner + j] : top;
    for (int64_t k = 0; k < g->group; ++k) max[k * g->inner + j] = top;
  }
}

/* Copies the tile into dense scratch (power-of-two pitches would otherwise evict each other) and takes maxima. */
ACLPY_INLINE void FN(tile_load)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, REAL *dense, REAL *max) {
  const REAL low = (REAL)-INFINITY;
  const int64_t ahead = aclpy_fetch_ahead(g, (int64_t)sizeof(STORED));
  for (int64_t c = 0; c < g->stride; c += LANES) V(store)(max + c, V(set1)(low));
  for (int64_t r = 0; r < t->rows; ++r) {
    const STORED *row = x + r * g->columns;
    REAL *to = dense + r * g->stride;
    const int64_t width = aclpy_tile_columns(g, t, r);
    for (int64_t c = 0; c < g->stride; c += LANES) {
      const VEC v = FN(tile_ld)(row + c, width - c, low);
      if (ahead > 0) ACLPY_PREFETCH(row + c + ahead);
      V(store)(to + c, v);
      V(store)(max + c, V(max)(v, V(load)(max + c)));
    }
  }
  FN(merge_maxima)(g, max);
}

/* Sums of e = exp(x - max) by column, rows added in pairs, the pairs in double; e replaces x where `keep`. */
ACLPY_INLINE void FN(tile_exp)(const aclpy_geometry *g, const aclpy_tile *t, REAL *dense, FN(columns) * s, int keep) {
  FN(sums_begun)(s->sum, g->stride);
  for (int64_t first = 0; first < t->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, t->rows);
    for (int64_t c = 0; c < g->stride; c += LANES) {
      const VEC max = V(load)(s->max + c);
      V(acc) sum = V(acc_load)(s->sum + c);
      int64_t r = first;
      for (; r + 2 <= last; r += 2) {
        REAL *x = dense + r * g->stride + c, *z = x + g->stride;
        const VEC a = FN(exp_of)(V(sub)(V(load)(x), max), keep), b = FN(exp_of)(V(sub)(V(load)(z), max), keep);
        if (keep) V(store)(x, a);
        if (keep) V(store)(z, b);
        sum = V(acc_add)(sum, V(add)(a, b));
      }
      if (r < last) {
        REAL *x = dense + r * g->stride + c;
        const VEC a = FN(exp_of)(V(sub)(V(load)(x), max), keep);
        if (keep) V(store)(x, a);
        sum = V(acc_add)(sum, a);
      }
      V(acc_store)(s->sum + c, sum);
    }
  }
  FN(sums_complete)(s->sum, g->stride);
  aclpy_merge_sums(g, s->sum);
}

ACLPY_INLINE void FN(tile_factors)(const double *sum, REAL *factor, int64_t n, int logarithm) {
  for (int64_t c = 0; c < n; c += v64_LANES) {
    double out[v64_LANES];
    const v64 s = v64_load(sum + c);
    v64_store(out, logarithm ? v64_log(s) : v64_div(v64_set1(1.0), s));
    for (int64_t k = 0; k < v64_LANES; ++k) factor[c + k] = (REAL)out[k];
  }
}

/* Columns [c, end) of a row of results, from its row of scratch. */
ACLPY_INLINE void FN(tile_write_row)(const REAL *from, STORED *to, const FN(columns) * s, int64_t c, int64_t end,
                                     int logarithm, int streaming) {
  /* Scratch rows and statistics are padded, so that partial vectors may be read whole, except past their end. */
  if (logarithm) {
#define FULL_(i) V(sub)(V(sub)(V(load)(from + c + (i)), V(load)(s->max + c + (i))), V(load)(s->factor + c + (i)))
#define PART_(i, m) \
  V(sub)(V(sub)(LDNR(from + c + (i), m, 0), LDNR(s->max + c + (i), m, 0)), LDNR(s->factor + c + (i), m, 0))
    ACLPY_MAP(to + c, end - c, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  } else {
#define FULL_(i) V(mul)(V(load)(from + c + (i)), V(load)(s->factor + c + (i)))
#define PART_(i, m) V(mul)(LDNR(from + c + (i), m, 0), LDNR(s->factor + c + (i), m, 0))
    ACLPY_MAP(to + c, end - c, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

/* Columns [c, end) of row r of a tile whose results begin at y. By itself: all tiles come here at their ends, and each
 * way of them would be a copy of it all. */
ACLPY_APART void FN(tile_put_row)(const aclpy_geometry *g, const aclpy_tile *t, const REAL *dense, STORED *y,
                                  const FN(columns) * s, int64_t r, int64_t c, int64_t end, int logarithm,
                                  int streaming) {
  for (int64_t stop = c; c < end; c = stop) {
    stop = aclpy_run_end(g, t->column + c, t->column + end) - t->column;
    STORED *to = y + r * g->out.row + aclpy_out_at(g, t->column + c) - c;
    FN(tile_fetch_run)(g, t, r, to + c, stop - c, streaming);
    if (logarithm) FN(tile_write_row)(dense + r * g->stride, to, s, c, stop, 1, streaming);
    if (!logarithm) FN(tile_write_row)(dense + r * g->stride, to, s, c, stop, 0, streaming);
  }
}

/* A tile on its way: read, then its exponentials, then written, each beside the other two of its neighbours. */
typedef struct FN(tile_way) {
  aclpy_tile t;
  const STORED *x;
  STORED *y;
  REAL *dense;
  FN(columns) * s;
  int live;
} FN(tile_way);

typedef struct FN(tile_trio) {
  FN(tile_way) before, here, next;
  int64_t after; /* elements from the next tile's start to that of the one behind it */
  int fetches;
  int streaming;
  int by_rows;
} FN(tile_trio);

/* Results of one strip of a row of the tile before. */
ACLPY_INLINE void FN(trio_write)(const aclpy_geometry *g, const FN(tile_trio) * p, int64_t r, int64_t c, int vectors,
                                 int logarithm) {
  const FN(tile_way) *b = &p->before;
  const int64_t n = aclpy_tile_columns(g, &b->t, r), end = c + vectors * LANES;
  if (p->by_rows) {
    if (c == 0) FN(tile_put_row)(g, &b->t, b->dense, b->y, b->s, r, 0, n, logarithm, p->streaming);
  } else if (end > n) {
    FN(tile_put_row)(g, &b->t, b->dense, b->y, b->s, r, c, n, logarithm, p->streaming);
  } else {
    const REAL *from = b->dense + r * g->stride;
    STORED *to = b->y + r * g->out.row + b->t.column;
    VEC v[4];
    for (int k = 0; k < vectors; ++k) {
      const int64_t i = c + k * LANES;
      const VEC e = V(load)(from + i), f = V(load)(b->s->factor + i);
      v[k] = logarithm ? V(sub)(V(sub)(e, V(load)(b->s->max + i)), f) : V(mul)(e, f);
      FN(strip_store)(to + c, v, k, vectors, p->streaming);
    }
  }
}

/* One strip of a row of the next tile, into the scratch that the tile before has left. */
ACLPY_INLINE void FN(trio_read)(const aclpy_geometry *g, const FN(tile_trio) * p, int64_t r, int64_t c, int vectors,
                                VEC *top) {
  const FN(tile_way) *a = &p->next;
  const STORED *row = a->x + r * g->columns + c;
  REAL *to = a->dense + r * g->stride + c;
  const int64_t left = aclpy_tile_columns(g, &a->t, r) - c;
  if (p->fetches) {
    const STORED *far = a->x + aclpy_tile_fetch(g, r, ACLPY_TILE_BLOCK, a->t.rows, p->after) + c;
    aclpy_fetch_row(far, vectors * LANES * (int64_t)sizeof(STORED), p->fetches);
  }
  if (left >= vectors * LANES) {
    for (int k = 0; k < vectors; ++k) {
      const VEC v = LD(row + k * LANES);
      V(store)(to + k * LANES, v);
      top[k] = V(max)(v, top[k]);
    }
  } else {
    for (int k = 0; k < vectors; ++k) {
      const VEC v = FN(tile_ld)(row + k * LANES, left - k * LANES, (REAL)-INFINITY);
      V(store)(to + k * LANES, v);
      top[k] = V(max)(v, top[k]);
    }
  }
}

/* Rows [first, last) of one strip, of all three tiles. Sums as in tile_exp. */
ACLPY_INLINE void FN(trio_block)(const aclpy_geometry *g, const FN(tile_trio) * p, int64_t c, int vectors,
                                 int64_t first, int64_t last, int logarithm) {
  const FN(tile_way) *here = &p->here;
  VEC max[4], top[4];
  V(acc) sum[4];
  for (int k = 0; k < vectors; ++k) {
    max[k] = V(load)(here->s->max + c + k * LANES);
    sum[k] = V(acc_load)(here->s->sum + c + k * LANES);
    top[k] = V(load)(p->next.s->max + c + k * LANES);
  }
  for (int64_t r = first; r < last; r += 2) {
    const int pair = r + 2 <= last;
    if (p->before.live) {
      FN(trio_write)(g, p, r, c, vectors, logarithm);
      if (pair) FN(trio_write)(g, p, r + 1, c, vectors, logarithm);
    }
    if (p->next.live) {
      FN(trio_read)(g, p, r, c, vectors, top);
      if (pair) FN(trio_read)(g, p, r + 1, c, vectors, top);
    }
    REAL *x = here->dense + r * g->stride + c, *z = x + g->stride;
    for (int k = 0; k < vectors && pair; ++k) {
      const int64_t i = k * LANES;
      const VEC a = FN(exp_of)(V(sub)(V(load)(x + i), max[k]), !logarithm);
      const VEC b = FN(exp_of)(V(sub)(V(load)(z + i), max[k]), !logarithm);
      if (!logarithm) V(store)(x + i, a);
      if (!logarithm) V(store)(z + i, b);
      sum[k] = V(acc_add)(sum[k], V(add)(a, b));
    }
    for (int k = 0; k < vectors && !pair; ++k) {
      const VEC a = FN(exp_of)(V(sub)(V(load)(x + k * LANES), max[k]), !logarithm);
      if (!logarithm) V(store)(x + k * LANES, a);
      sum[k] = V(acc_add)(sum[k], a);
    }
  }
  for (int k = 0; k < vectors; ++k) {
    V(acc_store)(here->s->sum + c + k * LANES, sum[k]);
    V(store)(p->next.s->max + c + k * LANES, top[k]);
  }
}

/* The exponentials of one tile beside the results of the one before and the reading of the next, so that arithmetic
 * hides the memory. */
ACLPY_INLINE void FN(trio_run)(const aclpy_geometry *g, const FN(tile_trio) * p, int logarithm) {
  const int64_t rows = p->here.t.rows, strips = g->stride / (4 * LANES) * (4 * LANES);
  FN(sums_begun)(p->here.s->sum, g->stride);
  for (int64_t c = 0; c < g->stride; c += LANES) V(store)(p->next.s->max + c, V(set1)((REAL)-INFINITY));
  for (int64_t first = 0; first < rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, rows);
    int64_t c = 0;
    for (; c < strips; c += 4 * LANES) FN(trio_block)(g, p, c, 4, first, last, logarithm);
    for (; c < g->stride; c += LANES) FN(trio_block)(g, p, c, 1, first, last, logarithm);
  }
  FN(sums_complete)(p->here.s->sum, g->stride);
  aclpy_merge_sums(g, p->here.s->sum);
  FN(merge_maxima)(g, p->next.s->max);
  FN(tile_factors)(p->here.s->sum, p->here.s->factor, g->stride, logarithm);
}

ACLPY_INLINE FN(tile_way) FN(tile_way_of)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t item,
                                          int live, REAL *dense, FN(columns) * s) {
  FN(tile_way) a = {.t = {0}, .dense = dense, .s = s, .live = live};
  if (!live) return a;
  a.t = aclpy_tile_of(g, item, 0);
  a.x = (const STORED *)args->addr[0] + a.t.offset;
  a.y = (STORED *)args->addr[1] + a.t.to;
  return a;
}

ACLPY_INLINE void FN(trio_flush)(const aclpy_geometry *g, FN(tile_trio) * p, int logarithm) {
  for (int64_t r = 0; r < p->before.t.rows; ++r) {
    FN(tile_put_row)(g, &p->before.t, p->before.dense, p->before.y, p->before.s, r, 0,
                     aclpy_tile_columns(g, &p->before.t, r), logarithm, p->streaming);
  }
  p->before.live = 0;
}

/* Tiles lie in two pieces of scratch by turns: the next one goes where the one before is written from, row by row. One
 * that leaves no room for a second is read, worked on and written by itself. */
ACLPY_INLINE void FN(tiles_run_as)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   REAL *scratch, int logarithm) {
  const int64_t held = aclpy_tiles_held(g, (int64_t)sizeof(REAL));
  FN(columns) s[3];
  FN(tile_trio) p = {.streaming = g->streaming && args->addr[0] != args->addr[1]};
  p.fetches = aclpy_tiles_fetch(g, PLAIN);
  p.by_rows = aclpy_tiles_by_rows(g, args->addr[1], 4 * LANES, (int64_t)sizeof(STORED), p.streaming);
  p.here = FN(tile_way_of)(g, args, begin, begin < end, scratch, &s[0]);
  p.before = FN(tile_way_of)(g, args, begin, 0, NULL, &s[2]);
  if (!p.here.live) return;
  FN(tile_load)(g, &p.here.t, p.here.x, p.here.dense, s[0].max);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t turn = i - begin + 1;
    const int live = i + 1 < end;
    p.next = FN(tile_way_of)(g, args, i + 1, live, scratch + turn % held * g->rows * g->stride, &s[turn % 3]);
    p.after = i + 2 < end ? aclpy_tile_of(g, i + 2, 0).offset - p.next.t.offset : 0;
    p.next.live = live && held == 2;
    FN(trio_run)(g, &p, logarithm);
    p.before = p.here;
    if (!p.next.live) FN(trio_flush)(g, &p, logarithm);
    if (live && !p.next.live) FN(tile_load)(g, &p.next.t, p.next.x, p.next.dense, p.next.s->max);
    p.here = p.next;
    p.here.live = live;
  }
  if (p.streaming) aclpy_stream_fence();
}

static void FN(tiles_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                          REAL *scratch, int logarithm) {
  if (logarithm) {
    FN(tiles_run_as)(g, args, begin, end, scratch, 1);
  } else {
    FN(tiles_run_as)(g, args, begin, end, scratch, 0);
  }
}
