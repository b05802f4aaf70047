/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of contiguous rows, whole or in chunks. ACLPY_T names the instance.
 *
 * Sums of exponentials run in double lanes: beside a term of 1 the small ones must not be lost (accumulate.h).
 */
#include "../simd/instance.h"

/* The largest element; NaNs may be passed over, they make the sum NaN later. */
ACLPY_INLINE REAL FN(row_max)(const STORED *x, int64_t n) {
  const REAL low = (REAL)-INFINITY;
  VEC a = V(set1)(low), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    a = V(max)(LD(x + i), a);
    b = V(max)(LD(x + i + LANES), b);
    c = V(max)(LD(x + i + 2 * LANES), c);
    d = V(max)(LD(x + i + 3 * LANES), d);
  }
  for (; i + LANES <= n; i += LANES) a = V(max)(LD(x + i), a);
  if (i < n) b = V(max)(LDN(x + i, n - i, low), b);
  return V(hmax)(V(max)(V(max)(a, b), V(max)(c, d)));
}

/* e = exp(x - shift) of one vector, stored where `keep`. */
ACLPY_INLINE VEC FN(exp_at)(const STORED *x, REAL *e, int64_t i, VEC shift, int keep) {
  const VEC v = V(exp_negative)(V(sub)(LD(x + i), shift));
  if (keep) V(store)(e + i, v);
  return v;
}

/* Sum of e over a row, added in pairs, the pairs in double. The row behind it is fetched meanwhile: the
 * multiplications leave the memory idle. */
ACLPY_INLINE double FN(row_exp)(const STORED *x, REAL *e, int64_t n, REAL shift_by, int keep) {
  const VEC shift = V(set1)(shift_by);
  V(acc) s = V(acc_zero)(), t = s;
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    for (int64_t b = 0; b < 4 * LANES * (int64_t)sizeof(STORED); b += 64) ACLPY_PREFETCH((uintptr_t)(x + i + n) + (uintptr_t)b);
    const VEC a = FN(exp_at)(x, e, i, shift, keep), b = FN(exp_at)(x, e, i + LANES, shift, keep);
    s = V(acc_add)(s, V(add)(a, b));
    const VEC c = FN(exp_at)(x, e, i + 2 * LANES, shift, keep), d = FN(exp_at)(x, e, i + 3 * LANES, shift, keep);
    t = V(acc_add)(t, V(add)(c, d));
  }
  for (; i + LANES <= n; i += LANES) s = V(acc_add)(s, FN(exp_at)(x, e, i, shift, keep));
  if (i < n) {
    const VEC v = V(exp_negative)(V(sub)(LDN(x + i, n - i, (REAL)-INFINITY), shift));
    if (keep) STNR(e + i, v, n - i);
    t = V(acc_add)(t, v);
  }
  return V(acc_sum)(s, t);
}

/* y = e * factor */
ACLPY_INLINE void FN(row_scale)(const REAL *e, STORED *y, int64_t n, REAL factor, int streaming) {
  const VEC f = V(set1)(factor);
#define FULL_(i) V(mul)(V(load)(e + (i)), f)
#define PART_(i, m) V(mul)(LDNR(e + (i), m, 0), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

/* y = (x - shift) - offset */
ACLPY_INLINE void FN(row_offset)(const STORED *x, STORED *y, int64_t n, REAL shift, REAL offset, int streaming) {
  const VEC m = V(set1)(shift), f = V(set1)(offset);
#define FULL_(i) V(sub)(V(sub)(LD(x + (i)), m), f)
#define PART_(i, k) V(sub)(V(sub)(LDN(x + (i), k, 0), m), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

/* y = exp(x - shift) * factor */
ACLPY_INLINE void FN(row_exp_scale)(const STORED *x, STORED *y, int64_t n, REAL shift, REAL factor, int streaming) {
  const VEC m = V(set1)(shift), f = V(set1)(factor);
#define FULL_(i) V(mul)(V(exp_negative)(V(sub)(LD(x + (i)), m)), f)
#define PART_(i, k) V(mul)(V(exp_negative)(V(sub)(LDN(x + (i), k, (REAL)-INFINITY), m)), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

ACLPY_INLINE void FN(row)(const STORED *x, STORED *y, int64_t n, REAL *scratch, int logarithm, int streaming) {
  const REAL max = FN(row_max)(x, n);
  if (logarithm) {
    const double sum = FN(row_exp)(x, NULL, n, max, 0);
    FN(row_offset)(x, y, n, max, (REAL)aclpy_log_f64(sum), streaming);
    return;
  }
#if PLAIN
  REAL *e = streaming ? scratch : y;
#else
  REAL *e = scratch;
#endif
  const double sum = FN(row_exp)(x, e, n, max, 1);
  FN(row_scale)(e, y, n, (REAL)(1.0 / sum), streaming);
}

static void FN(rows_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                         REAL *scratch, int logarithm) {
  const STORED *x = (const STORED *)args->addr[0];
  STORED *y = (STORED *)args->addr[1];
  const int streaming = g->streaming && (const void *)x != (const void *)y;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = i * g->n;
    if (logarithm) {
      FN(row)(x + at, y + at, g->n, scratch, 1, streaming);
    } else {
      FN(row)(x + at, y + at, g->n, scratch, 0, streaming);
    }
  }
  if (streaming) aclpy_stream_fence();
}

/* Pass 0: largest element and sum of one chunk. Where all of it is -inf the sum is 0, relative to anything. */
static void FN(row_chunks_reduce)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end) {
  double *sum = (double *)(void *)args->scratch;
  REAL *max = (REAL *)(void *)(sum + g->outer * (g->chunks + 1));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % g->chunks * g->chunk;
    const STORED *x = (const STORED *)args->addr[0] + i / g->chunks * g->n + first;
    const int64_t n = aclpy_min_i64(g->chunk, g->n - first);
    max[i] = FN(row_max)(x, n);
    sum[i] = FN(row_exp)(x, NULL, n, max[i] == (REAL)-INFINITY ? 0 : max[i], 0);
  }
}

/* Pass 1: rows [begin, end): the row's maximum and its factor (or logarithm) behind the partial results. */
static void FN(row_chunks_combine)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   int logarithm) {
  double *sum = (double *)(void *)args->scratch;
  REAL *max = (REAL *)(void *)(sum + g->outer * (g->chunks + 1));
  for (int64_t i = begin; i < end; ++i) {
    const double *s = sum + i * g->chunks;
    const REAL *m = max + i * g->chunks;
    REAL top = (REAL)-INFINITY;
    for (int64_t c = 0; c < g->chunks; ++c) top = m[c] > top ? m[c] : top;
    double total = 0.0;
    for (int64_t c = 0; c < g->chunks; ++c) total += s[c] * aclpy_exp_negative_f64((double)m[c] - (double)top);
    max[g->outer * g->chunks + i] = top;
    sum[g->outer * g->chunks + i] = logarithm ? aclpy_log_f64(total) : 1.0 / total;
  }
}

/* Pass 2: write one chunk. */
static void FN(row_chunks_write)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 int logarithm) {
  const double *sum = (const double *)(void *)args->scratch + g->outer * g->chunks;
  const REAL *max = (const REAL *)(const void *)(sum + g->outer) + g->outer * g->chunks;
  const int streaming = g->streaming && args->addr[0] != args->addr[1];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i / g->chunks, first = i % g->chunks * g->chunk;
    const STORED *x = (const STORED *)args->addr[0] + row * g->n + first;
    STORED *y = (STORED *)args->addr[1] + row * g->n + first;
    const int64_t n = aclpy_min_i64(g->chunk, g->n - first);
    if (logarithm) {
      FN(row_offset)(x, y, n, max[row], (REAL)sum[row], streaming);
    } else {
      FN(row_exp_scale)(x, y, n, max[row], (REAL)sum[row], streaming);
    }
  }
  if (streaming) aclpy_stream_fence();
}

static void FN(row_chunks_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                               int64_t end, int logarithm) {
  if (pass == 0) FN(row_chunks_reduce)(g, args, begin, end);
  if (pass == 1) FN(row_chunks_combine)(g, args, begin, end, logarithm);
  if (pass == 2) FN(row_chunks_write)(g, args, begin, end, logarithm);
}
