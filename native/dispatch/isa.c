/* SPDX-License-Identifier: Apache-2.0
 * What this processor can run, asked of the processor and the operating system together.
 */
#include <string.h>

#include "kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Compilers differ in whether their own query knows this one. AVX support by the OS is checked by the caller. */
static int has_f16c_(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1u << 29)) != 0;
}

static int has_avx512_(void) {
#ifdef ACLPY_EMULATED /* simd/avx512_text.h */
  return 1;
#else
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
}

uint32_t aclpy_isa_supported(void) {
  uint32_t mask = ACLPY_ISA_BASELINE;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c_()) {
    mask |= ACLPY_ISA_AVX2;
    if (has_avx512_()) mask |= ACLPY_ISA_AVX512;
  }
  return mask;
}
#else
uint32_t aclpy_isa_supported(void) { return ACLPY_ISA_BASELINE; }
#endif

uint32_t aclpy_isa_mask(const char *limit) {
  if (limit == NULL) return 0;
  if (strcmp(limit, "baseline") == 0) return ACLPY_ISA_BASELINE;
#if defined(__aarch64__)
  if (strcmp(limit, "neon") == 0) return ACLPY_ISA_BASELINE;
#endif
  if (strcmp(limit, "avx2") == 0) return ACLPY_ISA_BASELINE | ACLPY_ISA_AVX2;
  if (strcmp(limit, "avx512") == 0) return ACLPY_ISA_BASELINE | ACLPY_ISA_AVX2 | ACLPY_ISA_AVX512;
  return 0;
}
