/* SPDX-License-Identifier: Apache-2.0
 * softmax backward and log-softmax backward over an axis that is not the last.
 */
#ifndef ACLPY_CUDA_BACKWARD_TILES_H
#define ACLPY_CUDA_BACKWARD_TILES_H

#include "softmax_backward.h"

/* Sums of the tile's columns over rows [first, last); every thread gets those of its columns. */
template <class D>
__device__ inline void backward_tile_scan(const Problem &a, const Tile<D> &t, i64 first, i64 last, bool logarithm,
                                          double *sum) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N;
  __shared__ double parts[ACLPY_TILE_PARTS][Columns<D>::TILE];
  const int lane = (int)(threadIdx.x % ACLPY_LANES);
  const Rows<D> p(a, 0);
  Sum<Real> s[N];
  for (i64 i = first + t.part; t.count && i < last; i += t.parts) {
    Real g[N], y[N];
    load_columns<D>(p.g, t, i * a.inner, true, (Real)0, g);
    load_columns<D>(p.y, t, i * a.inner, !logarithm, (Real)0, y);
#pragma unroll
    for (int c = 0; c < N; ++c) add_term<D>(s[c], g[c], y[c], logarithm);
  }
  __syncthreads(); /* the block may still read what an earlier tile left */
#pragma unroll
  for (int c = 0; c < N; ++c) parts[t.part][c * ACLPY_LANES + lane] = s[c].value();
  __syncthreads();
#pragma unroll
  for (int c = 0; c < N; ++c) {
    sum[c] = 0;
    for (int k = 0; k < t.parts; ++k) sum[c] += parts[k][c * ACLPY_LANES + lane];
  }
}

template <class D>
__device__ inline void backward_tile_write(const Problem &a, const Tile<D> &t, i64 first, i64 last, const double *sum,
                                           bool logarithm) {
  using Real = typename D::Real;
  constexpr int N = Columns<D>::N;
  const Rows<D> p(a, 0);
  for (i64 i = first + t.part; t.count && i < last; i += t.parts) {
    Real g[N], y[N];
    load_columns<D>(p.g, t, i * a.inner, true, (Real)0, g);
    load_columns<D>(p.y, t, i * a.inner, true, (Real)0, y);
#pragma unroll
    for (int c = 0; c < N; ++c) g[c] = Total<Real>(sum[c]).template result<D>(g[c], y[c], logarithm);
    store_columns<D>(p.out, t, i * a.inner, g);
  }
}

template <class D, bool LOGARITHM>
__device__ inline void backward_tile(const Problem &a) {
  for (i64 tile = blockIdx.x; tile < tiles_of<D>(a); tile += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, tile);
    double sum[Columns<D>::N];
    backward_tile_scan<D>(a, t, 0, a.n, LOGARITHM, sum);
    backward_tile_write<D>(a, t, 0, a.n, sum, LOGARITHM);
  }
}

template <class D, bool LOGARITHM>
__device__ inline void backward_tile_partial(const Problem &a) {
  constexpr int N = Columns<D>::N;
  for (i64 item = blockIdx.x; item < tiles_of<D>(a) * a.chunks; item += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    double sum[N];
    backward_tile_scan<D>(a, t, first, smaller(a.n, first + a.chunk), LOGARITHM, sum);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      if (t.part == 0 && c < t.count) chunk_values(a, 0)[(t.column + c) * a.chunks + chunk] = sum[c];
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void backward_tile_chunks(const Problem &a) {
  constexpr int N = Columns<D>::N;
  for (i64 item = blockIdx.x; item < tiles_of<D>(a) * a.chunks; item += gridDim.x) {
    const Tile<D> t = tile_of<D>(a, item / a.chunks);
    const i64 first = item % a.chunks * a.chunk;
    double sum[N];
#pragma unroll
    for (int c = 0; c < N; ++c) sum[c] = c < t.count ? row_values(a, 0)[t.column + c] : 0.0;
    backward_tile_write<D>(a, t, first, smaller(a.n, first + a.chunk), sum, LOGARITHM);
  }
}

#endif
