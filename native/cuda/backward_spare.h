/* SPDX-License-Identifier: Apache-2.0
 * softmax backward and log-softmax backward of long rows: each is read once, into registers and shared memory.
 */
#ifndef ACLPY_CUDA_BACKWARD_SPARE_H
#define ACLPY_CUDA_BACKWARD_SPARE_H

#include "softmax_backward.h"
#include "spare.h"

/* softmax: HELD units of each operand a thread in registers. */
template <class D, int THREADS, int HELD>
__device__ inline void both_spare(const Problem &a) {
  using Real = typename D::Real;
  using Rest = Spare<D, THREADS, HELD>;
  const Rest rest(a.n);
  const int first = (int)threadIdx.x * Unit<D>::N;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Rows<D> p(a, row * a.n);
    const int lead = lead_of<D>(p.out, a.n, rest.room());
    const Span span = {lead, lead + (int)a.n};
    Units<D, HELD> g, y;
    g.load(p.g - lead, span, first, Rest::STEP, false);
    y.load(p.y - lead, span, first, Rest::STEP, false);
    for (int k = 0; k < rest.count; ++k) {
      rest.fetch(2 * k, p.g - lead, span, k, false);
      rest.fetch(2 * k + 1, p.y - lead, span, k, false);
    }
    Sum<Real> s;
    add_units(s, g, y, false);
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one_g = {{rest.at(2 * k)}}, one_y = {{rest.at(2 * k + 1)}};
      add_units(s, one_g, one_y, false);
    }
    const Total<Real> total(block_sum(s.value()));
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one_g = {{rest.at(2 * k)}}, one_y = {{rest.at(2 * k + 1)}};
      write_units(p.out - lead, span, Rest::place(k), 0, one_g, one_y, total, false);
    }
    g.again(nothing_of(a.n));
    y.again(nothing_of(a.n));
    write_units(p.out - lead, span, first, Rest::STEP, g, y, total, false);
  }
}

/* log-softmax, whose sum needs one operand only: HELD units of that in registers; the other is read when wanted. */
template <class D, int THREADS, int HELD>
__device__ inline void one_spare(const Problem &a) {
  using Real = typename D::Real;
  using Rest = Spare<D, THREADS, HELD>;
  constexpr int AT_ONCE = 2;
  const Rest rest(a.n);
  const int first = (int)threadIdx.x * Unit<D>::N;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Rows<D> p(a, row * a.n);
    const int lead = lead_of<D>(p.out, a.n, rest.room());
    const Span span = {lead, lead + (int)a.n};
    Units<D, AT_ONCE> g[HELD / AT_ONCE];
#pragma unroll
    for (int k = 0; k < HELD / AT_ONCE; ++k) {
      g[k].load(p.g - lead, span, first + AT_ONCE * k * Rest::STEP, Rest::STEP, false);
    }
    for (int k = 0; k < rest.count; ++k) rest.fetch(k, p.g - lead, span, k, false);
    Sum<Real> s;
#pragma unroll
    for (int k = 0; k < HELD / AT_ONCE; ++k) add_units(s, g[k], g[k], true);
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one = {{rest.at(k)}};
      add_units(s, one, one, true);
    }
    const Total<Real> total(block_sum(s.value()));
    for (int k = 0; k < rest.count; ++k) {
      Units<D, 1> y;
      y.load(p.y - lead, span, Rest::place(k), 0, false);
      const Units<D, 1> one = {{rest.at(k)}};
      write_units(p.out - lead, span, Rest::place(k), 0, one, y, total, true);
    }
#pragma unroll
    for (int k = HELD / AT_ONCE - 1; k >= 0; --k) {
      Units<D, AT_ONCE> y;
      y.load(p.y - lead, span, first + AT_ONCE * k * Rest::STEP, Rest::STEP, false);
      g[k].again(nothing_of(a.n));
      write_units(p.out - lead, span, first + AT_ONCE * k * Rest::STEP, Rest::STEP, g[k], y, total, true);
    }
  }
}

template <class D, int THREADS, bool LOGARITHM>
__device__ inline void backward_spare(const Problem &a) {
  if constexpr (LOGARITHM) {
    one_spare<D, THREADS, 8>(a);
  } else {
    both_spare<D, THREADS, 4>(a);
  }
}

#endif
