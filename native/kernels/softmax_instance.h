/* SPDX-License-Identifier: Apache-2.0
 * Template: the entry points of softmax and log-softmax for one dtype. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

static void FN(forward_rows)(aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                             void *scratch, int logarithm) {
  aclpy_geometry_whole(g, args);
  if (g->mode == ACLPY_ROWS) FN(rows_run)(g, args, begin, end, scratch, logarithm);
  if (g->mode == ACLPY_ROW_CHUNKS) FN(row_chunks_run)(g, args, pass, begin, end, logarithm);
}

static void FN(forward_tiles)(const aclpy_geometry *g, const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                              int64_t end, void *scratch, int logarithm) {
  const int again = FN(tiles_again)(g);
  if (again) FN(tiles_again_run)(g, args, begin, end, scratch, logarithm);
  if (g->mode == ACLPY_TILES && !again) FN(tiles_run)(g, args, begin, end, scratch, logarithm);
  if (g->mode == ACLPY_TILE_CHUNKS) FN(tile_chunks_run)(g, args, pass, begin, end, scratch, logarithm);
}

static void FN(forward_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch,
                            int logarithm) {
  aclpy_geometry g;
  if (aclpy_geometry_make(&g, args->params, sizeof(REAL), 1, sizeof(STORED), 2) != 0) return;
  FN(forward_rows)(&g, args, pass, begin, end, scratch, logarithm);
  FN(forward_tiles)(&g, args, pass, begin, end, scratch, logarithm);
}

static void FN(softmax_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  FN(forward_run)(args, pass, begin, end, scratch, 0);
}
static void FN(log_softmax_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                void *scratch) {
  FN(forward_run)(args, pass, begin, end, scratch, 1);
}

static void FN(pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch,
                            int logarithm) {
  aclpy_geometry g;
  if (aclpy_geometry_pitched(&g, args->params, sizeof(REAL), 1, sizeof(STORED), 2) != 0) return;
  FN(forward_rows)(&g, args, pass, begin, end, scratch, logarithm);
}
static void FN(softmax_pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                    void *scratch) {
  FN(pitched_run)(args, pass, begin, end, scratch, 0);
}
static void FN(log_softmax_pitched_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                        void *scratch) {
  FN(pitched_run)(args, pass, begin, end, scratch, 1);
}

ACLPY_INLINE int FN(spaced_geometry)(aclpy_geometry *g, const int64_t *params) {
  return aclpy_geometry_spaced(g, params, sizeof(REAL), 1, sizeof(STORED), 2, LANES * sizeof(STORED));
}
static void FN(spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch,
                           int logarithm) {
  aclpy_geometry g;
  if (FN(spaced_geometry)(&g, args->params) != 0) return;
  FN(forward_tiles)(&g, args, pass, begin, end, scratch, logarithm);
}
static void FN(softmax_spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                   void *scratch) {
  FN(spaced_run)(args, pass, begin, end, scratch, 0);
}
static void FN(log_softmax_spaced_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                       void *scratch) {
  FN(spaced_run)(args, pass, begin, end, scratch, 1);
}

static int32_t FN(plan_of)(const aclpy_geometry *g, aclpy_kernel_shape *shape, int logarithm) {
  /* A part of a larger problem streams, too. As in rows_place. */
  const int64_t row = aclpy_rows_waiting(g->n, (int64_t)sizeof(REAL), PLAIN) * aclpy_round16(g->n);
  const int64_t tiles = aclpy_tiles_held(g, (int64_t)sizeof(REAL));
  const int64_t tile = g->mode == ACLPY_TILES ? tiles * g->rows : g->mode == ACLPY_TILE_CHUNKS ? g->chunk : 0;
  shape->thread_scratch_bytes = ((g->mode == ACLPY_ROWS ? row : 0) + tile * g->stride) * (int64_t)sizeof(REAL);
  const double each = aclpy_forward_cost(sizeof(STORED), g->streaming);
  if (aclpy_reduction_plan(g, shape, each, sizeof(double) + sizeof(REAL)) != 0) return -1;
  if (g->mode == ACLPY_ROWS) shape->at_once = ACLPY_ROWS_AT_ONCE;
  if (g->mode == ACLPY_ROW_CHUNKS && !logarithm && aclpy_chunks_kept(g, (int64_t)sizeof(REAL))) {
    shape->scratch_bytes += 64 + g->turn * FN(row_chunks_pitch)(g) * (int64_t)sizeof(REAL);
  }
  return 0;
}
static int32_t FN(forward_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 3 || aclpy_geometry_make(&g, params, sizeof(REAL), 1, sizeof(STORED), 2) != 0) return -1;
  return FN(plan_of)(&g, shape, logarithm);
}
static int32_t FN(pitched_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 4 || aclpy_geometry_pitched(&g, params, sizeof(REAL), 1, sizeof(STORED), 2) != 0) return -1;
  return FN(plan_of)(&g, shape, logarithm);
}
static int32_t FN(forward_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(forward_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(forward_log_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(forward_plan_as)(params, n_params, shape, 1);
}
static int32_t FN(pitched_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(pitched_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(pitched_log_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(pitched_plan_as)(params, n_params, shape, 1);
}
static int32_t FN(spaced_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 7 || FN(spaced_geometry)(&g, params) != 0) return -1;
  return FN(plan_of)(&g, shape, 0);
}
