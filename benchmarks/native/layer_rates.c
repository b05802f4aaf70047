/* SPDX-License-Identifier: Apache-2.0
 * What one core moves between its first two caches and turns in registers, alone and beside reading memory. */
#include "lines.h"

enum { LINE_BYTES = 64, AT_ONCE = 8 };

/* Nanoseconds to read `lines` lines once, `again` more often. */
double bench_lines_read(const char* at, int64_t lines, int64_t again) {
  line seen[AT_ONCE];
  for (int k = 0; k < AT_ONCE; k++) seen[k] = load_(at);
  const int64_t start = now_();
  for (int64_t turn = 0; turn <= again; turn++) {
    for (int64_t i = 0; i + AT_ONCE <= lines; i += AT_ONCE) {
      for (int k = 0; k < AT_ONCE; k++) seen[k] = mix_(seen[k], load_(at + (i + k) * LINE_BYTES));
    }
  }
  const int64_t took = now_() - start;
  for (int k = 0; k < AT_ONCE; k++) keep_(seen[k]);
  return (double)took / (double)(again + 1);
}

/* The same for lines that are written, so fetched and written back. */
double bench_lines_write(char* at, int64_t lines, int64_t again) {
  const line value = load_(at);
  const int64_t start = now_();
  for (int64_t turn = 0; turn <= again; turn++) {
    for (int64_t i = 0; i < lines; i++) store_plain_(at + i * LINE_BYTES, value);
    __asm__ volatile("" ::: "memory"); /* every turn counts */
  }
  return (double)(now_() - start) / (double)(again + 1);
}

/* Nanoseconds to read `lines` lines of memory, each beside one of `near_lines` that stay in the second-level cache. */
double bench_lines_beside(const char* far, int64_t lines, const char* near, int64_t near_lines) {
  line seen = load_(near), other = seen;
  const int64_t start = now_();
  for (int64_t i = 0, k = 0; i < lines; i++) {
    seen = mix_(seen, load_(far + i * LINE_BYTES));
    other = mix_(other, load_(near + k * LINE_BYTES));
    if (++k == near_lines) k = 0;
  }
  const int64_t took = now_() - start;
  keep_(mix_(seen, other));
  return (double)took;
}

/* Shuffles of two vectors a nanosecond, independent ones; 0 where the compiler has no vectors of this size. */
double bench_shuffles(int64_t turns) {
#if defined(__AVX512BW__)
  __m512i v[AT_ONCE];
  for (int k = 0; k < AT_ONCE; k++) v[k] = _mm512_set1_epi32(k);
  const int64_t start = now_();
  for (int64_t turn = 0; turn < turns; turn++) {
    for (int k = 0; k < AT_ONCE; k++) v[k] = _mm512_unpacklo_epi32(v[k], v[k]);
    for (int k = 0; k < AT_ONCE; k++) __asm__ volatile("" : "+v"(v[k]));
  }
  const int64_t took = now_() - start;
  for (int k = 0; k < AT_ONCE; k++) keep_(v[k]);
  return took > 0 ? (double)(turns * AT_ONCE) / (double)took : 0.0;
#else
  (void)turns;
  return 0.0;
#endif
}
