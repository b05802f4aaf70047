/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax: y = exp(x - max) / sum, or (x - max) - log(sum); y may be x.
 */
#ifndef ACLPY_CUDA_SOFTMAX_H
#define ACLPY_CUDA_SOFTMAX_H

#include "problem.h"
#include "reduce.h"

/* Maximum and sum of exp(x - max) of what one thread has seen; the sum is relative to 0 while all of it is -inf. */
template <class Real>
struct Seen {
  Real max = (Real)-ACLPY_INFINITY;
  double sum = 0;
  template <int COUNT>
  __device__ void add(const Real *v) {
    Real top = max;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) top = larger(top, v[k]);
    const Real shift = top == (Real)-ACLPY_INFINITY ? (Real)0 : top;
    if (top > max) sum *= (double)exp_of(max - top);
    max = top;
    Sum<Real> s;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) s.add(exp_of(v[k] - shift));
    sum += s.value();
  }
};

/* Sums of different maxima brought to one. NaN where all of the row is -inf. */
__device__ inline double rescaled(double sum, double max, double top) { return sum * exp_of(max - top); }

template <class Real>
__device__ inline Real result_of(Real x, Real max, Real factor, bool logarithm) {
  return logarithm ? (x - max) - factor : exp_of(x - max) * factor;
}

/* UNITS units a thread, `threads` threads: the whole row in registers. */
template <class D, int UNITS, bool LOGARITHM, bool BLOCK>
__device__ inline void softmax_held(const typename D::Stored *x, typename D::Stored *y, i64 n, int thread,
                                    int threads) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  const int lead = lead_of<D>(x, n, (i64)threads * UNITS * N);
  Real v[UNITS][N], max = (Real)-ACLPY_INFINITY;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    load_unit<D>(x, ((i64)u * threads + thread) * N - lead, n, (Real)-ACLPY_INFINITY, v[u]);
#pragma unroll
    for (int k = 0; k < N; ++k) max = larger(max, v[u][k]);
  }
  max = BLOCK ? block_max(max) : warp_max(max);
  Sum<Real> s;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const Real shifted = v[u][k] - max, e = exp_of(shifted);
      s.add(e);
      v[u][k] = LOGARITHM ? shifted : e;
    }
  }
  const double sum = BLOCK ? block_sum(s.value()) : warp_sum(s.value());
  const Real factor = factor_of(sum, LOGARITHM, Real());
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
#pragma unroll
    for (int k = 0; k < N; ++k) v[u][k] = LOGARITHM ? v[u][k] - factor : v[u][k] * factor;
    store_unit<D>(y, ((i64)u * threads + thread) * N - lead, n, v[u]);
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void softmax_warp(const Problem &a) {
  using Stored = typename D::Stored;
  const i64 warps = (i64)gridDim.x * (blockDim.x / ACLPY_LANES);
  i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / ACLPY_LANES;
  for (; row < a.outer; row += warps) {
    softmax_held<D, UNITS, LOGARITHM, false>((const Stored *)a.first + row * a.n, (Stored *)a.out + row * a.n, a.n,
                                             (int)(threadIdx.x % ACLPY_LANES), ACLPY_LANES);
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void softmax_block(const Problem &a) {
  using Stored = typename D::Stored;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    softmax_held<D, UNITS, LOGARITHM, true>((const Stored *)a.first + row * a.n, (Stored *)a.out + row * a.n, a.n,
                                            (int)threadIdx.x, (int)blockDim.x);
  }
}

/* What all threads of the block have seen, together. */
template <class Real>
__device__ inline void block_join(Seen<Real> &seen) {
  const Real top = block_max(seen.max);
  seen.sum = block_sum(rescaled(seen.sum, (double)seen.max, (double)top));
  seen.max = top;
}

template <class D>
__device__ inline Seen<typename D::Real> softmax_scan(const typename D::Stored *x, i64 n) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N, UNITS = 16 / N;
  const i64 slab = (i64)blockDim.x * UNITS * N;
  const int lead = lead_of<D>(x, n, n + N);
  Seen<Real> seen;
  for (i64 first = -lead; first < n; first += slab) {
    Real v[UNITS * N];
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      load_unit<D>(x, first + ((i64)u * blockDim.x + threadIdx.x) * N, n, (Real)-ACLPY_INFINITY, v + u * N);
    }
    seen.template add<UNITS * N>(v);
  }
  return seen;
}

template <class D>
__device__ inline void softmax_write(const typename D::Stored *x, typename D::Stored *y, i64 n, typename D::Real max,
                                     typename D::Real factor, bool logarithm) {
  constexpr int N = Unit<D>::N;
  const int lead = lead_of<D>(x, n, n + N);
  for (i64 i = (i64)threadIdx.x * N - lead; i < n; i += (i64)blockDim.x * N) {
    typename D::Real v[N];
    load_unit<D>(x, i, n, (typename D::Real)0, v);
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = result_of(v[k], max, factor, logarithm);
    store_unit<D>(y, i, n, v);
  }
}

/* Rows too long for registers: read twice, the second time from the caches. */
template <class D, bool LOGARITHM>
__device__ inline void softmax_stream(const Problem &a) {
  using Stored = typename D::Stored;
  using Real = typename D::Real;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Stored *x = (const Stored *)a.first + row * a.n;
    Seen<Real> seen = softmax_scan<D>(x, a.n);
    block_join(seen);
    softmax_write<D>(x, (Stored *)a.out + row * a.n, a.n, seen.max, factor_of(seen.sum, LOGARITHM, Real()), LOGARITHM);
  }
}

/* Several blocks a row, three launches: chunks, rows, chunks again. */
template <class D>
__device__ inline void softmax_partial(const Problem &a) {
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 first = item % a.chunks * a.chunk;
    const auto *x = (const typename D::Stored *)a.first + item / a.chunks * a.n + first;
    Seen<typename D::Real> seen = softmax_scan<D>(x, smaller(a.chunk, a.n - first));
    const double top = (double)block_max(seen.max);
    /* A chunk of only -inf counts nothing, unless it holds a NaN. */
    const double own = top == -(double)ACLPY_INFINITY ? seen.sum : rescaled(seen.sum, (double)seen.max, top);
    const double sum = block_sum(own);
    if (threadIdx.x == 0) {
      chunk_values(a, 0)[item] = top;
      chunk_values(a, 1)[item] = sum;
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_combine(const Problem &a) {
  using Real = typename D::Real;
  for (i64 row = blockIdx.x; row < rows_of(a); row += gridDim.x) {
    const double *max = chunk_values(a, 0) + row * a.chunks, *sum = chunk_values(a, 1) + row * a.chunks;
    double top = -(double)ACLPY_INFINITY, own = 0;
    for (i64 c = threadIdx.x; c < a.chunks; c += blockDim.x) top = larger(top, max[c]);
    top = block_max(top);
    for (i64 c = threadIdx.x; c < a.chunks; c += blockDim.x) own += rescaled(sum[c], max[c], top);
    own = block_sum(own);
    if (threadIdx.x == 0) {
      row_values(a, 0)[row] = top;
      row_values(a, 1)[row] = (double)factor_of(own, LOGARITHM, Real());
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_chunks(const Problem &a) {
  using Stored = typename D::Stored;
  using Real = typename D::Real;
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 row = item / a.chunks, first = item % a.chunks * a.chunk, at = row * a.n + first;
    softmax_write<D>((const Stored *)a.first + at, (Stored *)a.out + at, smaller(a.chunk, a.n - first),
                     (Real)row_values(a, 0)[row], (Real)row_values(a, 1)[row], LOGARITHM);
  }
}

#endif
