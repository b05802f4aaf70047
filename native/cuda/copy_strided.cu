/* SPDX-License-Identifier: Apache-2.0
 * Copies of strided views, element by element, whatever their type. Strides of the source may be negative or zero; the
 * positions of the destination are distinct.
 */
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

template <class T>
__device__ inline void copy_element(const View &a, i64 i) {
  i64 rest = i, from = 0, to = 0;
  for (i64 d = a.rank - 1; d >= 0; --d) {
    const i64 at = rest % a.n[d];
    rest /= a.n[d];
    from += at * a.from_by[d];
    to += at * a.to_by[d];
  }
  *(T *)(void *)((u8 *)a.to + to) = *(const T *)(const void *)((const u8 *)a.from + from);
}

template <class T>
__device__ inline void copy_strided(const View &a) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < a.elements; i += (i64)gridDim.x * blockDim.x) copy_element<T>(a, i);
}

/* Where elements of the destination share memory: the last one in row-major order stays. */
template <class T>
__device__ inline void copy_ordered(const View &a) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (i64 i = 0; i < a.elements; ++i) copy_element<T>(a, i);
}

#define COPY_(bytes, T)                                                  \
  ACLPY_GLOBAL(copy_strided_b##bytes, View, 256) { copy_strided<T>(a); } \
  ACLPY_GLOBAL(copy_ordered_b##bytes, View, 32) { copy_ordered<T>(a); }
COPY_(1, u8)
COPY_(2, u16)
COPY_(4, u32)
COPY_(8, u64)
COPY_(16, Bytes16)
#undef COPY_
