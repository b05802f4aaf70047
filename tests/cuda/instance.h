/* SPDX-License-Identifier: Apache-2.0
 * Template: every kernel of the dtype ACLPY_T.
 */
#include "cast.cu"
#include "softmax.cu"
#include "softmax_backward.cu"
