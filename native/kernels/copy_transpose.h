/* SPDX-License-Identifier: Apache-2.0
 * Transposes of square blocks whose lines are one cache line long: read whole, turned in registers, written whole.
 *
 * A network of log2(n) rounds, each of which zips line i with line i + n/2, turns n lines of n elements.
 */
#ifndef ACLPY_KERNELS_COPY_TRANSPOSE_H
#define ACLPY_KERNELS_COPY_TRANSPOSE_H

#include "copy_geometry.h"

/* 16 bytes as elements of one size; zip_low takes the first halves of a and b in turn, zip_high the second ones. */
#define ACLPY_ZIP_(bytes, element, lanes, low, high)                                                           \
  typedef element aclpy_zip_b##bytes __attribute__((vector_size(16)));                                         \
  ACLPY_INLINE aclpy_zip_b##bytes zip_low_b##bytes(aclpy_zip_b##bytes a, aclpy_zip_b##bytes b) { return low; } \
  ACLPY_INLINE aclpy_zip_b##bytes zip_high_b##bytes(aclpy_zip_b##bytes a, aclpy_zip_b##bytes b) { return high; }
#ifdef __clang__
#define ACLPY_PICK_(bytes, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define ACLPY_PICK_(bytes, ...) __builtin_shuffle(a, b, (aclpy_zip_b##bytes){__VA_ARGS__})
#endif
ACLPY_ZIP_(1, uint8_t, 16, ACLPY_PICK_(1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
           ACLPY_PICK_(1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
ACLPY_ZIP_(2, uint16_t, 8, ACLPY_PICK_(2, 0, 8, 1, 9, 2, 10, 3, 11), ACLPY_PICK_(2, 4, 12, 5, 13, 6, 14, 7, 15))
ACLPY_ZIP_(4, uint32_t, 4, ACLPY_PICK_(4, 0, 4, 1, 5), ACLPY_PICK_(4, 2, 6, 3, 7))
ACLPY_ZIP_(8, uint64_t, 2, ACLPY_PICK_(8, 0, 2), ACLPY_PICK_(8, 1, 3))
#undef ACLPY_ZIP_
#undef ACLPY_PICK_

/* A line of 64 bytes, kept in cache or streamed past it (then `to` is aligned to a line). */
ACLPY_INLINE void aclpy_line_store_(unsigned char *to, const unsigned char *from, int streaming) {
  for (int i = 0; i < 16; i += v32_LANES) {
    float *at = (float *)(void *)to + i;
    v32 part; /* at once: in smaller parts it would wait for them */
    memcpy(&part, from + 4 * i, sizeof part);
    if (streaming) nt_f32(at, part);
    if (!streaming) v32_store(at, part);
  }
}

/* A run of bytes; streamed (whole lines of it) where the tensors are larger than the caches. */
ACLPY_INLINE void copy_run_(unsigned char *to, const unsigned char *from, int64_t n, int streaming) {
  if (!streaming || n < 256) {
    memcpy(to, from, (size_t)n);
    return;
  }
  const int64_t head = (int64_t)(-(uintptr_t)to & 63u);
  memcpy(to, from, (size_t)head);
  int64_t i = head;
  for (; i + 64 <= n; i += 64) aclpy_line_store_(to + i, from + i, 1);
  memcpy(to + i, from + i, (size_t)(n - i));
}

/* Turns SIDE lines, which lie together, into SIDE lines of `to`; transpose_square_b<n> turns lines that lie `from_step`
 * apart. They are read into a dense buffer first: lines a power of two apart evict each other. */
#define ACLPY_SQUARE_(bytes)                                                                                   \
  ACLPY_INLINE void transpose_square_b##bytes(const unsigned char *from, unsigned char *to, int64_t from_step, \
                                              int64_t to_step, int streaming) {                                \
    enum { SIDE = 64 / bytes };                                                                                \
    _Alignas(64) unsigned char in[SIDE][64];                                                                   \
    for (int k = 0; k < SIDE; ++k) aclpy_line_store_(in[k], from + k * from_step, 0);                          \
    turn_lines_b##bytes(in[0], to, to_step, streaming);                                                        \
  }
#define ACLPY_TRANSPOSE_(bytes, rounds)                                                                               \
  ACLPY_INLINE void turn_lines_b##bytes(const unsigned char *in, unsigned char *to, int64_t to_step, int streaming) { \
    enum { N = 16 / bytes, Q = 4 };                                                                                   \
    _Alignas(64) unsigned char out[N][64];                                                                            \
    for (int i = 0; i < Q; ++i) {                                                                                     \
      for (int q = 0; q < Q; ++q) {                                                                                   \
        aclpy_zip_b##bytes v[N], w[N];                                                                                \
        for (int k = 0; k < N; ++k) memcpy(&v[k], in + 64 * (q * N + k) + 16 * i, 16);                                \
        for (int round = 0; round < rounds; ++round) {                                                                \
          for (int k = 0; k < N / 2; ++k) {                                                                           \
            w[2 * k] = zip_low_b##bytes(v[k], v[k + N / 2]);                                                          \
            w[2 * k + 1] = zip_high_b##bytes(v[k], v[k + N / 2]);                                                     \
          }                                                                                                           \
          memcpy(v, w, sizeof v);                                                                                     \
        }                                                                                                             \
        for (int k = 0; k < N; ++k) memcpy(out[k] + 16 * q, &v[k], 16);                                               \
      }                                                                                                               \
      for (int k = 0; k < N; ++k) aclpy_line_store_(to + (i * N + k) * to_step, out[k], streaming);                   \
    }                                                                                                                 \
  }                                                                                                                   \
  ACLPY_SQUARE_(bytes)
#if ACLPY_ISA_RANK < 2
ACLPY_TRANSPOSE_(1, 4)
ACLPY_TRANSPOSE_(2, 3)
ACLPY_TRANSPOSE_(4, 2)
ACLPY_TRANSPOSE_(8, 1)
#endif
#undef ACLPY_TRANSPOSE_

#if ACLPY_ISA_RANK >= 2
/* The same two or four times at once: a vector has 16 bytes of every second or fourth part of the lines, so that loads
 * bring them to their place, what is zipped are 16 bytes apiece, and each vector that comes out is a line or half of
 * one. aclpy_parts_: 16 bytes each of so many lines, `step` lines apart. */
#if ACLPY_ISA_RANK == 2
enum { ACLPY_PARTS_ = 2 };
typedef __m256i aclpy_parts;
#define ACLPY_UNPACK_(name) _mm256_unpack##name
ACLPY_INLINE aclpy_parts aclpy_parts_(const unsigned char *at, int step) {
  const __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at));
  return _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(const void *)(at + 64 * step)), 1);
}
ACLPY_INLINE void aclpy_parts_store_(unsigned char *to, aclpy_parts v, int streaming) {
  if (streaming) _mm256_stream_si256((__m256i *)(void *)to, v);
  if (!streaming) _mm256_storeu_si256((__m256i *)(void *)to, v);
}
#else
enum { ACLPY_PARTS_ = 4 };
typedef __m512i aclpy_parts;
#define ACLPY_UNPACK_(name) _mm512_unpack##name
/* By masks: insertions would want the pipes that zip. */
ACLPY_INLINE __m512i aclpy_quarter_(__m512i v, __mmask16 where, const unsigned char *at) {
  return _mm512_mask_broadcast_i32x4(v, where, _mm_loadu_si128((const __m128i *)(const void *)at));
}
ACLPY_INLINE aclpy_parts aclpy_parts_(const unsigned char *at, int step) {
  __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)at));
  v = aclpy_quarter_(v, 0x00f0, at + 64 * step);
  v = aclpy_quarter_(v, 0x0f00, at + 128 * step);
  return aclpy_quarter_(v, 0xf000, at + 192 * step);
}
ACLPY_INLINE void aclpy_parts_store_(unsigned char *to, aclpy_parts v, int streaming) {
  if (streaming) _mm512_stream_si512((__m512i *)(void *)to, v);
  if (!streaming) _mm512_storeu_si512(to, v);
}
#endif
#define ACLPY_TRANSPOSE_(bytes, rounds, low, high)                                                                    \
  ACLPY_INLINE void turn_lines_b##bytes(const unsigned char *in, unsigned char *to, int64_t to_step, int streaming) { \
    enum { N = 16 / bytes, Q = 4, VECTORS = 4 / ACLPY_PARTS_ };                                                       \
    for (int q = 0; q < Q; ++q) {                                                                                     \
      aclpy_parts v[VECTORS][N], w[N];                                                                                \
      for (int part = 0; part < VECTORS; ++part) {                                                                    \
        for (int k = 0; k < N; ++k) v[part][k] = aclpy_parts_(in + 64 * (ACLPY_PARTS_ * N * part + k) + 16 * q, N);   \
        for (int round = 0; round < rounds; ++round) {                                                                \
          for (int k = 0; k < N / 2; ++k) {                                                                           \
            w[2 * k] = low(v[part][k], v[part][k + N / 2]);                                                           \
            w[2 * k + 1] = high(v[part][k], v[part][k + N / 2]);                                                      \
          }                                                                                                           \
          for (int k = 0; k < N; ++k) v[part][k] = w[k];                                                              \
        }                                                                                                             \
      }                                                                                                               \
      for (int k = 0; k < N; ++k) {                                                                                   \
        for (int part = 0; part < VECTORS; ++part) {                                                                  \
          aclpy_parts_store_(to + (q * N + k) * to_step + 16 * ACLPY_PARTS_ * part, v[part][k], streaming);           \
        }                                                                                                             \
      }                                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  ACLPY_SQUARE_(bytes)
ACLPY_TRANSPOSE_(1, 4, ACLPY_UNPACK_(lo_epi8), ACLPY_UNPACK_(hi_epi8))
ACLPY_TRANSPOSE_(2, 3, ACLPY_UNPACK_(lo_epi16), ACLPY_UNPACK_(hi_epi16))
#if ACLPY_ISA_RANK == 2
ACLPY_TRANSPOSE_(4, 2, ACLPY_UNPACK_(lo_epi32), ACLPY_UNPACK_(hi_epi32))
ACLPY_TRANSPOSE_(8, 1, ACLPY_UNPACK_(lo_epi64), ACLPY_UNPACK_(hi_epi64))
#endif
#undef ACLPY_TRANSPOSE_
#undef ACLPY_UNPACK_
#endif

#if ACLPY_ISA_RANK == 3
/* Squares of 4 and 8 bytes in registers: zipped within 16 bytes first, then moved 16 bytes at a time, by shuffles that
 * need no indices. The network of transpose.h, which takes one square at a time of strips, is slower for these loops.
 */
/* 4 x 4 elements in each 16 bytes of four vectors. */
ACLPY_INLINE void aclpy_turn_quarters_(v32 *v) {
  const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1])),
                b = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
  const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3])),
                d = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
  v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
  v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
  v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
  v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}
/* 4 x 4 elements of 16 bytes. */
ACLPY_INLINE void aclpy_turn_lanes_(v32 *a, v32 *b, v32 *c, v32 *d) {
  const v32 e = _mm512_shuffle_f32x4(*a, *b, 0x44), f = _mm512_shuffle_f32x4(*a, *b, 0xee);
  const v32 g = _mm512_shuffle_f32x4(*c, *d, 0x44), h = _mm512_shuffle_f32x4(*c, *d, 0xee);
  *a = _mm512_shuffle_f32x4(e, g, 0x88);
  *b = _mm512_shuffle_f32x4(e, g, 0xdd);
  *c = _mm512_shuffle_f32x4(f, h, 0x88);
  *d = _mm512_shuffle_f32x4(f, h, 0xdd);
}
ACLPY_INLINE void aclpy_turn_v32_(v32 *v) {
  for (int k = 0; k < 16; k += 4) aclpy_turn_quarters_(v + k);
  for (int k = 0; k < 4; ++k) aclpy_turn_lanes_(v + k, v + 4 + k, v + 8 + k, v + 12 + k);
}
ACLPY_INLINE void aclpy_turn_v64_(v64 *v) {
  v32 w[8];
  for (int k = 0; k < 8; k += 2) {
    w[k] = _mm512_castpd_ps(_mm512_unpacklo_pd(v[k], v[k + 1]));
    w[k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(v[k], v[k + 1]));
  }
  for (int k = 0; k < 2; ++k) aclpy_turn_lanes_(w + k, w + 2 + k, w + 4 + k, w + 6 + k);
  for (int k = 0; k < 8; ++k) v[k] = _mm512_castps_pd(w[k]);
}

/* Of fewer, longer elements whole lines are turned: there the way through memory would cost what it saves. */
#define ACLPY_TRANSPOSE_(bytes, vec, real)                                                                            \
  ACLPY_INLINE void transpose_square_b##bytes(const unsigned char *from, unsigned char *to, int64_t from_step,        \
                                              int64_t to_step, int streaming) {                                       \
    enum { SIDE = 64 / bytes };                                                                                       \
    vec v[SIDE];                                                                                                      \
    for (int k = 0; k < SIDE; ++k) v[k] = vec##_load((const real *)(const void *)(from + k * from_step));             \
    aclpy_turn_##vec##_(v);                                                                                           \
    for (int k = 0; k < SIDE; ++k) {                                                                                  \
      float *line = (float *)(void *)(to + k * to_step);                                                              \
      const v32 whole = ACLPY_AS_FLOATS_##vec(v[k]);                                                                  \
      if (streaming) nt_f32(line, whole);                                                                             \
      if (!streaming) v32_store(line, whole);                                                                         \
    }                                                                                                                 \
  }                                                                                                                   \
  ACLPY_INLINE void turn_lines_b##bytes(const unsigned char *in, unsigned char *to, int64_t to_step, int streaming) { \
    transpose_square_b##bytes(in, to, 64, to_step, streaming);                                                        \
  }
#define ACLPY_AS_FLOATS_v32(v) (v)
#define ACLPY_AS_FLOATS_v64(v) _mm512_castpd_ps(v)
ACLPY_TRANSPOSE_(4, v32, float)
ACLPY_TRANSPOSE_(8, v64, double)
#undef ACLPY_AS_FLOATS_v32
#undef ACLPY_AS_FLOATS_v64
#undef ACLPY_TRANSPOSE_
#endif

ACLPY_INLINE void transpose_square_b16(const unsigned char *from, unsigned char *to, int64_t from_step, int64_t to_step,
                                       int streaming) {
  unsigned char line[4][64];
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 4; ++i) memcpy(line[i] + 16 * k, from + k * from_step + 16 * i, 16);
  }
  for (int i = 0; i < 4; ++i) aclpy_line_store_(to + i * to_step, line[i], streaming);
}
ACLPY_INLINE void turn_lines_b16(const unsigned char *in, unsigned char *to, int64_t to_step, int streaming) {
  transpose_square_b16(in, to, 64, to_step, streaming);
}
#undef ACLPY_SQUARE_

#endif
