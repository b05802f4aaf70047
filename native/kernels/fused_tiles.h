/* SPDX-License-Identifier: Apache-2.0
 * Softmax over an axis before the last one: a tile of columns in scratch, statistics by column. The results of one tile
 * are written beside the exponentials of the next and the reading of the one after, some rows at a time, so that
 * arithmetic hides the memory.
 */
#ifndef ACLPY_KERNELS_FUSED_TILES_H
#define ACLPY_KERNELS_FUSED_TILES_H

#include "fused_column_loops.h"

/* Columns of one tile, and where it lies. */
typedef struct fused_tile {
  int64_t outer, column, width;
} fused_tile;

ACLPY_INLINE fused_tile fused_tile_of_(const aclpy_fused_geometry *g, int64_t item) {
  fused_tile t;
  t.column = item % g->tiles * g->width;
  t.outer = item / g->tiles;
  t.width = aclpy_min_i64(g->width, g->columns - t.column);
  return t;
}

enum {
  ACLPY_FUSED_BLOCK = 32, /* rows at a time, */
  ACLPY_FUSED_RUN = 8192, /* and of narrow tiles as many times that as have so many elements */
  ACLPY_FUSED_AHEAD = 32  /* of the next tile between what is read and what is asked for */
};

/* Rows of exponentials that a thread has room for where inner > 1: a tile, or two blocks of a chunk; behind them there
 * is room for the elements of as many, or of a chunk. */
ACLPY_INLINE int64_t fused_rows_held_(const aclpy_fused_geometry *g) {
  return g->mode == ACLPY_CHUNKS ? 2 * ACLPY_FUSED_BLOCK : g->lines;
}
/* Floats of scratch that it needs. A vector may be read behind the last. */
ACLPY_INLINE int64_t aclpy_fused_own_floats_(const aclpy_fused_geometry *g) {
  const int64_t kept = g->mode == ACLPY_CHUNKS ? aclpy_max_i64(g->rows, ACLPY_FUSED_BLOCK) : g->lines;
  return (fused_rows_held_(g) + kept) * g->stride + 16;
}
ACLPY_INLINE int64_t aclpy_fused_own_bytes(const aclpy_fused_geometry *g) {
  if (g->inner == 1) return 0;
  return (aclpy_fused_own_floats_(g) + columns_list_floats_(g) + 16) * (int64_t)sizeof(float);
}

/* Some rows of a tile: all of them, or those of a chunk. */
typedef struct fused_block {
  fused_tile t;
  int64_t row, rows;   /* in groups */
  float *e;            /* scratch, from its row `held` on */
  unsigned char *kept; /* its elements in scratch, likewise, */
  int64_t held;
  fused_columns *s;
  int live;
  int how;    /* or where they lie */
  int formed; /* its operations are of the form; else rows are finished before they are written */
  int tame;   /* results are numbers below 2^30 */
  column_form form;
} fused_block;

/* Elements of row r, and the index of the first. */
ACLPY_INLINE int64_t block_have_(const aclpy_fused_geometry *g, const fused_block *b, int64_t r) {
  if (g->group == 1) return b->t.width;
  return aclpy_min_i64(b->t.width, g->n * g->inner - (b->row + r) * g->columns);
}
ACLPY_INLINE int64_t block_index_(const aclpy_fused_geometry *g, const fused_block *b, int64_t r) {
  return b->t.outer * g->n * g->inner + (b->row + r) * g->columns + b->t.column;
}

/* Where rows are worked on: they are read again where they lie, or copied to scratch, for rows a power of two apart
 * fall into few sets of a cache, of which a way is 64 KiB at least, or, of other types, converted there. */
enum { ACLPY_FUSED_WAY = 65536, ACLPY_FUSED_WAYS = 8 };
enum { ACLPY_BLOCK_THERE = 0, ACLPY_BLOCK_COPIED, ACLPY_BLOCK_CONVERTED };
ACLPY_INLINE int blocks_how_(const aclpy_fused *f) {
  const aclpy_fused_geometry *g = &f->g;
  const int64_t source = f->post.source;
  const int types = source == ACLPY_TYPE_FLOAT || source == ACLPY_TYPE_BF16 || source == ACLPY_TYPE_FLOAT16;
  const int64_t pitch = g->columns * f->from, power = aclpy_min_i64(pitch & -pitch, ACLPY_FUSED_WAY);
  const int64_t rows = g->mode == ACLPY_CHUNKS ? aclpy_min_i64(g->rows, g->lines) : g->lines;
  if (!types) return ACLPY_BLOCK_CONVERTED;
  return g->tiles > 1 && rows * power > ACLPY_FUSED_WAYS * ACLPY_FUSED_WAY ? ACLPY_BLOCK_COPIED : ACLPY_BLOCK_THERE;
}
/* Where column `from` of row r is worked on; bytes of an element, elements from row to row. */
ACLPY_INLINE int64_t block_size_(const aclpy_fused *f, const fused_block *b) {
  return b->how == ACLPY_BLOCK_CONVERTED ? (int64_t)sizeof(float) : f->from;
}
ACLPY_INLINE int64_t block_pitch_(const aclpy_fused *f, const fused_block *b) {
  return b->how == ACLPY_BLOCK_THERE ? f->g.columns : f->g.stride;
}
ACLPY_INLINE const unsigned char *block_there_(const aclpy_fused *f, const fused_block *b, int64_t r, int64_t from) {
  return f->x + (block_index_(&f->g, b, r) + from) * f->from;
}
ACLPY_INLINE unsigned char *block_kept_(const aclpy_fused *f, const fused_block *b, int64_t r, int64_t from) {
  return b->kept + ((r - b->held) * f->g.stride + from) * block_size_(f, b);
}

/* Columns [from, to) of rows [r, r + count), as long as each other but perhaps for the last, are read; */
ACLPY_INLINE void block_load_(const aclpy_fused *f, const fused_block *b, int64_t r, int64_t count, int64_t from) {
  const int64_t pitch = block_pitch_(f, b);
  for (int64_t n; count > 0; r += n, count -= n) {
    const int64_t all = block_have_(&f->g, b, r), have = all - from;
    n = block_have_(&f->g, b, r + count - 1) < all ? aclpy_max_i64(1, count - 1) : count;
    float *max = b->s->max + from;
    const unsigned char *x = block_there_(f, b, r, from);
    for (int64_t k = 0; k < n && b->how != ACLPY_BLOCK_THERE; ++k) {
      unsigned char *to = block_kept_(f, b, r + k, from);
      const unsigned char *row = x + k * f->g.columns * f->from;
      if (b->how == ACLPY_BLOCK_COPIED) memcpy(to, row, (size_t)(have * f->from));
      if (b->how == ACLPY_BLOCK_CONVERTED) aclpy_load_run(f->post.source, row, (float *)(void *)to, have);
    }
    if (b->how != ACLPY_BLOCK_THERE) x = block_kept_(f, b, r, from);
    if (b->how == ACLPY_BLOCK_CONVERTED || f->post.source == ACLPY_TYPE_FLOAT) {
      column_max_f32((const float *)(const void *)x, pitch, n, have, max);
    } else if (f->post.source == ACLPY_TYPE_BF16) {
      column_max_bf16((const uint16_t *)(const void *)x, pitch, n, have, max);
    } else {
      column_max_f16((const uint16_t *)(const void *)x, pitch, n, have, max);
    }
  }
}

/* The loop for what is kept of rows of this source. */
typedef void (*column_loop)(const column_lines *l);
ACLPY_INLINE column_loop block_loop_(const aclpy_fused *f, int keeps) {
  static const column_loop floats[] = {column_sum_f32, column_exp_f32, column_log_f32};
  static const column_loop brains[] = {column_sum_bf16, column_exp_bf16, column_log_bf16};
  static const column_loop halves[] = {column_sum_f16, column_exp_f16, column_log_f16};
  if (f->post.source == ACLPY_TYPE_BF16) return brains[keeps];
  return f->post.source == ACLPY_TYPE_FLOAT16 ? halves[keeps] : floats[keeps];
}

/* What goes along with a block's exponentials; each may be missing. */
typedef struct block_beside {
  const fused_block *next; /* its rows are read, */
  const column_out *out;   /* results of the tile before are written, */
  uintptr_t far;           /* and this is asked for */
  int alike;               /* rows of `out` are as long as the block's, one by one */
} block_beside;

/* become exponentials; */
ACLPY_APART void block_exp_(const aclpy_fused *f, const fused_block *b, int64_t r, int64_t count, int64_t from,
                            int64_t to, int keeps, const block_beside *by) {
  const int64_t stride = f->g.stride, size = f->from;
  const fused_block *next = by->next;
  const column_loop loop = block_loop_(f, keeps);
  _Alignas(64) float none[ACLPY_FUSED_PAD];
  column_out out;
  column_lines l = {
      .e = b->e + (r - b->held) * stride + from, .stride = stride, .max = b->s->max + from, .sum = b->s->sum + from};
  l.top = next != NULL ? next->s->max + from : none;
  l.far = by->far == 0 ? 0 : by->far + (uintptr_t)(from * size);
  l.apart = f->g.columns * size;
  l.lies = f->g.columns;
  l.pitch = block_pitch_(f, b);
  if (by->out != NULL) {
    out = *by->out;
    l.out = &out;
  }
  for (int64_t left = count; left > 0; left -= l.count) {
    const int64_t all = block_have_(&f->g, b, r), have = aclpy_min_i64(all, to);
    l.have = have - from;
    l.count = block_have_(&f->g, b, r + left - 1) < all ? aclpy_max_i64(1, left - 1) : left;
    l.x = b->how == ACLPY_BLOCK_THERE ? block_there_(f, b, r, from) : block_kept_(f, b, r, from);
    if (next != NULL) l.next = block_there_(f, next, r, from);
    if (next != NULL && next->how == ACLPY_BLOCK_COPIED) l.into = block_kept_(f, next, r, from);
    if (l.out != NULL && by->alike) out.n = have;
    if (l.out != NULL) out.count = l.count;
    loop(&l);
    r += l.count;
    l.e += l.count * stride;
    if (l.out != NULL) out.e += l.count * stride;
    if (l.out != NULL) out.y += l.count * out.apart;
    if (l.out != NULL) out.row += l.count;
    if (l.far != 0) l.far += (uintptr_t)(l.count * l.apart);
  }
}

/* What the operations come to, once factors are known and operands in place: of the form, the fold where it holds for
 * all columns, whose gain then goes into their factors. */
ACLPY_INLINE void block_form_(const aclpy_fused *f, const column_steps *c, fused_block *b) {
  float *factor = b->s->factor;
  const int able = c->cheap && (f->flags & ACLPY_FUSED_LOG) == 0;
  int folded = able;
  b->tame = 0;
  for (int64_t k = 0; k < b->t.width; ++k) folded &= factor[k] <= c->fold.limit;
  if (folded && column_form_make_(c, 1, b->row, b->t.column, &b->form)) {
    for (int64_t k = 0; k < b->t.width; ++k) factor[k] *= c->fold.gain;
    b->formed = 1;
    b->tame = c->fold.tame;
    return;
  }
  b->formed = able && column_form_make_(c, 0, b->row, b->t.column, &b->form);
  if (b->formed) return;
  column_form_plain_(&b->form);
  memcpy(b->s->last, factor, sizeof b->s->last);
  for (int64_t k = 0; k < f->g.stride; ++k) factor[k] = 1.0f;
}

/* Results of rows [r, r + count) in place of their exponentials, where they are not of the form. */
ACLPY_APART void block_finish_(const aclpy_fused *f, const column_steps *c, const fused_block *b, int64_t r,
                               int64_t count) {
  const float *factor = b->s->last;
  const int64_t stride = f->g.stride;
  float *first = b->e + (r - b->held) * stride, *e = first;
  for (int64_t end = r + count; r < end; ++r, e += stride) {
    const int64_t n = block_have_(&f->g, b, r);
    if (f->rounded) aclpy_round_run(f->rounded, e, n);
    for (int64_t k = 0; k < n && (f->flags & ACLPY_FUSED_LOG) != 0; ++k) e[k] -= factor[k];
    for (int64_t k = 0; k < n && (f->flags & ACLPY_FUSED_LOG) == 0; ++k) e[k] *= factor[k];
    for (int64_t k = n; k < stride; ++k) e[k] = 1.0f;
    if (!c->alone) aclpy_post_apply(&f->post, e, block_index_(&f->g, b, r), n);
  }
  if (!c->alone) return;
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  for (int64_t k = 0; k < c->steps; ++k) steps[k] = c->given[k].step;
  for (int64_t n; first < e; first += n) {
    n = aclpy_min_i64(ACLPY_PART, e - first);
    direct_steps_any_(steps, c->steps, first, n, 1.0f, 1.0f);
  }
}

/* Whether rows of results are whole lines; whether strips of them go past the caches: as whole lines, of narrow types
 * only where rows are. Others, row by row: a strip's rows are far from each other, so each would wait for its line. */
ACLPY_INLINE int out_lined_(const aclpy_fused *f) {
  const int64_t outer = f->g.n * f->g.inner; /* no multiple of the columns, in groups */
  return ((uintptr_t)f->y | (uintptr_t)(f->g.columns * f->to) | (uintptr_t)(outer * f->to)) % 64 == 0;
}
ACLPY_INLINE int out_streams_(const aclpy_fused *f) {
  return f->streaming && 4 * v32_LANES * f->to % 64 == 0 && (f->to == (int64_t)sizeof(float) || out_lined_(f));
}
/* Whether results are written beside exponentials. */
ACLPY_INLINE int out_beside_(const aclpy_fused *f) {
  return columns_quads_(f->post.target) && (!f->streaming || out_streams_(f));
}

/* Results of rows from r on, as long as each other but perhaps for the last, on their way out. */
ACLPY_INLINE column_out block_out_(const aclpy_fused *f, const column_steps *c, const fused_block *b, int64_t r,
                                   int64_t count) {
  const aclpy_fused_geometry *g = &f->g;
  column_out o = {.stride = g->stride, .apart = g->columns * f->to, .count = count, .target = f->post.target};
  if (!b->formed) block_finish_(f, c, b, r, count);
  o.factor = b->s->factor;
  o.e = b->e + (r - b->held) * o.stride;
  o.y = f->y + block_index_(g, b, r) * f->to;
  o.n = block_have_(g, b, r);
  o.shift = __builtin_ctzll((unsigned long long)f->to);
  o.streaming = out_streams_(f);
  o.heads = o.streaming && !out_lined_(f);
  o.tame = b->tame;
  o.form = b->form;
  o.row = r;
  o.far = f->streaming ? ACLPY_OPERAND_ROWS : 0;
  return o;
}

/* and are written. */
ACLPY_INLINE void block_put_(const aclpy_fused *f, const column_steps *c, const fused_block *b, int64_t r,
                             int64_t count) {
  if (!columns_quads_(f->post.target)) {
    block_finish_(f, c, b, r, count);
    for (int64_t k = r; k < r + count; ++k) {
      unsigned char *y = f->y + block_index_(&f->g, b, k) * f->to;
      aclpy_store_run(f->post.target, b->e + (k - b->held) * f->g.stride, y, block_have_(&f->g, b, k), 0);
    }
    return;
  }
  const int64_t same = block_have_(&f->g, b, r + count - 1) < block_have_(&f->g, b, r) ? count - 1 : count;
  const column_out out = block_out_(f, c, b, r, same);
  column_rows_out_(&out, 0);
  if (same == count) return;
  const column_out last = block_out_(f, c, b, r + same, 1);
  column_rows_out_(&last, 0);
}

/* Elements lie behind the exponentials. */
ACLPY_INLINE unsigned char *fused_kept_(const aclpy_fused_geometry *g, float *e) {
  return (unsigned char *)(void *)(e + fused_rows_held_(g) * g->stride);
}
ACLPY_INLINE fused_block fused_tile_block_(const aclpy_fused *f, int64_t item, int live, float *e, fused_columns *s) {
  fused_block b = {.rows = f->g.lines, .e = e, .s = s, .live = live, .how = blocks_how_(f)};
  b.kept = fused_kept_(&f->g, e);
  if (live) b.t = fused_tile_of_(&f->g, item);
  return b;
}

/* What is asked for while rows from r on are worked on: of the next tile, or of the one behind it. */
ACLPY_INLINE uintptr_t fused_tile_far_(const aclpy_fused *f, int64_t item, int64_t end, int64_t r) {
  const aclpy_fused_geometry *g = &f->g;
  const int64_t ahead = r + ACLPY_FUSED_AHEAD;
  const fused_block b = {.t = fused_tile_of_(g, item + ahead / g->lines)};
  if (item + ahead / g->lines >= end || (g->tiles == 1 && !f->streaming)) return 0;
  return (uintptr_t)f->x + (uintptr_t)(block_index_(g, &b, ahead % g->lines) * f->from);
}

/* Three tiles, and what goes along with the exponentials of the one in the middle: the reading of the next, the writing
 * of the one before, of columns that all have. */
typedef struct tiles_trio {
  const fused_block *before, *here, *next;
  const column_steps *steps; /* of the one before */
  int reads, writes, keeps;
  int64_t common;
} tiles_trio;
ACLPY_INLINE int64_t trio_common_(const tiles_trio *t) {
  const int64_t width = t->here->t.width, next = t->reads ? t->next->t.width : width;
  const int64_t before = t->writes ? t->before->t.width : width;
  const int64_t least = aclpy_min_i64(width, aclpy_min_i64(next, before));
  const int same = width == least && next == least && before == least;
  return same ? least : least / ACLPY_FUSED_STRIP * ACLPY_FUSED_STRIP;
}
ACLPY_INLINE tiles_trio trio_of_(const aclpy_fused *f, const column_steps *steps, const fused_block *before,
                                 const fused_block *here, const fused_block *next) {
  const int logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
  tiles_trio t = {before, here, next, steps, 0, 0, logarithm ? ACLPY_COLUMN_KEEP_X : ACLPY_COLUMN_KEEP_E, 0};
  t.reads = here->live && next->live && next->how != ACLPY_BLOCK_CONVERTED;
  t.writes = here->live && before->live && out_beside_(f);
  t.common = trio_common_(&t);
  return t;
}

/* Rows [r, r + count) of all three. A part of scratch is read before anything else takes its place. */
ACLPY_INLINE void trio_rows_(const aclpy_fused *f, const tiles_trio *t, int64_t r, int64_t count, uintptr_t far) {
  const fused_block *before = t->before, *here = t->here, *next = t->next;
  column_out out;
  block_beside by = {t->reads ? next : NULL, NULL, far, 1};
  if (before->live && !t->writes) block_put_(f, t->steps, before, r, count);
  if (t->writes) {
    out = block_out_(f, t->steps, before, r, count);
    by.out = &out;
  }
  if (here->live && t->common > 0) block_exp_(f, here, r, count, 0, t->common, t->keeps, &by);
  if (t->writes && t->common < before->t.width) column_rows_out_(&out, t->common);
  by.next = NULL;
  by.out = NULL;
  if (here->live && t->common < here->t.width) {
    block_exp_(f, here, r, count, t->common, here->t.width, t->keeps, &by);
  }
  if (!next->live) return;
  if (!t->reads) block_load_(f, next, r, count, 0);
  if (t->reads && t->common < next->t.width) block_load_(f, next, r, count, t->common);
}

/* `room` has columns_list_floats_. Scratch holds one tile's exponentials, and its elements where these are copied: what
 * follows takes the place of what is done with, element by element. */
static void fused_tiles_run_(const aclpy_fused *f, int64_t begin, int64_t end, float *scratch, float *room) {
  const aclpy_fused_geometry *g = &f->g;
  const int64_t block = aclpy_max_i64(1, ACLPY_FUSED_RUN / g->width / ACLPY_FUSED_BLOCK) * ACLPY_FUSED_BLOCK;
  fused_columns s[3];
  column_steps steps;
  columns_steps_make_(f, &steps, room);
  fused_block before = fused_tile_block_(f, 0, 0, scratch, &s[2]), here = before;
  for (int64_t i = begin - 1; i <= end; ++i) {
    const int64_t turn = i - begin + 1;
    fused_block next = fused_tile_block_(f, i + 1, i + 1 < end, scratch, &s[turn % 3]);
    if (next.live) columns_begin_(next.s, g->stride);
    if (before.live) columns_bind_(f, &steps, before.t.outer);
    if (before.live) block_form_(f, &steps, &before);
    const tiles_trio trio = trio_of_(f, &steps, &before, &here, &next);
    for (int64_t r = 0; r < g->lines; r += block) {
      const int64_t count = aclpy_min_i64(block, g->lines - r);
      trio_rows_(f, &trio, r, count, fused_tile_far_(f, i + 1, end, r));
    }
    if (next.live) columns_shift_(f, next.s, g->stride);
    if (here.live) columns_factors_(f, here.s, g->stride);
    before = here;
    here = next;
  }
}

#endif
