/* SPDX-License-Identifier: Apache-2.0
 * Softmax over an axis before the last one: what is done to some rows of a tile at a time. They are added in pairs in
 * float, the pairs in double, as in the plain kernel.
 */
#ifndef ACLPY_KERNELS_FUSED_COLUMNS_H
#define ACLPY_KERNELS_FUSED_COLUMNS_H

#include "fused_runs.h"

enum { ACLPY_FUSED_PAD = ACLPY_FUSED_WIDTH + 16 };

typedef struct fused_columns {
  _Alignas(64) float max[ACLPY_FUSED_PAD]; /* then what is subtracted */
  float factor[ACLPY_FUSED_PAD];
  float last[ACLPY_FUSED_PAD]; /* the factors, where rows are finished before they are written, by 1 then */
  double sum[ACLPY_FUSED_PAD];
} fused_columns;

ACLPY_INLINE void columns_begin_(fused_columns *s, int64_t stride) {
  for (int64_t c = 0; c < stride; ++c) {
    s->max[c] = -INFINITY;
    s->sum[c] = 0.0;
  }
}

/* Columns of a group that are the same column. */
ACLPY_INLINE void columns_merge_maxima_(const aclpy_fused_geometry *g, float *max) {
  for (int64_t k = 1; k < g->group; ++k) {
    for (int64_t j = 0; j < g->inner; ++j) max[j] = max[k * g->inner + j] > max[j] ? max[k * g->inner + j] : max[j];
  }
  for (int64_t k = 1; k < g->group; ++k) memcpy(max + k * g->inner, max, (size_t)g->inner * sizeof *max);
}
ACLPY_INLINE void columns_merge_sums_(const aclpy_fused_geometry *g, double *sum) {
  for (int64_t k = 1; k < g->group; ++k) {
    for (int64_t j = 0; j < g->inner; ++j) sum[j] += sum[k * g->inner + j];
  }
  for (int64_t k = 1; k < g->group; ++k) memcpy(sum + k * g->inner, sum, (size_t)g->inner * sizeof *sum);
}

/* Maxima are known. */
ACLPY_INLINE void columns_shift_(const aclpy_fused *f, fused_columns *s, int64_t stride) {
  columns_merge_maxima_(&f->g, s->max);
  for (int64_t c = 0; c < stride; ++c) s->max[c] = fused_shift_(f->flags, s->max[c]);
}
/* Sums are known. */
ACLPY_APART void columns_factors_(const aclpy_fused *f, fused_columns *s, int64_t stride) {
  const int logarithm = (f->flags & ACLPY_FUSED_LOG) != 0, zeros = (f->flags & ACLPY_FUSED_ZERO_ROWS) != 0;
  columns_merge_sums_(&f->g, s->sum);
  for (int64_t c = 0; c < stride; c += v64_LANES) {
    double out[v64_LANES];
    const v64 sum = v64_load(s->sum + c);
    v64_store(out, logarithm ? v64_log(sum) : v64_div(v64_set1(1.0), sum));
    for (int64_t k = 0; k < v64_LANES; ++k) s->factor[c + k] = (float)out[k];
  }
  for (int64_t c = 0; c < stride && zeros && !logarithm; ++c) s->factor[c] = s->sum[c] == 0.0 ? 0.0f : s->factor[c];
}

#endif
