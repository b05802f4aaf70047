/* SPDX-License-Identifier: Apache-2.0
 * What of a row does not fit registers waits in shared memory: every thread puts units there that it alone reads, so
 * that no barrier is needed for them, and they come without going through registers.
 */
#ifndef ACLPY_CUDA_SPARE_H
#define ACLPY_CUDA_SPARE_H

#include "problem.h"
#include "units.h"

/* As much as the launch has asked for (aclnn_py/backends/cuda_rows.py). */
__device__ inline Word4 *spare_slots() {
#ifdef ACLPY_TWIN
  return (Word4 *)twin::shared_memory();
#else
  extern __shared__ Word4 slots[];
  return slots;
#endif
}

/* Sixteen bytes, not there before wait_fetches. Cards before sm_80 have them at once. */
__device__ inline void fetch_words(Word4 *slot, const void *p) {
#ifdef ACLPY_TWIN
  twin::fetch(slot, p, sizeof(*slot));
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(slot)), "l"(p)
               : "memory");
#else
  *slot = words_at(p);
#endif
}
/* Until all that this thread has fetched is there. */
__device__ inline void wait_fetches() {
#ifdef ACLPY_TWIN
  twin::wait_fetches();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* A thread's units behind the first HELD of a row. */
template <class D, int THREADS, int HELD>
struct Spare {
  enum { N = Unit<D>::N, STEP = THREADS * N };
  using Stored = typename D::Stored;
  Word4 *slots;
  int count; /* of an operand */
  __device__ explicit Spare(i64 n) : slots(spare_slots() + threadIdx.x) {
    const int units = (int)((n + (n % N == 0 ? 0 : N - 1) + STEP - 1) / STEP);
    count = units > HELD ? units - HELD : 0;
  }
  /* Elements that the block holds: rows that need all of them begin with a unit wherever they lie. */
  __device__ i64 room() const { return (i64)(HELD + count) * STEP; }
  __device__ static int place(int k) { return (int)threadIdx.x * N + (HELD + k) * STEP; }
  __device__ Word4 &at(int k) const { return slots[k * THREADS]; }

  /* Unit k of the row that begins behind `base` into a slot; what is outside of the span is -inf, or 0. */
  __device__ void fetch(int slot, const Stored *base, const Span &s, int k, bool lowest) const {
    const int i = place(k);
    if (Units<D, 1>::whole(s, i) && at_vector(base)) {
      fetch_words(&at(slot), base + i);
      return;
    }
    Word4 w = {{lowest ? D::lowest(0) : 0u, lowest ? D::lowest(1) : 0u, lowest ? D::lowest(2) : 0u,
                lowest ? D::lowest(3) : 0u}};
#pragma unroll
    for (int e = 0; e < N; ++e) {
      if (i + e >= s.low && i + e < s.high) D::put(w, e, base[i + e]);
    }
    at(slot) = w;
  }
};

#endif
