/* SPDX-License-Identifier: Apache-2.0
 * Rows in units of 16 bytes, kept in registers as they lie in memory.
 *
 * A row begins inside of its first unit where its address is no multiple of 16 bytes. All units of a thread are asked
 * for before one of them is used: a thread that waits for each in turn leaves most of the memory's bandwidth unused.
 */
#ifndef ACLPY_CUDA_UNITS_H
#define ACLPY_CUDA_UNITS_H

#include "portable.h"

__device__ inline Word4 words_at(const void *p) {
#ifdef ACLPY_TWIN
  Word4 w;
  __builtin_memcpy(&w, p, sizeof(w));
  return w;
#else
  return *(const Word4 *)p;
#endif
}
__device__ inline void put_words(void *p, const Word4 &w) {
#ifdef ACLPY_TWIN
  __builtin_memcpy(p, &w, sizeof(w));
#else
  *(Word4 *)p = w;
#endif
}

__device__ inline bool at_vector(const void *p) { return (u64)p % ACLPY_VECTOR == 0; }

/* 0 for rows that a block takes as a whole. */
__device__ inline u32 nothing_of(i64 n) { return (u32)((u64)n >> 32); }

/* Elements [low, high) behind `base`: all of a row, or a stretch of it. Units begin at multiples of a unit. */
struct Span {
  int low, high;
};

template <class D, int UNITS>
struct Units {
  enum { N = Unit<D>::N };
  using Stored = typename D::Stored;
  Word4 at[UNITS];

  /* Keeps the compiler from holding what has been computed from units until it is wanted again, which takes more
   * registers: `nothing` is 0, but it cannot know. */
  __device__ void hide(u32 nothing) {
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
#pragma unroll
      for (int k = 0; k < 4; ++k) at[u].at[k] ^= nothing;
    }
  }
  /* The same for what has been unpacked. */
  __device__ void again(u32 nothing) {
    if constexpr (!D::WIDE) hide(nothing);
  }

  __device__ static bool whole(const Span &s, int i) { return i >= s.low && i + N <= s.high; }
  __device__ static bool part(const Span &s, int i) { return i + N > s.low && i < s.high; }

  /* The larger elements of all units, word by word. */
  __device__ Word4 tops() const {
    Word4 most = at[0];
#pragma unroll
    for (int u = 1; u < UNITS; ++u) {
#pragma unroll
      for (int k = 0; k < 4; ++k) most.at[k] = D::top(most.at[k], at[u].at[k]);
    }
    return most;
  }
  /* The largest element. */
  __device__ typename D::Real top() const {
    typename D::Real v[N], most = (typename D::Real) - ACLPY_INFINITY;
    if constexpr (D::PAIRS) {
      D::unpack(tops(), v);
#pragma unroll
      for (int k = 0; k < N; ++k) most = v[k] > most ? v[k] : most;
    } else {
#pragma unroll
      for (int u = 0; u < UNITS; ++u) {
        D::unpack(at[u], v);
#pragma unroll
        for (int k = 0; k < N; ++k) most = v[k] > most ? v[k] : most;
      }
    }
    return most;
  }

  /* Units `step` elements apart, the first at `first`; what is outside of the span is -inf, or 0. */
  __device__ void load(const Stored *base, const Span &s, int first, int step, bool lowest) {
    const bool aligned = at_vector(base);
    const Stored *p = base + first;
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
#pragma unroll
      for (int k = 0; k < 4; ++k) at[u].at[k] = lowest ? D::lowest(k) : 0u;
      if (aligned && whole(s, first + u * step)) at[u] = words_at(p + u * step);
    }
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
      const int i = first + u * step;
      if ((aligned && whole(s, i)) || !part(s, i)) continue;
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (i + k >= s.low && i + k < s.high) D::put(at[u], k, p[u * step + k]);
      }
    }
  }
};

/* One unit at `i`. */
template <class D>
__device__ inline void store_words(typename D::Stored *base, const Span &s, int i, const Word4 &w) {
  constexpr int N = Unit<D>::N;
  if (Units<D, 1>::whole(s, i) && at_vector(base)) {
    put_words(base + i, w);
  } else if (Units<D, 1>::part(s, i)) {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (i + k >= s.low && i + k < s.high) base[i + k] = D::take(w, k);
    }
  }
}

/* A row by all threads of the block, in slabs of UNITS units a thread, but for `held` elements at its beginning. Places
 * count from `lead` elements before the row on. THREADS: of the block, 0 where that differs. */
template <class D, int UNITS, int THREADS = 0>
struct Slabs {
  Span row;
  int begin;
  __device__ Slabs(int lead, i64 n, int held) : row{lead, lead + (int)n}, begin(held) {}
  __device__ static int first() { return (int)threadIdx.x * Unit<D>::N; }
  __device__ static int step() { return (THREADS > 0 ? THREADS : (int)blockDim.x) * Unit<D>::N; }
  __device__ static int size() { return step() * (UNITS > 0 ? UNITS : 1); }
  __device__ int last() const {
    return row.high > begin ? begin + (row.high - begin - 1) / size() * size() : begin - 1;
  }
  __device__ Span at(int slab) const { return {row.low - slab, row.high - slab}; }
};

#endif
