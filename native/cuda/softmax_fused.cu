/* SPDX-License-Identifier: Apache-2.0
 * softmax_fused and softmax_stats, for any types. Which kernel, grid and block: aclnn_py/backends/cuda_fused.py.
 */
#include "softmax_fused_tiles.h"

#define FUSED_(kernel, threads, blocks, call) \
  ACLPY_GLOBAL(softmax_##kernel, Fused, threads, blocks) { call(a); }
FUSED_(fused_warp, 128, 6, fused_warp)
FUSED_(fused_block, 256, 3, fused_block)
FUSED_(fused_stream, 256, 3, fused_stream)
FUSED_(fused_partial, 256, 0, fused_partial)
FUSED_(fused_combine, 256, 0, fused_combine)
FUSED_(fused_chunks, 256, 3, fused_chunks)
FUSED_(fused_tile, 512, 0, fused_tile)
FUSED_(fused_tile_partial, 512, 0, fused_tile_partial)
FUSED_(fused_tile_chunks, 512, 0, fused_tile_chunks)
FUSED_(stats_row, 256, 0, stats_row)
FUSED_(stats_combine, 256, 0, stats_combine)
FUSED_(stats_tile, 512, 0, stats_tile)
#undef FUSED_
