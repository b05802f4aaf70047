/* SPDX-License-Identifier: Apache-2.0
 * Template: what the kernels share whose inputs have axes behind the reduced one in another order than the result: x
 * lies as [outer, n, columns, rows], y as [outer, n, rows, columns]. ACLPY_T names the instance.
 *
 * Sums do not depend on where in its plane of rows and columns an element lies: they are made in the order of the
 * inputs, with the steps of tiles, to the same bits. Then the results of each plane are made in that order, too, and
 * turned on their way out. A work item is one outer position: its planes are read a second time, at best from the
 * last-level cache.
 */
#include "../simd/instance.h"

#ifndef ACLPY_KERNELS_SWAPPED_H
#define ACLPY_KERNELS_SWAPPED_H

#include "copy_transpose.h"
#include "rows_geometry.h"

enum { ACLPY_SWAPPED_ITEMS = 8 /* fewer would leave processors without work */ };

/* Up to how many bytes planes are better read twice than copied. Gradients: any, for with copies seven times the bytes
 * of an operand are moved, without five; past the last level 0.53 to 0.91 of the time. Forward these are four and
 * three, and the arithmetic decides: up to the last level float32 0.78 to 0.85, 16-bit types 0.9 to 1.3 (Zen 2). */
ACLPY_INLINE int64_t aclpy_swapped_most_(int64_t held, int64_t stored_bytes) {
  if (held == 2) return INT64_MAX;
  return stored_bytes == 4 ? aclpy_cache_bytes_last_level() : aclpy_cache_bytes_last_level() / 4;
}

/* Tiles for the sums are as wide as the second-level cache holds between two readings. -1, too, where planes are
 * smaller than a square of whole lines, too few, or too large. */
ACLPY_ONCE int aclpy_geometry_swapped(aclpy_geometry *g, const int64_t *params, int64_t real_bytes, int64_t held,
                                      int64_t stored_bytes, int64_t tensors) {
  int64_t dense[3] = {params[0], params[1], 0};
  const int64_t side = 64 / stored_bytes;
  if (params[2] < side || params[3] < side || __builtin_mul_overflow(params[2], params[3], &dense[2])) return -1;
  if (aclpy_geometry_make(g, dense, real_bytes, held, stored_bytes, tensors) != 0) return -1;
  if (g->mode != ACLPY_TILES || g->group > 1 || g->outer < ACLPY_SWAPPED_ITEMS) return -1;
  const int64_t column_bytes = g->n * stored_bytes * held;
  if (g->inner > aclpy_swapped_most_(held, stored_bytes) / column_bytes) return -1;
  const int64_t fits = aclpy_cache_bytes_l2() / 3 / column_bytes / 16 * 16;
  g->width = aclpy_min_i64(aclpy_max_i64(fits, 64), ACLPY_TILE_MAX);
  g->tiles = aclpy_ceil_div(g->columns, g->width);
  g->width = aclpy_min_i64(aclpy_round16(aclpy_ceil_div(g->columns, g->tiles)), g->columns);
  g->tiles = aclpy_ceil_div(g->columns, g->width);
  g->stride = aclpy_round16(g->width);
  return 0;
}

/* A column's statistics for all columns of an outer position; a tile's may reach past the last one. */
ACLPY_INLINE int64_t aclpy_swapped_padded(const aclpy_geometry *g) { return aclpy_round16(g->inner) + ACLPY_TILE_PAD; }

/* `real_bytes`: statistics of a column. */
ACLPY_INLINE int32_t aclpy_swapped_plan(const aclpy_geometry *g, const int64_t *params, aclpy_kernel_shape *shape,
                                        double element_ns, int64_t real_bytes, int64_t stored_bytes) {
  const double elements = (double)g->outer * (double)g->n * (double)g->inner;
  const int64_t plane = (g->inner + 64 / stored_bytes * params[3]) * stored_bytes;
  shape->thread_scratch_bytes = aclpy_swapped_padded(g) * real_bytes + plane;
  if (shape->thread_scratch_bytes > ACLPY_SCRATCH_MAX) return -1;
  shape->passes = 1;
  shape->items[0] = g->outer;
  shape->cost_ns = 30.0 + elements * (element_ns + 0.03 * (double)stored_bytes);
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  return 0;
}

#endif

/* Not inline: it fills the registers. */
ACLPY_APART void FN(plane_square)(const STORED *from, STORED *to, int64_t from_step, int64_t to_step) {
  const int64_t size = (int64_t)sizeof(STORED);
  const unsigned char *x = (const unsigned char *)(const void *)from;
  unsigned char *y = (unsigned char *)(void *)to;
  if (size == 2) transpose_square_b2(x, y, from_step * size, to_step * size, 0);
  if (size == 4) transpose_square_b4(x, y, from_step * size, to_step * size, 0);
  if (size == 8) transpose_square_b8(x, y, from_step * size, to_step * size, 0);
}

/* A plane of results, [columns][rows], to y: [rows][columns]. Some rows at a time are turned into `block`, so that they
 * leave as one run; the last squares overlap with those before. */
ACLPY_INLINE void FN(plane_put)(const STORED *plane, STORED *block, STORED *y, int64_t rows, int64_t columns,
                                int streaming) {
  enum { SIDE = 64 / sizeof(STORED) };
  for (int64_t r = 0; r < rows; r += SIDE) {
    const int64_t top = aclpy_min_i64(r, rows - SIDE);
    for (int64_t c = 0; c < columns; c += SIDE) {
      const int64_t left = aclpy_min_i64(c, columns - SIDE);
      FN(plane_square)(plane + left * rows + top, block + left, rows, columns);
    }
    const int64_t bytes = (top + SIDE - r) * columns * (int64_t)sizeof(STORED);
    copy_run_((unsigned char *)(void *)(y + r * columns),
              (const unsigned char *)(const void *)(block + (r - top) * columns), bytes, streaming);
  }
}
