/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients over rows of one to sixteen vectors of floats and shorter types with
 * AVX2 (softmax's of floats up to forty), as many at once as a vector has lanes. ACLPY_T names the instance.
 *
 * A row's sum is that of exact terms in double, as turned rows have it; only what is done across lanes, and what
 * becomes of a sum, is done for all rows at once. Columns stay where they are: to turn them costs more than the sums.
 */
#include "../simd/instance.h"

#if ACLPY_TURNS && SPLITS
enum { FN(few_most) = (int)(16 * LANES) - 1 };
/* Which rows: of log-softmax those of one vector are turned, and past the caches long ones of floats take up to 1.2 of
 * the time. Gradients of softmax in float go one by one there from more than eight vectors on, with the same sums: of
 * eight rows at once the lines are too many to wait for. */
ACLPY_INLINE int FN(rows_are_few)(int64_t n, int logarithm) {
  const int64_t most = PLAIN && logarithm ? 8 * LANES : FN(few_most);
  return n >= (logarithm ? 2 * LANES : LANES) && n <= most;
}

/* One vector more of products, or of g, exact in double; products of half floats are in float, too. */
ACLPY_INLINE void FN(few_add)(v64 *a, v64 *b, VEC g, VEC y, int logarithm) {
  if (!logarithm && !KEEPS) {
    *a = v64_fma(V(widen_low)(g), V(widen_low)(y), *a);
    *b = v64_fma(V(widen_high)(g), V(widen_high)(y), *b);
    return;
  }
  const VEC term = logarithm ? g : V(mul)(g, y);
  *a = v64_add(V(widen_low)(term), *a);
  *b = v64_add(V(widen_high)(term), *b);
}
/* The sum of a row, by lanes. */
ACLPY_INLINE v64 FN(few_lanes)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  v64 a = v64_set1(0), b = a;
  int64_t i = 0;
#if PLAIN
  const v64 one = v64_set1(1);
  for (; i + LANES <= n; i += LANES) {
    const int64_t next = i + v64_LANES;
    a = v64_fma(v64_of_floats(g + i), logarithm ? one : v64_of_floats(y + i), a);
    b = v64_fma(v64_of_floats(g + next), logarithm ? one : v64_of_floats(y + next), b);
  }
  if (i + v64_LANES <= n) {
    a = v64_fma(v64_of_floats(g + i), logarithm ? one : v64_of_floats(y + i), a);
    i += v64_LANES;
  }
  if (i < n) b = v64_fma(v64_of_some_floats(g + i, n - i), logarithm ? one : v64_of_some_floats(y + i, n - i), b);
#else
  for (; i + 2 * LANES <= n; i += 2 * LANES) {
    FN(few_add)(&a, &b, LDX(g + i, 0), LDX(y + i, 0), logarithm);
    FN(few_add)(&a, &b, LDX(g + i, 1), LDX(y + i, 1), logarithm);
  }
  for (; i + LANES <= n; i += LANES) FN(few_add)(&a, &b, LD(g + i), LD(y + i), logarithm);
  if (i < n) FN(few_add)(&a, &b, LDN(g + i, n - i, 0), LDN(y + i, n - i, 0), logarithm);
#endif
  return v64_add(a, b);
}

ACLPY_INLINE void FN(few_store)(STORED *out, VEC v, int streaming) {
  if (streaming) NT(out, v);
  if (!streaming) ST(out, v);
}
/* A row of results: logarithms by four vectors, which are looked at together, then by two where that is cheaper. The
 * last vector of other rows ends with the row; it is read before anything is written, for `out` may be g. */
ACLPY_INLINE void FN(few_out)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low,
                              int logarithm, int streaming) {
  const int64_t last = n - LANES;
  const int pairs = !PLAIN || logarithm, ends = !pairs || n % (2 * LANES) != 0;
  const VEC end = ends ? FN(result)(LD(g + last), LD(y + last), high, low, logarithm) : high;
  int64_t i = 0;
  while (logarithm && i + 4 * LANES <= n) i = FN(out_quad)(g, y, out, i, n, high, low, 1, streaming);
  for (; pairs && i + 2 * LANES <= n; i += 2 * LANES) {
    VEC v[2];
    for (int k = 0; k < 2; ++k) v[k] = FN(result)(LDX(g + i, k), LDX(y + i, k), high, low, logarithm);
    STP(out + i, v);
  }
  for (; ends && i < last; i += LANES) {
    FN(few_store)(out + i, FN(result)(LD(g + i), LD(y + i), high, low, logarithm), streaming);
  }
  if (ends) FN(few_store)(out + last, end, streaming);
}

/* `count` rows, at most LANES, to rows `to` apart. What lies `ahead` bytes further on is asked for, unless that is 0.
 */
ACLPY_INLINE void FN(few_batch)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                STORED *out, int64_t to, int64_t ahead, int logarithm, int streaming) {
  _Alignas(32) REAL high[LANES], low[LANES];
  v64 sum[LANES];
  for (int64_t r = 0; r < LANES; ++r) {
    const int64_t row = r < count ? r : 0;
    if (ahead > 0) aclpy_fetch_at(g + row * pitch[0], ahead, n * (int64_t)sizeof(STORED));
    if (ahead > 0) aclpy_fetch_at(y + row * pitch[1], ahead, n * (int64_t)sizeof(STORED));
    sum[r] = FN(few_lanes)(g + row * pitch[0], y + row * pitch[1], n, logarithm);
  }
  VEC all, rest;
  FN(turned_total)((V(acc)){v64_across(sum), v64_across(sum + v64_LANES)}, &all, &rest);
  V(store)(high, all);
  V(store)(low, rest);
  for (int64_t r = 0; r < count; ++r) {
    FN(few_out)(g + r * pitch[0], y + r * pitch[1], out + r * to, n, V(set1)(high[r]), V(set1)(low[r]), logarithm,
                streaming);
  }
}
/* n: where the caller knows it, loops unroll. */
ACLPY_INLINE void FN(rows_few_of)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int64_t n, int logarithm, int past) {
  const int64_t *pitch = geometry->pitch, ahead = past ? aclpy_near_bytes(geometry->core) : 0;
  const int lined = past && n % (2 * LANES) == 0 && aclpy_rows_lined(p->out, pitch[2] * (int64_t)sizeof(STORED));
  STORED held[LANES * FN(few_most)];
  FN(turned) t = FN(turned_of)(n, p->out, pitch[2], begin, end, past && !lined);
  while (FN(turned_next)(&t)) {
    const STORED *g = p->g + t.row * pitch[0], *y = p->y + t.row * pitch[1];
    STORED *out = p->out + t.row * pitch[2];
    if (t.streams_now) {
      FN(few_batch)(g, y, pitch, n, LANES, held, n, ahead, logarithm, 0);
      for (int64_t i = 0; i < LANES * n; i += LANES) NT(out + i, LD(held + i));
    } else if (lined) {
      FN(few_batch)(g, y, pitch, n, t.count, out, pitch[2], ahead, logarithm, 1);
    } else if (t.count == LANES) {
      FN(few_batch)(g, y, pitch, n, LANES, out, pitch[2], ahead, logarithm, 0);
    } else {
      FN(few_batch)(g, y, pitch, n, t.count, out, pitch[2], ahead, logarithm, 0);
    }
  }
}
ACLPY_INLINE void FN(rows_few_apart)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin,
                                     int64_t end) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  for (int64_t i = begin; i < end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    STORED *out = p->out + i * pitch[2];
    const v64 sum[4] = {FN(few_lanes)(g, y, n, 0), v64_set1(0), v64_set1(0), v64_set1(0)};
    aclpy_fetch_shared(out + n);
    FN(row_out)(g, y, out, n, FN(total_of)(v64_first(v64_across(sum))), 0, 1);
  }
}
ACLPY_INLINE void FN(rows_few_as)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int logarithm, int past) {
  const int64_t n = geometry->n;
  if (n == 2 * LANES && !past) {
    FN(rows_few_of)(geometry, p, begin, end, 2 * LANES, logarithm, 0);
  } else if (n == 4 * LANES && !past) {
    FN(rows_few_of)(geometry, p, begin, end, 4 * LANES, logarithm, 0);
  } else if (PLAIN && past && !logarithm && n > 8 * LANES) {
    FN(rows_few_apart)(geometry, p, begin, end);
  } else if (PLAIN && past) {
    FN(rows_few_of)(geometry, p, begin, end, n, logarithm, 1);
  } else {
    FN(rows_few_of)(geometry, p, begin, end, n, logarithm, 0);
  }
}
ACLPY_APART void FN(rows_few)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                              int logarithm, int past) {
  if (logarithm) FN(rows_few_as)(geometry, p, begin, end, 1, past);
  if (!logarithm) FN(rows_few_as)(geometry, p, begin, end, 0, past);
}

#if PLAIN
/* Longer rows of floats, of softmax in the caches: their sums have the bits of row_sum's, but what is done across lanes
 * is done for eight rows at once. So many rows should fit the first level. */
enum { FN(eight_most) = 320 };
ACLPY_INLINE void FN(eight_sums)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                 REAL *high, REAL *low) {
  VEC units[LANES], rests[LANES], all, rest;
  uint32_t other = 0;
  for (int64_t r = 0; r < LANES; ++r) {
    const STORED *h = g + (r < count ? r : 0) * pitch[0], *z = y + (r < count ? r : 0) * pitch[1];
    FN(sums) s;
    FN(sums_begin)(&s);
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) FN(sums_quad)(&s, h + i, z + i, 0);
    FN(sums_rest)(&s, h, z, i, n, 0);
    units[r] = V(products_units)(&s.products);
    rests[r] = V(products_rests)(&s.products, ACLPY_CHAINS);
    other |= (uint32_t)!V(products_hold)(&s.products) << r;
  }
  FN(turned_total)(V(acc_add)(V(units_across)(units), V(across)(rests)), &all, &rest);
  V(store)(high, all);
  V(store)(low, rest);
  for (int64_t r = 0; other >> r != 0 && r < count; ++r) {
    if ((other >> r & 1) == 0) continue;
    const FN(total) sum = FN(total_of)(FN(row_sum)(g + r * pitch[0], y + r * pitch[1], n, 0));
    high[r] = sum.high;
    low[r] = sum.low;
  }
}
ACLPY_APART void FN(rows_eight)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  _Alignas(32) REAL high[LANES], low[LANES];
  for (int64_t row = begin; row < end; row += LANES) {
    const STORED *g = p->g + row * pitch[0], *y = p->y + row * pitch[1];
    const int64_t count = aclpy_min_i64(LANES, end - row);
    FN(eight_sums)(g, y, pitch, n, count, high, low);
    for (int64_t r = 0; r < count; ++r) {
      FN(few_out)(g + r * pitch[0], y + r * pitch[1], p->out + (row + r) * pitch[2], n, V(set1)(high[r]),
                  V(set1)(low[r]), 0, 0);
    }
  }
}
#endif
#endif
