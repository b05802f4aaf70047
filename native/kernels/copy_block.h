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

/* The source's lines that are read some time later, in the order of its runs, as memory gives them best; past the last
 * column, too, where the next tile goes on. */
typedef struct aclpy_copy_ahead {
  const unsigned char *at;
  int64_t line, lines, step; /* of a run; from run to run */
} aclpy_copy_ahead;
enum { ACLPY_COPY_AHEAD = 128 /* lines */ };
/* Runs of so many lines, whole ones and so many bytes apart or more, are read whole. Blocks of chains have them
 * (plan/fuse.py); whole transposes, whose tiles have longer ones and whose results lie a power of two apart, are slower
 * so, as are lines that are not aligned. */
enum { ACLPY_RUN_LEAST = 4, ACLPY_RUN_MOST = 8, ACLPY_RUN_APART = 1024 };

ACLPY_INLINE aclpy_copy_ahead copy_ahead_of_(const unsigned char *from, int64_t rows, int64_t step, int64_t side) {
  const int64_t lines = aclpy_ceil_div(rows, side);
  const aclpy_copy_ahead ahead = {from + ACLPY_COPY_AHEAD / lines * step, 0, lines, step};
  return ahead;
}
ACLPY_INLINE void copy_fetch_(aclpy_copy_ahead *f, int lines) {
  for (int k = 0; k < lines; ++k) {
    ACLPY_PREFETCH(f->at + 64 * f->line);
    if (++f->line == f->lines) f->line = 0, f->at += f->step;
  }
}

#define ACLPY_COPY_BLOCK_(type)                                                                                     \
  ACLPY_INLINE void copy_one_##type(const unsigned char *from, unsigned char *to) {                                 \
    aclpy_##type v;                                                                                                 \
    memcpy(&v, from, sizeof v);                                                                                     \
    memcpy(to, &v, sizeof v);                                                                                       \
  }                                                                                                                 \
  ACLPY_INLINE void copy_line_##type(const unsigned char *from, unsigned char *to, int64_t n, int64_t from_step,    \
                                     int64_t to_step) {                                                             \
    for (int64_t c = 0; c < n; ++c) copy_one_##type(from + c * from_step, to + c * to_step);                        \
  }                                                                                                                 \
  /* Squares of whole lines, the last ones of which overlap with those before; */                                   \
  ACLPY_INLINE void copy_squares_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,    \
                                        const aclpy_copy_dim *column, int streaming) {                              \
    enum { SIDE = 64 / sizeof(aclpy_##type) };                                                                      \
    const int64_t last_row = row->n - SIDE, last_column = column->n - SIDE;                                         \
    aclpy_copy_ahead ahead = copy_ahead_of_(from, row->n, column->from, SIDE);                                      \
    for (int64_t c = 0; c < column->n; c += SIDE) {                                                                 \
      for (int64_t r = 0; r < row->n; r += SIDE) {                                                                  \
        const int64_t i = aclpy_min_i64(r, last_row), j = aclpy_min_i64(c, last_column);                            \
        const unsigned char *s = from + i * row->from + j * column->from;                                           \
        copy_fetch_(&ahead, SIDE);                                                                                  \
        transpose_square_##type(s, to + i * row->to + j * column->to, column->from, row->to, streaming && j == c);  \
      }                                                                                                             \
    }                                                                                                               \
  }                                                                                                                 \
  /* the same of runs that are some lines long and far apart, which are read whole: memory gives neighbouring lines \
     together, and lines a power of two apart evict each other before the next square is made. */                   \
  ACLPY_INLINE void copy_runs_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,       \
                                     const aclpy_copy_dim *column) {                                                \
    enum { SIDE = 64 / sizeof(aclpy_##type) };                                                                      \
    _Alignas(64) unsigned char square[ACLPY_RUN_MOST][SIDE][64];                                                    \
    const int64_t last_row = row->n - SIDE, last_column = column->n - SIDE;                                         \
    aclpy_copy_ahead ahead = copy_ahead_of_(from, row->n, column->from, SIDE);                                      \
    for (int64_t c = 0; c < column->n; c += SIDE) {                                                                 \
      const int64_t j = aclpy_min_i64(c, last_column);                                                              \
      for (int k = 0; k < SIDE; ++k) {                                                                              \
        const unsigned char *run = from + (j + k) * column->from;                                                   \
        for (int64_t r = 0; r < row->n; r += SIDE) {                                                                \
          copy_fetch_(&ahead, 1);                                                                                   \
          aclpy_line_store_(square[r / SIDE][k], run + aclpy_min_i64(r, last_row) * row->from, 0);                  \
        }                                                                                                           \
      }                                                                                                             \
      for (int64_t r = 0; r < row->n; r += SIDE) {                                                                  \
        const int64_t i = aclpy_min_i64(r, last_row);                                                               \
        turn_lines_##type(square[r / SIDE][0], to + i * row->to + j * column->to, row->to, 0);                      \
      }                                                                                                             \
    }                                                                                                               \
  }                                                                                                                 \
  static void copy_transpose_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,        \
                                    const aclpy_copy_dim *column, int streaming) {                                  \
    enum { SIDE = 64 / sizeof(aclpy_##type) };                                                                      \
    const int runs = SIDE > 8 && row->n >= ACLPY_RUN_LEAST * SIDE && row->n <= ACLPY_RUN_MOST * SIDE &&             \
                     column->from >= ACLPY_RUN_APART &&                                                             \
                     ((uint64_t)(uintptr_t)from | (uint64_t)column->from) % 64 == 0;                                \
    if (row->n < SIDE || column->n < SIDE) {                                                                        \
      for (int64_t r = 0; r < row->n; ++r) {                                                                        \
        copy_line_##type(from + r * row->from, to + r * row->to, column->n, column->from, column->to);              \
      }                                                                                                             \
    } else if (streaming) {                                                                                         \
      copy_squares_##type(from, to, row, column, 1);                                                                \
    } else if (runs) {                                                                                              \
      copy_runs_##type(from, to, row, column);                                                                      \
    } else {                                                                                                        \
      copy_squares_##type(from, to, row, column, 0);                                                                \
    }                                                                                                               \
  }                                                                                                                 \
  static void copy_block_##type(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,            \
                                const aclpy_copy_dim *column, int streaming) {                                      \
    const int64_t bytes = sizeof(aclpy_##type);                                                                     \
    if (column->to == bytes && row->from == bytes && column->from != bytes && column->from != 0) {                  \
      copy_transpose_##type(from, to, row, column, streaming);                                                      \
      return;                                                                                                       \
    }                                                                                                               \
    for (int64_t r = 0; r < row->n; ++r) {                                                                          \
      const unsigned char *s = from + r * row->from;                                                                \
      unsigned char *d = to + r * row->to;                                                                          \
      if (column->to != bytes) {                                                                                    \
        copy_line_##type(s, d, column->n, column->from, column->to);                                                \
      } else if (column->from == bytes) {                                                                           \
        copy_run_(d, s, column->n * bytes, streaming);                                                              \
      } else if (column->from == 0) {                                                                               \
        copy_line_##type(s, d, column->n, 0, bytes);                                                                \
      } else {                                                                                                      \
        copy_line_##type(s, d, column->n, column->from, bytes);                                                     \
      }                                                                                                             \
    }                                                                                                               \
  }
ACLPY_COPY_BLOCK_(b1)
ACLPY_COPY_BLOCK_(b2)
ACLPY_COPY_BLOCK_(b4)
ACLPY_COPY_BLOCK_(b8)
ACLPY_COPY_BLOCK_(b16)
#undef ACLPY_COPY_BLOCK_

#endif
