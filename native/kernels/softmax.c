/* SPDX-License-Identifier: Apache-2.0
 * softmax and log_softmax: params [outer, n, inner]; y may be x.
 * softmax_pitched and log_softmax_pitched: params [rows, n, elements from row to row of x, of y]; the bits of the
 * above.
 * softmax_spaced and log_softmax_spaced: params [outer, n, inner, then of y the elements from one outer position to the
 * next, from row to row, in a dense run of columns, from run to run]; the bits of the above. Not for every size.
 * softmax_transposed and log_softmax_transposed: params [outer, n, inner], x lies as [outer, inner, n]; the bits of the
 * above. Not for every size.
 * softmax_swapped and log_softmax_swapped: params [outer, n, rows, columns], x lies as [outer, n, columns, rows]; the
 * bits of the above with an inner size of rows * columns. Not for every size.
 *
 * y = exp(x - max) / sum, or (x - max) - log(sum); max and sum over n. One exp an element where a row (or a tile of
 * columns) is held in cache between the passes, two where it is too long for that.
 */
#include <float.h>
#include <math.h>

#include "../simd/accumulate.h"
#include "../simd/across.h"
#include "../simd/terms.h"
#include "../simd/packed.h"
#include "../simd/turned.h"
#include "../simd/tops_columns.h"
#include "define.h"
#include "reduction_plan.h"
#include "row_map.h"
#include "rows_geometry.h"

#define ACLPY_T f32
#include "softmax_family.h"
#define ACLPY_T f16
#include "softmax_family.h"
#define ACLPY_T bf16
#include "softmax_family.h"
#define ACLPY_T f64
#include "softmax_family.h"

#define ROW_(name, plan, dtype) {#name, #dtype, ACLPY_ISA_NAME, name##_run_##dtype, plan##_##dtype}

ACLPY_KERNELS(softmax) = {ROW_(softmax, forward_plan, f32),
                          ROW_(softmax, forward_plan, f16),
                          ROW_(softmax, forward_plan, bf16),
                          ROW_(softmax, forward_plan, f64),
                          ROW_(log_softmax, forward_log_plan, f32),
                          ROW_(log_softmax, forward_log_plan, f16),
                          ROW_(log_softmax, forward_log_plan, bf16),
                          ROW_(log_softmax, forward_log_plan, f64),
                          ROW_(softmax_pitched, pitched_plan, f32),
                          ROW_(softmax_pitched, pitched_plan, f16),
                          ROW_(softmax_pitched, pitched_plan, bf16),
                          ROW_(softmax_pitched, pitched_plan, f64),
                          ROW_(log_softmax_pitched, pitched_log_plan, f32),
                          ROW_(log_softmax_pitched, pitched_log_plan, f16),
                          ROW_(log_softmax_pitched, pitched_log_plan, bf16),
                          ROW_(log_softmax_pitched, pitched_log_plan, f64),
                          ROW_(softmax_transposed, transposed_plan, f32),
                          ROW_(softmax_transposed, transposed_plan, f16),
                          ROW_(softmax_transposed, transposed_plan, bf16),
                          ROW_(softmax_transposed, transposed_plan, f64),
                          ROW_(log_softmax_transposed, transposed_plan, f32),
                          ROW_(log_softmax_transposed, transposed_plan, f16),
                          ROW_(log_softmax_transposed, transposed_plan, bf16),
                          ROW_(log_softmax_transposed, transposed_plan, f64),
                          ROW_(softmax_swapped, swapped_plan, f32),
                          ROW_(softmax_swapped, swapped_plan, f16),
                          ROW_(softmax_swapped, swapped_plan, bf16),
                          ROW_(softmax_swapped, swapped_plan, f64),
                          ROW_(log_softmax_swapped, swapped_plan, f32),
                          ROW_(log_softmax_swapped, swapped_plan, f16),
                          ROW_(log_softmax_swapped, swapped_plan, bf16),
                          ROW_(log_softmax_swapped, swapped_plan, f64),
                          ROW_(softmax_spaced, spaced_plan, f32),
                          ROW_(softmax_spaced, spaced_plan, f16),
                          ROW_(softmax_spaced, spaced_plan, bf16),
                          ROW_(softmax_spaced, spaced_plan, f64),
                          ROW_(log_softmax_spaced, spaced_plan, f32),
                          ROW_(log_softmax_spaced, spaced_plan, f16),
                          ROW_(log_softmax_spaced, spaced_plan, bf16),
                          ROW_(log_softmax_spaced, spaced_plan, f64),
                          {0}};
