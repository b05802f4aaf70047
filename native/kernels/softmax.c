/* SPDX-License-Identifier: Apache-2.0
 * softmax and log_softmax: params [outer, n, inner]; y may be x.
 *
 * y = exp(x - max) / sum, or (x - max) - log(sum); max and sum over n. One exp an element where a row (or a tile of
 * columns) is held in cache between the passes, two where it is too long for that.
 */
#include <math.h>

#include "../simd/accumulate.h"
#include "../simd/math.h"
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

ACLPY_KERNELS(softmax) = {{"softmax", "f32", ACLPY_ISA_NAME, softmax_run_f32, forward_plan_f32},
                          {"softmax", "f16", ACLPY_ISA_NAME, softmax_run_f16, forward_plan_f16},
                          {"softmax", "bf16", ACLPY_ISA_NAME, softmax_run_bf16, forward_plan_bf16},
                          {"softmax", "f64", ACLPY_ISA_NAME, softmax_run_f64, forward_plan_f64},
                          {"log_softmax", "f32", ACLPY_ISA_NAME, log_softmax_run_f32, forward_plan_f32},
                          {"log_softmax", "f16", ACLPY_ISA_NAME, log_softmax_run_f16, forward_plan_f16},
                          {"log_softmax", "bf16", ACLPY_ISA_NAME, log_softmax_run_bf16, forward_plan_bf16},
                          {"log_softmax", "f64", ACLPY_ISA_NAME, log_softmax_run_f64, forward_plan_f64},
                          {0}};
