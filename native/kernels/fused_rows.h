/* SPDX-License-Identifier: Apache-2.0
 * Softmax of rows that a thread holds in cache, results handed to the post operations part by part.
 *
 * Three rows at once, as in the plain kernel (softmax_rows.h): the maximum of the next, the exponentials of this one,
 * the results of the one before, so that arithmetic of one hides the memory of the others. Sums of exponentials run in
 * double lanes (simd/accumulate.h).
 */
#ifndef ACLPY_KERNELS_FUSED_ROWS_H
#define ACLPY_KERNELS_FUSED_ROWS_H

#include "fused_runs.h"
#include "row_map.h"

/* What one thread keeps for its rows: three blocks of as many rows as fill a run (or one), in turn. They hold what was
 * converted to float, then the exponentials. */
typedef struct fused_ring {
  float *base;
  int64_t first;         /* row of the range */
  int64_t n, rows, size; /* of a row, rows of a block, floats of a block */
  int64_t ready;         /* elements before it are converted */
  int64_t end;           /* of the elements that there are to convert */
} fused_ring;

ACLPY_INLINE float *fused_ring_at_(const fused_ring *ring, int64_t row) {
  const int64_t at = row - ring->first;
  return ring->base + at / ring->rows % 3 * ring->size + at % ring->rows * ring->n;
}

/* Converts what is missing of elements [at, at + n) of a row: short rows block by block. */
ACLPY_INLINE void fused_ring_fill_(const aclpy_fused *f, fused_ring *ring, int64_t row, int64_t at, int64_t n) {
  const int64_t first = row * ring->n + at;
  if (first + n <= ring->ready) return;
  const int64_t more = ring->rows > 1 ? aclpy_min_i64(ring->size, ring->end - first) : n;
  const unsigned char *from = f->x + first * f->from;
  if (f->streaming) aclpy_fetch(from, more * f->from);
  aclpy_load_run(f->post.source, from, fused_ring_at_(ring, row) + at, more);
  ring->ready = first + more;
}

/* A row whose sum is known, to be handed over: held * factor, or (held - shift) - factor. NULL: none. */
typedef struct fused_line {
  const float *held;
  float shift, factor;
} fused_line;

ACLPY_INLINE v32 fused_line_value_(const fused_line *line, v32 held, int logarithm) {
  if (logarithm) return v32_sub(v32_sub(held, v32_set1(line->shift)), v32_set1(line->factor));
  return v32_mul(held, v32_set1(line->factor));
}

/* Elements [at, at + n) of a line into t, which has room for a vector more. */
ACLPY_INLINE void fused_line_out_(const fused_line *line, int64_t at, int64_t n, float *t, int logarithm) {
  for (int64_t i = 0; i < n; i += v32_LANES) {
    const v32 held = ldn_f32(line->held + at + i, aclpy_min_i64(v32_LANES, n - i), 0);
    v32_store(t + i, fused_line_value_(line, held, logarithm));
  }
}

/* What runs along with a row. */
typedef struct fused_sums {
  v32 max[4]; /* of the next row */
  v32_acc sum, rest;
} fused_sums;

/* Four exponentials are added in float before double takes over where the sum only divides, two for a logarithm. */
ACLPY_INLINE v32_acc fused_quad_(const float *x, float *e, v32 shift, int logarithm, v32_acc s) {
  v32 v[4];
  for (int k = 0; k < 4; ++k) {
    v[k] = v32_exp_below(v32_sub(v32_load(x + k * v32_LANES), shift), ACLPY_EXP_ANY);
    if (!logarithm) v32_store(e + k * v32_LANES, v[k]);
  }
  if (!logarithm) return v32_acc_add(s, v32_add(v32_add(v[0], v[1]), v32_add(v[2], v[3])));
  return v32_acc_add(v32_acc_add(s, v32_add(v[0], v[1])), v32_add(v[2], v[3]));
}

/* One part of n elements: `next`, x and e at their beginnings; the line before goes to t. */
ACLPY_INLINE void fused_part_(const float *next, const float *x, float *e, int64_t n, float shift_by,
                              const fused_line *before, int64_t at, float *t, fused_sums *sums, fused_drain *drain,
                              int fetch, int logarithm) {
  const v32 shift = v32_set1(shift_by);
  v32 a = sums->max[0], b = sums->max[1], c = sums->max[2], d = sums->max[3];
  v32_acc s = sums->sum;
  int64_t i = 0;
  for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) {
    a = v32_max(v32_load(next + i), a);
    b = v32_max(v32_load(next + i + v32_LANES), b);
    c = v32_max(v32_load(next + i + 2 * v32_LANES), c);
    d = v32_max(v32_load(next + i + 3 * v32_LANES), d);
    if (fetch) aclpy_fetch(next + i, 4 * v32_LANES * (int64_t)sizeof(float));
    s = fused_quad_(x + i, e + i, shift, logarithm, s);
    fused_drain_quad_(drain);
    if (before->held != NULL) {
      for (int64_t k = i; k < i + 4 * v32_LANES; k += v32_LANES) {
        v32_store(t + k, fused_line_value_(before, v32_load(before->held + at + k), logarithm));
      }
    }
  }
  if (before->held != NULL) fused_line_out_(before, at + i, n - i, t + i, logarithm);
  for (; i < n; i += v32_LANES) {
    const int64_t m = aclpy_min_i64(v32_LANES, n - i);
    a = v32_max(ldn_f32(next + i, m, -INFINITY), a);
    const v32 v = v32_exp_below(v32_sub(ldn_f32(x + i, m, -INFINITY), shift), ACLPY_EXP_ANY);
    if (!logarithm) stn_f32(e + i, v, m);
    sums->rest = v32_acc_add(sums->rest, v);
    if (fetch) aclpy_fetch(next + i, v32_LANES * (int64_t)sizeof(float));
  }
  sums->max[0] = a;
  sums->max[1] = b;
  sums->max[2] = c;
  sums->max[3] = d;
  sums->sum = s;
}

/* Largest element of the first row of a range. */
ACLPY_INLINE float fused_first_max_(const aclpy_fused *f, fused_ring *ring, int64_t row, int direct) {
  float max = -INFINITY;
  for (int64_t at = 0; at < f->g.n; at += ACLPY_PART) {
    const int64_t m = aclpy_min_i64(ACLPY_PART, f->g.n - at);
    if (!direct) fused_ring_fill_(f, ring, row, at, m);
    const float *x = direct ? (const float *)(const void *)f->x + row * f->g.n : fused_ring_at_(ring, row);
    max = fused_max_(x + at, m, max);
  }
  return max;
}

/* Exponentials (for the logarithm: differences from the maximum) rounded to a narrower type before they go on. */
ACLPY_APART void fused_line_round_(const aclpy_fused *f, fused_line *line, float *own, int logarithm) {
  for (int64_t i = 0; logarithm && i < f->g.n; ++i) own[i] = line->held[i] - line->shift;
  for (int64_t i = 0; i < f->g.n; i += ACLPY_RUN) {
    aclpy_round_run(f->rounded, own + i, aclpy_min_i64(ACLPY_RUN, f->g.n - i));
  }
  line->held = own;
  line->shift = 0.0f;
}

ACLPY_INLINE void fused_lines_run_as_(const aclpy_fused *f, int64_t begin, int64_t end, float *scratch, int direct,
                                      int logarithm) {
  fused_writer w;
  const int64_t n = f->g.n, rows = aclpy_fused_rows_of_block(n);
  fused_ring ring = {scratch, begin, n, rows, n * rows, begin * n, end * n};
  fused_line before = {NULL, 0, 0};
  const float *base = (const float *)(const void *)f->x;
  fused_writer_begin_(&w, begin * n);
  float max = fused_first_max_(f, &ring, begin, direct);
  for (int64_t row = begin; row < end; ++row) {
    float *own = fused_ring_at_(&ring, row);
    const int more = row + 1 < end;
    const float *x = direct ? base + row * n : own;
    /* The last row stands for the one that does not follow; its maximum is not used. */
    const float *next = !more ? x : direct ? x + n : fused_ring_at_(&ring, row + 1);
    const v32 low = v32_set1(-INFINITY);
    fused_sums sums = {{low, low, low, low}, v32_acc_zero(), v32_acc_zero()};
    const float shift = fused_shift_(f->flags, max);
    for (int64_t at = 0; at < n; at += ACLPY_PART) {
      const int64_t m = aclpy_min_i64(ACLPY_PART, n - at);
      if (!direct && more) fused_ring_fill_(f, &ring, row + 1, at, m);
      fused_part_(next + at, x + at, own + at, m, shift, &before, at, fused_writer_room_(&w), &sums, &w.drain,
                  direct && f->far, logarithm);
      if (before.held != NULL) fused_writer_add_(f, &w, m);
    }
    max = v32_hmax(v32_max(v32_max(sums.max[0], sums.max[1]), v32_max(sums.max[2], sums.max[3])));
    before.held = logarithm ? x : own;
    before.shift = shift;
    before.factor = fused_factor_(f->flags, v32_acc_sum(sums.sum, sums.rest));
    if (f->rounded) fused_line_round_(f, &before, own, logarithm);
  }
  for (int64_t at = 0; at < n && before.held != NULL; at += ACLPY_PART) {
    const int64_t m = aclpy_min_i64(ACLPY_PART, n - at);
    fused_line_out_(&before, at, m, fused_writer_room_(&w), logarithm);
    fused_writer_add_(f, &w, m);
  }
  fused_writer_end_(f, &w);
}

static void fused_lines_run_(const aclpy_fused *f, int64_t begin, int64_t end, float *scratch) {
  const int direct = f->post.source == ACLPY_TYPE_FLOAT, logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
  if (direct && logarithm) fused_lines_run_as_(f, begin, end, scratch, 1, 1);
  if (direct && !logarithm) fused_lines_run_as_(f, begin, end, scratch, 1, 0);
  if (!direct && logarithm) fused_lines_run_as_(f, begin, end, scratch, 0, 1);
  if (!direct && !logarithm) fused_lines_run_as_(f, begin, end, scratch, 0, 0);
}

#endif
