/* SPDX-License-Identifier: Apache-2.0
 * Functions of four vectors in registers, with the values of eltwise.h: a power; elsewhere, where all arguments are
 * small, as probabilities are, a polynomial each, else by way of memory.
 */
#ifndef ACLPY_KERNELS_POST_OPS_FUNCTIONS_H
#define ACLPY_KERNELS_POST_OPS_FUNCTIONS_H

#include "eltwise.h"
#include "post_ops_easy.h"

ACLPY_APART void aclpy_function_any_(int64_t code, float *t) {
  const aclpy_eltwise none = {0.0f, 0.0f, 1.0f, 1.0f};
  switch (code) {
    case ACLPY_POST_EXP:
      eltwise_exp(t, 4 * v32_LANES, &none);
      break;
    case ACLPY_POST_TANH:
      eltwise_tanh(t, 4 * v32_LANES, &none);
      break;
    default:
      eltwise_gelu_erf(t, 4 * v32_LANES, &none);
      break;
  }
}

/* `normal`: see v32_power. */
ACLPY_INLINE void aclpy_function_power_(const aclpy_post_step *step, v32 *v, int normal) {
  v32_power(v, 4, step->beta, step->power, normal);
  if (step->alpha == 1.0f) return;
  const v32 alpha = v32_set1(step->alpha);
  for (int k = 0; k < 4; ++k) v[k] = v32_mul(alpha, v[k]);
}

/* Four vectors; an exponential, tanh or gelu_erf. */
ACLPY_INLINE void aclpy_function_as_(int64_t code, v32 *v) {
  const float limit = code == ACLPY_POST_EXP ? 0.34f : 1.0f;
  if (aclpy_beyond_(v, limit)) {
    _Alignas(64) float t[4 * v32_LANES];
    for (int k = 0; k < 4; ++k) v32_store(t + k * v32_LANES, v[k]);
    aclpy_function_any_(code, t);
    for (int k = 0; k < 4; ++k) v[k] = v32_load(t + k * v32_LANES);
    return;
  }
  if (code == ACLPY_POST_EXP) {
    v32_exps_near_(v, 4);
  } else if (code == ACLPY_POST_TANH) {
    for (int k = 0; k < 4; ++k) v[k] = v32_tanh_near_(v[k]);
  } else {
    v32 x[4] = {v[0], v[1], v[2], v[3]};
    v32_normals_near_(x, 4);
    for (int k = 0; k < 4; ++k) v[k] = v32_mul(x[k], v[k]);
  }
}

#endif
