/* SPDX-License-Identifier: Apache-2.0
 * Template: fused softmax of rows whose operations are all cheap, in the plain kernel's loop over three rows
 * (softmax_rows.h), or staged. ACLPY_T names the source; `target` is a constant where the destination is of the same
 * type, or ACLPY_STAGED.
 */
#include "../simd/instance.h"

/* The quad from d->at on. */
ACLPY_INLINE void FN(direct_quad)(const aclpy_fused *f, fused_direct *d, int logarithm, int64_t target, int functions,
                                  int paired) {
  if (target == ACLPY_STAGED) {
    direct_staged_quad_(f, d);
    return;
  }
  const int64_t i = d->at;
  v32 v[4];
  if (logarithm) {
    const STORED *x = (const STORED *)(const void *)d->x + i;
    const v32 shift = v32_set1(d->shift), offset = v32_set1(d->factor);
    for (int k = 0; k < 4; ++k) v[k] = v32_sub(v32_sub(LD(x + k * LANES), shift), offset);
  } else {
    const v32 factor = v32_set1(d->folded ? d->factor * d->fold.gain : d->factor);
    for (int k = 0; k < 4; ++k) v[k] = v32_mul(v32_load(d->e + i + k * LANES), factor);
  }
  if (paired && !d->folded) ORDER(v);
  const int64_t left = direct_single_(d, v, i) ? 0 : d->steps_now;
  for (int64_t s = 0; s < left; ++s) {
    if (functions && !aclpy_post_is_easy(d->now[s].code)) {
      aclpy_function_step_(&d->now[s], v);
    } else {
      aclpy_easy_step_(&d->now[s], v, i, 4);
    }
  }
  for (int64_t k = 0; k < d->n_far; ++k) {
    direct_fetch_operand_(d->far[k] + i, ACLPY_DIRECT_QUAD * (int64_t)sizeof(float));
  }
  if (paired && d->folded) {
    STQ((STORED *)(void *)d->y + i, v, f->streaming, d->fold.tame);
  } else {
    direct_store_(target, d->y + i * f->to, v, f->streaming, d->folded && d->fold.tame);
  }
  d->at = i + ACLPY_DIRECT_QUAD;
}

/* What is left of the row. */
ACLPY_INLINE void FN(direct_rest)(const aclpy_fused *f, fused_direct *d, int logarithm, int64_t target, int functions,
                                  int paired) {
  while (d->at + ACLPY_DIRECT_QUAD <= f->g.n) FN(direct_quad)(f, d, logarithm, target, functions, paired);
  while (d->at < f->g.n) direct_part_(f, d, aclpy_min_i64(ACLPY_DIRECT_PART, f->g.n - d->at));
}

ACLPY_INLINE float FN(direct_max)(const STORED *x, int64_t n) {
  v32 a = v32_set1(-INFINITY);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) a = v32_max(LD(x + i), a);
  if (i < n) a = v32_max(LDN(x + i, n - i, -INFINITY), a);
  return v32_hmax(a);
}

/* As fused_quad_ and fused_part_ (fused_rows.h), on four vectors of x. */
ACLPY_INLINE v32_acc FN(direct_exp)(const v32 *x, float *e, v32 shift, int logarithm, v32_acc s, int paired) {
  v32 v[4];
  for (int k = 0; k < 4; ++k) v[k] = v32_sub(x[k], shift);
  if (sizeof(STORED) < sizeof(float)) { /* step by step: float32 gains nothing */
    v32_exp_quad(v, 0);
  } else {
    for (int k = 0; k < 4; ++k) v[k] = v32_exp_negative(v[k]);
  }
  for (int k = 0; k < 4 && !logarithm; ++k) v32_store(e + k * LANES, v[k]);
  if (paired) return v32_acc_add(s, SUMX(v));
  if (!logarithm) return v32_acc_add(s, v32_add(v32_add(v[0], v[1]), v32_add(v[2], v[3])));
  return v32_acc_add(v32_acc_add(s, v32_add(v[0], v[1])), v32_add(v[2], v[3]));
}

/* The maximum of `next`, the exponentials of x, the results of the row before. Returns the sum. */
ACLPY_INLINE double FN(direct_three)(const aclpy_fused *f, fused_direct *d, const STORED *next, float *next_max,
                                     const STORED *x, float *e, float shift_by, int logarithm, int64_t target,
                                     int functions, int paired) {
  const v32 shift = v32_set1(shift_by);
  const int64_t n = f->g.n;
  TOP top = TOP_FIRST();
  v32 top_rest = v32_set1(-INFINITY);
  v32_acc s = v32_acc_zero(), rest = s;
  int64_t i = 0;
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    if (f->streaming) direct_fetch_next_(next + i, ACLPY_DIRECT_QUAD * (int64_t)sizeof(STORED));
    TOP_QUAD(&top, next + i);
    /* Before anything is stored: a load that follows a store to the same place of another page waits for it. */
    for (int k = 0; k < 4; ++k) v[k] = paired ? LDX(x + i, k) : LD(x + i + k * LANES);
    /* Before the exponentials, for those it reads may lie where the next ones go. */
    if (d->y != NULL && d->at + ACLPY_DIRECT_QUAD <= n) FN(direct_quad)(f, d, logarithm, target, functions, paired);
    s = FN(direct_exp)(v, e + i, shift, logarithm, s, paired);
  }
  for (; i < n; i += LANES) {
    const int64_t k = aclpy_min_i64(LANES, n - i);
    top_rest = v32_max(LDN(next + i, k, -INFINITY), top_rest);
    const v32 v = v32_exp_negative(v32_sub(LDN(x + i, k, -INFINITY), shift));
    if (!logarithm) stn_f32(e + i, v, k);
    rest = v32_acc_add(rest, v);
  }
  if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, paired);
  if (paired) ORDER_SUMX(&s.low, &s.high);
  const float most = TOP_VALUE(&top), others = v32_hmax(top_rest);
  /* A NaN is passed over, as without integers. */
  *next_max = most != most ? FN(direct_max)(next, n) : others > most ? others : most;
  return v32_acc_sum(s, rest);
}

ACLPY_INLINE void FN(direct_run_as)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch,
                                    int logarithm, int64_t target, int functions, int paired) {
  const int64_t n = f->g.n;
  /* Two rows of exponentials in turn; one where rows are whole quads and lines, so that each quad is written before its
   * place is needed: with four bytes an element, two rows of x and two of exponentials are more than the first-level
   * cache holds well. */
  const int in_turn = sizeof(STORED) < sizeof(float) || !direct_whole_(f);
  const int64_t apart = in_turn ? n : 0;
  const STORED *base = (const STORED *)(const void *)f->x;
  float max = FN(direct_max)(base + begin * n, n), next_max = max;
  for (int64_t row = begin; row < end; ++row) {
    /* The last row stands for the one that does not follow; its maximum is not used. */
    const STORED *x = base + row * n, *next = row + 1 < end ? x + n : x;
    float *e = scratch + (row & 1) * apart;
    const float shift = fused_shift_(f->flags, max);
    const double sum = FN(direct_three)(f, d, next, &next_max, x, e, shift, logarithm, target, functions, paired);
    direct_next_(f, d, row, e, (const unsigned char *)x, shift, fused_factor_(f->flags, sum));
    max = next_max;
  }
  FN(direct_rest)(f, d, logarithm, target, functions, paired);
}

/* A launch without operations that are staged, its destination of the source's type where `same`. */
ACLPY_INLINE void FN(direct_run_all)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch,
                                     int functions) {
  enum { SAME = ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), PAIRS_WORDS = SAME == ACLPY_TYPE_BF16 };
  if (PAIRS_WORDS && d->fold.paired) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, SAME, functions, PAIRS_WORDS);
  } else if (f->post.target == SAME) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, SAME, functions, 0);
  } else {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, f->post.target, functions, 0);
  }
}

static void FN(direct_run)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch, int way) {
  const int logarithm = (f->flags & ACLPY_FUSED_LOG) != 0;
  if (way == ACLPY_DIRECT_STAGED && logarithm) {
    FN(direct_run_as)(f, d, begin, end, scratch, 1, ACLPY_STAGED, 0, 0);
  } else if (way == ACLPY_DIRECT_STAGED) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, ACLPY_STAGED, 0, 0);
  } else if (logarithm) {
    FN(direct_run_as)(f, d, begin, end, scratch, 1, f->post.target, 0, 0);
  } else if (way == ACLPY_DIRECT_FUNCTIONS) {
    FN(direct_run_all)(f, d, begin, end, scratch, 1);
  } else {
    FN(direct_run_all)(f, d, begin, end, scratch, 0);
  }
}

#include "../simd/instance_end.h"
