/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax where the reduced axis is the dense one of both inputs (transposed.h),
 * turned as they are stored (strip_words.h): of 16-bit types, with AVX-512 of all. ACLPY_T names the instance; after
 * backward_squares.h.
 *
 * A strip is turned square by square, and summed by the rows that come out. Its results are made from these beside the
 * sums of the next strip, where there is room for two; else from these afterwards; else from squares that are turned
 * once more.
 */
#include "../simd/instance.h"

/* Where results of some rows of a strip are made from, and how. */
typedef struct FN(strip_rows) {
  const STORED *g, *y;
  int64_t stride;
  STORED *out;
  int64_t step;
  const FN(totals) * sum;
  int64_t n;
  int lined, streaming; /* lined: lines are whole where they are streamed */
} FN(strip_rows);

/* A strip at work. */
typedef struct FN(strip) {
  aclpy_tile t;
  FN(words) g, y;
  STORED *out;
  double total[2 * ACLPY_REST_AT];
  FN(totals) totals;
} FN(strip);

/* What goes on beside the sums of a strip. */
typedef struct FN(strip_beside) {
  aclpy_fetch_range g, y;   /* the strip behind is fetched */
  const FN(strip) * before; /* is written, or NULL */
  int paced; /* doubles: 0.7 of the time where unpaced ones take 1.1; for floats it is the other way round */
} FN(strip_beside);

ACLPY_INLINE VEC FN(strip_result)(const FN(strip_rows) * p, int64_t r, int64_t c, int logarithm) {
  const int64_t at = r * p->stride + c;
  return FN(result)(LD(p->g + at), LD(p->y + at), V(load)(p->sum->high + c), V(load)(p->sum->low + c), logarithm);
}
/* Four vectors, of one row or of two. */
ACLPY_INLINE void FN(strip_results_log)(const FN(strip_rows) * p, int64_t r, int64_t c, int rows, VEC *v) {
  VEC a[4], high[4], low[4];
  for (int k = 0; k < 4; ++k) {
    const int64_t row = r + k * rows / 4, column = c + k % (4 / rows) * LANES;
    a[k] = LD(p->g + row * p->stride + column);
    v[k] = LD(p->y + row * p->stride + column);
    high[k] = V(load)(p->sum->high + column);
    low[k] = V(load)(p->sum->low + column);
  }
  FN(results_log)(a, v, high, low);
}
/* Row r, four vectors of it or two; */
ACLPY_INLINE void FN(strip_row_part)(const FN(strip_rows) * p, int64_t r, int64_t c, int vectors, int logarithm) {
  VEC v[4];
  if (FN(looks) && logarithm && vectors == 4) {
    FN(strip_results_log)(p, r, c, 1, v);
    for (int k = 0; k < 4; ++k) FN(strip_store)(p->out + r * p->step + c, v, k, 4, p->streaming);
    return;
  }
  for (int k = 0; k < vectors; ++k) {
    v[k] = FN(strip_result)(p, r, c + k * LANES, logarithm);
    FN(strip_store)(p->out + r * p->step + c, v, k, vectors, p->streaming);
  }
}
#if !PLAIN
/* two rows of two vectors; */
ACLPY_INLINE void FN(strip_row_pair)(const FN(strip_rows) * p, int64_t r, int logarithm) {
  VEC v[4];
  const int looks = FN(looks) && logarithm;
  if (looks) FN(strip_results_log)(p, r, 0, 2, v);
  for (int k = 0; k < 4 && !looks; ++k) v[k] = FN(strip_result)(p, r + k / 2, k % 2 * LANES, logarithm);
  STT(p->out + r * p->step, p->out + (r + 1) * p->step, v, p->streaming);
}
#endif
/* any row. */
ACLPY_INLINE void FN(strip_row_any)(const FN(strip_rows) * p, int64_t r, int logarithm) {
  const STORED *a = p->g + r * p->stride, *b = p->y + r * p->stride;
  const REAL *high = p->sum->high, *low = p->sum->low;
#define FULL_(i) FN(strip_result)(p, r, i, logarithm)
#define PART_(i, m) \
  FN(result)(LDN(a + (i), m, 0), LDN(b + (i), m, 0), LDNR(high + (i), m, 0), LDNR(low + (i), m, 0), logarithm)
  ACLPY_MAP(p->out + r * p->step, p->n, p->streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}
ACLPY_INLINE void FN(strip_rows_write)(const FN(strip_rows) p, int64_t rows, int logarithm, aclpy_fetch_range *next) {
  const int fit = !logarithm || ACLPY_ISA_RANK == 3 || FN(looks); /* else four exponentials fill the registers */
  int64_t r = 0;
  aclpy_fetch_some(next, rows * p.n * (int64_t)sizeof(STORED));
  if (fit && p.lined && p.n % (4 * LANES) == 0) {
    for (; r < rows; ++r) {
      for (int64_t c = 0; c < p.n; c += 4 * LANES) FN(strip_row_part)(&p, r, c, 4, logarithm);
    }
  }
#if !PLAIN
  if (fit && p.lined && p.n == 2 * LANES) {
    for (; r + 2 <= rows; r += 2) FN(strip_row_pair)(&p, r, logarithm);
  }
#endif
  for (; r < rows; ++r) FN(strip_row_any)(&p, r, logarithm);
}

/* Whether four vectors of each row are whole lines, where that matters. */
ACLPY_INLINE int FN(strip_lined)(const aclpy_geometry *g, const STORED *out) {
  return !g->streaming || ((uintptr_t)out | (uintptr_t)(g->columns * (int64_t)sizeof(STORED))) % 64 == 0;
}

/* Rows from r on of a strip that has been summed, at most a square; turned once more where they are not held. */
ACLPY_INLINE FN(strip_rows) FN(strip_rows_of)(const aclpy_geometry *g, const FN(strip) * p, int64_t r, int64_t rows) {
  const FN(strip_rows) to = {.g = FN(words_block)(&p->g, r, rows, 1),
                             .y = FN(words_block)(&p->y, r, rows, 1),
                             .stride = p->g.stride,
                             .out = p->out + r * g->columns,
                             .step = g->columns,
                             .sum = &p->totals,
                             .n = p->t.width,
                             .lined = FN(strip_lined)(g, p->out),
                             .streaming = g->streaming};
  return to;
}

/* Adds `blocks` blocks of `rows` rows, at most those of a tile's, of `vectors` vectors of columns to their sums. Each
 * vector of each block is one chain of additions, so up to four of them run side by side. */
ACLPY_INLINE void FN(strip_sum_block)(const STORED *g, const STORED *y, int64_t stride, FN(column_sums) * sums,
                                      int64_t c, int vectors, int blocks, int64_t rows, int logarithm) {
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  for (int64_t r = 0; r < rows; ++r) {
    for (int k = 0; k < vectors * blocks; ++k) {
      const int64_t at = (r + k / vectors * ACLPY_TILE_BLOCK) * stride + c + k % vectors * LANES;
      if (logarithm) term[k] = V(acc_add)(term[k], LD(g + at));
      if (!logarithm) product[k] = V(dot_add)(product[k], LD(g + at), LD(y + at), !PLAIN);
    }
  }
  for (int k = 0; k < vectors * blocks; ++k) {
    FN(sums_add)(sums, c + k % vectors * LANES, term[k], product[k], logarithm);
  }
}

/* Columns of strips that are summed while others are written, four vectors or two: of floats and doubles two lines,
 * more would not stay in the second-level cache. */
enum { FN(beside) = PLAIN && ACLPY_ISA_RANK >= 2 ? 128 / (int)sizeof(STORED) : 4 * (int)FN(side) };
enum { FN(beside_vectors) = FN(beside) / (int)FN(side) };

/* One block of these, and as many rows of another strip written meanwhile. */
ACLPY_INLINE void FN(strip_sum_beside)(const STORED *g, const STORED *y, FN(column_sums) * sums, int64_t rows,
                                       const FN(strip_rows) to, FN(strip_beside) * beside, int logarithm) {
  V(acc) term[4] = {V(acc_zero)(), V(acc_zero)(), V(acc_zero)(), V(acc_zero)()};
  V(dot) product[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  aclpy_fetch_range next_g = beside->g, next_y = beside->y;
  for (int64_t r = 0; r < rows; ++r) {
    if (sizeof(STORED) == 8 && !logarithm && beside->paced && r % 4 == 0) aclpy_pace();
    aclpy_fetch_some(&next_g, FN(beside) * (int64_t)sizeof(STORED));
    aclpy_fetch_some(&next_y, FN(beside) * (int64_t)sizeof(STORED));
    FN(strip_row_part)(&to, r, 0, FN(beside_vectors), logarithm);
    for (int k = 0; k < FN(beside_vectors); ++k) {
      const int64_t at = r * FN(beside) + k * LANES;
      if (logarithm) term[k] = V(acc_add)(term[k], LD(g + at));
      if (!logarithm) product[k] = V(dot_add)(product[k], LD(g + at), LD(y + at), !PLAIN);
    }
  }
  beside->g = next_g;
  beside->y = next_y;
  for (int k = 0; k < FN(beside_vectors); ++k) FN(sums_add)(sums, k * LANES, term[k], product[k], logarithm);
}
/* Functions of their own, so that registers are shared out for each of these loops alone. */
ACLPY_APART void FN(strip_sum_out)(const STORED *g, const STORED *y, FN(column_sums) * sums, int64_t rows,
                                   const FN(strip_rows) * to, FN(strip_beside) * beside) {
  FN(strip_sum_beside)(g, y, sums, rows, *to, beside, 0);
}
ACLPY_APART void FN(strip_sum_log)(const STORED *g, const STORED *y, FN(column_sums) * sums, int64_t rows,
                                   const FN(strip_rows) * to, FN(strip_beside) * beside) {
  FN(strip_sum_beside)(g, y, sums, rows, *to, beside, 1);
}

/* `rows` rows of all columns, two blocks or one that may be short. */
ACLPY_INLINE void FN(strip_sum_rows)(const STORED *g, const STORED *y, int64_t stride, FN(column_sums) * sums,
                                     int64_t columns, int64_t rows, int logarithm) {
  const int64_t each = aclpy_min_i64(rows, ACLPY_TILE_BLOCK);
  int64_t c = 0;
  for (int64_t r = 0; r < rows; r += each) {
    const STORED *a = g + r * stride, *b = y + r * stride;
    for (c = 0; c + 4 * LANES <= columns; c += 4 * LANES) {
      FN(strip_sum_block)(a, b, stride, sums, c, 4, 1, each, logarithm);
    }
  }
  for (; c < columns; c += c + 2 * LANES <= columns ? 2 * LANES : LANES) {
    const int two = c + 2 * LANES <= columns;
    if (two && rows > each) FN(strip_sum_block)(g, y, stride, sums, c, 2, 2, each, logarithm);
    if (two && rows == each) FN(strip_sum_block)(g, y, stride, sums, c, 2, 1, each, logarithm);
    if (!two && rows > each) FN(strip_sum_block)(g, y, stride, sums, c, 1, 2, each, logarithm);
    if (!two && rows == each) FN(strip_sum_block)(g, y, stride, sums, c, 1, 1, each, logarithm);
  }
}

/* Rows from `start` to `stop`. */
ACLPY_INLINE void FN(strip_sum_chunk)(const aclpy_geometry *g, const FN(strip) * p, FN(column_sums) * sums,
                                      int64_t start, int64_t stop, FN(strip_beside) * beside, int logarithm) {
  const int64_t columns = aclpy_min_i64(aclpy_round16(p->t.width), FN(words_stride)(p->t.width));
  int64_t rows;
  for (int64_t first = start; first < stop; first += rows) {
    const int64_t left = stop - first, stride = p->g.stride;
    const int two = stride < 4 * LANES && left >= 2 * ACLPY_TILE_BLOCK && beside->before == NULL;
    rows = two ? 2 * ACLPY_TILE_BLOCK : aclpy_min_i64(left, ACLPY_TILE_BLOCK);
    const STORED *a = FN(words_block)(&p->g, first, rows, 0);
    const STORED *b = logarithm && !p->y.held ? a : FN(words_block)(&p->y, first, rows, 0);
    if (beside->before == NULL) {
      aclpy_fetch_some(&beside->g, rows * stride * (int64_t)sizeof(STORED));
      FN(strip_sum_rows)(a, b, stride, sums, columns, rows, logarithm);
      continue;
    }
    const FN(strip_rows) to = FN(strip_rows_of)(g, beside->before, first, rows);
    if (logarithm) FN(strip_sum_log)(a, b, sums, rows, &to, beside);
    if (!logarithm) FN(strip_sum_out)(a, b, sums, rows, &to, beside);
  }
}

/* The sums of all columns: by chunks, as backward_tiles.h has them. */
ACLPY_INLINE void FN(strip_sum)(const aclpy_geometry *g, FN(strip) * p, FN(strip_beside) * beside, int logarithm) {
  FN(column_sums) sums;
  memset(p->total, 0, sizeof p->total);
  for (int64_t chunk = 0; chunk < g->chunks; ++chunk) {
    const int64_t start = chunk * g->chunk, stop = aclpy_min_i64(start + g->chunk, g->rows);
    FN(sums_clear)(&sums, g->stride);
    FN(strip_sum_chunk)(g, p, &sums, start, stop, beside, logarithm);
    FN(sums_total)(g, &sums, p->total);
  }
  for (int64_t c = 0; c < g->stride; ++c) p->total[c] = aclpy_dot_total(p->total[c], p->total[ACLPY_REST_AT + c]);
  FN(totals_set)(&p->totals, 0, p->total, g->stride);
}

ACLPY_INLINE void FN(strip_write)(const aclpy_geometry *g, const FN(strip) * p, aclpy_fetch_range *next,
                                  int logarithm) {
  for (int64_t first = 0; first < g->rows; first += ACLPY_TILE_BLOCK) {
    const int64_t rows = aclpy_min_i64(ACLPY_TILE_BLOCK, g->rows - first);
    const FN(strip_rows) to = FN(strip_rows_of)(g, p, first, rows);
    FN(strip_rows_write)(to, rows, logarithm, next);
  }
}

/* How many strips have room in a kernel's scratch: two, one or none. */
ACLPY_INLINE int64_t FN(strips_held)(const aclpy_geometry *g) {
  const int64_t one = 2 * FN(words_room)(g->rows, g->width) * (int64_t)sizeof(STORED);
  const int beside = g->width == FN(beside) && g->mode == ACLPY_TILES;
  return beside && 2 * one <= ACLPY_SCRATCH_MAX ? 2 : one <= ACLPY_SCRATCH_MAX;
}
/* Cuts strips of floats and doubles so that two have room, where that can be and lines are whole: narrow strips share
 * more of them. */
ACLPY_INLINE void FN(strips_cut)(aclpy_geometry *g) {
  aclpy_geometry narrow = *g;
  narrow.width = narrow.stride = FN(beside);
  narrow.tiles = aclpy_ceil_div(g->columns, FN(beside));
  const int whole = !g->streaming || g->columns % FN(words_side) == 0;
  if (PLAIN && ACLPY_ISA_RANK >= 2 && whole && g->width >= FN(beside) && FN(strips_held)(&narrow) == 2) *g = narrow;
}

/* Fewer than so many are done by squares (backward_squares.h), which one strip of floats gains nothing over. Nor do any
 * of floats and doubles without AVX2, nor with it where lines are not whole (up to 1.2 of the time). */
enum { FN(strips_least) = !(ACLPY_SQUARES) ? 0 : ACLPY_ISA_RANK < 2 ? 3 : sizeof(STORED) == sizeof(float) ? 2 : 1 };

ACLPY_INLINE int FN(strips_turned)(const aclpy_geometry *g) {
  const int whole = !(ACLPY_SQUARES) || ACLPY_ISA_RANK == 3 || g->columns % FN(words_side) == 0;
  return whole && FN(strips_held)(g) >= FN(strips_least);
}

/* Elements for one operand of one strip. */
ACLPY_INLINE int64_t FN(strip_room)(const aclpy_geometry *g) {
  return FN(words_room)(FN(strips_held)(g) > 0 ? g->rows : 0, g->width);
}
ACLPY_INLINE int64_t FN(strips_scratch)(const aclpy_geometry *g) {
  if (!FN(strips_turned)(g)) return 0; /* backward_squares.h */
  return aclpy_max_i64(FN(strips_held)(g), 1) * 2 * FN(strip_room)(g) * (int64_t)sizeof(STORED);
}

ACLPY_INLINE void FN(words_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                void *scratch, int logarithm) {
  FN(strip) strips[2];
  FN(strip_beside) beside = {.before = NULL, .paced = aclpy_paced(g)};
  const int64_t room = FN(strip_room)(g), two = FN(strips_held)(g) == 2;
  const int held = FN(strips_held)(g) > 0;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t which = two ? (i - begin) % 2 : 0;
    FN(strip) *p = &strips[which];
    STORED *at = (STORED *)scratch + which * 2 * room;
    p->t = aclpy_tile_of(g, i, 0);
    p->g = FN(words_of)(g, args->addr[0], &p->t, at);
    p->g.held = held;
    p->y = FN(words_of)(g, args->addr[1], &p->t, at + room);
    p->y.held = held;
    p->out = (STORED *)(void *)args->addr[2] + p->t.offset;
    beside.g = FN(strip_behind)(g, args->addr[0], &p->t, i + 1 < end);
    beside.y = FN(strip_behind)(g, args->addr[1], &p->t, i + 1 < end);
    FN(strip_sum)(g, p, &beside, logarithm);
    const int follows = i + 1 < end && aclpy_tile_of(g, i + 1, 0).width == FN(beside);
    const int waits = two && follows && p->t.width == FN(beside) && FN(strip_lined)(g, p->out);
    beside.before = waits ? p : NULL;
    if (beside.before == NULL) FN(strip_write)(g, p, &beside.y, logarithm);
  }
  if (g->streaming) aclpy_stream_fence();
}

ACLPY_INLINE void FN(strips_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                 void *scratch, int logarithm) {
#if ACLPY_SQUARES
  if (!FN(strips_turned)(g)) {
    FN(squares_run)(g, args, begin, end, logarithm);
    return;
  }
#endif
  FN(words_run)(g, args, begin, end, scratch, logarithm);
}
