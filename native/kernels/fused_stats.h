/* SPDX-License-Identifier: Apache-2.0
 * softmax_stats: params [outer, n, inner, flags, type of x]; y[outer, inner] = max + ln(sum(exp(x - max))) over n,
 * float.
 *
 * A row of only -inf gives NaN, or 0 where such rows count as zeros (flags, post_ops_codes.h).
 */
#ifndef ACLPY_KERNELS_FUSED_STATS_H
#define ACLPY_KERNELS_FUSED_STATS_H

#include "fused_chunks.h"

static int32_t stats_plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_fused_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 5 || aclpy_fused_geometry_make(&g, params) != 0 || params[3] < 0) return -1;
  if (aclpy_type_bytes(params[4]) == 0) return -1;
  aclpy_fused_chunks(&g);
  shape->passes = 2;
  shape->items[0] = g.outer * g.chunks * g.tiles;
  shape->items[1] = aclpy_ceil_div(g.outer * g.inner, ACLPY_FUSED_COLUMNS);
  shape->scratch_bytes = aclpy_fused_partial_bytes(&g);
  if (shape->scratch_bytes < 0) return -1;
  shape->thread_scratch_bytes = aclpy_fused_own_bytes(&g);
  const double each = ACLPY_ISA_RANK == 1 ? 1.2 : 0.4;
  shape->cost_ns = 60.0 + 20.0 * (double)shape->items[0] + (double)g.outer * (double)g.n * (double)g.inner * each;
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  shape->grain[1] = aclpy_grain(20.0 * (double)(g.outer * g.inner) * (double)g.chunks, shape->items[1]);
  return 0;
}

static void stats_run_(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  aclpy_fused f;
  memset(&f, 0, sizeof f);
  if (aclpy_fused_geometry_make(&f.g, args->params) != 0 || f.g.outer == 0) return;
  aclpy_fused_chunks(&f.g);
  f.flags = args->params[3];
  f.post.source = args->params[4];
  f.from = aclpy_type_bytes(f.post.source);
  f.x = args->addr[0];
  if (pass == 0) {
    fused_reduce_(&f, args->scratch, begin, end, (float *)scratch);
    return;
  }
  const fused_partials p = fused_partials_(&f.g, args->scratch);
  float *y = (float *)(void *)args->addr[1];
  const int64_t last = aclpy_min_i64(end * ACLPY_FUSED_COLUMNS, p.columns);
  for (int64_t i = begin * ACLPY_FUSED_COLUMNS; i < last; ++i) {
    float max = 0.0f;
    const double sum = fused_combine_(&f, &p, i, &max);
    const int zero = (f.flags & ACLPY_FUSED_ZERO_ROWS) && sum == 0.0;
    y[i] = zero ? 0.0f : (float)((double)max + aclpy_log_f64(sum));
  }
}

#endif
