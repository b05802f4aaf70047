/* SPDX-License-Identifier: Apache-2.0
 * cast: params [numel]; dtype "<source>_<target>", sources f32 f16 bf16 f64, targets every castable dtype.
 *
 * Every cast rounds once. float16 and bfloat16 go through float (exactly), block by block; double goes to types
 * narrower than float through a float rounded to odd.
 */
#include "cast_loops.h"
#include "define.h"

enum { CAST_ITEM = 8 * ACLPY_CAST_BLOCK };

typedef uint16_t type_f16_, type_bf16_;
typedef float type_f32_;
typedef double type_f64_;
typedef uint8_t type_bool_, type_u8_, type_f8e5m2_, type_f8e4m3_;
typedef int8_t type_i8_;
typedef int16_t type_i16_;
typedef int32_t type_i32_;
typedef int64_t type_i64_;
typedef uint16_t type_u16_;
typedef uint32_t type_u32_;
typedef uint64_t type_u64_;
typedef float type_c64_[2];
typedef double type_c128_[2];

static int32_t cast_plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  memset(shape, 0, sizeof *shape);
  if (n_params != 1 || params[0] < 0 || params[0] > INT64_MAX / 16) return -1;
  shape->passes = 1;
  shape->items[0] = aclpy_ceil_div(params[0], CAST_ITEM);
  shape->cost_ns = 20.0 + (double)params[0] * (ACLPY_ISA_RANK == 1 ? 1.5 : 0.4);
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  shape->order = 1;
  return 0;
}

/* `convert` gets at most one block, so that staging fits the first-level cache. */
#define RUN_(source, target, convert)                                                                          \
  static void run_##source##_##target(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, \
                                      void *scratch) {                                                         \
    (void)pass, (void)scratch;                                                                                 \
    const type_##source##_ *x = (const type_##source##_ *)(const void *)args->addr[0];                         \
    type_##target##_ *y = (type_##target##_ *)(void *)args->addr[1];                                           \
    const int64_t last = aclpy_min_i64(end * CAST_ITEM, args->params[0]);                                      \
    for (int64_t i = begin * CAST_ITEM; i < last; i += ACLPY_CAST_BLOCK) {                                     \
      const int64_t n = aclpy_min_i64(ACLPY_CAST_BLOCK, last - i);                                             \
      convert                                                                                                  \
    }                                                                                                          \
  }

#define DIRECT_(source, target) RUN_(source, target, cast_##source##_##target(x + i, (void *)(y + i), n);)
#define STAGED_(source, first, middle, target)                                                  \
  RUN_(source, target, float stage[ACLPY_CAST_BLOCK]; cast_##source##_##first(x + i, stage, n); \
       cast_##middle##_##target(stage, (void *)(y + i), n);)

#define OTHERS_(M) M(bool) M(i8) M(i16) M(i32) M(i64) M(u8) M(u16) M(u32) M(u64) M(c64) M(c128)
#define FROM_F32_(target) DIRECT_(f32, target)
#define FROM_F64_(target) DIRECT_(f64, target)
#define FROM_F16_(target) STAGED_(f16, f32, f32, target)
#define FROM_BF16_(target) STAGED_(bf16, f32, f32, target)
#define FROM_ODD_(target) STAGED_(f64, odd, f32, target)

OTHERS_(FROM_F32_)
OTHERS_(FROM_F64_)
OTHERS_(FROM_F16_)
OTHERS_(FROM_BF16_)
FROM_F32_(f16)
FROM_F32_(bf16)
FROM_F32_(f64)
FROM_F32_(f8e5m2)
FROM_F32_(f8e4m3)
DIRECT_(f16, f32)
DIRECT_(f16, bf16)
FROM_F16_(f64)
FROM_F16_(f8e5m2)
FROM_F16_(f8e4m3)
DIRECT_(bf16, f32)
DIRECT_(bf16, f16)
FROM_BF16_(f64)
FROM_BF16_(f8e5m2)
FROM_BF16_(f8e4m3)
FROM_F64_(f32)
FROM_ODD_(f16)
FROM_ODD_(bf16)
FROM_ODD_(f8e5m2)
FROM_ODD_(f8e4m3)

#define ROW_(source, target) {"cast", #source "_" #target, ACLPY_ISA_NAME, run_##source##_##target, cast_plan_}
#define ROWS_(source)                                                                                              \
  ROW_(source, bool), ROW_(source, i8), ROW_(source, i16), ROW_(source, i32), ROW_(source, i64), ROW_(source, u8), \
      ROW_(source, u16), ROW_(source, u32), ROW_(source, u64), ROW_(source, c64), ROW_(source, c128),              \
      ROW_(source, f8e5m2), ROW_(source, f8e4m3)

ACLPY_KERNELS(cast) = {ROWS_(f32),  ROW_(f32, f16),  ROW_(f32, bf16), ROW_(f32, f64),
                       ROWS_(f16),  ROW_(f16, f32),  ROW_(f16, bf16), ROW_(f16, f64),
                       ROWS_(bf16), ROW_(bf16, f32), ROW_(bf16, f16), ROW_(bf16, f64),
                       ROWS_(f64),  ROW_(f64, f32),  ROW_(f64, f16),  ROW_(f64, bf16),
                       {0}};
