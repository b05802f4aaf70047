/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax over an axis that is not the last, by long strips: each is read once, into registers and
 * shared memory.
 */
#ifndef ACLPY_CUDA_SOFTMAX_STRIPS_SPARE_H
#define ACLPY_CUDA_SOFTMAX_STRIPS_SPARE_H

#include "softmax_strips.h"
#include "strips_spare.h"

/* What a thread adds the exponentials of a column in. */
template <class D, bool LOGARITHM>
struct ColumnSum {
  typename PartialOf<LOGARITHM>::Type all = 0;
  __device__ void add(float e) { all += (typename PartialOf<LOGARITHM>::Type)e; }
  __device__ double value() const { return (double)all; }
};
template <bool LOGARITHM>
struct ColumnSum<f32, LOGARITHM> : PowerSum<float> {};

/* A row's exponentials more. Where they have the size of what they come from they take its place, or, for the
 * logarithm, differences from the maxima do. */
template <class D, bool LOGARITHM>
__device__ inline void add_row(Word4 &w, const volatile typename D::Real *max, ColumnSum<D, LOGARITHM> *s) {
  constexpr int N = Unit<D>::N;
  typename D::Real v[N], e[N];
  D::unpack(w, v);
#pragma unroll
  for (int c = 0; c < N; ++c) {
    v[c] -= max[c];
    e[c] = exp_below<D>(v[c]);
    s[c].add(e[c]);
  }
  if (D::WIDE) w = D::pack(LOGARITHM ? v : e);
}
/* Writes what add_row has left. */
template <class D, bool LOGARITHM, int WIDTH>
__device__ inline void finish_row(const Problem &a, const Strip<D, WIDTH> &t, int row, const Word4 &w,
                                  const volatile typename D::Real *max, const volatile typename D::Real *factor) {
  constexpr int N = Unit<D>::N;
  typename D::Real v[N];
  D::unpack(w, v);
#pragma unroll
  for (int c = 0; c < N; ++c) {
    if (!D::WIDE) {
      v[c] = result_of<D>(v[c], max[c], factor[c], LOGARITHM);
    } else {
      v[c] = LOGARITHM ? v[c] - factor[c] : v[c] * factor[c];
    }
  }
  store_row<D>((typename D::Stored *)a.out, a, t, row, (int)a.n, v);
}
template <class D>
__device__ inline void raise(const Word4 &w, Word4 &most) {
  if constexpr (D::PAIRS) {
#pragma unroll
    for (int k = 0; k < 4; ++k) most.at[k] = D::top(most.at[k], w.at[k]);
  } else {
    constexpr int N = Unit<D>::N;
    typename D::Real v[N], top[N];
    D::unpack(w, v);
    D::unpack(most, top);
#pragma unroll
    for (int c = 0; c < N; ++c) top[c] = larger(top[c], v[c]);
    most = D::pack(top);
  }
}

/* ROWS rows a thread in registers, but for one where a logarithm's sums need room. */
template <class D, int ROWS, bool LOGARITHM>
__device__ inline void softmax_strip_spare(const Problem &a) {
  using Real = typename D::Real;
  constexpr int N = Unit<D>::N, WIDTH = ACLPY_STRIP, HELD = LOGARITHM && !D::WIDE ? ROWS - 1 : ROWS;
  using Rest = StripRest<D, WIDTH, HELD>;
  const Rest rest(a);
  const auto *const x = (const typename D::Stored *)a.first;
  for (u32 item = blockIdx.x; item < strips_of<D, WIDTH>(a); item += gridDim.x) {
    const Strip<D, WIDTH> t = strip_of<D, WIDTH>(a, item);
    Units<D, HELD> kept;
    load_rows(kept, x, a, t, t.row, (int)a.n, true);
    for (int k = 0; k < rest.count; ++k) rest.fetch(k, x, a, t, k, true);
    Word4 most = kept.at[0];
#pragma unroll
    for (int u = 1; u < HELD; ++u) raise<D>(kept.at[u], most);
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) raise<D>(rest.at(k), most);
    const volatile Real *const max = strip_tops<D, WIDTH>(Units<D, 1>{{most}});
    ColumnSum<D, LOGARITHM> s[N];
#pragma unroll
    for (int u = 0; u < HELD; ++u) add_row<D, LOGARITHM>(kept.at[u], max, s);
    for (int k = 0; k < rest.count; ++k) add_row<D, LOGARITHM>(rest.at(k), max, s);
    const auto column = [&](int c) { return s[c].value(); };
    const volatile Real *const factor =
        strip_join<D, WIDTH, double, double, Real>(column, Added(), Factor<Real, LOGARITHM>());
    kept.again(nothing_of(a.n));
    for (int k = 0; k < rest.count; ++k) {
      finish_row<D, LOGARITHM>(a, t, Rest::row(t, k), rest.at(k), max, factor);
    }
#pragma unroll
    for (int u = 0; u < HELD; ++u) {
      finish_row<D, LOGARITHM>(a, t, t.row + u * Rest::ROWS, kept.at[u], max, factor);
    }
  }
}

#endif
