/* SPDX-License-Identifier: Apache-2.0
 * softmax backward, out = y * (g - sum(g * y)), and log-softmax backward, out = g - exp(y) * sum(g); out may be g or y.
 *
 * Sums have twice the precision of float32 and are subtracted in two parts: where terms cancel, the error stays that
 * of the result's own rounding.
 */
#ifndef ACLPY_CUDA_SOFTMAX_BACKWARD_H
#define ACLPY_CUDA_SOFTMAX_BACKWARD_H

#include "problem.h"
#include "reduce.h"

template <class Real>
struct Total;

template <>
struct Total<float> {
  float high, low;
  __device__ explicit Total(double sum) : high((float)sum), low(0) {
    if (isfinite(high)) low = (float)(sum - (double)high);
  }
  __device__ float result(float g, float y, bool logarithm) const {
    if (!logarithm) return y * ((g - high) - low);
    const float e = exp_of(y);
    /* A y above any logarithm of a probability: infinity times the low part must not become NaN. */
    return fmaf(-fminf(e, 3.402823466e38f), low, fmaf(-e, high, g));
  }
};

template <>
struct Total<double> {
  double sum;
  __device__ explicit Total(double whole) : sum(whole) {}
  __device__ double result(double g, double y, bool logarithm) const {
    return logarithm ? fma(-exp_of(y), sum, g) : y * (g - sum);
  }
};

/* One element more: g * y, or g alone. */
template <class Real>
__device__ inline void add_term(Sum<Real> &s, Real g, Real y, bool logarithm) {
  if (logarithm) {
    s.add(g);
  } else {
    s.add_product(g, y);
  }
}

template <class D>
struct Rows {
  using Stored = typename D::Stored;
  const Stored *g, *y;
  Stored *out;
  __device__ Rows(const Problem &a, i64 at)
      : g((const Stored *)a.first + at), y((const Stored *)a.second + at), out((Stored *)a.out + at) {}
};

/* UNITS units of each operand a thread, `threads` threads: both rows in registers. */
template <class D, int UNITS, bool LOGARITHM, bool BLOCK>
__device__ inline void backward_held(const Rows<D> &p, i64 n, int thread, int threads) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  const int lead = lead_of<D>(p.out, n, (i64)threads * UNITS * N);
  Real g[UNITS][N], y[UNITS][N];
  Sum<Real> s;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    const i64 at = ((i64)u * threads + thread) * N - lead;
    load_unit<D>(p.g, at, n, (Real)0, g[u]);
    load_unit<D>(p.y, at, n, (Real)0, y[u]);
  }
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
#pragma unroll
    for (int k = 0; k < N; ++k) add_term(s, g[u][k], y[u][k], LOGARITHM);
  }
  const Total<Real> total(BLOCK ? block_sum(s.value()) : warp_sum(s.value()));
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
#pragma unroll
    for (int k = 0; k < N; ++k) g[u][k] = total.result(g[u][k], y[u][k], LOGARITHM);
    store_unit<D>(p.out, ((i64)u * threads + thread) * N - lead, n, g[u]);
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void backward_warp(const Problem &a) {
  const i64 warps = (i64)gridDim.x * (blockDim.x / ACLPY_LANES);
  i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / ACLPY_LANES;
  for (; row < a.outer; row += warps) {
    backward_held<D, UNITS, LOGARITHM, false>(Rows<D>(a, row * a.n), a.n, (int)(threadIdx.x % ACLPY_LANES),
                                              ACLPY_LANES);
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void backward_block(const Problem &a) {
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    backward_held<D, UNITS, LOGARITHM, true>(Rows<D>(a, row * a.n), a.n, (int)threadIdx.x, (int)blockDim.x);
  }
}

template <class D>
__device__ inline double backward_scan(const Rows<D> &p, i64 n, bool logarithm) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  const int lead = lead_of<D>(p.out, n, n + N);
  Sum<Real> s;
  for (i64 i = (i64)threadIdx.x * N - lead; i < n; i += (i64)blockDim.x * N) {
    Real g[N], y[N];
    load_unit<D>(p.g, i, n, (Real)0, g);
    if (!logarithm) load_unit<D>(p.y, i, n, (Real)0, y);
#pragma unroll
    for (int k = 0; k < N; ++k) add_term(s, g[k], logarithm ? (Real)0 : y[k], logarithm);
  }
  return s.value();
}

template <class D>
__device__ inline void backward_write(const Rows<D> &p, i64 n, double sum, bool logarithm) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  const int lead = lead_of<D>(p.out, n, n + N);
  const Total<Real> total(sum);
  for (i64 i = (i64)threadIdx.x * N - lead; i < n; i += (i64)blockDim.x * N) {
    Real g[N], y[N];
    load_unit<D>(p.g, i, n, (Real)0, g);
    load_unit<D>(p.y, i, n, (Real)0, y);
#pragma unroll
    for (int k = 0; k < N; ++k) g[k] = total.result(g[k], y[k], logarithm);
    store_unit<D>(p.out, i, n, g);
  }
}

/* Rows too long for registers: read twice, the second time from the caches. */
template <class D, bool LOGARITHM>
__device__ inline void backward_stream(const Problem &a) {
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Rows<D> p(a, row * a.n);
    backward_write<D>(p, a.n, block_sum(backward_scan<D>(p, a.n, LOGARITHM)), LOGARITHM);
  }
}

/* Several blocks a row, three launches: chunks, rows, chunks again. */
template <class D, bool LOGARITHM>
__device__ inline void backward_partial(const Problem &a) {
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 first = item % a.chunks * a.chunk;
    const Rows<D> p(a, item / a.chunks * a.n + first);
    const double sum = block_sum(backward_scan<D>(p, smaller(a.chunk, a.n - first), LOGARITHM));
    if (threadIdx.x == 0) chunk_values(a, 0)[item] = sum;
  }
}

__device__ inline void backward_combine(const Problem &a) {
  for (i64 row = blockIdx.x; row < rows_of(a); row += gridDim.x) {
    double own = 0;
    for (i64 c = threadIdx.x; c < a.chunks; c += blockDim.x) own += chunk_values(a, 0)[row * a.chunks + c];
    own = block_sum(own);
    if (threadIdx.x == 0) row_values(a, 0)[row] = own;
  }
}

template <class D, bool LOGARITHM>
__device__ inline void backward_chunks(const Problem &a) {
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 row = item / a.chunks, first = item % a.chunks * a.chunk;
    backward_write<D>(Rows<D>(a, row * a.n + first), smaller(a.chunk, a.n - first), row_values(a, 0)[row], LOGARITHM);
  }
}

#endif
