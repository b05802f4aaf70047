/* SPDX-License-Identifier: Apache-2.0
 * A list of operations applied to floats, element by element, with broadcast operands: the CPU's
 * (native/kernels/post_ops.h), in the same order and rounded as often. Codes: post_ops_codes.h.
 */
#ifndef ACLPY_CUDA_POST_OPS_H
#define ACLPY_CUDA_POST_OPS_H

#include "elements.h"
#include "eltwise.h"

/* How an operand's elements follow those of the whole. */
enum { ACLPY_OPERAND_ONE = 0, ACLPY_OPERAND_ALIKE, ACLPY_OPERAND_BROADCAST };

struct Post {
  i64 source, target; /* types of the whole's elements, as they come and go */
  i64 elements;       /* of the whole, row-major */
  i64 dims_count, ops_count;
  i64 dims[ACLPY_POST_DIMS];
  i64 type[ACLPY_POST_OPERANDS], follows[ACLPY_POST_OPERANDS];
  i64 stride[ACLPY_POST_OPERANDS][ACLPY_POST_DIMS]; /* elements; 0 where it is broadcast */
  i64 ops[ACLPY_POST_MOST][ACLPY_POST_WORDS];       /* code + 2^8 * its first operand; bits of alpha and beta */
};

struct Operands {
  const u8 *at[ACLPY_POST_OPERANDS];
};

/* Where element `index` of the whole lies in an operand, and how far the innermost dimension goes on. Division of 32
 * bits is much the cheaper. */
struct Spot {
  i64 offset, left;
};
template <class Index>
__device__ inline Spot spot_as(const Post &post, int which, i64 index) {
  Index rest = (Index)index;
  Spot spot = {0, 0};
  for (int d = (int)post.dims_count - 1; d >= 0; --d) {
    const Index size = (Index)post.dims[d], next = rest / size, at = rest - next * size;
    if (d == (int)post.dims_count - 1) spot.left = (i64)(size - at);
    spot.offset += (i64)at * post.stride[which][d];
    rest = next;
  }
  return spot;
}
__device__ inline Spot spot_of(const Post &post, int which, i64 index) {
  return post.elements <= 0xffffffffll ? spot_as<u32>(post, which, index) : spot_as<u64>(post, which, index);
}

/* s = an operand's elements beside elements [at, at + N) of the whole, those of [from, to) that exist. */
template <int N>
__device__ inline void operand_of(const Post &post, const Operands &operands, int which, i64 at, int from, int to,
                                  float *s) {
  const u8 *p = operands.at[which];
  const i64 type = post.type[which];
  if (post.follows[which] == ACLPY_OPERAND_ONE) {
    const float one = load_element(type, p, 0);
#pragma unroll
    for (int k = 0; k < N; ++k) s[k] = one;
    return;
  }
  if (post.follows[which] == ACLPY_OPERAND_ALIKE) {
    if (N == ACLPY_QUAD) {
      const Quad q = {at, from, to};
      load_quad(type, p, q, 1.0f, s);
    } else {
#pragma unroll
      for (int k = 0; k < N; ++k) s[k] = k >= from && k < to ? load_element(type, p, at + k) : 1.0f;
    }
    return;
  }
  const i64 step = post.stride[which][post.dims_count - 1];
  Spot spot = {0, 0};
#pragma unroll
  for (int k = 0; k < N; ++k) {
    s[k] = 1.0f;
    if (k < from || k >= to) continue;
    if (spot.left == 0) spot = spot_of(post, which, at + k);
    s[k] = load_element(type, p, spot.offset);
    spot.offset += step;
    --spot.left;
  }
}

/* The probability, clamped to [0, 1]; NaN counts as 0. */
__device__ inline float probability_of(float p) { return p > 0.0f ? p < 1.0f ? p : 1.0f : 0.0f; }

#define ACLPY_EACH_OF_N(expression)               \
  _Pragma("unroll") for (int k = 0; k < N; ++k) { \
    const float t = v[k];                         \
    v[k] = (expression);                          \
  }                                               \
  break

template <int N>
__device__ inline void apply_function(int code, float alpha, float beta, float *v) {
  switch (code) {
    case ACLPY_POST_ABS:
      ACLPY_EACH_OF_N(t > 0.0f ? t : -t);
    case ACLPY_POST_CLIP:
      ACLPY_EACH_OF_N(below(beta, above(t, alpha)));
    case ACLPY_POST_ELU:
      ACLPY_EACH_OF_N(elu_of(t, alpha));
    case ACLPY_POST_EXP:
      ACLPY_EACH_OF_N(exp_any(t));
    case ACLPY_POST_LOG:
      ACLPY_EACH_OF_N(log_of(t));
    case ACLPY_POST_SQRT:
      ACLPY_EACH_OF_N(sqrtf(t));
    case ACLPY_POST_SQUARE:
      ACLPY_EACH_OF_N(t * t);
    case ACLPY_POST_GELU_ERF:
      ACLPY_EACH_OF_N(gelu_of(t));
    case ACLPY_POST_GELU_TANH:
      ACLPY_EACH_OF_N(gelu_tanh_of(t));
    case ACLPY_POST_HARDSIGMOID:
      ACLPY_EACH_OF_N(unit_of(alpha * t + beta));
    case ACLPY_POST_HARDSWISH:
      ACLPY_EACH_OF_N(t * unit_of(alpha * t + beta));
    case ACLPY_POST_LINEAR:
      ACLPY_EACH_OF_N(alpha * t + beta);
    case ACLPY_POST_LOGISTIC:
      ACLPY_EACH_OF_N(gated(1.0f, t));
    case ACLPY_POST_MISH:
      ACLPY_EACH_OF_N(mish_of(t));
    case ACLPY_POST_POW:
      ACLPY_EACH_OF_N(pow_of(t, alpha, beta));
    case ACLPY_POST_RELU:
      ACLPY_EACH_OF_N(t > 0.0f ? t : alpha * t);
    case ACLPY_POST_ROUND:
      ACLPY_EACH_OF_N(round_of(t));
    case ACLPY_POST_SOFT_RELU:
      ACLPY_EACH_OF_N(alpha * t > 88.7228f ? t : soft_plus(alpha * t) / alpha);
    case ACLPY_POST_SWISH:
      ACLPY_EACH_OF_N(gated(t, alpha * t));
    case ACLPY_POST_TANH:
      ACLPY_EACH_OF_N(tanh_any(t));
    default:
      break;
  }
}

template <int N>
__device__ inline void apply_binary(int code, const float *s, float *v) {
  switch (code) {
    case ACLPY_POST_ADD:
      ACLPY_EACH_OF_N(t + s[k]);
    case ACLPY_POST_MUL:
      ACLPY_EACH_OF_N(t * s[k]);
    case ACLPY_POST_MAX:
      ACLPY_EACH_OF_N(above(t, s[k]));
    case ACLPY_POST_MIN:
      ACLPY_EACH_OF_N(below(t, s[k]));
    case ACLPY_POST_DIV:
      ACLPY_EACH_OF_N(t / s[k]);
    case ACLPY_POST_SUB:
      ACLPY_EACH_OF_N(t - s[k]);
    case ACLPY_POST_GE:
      ACLPY_EACH_OF_N(t >= s[k] ? 1.0f : 0.0f);
    case ACLPY_POST_GT:
      ACLPY_EACH_OF_N(t > s[k] ? 1.0f : 0.0f);
    case ACLPY_POST_LE:
      ACLPY_EACH_OF_N(t <= s[k] ? 1.0f : 0.0f);
    case ACLPY_POST_LT:
      ACLPY_EACH_OF_N(t < s[k] ? 1.0f : 0.0f);
    case ACLPY_POST_EQ:
      ACLPY_EACH_OF_N(t == s[k] ? 1.0f : 0.0f);
    case ACLPY_POST_NE:
      ACLPY_EACH_OF_N(t != s[k] ? 1.0f : 0.0f);
    default:
      break;
  }
}

/* Every operation in turn on v: elements [at, at + N) of the whole, those of [from, to) that exist. */
template <int N>
__device__ inline void apply_post_ops(const Post &post, const Operands &operands, i64 at, int from, int to, float *v) {
  for (int op = 0; op < (int)post.ops_count; ++op) {
    const int code = (int)(post.ops[op][0] & 0xff), first = (int)(post.ops[op][0] >> 8);
    if (code > ACLPY_POST_DROPOUT) {
      const u64 constants = (u64)post.ops[op][1];
      apply_function<N>(code, from_bits((u32)constants), from_bits((u32)(constants >> 32)), v);
      continue;
    }
    float s[N];
    operand_of<N>(post, operands, first, at, from, to, s);
    if (code < ACLPY_POST_SELECT) {
      apply_binary<N>(code, s, v);
      continue;
    }
    float condition[N];
    operand_of<N>(post, operands, first + 1, at, from, to, condition);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const float instead = code == ACLPY_POST_SELECT ? s[k] : 0.0f;
      const float kept = code == ACLPY_POST_SELECT ? v[k] : v[k] / (1.0f - probability_of(s[k]));
      v[k] = condition[k] != 0.0f ? kept : instead;
    }
  }
}
#undef ACLPY_EACH_OF_N

#endif
