/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax over an axis before the last one. ACLPY_T names the instance.
 *
 * Columns are summed while the results of the tile before are written, so that reading and writing overlap. Where a
 * tile would not stay in cache (rows a large power of two apart) both operands are copied into dense scratch when they
 * are summed, and the results are made from there.
 */
#include "../simd/instance.h"

#include "backward_columns.h"

/* SSE2 runs where nothing else does: one way for all tiles, which takes half the time to compile. */
#if defined(__x86_64__) && ACLPY_ISA_RANK == 1
enum { FN(tiles_simple) = 1 };
#else
enum { FN(tiles_simple) = 0 };
#endif

/* Whether whole quads of columns are written as such where results go row by row: in an order of their own, or with one
 * look at four logarithms. Measured with AVX2. */
enum { FN(by_quads) = ACLPY_ISA_RANK == 2 };
/* One quad of columns; high and low: their sums, in the order of ldx where that is another one. */
ACLPY_INLINE void FN(rest_quad_of)(const STORED *g, const STORED *y, STORED *to, const REAL *highs, const REAL *lows,
                                   int logarithm, int streaming) {
  VEC a[4], v[4], high[4], low[4];
  for (int k = 0; k < 4; ++k) {
    a[k] = LDX(g, k);
    v[k] = LDX(y, k);
    high[k] = V(load)(highs + k * LANES);
    low[k] = V(load)(lows + k * LANES);
    if (!logarithm) v[k] = FN(result)(a[k], v[k], high[k], low[k], 0);
  }
  if (logarithm) FN(results_log)(a, v, high, low);
  for (int k = 0; k < 4; ++k) STX(to, v, k, streaming);
}
/* The quad at column c, whose operands begin at `at`. */
ACLPY_INLINE void FN(rest_quad)(const FN(tile_rest) * p, int64_t at, STORED *to, int64_t c, int logarithm,
                                int streaming) {
  FN(rest_quad_of)(p->g + at, p->y + at, to, FN(quad_highs)(p->sum) + c, FN(quad_lows)(p->sum) + c, logarithm,
                   streaming);
}

/* Four sums. */
ACLPY_INLINE void FN(quad_of_sums)(VEC *v, const REAL *sums) {
  for (int k = 0; k < 4; ++k) v[k] = V(load)(sums + k * LANES);
}
/* Results of a quad come with the next one's exponentials (backward_results.h). Only bfloat16, whose conversion is
 * arithmetic, gains by it here. */
ACLPY_INLINE void FN(rest_quads_late)(const STORED *g, const STORED *y, int64_t from, STORED *to, int64_t step,
                                      const REAL *high, const REAL *low, int64_t next, int64_t count, int streaming) {
  FN(waiting) w = {.out = NULL};
  const REAL *highs = high, *lows = low; /* of those that wait */
  VEC v[4], h[4], l[4];
  for (int64_t i = 0; i < count; ++i, g += from, y += from, to += step, high += next, low += next) {
    for (int k = 0; k < 4; ++k) v[k] = LDX(y, k);
    FN(quad_of_sums)(h, highs);
    FN(quad_of_sums)(l, lows);
    if (!ACLPY_LIKELY(V(quad_close)(v))) {
      FN(waiting_out)(&w, h, l, streaming);
      FN(rest_quad_of)(g, y, to, high, low, 1, streaming);
      continue;
    }
    FN(waiting_next)(&w, v, h, l, streaming);
    w.g = g, w.out = to;
    highs = high, lows = low;
  }
  FN(quad_of_sums)(h, highs);
  FN(quad_of_sums)(l, lows);
  FN(waiting_out)(&w, h, l, streaming);
}

/* `count` quads, `from` and `step` elements apart, their sums `next`. By itself: what it needs stays in registers,
 * which takes two thirds of the time of a loop that has all of tile_rest at hand. */
static ACLPY_ORDERED_LATE __attribute__((noinline, unused)) void FN(rest_quads)(const STORED *g, const STORED *y,
                                                                                int64_t from, STORED *to, int64_t step,
                                                                                const REAL *high, const REAL *low,
                                                                                int64_t next, int64_t count,
                                                                                int logarithm, int streaming) {
  if (logarithm && FN(waits) && PAIRED) {
    if (streaming) FN(rest_quads_late)(g, y, from, to, step, high, low, next, count, 1);
    if (!streaming) FN(rest_quads_late)(g, y, from, to, step, high, low, next, count, 0);
    return;
  }
#define QUADS_(logarithm_, streaming_)                                                               \
  for (int64_t k = 0; k < count; ++k, g += from, y += from, to += step, high += next, low += next) { \
    FN(rest_quad_of)(g, y, to, high, low, logarithm_, streaming_);                                   \
  }
  if (logarithm && streaming) QUADS_(1, 1)
  if (logarithm && !streaming) QUADS_(1, 0)
  if (!logarithm && streaming) QUADS_(0, 1)
  if (!logarithm && !streaming) QUADS_(0, 0)
#undef QUADS_
}

/* Columns [c, end) of row r, whose results are dense. */
ACLPY_INLINE void FN(rest_run)(const aclpy_geometry *geometry, const FN(tile_rest) * p, int64_t r, int64_t c,
                               int64_t end, int logarithm, int copy, int streaming) {
  const REAL *high = p->sum->high + c, *low = p->sum->low + c;
  STORED *to = p->out + r * geometry->out.row + aclpy_out_at(geometry, p->t.column + c);
  FN(tile_fetch_run)(geometry, &p->t, r, to, end - c, streaming);
  const int quads = FN(by_quads) && (PAIRED || (FN(looks) && logarithm)) && !copy && c % (4 * LANES) == 0 &&
                    (!streaming || (uintptr_t)to % 64 == 0);
  if (quads) {
    const int64_t n = (end - c) / (4 * LANES) * (4 * LANES), at = r * geometry->columns + c;
    FN(rest_quads)(p->g + at, p->y + at, 4 * LANES, to, 4 * LANES, FN(quad_highs)(p->sum) + c,
                   FN(quad_lows)(p->sum) + c, 4 * LANES, n / (4 * LANES), logarithm, streaming);
    c += n, to += n, high += n, low += n;
  }
  if (copy) {
    const REAL *a = p->dense.g + r * geometry->stride + c, *b = p->dense.y + r * geometry->stride + c;
#define FULL_(i) FN(result)(V(load)(a + (i)), V(load)(b + (i)), V(load)(high + (i)), V(load)(low + (i)), logarithm)
#define PART_(i, m) \
  FN(result)(LDNR(a + (i), m, 0), LDNR(b + (i), m, 0), LDNR(high + (i), m, 0), LDNR(low + (i), m, 0), logarithm)
    ACLPY_MAP(to, end - c, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  } else {
    const STORED *a = p->g + r * geometry->columns + c, *b = p->y + r * geometry->columns + c;
#define FULL_(i) FN(result)(LD(a + (i)), LD(b + (i)), V(load)(high + (i)), V(load)(low + (i)), logarithm)
#define PART_(i, m) \
  FN(result)(LDN(a + (i), m, 0), LDN(b + (i), m, 0), LDNR(high + (i), m, 0), LDNR(low + (i), m, 0), logarithm)
    ACLPY_MAP(to, end - c, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
  }
}

/* Columns [c, end) of row r. By itself: every way of a tile comes here at its ends, and each would be a copy of it all.
 */
static ACLPY_ORDERED_LATE __attribute__((noinline)) void FN(rest_row)(const aclpy_geometry *geometry,
                                                                      const FN(tile_rest) * p, int64_t r, int64_t c,
                                                                      int64_t end, int logarithm, int copy) {
  for (int64_t stop = c; c < end; c = stop) {
    stop = aclpy_run_end(geometry, p->t.column + c, p->t.column + end) - p->t.column;
    if (logarithm && copy) FN(rest_run)(geometry, p, r, c, stop, 1, 1, p->streaming);
    if (logarithm && !copy) FN(rest_run)(geometry, p, r, c, stop, 1, 0, p->streaming);
    if (!logarithm && copy) FN(rest_run)(geometry, p, r, c, stop, 0, 1, p->streaming);
    if (!logarithm && !copy) FN(rest_run)(geometry, p, r, c, stop, 0, 0, p->streaming);
  }
}

ACLPY_INLINE void FN(rest_all)(const aclpy_geometry *geometry, const FN(tile_rest) * p, int logarithm, int copy) {
  for (int64_t r = 0; r < p->t.rows; ++r) {
    const int64_t n = aclpy_tile_columns(geometry, &p->t, r);
    if (p->fetches) {
      const int64_t far = aclpy_tile_fetch(geometry, r, ACLPY_ROWS_AHEAD, p->t.rows, p->after);
      aclpy_fetch_row(p->g + far, n * (int64_t)sizeof(STORED), p->fetches);
      aclpy_fetch_row(p->y + far, n * (int64_t)sizeof(STORED), p->fetches);
    }
    FN(rest_row)(geometry, p, r, 0, n, logarithm, copy);
  }
}

/* One strip of row r. */
ACLPY_INLINE void FN(rest_strip)(const aclpy_geometry *geometry, const FN(tile_rest) * p, int64_t r, int64_t c,
                                 int vectors, int logarithm, int copy, int in_pieces) {
  const int64_t n = aclpy_tile_columns(geometry, &p->t, r), end = c + vectors * LANES;
  if (in_pieces && vectors == 1) {
    if (c < n) FN(rest_row)(geometry, p, r, c, aclpy_min_i64(end, n), logarithm, copy);
  } else if (p->by_rows) {
    if (c == 0) FN(rest_row)(geometry, p, r, 0, n, logarithm, copy);
  } else if (end > n) {
    if (c < n) FN(rest_row)(geometry, p, r, c, n, logarithm, copy);
  } else {
    const int64_t at = r * geometry->columns + c, from = r * geometry->stride + c;
    _Alignas(64) STORED lines[64 * ACLPY_PIECES_LINES / sizeof(STORED)];
    STORED *to = in_pieces ? lines : p->out + r * geometry->out.row + p->t.column + c;
    const int at_once = FN(looks) && logarithm && vectors == 4;
    if (PAIRED && vectors == 4 && !copy) {
      FN(rest_quad)(p, at, to, c, logarithm, p->streaming);
      return;
    }
    VEC v[4], a[4], high[4], low[4];
    for (int k = 0; k < vectors; ++k) {
      const int64_t i = k * LANES;
      a[k] = copy ? V(load)(p->dense.g + from + i) : LD(p->g + at + i);
      v[k] = copy ? V(load)(p->dense.y + from + i) : LD(p->y + at + i);
      high[k] = V(load)(p->sum->high + c + i);
      low[k] = V(load)(p->sum->low + c + i);
      if (!at_once) v[k] = FN(result)(a[k], v[k], high[k], low[k], logarithm);
      if (!at_once) FN(strip_store)(to, v, k, vectors, p->streaming);
    }
    if (at_once) FN(results_log)(a, v, high, low);
    for (int k = 0; k < vectors && at_once; ++k) FN(strip_store)(to, v, k, vectors, p->streaming);
    if (!in_pieces) return;
    aclpy_pieces_put(p->pieces + c / (4 * LANES), lines, p->out + r * geometry->out.row,
                     4 * LANES * (int64_t)sizeof(STORED) / 64);
  }
}

#if PAIRED
/* tile_sum_block of one quad whose columns all exist. */
ACLPY_INLINE void FN(tile_sum_quads)(const aclpy_geometry *geometry, const FN(tile_task) * p,
                                     const FN(tile_rest) * before, FN(column_sums) * sums, int64_t c, int64_t first,
                                     int64_t last, int logarithm) {
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  const int walks = FN(tile_walks)(geometry, p);
  aclpy_ahead ahead = {0};
  if (walks) ahead = aclpy_ahead_of(geometry, c, 4 * LANES, first, p->t.rows, p->after);
  for (int64_t r = first; r < last; ++r) {
    const int64_t at = r * geometry->columns + c;
    if (before->live) FN(rest_strip)(geometry, before, r, c, 4, logarithm, 0, 0);
    if (walks) FN(tile_fetch_ahead)(p, &ahead);
    if (!walks && p->fetches) FN(tile_fetch)(geometry, p, r, c, 4);
    for (int k = 0; k < 4; ++k) {
      if (logarithm) term[k] = V(acc_add)(term[k], LDX(p->g + at, k));
      if (!logarithm) product[k] = V(dot_add)(product[k], LDX(p->g + at, k), LDX(p->y + at, k), !PLAIN);
    }
  }
  for (int k = 0; k < 4 && logarithm; k += 2) V(acc_order)(term + k, ORDER_SUMS);
  if (!logarithm) V(dot_order)(product, ORDER);
  for (int k = 0; k < 4; ++k) FN(sums_add)(sums, c + k * LANES, term[k], product[k], logarithm);
}
#endif

/* Adds rows [first, last) of `vectors` vectors of columns, from column c on, to their sums, and writes those of the
 * tile before. */
ACLPY_INLINE void FN(tile_sum_block)(const aclpy_geometry *geometry, const FN(tile_task) * p,
                                     const FN(tile_rest) * before, FN(column_sums) * sums, int64_t c, int vectors,
                                     int64_t first, int64_t last, int logarithm, int copy, int in_pieces) {
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
#if PAIRED
  if (vectors == 4 && !copy && geometry->group == 1 && c + 4 * LANES <= p->t.width) {
    FN(tile_sum_quads)(geometry, p, before, sums, c, first, last, logarithm);
    return;
  }
#endif
  const int walks = vectors == 4 && FN(tile_walks)(geometry, p);
  aclpy_ahead ahead = {0};
  if (walks) ahead = aclpy_ahead_of(geometry, c, 4 * LANES, first, p->t.rows, p->after);
  aclpy_asked asked = {0};
  if (in_pieces && vectors == 4) asked = FN(tile_asked)(geometry, p, before, c, first);
  for (int64_t r = first; r < last; ++r) {
    const int64_t at = r * geometry->columns + c, to = r * geometry->stride + c;
    const int64_t left = aclpy_tile_columns(geometry, &p->t, r) - c;
    if (PLAIN && !logarithm && p->paced && r % ACLPY_PACE_GROUPS == 0) aclpy_pace();
    if (before->live) FN(rest_strip)(geometry, before, r, c, vectors, logarithm, copy, in_pieces);
    if (in_pieces && asked.lines > 0) aclpy_asked_next(&asked);
    if (walks) FN(tile_fetch_ahead)(p, &ahead);
    if (!walks && p->fetches) FN(tile_fetch)(geometry, p, r, c, vectors);
    for (int k = 0; k < vectors; ++k) {
      const int64_t i = k * LANES;
      const VEC a = left >= vectors * LANES ? LD(p->g + at + i) : FN(tile_ld)(p->g + at + i, left - i, 0);
      if (copy) V(store)(p->dense.g + to + i, a);
      if (logarithm) term[k] = V(acc_add)(term[k], a);
      if (logarithm && !copy) continue;
      const VEC b = left >= vectors * LANES ? LD(p->y + at + i) : FN(tile_ld)(p->y + at + i, left - i, 0);
      if (copy) V(store)(p->dense.y + to + i, b);
      if (!logarithm) product[k] = V(dot_add)(product[k], a, b, !PLAIN);
    }
  }
  for (int k = 0; k < vectors; ++k) FN(sums_add)(sums, c + k * LANES, term[k], product[k], logarithm);
}

ACLPY_INLINE int FN(tile_by_rows)(const aclpy_geometry *g, const FN(operands) * p) {
  return aclpy_tiles_by_rows(g, p->out, 4 * LANES, (int64_t)sizeof(STORED), p->streaming);
}

/* ACLPY_TILE_... */
ACLPY_INLINE int FN(tile_way)(const aclpy_geometry *g, const FN(operands) * p, int logarithm) {
  if (FN(tiles_simple)) return ACLPY_TILE_AFTER;
  if (aclpy_in_pieces(g, (int64_t)sizeof(STORED), p->streaming)) return ACLPY_TILE_PIECES;
  if (ACLPY_ISA_RANK != 2 || g->mode != ACLPY_TILES) return ACLPY_TILE_BESIDE;
  if (g->tiles > 1) {
    /* Rows of tiles that lie in pages of their own: 0.65 to 0.93 of the time, others up to 1.45. Logarithms of 16-bit
     * types are slow enough to hide what is read. */
    const int far = g->columns * (int64_t)sizeof(STORED) >= ACLPY_PAGE_BYTES;
    return far && (PLAIN || !logarithm) ? ACLPY_TILE_AFTER : ACLPY_TILE_BESIDE;
  }
  if (!p->streaming) return sizeof(REAL) == sizeof(float) ? ACLPY_TILE_AFTER : ACLPY_TILE_BESIDE; /* 0.84 to 0.98 */
  if (PLAIN || FN(tile_by_rows)(g, p)) return ACLPY_TILE_BESIDE;
  return ACLPY_TILE_BLOCKWISE;
}

/* Rows [first, last) of one strip; the last one may be short. */
ACLPY_INLINE void FN(rest_block)(const aclpy_geometry *geometry, const FN(tile_rest) * p, int64_t c, int vectors,
                                 int64_t first, int64_t last, int logarithm) {
  int64_t r = first;
  if (vectors == 4 && c + 4 * LANES <= p->t.width) {
    const int is_short = aclpy_tile_columns(geometry, &p->t, last - 1) < c + 4 * LANES;
    const int64_t at = r * geometry->columns + c, rows = last - first - is_short;
    STORED *to = p->out + r * geometry->out.row + p->t.column + c;
    FN(rest_quads)(p->g + at, p->y + at, geometry->columns, to, geometry->out.row, FN(quad_highs)(p->sum) + c,
                   FN(quad_lows)(p->sum) + c, 0, rows, logarithm, p->streaming);
    r += rows;
  }
  for (; r < last; ++r) FN(rest_strip)(geometry, p, r, c, vectors, logarithm, 0, 0);
}
/* All strips, then what is left over of each row. */
ACLPY_INLINE void FN(rest_blocks)(const aclpy_geometry *geometry, const FN(tile_rest) * p, int64_t first, int64_t last,
                                  int logarithm) {
  int64_t c = 0;
  for (; c + 4 * LANES <= p->t.width; c += 4 * LANES) FN(rest_block)(geometry, p, c, 4, first, last, logarithm);
  for (int64_t r = first; r < last && c < p->t.width; ++r) {
    FN(rest_row)(geometry, p, r, c, aclpy_tile_columns(geometry, &p->t, r), logarithm, 0);
  }
}

/* Sums by column, into sums->sum. */
ACLPY_INLINE void FN(tile_sum)(const aclpy_geometry *geometry, const FN(tile_task) * p, const FN(tile_rest) * before,
                               FN(column_sums) * sums, int logarithm, int copy, int way) {
  const int apart = way == ACLPY_TILE_BLOCKWISE, in_pieces = way == ACLPY_TILE_PIECES;
  const FN(tile_rest) none = {.live = 0};
  const FN(tile_rest) *beside = apart ? &none : before;
  const int64_t stride = geometry->stride;
  FN(sums_clear)(sums, stride);
  for (int64_t first = 0; first < p->t.rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, p->t.rows);
    int64_t c = 0;
    for (; c + 4 * LANES <= stride; c += 4 * LANES) {
      if (apart && before->live) FN(rest_block)(geometry, before, c, 4, first, last, logarithm);
      FN(tile_sum_block)(geometry, p, beside, sums, c, 4, first, last, logarithm, copy, in_pieces);
    }
    for (; c < stride; c += LANES) {
      if (apart && before->live) FN(rest_block)(geometry, before, c, 1, first, last, logarithm);
      FN(tile_sum_block)(geometry, p, beside, sums, c, 1, first, last, logarithm, copy, in_pieces);
    }
  }
  for (int64_t c = 0; c < stride; ++c) sums->sum[c] = aclpy_dot_total(sums->sum[c], sums->sum[ACLPY_REST_AT + c]);
  aclpy_merge_sums(geometry, sums->sum);
}

/* Where the tile would not stay in cache, it is copied. */
ACLPY_INLINE int FN(tile_copies)(const aclpy_geometry *g) {
  return !FN(tiles_simple) && g->mode == ACLPY_TILES && aclpy_rows_collide(g, (int64_t)sizeof(STORED));
}

ACLPY_INLINE FN(tile_task) FN(tile_task_of)(const FN(operands) * p, aclpy_tile t) {
  const FN(tile_task) task = {.t = t, .g = p->g + t.offset, .y = p->y + t.offset};
  return task;
}

ACLPY_INLINE FN(tile_rest)
    FN(tile_rest_of)(const FN(operands) * p, const FN(tile_task) * task, const FN(totals) * sum) {
  const FN(tile_rest) rest = {.t = task->t,
                              .g = task->g,
                              .y = task->y,
                              .dense = task->dense,
                              .out = p->out + task->t.to,
                              .sum = sum,
                              .live = 1,
                              .streaming = p->streaming};
  return rest;
}

ACLPY_INLINE void FN(tiles_run_as)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                   REAL *scratch, int logarithm, int copy, int way) {
  const int64_t size = geometry->rows * geometry->stride;
  const int64_t held = aclpy_tiles_held(geometry, (int64_t)FN(tile_element_bytes));
  const int in_pieces = way == ACLPY_TILE_PIECES, by_rows = !in_pieces && FN(tile_by_rows)(geometry, p);
  aclpy_pieces pieces[2][ACLPY_PIECES_STRIPS];
  FN(column_sums) sums;
  FN(totals) totals[2];
  FN(tile_rest) before = {.live = 0};
  for (int64_t i = begin; i < end; ++i) {
    const int odd = (int)((i - begin) & 1);
    FN(tile_task) task = FN(tile_task_of)(p, aclpy_tile_of(geometry, i, 0));
    if (copy) task.dense.g = scratch + (i - begin) % held * 2 * size;
    if (copy) task.dense.y = task.dense.g + size;
    task.fetches = aclpy_tiles_fetch(geometry, PLAIN);
    task.paced = aclpy_paced(geometry);
    task.after = i + 1 < end ? aclpy_tile_of(geometry, i + 1, 0).offset - task.t.offset : 0;
    FN(tile_sum)(geometry, &task, &before, &sums, logarithm, copy, way);
    FN(totals_set)(&totals[odd], 0, sums.sum, geometry->stride);
    FN(totals_pair)(&totals[odd], geometry->stride);
    before = FN(tile_rest_of)(p, &task, &totals[odd]);
    before.by_rows = by_rows;
    if (in_pieces) {
      aclpy_pieces_of(pieces[odd], geometry, &task.t, 4 * LANES, (int64_t)sizeof(STORED));
      before.pieces = pieces[odd];
    }
    if (i + 1 == end || (copy && held == 1)) {
      FN(rest_all)(geometry, &before, logarithm, copy);
      before.live = 0;
    }
  }
}

/* By themselves, so that the registers of the other loops stay as they are. */
static ACLPY_ORDERED_LATE __attribute__((noinline, unused)) void FN(tiles_run_blockwise)(const aclpy_geometry *geometry,
                                                                                         const FN(operands) * p,
                                                                                         int64_t begin, int64_t end,
                                                                                         REAL *scratch, int logarithm) {
  if (logarithm) FN(tiles_run_as)(geometry, p, begin, end, scratch, 1, 0, ACLPY_TILE_BLOCKWISE);
  if (!logarithm) FN(tiles_run_as)(geometry, p, begin, end, scratch, 0, 0, ACLPY_TILE_BLOCKWISE);
}
static ACLPY_ORDERED_LATE __attribute__((noinline, unused)) void FN(tiles_run_pieces)(const aclpy_geometry *geometry,
                                                                                      const FN(operands) * p,
                                                                                      int64_t begin, int64_t end,
                                                                                      REAL *scratch, int logarithm) {
  if (logarithm) FN(tiles_run_as)(geometry, p, begin, end, scratch, 1, 0, ACLPY_TILE_PIECES);
  if (!logarithm) FN(tiles_run_as)(geometry, p, begin, end, scratch, 0, 0, ACLPY_TILE_PIECES);
}
ACLPY_APART void FN(tiles_run_after)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                     int logarithm) {
  const FN(tile_rest) none = {.live = 0};
  const int by_strips = geometry->tiles == 1 && !FN(tile_by_rows)(geometry, p);
  FN(column_sums) sums;
  FN(totals) totals;
  for (int64_t i = begin; i < end; ++i) {
    FN(tile_task) task = FN(tile_task_of)(p, aclpy_tile_of(geometry, i, 0));
    task.fetches = aclpy_tiles_fetch(geometry, PLAIN);
    task.walks = 1;
    task.after = i + 1 < end ? aclpy_tile_of(geometry, i + 1, 0).offset - task.t.offset : 0;
    if (logarithm) FN(tile_sum)(geometry, &task, &none, &sums, 1, 0, ACLPY_TILE_BESIDE);
    if (!logarithm) FN(tile_sum)(geometry, &task, &none, &sums, 0, 0, ACLPY_TILE_BESIDE);
    FN(totals_set)(&totals, 0, sums.sum, geometry->stride);
    FN(totals_pair)(&totals, geometry->stride);
    const FN(tile_rest) rest = FN(tile_rest_of)(p, &task, &totals);
    if (by_strips) FN(rest_blocks)(geometry, &rest, 0, task.t.rows, logarithm);
    if (!by_strips && logarithm) FN(rest_all)(geometry, &rest, 1, 0);
    if (!by_strips && !logarithm) FN(rest_all)(geometry, &rest, 0, 0);
  }
}

/* Ordered early, float32's logarithm takes 1.2 of the time past the caches. */
static ACLPY_ORDERED_LATE void FN(tiles_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args,
                                             int64_t begin, int64_t end, REAL *scratch, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  const int copy = FN(tile_copies)(geometry);
  const int way = copy ? ACLPY_TILE_BESIDE : FN(tile_way)(geometry, &p, logarithm);
  if (way == ACLPY_TILE_AFTER) {
    FN(tiles_run_after)(geometry, &p, begin, end, logarithm);
  } else if (way == ACLPY_TILE_PIECES) {
    FN(tiles_run_pieces)(geometry, &p, begin, end, scratch, logarithm);
  } else if (way == ACLPY_TILE_BLOCKWISE) {
    FN(tiles_run_blockwise)(geometry, &p, begin, end, scratch, logarithm);
  } else {
    if (logarithm && copy) FN(tiles_run_as)(geometry, &p, begin, end, scratch, 1, 1, ACLPY_TILE_BESIDE);
    if (logarithm && !copy) FN(tiles_run_as)(geometry, &p, begin, end, scratch, 1, 0, ACLPY_TILE_BESIDE);
    if (!logarithm && copy) FN(tiles_run_as)(geometry, &p, begin, end, scratch, 0, 1, ACLPY_TILE_BESIDE);
    if (!logarithm && !copy) FN(tiles_run_as)(geometry, &p, begin, end, scratch, 0, 0, ACLPY_TILE_BESIDE);
  }
  if (p.streaming) aclpy_stream_fence();
}
