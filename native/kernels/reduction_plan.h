/* SPDX-License-Identifier: Apache-2.0
 * From a geometry to passes, items, grain, scratch and cost; shared by every kernel that reduces over an axis.
 */
#ifndef ACLPY_KERNELS_REDUCTION_PLAN_H
#define ACLPY_KERNELS_REDUCTION_PLAN_H

#include "rows_geometry.h"

/* Measured nanoseconds an element of one thread on one Zen 4 core, rows of 1000 in cache, and what memory adds where
 * results are streamed. `half` and `wide` are the factors of 16-bit types and of double. With AVX-512 Zen 5 takes half
 * of it. */
ACLPY_INLINE int aclpy_costs_half_(void) { return ACLPY_ISA_RANK == 3 && aclpy_core_kind() == ACLPY_CORE_ZEN_5; }
ACLPY_INLINE double aclpy_element_cost_(double baseline, double avx2, double avx512, double half, double wide,
                                        int64_t stored_bytes) {
  const double each = ACLPY_ISA_RANK == 1 ? baseline : ACLPY_ISA_RANK == 2 ? avx2 : avx512;
  return each * (stored_bytes == 8 ? wide : stored_bytes == 2 ? half : 1.0);
}
ACLPY_INLINE double aclpy_forward_cost(int64_t stored_bytes, int streaming) {
  const double memory = streaming ? 0.05 * (double)stored_bytes : 0.0;
  if (aclpy_costs_half_()) return aclpy_element_cost_(0.0, 0.0, 0.13, 1.05, 2.5, stored_bytes) + memory;
  return aclpy_element_cost_(1.2, 0.42, 0.25, 1.5, 2.8, stored_bytes) + memory;
}
ACLPY_INLINE double aclpy_backward_cost(int64_t stored_bytes, int logarithm, int streaming) {
  const double memory = streaming ? 0.07 * (double)stored_bytes : 0.0;
  const int half = aclpy_costs_half_();
  if (half && logarithm) return aclpy_element_cost_(0.0, 0.0, 0.135, 1.4, 2.4, stored_bytes) + memory;
  if (half) return aclpy_element_cost_(0.0, 0.0, 0.075, 1.05, 1.4, stored_bytes) + memory;
  if (logarithm) return aclpy_element_cost_(1.3, 0.32, 0.19, 1.9, 3.3, stored_bytes) + memory;
  return aclpy_element_cost_(0.17, 0.13, 0.14, ACLPY_ISA_RANK == 1 ? 6.0 : 1.5, 2.5, stored_bytes) + memory;
}

/* `partial_bytes`: partial results of one column of one chunk. Returns 0, or -1 on overflow. */
ACLPY_INLINE int32_t aclpy_reduction_plan(const aclpy_geometry *g, aclpy_kernel_shape *shape, double element_ns,
                                          int64_t partial_bytes) {
  const double elements = (double)g->outer * (double)g->n * (double)g->inner;
  shape->cost_ns = 30.0 + 20.0 * (double)g->outer * (double)g->tiles + elements * element_ns;
  const int chunked = g->mode == ACLPY_ROW_CHUNKS || g->mode == ACLPY_TILE_CHUNKS;
  const int64_t columns = g->outer * g->inner;
  shape->passes = chunked ? 3 : 1;
  shape->order = chunked ? 0 : 1 + g->mode; /* how the sums of a row run */
  shape->items[0] = g->outer * g->tiles * (chunked ? g->chunks : 1);
  if (g->mode == ACLPY_ROW_CHUNKS) {
    shape->rounds = (int32_t)aclpy_ceil_div(g->outer, aclpy_max_i64(1, g->turn));
    shape->items[0] = g->turn * g->chunks;
  }
  if (chunked) {
    shape->items[1] = g->mode == ACLPY_ROW_CHUNKS ? g->turn : columns;
    shape->items[2] = shape->items[0];
    int64_t partials = 0;
    if (__builtin_mul_overflow(columns, g->chunks + 2, &partials) ||
        __builtin_mul_overflow(partials, partial_bytes, &shape->scratch_bytes)) {
      return -1;
    }
  }
  const double rounds = shape->rounds > 1 ? (double)shape->rounds : 1.0;
  for (int32_t p = 0; p < shape->passes; ++p) {
    const double cost = p == 1 ? 10.0 * (double)columns * (double)g->chunks : shape->cost_ns / (chunked ? 2.0 : 1.0);
    shape->grain[p] = aclpy_grain(cost / rounds, shape->items[p]);
  }
  return 0;
}

#endif
