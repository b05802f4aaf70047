/* SPDX-License-Identifier: Apache-2.0
 * What every kernel of the softmax family is given. A problem is [outer, n, inner]; a row runs over n.
 */
#ifndef ACLPY_CUDA_PROBLEM_H
#define ACLPY_CUDA_PROBLEM_H

#include "portable.h"

struct Problem {
  const void *first;  /* x, or gradOutput */
  const void *second; /* output; NULL forward */
  void *out;          /* may be an input */
  double *scratch;    /* partial results of chunks, then of rows; NULL where a row is not divided */
  i64 outer, n, inner;
  i64 chunk;  /* elements of a row that one block takes */
  i64 chunks; /* of a row */
};

/* scratch: [row][chunk] first values, [row][chunk] second values, then the same two for [row]. */
__device__ inline i64 rows_of(const Problem &a) { return a.outer * a.inner; }
__device__ inline double *chunk_values(const Problem &a, int which) {
  return a.scratch + which * rows_of(a) * a.chunks;
}
__device__ inline double *row_values(const Problem &a, int which) {
  return a.scratch + 2 * rows_of(a) * a.chunks + which * rows_of(a);
}

__device__ inline i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/* Columns that a lane takes: two of the two-byte types, so that a warp moves 128 bytes at once. */
template <class D>
struct Columns {
  enum { N = sizeof(typename D::Stored) == 2 ? 2 : 1, TILE = ACLPY_LANES * N };
};

enum { ACLPY_TILE_PARTS = 16 }; /* warps of a block that takes tiles, at most */

/* Lanes beside each other take columns beside each other; the warps of a block divide the rows among themselves. */
template <class D>
struct Tile {
  i64 column;            /* first of the lane's; virtual: (outer, inner) */
  i64 at[Columns<D>::N]; /* where element 0 of each lies */
  int count;             /* of them that exist */
  bool neighbours;       /* whether they lie beside each other, at an even place */
  int part, parts;
};
/* Where a column begins; division of 32 bits is much the cheaper. */
__device__ inline i64 place_of(const Problem &a, i64 column) {
  i64 outer;
  if (rows_of(a) <= 0xffffffffll) {
    outer = (i64)((u32)column / (u32)a.inner);
  } else {
    outer = column / a.inner;
  }
  return outer * (a.n - 1) * a.inner + column;
}
template <class D>
__device__ inline Tile<D> tile_of(const Problem &a, i64 tile) {
  constexpr int N = Columns<D>::N;
  Tile<D> t;
  t.column = tile * Columns<D>::TILE + (i64)(threadIdx.x % ACLPY_LANES) * N;
  t.count = (int)smaller(N, rows_of(a) > t.column ? rows_of(a) - t.column : 0);
#pragma unroll
  for (int c = 0; c < N; ++c) t.at[c] = c < t.count ? place_of(a, t.column + c) : 0;
  t.neighbours = N > 1 && a.inner % N == 0 && t.count == N;
  t.part = (int)(threadIdx.x / ACLPY_LANES);
  t.parts = (int)(blockDim.x / ACLPY_LANES);
  return t;
}
template <class D>
__device__ inline i64 tiles_of(const Problem &a) {
  return (rows_of(a) + Columns<D>::TILE - 1) / Columns<D>::TILE;
}

/* Elements of a lane's columns, `offset` elements below the first ones. */
template <class D>
__device__ inline void load_columns(const typename D::Stored *p, const Tile<D> &t, i64 offset, bool exists,
                                    typename D::Real fill, typename D::Real *v) {
  constexpr int N = Columns<D>::N;
  using Vector = Pack<typename D::Stored, N>;
  const typename D::Stored *first = p + t.at[0] + offset;
  if (exists && t.neighbours && lies_aligned<typename D::Stored, N>(first)) {
    const Vector whole = *(const Vector *)(const void *)first;
#pragma unroll
    for (int c = 0; c < N; ++c) v[c] = D::load(whole.at[c]);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) v[c] = exists && c < t.count ? D::load(p[t.at[c] + offset]) : fill;
  }
}
template <class D>
__device__ inline void store_columns(typename D::Stored *p, const Tile<D> &t, i64 offset, const typename D::Real *v) {
  constexpr int N = Columns<D>::N;
  using Vector = Pack<typename D::Stored, N>;
  typename D::Stored *first = p + t.at[0] + offset;
  if (t.neighbours && lies_aligned<typename D::Stored, N>(first)) {
    Vector whole;
#pragma unroll
    for (int c = 0; c < N; ++c) whole.at[c] = D::store(v[c]);
    *(Vector *)(void *)first = whole;
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      if (c < t.count) p[t.at[c] + offset] = D::store(v[c]);
    }
  }
}

#endif
