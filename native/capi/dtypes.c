/* SPDX-License-Identifier: Apache-2.0
 * Sizes of element types under their C names.
 */
#include "aclpy_dtype.h"

#include <stdbool.h>

#include "capi.h"
#include "dtypes.h"

enum { ROWS = sizeof(aclpy_dtype_rows) / sizeof(aclpy_dtype_rows[0]) };

static const struct aclpy_dtype_row *find_(int32_t dtype) {
  for (size_t i = 0; i < ROWS; i++) {
    if (aclpy_dtype_rows[i].value == dtype) return &aclpy_dtype_rows[i];
  }
  return NULL;
}

bool capi_dtype_is_named(int32_t dtype) { return find_(dtype) != NULL; }

size_t aclDataTypeSize(aclDataType dataType) {
  const struct aclpy_dtype_row *row = find_((int32_t)dataType);
  return row == NULL ? 0 : row->acl_size;
}
