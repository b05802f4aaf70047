/* SPDX-License-Identifier: Apache-2.0
 * What the kernel harnesses share: random numbers, guarded buffers, dtypes converted without the kernels' code.
 */
#ifndef ACLPY_TESTS_KERNELS_SUPPORT_H
#define ACLPY_TESTS_KERNELS_SUPPORT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "sanitizers.h"

#define SUPPORT static __attribute__((unused))

static int failures_;

#define CHECK(condition, ...)                                         \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fputc('\n', stderr);                                            \
      if (++failures_ > 20) exit(1);                                  \
    }                                                                 \
  } while (0)

/* ---- random numbers: xorshift, the same on every machine ---- */

static uint64_t random_state_ = 0x9e3779b97f4a7c15u;

SUPPORT uint64_t random_bits(void) {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}
SUPPORT int64_t random_below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }
SUPPORT double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }
/* Bell-shaped enough: a sum of twelve numbers of 16 bits, and the bits below them. */
SUPPORT double random_normal(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t four = random_bits(), two = (four & 0x0000ffff0000ffffu) + (four >> 16 & 0x0000ffff0000ffffu);
    sum += (two & 0xffffffffu) + (two >> 32);
  }
  return ((double)sum + random_unit()) * 0x1p-16 - 6.0;
}

/* ---- shapes: outer x n x inner, reduced over n ---- */

typedef struct shape3 {
  int64_t outer, n, inner;
} shape3;

/* KERNEL_SHAPES=few: few shapes that still go every way through the kernels, for emulated processors; and for the
 * thread sanitizer, which makes each access many times slower and looks only at how neighbouring items share memory. */
SUPPORT int few_shapes(void) {
  const char *wanted = getenv("KERNEL_SHAPES");
  return THREAD_SANITIZED || (wanted != NULL && strcmp(wanted, "few") == 0);
}

/* ---- buffers with guard bytes around them, aligned to the element only ---- */

enum { GUARD = 192, GUARD_BYTE = 0xa5 };

typedef struct buffer {
  unsigned char *whole;
  unsigned char *data;
  size_t bytes;
} buffer;

SUPPORT void *checked_malloc(size_t bytes) {
  void *p = malloc(bytes > 0 ? bytes : 1);
  if (p == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return p;
}

SUPPORT buffer buffer_make(size_t bytes, size_t element) {
  buffer b;
  const size_t shift = element * (size_t)random_below(9);
  b.whole = checked_malloc(bytes + 2 * GUARD + 8 * element);
  memset(b.whole, GUARD_BYTE, bytes + 2 * GUARD + 8 * element);
  b.data = b.whole + GUARD / 2 + shift;
  b.bytes = bytes;
  return b;
}
SUPPORT int buffer_guards_hold(const buffer *b) {
  for (const unsigned char *p = b->data - GUARD / 2; p < b->data; ++p) {
    if (*p != GUARD_BYTE) return 0;
  }
  for (const unsigned char *p = b->data + b->bytes; p < b->data + b->bytes + GUARD / 2; ++p) {
    if (*p != GUARD_BYTE) return 0;
  }
  return 1;
}
SUPPORT void buffer_free(buffer *b) { free(b->whole); }

/* ---- kernels ---- */

SUPPORT uint32_t isa_bit(const aclpy_kernel *k) {
  const uint32_t all = aclpy_isa_mask(k->isa), supported = aclpy_isa_supported();
  const uint32_t own = strcmp(k->isa, "baseline") == 0 ? ACLPY_ISA_BASELINE
                       : strcmp(k->isa, "avx2") == 0   ? ACLPY_ISA_AVX2
                                                       : ACLPY_ISA_AVX512;
  return all & supported & own;
}

/* Whether it depends on the processor how the kernel rounds (aclpy_core_set_bf16). */
SUPPORT int rounds_two_ways(const aclpy_kernel *k) {
  return strcmp(k->isa, "avx512") == 0 && strstr(k->dtype, "bf16") != NULL;
}

/* The kernel of another dtype on the same ISA. */
SUPPORT const aclpy_kernel *kernel_like(const aclpy_kernel *k, const char *name, const char *dtype) {
  const aclpy_kernel *found = aclpy_kernel_find(name, dtype, isa_bit(k));
  if (found == NULL || strcmp(found->isa, k->isa) != 0) {
    fprintf(stderr, "no kernel %s %s for %s\n", name, dtype, k->isa);
    exit(1);
  }
  return found;
}

/* ---- dtypes, converted without the kernels' code ---- */

SUPPORT size_t dtype_bytes(const char *dtype) {
  if (strcmp(dtype, "f64") == 0) return 8;
  return strcmp(dtype, "f32") == 0 ? 4 : 2;
}

/* Value of a small float: `exponent` bits, `fraction` bits; `infinite`: the top exponent is infinity and NaN. */
SUPPORT double small_value(uint32_t bits, int exponent, int fraction, int infinite) {
  const uint32_t e = (bits >> fraction) & ((1u << exponent) - 1u), f = bits & ((1u << fraction) - 1u);
  const int bias = (1 << (exponent - 1)) - 1;
  const double sign = (bits >> (exponent + fraction)) & 1u ? -1.0 : 1.0;
  if (infinite && e == (1u << exponent) - 1u) return f != 0 ? (double)__builtin_nanf("") : sign * __builtin_inf();
  if (!infinite && (bits & ((1u << (exponent + fraction)) - 1u)) == (1u << (exponent + fraction)) - 1u) {
    return (double)__builtin_nanf("");
  }
  double v = e == 0 ? (double)f : (double)(f + (1u << fraction));
  for (int i = (e == 0 ? 1 : (int)e) - bias - fraction; i < 0; ++i) v *= 0.5;
  for (int i = (e == 0 ? 1 : (int)e) - bias - fraction; i > 0; --i) v *= 2.0;
  return sign * v;
}

/* Nearest small float by bisection over its (ordered) patterns, ties to even; overflow to `infinity`. */
SUPPORT uint32_t small_round(double v, int exponent, int fraction, int infinite) {
  const uint32_t sign = __builtin_signbit(v) ? 1u << (exponent + fraction) : 0;
  const uint32_t top = (1u << (exponent + fraction)) - 1u; /* all ones: NaN in both families */
  const uint32_t infinity = infinite ? ((1u << exponent) - 1u) << fraction : top;
  if (v != v) return sign | top;
  v = __builtin_fabs(v);
  uint32_t low = 0, high = infinity - 1; /* largest finite */
  if (v >= small_value(high, exponent, fraction, infinite)) {
    const double most = small_value(high, exponent, fraction, infinite);
    const double step = most - small_value(high - 1, exponent, fraction, infinite);
    const int even = (high & 1u) == 0;
    const double half = most + step / 2;
    return sign | (v < half || (v == half && even) ? high : infinity);
  }
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (small_value(middle, exponent, fraction, infinite) <= v) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const double below = v - small_value(low, exponent, fraction, infinite);
  const double above = small_value(high, exponent, fraction, infinite) - v;
  return sign | (below < above || (below == above && (low & 1u) == 0) ? low : high);
}

/* Values of every float16 [0] and bfloat16 [1] pattern without sign, made once: `small_round` on a table. */
static double half_values_[2][32768];

SUPPORT const double *half_values(int brain) {
  double *table = half_values_[brain];
  if (table[1] == 0) {
    for (uint32_t i = 0; i < 32768; ++i) table[i] = brain ? small_value(i, 8, 7, 1) : small_value(i, 5, 10, 1);
  }
  return table;
}

/* Nearest half type, ties to even, without the bisection: most of a harness's time under sanitizers went into it. */
SUPPORT uint16_t half_round(double v, int brain) {
  const int fraction = brain ? 7 : 10, bias = brain ? 127 : 15;
  const uint16_t sign = __builtin_signbit(v) ? 0x8000u : 0, infinity = brain ? 0x7f80u : 0x7c00u;
  if (v != v) return (uint16_t)(sign | 0x7fffu);
  if (v == 0 || __builtin_isinf(v)) return sign | (v == 0 ? 0 : infinity);
  v = __builtin_fabs(v);
  uint64_t bits;
  memcpy(&bits, &v, 8);
  int exponent = (int)(bits >> 52) - 1023 + bias;
  if (exponent >= 2 * bias + 1) return sign | infinity;
  if (exponent < 1) exponent = 1; /* subnormals have the steps of the least normal numbers */
  bits = (uint64_t)(1023 + fraction + bias - exponent) << 52;
  double steps_of_one;
  memcpy(&steps_of_one, &bits, 8);
  const volatile double rounded = v * steps_of_one + 0x1p52; /* where a step of double is 1 */
  const uint32_t steps = (uint32_t)(rounded - 0x1p52);
  return (uint16_t)(sign | (((uint32_t)(exponent - 1) << fraction) + steps)); /* which may carry, up to infinity */
}

/* By the letters that differ: comparing texts for every element takes longer than the rest under sanitizers. */
SUPPORT int is_f64(const char *dtype) { return dtype[1] == '6'; }
SUPPORT int is_f32(const char *dtype) { return dtype[1] == '3'; }

SUPPORT double element_get(const char *dtype, const unsigned char *p, int64_t i) {
  double d;
  float f;
  uint16_t h;
  if (is_f64(dtype)) {
    memcpy(&d, p + 8 * i, 8);
    return d;
  }
  if (is_f32(dtype)) {
    memcpy(&f, p + 4 * i, 4);
    return (double)f;
  }
  memcpy(&h, p + 2 * i, 2);
  const double magnitude = half_values(dtype[0] == 'b')[h & 0x7fffu];
  return h & 0x8000u ? -magnitude : magnitude;
}
SUPPORT void element_set(const char *dtype, unsigned char *p, int64_t i, double v) {
  const float f = (float)v;
  if (is_f64(dtype)) {
    memcpy(p + 8 * i, &v, 8);
  } else if (is_f32(dtype)) {
    memcpy(p + 4 * i, &f, 4);
  } else {
    const uint16_t h = half_round(v, dtype[0] == 'b');
    memcpy(p + 2 * i, &h, 2);
  }
}

/* One element of 1 to 16 bytes: sizes that are known need no call, which sanitizers would look at each time. */
SUPPORT void element_copy(unsigned char *to, const unsigned char *from, int64_t bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      return;
    case 2:
      memcpy(to, from, 2);
      return;
    case 4:
      memcpy(to, from, 4);
      return;
    case 8:
      memcpy(to, from, 8);
      return;
    default:
      memcpy(to, from, (size_t)bytes);
  }
}
SUPPORT void fill_bytes(unsigned char *p, size_t bytes) {
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    const uint64_t eight = random_bits();
    memcpy(p + i, &eight, 8);
  }
  for (; i < bytes; ++i) p[i] = (unsigned char)random_bits();
}

SUPPORT int finish(const char *what) {
  printf("%s: %s\n", what, failures_ == 0 ? "ok" : "FAILED");
  return failures_ == 0 ? 0 : 1;
}

#endif
