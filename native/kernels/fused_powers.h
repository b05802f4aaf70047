/* SPDX-License-Identifier: Apache-2.0
 * A power of a softmax without its logarithm: (s e^(x - max) / sum)^y is e^(y (x - max)) times (s / sum)^y, one more
 * exponential an element and a power a row. And the logarithm of one without any but the row's: x - max + ln(s / sum).
 * For calm rows (simd/tops.h), whose probabilities are normal numbers, and exponents to 1, so that the powers are;
 * others take the operations in turn. Powers are within 4 ulp of the mathematics of the float32 differences x - max
 * (3.1 measured, and 3.8 of the operations in turn), logarithms within 2 ulp or 1.2e-7, times what is behind them, with
 * other last bits than the operations in turn. A logarithm of what scales make large could cancel: s is at most 4.
 * Where rows are as long as whole quads and lines of results, wherever these lie; elsewhere, and where an operand
 * differs from row to row, the operations are taken in turn.
 */
#ifndef ACLPY_KERNELS_FUSED_POWERS_H
#define ACLPY_KERNELS_FUSED_POWERS_H

#include "fused_single.h"

/* What the rows of a launch need where its operations come to a power between factors. */
ACLPY_INLINE void fused_powers_make_(aclpy_fused *f, fused_direct *d) {
  fused_single s;
  const int64_t target = f->post.target;
  d->powers.can = 0;
  if (!direct_lined_(f) || (f->flags & ACLPY_FUSED_LOG) || d->fold.limit <= 0.0f || d->fold.steps == 0) return;
  /* Factors are those of the launch. */
  for (int64_t k = 0; k < d->fold.steps; ++k) {
    if (d->fold.from[k] >= 0) return;
  }
  d->now = d->fold.step;
  d->steps_now = d->fold.steps;
  s.d = d;
  const int kind = single_between_(&s), logarithm = kind == ACLPY_SINGLE_LOG;
  if (!(logarithm || kind == ACLPY_SINGLE_POW) || !s.firm) return;
  const double y = (double)s.step.beta, times = y * 0x1.71547652b82fep+0;
  const double after = logarithm ? s.last : (double)s.step.alpha * s.last;
  const double before = (double)s.first * (double)d->fold.gain;
  /* Bytes: results are known to be small (bytes.h). Those of logarithms are, behind factors that `firm` allows. */
  const int bytes = target == ACLPY_TYPE_INT8 || target == ACLPY_TYPE_UINT8;
  if (bytes && !logarithm && (y < 0.0 || after > 0x1p19)) return;
  if (logarithm && before > 4.0) return;
  d->powers.can = 1;
  d->powers.logarithm = logarithm;
  d->powers.exponent = y;
  d->powers.high = (float)times;
  d->powers.low = (float)(times - (double)d->powers.high);
  d->powers.before = before;
  d->powers.after = after;
  /* The same bits wherever results lie: where lines are not whole, they go through the caches. */
  if (!direct_whole_(f)) f->streaming = d->seamed = 0;
}

/* What the row whose exponentials are powers is written with, as a kind of fused_single_rows.h. */
ACLPY_INLINE void fused_powered_(const aclpy_fused *f, const fused_direct *d, fused_single *s) {
  fused_single_row_(f, d, s);
  s->n = f->g.n; /* whole quads, written or not */
  s->factor = v32_set1(d->factor);
  s->value = v32_set1(d->sum);
  s->firm = 1;
}

ACLPY_INLINE int fused_powered_kind_(const fused_direct *d) {
  return d->powers.logarithm ? ACLPY_SINGLE_LOGGED : ACLPY_SINGLE_POWERED;
}

/* Whether the powers just made can stand: what sends a row another way is its own numbers alone. */
ACLPY_INLINE int fused_powers_hold_(const fused_direct *d, float factor) {
  return d->least >= -(float)ACLPY_CALM && factor <= d->fold.limit;
}

/* What the exponentials e^(y (x - max)) of a row of that sum are multiplied by; of a logarithm, what x - max is. */
ACLPY_INLINE float fused_powers_factor_(const direct_powers *p, double sum) {
  if (p->logarithm) return (float)p->after;
  return (float)(p->after * aclpy_exp_f64(p->exponent * aclpy_log_f64(p->before / sum)));
}
/* And what is added then. */
ACLPY_INLINE float fused_powers_sum_(const direct_powers *p, double sum) {
  return p->logarithm ? (float)(p->after * aclpy_log_f64(p->before / sum)) : 0.0f;
}

#endif
