/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax over an axis that is not the last: lanes beside each other take columns beside each other.
 */
#ifndef ACLPY_CUDA_SOFTMAX_TILES_H
#define ACLPY_CUDA_SOFTMAX_TILES_H

#include "softmax.h"

enum { ACLPY_TILE_STEPS = 8 };

/* Elements [first, last) of the tile's columns. */
template <class D>
__device__ inline Seen<typename D::Real> tile_scan(const Problem &a, const Tile &t, i64 first, i64 last) {
  using Real = typename D::Real;
  const auto *x = (const typename D::Stored *)a.first + t.at;
  Seen<Real> seen;
  if (!t.inside) return seen;
  for (i64 i = first + t.part; i < last; i += (i64)t.parts * ACLPY_TILE_STEPS) {
    Real v[ACLPY_TILE_STEPS];
#pragma unroll
    for (int k = 0; k < ACLPY_TILE_STEPS; ++k) {
      const i64 at = i + (i64)k * t.parts;
      v[k] = at < last ? D::load(x[at * a.inner]) : (Real)-ACLPY_INFINITY;
    }
    seen.template add<ACLPY_TILE_STEPS>(v);
  }
  return seen;
}

/* The parts of each column, together. A column of only -inf has the sum of its parts: 0, or NaN. */
template <class Real>
__device__ inline void tile_join(const Tile &t, Seen<Real> &seen) {
  __shared__ double max[ACLPY_LANES][ACLPY_LANES], sum[ACLPY_LANES][ACLPY_LANES];
  const int lane = threadIdx.x % ACLPY_LANES;
  __syncthreads();
  max[t.part][lane] = (double)seen.max;
  sum[t.part][lane] = seen.sum;
  __syncthreads();
  double top = -(double)ACLPY_INFINITY, total = 0;
  for (int p = 0; p < t.parts; ++p) top = larger(top, max[p][lane]);
  for (int p = 0; p < t.parts; ++p) {
    total += top == -(double)ACLPY_INFINITY ? sum[p][lane] : rescaled(sum[p][lane], max[p][lane], top);
  }
  seen.max = (Real)top;
  seen.sum = total;
}

template <class D>
__device__ inline void tile_write(const Problem &a, const Tile &t, i64 first, i64 last, typename D::Real max,
                                  typename D::Real factor, bool logarithm) {
  using Stored = typename D::Stored;
  if (!t.inside) return;
  const Stored *x = (const Stored *)a.first + t.at;
  Stored *y = (Stored *)a.out + t.at;
  for (i64 i = first + t.part; i < last; i += t.parts) {
    y[i * a.inner] = D::store(result_of(D::load(x[i * a.inner]), max, factor, logarithm));
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_tile(const Problem &a) {
  using Real = typename D::Real;
  for (i64 tile = blockIdx.x; tile < tiles_of(a); tile += gridDim.x) {
    const Tile t = tile_of(a, tile);
    Seen<Real> seen = tile_scan<D>(a, t, 0, a.n);
    tile_join(t, seen);
    tile_write<D>(a, t, 0, a.n, seen.max, factor_of(seen.sum, LOGARITHM, Real()), LOGARITHM);
  }
}

template <class D>
__device__ inline void softmax_tile_partial(const Problem &a) {
  for (i64 item = blockIdx.x; item < tiles_of(a) * a.chunks; item += gridDim.x) {
    const Tile t = tile_of(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    Seen<typename D::Real> seen = tile_scan<D>(a, t, first, smaller(a.n, first + a.chunk));
    tile_join(t, seen);
    if (t.part == 0 && t.inside) {
      chunk_values(a, 0)[t.column * a.chunks + chunk] = (double)seen.max;
      chunk_values(a, 1)[t.column * a.chunks + chunk] = seen.sum;
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_tile_chunks(const Problem &a) {
  using Real = typename D::Real;
  for (i64 item = blockIdx.x; item < tiles_of(a) * a.chunks; item += gridDim.x) {
    const Tile t = tile_of(a, item / a.chunks);
    const i64 first = item % a.chunks * a.chunk;
    if (!t.inside) continue;
    tile_write<D>(a, t, first, smaller(a.n, first + a.chunk), (Real)row_values(a, 0)[t.column],
                  (Real)row_values(a, 1)[t.column], LOGARITHM);
  }
}

#endif
