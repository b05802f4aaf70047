/* SPDX-License-Identifier: Apache-2.0
 * The element types that have a name, for C: number and what aclDataTypeSize answers.
 */
#ifndef ACLPY_DTYPE_H
#define ACLPY_DTYPE_H

#include <stdint.h>

struct aclpy_dtype_row {
  int16_t value;
  uint8_t acl_size;
};

static const struct aclpy_dtype_row aclpy_dtype_rows[] = {
/* begin generated: dtype rows */
    {-1, 0}, /* DT_UNDEFINED */
    {0, 4}, /* FLOAT */
    {1, 2}, /* FLOAT16 */
    {2, 1}, /* INT8 */
    {3, 4}, /* INT32 */
    {4, 1}, /* UINT8 */
    {6, 2}, /* INT16 */
    {7, 2}, /* UINT16 */
    {8, 4}, /* UINT32 */
    {9, 8}, /* INT64 */
    {10, 8}, /* UINT64 */
    {11, 8}, /* DOUBLE */
    {12, 1}, /* BOOL */
    {13, 0}, /* STRING */
    {16, 8}, /* COMPLEX64 */
    {17, 16}, /* COMPLEX128 */
    {27, 2}, /* BF16 */
    {29, 1}, /* INT4 */
    {30, 1}, /* UINT1 */
    {33, 4}, /* COMPLEX32 */
    {34, 1}, /* HIFLOAT8 */
    {35, 1}, /* FLOAT8_E5M2 */
    {36, 1}, /* FLOAT8_E4M3FN */
    {37, 1}, /* FLOAT8_E8M0 */
    {38, 8}, /* FLOAT6_E3M2 */
    {39, 8}, /* FLOAT6_E2M3 */
    {40, 8}, /* FLOAT4_E2M1 */
    {41, 8}, /* FLOAT4_E1M2 */
/* end generated: dtype rows */
};

#endif
