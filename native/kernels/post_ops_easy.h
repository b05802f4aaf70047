/* SPDX-License-Identifier: Apache-2.0
 * Several cheap operations in one pass: a few vectors are loaded, go through all of them, and are stored.
 *
 * Where a comparison has no answer, so a NaN: maximum, minimum and clip take the other operand, relu keeps it.
 */
#ifndef ACLPY_KERNELS_POST_OPS_EASY_H
#define ACLPY_KERNELS_POST_OPS_EASY_H

#include "../simd/isa.h"
#include "post_ops_codes.h"

/* What an operation sees of its operand: one value, or one for each element. */
typedef struct aclpy_post_view {
  const float *each; /* NULL: `value` */
  float value;
} aclpy_post_view;

typedef struct aclpy_post_step {
  int64_t code;
  aclpy_post_view operand;
  float alpha, beta;
  float power[3]; /* of a power: aclpy_power_make */
} aclpy_post_step;

enum { ACLPY_EASY_STEPS = 8, ACLPY_EASY_VECTORS = 8 };
/* Among the codes, for steps of our own making: t * alpha + operand, the product exact. */
enum { ACLPY_POST_FMA = ACLPY_POST_END };

ACLPY_INLINE int aclpy_post_is_easy(int64_t code) {
  switch (code) {
    case ACLPY_POST_ADD:
    case ACLPY_POST_MUL:
    case ACLPY_POST_FMA:
    case ACLPY_POST_MAX:
    case ACLPY_POST_MIN:
    case ACLPY_POST_DIV:
    case ACLPY_POST_SUB:
    case ACLPY_POST_CLIP:
    case ACLPY_POST_LINEAR:
    case ACLPY_POST_RELU:
    case ACLPY_POST_SQUARE:
      return 1;
    default:
      return 0;
  }
}

/* A division that is a multiplication. */
ACLPY_INLINE void aclpy_post_ease(aclpy_post_step *step) {
  if (step->code != ACLPY_POST_DIV || step->operand.each != NULL || !aclpy_f32_inverts(step->operand.value)) return;
  step->code = ACLPY_POST_MUL;
  step->operand.value = 1.0f / step->operand.value;
}

ACLPY_INLINE v32 aclpy_easy_clip_(v32 t, v32 low, v32 high) { return v32_smaller(high, v32_larger(t, low)); }

/* `count` vectors from t[i] on through one step, of that code. */
#define ACLPY_EASY_EACH_(expression)    \
  for (int64_t k = 0; k < count; ++k) { \
    const v32 t = v[k];                 \
    v[k] = (expression);                \
  }                                     \
  break
#define ACLPY_EASY_OPERAND_(expression)                                         \
  if (step->operand.each == NULL) {                                             \
    const v32 s = v32_set1(step->operand.value);                                \
    for (int64_t k = 0; k < count; ++k) {                                       \
      const v32 t = v[k];                                                       \
      v[k] = (expression);                                                      \
    }                                                                           \
  } else {                                                                      \
    for (int64_t k = 0; k < count; ++k) {                                       \
      const v32 t = v[k], s = v32_load(step->operand.each + i + k * v32_LANES); \
      v[k] = (expression);                                                      \
    }                                                                           \
  }                                                                             \
  break
ACLPY_INLINE void aclpy_easy_step_as_(int64_t code, const aclpy_post_step *step, v32 *v, int64_t i, int64_t count) {
  const v32 alpha = v32_set1(step->alpha), beta = v32_set1(step->beta);
  switch (code) {
    case ACLPY_POST_ADD:
      ACLPY_EASY_OPERAND_(v32_add(t, s));
    case ACLPY_POST_MUL:
      ACLPY_EASY_OPERAND_(v32_mul(t, s));
    case ACLPY_POST_FMA:
      ACLPY_EASY_OPERAND_(v32_fma(t, alpha, s));
    case ACLPY_POST_MAX:
      ACLPY_EASY_OPERAND_(v32_larger(t, s));
    case ACLPY_POST_MIN:
      ACLPY_EASY_OPERAND_(v32_smaller(t, s));
    case ACLPY_POST_DIV:
      ACLPY_EASY_OPERAND_(v32_div(t, s));
    case ACLPY_POST_SUB:
      ACLPY_EASY_OPERAND_(v32_sub(t, s));
    case ACLPY_POST_CLIP:
      ACLPY_EASY_EACH_(aclpy_easy_clip_(t, alpha, beta));
    case ACLPY_POST_LINEAR:
      ACLPY_EASY_EACH_(v32_fma(alpha, t, beta));
    case ACLPY_POST_RELU:
      ACLPY_EASY_EACH_(v32_pick_greater(t, v32_set1(0.0f), t, v32_mul(alpha, t)));
    case ACLPY_POST_SQUARE:
      ACLPY_EASY_EACH_(v32_mul(t, t));
    default:
      break;
  }
}
#undef ACLPY_EASY_EACH_
#undef ACLPY_EASY_OPERAND_
ACLPY_INLINE void aclpy_easy_step_(const aclpy_post_step *step, v32 *v, int64_t i, int64_t count) {
  aclpy_easy_step_as_(step->code, step, v, i, count);
}

/* All steps on t[0..n), n a multiple of 16; operands are as long. */
ACLPY_INLINE void aclpy_post_easy(const aclpy_post_step *steps, int64_t n_steps, float *t, int64_t n) {
  int64_t i = 0;
  for (; i + ACLPY_EASY_VECTORS * v32_LANES <= n; i += ACLPY_EASY_VECTORS * v32_LANES) {
    v32 v[ACLPY_EASY_VECTORS];
    for (int k = 0; k < ACLPY_EASY_VECTORS; ++k) v[k] = v32_load(t + i + k * v32_LANES);
    for (int64_t s = 0; s < n_steps; ++s) aclpy_easy_step_(&steps[s], v, i, ACLPY_EASY_VECTORS);
    for (int k = 0; k < ACLPY_EASY_VECTORS; ++k) v32_store(t + i + k * v32_LANES, v[k]);
  }
  for (; i < n; i += v32_LANES) {
    v32 v = v32_load(t + i);
    for (int64_t s = 0; s < n_steps; ++s) aclpy_easy_step_(&steps[s], &v, i, 1);
    v32_store(t + i, v);
  }
}

#endif
