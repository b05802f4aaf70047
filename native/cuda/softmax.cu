/* SPDX-License-Identifier: Apache-2.0
 * softmax and log_softmax for the dtype ACLPY_T (f32, f16, bf16, f64). Which kernel, grid and block:
 * aclnn_py/backends/cuda_kernels.py, for whole rows cuda_rows.py.
 */
#include "softmax.h"
#include "softmax_spare.h"
#include "softmax_strips_spare.h"
#include "softmax_tiles.h"

/* Whether elements have two bytes; whether they are float32; whether there are strips of them. */
#define HALF_f32 0
#define HALF_f64 0
#define HALF_f16 1
#define HALF_bf16 1
#define FLOAT_f32 1
#define FLOAT_f64 0
#define FLOAT_f16 0
#define FLOAT_bf16 0
#define STRIPS_f32 1
#define STRIPS_f64 0
#define STRIPS_f16 1
#define STRIPS_bf16 1
#define SIZE_ sizeof(ACLPY_T::Stored)
/* Units of a thread that are kept of the longest rows. */
#define KEPT_ (ACLPY_CARD < 80 ? 6 : SIZE_ == 4 && ACLPY_CARD == 90 ? 10 : 7)
/* Those of rows that go on in shared memory. cuda_rows.py counts on 8: cards before sm_80 are given none of these. */
#define HELD_ (ACLPY_CARD < 80 ? 6 : 8)
/* Rows of strips that do; cuda_strips.py counts on 5 of float32, 7 of others: cards before sm_80 are given none. */
#define ROWS_ (SIZE_ == 4 ? (ACLPY_CARD == 90 ? 8 : 5) : ACLPY_CARD < 80 ? 5 : 8)

#define BOTH_(kernel, threads, blocks, call, ...)                                                       \
  ACLPY_GLOBAL(ACLPY_NAME(softmax_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, false>(a); } \
  ACLPY_GLOBAL(ACLPY_NAME(log_softmax_##kernel), Problem, threads, blocks) { call<__VA_ARGS__, true>(a); }
BOTH_(warp1, 128, 0, softmax_warp, ACLPY_T, 1)
BOTH_(warp2, 128, 0, softmax_warp, ACLPY_T, 2)
BOTH_(warp4, 128, ACLPY_CARD >= 100 ? 5 : 6, softmax_warp, ACLPY_T, 4)
BOTH_(block4, 512, 2, softmax_block, ACLPY_T, 4)
#if ACLPY_JOIN(HALF, ACLPY_T)
BOTH_(kept256, 256, ACLPY_CARD < 80 ? 2 : 4, softmax_kept, ACLPY_T, 256, 8, 0)
BOTH_(kept384, 384, ACLPY_CARD < 80 ? 1 : 2, softmax_kept, ACLPY_T, 384, 8, 0)
BOTH_(spare1024, 1024, 1, softmax_spare, ACLPY_T, 1024, HELD_)
BOTH_(strip_stream, 384, 2, softmax_strip_stream, ACLPY_T, 8)
BOTH_(kept512, 512, 2, softmax_kept, ACLPY_T, 512, (ACLPY_CARD < 80 ? 5 : ACLPY_CARD < 86 ? 7 : 8), 2)
#else
BOTH_(warp8, 128, ACLPY_CARD >= 100 ? 4 : 6, softmax_warp, ACLPY_T, 8)
BOTH_(block8, 512, SIZE_ == 8 && ACLPY_CARD >= 100 ? 1 : 2, softmax_block, ACLPY_T, 8)
BOTH_(kept1024, 1024, 1, softmax_kept, ACLPY_T, 1024, KEPT_, 2)
#endif
BOTH_(combine, 256, 3, softmax_combine, ACLPY_T)
BOTH_(chunks, 512, 2, softmax_chunks, ACLPY_T)
#if ACLPY_JOIN(FLOAT, ACLPY_T)
BOTH_(held1024, 1024, 1, softmax_kept, ACLPY_T, 1024, 8, 0)
BOTH_(strip_stream, 512, 2, softmax_strip_stream, ACLPY_T, 8)
#endif
#if ACLPY_JOIN(STRIPS, ACLPY_T)
BOTH_(spare512, 512, 2, softmax_spare, ACLPY_T, 512, HELD_)
BOTH_(strip, 1024, 1, softmax_strip, ACLPY_T, 8, !ACLPY_T::WIDE)
BOTH_(strip_spare, 1024, 1, softmax_strip_spare, ACLPY_T, ROWS_)
BOTH_(strip_chunks, 512, 2, softmax_strip_chunks, ACLPY_T)
#endif
BOTH_(tile, 512, 2, softmax_tile, ACLPY_T)
BOTH_(tile_chunks, 512, 0, softmax_tile_chunks, ACLPY_T)
#undef BOTH_
#undef SIZE_
#undef KEPT_
#undef HELD_
#undef ROWS_

/* Maximum and sum are those of both. */
ACLPY_GLOBAL(ACLPY_NAME(softmax_partial), Problem, 512, 2) { softmax_partial<ACLPY_T>(a); }
ACLPY_GLOBAL(ACLPY_NAME(softmax_tile_partial), Problem, 512) { softmax_tile_partial<ACLPY_T>(a); }
#if ACLPY_JOIN(STRIPS, ACLPY_T)
ACLPY_GLOBAL(ACLPY_NAME(softmax_strip_partial), Problem, 512, 2) { softmax_strip_partial<ACLPY_T>(a); }
#endif
