/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax over an axis that is not the last, by strips.
 */
#ifndef ACLPY_CUDA_SOFTMAX_STRIPS_H
#define ACLPY_CUDA_SOFTMAX_STRIPS_H

#include "softmax.h"
#include "strips.h"

/* What a thread's sum of a few exponentials is given on in: a logarithm near 0 wants all of it. */
template <bool LOGARITHM>
struct PartialOf {
  using Type = float;
};
template <>
struct PartialOf<true> {
  using Type = double;
};

/* Maxima of the columns. */
template <class D, int UNITS>
__device__ inline const typename D::Real *strip_tops(const Units<D, UNITS> &some) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  Real v[N], max[N];
  D::unpack(some.at[0], max);
#pragma unroll
  for (int u = 1; u < UNITS; ++u) {
    D::unpack(some.at[u], v);
#pragma unroll
    for (int c = 0; c < N; ++c) max[c] = larger(max[c], v[c]);
  }
  return strip_join<D, Real>(max, Larger());
}
/* Exponentials of one row; these, or for the logarithm differences from the maxima, are left in v. */
template <class D, bool LOGARITHM>
__device__ inline void row_powers(const Word4 &row, const typename D::Real *max, typename D::Real *v,
                                  typename D::Real *e) {
  D::unpack(row, v);
#pragma unroll
  for (int c = 0; c < Unit<D>::N; ++c) {
    v[c] -= max[c];
    e[c] = exp_below<D>(v[c]);
    if (!LOGARITHM) v[c] = e[c];
  }
}
/* Sums of the columns' exponentials. */
template <class D, bool LOGARITHM, int UNITS>
__device__ inline const double *strip_powers(const Units<D, UNITS> &some, const typename D::Real *max,
                                             typename D::Real (*v)[Unit<D>::N]) {
  using Real = typename D::Real;
  using Partial = typename PartialOf<LOGARITHM>::Type;
  constexpr int N = Unit<D>::N;
  Partial sum[N];
  Real e[2][N];
  if constexpr (D::WIDE) {
    PowerSum<Real> s[N];
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      row_powers<D, LOGARITHM>(some.at[u], max, v[u], e[0]);
#pragma unroll
      for (int c = 0; c < N; ++c) s[c].add(e[0][c]);
    }
#pragma unroll
    for (int c = 0; c < N; ++c) sum[c] = (Partial)s[c].value();
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) sum[c] = 0;
#pragma unroll
    for (int u = 0; u < UNITS; u += 2) {
      row_powers<D, LOGARITHM>(some.at[u], max, v[u], e[0]);
      row_powers<D, LOGARITHM>(some.at[u + 1], max, v[u + 1], e[1]);
#pragma unroll
      for (int c = 0; c < N; ++c) sum[c] += (Partial)(e[0][c] + e[1][c]); /* one of these sums may have a 1 in it */
    }
  }
  return strip_join<D, double>(sum, Added());
}

/* UNITS rows a thread: the whole strip in registers. */
template <class D, int UNITS, bool LOGARITHM>
__device__ inline void softmax_strip(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (u32 item = blockIdx.x; item < strips_of<D>(a); item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item);
    Units<D, UNITS> some;
    load_rows(some, (const typename D::Stored *)a.first, a, t, t.row, (int)a.n, true);
    Real v[UNITS][N], factor[N];
    const Real *const max = strip_tops(some);
    const double *const sums = strip_powers<D, LOGARITHM>(some, max, v);
#pragma unroll
    for (int c = 0; c < N; ++c) factor[c] = factor_of(sums[c], LOGARITHM, Real());
    constexpr bool ANEW = LOGARITHM && !D::WIDE; /* half the registers */
    if (ANEW) some.again(nothing_of(a.n));
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      if (ANEW) D::unpack(some.at[u], v[u]);
#pragma unroll
      for (int c = 0; c < N; ++c) {
        const Real kept = ANEW ? v[u][c] - max[c] : v[u][c];
        v[u][c] = LOGARITHM ? kept - factor[c] : kept * factor[c];
      }
      store_row<D>((typename D::Stored *)a.out, a, t, t.row + u * t.rows, (int)a.n, v[u]);
    }
  }
}

/* Rows [first, last). */
template <class D>
__device__ inline void strip_scan(const Problem &a, const Strip<D> &t, i64 first, i64 last, Seen<D> *seen) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N, UNITS = N == 4 ? 4 : 2; /* rows at once */
  for (i64 i = first + t.row; i < last; i += (i64)t.rows * UNITS) {
    Units<D, UNITS> some;
    load_rows(some, (const typename D::Stored *)a.first, a, t, i, last, true);
    Real v[UNITS][N];
#pragma unroll
    for (int u = 0; u < UNITS; ++u) D::unpack(some.at[u], v[u]);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      Real column[UNITS];
#pragma unroll
      for (int u = 0; u < UNITS; ++u) column[u] = v[u][c];
      seen[c].template add<UNITS>(column);
    }
  }
  Real max[N];
  double sum[N];
#pragma unroll
  for (int c = 0; c < N; ++c) max[c] = seen[c].max;
  const Real *const tops = strip_join<D, Real>(max, Larger());
  /* A column of only -inf has the sum of its parts: 0, or NaN. */
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const Real top = tops[c];
    const bool none = top == (Real)-ACLPY_INFINITY;
    sum[c] = none ? seen[c].sum : rescaled(seen[c].sum, (double)seen[c].max, (double)top);
    seen[c].max = top;
  }
  const double *const sums = strip_join<D, double>(sum, Added());
#pragma unroll
  for (int c = 0; c < N; ++c) seen[c].sum = sums[c];
}
/* From the end: what was read last is still in the caches. */
template <class D, bool LOGARITHM>
__device__ inline void strip_write(const Problem &a, const Strip<D> &t, i64 first, i64 last,
                                   const typename D::Real *max, const typename D::Real *factor) {
  constexpr int N = Unit<D>::N, UNITS = N == 4 ? 4 : 2; /* rows at once */
  const i64 step = (i64)t.rows * UNITS, steps = (last - first + step - 1) / step;
  for (i64 i = first + t.row + (steps - 1) * step; i >= first; i -= step) {
    Units<D, UNITS> some;
    load_rows(some, (const typename D::Stored *)a.first, a, t, i, last, true);
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      typename D::Real v[N];
      D::unpack(some.at[u], v);
#pragma unroll
      for (int c = 0; c < N; ++c) v[c] = result_of<D>(v[c], max[c], factor[c], LOGARITHM);
      store_row<D>((typename D::Stored *)a.out, a, t, i + (i64)u * t.rows, last, v);
    }
  }
}

template <class D, bool LOGARITHM>
__device__ inline void softmax_strip_stream(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (u32 item = blockIdx.x; item < strips_of<D>(a); item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item);
    Seen<D> seen[N];
    strip_scan(a, t, 0, a.n, seen);
    Real max[N], factor[N];
#pragma unroll
    for (int c = 0; c < N; ++c) {
      max[c] = seen[c].max;
      factor[c] = factor_of(seen[c].sum, LOGARITHM, Real());
    }
    strip_write<D, LOGARITHM>(a, t, 0, a.n, max, factor);
  }
}

template <class D>
__device__ inline void softmax_strip_partial(const Problem &a) {
  constexpr int N = Unit<D>::N;
  for (i64 item = blockIdx.x; item < strips_of<D>(a) * a.chunks; item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    Seen<D> seen[N];
    strip_scan(a, t, first, smaller(a.n, first + a.chunk), seen);
    if (t.row != 0 || !t.exists) continue;
#pragma unroll
    for (int c = 0; c < N; ++c) {
      chunk_values(a, 0)[(t.column + c) * a.chunks + chunk] = (double)seen[c].max;
      chunk_values(a, 1)[(t.column + c) * a.chunks + chunk] = seen[c].sum;
    }
  }
}
template <class D, bool LOGARITHM>
__device__ inline void softmax_strip_chunks(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (i64 item = blockIdx.x; item < strips_of<D>(a) * a.chunks; item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item / a.chunks);
    const i64 first = item % a.chunks * a.chunk;
    Real max[N], factor[N];
#pragma unroll
    for (int c = 0; c < N; ++c) {
      max[c] = t.exists ? (Real)row_values(a, 0)[t.column + c] : (Real)0;
      factor[c] = t.exists ? (Real)row_values(a, 1)[t.column + c] : (Real)0;
    }
    strip_write<D, LOGARITHM>(a, t, first, smaller(a.n, first + a.chunk), max, factor);
  }
}

#endif
