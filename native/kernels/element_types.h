/* SPDX-License-Identifier: Apache-2.0
 * Runs of elements of any type to and from float, the type being known only at run time.
 *
 * Loads are exact but for double and int32, which round to nearest even. Stores round once to nearest even; to int8
 * and uint8 they clamp first, then round, NaN giving 0. float8_e5m2 overflows to infinity, float8_e4m3fn to NaN.
 */
#ifndef ACLPY_KERNELS_ELEMENT_TYPES_H
#define ACLPY_KERNELS_ELEMENT_TYPES_H

#include "../simd/bytes.h"
#include "cast_loops.h"
#include "define.h"
#include "post_ops_codes.h"

enum { ACLPY_RUN = 1024 /* floats in a run: a few runs fit the first-level cache */ };

/* Bytes of an element; 0 for a number that is no type. */
ACLPY_INLINE int64_t aclpy_type_bytes(int64_t type) {
  switch (type) {
    case ACLPY_TYPE_FLOAT:
    case ACLPY_TYPE_INT32:
      return 4;
    case ACLPY_TYPE_FLOAT16:
    case ACLPY_TYPE_BF16:
      return 2;
    case ACLPY_TYPE_DOUBLE:
    case ACLPY_TYPE_INT64:
      return 8;
    case ACLPY_TYPE_INT8:
    case ACLPY_TYPE_UINT8:
    case ACLPY_TYPE_BOOL:
    case ACLPY_TYPE_FLOAT8_E5M2:
    case ACLPY_TYPE_FLOAT8_E4M3FN:
      return 1;
    default:
      return 0;
  }
}

ACLPY_INLINE void aclpy_load_f8e5m2_(const uint8_t *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = aclpy_f32_from_f16((uint16_t)((uint32_t)x[i] << 8));
}
/* The exponent is rebased by a multiplication, which also normalises subnormals. */
ACLPY_INLINE void aclpy_load_f8e4m3_(const uint8_t *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t size = x[i] & 0x7fu;
    const uint32_t finite = aclpy_f32_bits(aclpy_f32_from_bits(size << 20) * 0x1p120f);
    y[i] = aclpy_f32_from_bits((size == 0x7fu ? 0x7fc00000u : finite) | ((uint32_t)(x[i] & 0x80u) << 24));
  }
}

#define ACLPY_LOAD_LOOP_(type) \
  for (int64_t i = 0; i < n; ++i) y[i] = (float)((const type *)x)[i]

/* y[0..n) = x[0..n) as floats. */
ACLPY_APART void aclpy_load_run(int64_t type, const void *restrict x, float *restrict y, int64_t n) {
  switch (type) {
    case ACLPY_TYPE_FLOAT:
      memcpy(y, x, (size_t)n * sizeof(float));
      break;
    case ACLPY_TYPE_FLOAT16:
      cast_f16_f32((const uint16_t *)x, y, n);
      break;
    case ACLPY_TYPE_BF16:
      cast_bf16_f32((const uint16_t *)x, y, n);
      break;
    case ACLPY_TYPE_DOUBLE:
      ACLPY_LOAD_LOOP_(double);
      break;
    case ACLPY_TYPE_INT8:
      ACLPY_LOAD_LOOP_(int8_t);
      break;
    case ACLPY_TYPE_UINT8:
    case ACLPY_TYPE_BOOL:
      ACLPY_LOAD_LOOP_(uint8_t);
      break;
    case ACLPY_TYPE_INT32:
      ACLPY_LOAD_LOOP_(int32_t);
      break;
    case ACLPY_TYPE_FLOAT8_E5M2:
      aclpy_load_f8e5m2_((const uint8_t *)x, y, n);
      break;
    case ACLPY_TYPE_FLOAT8_E4M3FN:
      aclpy_load_f8e4m3_((const uint8_t *)x, y, n);
      break;
    default:
      break;
  }
}
#undef ACLPY_LOAD_LOOP_

/* Past the caches, but for the ends that do not fill a vector. Streamed stores need aligned addresses. */
#define ACLPY_STREAM_(t, stored)                                                                                 \
  ACLPY_INLINE void aclpy_stream_##t##_(const float *restrict x, stored *restrict y, int64_t n) {                \
    const int64_t head = aclpy_min_i64((int64_t)(-(uintptr_t)y & 63u) / (int64_t)sizeof(stored), n);             \
    int64_t i = 0;                                                                                               \
    for (; i < head; i += v32_LANES)                                                                             \
      stn_##t(y + i, ldn_f32(x + i, aclpy_min_i64(v32_LANES, head - i), 0), aclpy_min_i64(v32_LANES, head - i)); \
    for (i = head; i + v32_LANES <= n; i += v32_LANES) nt_##t(y + i, v32_load(x + i));                           \
    if (i < n) stn_##t(y + i, ldn_f32(x + i, n - i, 0), n - i);                                                  \
  }
ACLPY_STREAM_(f32, float)
ACLPY_STREAM_(f16, uint16_t)
ACLPY_STREAM_(bf16, uint16_t)
#undef ACLPY_STREAM_

/* y[0..n) = x[0..n) in the type; `streaming`: past the caches where the type allows. */
ACLPY_APART void aclpy_store_run(int64_t type, const float *restrict x, void *restrict y, int64_t n, int streaming) {
  switch (type) {
    case ACLPY_TYPE_FLOAT:
      if (streaming) {
        aclpy_stream_f32_(x, (float *)y, n);
      } else {
        memcpy(y, x, (size_t)n * sizeof(float));
      }
      break;
    case ACLPY_TYPE_FLOAT16:
      if (streaming) {
        aclpy_stream_f16_(x, (uint16_t *)y, n);
      } else {
        cast_f32_f16(x, (uint16_t *)y, n);
      }
      break;
    case ACLPY_TYPE_BF16:
      if (streaming) {
        aclpy_stream_bf16_(x, (uint16_t *)y, n);
      } else {
        cast_f32_bf16(x, (uint16_t *)y, n);
      }
      break;
    case ACLPY_TYPE_DOUBLE:
      cast_f32_f64(x, (double *)y, n);
      break;
    case ACLPY_TYPE_INT8:
      aclpy_store_bytes(x, (uint8_t *)y, n, 1);
      break;
    case ACLPY_TYPE_UINT8:
      aclpy_store_bytes(x, (uint8_t *)y, n, 0);
      break;
    case ACLPY_TYPE_FLOAT8_E5M2:
      cast_f32_f8e5m2(x, (uint8_t *)y, n);
      break;
    case ACLPY_TYPE_FLOAT8_E4M3FN:
      cast_f32_f8e4m3(x, (uint8_t *)y, n);
      break;
    default:
      break;
  }
}

/* x[0..n), n at most ACLPY_RUN, rounded to what the type can hold. */
ACLPY_INLINE void aclpy_round_run(int64_t type, float *x, int64_t n) {
  _Alignas(64) double held[ACLPY_RUN] = {0};
  aclpy_store_run(type, x, held, n, 0);
  aclpy_load_run(type, held, x, n);
}

#endif
