/* SPDX-License-Identifier: Apache-2.0
 * Template: backward over an axis before the last one whose columns are cut into chunks. ACLPY_T names the instance;
 * after backward_tiles.h.
 */
#include "../simd/instance.h"

ACLPY_INLINE void FN(tile_chunk_sum)(const aclpy_geometry *geometry, const FN(tile_task) * p, FN(column_sums) * sums,
                                     int logarithm) {
  const FN(tile_rest) none = {.live = 0};
  FN(tile_sum)(geometry, p, &none, sums, logarithm, 0, ACLPY_TILE_BESIDE);
}

/* Totals of columns [begin, end) of all outer positions from those of their chunks, which lie `inner` apart: a vector
 * of columns at a time, for their lines lie far apart and would be read once for each column. */
static void FN(tile_chunks_total)(const double *partial, double *total, int64_t chunks, int64_t inner, int64_t begin,
                                  int64_t end) {
  for (int64_t i = begin, n; i < end; i += n) {
    const double *from = partial + i / inner * chunks * inner + i % inner;
    const int64_t left = aclpy_min_i64(end - i, inner - i % inner);
    n = left >= v64_LANES ? v64_LANES : 1;
    v64_acc vector = v64_acc_zero();
    aclpy_sum each[v64_LANES];
    for (int k = 0; k < v64_LANES; ++k) each[k].all = each[k].rest = 0.0;
    for (int64_t c = 0; c < chunks; ++c) {
      if (n > 1) vector = v64_acc_add(vector, v64_load(from + c * inner));
      if (n == 1) each[0] = aclpy_sum_add(each[0], from[c * inner]);
    }
    if (n > 1) {
      double all[v64_LANES], rest[v64_LANES];
      v64_store(all, vector.all);
      v64_store(rest, vector.rest);
      for (int k = 0; k < v64_LANES; ++k) each[k].all = all[k], each[k].rest = rest[k];
    }
    for (int64_t k = 0; k < n; ++k) total[i + k] = aclpy_sum_total(each[k]);
  }
}

/* Pass 0: sums by (outer, chunk, column); pass 1: totals by (outer, column), behind them; pass 2: write. */
static void FN(tile_chunks_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int32_t pass,
                                int64_t begin, int64_t end, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  const int64_t inner = geometry->inner, chunks = geometry->chunks;
  double *partial = (double *)(void *)args->scratch;
  double *total = partial + geometry->outer * chunks * inner;
  if (pass == 1) {
    FN(tile_chunks_total)(partial, total, chunks, inner, begin, end);
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    FN(column_sums) sums;
    FN(tile_task) task = FN(tile_task_of)(&p, aclpy_tile_of(geometry, i, 1));
    task.fetches = aclpy_tiles_fetch(geometry, 0); /* chunks: 1.1 of the time in the first level */
    task.paced = aclpy_paced(geometry);
    if (i + 1 < end) task.after = aclpy_chunk_way(geometry, i);
    const aclpy_tile *t = &task.t;
    if (pass == 0) {
      if (logarithm) {
        FN(tile_chunk_sum)(geometry, &task, &sums, 1);
      } else {
        FN(tile_chunk_sum)(geometry, &task, &sums, 0);
      }
      memcpy(partial + (t->outer * chunks + t->chunk) * inner + t->real, sums.sum, (size_t)t->reals * sizeof(double));
      continue;
    }
    FN(totals) totals;
    for (int64_t k = 0; k < geometry->group; ++k) {
      FN(totals_set)(&totals, k * t->reals, total + t->outer * inner + t->real, t->reals);
    }
    FN(totals_pair)(&totals, t->reals * geometry->group);
    FN(tile_rest) rest = FN(tile_rest_of)(&p, &task, &totals);
    rest.fetches = task.fetches;
    rest.after = task.after;
    if (logarithm) {
      FN(rest_all)(geometry, &rest, 1, 0);
    } else {
      FN(rest_all)(geometry, &rest, 0, 0);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}
