/* SPDX-License-Identifier: Apache-2.0
 * softmax_backward and log_softmax_backward: params [outer, n, inner]; out may be gradOutput or output.
 * softmax_backward_pitched and log_softmax_backward_pitched: params [rows, n, elements from row to row of each operand,
 * the result last]; the bits of the above.
 * softmax_backward_spaced and log_softmax_backward_spaced: params [outer, n, inner, then of the result the elements
 * from one outer position to the next, from row to row, in a dense run of columns, from run to run]; the bits of the
 * above. Not for every size. softmax_backward_transposed and log_softmax_backward_transposed: params [outer, n, inner],
 * the inputs lie as [outer, inner, n]; the bits of the above. Not for every size. softmax_backward_swapped and
 * log_softmax_backward_swapped: params [outer, n, rows, columns], the inputs lie as [outer, n, columns, rows]; the bits
 * of the above with an inner size of rows * columns. Not for every size.
 */
#include <float.h>
#include <math.h>

#include "../simd/accumulate.h"
#include "../simd/terms.h"
#include "../simd/packed.h"
#include "../simd/turned.h"
#include "../simd/products.h"
#include "define.h"
#include "reduction_plan.h"
#include "row_map.h"
#include "rows_geometry.h"

/* With AVX2's few registers gradients of softmax take up to 1.2 of the time otherwise. */
#if ACLPY_ISA_RANK == 2
ACLPY_ORDER_LATE
#endif

#define ACLPY_T f32
#include "backward_family.h"
#define ACLPY_T f16
#include "backward_family.h"
#define ACLPY_T bf16
#include "backward_family.h"
#define ACLPY_T f64
#include "backward_family.h"

#define ROW_(name, dtype) {#name, #dtype, ACLPY_ISA_NAME, name##_run_##dtype, name##_plan_##dtype}

ACLPY_KERNELS(softmax_backward) = {ROW_(softmax_backward, f32),
                                   ROW_(softmax_backward, f16),
                                   ROW_(softmax_backward, bf16),
                                   ROW_(softmax_backward, f64),
                                   ROW_(log_softmax_backward, f32),
                                   ROW_(log_softmax_backward, f16),
                                   ROW_(log_softmax_backward, bf16),
                                   ROW_(log_softmax_backward, f64),
                                   ROW_(softmax_backward_pitched, f32),
                                   ROW_(softmax_backward_pitched, f16),
                                   ROW_(softmax_backward_pitched, bf16),
                                   ROW_(softmax_backward_pitched, f64),
                                   ROW_(log_softmax_backward_pitched, f32),
                                   ROW_(log_softmax_backward_pitched, f16),
                                   ROW_(log_softmax_backward_pitched, bf16),
                                   ROW_(log_softmax_backward_pitched, f64),
                                   ROW_(softmax_backward_transposed, f32),
                                   ROW_(softmax_backward_transposed, f16),
                                   ROW_(softmax_backward_transposed, bf16),
                                   ROW_(softmax_backward_transposed, f64),
                                   ROW_(log_softmax_backward_transposed, f32),
                                   ROW_(log_softmax_backward_transposed, f16),
                                   ROW_(log_softmax_backward_transposed, bf16),
                                   ROW_(log_softmax_backward_transposed, f64),
                                   ROW_(softmax_backward_swapped, f32),
                                   ROW_(softmax_backward_swapped, f16),
                                   ROW_(softmax_backward_swapped, bf16),
                                   ROW_(softmax_backward_swapped, f64),
                                   ROW_(log_softmax_backward_swapped, f32),
                                   ROW_(log_softmax_backward_swapped, f16),
                                   ROW_(log_softmax_backward_swapped, bf16),
                                   ROW_(log_softmax_backward_swapped, f64),
                                   ROW_(softmax_backward_spaced, f32),
                                   ROW_(softmax_backward_spaced, f16),
                                   ROW_(softmax_backward_spaced, bf16),
                                   ROW_(softmax_backward_spaced, f64),
                                   ROW_(log_softmax_backward_spaced, f32),
                                   ROW_(log_softmax_backward_spaced, f16),
                                   ROW_(log_softmax_backward_spaced, bf16),
                                   ROW_(log_softmax_backward_spaced, f64),
                                   {0}};
