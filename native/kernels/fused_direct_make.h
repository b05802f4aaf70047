/* SPDX-License-Identifier: Apache-2.0
 * What a launch of fused_direct_rows.h keeps: its operations with their operands, and the row to be written; and how it
 * can be done at all.
 */
#ifndef ACLPY_KERNELS_FUSED_DIRECT_MAKE_H
#define ACLPY_KERNELS_FUSED_DIRECT_MAKE_H

#include "../simd/tops.h"
#include "fused_fold.h"
#include "fused_forms.h"
#include "fused_rows.h"
#include "post_ops_functions.h"

enum {
  ACLPY_DIRECT_QUAD = 4 * v32_LANES, /* elements stored at once */
  ACLPY_DIRECT_PART = 64,            /* elements before and behind the quads, done apart */
  ACLPY_DIRECT_ROW = 192,            /* shorter rows whose lines are not whole go through the writer */
  ACLPY_BRIEF_MOST = 255,            /* rows of fused_brief.h, at most; */
  ACLPY_BRIEF_FLOATS = 191,          /* of floats alone, or whole quads and lines; */
  ACLPY_BRIEF_LEAST = 512,           /* elements of a launch, at least: a group has to be made ready for; */
  ACLPY_BRIEF_ROWS = 4               /* of operations with so many rows of operands */
};
enum { ACLPY_STAGED = -1 /* instead of a type: results are finished before they are stored */ };
enum {
  ACLPY_TYPE_OF_f32 = ACLPY_TYPE_FLOAT,
  ACLPY_TYPE_OF_f16 = ACLPY_TYPE_FLOAT16,
  ACLPY_TYPE_OF_bf16 = ACLPY_TYPE_BF16
};

/* Of n elements, as many as fill quads. */
ACLPY_INLINE int64_t direct_whole_quads_(int64_t n) { return n & -(int64_t)ACLPY_DIRECT_QUAD; }

ACLPY_INLINE int64_t direct_ahead_(int64_t near) { return near > 0 ? near : ACLPY_AHEAD_BYTES; }
/* What streams past is asked for as in the plain kernel: the next row into the second-level cache, for it is read
 * twice, and from there, a moment before its exponentials, into the first, or, where `near` is not 0, so many bytes
 * ahead into the first; operands, read once, into the first (or, where a core wants them early, no nearer than the
 * second). */
ACLPY_INLINE void direct_fetch_(const aclpy_walk *next, const void *x, int64_t bytes, int64_t near) {
  const uintptr_t ahead = next->ahead;
  if (near > 0) {
    aclpy_fetch_at((const void *)ahead, 0, bytes);
    return;
  }
  for (int64_t k = 0; k < bytes; k += 64) ACLPY_PREFETCH(ahead + (uintptr_t)k);
  aclpy_fetch_soon(x, bytes);
}
enum { ACLPY_OPERAND_AHEAD = 16384 /* on cores where fetching between stores is dear: early, and no nearer */ };
/* Zen 5 does a little better with twice the way (benchmarks/NOTES-fused.md); others were not measured so. */
ACLPY_INLINE void direct_fetch_operand_(const void *p, int64_t bytes, int core) {
  const int apart = core == ACLPY_CORE_ZEN_3, times = core == ACLPY_CORE_ZEN_5 ? 2 : 1;
  const uintptr_t near = (uintptr_t)p + (uintptr_t)(times * ACLPY_AHEAD_BYTES);
  const uintptr_t early = (uintptr_t)p + ACLPY_OPERAND_AHEAD;
  for (int64_t at = 0; at < bytes && !apart; at += 64) ACLPY_PREFETCH_NEAR(near + (uintptr_t)at);
  for (int64_t at = 0; at < bytes && apart; at += 64) ACLPY_PREFETCH(early + (uintptr_t)at);
}

/* The operations, and the row whose sum is known, to be written. */
typedef struct fused_direct {
  _Alignas(64) float t[ACLPY_PART]; /* staged: results on their way to the destination */
  _Alignas(64) unsigned char stored[ACLPY_PART * sizeof(float)];
  const unsigned char *ready;                        /* in t or, narrower, in `stored` */
  int64_t n_ready;                                   /* bytes */
  aclpy_post_step step[ACLPY_EASY_STEPS];            /* operands: those of the row */
  const aclpy_post_operand *moves[ACLPY_EASY_STEPS]; /* the operand where it differs from row to row, or NULL */
  int64_t steps;
  int still; /* there is none that does */
  fused_fold fold;
  const aclpy_post_step *now; /* what the row takes: given steps or their fold */
  int64_t steps_now;
  int folded;
  int functions;                      /* among them, or others that are done in memory */
  int whole;                          /* what is done is the launch's own list: d->steps is 0 */
  int finished;                       /* the row's whole quads are results already, in e */
  const float *far[ACLPY_EASY_STEPS]; /* operands of the full shape: to be fetched ahead */
  int64_t n_far;
  int64_t touched;        /* bytes, by a turn over this row and the two next */
  int core;               /* aclpy_core_kind */
  float *e;               /* exponentials */
  const unsigned char *x; /* for the logarithm */
  unsigned char *y;       /* NULL: no row yet */
  int64_t index;          /* of its first element */
  int64_t at;             /* elements before it are written */
  float shift, factor;
  float sum; /* added where `powered` */
  int calm;  /* its quads are (simd/calm.h) */
  direct_powers powers;
  fixed_form fixed;
  int powered; /* e holds powers, or what has their logarithms, and the factor goes with them */
  int made;    /* so does that of the row after, if its numbers turn out to be calm, from the least x - max on: */
  float least;
  /* The first `held` bytes: of the last line of a row, for the row that follows; and room to write a line behind. */
  _Alignas(64) unsigned char seam[128];
  int64_t held;
  int seamed;  /* lines that rows share are written so */
  int follows; /* behind the row to be written there is another one */
  int wary;    /* the row before was not calm, so this one is looked at first: the same rows, made once */
} fused_direct;

/* Element 0 of what the operand shows a row: of floats, or one value. */
ACLPY_INLINE void direct_operand_(const aclpy_fused *f, aclpy_post_step *step, const aclpy_post_operand *o,
                                  int64_t index) {
  const int64_t offset = o->whole ? index : aclpy_post_offset_(&f->post, o, index);
  const unsigned char *from = o->base + offset * o->bytes;
  if (o->dense) {
    step->operand.each = (const float *)(const void *)from;
  } else {
    aclpy_load_run(o->type, from, &step->operand.value, 1);
  }
}

/* Whether every row sees the same of an operand. */
ACLPY_INLINE int direct_fixed_(const aclpy_fused *f, const aclpy_post_operand *o) {
  int64_t left = f->g.outer;
  for (int64_t d = 0; d < f->post.n_dims && left > 1; left /= f->post.dims[d++]) {
    if (o->stride[d] != 0) return 0;
  }
  return 1;
}

/* One step with its operand; 0 where it cannot be done this way. `spare` holds a row of floats, once. */
ACLPY_INLINE int direct_step_make_(const aclpy_fused *f, fused_direct *d, int64_t k, float **spare) {
  const int64_t code = f->post.ops[2 * k] & 0xff;
  d->moves[k] = NULL;
  const uint64_t constants = (uint64_t)f->post.ops[2 * k + 1];
  const aclpy_post_step step = {code,
                                {NULL, 0.0f},
                                aclpy_f32_from_bits((uint32_t)constants),
                                aclpy_f32_from_bits((uint32_t)(constants >> 32)),
                                {0}};
  d->step[k] = step;
  if (!aclpy_post_is_easy(code)) d->functions = 1;
  if (aclpy_post_operands_of(code) > 1) return 0;
  const aclpy_post_operand *o = aclpy_post_operands_of(code) > 0 ? &f->post.operand[f->post.ops[2 * k] >> 8] : NULL;
  if (o == NULL || (o->whole && !o->dense)) {
    d->step[k] = aclpy_post_step_(&f->post, k, 0, 1, NULL);
    aclpy_power_make(d->step[k].power, step.beta);
    return 1;
  }
  if (o->segment % f->g.n != 0) return 0;
  const int fixed = direct_fixed_(f, o);
  if (!o->dense || o->type == ACLPY_TYPE_FLOAT) {
    direct_operand_(f, &d->step[k], o, 0);
    if (!fixed) d->moves[k] = o;
    return 1;
  }
  if (!fixed || *spare == NULL) return 0;
  aclpy_load_run(o->type, o->base, *spare, f->g.n);
  d->step[k].operand.each = *spare;
  *spare = NULL;
  return 1;
}

enum { ACLPY_DIRECT_NOT = 0, ACLPY_DIRECT_BRIEF, ACLPY_DIRECT_CHEAP, ACLPY_DIRECT_FUNCTIONS, ACLPY_DIRECT_STAGED };

/* Whether rows are as long as whole quads and lines of results; and whether they are those. */
ACLPY_INLINE int direct_lined_(const aclpy_fused *f) {
  return f->g.n % ACLPY_DIRECT_QUAD == 0 && f->g.n * f->to % 64 == 0;
}
ACLPY_INLINE int direct_whole_(const aclpy_fused *f) { return direct_lined_(f) && (uintptr_t)f->y % 64 == 0; }

enum {
  ACLPY_TURN_LEAST = 512, /* shorter rows, with all their operands, fit whatever a turn has room for */
  ACLPY_TURN_MOST = 65536 /* bytes */
};
/* Rows of exponentials: one whose places are each read before the next row's are written there, where two and two of x
 * are more than the first-level cache holds well, or where rows are whole quads and lines; else two in turn, for what
 * is stored at a short row's end by parts would be waited for. */
ACLPY_INLINE int64_t direct_rows_waiting_(const aclpy_fused *f) {
  const int64_t both = f->g.n * 2 * (f->from + (int64_t)sizeof(float));
  return direct_whole_(f) || both > ACLPY_TURN_BYTES * 2 / 3 ? 1 : 2;
}
/* What a turn touches: two rows of x, and of floats those of exponentials and operands. On Zen 5 floats are fetched
 * into the first level anyway; beside an operand that is, too, from the beginning on is as fast or faster. Of rows that
 * are longer than the level nothing is found there again. */
ACLPY_APART int64_t direct_touched_(const aclpy_fused *f, const fused_direct *d) {
  int64_t floats = direct_rows_waiting_(f);
  if (f->g.n < ACLPY_TURN_LEAST || f->g.n * f->from > ACLPY_TURN_MOST) return 0;
  if (d->core == ACLPY_CORE_ZEN_5 && f->post.source == ACLPY_TYPE_FLOAT && d->n_far > 0) return 0;
  for (int64_t k = 0; d->y != NULL && k < d->steps_now; ++k) floats += d->now[k].operand.each != NULL;
  return f->g.n * (2 * f->from + floats * (int64_t)sizeof(float));
}

/* Whether exponentials lie in the order of pairs (simd/quads.h), where that is cheapest: then operands do so, too, and
 * there is room to bring one row into that order. */
ACLPY_INLINE int direct_paired_(const aclpy_fused *f, const fused_direct *d) {
  int rows = 0;
  if (calm_way_bf16(1) != ACLPY_WAY_PAIRS || f->post.source != ACLPY_TYPE_BF16 || f->post.target != ACLPY_TYPE_BF16 ||
      !direct_whole_(f))
    return 0;
  for (int64_t k = 0; k < d->steps; ++k) {
    if (d->step[k].operand.each != NULL) rows += d->moves[k] != NULL ? 2 : 1;
  }
  return rows < 2;
}

ACLPY_INLINE void direct_fold_(const aclpy_fused *f, fused_direct *d, float *own, int may_pair) {
  const int64_t target = f->post.target;
  const int coarse = target == ACLPY_TYPE_INT8 || target == ACLPY_TYPE_UINT8 || target == ACLPY_TYPE_FLOAT16;
  d->fold.paired = may_pair && direct_paired_(f, d);
  fused_fold_make_(&d->fold, d->step, d->moves, d->steps, f->g.n, own, coarse);
}

/* Whether rows are short but many, all operations cheap, and no operand differs from row to row. */
ACLPY_INLINE int direct_brief_(const aclpy_fused *f, const fused_direct *d, int64_t count) {
  const int narrow = f->from + f->to < 2 * (int64_t)sizeof(float);
  int64_t rows = 0;
  if (f->g.n * count < ACLPY_BRIEF_LEAST) return 0;
  if (f->g.n > (narrow && !direct_whole_(f) ? ACLPY_BRIEF_MOST : ACLPY_BRIEF_FLOATS)) return 0;
  if ((f->flags & ACLPY_FUSED_LOG) || d->whole || d->functions) return 0;
  for (int64_t k = 0; k < f->post.n_ops; ++k) {
    if (d->moves[k] != NULL) return 0;
    rows += d->step[k].operand.each != NULL;
  }
  return rows <= ACLPY_BRIEF_ROWS;
}

/* How a launch can be done: not here, short rows by groups, in registers, some of it in the row's exponentials
 * (functions), or, logarithms that have no place there, with results staged in t. `count`: rows of the launch. `rows`
 * has room for two. */
static __attribute__((unused)) int fused_direct_make_(const aclpy_fused *f, fused_direct *d, int64_t count,
                                                      float *rows) {
  float *spare = rows;
  const int64_t source = f->post.source, target = f->post.target;
  const int from = source == ACLPY_TYPE_FLOAT || source == ACLPY_TYPE_FLOAT16 || source == ACLPY_TYPE_BF16;
  const int to = target == ACLPY_TYPE_FLOAT || target == ACLPY_TYPE_FLOAT16 || target == ACLPY_TYPE_BF16 ||
                 target == ACLPY_TYPE_INT8 || target == ACLPY_TYPE_UINT8;
  const int lines = f->g.n * f->to % 64 == 0;
  const int can = f->g.n >= (lines ? ACLPY_DIRECT_QUAD : ACLPY_DIRECT_ROW);
  if (!from || !to || f->rounded || (!can && f->g.n > ACLPY_BRIEF_MOST)) return ACLPY_DIRECT_NOT;
  d->y = NULL;
  d->calm = 0;
  d->powered = d->made = d->folded = d->wary = 0;
  d->e = NULL;
  d->factor = 0.0f;
  d->at = 0;
  d->n_far = 0;
  d->powers.can = 0;
  memset(&d->fixed, 0, sizeof d->fixed);
  d->n_ready = 0;
  d->steps = 0;
  d->functions = d->finished = 0;
  d->fold.limit = -1.0f;
  d->fold.paired = 0;
  d->core = aclpy_core_kind();
  d->held = 0;
  d->follows = 0;
  d->seamed = f->streaming && aclpy_rows_seamed(f->y, f->g.n * f->to, f->g.n * f->to, d->core);
  d->whole = f->post.n_ops > ACLPY_EASY_STEPS;
  d->still = !d->whole;
  for (int64_t k = 0; k < f->post.n_ops && !d->whole; ++k) {
    d->whole = !direct_step_make_(f, d, k, &spare);
    d->still = d->still && !d->whole && d->moves[k] == NULL;
  }
  d->touched = direct_touched_(f, d);
  const int brief = direct_brief_(f, d, count);
  if (!can && !brief) return ACLPY_DIRECT_NOT;
  if (f->flags & ACLPY_FUSED_LOG) {
    if (d->whole || d->functions) return ACLPY_DIRECT_STAGED;
    d->steps = f->post.n_ops;
    return ACLPY_DIRECT_CHEAP;
  }
  if (d->whole) return ACLPY_DIRECT_FUNCTIONS;
  d->steps = f->post.n_ops;
  direct_fold_(f, d, rows + aclpy_fused_round_(f->g.n), !brief);
  if (brief) return ACLPY_DIRECT_BRIEF;
  return d->functions ? ACLPY_DIRECT_FUNCTIONS : ACLPY_DIRECT_CHEAP;
}

#endif
