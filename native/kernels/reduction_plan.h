/* SPDX-License-Identifier: Apache-2.0
 * From a geometry to passes, items, grain, scratch and cost; shared by every kernel that reduces over an axis.
 */
#ifndef ACLPY_KERNELS_REDUCTION_PLAN_H
#define ACLPY_KERNELS_REDUCTION_PLAN_H

#include "rows_geometry.h"

/* Measured nanoseconds an element of one thread on one Zen 4 core, in cache and (streaming) from memory. */
ACLPY_INLINE double aclpy_forward_cost(int64_t real_bytes, int64_t stored_bytes, int streaming) {
  const double per_vector = real_bytes == 8 ? 9.0 : 4.5;
  const double compute = per_vector * (double)real_bytes / 64.0 * (ACLPY_ISA_RANK == 1 ? 5.0 : 4.0 - ACLPY_ISA_RANK);
  const double memory = streaming ? 0.1 * (double)stored_bytes : 0.0;
  return compute + memory;
}
ACLPY_INLINE double aclpy_backward_cost(int64_t real_bytes, int64_t stored_bytes, int streaming) {
  const double compute = (double)real_bytes / 64.0 * 2.0 * (ACLPY_ISA_RANK == 1 ? 5.0 : 4.0 - ACLPY_ISA_RANK);
  const double memory = streaming ? 0.15 * (double)stored_bytes : 0.0;
  return compute + memory;
}

/* `partial_bytes`: partial results of one column of one chunk. Returns 0, or -1 on overflow. */
ACLPY_INLINE int32_t aclpy_reduction_plan(const aclpy_geometry *g, aclpy_kernel_shape *shape, double element_ns,
                                          int64_t partial_bytes) {
  const double elements = (double)g->outer * (double)g->n * (double)g->inner;
  shape->cost_ns = 30.0 + 20.0 * (double)g->outer * (double)g->tiles + elements * element_ns;
  const int chunked = g->mode == ACLPY_ROW_CHUNKS || g->mode == ACLPY_TILE_CHUNKS;
  const int64_t columns = g->outer * g->inner;
  shape->passes = chunked ? 3 : 1;
  shape->items[0] = g->outer * g->tiles * (chunked ? g->chunks : 1);
  if (chunked) {
    shape->items[1] = columns;
    shape->items[2] = shape->items[0];
    int64_t partials = 0;
    if (__builtin_mul_overflow(columns, g->chunks + 2, &partials) ||
        __builtin_mul_overflow(partials, partial_bytes, &shape->scratch_bytes)) {
      return -1;
    }
  }
  for (int32_t p = 0; p < shape->passes; ++p) {
    const double combine = 10.0 * (double)columns * (double)g->chunks;
    shape->grain[p] = aclpy_grain(p == 1 ? combine : shape->cost_ns / (chunked ? 2.0 : 1.0), shape->items[p]);
  }
  return 0;
}

#endif
