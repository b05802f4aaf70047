/* SPDX-License-Identifier: Apache-2.0
 * Softmax and log-softmax whose results go through post operations before they are stored, rows along memory; any
 * types, y may be x where they have one size. The order of operations is the CPU's (native/kernels/softmax_fused.c).
 */
#ifndef ACLPY_CUDA_SOFTMAX_FUSED_H
#define ACLPY_CUDA_SOFTMAX_FUSED_H

#include "post_ops.h"
#include "softmax.h"

struct Fused {
  Operands operands;
  Problem p;   /* first: x, out: y */
  i64 flags;   /* post_ops_codes.h */
  i64 rounded; /* the type that exponentials are rounded to before they are normalised, 0 for none */
  Post post;
};

enum {
  ACLPY_HELD_BY_WARP = 1024, /* elements of a row that a warp keeps in shared memory, */
  ACLPY_HELD_BY_BLOCK = 8192 /* and that a block keeps */
};

/* What a row's elements become: e * factor, or (x - shift) - factor. */
struct Normal {
  float shift, factor;
};
/* A row of only -inf may count as a row of zeros; elsewhere it gives NaN. */
__device__ inline float shift_of(const Fused &a, float max) {
  return (a.flags & ACLPY_FUSED_ZERO_ROWS) && max == -ACLPY_INFINITY ? 0.0f : max;
}
__device__ inline float fused_factor(const Fused &a, double sum) {
  if (a.flags & ACLPY_FUSED_LOG) return factor_of(sum, true, 0.0f);
  return (a.flags & ACLPY_FUSED_ZERO_ROWS) && sum == 0.0 ? 0.0f : (float)(1.0 / sum);
}
__device__ inline Normal normal_of(const Fused &a, const Seen<f32> &seen) {
  return {shift_of(a, seen.max), fused_factor(a, seen.sum)};
}
/* The exponential, for the logarithm the difference from the maximum. */
__device__ inline float kept_of(const Fused &a, float x, float shift) {
  return a.flags & ACLPY_FUSED_LOG ? x - shift : exp_of(x - shift);
}
__device__ inline float normalised(const Fused &a, float kept, float factor) {
  if (a.rounded) kept = rounded_to(a.rounded, kept);
  return a.flags & ACLPY_FUSED_LOG ? kept - factor : kept * factor;
}

/* A row: where it begins among all elements, and in memory. */
struct Row {
  i64 first, n;
  const u8 *x;
  u8 *y;
};
__device__ inline Row row_at(const Fused &a, i64 first, i64 n) {
  return {first, n, (const u8 *)a.p.first + first * bytes_of_type(a.post.source),
          (u8 *)a.p.out + first * bytes_of_type(a.post.target)};
}
/* The quad goes through the operations and into y. */
__device__ inline void finish_quad(const Fused &a, const Row &row, const Quad &q, float *v) {
  apply_post_ops<ACLPY_QUAD>(a.post, a.operands, row.first + q.at, q.from, q.to, v);
  store_quad(a.post.target, row.y, q, v);
}

/* A row in shared memory: each thread comes back to the quads that it put there, so nobody waits. */
using Held = Pack<float, ACLPY_QUAD>;
template <bool BLOCK>
__device__ inline void fused_held(const Fused &a, const Row &row, Held *held, i64 room, int thread, int threads) {
  const int lead = quad_lead(row.x, bytes_of_type(a.post.source), row.n, room);
  const i64 quads = (row.n + lead + ACLPY_QUAD - 1) / ACLPY_QUAD;
  float max = -ACLPY_INFINITY;
  for (i64 i = thread; i < quads; i += threads) {
    Held v;
    load_quad(a.post.source, row.x, quad_of(i * ACLPY_QUAD - lead, row.n), -ACLPY_INFINITY, v.at);
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) max = larger(max, v.at[k]);
    held[i] = v;
  }
  const float shift = shift_of(a, BLOCK ? block_max(max) : warp_max(max));
  Sum<float> s;
  for (i64 i = thread; i < quads; i += threads) {
    Held v = held[i];
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) {
      const float shifted = v.at[k] - shift, e = exp_of(shifted);
      s.add(e);
      v.at[k] = a.flags & ACLPY_FUSED_LOG ? shifted : e;
    }
    held[i] = v;
  }
  const float factor = fused_factor(a, BLOCK ? block_sum(s.value()) : warp_sum(s.value()));
  for (i64 i = thread; i < quads; i += threads) {
    Held v = held[i];
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) v.at[k] = normalised(a, v.at[k], factor);
    finish_quad(a, row, quad_of(i * ACLPY_QUAD - lead, row.n), v.at);
  }
}

__device__ inline void fused_warp(const Fused &a) {
  __shared__ Held held[4][ACLPY_HELD_BY_WARP / ACLPY_QUAD];
  const int warp = (int)(threadIdx.x / ACLPY_LANES), lane = (int)(threadIdx.x % ACLPY_LANES);
  for (i64 row = (i64)blockIdx.x * 4 + warp; row < a.p.outer; row += (i64)gridDim.x * 4) {
    fused_held<false>(a, row_at(a, row * a.p.n, a.p.n), held[warp], ACLPY_HELD_BY_WARP, lane, ACLPY_LANES);
  }
}
__device__ inline void fused_block(const Fused &a) {
  __shared__ Held held[ACLPY_HELD_BY_BLOCK / ACLPY_QUAD];
  for (i64 row = blockIdx.x; row < a.p.outer; row += gridDim.x) {
    fused_held<true>(a, row_at(a, row * a.p.n, a.p.n), held, ACLPY_HELD_BY_BLOCK, (int)threadIdx.x, (int)blockDim.x);
  }
}

/* What the block's threads have seen of `n` elements, together. A row of only -inf has the sum of its parts: 0, or
 * NaN. */
__device__ inline Seen<f32> fused_scan(i64 type, const u8 *x, i64 n) {
  const int lead = quad_lead(x, bytes_of_type(type), n, n + ACLPY_QUAD);
  Seen<f32> seen;
  for (i64 i = (i64)threadIdx.x * ACLPY_QUAD - lead; i < n; i += (i64)blockDim.x * ACLPY_QUAD) {
    float v[ACLPY_QUAD];
    load_quad(type, x, quad_of(i, n), -ACLPY_INFINITY, v);
    seen.template add<ACLPY_QUAD>(v);
  }
  const double top = (double)block_max(seen.max);
  const double own = top == -(double)ACLPY_INFINITY ? seen.sum : rescaled(seen.sum, (double)seen.max, top);
  seen.sum = block_sum(own);
  seen.max = (float)top;
  return seen;
}

__device__ inline void fused_write(const Fused &a, const Row &row, Normal by) {
  const int lead = quad_lead(row.x, bytes_of_type(a.post.source), row.n, row.n + ACLPY_QUAD);
  for (i64 i = (i64)threadIdx.x * ACLPY_QUAD - lead; i < row.n; i += (i64)blockDim.x * ACLPY_QUAD) {
    const Quad q = quad_of(i, row.n);
    float v[ACLPY_QUAD];
    load_quad(a.post.source, row.x, q, 0.0f, v);
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) v[k] = normalised(a, kept_of(a, v[k], by.shift), by.factor);
    finish_quad(a, row, q, v);
  }
}

/* Rows too long for shared memory: read twice, the second time from the caches. */
__device__ inline void fused_stream(const Fused &a) {
  for (i64 at = blockIdx.x; at < a.p.outer; at += gridDim.x) {
    const Row row = row_at(a, at * a.p.n, a.p.n);
    fused_write(a, row, normal_of(a, fused_scan(a.post.source, row.x, row.n)));
  }
}

/* Several blocks a row, three launches: chunks, rows, chunks again. */
__device__ inline Row chunk_at(const Fused &a, i64 item) {
  const i64 first = item % a.p.chunks * a.p.chunk;
  return row_at(a, item / a.p.chunks * a.p.n + first, smaller(a.p.chunk, a.p.n - first));
}
__device__ inline void fused_partial(const Fused &a) {
  for (i64 item = blockIdx.x; item < a.p.outer * a.p.chunks; item += gridDim.x) {
    const Row row = chunk_at(a, item);
    const Seen<f32> seen = fused_scan(a.post.source, row.x, row.n);
    if (threadIdx.x != 0) continue;
    chunk_values(a.p, 0)[item] = (double)seen.max;
    chunk_values(a.p, 1)[item] = seen.sum;
  }
}
__device__ inline void fused_chunks(const Fused &a) {
  for (i64 item = blockIdx.x; item < a.p.outer * a.p.chunks; item += gridDim.x) {
    const i64 row = item / a.p.chunks;
    const Normal by = {(float)row_values(a.p, 0)[row], (float)row_values(a.p, 1)[row]};
    fused_write(a, chunk_at(a, item), by);
  }
}

/* All chunks of a row, together; of columns, too. */
__device__ inline Seen<f32> combined(const Problem &p, i64 row) {
  const double *max = chunk_values(p, 0) + row * p.chunks, *sum = chunk_values(p, 1) + row * p.chunks;
  double top = -(double)ACLPY_INFINITY, own = 0;
  for (i64 c = threadIdx.x; c < p.chunks; c += blockDim.x) top = larger(top, max[c]);
  top = block_max(top);
  const bool nothing = top == -(double)ACLPY_INFINITY;
  for (i64 c = threadIdx.x; c < p.chunks; c += blockDim.x) own += nothing ? sum[c] : rescaled(sum[c], max[c], top);
  Seen<f32> seen;
  seen.max = (float)top;
  seen.sum = block_sum(own);
  return seen;
}
__device__ inline void fused_combine(const Fused &a) {
  for (i64 row = blockIdx.x; row < rows_of(a.p); row += gridDim.x) {
    const Normal by = normal_of(a, combined(a.p, row));
    if (threadIdx.x != 0) continue;
    row_values(a.p, 0)[row] = (double)by.shift;
    row_values(a.p, 1)[row] = (double)by.factor;
  }
}

#endif
