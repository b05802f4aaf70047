/* SPDX-License-Identifier: Apache-2.0
 * Strips of 16-bit inputs whose reduced axis is the dense one (transposed.h), turned as the words they are: half the
 * bytes of floats, and what is turned once is read as often as is needed, as if the input lay as the result does.
 */
#ifndef ACLPY_KERNELS_STRIP_WORDS_H
#define ACLPY_KERNELS_STRIP_WORDS_H

#include "copy_transpose.h"
#include "rows_geometry.h"

enum { ACLPY_WORDS_SIDE = 32 /* words in a line: a square's rows and columns */ };

/* Columns of a strip, which lie `pitch` apart, and where their rows lie once they are turned. */
typedef struct aclpy_words {
  const uint16_t *x;
  int64_t pitch, columns, rows;
  uint16_t *room;
  int64_t stride; /* of its rows, whole squares */
  int held;       /* whether all rows have a place in it, or only those of two squares */
} aclpy_words;

ACLPY_INLINE int64_t aclpy_words_stride(int64_t width) {
  return aclpy_ceil_div(width, ACLPY_WORDS_SIDE) * ACLPY_WORDS_SIDE;
}

/* The room for `rows` rows of a strip, or for two squares. */
ACLPY_INLINE int64_t aclpy_words_room(int64_t rows, int64_t width) {
  return aclpy_max_i64(rows, 2 * ACLPY_WORDS_SIDE) * aclpy_words_stride(width);
}

/* 32 rows and columns of x, turned. Not inline: it fills the registers. */
static __attribute__((noinline, unused)) void aclpy_words_turn(const uint16_t *x, int64_t pitch, uint16_t *to,
                                                               int64_t step) {
  const int64_t size = (int64_t)sizeof *x;
  transpose_square_b2((const unsigned char *)x, (unsigned char *)to, pitch * size, step * size, 0);
}
/* Fewer: columns that do not exist are 0, rows that do not exist are not written. */
static __attribute__((noinline, unused)) void aclpy_words_turn_part(const uint16_t *x, int64_t pitch, int64_t rows,
                                                                    int64_t columns, uint16_t *to, int64_t step) {
  uint16_t line[ACLPY_WORDS_SIDE][ACLPY_WORDS_SIDE] = {{0}}, turned[ACLPY_WORDS_SIDE][ACLPY_WORDS_SIDE];
  for (int64_t k = 0; k < columns; ++k) memcpy(line[k], x + k * pitch, (size_t)rows * sizeof *x);
  aclpy_words_turn(line[0], ACLPY_WORDS_SIDE, turned[0], ACLPY_WORDS_SIDE);
  for (int64_t k = 0; k < rows; ++k) memcpy(to + k * step, turned[k], sizeof turned[k]);
}

/* `rows` rows from `r` on, at most two squares, `stride` apart; `again`: they have been turned before. */
ACLPY_INLINE const uint16_t *aclpy_words_block(const aclpy_words *w, int64_t r, int64_t rows, int again) {
  uint16_t *to = w->room + (w->held ? r * w->stride : 0);
  if (again && w->held) return to;
  for (int64_t k = 0; k < rows; k += ACLPY_WORDS_SIDE) {
    for (int64_t c = 0; c < w->columns; c += ACLPY_WORDS_SIDE) {
      const int64_t height = aclpy_min_i64(ACLPY_WORDS_SIDE, w->rows - r - k);
      const int64_t width = aclpy_min_i64(ACLPY_WORDS_SIDE, w->columns - c);
      const uint16_t *x = w->x + c * w->pitch + r + k;
      uint16_t *square = to + k * w->stride + c;
      if (height == ACLPY_WORDS_SIDE && width == ACLPY_WORDS_SIDE) {
        aclpy_words_turn(x, w->pitch, square, w->stride);
      } else {
        aclpy_words_turn_part(x, w->pitch, height, width, square, w->stride);
      }
    }
  }
  return to;
}

ACLPY_INLINE void aclpy_words_all(const aclpy_words *w) {
  for (int64_t r = 0; r < w->rows; r += ACLPY_WORDS_SIDE) aclpy_words_block(w, r, ACLPY_WORDS_SIDE, 0);
}

#endif
