/* SPDX-License-Identifier: Apache-2.0
 * Casts of n elements from the dtype ACLPY_T (f32, f16, bf16, f64): cast_<source>_<target>.
 */
#include "cast.h"

#define CAST_(target) \
  ACLPY_GLOBAL(ACLPY_JOIN(ACLPY_NAME(cast), target), Elements, 256) { cast_elements<ACLPY_T, to_##target>(a); }
CAST_(f32)
CAST_(f64)
CAST_(f16)
CAST_(bf16)
CAST_(bool)
CAST_(i8)
CAST_(i16)
CAST_(i32)
CAST_(i64)
CAST_(u8)
CAST_(u16)
CAST_(u32)
CAST_(u64)
CAST_(c64)
CAST_(c128)
#undef CAST_
