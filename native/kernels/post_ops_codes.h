/* SPDX-License-Identifier: Apache-2.0
 * Numbers in the parameters of the fused softmax kernels, for planner and kernels alike. Read by cffi too.
 */
#ifndef ACLPY_KERNELS_POST_OPS_CODES_H
#define ACLPY_KERNELS_POST_OPS_CODES_H

/* Element types, by the numbers of aclDataType. */
enum {
  ACLPY_TYPE_FLOAT = 0,
  ACLPY_TYPE_FLOAT16 = 1,
  ACLPY_TYPE_INT8 = 2,
  ACLPY_TYPE_INT32 = 3,
  ACLPY_TYPE_UINT8 = 4,
  ACLPY_TYPE_INT64 = 9,
  ACLPY_TYPE_DOUBLE = 11,
  ACLPY_TYPE_BOOL = 12,
  ACLPY_TYPE_BF16 = 27,
  ACLPY_TYPE_FLOAT8_E5M2 = 35,
  ACLPY_TYPE_FLOAT8_E4M3FN = 36
};

/* What a fused softmax does besides, in its flags; plus 2^8 * the type that exponentials are rounded to before they are
 * normalised (0: none). */
enum { ACLPY_FUSED_LOG = 1, ACLPY_FUSED_ZERO_ROWS = 2, ACLPY_FUSED_ROUND_SHIFT = 8 };

enum {
  ACLPY_POST_OPERANDS = 4, /* operand tensors of one launch */
  ACLPY_POST_DIMS = 12,    /* dimensions after merging */
  ACLPY_POST_MOST = 34,    /* operations of one launch: 32 and two scales */
  ACLPY_POST_WORDS = 2     /* parameters an operation takes */
};

/* Operations on a float t; s is the operand, alpha and beta are constants. */
enum {
  /* one operand */
  ACLPY_POST_ADD = 0,
  ACLPY_POST_MUL,
  ACLPY_POST_MAX,
  ACLPY_POST_MIN,
  ACLPY_POST_DIV,
  ACLPY_POST_SUB,
  ACLPY_POST_GE,
  ACLPY_POST_GT,
  ACLPY_POST_LE,
  ACLPY_POST_LT,
  ACLPY_POST_EQ,
  ACLPY_POST_NE,
  /* two operands */
  ACLPY_POST_SELECT,  /* second != 0 ? t : first */
  ACLPY_POST_DROPOUT, /* second != 0 ? t / (1 - first) : 0 */
  /* none */
  ACLPY_POST_ABS,
  ACLPY_POST_CLIP,
  ACLPY_POST_ELU,
  ACLPY_POST_EXP,
  ACLPY_POST_LOG,
  ACLPY_POST_SQRT,
  ACLPY_POST_SQUARE,
  ACLPY_POST_GELU_ERF,
  ACLPY_POST_GELU_TANH,
  ACLPY_POST_HARDSIGMOID,
  ACLPY_POST_HARDSWISH,
  ACLPY_POST_LINEAR,
  ACLPY_POST_LOGISTIC,
  ACLPY_POST_MISH,
  ACLPY_POST_POW,
  ACLPY_POST_RELU,
  ACLPY_POST_ROUND,
  ACLPY_POST_SOFT_RELU,
  ACLPY_POST_SWISH,
  ACLPY_POST_TANH,
  ACLPY_POST_END
};

#endif
