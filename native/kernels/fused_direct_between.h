/* SPDX-License-Identifier: Apache-2.0
 * Template: what stands between the quads of two rows in fused_direct_rows.h: the ends of rows, and how the next one
 * begins. ACLPY_T names the source.
 */
#include "../simd/instance.h"

ACLPY_INLINE float FN(direct_max)(const STORED *x, int64_t n) {
  v32 a = v32_set1(-INFINITY);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) a = v32_max(LD(x + i), a);
  if (i < n) a = v32_max(LDN(x + i, n - i, -INFINITY), a);
  return v32_hmax(a);
}

/* The largest of a row, and whether what its quads hold is calm. */
typedef struct FN(direct_peak) {
  float max;
  int calm;
} FN(direct_peak);
ACLPY_INLINE FN(direct_peak) FN(direct_peak_of)(const STORED *x, int64_t n, const TOP *top, float others) {
  const float most = TOP_VALUE(top);
  /* A NaN is passed over, as without integers. */
  const float max = most != most ? FN(direct_max)(x, n) : others > most ? others : most;
  const FN(direct_peak) peak = {max, TOP_CALM(top, max)};
  return peak;
}
ACLPY_INLINE FN(direct_peak) FN(direct_first)(const STORED *x, int64_t n) {
  TOP top = TOP_FIRST();
  v32 rest = v32_set1(-INFINITY);
  int64_t i = 0;
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD) TOP_QUAD(&top, x + i);
  for (; i < n; i += LANES) rest = v32_max(LDN(x + i, aclpy_min_i64(LANES, n - i), -INFINITY), rest);
  return FN(direct_peak_of)(x, n, &top, v32_hmax(rest));
}

/* The maximum of `next`, the exponentials of x, the results of the row before. */
typedef struct FN(direct_three) {
  const STORED *next, *x;
  float *e;
  v32 shift;
  TOP top;
  v32_acc sum;
  int64_t touched; /* bytes, by such a turn */
  const direct_powers *powers;
  v32 least; /* of x - max, where powers are made of rows that may not be calm */
} FN(direct_three);

/* The rows of a launch, one of them at work. */
typedef struct FN(direct_rows) {
  FN(direct_three) t;
  int64_t row, end;     /* its number, and that behind the last */
  FN(direct_peak) peak; /* its own, or, once its end is done, that of the next */
  float shift;
  int calm;
  v32 last[4]; /* exponentials of what does not fill a quad, */
  v32_acc rest;
  const STORED *base;
  float *scratch; /* for exponentials: every second row so many floats further on */
  int64_t apart;
} FN(direct_rows);

/* The row begins. */
ACLPY_INLINE void FN(direct_begin)(const aclpy_fused *f, const fused_direct *d, FN(direct_rows) * r,
                                   FN(direct_three) * t) {
  const int64_t n = f->g.n, whole = direct_whole_quads_(n);
  t->x = r->base + r->row * n;
  /* The last row stands for the one that does not follow; its maximum is not used. */
  t->next = r->row + 1 < r->end ? t->x + n : t->x;
  t->e = r->scratch + (r->row & 1) * r->apart;
  r->shift = fused_shift_(f->flags, r->peak.max);
  r->calm = r->peak.calm;
  t->shift = v32_set1(r->shift);
  t->top = TOP_FIRST();
  t->sum = v32_acc_zero();
  t->touched = d->touched;
  if (whole == n) return;
  /* Its end at once, for nothing waits for it then, and the next one's is asked for, which will be waited for. */
  for (int64_t k = whole; k < n; k += 64 / (int64_t)sizeof(STORED)) ACLPY_PREFETCH_NEAR((uintptr_t)(t->next + k));
  FN(direct_ends)(t->x + whole, n - whole, t->shift, r->last);
  r->rest = v32_acc_zero();
  for (int64_t k = 0; k * LANES < n - whole; ++k) r->rest = v32_acc_add(r->rest, r->last[k]);
}

/* Whole quads from element i on, where the row before has no more: it began with a part of one. */
ACLPY_INLINE int64_t FN(direct_last)(const aclpy_fused *f, FN(direct_three) * t, int64_t i, int way) {
  for (; i + ACLPY_DIRECT_QUAD <= f->g.n; i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    TOP_QUAD(&t->top, t->next + i);
    FN(direct_load)(t->x + i, v, way);
    t->sum = FN(direct_exp)(v, t->e + i, t->shift, 0, t->sum, way, 0);
  }
  return i;
}

/* Its whole quads, which end at element i, are done: returns its sum, and finds the peak of the next. */
ACLPY_INLINE double FN(direct_end_of)(const aclpy_fused *f, FN(direct_rows) * r, FN(direct_three) * t, int64_t i,
                                      int logarithm, int way) {
  const int64_t n = f->g.n;
  float others = -INFINITY;
  if (way == ACLPY_WAY_PAIRS) ORDER_SUMX(&t->sum.low, &t->sum.high);
  if (i < n) {
    others = v32_hmax(FN(direct_end_max)(t->next + i, n - i, logarithm ? NULL : t->e + i, r->last));
    t->sum = v32_acc_join(t->sum, r->rest);
  }
  r->peak = FN(direct_peak_of)(t->next, n, &t->top, others);
  return v64_hsum(v64_add(t->sum.low, t->sum.high));
}
