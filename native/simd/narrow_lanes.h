/* SPDX-License-Identifier: Apache-2.0
 * Tails and 16-bit accesses for 4-lane vocabularies without masks: lane by lane through a small buffer.
 *
 * Included after v32_load, v32_store, v64_load and v64_store exist.
 */
#ifndef ACLPY_SIMD_NARROW_LANES_H
#define ACLPY_SIMD_NARROW_LANES_H

ACLPY_INLINE v32 ldn_f32(const float *p, int64_t n, float fill) {
  float part[v32_LANES];
  for (int64_t i = 0; i < v32_LANES; ++i) part[i] = i < n ? p[i] : fill;
  return v32_load(part);
}
ACLPY_INLINE void stn_f32(float *p, v32 v, int64_t n) {
  float part[v32_LANES];
  v32_store(part, v);
  for (int64_t i = 0; i < n; ++i) p[i] = part[i];
}
ACLPY_INLINE v64 ldn_f64(const double *p, int64_t n, double fill) {
  double part[v64_LANES];
  for (int64_t i = 0; i < v64_LANES; ++i) part[i] = i < n ? p[i] : fill;
  return v64_load(part);
}
ACLPY_INLINE void stn_f64(double *p, v64 v, int64_t n) {
  double part[v64_LANES];
  v64_store(part, v);
  for (int64_t i = 0; i < n; ++i) p[i] = part[i];
}

#define ACLPY_NARROW_LANES_(t)                                            \
  ACLPY_INLINE v32 ldn_##t(const uint16_t *p, int64_t n, float fill) {    \
    float part[v32_LANES];                                                \
    for (int64_t i = 0; i < v32_LANES; ++i) part[i] = fill;               \
    for (int64_t i = 0; i < n; ++i) part[i] = aclpy_f32_from_##t(p[i]);   \
    return v32_load(part);                                                \
  }                                                                       \
  ACLPY_INLINE void stn_##t(uint16_t *p, v32 v, int64_t n) {              \
    float part[v32_LANES];                                                \
    v32_store(part, v);                                                   \
    for (int64_t i = 0; i < n; ++i) p[i] = aclpy_##t##_from_f32(part[i]); \
  }
ACLPY_NARROW_LANES_(f16)
ACLPY_NARROW_LANES_(bf16)
#undef ACLPY_NARROW_LANES_

#endif
