/* SPDX-License-Identifier: Apache-2.0
 * Sums of vectors in double precision: as many double lanes as the vector has lanes.
 *
 * Where one term is 1 and the others are small, the logarithm of a sum needs the small ones exactly; float sums lose
 * them to the 1. The additions run beside the multiplications of exp and cost little.
 */
#ifndef ACLPY_SIMD_ACCUMULATE_H
#define ACLPY_SIMD_ACCUMULATE_H

#include "isa.h"

typedef struct v32_acc {
  v64 low, high;
} v32_acc;
typedef struct v64_acc {
  v64 all;
} v64_acc;

ACLPY_INLINE v32_acc v32_acc_zero(void) {
  const v32_acc a = {v64_set1(0.0), v64_set1(0.0)};
  return a;
}
ACLPY_INLINE v32_acc v32_acc_add(v32_acc a, v32 v) {
  a.low = v64_add(a.low, v32_widen_low(v));
  a.high = v64_add(a.high, v32_widen_high(v));
  return a;
}
ACLPY_INLINE double v32_acc_sum(v32_acc a, v32_acc b) {
  return v64_hsum(v64_add(v64_add(a.low, b.low), v64_add(a.high, b.high)));
}
ACLPY_INLINE v32_acc v32_acc_load(const double *p) {
  const v32_acc a = {v64_load(p), v64_load(p + v64_LANES)};
  return a;
}
ACLPY_INLINE void v32_acc_store(double *p, v32_acc a) {
  v64_store(p, a.low);
  v64_store(p + v64_LANES, a.high);
}

ACLPY_INLINE v64_acc v64_acc_zero(void) {
  const v64_acc a = {v64_set1(0.0)};
  return a;
}
ACLPY_INLINE v64_acc v64_acc_add(v64_acc a, v64 v) {
  a.all = v64_add(a.all, v);
  return a;
}
ACLPY_INLINE double v64_acc_sum(v64_acc a, v64_acc b) { return v64_hsum(v64_add(a.all, b.all)); }
ACLPY_INLINE v64_acc v64_acc_load(const double *p) {
  const v64_acc a = {v64_load(p)};
  return a;
}
ACLPY_INLINE void v64_acc_store(double *p, v64_acc a) { v64_store(p, a.all); }

#endif
