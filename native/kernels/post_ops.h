/* SPDX-License-Identifier: Apache-2.0
 * A list of operations applied to runs of floats, element by element, with broadcast operands; then one store.
 *
 * In parameters: source type, destination type, dimensions, operands, operations (counts), then
 *   each dimension's size (row-major, neighbours merged where every operand treats them alike),
 *   each operand: type + 2^16 * bits, bit d set where it has size 1 along dimension d,
 *   each operation: code + 2^8 * its first operand, then alpha + 2^32 * beta (bits of floats).
 */
#ifndef ACLPY_KERNELS_POST_OPS_H
#define ACLPY_KERNELS_POST_OPS_H

#include "eltwise.h"
#include "element_types.h"
#include "kernel.h"
#include "post_ops_easy.h"

typedef struct aclpy_post_operand {
  const unsigned char *base;
  int64_t type, bytes;
  int64_t stride[ACLPY_POST_DIMS]; /* elements; 0: broadcast */
  int64_t segment;                 /* elements of the innermost dimensions over which it is constant or dense */
  int dense;                       /* within a segment */
  int whole;                       /* one segment is all there is: a scalar, or a tensor of the full shape */
  float value;                     /* of a scalar */
} aclpy_post_operand;

typedef struct aclpy_post {
  int64_t source, target;
  int64_t n_dims, n_operands, n_ops;
  const int64_t *dims, *ops;
  aclpy_post_operand operand[ACLPY_POST_OPERANDS];
} aclpy_post;

enum { ACLPY_POST_HEAD = 5 };

ACLPY_INLINE int64_t aclpy_post_operands_of(int64_t code) {
  if (code < ACLPY_POST_SELECT) return 1;
  return code <= ACLPY_POST_DROPOUT ? 2 : 0;
}

static inline __attribute__((unused)) void aclpy_post_bind_(aclpy_post *post, int64_t index, int64_t word,
                                                            const unsigned char *base) {
  aclpy_post_operand *o = &post->operand[index];
  o->base = base;
  o->type = word & 0xffff;
  o->bytes = aclpy_type_bytes(o->type);
  int64_t stride = 1;
  for (int64_t d = post->n_dims - 1; d >= 0; --d) {
    const int wide = ((uint64_t)word >> (16 + d) & 1u) == 0;
    o->stride[d] = wide ? stride : 0;
    if (wide) stride *= post->dims[d];
  }
  const int64_t last = post->n_dims - 1;
  o->dense = post->n_dims > 0 && o->stride[last] != 0;
  o->segment = 1;
  int64_t d = last;
  for (; d >= 0 && (o->stride[d] != 0) == o->dense; --d) o->segment *= post->dims[d];
  o->whole = d < 0;
  o->value = 0.0f;
  if (o->whole && !o->dense && base != NULL) aclpy_load_run(o->type, base, &o->value, 1);
}

/* Reads the program; `addr` are the operands' addresses (NULL: for checking only). Returns the words it took, or -1
 * where it makes no sense; `words` is how many there are, or -1 where that was checked before. */
static inline __attribute__((unused)) int64_t aclpy_post_make(aclpy_post *post, const int64_t *p, int64_t words,
                                                              unsigned char *const *addr) {
  if (words >= 0 && words < ACLPY_POST_HEAD) return -1;
  post->source = p[0];
  post->target = p[1];
  post->n_dims = p[2];
  post->n_operands = p[3];
  post->n_ops = p[4];
  if (aclpy_type_bytes(post->source) == 0 || aclpy_type_bytes(post->target) == 0) return -1;
  if (post->n_dims < 0 || post->n_dims > ACLPY_POST_DIMS || post->n_operands < 0 ||
      post->n_operands > ACLPY_POST_OPERANDS || post->n_ops < 0 || post->n_ops > ACLPY_POST_MOST) {
    return -1;
  }
  const int64_t taken = ACLPY_POST_HEAD + post->n_dims + post->n_operands + ACLPY_POST_WORDS * post->n_ops;
  if (words >= 0 && words < taken) return -1;
  post->dims = p + ACLPY_POST_HEAD;
  post->ops = post->dims + post->n_dims + post->n_operands;
  for (int64_t i = 0; i < post->n_operands; ++i) {
    const int64_t word = post->dims[post->n_dims + i];
    if (word < 0 || aclpy_type_bytes(word & 0xffff) == 0) return -1;
    aclpy_post_bind_(post, i, word, addr == NULL ? NULL : addr[i]);
  }
  for (int64_t i = 0; i < post->n_ops; ++i) {
    const int64_t code = post->ops[2 * i] & 0xff, first = post->ops[2 * i] >> 8;
    if (post->ops[2 * i] < 0 || code >= ACLPY_POST_END) return -1;
    const int64_t needed = aclpy_post_operands_of(code);
    if (needed > 0 && first + needed > post->n_operands) return -1;
  }
  return taken;
}

/* What an operand takes in memory. */
ACLPY_INLINE int64_t aclpy_post_operand_bytes(const aclpy_post *post, int64_t which) {
  const aclpy_post_operand *o = &post->operand[which];
  int64_t bytes = o->bytes;
  for (int64_t d = 0; d < post->n_dims; ++d) bytes *= o->stride[d] != 0 ? post->dims[d] : 1;
  return bytes;
}

/* Where an operand's segment with element `index` of the whole begins. */
ACLPY_INLINE int64_t aclpy_post_offset_(const aclpy_post *post, const aclpy_post_operand *o, int64_t index) {
  int64_t offset = 0;
  for (int64_t d = post->n_dims - 1; d >= 0; --d) {
    offset += index % post->dims[d] * o->stride[d];
    index /= post->dims[d];
  }
  return offset;
}

/* Elements [index, index + n) of an operand. `stage` holds ACLPY_RUN floats, or is NULL where the operand is one value.
 */
ACLPY_APART aclpy_post_view aclpy_post_operand_run(const aclpy_post *post, int64_t which, int64_t index, int64_t n,
                                                   float *stage) {
  const aclpy_post_operand *o = &post->operand[which];
  aclpy_post_view view = {stage, o->value};
  if (o->whole && !o->dense) {
    view.each = NULL;
    return view;
  }
  for (int64_t done = 0; done < n;) {
    const int64_t at = index + done;
    const int64_t here = o->whole ? n : aclpy_min_i64(n - done, o->segment - at % o->segment);
    const int64_t offset = o->whole ? at : aclpy_post_offset_(post, o, at);
    const unsigned char *from = o->base + offset * o->bytes;
    if (o->dense && here == n && o->type == ACLPY_TYPE_FLOAT && n % 16 == 0) {
      view.each = (const float *)(const void *)from;
      return view;
    }
    if (o->dense) {
      aclpy_load_run(o->type, from, stage + done, here);
    } else {
      aclpy_load_run(o->type, from, &view.value, 1);
      if (here == n) {
        view.each = NULL;
        return view;
      }
      for (int64_t i = 0; i < here; ++i) stage[done + i] = view.value;
    }
    done += here;
  }
  for (int64_t i = n; i < (n + 15) / 16 * 16; ++i) stage[i] = 1.0f;
  return view;
}

#define ACLPY_BINARY_(name, expression)                                               \
  ACLPY_INLINE void post_##name##_(float *restrict t, aclpy_post_view v, int64_t n) { \
    if (v.each == NULL) {                                                             \
      const float s = v.value;                                                        \
      for (int64_t i = 0; i < n; ++i) t[i] = (expression);                            \
    } else {                                                                          \
      const float *restrict each = v.each;                                            \
      for (int64_t i = 0; i < n; ++i) {                                               \
        const float s = each[i];                                                      \
        t[i] = (expression);                                                          \
      }                                                                               \
    }                                                                                 \
  }
ACLPY_BINARY_(ge, t[i] >= s ? 1.0f : 0.0f)
ACLPY_BINARY_(gt, t[i] > s ? 1.0f : 0.0f)
ACLPY_BINARY_(le, t[i] <= s ? 1.0f : 0.0f)
ACLPY_BINARY_(lt, t[i] < s ? 1.0f : 0.0f)
ACLPY_BINARY_(eq, t[i] == s ? 1.0f : 0.0f)
ACLPY_BINARY_(ne, t[i] != s ? 1.0f : 0.0f)
#undef ACLPY_BINARY_

/* t where the condition holds, else the operand. */
ACLPY_INLINE void post_select_(float *restrict t, aclpy_post_view other, aclpy_post_view condition, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float c = condition.each == NULL ? condition.value : condition.each[i];
    const float s = other.each == NULL ? other.value : other.each[i];
    t[i] = c != 0.0f ? t[i] : s;
  }
}

/* The probability, clamped to [0, 1]; NaN counts as 0. */
ACLPY_INLINE float aclpy_probability(float p) { return p > 0.0f ? p < 1.0f ? p : 1.0f : 0.0f; }

ACLPY_INLINE void post_dropout_(float *restrict t, aclpy_post_view probability, aclpy_post_view mask, int64_t n) {
  const float kept = 1.0f - aclpy_probability(probability.value);
  for (int64_t i = 0; i < n; ++i) {
    const float m = mask.each == NULL ? mask.value : mask.each[i];
    t[i] = m != 0.0f ? t[i] / kept : 0.0f;
  }
}

static inline __attribute__((unused)) void aclpy_post_binary_(int64_t code, float *t, aclpy_post_view s, int64_t n) {
  switch (code) {
    case ACLPY_POST_GE:
      post_ge_(t, s, n);
      break;
    case ACLPY_POST_GT:
      post_gt_(t, s, n);
      break;
    case ACLPY_POST_LE:
      post_le_(t, s, n);
      break;
    case ACLPY_POST_LT:
      post_lt_(t, s, n);
      break;
    case ACLPY_POST_EQ:
      post_eq_(t, s, n);
      break;
    case ACLPY_POST_NE:
      post_ne_(t, s, n);
      break;
    default:
      break;
  }
}

static inline __attribute__((unused)) void aclpy_post_eltwise_(int64_t code, float *t, int64_t n,
                                                               const aclpy_eltwise *p) {
  switch (code) {
    case ACLPY_POST_ABS:
      eltwise_abs(t, n, p);
      break;
    case ACLPY_POST_ELU:
      eltwise_elu(t, n, p);
      break;
    case ACLPY_POST_EXP:
      eltwise_exp(t, n, p);
      break;
    case ACLPY_POST_LOG:
      eltwise_log(t, n, p);
      break;
    case ACLPY_POST_SQRT:
      eltwise_sqrt(t, n, p);
      break;
    case ACLPY_POST_GELU_ERF:
      eltwise_gelu_erf(t, n, p);
      break;
    case ACLPY_POST_GELU_TANH:
      eltwise_gelu_tanh(t, n, p);
      break;
    case ACLPY_POST_HARDSIGMOID:
      eltwise_hardsigmoid(t, n, p);
      break;
    case ACLPY_POST_HARDSWISH:
      eltwise_hardswish(t, n, p);
      break;
    case ACLPY_POST_LOGISTIC:
      eltwise_logistic(t, n, p);
      break;
    case ACLPY_POST_MISH:
      eltwise_mish(t, n, p);
      break;
    case ACLPY_POST_POW:
      eltwise_pow(t, n, p);
      break;
    case ACLPY_POST_ROUND:
      eltwise_round(t, n, p);
      break;
    case ACLPY_POST_SOFT_RELU:
      eltwise_soft_relu(t, n, p);
      break;
    case ACLPY_POST_SWISH:
      eltwise_swish(t, n, p);
      break;
    case ACLPY_POST_TANH:
      eltwise_tanh(t, n, p);
      break;
    default:
      break;
  }
}

/* Operation k as a step; `stage` is used where its operand is not one value. */
ACLPY_INLINE aclpy_post_step aclpy_post_step_(const aclpy_post *post, int64_t k, int64_t index, int64_t n,
                                              float *stage) {
  const uint64_t constants = (uint64_t)post->ops[2 * k + 1];
  const int64_t code = post->ops[2 * k] & 0xff;
  aclpy_post_step step = {code,
                          {NULL, 0.0f},
                          aclpy_f32_from_bits((uint32_t)constants),
                          aclpy_f32_from_bits((uint32_t)(constants >> 32)),
                          {0}};
  if (aclpy_post_operands_of(code) > 0)
    step.operand = aclpy_post_operand_run(post, post->ops[2 * k] >> 8, index, n, stage);
  aclpy_post_ease(&step);
  return step;
}

/* Cheap operations from number k on, until one is not or needs a second staged operand, in one pass. Returns the number
 * of the next. */
static inline __attribute__((unused)) int64_t aclpy_post_run_easy(const aclpy_post *post, int64_t k, float *t,
                                                                  int64_t index, int64_t n, int64_t full,
                                                                  float *stage) {
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  int64_t taken = 0;
  int staged = 0;
  for (; k < post->n_ops && taken < ACLPY_EASY_STEPS && aclpy_post_is_easy(post->ops[2 * k] & 0xff); ++k) {
    const int64_t code = post->ops[2 * k] & 0xff;
    if (aclpy_post_operands_of(code) > 0) {
      const aclpy_post_operand *o = &post->operand[post->ops[2 * k] >> 8];
      const int many = !(o->whole && !o->dense);
      if (many && staged) break;
      staged |= many;
    }
    steps[taken++] = aclpy_post_step_(post, k, index, n, stage);
  }
  aclpy_post_easy(steps, taken, t, full);
  return k;
}

/* Every operation in turn on t[0..n), n at most ACLPY_RUN: elements [index, index + n) of the whole, row-major.
 * t has room up to the next multiple of 16. */
static inline __attribute__((unused)) void aclpy_post_apply(const aclpy_post *post, float *t, int64_t index,
                                                            int64_t n) {
  if (post->n_ops == 0) return;
  _Alignas(64) float first[ACLPY_RUN], second[ACLPY_RUN];
  const int64_t full = (n + 15) / 16 * 16;
  for (int64_t i = n; i < full; ++i) t[i] = 1.0f;
  for (int64_t k = 0; k < post->n_ops;) {
    const int64_t code = post->ops[2 * k] & 0xff, operand = post->ops[2 * k] >> 8;
    if (aclpy_post_is_easy(code)) {
      k = aclpy_post_run_easy(post, k, t, index, n, full, first);
      continue;
    }
    const int64_t operands = aclpy_post_operands_of(code);
    const aclpy_post_step step = aclpy_post_step_(post, k++, index, n, first);
    if (operands == 0) {
      const aclpy_eltwise given = {step.alpha, step.beta, 1.0f, 1.0f};
      aclpy_post_eltwise_(code, t, full, &given);
    } else if (operands == 1) {
      aclpy_post_binary_(code, t, step.operand, full);
    } else {
      const aclpy_post_view second_view = aclpy_post_operand_run(post, operand + 1, index, n, second);
      if (code == ACLPY_POST_SELECT) {
        post_select_(t, step.operand, second_view, full);
      } else {
        post_dropout_(t, step.operand, second_view, full);
      }
    }
  }
}

/* Rough cost of the operations and the store of one element. */
ACLPY_INLINE double aclpy_post_cost(const aclpy_post *post) {
  double cost = 0.05;
  for (int64_t k = 0; k < post->n_ops; ++k) {
    const int64_t code = post->ops[2 * k] & 0xff;
    const int easy = aclpy_post_operands_of(code) > 0 || aclpy_post_is_easy(code) || code == ACLPY_POST_ABS;
    cost += (easy ? 0.05 : 0.3) * (ACLPY_ISA_RANK == 1 ? 4.0 : 1.0);
  }
  return cost;
}

#endif
