/* SPDX-License-Identifier: Apache-2.0
 * From a geometry to passes, items, grain, scratch and cost; shared by every kernel that reduces over an axis.
 */
#ifndef ACLPY_KERNELS_REDUCTION_PLAN_H
#define ACLPY_KERNELS_REDUCTION_PLAN_H

#include "rows_geometry.h"

/* Measured nanoseconds an element of one thread, rows of about 1000 in cache: by instruction set on Zen 4, and with
 * AVX-512 on Zen 5, too, and on an Intel Xeon, which stands for all others. `half` and `wide` are the factors of 16-bit
 * types and of double. */
typedef struct aclpy_cost {
  double each, half, wide;
} aclpy_cost;
/* Rows of a table of costs. */
enum {
  ACLPY_COST_BASELINE,
  ACLPY_COST_AVX2,
  ACLPY_COST_ZEN_4,
  ACLPY_COST_ZEN_5,
  ACLPY_COST_OTHER,
  ACLPY_COSTS,
};
ACLPY_INLINE double aclpy_element_cost_(const aclpy_cost *costs, int64_t stored_bytes) {
  const int core = aclpy_core_kind();
  int row = core == ACLPY_CORE_ZEN_5   ? ACLPY_COST_ZEN_5
            : core == ACLPY_CORE_ZEN_3 ? ACLPY_COST_ZEN_4
                                       : ACLPY_COST_OTHER;
  if (ACLPY_ISA_RANK < 3) row = ACLPY_ISA_RANK == 1 ? ACLPY_COST_BASELINE : ACLPY_COST_AVX2;
  const aclpy_cost cost = costs[row];
  return cost.each * (stored_bytes == 8 ? cost.wide : stored_bytes == 2 ? cost.half : 1.0);
}

/* `streaming`: what memory adds where results go past the caches. */
ACLPY_INLINE double aclpy_forward_cost(int64_t stored_bytes, int streaming) {
  static const aclpy_cost costs[ACLPY_COSTS] = {
      {1.2, 1.5, 2.8}, {0.42, 1.5, 2.8}, {0.25, 1.5, 2.8}, {0.13, 1.05, 2.5}, {0.19, 1.2, 2.25}};
  return aclpy_element_cost_(costs, stored_bytes) + (streaming ? 0.05 * (double)stored_bytes : 0.0);
}
ACLPY_INLINE double aclpy_backward_cost(int64_t stored_bytes, int logarithm, int streaming) {
  static const aclpy_cost costs[ACLPY_COSTS] = {
      {0.17, 6.0, 2.5}, {0.13, 1.5, 2.5}, {0.14, 1.5, 2.5}, {0.075, 1.05, 1.4}, {0.115, 1.25, 1.9}};
  static const aclpy_cost log_costs[ACLPY_COSTS] = {
      {1.3, 1.9, 3.3}, {0.32, 1.9, 3.3}, {0.19, 1.9, 3.3}, {0.135, 1.4, 2.4}, {0.2, 1.4, 2.15}};
  return aclpy_element_cost_(logarithm ? log_costs : costs, stored_bytes) +
         (streaming ? 0.07 * (double)stored_bytes : 0.0);
}

/* `partial_bytes`: partial results of one column of one chunk. Returns 0, or -1 on overflow. */
ACLPY_INLINE int32_t aclpy_reduction_plan(const aclpy_geometry *g, aclpy_kernel_shape *shape, double element_ns,
                                          int64_t partial_bytes) {
  const double elements = (double)g->outer * (double)g->n * (double)g->inner;
  /* What a row takes by itself: less where several are worked on at once. */
  const double start_ns = g->mode == ACLPY_ROWS && g->n < 160 ? (double)g->n / 8.0 : 20.0;
  shape->cost_ns = 30.0 + start_ns * (double)g->outer * (double)g->tiles + elements * element_ns;
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
