/* SPDX-License-Identifier: Apache-2.0
 * Which elements dropout keeps: draws of Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy
 * as 1, 2, 3; 2011), one for each element by its place in the memory of the tensor that the mask is for.
 *
 * Element i takes word i % 4 of group i / 4 and is kept where that is greater than the probability times 2^32 - 1.
 *   offset 0:  counter 4g, 4g + 1, 4g + 2, 4g + 3, key seed, seed: the low 32 bits of each
 *   otherwise: counter offset, offset >> 32, 4g, 4g >> 32, key seed, seed >> 32
 */
#ifndef ACLPY_CUDA_DROPOUT_H
#define ACLPY_CUDA_DROPOUT_H

#include "post_ops.h"

struct Draws {
  const float *probability;
  const void *seed;  /* int32 or int64 */
  const i64 *offset; /* NULL: 0 */
  u8 *mask;          /* dense, row-major */
  i64 elements, seed_type;
  i64 dims_count;
  i64 dims[ACLPY_POST_DIMS], stride[ACLPY_POST_DIMS]; /* of the tensor that the mask is for, elements */
};

struct Words {
  u32 at[4];
};
__device__ inline Words philox(u64 seed, u64 offset, u64 group) {
  const u64 element = 4 * group;
  const bool legacy = offset == 0;
  u32 a = (u32)(legacy ? element : offset), b = legacy ? a + 1u : (u32)(offset >> 32);
  u32 c = legacy ? a + 2u : (u32)element, d = legacy ? a + 3u : (u32)(element >> 32);
  u32 low = (u32)seed, high = legacy ? low : (u32)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 p = (u64)0xd2511f53u * a, q = (u64)0xcd9e8d57u * c;
    a = (u32)(q >> 32) ^ b ^ low;
    c = (u32)(p >> 32) ^ d ^ high;
    b = (u32)q;
    d = (u32)p;
    low += 0x9e3779b9u;
    high += 0xbb67ae85u;
  }
  return {{a, b, c, d}};
}

/* Where element i, counted row-major, lies in memory. */
__device__ inline u64 place_of_element(const Draws &a, i64 i) {
  u64 rest = (u64)i, place = 0;
  for (int d = (int)a.dims_count - 1; d >= 0; --d) {
    const u64 size = (u64)a.dims[d], next = rest / size;
    place += (rest - next * size) * (u64)a.stride[d];
    rest = next;
  }
  return place;
}

/* Four elements a thread: of a dense tensor, the words of one group. */
__device__ inline void dropout_mask(const Draws &a) {
  const u64 seed = (int)a.seed_type == ACLPY_TYPE_INT32 ? (u64)(i64) * (const int *)a.seed : *(const u64 *)a.seed;
  const u64 offset = a.offset ? (u64)*a.offset : 0;
  const u32 threshold = (u32)((double)probability_of(*a.probability) * 4294967295.0);
  i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  for (; i < a.elements; i += (i64)gridDim.x * blockDim.x * 4) {
    u64 group = ~(u64)0;
    Words words = {{0, 0, 0, 0}};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k >= a.elements) continue;
      const u64 place = place_of_element(a, i + k);
      if (place / 4 != group) words = philox(seed, offset, place / 4);
      group = place / 4;
      const u32 word =
          place % 4 < 2 ? (place % 4 == 0 ? words.at[0] : words.at[1]) : (place % 4 == 2 ? words.at[2] : words.at[3]);
      a.mask[i + k] = word > threshold ? 1 : 0;
    }
  }
}

#endif
