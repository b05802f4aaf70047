/* SPDX-License-Identifier: Apache-2.0
 * What the AVX-512 kernels say in assembly: instructions that only some processors with AVX-512 have, which a compiler
 * may not use by itself. `make test-avx512` has functions for them (ACLPY_EMULATED, tests/native/emulated).
 */
#ifndef ACLPY_SIMD_AVX512_TEXT_H
#define ACLPY_SIMD_AVX512_TEXT_H

#include <immintrin.h>

#include "isa.h"

#ifndef ACLPY_EMULATED
/* The same value, of which the compiler does not know where it came from. */
ACLPY_INLINE __m512 aclpy_in_register_(__m512 v) {
  __asm__("" : "+v"(v));
  return v;
}
/* AVX-512-BF16: two vectors rounded. */
ACLPY_INLINE __m512i aclpy_bf16_pair_(__m512 low, __m512 high) {
  __m512i both;
  __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(low), "v"(high));
  return both;
}
/* AVX-512-VBMI: of each eight bytes those of `where`: eight bits of `from` from the places in `by` on. */
ACLPY_INLINE __m512i aclpy_shift_bytes_(__m512i into, __mmask64 where, __m512i from, __m512i by) {
  __asm__("vpmultishiftqb %2, %3, %0%{%1%}" : "+v"(into) : "Yk"(where), "v"(from), "v"(by));
  return into;
}
ACLPY_INLINE __m512i aclpy_shift_all_bytes_(__m512i from, __m512i by) {
  __m512i into;
  __asm__("vpmultishiftqb %1, %2, %0" : "=v"(into) : "v"(from), "v"(by));
  return into;
}
ACLPY_INLINE __m512i aclpy_permute_bytes_(__m512i order, __m512i v) {
  __m512i bytes;
  __asm__("vpermb %1, %2, %0" : "=v"(bytes) : "v"(v), "v"(order));
  return bytes;
}
#else
ACLPY_INLINE __m512 aclpy_in_register_(__m512 v) { return v; }
ACLPY_INLINE __m512i aclpy_bf16_pair_(__m512 low, __m512 high) { return emulated_bfloats(low, high); }
ACLPY_INLINE __m512i aclpy_shift_bytes_(__m512i into, __mmask64 where, __m512i from, __m512i by) {
  return emulated_shift_bytes(into, where, from, by);
}
ACLPY_INLINE __m512i aclpy_shift_all_bytes_(__m512i from, __m512i by) {
  return emulated_shift_bytes(from, ~(__mmask64)0, from, by);
}
ACLPY_INLINE __m512i aclpy_permute_bytes_(__m512i order, __m512i v) { return emulated_permute_bytes(order, v); }
#endif

#endif
