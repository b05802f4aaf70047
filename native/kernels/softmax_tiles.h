/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax over an axis before the last one. ACLPY_T names the instance; after tile.h.
 */
#include "../simd/instance.h"

typedef struct FN(columns) {
  REAL max[ACLPY_TILE_PAD];
  REAL factor[ACLPY_TILE_PAD]; /* 1 / sum, or log(sum) */
  double sum[ACLPY_TILE_PAD];
} FN(columns);

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
  for (int64_t j = 0; j < g->inner && g->group > 1; ++j) {
    REAL top = low;
    for (int64_t k = 0; k < g->group; ++k) top = max[k * g->inner + j] > top ? max[k * g->inner + j] : top;
    for (int64_t k = 0; k < g->group; ++k) max[k * g->inner + j] = top;
  }
}

/* Sums of e = exp(x - max) by column, rows added in pairs, the pairs in double; e replaces x where `keep`. The tile
 * that comes next is fetched meanwhile (NULL: none): the multiplications leave the memory idle. */
ACLPY_INLINE void FN(tile_exp)(const aclpy_geometry *g, const aclpy_tile *t, REAL *dense, FN(columns) * s, int keep,
                               const STORED *next) {
  memset(s->sum, 0, (size_t)g->stride * sizeof s->sum[0]);
  for (int64_t first = 0; first < t->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, t->rows);
    for (int64_t c = 0; c < g->stride; c += LANES) {
      const VEC max = V(load)(s->max + c);
      V(acc) sum = V(acc_load)(s->sum + c);
      int64_t r = first;
      for (; r + 2 <= last; r += 2) {
        REAL *x = dense + r * g->stride + c, *z = x + g->stride;
        if (next != NULL) ACLPY_PREFETCH(next + r * g->columns + c);
        if (next != NULL) ACLPY_PREFETCH(next + (r + 1) * g->columns + c);
        const VEC a = V(exp_negative)(V(sub)(V(load)(x), max)), b = V(exp_negative)(V(sub)(V(load)(z), max));
        if (keep) V(store)(x, a);
        if (keep) V(store)(z, b);
        sum = V(acc_add)(sum, V(add)(a, b));
      }
      if (r < last) {
        REAL *x = dense + r * g->stride + c;
        const VEC a = V(exp_negative)(V(sub)(V(load)(x), max));
        if (keep) V(store)(x, a);
        sum = V(acc_add)(sum, a);
      }
      V(acc_store)(s->sum + c, sum);
    }
  }
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

ACLPY_INLINE void FN(tile_write)(const aclpy_geometry *g, const aclpy_tile *t, const REAL *dense, STORED *y,
                                 const FN(columns) * s, int logarithm, int streaming) {
  for (int64_t r = 0; r < t->rows; ++r) {
    const REAL *from = dense + r * g->stride;
    STORED *to = y + r * g->columns;
    const int64_t n = aclpy_tile_columns(g, t, r);
    /* Scratch rows and statistics are padded, so that partial vectors may be read whole, except past their end. */
    if (logarithm) {
#define FULL_(i) V(sub)(V(sub)(V(load)(from + (i)), V(load)(s->max + (i))), V(load)(s->factor + (i)))
#define PART_(i, m) V(sub)(V(sub)(LDNR(from + (i), m, 0), LDNR(s->max + (i), m, 0)), LDNR(s->factor + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    } else {
#define FULL_(i) V(mul)(V(load)(from + (i)), V(load)(s->factor + (i)))
#define PART_(i, m) V(mul)(LDNR(from + (i), m, 0), LDNR(s->factor + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    }
  }
}

/* Where the tile after item `i` starts, or NULL: there is none, or its rows would evict each other from the cache. */
ACLPY_INLINE const STORED *FN(tile_next)(const aclpy_geometry *g, const STORED *x, int64_t i, int64_t end) {
  if (i + 1 >= end || aclpy_rows_collide(g, (int64_t)sizeof(STORED))) return NULL;
  return x + aclpy_tile_of(g, i + 1, 0).offset;
}

static void FN(tiles_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                          REAL *scratch, int logarithm) {
  FN(columns) s;
  const int streaming = g->streaming && args->addr[0] != args->addr[1];
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(g, i, 0);
    FN(tile_load)(g, &t, (const STORED *)args->addr[0] + t.offset, scratch, s.max);
    STORED *y = (STORED *)args->addr[1] + t.offset;
    const STORED *next = FN(tile_next)(g, (const STORED *)args->addr[0], i, end);
    if (logarithm) {
      FN(tile_exp)(g, &t, scratch, &s, 0, next);
      FN(tile_factors)(s.sum, s.factor, g->stride, 1);
      FN(tile_write)(g, &t, scratch, y, &s, 1, streaming);
    } else {
      FN(tile_exp)(g, &t, scratch, &s, 1, next);
      FN(tile_factors)(s.sum, s.factor, g->stride, 0);
      FN(tile_write)(g, &t, scratch, y, &s, 0, streaming);
    }
  }
  if (streaming) aclpy_stream_fence();
}

/* Where partial results of chunks lie in shared scratch: by (outer, chunk, column), then the combined ones. */
typedef struct FN(partials) {
  double *sum;
  REAL *max;
  REAL *top;
  REAL *factor;
} FN(partials);

ACLPY_INLINE FN(partials) FN(partials_at)(const aclpy_geometry *g, unsigned char *scratch) {
  FN(partials) p;
  const int64_t columns = g->outer * g->inner;
  p.sum = (double *)(void *)scratch;
  p.max = (REAL *)(void *)(p.sum + columns * g->chunks);
  p.top = p.max + columns * g->chunks;
  p.factor = p.top + columns;
  return p;
}

static void FN(tile_chunks_reduce)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   REAL *scratch) {
  FN(columns) s;
  const FN(partials) p = FN(partials_at)(g, args->scratch);
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(g, i, 1);
    const int64_t at = (t.outer * g->chunks + t.chunk) * g->inner + t.real;
    FN(tile_load)(g, &t, (const STORED *)args->addr[0] + t.offset, scratch, s.max);
    memcpy(p.max + at, s.max, (size_t)t.reals * sizeof(REAL));
    /* A column of only -inf sums to 0, relative to anything. */
    for (int64_t c = 0; c < g->stride; ++c) s.max[c] = s.max[c] == (REAL)-INFINITY ? 0 : s.max[c];
    FN(tile_exp)(g, &t, scratch, &s, 0, NULL);
    memcpy(p.sum + at, s.sum, (size_t)t.reals * sizeof(double));
  }
}

static void FN(tile_chunks_combine)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                    int logarithm) {
  const FN(partials) p = FN(partials_at)(g, args->scratch);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t outer = i / g->inner, column = i % g->inner;
    const int64_t at = outer * g->chunks * g->inner + column;
    REAL top = (REAL)-INFINITY;
    for (int64_t c = 0; c < g->chunks; ++c) top = p.max[at + c * g->inner] > top ? p.max[at + c * g->inner] : top;
    double total = 0.0;
    for (int64_t c = 0; c < g->chunks; ++c) {
      total += p.sum[at + c * g->inner] * aclpy_exp_negative_f64((double)p.max[at + c * g->inner] - (double)top);
    }
    p.top[i] = top;
    p.factor[i] = (REAL)(logarithm ? aclpy_log_f64(total) : 1.0 / total);
  }
}

ACLPY_INLINE void FN(tile_chunk_write)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, STORED *y,
                                       const FN(columns) * s, int logarithm, int streaming) {
  for (int64_t r = 0; r < t->rows; ++r) {
    const STORED *from = x + r * g->columns;
    STORED *to = y + r * g->columns;
    const int64_t n = aclpy_tile_columns(g, t, r);
    if (logarithm) {
#define FULL_(i) V(sub)(V(sub)(LD(from + (i)), V(load)(s->max + (i))), V(load)(s->factor + (i)))
#define PART_(i, m) V(sub)(V(sub)(LDN(from + (i), m, 0), LDNR(s->max + (i), m, 0)), LDNR(s->factor + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    } else {
#define FULL_(i) V(mul)(V(exp_negative)(V(sub)(LD(from + (i)), V(load)(s->max + (i)))), V(load)(s->factor + (i)))
#define PART_(i, m) \
  V(mul)(V(exp_negative)(V(sub)(LDN(from + (i), m, 0), LDNR(s->max + (i), m, 0))), LDNR(s->factor + (i), m, 0))
      ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
    }
  }
}

static void FN(tile_chunks_write)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                  int logarithm) {
  FN(columns) s;
  const FN(partials) p = FN(partials_at)(g, args->scratch);
  const int streaming = g->streaming && args->addr[0] != args->addr[1];
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(g, i, 1);
    const int64_t at = t.outer * g->inner + t.real;
    for (int64_t k = 0; k < g->group; ++k) {
      memcpy(s.max + k * t.reals, p.top + at, (size_t)t.reals * sizeof(REAL));
      memcpy(s.factor + k * t.reals, p.factor + at, (size_t)t.reals * sizeof(REAL));
    }
    const STORED *x = (const STORED *)args->addr[0] + t.offset;
    FN(tile_chunk_write)(g, &t, x, (STORED *)args->addr[1] + t.offset, &s, logarithm, streaming);
  }
  if (streaming) aclpy_stream_fence();
}

static void FN(tile_chunks_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                int64_t end, REAL *scratch, int logarithm) {
  if (pass == 0) FN(tile_chunks_reduce)(g, args, begin, end, scratch);
  if (pass == 1) FN(tile_chunks_combine)(g, args, begin, end, logarithm);
  if (pass == 2) FN(tile_chunks_write)(g, args, begin, end, logarithm);
}
