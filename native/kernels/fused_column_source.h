/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of fused_column_loops.h: rows of a tile in the type of the source. ACLPY_T names it.
 */
#include "../simd/instance.h"

/* What was seen of a strip is added to its maxima. */
ACLPY_INLINE void FN(column_seen)(const TOPS *tops, float *max) {
  v32 most[4];
  TOPS_VALUES(tops, most, ACLPY_WAY_ANY);
  for (int k = 0; k < 4; ++k) v32_store(max + k * LANES, v32_max(v32_load(max + k * LANES), most[k]));
}
/* Maxima of `count` rows of `have` elements are added to max. */
ACLPY_APART void FN(column_max)(const STORED *x, int64_t pitch, int64_t count, int64_t have, float *max) {
  int64_t c = 0;
  for (; c + 4 * LANES <= have; c += 4 * LANES) {
    TOPS tops = TOPS_FIRST();
    for (int64_t r = 0; r < count; ++r) TOPS_ROW(&tops, x + r * pitch + c);
    FN(column_seen)(&tops, max + c);
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

ACLPY_INLINE void FN(column_copy)(const STORED *x, STORED *into, int64_t n) {
  for (int64_t k = 0; k < n; ++k) into[k] = x[k];
}
/* Four vectors of them, in pieces of a vector's size. */
ACLPY_INLINE void FN(column_copy_quad)(const STORED *x, STORED *into) {
  enum { PIECE = 4 * LANES * (int)sizeof(STORED) < 64 ? 32 : 64 };
  const unsigned char *from = (const unsigned char *)(const void *)x;
  unsigned char *to = (unsigned char *)(void *)into;
  for (int k = 0; k < 4 * LANES * (int)sizeof(STORED); k += PIECE) memcpy(to + k, from + k, PIECE);
}
/* Four vectors of exponentials of x - shift, or, for a logarithm, of which only the differences are kept. */
ACLPY_INLINE void FN(column_quad)(float *e, const float *shift, v32 *v, int keeps) {
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
ACLPY_INLINE v32 FN(column_some)(const STORED *x, int64_t left) {
  return left >= LANES ? LD(x) : LDN(x, left, -INFINITY);
}

/* What is asked for beside row r of a strip. */
ACLPY_INLINE void FN(column_fetch)(const column_lines *l, int64_t r, int64_t c) {
  const uintptr_t far = l->far + (uintptr_t)(r * l->apart + c * (int64_t)sizeof(STORED));
  for (int at = 0; at < 4 * LANES * (int)sizeof(STORED) && l->far != 0; at += 64) ACLPY_PREFETCH(far + (uintptr_t)at);
}

/* One row of a strip, of all three tiles. Each is read before what follows it takes its place. */
ACLPY_INLINE void FN(column_row)(const column_lines *l, const column_out *out, int64_t r, int64_t c, TOPS *tops, v32 *v,
                                 int keeps) {
  const STORED *x = l->x, *next = l->next;
  STORED *into = l->into;
  FN(column_fetch)(l, r, c);
  if (l->out != NULL) column_strip_out_(out, r, c);
  LDQ(x + r * l->pitch + c, v);
  if (next != NULL) TOPS_ROW(tops, next + r * l->lies + c);
  if (into != NULL) FN(column_copy_quad)(next + r * l->lies + c, into + r * l->pitch + c);
  FN(column_quad)(l->e + r * l->stride + c, l->max + c, v, keeps);
}

/* Exponentials of some rows, beside which others' results are stored and rows asked for. */
ACLPY_INLINE void FN(column_exp_as)(column_lines l, int keeps) {
  const STORED *x = l.x, *next = l.next;
  const int64_t width = 4 * LANES;
  int64_t c = 0;
  static const column_out none = {0};
  const column_out out = l.out != NULL ? *l.out : none; /* a value, for what is stored might be anything */
  if (l.out != NULL) column_edges_out_(l.out, l.have / width * width);
  for (; c + width <= l.have; c += width) {
    v32_acc sum[4];
    TOPS tops = TOPS_FIRST();
    for (int k = 0; k < 4; ++k) sum[k] = v32_acc_load(l.sum + c + k * LANES);
    for (int64_t r = 0; r < l.count; r += 2) {
      v32 v[4], w[4];
      const int pair = r + 1 < l.count;
      FN(column_row)(&l, &out, r, c, &tops, v, keeps);
      if (pair) FN(column_row)(&l, &out, r + 1, c, &tops, w, keeps);
      for (int k = 0; k < 4 && pair; ++k) v[k] = v32_add(v[k], w[k]);
      for (int k = 0; k < 4; ++k) sum[k] = v32_acc_add(sum[k], v[k]);
    }
    for (int k = 0; k < 4; ++k) v32_acc_store(l.sum + c + k * LANES, sum[k]);
    if (next != NULL) FN(column_seen)(&tops, l.top + c);
  }
  for (; c < l.have; c += LANES) {
    const v32 shift = v32_load(l.max + c);
    const int64_t left = l.have - c;
    v32_acc sum = v32_acc_load(l.sum + c);
    v32 top = v32_load(l.top + c), odd = v32_set1(0.0f);
    for (int64_t r = 0; r < l.count; ++r) {
      const v32 from = FN(column_some)(x + r * l.pitch + c, left);
      const v32 v = FN(column_vector)(from, l.e + r * l.stride + c, shift, keeps);
      if (r % 2 == 0) odd = v;
      if (r % 2 != 0) sum = v32_acc_add(sum, v32_add(odd, v));
      if (r % 2 == 0 && r + 1 == l.count) sum = v32_acc_add(sum, odd);
      if (next == NULL) continue;
      const STORED *some = next + r * l.lies + c;
      top = v32_max(FN(column_some)(some, left), top);
      if (l.into != NULL) FN(column_copy)(some, (STORED *)l.into + r * l.pitch + c, aclpy_min_i64(left, LANES));
    }
    v32_acc_store(l.sum + c, sum);
    v32_store(l.top + c, top);
  }
}
#define ACLPY_COLUMN_LOOP_(name, keeps) \
  ACLPY_APART void FN(name)(const column_lines *l) { FN(column_exp_as)(*l, keeps); }
ACLPY_COLUMN_LOOP_(column_exp, ACLPY_COLUMN_KEEP_E)
ACLPY_COLUMN_LOOP_(column_log, ACLPY_COLUMN_KEEP_X)
ACLPY_COLUMN_LOOP_(column_sum, ACLPY_COLUMN_KEEP_NONE)
#undef ACLPY_COLUMN_LOOP_

/* Results of rows of whole strips whose factors are known: nothing has to wait, so row by row, as memory lies. */
ACLPY_APART void FN(column_whole)(const column_lines *l, const column_out *given) {
  const column_out out = *given;
  const float *max = l->max;
  for (int64_t r = 0; r < l->count; ++r) {
    const STORED *x = (const STORED *)l->x + r * l->pitch;
    for (int64_t c = 0; c < l->have; c += 4 * LANES) {
      v32 v[4];
      LDQ(x + c, v);
      FN(column_fetch)(l, r, c);
      for (int k = 0; k < 4; ++k) v[k] = v32_sub(v[k], v32_load(max + c + k * LANES));
      v32_exp_quad(v, ACLPY_EXP_ANY);
      column_form_apply_(&out, r, c, v);
      direct_store_(out.target, out.y + r * out.apart + (c << out.shift), v, out.streaming, out.tame);
    }
  }
}

#include "../simd/instance_end.h"
