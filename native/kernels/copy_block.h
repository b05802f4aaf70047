/* SPDX-License-Identifier: Apache-2.0
 * Copies of one 2-D block, per element size: runs, broadcasts, transposes through a dense buffer, anything else.
 */
#ifndef ACLPY_KERNELS_COPY_BLOCK_H
#define ACLPY_KERNELS_COPY_BLOCK_H

#include "copy_geometry.h"

typedef struct aclpy_b16 {
  uint64_t part[2];
} aclpy_b16;
typedef uint8_t aclpy_b1;
typedef uint16_t aclpy_b2;
typedef uint32_t aclpy_b4;
typedef uint64_t aclpy_b8;

#define ACLPY_COPY_BLOCK_(type)                                                                                  \
  ACLPY_INLINE void copy_one_##type(const unsigned char *from, unsigned char *to) {                              \
    aclpy_##type v;                                                                                              \
    memcpy(&v, from, sizeof v);                                                                                  \
    memcpy(to, &v, sizeof v);                                                                                    \
  }                                                                                                              \
  ACLPY_INLINE void copy_line_##type(const unsigned char *from, unsigned char *to, int64_t n, int64_t from_step, \
                                     int64_t to_step) {                                                          \
    for (int64_t c = 0; c < n; ++c) copy_one_##type(from + c * from_step, to + c * to_step);                     \
  }                                                                                                              \
  /* Source lines are read whole before their neighbours evict them, then leave the buffer as columns. */        \
  static void copy_transpose_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,     \
                                    const aclpy_copy_dim *column) {                                              \
    enum { SIDE = 64 / sizeof(aclpy_##type) > 16 ? 16 : 64 / sizeof(aclpy_##type) };                             \
    aclpy_##type buffer[SIDE][SIDE];                                                                             \
    for (int64_t c = 0; c < column->n; c += SIDE) {                                                              \
      const int64_t nc = aclpy_min_i64(SIDE, column->n - c);                                                     \
      for (int64_t r = 0; r < row->n; r += SIDE) {                                                               \
        const int64_t nr = aclpy_min_i64(SIDE, row->n - r);                                                      \
        const unsigned char *s = from + r * row->from + c * column->from;                                        \
        unsigned char *d = to + r * row->to + c * column->to;                                                    \
        if (nc == SIDE && nr == SIDE) {                                                                          \
          for (int k = 0; k < SIDE; ++k) memcpy(buffer[k], s + k * column->from, sizeof buffer[k]);              \
          for (int i = 0; i < SIDE; ++i) {                                                                       \
            aclpy_##type line[SIDE];                                                                             \
            for (int k = 0; k < SIDE; ++k) line[k] = buffer[k][i];                                               \
            memcpy(d + i * row->to, line, sizeof line);                                                          \
          }                                                                                                      \
          continue;                                                                                              \
        }                                                                                                        \
        for (int64_t i = 0; i < nr; ++i) {                                                                       \
          copy_line_##type(s + i * row->from, d + i * row->to, nc, column->from, column->to);                    \
        }                                                                                                        \
      }                                                                                                          \
    }                                                                                                            \
  }                                                                                                              \
  static void copy_block_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,         \
                                const aclpy_copy_dim *column) {                                                  \
    const int64_t bytes = sizeof(aclpy_##type);                                                                  \
    if (column->to == bytes && row->from == bytes && column->from != bytes && column->from != 0) {               \
      copy_transpose_##type(from, to, row, column);                                                              \
      return;                                                                                                    \
    }                                                                                                            \
    for (int64_t r = 0; r < row->n; ++r) {                                                                       \
      const unsigned char *s = from + r * row->from;                                                             \
      unsigned char *d = to + r * row->to;                                                                       \
      if (column->to != bytes) {                                                                                 \
        copy_line_##type(s, d, column->n, column->from, column->to);                                             \
      } else if (column->from == bytes) {                                                                        \
        memcpy(d, s, (size_t)(column->n * bytes));                                                               \
      } else if (column->from == 0) {                                                                            \
        copy_line_##type(s, d, column->n, 0, bytes);                                                             \
      } else {                                                                                                   \
        copy_line_##type(s, d, column->n, column->from, bytes);                                                  \
      }                                                                                                          \
    }                                                                                                            \
  }
ACLPY_COPY_BLOCK_(b1)
ACLPY_COPY_BLOCK_(b2)
ACLPY_COPY_BLOCK_(b4)
ACLPY_COPY_BLOCK_(b8)
ACLPY_COPY_BLOCK_(b16)
#undef ACLPY_COPY_BLOCK_

#endif
