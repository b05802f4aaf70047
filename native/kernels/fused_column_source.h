/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of fused_column_loops.h: rows of a tile in the type of the source. ACLPY_T names it.
 */
#include "../simd/instance.h"

#if ACLPY_COLUMN_AGAIN
/* Maxima of `count` rows of `have` elements are added to max. */
static __attribute__((unused, noinline)) void FN(column_max)(const STORED *x, int64_t pitch, int64_t count,
                                                             int64_t have, float *max) {
  int64_t c = 0;
  for (; c + 4 * LANES <= have; c += 4 * LANES) {
    v32 top[4];
    for (int k = 0; k < 4; ++k) top[k] = v32_load(max + c + k * LANES);
    for (int64_t r = 0; r < count; ++r) {
      v32 v[4];
      LDQ(x + r * pitch + c, v);
      for (int k = 0; k < 4; ++k) top[k] = v32_max(v[k], top[k]);
    }
    for (int k = 0; k < 4; ++k) v32_store(max + c + k * LANES, top[k]);
  }
  for (; c < have; c += LANES) {
    const int64_t left = have - c;
    v32 top = v32_load(max + c);
    for (int64_t r = 0; r < count; ++r) {
      const STORED *from = x + r * pitch + c;
      top = v32_max(left >= LANES ? LD(from) : LDN(from, left, -INFINITY), top);
    }
    v32_store(max + c, top);
  }
}
#endif

/* Four vectors of the next tile's, `into` scratch where they are copied; their maxima are added to top. */
ACLPY_INLINE void FN(column_top)(const STORED *x, float *into, v32 *top) {
  v32 v[4];
  LDQ(x, v);
  for (int k = 0; k < 4; ++k) {
    if (into != NULL) v32_store(into + k * LANES, v[k]);
    top[k] = v32_max(v[k], top[k]);
  }
}
/* Four vectors of exponentials of x - shift, or, for a logarithm, of which only the differences are kept. x NULL: it is
 * in place of them. */
ACLPY_INLINE void FN(column_quad)(const STORED *x, float *e, const float *shift, v32 *v, int keeps) {
  if (x != NULL) LDQ(x, v);
  for (int k = 0; k < 4 && x == NULL; ++k) v[k] = v32_load(e + k * LANES);
  for (int k = 0; k < 4; ++k) v[k] = v32_sub(v[k], v32_load(shift + k * LANES));
  for (int k = 0; k < 4 && keeps == ACLPY_COLUMN_KEEP_X; ++k) v32_store(e + k * LANES, v[k]);
  v32_exp_quad(v, ACLPY_EXP_ANY);
  for (int k = 0; k < 4 && keeps == ACLPY_COLUMN_KEEP_E; ++k) v32_store(e + k * LANES, v[k]);
}
ACLPY_INLINE v32 FN(column_vector)(v32 x, float *e, v32 shift, int keeps) {
  const v32 d = v32_sub(x, shift), v = v32_exp_below(d, ACLPY_EXP_ANY);
  if (keeps != ACLPY_COLUMN_KEEP_NONE) v32_store(e, keeps == ACLPY_COLUMN_KEEP_X ? d : v);
  return v;
}
ACLPY_INLINE v32 FN(column_some)(const STORED *x, const float *e, int64_t left, int copied) {
  if (copied) return left >= LANES ? v32_load(e) : ldn_f32(e, left, -INFINITY);
  return left >= LANES ? LD(x) : LDN(x, left, -INFINITY);
}

/* One row of a strip, of all three tiles. */
ACLPY_INLINE void FN(column_row)(const column_lines *l, const column_out *out, int64_t r, int64_t c, v32 *top, v32 *v,
                                 int keeps, int copied) {
  const STORED *x = l->x, *next = l->next;
  const int64_t at = r * l->stride + c;
  if (l->out != NULL) column_strip_out_(out, r, c); /* first: its place may be that of either */
  if (next != NULL) FN(column_top)(next + r * l->pitch + c, copied ? l->into + at : NULL, top);
  FN(column_quad)(copied ? NULL : x + r * l->pitch + c, l->e + at, l->max + c, v, keeps);
}

/* Exponentials of some rows, beside which others' results are stored and rows asked for. `copied`: they are in place of
 * x, and the next tile's rows go to scratch. */
ACLPY_INLINE void FN(column_exp_as)(column_lines l, int keeps, int copied) {
  const STORED *x = l.x;
  const int64_t width = 4 * LANES, bytes = width * (int64_t)sizeof(STORED);
  int64_t c = 0;
  static const column_out none = {0};
  const column_out out = l.out != NULL ? *l.out : none; /* a value, for what is stored might be anything */
  if (l.out != NULL) column_edges_out_(l.out, l.have / width * width);
  for (; c + width <= l.have; c += width) {
    v32_acc sum[4];
    v32 top[4];
    for (int k = 0; k < 4; ++k) {
      sum[k] = v32_acc_load(l.sum + c + k * LANES);
      top[k] = v32_load(l.top + c + k * LANES);
    }
    for (int64_t r = 0; r < l.count; r += 2) {
      v32 v[4], w[4];
      const int pair = r + 1 < l.count;
      FN(column_row)(&l, &out, r, c, top, v, keeps, copied);
      if (pair) FN(column_row)(&l, &out, r + 1, c, top, w, keeps, copied);
      for (int k = 0; k < 4 && pair; ++k) v[k] = v32_add(v[k], w[k]);
      for (int k = 0; k < 4; ++k) sum[k] = v32_acc_add(sum[k], v[k]);
      for (int64_t at = 0; at < bytes && l.far != 0; at += 64) {
        const uintptr_t far = l.far + (uintptr_t)(r * l.apart + c * (int64_t)sizeof(STORED) + at);
        ACLPY_PREFETCH(far);
        ACLPY_PREFETCH(far + (uintptr_t)l.apart);
      }
    }
    for (int k = 0; k < 4; ++k) {
      v32_acc_store(l.sum + c + k * LANES, sum[k]);
      v32_store(l.top + c + k * LANES, top[k]);
    }
  }
  for (; c < l.have; c += LANES) {
    const v32 shift = v32_load(l.max + c);
    const int64_t left = l.have - c;
    v32_acc sum = v32_acc_load(l.sum + c);
    v32 top = v32_load(l.top + c), odd = v32_set1(0.0f);
    for (int64_t r = 0; r < l.count; ++r) {
      float *e = l.e + r * l.stride + c;
      const v32 v = FN(column_vector)(FN(column_some)(x + r * l.pitch + c, e, left, copied), e, shift, keeps);
      if (r % 2 == 0) odd = v;
      if (r % 2 != 0) sum = v32_acc_add(sum, v32_add(odd, v));
      if (r % 2 == 0 && r + 1 == l.count) sum = v32_acc_add(sum, odd);
      if (l.next == NULL) continue;
      const v32 n = FN(column_some)((const STORED *)l.next + r * l.pitch + c, NULL, left, 0);
      if (copied) v32_store(l.into + r * l.stride + c, n);
      top = v32_max(n, top);
    }
    v32_acc_store(l.sum + c, sum);
    v32_store(l.top + c, top);
  }
}
#define ACLPY_COLUMN_LOOP_(name, keeps, copied)                                   \
  static __attribute__((unused, noinline)) void FN(name)(const column_lines *l) { \
    FN(column_exp_as)(*l, keeps, copied);                                         \
  }
ACLPY_COLUMN_LOOP_(column_copied_exp, ACLPY_COLUMN_KEEP_E, 1)
#if ACLPY_COLUMN_AGAIN
ACLPY_COLUMN_LOOP_(column_exp, ACLPY_COLUMN_KEEP_E, 0)
ACLPY_COLUMN_LOOP_(column_log, ACLPY_COLUMN_KEEP_X, 0)
ACLPY_COLUMN_LOOP_(column_sum, ACLPY_COLUMN_KEEP_NONE, 0)
#endif
#undef ACLPY_COLUMN_LOOP_

#include "../simd/instance_end.h"
