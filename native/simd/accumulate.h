/* SPDX-License-Identifier: Apache-2.0
 * Sums of vectors in double precision: as many double lanes as the vector has lanes.
 *
 * Where one term is 1 and the others are small, the logarithm of a sum needs the small ones exactly; float sums lose
 * them to the 1. The additions run beside the multiplications of exp and cost little. The gradients' sums are double
 * for the same reason: what is left when a gradient and the sum cancel must not be the sum's rounding. Sums of doubles
 * keep what each addition rounds off: thousands of terms too small for a large one would all be rounded the same way.
 */
#ifndef ACLPY_SIMD_ACCUMULATE_H
#define ACLPY_SIMD_ACCUMULATE_H

#include "isa.h"

typedef struct v32_acc {
  v64 low, high;
} v32_acc;
typedef struct v64_acc {
  v64 all, rest;
} v64_acc;

/* The same of single numbers. */
typedef struct aclpy_sum {
  double all, rest;
} aclpy_sum;

/* Where sums of doubles lie in memory, what they rounded off lies so many further on; sums of floats have no such rest.
 */
enum { ACLPY_REST_AT = 528 };

ACLPY_INLINE v32_acc v32_acc_zero(void) {
  const v32_acc a = {v64_set1(0.0), v64_set1(0.0)};
  return a;
}
ACLPY_INLINE v32_acc v32_acc_add(v32_acc a, v32 v) {
  a.low = v64_add(a.low, v32_widen_low(v));
  a.high = v64_add(a.high, v32_widen_high(v));
  return a;
}
ACLPY_INLINE v32_acc v32_acc_join(v32_acc a, v32_acc b) {
  a.low = v64_add(a.low, b.low);
  a.high = v64_add(a.high, b.high);
  return a;
}
/* What is left to add of a and b: the lanes of one vector. */
ACLPY_INLINE v64 v32_acc_lanes(v32_acc a, v32_acc b) { return v64_add(v64_add(a.low, b.low), v64_add(a.high, b.high)); }
ACLPY_INLINE double v32_acc_sum(v32_acc a, v32_acc b) { return v64_hsum(v32_acc_lanes(a, b)); }
/* `order`: of the halves of two sums. */
ACLPY_INLINE void v32_acc_order(v32_acc *two, void (*order)(v64 *)) {
  v64 halves[4] = {two[0].low, two[0].high, two[1].low, two[1].high};
  order(halves);
  for (int k = 0; k < 2; ++k) {
    two[k].low = halves[2 * k];
    two[k].high = halves[2 * k + 1];
  }
}
/* `order`: of the halves of one. */
ACLPY_INLINE void v32_acc_order_halves(v32_acc *a, void (*order)(v64 *, v64 *)) { order(&a->low, &a->high); }
ACLPY_INLINE v32_acc v32_acc_load(const double *p) {
  const v32_acc a = {v64_load(p), v64_load(p + v64_LANES)};
  return a;
}
ACLPY_INLINE void v32_acc_store(double *p, v32_acc a) {
  v64_store(p, a.low);
  v64_store(p + v64_LANES, a.high);
}
/* To where no rests are. */
ACLPY_INLINE void v32_acc_store_total(double *p, v32_acc a) { v32_acc_store(p, a); }

ACLPY_INLINE double aclpy_dot_total(double sum, double rest) {
  return sum - sum == 0.0 ? sum + rest : sum; /* not where it is infinite or NaN */
}
ACLPY_INLINE aclpy_sum aclpy_sum_add(aclpy_sum s, double v) {
  const double next = s.all + v, taken = next - s.all;
  s.rest += (s.all - (next - taken)) + (v - taken);
  s.all = next;
  return s;
}
ACLPY_INLINE double aclpy_sum_total(aclpy_sum s) { return aclpy_dot_total(s.all, s.rest); }

ACLPY_INLINE v64_acc v64_acc_zero(void) {
  const v64_acc a = {v64_set1(0.0), v64_set1(0.0)};
  return a;
}
/* The rounding of a sum is exactly what differences of it and its terms give; NaN once the sum is infinite. */
ACLPY_INLINE v64_acc v64_acc_add(v64_acc a, v64 v) {
  const v64 next = v64_add(a.all, v), taken = v64_sub(next, a.all);
  const v64 lost = v64_add(v64_sub(a.all, v64_sub(next, taken)), v64_sub(v, taken));
  a.all = next;
  a.rest = v64_add(a.rest, lost);
  return a;
}
ACLPY_INLINE v64_acc v64_acc_join(v64_acc a, v64_acc b) {
  a = v64_acc_add(a, b.all);
  a.rest = v64_add(a.rest, b.rest);
  return a;
}
/* Of finite terms, or NaN. */
ACLPY_INLINE v64 v64_acc_lanes(v64_acc a, v64_acc b) {
  a = v64_acc_join(a, b);
  return v64_add(a.all, a.rest);
}
/* The same sum, or what it is without rests where a term is infinite. */
ACLPY_INLINE double v64_acc_sum(v64_acc a, v64_acc b) {
  const double sum = v64_hsum(v64_acc_lanes(a, b));
  return ACLPY_LIKELY(sum - sum == 0.0) ? sum : v64_hsum(v64_add(a.all, b.all));
}
ACLPY_INLINE void v64_acc_order(v64_acc *two, void (*order)(v64 *)) { (void)two, (void)order; }
ACLPY_INLINE void v64_acc_order_halves(v64_acc *a, void (*order)(v64 *, v64 *)) { (void)a, (void)order; }
ACLPY_INLINE v64_acc v64_acc_load(const double *p) {
  const v64_acc a = {v64_load(p), v64_load(p + ACLPY_REST_AT)};
  return a;
}
ACLPY_INLINE void v64_acc_store(double *p, v64_acc a) {
  v64_store(p, a.all);
  v64_store(p + ACLPY_REST_AT, a.rest);
}
ACLPY_INLINE void v64_acc_store_total(double *p, v64_acc a) { v64_store(p, v64_add(a.all, a.rest)); }

/* Sums of products in twice the precision of a lane: `rest` gathers what each rounding of `sum` loses, exactly. That is
 * cheaper than converting both factors to double. Once a sum is infinite its rest is NaN: see aclpy_dot_total. */
typedef struct v32_dot {
#if ACLPY_FUSES
  v32 sum, rest;
#else
  v32_acc sum;
#endif
} v32_dot;
typedef struct v64_dot {
  v64_acc sum;
} v64_dot;

#if ACLPY_FUSES
ACLPY_INLINE v32_dot v32_dot_zero(void) {
  const v32_dot d = {v32_set1(0), v32_set1(0)};
  return d;
}
/* Some additions are written as products with 1: multiply-adds have pipes of their own. The product is rounded before
 * it is added: a sum of what has more bits than a float may have bits that neither it nor the one before it shows, and
 * then differences of them are not exact. What the product lost comes with the rest. `exact`: it has no more bits. */
ACLPY_INLINE v32_dot v32_dot_add(v32_dot d, v32 v, v32 w, int exact) {
  const v32 one = v32_set1(1.0f);
  const v32 next = exact ? v32_fma(v, w, d.sum) : v32_add(d.sum, v32_mul(v, w));
  const v32 taken = v32_sub(next, d.sum);
  const v32 lost = v32_sub(d.sum, v32_fnma(taken, one, next));
  d.rest = v32_fnma(v32_fnma(v, w, taken), one, v32_add(lost, d.rest));
  d.sum = next;
  return d;
}
/* `order` brings four vectors' lanes into another order. */
ACLPY_INLINE void v32_dot_order(v32_dot *four, void (*order)(v32 *)) {
  v32 sum[4], rest[4];
  for (int k = 0; k < 4; ++k) sum[k] = four[k].sum, rest[k] = four[k].rest;
  order(sum);
  order(rest);
  for (int k = 0; k < 4; ++k) four[k].sum = sum[k], four[k].rest = rest[k];
}
/* The two parts of a sum, in double lanes. */
ACLPY_INLINE v32_acc v32_dot_sums(v32_dot d) { return v32_acc_add(v32_acc_zero(), d.sum); }
ACLPY_INLINE v32_acc v32_dot_rests(v32_dot d) { return v32_acc_add(v32_acc_zero(), d.rest); }
#else
ACLPY_INLINE v32_dot v32_dot_zero(void) {
  const v32_dot d = {v32_acc_zero()};
  return d;
}
ACLPY_INLINE v32_dot v32_dot_add(v32_dot d, v32 v, v32 w, int exact) {
  (void)exact;
  d.sum.low = v64_fma(v32_widen_low(v), v32_widen_low(w), d.sum.low);
  d.sum.high = v64_fma(v32_widen_high(v), v32_widen_high(w), d.sum.high);
  return d;
}
ACLPY_INLINE v32_acc v32_dot_sums(v32_dot d) { return d.sum; }
ACLPY_INLINE v32_acc v32_dot_rests(v32_dot d) {
  (void)d;
  return v32_acc_zero();
}
#endif

ACLPY_INLINE v64_dot v64_dot_zero(void) {
  const v64_dot d = {v64_acc_zero()};
  return d;
}
/* A product's own rounding is as small beside it as any result's. */
ACLPY_INLINE v64_dot v64_dot_add(v64_dot d, v64 v, v64 w, int exact) {
  (void)exact;
  d.sum = v64_acc_add(d.sum, v64_mul(v, w));
  return d;
}
ACLPY_INLINE v64_acc v64_dot_sums(v64_dot d) { return d.sum; }
ACLPY_INLINE v64_acc v64_dot_rests(v64_dot d) {
  (void)d;
  return v64_acc_zero();
}

/* All of `count` sums: the rests may be added as they are, they are small. */
#if ACLPY_FUSES
ACLPY_INLINE double v32_dot_total(const v32_dot *d, int count) {
  v32_acc sum = v32_dot_sums(d[0]);
  v32 rest = d[0].rest;
  for (int k = 1; k < count; ++k) sum = v32_acc_add(sum, d[k].sum);
  for (int k = 1; k < count; ++k) rest = v32_add(rest, d[k].rest);
  return aclpy_dot_total(v64_hsum(v64_add(sum.low, sum.high)), (double)v32_hsum(rest));
}
#else
ACLPY_INLINE double v32_dot_total(const v32_dot *d, int count) {
  v32_acc sum = d[0].sum;
  for (int k = 1; k < count; ++k) sum = v32_acc_join(sum, d[k].sum);
  return v64_hsum(v64_add(sum.low, sum.high));
}
#endif
ACLPY_INLINE double v64_dot_total(const v64_dot *d, int count) {
  v64_acc sum = d[0].sum;
  for (int k = 1; k < count; ++k) sum = v64_acc_join(sum, d[k].sum);
  return v64_acc_sum(sum, v64_acc_zero());
}

#endif
