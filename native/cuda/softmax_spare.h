/* SPDX-License-Identifier: Apache-2.0
 * softmax and log-softmax of long rows: each is read once, into registers and shared memory.
 */
#ifndef ACLPY_CUDA_SOFTMAX_SPARE_H
#define ACLPY_CUDA_SOFTMAX_SPARE_H

#include "softmax.h"
#include "spare.h"

/* HELD units a thread in registers. */
template <class D, int THREADS, int HELD, bool LOGARITHM>
__device__ inline void softmax_spare(const Problem &a) {
  using Stored = typename D::Stored;
  using Real = typename D::Real;
  using Rest = Spare<D, THREADS, HELD>;
  const Rest rest(a.n);
  const int first = (int)threadIdx.x * Unit<D>::N;
  for (i64 row = blockIdx.x; row < a.outer; row += gridDim.x) {
    const Stored *const x = (const Stored *)a.first + row * a.n;
    const int lead = lead_of<D>(x, a.n, rest.room());
    const Span span = {lead, lead + (int)a.n};
    Stored *const y = (Stored *)a.out + row * a.n - lead;
    Units<D, HELD> kept;
    kept.load(x - lead, span, first, Rest::STEP, true);
    for (int k = 0; k < rest.count; ++k) rest.fetch(k, x - lead, span, k, true);
    Real own = kept.top();
    wait_fetches();
    for (int k = 0; k < rest.count; ++k) {
      const Units<D, 1> one = {{rest.at(k)}};
      own = larger(own, one.top());
    }
    const Real max = block_max(own);
    PowerSum<Real> s;
    add_powers_of<D, LOGARITHM>(kept, max, s);
    for (int k = 0; k < rest.count; ++k) {
      Units<D, 1> one = {{rest.at(k)}};
      add_powers_of<D, LOGARITHM>(one, max, s);
      if (D::WIDE) rest.at(k) = one.at[0];
    }
    const Real factor = factor_of(block_sum(s.value()), LOGARITHM, Real());
    const u32 nothing = nothing_of(a.n);
    for (int k = 0; k < rest.count; ++k) {
      Units<D, 1> one = {{rest.at(k)}};
      finish<D, LOGARITHM>(one, y, span, Rest::place(k), 0, max, factor, nothing);
    }
    finish<D, LOGARITHM>(kept, y, span, first, Rest::STEP, max, factor, nothing);
  }
}

#endif
