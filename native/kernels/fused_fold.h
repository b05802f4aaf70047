/* SPDX-License-Identifier: Apache-2.0
 * What a softmax's operations come to on ordinary rows, with the same bits: fewer steps, or none.
 *
 * Where a row's factor is a number, its elements are 0 <= t = e * factor <= 2, and no NaN. So relu changes nothing, nor
 * does clip where its bounds are out of reach. A product with a power of two of at least 1 is exact, short of overflow,
 * which sizes exclude: it is carried along, into the next operand, into a multiply-add, which then rounds as the
 * addition alone would, or back into the addition before, for sums never lose bits to underflow. Into a product that is
 * rounded (the factor's, too) it goes only where the result's type, or what is added next, has no use for what
 * underflows.
 * Other rows take the operations as they were given.
 */
#ifndef ACLPY_KERNELS_FUSED_FOLD_H
#define ACLPY_KERNELS_FUSED_FOLD_H

#include "post_ops.h"

typedef struct fused_fold {
  aclpy_post_step step[ACLPY_EASY_STEPS];
  int from[ACLPY_EASY_STEPS]; /* the given step whose operand differs from row to row, or -1 */
  int64_t steps;
  float gain;  /* goes into the factor */
  float limit; /* for rows whose factor is at most this */
  int tame;    /* results are numbers below 2^30 */
  int firm;    /* those of calm rows (simd/calm.h) are 0 or normal numbers; nothing is known of most folds */
  int paired;  /* exponentials, and with them operands, lie in the order of ldx (simd/quads.h) */
} fused_fold;

/* A fold in the making: elements are what the vectors hold times `gain`. */
typedef struct fold_walk {
  fused_fold *fold;
  float *own;         /* room for a row of an operand */
  int taken;          /* it holds one */
  const float *there; /* the last one, taken where it lies */
  int64_t n;
  float gain;
  int known;           /* |t| <= slope * factor + above, and no NaN */
  int positive;        /* if known: no sign bit */
  double slope, above; /* roundings allowed for */
  int last;            /* the last step's operand may be scaled */
  int firm;            /* the first step keeps calm rows far from underflow */
  int beside;          /* what underflows vanishes in the first step, a sum */
} fold_walk;

ACLPY_INLINE int fold_sign_(float x) { return (int)(aclpy_f32_bits(x) >> 31); }
ACLPY_INLINE int fold_power_(float x) { return x >= 1.0f && x <= 0x1p30f && (aclpy_f32_bits(x) & 0x7fffffu) == 0; }
ACLPY_INLINE int fold_moderate_(float x) { return __builtin_fabsf(x) <= 0x1p60f; }

ACLPY_INLINE void fold_size_(fold_walk *w, double slope, double above) {
  w->slope = slope * 1.00001;
  w->above = above * 1.00001;
}
/* |t| of any row. */
ACLPY_INLINE double fold_most_(const fold_walk *w) { return 2.0 * w->slope + w->above; }
/* After a step: nothing is known where it may overflow. */
ACLPY_INLINE void fold_known_(fold_walk *w, int known) { w->known = known && fold_most_(w) <= 0x1p120; }

ACLPY_INLINE aclpy_post_step *fold_emit_(fold_walk *w, int64_t code, float alpha, float value, const float *each) {
  const aclpy_post_step step = {code, {each, value}, alpha, 0.0f, {0}};
  w->fold->from[w->fold->steps] = -1;
  w->fold->step[w->fold->steps] = step;
  w->gain = 1.0f;
  w->last = each == NULL || each == w->own || each == w->there;
  return &w->fold->step[w->fold->steps++];
}

/* Not inlined: every thread does this for every chunk of rows, and compilers make vectors of it only where nothing else
 * is around it. */
ACLPY_APART void fold_times_(float *row, int64_t n, float gain) {
  for (int64_t i = 0; i < n; ++i) row[i] *= gain;
}

/* A row of its own. */
ACLPY_INLINE void fold_own_(fold_walk *w, const float **each) {
  if (w->fold->paired) pairs_bf16(*each, w->own, w->n);
  if (!w->fold->paired) memcpy(w->own, *each, (size_t)w->n * sizeof **each);
  *each = w->own;
  w->taken = 1;
}

/* The last step's operand times the gain. */
ACLPY_INLINE void fold_back_(fold_walk *w, aclpy_post_step *last) {
  last->alpha *= w->gain;
  last->operand.value *= w->gain;
  if (last->operand.each != NULL && last->operand.each != w->own) fold_own_(w, &last->operand.each);
  if (last->operand.each != NULL) fold_times_(w->own, w->n, w->gain);
  w->gain = 1.0f;
}

/* Whether the first step, with such an operand, leaves calm rows 0 or normal: their elements are at least e^-60 / n,
 * about 2^-102 for the longest that are held. A sum is no smaller than the last place of the smaller term, and the
 * terms are of one size where it is much smaller than they are. `zeros`: an element is 0. */
ACLPY_INLINE void fold_first_(fold_walk *w, uint32_t least, int product, int zeros) {
  const uint32_t enough = product ? 0x35800000u : 0x21800000u; /* 2^-20, 2^-60 */
  if (w->fold->steps > 0) return;
  w->firm = least == 0 || least >= enough;
  w->beside = !product && !zeros && least >= enough;
}

/* The vectors hold t itself. `lossy`: underflow does not matter. */
ACLPY_INLINE void fold_flush_(fold_walk *w, int lossy) {
  if (w->gain == 1.0f) return;
  aclpy_post_step *last = &w->fold->step[w->fold->steps > 0 ? w->fold->steps - 1 : 0];
  const int able = w->last && w->known && fold_most_(w) <= 0x1p60;
  if (able && last->code == ACLPY_POST_FMA) {
    fold_back_(w, last);
  } else if (able && lossy && last->code == ACLPY_POST_MUL) {
    fold_back_(w, last);
  } else if (lossy && w->fold->steps == 0) {
    w->fold->gain = w->gain;
    w->gain = 1.0f;
  } else {
    fold_first_(w, aclpy_f32_bits(w->gain), 1, 0);
    fold_emit_(w, ACLPY_POST_MUL, 0.0f, w->gain, NULL); /* there is room: what makes a gain was a step */
  }
}

/* What there is to know of an operand's elements: bits of the largest and of the smallest that is not 0, whether one
 * has a sign, whether one is 0. */
typedef struct fold_operand {
  uint32_t size, least, signs;
  int zeros;
} fold_operand;
/* Not inlined: see fold_times_. */
ACLPY_APART fold_operand fold_look_(const float *row, int64_t n) {
  uint32_t size = 0, least = UINT32_MAX, most = 0, signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = aclpy_f32_bits(row[i]), here = bits & 0x7fffffffu, before = here - 1;
    size = here > size ? here : size;
    least = before < least ? before : least; /* of 0, the largest there is */
    most = before > most ? before : most;
    signs |= bits;
  }
  const fold_operand look = {size, least + 1, signs, most == UINT32_MAX};
  return look;
}

/* A sum or product with a row that all rows see, or with one value. */
ACLPY_INLINE void fold_operand_(fold_walk *w, const aclpy_post_step *given) {
  const int row = given->operand.each != NULL;
  const fold_operand look = fold_look_(row ? given->operand.each : &given->operand.value, row ? w->n : 1);
  const double size = (double)aclpy_f32_from_bits(look.size);
  const int product = given->code == ACLPY_POST_MUL, known = w->known && look.size <= 0x5d800000u; /* 2^60 */
  const float *each = given->operand.each;
  if (!known || (product && each != NULL && w->taken)) fold_flush_(w, 0);
  const float gain = w->gain;
  fold_first_(w, look.least, product, look.zeros);
  /* Of long rows every chunk would copy one; where it lies on lines of its own that gains nothing. */
  const int there = !w->fold->paired && !(product && gain != 1.0f) && (uintptr_t)each % 64 == 0;
  w->there = there && !w->taken ? each : NULL;
  if (each != NULL && !w->taken && !there) {
    fold_own_(w, &each);
    if (product && gain != 1.0f) fold_times_(w->own, w->n, gain);
  }
  if (product) {
    fold_size_(w, w->slope * size, w->above * size);
    fold_emit_(w, ACLPY_POST_MUL, 0.0f, given->operand.value * gain, each);
  } else {
    fold_size_(w, w->slope, w->above + size);
    fold_emit_(w, ACLPY_POST_FMA, gain, given->operand.value, each);
  }
  w->positive = w->positive && look.signs >> 31 == 0;
  fold_known_(w, known);
}

ACLPY_INLINE void fold_linear_(fold_walk *w, const aclpy_post_step *given) {
  const float a = given->alpha, b = given->beta;
  const double size = (double)__builtin_fabsf(a), more = (double)__builtin_fabsf(b);
  const int usual = fold_moderate_(a) && fold_moderate_(b);
  if (!w->known || !usual) fold_flush_(w, 0);
  if (w->known && fold_power_(a)) {
    fold_first_(w, aclpy_f32_bits(b) & 0x7fffffffu, 0, b == 0.0f);
    fold_emit_(w, ACLPY_POST_FMA, w->gain * a, b, NULL);
  } else {
    fold_emit_(w, ACLPY_POST_LINEAR, w->gain * a, 0.0f, NULL)->beta = b;
    w->last = 0;
  }
  fold_size_(w, w->slope * size, w->above * size + more);
  w->positive = w->positive && !fold_sign_(a) && !fold_sign_(b);
  fold_known_(w, w->known && usual);
}

/* Whether the elements are numbers without a sign and the step a clip from 0 or less on. */
ACLPY_INLINE int fold_caps_(const fold_walk *w, const aclpy_post_step *given) {
  const float a = given->alpha, b = given->beta;
  return w->known && w->positive && given->code == ACLPY_POST_CLIP && (a < 0.0f || aclpy_f32_bits(a) == 0) && b > 0.0f;
}

/* Whether the step can be left out of rows whose factor is at most the limit. Lower limits than the one here do not
 * pay: rows of a few large elements would be above them, and go the long way. */
static const double FOLD_LEAST_LIMIT_ = 0.25;
ACLPY_INLINE int fold_idle_(fold_walk *w, const aclpy_post_step *given) {
  const float a = given->alpha, b = given->beta;
  if (w->known && w->positive && given->code == ACLPY_POST_RELU) return !fold_sign_(a) && fold_moderate_(a);
  if (!fold_caps_(w, given) || !((double)b > w->above)) return 0;
  const double most = ((double)b - w->above) / w->slope * 0.999;
  if (w->slope > 0.0 && !(most >= FOLD_LEAST_LIMIT_)) return 0;
  if (w->slope > 0.0 && most < (double)w->fold->limit) w->fold->limit = (float)most;
  return 1;
}

/* A clip of which only the upper bound is within reach. */
ACLPY_INLINE void fold_cap_(fold_walk *w, const aclpy_post_step *given) {
  fold_flush_(w, 0);
  fold_emit_(w, ACLPY_POST_MIN, 0.0f, given->beta, NULL);
  fold_size_(w, 0.0, (double)given->beta);
}

/* Any other step, as it is. */
ACLPY_INLINE void fold_keep_(fold_walk *w, const aclpy_post_step *given, int from) {
  const float a = given->alpha, b = given->beta, s = given->operand.value;
  fold_flush_(w, 0);
  aclpy_post_step *kept = fold_emit_(w, given->code, 0.0f, 0.0f, NULL);
  *kept = *given;
  if (w->fold->paired && from < 0 && given->operand.each != NULL) { /* the only row there is (direct_paired_) */
    fold_own_(w, &kept->operand.each);
  }
  w->fold->from[w->fold->steps - 1] = from;
  w->last = 0;
  if (given->code == ACLPY_POST_DIV && from < 0 && given->operand.each == NULL && fold_moderate_(s) &&
      __builtin_fabsf(s) >= 0x1p-30f) {
    w->positive = w->positive && !fold_sign_(s);
    fold_size_(w, w->slope / (double)__builtin_fabsf(s), w->above / (double)__builtin_fabsf(s));
    fold_known_(w, w->known);
    return;
  }
  w->known = given->code == ACLPY_POST_CLIP && fold_moderate_(a) && fold_moderate_(b);
  w->positive = !fold_sign_(a) && !fold_sign_(b);
  fold_size_(w, 0.0, (double)__builtin_fabsf(a) + (double)__builtin_fabsf(b));
}

/* A sum with an operand that differs from row to row. */
ACLPY_INLINE void fold_moved_(fold_walk *w, int from) {
  if (!w->known) fold_flush_(w, 0);
  fold_emit_(w, ACLPY_POST_FMA, w->gain, 0.0f, NULL);
  w->fold->from[w->fold->steps - 1] = from;
  w->last = w->known = w->positive = 0;
}

/* A product before a sum that needs it no more: into the factor. t is subnormal where bits are lost, and its product
 * below the half of the last place of what is added. */
ACLPY_INLINE void fold_lead_(const fold_walk *w) {
  aclpy_post_step *first = &w->fold->step[0];
  if (w->fold->steps == 0 || first->code != ACLPY_POST_FMA || !w->beside || first->alpha > 0x1p20f) return;
  w->fold->gain = first->alpha;
  first->alpha = 1.0f;
}

/* The fold of the given steps; `moves`: the operand differs from row to row. Operands of several elements are rows that
 * all rows see where it is paired. `coarse`: results below 2^-60 count as 0. */
static __attribute__((unused)) void fused_fold_make_(fused_fold *fold, const aclpy_post_step *given,
                                                     const aclpy_post_operand *const *moves, int64_t steps, int64_t n,
                                                     float *own, int coarse) {
  fold_walk w = {fold, own, 0, NULL, n, 1.0f, 1, 1, 1.0001, 0.0, 0, 0, 0};
  fold->steps = 0;
  fold->gain = 1.0f;
  fold->limit = 2.0f;
  for (int64_t k = 0; k < steps; ++k) {
    const aclpy_post_step *g = &given[k];
    const int fixed = moves[k] == NULL, scale = fixed && g->code == ACLPY_POST_MUL && g->operand.each == NULL;
    const int power = scale && fold_power_(g->operand.value) && w.gain <= 0x1p30f;
    if (fold_idle_(&w, g)) continue;
    /* Where it may overflow it is no longer exact. */
    if (power && (!w.known || fold_most_(&w) * (double)g->operand.value <= 0x1p120)) {
      w.gain *= g->operand.value;
      fold_size_(&w, w.slope * (double)g->operand.value, w.above * (double)g->operand.value);
    } else if (fixed && (g->code == ACLPY_POST_ADD || g->code == ACLPY_POST_MUL)) {
      fold_operand_(&w, g);
    } else if (g->code == ACLPY_POST_LINEAR) {
      fold_linear_(&w, g);
    } else if (g->code == ACLPY_POST_ADD) {
      fold_moved_(&w, (int)k);
    } else if (fold_caps_(&w, g) && fold_moderate_(g->beta)) {
      fold_cap_(&w, g);
    } else {
      fold_keep_(&w, g, fixed ? -1 : (int)k);
    }
  }
  fold_flush_(&w, coarse);
  fold_lead_(&w);
  fold->tame = w.known && fold_most_(&w) <= 0x1p30;
  fold->firm = fold->tame && (fold->steps == 0 || (fold->steps == 1 && w.firm));
}

#endif
