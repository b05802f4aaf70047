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

/* A sum as what results are made with: by one thread for all of a column. */
template <class Real, bool LOGARITHM>
struct Factor {
  __device__ Real operator()(double sum) const { return factor_of(sum, LOGARITHM, Real()); }
};

/* Maxima of the columns. */
template <class D, int WIDTH, int UNITS>
__device__ inline const typename D::Real *strip_tops(const Units<D, UNITS> &some) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  Real v[N], max[N];
  if constexpr (D::PAIRS) {
    D::unpack(some.tops(), max);
  } else {
    D::unpack(some.at[0], max);
#pragma unroll
    for (int u = 1; u < UNITS; ++u) {
      D::unpack(some.at[u], v);
#pragma unroll
      for (int c = 0; c < N; ++c) max[c] = larger(max[c], v[c]);
    }
  }
  return strip_join<D, WIDTH, Real, Real, Real>([&](int c) { return max[c]; }, Larger(), Itself());
}
/* Factors of the columns, from the sums of their exponentials. KEEP: these exponentials, or for the logarithm
 * differences from the maxima, are left in v. */
template <class D, int WIDTH, bool LOGARITHM, bool KEEP, int UNITS>
__device__ inline const typename D::Real *strip_factors(const Units<D, UNITS> &some, const typename D::Real *max,
                                                        typename D::Real (*v)[Unit<D>::N]) {
  using Real = typename D::Real;
  using Partial = typename PartialOf<LOGARITHM>::Type;
  /* Of one column of one row. */
  const auto power = [&](int u, int c) {
    const Real below = D::load(D::take(some.at[u], c)) - max[c], e = exp_below<D>(below);
    if (KEEP) v[u][c] = LOGARITHM ? below : e;
    return e;
  };
  const auto column = [&](int c) {
    if constexpr (D::WIDE) {
      PowerSum<Real> s;
#pragma unroll
      for (int u = 0; u < UNITS; ++u) s.add(power(u, c));
      return (Partial)s.value();
    } else {
      Partial sum = 0;
#pragma unroll
      for (int u = 0; u < UNITS; u += 2) sum += (Partial)(power(u, c) + power(u + 1, c)); /* one may have a 1 in it */
      return sum;
    }
  };
  return strip_join<D, WIDTH, Partial, double, Real>(column, Added(), Factor<Real, LOGARITHM>());
}

/* UNITS rows a thread: the whole strip in registers. ANEW: what has been computed for the sum is computed once more
 * for the results, which takes half the registers. */
template <class D, int UNITS, bool ANEW, bool LOGARITHM>
__device__ inline void softmax_strip(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  constexpr bool OLD = ACLPY_CARD < 80 && D::TINY && ANEW; /* has no instruction that rounds to bfloat16: rows are read
                                                              twice, for want of registers */
  for (u32 item = blockIdx.x; item < strips_of<D>(a); item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item);
    Units<D, UNITS> some;
    load_rows(some, (const typename D::Stored *)a.first, a, t, t.row, (int)a.n, true);
    Real v[UNITS][N];
    const Real *const max = strip_tops<D, ACLPY_STRIP>(some);
    if (OLD) some.hide(nothing_of(a.n));
    const Real *const factor = strip_factors<D, ACLPY_STRIP, LOGARITHM, !ANEW>(some, max, v);
    const volatile Real *const tops = max; /* read where it is wanted, which takes fewer registers */
    if (OLD) load_rows(some, (const typename D::Stored *)a.first, a, t, t.row, (int)a.n, true);
    if (ANEW) some.hide(nothing_of(a.n));
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      if (ANEW) D::unpack(some.at[u], v[u]);
#pragma unroll
      for (int c = 0; c < N; ++c) {
        if (ANEW) {
          v[u][c] = result_of<D>(v[u][c], tops[c], factor[c], LOGARITHM);
        } else {
          v[u][c] = LOGARITHM ? v[u][c] - factor[c] : v[u][c] * factor[c];
        }
      }
      store_row<D>((typename D::Stored *)a.out, a, t, t.row + u * t.rows, (int)a.n, v[u]);
    }
  }
}

/* Rows [first, last), UNITS at once: maxima of the columns in max, and what `finish` makes of the sums of their
 * exponentials. */
template <class D, int WIDTH, int UNITS, class Done, class Finish>
__device__ inline const Done *strip_scan(const Problem &a, const Strip<D, WIDTH> &t, i64 first, i64 last,
                                         typename D::Real *max, Finish finish) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  Seen<D> seen[N];
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
  double sum[N];
#pragma unroll
  for (int c = 0; c < N; ++c) max[c] = seen[c].max;
  const Real *const tops = strip_join<D, WIDTH, Real, Real, Real>([&](int c) { return max[c]; }, Larger(), Itself());
  /* A column of only -inf has the sum of its parts: 0, or NaN. */
#pragma unroll
  for (int c = 0; c < N; ++c) {
    const Real top = tops[c];
    const bool none = top == (Real)-ACLPY_INFINITY;
    sum[c] = none ? seen[c].sum : rescaled(seen[c].sum, (double)seen[c].max, (double)top);
    max[c] = top;
  }
  return strip_join<D, WIDTH, double, double, Done>([&](int c) { return sum[c]; }, Added(), finish);
}
/* From the end: what was read last is still in the caches. */
template <class D, int WIDTH, bool LOGARITHM>
__device__ inline void strip_write(const Problem &a, const Strip<D, WIDTH> &t, i64 first, i64 last,
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

template <class D, int WIDTH, bool LOGARITHM>
__device__ inline void softmax_strip_stream(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (u32 item = blockIdx.x; item < strips_of<D, WIDTH>(a); item += gridDim.x) {
    const Strip<D, WIDTH> t = strip_of<D, WIDTH>(a, item);
    Real max[N], factor[N];
    const Real *const made = strip_scan<D, WIDTH, 4, Real>(a, t, 0, a.n, max, Factor<Real, LOGARITHM>());
#pragma unroll
    for (int c = 0; c < N; ++c) factor[c] = made[c];
    strip_write<D, WIDTH, LOGARITHM>(a, t, 0, a.n, max, factor);
  }
}

template <class D>
__device__ inline void softmax_strip_partial(const Problem &a) {
  constexpr int N = Unit<D>::N;
  for (i64 item = blockIdx.x; item < strips_of<D>(a) * a.chunks; item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    typename D::Real max[N];
    const double *const sum =
        strip_scan<D, ACLPY_STRIP, N == 4 ? 4 : 2, double>(a, t, first, smaller(a.n, first + a.chunk), max, Itself());
    if (t.row != 0 || !t.exists) continue;
#pragma unroll
    for (int c = 0; c < N; ++c) {
      chunk_values(a, 0)[(t.column + c) * a.chunks + chunk] = (double)max[c];
      chunk_values(a, 1)[(t.column + c) * a.chunks + chunk] = sum[c];
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
    strip_write<D, ACLPY_STRIP, LOGARITHM>(a, t, first, smaller(a.n, first + a.chunk), max, factor);
  }
}

#endif
