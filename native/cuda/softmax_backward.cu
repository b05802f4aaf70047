/* SPDX-License-Identifier: Apache-2.0
 * softmax_backward and log_softmax_backward for the dtype ACLPY_T (f32, f16, bf16, f64). Which kernel, grid and block:
 * aclnn_py/backends/cuda_kernels.py.
 */
#include "backward_tiles.h"

/* Blocks where elements have 8 bytes; otherwise the compiler chooses. */
#define WIDE_(blocks) (sizeof(ACLPY_T::Stored) == 8 ? (blocks) : 0)
#define BOTH_(kernel, threads, blocks, call, ...)                                                                \
  ACLPY_GLOBAL(ACLPY_NAME(softmax_backward_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, false>(a); } \
  ACLPY_GLOBAL(ACLPY_NAME(log_softmax_backward_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, true>(a); }
BOTH_(warp1, 128, 0, backward_warp, ACLPY_T, 1)
BOTH_(warp2, 128, WIDE_(6), backward_warp, ACLPY_T, 2)
BOTH_(warp4, 128, WIDE_(4), backward_warp, ACLPY_T, 4)
BOTH_(block, 1024, 1, backward_block, ACLPY_T, 2)
BOTH_(stream, 1024, 1, backward_stream, ACLPY_T)
BOTH_(partial, 512, 0, backward_partial, ACLPY_T)
BOTH_(chunks, 512, 0, backward_chunks, ACLPY_T)
BOTH_(tile, 512, 0, backward_tile, ACLPY_T)
BOTH_(tile_partial, 512, 0, backward_tile_partial, ACLPY_T)
BOTH_(tile_chunks, 512, 0, backward_tile_chunks, ACLPY_T)
#undef BOTH_
#undef WIDE_

/* A sum of sums: the same for both. */
ACLPY_GLOBAL(ACLPY_NAME(softmax_backward_combine), Problem, 256) { backward_combine(a); }
