/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients of softmax over rows of one to sixteen vectors of floats with AVX2,
 * as many at once as a vector has lanes. ACLPY_T names the instance.
 *
 * A row's sum is that of exact products in double, as turned rows have it; only what is done across lanes, and what
 * becomes of a sum, is done for all rows at once. Columns stay where they are: to turn them costs more than the sums.
 */
#include "../simd/instance.h"

#if ACLPY_TURNS && PLAIN && SPLITS
/* Rows of up to so many elements; past the caches those of more than half of it one by one, with the same sums: of
 * eight at once the lines are too many to wait for. */
enum { FN(few_most) = (int)(16 * LANES) };

/* The sum of the products of a row, by lanes. */
ACLPY_INLINE v64 FN(few_lanes)(const STORED *g, const STORED *y, int64_t n) {
  v64 a = v64_set1(0), b = a;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const int64_t next = i + v64_LANES;
    a = v64_fma(v64_of_floats(g + i), v64_of_floats(y + i), a);
    b = v64_fma(v64_of_floats(g + next), v64_of_floats(y + next), b);
  }
  if (i + v64_LANES <= n) {
    a = v64_fma(v64_of_floats(g + i), v64_of_floats(y + i), a);
    i += v64_LANES;
  }
  if (i < n) b = v64_fma(v64_of_some_floats(g + i, n - i), v64_of_some_floats(y + i, n - i), b);
  return v64_add(a, b);
}

/* A row of results. The last vector ends with the row; it is read before anything is written, for `out` may be g. */
ACLPY_INLINE void FN(few_out)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low,
                              int streaming) {
  const int64_t last = n - LANES;
  const VEC end = FN(result)(LD(g + last), LD(y + last), high, low, 0);
  for (int64_t i = 0; i < last; i += LANES) {
    const VEC v = FN(result)(LD(g + i), LD(y + i), high, low, 0);
    if (streaming) NT(out + i, v);
    if (!streaming) ST(out + i, v);
  }
  if (streaming) NT(out + last, end);
  if (!streaming) ST(out + last, end);
}

/* `count` rows, at most LANES, to rows `to` apart. What lies `ahead` bytes further on is asked for, unless that is 0.
 */
ACLPY_INLINE void FN(few_batch)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                STORED *out, int64_t to, int64_t ahead, int streaming) {
  _Alignas(32) REAL high[LANES], low[LANES];
  v64 sum[LANES];
  for (int64_t r = 0; r < LANES; ++r) {
    const int64_t row = r < count ? r : 0;
    if (ahead > 0) aclpy_fetch_at(g + row * pitch[0], ahead, n * (int64_t)sizeof(STORED));
    if (ahead > 0) aclpy_fetch_at(y + row * pitch[1], ahead, n * (int64_t)sizeof(STORED));
    sum[r] = FN(few_lanes)(g + row * pitch[0], y + row * pitch[1], n);
  }
  VEC all, rest;
  FN(turned_total)((V(acc)){v64_across(sum), v64_across(sum + v64_LANES)}, &all, &rest);
  V(store)(high, all);
  V(store)(low, rest);
  for (int64_t r = 0; r < count; ++r) {
    FN(few_out)(g + r * pitch[0], y + r * pitch[1], out + r * to, n, V(set1)(high[r]), V(set1)(low[r]), streaming);
  }
}
/* n: where the caller knows it, loops unroll. */
ACLPY_INLINE void FN(rows_few_of)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int64_t n, int past) {
  const int64_t *pitch = geometry->pitch, ahead = past ? aclpy_near_bytes(geometry->core) : 0;
  const int lined = past && n % (2 * LANES) == 0 && aclpy_rows_lined(p->out, pitch[2] * (int64_t)sizeof(STORED));
  STORED held[LANES * FN(few_most)];
  FN(turned) t = FN(turned_of)(n, p->out, pitch[2], begin, end, past && !lined);
  while (FN(turned_next)(&t)) {
    const STORED *g = p->g + t.row * pitch[0], *y = p->y + t.row * pitch[1];
    STORED *out = p->out + t.row * pitch[2];
    if (t.streams_now) {
      FN(few_batch)(g, y, pitch, n, LANES, held, n, ahead, 0);
      for (int64_t i = 0; i < LANES * n; i += LANES) NT(out + i, LD(held + i));
    } else if (lined) {
      FN(few_batch)(g, y, pitch, n, t.count, out, pitch[2], ahead, 1);
    } else if (t.count == LANES) {
      FN(few_batch)(g, y, pitch, n, LANES, out, pitch[2], ahead, 0);
    } else {
      FN(few_batch)(g, y, pitch, n, t.count, out, pitch[2], ahead, 0);
    }
  }
}
ACLPY_INLINE void FN(rows_few_apart)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin,
                                     int64_t end) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  for (int64_t i = begin; i < end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    STORED *out = p->out + i * pitch[2];
    const v64 sum[4] = {FN(few_lanes)(g, y, n), v64_set1(0), v64_set1(0), v64_set1(0)};
    aclpy_fetch_shared(out + n);
    FN(row_out)(g, y, out, n, FN(total_of)(v64_first(v64_across(sum))), 0, 1);
  }
}
static __attribute__((noinline)) void FN(rows_few)(const aclpy_geometry *geometry, const FN(operands) * p,
                                                   int64_t begin, int64_t end, int past) {
  if (geometry->n == 2 * LANES && !past) {
    FN(rows_few_of)(geometry, p, begin, end, 2 * LANES, 0);
  } else if (geometry->n == 4 * LANES && !past) {
    FN(rows_few_of)(geometry, p, begin, end, 4 * LANES, 0);
  } else if (past && geometry->n > FN(few_most) / 2) {
    FN(rows_few_apart)(geometry, p, begin, end);
  } else if (past) {
    FN(rows_few_of)(geometry, p, begin, end, geometry->n, 1);
  } else {
    FN(rows_few_of)(geometry, p, begin, end, geometry->n, 0);
  }
}
#endif
