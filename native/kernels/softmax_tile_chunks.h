/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax over an axis before the last one, columns too long for a tile: partial results by
 * chunk, combined by column, then the input read again. ACLPY_T names the instance; after softmax_tiles.h.
 */
#include "../simd/instance.h"

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

/* Maxima of a chunk's columns, whole strips of four vectors; the way that each strip's exponentials take (calm.h). */
ACLPY_APART void FN(chunk_maxima)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, REAL *max,
                                  unsigned char *ways) {
  enum { STRIPS = ACLPY_TILE_MAX / (4 * LANES) };
  const int64_t rows = t->rows, width = t->width, pitch = g->columns;
  const int64_t ahead = aclpy_fetch_ahead(g, (int64_t)sizeof(STORED));
  const int level = aclpy_fetch_level(g, PLAIN);
  const int calm = CALM_WAY(0) == ACLPY_WAY_CALM ? ACLPY_WAY_CALM : ACLPY_WAY_ANY;
  TOPS tops[STRIPS];
  for (int k = 0; k < STRIPS; ++k) tops[k] = TOPS_FIRST();
  for (int64_t r = 0; r < rows; ++r, x += pitch) {
    if (ahead > 0) aclpy_fetch_row(x + ahead, width * (int64_t)sizeof(STORED), level);
    for (int64_t c = 0; c < width; c += 4 * LANES) TOPS_ROW(&tops[c / (4 * LANES)], x + c);
  }
  for (int64_t c = 0; c < width; c += 4 * LANES) {
    VEC most[4];
    ways[c / (4 * LANES)] = (unsigned char)(TOPS_VALUES(&tops[c / (4 * LANES)], most, ACLPY_WAY_ANY) ? calm : 0);
    for (int k = 0; k < 4; ++k) V(store)(max + c + k * LANES, most[k]);
  }
}

/* The exponentials of a row of four vectors, of which only the sum is wanted. */
ACLPY_INLINE void FN(summed_row)(const STORED *x, const REAL *max, VEC *e, int way) {
  FN(quad_load)(x, e, way);
  for (int k = 0; k < 4; ++k) e[k] = V(sub)(e[k], V(load)(max + k * LANES));
  V(exp_quad)(e, way != ACLPY_WAY_ANY ? ACLPY_EXP_NORMAL : ACLPY_EXP_SUMMED);
}
/* Two rows added, or the last alone; as in tile_exp. */
ACLPY_INLINE void FN(summed_rows)(const STORED *x, int64_t pitch, const REAL *max, VEC *e, int two, int way) {
  VEC other[4];
  FN(summed_row)(x, max, e, way);
  if (!two) return;
  FN(summed_row)(x + pitch, max, other, way);
  for (int k = 0; k < 4; ++k) e[k] = V(add)(e[k], other[k]);
}
/* Sums of the exponentials of one strip. */
ACLPY_INLINE void FN(chunk_strip)(const STORED *x, int64_t pitch, int64_t rows, const REAL *max, double *sums,
                                  int way) {
  for (int64_t r = 0; r < rows; r += 2) {
    VEC e[4];
    FN(summed_rows)(x + r * pitch, pitch, max, e, r + 1 < rows, way);
    for (int k = 0; k < 4; ++k) V(acc_store)(sums + k * LANES, V(acc_add)(V(acc_load)(sums + k * LANES), e[k]));
  }
}
ACLPY_APART void FN(chunk_sums)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, FN(columns) * s,
                                const unsigned char *ways) {
  FN(sums_begun)(s->sum, g->stride);
  for (int64_t c = 0; c < t->width; c += 4 * LANES) {
    const int calm = CALM_WAY(0) == ACLPY_WAY_CALM && ways[c / (4 * LANES)] != ACLPY_WAY_ANY;
    if (calm) FN(chunk_strip)(x + c, g->columns, t->rows, s->max + c, s->sum + c, ACLPY_WAY_CALM);
    if (!calm) FN(chunk_strip)(x + c, g->columns, t->rows, s->max + c, s->sum + c, ACLPY_WAY_ANY);
  }
  FN(sums_complete)(s->sum, g->stride);
}

/* The part of a tile's columns that are whole strips of four vectors; how many they are. */
ACLPY_INLINE int64_t FN(chunk_whole)(const aclpy_geometry *g, const aclpy_tile *t) {
  return g->group == 1 ? t->width / (4 * LANES) * (4 * LANES) : 0;
}
ACLPY_INLINE aclpy_tile FN(chunk_part)(aclpy_tile t, int64_t from, int64_t to) {
  t.column += from;
  t.real += from;
  t.offset += from;
  t.width = t.reals = to - from;
  return t;
}

/* A column of only -inf sums to 0, relative to anything. */
ACLPY_INLINE void FN(chunk_from)(REAL *max, int64_t n) {
  for (int64_t c = 0; c < n; ++c) max[c] = max[c] == (REAL)-INFINITY ? 0 : max[c];
}
ACLPY_INLINE void FN(chunk_reduce)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, FN(columns) * s,
                                   REAL *max, double *sum, REAL *scratch, int whole) {
  unsigned char ways[ACLPY_TILE_MAX / (4 * LANES)];
  const size_t reals = (size_t)aclpy_max_i64(t->reals, 0); /* GCC 15 would have it that there may be fewer than none */
  if (whole) FN(chunk_maxima)(g, t, x, s->max, ways);
  if (!whole) FN(tile_load)(g, t, x, scratch, s->max);
  memcpy(max, s->max, reals * sizeof(REAL));
  FN(chunk_from)(s->max, whole ? t->width : g->stride);
  if (whole) FN(chunk_sums)(g, t, x, s, ways);
  if (!whole) FN(tile_exp)(g, t, scratch, s, 0);
  memcpy(sum, s->sum, reals * sizeof(double));
}

static void FN(tile_chunks_reduce)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   REAL *scratch) {
  FN(columns) s;
  const FN(partials) p = FN(partials_at)(g, args->scratch);
  for (int64_t i = begin; i < end; ++i) {
    const aclpy_tile t = aclpy_tile_of(g, i, 1);
    const int64_t at = (t.outer * g->chunks + t.chunk) * g->inner + t.real, whole = FN(chunk_whole)(g, &t);
    const STORED *x = (const STORED *)args->addr[0] + t.offset;
    if (whole == t.width) {
      FN(chunk_reduce)(g, &t, x, &s, p.max + at, p.sum + at, scratch, 1);
    } else if (whole == 0) {
      FN(chunk_reduce)(g, &t, x, &s, p.max + at, p.sum + at, scratch, 0);
    } else {
      const aclpy_tile strips = FN(chunk_part)(t, 0, whole), rest = FN(chunk_part)(t, whole, t.width);
      aclpy_geometry narrow = *g;
      narrow.stride = aclpy_round16(rest.width);
      FN(chunk_reduce)(g, &strips, x, &s, p.max + at, p.sum + at, scratch, 1);
      FN(chunk_reduce)(&narrow, &rest, x + whole, &s, p.max + at + whole, p.sum + at + whole, scratch, 0);
    }
  }
}

/* The maximum and the factor of one column from those of its chunks, which lie `step` apart. */
ACLPY_INLINE void FN(combine_column)(const REAL *max, const double *sum, int64_t chunks, int64_t step, REAL *out_top,
                                     REAL *factor, int logarithm) {
  REAL top = (REAL)-INFINITY;
  for (int64_t c = 0; c < chunks; ++c) top = max[c * step] > top ? max[c * step] : top;
  aclpy_sum total = {0.0, 0.0};
  for (int64_t c = 0; c < chunks; ++c) {
    total = aclpy_sum_add(total, sum[c * step] * aclpy_exp_negative_f64((double)max[c * step] - (double)top));
  }
  *out_top = top;
  *factor = (REAL)(logarithm ? aclpy_log_f64(total.all + total.rest) : 1.0 / (total.all + total.rest));
}

/* The same of a vector of doubles of columns, to the same bits: exponentials one by one were a tenth of the time. */
ACLPY_INLINE v64 FN(combine_load)(const REAL *p) {
  double each[v64_LANES];
  for (int k = 0; k < v64_LANES; ++k) each[k] = (double)p[k];
  return v64_load(each);
}
ACLPY_INLINE void FN(combine_vector)(const REAL *max, const double *sum, int64_t chunks, int64_t step, REAL *out_top,
                                     REAL *factor, int logarithm) {
  REAL top[v64_LANES];
  double each[v64_LANES];
  for (int k = 0; k < v64_LANES; ++k) top[k] = (REAL)-INFINITY;
  for (int64_t c = 0; c < chunks; ++c) {
    for (int k = 0; k < v64_LANES; ++k) top[k] = max[c * step + k] > top[k] ? max[c * step + k] : top[k];
  }
  const v64 from = FN(combine_load)(top);
  v64_acc sum_of = v64_acc_zero();
  for (int64_t c = 0; c < chunks; ++c) {
    const v64 e = v64_exp_negative(v64_sub(FN(combine_load)(max + c * step), from));
    sum_of = v64_acc_add(sum_of, v64_mul(v64_load(sum + c * step), e));
  }
  const v64 total = v64_add(sum_of.all, sum_of.rest);
  v64_store(each, logarithm ? v64_log(total) : v64_div(v64_set1(1.0), total));
  for (int k = 0; k < v64_LANES; ++k) factor[k] = (REAL)each[k];
  memcpy(out_top, top, sizeof top);
}

/* The same of n columns. */
ACLPY_APART void FN(combine_chunks)(const REAL *max, const double *sum, int64_t chunks, int64_t step, int64_t n,
                                    REAL *top, REAL *factor, int logarithm) {
  int64_t c = 0;
  for (; c + v64_LANES <= n; c += v64_LANES) {
    FN(combine_vector)(max + c, sum + c, chunks, step, top + c, factor + c, logarithm);
  }
  for (; c < n; ++c) FN(combine_column)(max + c, sum + c, chunks, step, top + c, factor + c, logarithm);
}

static void FN(tile_chunks_combine)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                    int logarithm) {
  const FN(partials) p = FN(partials_at)(g, args->scratch);
  for (int64_t i = begin, stop; i < end; i = stop) {
    const int64_t outer = i / g->inner, at = outer * g->chunks * g->inner + i % g->inner;
    stop = aclpy_min_i64(end, (outer + 1) * g->inner);
    FN(combine_chunks)(p.max + at, p.sum + at, g->chunks, g->inner, stop - i, p.top + i, p.factor + i, logarithm);
  }
}

/* n results that are dense, of columns with these maxima and factors. */
ACLPY_INLINE void FN(chunk_write_run)(const STORED *from, STORED *to, const REAL *max, const REAL *factor, int64_t n,
                                      int logarithm, int streaming) {
  if (logarithm) {
#define FULL_(i) V(sub)(V(sub)(LD(from + (i)), V(load)(max + (i))), V(load)(factor + (i)))
#define PART_(i, m) V(sub)(V(sub)(LDN(from + (i), m, 0), LDNR(max + (i), m, 0)), LDNR(factor + (i), m, 0))
    ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  } else {
#define FULL_(i) V(mul)(FN(exp_of)(V(sub)(LD(from + (i)), V(load)(max + (i))), 1), V(load)(factor + (i)))
#define PART_(i, m) \
  V(mul)(FN(exp_of)(V(sub)(LDN(from + (i), m, 0), LDNR(max + (i), m, 0)), 1), LDNR(factor + (i), m, 0))
    ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

/* Results of whole strips of four vectors, which are dense and, where they are streamed, whole lines. */
ACLPY_INLINE void FN(chunk_write_strips)(aclpy_geometry g, aclpy_tile t, const STORED *x, STORED *y,
                                         const FN(columns) * s, int logarithm, int streaming) {
  for (int64_t r = 0; r < t.rows; ++r, x += g.columns, y += g.out.row) {
    for (int64_t c = 0; c < t.width; c += 4 * LANES) {
      VEC v[4];
      FN(quad_load)(x + c, v, ACLPY_WAY_CALM);
      for (int k = 0; k < 4; ++k) v[k] = V(sub)(v[k], V(load)(s->max + c + k * LANES));
      if (!logarithm) V(exp_quad)(v, FN(exp_results)(1));
      for (int k = 0; k < 4; ++k) {
        const VEC f = V(load)(s->factor + c + k * LANES);
        v[k] = logarithm ? V(sub)(v[k], f) : V(mul)(v[k], f);
        QUAD(y + c, v, k, streaming);
      }
    }
  }
}
ACLPY_APART void FN(chunk_write_exp)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, STORED *y,
                                     const FN(columns) * s, int streaming) {
  FN(chunk_write_strips)(*g, *t, x, y, s, 0, streaming);
}
ACLPY_APART void FN(chunk_write_log)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, STORED *y,
                                     const FN(columns) * s, int streaming) {
  FN(chunk_write_strips)(*g, *t, x, y, s, 1, streaming);
}

ACLPY_INLINE void FN(tile_chunk_write)(const aclpy_geometry *g, const aclpy_tile *t, const STORED *x, STORED *y,
                                       const FN(columns) * s, int logarithm, int streaming) {
  for (int64_t r = 0; r < t->rows; ++r) {
    const int64_t n = aclpy_tile_columns(g, t, r);
    for (int64_t c = 0, stop; c < n; c = stop) {
      stop = aclpy_run_end(g, t->column + c, t->column + n) - t->column;
      STORED *to = y + r * g->out.row + aclpy_out_at(g, t->column + c);
      FN(tile_fetch_run)(g, t, r, to, stop - c, streaming);
      FN(chunk_write_run)(x + r * g->columns + c, to, s->max + c, s->factor + c, stop - c, logarithm, streaming);
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
    STORED *y = (STORED *)args->addr[1] + t.to;
    const int by_rows = aclpy_tiles_by_rows(g, y, 4 * LANES, (int64_t)sizeof(STORED), streaming);
    const int whole = g->group == 1 && t.width % (4 * LANES) == 0 && !by_rows;
    if (whole && logarithm) FN(chunk_write_log)(g, &t, x, y + t.column, &s, streaming);
    if (whole && !logarithm) FN(chunk_write_exp)(g, &t, x, y + t.column, &s, streaming);
    if (!whole) FN(tile_chunk_write)(g, &t, x, y, &s, logarithm, streaming);
  }
  if (streaming) aclpy_stream_fence();
}

static void FN(tile_chunks_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                int64_t end, REAL *scratch, int logarithm) {
  if (pass == 0) FN(tile_chunks_reduce)(g, args, begin, end, scratch);
  if (pass == 1) FN(tile_chunks_combine)(g, args, begin, end, logarithm);
  if (pass == 2) FN(tile_chunks_write)(g, args, begin, end, logarithm);
}
