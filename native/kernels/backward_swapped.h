/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax where both inputs have axes behind the reduced one in another order
 * (swapped.h). ACLPY_T names the instance; after backward_tiles.h.
 */
#include "../simd/instance.h"

/* The two parts of each column's sum, and buffers. */
typedef struct FN(swap_room) {
  REAL *high, *low;
  STORED *plane, *block;
} FN(swap_room);

/* Sums of all columns of outer position `o`, tile by tile. */
ACLPY_INLINE void FN(swap_sums)(const aclpy_geometry *g, const FN(operands) * p, const FN(swap_room) * room, int64_t o,
                                int logarithm) {
  const FN(tile_rest) none = {.live = 0};
  FN(column_sums) sums;
  FN(totals) totals;
  for (int64_t k = 0; k < g->tiles; ++k) {
    FN(tile_task) task = FN(tile_task_of)(p, aclpy_tile_of(g, o * g->tiles + k, 0));
    task.fetches = ACLPY_FETCH_L2;
    task.walks = 1;
    task.after = k + 1 < g->tiles ? g->width : 0;
    FN(tile_sum)(g, &task, &none, &sums, logarithm, 0, ACLPY_TILE_BESIDE);
    FN(totals_set)(&totals, 0, sums.sum, g->stride);
    memcpy(room->high + task.t.column, totals.high, (size_t)task.t.width * sizeof(REAL));
    memcpy(room->low + task.t.column, totals.low, (size_t)task.t.width * sizeof(REAL));
  }
}

ACLPY_INLINE void FN(swap_results)(const STORED *a, const STORED *b, STORED *out, const FN(swap_room) * room, int64_t n,
                                   int logarithm) {
  const REAL *high = room->high, *low = room->low;
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    const int looks = FN(looks) && logarithm;
    VEC v[4], w[4], h[4], l[4];
    for (int k = 0; k < 4; ++k) {
      const int64_t at = i + k * LANES;
      w[k] = LD(a + at);
      v[k] = LD(b + at);
      h[k] = V(load)(high + at);
      l[k] = V(load)(low + at);
      if (looks) continue;
      v[k] = FN(result)(w[k], v[k], h[k], l[k], logarithm);
      QUAD(out + i, v, k, 0);
    }
    if (looks) FN(results_log)(w, v, h, l);
    for (int k = 0; k < 4 && looks; ++k) QUAD(out + i, v, k, 0);
  }
#define FULL_(j) \
  FN(result)(LD(a + i + (j)), LD(b + i + (j)), V(load)(high + i + (j)), V(load)(low + i + (j)), logarithm)
#define PART_(j, m)                                                                                                 \
  FN(result)(LDN(a + i + (j), m, 0), LDN(b + i + (j), m, 0), LDNR(high + i + (j), m, 0), LDNR(low + i + (j), m, 0), \
             logarithm)
  ACLPY_MAP(out + i, n - i, 0, FULL_, PART_);
#undef FULL_
#undef PART_
}

ACLPY_INLINE void FN(swap_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                               void *scratch, int logarithm) {
  const FN(operands) p = FN(operands_of)(g, args);
  const int64_t rows = args->params[2], columns = args->params[3];
  FN(swap_room) room = {.high = (REAL *)scratch};
  room.low = room.high + aclpy_swapped_padded(g);
  room.plane = (STORED *)(void *)(room.low + aclpy_swapped_padded(g));
  room.block = room.plane + g->inner;
  for (int64_t o = begin; o < end; ++o) {
    FN(swap_sums)(g, &p, &room, o, logarithm);
    for (int64_t r = o * g->n; r < (o + 1) * g->n; ++r) {
      FN(swap_results)(p.g + r * g->inner, p.y + r * g->inner, room.plane, &room, g->inner, logarithm);
      FN(plane_put)(room.plane, room.block, p.out + r * g->inner, rows, columns, p.streaming);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}

ACLPY_INLINE int FN(swapped_geometry)(aclpy_geometry *g, const int64_t *params) {
  return aclpy_geometry_swapped(g, params, sizeof(REAL), 2, sizeof(STORED), 3);
}
static void FN(softmax_backward_swapped_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                             void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(swapped_geometry)(&g, args->params) == 0) FN(swap_run)(&g, args, begin, end, scratch, 0);
}
static void FN(log_softmax_backward_swapped_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                                 int64_t end, void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(swapped_geometry)(&g, args->params) == 0) FN(swap_run)(&g, args, begin, end, scratch, 1);
}
static int32_t FN(swapped_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 4 || FN(swapped_geometry)(&g, params) != 0) return -1;
  const double each = aclpy_backward_cost(sizeof(STORED), logarithm, g.streaming);
  return aclpy_swapped_plan(&g, params, shape, each, 2 * sizeof(REAL), sizeof(STORED));
}
static int32_t FN(softmax_backward_swapped_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  return FN(swapped_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_swapped_plan)(const int64_t *params, int32_t n_params,
                                                     aclpy_kernel_shape *shape) {
  return FN(swapped_plan_as)(params, n_params, shape, 1);
}
