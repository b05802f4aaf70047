/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax for the dtype ACLPY_T, which it takes away at the end.
 */
/* Templates build on each other: their order matters. */
/* clang-format off */
#include "backward_rows.h"
#include "tile.h"
#include "backward_tiles.h"
#include "backward_tile_chunks.h"
#include "strip_words.h"
#include "transposed.h"
#include "backward_squares.h"
#include "backward_words.h"
#include "backward_transposed.h"
#include "swapped.h"
#include "backward_swapped.h"
/* clang-format on */

static void FN(backward_rows)(aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                              int64_t end, int logarithm) {
  aclpy_geometry_whole(g, args);
  if (g->mode == ACLPY_ROWS) FN(rows_run)(g, args, begin, end, logarithm);
  if (g->mode == ACLPY_ROW_CHUNKS) FN(row_chunks_run)(g, args, pass, begin, end, logarithm);
}

static void FN(backward_tiles)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                               int64_t end, void *scratch, int logarithm) {
  if (g->mode == ACLPY_TILES) FN(tiles_run)(g, args, begin, end, scratch, logarithm);
  if (g->mode == ACLPY_TILE_CHUNKS) FN(tile_chunks_run)(g, args, pass, begin, end, logarithm);
}

static void FN(backward_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch,
                             int logarithm) {
  aclpy_geometry g;
  if (aclpy_geometry_make(&g, args->params, sizeof(REAL), 2, sizeof(STORED), 3) != 0) return;
  FN(backward_rows)(&g, args, pass, begin, end, logarithm);
  FN(backward_tiles)(&g, args, pass, begin, end, scratch, logarithm);
}

static void FN(softmax_backward_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                     void *scratch) {
  FN(backward_run)(args, pass, begin, end, scratch, 0);
}
static void FN(log_softmax_backward_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                         void *scratch) {
  FN(backward_run)(args, pass, begin, end, scratch, 1);
}

static void FN(pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, int logarithm) {
  aclpy_geometry g;
  if (aclpy_geometry_pitched(&g, args->params, sizeof(REAL), 2, sizeof(STORED), 3) != 0) return;
  FN(backward_rows)(&g, args, pass, begin, end, logarithm);
}
static void FN(softmax_backward_pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                             void *scratch) {
  (void)scratch;
  FN(pitched_run)(args, pass, begin, end, 0);
}
static void FN(log_softmax_backward_pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                                 int64_t end, void *scratch) {
  (void)scratch;
  FN(pitched_run)(args, pass, begin, end, 1);
}

ACLPY_INLINE int FN(spaced_geometry)(aclpy_geometry *g, const int64_t *params) {
  return aclpy_geometry_spaced(g, params, sizeof(REAL), 2, sizeof(STORED), 3, LANES * sizeof(STORED));
}
static void FN(spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch,
                           int logarithm) {
  aclpy_geometry g;
  if (FN(spaced_geometry)(&g, args->params) != 0) return;
  FN(backward_tiles)(&g, args, pass, begin, end, scratch, logarithm);
}
static void FN(softmax_backward_spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                            void *scratch) {
  FN(spaced_run)(args, pass, begin, end, scratch, 0);
}
static void FN(log_softmax_backward_spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                                void *scratch) {
  FN(spaced_run)(args, pass, begin, end, scratch, 1);
}

static int32_t FN(plan_of)(const aclpy_geometry *g, aclpy_kernel_shape *shape, int logarithm) {
  shape->thread_scratch_bytes = 0;
  if (FN(tile_copies)(g)) {
    const int64_t bytes = (int64_t)FN(tile_element_bytes);
    shape->thread_scratch_bytes = aclpy_tiles_held(g, bytes) * g->rows * g->stride * bytes;
  }
  const double each = aclpy_backward_cost(sizeof(STORED), logarithm, g->streaming);
  return aclpy_reduction_plan(g, shape, each, sizeof(double));
}
static int32_t FN(backward_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 3 || aclpy_geometry_make(&g, params, sizeof(REAL), 2, sizeof(STORED), 3) != 0) return -1;
  return FN(plan_of)(&g, shape, logarithm);
}
static int32_t FN(pitched_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 5 || aclpy_geometry_pitched(&g, params, sizeof(REAL), 2, sizeof(STORED), 3) != 0) return -1;
  return FN(plan_of)(&g, shape, logarithm);
}
static int32_t FN(softmax_backward_pitched_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(pitched_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_pitched_plan)(const int64_t *params, int32_t n_params,
                                                     aclpy_kernel_shape *shape) {
  return FN(pitched_plan_as)(params, n_params, shape, 1);
}
static int32_t FN(spaced_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 7 || FN(spaced_geometry)(&g, params) != 0) return -1;
  return FN(plan_of)(&g, shape, logarithm);
}
static int32_t FN(softmax_backward_spaced_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(spaced_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_spaced_plan)(const int64_t *params, int32_t n_params,
                                                    aclpy_kernel_shape *shape) {
  return FN(spaced_plan_as)(params, n_params, shape, 1);
}
static int32_t FN(softmax_backward_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(backward_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(backward_plan_as)(params, n_params, shape, 1);
}

/* clang-format off */
#include "../simd/instance_end.h"
/* clang-format on */
