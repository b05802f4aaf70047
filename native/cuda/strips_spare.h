/* SPDX-License-Identifier: Apache-2.0
 * Strips whose last rows wait in shared memory: every thread puts units there that it alone reads (spare.h).
 */
#ifndef ACLPY_CUDA_STRIPS_SPARE_H
#define ACLPY_CUDA_STRIPS_SPARE_H

#include "spare.h"
#include "strips.h"

/* A thread's rows of a strip behind the first HELD, in blocks of the most threads there can be. */
template <class D, int WIDTH, int HELD>
struct StripRest {
  enum { N = Unit<D>::N, THREADS = ACLPY_MOST_WARPS * ACLPY_LANES, ROWS = THREADS / WIDTH };
  using Stored = typename D::Stored;
  Word4 *slots;
  int count; /* of an operand */
  __device__ explicit StripRest(const Problem &a) : slots(spare_slots() + threadIdx.x) {
    const int rows = (int)((a.n + ROWS - 1) / ROWS);
    count = rows > HELD ? rows - HELD : 0;
  }
  __device__ Word4 &at(int k) const { return slots[k * THREADS]; }
  __device__ static int row(const Strip<D, WIDTH> &t, int k) { return t.row + (HELD + k) * ROWS; }

  /* Row k into a slot; what does not exist is -inf, or 0. */
  __device__ void fetch(int slot, const Stored *base, const Problem &a, const Strip<D, WIDTH> &t, int k,
                        bool lowest) const {
    const bool wanted = t.exists && row(t, k) < (int)a.n;
    const Stored *const p = base + t.at + row(t, k) * a.inner;
    if (wanted && at_vector(base)) {
      fetch_words(&at(slot), p);
      return;
    }
    Word4 w = {{lowest ? D::lowest(0) : 0u, lowest ? D::lowest(1) : 0u, lowest ? D::lowest(2) : 0u,
                lowest ? D::lowest(3) : 0u}};
#pragma unroll
    for (int e = 0; e < N; ++e) {
      if (wanted) D::put(w, e, p[e]);
    }
    at(slot) = w;
  }
};

#endif
