/* SPDX-License-Identifier: Apache-2.0
 * What fused_single_rows.h does to the elements of a row, by kinds that have a loop each: most folds come to nothing,
 * to one sum or product, with a value or with a row of them, or to a cheap operation or a function between products
 * with a value, or before a division by one.
 */
#ifndef ACLPY_KERNELS_FUSED_SINGLE_H
#define ACLPY_KERNELS_FUSED_SINGLE_H

#include "fused_fixed.h"

enum {
  ACLPY_SINGLE_NOT = 0, /* another loop */
  ACLPY_SINGLE_NONE,
  ACLPY_SINGLE_MUL,
  ACLPY_SINGLE_MUL_EACH,
  ACLPY_SINGLE_ADD,
  ACLPY_SINGLE_ADD_EACH,
  ACLPY_SINGLE_MANY, /* any operations, done (direct_finish_) but for a factor or divisor behind them */
  ACLPY_SINGLE_EASY, /* one cheap operation; from here on between factors */
  ACLPY_SINGLE_MIN,  /* with a value, as the next */
  ACLPY_SINGLE_DIV,
  ACLPY_SINGLE_LINEAR,
  ACLPY_SINGLE_LED_ADD, /* with a row, as the next */
  ACLPY_SINGLE_LED_MUL,
  ACLPY_SINGLE_EXP,
  ACLPY_SINGLE_TANH,
  ACLPY_SINGLE_GELU_ERF,
  ACLPY_SINGLE_POW,
  ACLPY_SINGLE_FIXED,     /* bytes, as the four next (fused_fixed.h), in the order there: with values */
  ACLPY_SINGLE_FIXED_SUM, /* with a row, as the two next */
  ACLPY_SINGLE_FIXED_MOVED,
  ACLPY_SINGLE_FIXED_PRODUCT,
  ACLPY_SINGLE_FIXED_DONE, /* done but for a factor or divisor, as what the three next make */
  ACLPY_SINGLE_FIXED_EXP,
  ACLPY_SINGLE_FIXED_TANH,
  ACLPY_SINGLE_FIXED_GELU_ERF,
  ACLPY_SINGLE_POWERED, /* nothing, for the exponentials are powers, this row's and the next one's (fused_powers.h) */
  ACLPY_SINGLE_LOGGED,  /* a sum, for they are x - max, of both */
  ACLPY_SINGLE_POWERS,  /* either, but only of the next one, no row to be written */
  ACLPY_SINGLE_LOG      /* of fused_powers.h alone: MANY for a loop */
};

/* A row whose sum is known, to be written. */
typedef struct fused_single {
  const fused_direct *d;
  const float *e;            /* exponentials, */
  unsigned char *y;          /* results, */
  int64_t n;                 /* and how many are whole quads, behind those that are written already */
  aclpy_post_step step;      /* the only one, or that between factors */
  v32 factor, value;         /* of the row; of the step */
  float first;               /* the factor before the step */
  double last;               /* that behind it; of a divisor, its inverse */
  v32 before, after;         /* `first`; what is behind, factor or divisor */
  int has_before, has_after; /* they are not 1 */
  int divides;
  int streaming;
  int far;           /* the step's row of values lies beyond the caches */
  int firm;          /* results are 0, normal numbers or infinite where the row is calm */
  float lead;        /* what the factor of the row is multiplied by (single_lead_) */
  const float *each; /* the step's row from its first element on, or NULL */
  int kind;          /* and whether rows after it are of this kind as long as they are as calm and folded, too */
  int stays, calm;
  fixed_row *fixed;
  int64_t from;  /* the element that the loop begins with */
  int64_t again; /* the quad of it is written; -1: none is */
} fused_single;

/* Three of these, one after the other, keep what they meet here far from underflow: elements of calm rows are at least
 * 2^-102 (fused_fold.h), so are their powers up to the first, and the values of the functions. */
ACLPY_INLINE int single_is_moderate_(float factor) { return factor >= 0x1p-4f && factor <= 0x1p10f; }

ACLPY_INLINE int single_is_power_(const aclpy_post_step *step) {
  return aclpy_power_takes(step->beta) && __builtin_fabsf(step->beta) <= 1.0f;
}

/* A cheap operation that is common, so that it has a loop; any other is looked at for each quad. */
ACLPY_INLINE int single_easy_kind_(fused_single *s) {
  const int each = s->step.operand.each != NULL;
  const int sum = s->step.code == ACLPY_POST_FMA && s->step.alpha == 1.0f;
  if (sum && !each) {
    s->step.code = ACLPY_POST_LINEAR;
    s->step.beta = s->step.operand.value;
  }
  if (s->step.code == ACLPY_POST_LINEAR) return ACLPY_SINGLE_LINEAR;
  if (s->step.code == ACLPY_POST_MIN && !each) return ACLPY_SINGLE_MIN;
  if (s->step.code == ACLPY_POST_DIV && !each) return ACLPY_SINGLE_DIV;
  if (sum) return ACLPY_SINGLE_LED_ADD;
  return s->step.code == ACLPY_POST_MUL && each ? ACLPY_SINGLE_LED_MUL : ACLPY_SINGLE_EASY;
}

ACLPY_INLINE int single_step_kind_(fused_single *s, int moderate) {
  switch (s->step.code) {
    case ACLPY_POST_EXP:
      return ACLPY_SINGLE_EXP;
    case ACLPY_POST_TANH:
      return ACLPY_SINGLE_TANH;
    case ACLPY_POST_GELU_ERF:
      return ACLPY_SINGLE_GELU_ERF;
    case ACLPY_POST_LOG:
      return ACLPY_SINGLE_LOG;
    case ACLPY_POST_POW:
      return single_is_power_(&s->step) && moderate ? ACLPY_SINGLE_POW : ACLPY_SINGLE_MANY;
    default:
      return aclpy_post_is_easy(s->step.code) ? single_easy_kind_(s) : ACLPY_SINGLE_MANY;
  }
}

/* A factor before anything else goes into that of the row where it loses nothing there: it is a power of two, and no
 * element of a calm row comes near underflow. */
ACLPY_INLINE void single_lead_(fused_single *s, float *factor) {
  const int power = (aclpy_f32_bits(*factor) & 0x7fffffu) == 0 && *factor >= 0x1p-20f && *factor <= 0x1p20f;
  if (!power || !s->d->calm) return;
  s->factor = v32_mul(s->factor, v32_set1(*factor));
  s->lead = *factor;
  *factor = 1.0f;
}

/* Whether the step leaves what is far from underflow so, or makes 0 of it. */
ACLPY_INLINE int single_keeps_(const aclpy_post_step *step) {
  const float value = step->operand.each == NULL ? step->operand.value : 0.0f;
  if (step->code == ACLPY_POST_MIN) return value >= 0x1p-60f;
  if (step->code == ACLPY_POST_FMA) return value >= 0x1p-60f && value <= 0x1p60f;
  if (step->code == ACLPY_POST_POW) return single_is_moderate_(step->alpha);
  return !aclpy_post_is_easy(step->code);
}

/* Whether the step is the factor or divisor behind another one. */
ACLPY_INLINE int single_ends_(fused_single *s, const aclpy_post_step *step) {
  s->divides = step->code == ACLPY_POST_DIV && step->operand.each == NULL;
  if (!s->divides && !direct_is_factor_(step)) return 0;
  s->after = v32_set1(step->operand.value);
  s->last = s->divides ? 1.0 / (double)step->operand.value : (double)step->operand.value;
  return 1;
}

/* One step between two factors, each of which may be missing. */
ACLPY_INLINE int single_between_(fused_single *s) {
  const aclpy_post_step *step = s->d->now, *end = step + s->d->steps_now;
  s->first = 1.0f;
  s->last = 1.0;
  s->divides = 0;
  if (step + 1 < end && direct_is_factor_(step)) s->first = step++->operand.value;
  s->step = *step++;
  s->has_after = step < end && single_ends_(s, step);
  if (step + s->has_after < end) return ACLPY_SINGLE_MANY;
  const int moderate = single_is_moderate_(s->first) && single_is_moderate_((float)s->last);
  s->firm = moderate && single_keeps_(&s->step);
  const int kind = single_step_kind_(s, moderate);
  if (kind != ACLPY_SINGLE_MANY) single_lead_(s, &s->first);
  s->has_before = s->first != 1.0f;
  s->before = v32_set1(s->first);
  return kind;
}

/* The kind of a product or of a sum, whose product may come to nothing. A sum does not wait for the multipliers, which
 * the exponentials keep busy. */
ACLPY_INLINE int single_plain_(const aclpy_post_step *step) {
  const int each = step->operand.each != NULL;
  const int exact = step->code == ACLPY_POST_FMA && step->alpha == 1.0f;
  if (direct_is_factor_(step) && step->operand.value == 1.0f) return ACLPY_SINGLE_NONE;
  if (step->code == ACLPY_POST_MUL) return each ? ACLPY_SINGLE_MUL_EACH : ACLPY_SINGLE_MUL;
  if (exact) return each ? ACLPY_SINGLE_ADD_EACH : ACLPY_SINGLE_ADD;
  return ACLPY_SINGLE_NOT;
}

/* Few operations a vector, none of which takes long. */
ACLPY_INLINE int single_is_cheap_(int kind) { return kind <= ACLPY_SINGLE_LED_MUL && kind != ACLPY_SINGLE_DIV; }

/* Of operands that differ from row to row nothing is known. */
ACLPY_INLINE int single_has_row_(int kind) { return kind == ACLPY_SINGLE_MUL_EACH || kind == ACLPY_SINGLE_ADD_EACH; }

/* Bytes by sums, if the row can be done so. */
ACLPY_INLINE int single_fixed_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  const fixed_form *x = &d->fixed;
  const double factor = (double)(d->factor * d->fold.gain);
  if (!x->can || x->pause > 0 || !fixed_row_make_(f, x, factor, s->fixed)) return 0;
  if (x->row >= 0) s->step = d->now[x->row];
  if (x->terms != NULL) s->step.operand.each = x->terms;
  return 1;
}
ACLPY_INLINE int single_is_fixed_(int kind) {
  return kind >= ACLPY_SINGLE_FIXED && kind <= ACLPY_SINGLE_FIXED_GELU_ERF;
}

/* What is the same for every kind. */
ACLPY_INLINE void fused_single_row_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  s->d = d;
  s->e = d->e + d->at;
  s->y = d->y + d->at * f->to;
  s->n = direct_whole_quads_(f->g.n - d->at);
  s->streaming = f->streaming;
  s->lead = 1.0f;
}

/* The kind; of many steps without what is left to the loop. */
ACLPY_INLINE int single_kind_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  if (d->y == NULL || d->at >= ACLPY_DIRECT_QUAD) return ACLPY_SINGLE_NOT;
  fused_single_row_(f, d, s);
  s->far = d->n_far > 0;
  if (!d->folded) return d->fold.paired ? ACLPY_SINGLE_NOT : ACLPY_SINGLE_MANY;
  s->firm = d->fold.firm;
  s->factor = v32_set1(d->factor * d->fold.gain);
  if (d->steps_now == 0) return d->fold.tame ? ACLPY_SINGLE_NONE : ACLPY_SINGLE_MANY;
  if (single_fixed_(f, d, s)) return ACLPY_SINGLE_FIXED + d->fixed.shape;
  s->step = d->now[0];
  const int plain = single_plain_(&s->step);
  const int able = d->fold.tame || single_has_row_(plain);
  if (d->steps_now > 1 || plain == ACLPY_SINGLE_NOT || !able) return single_between_(s);
  if (plain == ACLPY_SINGLE_MUL) single_lead_(s, &s->step.operand.value);
  s->value = v32_set1(s->step.operand.value);
  return single_plain_(&s->step);
}

/* What is left behind a function, a factor or divisor, as a multiply-add where results are bytes. NaN becomes the least
 * there is, which is right for uint8 alone. */
ACLPY_INLINE int single_ends_fixed_(const aclpy_fused *f, fused_single *s) {
  fixed_form x;
  if (!v32_fixed_can() || !s->has_after || f->post.target != ACLPY_TYPE_UINT8 || !fixed_moderate_(s->last)) return 0;
  if (s->d->fixed.pause > 0) return 0;
  memset(&x, 0, sizeof x);
  x.shape = ACLPY_FIXED_DONE;
  x.slope = s->last;
  x.least = x.most = 1.0;
  /* Three roundings of what is at most 256 where it matters. */
  x.error = 3.01 * 0x1p-24 * 0x1p8;
  return fixed_row_make_(f, &x, 1.0, s->fixed);
}

/* Whether the step between factors may have a row. */
ACLPY_INLINE int single_may_row_(int kind) {
  return kind == ACLPY_SINGLE_EASY || kind == ACLPY_SINGLE_LED_ADD || kind == ACLPY_SINGLE_LED_MUL ||
         (kind >= ACLPY_SINGLE_FIXED_SUM && kind <= ACLPY_SINGLE_FIXED_PRODUCT);
}

/* Whether rows are of that kind whatever their numbers, if they are calm or not as this one. */
ACLPY_INLINE int single_stays_(const fused_direct *d, int kind) {
  const int usual = kind > ACLPY_SINGLE_NOT && kind <= ACLPY_SINGLE_LED_MUL && kind != ACLPY_SINGLE_MANY;
  return usual && d->folded && d->still && !d->fixed.can && !d->powers.can;
}

/* Which kind the row of d is, and what its quads need. Not inlined: for most launches once. */
ACLPY_APART int fused_single_make_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  int kind = single_kind_(f, d, s);
  const int rows = single_has_row_(kind) || single_may_row_(kind);
  s->each = rows ? s->step.operand.each : NULL;
  if (s->each != NULL) s->step.operand.each += d->at;
  s->kind = kind;
  s->stays = single_stays_(d, kind);
  s->calm = d->calm;
  if (kind == ACLPY_SINGLE_LOG) kind = ACLPY_SINGLE_MANY;
  if (kind >= ACLPY_SINGLE_EXP && kind <= ACLPY_SINGLE_GELU_ERF && single_ends_fixed_(f, s))
    return kind - ACLPY_SINGLE_EXP + ACLPY_SINGLE_FIXED_EXP;
  if (kind != ACLPY_SINGLE_MANY) return kind;
  s->has_after = d->steps_now > 1 && single_ends_(s, &d->now[d->steps_now - 1]);
  return kind;
}

/* Whether the row of d is of the kind of the row before, of which s is; then it becomes its own. */
ACLPY_INLINE int fused_single_stays_(const fused_direct *d, const fused_single *s) {
  return s->stays && s->calm == d->calm && d->folded && d->at < ACLPY_DIRECT_QUAD;
}
ACLPY_INLINE void fused_single_again_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  const float lead = s->lead;
  fused_single_row_(f, d, s);
  s->lead = lead;
  s->factor = v32_set1(d->factor * d->fold.gain * lead);
  if (s->each != NULL) s->step.operand.each = s->each + d->at;
}
/* The same as fused_single_make_, where s may be that of the row before, or of none (`stays` is 0). */
ACLPY_INLINE int fused_single_next_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  if (!fused_single_stays_(d, s)) return fused_single_make_(f, d, s);
  fused_single_again_(f, d, s);
  return s->kind;
}

/* MANY, once all but its end is done. */
ACLPY_INLINE int fused_single_done_(const aclpy_fused *f, fused_single *s) {
  return single_ends_fixed_(f, s) ? ACLPY_SINGLE_FIXED_DONE : ACLPY_SINGLE_MANY;
}

/* Whether results are 0, normal or infinite, those of calm rows, and whether none is a NaN. */
ACLPY_INLINE int single_firm_(const fused_single *s, int kind) { return kind != ACLPY_SINGLE_MANY && s->firm; }
ACLPY_INLINE int single_tame_(const fused_single *s, int kind) {
  const int known = kind < ACLPY_SINGLE_MANY && !single_has_row_(kind);
  return known || kind == ACLPY_SINGLE_POWERED || kind == ACLPY_SINGLE_LOGGED || (s->d->folded && s->d->fold.tame);
}

ACLPY_INLINE void single_times_(v32 *v, v32 factor) {
  for (int k = 0; k < 4; ++k) v[k] = v32_mul(v[k], factor);
}

/* The step's row from element i on, asked for ahead where it comes from memory. */
ACLPY_INLINE const float *single_row_(const fused_single *s, int64_t i) {
  const float *each = s->step.operand.each + i;
  if (s->far) direct_fetch_operand_(each, ACLPY_DIRECT_QUAD * (int64_t)sizeof(float), s->d->core);
  return each;
}

/* What is behind the step. */
ACLPY_INLINE void single_end_(const fused_single *s, v32 *v) {
  if (!s->has_after) return;
  if (s->divides) {
    for (int k = 0; k < 4; ++k) v[k] = v32_div(v[k], s->after);
  } else {
    single_times_(v, s->after);
  }
}

/* `calm`: elements are those of calm rows. */
ACLPY_INLINE void single_function_(const fused_single *s, v32 *v, int kind, int calm) {
  if (s->has_before) single_times_(v, s->before);
  if (kind == ACLPY_SINGLE_EXP) aclpy_function_as_(ACLPY_POST_EXP, v);
  if (kind == ACLPY_SINGLE_TANH) aclpy_function_as_(ACLPY_POST_TANH, v);
  if (kind == ACLPY_SINGLE_GELU_ERF) aclpy_function_as_(ACLPY_POST_GELU_ERF, v);
  if (kind == ACLPY_SINGLE_POW) aclpy_function_power_(&s->step, v, calm);
}

/* `code`: of the step, a constant where the kind has but one; `row`: the step may have a row, or (2) has one. */
ACLPY_INLINE void single_easy_(const fused_single *s, v32 *v, int64_t i, int64_t code, int row) {
  aclpy_post_step step = s->step;
  if (s->has_before) single_times_(v, s->before);
  if (row == 0) step.operand.each = NULL;
  if (row == 2 && step.operand.each == NULL) __builtin_unreachable();
  if (step.operand.each != NULL) single_row_(s, i);
  aclpy_easy_step_as_(code, &step, v, i, 4);
  single_end_(s, v);
}

/* The quad from element i on. */
ACLPY_INLINE void fused_single_apply_(const fused_single *s, v32 *v, int64_t i, int kind, int calm) {
  const float *each = single_has_row_(kind) ? single_row_(s, i) : NULL;
  if (kind == ACLPY_SINGLE_MUL) single_times_(v, s->value);
  for (int k = 0; k < 4; ++k) {
    if (kind == ACLPY_SINGLE_ADD) v[k] = v32_add(v[k], s->value);
    if (kind == ACLPY_SINGLE_MUL_EACH) v[k] = v32_mul(v[k], v32_load(each + k * v32_LANES));
    if (kind == ACLPY_SINGLE_ADD_EACH) v[k] = v32_add(v[k], v32_load(each + k * v32_LANES));
  }
  if (kind == ACLPY_SINGLE_MANY) single_end_(s, v);
  if (kind == ACLPY_SINGLE_EASY) single_easy_(s, v, i, s->step.code, 1);
  if (kind == ACLPY_SINGLE_MIN) single_easy_(s, v, i, ACLPY_POST_MIN, 0);
  if (kind == ACLPY_SINGLE_DIV) single_easy_(s, v, i, ACLPY_POST_DIV, 0);
  if (kind == ACLPY_SINGLE_LINEAR) single_easy_(s, v, i, ACLPY_POST_LINEAR, 0);
  if (kind == ACLPY_SINGLE_LED_ADD) single_easy_(s, v, i, ACLPY_POST_ADD, 2);
  if (kind == ACLPY_SINGLE_LED_MUL) single_easy_(s, v, i, ACLPY_POST_MUL, 2);
  if (kind >= ACLPY_SINGLE_EXP && kind <= ACLPY_SINGLE_POW) {
    single_function_(s, v, kind, calm);
    single_end_(s, v);
  }
}

/* Of kinds of bytes: the function before the end. */
ACLPY_INLINE int single_inner_(int kind) {
  return kind < ACLPY_SINGLE_FIXED_EXP ? ACLPY_SINGLE_NONE : kind - ACLPY_SINGLE_FIXED_EXP + ACLPY_SINGLE_EXP;
}

/* The quad of bytes from element i on; 0 where it is to be done in turn. */
ACLPY_INLINE int single_bytes_(const fused_single *s, const fixed_row *row, const float *e, unsigned char *y, int64_t i,
                               int kind) {
  const float *each = single_may_row_(kind) ? single_row_(s, i) : NULL;
  const int function = kind >= ACLPY_SINGLE_FIXED_EXP;
  v32 v[4], t[4];
  for (int k = 0; k < 4; ++k) v[k] = v32_load(e + i + k * v32_LANES);
  if (function) single_times_(v, s->factor);
  if (function) single_function_(s, v, single_inner_(kind), 0);
  fixed_sums_(row, v, each, t, function ? ACLPY_FIXED_DONE : kind - ACLPY_SINGLE_FIXED);
  return fixed_store_(row, t, y + i, s->streaming);
}

/* The quad of bytes from element i on, made as the operations in turn make it. */
ACLPY_APART void single_again_(const aclpy_fused *f, const fused_single *s, int64_t i, int kind) {
  const fused_direct *d = s->d;
  v32 v[4];
  for (int k = 0; k < 4; ++k) v[k] = v32_load(s->e + i + k * v32_LANES);
  if (kind >= ACLPY_SINGLE_FIXED_EXP) {
    single_times_(v, s->factor);
    single_function_(s, v, single_inner_(kind), 0);
    single_end_(s, v);
  } else if (kind == ACLPY_SINGLE_FIXED_DONE) {
    single_end_(s, v);
  } else {
    single_times_(v, v32_set1(d->factor * d->fold.gain));
    direct_steps_(d, v, s->e + i - d->e);
  }
  direct_store_(f->post.target, s->y + i, v, f->streaming, 0);
}

#endif
