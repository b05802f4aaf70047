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

/* What a thread has of a strip of columns. WIDTH: units beside each other. */
template <class D, int WIDTH = ACLPY_STRIP>
struct Strip {
  enum { N = Unit<D>::N, COLUMNS = WIDTH * N };
  i64 column;    /* first of its unit; virtual: (outer, inner) */
  i64 at;        /* where element 0 of that lies */
  int row, rows; /* its first row, and from each of its rows to the next */
  bool exists;
};
template <class D, int WIDTH = ACLPY_STRIP>
__device__ inline Strip<D, WIDTH> strip_of(const Problem &a, i64 item) {
  constexpr int N = Unit<D>::N;
  const i64 column = (item * WIDTH + (i64)(threadIdx.x % WIDTH)) * N;
  const bool exists = column < rows_of(a);
  return {column, exists ? place_of(a, column) : 0, (int)(threadIdx.x / WIDTH), (int)(blockDim.x / WIDTH), exists};
}
template <class D, int WIDTH = ACLPY_STRIP>
__device__ inline u32 strips_of(const Problem &a) {
  constexpr int COLUMNS = Strip<D, WIDTH>::COLUMNS;
  return (u32)((rows_of(a) + COLUMNS - 1) / COLUMNS);
}

/* Rows first, first + t.rows, ... below last; others are -inf, or 0. All are asked for before one is used. */
template <class D, int WIDTH, int UNITS, class Index>
__device__ inline void load_rows(Units<D, UNITS> &some, const typename D::Stored *base, const Problem &a,
                                 const Strip<D, WIDTH> &t, Index first, Index last, bool lowest) {
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
template <class D, int WIDTH, class Index>
__device__ inline void store_row(typename D::Stored *base, const Problem &a, const Strip<D, WIDTH> &t, Index row,
                                 Index last, const typename D::Real *v) {
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

/* Of each column, over the rows that the threads of the block have: what `finish` makes of it, for the thread's
 * columns, until the next call for the same types. `of` gives the thread's own value of a column. Lanes with the same
 * columns share the work: at each step a lane gives half of its columns away, while there are two of them. Then warps
 * do, each for some columns of all warps. Wide: the type between warps; Done: what `finish` gives. */
template <class D, int WIDTH, class Value, class Wide, class Done, class Of, class Join, class Finish>
__device__ inline const Done *strip_join(Of of, Join join, Finish finish) {
  constexpr int N = Unit<D>::N, COLUMNS = Strip<D, WIDTH>::COLUMNS, ROWS = ACLPY_LANES / WIDTH;
  constexpr int LEFT = N > ROWS ? N / ROWS : 1;         /* columns that a lane has in the end */
  __shared__ Wide parts[ACLPY_MOST_WARPS][COLUMNS + 1]; /* one more: warps' parts of a column lie in different banks */
  __shared__ Done whole[COLUMNS];
  const int lane = (int)(threadIdx.x % ACLPY_LANES), warp = (int)(threadIdx.x / ACLPY_LANES);
  const int warps = (int)(blockDim.x / ACLPY_LANES), mine = lane % WIDTH * N;
  Value v[N / 2];
  int column = mine;
  bool first = true; /* of the lanes that have the same column in the end */
#pragma unroll
  for (int k = ACLPY_LANES / 2, left = N; k >= WIDTH; k /= 2) {
    const int half = left / 2;
    const bool second = (lane & k) != 0;
#pragma unroll
    for (int c = 0; c < (half > 0 ? half : 1); ++c) {
      const Value low = left == N ? of(c) : v[c], high = left == N ? of(c + half) : half > 0 ? v[c + half] : low;
      v[c] = join(second ? high : low, (Value)__shfl_xor_sync(0xffffffffu, second ? low : high, k));
    }
    if (second) column += half;
    if (half == 0 && second) first = false;
    left = half > 0 ? half : 1;
  }
  /* Nobody reads an earlier call's any more: its last barrier was behind that. */
#pragma unroll
  for (int c = 0; c < LEFT; ++c) {
    if (first) parts[warp][column + c] = (Wide)v[c];
  }
  __syncthreads();
  int sources = 1; /* lanes for a column: a power of two */
  while (sources < warps) sources *= 2;
  const int source = lane % sources, at_once = ACLPY_LANES / sources;
  for (int base = warp * at_once; base < COLUMNS; base += warps * at_once) {
    const int c = base + lane / sources;
    Wide all = source < warps && c < COLUMNS ? parts[source][c] : join.template none<Wide>();
    for (int k = sources / 2; k > 0; k /= 2) all = join(all, (Wide)__shfl_xor_sync(0xffffffffu, all, k));
    if (source == 0 && c < COLUMNS) whole[c] = finish(all);
  }
  __syncthreads();
  return whole + mine;
}
struct Larger {
  template <class Value>
  __device__ Value operator()(Value a, Value b) const {
    return larger(a, b);
  }
  template <class Value>
  __device__ Value none() const {
    return (Value)-ACLPY_INFINITY;
  }
};
struct Added {
  template <class Value>
  __device__ Value operator()(Value a, Value b) const {
    return a + b;
  }
  template <class Value>
  __device__ Value none() const {
    return (Value)0;
  }
};
/* Nothing is made of it. */
struct Itself {
  template <class Value>
  __device__ Value operator()(Value x) const {
    return x;
  }
};

#endif
