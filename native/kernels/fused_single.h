/* SPDX-License-Identifier: Apache-2.0
 * What fused_single_rows.h does to the elements of a row, by kinds that have a loop each: most folds come to nothing,
 * to one sum, product or multiply-add, with a value or with a row of them, or to a function between products with a
 * value.
 */
#ifndef ACLPY_KERNELS_FUSED_SINGLE_H
#define ACLPY_KERNELS_FUSED_SINGLE_H

#include "fused_direct.h"

enum {
  ACLPY_SINGLE_NOT = 0, /* another loop */
  ACLPY_SINGLE_NONE,
  ACLPY_SINGLE_FMA_EACH,
  ACLPY_SINGLE_MUL,
  ACLPY_SINGLE_MUL_EACH,
  ACLPY_SINGLE_ADD,
  ACLPY_SINGLE_ADD_EACH,
  ACLPY_SINGLE_MANY, /* any operations */
  ACLPY_SINGLE_CAP,  /* the smaller of it and a value; from here on between factors */
  ACLPY_SINGLE_EXP,
  ACLPY_SINGLE_TANH,
  ACLPY_SINGLE_GELU_ERF,
  ACLPY_SINGLE_POW,
  ACLPY_SINGLE_POWERED, /* nothing, for the exponentials are powers, this row's and the next one's (fused_powers.h) */
  ACLPY_SINGLE_POWERS   /* only the next one's, no row to be written */
};

/* A row whose sum is known, to be written. */
typedef struct fused_single {
  const fused_direct *d;
  aclpy_post_step step;      /* the only one, or the function */
  v32 factor, alpha, value;  /* of the row; of the step */
  float first, last;         /* factors before and behind a function */
  v32 before, after;         /* the same */
  int has_before, has_after; /* they are not 1 */
  int streaming;
  int ahead; /* the step's row of values is asked for a little ahead */
  int far;   /* the step's row of values lies beyond the caches */
  int firm;  /* results are 0 or normal numbers where the row is calm */
} fused_single;

ACLPY_INLINE int single_is_factor_(const aclpy_post_step *step) {
  return step->code == ACLPY_POST_MUL && step->operand.each == NULL;
}

/* Three of these, one after the other, keep what they meet here far from underflow: elements of calm rows are at least
 * 2^-102 (fused_fold.h), so are their powers up to the first, and the values of the functions. */
ACLPY_INLINE int single_is_moderate_(float factor) { return factor >= 0x1p-4f && factor <= 0x1p10f; }

ACLPY_INLINE int single_function_kind_(const fused_single *s, int moderate) {
  switch (s->step.code) {
    case ACLPY_POST_EXP:
      return ACLPY_SINGLE_EXP;
    case ACLPY_POST_TANH:
      return ACLPY_SINGLE_TANH;
    case ACLPY_POST_GELU_ERF:
      return ACLPY_SINGLE_GELU_ERF;
    case ACLPY_POST_POW:
      return moderate && __builtin_fabsf(s->step.beta) <= 1.0f ? ACLPY_SINGLE_POW : ACLPY_SINGLE_MANY;
    case ACLPY_POST_MIN:
      return s->d->fold.tame && s->step.operand.each == NULL ? ACLPY_SINGLE_CAP : ACLPY_SINGLE_MANY;
    default:
      return ACLPY_SINGLE_MANY;
  }
}

/* A factor before anything else goes into that of the row where it loses nothing there: it is a power of two, and no
 * element of a calm row comes near underflow. */
ACLPY_INLINE void single_lead_(fused_single *s, float *factor) {
  const int power = (aclpy_f32_bits(*factor) & 0x7fffffu) == 0 && *factor >= 0x1p-20f && *factor <= 0x1p20f;
  if (!power || !s->d->calm) return;
  s->factor = v32_mul(s->factor, v32_set1(*factor));
  *factor = 1.0f;
}

/* One step between two factors, each of which may be missing. */
ACLPY_INLINE int single_between_(fused_single *s) {
  const aclpy_post_step *step = s->d->now, *end = step + s->d->steps_now;
  s->first = s->last = 1.0f;
  s->has_before = single_is_factor_(step);
  if (s->has_before) s->first = step++->operand.value;
  if (step == end) return ACLPY_SINGLE_MANY;
  s->step = *step++;
  s->has_after = step < end && single_is_factor_(step);
  if (s->has_after) s->last = step++->operand.value;
  if (step < end) return ACLPY_SINGLE_MANY;
  s->after = v32_set1(s->last);
  s->value = v32_set1(s->step.operand.value);
  const int moderate = single_is_moderate_(s->first) && single_is_moderate_(s->last);
  const int power = s->step.code != ACLPY_POST_POW || single_is_moderate_(s->step.alpha);
  s->firm = moderate && power && (s->step.code != ACLPY_POST_MIN || s->step.operand.value >= 0x1p-60f);
  const int kind = single_function_kind_(s, moderate);
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
  if (single_is_factor_(step) && step->operand.value == 1.0f) return ACLPY_SINGLE_NONE;
  if (step->code == ACLPY_POST_MUL) return each ? ACLPY_SINGLE_MUL_EACH : ACLPY_SINGLE_MUL;
  if (exact) return each ? ACLPY_SINGLE_ADD_EACH : ACLPY_SINGLE_ADD;
  /* With one value that is 0 or tiny: too rare for a loop. */
  if (step->code == ACLPY_POST_FMA) return each ? ACLPY_SINGLE_FMA_EACH : ACLPY_SINGLE_MANY;
  return ACLPY_SINGLE_NOT;
}

/* Whether the kind may have operands of which nothing is known. */
ACLPY_INLINE int single_moves_(int kind) { return kind == ACLPY_SINGLE_FMA_EACH || kind == ACLPY_SINGLE_ADD_EACH; }

/* Which kind the row of d is, and what its quads need. Not inlined: once a row. */
static __attribute__((unused, noinline)) int fused_single_make_(const aclpy_fused *f, const fused_direct *d,
                                                                fused_single *s) {
  if (d->y == NULL || d->at != 0 || !d->folded) return ACLPY_SINGLE_NOT;
  s->d = d;
  s->streaming = f->streaming;
  s->far = d->n_far > 0;
  s->ahead = d->core != ACLPY_CORE_ZEN_3;
  s->firm = d->fold.firm;
  s->factor = v32_set1(d->factor * d->fold.gain);
  if (d->steps_now == 0) return d->fold.tame ? ACLPY_SINGLE_NONE : ACLPY_SINGLE_MANY;
  s->step = d->now[0];
  const int plain = single_plain_(&s->step);
  if (d->steps_now > 1 || plain == ACLPY_SINGLE_NOT) return single_between_(s);
  if (!d->fold.tame && !single_moves_(plain)) return ACLPY_SINGLE_MANY;
  if (plain == ACLPY_SINGLE_MUL) single_lead_(s, &s->step.operand.value);
  if (s->step.code == ACLPY_POST_FMA) single_lead_(s, &s->step.alpha);
  s->alpha = v32_set1(s->step.alpha);
  s->value = v32_set1(s->step.operand.value);
  return single_plain_(&s->step);
}

ACLPY_INLINE int single_has_row_(int kind) {
  return kind == ACLPY_SINGLE_FMA_EACH || kind == ACLPY_SINGLE_MUL_EACH || kind == ACLPY_SINGLE_ADD_EACH;
}

/* Whether results are 0 or normal numbers, those of calm rows, and whether none is a NaN. */
ACLPY_INLINE int single_firm_(const fused_single *s, int kind) { return kind != ACLPY_SINGLE_MANY && s->firm; }
ACLPY_INLINE int single_tame_(const fused_single *s, int kind) {
  const int known = kind < ACLPY_SINGLE_MANY && !single_moves_(kind);
  return known || kind == ACLPY_SINGLE_POWERED || s->d->fold.tame;
}

ACLPY_INLINE void single_times_(v32 *v, v32 factor) {
  for (int k = 0; k < 4; ++k) v[k] = v32_mul(v[k], factor);
}

/* A row's lines are asked for two quads ahead: with two rows of x and one of exponentials, it is more than the
 * first-level cache holds. Zen 4 is faster by 2 to 4 % without. */
enum { ACLPY_DIRECT_AHEAD = 2 * ACLPY_DIRECT_QUAD };
ACLPY_INLINE void single_row_(const fused_single *s, v32 *v, int64_t i, int kind) {
  const float *each = s->step.operand.each + i;
  for (uintptr_t at = 0; at < ACLPY_DIRECT_QUAD * sizeof(float) && s->ahead; at += 64) {
    ACLPY_PREFETCH_NEAR((uintptr_t)each + ACLPY_DIRECT_AHEAD * sizeof(float) + at);
  }
  if (s->far) direct_fetch_operand_(each, ACLPY_DIRECT_QUAD * (int64_t)sizeof(float), s->d->core);
  for (int k = 0; k < 4; ++k) {
    const v32 value = v32_load(each + k * v32_LANES);
    if (kind == ACLPY_SINGLE_FMA_EACH) v[k] = v32_fma(v[k], s->alpha, value);
    if (kind == ACLPY_SINGLE_MUL_EACH) v[k] = v32_mul(v[k], value);
    if (kind == ACLPY_SINGLE_ADD_EACH) v[k] = v32_add(v[k], value);
  }
}

/* `calm`: elements are those of calm rows. */
ACLPY_INLINE void single_function_(const fused_single *s, v32 *v, int kind, int calm) {
  if (s->has_before) single_times_(v, s->before);
  if (kind == ACLPY_SINGLE_EXP) aclpy_function_as_(ACLPY_POST_EXP, &s->step, v);
  if (kind == ACLPY_SINGLE_TANH) aclpy_function_as_(ACLPY_POST_TANH, &s->step, v);
  if (kind == ACLPY_SINGLE_GELU_ERF) aclpy_function_as_(ACLPY_POST_GELU_ERF, &s->step, v);
  if (kind == ACLPY_SINGLE_POW) aclpy_function_power_(&s->step, v, calm);
  for (int k = 0; k < 4 && kind == ACLPY_SINGLE_CAP; ++k) v[k] = v32_min(v[k], s->value);
  if (s->has_after) single_times_(v, s->after);
}

/* The quad from element i on. */
ACLPY_INLINE void fused_single_apply_(const fused_single *s, v32 *v, int64_t i, int kind, int calm) {
  if (kind == ACLPY_SINGLE_MUL) single_times_(v, s->value);
  for (int k = 0; k < 4 && kind == ACLPY_SINGLE_ADD; ++k) v[k] = v32_add(v[k], s->value);
  if (single_has_row_(kind)) single_row_(s, v, i, kind);
  if (kind == ACLPY_SINGLE_MANY) direct_steps_(s->d, v, i, 1);
  if (kind >= ACLPY_SINGLE_CAP && kind <= ACLPY_SINGLE_POW) single_function_(s, v, kind, calm);
}

#endif
