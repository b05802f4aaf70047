/* SPDX-License-Identifier: Apache-2.0
 * softmax_fused: params [outer, n, inner, flags, program (post_ops.h)]; inputs x, then the operands; any types.
 *
 * y = softmax (or log-softmax) over n of x in float, the operations in turn, rounded once to the type of y. x is read
 * once (twice where it is cut into chunks) and nothing of its size lies between. y may be x where the types have one
 * size. softmax_stats: see fused_stats.h.
 */
#include "../simd/isa.h"

/* With AVX-512 nothing is gained otherwise, and bfloat16 with a slope loses a twentieth. */
#if ACLPY_ISA_RANK == 3
ACLPY_ORDER_LATE
#endif

#include "../simd/terms.h"
#include "fused_direct.h"
#include "fused_powers.h"
#include "fused_stats.h"

#define ACLPY_T f32
#include "fused_direct_rows.h"
#define ACLPY_T f16
#include "fused_direct_rows.h"
#define ACLPY_T bf16
#include "fused_direct_rows.h"
#include "fused_brief_steps.h"
#define ACLPY_T f32
#include "fused_brief.h"
#define ACLPY_T f16
#include "fused_brief.h"
#define ACLPY_T bf16
#include "fused_brief.h"

static int32_t plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_post post;
  aclpy_fused_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params < 4 || aclpy_fused_geometry_make(&g, params) != 0 || params[3] < 0) return -1;
  if (aclpy_type_bytes(params[3] >> ACLPY_FUSED_ROUND_SHIFT) == 0) return -1;
  if (aclpy_post_make(&post, params + 4, n_params - 4, NULL) != n_params - 4) return -1;
  const double each = (ACLPY_ISA_RANK == 1 ? 1.2 : ACLPY_ISA_RANK == 2 ? 0.42 : 0.25) + aclpy_post_cost(&post);
  shape->items[0] = aclpy_fused_items(&g);
  shape->cost_ns = 60.0 + 20.0 * (double)shape->items[0] + (double)g.outer * (double)g.n * (double)g.inner * each;
  shape->passes = g.mode == ACLPY_CHUNKS ? 3 : 1;
  if (g.mode == ACLPY_LINES) {
    shape->at_once = ACLPY_ROWS_AT_ONCE;
    /* Three blocks of rows, or: two rows in turn, and three of operands and what comes of them; or two groups. */
    const int64_t rows = 3 * aclpy_fused_rows_of_block(g.n) + 2;
    const int64_t groups = g.n <= ACLPY_BRIEF_MOST ? 2 * v64_LANES * brief_pitch_(g.n) : 0;
    shape->thread_scratch_bytes = aclpy_max_i64(rows * aclpy_fused_round_(g.n), groups) * (int64_t)sizeof(float);
  }
  if (g.inner > 1) shape->thread_scratch_bytes = aclpy_fused_own_bytes(&g);
  if (g.mode == ACLPY_CHUNKS) {
    shape->items[1] = aclpy_ceil_div(g.outer * g.inner, ACLPY_FUSED_COLUMNS);
    shape->items[2] = shape->items[0];
    shape->scratch_bytes = aclpy_fused_partial_bytes(&g);
    if (shape->scratch_bytes < 0) return -1;
  }
  for (int32_t pass = 0; pass < shape->passes; ++pass) {
    const double combine = 10.0 * (double)(g.outer * g.inner) * (double)g.chunks;
    shape->grain[pass] = aclpy_grain(pass == 1 ? combine : shape->cost_ns, shape->items[pass]);
  }
  return 0;
}

static void brief_run_(const aclpy_fused *f, const fused_direct *d, int64_t begin, int64_t end, float *scratch) {
  if (f->post.source == ACLPY_TYPE_FLOAT) {
    brief_run_f32(f, d, begin, end, scratch);
  } else if (f->post.source == ACLPY_TYPE_BF16) {
    brief_run_bf16(f, d, begin, end, scratch);
  } else {
    brief_run_f16(f, d, begin, end, scratch);
  }
}

static void lines_run_(aclpy_fused *f, int64_t begin, int64_t end, float *scratch) {
  fused_direct d;
  const int64_t pitch = aclpy_fused_round_(f->g.n);
  const int way = fused_direct_make_(f, &d, end - begin, scratch + 2 * pitch);
  if (way == ACLPY_DIRECT_FUNCTIONS) fused_powers_make_(f, &d);
  if (way == ACLPY_DIRECT_CHEAP) fused_fixed_make_(f, &d, scratch + 4 * pitch);
  if (way == ACLPY_DIRECT_NOT) {
    fused_lines_run_(f, begin, end, scratch);
  } else if (way == ACLPY_DIRECT_BRIEF) {
    brief_run_(f, &d, begin, end, scratch);
  } else if (f->post.source == ACLPY_TYPE_FLOAT) {
    direct_run_f32(f, &d, begin, end, scratch, way);
  } else if (f->post.source == ACLPY_TYPE_BF16) {
    direct_run_bf16(f, &d, begin, end, scratch, way);
  } else {
    direct_run_f16(f, &d, begin, end, scratch, way);
  }
}

/* Where what a launch moves, its operands with it, lies: results are written past the caches where it does not fit,
 * rows sooner (row_map.h). */
static int streams_(const aclpy_fused *f, const aclpy_kernel_args *args, int64_t bytes) {
  const int whole = f->g.inner == 1 || out_lined_(f);
  const int64_t most = whole ? aclpy_stream_bytes() : aclpy_cache_bytes_last_level();
  for (int64_t k = 0; k < f->post.n_operands; ++k) bytes += aclpy_post_operand_bytes(&f->post, k);
  /* What waits to be stored has room for floats. */
  return f->x != f->y && f->to <= (int64_t)sizeof(float) && aclpy_whole_bytes(args, bytes) > most;
}

static void run_(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  aclpy_fused f;
  if (aclpy_fused_geometry_make(&f.g, args->params) != 0 || f.g.outer == 0 || begin >= end) return;
  if (aclpy_post_make(&f.post, args->params + 4, -1, args->addr + 1) < 0) return;
  f.flags = args->params[3];
  f.rounded = f.flags >> ACLPY_FUSED_ROUND_SHIFT;
  f.x = args->addr[0];
  f.y = args->addr[1 + f.post.n_operands];
  f.from = aclpy_type_bytes(f.post.source);
  f.to = aclpy_type_bytes(f.post.target);
  const int64_t bytes = f.g.outer * f.g.n * f.g.inner * (f.from + f.to);
  f.streaming = streams_(&f, args, bytes);
  f.far = bytes > 2 * aclpy_cache_bytes_l2();
  float *own = scratch, *room = f.g.inner > 1 ? own + aclpy_fused_own_floats_(&f.g) : NULL;
  switch (f.g.mode) {
    case ACLPY_LINES:
      lines_run_(&f, begin, end, scratch);
      break;
    case ACLPY_FUSED_TILES:
      fused_tiles_run_(&f, begin, end, own, room);
      break;
    default:
      if (pass == 0) fused_reduce_(&f, args->scratch, begin, end, own);
      if (pass == 1) fused_combine_run_(&f, args->scratch, begin, end);
      if (pass == 2) fused_write_(&f, args->scratch, begin, end, own, room);
      break;
  }
  if (f.streaming) aclpy_stream_fence();
}

ACLPY_KERNELS(softmax_fused) = {{"softmax_fused", "f32", ACLPY_ISA_NAME, run_, plan_},
                                {"softmax_stats", "f32", ACLPY_ISA_NAME, stats_run_, stats_plan_},
                                {0}};
