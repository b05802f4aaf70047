/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of inputs in which the reduced axis is the dense one (transposed.h), whose strips
 * are turned as they are stored (strip_words.h). ACLPY_T names the instance; after the other ways of
 * softmax_transposed.h.
 */
#include "../simd/instance.h"

/* Strips that are turned are tiles then (softmax_tiles_again.h), which need no copy: scratch holds the elements of two
 * and the exponentials of one. A logarithm of floats or doubles reads elements once more for its results and keeps no
 * exponentials: their place holds the elements of a third. */
ACLPY_INLINE int64_t FN(again_words)(const aclpy_geometry *g) { return FN(words_room)(g->rows, g->width); }
ACLPY_INLINE int64_t FN(again_bytes)(const aclpy_geometry *g) {
  return 2 * FN(again_words)(g) * (int64_t)sizeof(STORED) + g->rows * g->stride * (int64_t)sizeof(REAL);
}
/* Whether they are. With AVX2 only float16 gains by it where lines are not whole. */
ACLPY_INLINE int FN(strips_again)(const aclpy_geometry *g) {
  const int quads = g->width % (4 * LANES) == 0;
  const int lines = KEEPS || g->columns % FN(words_side) == 0;
  const int gains = ACLPY_ISA_RANK == 3 || (ACLPY_ISA_RANK == 2 && lines);
  return gains && g->mode == ACLPY_TILES && quads && FN(again_bytes)(g) <= ACLPY_SCRATCH_MAX;
}

/* The words of one strip and the tile that they are. */
typedef struct FN(turned_strip) {
  FN(words) words;
  FN(again_tile) tile;
} FN(turned_strip);

ACLPY_INLINE FN(turned_strip) FN(turned_strip_of)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t item,
                                                  int live, STORED *room, FN(again_columns) * s) {
  FN(turned_strip) a = {.tile = FN(again_tile_of)(g, args, item, live, s)};
  if (!live) return a;
  a.words = FN(words_of)(g, args->addr[0], &a.tile.t, room);
  a.tile.x = room;
  return a;
}

static void FN(strips_again_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 REAL *scratch, int logarithm) {
  FN(again_columns) s[3];
  FN(again_trio) p = {.e = scratch, .streaming = g->streaming && args->addr[0] != args->addr[1]};
  STORED *first = (STORED *)(void *)(scratch + g->rows * g->stride);
  STORED *const room[3] = {first, first + FN(again_words)(g), (STORED *)(void *)scratch};
  const int64_t rooms = PLAIN && logarithm ? 3 : 2; /* as many rows of as many elements as it has exponentials */
  aclpy_geometry turned = *g;                       /* as words lie, which are one tile */
  turned.columns = FN(words_stride)(g->width);
  p.fetches = aclpy_fetch_level(g, 1);
  p.way = CALM_WAY(1);
  if (begin >= end) return;
  FN(turned_strip) strip = FN(turned_strip_of)(g, args, begin, 1, room[0], &s[0]);
  p.before = FN(again_tile_of)(g, args, begin, 0, &s[2]);
  p.here = strip.tile;
  FN(again_clear)(g, &p.before);
  FN(words_all)(&strip.words);
  FN(again_first)(&turned, &p, &p.here);
  p.after = g->rows * turned.columns;
  for (int64_t i = begin; i <= end; ++i) {
    const int live = i + 1 < end;
    const int64_t turn = i - begin + 1;
    strip = FN(turned_strip_of)(g, args, i + 1, live, room[turn % rooms], &s[turn % 3]);
    p.next = strip.tile;
    p.words = live ? &strip.words : NULL;
    p.far = live ? FN(strip_of)(g, args->addr[0], &p.next.t) + p.next.t.width * g->n - ACLPY_TILE_BLOCK * turned.columns
                 : NULL;
    FN(again_clear)(g, &p.next);
    FN(again_run)(&turned, &p, logarithm);
    p.before = p.here;
    p.here = p.next;
  }
  if (p.streaming) aclpy_stream_fence();
}

/* Whether strips that are summed by chunks are turned as words, four vectors wide, so that chunks are those of
 * softmax_tile_chunks.h; cuts them so then. Floats and doubles, whose strips fill the second-level cache, gain nothing
 * by it. */
enum { FN(words_partials) = 2048 };
ACLPY_INLINE int FN(strips_chunked)(aclpy_geometry *g) {
  const int64_t width = 4 * LANES, strips = g->inner / width;
  const int fits = FN(words_room)(g->rows, width) * (int64_t)sizeof(STORED) <= ACLPY_SCRATCH_MAX &&
                   g->chunks * width <= FN(words_partials);
  if (PLAIN || g->mode != ACLPY_TILE_CHUNKS || width < FN(words_side) || g->inner % width != 0 || !fits) return 0;
  if (g->outer * strips < ACLPY_STRIP_ITEMS) return 0;
  g->width = g->stride = width;
  g->tiles = strips;
  return 1;
}

/* Maxima and factors of a strip's columns, turned on the way, as softmax_tile_chunks.h has them. */
ACLPY_INLINE void FN(words_reduce)(const aclpy_geometry *g, const aclpy_geometry *turned, const FN(words) * w,
                                   FN(columns) * s, int logarithm) {
  double sum[FN(words_partials)];
  REAL max[FN(words_partials)];
  unsigned char ways[ACLPY_TILE_MAX / (4 * LANES)];
  for (int64_t k = 0; k < g->chunks; ++k) {
    const int64_t first = k * g->chunk;
    const aclpy_tile t = {.rows = aclpy_min_i64(g->chunk, g->rows - first), .width = g->width};
    const STORED *x = FN(words_block)(w, first, t.rows, 0);
    FN(chunk_maxima)(turned, &t, x, s->max, ways);
    memcpy(max + k * g->width, s->max, (size_t)g->width * sizeof(REAL));
    FN(chunk_from)(s->max, g->width);
    FN(chunk_sums)(turned, &t, x, s, ways);
    memcpy(sum + k * g->width, s->sum, (size_t)g->width * sizeof(double));
  }
  FN(combine_chunks)(max, sum, g->chunks, g->width, g->width, s->max, s->factor, logarithm);
}

static void FN(strips_chunked_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                   STORED *scratch, int logarithm) {
  FN(columns) s;
  aclpy_geometry turned = *g; /* as words lie, which are one tile */
  turned.columns = g->width;
  turned.tiles = 1;
  const int lined = !aclpy_tiles_by_rows(g, args->addr[1], 4 * LANES, (int64_t)sizeof(STORED), g->streaming);
  for (int64_t i = begin; i < end; ++i) {
    aclpy_tile t = aclpy_tile_of(g, i, 0);
    const FN(words) w = FN(words_of)(g, args->addr[0], &t, scratch);
    aclpy_fetch_range next = FN(strip_behind)(g, args->addr[0], &t, i + 1 < end);
    STORED *y = (STORED *)(void *)args->addr[1] + t.offset;
    FN(words_reduce)(g, &turned, &w, &s, logarithm);
    for (int64_t r = 0; r < g->rows; r += ACLPY_TILE_BLOCK) {
      const STORED *x = scratch + r * g->width;
      STORED *to = y + r * g->columns;
      t.rows = aclpy_min_i64(ACLPY_TILE_BLOCK, g->rows - r);
      aclpy_fetch_some(&next, t.rows * g->width * (int64_t)sizeof(STORED));
      if (lined && logarithm) FN(chunk_write_log)(&turned, &t, x, to, &s, g->streaming);
      if (lined && !logarithm) FN(chunk_write_exp)(&turned, &t, x, to, &s, g->streaming);
      for (int64_t k = 0; k < t.rows && !lined; ++k) {
        FN(chunk_write_run)(x + k * g->width, to + k * g->columns, s.max, s.factor, g->width, logarithm, g->streaming);
      }
    }
  }
  if (g->streaming) aclpy_stream_fence();
}

/* `bytes`: of scratch, if strips are turned as floats. */
ACLPY_INLINE int64_t FN(strips_scratch)(const aclpy_geometry *cut, int64_t bytes) {
  aclpy_geometry g = *cut;
  if (FN(strips_again)(&g)) return FN(again_bytes)(&g);
  return FN(strips_chunked)(&g) ? FN(words_room)(g.rows, g.width) * (int64_t)sizeof(STORED) : bytes;
}
ACLPY_INLINE void FN(strips_any)(const aclpy_geometry *cut, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 REAL *scratch, int logarithm) {
  aclpy_geometry g = *cut;
  const int streaming = g.streaming && args->addr[0] != args->addr[1];
  /* Lines that strips share are better written a strip at a time, 0.7 of the time. */
  const int by_rows = aclpy_tiles_by_rows(&g, args->addr[1], 4 * LANES, (int64_t)sizeof(STORED), streaming);
  if (FN(strips_again)(&g) && !by_rows) {
    FN(strips_again_run)(&g, args, begin, end, scratch, logarithm);
  } else if (FN(strips_chunked)(&g)) {
    FN(strips_chunked_run)(&g, args, begin, end, (STORED *)scratch, logarithm);
  } else {
    FN(strips_run)(&g, args, begin, end, scratch, logarithm);
  }
}
