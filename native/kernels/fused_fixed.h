/* SPDX-License-Identifier: Apache-2.0
 * Bytes of a softmax with a scale and a linear operation or two, without the division and the roundings in between
 * (simd/fixed_bytes.h): all of it is one multiply-add of the exponential. The bytes are those of the operations in
 * turn, for how far apart the two ways can be is known, and a quad in which that may decide is done in turn.
 *
 * In units of the result: x = slope * factor * e (* each) + share * each + rest, where e, an exponential of the row's,
 * is at most 1.
 */
#ifndef ACLPY_KERNELS_FUSED_FIXED_H
#define ACLPY_KERNELS_FUSED_FIXED_H

#include "../simd/fixed_bytes.h"
#include "fused_direct.h"

enum {
  ACLPY_FIXED_NEAR = 16,  /* the most last places that the two ways may be apart: one quad of 16 of an even spread */
  ACLPY_FIXED_TERM = 256, /* see fixed_terms_make_ */
  ACLPY_FIXED_PART = 8,   /* where more than an eighth of a row's quads go in turn, */
  ACLPY_FIXED_PAUSE = 32  /* so many rows do */
};

/* What a row is written with. */
typedef struct fixed_row {
  v32 slope, share, offset, near;
  int clamps; /* results may lie beyond what bytes hold */
  int is_signed;
} fixed_row;

/* What the step multiplies by, what it adds, how often it rounds; 0 where it is another one. */
typedef struct fixed_step {
  double by, more;
  int roundings;
} fixed_step;
ACLPY_INLINE int fixed_step_(const aclpy_post_step *step, int each, fixed_step *s) {
  const double value = each ? 0.0 : (double)step->operand.value;
  s->by = (double)step->alpha;
  s->more = 0.0;
  s->roundings = 1;
  switch (step->code) {
    case ACLPY_POST_MUL:
      s->by = each ? 1.0 : value;
      return 1;
    case ACLPY_POST_DIV:
      s->by = 1.0 / value;
      return !each;
    case ACLPY_POST_FMA:
      s->more = value;
      return 1;
    case ACLPY_POST_LINEAR:
      s->more = (double)step->beta;
      return 1;
    default:
      return 0;
  }
}

ACLPY_INLINE double fixed_size_(double x) { return __builtin_fabs(x); }
ACLPY_INLINE double fixed_smaller_(double a, double b) { return a < b ? a : b; }
ACLPY_INLINE double fixed_larger_(double a, double b) { return a > b ? a : b; }
ACLPY_INLINE int fixed_moderate_(double x) { return fixed_size_(x) >= 0x1p-60 && fixed_size_(x) <= 0x1p60; }

/* The least and largest of a row of numbers, which is no shorter than a quad. Every thread does this for every chunk of
 * rows, and compilers leave it scalar, for the sake of NaN. */
ACLPY_APART void fixed_range_(const float *row, int64_t n, double *low, double *high) {
  v32 least[4], most[4];
  for (int k = 0; k < 4; ++k) least[k] = most[k] = v32_load(row + k * v32_LANES);
  for (int64_t at = 0; at < n; at += ACLPY_DIRECT_QUAD) {
    const float *here = row + aclpy_min_i64(at, n - ACLPY_DIRECT_QUAD);
    for (int k = 0; k < 4; ++k) {
      const v32 v = v32_load(here + k * v32_LANES);
      least[k] = v32_smaller(v, least[k]);
      most[k] = v32_larger(v, most[k]);
    }
  }
  const v32 zero = v32_set1(0.0f), all = v32_smaller(v32_smaller(least[0], least[1]), v32_smaller(least[2], least[3]));
  *low = -(double)v32_hmax(v32_sub(zero, all));
  *high = (double)v32_hmax(v32_larger(v32_larger(most[0], most[1]), v32_larger(most[2], most[3])));
}

/* The row of values of step `row`: one that every row of the launch sees, or another for each. `after`: what later
 * steps multiply by. */
ACLPY_INLINE int fixed_take_row_(const aclpy_fused *f, fused_direct *d, int64_t row, double after) {
  fixed_form *x = &d->fixed;
  const int product = d->fold.step[row].code == ACLPY_POST_MUL, from = d->fold.from[row];
  x->shape = product ? ACLPY_FIXED_PRODUCT : from < 0 ? ACLPY_FIXED_SUM : ACLPY_FIXED_MOVED;
  if (!product) x->share = after;
  if (from >= 0) {
    /* A NaN becomes the least byte there is, which is right for uint8 alone. */
    return !product && d->moves[from] != NULL && d->moves[from]->dense && f->post.target == ACLPY_TYPE_UINT8;
  }
  if (!d->fold.tame) return 0;
  double low = 0.0, high = 0.0;
  fixed_range_(d->fold.step[row].operand.each, f->g.n, &low, &high);
  if (product) {
    x->least = low;
    x->most = high;
  } else {
    x->low = after > 0.0 ? after * low : after * high;
    x->high = after > 0.0 ? after * high : after * low;
  }
  return 1;
}

/* How far what is computed here may lie from what the operations in turn come to: so many roundings, each relative to
 * no more than the parts of x together. Of a row that is unknown what matters is what bytes can hold in the end. */
ACLPY_INLINE void fixed_errors_(fixed_form *x, int roundings, double added) {
  const double term = fixed_size_(x->slope) * fixed_larger_(fixed_size_(x->least), fixed_size_(x->most));
  const double offset = (double)ACLPY_FIXED_TOP + fixed_size_(x->rest);
  const int moved = x->shape == ACLPY_FIXED_MOVED, sum = moved || x->shape == ACLPY_FIXED_SUM;
  const double each = moved ? offset : fixed_larger_(fixed_size_(x->low), fixed_size_(x->high));
  /* In turn also e times the factor; here slope, share, the product with a row or the first of two sums, and one to
   * spare. The offset's own roundings: below. */
  const double all = (double)roundings + 5.0;
  /* The sum itself is below 512, half of its last place 2^-16. */
  const double sums = 0x1p8 + (x->rest != 0.0 ? offset : 0.0) + (sum ? offset : 0.0);
  x->error = 0x1p-24 * (all * (added + each) + sums) + 0x1p-40;
  x->error_term = 0x1p-24 * all * term * (moved ? 2.0 : 1.0);
}

ACLPY_INLINE double fixed_bias_(const aclpy_fused *f) { return f->post.target == ACLPY_TYPE_INT8 ? 128.0 : 0.0; }

/* Places enough for an error, a power of two; 0 where there are none. */
ACLPY_INLINE int fixed_places_(double error) {
  int places = 1;
  while (places <= ACLPY_FIXED_NEAR && error >= 0.99 * ACLPY_FIXED_PLACE * places) places *= 2;
  return places <= ACLPY_FIXED_NEAR ? places : 0;
}
ACLPY_INLINE float fixed_offset_(const aclpy_fused *f, const fixed_form *x, int places) {
  return (float)((double)ACLPY_FIXED_ZERO + fixed_bias_(f) + x->rest + ACLPY_FIXED_PLACE * places);
}

/* What a row that all rows see adds to each element: once, so for rows of exponentials that come to no more than
 * ACLPY_FIXED_TERM. */
ACLPY_INLINE void fixed_terms_make_(const aclpy_fused *f, fixed_form *x, const float *each, float *terms) {
  x->places = fixed_places_(x->error + x->error_term / fixed_size_(x->slope) * ACLPY_FIXED_TERM);
  x->can = x->can && x->places > 0;
  const v32 share = v32_set1((float)x->share), offset = v32_set1(fixed_offset_(f, x, x->places));
  /* All of them, for quads may end with the row: they begin with its first line. */
  for (int64_t i = 0; i < f->g.n; i += v32_LANES) {
    const v32 v = ldn_f32(each + i, aclpy_min_i64(v32_LANES, f->g.n - i), 0.0f);
    v32_store(terms + i, v32_fma(v, share, offset));
  }
  x->terms = terms;
}

/* What the launch's operations, those of ordinary rows, come to. `terms` has room for a row. */
ACLPY_APART void fused_fixed_make_(const aclpy_fused *f, fused_direct *d, float *terms) {
  fixed_form *x = &d->fixed;
  const int64_t steps = d->fold.steps, target = f->post.target;
  int64_t row = -1;
  int roundings = 0;
  double by = 1.0, added = 0.0;
  memset(x, 0, sizeof *x);
  if (!v32_fixed_can() || (target != ACLPY_TYPE_UINT8 && target != ACLPY_TYPE_INT8)) return;
  if ((f->flags & ACLPY_FUSED_LOG) || d->fold.limit <= 0.0f || steps == 0) return;
  x->least = x->most = 1.0;
  for (int64_t k = steps - 1; k >= 0; --k) {
    const aclpy_post_step *step = &d->fold.step[k];
    const int each = step->operand.each != NULL || d->fold.from[k] >= 0;
    fixed_step s;
    if (!fixed_step_(step, each, &s) || !fixed_moderate_(s.by * by)) return;
    if (each && (row >= 0 || !fixed_take_row_(f, d, k, by))) return;
    /* What comes before a product with a row is but the exponential. */
    if (row >= 0 && x->shape == ACLPY_FIXED_PRODUCT && (each ? 0.0 : s.more) != 0.0) return;
    if (each) row = k;
    x->rest += s.more * by;
    added += fixed_size_(s.more * by);
    roundings += s.roundings;
    by *= s.by;
  }
  x->row = row;
  x->slope = by;
  x->can = fixed_size_(x->rest) <= (double)ACLPY_FIXED_TOP && added <= 0x1p20;
  fixed_errors_(x, roundings, added);
  if (x->shape == ACLPY_FIXED_SUM) fixed_terms_make_(f, x, d->fold.step[row].operand.each, terms);
}

/* Whether the row whose factor is that can be written so. */
ACLPY_INLINE int fixed_row_make_(const aclpy_fused *f, const fixed_form *x, double factor, fixed_row *row) {
  const double slope = x->slope * factor, error = x->error + x->error_term * factor;
  const double a = slope * x->least, b = slope * x->most;
  const double low = x->rest + x->low + fixed_smaller_(0.0, fixed_smaller_(a, b));
  const double high = x->rest + x->high + fixed_larger_(0.0, fixed_larger_(a, b));
  const int is_signed = f->post.target == ACLPY_TYPE_INT8;
  const double bias = fixed_bias_(f);
  const int least = fixed_places_(error), places = x->places > 0 ? x->places : least;
  if (least == 0 || places < least) return 0;
  row->slope = v32_set1((float)slope);
  row->share = v32_set1((float)x->share);
  row->offset = v32_set1(fixed_offset_(f, x, places));
  row->near = v32_fixed_near((uint32_t)(ACLPY_FIXED_FRACTION & ~(2 * places - 1)));
  row->is_signed = is_signed;
  row->clamps = x->shape == ACLPY_FIXED_MOVED || low < -bias - 0.4 || high > 255.4 - bias;
  return 1;
}

/* What the bytes of four vectors of exponentials, or of results but for a factor, are read from. */
ACLPY_INLINE void fixed_sums_(const fixed_row *row, const v32 *v, const float *each, v32 *t, int shape) {
  for (int k = 0; k < 4; ++k) {
    if (shape == ACLPY_FIXED_SUM) {
      t[k] = v32_fma(v[k], row->slope, v32_load(each + k * v32_LANES));
    } else if (shape == ACLPY_FIXED_MOVED) {
      t[k] = v32_fma(v[k], row->slope, v32_fma(v32_load(each + k * v32_LANES), row->share, row->offset));
    } else if (shape == ACLPY_FIXED_PRODUCT) {
      t[k] = v32_fma(v32_mul(v[k], row->slope), v32_load(each + k * v32_LANES), row->offset);
    } else {
      t[k] = v32_fma(v[k], row->slope, row->offset);
    }
  }
  if (shape != ACLPY_FIXED_DONE && !row->clamps) return;
  for (int k = 0; k < 4; ++k) {
    t[k] = v32_smaller(v32_larger(t[k], v32_set1(ACLPY_FIXED_ZERO)), v32_set1(ACLPY_FIXED_TOP));
  }
}

/* Their bytes to y; 0 where they are to be done in turn. */
ACLPY_INLINE int fixed_store_(const fixed_row *row, const v32 *t, unsigned char *y, int streaming) {
  if (!ACLPY_LIKELY(v32_fixed_clear(t, row->near))) return 0;
  v32 bytes = v32_fixed_bytes(t);
  if (row->is_signed) bytes = v32_fixed_signed(bytes);
  if (streaming) nt_f32((float *)(void *)y, bytes);
  if (!streaming) memcpy(y, &bytes, sizeof bytes);
  return 1;
}

#endif
