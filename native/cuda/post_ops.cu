/* SPDX-License-Identifier: Apache-2.0
 * post_ops: operations without a softmax before them; dropout_mask: what their dropout keeps. Which grid and block:
 * aclnn_py/backends/cuda_fused.py.
 */
#include "dropout.h"
#include "softmax_fused.h"

/* The whole is one row. */
ACLPY_GLOBAL(post_ops, Fused, 256, 3) {
  const Row row = row_at(a, 0, a.p.n);
  const int lead = quad_lead(row.x, bytes_of_type(a.post.source), row.n, row.n + ACLPY_QUAD);
  i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * ACLPY_QUAD - lead;
  for (; i < row.n; i += (i64)gridDim.x * blockDim.x * ACLPY_QUAD) {
    const Quad q = quad_of(i, row.n);
    float v[ACLPY_QUAD];
    load_quad(a.post.source, row.x, q, 1.0f, v);
    finish_quad(a, row, q, v);
  }
}

ACLPY_GLOBAL(dropout_mask_all, Draws, 256) { dropout_mask(a); }
