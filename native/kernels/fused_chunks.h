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
  int64_t chunk, row, rows; /* in groups */
} fused_chunk;

ACLPY_INLINE fused_chunk fused_chunk_of_(const aclpy_fused_geometry *g, int64_t item) {
  fused_chunk c;
  c.tile = fused_tile_of_(g, item);
  c.chunk = c.tile.outer % g->chunks;
  c.tile.outer /= g->chunks;
  c.row = c.chunk * g->rows;
  c.rows = aclpy_min_i64(g->rows, g->lines - c.row);
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

/* A chunk's rows. */
ACLPY_INLINE fused_block fused_chunk_block_(const aclpy_fused *f, int64_t item, float *scratch, fused_columns *s) {
  const fused_chunk c = fused_chunk_of_(&f->g, item);
  const fused_block b = {
      .t = c.tile, .row = c.row, .rows = c.rows, .e = scratch, .s = s, .live = 1, .how = blocks_how_(f)};
  return b;
}

/* What is asked for while row r of an item is worked on: the row `ahead` further on, in this item or in the next. */
ACLPY_INLINE uintptr_t fused_chunk_far_(const aclpy_fused *f, int64_t item, int64_t end, int64_t r, int64_t ahead) {
  fused_block b = fused_chunk_block_(f, item, NULL, NULL);
  r += ahead;
  if (r >= b.rows) {
    r -= b.rows;
    if (item + 1 >= end) return 0;
    b = fused_chunk_block_(f, item + 1, NULL, NULL);
  }
  return r >= b.rows ? 0 : (uintptr_t)f->x + (uintptr_t)(block_index_(&f->g, &b, r) * f->from);
}

/* Sums and maxima of the columns of a chunk; where all of one is -inf the sum is 0, relative to anything. */
ACLPY_INLINE void fused_chunk_tile_(const aclpy_fused *f, int64_t item, int64_t end, float *max_out, double *sum_out,
                                    float *scratch) {
  const aclpy_fused_geometry *g = &f->g;
  fused_columns s;
  fused_block b = fused_chunk_block_(f, item, scratch, &s);
  b.kept = fused_kept_(g, scratch);
  const int64_t width = g->group > 1 ? g->inner : b.t.width;
  columns_begin_(&s, g->stride);
  for (int64_t r = 0; r < b.rows; r += ACLPY_FUSED_BLOCK) {
    block_load_(f, &b, r, aclpy_min_i64(ACLPY_FUSED_BLOCK, b.rows - r), 0);
  }
  columns_merge_maxima_(g, s.max);
  memcpy(max_out, s.max, (size_t)width * sizeof *max_out);
  for (int64_t k = 0; k < g->stride; ++k) s.max[k] = s.max[k] == -INFINITY ? 0.0f : s.max[k];
  for (int64_t r = 0; r < b.rows; r += ACLPY_FUSED_BLOCK) {
    const block_beside by = {NULL, NULL, fused_chunk_far_(f, item, end, r, b.rows), 0};
    const int64_t count = aclpy_min_i64(ACLPY_FUSED_BLOCK, b.rows - r);
    block_exp_(f, &b, r, count, 0, b.t.width, ACLPY_COLUMN_KEEP_NONE, &by);
  }
  columns_merge_sums_(g, s.sum);
  memcpy(sum_out, s.sum, (size_t)width * sizeof *sum_out);
}

static void fused_reduce_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end, float *own) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  for (int64_t item = begin; item < end; ++item) {
    const fused_chunk c = fused_chunk_of_(&f->g, item);
    const int64_t at = c.chunk * p.columns + c.tile.outer * f->g.inner + c.tile.column; /* of groups: 0 */
    if (f->g.inner == 1) {
      fused_chunk_line_(f, &c, p.max + at, p.sum + at);
    } else {
      fused_chunk_tile_(f, item, end, p.max + at, p.sum + at, own);
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

/* The same of a vector of doubles of columns, unless one of them is only -inf, to the same bits. */
ACLPY_INLINE v64 fused_widen_(const float *p) {
  double each[v64_LANES];
  for (int64_t k = 0; k < v64_LANES; ++k) each[k] = (double)p[k];
  return v64_load(each);
}
ACLPY_INLINE int fused_combine_some_(const aclpy_fused *f, const fused_partials *p, int64_t column, float *top,
                                     double *sum) {
  int some = 1;
  for (int64_t k = 0; k < v64_LANES; ++k) top[k] = -INFINITY;
  for (int64_t c = 0; c < f->g.chunks; ++c) {
    const float *max = p->max + c * p->columns + column;
    for (int64_t k = 0; k < v64_LANES; ++k) top[k] = max[k] > top[k] ? max[k] : top[k];
  }
  for (int64_t k = 0; k < v64_LANES; ++k) some &= top[k] != -INFINITY;
  if (!some) return 0;
  const v64 from = fused_widen_(top);
  v64_acc all = v64_acc_zero();
  for (int64_t c = 0; c < f->g.chunks; ++c) {
    const int64_t at = c * p->columns + column;
    const v64 e = v64_exp_negative(v64_sub(fused_widen_(p->max + at), from));
    all = v64_acc_add(all, v64_mul(v64_load(p->sum + at), e));
  }
  v64_store(sum, v64_add(all.all, all.rest));
  return 1;
}

static void fused_combine_run_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  const int64_t last = aclpy_min_i64(end * ACLPY_FUSED_COLUMNS, p.columns), result = f->g.chunks * p.columns;
  for (int64_t n, i = begin * ACLPY_FUSED_COLUMNS; i < last; i += n) {
    float max[v64_LANES];
    double sum[v64_LANES];
    n = i + v64_LANES <= last && fused_combine_some_(f, &p, i, max, sum) ? v64_LANES : 1;
    if (n == 1) sum[0] = fused_combine_(f, &p, i, &max[0]);
    for (int64_t k = 0; k < n; ++k) {
      p.max[result + i + k] = fused_shift_(f->flags, max[k]);
      p.sum[result + i + k] = (double)fused_factor_(f->flags, sum[k]);
    }
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

/* Whether a chunk's rows, all of them, are of the form and of whole strips, and so is what is stored. */
ACLPY_INLINE int fused_chunk_is_whole_(const aclpy_fused *f, const fused_block *b) {
  const aclpy_fused_geometry *g = &f->g;
  const int strips = b->t.width % ACLPY_FUSED_STRIP == 0 && block_have_(g, b, b->rows - 1) % ACLPY_FUSED_STRIP == 0;
  return strips && b->formed && b->how == ACLPY_BLOCK_THERE && out_beside_(f) && (!out_streams_(f) || out_lined_(f));
}
/* Their results at once: no exponential has to wait. */
ACLPY_INLINE void fused_chunk_whole_(const aclpy_fused *f, int64_t item, int64_t end, const column_steps *steps,
                                     fused_block b) {
  for (int64_t n, r = 0; r < b.rows; r += n) {
    column_lines l = {.pitch = f->g.columns, .max = b.s->max, .apart = f->g.columns * f->from};
    l.have = block_have_(&f->g, &b, r);
    n = aclpy_min_i64(ACLPY_FUSED_BLOCK, b.rows - r);
    if (block_have_(&f->g, &b, r + n - 1) < l.have) n = aclpy_max_i64(1, n - 1); /* the last one is shorter */
    l.count = n;
    l.x = block_there_(f, &b, r, 0);
    l.far = fused_chunk_far_(f, item, end, r, ACLPY_FUSED_AHEAD);
    b.held = r;
    const column_out out = block_out_(f, steps, &b, r, n);
    if (f->post.source == ACLPY_TYPE_FLOAT) column_whole_f32(&l, &out);
    if (f->post.source == ACLPY_TYPE_BF16) column_whole_bf16(&l, &out);
    if (f->post.source == ACLPY_TYPE_FLOAT16) column_whole_f16(&l, &out);
  }
}

/* Exponentials are made once more: some rows beside the results of those before, which lie in the other half of
 * scratch. */
static void fused_chunk_write_tile_(const aclpy_fused *f, int64_t item, int64_t end, const float *shift,
                                    const double *factor, column_steps *steps, float *scratch) {
  const aclpy_fused_geometry *g = &f->g;
  const int keeps = f->flags & ACLPY_FUSED_LOG ? ACLPY_COLUMN_KEEP_X : ACLPY_COLUMN_KEEP_E;
  fused_columns s, read;
  fused_block b = fused_chunk_block_(f, item, scratch, &s);
  b.kept = fused_kept_(g, scratch);
  if (b.how == ACLPY_BLOCK_COPIED) b.how = ACLPY_BLOCK_THERE; /* they are read once */
  fused_block before = b;
  columns_begin_(&s, g->stride);
  columns_begin_(&read, g->stride);
  for (int64_t k = 0; k < g->stride; ++k) s.factor[k] = 0.0f;
  for (int64_t k = 0, same = aclpy_min_i64(b.t.width, g->inner); k < b.t.width; k += same) {
    memcpy(s.max + k, shift, (size_t)same * sizeof *shift);
    for (int64_t j = 0; j < same; ++j) s.factor[k + j] = (float)factor[j];
  }
  columns_bind_(f, steps, b.t.outer);
  block_form_(f, steps, &b);
  if (fused_chunk_is_whole_(f, &b)) {
    fused_chunk_whole_(f, item, end, steps, b);
    return;
  }
  for (int64_t r = 0; r < b.rows; r += ACLPY_FUSED_BLOCK) {
    const int64_t count = aclpy_min_i64(ACLPY_FUSED_BLOCK, b.rows - r);
    fused_block here = b;
    column_out out;
    block_beside by = {NULL, NULL, fused_chunk_far_(f, item, end, r, ACLPY_FUSED_AHEAD), 0};
    here.e = scratch + r / ACLPY_FUSED_BLOCK % 2 * ACLPY_FUSED_BLOCK * g->stride;
    here.held = r;
    if (here.how == ACLPY_BLOCK_CONVERTED) {
      here.s = &read;
      block_load_(f, &here, r, count, 0);
      here.s = &s;
    }
    /* As many of those before as there are of these. */
    const int64_t beside = r > 0 && out_beside_(f) ? count : 0, from = r - ACLPY_FUSED_BLOCK;
    if (beside > 0) {
      out = block_out_(f, steps, &before, from, count);
      by.out = &out;
    }
    block_exp_(f, &here, r, count, 0, b.t.width, keeps, &by);
    if (r > 0 && beside < ACLPY_FUSED_BLOCK) block_put_(f, steps, &before, from + beside, ACLPY_FUSED_BLOCK - beside);
    before = here;
  }
  const int64_t last = (b.rows - 1) / ACLPY_FUSED_BLOCK * ACLPY_FUSED_BLOCK;
  block_put_(f, steps, &before, last, b.rows - last);
}

static void fused_write_(const aclpy_fused *f, unsigned char *scratch, int64_t begin, int64_t end, float *own,
                         float *room) {
  const fused_partials p = fused_partials_(&f->g, scratch);
  column_steps steps;
  if (f->g.inner > 1) columns_steps_make_(f, &steps, room);
  for (int64_t item = begin; item < end; ++item) {
    const fused_chunk c = fused_chunk_of_(&f->g, item);
    const int64_t at = f->g.chunks * p.columns + c.tile.outer * f->g.inner + c.tile.column; /* of groups: 0 */
    if (f->g.inner == 1) {
      fused_chunk_write_line_(f, &c, p.max[at], (float)p.sum[at]);
    } else {
      fused_chunk_write_tile_(f, item, end, p.max + at, p.sum + at, &steps, own);
    }
  }
}

#endif
