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
#include "units.h"

template <class Real>
struct Total;

template <>
struct Total<float> {
  float high, low;
  Total() = default; /* in shared memory */
  __device__ explicit Total(double sum) : high((float)sum), low(0) {
    if (isfinite(high)) low = (float)(sum - (double)high);
  }
  template <class D>
  __device__ float result(float g, float y, bool logarithm) const {
    if (!logarithm) return y * ((g - high) - low);
    const float e = exp_of(y);
    if (!D::WIDE) return fmaf(-e, high, g); /* the low part is below what two bytes can show */
    /* A y above any logarithm of a probability: infinity times the low part must not become NaN. */
    return fmaf(-fminf(e, 3.402823466e38f), low, fmaf(-e, high, g));
  }
};

template <>
struct Total<double> {
  double sum;
  Total() = default;
  __device__ explicit Total(double whole) : sum(whole) {}
  template <class D>
  __device__ double result(double g, double y, bool logarithm) const {
    return logarithm ? fma(-exp_of(y), sum, g) : y * (g - sum);
  }
};

/* One element more: g * y, or g alone. */
template <class D>
__device__ inline void add_term(Sum<typename D::Real> &s, typename D::Real g, typename D::Real y, bool logarithm) {
  if (logarithm) {
    s.add(g);
  } else {
    s.template add_product<D::EXACT>(g, y);
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

/* Four elements of two bytes, which have bits to spare in float: few of these sums are rounded. Those of bfloat16 may
 * overflow where their elements one by one would not. */
template <class D>
__device__ inline void add_four(Sum<typename D::Real> &s, const typename D::Real *g) {
  const typename D::Real four = (g[0] + g[1]) + (g[2] + g[3]);
  if (!D::TINY || isfinite(four)) {
    s.add(four);
  } else {
    for (int k = 0; k < 4; ++k) s.add(g[k]);
  }
}

template <class D, int UNITS>
__device__ inline void add_units(Sum<typename D::Real> &s, const Units<D, UNITS> &g, const Units<D, UNITS> &y,
                                 bool logarithm) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real of_g[N], of_y[N];
    D::unpack(g.at[u], of_g);
    D::unpack(y.at[u], of_y);
    if (logarithm && !D::WIDE) {
#pragma unroll
      for (int k = 0; k < N; k += 4) add_four<D>(s, of_g + k);
    } else {
#pragma unroll
      for (int k = 0; k < N; ++k) add_term<D>(s, of_g[k], of_y[k], logarithm);
    }
  }
}
template <class D, int UNITS>
__device__ inline void write_units(typename D::Stored *out, const Span &span, int first, int step,
                                   const Units<D, UNITS> &g, const Units<D, UNITS> &y,
                                   const Total<typename D::Real> &total, bool logarithm) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real of_g[N], of_y[N];
    D::unpack(g.at[u], of_g);
    D::unpack(y.at[u], of_y);
#pragma unroll
    for (int k = 0; k < N; ++k) of_g[k] = total.template result<D>(of_g[k], of_y[k], logarithm);
    store_words<D>(out, span, first + u * step, D::pack(of_g));
  }
}

/* UNITS units of each operand a thread, `threads` threads: both rows in registers. */
template <class D, int UNITS, bool LOGARITHM, bool BLOCK>
__device__ inline void backward_held(const Problem &a, i64 row, int thread, int threads) {
  constexpr int N = Unit<D>::N;
  const Rows<D> p(a, row * a.n);
  const i64 n = a.n;
  const int lead = lead_of<D>(p.out, n, (i64)threads * UNITS * N), first = thread * N, step = threads * N;
  const Span span = {lead, lead + (int)n};
  Units<D, UNITS> g, y;
  g.load(p.g - lead, span, first, step, false);
  y.load(p.y - lead, span, first, step, false);
  Sum<typename D::Real> s;
  add_units(s, g, y, LOGARITHM);
  const Total<typename D::Real> total(BLOCK ? block_sum(s.value()) : warp_sum(s.value()));
  g.again(nothing_of(n));
  y.again(nothing_of(n));
  write_units(p.out - lead, span, first, step, g, y, total, LOGARITHM);
}

template <class D, int UNITS, bool LOGARITHM>
__device__ inline void backward_warp(const Problem &a) {
  const i64 warps = (i64)gridDim.x * (blockDim.x / ACLPY_LANES);
  i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / ACLPY_LANES;
  for (; row < a.outer; row += warps) {
    backward_held<D, UNITS, LOGARITHM, false>(a, row, (int)(threadIdx.x % ACLPY_LANES), ACLPY_LANES);
  }
}

/* THREADS: of the block, 0 where that differs. A constant saves the registers of as many addresses as there are units.
 */
template <class D, int UNITS, int THREADS, bool LOGARITHM>
__device__ inline void backward_block(const Problem &a) {
  const int threads = THREADS > 0 ? THREADS : (int)blockDim.x;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    backward_held<D, UNITS, LOGARITHM, true>(a, row, (int)threadIdx.x, threads);
  }
}

template <class D, int UNITS, int THREADS>
__device__ inline void backward_scan(const Rows<D> &p, int lead, const Slabs<D, UNITS, THREADS> &slabs, bool logarithm,
                                     Sum<typename D::Real> &s) {
  if constexpr (UNITS > 0) {
    for (int at = slabs.begin; at < slabs.row.high; at += slabs.size()) {
      Units<D, UNITS> g, y;
      g.load(p.g - lead + at, slabs.at(at), slabs.first(), slabs.step(), false);
      if (!logarithm) y.load(p.y - lead + at, slabs.at(at), slabs.first(), slabs.step(), false);
      add_units(s, g, logarithm ? g : y, logarithm);
    }
  }
}
/* From the end: what was read last is still in the caches. */
template <class D, int UNITS, int THREADS>
__device__ inline void backward_write(const Rows<D> &p, int lead, const Slabs<D, UNITS, THREADS> &slabs,
                                      const Total<typename D::Real> &total, bool logarithm) {
  if constexpr (UNITS > 0) {
    for (int at = slabs.last(); at >= slabs.begin; at -= slabs.size()) {
      Units<D, UNITS> g, y;
      g.load(p.g - lead + at, slabs.at(at), slabs.first(), slabs.step(), false);
      y.load(p.y - lead + at, slabs.at(at), slabs.first(), slabs.step(), false);
      write_units(p.out - lead + at, slabs.at(at), slabs.first(), slabs.step(), g, y, total, logarithm);
    }
  }
}

/* Rows of which as much as there is room for is kept in registers, as it lies in memory; the rest is read twice, the
 * second time from the caches. */
template <class D, int THREADS, int HELD, int UNITS, bool LOGARITHM>
__device__ inline void both_kept(const Problem &a) {
  constexpr int N = Unit<D>::N;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Rows<D> p(a, row * a.n);
    const int lead = lead_of<D>(p.out, a.n, a.n + N);
    const Slabs<D, UNITS, THREADS> slabs(lead, a.n, Slabs<D, 1, THREADS>::step() * HELD);
    Units<D, HELD> g, y;
    g.load(p.g - lead, slabs.row, slabs.first(), slabs.step(), false);
    y.load(p.y - lead, slabs.row, slabs.first(), slabs.step(), false);
    Sum<typename D::Real> s;
    add_units(s, g, y, LOGARITHM);
    backward_scan(p, lead, slabs, LOGARITHM, s);
    const Total<typename D::Real> total(block_sum(s.value()));
    backward_write(p, lead, slabs, total, LOGARITHM);
    g.again(nothing_of(a.n));
    y.again(nothing_of(a.n));
    write_units(p.out - lead, slabs.row, slabs.first(), slabs.step(), g, y, total, LOGARITHM);
  }
}
/* Longer rows where the sum needs one operand only: more of that is kept, and the other is read once. */
template <class D, int THREADS, int HELD, int UNITS>
__device__ inline void one_kept(const Problem &a) {
  constexpr int AT_ONCE = D::WIDE ? 2 : 1, PARTS = 2 * HELD / AT_ONCE;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Rows<D> p(a, row * a.n);
    const int lead = lead_of<D>(p.out, a.n, a.n + Unit<D>::N), part = AT_ONCE * Slabs<D, 1, THREADS>::step();
    const Slabs<D, UNITS, THREADS> slabs(lead, a.n, PARTS * part);
    Units<D, AT_ONCE> g[PARTS];
    Sum<typename D::Real> s;
#pragma unroll
    for (int k = 0; k < PARTS; ++k) {
      g[k].load(p.g - lead + k * part, slabs.at(k * part), slabs.first(), slabs.step(), false);
    }
#pragma unroll
    for (int k = 0; k < PARTS; ++k) add_units(s, g[k], g[k], true);
    backward_scan(p, lead, slabs, true, s);
    const Total<typename D::Real> total(block_sum(s.value()));
    backward_write(p, lead, slabs, total, true);
#pragma unroll
    for (int k = PARTS - 1; k >= 0; --k) {
      Units<D, AT_ONCE> y;
      y.load(p.y - lead + k * part, slabs.at(k * part), slabs.first(), slabs.step(), false);
      g[k].again(nothing_of(a.n));
      write_units(p.out - lead + k * part, slabs.at(k * part), slabs.first(), slabs.step(), g[k], y, total, true);
    }
  }
}
template <class D, int THREADS, int HELD, int UNITS, bool LOGARITHM>
__device__ inline void backward_kept(const Problem &a) {
  if (LOGARITHM && a.n + Unit<D>::N - 1 > Slabs<D, 1, THREADS>::step() * HELD) {
    one_kept<D, THREADS, Unit<D>::N == 2 ? 2 : D::WIDE ? 4 : 3, UNITS>(a);
  } else {
    both_kept<D, THREADS, HELD, LOGARITHM ? 0 : UNITS, LOGARITHM>(a);
  }
}

/* Several blocks a row, three launches: chunks, rows, chunks again. */
template <class D, bool LOGARITHM>
__device__ inline void backward_partial(const Problem &a) {
  for (i64 item = blockIdx.x; item < a.outer * a.chunks; item += gridDim.x) {
    const i64 first = item % a.chunks * a.chunk;
    const Rows<D> p(a, item / a.chunks * a.n + first);
    const i64 n = smaller(a.chunk, a.n - first);
    const int lead = lead_of<D>(p.out, n, n + Unit<D>::N);
    Sum<typename D::Real> s;
    backward_scan(p, lead, Slabs<D, 2>(lead, n, 0), LOGARITHM, s);
    const double sum = block_sum(s.value());
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
    const i64 row = item / a.chunks, first = item % a.chunks * a.chunk, n = smaller(a.chunk, a.n - first);
    const Rows<D> p(a, row * a.n + first);
    const int lead = lead_of<D>(p.out, n, n + Unit<D>::N);
    backward_write(p, lead, Slabs<D, 2>(lead, n, 0), Total<typename D::Real>(row_values(a, 0)[row]), LOGARITHM);
  }
}

#endif
