/* SPDX-License-Identifier: Apache-2.0
 * Which numbers of aclDataType have a name.
 */
#ifndef ACLPY_CAPI_DTYPES_H
#define ACLPY_CAPI_DTYPES_H

#include <stdbool.h>
#include <stdint.h>

bool capi_dtype_is_named(int32_t dtype);

#endif
