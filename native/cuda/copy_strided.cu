/* SPDX-License-Identifier: Apache-2.0
 * Copies of views, element by element, whatever their type. Strides of the source may be negative or zero; the
 * positions of the destination are distinct, but for the ordered copy.
 */
#include "copy.h"

#define COPY_(bytes, T)                                                        \
  ACLPY_GLOBAL(copy_strided_b##bytes, View, 256) { copy_strided<T>(a); }       \
  ACLPY_GLOBAL(copy_transposed_b##bytes, View, 256) { copy_transposed<T>(a); } \
  ACLPY_GLOBAL(copy_ordered_b##bytes, View, 32) { copy_ordered<T>(a); }
COPY_(1, u8)
COPY_(2, u16)
COPY_(4, u32)
COPY_(8, u64)
COPY_(16, Bytes16)
#undef COPY_
