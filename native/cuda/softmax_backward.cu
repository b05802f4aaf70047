/* SPDX-License-Identifier: Apache-2.0
 * softmax_backward and log_softmax_backward for the dtype ACLPY_T (f32, f16, bf16, f64). Which kernel, grid and block:
 * aclnn_py/backends/cuda_kernels.py, for whole rows cuda_rows.py.
 */
#include "backward_spare.h"
#include "backward_strips_spare.h"
#include "backward_tiles.h"

/* Whether elements are float32; whether there are strips of them, and rows that go on in shared memory. */
#define FLOAT_f32 1
#define FLOAT_f64 0
#define FLOAT_f16 0
#define FLOAT_bf16 0
#define STRIPS_f32 1
#define STRIPS_f64 0
#define STRIPS_f16 1
#define STRIPS_bf16 1
#define SIZE_ sizeof(ACLPY_T::Stored)
/* Rows of long strips that a thread keeps in registers; cuda_strips.py counts on 4. */
#define ROWS_ (SIZE_ == 4 && ACLPY_CARD <= 90 ? 6 : 4)

#define BOTH_(kernel, threads, blocks, call, ...)                                                                \
  ACLPY_GLOBAL(ACLPY_NAME(softmax_backward_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, false>(a); } \
  ACLPY_GLOBAL(ACLPY_NAME(log_softmax_backward_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, true>(a); }
BOTH_(warp1, 128, 0, backward_warp, ACLPY_T, 1)
BOTH_(warp2, 128, SIZE_ == 8 ? 6 : 0, backward_warp, ACLPY_T, 2)
BOTH_(warp4, 128, SIZE_ == 8 ? 4 : 7, backward_warp, ACLPY_T, 4)
BOTH_(block2, 512, 2, backward_block, ACLPY_T, 2, 0)
BOTH_(block128, 128, SIZE_ == 8 ? 6 : 8, backward_block, ACLPY_T, 4, 128)
BOTH_(block256, 256, 4, backward_block, ACLPY_T, 4, 256)
BOTH_(block512, 512, 2, backward_block, ACLPY_T, 4, 512)
BOTH_(kept1024, 1024, 1, backward_kept, ACLPY_T, 1024, (SIZE_ == 8 ? 2 : ACLPY_CARD == 80 ? 4 : 5), 1)
BOTH_(partial, 512, 2, backward_partial, ACLPY_T)
BOTH_(chunks, 512, 1, backward_chunks, ACLPY_T)
#if ACLPY_JOIN(STRIPS, ACLPY_T)
BOTH_(spare512, 512, 2, backward_spare, ACLPY_T, 512)
BOTH_(spare1024, 1024, 1, backward_spare, ACLPY_T, 1024)
BOTH_(strip, 1024, 1, backward_strip, ACLPY_T, 4)
BOTH_(strip_stream, 512, 2, backward_strip_stream, ACLPY_T, 8)
ACLPY_GLOBAL(ACLPY_NAME(log_softmax_backward_strip_spare), Problem, 1024, 1) { one_strips_spare<ACLPY_T, ROWS_>(a); }
BOTH_(strip_partial, 512, 2, backward_strip_partial, ACLPY_T)
BOTH_(strip_chunks, 512, 2, backward_strip_chunks, ACLPY_T)
#endif
#if ACLPY_JOIN(FLOAT, ACLPY_T)
ACLPY_GLOBAL(ACLPY_NAME(softmax_backward_strip_spare), Problem, 1024, 1) { both_strips_spare<ACLPY_T, 3>(a); }
#endif
BOTH_(tile, 512, 0, backward_tile, ACLPY_T)
BOTH_(tile_partial, 512, 0, backward_tile_partial, ACLPY_T)
BOTH_(tile_chunks, 512, 0, backward_tile_chunks, ACLPY_T)
#undef BOTH_
#undef SIZE_
#undef ROWS_

/* A sum of sums: the same for both. */
ACLPY_GLOBAL(ACLPY_NAME(softmax_backward_combine), Problem, 256) { backward_combine(a); }
