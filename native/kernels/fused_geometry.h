/* SPDX-License-Identifier: Apache-2.0
 * How a fused softmax over n of [outer, n, inner] is cut into work items.
 *
 *   LINES   inner == 1, rows of which a thread's scratch holds a few: an item is a row
 *   TILES   inner > 1: an item is a tile of columns, all n rows of it in scratch; where inner is short, `group` rows
 *           count as one, whose columns are merged
 *   CHUNKS  whatever is too long, or too few for the threads: maximum and sum by chunk, combined by
 *           column, then written
 *
 * All of it follows from outer, n and inner, so results are the same bits for any number of threads.
 */
#ifndef ACLPY_KERNELS_FUSED_GEOMETRY_H
#define ACLPY_KERNELS_FUSED_GEOMETRY_H

#include "element_types.h"

enum { ACLPY_LINES = 0, ACLPY_FUSED_TILES, ACLPY_CHUNKS };
enum {
  ACLPY_FUSED_SCRATCH = 32768, /* floats of a tile held by a thread, */
  ACLPY_FUSED_PIECE = 65536,   /* of a chunk's, */
  ACLPY_FUSED_TALL = 131072,   /* and of one that is as narrow as can be */
  ACLPY_FUSED_STRIP = 64,      /* columns of a tile at least */
  ACLPY_FUSED_ITEMS = 8,       /* for fewer tiles are made narrower */
  ACLPY_FUSED_LINE = 262144,   /* elements of a row of which a thread holds five */
  ACLPY_FUSED_CHUNK = 16384,   /* elements of a row's chunk */
  ACLPY_FUSED_WIDTH = 512      /* columns of a tile at most */
};

typedef struct aclpy_fused_geometry {
  int mode;
  int64_t outer, n, inner;
  int64_t group;   /* rows that count as one; 1 but for a short inner */
  int64_t columns; /* of them: group * inner */
  int64_t lines;   /* how many there are, the last one shorter perhaps */
  int64_t rows;    /* CHUNKS: of a chunk, in groups */
  int64_t chunks;  /* CHUNKS: chunks along n */
  int64_t width;   /* columns of a tile */
  int64_t tiles;   /* tiles along the columns */
  int64_t stride;  /* floats between the rows of a tile in scratch */
} aclpy_fused_geometry;

ACLPY_INLINE int64_t aclpy_fused_round_(int64_t x) { return (x + 15) / 16 * 16; }

/* As many rows as make a tile's width, but of whole strips one: what groups have to merge and to spread is more than
 * narrow tiles cost. */
ACLPY_INLINE void aclpy_fused_group_(aclpy_fused_geometry *g) {
  const int64_t most =
      g->inner == 1 || g->inner % ACLPY_FUSED_STRIP == 0 ? 1 : aclpy_min_i64(ACLPY_FUSED_WIDTH / g->inner, g->n / 4);
  g->group = aclpy_max_i64(1, most);
  g->columns = g->group * g->inner;
  g->lines = aclpy_ceil_div(g->n, g->group);
}

/* Tiles of at most so many columns, of like width, which is whole strips where there are several. */
ACLPY_INLINE void aclpy_fused_tiles_(aclpy_fused_geometry *g, int64_t most) {
  g->width = g->group > 1 ? g->columns : aclpy_min_i64(g->columns, most);
  g->tiles = aclpy_ceil_div(g->columns, g->width);
  if (g->tiles > 1) {
    const int64_t even = aclpy_ceil_div(g->columns, g->tiles);
    g->width = aclpy_ceil_div(even, ACLPY_FUSED_STRIP) * ACLPY_FUSED_STRIP;
    g->tiles = aclpy_ceil_div(g->columns, g->width);
  }
  g->stride = aclpy_fused_round_(g->width);
}

ACLPY_INLINE void aclpy_fused_chunks(aclpy_fused_geometry *g) {
  g->mode = ACLPY_CHUNKS;
  aclpy_fused_group_(g);
  aclpy_fused_tiles_(g, ACLPY_FUSED_WIDTH);
  g->rows = g->inner == 1 ? ACLPY_FUSED_CHUNK : ACLPY_FUSED_PIECE / g->stride;
  g->chunks = aclpy_ceil_div(g->lines, g->rows);
}

/* Rows that are converted to float at once. */
ACLPY_INLINE int64_t aclpy_fused_rows_of_block(int64_t n) { return aclpy_max_i64(1, ACLPY_RUN / n); }

/* Returns 0, or -1 where the sizes make no sense. */
ACLPY_INLINE int aclpy_fused_geometry_make(aclpy_fused_geometry *g, const int64_t *params) {
  memset(g, 0, sizeof *g);
  g->outer = params[0];
  g->n = params[1];
  g->inner = params[2];
  int64_t bytes = 0;
  if (g->outer < 0 || g->n < 0 || g->inner < 0) return -1;
  if (g->outer == 0 || g->n == 0 || g->inner == 0) {
    g->outer = 0;
    g->n = g->inner = g->group = g->columns = g->lines = g->rows = g->chunks = g->width = g->tiles = g->stride = 1;
    return 0;
  }
  if (__builtin_mul_overflow(g->outer, g->n, &bytes) || __builtin_mul_overflow(bytes, g->inner, &bytes) ||
      __builtin_mul_overflow(bytes, (int64_t)64, &bytes)) {
    return -1;
  }
  if (g->inner == 1) {
    const int few = g->outer < 8 && g->n >= 2 * ACLPY_FUSED_CHUNK;
    if (few || g->n > ACLPY_FUSED_LINE) {
      aclpy_fused_chunks(g);
    } else {
      g->mode = ACLPY_LINES;
    }
    return 0;
  }
  aclpy_fused_group_(g);
  /* Rows that may begin within a line have ends: the fewer, the wider tiles are. */
  const int64_t floats = (g->inner % 16 == 0 ? 1 : 2) * ACLPY_FUSED_SCRATCH;
  int64_t most = floats / g->lines / ACLPY_FUSED_STRIP * ACLPY_FUSED_STRIP;
  most = aclpy_min_i64(aclpy_max_i64(most, (g->lines > 1024 ? 1 : 2) * ACLPY_FUSED_STRIP), ACLPY_FUSED_WIDTH);
  const int64_t items = aclpy_ceil_div(ACLPY_FUSED_ITEMS, g->outer);
  const int64_t narrow = aclpy_ceil_div(g->columns, items * ACLPY_FUSED_STRIP) * ACLPY_FUSED_STRIP;
  if (g->lines * g->columns >= ACLPY_FUSED_SCRATCH / 2) most = aclpy_min_i64(most, narrow);
  aclpy_fused_tiles_(g, most);
  g->mode = ACLPY_FUSED_TILES;
  if (g->lines > ACLPY_FUSED_TALL / g->stride) aclpy_fused_chunks(g);
  return 0;
}

ACLPY_INLINE int64_t aclpy_fused_items(const aclpy_fused_geometry *g) {
  switch (g->mode) {
    case ACLPY_LINES:
      return g->outer;
    case ACLPY_FUSED_TILES:
      return g->outer * g->tiles;
    default:
      return g->outer * g->chunks * g->tiles;
  }
}

#endif
