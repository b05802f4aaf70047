/* SPDX-License-Identifier: Apache-2.0
 * Where the elements of a view lie, and copies from one to another.
 */
#ifndef ACLPY_CUDA_COPY_H
#define ACLPY_CUDA_COPY_H

#include "portable.h"

enum { ACLPY_COPY_RANK = 25 }; /* as the CPU's */

struct View {
  const void *from;
  void *to;
  i64 elements;
  i64 rank;
  i64 n[ACLPY_COPY_RANK];       /* outermost first */
  i64 from_by[ACLPY_COPY_RANK]; /* bytes */
  i64 to_by[ACLPY_COPY_RANK];
};

struct alignas(16) Bytes16 {
  u64 low, high;
};

struct Offsets {
  i64 from, to; /* bytes */
};

/* Element i, in row-major order, of the first `rank` dimensions. Index: division of 32 bits is much the cheaper. */
template <class Index>
__device__ inline Offsets offsets_of(const View &a, i64 rank, i64 i) {
  Index rest = (Index)i;
  Offsets o = {0, 0};
  for (i64 d = rank - 1; d >= 0; --d) {
    const Index size = (Index)a.n[d], next = rest / size;
    const i64 at = (i64)(rest - next * size);
    rest = next;
    o.from += at * a.from_by[d];
    o.to += at * a.to_by[d];
  }
  return o;
}

template <class T>
__device__ inline void move_element(const View &a, Offsets o) {
  *(T *)(void *)((u8 *)a.to + o.to) = *(const T *)(const void *)((const u8 *)a.from + o.from);
}

template <class T, class Index>
__device__ inline void copy_all(const View &a) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < a.elements; i += (i64)gridDim.x * blockDim.x) move_element<T>(a, offsets_of<Index>(a, a.rank, i));
}

template <class T>
__device__ inline void copy_strided(const View &a) {
  if (a.elements <= 0xffffffffll) {
    copy_all<T, u32>(a);
  } else {
    copy_all<T, u64>(a);
  }
}

/* Where elements of the destination share memory: the last one in row-major order stays. */
template <class T>
__device__ inline void copy_ordered(const View &a) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (i64 i = 0; i < a.elements; ++i) move_element<T>(a, offsets_of<u64>(a, a.rank, i));
}

enum { ACLPY_SQUARE = 32 };

/* The last dimension is dense in the destination, the one before it in the source. Squares of both go through shared
 * memory, so that each side moves elements beside each other. Blocks of 8 warps. */
template <class T>
__device__ inline void copy_transposed(const View &a) {
  __shared__ T square[ACLPY_SQUARE][ACLPY_SQUARE + 1]; /* a column lies in different banks */
  const int p = (int)a.rank - 2, q = (int)a.rank - 1;
  const int lane = (int)(threadIdx.x % ACLPY_LANES), warp = (int)(threadIdx.x / ACLPY_LANES);
  const int warps = (int)(blockDim.x / ACLPY_LANES);
  const i64 across = (a.n[q] + ACLPY_SQUARE - 1) / ACLPY_SQUARE, down = (a.n[p] + ACLPY_SQUARE - 1) / ACLPY_SQUARE;
  const i64 squares = a.elements / (a.n[p] * a.n[q]) * across * down;
  for (i64 item = blockIdx.x; item < squares; item += gridDim.x) {
    const i64 first_q = item % across * ACLPY_SQUARE, first_p = item / across % down * ACLPY_SQUARE;
    const Offsets outer = offsets_of<u64>(a, a.rank - 2, item / across / down);
    const u8 *from = (const u8 *)a.from + outer.from;
    u8 *to = (u8 *)a.to + outer.to;
    for (int k = warp; k < ACLPY_SQUARE; k += warps) {
      const i64 at_p = first_p + lane, at_q = first_q + k;
      if (at_p >= a.n[p] || at_q >= a.n[q]) continue;
      square[k][lane] = *(const T *)(const void *)(from + at_p * a.from_by[p] + at_q * a.from_by[q]);
    }
    __syncthreads();
    for (int k = warp; k < ACLPY_SQUARE; k += warps) {
      const i64 at_p = first_p + k, at_q = first_q + lane;
      if (at_p >= a.n[p] || at_q >= a.n[q]) continue;
      *(T *)(void *)(to + at_p * a.to_by[p] + at_q * a.to_by[q]) = square[lane][k];
    }
    __syncthreads(); /* before the next square is written */
  }
}

#endif
