/* SPDX-License-Identifier: Apache-2.0
 * Template: what the kernels share that reduce over an axis before the last one. ACLPY_T names the instance.
 *
 * A tile is `rows` virtual rows of `width` columns; column statistics live in small arrays, padded to whole lines.
 */
#include "../simd/instance.h"

#ifndef ACLPY_KERNELS_TILE_H
#define ACLPY_KERNELS_TILE_H

enum { ACLPY_TILE_PAD = ACLPY_TILE_MAX + 16, ACLPY_TILE_BLOCK = 32, ACLPY_FETCH_BYTES = 4096, ACLPY_PAGE_BYTES = 4096 };
enum { ACLPY_ROWS_AHEAD = 8 /* of a tile whose results are made row by row */ };

/* When a tile's results are written: row beside row of the next tile's sums, so that reading and writing overlap; block
 * by block in turn with them; or once its own sums are known. These two are for vectors with sixteen registers, too
 * few for both at once, and for small second levels, which do not hold two tiles. Measured on Zen 2. In pieces: beside,
 * where they are (tile_pieces.h). */
enum { ACLPY_TILE_BESIDE = 0, ACLPY_TILE_BLOCKWISE, ACLPY_TILE_AFTER, ACLPY_TILE_PIECES };

/* Where the tile of one item lies. */
typedef struct aclpy_tile {
  int64_t outer, chunk;
  int64_t column;    /* first virtual column */
  int64_t width;     /* virtual columns */
  int64_t row, rows; /* first virtual row and number of rows */
  int64_t offset;    /* elements from the start of an input to the first of the tile */
  int64_t to;        /* elements from the start of the result to column 0 of the tile's first row */
  int64_t real;      /* first real column and how many */
  int64_t reals;
} aclpy_tile;

ACLPY_INLINE aclpy_tile aclpy_tile_of(const aclpy_geometry *g, int64_t item, int chunked) {
  aclpy_tile t;
  t.column = item % g->tiles * g->width;
  item /= g->tiles;
  t.chunk = chunked ? item % g->chunks : 0;
  t.outer = chunked ? item / g->chunks : item;
  t.width = aclpy_min_i64(g->width, g->columns - t.column);
  t.row = t.chunk * g->chunk;
  t.rows = chunked ? aclpy_min_i64(g->chunk, g->rows - t.row) : g->rows;
  t.offset = t.outer * g->n * g->inner + t.row * g->columns + t.column;
  t.to = t.outer * g->out.outer + t.row * g->out.row;
  t.real = g->group > 1 ? 0 : t.column;
  t.reals = g->group > 1 ? g->inner : t.width;
  return t;
}

/* Columns of row `r` of the tile that exist: less than its width only in a short last virtual row. */
ACLPY_INLINE int64_t aclpy_tile_columns(const aclpy_geometry *g, const aclpy_tile *t, int64_t r) {
  return g->group > 1 ? aclpy_min_i64(t->width, aclpy_row_columns(g, t->row + r)) : t->width;
}

/* Rows a large power of two apart fall into few sets of a cache. */
ACLPY_INLINE int aclpy_rows_collide(const aclpy_geometry *g, int64_t bytes) {
  return g->group == 1 && g->rows >= 64 && g->columns * bytes % 1024 == 0;
}

/* Elements from a row of a tile to the one to fetch meanwhile, some 4 KiB of the tile further on: short runs, each far
 * from the last, are not foreseen by the processor. 0 where the tile is contiguous. */
ACLPY_INLINE int64_t aclpy_fetch_ahead(const aclpy_geometry *g, int64_t bytes) {
  if (g->tiles == 1) return 0;
  return aclpy_max_i64(1, ACLPY_FETCH_BYTES / (g->width * bytes)) * g->columns;
}

/* Tiles that a thread holds in scratch at a time: two where they fit. */
ACLPY_INLINE int64_t aclpy_tiles_held(const aclpy_geometry *g, int64_t element_bytes) {
  const int64_t most = ACLPY_SCRATCH_MAX / 2 / element_bytes; /* elements; products of huge rows overflow */
  return g->stride == 0 || g->rows <= most / g->stride ? 2 : 1;
}

/* Into which cache rows are fetched while others are worked on. On Zen 5 the first one is better where nothing is
 * converted, 0.75 to 1.0 of the time, and for strips of transposed inputs of any type, 0.8 to 1.0 (backward; forward it
 * makes no difference). */
enum { ACLPY_FETCH_NONE = 0, ACLPY_FETCH_L2, ACLPY_FETCH_L1 };
ACLPY_INLINE int aclpy_fetch_level(const aclpy_geometry *g, int plain) {
  return plain && g->core == ACLPY_CORE_ZEN_5 ? ACLPY_FETCH_L1 : ACLPY_FETCH_L2;
}
/* How the next tile's rows are fetched while this one is worked on. */
ACLPY_INLINE int aclpy_tiles_fetch(const aclpy_geometry *g, int plain) {
  return g->streaming || g->tiles > 1 ? aclpy_fetch_level(g, plain) : ACLPY_FETCH_NONE;
}

/* Elements from a tile's start to the row to fetch while its row `r` is read: `ahead` rows further on, at the end in
 * the tile behind it. */
ACLPY_INLINE int64_t aclpy_tile_fetch(const aclpy_geometry *g, int64_t r, int64_t ahead, int64_t rows, int64_t after) {
  const int64_t far = r + ahead;
  return far < rows ? far * g->columns : after + (far - rows) * g->columns;
}

/* What is fetched while a block of rows is worked on strip by strip: as many strips of a later block, in the order of
 * memory, for a row's strips are neighbours where those of a strip are pages apart. Measured with AVX2 on Zen 2, whose
 * strips are two lines: 0.57 to 0.97 of the time. */
typedef struct aclpy_ahead {
  int64_t at;           /* elements from the tile's start to the strip whose turn it is */
  int64_t left, strips; /* strips of its row from there on, and of a row */
  int64_t width, skip;  /* elements of a strip, and between the last one of a row and the next row's first */
} aclpy_ahead;
/* Beside the strip at column `c` of the block that begins with row `first`; the tile has a whole strip. */
ACLPY_INLINE aclpy_ahead aclpy_ahead_of(const aclpy_geometry *g, int64_t c, int64_t width, int64_t first, int64_t rows,
                                        int64_t after) {
  const int64_t strips = g->stride / width, turn = c / width * ACLPY_TILE_BLOCK;
  const int64_t row = turn / strips * g->columns, strip = turn % strips;
  const aclpy_ahead a = {aclpy_tile_fetch(g, first, ACLPY_TILE_BLOCK, rows, after) + row + strip * width,
                         strips - strip, strips, width, g->columns - strips * width};
  return a;
}
ACLPY_INLINE void aclpy_ahead_next(aclpy_ahead *a) {
  a->at += a->width;
  if (--a->left > 0) return;
  a->left = a->strips;
  a->at += a->skip;
}

/* Elements from the tile of one item of chunks to that of the next. */
ACLPY_INLINE int64_t aclpy_chunk_way(const aclpy_geometry *g, int64_t item) {
  return aclpy_tile_of(g, item + 1, 1).offset - aclpy_tile_of(g, item, 1).offset;
}

/* Fetches a row of `bytes`, wherever it lies. */
ACLPY_INLINE void aclpy_fetch_row(const void *row, int64_t bytes, int level) {
  if (level == ACLPY_FETCH_L1) {
    for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH_NEAR((uintptr_t)row + (uintptr_t)at);
  } else {
    for (int64_t at = 0; at < bytes; at += 64) ACLPY_PREFETCH((uintptr_t)row + (uintptr_t)at);
  }
}

/* Asks for the run of results some rows below the one to be written at `to`: all of its lines, or, where they go past
 * the caches, those that it shares with a gap. A store that waits for such a line holds up all behind it. The distance
 * was measured on Zen 4. */
enum { ACLPY_RUNS_AHEAD = 3 };
ACLPY_INLINE void aclpy_fetch_run(const aclpy_geometry *g, const aclpy_tile *t, int64_t r, const void *to,
                                  int64_t bytes, int64_t row_bytes, int streaming) {
  if (g->out.run >= g->columns || !g->half || r + ACLPY_RUNS_AHEAD >= t->rows) return;
  const uintptr_t begin = (uintptr_t)to + (uintptr_t)(ACLPY_RUNS_AHEAD * row_bytes), end = begin + (uintptr_t)bytes;
  if (streaming) {
    if (begin % 64 != 0) ACLPY_PREFETCH_OWN(begin);
    if (end % 64 != 0) ACLPY_PREFETCH_OWN(end);
  } else {
    for (uintptr_t line = begin & ~(uintptr_t)63; line < end; line += 64) ACLPY_PREFETCH_OWN(line);
  }
}

/* Whether a row of results is whole lines in every strip of `strip` columns. */
ACLPY_INLINE int aclpy_strips_whole(const aclpy_geometry *g, const void *y, int64_t strip, int64_t bytes) {
  const uint64_t all = (uint64_t)(uintptr_t)y | (uint64_t)(g->out.row * bytes) | (uint64_t)(g->width * bytes) |
                       (uint64_t)(g->out.outer * bytes);
  return g->out.run >= g->columns && g->stride % strip == 0 && strip * bytes % 64 == 0 && all % 64 == 0;
}

/* Whether results are written a row at a time: their strips would not be whole lines, or not dense. */
ACLPY_INLINE int aclpy_tiles_by_rows(const aclpy_geometry *g, const void *y, int64_t strip, int64_t bytes,
                                     int streaming) {
  return g->out.run < g->columns || (streaming && !aclpy_strips_whole(g, y, strip, bytes));
}

ACLPY_INLINE void aclpy_merge_sums(const aclpy_geometry *g, double *sum) {
  for (int64_t j = 0; j < g->inner && g->group > 1; ++j) {
    aclpy_sum total = {0.0, 0.0};
    for (int64_t k = 0; k < g->group; ++k) total = aclpy_sum_add(total, sum[k * g->inner + j]);
    for (int64_t k = 0; k < g->group; ++k) sum[k * g->inner + j] = aclpy_sum_total(total);
  }
}

#endif

/* Room for the sums of a tile's columns: 0 at first; once complete they are joined with what they rounded off. */
enum { FN(sum_room) = sizeof(REAL) == sizeof(double) ? 2 * ACLPY_REST_AT : ACLPY_TILE_PAD };
_Static_assert((int)ACLPY_REST_AT >= (int)ACLPY_TILE_PAD, "rests lie behind the sums of the widest tile");
ACLPY_INLINE void FN(sums_begun)(double *sum, int64_t columns) {
  memset(sum, 0, (size_t)columns * sizeof(double));
  if (sizeof(REAL) == sizeof(double)) memset(sum + ACLPY_REST_AT, 0, (size_t)columns * sizeof(double));
}
ACLPY_INLINE void FN(sums_complete)(double *sum, int64_t columns) {
  if (sizeof(REAL) != sizeof(double)) return;
  for (int64_t c = 0; c < columns; ++c) sum[c] = aclpy_dot_total(sum[c], sum[ACLPY_REST_AT + c]);
}

/* Loads m <= LANES columns, fewer than none included. */
ACLPY_INLINE VEC FN(tile_ld)(const STORED *p, int64_t m, REAL fill) {
  return m >= LANES ? LD(p) : m > 0 ? LDN(p, m, fill) : V(set1)(fill);
}

/* aclpy_fetch_run for n results. */
ACLPY_INLINE void FN(tile_fetch_run)(const aclpy_geometry *g, const aclpy_tile *t, int64_t r, const STORED *to,
                                     int64_t n, int streaming) {
  const int64_t size = (int64_t)sizeof(STORED);
  aclpy_fetch_run(g, t, r, to, n * size, g->out.row * size, streaming);
}

/* Vector k of a strip of one or four has been made. */
ACLPY_INLINE void FN(strip_store)(STORED *to, const VEC *v, int k, int vectors, int streaming) {
  if (vectors == 4) QUAD(to, v, k, streaming);
  if (vectors < 4 && streaming) NT(to + k * LANES, v[k]);
  if (vectors < 4 && !streaming) ST(to + k * LANES, v[k]);
}
