/* SPDX-License-Identifier: Apache-2.0
 * Lines of 64 bytes as loops of measurements move them: loaded, mixed, stored past the caches or through them;
 * and the clock beside them. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512BW__)
typedef __m512i line;
static inline line load_(const char* at) { return _mm512_loadu_si512(at); }
static inline void store_(char* at, line value) { _mm512_stream_si512((void*)at, value); }
static inline void store_plain_(char* at, line value) { _mm512_storeu_si512(at, value); }
static inline void store_part_(char* at, line value, int64_t bytes) {
  _mm512_mask_storeu_epi8(at, ((__mmask64)1 << bytes) - 1, value);
}
static inline line mix_(line a, line b) { return _mm512_xor_si512(a, b); }
#elif defined(__AVX2__)
typedef struct line {
  __m256i low, high;
} line;
static inline line load_(const char* at) {
  return (line){_mm256_loadu_si256((const void*)at), _mm256_loadu_si256((const void*)(at + 32))};
}
static inline void store_(char* at, line value) {
  _mm256_stream_si256((void*)at, value.low);
  _mm256_stream_si256((void*)(at + 32), value.high);
}
static inline line mix_(line a, line b) {
  return (line){_mm256_xor_si256(a.low, b.low), _mm256_xor_si256(a.high, b.high)};
}
#else /* the compiler's best plain stores; said so in the report */
typedef struct line {
  uint64_t word[8];
} line;
static inline line load_(const char* at) {
  line value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline void store_(char* at, line value) { memcpy(at, &value, sizeof value); }
static inline line mix_(line a, line b) {
  for (int i = 0; i < 8; i++) a.word[i] ^= b.word[i];
  return a;
}
#endif

#if !defined(__AVX512BW__)
static inline void store_plain_(char* at, line value) { memcpy(at, &value, sizeof value); }
static inline void store_part_(char* at, line value, int64_t bytes) { memcpy(at, &value, (size_t)bytes); }
#endif

/* What was computed is used. */
static inline void keep_(line value) {
  static volatile char sink[sizeof(line)];
  memcpy((char*)(uintptr_t)sink, &value, sizeof value);
}

static inline void fence_(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

static inline int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

#endif
