/* SPDX-License-Identifier: Apache-2.0
 * The sum of the products of one block, nearly as good as double's at little more than the cost of float's.
 *
 * A sum that starts at ANCHOR stays within one binade while it moves by less than a third of ANCHOR. Then every step
 * of it is a multiple of one and the same unit: what a step took of the product is the exact difference of two sums,
 * and what it left, less than a unit, is gathered in `rest`. That is four operations a vector instead of the seven of
 * v32_dot, whose sums may have any size. `seen` has a sign or exponent bit where a sum left the binade (large products,
 * infinities, NaN): then v32_products_hold says no, and the caller takes v32_dot for this block.
 *
 * The error: an addition to `rest` rounds to 2^-24 of it, and a product adds at most half a unit (2^-14) to it, at most
 * itself where it is smaller. So of rows of 65,536 what rounds stays far below 1e-7, the bound of a difference that
 * cancels. A larger ANCHOR does not do: with 1.5 * 2^16 thousands of products below its unit, 2^-7, made some 0.1 of a
 * sum of 10, with the precision of a float sum, and gradients near one number were 9 times their bound apart.
 */
#ifndef ACLPY_SIMD_PRODUCTS_H
#define ACLPY_SIMD_PRODUCTS_H

#include "accumulate.h"

enum { ACLPY_CHAINS = 4 };

#if ACLPY_FUSES
#define ACLPY_ANCHOR 0x1.8p10f
#define ACLPY_ANCHOR_BITS 0x44c00000u
#define ACLPY_ANCHOR_UNIT 0x1p-13 /* of its binade */
typedef struct v32_products {
  v32 sum[ACLPY_CHAINS], rest[ACLPY_CHAINS];
  v32 seen;
} v32_products;

ACLPY_INLINE v32_products v32_products_zero(void) {
  v32_products p;
  for (int k = 0; k < ACLPY_CHAINS; ++k) p.sum[k] = v32_set1(ACLPY_ANCHOR);
  for (int k = 0; k < ACLPY_CHAINS; ++k) p.rest[k] = v32_set1(0);
  p.seen = v32_set1(0);
  return p;
}
/* w is used twice: left to itself, the compiler loads it twice, and loads are what this is short of. `converts`: the
 * pipes that add convert half floats; multiply-adds have others. */
ACLPY_INLINE void v32_products_step_(v32_products *p, int k, v32 v, v32 w, int converts) {
  w = v32_in_register(w);
  const v32 next = v32_fma(v, w, p->sum[k]);
  const v32 taken = v32_sub(p->sum[k], next);
  const v32 left = v32_fma(v, w, taken);
  p->rest[k] = converts ? v32_fma(left, v32_set1(1), p->rest[k]) : v32_add(p->rest[k], left);
  p->sum[k] = next;
}
/* One vector of products, to chain k. */
ACLPY_INLINE void v32_products_add(v32_products *p, int k, v32 v, v32 w) {
  v32_products_step_(p, k, v, w, 0);
  p->seen = v32_bits_or(p->seen, v32_bits_unlike(p->sum[k], p->sum[k], v32_set1(ACLPY_ANCHOR)), p->seen);
}
/* One vector of products to each chain. */
ACLPY_INLINE void v32_products_quad(v32_products *p, const v32 *v, const v32 *w, int converts) {
  const v32 anchor = v32_set1(ACLPY_ANCHOR);
  for (int k = 0; k < ACLPY_CHAINS; ++k) v32_products_step_(p, k, v[k], w[k], converts);
  p->seen = v32_bits_or(p->seen, v32_bits_unlike(p->sum[0], p->sum[1], anchor),
                        v32_bits_unlike(p->sum[2], p->sum[3], anchor));
}
/* To two chains. */
ACLPY_INLINE void v32_products_two(v32_products *p, const v32 *v, const v32 *w, int converts) {
  for (int k = 0; k < 2; ++k) v32_products_step_(p, k, v[k], w[k], converts);
  const v32 unlike = v32_bits_unlike(p->sum[0], p->sum[1], v32_set1(ACLPY_ANCHOR));
  p->seen = v32_bits_or(p->seen, unlike, unlike);
}
/* `order` brings four vectors' lanes into another order. */
ACLPY_INLINE void v32_products_order(v32_products *p, void (*order)(v32 *)) {
  order(p->sum);
  order(p->rest);
}
ACLPY_INLINE int v32_products_hold(const v32_products *p) { return !v32_bits_sized(p->seen); }
/* Of the first `count` chains, where they hold. Their sums less ANCHOR are so many units that float adds them exactly;
 * the rests may be added as they are, they are small. */
ACLPY_INLINE v32 v32_products_rests(const v32_products *p, int count) {
  v32 rest = p->rest[0];
  for (int k = 1; k < count; ++k) rest = v32_add(rest, p->rest[k]);
  return rest;
}
ACLPY_INLINE v64 v32_products_lanes(const v32_products *p, int count, v32 *rest) {
  const v32 anchor = v32_set1(ACLPY_ANCHOR);
  v32 sum = v32_sub(p->sum[0], anchor);
  *rest = v32_products_rests(p, count);
  for (int k = 1; k < count; ++k) sum = v32_add(sum, v32_sub(p->sum[k], anchor));
  return v64_add(v32_widen_low(sum), v32_widen_high(sum));
}
ACLPY_INLINE double v32_products_total(const v32_products *p, int count) {
  v32 rest;
  const v64 sum = v32_products_lanes(p, count, &rest);
  return v64_hsum(sum) + (double)v32_hsum(rest);
}
#else
typedef struct v32_products {
  v32_dot chain[ACLPY_CHAINS];
} v32_products;

ACLPY_INLINE v32_products v32_products_zero(void) {
  v32_products p;
  for (int k = 0; k < ACLPY_CHAINS; ++k) p.chain[k] = v32_dot_zero();
  return p;
}
ACLPY_INLINE void v32_products_add(v32_products *p, int k, v32 v, v32 w) {
  p->chain[k] = v32_dot_add(p->chain[k], v, w, 0);
}
ACLPY_INLINE void v32_products_quad(v32_products *p, const v32 *v, const v32 *w, int converts) {
  (void)converts;
  for (int k = 0; k < ACLPY_CHAINS; ++k) v32_products_add(p, k, v[k], w[k]);
}
ACLPY_INLINE void v32_products_order(v32_products *p, void (*order)(v32 *)) { (void)p, (void)order; }
ACLPY_INLINE int v32_products_hold(const v32_products *p) {
  (void)p;
  return 1;
}
ACLPY_INLINE double v32_products_total(const v32_products *p, int count) { return v32_dot_total(p->chain, count); }
#endif

/* Of doubles: what a block adds to a chain, ACLPY_CHAIN_STEPS at most, rounds off less than 1e-14 of it. */
enum { ACLPY_CHAIN_STEPS = 64 };
typedef struct v64_products {
  v64 chain[ACLPY_CHAINS];
} v64_products;

ACLPY_INLINE v64_products v64_products_zero(void) {
  v64_products p;
  for (int k = 0; k < ACLPY_CHAINS; ++k) p.chain[k] = v64_set1(0.0);
  return p;
}
ACLPY_INLINE void v64_products_add(v64_products *p, int k, v64 v, v64 w) { p->chain[k] = v64_fma(v, w, p->chain[k]); }
ACLPY_INLINE void v64_products_quad(v64_products *p, const v64 *v, const v64 *w, int converts) {
  (void)converts;
  for (int k = 0; k < ACLPY_CHAINS; ++k) v64_products_add(p, k, v[k], w[k]);
}
ACLPY_INLINE void v64_products_order(v64_products *p, void (*order)(v64 *)) { (void)p, (void)order; }
ACLPY_INLINE int v64_products_hold(const v64_products *p) {
  (void)p;
  return 1;
}
ACLPY_INLINE double v64_products_total(const v64_products *p, int count) {
  v64 sum = p->chain[0];
  for (int k = 1; k < count; ++k) sum = v64_add(sum, p->chain[k]);
  return v64_hsum(sum);
}

#endif
