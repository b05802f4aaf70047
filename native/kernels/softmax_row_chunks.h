/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of rows in chunks, with the passes of softmax_rows.h. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

/* Where the exponentials of chunk `item`, relative to its largest element, wait in scratch, behind the partial results:
 * rows of one turn. */
ACLPY_INLINE int64_t FN(row_chunks_pitch)(const aclpy_geometry *g) { return aclpy_round16(g->n); }
ACLPY_INLINE REAL *FN(row_chunks_place)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t item) {
  const int64_t partials = g->outer * (g->chunks + 1) * (int64_t)(sizeof(double) + sizeof(REAL));
  const uintptr_t first = ((uintptr_t)args->scratch + (uintptr_t)partials + 63u) & ~(uintptr_t)63u;
  const int64_t row = item / g->chunks % g->turn;
  return (REAL *)first + row * FN(row_chunks_pitch)(g) + item % g->chunks * g->chunk;
}

/* Pass 0: largest element and sum of one chunk. Where all of it is -inf the sum is 0, relative to anything. */
static void FN(row_chunks_reduce)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                  int keep) {
  double *sum = (double *)(void *)args->scratch;
  REAL *max = (REAL *)(void *)(sum + g->outer * (g->chunks + 1));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % g->chunks * g->chunk;
    const STORED *x = (const STORED *)args->addr[0] + i / g->chunks * g->pitch[0] + first;
    const int64_t n = aclpy_min_i64(g->chunk, g->n - first);
    max[i] = FN(row_max)(x, n);
    const REAL shift = max[i] == (REAL)-INFINITY ? 0 : max[i];
    /* The next chunk, whose maximum would wait for every line of it. */
    const int64_t ahead = g->far && i + 1 < end ? g->chunk : 0;
    if (keep) sum[i] = v64_hsum(FN(row_exp_lanes)(x, FN(row_chunks_place)(g, args, i), n, shift, 1, ahead));
    if (!keep) sum[i] = v64_hsum(FN(row_exp_lanes)(x, NULL, n, shift, 0, ahead));
  }
}

/* Pass 1: rows [begin, end): the row's maximum and its factor (or logarithm) behind the partial results. */
static void FN(row_chunks_combine)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   int logarithm) {
  double *sum = (double *)(void *)args->scratch;
  REAL *max = (REAL *)(void *)(sum + g->outer * (g->chunks + 1));
  for (int64_t i = begin; i < end; ++i) {
    const double *s = sum + i * g->chunks;
    const REAL *m = max + i * g->chunks;
    REAL top = (REAL)-INFINITY;
    for (int64_t c = 0; c < g->chunks; ++c) top = m[c] > top ? m[c] : top;
    double total = 0.0;
    for (int64_t c = 0; c < g->chunks; ++c) total += s[c] * aclpy_exp_negative_f64((double)m[c] - (double)top);
    max[g->outer * g->chunks + i] = top;
    sum[g->outer * g->chunks + i] = logarithm ? aclpy_log_f64(total) : 1.0 / total;
  }
}

/* Pass 2: write one chunk. */
static void FN(row_chunks_write)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 int logarithm, int kept) {
  const double *sum = (const double *)(void *)args->scratch + g->outer * g->chunks;
  const REAL *parts = (const REAL *)(const void *)(sum + g->outer), *max = parts + g->outer * g->chunks;
  const int streaming = g->streaming && args->addr[0] != args->addr[1];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i / g->chunks, first = i % g->chunks * g->chunk;
    const STORED *x = (const STORED *)args->addr[0] + row * g->pitch[0] + first;
    STORED *y = (STORED *)args->addr[1] + row * g->pitch[1] + first;
    const int64_t n = aclpy_min_i64(g->chunk, g->n - first);
    if (kept) {
      const double factor = sum[row] * aclpy_exp_negative_f64((double)parts[i] - (double)max[row]);
      FN(row_scale)(FN(row_chunks_place)(g, args, i), y, n, (REAL)factor, streaming);
    } else if (logarithm) {
      FN(row_offset)(x, y, n, max[row], (REAL)sum[row], streaming);
    } else {
      FN(row_exp_scale)(x, y, n, max[row], (REAL)sum[row], streaming);
    }
  }
  if (streaming) aclpy_stream_fence();
}

static void FN(row_chunks_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                               int64_t end, int logarithm) {
  aclpy_turn_items(g, &pass, &begin, &end);
  const int keep = !logarithm && aclpy_chunks_kept(g, (int64_t)sizeof(REAL));
  if (pass == 0) FN(row_chunks_reduce)(g, args, begin, end, keep);
  if (pass == 1) FN(row_chunks_combine)(g, args, begin, end, logarithm);
  if (pass == 2) FN(row_chunks_write)(g, args, begin, end, logarithm, keep);
}
