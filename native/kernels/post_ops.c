/* SPDX-License-Identifier: Apache-2.0
 * post_ops: params [elements, program (post_ops.h)]; inputs source, then the operands; any types.
 *
 * y = the operations in turn on x, in float, rounded once to the destination type. What softmax_fused does at its end,
 * for lists with more operands than one launch takes and for sources in double.
 */
#include "post_ops.h"

enum { ITEM = 4 * ACLPY_RUN };

static int32_t plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  aclpy_post post;
  memset(shape, 0, sizeof *shape);
  if (n_params < 1 || params[0] < 0 || params[0] > INT64_MAX / 16) return -1;
  if (aclpy_post_make(&post, params + 1, n_params - 1, NULL) != n_params - 1) return -1;
  shape->passes = 1;
  shape->items[0] = aclpy_ceil_div(params[0], ITEM);
  shape->cost_ns = 60.0 + (double)params[0] * (0.1 + aclpy_post_cost(&post));
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  return 0;
}

static void run_(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)scratch;
  _Alignas(64) float t[ACLPY_RUN];
  aclpy_post post;
  if (aclpy_post_make(&post, args->params + 1, -1, args->addr + 1) < 0) return;
  const unsigned char *x = args->addr[0];
  unsigned char *y = args->addr[1 + post.n_operands];
  const int64_t from = aclpy_type_bytes(post.source), to = aclpy_type_bytes(post.target);
  const int64_t last = aclpy_min_i64(end * ITEM, args->params[0]);
  for (int64_t i = begin * ITEM; i < last; i += ACLPY_RUN) {
    const int64_t n = aclpy_min_i64(ACLPY_RUN, last - i);
    aclpy_load_run(post.source, x + i * from, t, n);
    aclpy_post_apply(&post, t, i, n);
    aclpy_store_run(post.target, t, y + i * to, n, 0);
  }
}

ACLPY_KERNELS(post_ops) = {{"post_ops", "f32", ACLPY_ISA_NAME, run_, plan_}, {0}};
