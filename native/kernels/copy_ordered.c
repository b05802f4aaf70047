/* SPDX-License-Identifier: Apache-2.0
 * copy_ordered: as copy_strided, one element after the other in row-major order, on one thread.
 *
 * For destinations whose elements share memory: the last one written is the one that stays.
 */
#include <string.h>

#include "define.h"

enum { RANK_MAX = 25 };

static int32_t plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  memset(shape, 0, sizeof *shape);
  if (n_params < 1 || params[0] < 0 || params[0] > RANK_MAX || n_params != 1 + 3 * params[0]) return -1;
  int64_t elements = 1;
  for (int64_t i = 0; i < params[0]; ++i) {
    if (params[1 + i] < 0 || __builtin_mul_overflow(elements, params[1 + i], &elements)) return -1;
  }
  shape->passes = 1;
  shape->items[0] = elements > 0;
  shape->grain[0] = 1;
  shape->cost_ns = 40.0 + 4.0 * (double)elements;
  return 0;
}

/* Steps `position` on, the last axis fastest, and moves the addresses along; 0 after the last element. */
static int next_(const int64_t *params, int64_t *position, const unsigned char **from, unsigned char **to) {
  const int64_t rank = params[0];
  const int64_t *dims = params + 1, *source = dims + rank, *destination = source + rank;
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    if (++position[axis] < dims[axis]) {
      *from += source[axis];
      *to += destination[axis];
      return 1;
    }
    position[axis] = 0;
    *from -= source[axis] * (dims[axis] - 1);
    *to -= destination[axis] * (dims[axis] - 1);
  }
  return 0;
}

#define KERNEL_(bytes)                                                                                         \
  static void run_b##bytes(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *s) { \
    (void)pass, (void)s;                                                                                       \
    if (begin >= end) return;                                                                                  \
    int64_t position[RANK_MAX] = {0};                                                                          \
    const unsigned char *from = args->addr[0];                                                                 \
    unsigned char *to = args->addr[1];                                                                         \
    do {                                                                                                       \
      memcpy(to, from, bytes);                                                                                 \
    } while (next_(args->params, position, &from, &to));                                                       \
  }
KERNEL_(1)
KERNEL_(2)
KERNEL_(4)
KERNEL_(8)
KERNEL_(16)

#define ROW_(bytes) {"copy_ordered", "b" #bytes, ACLPY_ISA_NAME, run_b##bytes, plan_}

ACLPY_KERNELS(copy_ordered) = {ROW_(1), ROW_(2), ROW_(4), ROW_(8), ROW_(16), {0}};
