/* SPDX-License-Identifier: Apache-2.0
 * What the rows of fused_direct_rows.h are written with: cheap operations in registers, between the scaling and the
 * store, as the plain kernel applies its factor. The values are those of fused_rows.h, bit for bit, but for powers and
 * logarithms (fused_powers.h).
 */
#ifndef ACLPY_KERNELS_FUSED_DIRECT_H
#define ACLPY_KERNELS_FUSED_DIRECT_H

#include "fused_direct_edge.h"

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

/* What the row takes: the given steps or their fold. */
ACLPY_APART void direct_take_(const aclpy_fused *f, fused_direct *d, int folded) {
  d->folded = folded;
  d->n_far = 0;
  for (int64_t k = 0; k < d->steps; ++k) {
    if (d->moves[k] == NULL) continue;
    direct_operand_(f, &d->step[k], d->moves[k], d->index);
    if (f->streaming && d->moves[k]->dense) d->far[d->n_far++] = d->step[k].operand.each;
  }
  d->now = folded ? d->fold.step : d->step;
  d->steps_now = folded ? d->fold.steps : d->steps;
  for (int64_t k = 0; k < d->steps_now && folded; ++k) {
    if (d->fold.from[k] >= 0) d->fold.step[k].operand = d->step[d->fold.from[k]].operand;
  }
  d->touched = direct_touched_(f, d);
}

/* The row after: its operands, and what lies before its first whole line. */
ACLPY_APART void direct_next_(const aclpy_fused *f, fused_direct *d, int64_t row, float *e, const unsigned char *x,
                              float shift, float factor, int calm) {
  /* Of a logarithm the factor is that of the sum, and there is no fold. */
  const int folded = (f->flags & ACLPY_FUSED_LOG) == 0 && factor <= d->fold.limit;
  const int same = d->y != NULL && d->still && folded == d->folded;
  d->calm = calm;
  d->finished = 0;
  d->e = e;
  d->x = x;
  d->index = row * f->g.n;
  d->y = f->y + d->index * f->to;
  d->at = 0;
  d->shift = shift;
  d->factor = factor;
  if (!same) direct_take_(f, d, folded);
  const int64_t head = (int64_t)(-(uintptr_t)d->y & 63u) >> __builtin_ctzll((unsigned long long)f->to);
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
