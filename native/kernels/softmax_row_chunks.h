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
    aclpy_sum all = {0.0, 0.0};
    for (int64_t c = 0; c < g->chunks; ++c) {
      all = aclpy_sum_add(all, s[c] * aclpy_exp_negative_f64((double)m[c] - (double)top));
    }
    const double total = all.all + all.rest;
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

ACLPY_INLINE int64_t FN(row_chunk_length)(const aclpy_geometry *g, int64_t item) {
  return aclpy_min_i64(g->chunk, g->n - item % g->chunks * g->chunk);
}

/* Chunk `item`, to be written past the caches; `e`: its exponentials, unless it is a logarithm's. */
ACLPY_INLINE FN(pending)
    FN(row_chunk_pending)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t item, const REAL *e) {
  const double *sum = (const double *)(void *)args->scratch + g->outer * g->chunks;
  const REAL *parts = (const REAL *)(const void *)(sum + g->outer), *max = parts + g->outer * g->chunks;
  const int64_t row = item / g->chunks, first = item % g->chunks * g->chunk;
  const double less = e == NULL ? 1.0 : aclpy_exp_negative_f64((double)parts[item] - (double)max[row]);
  return (FN(pending)){.e = e,
                       .x = (const STORED *)args->addr[0] + row * g->pitch[0] + first,
                       .y = (STORED *)args->addr[1] + row * g->pitch[1] + first,
                       .n = FN(row_chunk_length)(g, item),
                       .shift = max[row],
                       .factor = (REAL)(sum[row] * less),
                       .streaming = PLAIN && g->core == ACLPY_CORE_ZEN_5 ? ACLPY_STREAM_NEAR : ACLPY_STREAM,
                       .near = aclpy_near_bytes(g->core)};
}

/* Chunks [begin, end) written while those of the next turn, which take their places, are reduced, and the largest
 * element of the one after is looked for: memory is read and written at once. The steps of row_chunks_reduce. */
ACLPY_INLINE void FN(row_chunks_turn)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin,
                                      int64_t end, int logarithm) {
  double *sum = (double *)(void *)args->scratch;
  REAL *max = (REAL *)(void *)(sum + g->outer * (g->chunks + 1));
  FN(peak) top = {0, 0}, next_top = {0, 0};
  int known = 0; /* the chunk's top is */
  for (int64_t i = begin; i < end; ++i) {
    const int64_t to = i + g->turn * g->chunks;
    REAL *e = logarithm ? NULL : FN(row_chunks_place)(g, args, i);
    FN(pending) before = FN(row_chunk_pending)(g, args, i, e);
    const STORED *x = before.x + g->turn * g->pitch[0];
    const int follows = i + 1 < end && (i + 1) % g->chunks > 0 && FN(row_chunk_length)(g, i + 1) == before.n;
    top = known ? next_top : FN(row_peak)(x, before.n);
    max[to] = top.max;
    if (top.max == (REAL)-INFINITY) top.max = 0;
    FN(pending_begin)(&before, logarithm, ACLPY_WAY_ANY);
    sum[to] =
        FN(rows_step)(follows ? x + g->chunk : x, &next_top, x, e, before.n, top, &before, logarithm, ACLPY_WAY_ANY, 0);
    known = follows;
  }
}
/* Functions of their own, so that registers are shared out for each of these loops alone. */
ACLPY_APART void FN(row_chunks_turn_softmax)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin,
                                             int64_t end) {
  FN(row_chunks_turn)(g, args, begin, end, 0);
}
ACLPY_APART void FN(row_chunks_turn_log)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin,
                                         int64_t end) {
  FN(row_chunks_turn)(g, args, begin, end, 1);
}
/* Pass 2, and the next round's pass 0. */
static void FN(row_chunks_turns)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 int logarithm) {
  const int64_t turned = aclpy_min_i64(end, (g->outer - g->turn) * g->chunks), last = aclpy_max_i64(begin, turned);
  if (logarithm) FN(row_chunks_turn_log)(g, args, begin, last);
  if (!logarithm) FN(row_chunks_turn_softmax)(g, args, begin, last);
  FN(row_chunks_write)(g, args, last, end, logarithm, !logarithm); /* and a fence */
}

static void FN(row_chunks_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                               int64_t end, int logarithm) {
  const int first_round = pass < 3;
  aclpy_turn_items(g, &pass, &begin, &end);
  const int keep = !logarithm && aclpy_chunks_kept(g, (int64_t)sizeof(REAL));
  const int turns = (keep || logarithm) && g->streaming && args->addr[0] != args->addr[1];
  if (pass == 0 && (first_round || !turns)) FN(row_chunks_reduce)(g, args, begin, end, keep);
  if (pass == 1) FN(row_chunks_combine)(g, args, begin, end, logarithm);
  if (pass == 2 && turns) FN(row_chunks_turns)(g, args, begin, end, logarithm);
  if (pass == 2 && !turns) FN(row_chunks_write)(g, args, begin, end, logarithm, keep);
}
