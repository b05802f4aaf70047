/* SPDX-License-Identifier: Apache-2.0
 * dropout_mask: params [elements, type of seed, whether there is an offset, dimensions, sizes.., strides..]; inputs
 * probability (float), seed (int32 or int64), offset (int64, where there is one); mask (uint8) dense, row-major.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011). Element i, counted
 * in the memory of the tensor the mask is for (its strides are in params), takes word i % 4 of group g = i / 4 and is
 * kept (1) where that word is greater than the probability times 2^32 - 1.
 *   offset 0:  counter 4g, 4g + 1, 4g + 2, 4g + 3, key seed, seed: the low 32 bits of each
 *   otherwise: counter offset, offset >> 32, 4g, 4g >> 32, key seed, seed >> 32
 */
#include "post_ops.h"

enum { ITEM = 8192, GROUPS = 64, HEAD = 4 };

static int32_t plan_(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape) {
  memset(shape, 0, sizeof *shape);
  if (n_params < HEAD || params[0] < 0 || params[3] < 0 || params[3] > ACLPY_POST_DIMS) return -1;
  if (n_params != HEAD + 2 * params[3] || params[2] < 0 || params[2] > 1) return -1;
  if (params[1] != ACLPY_TYPE_INT32 && params[1] != ACLPY_TYPE_INT64) return -1;
  int64_t elements = 1;
  for (int64_t d = 0; d < params[3]; ++d) {
    if (params[HEAD + d] < 0 || __builtin_mul_overflow(elements, params[HEAD + d], &elements)) return -1;
  }
  if (elements != params[0]) return -1;
  shape->passes = 1;
  shape->items[0] = aclpy_ceil_div(params[0], ITEM);
  shape->cost_ns = 60.0 + (double)params[0] * (ACLPY_ISA_RANK == 1 ? 5.0 : 2.0);
  shape->grain[0] = aclpy_grain(shape->cost_ns, shape->items[0]);
  return 0;
}

typedef struct stream_ {
  uint64_t seed, offset;
  uint32_t threshold;
} stream_;

static stream_ stream_of_(const aclpy_kernel_args *args) {
  stream_ s = {0, 0, 0};
  float probability = 0.0f;
  int32_t narrow = 0;
  memcpy(&probability, args->addr[0], sizeof probability);
  if (args->params[1] == ACLPY_TYPE_INT32) {
    memcpy(&narrow, args->addr[1], sizeof narrow);
    s.seed = (uint64_t)(int64_t)narrow;
  } else {
    memcpy(&s.seed, args->addr[1], sizeof s.seed);
  }
  if (args->params[2]) memcpy(&s.offset, args->addr[2], sizeof s.offset);
  s.threshold = (uint32_t)((double)aclpy_probability(probability) * 4294967295.0);
  return s;
}

/* Words of groups [first, first + GROUPS), word k of a group in words[k]. */
static void philox_(const stream_ *s, uint64_t first, uint32_t words[4][GROUPS]) {
  uint32_t *restrict a = words[0], *restrict b = words[1], *restrict c = words[2], *restrict d = words[3];
  const int legacy = s->offset == 0;
  for (int i = 0; i < GROUPS; ++i) {
    const uint64_t g = first + (uint64_t)i;
    const uint64_t element = 4 * g;
    a[i] = (uint32_t)(legacy ? element : s->offset);
    b[i] = legacy ? a[i] + 1u : (uint32_t)(s->offset >> 32);
    c[i] = legacy ? a[i] + 2u : (uint32_t)element;
    d[i] = legacy ? a[i] + 3u : (uint32_t)(element >> 32);
  }
  uint32_t low = (uint32_t)s->seed, high = legacy ? low : (uint32_t)(s->seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < GROUPS; ++i) {
      const uint64_t p = (uint64_t)0xd2511f53u * a[i], q = (uint64_t)0xcd9e8d57u * c[i];
      a[i] = (uint32_t)(q >> 32) ^ b[i] ^ low;
      c[i] = (uint32_t)(p >> 32) ^ d[i] ^ high;
      b[i] = (uint32_t)q;
      d[i] = (uint32_t)p;
    }
    low += 0x9e3779b9u;
    high += 0xbb67ae85u;
  }
}

/* mask[k] of elements first + k * stride, k in [0, n). */
static void draw_(const stream_ *s, uint64_t first, int64_t stride, uint8_t *mask, int64_t n) {
  uint32_t words[4][GROUPS];
  uint64_t group = UINT64_MAX;
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t index = first + (uint64_t)(k * stride), block = index / 4 / GROUPS;
    if (block != group) philox_(s, block * GROUPS, words);
    group = block;
    mask[k] = words[index % 4][index / 4 % GROUPS] > s->threshold;
  }
}

static void run_(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)scratch;
  const stream_ s = stream_of_(args);
  const int64_t *sizes = args->params + HEAD, rank = args->params[3], *strides = sizes + rank;
  uint8_t *mask = args->addr[2 + args->params[2]];
  const int64_t last = aclpy_min_i64(end * ITEM, args->params[0]), inner = rank > 0 ? sizes[rank - 1] : 1;
  for (int64_t i = begin * ITEM; i < last;) {
    const int64_t n = aclpy_min_i64(last - i, inner - i % inner);
    int64_t rest = i;
    uint64_t first = 0;
    for (int64_t d = rank - 1; d >= 0; --d) {
      first += (uint64_t)(rest % sizes[d] * strides[d]);
      rest /= sizes[d];
    }
    draw_(&s, first, rank > 0 ? strides[rank - 1] : 1, mask + i, n);
    i += n;
  }
}

ACLPY_KERNELS(dropout_mask) = {{"dropout_mask", "f32", ACLPY_ISA_NAME, run_, plan_}, {0}};
