/* SPDX-License-Identifier: Apache-2.0
 * softmax backward and log-softmax backward over an axis that is not the last, by long strips: each is read once, into
 * registers and shared memory.
 */
#ifndef ACLPY_CUDA_BACKWARD_STRIPS_SPARE_H
#define ACLPY_CUDA_BACKWARD_STRIPS_SPARE_H

#include "backward_strips.h"
#include "strips_spare.h"

/* softmax: HELD rows of each operand a thread in registers. Strips are half as wide, for want of room. */
template <class D, int HELD>
__device__ inline void both_strips_spare(const Problem &a) {
  using Real = typename D::Real;
  constexpr int WIDTH = ACLPY_STRIP / 2;
  using Rest = StripRest<D, WIDTH, HELD>;
  const Rest rest(a);
  const Rows<D> p(a, 0);
  for (u32 item = blockIdx.x; item < strips_of<D, WIDTH>(a); item += gridDim.x) {
    const Strip<D, WIDTH> t = strip_of<D, WIDTH>(a, item);
    Units<D, HELD> g, y;
    load_rows(g, p.g, a, t, t.row, (int)a.n, false);
    load_rows(y, p.y, a, t, t.row, (int)a.n, false);
    for (int k = 0; k < rest.count; ++k) {
      rest.fetch(2 * k, p.g, a, t, k, false);
      rest.fetch(2 * k + 1, p.y, a, t, k, false);
    }
    Sum<Real> s[Unit<D>::N];
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one_g = {{rest.at(2 * k)}}, one_y = {{rest.at(2 * k + 1)}};
      add_rows(s, one_g, one_y, false);
    }
    /* Column after column, which takes the fewest registers. */
    const auto column = [&](int c) {
#pragma unroll
      for (int u = 0; u < HELD; ++u) {
        add_term<D>(s[c], D::load(D::take(g.at[u], c)), D::load(D::take(y.at[u], c)), false);
      }
      return s[c].value();
    };
    const Total<Real> *const total =
        strip_join<D, WIDTH, double, double, Total<Real>>(column, Added(), Totalled<Real>());
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one_g = {{rest.at(2 * k)}}, one_y = {{rest.at(2 * k + 1)}};
      write_rows(a, t, Rest::row(t, k), (int)a.n, one_g, one_y, total, false);
    }
    g.again(nothing_of(a.n));
    y.again(nothing_of(a.n));
    write_rows(a, t, t.row, (int)a.n, g, y, total, false);
  }
}

/* log-softmax, whose sum needs one operand only: HELD rows of that in registers; the other is read when wanted. */
template <class D, int HELD>
__device__ inline void one_strips_spare(const Problem &a) {
  using Real = typename D::Real;
  constexpr int AT_ONCE = 2, WIDTH = ACLPY_STRIP;
  using Rest = StripRest<D, WIDTH, HELD>;
  const Rest rest(a);
  const Rows<D> p(a, 0);
  for (u32 item = blockIdx.x; item < strips_of<D, WIDTH>(a); item += gridDim.x) {
    const Strip<D, WIDTH> t = strip_of<D, WIDTH>(a, item);
    Units<D, AT_ONCE> g[HELD / AT_ONCE];
#pragma unroll
    for (int k = 0; k < HELD / AT_ONCE; ++k) {
      load_rows(g[k], p.g, a, t, t.row + AT_ONCE * k * Rest::ROWS, (int)a.n, false);
    }
    for (int k = 0; k < rest.count; ++k) rest.fetch(k, p.g, a, t, k, false);
    Sum<Real> s[Unit<D>::N];
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one = {{rest.at(k)}};
      add_rows(s, one, one, true);
    }
    const auto column = [&](int c) {
#pragma unroll
      for (int u = 0; u < HELD; ++u) s[c].add(D::load(D::take(g[u / AT_ONCE].at[u % AT_ONCE], c)));
      return s[c].value();
    };
    const Total<Real> *const total =
        strip_join<D, WIDTH, double, double, Total<Real>>(column, Added(), Totalled<Real>());
    for (int k = 0; k < rest.count; k += AT_ONCE) {
      Units<D, AT_ONCE> some, y;
      load_rows(y, p.y, a, t, Rest::row(t, k), (int)a.n, false);
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e) some.at[e] = rest.at(k + e < rest.count ? k + e : k);
      write_rows(a, t, Rest::row(t, k), (int)a.n, some, y, total, true);
    }
#pragma unroll
    for (int k = HELD / AT_ONCE - 1; k >= 0; --k) {
      Units<D, AT_ONCE> y;
      load_rows(y, p.y, a, t, t.row + AT_ONCE * k * Rest::ROWS, (int)a.n, false);
      g[k].again(nothing_of(a.n));
      write_rows(a, t, t.row + AT_ONCE * k * Rest::ROWS, (int)a.n, g[k], y, total, true);
    }
  }
}

#endif
