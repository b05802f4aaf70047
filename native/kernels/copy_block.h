/* SPDX-License-Identifier: Apache-2.0
 * Copies of one 2-D block, per element size: runs, broadcasts, transposes of squares, anything else.
 */
#ifndef ACLPY_KERNELS_COPY_BLOCK_H
#define ACLPY_KERNELS_COPY_BLOCK_H

#include "copy_geometry.h"
#include "copy_transpose.h"

typedef struct aclpy_b16 {
  uint64_t part[2];
} aclpy_b16;
typedef uint8_t aclpy_b1;
typedef uint16_t aclpy_b2;
typedef uint32_t aclpy_b4;
typedef uint64_t aclpy_b8;

#define ACLPY_COPY_BLOCK_(type)                                                                                      \
  ACLPY_INLINE void copy_one_##type(const unsigned char *from, unsigned char *to) {                                  \
    aclpy_##type v;                                                                                                  \
    memcpy(&v, from, sizeof v);                                                                                      \
    memcpy(to, &v, sizeof v);                                                                                        \
  }                                                                                                                  \
  ACLPY_INLINE void copy_line_##type(const unsigned char *from, unsigned char *to, int64_t n, int64_t from_step,     \
                                     int64_t to_step) {                                                              \
    for (int64_t c = 0; c < n; ++c) copy_one_##type(from + c * from_step, to + c * to_step);                         \
  }                                                                                                                  \
  /* Squares of whole lines, the last ones of which overlap with those before; the source's lines of the squares to  \
     come are fetched ahead, past the last column too, where the next tile goes on: along the source's runs, so that \
     memory gives them as they lie. */                                                                               \
  static void copy_transpose_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,         \
                                    const aclpy_copy_dim *column, int streaming) {                                   \
    enum { SIDE = 64 / sizeof(aclpy_##type), AHEAD = 128 };                                                          \
    const int64_t last_row = row->n - SIDE, last_column = column->n - SIDE;                                          \
    if (last_row < 0 || last_column < 0) {                                                                           \
      for (int64_t r = 0; r < row->n; ++r) {                                                                         \
        copy_line_##type(from + r * row->from, to + r * row->to, column->n, column->from, column->to);               \
      }                                                                                                              \
      return;                                                                                                        \
    }                                                                                                                \
    const int64_t down = aclpy_ceil_div(row->n, SIDE);                                                               \
    const unsigned char *fetched = from + AHEAD / down * column->from;                                               \
    int64_t line = 0;                                                                                                \
    for (int64_t c = 0; c < column->n; c += SIDE) {                                                                  \
      for (int64_t r = 0; r < row->n; r += SIDE) {                                                                   \
        const int64_t i = aclpy_min_i64(r, last_row), j = aclpy_min_i64(c, last_column);                             \
        const unsigned char *s = from + i * row->from + j * column->from;                                            \
        unsigned char *d = to + i * row->to + j * column->to;                                                        \
        for (int k = 0; k < SIDE; ++k) {                                                                             \
          ACLPY_PREFETCH(fetched + 64 * line);                                                                       \
          if (++line == down) line = 0, fetched += column->from;                                                     \
        }                                                                                                            \
        if (streaming && j == c) {                                                                                   \
          transpose_square_##type(s, d, column->from, row->to, 1);                                                   \
        } else {                                                                                                     \
          transpose_square_##type(s, d, column->from, row->to, 0);                                                   \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }                                                                                                                  \
  static void copy_block_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,             \
                                const aclpy_copy_dim *column, int streaming) {                                       \
    const int64_t bytes = sizeof(aclpy_##type);                                                                      \
    if (column->to == bytes && row->from == bytes && column->from != bytes && column->from != 0) {                   \
      copy_transpose_##type(from, to, row, column, streaming);                                                       \
      return;                                                                                                        \
    }                                                                                                                \
    for (int64_t r = 0; r < row->n; ++r) {                                                                           \
      const unsigned char *s = from + r * row->from;                                                                 \
      unsigned char *d = to + r * row->to;                                                                           \
      if (column->to != bytes) {                                                                                     \
        copy_line_##type(s, d, column->n, column->from, column->to);                                                 \
      } else if (column->from == bytes) {                                                                            \
        copy_run_(d, s, column->n * bytes, streaming);                                                               \
      } else if (column->from == 0) {                                                                                \
        copy_line_##type(s, d, column->n, 0, bytes);                                                                 \
      } else {                                                                                                       \
        copy_line_##type(s, d, column->n, column->from, bytes);                                                      \
      }                                                                                                              \
    }                                                                                                                \
  }
ACLPY_COPY_BLOCK_(b1)
ACLPY_COPY_BLOCK_(b2)
ACLPY_COPY_BLOCK_(b4)
ACLPY_COPY_BLOCK_(b8)
ACLPY_COPY_BLOCK_(b16)
#undef ACLPY_COPY_BLOCK_

#endif
