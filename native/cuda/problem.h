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

/* Columns of a tile are the lanes of a warp; its warps divide the rows among themselves. */
struct Tile {
  i64 column, at; /* virtual column (outer, inner) and where its element 0 lies */
  int part, parts;
  bool inside;
};
__device__ inline Tile tile_of(const Problem &a, i64 tile) {
  Tile t;
  t.column = tile * ACLPY_LANES + threadIdx.x % ACLPY_LANES;
  t.inside = t.column < rows_of(a);
  t.at = t.inside ? t.column / a.inner * a.n * a.inner + t.column % a.inner : 0;
  t.part = (int)(threadIdx.x / ACLPY_LANES);
  t.parts = (int)(blockDim.x / ACLPY_LANES);
  return t;
}
__device__ inline i64 tiles_of(const Problem &a) { return (rows_of(a) + ACLPY_LANES - 1) / ACLPY_LANES; }

#endif
