/* SPDX-License-Identifier: Apache-2.0
 * Scalars, arrays and lists: copies behind handles.
 */
#ifndef ACLPY_CAPI_VALUES_H
#define ACLPY_CAPI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"

enum capi_value_kind {
  CAPI_SCALAR,
  CAPI_INT_ARRAY,
  CAPI_FLOAT_ARRAY,
  CAPI_BOOL_ARRAY,
  CAPI_TENSOR_LIST,
  CAPI_SCALAR_LIST
};

struct capi_object {
  struct eng_object head;
  enum capi_value_kind kind;
  int32_t dtype; /* of a scalar */
  uint64_t size; /* elements or members */
  unsigned char bytes[];
};

/* The object with one more reference, or NULL after a failure. NULL pointers are refused with 161001. */
struct capi_object *capi_value_acquire(const void *pointer, enum capi_value_kind kind, const char *function,
                                       const char *argument, int32_t *status);

#endif
