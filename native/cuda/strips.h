/* SPDX-License-Identifier: Apache-2.0
 * An axis that is not the last, where rows of columns are whole units of 16 bytes: threads beside each other take units
 * beside each other, and the threads below them the rows below.
 */
#ifndef ACLPY_CUDA_STRIPS_H
#define ACLPY_CUDA_STRIPS_H

#include "problem.h"
#include "reduce.h"
#include "units.h"

enum { ACLPY_STRIP = 4, /* units beside each other: 64 bytes of a row */ ACLPY_MOST_WARPS = 32 };

/* What a thread has of a strip of columns. */
template <class D>
struct Strip {
  enum { N = Unit<D>::N, COLUMNS = ACLPY_STRIP * N };
  i64 column;    /* first of its unit; virtual: (outer, inner) */
  i64 at;        /* where element 0 of that lies */
  int row, rows; /* its first row, and from each of its rows to the next */
  bool exists;
};
template <class D>
__device__ inline Strip<D> strip_of(const Problem &a, i64 item) {
  constexpr int N = Unit<D>::N;
  const i64 column = (item * ACLPY_STRIP + (i64)(threadIdx.x % ACLPY_STRIP)) * N;
  const bool exists = column < rows_of(a);
  return {column, exists ? place_of(a, column) : 0, (int)(threadIdx.x / ACLPY_STRIP), (int)(blockDim.x / ACLPY_STRIP),
          exists};
}
template <class D>
__device__ inline u32 strips_of(const Problem &a) {
  return (u32)((rows_of(a) + Strip<D>::COLUMNS - 1) / Strip<D>::COLUMNS);
}

/* Rows first, first + t.rows, ... below last; others are -inf, or 0. All are asked for before one is used. */
template <class D, int UNITS, class Index>
__device__ inline void load_rows(Units<D, UNITS> &some, const typename D::Stored *base, const Problem &a,
                                 const Strip<D> &t, Index first, Index last, bool lowest) {
  const typename D::Stored *p = base + t.at + first * a.inner;
  const i64 hop = t.rows * a.inner;
  const bool aligned = at_vector(base);
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    const bool wanted = t.exists && first + (Index)u * t.rows < last;
#pragma unroll
    for (int k = 0; k < 4; ++k) some.at[u].at[k] = lowest ? D::lowest(k) : 0u;
    if (wanted && aligned) some.at[u] = words_at(p + u * hop);
  }
  if (aligned) return;
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    if (!t.exists || first + (Index)u * t.rows >= last) continue;
#pragma unroll
    for (int k = 0; k < Unit<D>::N; ++k) D::put(some.at[u], k, p[u * hop + k]);
  }
}
template <class D, class Index>
__device__ inline void store_row(typename D::Stored *base, const Problem &a, const Strip<D> &t, Index row, Index last,
                                 const typename D::Real *v) {
  if (!t.exists || row >= last) return;
  const Word4 w = D::pack(v);
  typename D::Stored *p = base + t.at + row * a.inner;
  if (at_vector(base)) {
    put_words(p, w);
  } else {
#pragma unroll
    for (int k = 0; k < Unit<D>::N; ++k) p[k] = D::take(w, k);
  }
}

/* Of each column, over the rows that the threads of the block have: those of the thread's columns, until the next call
 * for the same types. Lanes with the same columns share the work: at each step a lane gives half of its columns away,
 * while there are two of them. Wide: the type between warps. */
template <class D, class Wide, class Value, class Join>
__device__ inline const Wide *strip_join(Value *v, Join join) {
  constexpr int N = Unit<D>::N, COLUMNS = Strip<D>::COLUMNS;
  __shared__ Wide parts[ACLPY_MOST_WARPS][COLUMNS], whole[COLUMNS];
  const int lane = (int)(threadIdx.x % ACLPY_LANES), warp = (int)(threadIdx.x / ACLPY_LANES);
  const int warps = (int)(blockDim.x / ACLPY_LANES), mine = lane % ACLPY_STRIP * N;
  int column = mine;
  bool first = true; /* of the lanes that have the same column in the end */
#pragma unroll
  for (int k = ACLPY_LANES / 2, left = N; k >= ACLPY_STRIP; k /= 2) {
    const int half = left / 2;
    const bool second = (lane & k) != 0;
#pragma unroll
    for (int c = 0; c < (half > 0 ? half : 1); ++c) {
      const Value keep = half > 0 && second ? v[c + half] : v[c], give = half > 0 && !second ? v[c + half] : v[c];
      v[c] = join(keep, (Value)__shfl_xor_sync(0xffffffffu, give, k));
    }
    if (second) column += half;
    if (half == 0 && second) first = false;
    left = half > 0 ? half : 1;
  }
  if (first) parts[warp][column] = (Wide)v[0]; /* nobody reads an earlier call's: its last barrier was behind that */
  __syncthreads();
  if ((int)threadIdx.x < COLUMNS) {
    Wide all = parts[0][threadIdx.x];
    for (int w = 1; w < warps; ++w) all = join(all, parts[w][threadIdx.x]);
    whole[threadIdx.x] = all;
  }
  __syncthreads();
  return whole + mine;
}
struct Larger {
  template <class Value>
  __device__ Value operator()(Value a, Value b) const {
    return larger(a, b);
  }
};
struct Added {
  template <class Value>
  __device__ Value operator()(Value a, Value b) const {
    return a + b;
  }
};

#endif
