/* SPDX-License-Identifier: Apache-2.0
 * copy_strided: params [rank, dims..., source strides in bytes..., destination strides in bytes...].
 *
 * dtype "b<n>": elements of n bytes. Source strides may be negative or zero; the destination's positions are distinct.
 */
#include "copy_block.h"
#include "copy_geometry.h"

typedef void (*block_fn)(const unsigned char *from, unsigned char *to, const aclpy_copy_dim *row,
                         const aclpy_copy_dim *column, int streaming);

/* Byte offsets of outer position `at`. */
static void copy_outer_(const aclpy_copy_geometry *g, int64_t at, int64_t *from, int64_t *to) {
  *from = *to = 0;
  for (int32_t i = g->rank - 1; i >= 0; --i) {
    const int64_t k = at % g->dim[i].n;
    at /= g->dim[i].n;
    *from += k * g->dim[i].from;
    *to += k * g->dim[i].to;
  }
}

ACLPY_INLINE void copy_items_(const aclpy_kernel_args *args, int64_t begin, int64_t end, int64_t bytes,
                              block_fn block) {
  aclpy_copy_geometry g;
  if (aclpy_copy_make(&g, args->params, bytes) != 0) return;
  const int streaming = aclpy_copy_streams(&g, args, bytes);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t column_at = item % g.column_tiles * g.tile_columns;
    const int64_t row_at = item / g.column_tiles % g.row_tiles * g.tile_rows;
    const int64_t first = item / g.column_tiles / g.row_tiles * g.group;
    const int64_t last = aclpy_min_i64(first + g.group, g.outer);
    aclpy_copy_dim row = g.row, column = g.column;
    row.n = aclpy_min_i64(g.tile_rows, g.row.n - row_at);
    column.n = aclpy_min_i64(g.tile_columns, g.column.n - column_at);
    for (int64_t at = first; at < last; ++at) {
      int64_t from, to;
      copy_outer_(&g, at, &from, &to);
      from += row_at * row.from + column_at * column.from;
      to += row_at * row.to + column_at * column.to;
      block(args->addr[0] + from, args->addr[1] + to, &row, &column, streaming);
    }
  }
  if (streaming) aclpy_stream_fence();
}

static int32_t copy_plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape, int64_t bytes) {
  aclpy_copy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params < 1 || params[0] < 0 || params[0] > ACLPY_COPY_RANK || n_params != 1 + 3 * params[0]) return -1;
  if (aclpy_copy_make(&g, params, bytes) != 0 || g.elements > INT64_MAX / bytes) return -1;
  shape->passes = 1;
  if (g.elements > 0) shape->items[0] = aclpy_ceil_div(g.outer, g.group) * g.row_tiles * g.column_tiles;
  const int straight = g.column.from == bytes && g.column.to == bytes;
  double each = 0.3 + 0.1 * (double)bytes;
  if (straight) each = 0.03 * (double)bytes;
  if (g.transposed) each = 0.06 * (double)bytes;
  shape->cost_ns = 40.0 + (double)g.elements * each + (straight ? 5.0 * (double)(g.elements / g.column.n) : 0.0);
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  shape->order = 1;
  return 0;
}

#define KERNEL_(bytes)                                                                                         \
  static void run_b##bytes(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *s) { \
    (void)pass, (void)s;                                                                                       \
    copy_items_(args, begin, end, bytes, copy_block_b##bytes);                                                 \
  }                                                                                                            \
  static int32_t plan_b##bytes(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {           \
    return copy_plan_(params, n_params, shape, bytes);                                                         \
  }
KERNEL_(1)
KERNEL_(2)
KERNEL_(4)
KERNEL_(8)
KERNEL_(16)

#define ROW_(bytes) {"copy_strided", "b" #bytes, ACLPY_ISA_NAME, run_b##bytes, plan_b##bytes}

ACLPY_KERNELS(copy_strided) = {ROW_(1), ROW_(2), ROW_(4), ROW_(8), ROW_(16), {0}};
