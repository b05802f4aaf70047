/* SPDX-License-Identifier: Apache-2.0
 * Template: the entry points of the gradients whose inputs are transposed. ACLPY_T names the instance; after
 * backward_words.h.
 */
#include "../simd/instance.h"

ACLPY_INLINE int FN(transposed_geometry)(aclpy_geometry *g, const int64_t *params) {
  const int64_t element = 2 * sizeof(STORED);
  if (aclpy_geometry_transposed(g, params, sizeof(REAL), 2, sizeof(STORED), 3, element, element) != 0) return -1;
  FN(strips_cut)(g);
  return 0;
}
static void FN(softmax_backward_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                                void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_run)(&g, args, begin, end, scratch, 0);
}
static void FN(log_softmax_backward_transposed_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin,
                                                    int64_t end, void *scratch) {
  aclpy_geometry g;
  (void)pass;
  if (FN(transposed_geometry)(&g, args->params) == 0) FN(strips_run)(&g, args, begin, end, scratch, 1);
}
static int32_t FN(transposed_plan_as)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape,
                                      int logarithm) {
  aclpy_geometry g;
  memset(shape, 0, sizeof *shape);
  if (n_params != 3 || FN(transposed_geometry)(&g, params) != 0) return -1;
  shape->thread_scratch_bytes = FN(strips_scratch)(&g);
  const double each = aclpy_backward_cost(sizeof(STORED), logarithm, g.streaming);
  return aclpy_transposed_plan(&g, shape, each, 2 * sizeof(STORED));
}
static int32_t FN(softmax_backward_transposed_plan)(const int64_t *params, int32_t n_params,
                                                    aclpy_kernel_shape *shape) {
  return FN(transposed_plan_as)(params, n_params, shape, 0);
}
static int32_t FN(log_softmax_backward_transposed_plan)(const int64_t *params, int32_t n_params,
                                                        aclpy_kernel_shape *shape) {
  return FN(transposed_plan_as)(params, n_params, shape, 1);
}
