/* SPDX-License-Identifier: Apache-2.0
 * What rows of fused_brief.h are written with: the operations, given and folded, whose rows of operands lie here with
 * room behind them, for short rows are worked on by whole vectors.
 */
#ifndef ACLPY_KERNELS_FUSED_BRIEF_STEPS_H
#define ACLPY_KERNELS_FUSED_BRIEF_STEPS_H

#include "../simd/across.h"
#include "fused_direct.h"

enum { ACLPY_BRIEF_ROOM = ACLPY_BRIEF_MOST + 1 };
_Static_assert(ACLPY_BRIEF_ROOM % (4 * v32_LANES) == 0, "whole quads and lines");

typedef struct brief_steps {
  _Alignas(64) float rows[2 * ACLPY_BRIEF_ROWS][ACLPY_BRIEF_ROOM];
  aclpy_post_step given[ACLPY_EASY_STEPS], fold[ACLPY_EASY_STEPS];
  int64_t n_given, n_fold;
  float gain, limit; /* of the fold */
} brief_steps;

ACLPY_INLINE int64_t brief_pitch_(int64_t n) { return aclpy_ceil_div(n, ACLPY_DIRECT_QUAD) * ACLPY_DIRECT_QUAD; }

ACLPY_APART void brief_steps_make_(brief_steps *s, const fused_direct *d, int64_t n) {
  int64_t used = 0;
  s->n_given = d->steps;
  s->n_fold = d->fold.steps;
  s->gain = d->fold.gain;
  s->limit = d->fold.limit;
  memcpy(s->given, d->step, (size_t)s->n_given * sizeof *s->given);
  memcpy(s->fold, d->fold.step, (size_t)s->n_fold * sizeof *s->fold);
  for (int64_t k = 0; k < s->n_given + s->n_fold; ++k) {
    aclpy_post_step *step = k < s->n_given ? &s->given[k] : &s->fold[k - s->n_given];
    if (step->operand.each == NULL) continue;
    memcpy(s->rows[used], step->operand.each, (size_t)n * sizeof(float));
    memset(s->rows[used] + n, 0, (size_t)(ACLPY_BRIEF_ROOM - n) * sizeof(float));
    step->operand.each = s->rows[used++];
  }
}

/* Results of a row to t, which has room for whole vectors; what waits for memory goes beside it. */
ACLPY_INLINE void brief_out_(const brief_steps *s, const float *e, float *t, int64_t n, float factor,
                             fused_drain *drain) {
  const int folded = factor <= s->limit;
  const aclpy_post_step *steps = folded ? s->fold : s->given;
  const int64_t n_steps = folded ? s->n_fold : s->n_given;
  const v32 by = v32_set1(folded ? factor * s->gain : factor);
  for (int64_t i = 0; i < n; i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    for (int k = 0; k < 4; ++k) v[k] = v32_mul(v32_load(e + i + k * v32_LANES), by);
    for (int64_t j = 0; j < n_steps; ++j) aclpy_easy_step_(&steps[j], v, i, 4);
    for (int k = 0; k < 4; ++k) v32_store(t + i + k * v32_LANES, v[k]);
    fused_drain_quad_(drain);
  }
}

#endif
