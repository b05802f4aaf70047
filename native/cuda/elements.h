/* SPDX-License-Identifier: Apache-2.0
 * Elements of any type to and from float, the type being known only at run time: by the numbers of aclDataType
 * (post_ops_codes.h), the same in all threads.
 *
 * Loads are exact but for double and int32, which round to nearest even. Stores round once to nearest even; to int8
 * and uint8 they clamp first, NaN giving 0.
 */
#ifndef ACLPY_CUDA_ELEMENTS_H
#define ACLPY_CUDA_ELEMENTS_H

#include "float8.h"
#include "post_ops_codes.h"

__device__ inline int bytes_of_type(i64 type) {
  switch ((int)type) {
    case ACLPY_TYPE_FLOAT:
    case ACLPY_TYPE_INT32:
      return 4;
    case ACLPY_TYPE_FLOAT16:
    case ACLPY_TYPE_BF16:
      return 2;
    case ACLPY_TYPE_DOUBLE:
      return 8;
    default:
      return 1;
  }
}

/* The bits of element i as they lie in memory; not for double. */
__device__ inline u32 raw_of(int bytes, const u8 *p, i64 i) {
  if (bytes == 4) return ((const u32 *)(const void *)p)[i];
  if (bytes == 2) return ((const u16 *)(const void *)p)[i];
  return p[i];
}

__device__ inline float decoded(i64 type, u32 raw) {
  switch ((int)type) {
    case ACLPY_TYPE_FLOAT16:
      return f16::load((u16)raw);
    case ACLPY_TYPE_BF16:
      return bf16::load((u16)raw);
    case ACLPY_TYPE_INT8:
      return (float)(signed char)raw;
    case ACLPY_TYPE_UINT8:
    case ACLPY_TYPE_BOOL:
      return (float)raw;
    case ACLPY_TYPE_INT32:
      return (float)(int)raw;
    case ACLPY_TYPE_FLOAT8_E5M2:
      return f8e5m2::load((u8)raw);
    case ACLPY_TYPE_FLOAT8_E4M3FN:
      return f8e4m3::load((u8)raw);
    default:
      return from_bits(raw);
  }
}

__device__ inline u32 integer_of(float x, float low, float high) {
  const float raised = x > low ? x : low, inside = raised < high ? raised : high;
  return x == x ? (u32)(int)rintf(inside) & 0xffu : 0u;
}
__device__ inline u32 encoded(i64 type, float x) {
  switch ((int)type) {
    case ACLPY_TYPE_FLOAT16:
      return f16::store(x);
    case ACLPY_TYPE_BF16:
      return bf16::store(x);
    case ACLPY_TYPE_INT8:
      return integer_of(x, -128.0f, 127.0f);
    case ACLPY_TYPE_UINT8:
      return integer_of(x, 0.0f, 255.0f);
    case ACLPY_TYPE_FLOAT8_E5M2:
      return f8e5m2::store(x);
    case ACLPY_TYPE_FLOAT8_E4M3FN:
      return f8e4m3::store(x);
    default:
      return bits_of(x);
  }
}

__device__ inline float load_element(i64 type, const u8 *p, i64 i) {
  if ((int)type == ACLPY_TYPE_DOUBLE) return (float)((const double *)(const void *)p)[i];
  return decoded(type, raw_of(bytes_of_type(type), p, i));
}
__device__ inline void store_element(i64 type, u8 *p, i64 i, float x) {
  const int bytes = bytes_of_type(type);
  if (bytes == 8) {
    ((double *)(void *)p)[i] = (double)x;
  } else if (bytes == 4) {
    ((u32 *)(void *)p)[i] = encoded(type, x);
  } else if (bytes == 2) {
    ((u16 *)(void *)p)[i] = (u16)encoded(type, x);
  } else {
    p[i] = (u8)encoded(type, x);
  }
}

/* What the type can hold of x. */
__device__ inline float rounded_to(i64 type, float x) { return decoded(type, encoded(type, x)); }

enum { ACLPY_QUAD = 4 /* elements that a thread moves at once, whatever their type */ };

/* Elements of a quad that lie within a row, [from, to); their places in memory begin at element `at` of `p`. */
struct Quad {
  i64 at;
  int from, to;
};
__device__ inline Quad quad_of(i64 at, i64 n) {
  Quad q = {at, 0, ACLPY_QUAD};
  if (at < 0) q.from = (int)-at;
  if (at + ACLPY_QUAD > n) q.to = n > at ? (int)(n - at) : 0;
  return q;
}
__device__ inline bool moves_whole(const Quad &q, const u8 *p, int bytes) {
  return q.from == 0 && q.to == ACLPY_QUAD && bytes < 8 && (u64)(p + q.at * bytes) % (u64)(ACLPY_QUAD * bytes) == 0;
}

/* v = the quad's elements, `fill` outside of the row. */
__device__ inline void load_quad(i64 type, const u8 *p, const Quad &q, float fill, float *v) {
  const int bytes = bytes_of_type(type);
  if (moves_whole(q, p, bytes)) {
    const void *from = p + q.at * bytes;
    u32 raw[ACLPY_QUAD];
    if (bytes == 4) {
      const Pack<u32, 4> whole = *(const Pack<u32, 4> *)from;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) raw[k] = whole.at[k];
    } else if (bytes == 2) {
      const Pack<u16, 4> whole = *(const Pack<u16, 4> *)from;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) raw[k] = whole.at[k];
    } else {
      const Pack<u8, 4> whole = *(const Pack<u8, 4> *)from;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) raw[k] = whole.at[k];
    }
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) v[k] = decoded(type, raw[k]);
  } else {
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) v[k] = k >= q.from && k < q.to ? load_element(type, p, q.at + k) : fill;
  }
}

__device__ inline void store_quad(i64 type, u8 *p, const Quad &q, const float *v) {
  const int bytes = bytes_of_type(type);
  if (moves_whole(q, p, bytes)) {
    void *to = p + q.at * bytes;
    u32 raw[ACLPY_QUAD];
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) raw[k] = encoded(type, v[k]);
    if (bytes == 4) {
      Pack<u32, 4> whole;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) whole.at[k] = raw[k];
      *(Pack<u32, 4> *)to = whole;
    } else if (bytes == 2) {
      Pack<u16, 4> whole;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) whole.at[k] = (u16)raw[k];
      *(Pack<u16, 4> *)to = whole;
    } else {
      Pack<u8, 4> whole;
#pragma unroll
      for (int k = 0; k < ACLPY_QUAD; ++k) whole.at[k] = (u8)raw[k];
      *(Pack<u8, 4> *)to = whole;
    }
  } else {
#pragma unroll
    for (int k = 0; k < ACLPY_QUAD; ++k) {
      if (k >= q.from && k < q.to) store_element(type, p, q.at + k, v[k]);
    }
  }
}

/* Elements between the last boundary of four and p: quads of a row of n begin that much before it, where they then fit
 * `room` elements. */
__device__ inline int quad_lead(const u8 *p, int bytes, i64 n, i64 room) {
  const int lead = (int)((u64)p / (u64)bytes % ACLPY_QUAD);
  return n + lead <= room ? lead : 0;
}

#endif
