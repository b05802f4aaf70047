/* SPDX-License-Identifier: Apache-2.0
 * Casts of n elements from the dtype ACLPY_T (f32, f16, bf16, f64): cast_<source>_<target>.
 */
#include "cast.h"

#define CAST_(target, blocks) \
  ACLPY_GLOBAL(ACLPY_JOIN(ACLPY_NAME(cast), target), Elements, 256, blocks) { cast_elements<ACLPY_T, to_##target>(a); }
CAST_(f32, 0)
CAST_(f64, 0)
CAST_(f16, 0)
CAST_(bf16, 0)
CAST_(f8e5m2, 0)
CAST_(f8e4m3, 0)
CAST_(bool, 0)
CAST_(i8, 0)
CAST_(i16, 0)
CAST_(i32, 0)
CAST_(i64, 0)
CAST_(u8, 0)
CAST_(u16, 0)
CAST_(u32, 0)
CAST_(u64, 0)
CAST_(c64, 4)
CAST_(c128, 0)
#undef CAST_
