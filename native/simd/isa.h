/* SPDX-License-Identifier: Apache-2.0
 * Picks the vector vocabulary of the ISA this translation unit is compiled for (-DACLPY_KERNEL_ISA=<name>).
 *
 * Every vocabulary offers the same names, so that a kernel is written once:
 *   v32 / v64           a vector of float / double, v32_LANES / v64_LANES of them
 *   v32_set1 load store stream add sub mul div fma fnma max min pick_greater any_greater hsum hmax first scale
 *   v32_larger smaller      a > b ? a : b, a < b ? a : b on every ISA: b where either is NaN
 *   ld_<t> ldn_<t> st_<t> stn_<t> nt_<t>   memory <-> vector for t = f32 f16 bf16 f64: whole vector, the first n lanes
 *                       (the rest filled), whole vector past the caches (aligned to a whole vector)
 *   quad_<t>            one of four whole vectors (quads.h)
 * max(a, b) and min(a, b) give b where either is NaN on x86 (NEON: NaN); callers must be right with both.
 * fma rounds once where the ISA can, twice in the x86 baseline.
 */
#ifndef ACLPY_SIMD_ISA_H
#define ACLPY_SIMD_ISA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ACLPY_PASTE2_(a, b) a##b
#define ACLPY_PASTE2(a, b) ACLPY_PASTE2_(a, b)
#define ACLPY_PASTE3_(a, b, c) a##b##c
#define ACLPY_PASTE3(a, b, c) ACLPY_PASTE3_(a, b, c)
#define ACLPY_STRING_(a) #a
#define ACLPY_STRING(a) ACLPY_STRING_(a)

#define ACLPY_INLINE static inline __attribute__((always_inline, unused))
/* A function that stays one: registers are shared out for a loop alone, and what is rare, or used by several loops,
 * stands once in an object (benchmarks/NOTES-build.md). */
#define ACLPY_APART static __attribute__((noinline, unused))
#define ACLPY_LIKELY(x) __builtin_expect(!!(x), 1)
/* Into the second-level cache; any address is allowed. */
#define ACLPY_PREFETCH(address) __builtin_prefetch((const void *)(uintptr_t)(address), 0, 2)
/* Into the first-level one. */
#define ACLPY_PREFETCH_NEAR(address) __builtin_prefetch((const void *)(uintptr_t)(address), 0, 3)
/* To be written. */
#define ACLPY_PREFETCH_OWN(address) __builtin_prefetch((const void *)(uintptr_t)(address), 1, 3)

/* On x86 GCC is to put instructions in order only after registers have been given out: in all functions from here on;
 * in one. native/CMakeLists.txt asks for the other. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define ACLPY_ORDER_LATE _Pragma("GCC optimize(\"no-schedule-insns\")")
#define ACLPY_ORDERED_LATE __attribute__((optimize("no-schedule-insns")))
#else
#define ACLPY_ORDER_LATE
#define ACLPY_ORDERED_LATE
#endif

#ifndef ACLPY_KERNEL_ISA
#error "define ACLPY_KERNEL_ISA: -DACLPY_KERNEL_ISA=baseline|avx2|avx512 (tools/kernel_list.py --flags <isa> prints it)"
#endif

#define ACLPY_ISA_RANK_baseline 1
#define ACLPY_ISA_RANK_avx2 2
#define ACLPY_ISA_RANK_avx512 3
#define ACLPY_ISA_RANK ACLPY_PASTE2(ACLPY_ISA_RANK_, ACLPY_KERNEL_ISA)

/* 1 where fma rounds once. */
#if ACLPY_ISA_RANK > 1 || (defined(__aarch64__) && !defined(ACLPY_SIMD_PORTABLE))
#define ACLPY_FUSES 1
#else
#define ACLPY_FUSES 0
#endif

#include "half.h"

#if ACLPY_ISA_RANK == 3
#include "avx512.h"
#elif ACLPY_ISA_RANK == 2
#include "avx2.h"
#elif ACLPY_ISA_RANK == 1 && defined(ACLPY_SIMD_PORTABLE) /* for tests: what other processors get */
#include "generic.h"
#elif ACLPY_ISA_RANK == 1 && defined(__x86_64__)
#include "sse2.h"
#elif ACLPY_ISA_RANK == 1 && defined(__aarch64__)
#include "neon.h"
#elif ACLPY_ISA_RANK == 1
#include "generic.h"
#else
#error "unknown ACLPY_KERNEL_ISA"
#endif
#include "quads.h"

#endif
