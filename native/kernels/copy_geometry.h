/* SPDX-License-Identifier: Apache-2.0
 * How a strided copy is cut: dims sorted by the destination, neighbours joined, two dims chosen for a 2-D block.
 *
 * The block's columns run along the destination's fastest dim. Its rows run along the source's fastest dim where that
 * is another one (a transpose: small square tiles), else along the next slower dim of the destination.
 */
#ifndef ACLPY_KERNELS_COPY_GEOMETRY_H
#define ACLPY_KERNELS_COPY_GEOMETRY_H

#include "define.h"

enum { ACLPY_COPY_RANK = 25, ACLPY_COPY_ITEM_BYTES = 32 * 1024 };
/* A tile of a transpose: bytes along the source's lines, and how many squares of whole lines across. */
enum { ACLPY_TILE_LINE = 1024, ACLPY_TILE_SQUARES = 8 };

typedef struct aclpy_copy_dim {
  int64_t n, from, to; /* strides in bytes */
} aclpy_copy_dim;

typedef struct aclpy_copy_geometry {
  aclpy_copy_dim row, column;
  int64_t tile_rows, tile_columns; /* of one block */
  int64_t row_tiles, column_tiles;
  int64_t group; /* outer positions of one item */
  int64_t outer; /* number of outer positions */
  int32_t rank;  /* outer dims */
  aclpy_copy_dim dim[ACLPY_COPY_RANK + 2];
  int64_t elements;
  int transposed; /* the row runs along the source, the column along the destination */
} aclpy_copy_geometry;

ACLPY_INLINE uint64_t aclpy_size_of_stride_(int64_t s) { return s < 0 ? 0u - (uint64_t)s : (uint64_t)s; }

/* Slower first: larger destination stride, then larger source stride. */
ACLPY_INLINE int aclpy_copy_slower_(const aclpy_copy_dim *a, const aclpy_copy_dim *b) {
  const uint64_t ta = aclpy_size_of_stride_(a->to), tb = aclpy_size_of_stride_(b->to);
  return ta != tb ? ta > tb : aclpy_size_of_stride_(a->from) > aclpy_size_of_stride_(b->from);
}

/* Slower dim `a` and faster dim `b` are one dim. */
ACLPY_INLINE int aclpy_copy_joins_(const aclpy_copy_dim *a, const aclpy_copy_dim *b) {
  int64_t from, to;
  return !__builtin_mul_overflow(b->from, b->n, &from) && !__builtin_mul_overflow(b->to, b->n, &to) &&
         a->from == from && a->to == to;
}

/* Fills g->dim with the joined dims, slowest first. Returns 0, or -1 where the parameters make no sense. */
ACLPY_INLINE int aclpy_copy_dims_(aclpy_copy_geometry *g, const int64_t *params) {
  const int64_t rank = params[0];
  int32_t count = 0;
  g->elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const aclpy_copy_dim d = {params[1 + i], params[1 + rank + i], params[1 + 2 * rank + i]};
    if (d.n < 0 || __builtin_mul_overflow(g->elements, d.n, &g->elements)) return -1;
    if (d.n == 1) continue;
    int32_t at = count++;
    for (; at > 0 && aclpy_copy_slower_(&d, &g->dim[at - 1]); --at) g->dim[at] = g->dim[at - 1];
    g->dim[at] = d;
  }
  g->rank = 0;
  for (int32_t i = 0; i < count; ++i) {
    aclpy_copy_dim d = g->dim[i];
    if (g->rank > 0 && aclpy_copy_joins_(&g->dim[g->rank - 1], &d)) {
      d.n *= g->dim[--g->rank].n;
    }
    g->dim[g->rank++] = d;
  }
  return 0;
}

ACLPY_INLINE aclpy_copy_dim aclpy_copy_take_(aclpy_copy_geometry *g, int32_t at) {
  const aclpy_copy_dim taken = g->dim[at];
  for (int32_t i = at + 1; i < g->rank; ++i) g->dim[i - 1] = g->dim[i];
  --g->rank;
  return taken;
}

ACLPY_INLINE int aclpy_copy_make(aclpy_copy_geometry *g, const int64_t *params, int64_t bytes) {
  const aclpy_copy_dim single = {1, bytes, bytes};
  if (aclpy_copy_dims_(g, params) != 0) return -1;
  if (g->elements == 0) g->rank = 0;
  g->column = g->rank > 0 ? aclpy_copy_take_(g, g->rank - 1) : single;
  int32_t fastest = g->rank - 1;
  for (int32_t i = g->rank - 2; i >= 0; --i) {
    const uint64_t stride = aclpy_size_of_stride_(g->dim[i].from);
    if (stride != 0 && stride < aclpy_size_of_stride_(g->dim[fastest].from)) fastest = i;
  }
  const int crossed = fastest >= 0 && g->dim[fastest].from != 0 && g->column.from != 0 &&
                      aclpy_size_of_stride_(g->dim[fastest].from) < aclpy_size_of_stride_(g->column.from);
  g->transposed = crossed && g->column.to == bytes && g->dim[fastest].from == bytes;
  g->row = g->rank > 0 ? aclpy_copy_take_(g, crossed ? fastest : g->rank - 1) : single;
  if (crossed) {
    g->tile_rows = ACLPY_TILE_LINE / bytes;
    g->tile_columns = ACLPY_TILE_SQUARES * aclpy_max_i64(1, 64 / bytes);
  } else {
    g->tile_columns = ACLPY_COPY_ITEM_BYTES / bytes;
    g->tile_rows = aclpy_max_i64(1, g->tile_columns / aclpy_max_i64(1, g->column.n));
  }
  g->tile_rows = aclpy_max_i64(1, aclpy_min_i64(g->tile_rows, g->row.n));
  g->tile_columns = aclpy_max_i64(1, aclpy_min_i64(g->tile_columns, g->column.n));
  g->row_tiles = aclpy_ceil_div(g->row.n, g->tile_rows);
  g->column_tiles = aclpy_ceil_div(g->column.n, g->tile_columns);
  g->outer = 1;
  for (int32_t i = 0; i < g->rank; ++i) g->outer *= g->dim[i].n;
  g->group = aclpy_max_i64(1, ACLPY_COPY_ITEM_BYTES / bytes / (g->tile_rows * g->tile_columns));
  return 0;
}

/* Whether lines are written past the caches: what moves is larger than the last of them, and lines of a transpose are
 * aligned. */
ACLPY_INLINE int aclpy_copy_streams(const aclpy_copy_geometry *g, const aclpy_kernel_args *args, int64_t bytes) {
  if (aclpy_whole_bytes(args, g->elements * bytes) <= aclpy_cache_bytes_last_level() / 2) return 0;
  if (!g->transposed) return 1;
  uint64_t steps = (uint64_t)(uintptr_t)args->addr[1] | (uint64_t)g->row.to;
  for (int32_t i = 0; i < g->rank; ++i) steps |= (uint64_t)g->dim[i].to;
  return steps % 64 == 0;
}

#endif
