/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax over an axis that is not the last: lanes beside each other take columns beside each other.
 */
#ifndef ACLPY_CUDA_SOFTMAX_TILES_H
#define ACLPY_CUDA_SOFTMAX_TILES_H

#include "softmax.h"

enum { ACLPY_TILE_STEPS = 8 };

/* Elements [first, last) of the tile's columns. */
template <class D>
__device__ inline void tile_scan(const Problem &a, const Tile<D> &t, i64 first, i64 last, Seen<D> *seen) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N, STEPS = ACLPY_TILE_STEPS / N;
  const auto *x = (const typename D::Stored *)a.first;
  for (i64 i = first + t.part; t.count && i < last; i += (i64)t.parts * STEPS) {
    Real v[N][STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      const i64 at = i + (i64)k * t.parts;
      Real each[N];
      load_columns<D>(x, t, at * a.inner, at < last, (Real)-ACLPY_INFINITY, each);
#pragma unroll
      for (int c = 0; c < N; ++c) v[c][k] = each[c];
    }
#pragma unroll
    for (int c = 0; c < N; ++c) seen[c].template add<STEPS>(v[c]);
  }
}

/* The parts of each column, together. A column of only -inf has the sum of its parts: 0, or NaN. */
template <class D>
__device__ inline void tile_join(const Tile<D> &t, Seen<D> *seen) {
  constexpr int N = Columns<D>::N;
  __shared__ double max[ACLPY_TILE_PARTS][Columns<D>::TILE], sum[ACLPY_TILE_PARTS][Columns<D>::TILE];
  const int lane = (int)(threadIdx.x % ACLPY_LANES);
  __syncthreads(); /* the block may still read what an earlier tile left */
#pragma unroll
  for (int c = 0; c < N; ++c) {
    max[t.part][c * ACLPY_LANES + lane] = (double)seen[c].max;
    sum[t.part][c * ACLPY_LANES + lane] = seen[c].sum;
  }
  __syncthreads();
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const int at = c * ACLPY_LANES + lane;
    double top = -(double)ACLPY_INFINITY, total = 0;
    for (int p = 0; p < t.parts; ++p) top = larger(top, max[p][at]);
    for (int p = 0; p < t.parts; ++p) {
      total += top == -(double)ACLPY_INFINITY ? sum[p][at] : rescaled(sum[p][at], max[p][at], top);
    }
    seen[c].max = (typename D::Real)top;
    seen[c].sum = total;
  }
}

template <class D>
__device__ inline void tile_write(const Problem &a, const Tile<D> &t, i64 first, i64 last, const typename D::Real *max,
                                  const typename D::Real *factor, bool logarithm) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N;
  for (i64 i = first + t.part; t.count && i < last; i += t.parts) {
    Real v[N];
    load_columns<D>((const typename D::Stored *)a.first, t, i * a.inner, true, (Real)0, v);
#pragma unroll
    for (int c = 0; c < N; ++c) v[c] = result_of<D>(v[c], max[c], factor[c], logarithm);
    store_columns<D>((typename D::Stored *)a.out, t, i * a.inner, v);
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_tile(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N;
  for (i64 tile = blockIdx.x; tile < tiles_of<D>(a); tile += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, tile);
    Seen<D> seen[N];
    tile_scan<D>(a, t, 0, a.n, seen);
    tile_join<D>(t, seen);
    Real max[N], factor[N];
#pragma unroll
    for (int c = 0; c < N; ++c) {
      max[c] = seen[c].max;
      factor[c] = factor_of(seen[c].sum, LOGARITHM, Real());
    }
    tile_write<D>(a, t, 0, a.n, max, factor, LOGARITHM);
  }
}

template <class D>
__device__ inline void softmax_tile_partial(const Problem &a) {
  constexpr int N = Columns<D>::N;
  for (i64 item = blockIdx.x; item < tiles_of<D>(a) * a.chunks; item += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    Seen<D> seen[N];
    tile_scan<D>(a, t, first, smaller(a.n, first + a.chunk), seen);
    tile_join<D>(t, seen);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      if (t.part != 0 || c >= t.count) continue;
      chunk_values(a, 0)[(t.column + c) * a.chunks + chunk] = (double)seen[c].max;
      chunk_values(a, 1)[(t.column + c) * a.chunks + chunk] = seen[c].sum;
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_tile_chunks(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N;
  for (i64 item = blockIdx.x; item < tiles_of<D>(a) * a.chunks; item += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, item / a.chunks);
    const i64 first = item % a.chunks * a.chunk;
    Real max[N], factor[N];
#pragma unroll
    for (int c = 0; c < N; ++c) {
      max[c] = c < t.count ? (Real)row_values(a, 0)[t.column + c] : (Real)0;
      factor[c] = c < t.count ? (Real)row_values(a, 1)[t.column + c] : (Real)0;
    }
    tile_write<D>(a, t, first, smaller(a.n, first + a.chunk), max, factor, LOGARITHM);
  }
}

#endif
