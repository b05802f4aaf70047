/* SPDX-License-Identifier: Apache-2.0
 * softmax and log_softmax for the dtype ACLPY_T (f32, f16, bf16, f64). Which kernel, grid and block:
 * aclnn_py/backends/cuda_kernels.py.
 */
#include "softmax.h"
#include "softmax_tiles.h"

#define BOTH_(kernel, threads, blocks, call, ...)                                                       \
  ACLPY_GLOBAL(ACLPY_NAME(softmax_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, false>(a); } \
  ACLPY_GLOBAL(ACLPY_NAME(log_softmax_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, true>(a); }
BOTH_(warp1, 128, 0, softmax_warp, ACLPY_T, 1)
BOTH_(warp2, 128, 0, softmax_warp, ACLPY_T, 2)
BOTH_(warp4, 128, 6, softmax_warp, ACLPY_T, 4)
BOTH_(warp8, 128, 0, softmax_warp, ACLPY_T, 8)
BOTH_(block, 1024, 1, softmax_block, ACLPY_T, 4)
BOTH_(stream, 1024, 1, softmax_stream, ACLPY_T)
BOTH_(combine, 256, 3, softmax_combine, ACLPY_T)
BOTH_(chunks, 512, 0, softmax_chunks, ACLPY_T)
BOTH_(tile, 512, 2, softmax_tile, ACLPY_T)
BOTH_(tile_chunks, 512, 0, softmax_tile_chunks, ACLPY_T)
#undef BOTH_

/* Maximum and sum are those of both. */
ACLPY_GLOBAL(ACLPY_NAME(softmax_partial), Problem, 512, 2) { softmax_partial<ACLPY_T>(a); }
ACLPY_GLOBAL(ACLPY_NAME(softmax_tile_partial), Problem, 512) { softmax_tile_partial<ACLPY_T>(a); }
