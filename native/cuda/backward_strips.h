/* SPDX-License-Identifier: Apache-2.0
 * softmax backward and log-softmax backward over an axis that is not the last, by strips.
 */
#ifndef ACLPY_CUDA_BACKWARD_STRIPS_H
#define ACLPY_CUDA_BACKWARD_STRIPS_H

#include "softmax_backward.h"
#include "strips.h"

template <class D, int UNITS>
__device__ inline void add_rows(Sum<typename D::Real> *s, const Units<D, UNITS> &g, const Units<D, UNITS> &y,
                                bool logarithm) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real of_g[N], of_y[N];
    D::unpack(g.at[u], of_g);
    D::unpack(y.at[u], of_y);
#pragma unroll
    for (int c = 0; c < N; ++c) add_term<D>(s[c], of_g[c], of_y[c], logarithm);
  }
}
/* A sum as results are made with it: by one thread for all of a column. */
template <class Real>
struct Totalled {
  __device__ Total<Real> operator()(double sum) const { return Total<Real>(sum); }
};
template <class D, int WIDTH, class Done, class Finish>
__device__ inline const Done *strip_sums(const Sum<typename D::Real> *s, Finish finish) {
  return strip_join<D, WIDTH, double, double, Done>([&](int c) { return s[c].value(); }, Added(), finish);
}
/* Rows first, first + t.rows, ... below last. */
template <class D, int WIDTH, int UNITS, class Index>
__device__ inline void write_rows(const Problem &a, const Strip<D, WIDTH> &t, Index first, Index last,
                                  const Units<D, UNITS> &g, const Units<D, UNITS> &y,
                                  const Total<typename D::Real> *total, bool logarithm) {
  constexpr int N = Unit<D>::N;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    typename D::Real of_g[N], of_y[N];
    D::unpack(g.at[u], of_g);
    D::unpack(y.at[u], of_y);
#pragma unroll
    for (int c = 0; c < N; ++c) of_g[c] = total[c].template result<D>(of_g[c], of_y[c], logarithm);
    store_row<D>((typename D::Stored *)a.out, a, t, first + (Index)u * t.rows, last, of_g);
  }
}

/* UNITS rows of each operand a thread: the whole strip in registers. */
template <class D, int UNITS, bool LOGARITHM>
__device__ inline void backward_strip(const Problem &a) {
  using Real = typename D::Real;
  const Rows<D> p(a, 0);
  for (u32 item = blockIdx.x; item < strips_of<D>(a); item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item);
    Units<D, UNITS> g, y;
    load_rows(g, p.g, a, t, t.row, (int)a.n, false);
    load_rows(y, p.y, a, t, t.row, (int)a.n, false);
    const auto column = [&](int c) {
      Sum<Real> s;
      Real of_g[UNITS];
#pragma unroll
      for (int u = 0; u < UNITS; ++u) of_g[u] = D::load(D::take(g.at[u], c));
      if constexpr (LOGARITHM && !D::WIDE) {
        static_assert(UNITS == 4, "what add_four takes");
        add_four<D>(s, of_g);
      } else {
#pragma unroll
        for (int u = 0; u < UNITS; ++u) add_term<D>(s, of_g[u], D::load(D::take(y.at[u], c)), LOGARITHM);
      }
      return s.value();
    };
    const Total<Real> *const total =
        strip_join<D, ACLPY_STRIP, double, double, Total<Real>>(column, Added(), Totalled<Real>());
    g.again(nothing_of(a.n));
    if (LOGARITHM) {
      y.hide(nothing_of(a.n));
    } else {
      y.again(nothing_of(a.n));
    }
    write_rows(a, t, t.row, (int)a.n, g, y, total, LOGARITHM);
  }
}

template <class D, int WIDTH, class Done, class Finish>
__device__ inline const Done *backward_strip_scan(const Problem &a, const Strip<D, WIDTH> &t, i64 first, i64 last,
                                                  bool logarithm, Finish finish) {
  constexpr int UNITS = 2; /* rows of both operands at once */
  const Rows<D> p(a, 0);
  Sum<typename D::Real> s[Unit<D>::N];
  for (i64 i = first + t.row; i < last; i += (i64)t.rows * UNITS) {
    Units<D, UNITS> g, y;
    load_rows(g, p.g, a, t, i, last, false);
    if (!logarithm) load_rows(y, p.y, a, t, i, last, false);
    add_rows(s, g, logarithm ? g : y, logarithm);
  }
  return strip_sums<D, WIDTH, Done>(s, finish);
}
/* From the end: what was read last is still in the caches. */
template <class D, int WIDTH>
__device__ inline void backward_strip_write(const Problem &a, const Strip<D, WIDTH> &t, i64 first, i64 last,
                                            const Total<typename D::Real> *total, bool logarithm) {
  constexpr int UNITS = 2; /* rows of both operands at once */
  const Rows<D> p(a, 0);
  const i64 step = (i64)t.rows * UNITS, steps = (last - first + step - 1) / step;
  for (i64 i = first + t.row + (steps - 1) * step; i >= first; i -= step) {
    Units<D, UNITS> g, y;
    load_rows(g, p.g, a, t, i, last, false);
    load_rows(y, p.y, a, t, i, last, false);
    write_rows(a, t, i, last, g, y, total, logarithm);
  }
}

template <class D, int WIDTH, bool LOGARITHM>
__device__ inline void backward_strip_stream(const Problem &a) {
  using Real = typename D::Real;
  for (u32 item = blockIdx.x; item < strips_of<D, WIDTH>(a); item += gridDim.x) {
    const Strip<D, WIDTH> t = strip_of<D, WIDTH>(a, item);
    const Total<Real> *const total =
        backward_strip_scan<D, WIDTH, Total<Real>>(a, t, 0, a.n, LOGARITHM, Totalled<Real>());
    backward_strip_write(a, t, 0, a.n, total, LOGARITHM);
  }
}
template <class D, bool LOGARITHM>
__device__ inline void backward_strip_partial(const Problem &a) {
  constexpr int N = Unit<D>::N;
  for (i64 item = blockIdx.x; item < strips_of<D>(a) * a.chunks; item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item / a.chunks);
    const i64 chunk = item % a.chunks, first = chunk * a.chunk;
    const double *const sum =
        backward_strip_scan<D, ACLPY_STRIP, double>(a, t, first, smaller(a.n, first + a.chunk), LOGARITHM, Itself());
    if (t.row != 0 || !t.exists) continue;
#pragma unroll
    for (int c = 0; c < N; ++c) chunk_values(a, 0)[(t.column + c) * a.chunks + chunk] = sum[c];
  }
}
template <class D, bool LOGARITHM>
__device__ inline void backward_strip_chunks(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N;
  for (i64 item = blockIdx.x; item < strips_of<D>(a) * a.chunks; item += gridDim.x) {
    const Strip<D> t = strip_of<D>(a, item / a.chunks);
    const i64 first = item % a.chunks * a.chunk;
    Total<Real> total[N];
#pragma unroll
    for (int c = 0; c < N; ++c) total[c] = Total<Real>(t.exists ? row_values(a, 0)[t.column + c] : 0.0);
    backward_strip_write(a, t, first, smaller(a.n, first + a.chunk), total, LOGARITHM);
  }
}

#endif
