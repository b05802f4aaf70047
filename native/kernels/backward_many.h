/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients over rows of a few to twenty vectors with AVX-512, as many rows at
 * once as a vector has lanes. ACLPY_T names the instance.
 *
 * What is done across the lanes of a sum, and what becomes of it, costs as much as the products of a short row; it is
 * done for all rows at once.
 */
#include "../simd/instance.h"

#if !ACLPY_PACKS
/* Elsewhere it is no gain: vectors have few lanes. */
ACLPY_INLINE int FN(rows_grouped)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm, int past) {
  (void)logarithm, (void)past;
  return !p->streaming && geometry->n == 2 * LANES;
}
#elif !SPLITS
ACLPY_INLINE int FN(rows_grouped)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm, int past) {
  (void)p, (void)logarithm, (void)past;
  return geometry->n <= ACLPY_ROW_GROUPED * LANES;
}
#else
/* Softmax's from more than so many elements on: what two vectors hold is one register of bfloat16; */
enum { FN(many_least) = ENDS_PAIRED ? v32_LANES : 2 * v32_LANES };
/* up to so many: what is converted once waits in the first level. */
enum { FN(many_most) = KEEPS ? 8 * v32_LANES : PLAIN ? 20 * v32_LANES : 16 * v32_LANES };
/* Rows of so few have sums of their own, wherever they lie; longer ones those of row_sum, for far away they come one by
 * one: sixteen at once are too many lines to wait for. So do log-softmax's, whose shorter sums are in backward_short.h.
 */
enum { FN(many_own) = ACLPY_ROW_GROUPED * v32_LANES, FN(many_logs_most) = 20 * v32_LANES };

/* Whether rows are done several at once, here or in backward_short.h; and here. `past`: they may go past the caches. */
ACLPY_INLINE int FN(rows_grouped)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm, int past) {
  const int near = !past && !p->streaming && !geometry->far;
  return geometry->n <= (!near ? FN(many_own) : logarithm ? FN(many_logs_most) : FN(many_most));
}
ACLPY_INLINE int FN(rows_are_many)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm, int past) {
  return geometry->n > (logarithm ? FN(many_own) : FN(many_least)) && !past && !p->streaming;
}

/* Products of two vectors. What was converted is kept where that costs more than a trip through the first level and
 * there is room. */
ACLPY_INLINE void FN(many_two)(FN(sums) * s, const VEC *v, const VEC *w, REAL *kept, int64_t i) {
  V(products_two)(&s->products, v, w, KEEPS);
  if (!KEEPS || kept == NULL) return;
  for (int k = 0; k < 2; ++k) V(store)(kept + 2 * i + k * LANES, v[k]);
  for (int k = 0; k < 2; ++k) V(store)(kept + 2 * i + (2 + k) * LANES, w[k]);
}
ACLPY_INLINE void FN(many_one)(FN(sums) * s, int k, VEC v, VEC w, REAL *kept, int64_t i) {
  V(products_add)(&s->products, k, v, w);
  if (!KEEPS || kept == NULL) return;
  V(store)(kept + 2 * i, v);
  V(store)(kept + 2 * i + LANES, w);
}
/* The products of a row. */
ACLPY_INLINE void FN(many_sum)(FN(sums) * s, const STORED *g, const STORED *y, int64_t n, REAL *kept) {
  FN(sums_begin)(s);
  int64_t i = 0;
  if (n > FN(many_own)) {
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
#if KEEPS
      if (kept != NULL) FN(kept_sum)(s, g + i, y + i, kept + 2 * i);
#endif
      if (!KEEPS || kept == NULL) FN(sums_quad)(s, g + i, y + i, 0);
    }
    FN(sums_rest)(s, g, y, i, n, 0);
    return;
  }
  VEC v[2], w[2];
  for (; i + 2 * LANES <= n; i += 2 * LANES) {
    for (int k = 0; k < 2; ++k) v[k] = LDX(g + i, k);
    for (int k = 0; k < 2; ++k) w[k] = LDX(y + i, k);
    FN(many_two)(s, v, w, kept, i);
  }
#if !ENDS_PAIRED
  for (; i + LANES <= n; i += LANES) FN(many_one)(s, 0, LD(g + i), LD(y + i), kept, i);
  if (i < n) FN(many_one)(s, 1, LDN(g + i, n - i, 0), LDN(y + i, n - i, 0), kept, i);
#else
  if (i == n) return;
  LDPN(g + i, n - i, v);
  LDPN(y + i, n - i, w);
  FN(many_two)(s, v, w, kept, i);
#endif
}
/* Rows of which a sum has left the binade have that of row_sum. */
ACLPY_APART void FN(many_large)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                REAL *high, REAL *low) {
  for (int64_t r = 0; r < count; ++r) {
    const STORED *h = g + r * pitch[0], *z = y + r * pitch[1];
    FN(sums) s;
    FN(many_sum)(&s, h, z, n, NULL);
    if (V(products_hold)(&s.products)) continue;
    const FN(total) sum = FN(total_of)(FN(row_sum)(h, z, n, 0));
    high[r] = sum.high;
    low[r] = sum.low;
  }
}
/* Sums of `count` rows, at most LANES. `kept`: room for what is converted, or NULL. */
ACLPY_INLINE void FN(many_dots)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                REAL *high, REAL *low, REAL *kept) {
  VEC units[LANES], rests[LANES], seen = V(set1)(0);
  for (int64_t r = 0; r < count; ++r) {
    FN(sums) s;
    REAL *own = KEEPS && kept != NULL ? kept + r * 2 * FN(many_most) : NULL;
    FN(many_sum)(&s, g + r * pitch[0], y + r * pitch[1], n, own);
    units[r] = V(products_units)(&s.products);
    rests[r] = V(products_rests)(&s.products, ACLPY_CHAINS);
    seen = V(bits_or)(seen, s.products.seen, s.products.seen);
  }
  for (int64_t r = count; r < LANES; ++r) units[r] = rests[r] = V(set1)(0);
  v64 total[2];
  V(units_total)(V(whole_across)(units), V(across)(rests), total);
  const VEC all = V(of_doubles)(total);
  V(store)(high, all);
  V(store)(low, V(rests)(total, all));
  if (!ACLPY_LIKELY(!V(bits_sized)(seen))) FN(many_large)(g, y, pitch, n, count, high, low);
}
/* For rows that are written elsewhere: a function of its own, so that their loops stay as they are. */
ACLPY_APART void FN(many_dots_only)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                    REAL *high, REAL *low) {
  FN(many_dots)(g, y, pitch, n, count, high, low, NULL);
}
/* The same of log-softmax, which has the bits of row_sum. */
ACLPY_INLINE void FN(many_logs)(const STORED *g, const int64_t *pitch, int64_t n, int64_t count, REAL *high,
                                REAL *low) {
  v64 lanes[LANES];
  for (int64_t r = 0; r < count; ++r) {
    const STORED *h = g + r * pitch[0];
    FN(sums) s;
    FN(sums_begin)(&s);
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) FN(sums_quad)(&s, h + i, NULL, 1);
    FN(sums_rest)(&s, h, NULL, i, n, 1);
    lanes[r] = V(acc_lanes)(s.terms[0], s.terms[1]);
  }
  for (int64_t r = count; r < LANES; ++r) lanes[r] = v64_set1(0);
  const v64 zero = v64_set1(0);
  const v64 total[2] = {v64_add(v64_hsums(lanes), zero), v64_add(v64_hsums(lanes + v64_LANES), zero)};
  const VEC all = V(of_doubles)(total);
  V(store)(high, all);
  V(store)(low, V(rests)(total, all));
}

#if ENDS_PAIRED
/* Results of n elements, at most two vectors. */
ACLPY_INLINE void FN(many_pair)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low) {
  VEC v[2], w[2];
  LDPN(g, n, v);
  LDPN(y, n, w);
  for (int k = 0; k < 2; ++k) v[k] = FN(result)(v[k], w[k], high, low, 0);
  STPN(out, v, n);
}
#endif
/* Results of two vectors. `kept`: what was kept of them. */
ACLPY_INLINE void FN(many_out_two)(const STORED *g, const STORED *y, STORED *out, VEC high, VEC low, const REAL *kept) {
  VEC v[2];
  for (int k = 0; k < 2; ++k) {
    const VEC w = KEEPS ? V(load)(kept + (2 + k) * LANES) : LDX(y, k);
    v[k] = FN(result)(KEEPS ? V(load)(kept + k * LANES) : LDX(g, k), w, high, low, 0);
  }
  STP(out, v);
}
#if PLAIN
/* Results up to the first whole line; returns where that begins. A store that two lines share counts as two, and so do
 * loads, and operands mostly lie as results do. */
ACLPY_INLINE int64_t FN(many_head)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low) {
  const int64_t head = aclpy_to_line(out, (int64_t)sizeof(STORED), n);
  if (head > 0) STN(out, FN(result)(LDN(g, head, 0), LDN(y, head, 0), high, low, 0), head);
  return head;
}
#endif
ACLPY_INLINE void FN(many_out)(const STORED *g, const STORED *y, STORED *out, int64_t n, FN(total) sum,
                               const REAL *kept) {
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  int64_t i = 0;
#if PLAIN
  if (n % LANES != 0) i = FN(many_head)(g, y, out, n, high, low);
#endif
#if KEEPS
  if (n > FN(many_own)) {
    for (; i + 4 * LANES <= n; i += 4 * LANES) FN(kept_out)(kept + 2 * i, out + i, high, low);
    FN(row_end)(g, y, out, i, n, sum, 0, 0);
    return;
  }
#endif
  for (; i + 2 * LANES <= n; i += 2 * LANES)
    FN(many_out_two)(g + i, y + i, out + i, high, low, kept + (KEEPS ? 2 * i : 0));
#if KEEPS
  for (; i < n; i += LANES) {
    const VEC v = FN(result)(V(load)(kept + 2 * i), V(load)(kept + 2 * i + LANES), high, low, 0);
    if (i + LANES <= n) ST(out + i, v);
    if (i + LANES > n) STN(out + i, v, n - i);
  }
#elif PLAIN
  for (; i + LANES <= n; i += LANES) ST(out + i, FN(result)(LD(g + i), LD(y + i), high, low, 0));
  if (i < n) STN(out + i, FN(result)(LDN(g + i, n - i, 0), LDN(y + i, n - i, 0), high, low, 0), n - i);
#else
  if (i < n) FN(many_pair)(g + i, y + i, out + i, n - i, high, low);
#endif
}

/* n: where the caller knows it, loops unroll. */
ACLPY_INLINE void FN(rows_many_of)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                   int64_t n, int logarithm) {
  const int64_t *pitch = geometry->pitch;
  _Alignas(64) REAL high[LANES], low[LANES], kept[KEEPS ? LANES * 2 * FN(many_most) : 1];
  for (int64_t row = begin; row < end; row += LANES) {
    const STORED *g = p->g + row * pitch[0], *y = p->y + row * pitch[1];
    const int64_t count = aclpy_min_i64(LANES, end - row);
    if (logarithm) FN(many_logs)(g, pitch, n, count, high, low);
    if (!logarithm) FN(many_dots)(g, y, pitch, n, count, high, low, kept);
    for (int64_t r = 0; r < count; ++r) {
      const STORED *h = g + r * pitch[0], *z = y + r * pitch[1];
      STORED *out = p->out + (row + r) * pitch[2];
      const FN(total) t = {high[r], low[r]};
      const REAL *own = kept + (KEEPS ? r * 2 * FN(many_most) : 0);
      if (logarithm) FN(row_end)(h, z, out, 0, n, t, 1, 0);
      if (!logarithm) FN(many_out)(h, z, out, n, t, own);
    }
  }
}
ACLPY_APART void FN(rows_many)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                               int logarithm) {
  if (logarithm) {
    FN(rows_many_of)(geometry, p, begin, end, geometry->n, 1);
  } else if (ENDS_PAIRED && geometry->n == 2 * LANES) {
    FN(rows_many_of)(geometry, p, begin, end, 2 * LANES, 0);
  } else if (PLAIN && geometry->n == 3 * LANES) {
    FN(rows_many_of)(geometry, p, begin, end, 3 * LANES, 0);
  } else if (geometry->n == 4 * LANES) {
    FN(rows_many_of)(geometry, p, begin, end, 4 * LANES, 0);
  } else {
    FN(rows_many_of)(geometry, p, begin, end, geometry->n, 0);
  }
}
#endif
