/* SPDX-License-Identifier: Apache-2.0
 * What SSE2, AVX2 and AVX-512 spell alike: included by their vocabularies after ACLPY_MM (_mm, _mm256, _mm512) is set.
 */
#ifndef ACLPY_SIMD_X86_H
#define ACLPY_SIMD_X86_H

#define ACLPY_PS(op) ACLPY_PASTE3(ACLPY_MM, op, _ps)
#define ACLPY_PD(op) ACLPY_PASTE3(ACLPY_MM, op, _pd)

ACLPY_INLINE v32 v32_set1(float x) { return ACLPY_PS(_set1)(x); }
ACLPY_INLINE v32 v32_load(const float *p) { return ACLPY_PS(_loadu)(p); }
ACLPY_INLINE void v32_store(float *p, v32 v) { ACLPY_PS(_storeu)(p, v); }
ACLPY_INLINE v32 v32_add(v32 a, v32 b) { return ACLPY_PS(_add)(a, b); }
ACLPY_INLINE v32 v32_sub(v32 a, v32 b) { return ACLPY_PS(_sub)(a, b); }
ACLPY_INLINE v32 v32_mul(v32 a, v32 b) { return ACLPY_PS(_mul)(a, b); }
ACLPY_INLINE v32 v32_div(v32 a, v32 b) { return ACLPY_PS(_div)(a, b); }
ACLPY_INLINE v32 v32_max(v32 a, v32 b) { return ACLPY_PS(_max)(a, b); }
ACLPY_INLINE v32 v32_min(v32 a, v32 b) { return ACLPY_PS(_min)(a, b); }

/* a > b ? a : b and a < b ? a : b: b where there is no answer. */
ACLPY_INLINE v32 v32_larger(v32 a, v32 b) { return ACLPY_PS(_max)(a, b); }
ACLPY_INLINE v32 v32_smaller(v32 a, v32 b) { return ACLPY_PS(_min)(a, b); }

ACLPY_INLINE v64 v64_set1(double x) { return ACLPY_PD(_set1)(x); }
ACLPY_INLINE v64 v64_load(const double *p) { return ACLPY_PD(_loadu)(p); }
ACLPY_INLINE void v64_store(double *p, v64 v) { ACLPY_PD(_storeu)(p, v); }
ACLPY_INLINE v64 v64_add(v64 a, v64 b) { return ACLPY_PD(_add)(a, b); }
ACLPY_INLINE v64 v64_sub(v64 a, v64 b) { return ACLPY_PD(_sub)(a, b); }
ACLPY_INLINE v64 v64_mul(v64 a, v64 b) { return ACLPY_PD(_mul)(a, b); }
ACLPY_INLINE v64 v64_max(v64 a, v64 b) { return ACLPY_PD(_max)(a, b); }
ACLPY_INLINE v64 v64_min(v64 a, v64 b) { return ACLPY_PD(_min)(a, b); }

#if ACLPY_ISA_RANK > 1
ACLPY_INLINE v32 v32_fma(v32 a, v32 b, v32 c) { return ACLPY_PS(_fmadd)(a, b, c); }
ACLPY_INLINE v32 v32_fnma(v32 a, v32 b, v32 c) { return ACLPY_PS(_fnmadd)(a, b, c); }
ACLPY_INLINE v64 v64_fma(v64 a, v64 b, v64 c) { return ACLPY_PD(_fmadd)(a, b, c); }
ACLPY_INLINE v64 v64_fnma(v64 a, v64 b, v64 c) { return ACLPY_PD(_fnmadd)(a, b, c); }
#else
ACLPY_INLINE v32 v32_fma(v32 a, v32 b, v32 c) { return v32_add(v32_mul(a, b), c); }
ACLPY_INLINE v32 v32_fnma(v32 a, v32 b, v32 c) { return v32_sub(c, v32_mul(a, b)); }
ACLPY_INLINE v64 v64_fma(v64 a, v64 b, v64 c) { return v64_add(v64_mul(a, b), c); }
ACLPY_INLINE v64 v64_fnma(v64 a, v64 b, v64 c) { return v64_sub(c, v64_mul(a, b)); }
#endif

ACLPY_INLINE v32 ld_f32(const float *p) { return v32_load(p); }
ACLPY_INLINE void st_f32(float *p, v32 v) { v32_store(p, v); }
ACLPY_INLINE void nt_f32(float *p, v32 v) { ACLPY_PS(_stream)(p, v); }
ACLPY_INLINE v64 ld_f64(const double *p) { return v64_load(p); }
ACLPY_INLINE void st_f64(double *p, v64 v) { v64_store(p, v); }
ACLPY_INLINE void nt_f64(double *p, v64 v) { ACLPY_PD(_stream)(p, v); }

/* Streamed stores become visible to other threads in order only after this. */
ACLPY_INLINE void aclpy_stream_fence(void) { _mm_sfence(); }
/* Nothing behind it begins until what is before it has been computed and loaded; stores and fetches may be under way. */
ACLPY_INLINE void aclpy_pace(void) { _mm_lfence(); }

#endif
