/* SPDX-License-Identifier: Apache-2.0
 * Template: fused softmax of rows in the plain kernel's loop over three rows (softmax_rows.h). Operations are done in
 * registers before results are stored, or in the exponentials before the loop, or, of logarithms, staged. ACLPY_T names
 * the source; `target` is a constant where the destination is of the same type, or ACLPY_STAGED.
 */
#include "../simd/instance.h"

/* Four vectors of x, in the order of the way. */
ACLPY_INLINE void FN(direct_load)(const STORED *x, v32 *v, int way) {
  if (way != ACLPY_WAY_PAIRS) LDQ(x, v);
  for (int k = 0; k < 4 && way == ACLPY_WAY_PAIRS; ++k) v[k] = LDX(x, k);
}

/* As fused_quad_ and fused_part_ (fused_rows.h), on four exponentials; */
ACLPY_INLINE v32_acc FN(direct_sum)(const v32 *v, float *e, int logarithm, v32_acc s, int way) {
  for (int k = 0; k < 4 && !logarithm; ++k) v32_store(e + k * LANES, v[k]);
  if (way == ACLPY_WAY_PAIRS) return v32_acc_add(s, SUMX(v));
  if (!logarithm) return v32_acc_add(s, v32_add(v32_add(v[0], v[1]), v32_add(v[2], v[3])));
  return v32_acc_add(v32_acc_add(s, v32_add(v[0], v[1])), v32_add(v[2], v[3]));
}
/* on four vectors of x. */
ACLPY_INLINE v32_acc FN(direct_exp)(const v32 *x, float *e, v32 shift, int logarithm, v32_acc s, int way, int calm) {
  v32 v[4];
  for (int k = 0; k < 4; ++k) v[k] = v32_sub(x[k], shift);
  if (PLAIN) v32_exp_quad_beside(v, calm ? ACLPY_EXP_NORMAL : ACLPY_EXP_ANY);
  if (!PLAIN) v32_exp_quad(v, calm ? ACLPY_EXP_NORMAL : ACLPY_EXP_ANY);
  return FN(direct_sum)(v, e, logarithm, s, way);
}

/* The exponentials of at most a vector, and 0 behind them. */
ACLPY_INLINE v32 FN(direct_end)(const STORED *x, int64_t n, v32 shift) {
  if (n >= LANES) return v32_exp_below(v32_sub(LD(x), shift), ACLPY_EXP_ANY);
#if ACLPY_ISA_RANK == 2
  /* Not of -inf (softmax_rows.h). */
  const v32 below = v32_front(v32_sub(LDN(x, n, 0), shift), n);
  return v32_front(v32_exp_below(below, ACLPY_EXP_ANY), n);
#else
  return v32_exp_below(v32_sub(LDN(x, n, -INFINITY), shift), ACLPY_EXP_ANY);
#endif
}

/* The same of less than a quad. */
ACLPY_INLINE void FN(direct_ends)(const STORED *x, int64_t n, v32 shift, v32 *v) {
  if (ACLPY_ISA_RANK != 3 || n <= LANES) {
    for (int64_t k = 0; k * LANES < n; ++k)
      v[k] = FN(direct_end)(x + k * LANES, aclpy_min_i64(LANES, n - k * LANES), shift);
    return;
  }
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t count = aclpy_max_i64(0, aclpy_min_i64(LANES, n - k * LANES));
    v[k] = v32_sub(LDN(x + k * LANES, count, -INFINITY), shift);
  }
  v32_exp_quad(v, ACLPY_EXP_ANY);
}

/* How far ahead the next row, of n elements, is fetched into the first level, or 0: short rows of floats as in the
 * plain kernel, which are found there again. */
ACLPY_INLINE int64_t FN(direct_near_bytes)(const fused_direct *d, int64_t n, int64_t bytes) {
  if (ACLPY_ISA_RANK == 3 && PLAIN && d->core == ACLPY_CORE_ZEN_5) return bytes;
  return PLAIN && n * (int64_t)sizeof(STORED) < ACLPY_AHEAD_BYTES ? aclpy_near_bytes(d->core) : 0;
}

#include "fused_single_rows.h"

/* A row whose exponentials are powers, but none follows at once. */
ACLPY_APART void FN(powers_rest)(const aclpy_fused *f, fused_direct *d, int64_t target, int way) {
  fused_single s;
  const int logarithm = d->powers.logarithm;
  fused_powered_(f, d, &s);
  for (; d->at + ACLPY_DIRECT_QUAD <= f->g.n; d->at += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    if (logarithm) FN(single_make)(&s, d->e, v, d->at, ACLPY_SINGLE_LOGGED, way);
    if (!logarithm) FN(single_make)(&s, d->e, v, d->at, ACLPY_SINGLE_POWERED, way);
    FN(single_store)(f, &s, v, d->y, d->at, ACLPY_SINGLE_POWERED, target, way);
  }
}
/* Whether a row of whole quads is calm, but for NaNs. */
ACLPY_APART int FN(direct_near)(const STORED *x, int64_t n, float shift) {
  v32 least[4];
  for (int k = 0; k < 4; ++k) least[k] = v32_set1(INFINITY);
  for (int64_t i = 0; i < n; i += ACLPY_DIRECT_QUAD) {
    for (int k = 0; k < 4; ++k) least[k] = v32_min(LD(x + i + k * LANES), least[k]);
  }
  const v32 all = v32_min(v32_min(least[0], least[1]), v32_min(least[2], least[3]));
  return -v32_hmax(v32_sub(v32_set1(0.0f), all)) - shift >= -(float)ACLPY_CALM;
}
/* The exponentials of whole quads, where their powers cannot stand. */
ACLPY_APART void FN(direct_again)(const STORED *x, float *e, int64_t n, float shift, int way) {
  v32_acc unused = v32_acc_zero();
  for (int64_t i = 0; i < n; i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    FN(direct_load)(x + i, v, way);
    unused = FN(direct_exp)(v, e + i, v32_set1(shift), 0, unused, way, 0);
  }
}

/* All but the quads' stores, in memory. */
ACLPY_INLINE void FN(direct_finish)(const aclpy_fused *f, fused_direct *d, int left, int way) {
  if (d->y == NULL || d->finished) return;
  for (int64_t i = d->at; i + ACLPY_DIRECT_QUAD <= f->g.n && way == ACLPY_WAY_PAIRS && !d->folded;
       i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    for (int k = 0; k < 4; ++k) v[k] = v32_load(d->e + i + k * LANES);
    ORDER(v);
    for (int k = 0; k < 4; ++k) v32_store(d->e + i + k * LANES, v[k]);
  }
  direct_finish_(f, d, left);
}

/* The quad from d->at on; with `functions`, of a row that is finished. */
ACLPY_INLINE void FN(direct_quad)(const aclpy_fused *f, fused_direct *d, int logarithm, int64_t target, int functions,
                                  int way) {
  if (target == ACLPY_STAGED) {
    direct_staged_quad_(f, d);
    return;
  }
  const int64_t i = d->at;
  const int paired = way == ACLPY_WAY_PAIRS;
  v32 v[4];
  if (logarithm) {
    const v32 shift = v32_set1(d->shift), offset = v32_set1(d->factor);
    LDQ((const STORED *)(const void *)d->x + i, v);
    for (int k = 0; k < 4; ++k) v[k] = v32_sub(v32_sub(v[k], shift), offset);
  } else if (functions) { /* finished */
    for (int k = 0; k < 4; ++k) v[k] = v32_load(d->e + i + k * LANES);
  } else {
    const v32 factor = v32_set1(d->folded ? d->factor * d->fold.gain : d->factor);
    for (int k = 0; k < 4; ++k) v[k] = v32_mul(v32_load(d->e + i + k * LANES), factor);
  }
  if (paired && !d->folded && !functions) ORDER(v);
  if (!functions) direct_steps_(d, v, i);
  if (paired && d->folded) {
    STQ((STORED *)(void *)d->y + i, v, f->streaming, d->fold.tame);
  } else if (way == ACLPY_WAY_CALM && target == ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T)) {
    STA((STORED *)(void *)d->y + i, v, f->streaming);
  } else {
    direct_store_(target, d->y + i * f->to, v, f->streaming, d->folded && d->fold.tame);
  }
  d->at = i + ACLPY_DIRECT_QUAD;
}

/* What is left of the row, if anything: of most rows nothing, so it stands once, for any of them. */
ACLPY_APART void FN(direct_rest_any)(const aclpy_fused *f, fused_direct *d, int logarithm, int64_t target,
                                     int functions, int way) {
  if (functions && d->powered) FN(powers_rest)(f, d, target, way);
  if (functions && d->at + ACLPY_DIRECT_QUAD <= f->g.n) FN(direct_finish)(f, d, 0, way);
  while (d->at + ACLPY_DIRECT_QUAD <= f->g.n) FN(direct_quad)(f, d, logarithm, target, functions, way);
  while (d->at < f->g.n) direct_part_(f, d, aclpy_min_i64(ACLPY_DIRECT_PART, f->g.n - d->at));
}
ACLPY_INLINE void FN(direct_rest)(const aclpy_fused *f, fused_direct *d, int logarithm, int64_t target, int functions,
                                  int way) {
  if (d->at < f->g.n) FN(direct_rest_any)(f, d, logarithm, target, functions, way);
}

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
ACLPY_INLINE FN(direct_peak) FN(direct_peak_of)(const STORED *x, int64_t n, const TOP *top, v32 rest) {
  const float most = TOP_VALUE(top), others = v32_hmax(rest);
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
  return FN(direct_peak_of)(x, n, &top, rest);
}

/* Whole quads; returns where they end. */
ACLPY_INLINE int64_t FN(direct_quads)(const aclpy_fused *f, fused_direct *d, FN(direct_three) * t, int logarithm,
                                      int64_t target, int functions, int way) {
  const int64_t n = f->g.n;
  const int64_t quad = ACLPY_DIRECT_QUAD * (int64_t)sizeof(STORED);
  const int64_t near = FN(direct_near_bytes)(d, n, ACLPY_NEAR_BYTES_ZEN_5);
  aclpy_walk next = aclpy_walk_of(t->next, n * (int64_t)sizeof(STORED), quad, t->touched, direct_ahead_(near));
  int64_t i = 0;
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD, next.now += (uintptr_t)next.step) {
    v32 v[4];
    if (f->streaming) direct_fetch_(&next, t->x + i, quad, near);
    TOP_QUAD(&t->top, (const STORED *)next.now);
    /* Before anything is stored: a load that follows a store to the same place of another page waits for it. */
    FN(direct_load)(t->x + i, v, way);
    /* Before the exponentials, for those it reads may lie where the next ones go. */
    if (d->y != NULL && d->at + ACLPY_DIRECT_QUAD <= n) {
      FN(direct_quad)(f, d, logarithm, target, functions, way);
    } else if (d->y != NULL) {
      FN(direct_rest)(f, d, logarithm, target, functions, way);
    }
    t->sum = FN(direct_exp)(v, t->e + i, t->shift, logarithm, t->sum, way, 0);
  }
  return i;
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

/* Bytes by sums (fused_fixed.h), but for quads that are to be done in turn; where these are many, the rest of the row
 * and some rows after it, too. */
ACLPY_APART int64_t FN(direct_bytes)(const aclpy_fused *f, fused_direct *d, FN(direct_three) * t, fused_single *s,
                                     int kind, int way) {
  const int done = kind == ACLPY_SINGLE_FIXED_DONE;
  for (int64_t again = 0;; ++again) {
    const int64_t i = FN(single_fixed_run)(f, t, s, kind);
    if (i + ACLPY_DIRECT_QUAD > f->g.n) return i;
    if (again * ACLPY_FIXED_PART >= f->g.n / ACLPY_DIRECT_QUAD) {
      d->fixed.pause = ACLPY_FIXED_PAUSE;
      kind = fused_single_make_(f, d, s);
      d->at = s->from = i;
      if (kind == ACLPY_SINGLE_MANY && !done) FN(direct_finish)(f, d, s->has_after, way);
      /* The other loop may go through the next row from its other end. */
      for (int64_t k = 0; k + ACLPY_DIRECT_QUAD <= f->g.n; k += ACLPY_DIRECT_QUAD) TOP_QUAD(&t->top, t->next + k);
      return FN(single_run)(f, t, s, kind, 0, way);
    }
    single_again_(f, s, i, kind);
    s->from = s->again = i;
  }
}

/* Returns the sum of x, whose peak is given, and the peak of `next`. */
ACLPY_INLINE double FN(direct_step)(const aclpy_fused *f, fused_direct *d, const STORED *next, FN(direct_peak) * peak,
                                    const STORED *x, float *e, float shift, int logarithm, int64_t target,
                                    int functions, int way) {
  const int64_t n = f->g.n;
  /* On Zen 5 floats are fetched into the first level anyway; beside an operand that is, too, from the beginning on is
   * as fast or faster. Of rows that are longer than the level nothing is found there again. */
  const int known =
      n < ACLPY_TURN_LEAST || n * f->from > ACLPY_TURN_MOST || (PLAIN && d->core == ACLPY_CORE_ZEN_5 && d->n_far > 0);
  const int64_t touched = known ? 0 : direct_touched_(f, d);
  FN(direct_three) t = {next, x, e, v32_set1(shift), TOP_FIRST(), v32_acc_zero(), touched, &d->powers, v32_set1(0.0f)};
  v32 top_rest = v32_set1(-INFINITY);
  v32_acc rest = t.sum;
  const int able = way == ACLPY_WAY_ANY || (peak->calm && d->calm);
  fused_single s;
  fixed_row bytes;
  int kind = ACLPY_SINGLE_NOT;
  int64_t i;
  v32 end[4];
  /* At once, for nothing waits for the end of x then, and the next one's is asked for, which will be waited for. */
  if (n % ACLPY_DIRECT_QUAD != 0) {
    const int64_t at = n / ACLPY_DIRECT_QUAD * ACLPY_DIRECT_QUAD, left = n - at;
    for (int64_t k = 0; k < left; k += 64 / (int64_t)sizeof(STORED)) ACLPY_PREFETCH_NEAR((uintptr_t)(next + at + k));
    FN(direct_ends)(x + at, left, t.shift, end);
    for (int64_t k = 0; k * LANES < left; ++k) rest = v32_acc_add(rest, end[k]);
  }
  s.fixed = &bytes;
  s.from = 0;
  s.again = -1;
  d->made = functions && d->powers.can;
  if (d->made && way != ACLPY_WAY_ANY) d->made = peak->calm;
  if (d->made && way == ACLPY_WAY_ANY && d->wary) d->made = FN(direct_near)(x, n, shift);
  if (d->made != d->powered && d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
  if (able && !logarithm && target != ACLPY_STAGED) kind = fused_single_make_(f, d, &s);
  if (!d->made && kind == ACLPY_SINGLE_MANY) {
    FN(direct_finish)(f, d, s.has_after, way);
    kind = fused_single_done_(f, &s);
  }
  if (!d->made && kind == ACLPY_SINGLE_NOT && functions) FN(direct_finish)(f, d, 0, way);
  if (d->made) fused_powered_(f, d, &s);
  if (d->made) kind = d->powered ? fused_powered_kind_(d) : ACLPY_SINGLE_POWERS;
  if (d->fixed.pause > 0) --d->fixed.pause;
  if (single_is_fixed_(kind)) {
    i = d->at = FN(direct_bytes)(f, d, &t, &s, kind, way);
  } else if (kind != ACLPY_SINGLE_NOT) {
    i = FN(single_run)(f, &t, &s, kind, target == ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), way);
    d->at = aclpy_min_i64(d->at + i, n); /* of powers the row before may be done */
    if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
    i = FN(direct_last)(f, &t, i, way);
  } else {
    i = FN(direct_quads)(f, d, &t, logarithm, target, functions, way);
  }
  if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
  for (int64_t k = 0; i < n; i += LANES, ++k) {
    const int64_t left = aclpy_min_i64(LANES, n - i);
    top_rest = v32_max(LDN(next + i, left, -INFINITY), top_rest);
    if (!logarithm) stn_f32(e + i, end[k], left);
  }
  if (way == ACLPY_WAY_PAIRS) ORDER_SUMX(&t.sum.low, &t.sum.high);
  d->least = -v32_hmax(v32_sub(v32_set1(0.0f), t.least));
  *peak = FN(direct_peak_of)(next, n, &t.top, top_rest);
  return v32_acc_sum(t.sum, rest);
}

ACLPY_INLINE void FN(direct_run_as)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch,
                                    int logarithm, int64_t target, int functions, int way) {
  const int64_t n = f->g.n;
  const int64_t apart = direct_rows_waiting_(f) == 1 ? 0 : aclpy_fused_round_(n);
  const STORED *base = (const STORED *)(const void *)f->x;
  FN(direct_peak) peak = FN(direct_first)(base + begin * n, n);
  for (int64_t row = begin; row < end; ++row) {
    /* The last row stands for the one that does not follow; its maximum is not used. */
    const STORED *x = base + row * n, *next = row + 1 < end ? x + n : x;
    float *e = scratch + (row & 1) * apart;
    const float shift = fused_shift_(f->flags, peak.max);
    const int calm = peak.calm;
    const double sum = FN(direct_step)(f, d, next, &peak, x, e, shift, logarithm, target, functions, way);
    float factor = fused_factor_(f->flags, sum);
    const int powered = d->made && fused_powers_hold_(d, factor);
    d->sum = powered ? fused_powers_sum_(&d->powers, sum) : 0.0f;
    if (powered) factor = fused_powers_factor_(&d->powers, sum);
    if (d->made && !powered) FN(direct_again)(x, e, n, shift, way);
    direct_next_(f, d, row, e, (const unsigned char *)x, shift, factor, calm);
    d->powered = powered;
    d->wary = !powered;
    d->follows = row + 1 < end;
  }
  FN(direct_rest)(f, d, logarithm, target, functions, way);
}

/* A launch of no logarithms. Words in the order of pairs go to words only. */
ACLPY_INLINE void FN(direct_run_all)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch,
                                     int functions) {
  enum { SAME = ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), PAIRS_WORDS = SAME == ACLPY_TYPE_BF16 };
  const int calm = CALM_WAY(0) == ACLPY_WAY_CALM;
  if (PAIRS_WORDS && d->fold.paired) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, SAME, functions, ACLPY_WAY_PAIRS);
  } else if (f->post.target == SAME && calm) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, SAME, functions, ACLPY_WAY_CALM);
  } else if (f->post.target == SAME) {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, SAME, functions, ACLPY_WAY_ANY);
  } else {
    FN(direct_run_as)(f, d, begin, end, scratch, 0, f->post.target, functions, ACLPY_WAY_ANY);
  }
}

static void FN(direct_run)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch, int way) {
  if (way == ACLPY_DIRECT_STAGED) {
    FN(direct_run_as)(f, d, begin, end, scratch, 1, ACLPY_STAGED, 0, ACLPY_WAY_ANY);
  } else if ((f->flags & ACLPY_FUSED_LOG) != 0) {
    FN(direct_run_as)(f, d, begin, end, scratch, 1, f->post.target, 0, ACLPY_WAY_ANY);
  } else if (way == ACLPY_DIRECT_FUNCTIONS) {
    FN(direct_run_all)(f, d, begin, end, scratch, 1);
  } else {
    FN(direct_run_all)(f, d, begin, end, scratch, 0);
  }
}

#include "../simd/instance_end.h"
