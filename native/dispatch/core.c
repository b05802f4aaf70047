/* SPDX-License-Identifier: Apache-2.0
 * What this processor's cores are like where that decides the order of a kernel's work. Never its bits.
 */
#include <stdatomic.h>
#include <string.h>

#include "kernel.h"

/* simd/quads.h asks for every four vectors, so it is no function: set before anything runs. As simd/fixed_bytes.h. */
extern int aclpy_core_bf16 __attribute__((visibility("hidden")));
extern int aclpy_core_vbmi __attribute__((visibility("hidden")));
int aclpy_core_bf16;
int aclpy_core_vbmi;

#if defined(__x86_64__)
#include <cpuid.h>

/* Later cores of family 1Ah are taken for Zen 5 until somebody measures them. */
enum { AMD_ZEN_3_AND_4 = 0x19, AMD_ZEN_5 = 0x1a, FAMILY_IS_EXTENDED = 0xf };

static int find_kind_(void) {
  unsigned most = 0, a = 0, b = 0, c = 0, d = 0;
  char vendor[12];
  if (__get_cpuid(0, &most, &b, &c, &d) == 0) return ACLPY_CORE_ANY;
  memcpy(vendor, &b, 4);
  memcpy(vendor + 4, &d, 4);
  memcpy(vendor + 8, &c, 4);
  if (memcmp(vendor, "AuthenticAMD", sizeof vendor) != 0) return ACLPY_CORE_ANY;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return ACLPY_CORE_ANY;
  const unsigned base = a >> 8 & 0xf, family = base == FAMILY_IS_EXTENDED ? base + (a >> 20 & 0xff) : base;
  if (family == AMD_ZEN_3_AND_4) return ACLPY_CORE_ZEN_3;
  return family == AMD_ZEN_5 ? ACLPY_CORE_ZEN_5 : ACLPY_CORE_ANY;
}
#ifndef ACLPY_EMULATED /* simd/avx512_text.h */
static int find_bf16_(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") != 0;
}
static int find_vbmi_(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vbmi") != 0;
}
#else
static int find_bf16_(void) { return 1; }
static int find_vbmi_(void) { return 1; }
#endif
#else
static int find_kind_(void) { return ACLPY_CORE_ANY; }
static int find_bf16_(void) { return 0; }
static int find_vbmi_(void) { return 0; }
#endif

void aclpy_core_set_bf16(int rounds) { aclpy_core_bf16 = rounds < 0 ? find_bf16_() : rounds; }
void aclpy_core_set_vbmi(int can) { aclpy_core_vbmi = can < 0 ? find_vbmi_() : can; }
__attribute__((constructor)) static void begin_(void) {
  aclpy_core_set_bf16(-1);
  aclpy_core_set_vbmi(-1);
}

enum { UNKNOWN = -1 };
static _Atomic int kind_ = UNKNOWN;

/* Two threads that ask at once store the same answer. */
int aclpy_core_kind(void) {
  int kind = atomic_load_explicit(&kind_, memory_order_relaxed);
  if (kind != UNKNOWN) return kind;
  kind = find_kind_();
  atomic_store_explicit(&kind_, kind, memory_order_relaxed);
  return kind;
}

void aclpy_core_set_kind(int kind) { atomic_store_explicit(&kind_, kind < 0 ? UNKNOWN : kind, memory_order_relaxed); }
