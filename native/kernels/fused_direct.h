/* SPDX-License-Identifier: Apache-2.0
 * What the rows of fused_direct_rows.h are written with: cheap operations in registers, between the scaling and the
 * store, as the plain kernel applies its factor. The values are those of fused_rows.h, bit for bit.
 */
#ifndef ACLPY_KERNELS_FUSED_DIRECT_H
#define ACLPY_KERNELS_FUSED_DIRECT_H

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

ACLPY_INLINE int64_t direct_ahead_(int64_t near) { return near > 0 ? near : ACLPY_AHEAD_BYTES; }
/* What streams past is asked for as in the plain kernel: the next row into the second-level cache, for it is read
 * twice, and from there, a moment before its exponentials, into the first, or, where `near` is not 0, so many bytes
 * ahead into the first; operands, read once, into the first (or, where a core wants them early, no nearer than the
 * second). */
ACLPY_INLINE void direct_fetch_(const aclpy_walk *next, const void *x, int64_t bytes, int64_t near) {
  const uintptr_t ahead = aclpy_walk_ahead(next);
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
  fused_fold fold;
  const aclpy_post_step *now; /* what the row takes: given steps or their fold */
  int64_t steps_now;
  int folded;
  int functions;                      /* among them, or others that are done in memory */
  int whole;                          /* what is done is the launch's own list: d->steps is 0 */
  int finished;                       /* the row's whole quads are results already, in e */
  const float *far[ACLPY_EASY_STEPS]; /* operands of the full shape: to be fetched ahead */
  int64_t n_far;
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
  _Alignas(64) unsigned char seam[64]; /* the first `held` bytes: of the last line of a row, for the row that follows */
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

/* Whether rows are whole quads and lines of results. */
ACLPY_INLINE int direct_whole_(const aclpy_fused *f) {
  return f->g.n % ACLPY_DIRECT_QUAD == 0 && ((uintptr_t)f->y | (uintptr_t)(f->g.n * f->to)) % 64 == 0;
}

enum { ACLPY_TURN_LEAST = 512 /* shorter rows, with all their operands, fit whatever a turn has room for */ };
/* Rows of exponentials: one whose places are each read before the next row's are written there, where two and two of x
 * are more than the first-level cache holds well, or where rows are whole quads and lines; else two in turn, for what
 * is stored at a short row's end by parts would be waited for. */
ACLPY_INLINE int64_t direct_rows_waiting_(const aclpy_fused *f) {
  const int64_t both = f->g.n * 2 * (f->from + (int64_t)sizeof(float));
  return direct_whole_(f) || both > ACLPY_TURN_BYTES * 2 / 3 ? 1 : 2;
}
/* What a turn touches: two rows of x, and of floats those of exponentials and operands. */
ACLPY_APART int64_t direct_touched_(const aclpy_fused *f, const fused_direct *d) {
  int64_t floats = direct_rows_waiting_(f);
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
  const int whole = ((uintptr_t)f->y | (uintptr_t)(f->g.n * f->to)) % 64 == 0;
  const int can = f->g.n >= (whole ? ACLPY_DIRECT_QUAD : ACLPY_DIRECT_ROW);
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
  for (int64_t k = 0; k < f->post.n_ops && !d->whole; ++k) d->whole = !direct_step_make_(f, d, k, &spare);
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

/* t = n results from d->at on, before the operations. */
ACLPY_INLINE void direct_fill_(const aclpy_fused *f, const fused_direct *d, float *t, int64_t n) {
  if (f->flags & ACLPY_FUSED_LOG) {
    aclpy_load_run(f->post.source, d->x + d->at * f->from, t, n);
    for (int64_t i = 0; i < n; ++i) t[i] = (t[i] - d->shift) - d->factor;
  } else {
    for (int64_t i = 0; i < n; ++i) t[i] = d->e[d->at + i] * d->factor;
  }
}

/* As many quads as fit, finished. */
ACLPY_APART void direct_stage_(const aclpy_fused *f, fused_direct *d) {
  const int64_t n = aclpy_min_i64(ACLPY_PART, f->g.n - d->at) / ACLPY_DIRECT_QUAD * ACLPY_DIRECT_QUAD;
  if (f->streaming) fused_fetch_operands_(f, d->index + d->at, n);
  direct_fill_(f, d, d->t, n);
  aclpy_post_apply(&f->post, d->t, d->index + d->at, n);
  d->ready = (const unsigned char *)d->t;
  if (f->post.target != ACLPY_TYPE_FLOAT) {
    aclpy_store_run(f->post.target, d->t, d->stored, n, 0);
    d->ready = d->stored;
  }
  d->n_ready = n * f->to;
}

/* The next staged quad. */
ACLPY_INLINE void direct_staged_quad_(const aclpy_fused *f, fused_direct *d) {
  if (d->n_ready == 0) direct_stage_(f, d);
  const int64_t bytes = ACLPY_DIRECT_QUAD * f->to;
  float *to = (float *)(void *)(d->y + d->at * f->to);
  const float *from = (const float *)(const void *)d->ready;
  for (int64_t k = 0; k < bytes / (int64_t)sizeof(float); k += v32_LANES) {
    if (f->streaming) {
      nt_f32(to + k, v32_load(from + k));
    } else {
      v32_store(to + k, v32_load(from + k));
    }
  }
  d->ready += bytes;
  d->n_ready -= bytes;
  d->at += ACLPY_DIRECT_QUAD;
}

/* `bytes` of results that begin with a line, past the caches; those of its last line wait for the row that follows, or
 * are stored. */
ACLPY_INLINE void direct_put_lines_(fused_direct *d, unsigned char *y, const unsigned char *from, int64_t bytes) {
  const int64_t rest = bytes % 64;
  for (int64_t k = 0; k < bytes - rest; k += v32_LANES * (int64_t)sizeof(float)) {
    nt_f32((float *)(void *)(y + k), v32_load((const float *)(const void *)(from + k)));
  }
  if (!d->seamed || !d->follows) {
    memcpy(y + (bytes - rest), from + (bytes - rest), (size_t)rest);
    return;
  }
  memcpy(d->seam, from + (bytes - rest), (size_t)rest);
  d->held = rest;
}

/* Elements [at, at + n) of a row that is longer than ACLPY_DIRECT_PART, where all operations are cheap: whole vectors,
 * of which those of the row's end begin before `at`. */
ACLPY_INLINE void direct_edge_(const aclpy_fused *f, fused_direct *d, int64_t n) {
  _Alignas(64) float t[ACLPY_DIRECT_PART];
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  const int64_t count = aclpy_ceil_div(n, v32_LANES) * v32_LANES, from = aclpy_min_i64(d->at, f->g.n - count);
  const v32 factor = v32_set1(d->folded ? d->factor * d->fold.gain : d->factor);
  for (int64_t i = 0; i < count; i += v32_LANES) v32_store(t + i, v32_mul(v32_load(d->e + from + i), factor));
  for (int64_t k = 0; k < d->steps_now; ++k) {
    steps[k] = d->now[k];
    if (steps[k].operand.each != NULL) steps[k].operand.each += from;
  }
  aclpy_post_easy(steps, d->steps_now, t, count);
  const float *results = t + (d->at - from);
  unsigned char *y = d->y + d->at * f->to;
  if (d->held > 0) { /* the line that the row before began */
    aclpy_store_run(f->post.target, results, d->seam + d->held, n, 0);
    d->held = 0;
    direct_put_lines_(d, y + n * f->to - 64, d->seam, 64);
  } else if (f->streaming && d->at > 0) {
    aclpy_store_run(f->post.target, results, d->stored, n, 0);
    direct_put_lines_(d, y, d->stored, n * f->to);
  } else {
    aclpy_store_run(f->post.target, results, y, n, 0);
  }
  d->at += n;
}

/* Elements [at, at + n), n at most ACLPY_DIRECT_PART: what does not fill a quad, or a line. */
ACLPY_APART void direct_part_(const aclpy_fused *f, fused_direct *d, int64_t n) {
  _Alignas(64) float t[ACLPY_DIRECT_PART];
  if (!d->functions && !d->whole && (f->flags & ACLPY_FUSED_LOG) == 0) {
    direct_edge_(f, d, n);
    return;
  }
  direct_fill_(f, d, t, n);
  aclpy_post_apply(&f->post, t, d->index + d->at, n);
  aclpy_store_run(f->post.target, t, d->y + d->at * f->to, n, 0);
  d->at += n;
}

/* The row after: its operands, and what lies before its first whole line. */
ACLPY_APART void direct_next_(const aclpy_fused *f, fused_direct *d, int64_t row, float *e, const unsigned char *x,
                              float shift, float factor, int calm) {
  d->calm = calm;
  d->finished = 0;
  d->e = e;
  d->x = x;
  d->index = row * f->g.n;
  d->y = f->y + d->index * f->to;
  d->at = 0;
  d->shift = shift;
  d->factor = factor;
  d->n_far = 0;
  for (int64_t k = 0; k < d->steps; ++k) {
    if (d->moves[k] == NULL) continue;
    direct_operand_(f, &d->step[k], d->moves[k], d->index);
    if (f->streaming && d->moves[k]->dense) d->far[d->n_far++] = d->step[k].operand.each;
  }
  /* Of a logarithm the factor is that of the sum, and there is no fold. */
  d->folded = (f->flags & ACLPY_FUSED_LOG) == 0 && factor <= d->fold.limit;
  d->now = d->folded ? d->fold.step : d->step;
  d->steps_now = d->folded ? d->fold.steps : d->steps;
  for (int64_t k = 0; k < d->steps_now && d->folded; ++k) {
    if (d->fold.from[k] >= 0) d->fold.step[k].operand = d->step[d->fold.from[k]].operand;
  }
  const int64_t head = (int64_t)(-(uintptr_t)d->y & 63u) / f->to;
  if (f->streaming && !d->seamed) aclpy_fetch_shared(d->y + f->g.n * f->to);
  if (f->streaming && head > 0) direct_part_(f, d, aclpy_min_i64(head, f->g.n));
}

/* The row's operations, cheap ones, on the quad from element i on. */
ACLPY_INLINE void direct_steps_(const fused_direct *d, v32 *v, int64_t i) {
  for (int64_t s = 0; s < d->steps_now; ++s) aclpy_easy_step_(&d->now[s], v, i, 4);
  for (int64_t k = 0; k < d->n_far; ++k) {
    direct_fetch_operand_(d->far[k] + i, ACLPY_DIRECT_QUAD * (int64_t)sizeof(float), d->core);
  }
}

ACLPY_INLINE int direct_is_factor_(const aclpy_post_step *step) {
  return step->code == ACLPY_POST_MUL && step->operand.each == NULL;
}

ACLPY_INLINE int direct_is_function_(const aclpy_post_step *step) {
  return !aclpy_post_is_easy(step->code) && aclpy_post_operands_of(step->code) == 0;
}

/* t[0..n), n at most ACLPY_PART, times two factors, then through steps of any kind. */
ACLPY_INLINE void direct_steps_any_(const aclpy_post_step *steps, int64_t n_steps, float *t, int64_t n, float first,
                                    float second) {
  /* A function takes the factors along, which saves a pass. */
  const int led = n_steps > 0 && direct_is_function_(steps);
  if (!led) eltwise_lead_(t, n, first, second);
  for (int64_t k = 0; k < n_steps;) {
    const aclpy_post_step *step = &steps[k];
    const int leads = led && k == 0;
    const aclpy_eltwise given = {step->alpha, step->beta, leads ? first : 1.0f, leads ? second : 1.0f};
    int64_t easy = 0;
    while (k + easy < n_steps && aclpy_post_is_easy(step[easy].code)) ++easy;
    if (easy > 0) {
      aclpy_post_easy(step, easy, t, n);
    } else if (direct_is_function_(step)) {
      aclpy_post_eltwise_(step->code, t, n, &given);
    } else {
      aclpy_post_binary_(step->code, t, step->operand, n);
    }
    k += easy > 0 ? easy : 1;
  }
}

/* Results of the row's whole quads, in place of its exponentials: most operations are too long for the loops over three
 * rows, and most programs have more than one. A part at a time, which the first-level cache holds. `left`: so many
 * steps at the end are not done. */
ACLPY_APART void direct_finish_(const aclpy_fused *f, fused_direct *d, int left) {
  const int64_t begin = d->at, end = begin + (f->g.n - begin) / ACLPY_DIRECT_QUAD * ACLPY_DIRECT_QUAD;
  const float factor = d->folded ? d->factor * d->fold.gain : d->factor;
  const int64_t most = d->steps_now - left;
  /* A scale is done with the factor: times 1 changes nothing. */
  const int scaled = most > 0 && direct_is_factor_(&d->now[0]);
  const float scale = scaled ? d->now[0].operand.value : 1.0f;
  const int64_t n_steps = most - scaled;
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  for (int64_t k = 0; k < n_steps; ++k) {
    steps[k] = d->now[k + scaled];
    if (steps[k].operand.each != NULL) steps[k].operand.each += begin;
  }
  for (int64_t n, i = begin; i < end; i += n) {
    n = aclpy_min_i64(ACLPY_PART, end - i);
    if (f->streaming) fused_fetch_operands_(f, d->index + i, n);
    direct_steps_any_(steps, n_steps, d->e + i, n, factor, scale);
    if (d->whole) aclpy_post_apply(&f->post, d->e + i, d->index + i, n);
    for (int64_t k = 0; k < n_steps; ++k) {
      if (steps[k].operand.each != NULL) steps[k].operand.each += n;
    }
  }
  d->finished = 1;
}

/* A quad of results, past the caches where asked. `tame`: see fused_fold.h. */
ACLPY_INLINE void direct_store_(int64_t target, unsigned char *y, const v32 *v, int streaming, int tame) {
#define ACLPY_EACH_(store, type) \
  for (int k = 0; k < 4; ++k) store((type *)(void *)y + k * v32_LANES, v[k])
  switch (target) {
    case ACLPY_TYPE_FLOAT16:
      if (streaming) {
        ACLPY_EACH_(nt_f16, uint16_t);
      } else {
        ACLPY_EACH_(st_f16, uint16_t);
      }
      break;
    case ACLPY_TYPE_BF16:
      for (int k = 0; k < 4; ++k) quad_bf16((uint16_t *)(void *)y, v, k, streaming);
      break;
    case ACLPY_TYPE_INT8:
    case ACLPY_TYPE_UINT8: {
      const v32 bytes = target == ACLPY_TYPE_INT8 ? v32_to_bytes(v, 1, tame) : v32_to_bytes(v, 0, tame);
      if (streaming) {
        nt_f32((float *)(void *)y, bytes);
      } else {
        memcpy(y, &bytes, sizeof bytes);
      }
      break;
    }
    default:
      if (streaming) {
        ACLPY_EACH_(nt_f32, float);
      } else {
        ACLPY_EACH_(v32_store, float);
      }
      break;
  }
#undef ACLPY_EACH_
}

#endif
