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

/* The same of less than a quad; */
ACLPY_INLINE void FN(direct_ends)(const STORED *x, int64_t n, v32 shift, v32 *v) {
#if ACLPY_ISA_RANK == 3
  if (n > LANES) {
    const uint64_t lanes = aclpy_lanes_(n);
    for (int64_t k = 0; k < 4; ++k) v[k] = v32_sub(LDM(x + k * LANES, lanes >> 16 * k, -INFINITY), shift);
    v32_exp_quad(v, ACLPY_EXP_ANY);
    return;
  }
#endif
  for (int64_t k = 0; k * LANES < n; ++k)
    v[k] = FN(direct_end)(x + k * LANES, aclpy_min_i64(LANES, n - k * LANES), shift);
}
/* and the largest of such an end, beside which the exponentials of one, if any, are stored. */
ACLPY_INLINE v32 FN(direct_end_max)(const STORED *next, int64_t n, float *e, const v32 *v) {
  v32 most = v32_set1(-INFINITY);
#if ACLPY_ISA_RANK == 3
  uint64_t lanes = aclpy_lanes_(n);
  for (int64_t k = 0; k * LANES < n; ++k, lanes >>= 16) {
    most = v32_max(LDM(next + k * LANES, lanes, -INFINITY), most);
    if (e != NULL) stm_f32(e + k * LANES, v[k], lanes);
  }
#else
  for (int64_t k = 0; k * LANES < n; ++k) {
    const int64_t left = aclpy_min_i64(LANES, n - k * LANES);
    most = v32_max(LDN(next + k * LANES, left, -INFINITY), most);
    if (e != NULL) stn_f32(e + k * LANES, v[k], left);
  }
#endif
  return most;
}

/* How far ahead the next row, of n elements, is fetched into the first level, or 0: short rows of floats as in the
 * plain kernel, which are found there again. */
ACLPY_INLINE int64_t FN(direct_near_bytes)(const fused_direct *d, int64_t n, int64_t bytes) {
  if (ACLPY_ISA_RANK == 3 && PLAIN && d->core == ACLPY_CORE_ZEN_5) return bytes;
  return PLAIN && n * (int64_t)sizeof(STORED) < ACLPY_AHEAD_BYTES ? aclpy_near_bytes(d->core) : 0;
}

#include "fused_direct_between.h"
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
  const int64_t left = f->g.n - d->at;
  if (!functions && left > 0 && left < ACLPY_DIRECT_QUAD) {
    direct_part_(f, d, left);
  } else if (left > 0) {
    FN(direct_rest_any)(f, d, logarithm, target, functions, way);
  }
}

/* Whole quads; returns where they end. */
ACLPY_INLINE int64_t FN(direct_quads)(const aclpy_fused *f, fused_direct *d, FN(direct_three) * t, int logarithm,
                                      int64_t target, int functions, int way) {
  const int64_t n = f->g.n;
  const int64_t quad = ACLPY_DIRECT_QUAD * (int64_t)sizeof(STORED);
  const int64_t near = FN(direct_near_bytes)(d, n, ACLPY_NEAR_BYTES_ZEN_5);
  aclpy_walk next = aclpy_walk_of(t->next, n * (int64_t)sizeof(STORED), quad, 0, t->touched, direct_ahead_(near));
  int64_t i = 0;
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD, aclpy_walk_on(&next)) {
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

/* Bytes by sums (fused_fixed.h), but for quads that are to be done in turn; where these are many, the rest of the row
 * and some rows after it, too. */
ACLPY_APART int64_t FN(direct_bytes)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                     int kind, int way) {
  FN(direct_three) *t = &r->t;
  const int done = kind == ACLPY_SINGLE_FIXED_DONE;
  const int64_t head = d->at;
  for (int64_t again = 0;; ++again) {
    const int64_t i = FN(single_fixed_run)(f, d, r, s, kind);
    if (i + ACLPY_DIRECT_QUAD > s->n) return i;
    if (again * ACLPY_FIXED_PART >= f->g.n / ACLPY_DIRECT_QUAD) {
      d->fixed.pause = ACLPY_FIXED_PAUSE;
      kind = fused_single_make_(f, d, s);
      s->from = i;
      d->at = head + i;
      if (kind == ACLPY_SINGLE_MANY && !done) FN(direct_finish)(f, d, s->has_after, way);
      /* The other loop may go through the next row from its other end. */
      for (int64_t k = 0; k + ACLPY_DIRECT_QUAD <= f->g.n; k += ACLPY_DIRECT_QUAD) TOP_QUAD(&t->top, t->next + k);
      return FN(single_run)(f, d, r, s, kind, 0, way);
    }
    single_again_(f, s, i, kind);
    s->from = s->again = i;
  }
}

/* The loop that the row's quads take, of the kind of the one to be written; what that one needs before it. */
ACLPY_INLINE int FN(direct_kind)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                 int logarithm, int64_t target, int functions, int way) {
  const int able = way == ACLPY_WAY_ANY || (r->calm && d->calm);
  int kind = ACLPY_SINGLE_NOT;
  s->from = 0;
  s->again = -1;
  d->made = functions && d->powers.can;
  if (d->made && way != ACLPY_WAY_ANY) d->made = r->calm;
  if (d->made && way == ACLPY_WAY_ANY && d->wary) d->made = FN(direct_near)(r->t.x, f->g.n, r->shift);
  if (d->made != d->powered && d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
  if (able && !logarithm && target != ACLPY_STAGED) kind = fused_single_next_(f, d, s);
  if (!d->made && kind == ACLPY_SINGLE_MANY) {
    FN(direct_finish)(f, d, s->has_after, way);
    kind = fused_single_done_(f, s);
  }
  if (!d->made && kind == ACLPY_SINGLE_NOT && functions) FN(direct_finish)(f, d, 0, way);
  if (d->made) fused_powered_(f, d, s);
  if (d->made) kind = d->powered ? fused_powered_kind_(d) : ACLPY_SINGLE_POWERS;
  if (d->fixed.pause > 0) --d->fixed.pause;
  return kind;
}

/* The row, and perhaps some behind it; returns the sum of the last one. */
ACLPY_INLINE double FN(direct_step)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                    int logarithm, int64_t target, int functions, int way) {
  const int same = target == ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T);
  fixed_row bytes;
  int64_t i;
  s->fixed = &bytes;
  FN(direct_begin)(f, d, r, &r->t);
  do {
    const int kind = FN(direct_kind)(f, d, r, s, logarithm, target, functions, way);
    if (kind == ACLPY_SINGLE_NOT) {
      i = FN(direct_quads)(f, d, &r->t, logarithm, target, functions, way);
      if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
      break;
    }
    const int64_t at = d->at;
    if (single_is_fixed_(kind)) {
      i = FN(direct_bytes)(f, d, r, s, kind, way);
      d->at = at + i;
    } else {
      i = FN(single_run)(f, d, r, s, kind, same, way);
      if (i >= 0) d->at += i;
    }
    if (i < 0) continue;
    d->at = aclpy_min_i64(d->at, f->g.n); /* of powers the row before may be done */
    if (d->y != NULL) FN(direct_rest)(f, d, logarithm, target, functions, way);
    i = FN(direct_last)(f, &r->t, i, way);
  } while (i < 0);
  if (functions) d->least = -v32_hmax(v32_sub(v32_set1(0.0f), r->t.least));
  return FN(direct_end_of)(f, r, &r->t, i, logarithm, way);
}

ACLPY_INLINE void FN(direct_run_as)(const aclpy_fused *f, fused_direct *d, int64_t begin, int64_t end, float *scratch,
                                    int logarithm, int64_t target, int functions, int way) {
  const int64_t n = f->g.n;
  fused_single s;
  FN(direct_rows) r;
  r.row = begin;
  r.end = end;
  r.base = (const STORED *)(const void *)f->x;
  r.scratch = scratch;
  r.apart = direct_rows_waiting_(f) == 1 ? 0 : aclpy_fused_round_(n);
  r.t.powers = &d->powers;
  s.stays = 0;
  r.peak = FN(direct_first)(r.base + begin * n, n);
  for (; r.row < end; ++r.row) {
    r.t.least = v32_set1(0.0f);
    const double sum = FN(direct_step)(f, d, &r, &s, logarithm, target, functions, way);
    float factor = fused_factor_(f->flags, sum);
    const int powered = d->made && fused_powers_hold_(d, factor);
    d->sum = powered ? fused_powers_sum_(&d->powers, sum) : 0.0f;
    if (powered) factor = fused_powers_factor_(&d->powers, sum);
    if (d->made && !powered) FN(direct_again)(r.t.x, r.t.e, n, r.shift, way);
    direct_next_(f, d, r.row, r.t.e, (const unsigned char *)r.t.x, r.shift, factor, r.calm);
    d->powered = powered;
    d->wary = !powered;
    d->follows = r.row + 1 < end;
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
