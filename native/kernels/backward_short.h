/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients of rows of a few vectors. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

/* Without AVX-512 it is no gain: vectors have few lanes. */
#if GROUPS && ACLPY_FUSES && ACLPY_ISA_RANK == 3
enum { FN(grouped) = 1 };
/* The sums of rows [begin, end), at most v64_LANES and each at most a block, across whose lanes all are brought
 * together at once. */
ACLPY_INLINE void FN(group_sums)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                 int64_t n, int logarithm, double *totals) {
  v64 sum[v64_LANES];
  v32 rest[v64_LANES];
  v32 seen = v32_set1(0);
  for (int64_t r = 0; r < v64_LANES; ++r) {
    sum[r] = v64_set1(0);
    rest[r] = v32_set1(0);
  }
  for (int64_t r = 0; r < end - begin; ++r) {
    const STORED *g = p->g + (begin + r) * geometry->pitch[0], *y = p->y + (begin + r) * geometry->pitch[1];
    FN(sums) s;
    FN(sums_begin)(&s);
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) FN(sums_quad)(&s, g + i, y + i, logarithm);
    FN(sums_rest)(&s, g, y, i, n, logarithm);
    if (logarithm) {
      sum[r] = V(acc_lanes)(s.terms[0], s.terms[1]);
    } else {
      seen = v32_bits_or(seen, s.products.seen, seen);
      sum[r] = V(products_lanes)(&s.products, n < 4 * LANES ? 2 : 4, &rest[r]);
    }
  }
  const v64 all = v64_hsums(sum);
  v64_store(totals, logarithm ? all : v64_add(all, v32_hsums(rest)));
  /* A NaN as the row alone would have it: which of several is handed on depends on the place in the group. */
  const int again = v32_bits_sized(seen);
  for (int64_t r = 0; r < end - begin; ++r) {
    if (ACLPY_LIKELY(!again && totals[r] == totals[r])) continue;
    const int64_t row = begin + r;
    totals[r] = FN(row_sum)(p->g + row * geometry->pitch[0], p->y + row * geometry->pitch[1], n, logarithm);
  }
}

/* Short rows, v64_LANES at a time. The bits of rows_run_as. n is geometry->n: where the caller knows it, loops unroll.
 */
ACLPY_INLINE void FN(rows_groups)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int64_t n, int logarithm, int streaming) {
  const int64_t *pitch = geometry->pitch, bytes = n * (int64_t)sizeof(STORED);
  for (int64_t i = begin; i < end; i += v64_LANES) {
    const int64_t last = aclpy_min_i64(i + v64_LANES, end);
    double totals[v64_LANES];
    for (int64_t r = i; r < last && streaming && geometry->core != ACLPY_CORE_ZEN_3; ++r) {
      aclpy_fetch_near(p->g + r * pitch[0], bytes);
      aclpy_fetch_near(p->y + r * pitch[1], bytes);
    }
    FN(group_sums)(geometry, p, i, last, n, logarithm, totals);
    for (int64_t r = i; r < last; ++r) {
      if (streaming) aclpy_fetch_shared(p->out + r * pitch[2] + n);
      FN(row_out)(p->g + r * pitch[0], p->y + r * pitch[1], p->out + r * pitch[2], n, FN(total_of)(totals[r - i]),
                  logarithm, streaming);
    }
  }
}
static void FN(rows_short)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                           int logarithm, int streaming) {
  const int64_t n = geometry->n;
  if (n == LANES && !streaming) {
    FN(rows_groups)(geometry, p, begin, end, LANES, logarithm, 0);
  } else if (n == 2 * LANES && !streaming) {
    FN(rows_groups)(geometry, p, begin, end, 2 * LANES, logarithm, 0);
  } else {
    FN(rows_groups)(geometry, p, begin, end, n, logarithm, streaming);
  }
}
#else
enum { FN(grouped) = 0 };
/* Rows of two whole vectors: they stay in registers. The bits of rows_run_as. */
ACLPY_INLINE void FN(rows_pair)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                int logarithm) {
  const int64_t n = 2 * LANES, *pitch = geometry->pitch;
  for (int64_t i = begin; i < end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    const FN(total) sum = FN(total_of)(FN(row_sum)(g, y, n, logarithm));
    FN(row_out)(g, y, p->out + i * pitch[2], n, sum, logarithm, 0);
  }
}
static void FN(rows_short)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                           int logarithm, int streaming) {
  (void)streaming;
  FN(rows_pair)(geometry, p, begin, end, logarithm);
}
#endif
