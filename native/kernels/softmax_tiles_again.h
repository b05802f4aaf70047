/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax over an axis before the last one, tiles whose rows are read again where they lie,
 * from the second-level cache: for the maxima, for the exponentials, and for a logarithm's results where nothing is
 * converted. Else what these are made of is kept in scratch, in one tile: each row of it is written before its place is
 * needed. ACLPY_T names the instance; after softmax_tile_chunks.h. The bits of softmax_tiles.h.
 */
#include "../simd/instance.h"

#include "tile_pieces.h"

/* Of a tile, in strips of four vectors. */
enum { FN(again_strips) = ACLPY_TILE_MAX / (4 * LANES) + 1 };
typedef struct FN(again_columns) {
  FN(columns) all; /* of each strip in the order of its way */
  TOPS tops[FN(again_strips)];
  unsigned char way[FN(again_strips)]; /* of the strip (calm.h) */
  aclpy_pieces pieces[FN(again_strips)];
} FN(again_columns);

/* A tile on its way, as in softmax_tiles.h. */
typedef struct FN(again_tile) {
  aclpy_tile t;
  const STORED *x;
  STORED *y;
  FN(again_columns) * s;
  int live;
} FN(again_tile);

typedef struct FN(again_trio) {
  FN(again_tile) before, here, next;
  REAL *e;                 /* exponentials, or x less its largest where a logarithm keeps that */
  int64_t after;           /* elements from the next tile's start to that of the one behind it */
  const FN(words) * words; /* the next tile's rows are turned first (strip_words.h), or NULL: they lie well */
  const STORED *far;       /* then: what is fetched, as if it were the next tile */
  int fetches, streaming, by_rows, in_pieces;
  int way; /* of calm strips */
} FN(again_trio);

/* Whether tiles are read so: where their rows do not evict each other, the second level holds three tiles and the
 * exponentials of one, or without AVX-512 half of them (Zen 2), and converting once more is cheap. */
ACLPY_INLINE int FN(tiles_again)(const aclpy_geometry *g) {
  const int64_t bytes = g->rows * g->stride * (int64_t)(3 * sizeof(STORED) + sizeof(REAL));
  const int lies_well = g->tiles == 1 || !aclpy_rows_collide(g, (int64_t)sizeof(STORED));
  const int converts = ACLPY_ISA_RANK > 1 || !KEEPS;
  const int64_t most = ACLPY_ISA_RANK == 3 ? aclpy_cache_bytes_l2() / 4 * 3 : aclpy_cache_bytes_l2() * 2;
  return g->mode == ACLPY_TILES && g->group == 1 && lies_well && converts && bytes <= most;
}

/* n results of a logarithm that are dense: x less its largest is kept where converting x again would cost more. */
ACLPY_INLINE void FN(again_offset)(const FN(again_columns) * s, const STORED *x, const REAL *kept, STORED *to,
                                   int64_t c, int64_t n, int streaming) {
  const REAL *factor = s->all.factor + c;
#if PLAIN
  (void)kept;
  FN(chunk_write_run)(x, to, s->all.max + c, factor, n, 1, streaming);
#else
  (void)x;
#define FULL_(i) V(sub)(V(load)(kept + (i)), V(load)(factor + (i)))
#define PART_(i, m) V(sub)(LDNR(kept + (i), m, 0), LDNR(factor + (i), m, 0))
  ACLPY_MAP(to, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
#endif
}

/* Row r, from column c on, of a tile whose rows of results are not whole lines, or not dense. */
ACLPY_INLINE void FN(again_put_row)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t r, int64_t c,
                                    int logarithm) {
  const FN(again_tile) *b = &p->before;
  if (!logarithm) FN(tile_put_row)(g, &b->t, p->e, b->y, &b->s->all, r, c, b->t.width, 0, p->streaming);
  for (int64_t stop; c < b->t.width && logarithm; c = stop) {
    stop = aclpy_run_end(g, b->t.column + c, b->t.column + b->t.width) - b->t.column;
    STORED *to = b->y + r * g->out.row + aclpy_out_at(g, b->t.column + c);
    const STORED *x = b->x + r * g->columns + c;
    FN(tile_fetch_run)(g, &b->t, r, to, stop - c, p->streaming);
    FN(again_offset)(b->s, x, p->e + r * g->stride + c, to, c, stop - c, p->streaming);
  }
}

/* One strip of four vectors of the three tiles, some rows of it: where it lies, in values, for what is stored might be
 * anything and all of this would be read again. */
typedef struct FN(again_lines) {
  const STORED *x, *old, *next, *far; /* of this tile, the one before, the next one, what to fetch */
  int64_t pitch;                      /* elements from row to row of these */
  aclpy_ahead ahead; /* what to fetch where that is in the order of memory: from where `far` is, then */
  REAL *e;
  int64_t stride;
  STORED *y; /* results of the tile before, or where their rows begin that are in pieces: */
  int64_t step;
  const aclpy_pieces *pieces; /* of this strip, or NULL */
  aclpy_asked asked;
  const REAL *max, *old_max, *old_factor;
  double *sum;
  int streaming, fetches;
} FN(again_lines);

/* Whether what is fetched is in the order of memory (aclpy_ahead). 16-bit types, whose strips are a line, gain nothing
 * by it. */
enum { FN(again_can_walk) = ACLPY_ISA_RANK == 2 && PLAIN };
ACLPY_INLINE aclpy_ahead FN(again_ahead)(const aclpy_geometry *g, int64_t c, int64_t r, int64_t after) {
  const aclpy_ahead none = {0};
  return FN(again_can_walk) && g->tiles > 1 ? aclpy_ahead_of(g, c, 4 * LANES, r, g->rows, after) : none;
}

/* Columns of whole strips. */
ACLPY_INLINE int64_t FN(again_whole)(const FN(again_tile) * a) {
  return a->live ? a->t.width / (4 * LANES) * (4 * LANES) : 0;
}

/* What is asked for beside rows from r on: results of the tile before some rows below, at its end those of this one. */
ACLPY_INLINE aclpy_asked FN(again_asked)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t c, int64_t r) {
  const FN(again_tile) *before = &p->before, *here = &p->here;
  const aclpy_asked none = {0};
  const int64_t far = r + ACLPY_TILE_BLOCK, below = far - g->rows, size = (int64_t)sizeof(STORED);
  const FN(again_tile) *a = below < 0 ? before : here;
  if (!p->in_pieces || !g->half || c >= FN(again_whole)(a) || below >= g->rows) return none;
  const uintptr_t row = (uintptr_t)a->y + (uintptr_t)((below < 0 ? far : below) * g->out.row * size);
  return aclpy_asked_of(g, &a->t, row, c, 4 * LANES, size);
}

ACLPY_INLINE FN(again_lines)
    FN(again_lines_of)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t c, int64_t r) {
  const FN(again_tile) *before = &p->before, *here = &p->here, *next = &p->next;
  const int64_t at = r * g->columns + c, column = p->in_pieces ? 0 : before->t.column + c;
  const aclpy_ahead ahead = FN(again_ahead)(g, c, r, p->after);
  const int64_t far = ahead.strips > 0 ? 0 : aclpy_tile_fetch(g, r, ACLPY_TILE_BLOCK, g->rows, p->after) + c;
  const FN(again_lines) l = {.x = here->live ? here->x + at : NULL,
                             .old = before->live ? before->x + at : NULL,
                             .next = next->live ? next->x + at : NULL,
                             .far = next->live ? (p->words ? p->far : next->x) + far : NULL,
                             .pitch = g->columns,
                             .ahead = ahead,
                             .e = p->e + r * g->stride + c,
                             .stride = g->stride,
                             .y = before->live ? before->y + r * g->out.row + column : NULL,
                             .step = g->out.row,
                             .pieces = p->in_pieces ? &before->s->pieces[c / (4 * LANES)] : NULL,
                             .asked = FN(again_asked)(g, p, c, r),
                             .max = here->s->all.max + c,
                             .old_max = before->s->all.max + c,
                             .old_factor = before->s->all.factor + c,
                             .sum = here->s->all.sum + c,
                             .streaming = p->streaming,
                             .fetches = next->live ? p->fetches : ACLPY_FETCH_NONE};
  return l;
}

/* Results of row r of the tile before; */
ACLPY_INLINE void FN(again_write)(FN(again_lines) * l, int64_t r, int logarithm, int way, int in_pieces) {
  _Alignas(64) STORED lines[64 * ACLPY_PIECES_LINES / sizeof(STORED)];
  STORED *to = in_pieces ? lines : l->y + r * l->step;
  VEC v[4];
  if (logarithm && PLAIN) {
    FN(quad_load)(l->old + r * l->pitch, v, way);
  } else {
    for (int k = 0; k < 4; ++k) v[k] = V(load)(l->e + r * l->stride + k * LANES);
  }
  for (int k = 0; k < 4; ++k) {
    const VEC f = V(load)(l->old_factor + k * LANES);
    if (logarithm && PLAIN) v[k] = V(sub)(v[k], V(load)(l->old_max + k * LANES));
    v[k] = logarithm ? V(sub)(v[k], f) : V(mul)(v[k], f);
    if (way == ACLPY_WAY_ANY) QUAD(to, v, k, l->streaming);
  }
  if (way != ACLPY_WAY_ANY) STC(to, v, l->streaming, way);
  if (!in_pieces) return;
  aclpy_asked_next(&l->asked);
  aclpy_pieces_put(l->pieces, lines, l->y + r * l->step, 4 * LANES * (int64_t)sizeof(STORED) / 64);
}

/* maxima of the next one's; */
ACLPY_INLINE void FN(again_read)(FN(again_lines) * l, int64_t r, TOPS *tops) {
  const int walks = FN(again_can_walk) && l->ahead.strips > 0;
  const int64_t at = walks ? l->ahead.at : r * l->pitch;
  if (l->fetches) aclpy_fetch_row(l->far + at, 4 * LANES * (int64_t)sizeof(STORED), l->fetches);
  if (walks) aclpy_ahead_next(&l->ahead);
  TOPS_ROW(tops, l->next + r * l->pitch);
}

/* its four vectors become exponentials. */
ACLPY_INLINE void FN(again_exp)(const FN(again_lines) * l, int64_t r, VEC *v, int logarithm, int way) {
  for (int k = 0; k < 4; ++k) {
    v[k] = V(sub)(v[k], V(load)(l->max + k * LANES));
    if (logarithm && !PLAIN) V(store)(l->e + r * l->stride + k * LANES, v[k]);
  }
  V(exp_quad)(v, way != ACLPY_WAY_ANY ? ACLPY_EXP_NORMAL : FN(exp_results)(!logarithm));
  for (int k = 0; k < 4 && !logarithm; ++k) V(store)(l->e + r * l->stride + k * LANES, v[k]);
}

/* Two rows; the sums of their exponentials. */
ACLPY_INLINE void FN(again_pair)(FN(again_lines) * l, int64_t r, TOPS *tops, VEC *pair, int logarithm, int way,
                                 int full, int in_pieces) {
  VEC other[4];
  FN(quad_load)(l->x + r * l->pitch, pair, way);
  FN(quad_load)(l->x + (r + 1) * l->pitch, other, way);
  if (full) FN(again_read)(l, r, tops);
  if (full) FN(again_read)(l, r + 1, tops);
  if (full) FN(again_write)(l, r, logarithm, way, in_pieces);
  if (full) FN(again_write)(l, r + 1, logarithm, way, in_pieces);
  FN(again_exp)(l, r, pair, logarithm, way);
  FN(again_exp)(l, r + 1, other, logarithm, way);
  for (int k = 0; k < 4; ++k) pair[k] = V(add)(pair[k], other[k]);
}

/* Whether sums are read and written once in two pairs: the same bits, but half of the lines that bound words without
 * conversions. Half floats gained as much in most runs and lost a third in others; floats and doubles gain nothing. */
enum { FN(again_four) = sizeof(STORED) == 2 && !KEEPS };

/* `count` rows, of all three tiles where `full`, else of this one alone. Sums as in tile_exp. */
ACLPY_INLINE void FN(again_rows)(FN(again_lines) l, TOPS *given, int64_t count, int logarithm, int way, int full,
                                 int in_pieces) {
  TOPS tops = *given;
  int64_t r = 0;
  for (; FN(again_four) && r + 4 <= count; r += 4) {
    VEC pair[4], other[4];
    FN(again_pair)(&l, r, &tops, pair, logarithm, way, full, in_pieces);
    FN(again_pair)(&l, r + 2, &tops, other, logarithm, way, full, in_pieces);
    for (int k = 0; k < 4; ++k) {
      double *sum = l.sum + k * LANES;
      V(acc_store)(sum, V(acc_add)(V(acc_add)(V(acc_load)(sum), pair[k]), other[k]));
    }
  }
  for (; r + 2 <= count; r += 2) {
    VEC pair[4];
    FN(again_pair)(&l, r, &tops, pair, logarithm, way, full, in_pieces);
    for (int k = 0; k < 4; ++k) {
      double *sum = l.sum + k * LANES;
      V(acc_store)(sum, V(acc_add)(V(acc_load)(sum), pair[k]));
    }
  }
  if (r < count) {
    VEC a[4];
    FN(quad_load)(l.x + r * l.pitch, a, way);
    if (full) FN(again_read)(&l, r, &tops);
    if (full) FN(again_write)(&l, r, logarithm, way, in_pieces);
    FN(again_exp)(&l, r, a, logarithm, way);
    for (int k = 0; k < 4; ++k) {
      double *sum = l.sum + k * LANES;
      V(acc_store)(sum, V(acc_add)(V(acc_load)(sum), a[k]));
    }
  }
  *given = tops;
}
/* Whether results may be in pieces. */
enum { FN(again_pieces) = ACLPY_PIECES && sizeof(STORED) == 2 };
/* Functions of their own, so that registers are shared out for each of these loops alone; bfloat16's logarithm would
 * take 1.1 of the time if they were ordered early. */
#define ACLPY_AGAIN_(name, logarithm, way, full, in_pieces)                                                         \
  static ACLPY_ORDERED_LATE __attribute__((noinline, unused)) void FN(name)(const FN(again_lines) * l, TOPS * tops, \
                                                                            int64_t count) {                        \
    FN(again_rows)(*l, tops, count, logarithm, way, full, in_pieces);                                               \
  }
#define ACLPY_AGAINS_(name, way)                                                                               \
  ACLPY_AGAIN_(name##_exp, 0, way, 1, 0)                                                                       \
  ACLPY_AGAIN_(name##_log, 1, way, 1, 0)                                                                       \
  ACLPY_AGAIN_(name##_exp_pieces, 0, way, 1, 1)                                                                \
  ACLPY_AGAIN_(name##_log_pieces, 1, way, 1, 1)                                                                \
  ACLPY_AGAIN_(name##_exp_alone, 0, way, 0, 0)                                                                 \
  ACLPY_AGAIN_(name##_log_alone, 1, way, 0, 0)                                                                 \
  ACLPY_INLINE void FN(name)(const FN(again_lines) * l, TOPS * tops, int64_t count, int logarithm, int full) { \
    if (full && FN(again_pieces) && l->pieces != NULL) {                                                       \
      if (logarithm) FN(name##_log_pieces)(l, tops, count);                                                    \
      if (!logarithm) FN(name##_exp_pieces)(l, tops, count);                                                   \
      return;                                                                                                  \
    }                                                                                                          \
    if (full && logarithm) FN(name##_log)(l, tops, count);                                                     \
    if (full && !logarithm) FN(name##_exp)(l, tops, count);                                                    \
    if (!full && logarithm) FN(name##_log_alone)(l, tops, count);                                              \
    if (!full && !logarithm) FN(name##_exp_alone)(l, tops, count);                                             \
  }
ACLPY_AGAINS_(again_any, ACLPY_WAY_ANY)
ACLPY_AGAINS_(again_calm, ACLPY_WAY_CALM)
ACLPY_AGAINS_(again_pairs, ACLPY_WAY_PAIRS)
#undef ACLPY_AGAIN_
#undef ACLPY_AGAINS_

/* `count` rows from r on of one strip. What the tiles before and behind have of it goes along with the exponentials
 * where all three have it and agree about their way. */
ACLPY_INLINE void FN(again_strip)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t c, int64_t r,
                                  int64_t count, int logarithm) {
  const int64_t strip = c / (4 * LANES);
  FN(again_lines) l = FN(again_lines_of)(g, p, c, r);
  TOPS *tops = &p->next.s->tops[strip];
  const int computes = c < FN(again_whole)(&p->here), reads = c < FN(again_whole)(&p->next);
  const int writes = c < FN(again_whole)(&p->before) && !p->by_rows;
  const int was = p->before.s->way[strip], way = p->here.s->way[strip];
  const int in_pieces = FN(again_pieces) && p->in_pieces;
  const int full = computes && reads && writes && was == way;
  for (int64_t k = 0; k < count && writes && !full; ++k) {
    if (was == ACLPY_WAY_PAIRS) FN(again_write)(&l, k, logarithm, ACLPY_WAY_PAIRS, in_pieces);
    if (was != ACLPY_WAY_PAIRS) FN(again_write)(&l, k, logarithm, ACLPY_WAY_ANY, in_pieces);
  }
  for (int64_t k = 0; k < count && reads && !full; ++k) FN(again_read)(&l, k, tops);
  if (!computes) return;
  const int calm = CALM_WAY(1);
  if (calm == ACLPY_WAY_ANY || way == ACLPY_WAY_ANY) {
    FN(again_any)(&l, tops, count, logarithm, full);
  } else if (calm == ACLPY_WAY_CALM || way == ACLPY_WAY_CALM) {
    FN(again_calm)(&l, tops, count, logarithm, full);
  } else {
    FN(again_pairs)(&l, tops, count, logarithm, full);
  }
}

/* Columns left over by strips, vector by vector: results of row r of the tile before, */
ACLPY_INLINE void FN(again_rest_write)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t r, int logarithm) {
  const FN(again_tile) *b = &p->before;
  if (p->by_rows || p->in_pieces) FN(again_put_row)(g, p, r, p->in_pieces ? FN(again_whole)(b) : 0, logarithm);
  for (int64_t c = FN(again_whole)(b); c < b->t.width && !p->by_rows && !p->in_pieces; c += LANES) {
    const int64_t left = b->t.width - c;
    STORED *to = b->y + r * g->out.row + b->t.column + c;
    const VEC f = V(load)(b->s->all.factor + c), e = V(load)(p->e + r * g->stride + c);
    const VEC d = PLAIN ? V(sub)(FN(tile_ld)(b->x + r * g->columns + c, left, 0), V(load)(b->s->all.max + c)) : e;
    const VEC v = logarithm ? V(sub)(d, f) : V(mul)(e, f);
    if (left >= LANES) ST(to, v);
    if (left < LANES) STN(to, v, left);
  }
}
/* maxima of row r of a tile, */
ACLPY_INLINE void FN(again_rest_read)(const aclpy_geometry *g, const FN(again_tile) * a, int64_t r) {
  for (int64_t c = FN(again_whole)(a); c < a->t.width; c += LANES) {
    const VEC v = FN(tile_ld)(a->x + r * g->columns + c, a->t.width - c, (REAL)-INFINITY);
    V(store)(a->s->all.max + c, V(max)(v, V(load)(a->s->all.max + c)));
  }
}
/* exponentials of rows [first, last). */
ACLPY_INLINE VEC FN(again_rest_e)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t r, int64_t c, VEC max,
                                  int logarithm) {
  const FN(again_tile) *a = &p->here;
  const VEC v = FN(tile_ld)(a->x + r * g->columns + c, a->t.width - c, (REAL)-INFINITY);
  const VEC d = V(sub)(v, max), e = FN(exp_of)(d, !logarithm);
  if (!logarithm || !PLAIN) V(store)(p->e + r * g->stride + c, logarithm ? d : e);
  return e;
}
ACLPY_INLINE void FN(again_rest_exp)(const aclpy_geometry *g, const FN(again_trio) * p, int64_t first, int64_t last,
                                     int logarithm) {
  const FN(again_tile) *a = &p->here;
  for (int64_t c = FN(again_whole)(a); c < a->t.width; c += LANES) {
    const VEC max = V(load)(a->s->all.max + c);
    V(acc) sum = V(acc_load)(a->s->all.sum + c);
    for (int64_t r = first; r < last; r += 2) {
      VEC e = FN(again_rest_e)(g, p, r, c, max, logarithm);
      if (r + 1 < last) e = V(add)(e, FN(again_rest_e)(g, p, r + 1, c, max, logarithm));
      sum = V(acc_add)(sum, e);
    }
    V(acc_store)(a->s->all.sum + c, sum);
  }
}

ACLPY_INLINE void FN(again_clear)(const aclpy_geometry *g, const FN(again_tile) * a) {
  FN(sums_begun)(a->s->all.sum, g->stride);
  for (int64_t c = 0; c < g->stride; c += LANES) V(store)(a->s->all.max + c, V(set1)((REAL)-INFINITY));
  for (int64_t c = 0; c < g->stride; c += 4 * LANES) {
    a->s->tops[c / (4 * LANES)] = TOPS_FIRST();
    a->s->way[c / (4 * LANES)] = ACLPY_WAY_ANY;
  }
}

/* What was seen of a tile to where it is used. */
ACLPY_INLINE void FN(again_tops)(const FN(again_tile) * a, int way) {
  for (int64_t c = 0; c < FN(again_whole)(a); c += 4 * LANES) {
    const TOPS *tops = &a->s->tops[c / (4 * LANES)];
    VEC most[4];
    const int calm = TOPS_VALUES(tops, most, way);
    if (!calm && way == ACLPY_WAY_PAIRS) TOPS_VALUES(tops, most, ACLPY_WAY_ANY);
    a->s->way[c / (4 * LANES)] = (unsigned char)(calm ? way : ACLPY_WAY_ANY);
    for (int k = 0; k < 4; ++k) V(store)(a->s->all.max + c + k * LANES, most[k]);
  }
}

/* The maxima of a tile by itself. */
ACLPY_INLINE void FN(again_first)(const aclpy_geometry *g, const FN(again_trio) * p, const FN(again_tile) * a) {
  FN(again_clear)(g, a);
  for (int64_t r = 0; r < a->t.rows; ++r) {
    for (int64_t c = 0; c < FN(again_whole)(a); c += 4 * LANES) {
      TOPS_ROW(&a->s->tops[c / (4 * LANES)], a->x + r * g->columns + c);
    }
    FN(again_rest_read)(g, a, r);
  }
  FN(again_tops)(a, p->way);
}

/* The exponentials of one tile beside the results of the one before and the maxima of the next. */
ACLPY_INLINE void FN(again_run)(const aclpy_geometry *g, const FN(again_trio) * p, int logarithm) {
  const int64_t rows = g->rows;
  const int64_t two = aclpy_max_i64(FN(again_whole)(&p->before), FN(again_whole)(&p->next));
  const int64_t strips = aclpy_max_i64(FN(again_whole)(&p->here), two);
  const int writes = p->before.live && (p->by_rows || FN(again_whole)(&p->before) < p->before.t.width);
  const int reads = p->next.live && FN(again_whole)(&p->next) < p->next.t.width;
  for (int64_t first = 0; first < rows; first += ACLPY_TILE_BLOCK) {
    const int64_t last = aclpy_min_i64(first + ACLPY_TILE_BLOCK, rows);
    if (p->words != NULL) FN(words_block)(p->words, first, last - first, 0);
    for (int64_t r = first; r < last && writes; ++r) FN(again_rest_write)(g, p, r, logarithm);
    for (int64_t r = first; r < last && reads; ++r) FN(again_rest_read)(g, &p->next, r);
    for (int64_t c = 0; c < strips; c += 4 * LANES) FN(again_strip)(g, p, c, first, last - first, logarithm);
    if (p->here.live) FN(again_rest_exp)(g, p, first, last, logarithm);
  }
  if (p->here.live) FN(sums_complete)(p->here.s->all.sum, g->stride);
  if (p->here.live) FN(tile_factors)(p->here.s->all.sum, p->here.s->all.factor, g->stride, logarithm);
  if (p->next.live) FN(again_tops)(&p->next, p->way);
}

ACLPY_INLINE FN(again_tile) FN(again_tile_of)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t item,
                                              int live, FN(again_columns) * s) {
  FN(again_tile) a = {.t = {0}, .s = s, .live = live};
  if (!live) return a;
  a.t = aclpy_tile_of(g, item, 0);
  a.x = (const STORED *)args->addr[0] + a.t.offset;
  a.y = (STORED *)args->addr[1] + a.t.to;
  if (aclpy_in_pieces(g, (int64_t)sizeof(STORED), g->streaming)) {
    aclpy_pieces_of(s->pieces, g, &a.t, 4 * LANES, (int64_t)sizeof(STORED));
  }
  return a;
}

static void FN(tiles_again_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                                REAL *scratch, int logarithm) {
  FN(again_columns) s[3];
  FN(again_trio) p = {.e = scratch, .streaming = g->streaming && args->addr[0] != args->addr[1]};
  p.fetches = aclpy_tiles_fetch(g, PLAIN);
  p.by_rows = aclpy_tiles_by_rows(g, args->addr[1], 4 * LANES, (int64_t)sizeof(STORED), p.streaming);
  p.in_pieces = p.by_rows && aclpy_in_pieces(g, (int64_t)sizeof(STORED), p.streaming);
  if (p.in_pieces) p.by_rows = 0;
  p.way = CALM_WAY(!p.by_rows);
  if (begin >= end) return;
  p.before = FN(again_tile_of)(g, args, begin, 0, &s[2]);
  p.here = FN(again_tile_of)(g, args, begin, 1, &s[0]);
  FN(again_clear)(g, &p.before);
  FN(again_first)(g, &p, &p.here);
  for (int64_t i = begin; i <= end; ++i) {
    p.next = FN(again_tile_of)(g, args, i + 1, i + 1 < end, &s[(i - begin + 1) % 3]);
    p.after = i + 2 < end ? aclpy_tile_of(g, i + 2, 0).offset - p.next.t.offset : 0;
    FN(again_clear)(g, &p.next);
    FN(again_run)(g, &p, logarithm);
    p.before = p.here;
    p.here = p.next;
  }
  if (p.streaming) aclpy_stream_fence();
}
