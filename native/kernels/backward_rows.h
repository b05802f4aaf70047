/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax over contiguous rows, whole or in chunks. ACLPY_T names the instance.
 *
 * softmax: out = y * (g - sum(g * y)); log-softmax: out = g - exp(y) * sum(g). Both passes read the tensors as
 * stored (a row stays in cache between them), so no scratch is needed and out may be g or y.
 */
#include "../simd/instance.h"

/* The last vectors of a block, behind whole groups of four, and the sum of it all. */
ACLPY_INLINE REAL FN(block_end)(const STORED *g, const STORED *y, int64_t i, int64_t n, int logarithm, VEC *s) {
  for (; i + LANES <= n; i += LANES) {
    s[0] = logarithm ? V(add)(LD(g + i), s[0]) : V(fma)(LD(g + i), LD(y + i), s[0]);
  }
  if (i < n) {
    const VEC a = LDN(g + i, n - i, 0);
    s[1] = logarithm ? V(add)(a, s[1]) : V(fma)(a, LDN(y + i, n - i, 0), s[1]);
  }
  return V(hsum)(V(add)(V(add)(s[0], s[1]), V(add)(s[2], s[3])));
}

/* Sum of one block: g * y, or g alone. */
ACLPY_INLINE REAL FN(block_sum)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  VEC s[4] = {V(set1)(0), V(set1)(0), V(set1)(0), V(set1)(0)};
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    for (int k = 0; k < 4; ++k) {
      const VEC a = LD(g + i + k * LANES);
      s[k] = logarithm ? V(add)(a, s[k]) : V(fma)(a, LD(y + i + k * LANES), s[k]);
    }
  }
  return FN(block_end)(g, y, i, n, logarithm, s);
}

ACLPY_INLINE double FN(row_sum)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i += ACLPY_BLOCK) {
    sum += (double)FN(block_sum)(g + i, y + i, aclpy_min_i64(ACLPY_BLOCK, n - i), logarithm);
  }
  return sum;
}

ACLPY_INLINE void FN(row_out)(const STORED *g, const STORED *y, STORED *out, int64_t n, REAL sum, int logarithm,
                              int streaming) {
  const VEC s = V(set1)(sum);
  if (logarithm) {
#define FULL_(i) V(fnma)(V(exp)(LD(y + (i))), s, LD(g + (i)))
#define PART_(i, m) V(fnma)(V(exp)(LDN(y + (i), m, 0)), s, LDN(g + (i), m, 0))
    ACLPY_MAP(out, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  } else {
#define FULL_(i) V(mul)(LD(y + (i)), V(sub)(LD(g + (i)), s))
#define PART_(i, m) V(mul)(LDN(y + (i), m, 0), V(sub)(LDN(g + (i), m, 0), s))
    ACLPY_MAP(out, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

typedef struct FN(operands) {
  const STORED *g;
  const STORED *y;
  STORED *out;
  int streaming;
} FN(operands);

ACLPY_INLINE FN(operands) FN(operands_of)(const aclpy_geometry *geometry, const aclpy_kernel_args *args) {
  FN(operands) p;
  p.g = (const STORED *)args->addr[0];
  p.y = (const STORED *)args->addr[1];
  p.out = (STORED *)args->addr[2];
  p.streaming = geometry->streaming && args->addr[0] != args->addr[2] && args->addr[1] != args->addr[2];
  return p;
}

/* Writes four vectors of `out` from element `at` on, where that many are left; returns where it ended. */
ACLPY_INLINE int64_t FN(out_quad)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, VEC sum,
                                  int logarithm, int streaming) {
  if (at + 4 * LANES > n) return at;
  for (int k = 0; k < 4; ++k) {
    const int64_t i = at + k * LANES;
    const VEC a = LD(g + i), b = LD(y + i);
    const VEC v = logarithm ? V(fnma)(V(exp)(b), sum, a) : V(mul)(b, V(sub)(a, sum));
    if (streaming) {
      NT(out + i, v);
    } else {
      ST(out + i, v);
    }
  }
  return at + 4 * LANES;
}

/* Row `at` is written while the sum of the row behind it is made, so that reading and writing overlap. The sum has
 * the same steps as row_sum. */
ACLPY_INLINE double FN(rows_step)(const FN(operands) * p, int64_t at, int64_t n, REAL sum, int logarithm,
                                  int streaming) {
  const STORED *g = p->g + at, *y = p->y + at;
  STORED *out = p->out + at;
  const VEC here = V(set1)(sum);
  double total = 0.0;
  int64_t done = streaming ? aclpy_to_line(out, (int64_t)sizeof(STORED), n) : 0;
  FN(row_out)(g, y, out, done, sum, logarithm, 0);
  for (int64_t first = 0; first < n; first += ACLPY_BLOCK) {
    const STORED *h = g + n + first, *z = y + n + first;
    const int64_t m = aclpy_min_i64(ACLPY_BLOCK, n - first);
    VEC s[4] = {V(set1)(0), V(set1)(0), V(set1)(0), V(set1)(0)};
    int64_t i = 0;
    for (; i + 4 * LANES <= m; i += 4 * LANES) {
      for (int k = 0; k < 4; ++k) {
        const VEC a = LD(h + i + k * LANES);
        s[k] = logarithm ? V(add)(a, s[k]) : V(fma)(a, LD(z + i + k * LANES), s[k]);
        if (logarithm) ACLPY_PREFETCH(z + i + k * LANES);
      }
      done = FN(out_quad)(g, y, out, done, n, here, logarithm, streaming);
    }
    total += (double)FN(block_end)(h, z, i, m, logarithm, s);
  }
  FN(row_out)(g + done, y + done, out + done, n - done, sum, logarithm, streaming);
  return total;
}

ACLPY_INLINE void FN(rows_run_as)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int logarithm, int streaming) {
  const int64_t n = geometry->n;
  if (begin >= end) return;
  double sum = FN(row_sum)(p->g + begin * n, p->y + begin * n, n, logarithm);
  for (int64_t i = begin; i + 1 < end; ++i) sum = FN(rows_step)(p, i * n, n, (REAL)sum, logarithm, streaming);
  const int64_t at = (end - 1) * n;
  FN(row_out)(p->g + at, p->y + at, p->out + at, n, (REAL)sum, logarithm, streaming);
}

static void FN(rows_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                         int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  if (logarithm && p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 1, 1);
  if (logarithm && !p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 1, 0);
  if (!logarithm && p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 0, 1);
  if (!logarithm && !p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 0, 0);
  if (p.streaming) aclpy_stream_fence();
}

/* Pass 0: sums of chunks; pass 1: of rows, behind them; pass 2: write. */
static void FN(row_chunks_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int32_t pass,
                               int64_t begin, int64_t end, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  double *sum = (double *)(void *)args->scratch;
  double *total = sum + geometry->outer * geometry->chunks;
  for (int64_t i = begin; i < end; ++i) {
    if (pass == 1) {
      double s = 0.0;
      for (int64_t c = 0; c < geometry->chunks; ++c) s += sum[i * geometry->chunks + c];
      total[i] = s;
      continue;
    }
    const int64_t row = i / geometry->chunks, first = i % geometry->chunks * geometry->chunk;
    const int64_t at = row * geometry->n + first;
    const int64_t n = aclpy_min_i64(geometry->chunk, geometry->n - first);
    if (pass == 0) {
      sum[i] = FN(row_sum)(p.g + at, p.y + at, n, logarithm);
    } else {
      FN(row_out)(p.g + at, p.y + at, p.out + at, n, (REAL)total[row], logarithm, p.streaming);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}
