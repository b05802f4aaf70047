/* SPDX-License-Identifier: Apache-2.0
 * Softmax over an axis before the last one: a tile of columns in scratch, statistics by column.
 */
#ifndef ACLPY_KERNELS_FUSED_TILES_H
#define ACLPY_KERNELS_FUSED_TILES_H

#include "fused_rows.h"

enum { ACLPY_FUSED_PAD = ACLPY_FUSED_WIDTH + 16 };

/* Columns of one tile, and where it lies. */
typedef struct fused_tile {
  int64_t outer, column, width;
} fused_tile;

ACLPY_INLINE fused_tile fused_tile_of_(const aclpy_fused_geometry *g, int64_t item) {
  fused_tile t;
  t.column = item % g->tiles * g->width;
  t.outer = item / g->tiles;
  t.width = aclpy_min_i64(g->width, g->inner - t.column);
  return t;
}

/* Adds x to the columns' maxima. Lanes past the width hold something finite. */
ACLPY_INLINE void fused_column_max_(const float *x, float *max, int64_t width) {
  for (int64_t c = 0; c < width; c += v32_LANES) v32_store(max + c, v32_max(v32_load(x + c), v32_load(max + c)));
}
/* x = exp(x - shift), added to part. */
ACLPY_INLINE void fused_column_exp_(float *x, const float *shift, float *part, int64_t width) {
  for (int64_t c = 0; c < width; c += v32_LANES) {
    const v32 e = v32_exp_below(v32_sub(v32_load(x + c), v32_load(shift + c)), ACLPY_EXP_ANY);
    v32_store(x + c, e);
    v32_store(part + c, v32_add(v32_load(part + c), e));
  }
}
ACLPY_INLINE void fused_column_flush_(double *restrict sum, float *restrict part, int64_t width) {
  for (int64_t c = 0; c < width; ++c) {
    sum[c] += (double)part[c];
    part[c] = 0.0f;
  }
}

/* One row of a tile as floats, padded. */
ACLPY_INLINE void fused_tile_row_(const aclpy_fused *f, int64_t index, int64_t width, int64_t stride, float *into) {
  aclpy_load_run(f->post.source, f->x + index * f->from, into, width);
  for (int64_t c = width; c < stride; ++c) into[c] = 0.0f;
}

/* t = the results of one row of a tile. */
ACLPY_INLINE void fused_tile_out_(const aclpy_fused *f, const float *e, const float *shift, const float *factor,
                                  int64_t width, float *t) {
  const int logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
  if (f->rounded) {
    for (int64_t c = 0; c < width; ++c) t[c] = logarithm ? e[c] - shift[c] : e[c];
    aclpy_round_run(f->rounded, t, width);
    for (int64_t c = 0; c < width; ++c) t[c] = logarithm ? t[c] - factor[c] : t[c] * factor[c];
  } else if (logarithm) {
    for (int64_t c = 0; c < width; ++c) t[c] = (e[c] - shift[c]) - factor[c];
  } else {
    for (int64_t c = 0; c < width; ++c) t[c] = e[c] * factor[c];
  }
}

/* Asks for the row some 4 KiB of the tile behind row r: short runs, each far from the last, are not foreseen by the
 * processor. */
ACLPY_INLINE void fused_tile_fetch_(const aclpy_fused *f, const fused_tile *tile, int64_t base, int64_t r) {
  const int64_t bytes = tile->width * f->from, ahead = r + aclpy_max_i64(1, ACLPY_AHEAD_BYTES / bytes);
  if (tile->width == f->g.inner || ahead >= f->g.n) return;
  const unsigned char *row = f->x + (base + ahead * f->g.inner) * f->from;
  for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH((uintptr_t)row + (uintptr_t)at);
}

static void fused_tile_run_(const aclpy_fused *f, const fused_tile *tile, float *scratch) {
  _Alignas(64) float max[ACLPY_FUSED_PAD], part[ACLPY_FUSED_PAD], factor[ACLPY_FUSED_PAD], t[ACLPY_RUN];
  _Alignas(64) float held[ACLPY_FUSED_PAD];
  double sum[ACLPY_FUSED_PAD];
  const int64_t n = f->g.n, stride = aclpy_fused_round_(tile->width), width = tile->width;
  const int64_t base = tile->outer * n * f->g.inner + tile->column;
  const int64_t flush = f->flags & ACLPY_FUSED_LOG ? ACLPY_FUSED_FLUSH_LOG : ACLPY_FUSED_FLUSH;
  for (int64_t c = 0; c < stride; ++c) {
    max[c] = -INFINITY;
    part[c] = 0.0f;
    sum[c] = 0.0;
  }
  for (int64_t r = 0; r < n; ++r) {
    fused_tile_fetch_(f, tile, base, r);
    fused_tile_row_(f, base + r * f->g.inner, width, stride, scratch + r * stride);
    fused_column_max_(scratch + r * stride, max, stride);
  }
  for (int64_t c = 0; c < stride; ++c) max[c] = fused_shift_(f->flags, max[c]);
  for (int64_t r = 0; r < n; ++r) {
    float *x = scratch + r * stride;
    if (f->flags & ACLPY_FUSED_LOG) {
      memcpy(held, x, (size_t)stride * sizeof(float));
      x = held;
    }
    fused_column_exp_(x, max, part, stride);
    if (r % flush == flush - 1 || r == n - 1) fused_column_flush_(sum, part, stride);
  }
  for (int64_t c = 0; c < width; ++c) factor[c] = fused_factor_(f->flags, sum[c]);
  /* Rows of all columns follow each other in memory: as many as fill a run are finished at once. */
  const int64_t together = width == f->g.inner ? ACLPY_RUN / width : 1;
  for (int64_t r = 0; r < n; r += together) {
    const int64_t rows = aclpy_min_i64(together, n - r);
    for (int64_t k = 0; k < rows; ++k) {
      fused_tile_out_(f, scratch + (r + k) * stride, max, factor, width, t + k * width);
    }
    fused_finish_(f, t, base + r * f->g.inner, rows * width);
  }
}

static void fused_tiles_run_(const aclpy_fused *f, int64_t begin, int64_t end, float *scratch) {
  for (int64_t item = begin; item < end; ++item) {
    const fused_tile tile = fused_tile_of_(&f->g, item);
    fused_tile_run_(f, &tile, scratch);
  }
}

#endif
