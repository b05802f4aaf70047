/* SPDX-License-Identifier: Apache-2.0
 * How a fused softmax over n of [outer, n, inner] is cut into work items.
 *
 *   LINES   inner == 1, rows of which a thread's scratch holds a few: an item is a row
 *   TILES   inner > 1: an item is a tile of columns, all n rows of it in scratch
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
  ACLPY_FUSED_SCRATCH = 65536, /* floats of a tile held by a thread */
  ACLPY_FUSED_LINE = 262144,   /* elements of a row of which a thread holds five */
  ACLPY_FUSED_CHUNK = 16384,   /* elements of a row's chunk */
  ACLPY_FUSED_WIDTH = 512,     /* columns of a tile at most */
  ACLPY_FUSED_FLUSH = 32,      /* rows of a tile added in float before double takes over, */
  ACLPY_FUSED_FLUSH_LOG = 2    /* where a logarithm follows: beside a 1 the small terms must not be lost */
};

typedef struct aclpy_fused_geometry {
  int mode;
  int64_t outer, n, inner;
  int64_t rows;   /* CHUNKS: rows of a chunk */
  int64_t chunks; /* CHUNKS: chunks along n */
  int64_t width;  /* columns of a tile */
  int64_t tiles;  /* tiles along inner */
  int64_t stride; /* floats between the rows of a tile in scratch */
} aclpy_fused_geometry;

ACLPY_INLINE int64_t aclpy_fused_round_(int64_t x) { return (x + 15) / 16 * 16; }

ACLPY_INLINE void aclpy_fused_chunks(aclpy_fused_geometry *g) {
  g->mode = ACLPY_CHUNKS;
  g->width = aclpy_min_i64(g->inner, ACLPY_FUSED_WIDTH);
  g->tiles = aclpy_ceil_div(g->inner, g->width);
  g->stride = aclpy_fused_round_(g->width);
  g->rows = g->inner == 1 ? ACLPY_FUSED_CHUNK : ACLPY_FUSED_SCRATCH / g->stride;
  g->chunks = aclpy_ceil_div(g->n, g->rows);
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
    g->n = g->inner = g->rows = g->chunks = g->width = g->tiles = g->stride = 1;
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
  const int64_t most = ACLPY_FUSED_SCRATCH / g->n / 16 * 16;
  if (most < 16) {
    aclpy_fused_chunks(g);
    return 0;
  }
  g->mode = ACLPY_FUSED_TILES;
  g->width = aclpy_min_i64(aclpy_min_i64(g->inner, most), ACLPY_FUSED_WIDTH);
  g->tiles = aclpy_ceil_div(g->inner, g->width);
  /* Tiles of like width, on whole lines. */
  if (g->tiles > 1) g->width = aclpy_fused_round_(aclpy_ceil_div(g->inner, g->tiles));
  g->tiles = aclpy_ceil_div(g->inner, g->width);
  g->stride = aclpy_fused_round_(g->width);
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
