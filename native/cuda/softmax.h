/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax: y = exp(x - max) / sum, or (x - max) - log(sum); y may be x.
 */
#ifndef ACLPY_CUDA_SOFTMAX_H
#define ACLPY_CUDA_SOFTMAX_H

#include "problem.h"
#include "reduce.h"
#include "units.h"

/* Maximum and sum of exp(x - max) of what one thread has seen; the sum is relative to 0 while all of it is -inf. */
template <class D>
struct Seen {
  using Real = typename D::Real;
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
    PowerSum<Real> s;
    Real e[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) e[k] = exp_below<D>(v[k] - shift);
    add_powers<D, COUNT>(s, e);
    sum += s.value();
  }
};

/* Sums of different maxima brought to one. NaN where all of the row is -inf. */
__device__ inline double rescaled(double sum, double max, double top) { return sum * exp_of(max - top); }

template <class D>
__device__ inline typename D::Real result_of(typename D::Real x, typename D::Real max, typename D::Real factor,
                                             bool logarithm) {
  return logarithm ? (x - max) - factor : exp_below<D>(x - max) * factor;
}

/* UNITS units a thread, `threads` threads: the whole row in registers. */
template <class D, int UNITS, bool LOGARITHM, bool BLOCK>
__device__ inline void softmax_held(const Problem &a, i64 at, int thread, int threads) {
  using Stored = typename D::Stored;
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  const Stored *x = (const Stored *)a.first + at * a.n;
  Stored *y = (Stored *)a.out + at * a.n;
  const int lead = lead_of<D>(x, a.n, (i64)threads * UNITS * N), first = thread * N, step = threads * N;
  const Span span = {lead, lead + (int)a.n};
  Units<D, UNITS> row;
  row.load(x - lead, span, first, step, true);
  const Real own = row.top(), max = BLOCK ? block_max(own) : warp_max(own);
  Real v[UNITS][N];
  PowerSum<Real> s;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    Real e[N];
    D::unpack(row.at[u], v[u]);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      v[u][k] -= max;
      e[k] = exp_below<D>(v[u][k]);
    }
    add_powers<D, N>(s, e);
#pragma unroll
    for (int k = 0; k < N; ++k) v[u][k] = LOGARITHM ? v[u][k] : e[k];
  }
  const double sum = BLOCK ? block_sum(s.value()) : warp_sum(s.value());
  const Real factor = factor_of(sum, LOGARITHM, Real());
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
#pragma unroll
    for (int k = 0; k < N; ++k) v[u][k] = LOGARITHM ? v[u][k] - factor : v[u][k] * factor;
    store_words<D>(y - lead, span, first + u * step, D::pack(v[u]));
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void softmax_warp(const Problem &a) {
  const i64 warps = (i64)gridDim.x * (blockDim.x / ACLPY_LANES);
  i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / ACLPY_LANES;
  for (; row < a.outer; row += warps) {
    softmax_held<D, UNITS, LOGARITHM, false>(a, row, (int)(threadIdx.x % ACLPY_LANES), ACLPY_LANES);
  }
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void softmax_block(const Problem &a) {
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    softmax_held<D, UNITS, LOGARITHM, true>(a, row, (int)threadIdx.x, (int)blockDim.x);
  }
}

/* What a thread sees of units, as they come. */
template <class D, int UNITS>
__device__ inline void see(const Units<D, UNITS> &some, Seen<D> &seen) {
  constexpr int N = Unit<D>::N;
  typename D::Real v[UNITS * N];
#pragma unroll
  for (int u = 0; u < UNITS; ++u) D::unpack(some.at[u], v + u * N);
  seen.template add<UNITS * N>(v);
}
/* A thread's exponentials more. Where they have the size of what they come from they take its place, or, for the
 * logarithm, differences from the maximum do. */
template <class D, bool LOGARITHM, int UNITS>
__device__ inline void add_powers_of(Units<D, UNITS> &some, typename D::Real max, PowerSum<typename D::Real> &s) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real v[N], e[N];
    D::unpack(some.at[u], v);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      v[k] -= max;
      e[k] = exp_below<D>(v[k]);
    }
    add_powers<D, N>(s, e);
    if (D::WIDE) some.at[u] = D::pack(LOGARITHM ? v : e);
  }
}
template <class D, bool LOGARITHM, int UNITS>
__device__ inline double sum_of(Units<D, UNITS> &some, typename D::Real max) {
  PowerSum<typename D::Real> s;
  add_powers_of<D, LOGARITHM>(some, max, s);
  return s.value();
}
/* Writes what add_powers_of has left. */
template <class D, bool LOGARITHM, int UNITS>
__device__ inline void finish(Units<D, UNITS> &some, typename D::Stored *base, const Span &s, int first, int step,
                              typename D::Real max, typename D::Real factor, u32 nothing) {
  constexpr int N = Unit<D>::N;
  if (!D::WIDE) some.again(nothing);
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real v[N];
    D::unpack(some.at[u], v);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (!D::WIDE) {
        v[k] = result_of<D>(v[k], max, factor, LOGARITHM);
      } else {
        v[k] = LOGARITHM ? v[k] - factor : v[k] * factor;
      }
    }
    store_words<D>(base, s, first + u * step, D::pack(v));
  }
}
template <class D, int UNITS>
__device__ inline void normalise(const Units<D, UNITS> &some, typename D::Stored *base, const Span &s, int first,
                                 int step, typename D::Real max, typename D::Real factor, bool logarithm) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real v[N];
    D::unpack(some.at[u], v);
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = result_of<D>(v[k], max, factor, logarithm);
    store_words<D>(base, s, first + u * step, D::pack(v));
  }
}

template <class D, int UNITS, int THREADS>
__device__ inline void scan_slabs(const typename D::Stored *base, const Slabs<D, UNITS, THREADS> &slabs,
                                  Seen<D> &seen) {
  if constexpr (UNITS > 0) {
    for (int at = slabs.begin; at < slabs.row.high; at += slabs.size()) {
      Units<D, UNITS> some;
      some.load(base + at, slabs.at(at), slabs.first(), slabs.step(), true);
      see(some, seen);
    }
  }
}
/* From the end: what was read last is still in the caches. */
template <class D, int UNITS, int THREADS>
__device__ inline void write_slabs(const typename D::Stored *x, typename D::Stored *y,
                                   const Slabs<D, UNITS, THREADS> &slabs, typename D::Real max, typename D::Real factor,
                                   bool logarithm) {
  if constexpr (UNITS > 0) {
    for (int at = slabs.last(); at >= slabs.begin; at -= slabs.size()) {
      Units<D, UNITS> some;
      some.load(x + at, slabs.at(at), slabs.first(), slabs.step(), true);
      normalise(some, y + at, slabs.at(at), slabs.first(), slabs.step(), max, factor, logarithm);
    }
  }
}

/* Rows that are kept in registers as they lie in memory, but for what is too long: that is read twice, the second time
 * from the caches. */
template <class D, int THREADS, int HELD, int UNITS, bool LOGARITHM>
__device__ inline void softmax_kept(const Problem &a) {
  using Stored = typename D::Stored;
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Stored *x = (const Stored *)a.first + row * a.n;
    Stored *y = (Stored *)a.out + row * a.n;
    const int held = Slabs<D, 1, THREADS>::step() * HELD, lead = lead_of<D>(x, a.n, UNITS > 0 ? a.n + N : (i64)held);
    const Slabs<D, UNITS, THREADS> slabs(lead, a.n, held);
    Units<D, HELD> kept;
    kept.load(x - lead, slabs.row, slabs.first(), slabs.step(), true);
    Seen<D> rest;
    scan_slabs(x - lead, slabs, rest);
    const Real max = block_max(larger(rest.max, kept.top()));
    double own = sum_of<D, LOGARITHM>(kept, max);
    if (UNITS > 0) own += rescaled(rest.sum, (double)rest.max, (double)max);
    const Real factor = factor_of(block_sum(own), LOGARITHM, Real());
    write_slabs(x - lead, y - lead, slabs, max, factor, LOGARITHM);
    finish<D, LOGARITHM>(kept, y - lead, slabs.row, slabs.first(), slabs.step(), max, factor, nothing_of(a.n));
  }
}

/* Several blocks a row, three launches: chunks, rows, chunks again. */
template <class D>
__device__ inline void softmax_partial(const Problem &a) {
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 first = item % a.chunks * a.chunk;
    const auto *x = (const typename D::Stored *)a.first + item / a.chunks * a.n + first;
    const i64 n = smaller(a.chunk, a.n - first);
    const int lead = lead_of<D>(x, n, n + Unit<D>::N);
    Seen<D> seen;
    scan_slabs(x - lead, Slabs<D, 4>(lead, n, 0), seen);
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
    const i64 row = item / a.chunks, first = item % a.chunks * a.chunk, n = smaller(a.chunk, a.n - first);
    const Stored *x = (const Stored *)a.first + row * a.n + first;
    Stored *y = (Stored *)a.out + row * a.n + first;
    const int lead = lead_of<D>(x, n, n + Unit<D>::N);
    write_slabs(x - lead, y - lead, Slabs<D, 4>(lead, n, 0), (Real)row_values(a, 0)[row], (Real)row_values(a, 1)[row],
                LOGARITHM);
  }
}

#endif
