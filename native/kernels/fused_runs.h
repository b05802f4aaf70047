/* SPDX-License-Identifier: Apache-2.0
 * Pieces of a softmax on runs of floats, whatever the cut.
 *
 * Sums of exponentials run in double lanes (simd/accumulate.h), as in the plain kernels.
 */
#ifndef ACLPY_KERNELS_FUSED_RUNS_H
#define ACLPY_KERNELS_FUSED_RUNS_H

#include <math.h>

#include "../simd/accumulate.h"
#include "fused_writer.h"

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
      v[k] = v32_exp_below(v32_sub(v32_load(x + i + k * v32_LANES), shift), ACLPY_EXP_ANY);
      if (e != NULL) v32_store(e + i + k * v32_LANES, v[k]);
    }
    s = v32_acc_add(v32_acc_add(s, v32_add(v[0], v[1])), v32_add(v[2], v[3]));
  }
  for (; i < n; i += v32_LANES) {
    const int64_t m = aclpy_min_i64(v32_LANES, n - i);
    const v32 v = v32_exp_below(v32_sub(ldn_f32(x + i, m, -INFINITY), shift), ACLPY_EXP_ANY);
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

/* n elements of x as floats: x itself, or in `stage`. */
ACLPY_INLINE const float *fused_floats_(const aclpy_fused *f, int64_t index, int64_t n, float *stage) {
  const unsigned char *from = f->x + index * f->from;
  if (f->post.source == ACLPY_TYPE_FLOAT) return (const float *)(const void *)from;
  aclpy_load_run(f->post.source, from, stage, n);
  return stage;
}

#endif
