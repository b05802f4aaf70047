/* SPDX-License-Identifier: Apache-2.0
 * Softmax of rows that a thread holds in cache, results handed to the post operations run by run.
 *
 * Sums of exponentials run in double lanes (simd/accumulate.h), as in the plain kernels.
 */
#ifndef ACLPY_KERNELS_FUSED_ROWS_H
#define ACLPY_KERNELS_FUSED_ROWS_H

#include <math.h>

#include "../simd/accumulate.h"
#include "fused_geometry.h"
#include "post_ops.h"

/* One launch, decoded. */
typedef struct aclpy_fused {
  aclpy_fused_geometry g;
  aclpy_post post;
  int64_t flags;
  int64_t rounded; /* the type that exponentials are rounded to, 0 for none */
  const unsigned char *x;
  unsigned char *y;
  int64_t from, to; /* bytes of an element of x and y */
  int streaming;
} aclpy_fused;

/* Largest element, NaNs possibly passed over: they make the sum NaN. */
ACLPY_INLINE float fused_max_(const float *x, int64_t n, float so_far) {
  v32 a = v32_set1(so_far), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) {
    a = v32_max(v32_load(x + i), a);
    b = v32_max(v32_load(x + i + v32_LANES), b);
    c = v32_max(v32_load(x + i + 2 * v32_LANES), c);
    d = v32_max(v32_load(x + i + 3 * v32_LANES), d);
  }
  for (; i + v32_LANES <= n; i += v32_LANES) a = v32_max(v32_load(x + i), a);
  if (i < n) b = v32_max(ldn_f32(x + i, n - i, so_far), b);
  return v32_hmax(v32_max(v32_max(a, b), v32_max(c, d)));
}

/* e = exp(x - shift), added to the sum; e NULL: only the sum. */
ACLPY_INLINE v32_acc fused_exp_(const float *x, float *e, int64_t n, float shift_by, v32_acc s) {
  const v32 shift = v32_set1(shift_by);
  int64_t i = 0;
  for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) {
    v32 v[4];
    for (int k = 0; k < 4; ++k) {
      v[k] = v32_exp_negative(v32_sub(v32_load(x + i + k * v32_LANES), shift));
      if (e != NULL) v32_store(e + i + k * v32_LANES, v[k]);
    }
    s = v32_acc_add(v32_acc_add(s, v32_add(v[0], v[1])), v32_add(v[2], v[3]));
  }
  for (; i < n; i += v32_LANES) {
    const int64_t m = aclpy_min_i64(v32_LANES, n - i);
    const v32 v = v32_exp_negative(v32_sub(ldn_f32(x + i, m, -INFINITY), shift));
    if (e != NULL) stn_f32(e + i, v, m);
    s = v32_acc_add(s, v);
  }
  return s;
}

/* t = e * factor */
ACLPY_INLINE void fused_scale_(const float *e, float *t, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i) t[i] = e[i] * factor;
}
/* t = (x - shift), rounded where asked, - offset */
ACLPY_INLINE void fused_offset_(const aclpy_fused *f, const float *x, float *t, int64_t n, float shift, float offset) {
  if (f->rounded) {
    for (int64_t i = 0; i < n; ++i) t[i] = x[i] - shift;
    aclpy_round_run(f->rounded, t, n);
    for (int64_t i = 0; i < n; ++i) t[i] = t[i] - offset;
  } else {
    for (int64_t i = 0; i < n; ++i) t[i] = (x[i] - shift) - offset;
  }
}

/* What is subtracted from a row's elements. A row of only -inf may count as a row of zeros. */
ACLPY_INLINE float fused_shift_(int64_t flags, float max) {
  return (flags & ACLPY_FUSED_ZERO_ROWS) && max == -INFINITY ? 0.0f : max;
}
/* What they are multiplied by (or what is subtracted besides). */
ACLPY_INLINE float fused_factor_(int64_t flags, double sum) {
  if (flags & ACLPY_FUSED_LOG) return (float)aclpy_log_f64(sum);
  return (flags & ACLPY_FUSED_ZERO_ROWS) && sum == 0.0 ? 0.0f : (float)(1.0 / sum);
}

/* Post operations and store of elements [index, index + n). */
ACLPY_INLINE void fused_finish_(const aclpy_fused *f, float *t, int64_t index, int64_t n) {
  aclpy_post_apply(&f->post, t, index, n);
  aclpy_store_run(f->post.target, t, f->y + index * f->to, n, f->streaming);
}

/* n elements of x as floats: x itself, or in `stage`. */
ACLPY_INLINE const float *fused_floats_(const aclpy_fused *f, int64_t index, int64_t n, float *stage) {
  const unsigned char *from = f->x + index * f->from;
  if (f->post.source == ACLPY_TYPE_FLOAT) return (const float *)(const void *)from;
  aclpy_load_run(f->post.source, from, stage, n);
  return stage;
}

static void fused_packed_run_(const aclpy_fused *f, int64_t begin, int64_t end) {
  _Alignas(64) float stage[ACLPY_RUN], t[ACLPY_RUN];
  const int64_t n = f->g.n;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item * f->g.rows, rows = aclpy_min_i64(f->g.rows, f->g.outer - first);
    const float *x = fused_floats_(f, first * n, rows * n, stage);
    /* The next rows come in while these are worked on. */
    const unsigned char *ahead = f->x + (first + rows) * n * f->from;
    for (int64_t b = 0; b < rows * n * f->from && item + 1 < end; b += 64) ACLPY_PREFETCH(ahead + b);
    for (int64_t r = 0; r < rows; ++r) {
      const float shift = fused_shift_(f->flags, fused_max_(x + r * n, n, -INFINITY));
      const int logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
      float *e = t + r * n;
      const v32_acc zero = v32_acc_zero();
      const v32_acc s = fused_exp_(x + r * n, logarithm ? NULL : e, n, shift, zero);
      const float factor = fused_factor_(f->flags, v32_acc_sum(s, zero));
      if (logarithm) {
        fused_offset_(f, x + r * n, e, n, shift, factor);
      } else {
        if (f->rounded) aclpy_round_run(f->rounded, e, n);
        fused_scale_(e, e, n, factor);
      }
    }
    fused_finish_(f, t, first * n, rows * n);
  }
}

/* A row whose maximum is known: exponentials (or, for the logarithm, the elements) in `held`, and what follows. */
typedef struct fused_line {
  const float *held;
  float shift, factor;
  int64_t row;
} fused_line;

ACLPY_INLINE void fused_line_out_(const aclpy_fused *f, const fused_line *line, int64_t at, int64_t n, float *t) {
  if (f->flags & ACLPY_FUSED_LOG) {
    fused_offset_(f, line->held + at, t, n, line->shift, line->factor);
  } else if (f->rounded) {
    memcpy(t, line->held + at, (size_t)n * sizeof(float));
    aclpy_round_run(f->rounded, t, n);
    fused_scale_(t, t, n, line->factor);
  } else {
    fused_scale_(line->held + at, t, n, line->factor);
  }
  fused_finish_(f, t, line->row * f->g.n + at, n);
}

/* The maximum of a row; what is not float is converted into `into` on the way. */
ACLPY_INLINE float fused_line_max_(const aclpy_fused *f, int64_t row, int64_t at, int64_t n, float *into, float max) {
  return fused_max_(fused_floats_(f, row * f->g.n + at, n, into + at), n, max);
}

/* Three rows at once, run by run: the maximum of the next, the exponentials of this one, the results of the one before;
 * so arithmetic of one hides the memory of the others. Scratch holds three rows in turn. */
static void fused_lines_run_(const aclpy_fused *f, int64_t begin, int64_t end, float *scratch) {
  _Alignas(64) float t[ACLPY_RUN];
  const int64_t n = f->g.n;
  const int direct = f->post.source == ACLPY_TYPE_FLOAT, logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
  const v32_acc zero = v32_acc_zero();
  fused_line before = {NULL, 0, 0, 0};
  float max = -INFINITY;
  for (int64_t at = 0; at < n; at += ACLPY_RUN) {
    max = fused_line_max_(f, begin, at, aclpy_min_i64(ACLPY_RUN, n - at), scratch + begin % 3 * n, max);
  }
  for (int64_t row = begin; row < end; ++row) {
    float *own = scratch + row % 3 * n, *ahead = scratch + (row + 1) % 3 * n;
    const float *x = direct ? (const float *)(const void *)(f->x + row * n * f->from) : own;
    const float shift = fused_shift_(f->flags, max);
    v32_acc s = zero;
    max = -INFINITY;
    for (int64_t at = 0; at < n; at += ACLPY_RUN) {
      const int64_t m = aclpy_min_i64(ACLPY_RUN, n - at);
      if (row + 1 < end) max = fused_line_max_(f, row + 1, at, m, ahead, max);
      s = fused_exp_(x + at, logarithm ? NULL : own + at, m, shift, s);
      if (before.held != NULL) fused_line_out_(f, &before, at, m, t);
    }
    before.held = logarithm ? x : own;
    before.shift = shift;
    before.factor = fused_factor_(f->flags, v32_acc_sum(s, zero));
    before.row = row;
  }
  for (int64_t at = 0; at < n && before.held != NULL; at += ACLPY_RUN) {
    fused_line_out_(f, &before, at, aclpy_min_i64(ACLPY_RUN, n - at), t);
  }
}

#endif
