/* SPDX-License-Identifier: Apache-2.0
 * Softmax by chunks: pass 0 finds maximum and sum of each column of each chunk, pass 1 combines them by column, pass 2
 * writes. Also where row statistics are wanted for themselves: they are passes 0 and 1.
 *
 * Scratch: sums [chunks + 1][outer * inner] of double, then maxima of the same shape; the last of each is combined.
 */
#ifndef ACLPY_KERNELS_FUSED_CHUNKS_H
#define ACLPY_KERNELS_FUSED_CHUNKS_H

#include "fused_tiles.h"

enum { ACLPY_FUSED_COLUMNS = 256 /* columns combined by an item of pass 1 */ };

typedef struct fused_partials {
  double *sum;
  float *max;
  int64_t columns;
} fused_partials;

ACLPY_INLINE fused_partials fused_partials_(const aclpy_fused_geometry *g, unsigned char *scratch) {
  fused_partials p;
  p.columns = g->outer * g->inner;
  p.sum = (double *)(void *)scratch;
  p.max = (float *)(void *)(p.sum + p.columns * (g->chunks + 1));
  return p;
}

/* Bytes of scratch, or -1 on overflow. */
ACLPY_INLINE int64_t aclpy_fused_partial_bytes(const aclpy_fused_geometry *g) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(g->outer * g->inner, g->chunks + 1, &bytes) ||
      __builtin_mul_overflow(bytes, (int64_t)(sizeof(double) + sizeof(float)), &bytes)) {
    return -1;
  }
  return bytes;
}

/* The part of the problem that one item covers. */
typedef struct fused_chunk {
  fused_tile tile;
  int64_t chunk, row, rows;
} fused_chunk;

ACLPY_INLINE fused_chunk fused_chunk_of_(const aclpy_fused_geometry *g, int64_t item) {
  fused_chunk c;
  c.tile = fused_tile_of_(g, item);
  c.chunk = c.tile.outer % g->chunks;
  c.tile.outer /= g->chunks;
  c.row = c.chunk * g->rows;
  c.rows = aclpy_min_i64(g->rows, g->n - c.row);
  return c;
}

/* inner == 1 */
ACLPY_INLINE void fused_chunk_line_(const aclpy_fused *f, const fused_chunk *c, float *max_out, double *sum_out) {
  _Alignas(64) float stage[ACLPY_RUN];
  const int64_t first = c->tile.outer * f->g.n + c->row;
  const v32_acc zero = v32_acc_zero();
  v32_acc s = zero;
  float max = -INFINITY;
  for (int64_t at = 0; at < c->rows; at += ACLPY_RUN) {
    const int64_t m = aclpy_min_i64(ACLPY_RUN, c->rows - at);
    max = fused_max_(fused_floats_(f, first + at, m, stage), m, max);
  }
  /* Where all of the chunk is -inf its sum is 0, relative to anything. */
  const float shift = max == -INFINITY ? 0.0f : max;
  for (int64_t at = 0; at < c->rows; at += ACLPY_RUN) {
    const int64_t m = aclpy_min_i64(ACLPY_RUN, c->rows - at);
    s = fused_exp_(fused_floats_(f, first + at, m, stage), NULL, m, shift, s);
  }
  *max_out = max;
  *sum_out = v32_acc_sum(s, zero);
}

ACLPY_INLINE void fused_chunk_tile_(const aclpy_fused *f, const fused_chunk *c, float *max_out, double *sum_out) {
  _Alignas(64) float max[ACLPY_FUSED_PAD], part[ACLPY_FUSED_PAD], row[ACLPY_FUSED_PAD];
  double sum[ACLPY_FUSED_PAD];
  const int64_t width = c->tile.width, stride = aclpy_fused_round_(width);
  const int64_t base = (c->tile.outer * f->g.n + c->row) * f->g.inner + c->tile.column;
  for (int64_t k = 0; k < stride; ++k) {
    max[k] = -INFINITY;
    part[k] = 0.0f;
    sum[k] = 0.0;
  }
  for (int64_t r = 0; r < c->rows; ++r) {
    fused_tile_row_(f, base + r * f->g.inner, width, stride, row);
    fused_column_max_(row, max, stride);
  }
  for (int64_t k = 0; k < width; ++k) max_out[k] = max[k];
  for (int64_t k = 0; k < stride; ++k) max[k] = max[k] == -INFINITY ? 0.0f : max[k];
  for (int64_t r = 0; r < c->rows; ++r) {
    fused_tile_row_(f, base + r * f->g.inner, width, stride, row);
    fused_column_exp_(row, max, part, stride);
    if (r % ACLPY_FUSED_FLUSH_LOG == ACLPY_FUSED_FLUSH_LOG - 1 || r == c->rows - 1)
      fused_column_flush_(sum, part, stride);
  }
  for (int64_t k = 0; k < width; ++k) sum_out[k] = sum[k];
}

static void fused_reduce_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  for (int64_t item = begin; item < end; ++item) {
    const fused_chunk c = fused_chunk_of_(&f->g, item);
    const int64_t at = c.chunk * p.columns + c.tile.outer * f->g.inner + c.tile.column;
    if (f->g.inner == 1) {
      fused_chunk_line_(f, &c, p.max + at, p.sum + at);
    } else {
      fused_chunk_tile_(f, &c, p.max + at, p.sum + at);
    }
  }
}

/* Maximum and sum of one column over all chunks. */
ACLPY_INLINE double fused_combine_(const aclpy_fused *f, const fused_partials *p, int64_t column, float *top) {
  float max = -INFINITY;
  for (int64_t k = 0; k < f->g.chunks; ++k) {
    const float m = p->max[k * p->columns + column];
    max = m > max ? m : max;
  }
  *top = max;
  double total = 0.0;
  if ((f->flags & ACLPY_FUSED_ZERO_ROWS) && max == -INFINITY) {
    for (int64_t k = 0; k < f->g.chunks; ++k) total += p->sum[k * p->columns + column];
    return total;
  }
  aclpy_sum all = {0.0, 0.0}; /* as the plain kernels have it */
  for (int64_t k = 0; k < f->g.chunks; ++k) {
    const int64_t at = k * p->columns + column;
    all = aclpy_sum_add(all, p->sum[at] * aclpy_exp_negative_f64((double)p->max[at] - (double)max));
  }
  return all.all + all.rest;
}

static void fused_combine_run_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  const int64_t last = aclpy_min_i64(end * ACLPY_FUSED_COLUMNS, p.columns), result = f->g.chunks * p.columns;
  for (int64_t i = begin * ACLPY_FUSED_COLUMNS; i < last; ++i) {
    float max = 0.0f;
    const double sum = fused_combine_(f, &p, i, &max);
    p.max[result + i] = fused_shift_(f->flags, max);
    p.sum[result + i] = (double)fused_factor_(f->flags, sum);
  }
}

/* t = the results of `width` columns, x being their elements. */
ACLPY_INLINE void fused_chunk_out_(const aclpy_fused *f, const float *x, const float *shift, const double *factor,
                                   int64_t width, float *t) {
  if (f->flags & ACLPY_FUSED_LOG) {
    for (int64_t c = 0; c < width; ++c) t[c] = x[c] - shift[c];
  } else {
    for (int64_t c = 0; c < width; c += v32_LANES) {
      const int64_t m = aclpy_min_i64(v32_LANES, width - c);
      stn_f32(t + c, v32_exp_below(v32_sub(ldn_f32(x + c, m, 0), ldn_f32(shift + c, m, 0)), ACLPY_EXP_ANY), m);
    }
  }
  if (f->rounded) aclpy_round_run(f->rounded, t, width);
  if (f->flags & ACLPY_FUSED_LOG) {
    for (int64_t c = 0; c < width; ++c) t[c] -= (float)factor[c];
  } else {
    for (int64_t c = 0; c < width; ++c) t[c] *= (float)factor[c];
  }
}

static void fused_chunk_write_line_(const aclpy_fused *f, const fused_chunk *c, float shift, float factor) {
  _Alignas(64) float stage[ACLPY_RUN], t[ACLPY_RUN];
  const int64_t first = c->tile.outer * f->g.n + c->row;
  const v32_acc zero = v32_acc_zero();
  for (int64_t at = 0; at < c->rows; at += ACLPY_RUN) {
    const int64_t m = aclpy_min_i64(ACLPY_RUN, c->rows - at);
    const float *x = fused_floats_(f, first + at, m, stage);
    if (f->flags & ACLPY_FUSED_LOG) {
      fused_offset_(f, x, t, m, shift, factor);
    } else {
      (void)fused_exp_(x, t, m, shift, zero);
      if (f->rounded) aclpy_round_run(f->rounded, t, m);
      fused_scale_(t, t, m, factor);
    }
    fused_finish_(f, t, first + at, m);
  }
}

static void fused_chunk_write_tile_(const aclpy_fused *f, const fused_chunk *c, const float *shift,
                                    const double *factor) {
  _Alignas(64) float row[ACLPY_RUN], t[ACLPY_RUN];
  const int64_t width = c->tile.width, together = width == f->g.inner ? ACLPY_RUN / width : 1;
  const int64_t base = (c->tile.outer * f->g.n + c->row) * f->g.inner + c->tile.column;
  for (int64_t r = 0; r < c->rows; r += together) {
    const int64_t rows = aclpy_min_i64(together, c->rows - r), first = base + r * f->g.inner;
    const float *x = fused_floats_(f, first, rows * width, row);
    for (int64_t k = 0; k < rows; ++k) fused_chunk_out_(f, x + k * width, shift, factor, width, t + k * width);
    fused_finish_(f, t, first, rows * width);
  }
}

static void fused_write_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  for (int64_t item = begin; item < end; ++item) {
    const fused_chunk c = fused_chunk_of_(&f->g, item);
    const int64_t at = f->g.chunks * p.columns + c.tile.outer * f->g.inner + c.tile.column;
    if (f->g.inner == 1) {
      fused_chunk_write_line_(f, &c, p.max[at], (float)p.sum[at]);
    } else {
      fused_chunk_write_tile_(f, &c, p.max + at, p.sum + at);
    }
  }
}

#endif
