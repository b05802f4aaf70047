/* SPDX-License-Identifier: Apache-2.0
 * How a kernel source announces its kernels: one table per source and ISA, found by tools/kernel_list.py.
 *
 *   ACLPY_KERNELS(softmax) = {{"softmax", "f32", ACLPY_ISA_NAME, run, plan}, ..., {0}};
 */
#ifndef ACLPY_KERNELS_DEFINE_H
#define ACLPY_KERNELS_DEFINE_H

#include "../simd/isa.h"
#include "kernel.h"

/* The sanitizers' kernels (tests/native/sanitize.mk): parts of kernels stay functions of their own. It is the same code
 * to check, but once instead of in every loop, and compiles in a tenth of the time. */
#ifdef ACLPY_PARTS_APART
#undef ACLPY_INLINE
#define ACLPY_INLINE static inline __attribute__((unused))
#endif

#define ACLPY_ISA_NAME ACLPY_STRING(ACLPY_KERNEL_ISA)
#define ACLPY_KERNELS_NAME_(source, isa) ACLPY_PASTE2(aclpy_kernels_##source##_, isa)
#define ACLPY_KERNELS(source)                                                \
  extern const aclpy_kernel ACLPY_KERNELS_NAME_(source, ACLPY_KERNEL_ISA)[]; \
  const aclpy_kernel ACLPY_KERNELS_NAME_(source, ACLPY_KERNEL_ISA)[]

ACLPY_INLINE int64_t aclpy_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
ACLPY_INLINE int64_t aclpy_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
ACLPY_INLINE int64_t aclpy_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Bytes of the whole problem of which a launch that moves `bytes` is a part. */
ACLPY_INLINE int64_t aclpy_whole_bytes(const aclpy_kernel_args *args, int64_t bytes) {
  int64_t whole = bytes;
  if (args->parts > 1 && __builtin_mul_overflow(bytes, args->parts, &whole)) return INT64_MAX;
  return whole;
}

/* Kernels of rows find the maximum of the next row on the way: by itself a row takes a fourth longer. */
enum { ACLPY_ROWS_AT_ONCE = 4 };

/* Items of one thread should be worth more than handing them over costs. */
ACLPY_INLINE int64_t aclpy_grain(double cost_ns, int64_t items) {
  const double worth_ns = 2500.0;
  const double each = items > 0 ? cost_ns / (double)items : cost_ns;
  if (each <= 0.0 || each >= worth_ns) return 1;
  return aclpy_min_i64(aclpy_max_i64((int64_t)(worth_ns / each), 1), aclpy_max_i64(items, 1));
}

#endif
