/* SPDX-License-Identifier: Apache-2.0
 * Template: softmax and log-softmax of dense rows. ACLPY_T names the instance.
 *
 * Sums of exponentials run in double lanes: beside a term of 1 the small ones must not be lost (accumulate.h).
 */
#include "../simd/instance.h"

/* The largest elements, one of them the largest of all; NaNs may be passed over, they make the sum NaN later. */
ACLPY_INLINE VEC FN(row_max_lanes)(const STORED *x, int64_t n) {
  const REAL low = (REAL)-INFINITY;
  VEC a = V(set1)(low), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    a = V(max)(LD(x + i), a);
    b = V(max)(LD(x + i + LANES), b);
    c = V(max)(LD(x + i + 2 * LANES), c);
    d = V(max)(LD(x + i + 3 * LANES), d);
  }
  for (; i + LANES <= n; i += LANES) a = V(max)(LD(x + i), a);
  if (i < n) b = V(max)(LDN(x + i, n - i, low), b);
  return V(max)(V(max)(a, b), V(max)(c, d));
}
ACLPY_INLINE REAL FN(row_max)(const STORED *x, int64_t n) { return V(hmax)(FN(row_max_lanes)(x, n)); }

/* x <= 0 (or NaN). `keep`: e^x is more than summed. */
ACLPY_INLINE int FN(exp_results)(int keep) {
  return !keep ? ACLPY_EXP_SUMMED : FADES ? ACLPY_EXP_FADING : ACLPY_EXP_ANY;
}
ACLPY_INLINE VEC FN(exp_of)(VEC x, int keep) { return V(exp_below)(x, FN(exp_results)(keep)); }

/* e = exp(x - shift) of one vector, stored where `keep`. */
ACLPY_INLINE VEC FN(exp_at)(const STORED *x, REAL *e, int64_t i, VEC shift, int keep) {
  const VEC v = FN(exp_of)(V(sub)(LD(x + i), shift), keep);
  if (keep) V(store)(e + i, v);
  return v;
}

/* The last elements, less than a vector; then zeros, which are stored, too: e has room for them. */
ACLPY_INLINE VEC FN(exp_rest)(const STORED *x, REAL *e, int64_t i, int64_t n, VEC shift, int keep) {
#if ACLPY_ISA_RANK == 2
  /* Not of -inf, whose power of two takes the long way. */
  const VEC below = V(front)(V(sub)(LDN(x + i, n - i, 0), shift), n - i);
  const VEC v = V(front)(FN(exp_of)(below, keep), n - i);
#else
  const VEC v = FN(exp_of)(V(sub)(LDN(x + i, n - i, (REAL)-INFINITY), shift), keep);
#endif
  if (keep) V(store)(e + i, v);
  return v;
}

/* Four vectors, in the order of the way that the row takes (calm.h). */
ACLPY_INLINE void FN(quad_load)(const STORED *x, VEC *v, int way) {
  if (way != ACLPY_WAY_PAIRS) LDQ(x, v);
  for (int k = 0; k < 4 && way == ACLPY_WAY_PAIRS; ++k) v[k] = LDX(x, k);
}

/* Adds e of four vectors to s: in double after one float addition for a logarithm (whose argument may be 1 + little),
 * after two where the sum only divides. */
ACLPY_INLINE V(acc) FN(quad_sum)(const VEC *v, REAL *e, int logarithm, V(acc) s, int way) {
  for (int k = 0; k < 4 && !logarithm; ++k) V(store)(e + k * LANES, v[k]);
  if (way == ACLPY_WAY_PAIRS && !logarithm) return V(acc_add)(s, SUMX(v));
  if (way == ACLPY_WAY_PAIRS) return V(acc_add)(V(acc_add)(s, SUMP(v[0], v[1])), SUMP(v[2], v[3]));
  if (!logarithm || sizeof(REAL) == sizeof(double)) {
    return V(acc_add)(s, V(add)(V(add)(v[0], v[1]), V(add)(v[2], v[3])));
  }
  return V(acc_add)(V(acc_add)(s, V(add)(v[0], v[1])), V(add)(v[2], v[3]));
}
ACLPY_INLINE V(acc) FN(quad_exp)(const VEC *x, REAL *e, VEC shift, int logarithm, V(acc) s, int way) {
  VEC v[4];
  for (int k = 0; k < 4; ++k) v[k] = V(sub)(x[k], shift);
  V(exp_quad)(v, way != ACLPY_WAY_ANY ? ACLPY_EXP_NORMAL : FN(exp_results)(!logarithm));
  return FN(quad_sum)(v, e, logarithm, s, way);
}

/* Sum of e over a row, kept or not, but for adding the lanes. What lies `ahead` elements further on is asked for
 * meanwhile, unless that is 0. */
ACLPY_INLINE v64 FN(row_exp_lanes)(const STORED *x, REAL *e, int64_t n, REAL shift_by, int keep, int64_t ahead) {
  const VEC shift = V(set1)(shift_by);
  V(acc) s = V(acc_zero)(), t = s;
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    const VEC v[4] = {LD(x + i), LD(x + i + LANES), LD(x + i + 2 * LANES), LD(x + i + 3 * LANES)};
    for (int64_t at = 0; ahead > 0 && at < 4 * LANES; at += 64 / (int64_t)sizeof(STORED)) {
      ACLPY_PREFETCH((uintptr_t)(x + i) + (uintptr_t)(ahead + at) * sizeof(STORED));
    }
    s = FN(quad_exp)(v, keep ? e + i : NULL, shift, !keep, s, ACLPY_WAY_ANY);
  }
  for (; i + LANES <= n; i += LANES) s = V(acc_add)(s, FN(exp_at)(x, e, i, shift, keep));
  if (i < n) t = V(acc_add)(t, FN(exp_rest)(x, e, i, n, shift, keep));
  return V(acc_lanes)(s, t);
}

/* y = e * factor */
ACLPY_INLINE void FN(row_scale)(const REAL *e, STORED *y, int64_t n, REAL factor, int streaming) {
  const VEC f = V(set1)(factor);
#define FULL_(i) V(mul)(V(load)(e + (i)), f)
#define PART_(i, m) V(mul)(streaming ? LDNR(e + (i), m, 0) : V(load)(e + (i)), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

/* y = (x - shift) - offset */
ACLPY_INLINE void FN(row_offset)(const STORED *x, STORED *y, int64_t n, REAL shift, REAL offset, int streaming) {
  const VEC m = V(set1)(shift), f = V(set1)(offset);
#define FULL_(i) V(sub)(V(sub)(LD(x + (i)), m), f)
#define PART_(i, k) V(sub)(V(sub)(LDN(x + (i), k, 0), m), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

/* y = exp(x - shift) * factor */
ACLPY_INLINE void FN(row_exp_scale)(const STORED *x, STORED *y, int64_t n, REAL shift, REAL factor, int streaming) {
  const VEC m = V(set1)(shift), f = V(set1)(factor);
#define FULL_(i) V(mul)(FN(exp_of)(V(sub)(LD(x + (i)), m), 1), f)
#define PART_(i, k) V(mul)(FN(exp_of)(V(sub)(LDN(x + (i), k, (REAL) - INFINITY), m), 1), f)
  ACLPY_MAP(y, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

#include "softmax_pending.h"

/* Three rows that are worked on at once, so that arithmetic of one hides the memory of the others: the maximum of
 * `next`, the exponentials of x, the results of the row before. */
typedef struct FN(three) {
  const STORED *next, *x;
  REAL *e;
  VEC shift;
  TOP top;
  V(acc) sum;
} FN(three);

/* What is streamed is asked for early (ACLPY_STREAM): short rows into the first-level cache, where they are found
 * again; of long ones the next into the second-level cache, and this one from there. Or all into the first (..._NEAR).
 */
ACLPY_INLINE void FN(three_fetch)(const FN(three) * t, int64_t i, int64_t n, const FN(pending) * before) {
  const int64_t bytes = 4 * LANES * (int64_t)sizeof(STORED);
  if (before->streaming == ACLPY_STREAM_NEAR) {
    aclpy_fetch_at(t->next + i, ACLPY_NEAR_BYTES_ZEN_5, bytes);
    return;
  }
  if (n * (int64_t)sizeof(STORED) < ACLPY_AHEAD_BYTES) {
    aclpy_fetch_at(t->next + i, before->near, bytes);
    return;
  }
  aclpy_fetch(t->next + i, bytes);
  aclpy_fetch_soon(t->x + i, bytes);
}

/* Calm rows whose elements are converted: with AVX2 the other rows' work stands between the exponentials, for a core
 * looks ahead over too few instructions to find it behind four chains of them. */
#if ACLPY_ISA_RANK == 2 && !PLAIN
ACLPY_INLINE void FN(three_quad_woven)(FN(three) * t, int64_t i, FN(pending) * before, int logarithm, int way) {
  VEC v[4];
  FN(quad_load)(t->x + i, v, way);
  for (int k = 0; k < 4; ++k) v[k] = V(sub)(v[k], t->shift);
  TOP_QUAD(&t->top, t->next + i);
  v32_exp_two(v);
  if (before != NULL) FN(pending_quad)(before, logarithm, way);
  v32_exp_two(v + 2);
  t->sum = FN(quad_sum)(v, logarithm ? NULL : t->e + i, logarithm, t->sum, way);
}
#endif
/* Four vectors of each row; x is read before anything is written, for a load that follows a store to the same place of
 * another page waits for it. */
ACLPY_INLINE void FN(three_quad)(FN(three) * t, int64_t i, FN(pending) * before, int logarithm, int way) {
#if ACLPY_ISA_RANK == 2 && !PLAIN
  if (way != ACLPY_WAY_ANY) {
    FN(three_quad_woven)(t, i, before, logarithm, way);
    return;
  }
#endif
  VEC v[4];
  TOP_QUAD(&t->top, t->next + i);
  FN(quad_load)(t->x + i, v, way);
  /* First, for its exponentials may lie where the next ones go. */
  if (before != NULL) FN(pending_quad)(before, logarithm, way);
  t->sum = FN(quad_exp)(v, logarithm ? NULL : t->e + i, t->shift, logarithm, t->sum, way);
}

/* As many quads as the row before has, too; returns where they end. */
ACLPY_INLINE int64_t FN(three_both)(FN(three) * t, int64_t n, FN(pending) * before, int logarithm, int way) {
  int64_t i = 0;
  for (; before->at + 4 * LANES <= n; i += 4 * LANES) {
    if (before->streaming) FN(three_fetch)(t, i, n, before);
    FN(three_quad)(t, i, before, logarithm, way);
  }
  return i;
}
ACLPY_INLINE int64_t FN(three_rest)(FN(three) * t, int64_t i, int64_t n, int logarithm, int way) {
  for (; i + 4 * LANES <= n; i += 4 * LANES) FN(three_quad)(t, i, NULL, logarithm, way);
  return i;
}

/* The largest of a row, and whether the row is calm. */
typedef struct FN(peak) {
  REAL max;
  int calm;
} FN(peak);
ACLPY_INLINE FN(peak) FN(peak_of)(const TOP *quads, VEC others) {
  const REAL most = TOP_VALUE(quads), other = V(hmax)(others), max = most > other ? most : other;
  const FN(peak) top = {max, TOP_CALM(quads, max)};
  return top;
}
ACLPY_INLINE FN(peak) FN(row_peak)(const STORED *x, int64_t n) {
  TOP quads = TOP_FIRST();
  VEC others = V(set1)((REAL)-INFINITY);
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) TOP_QUAD(&quads, x + i);
  for (; i + LANES <= n; i += LANES) others = V(max)(LD(x + i), others);
  if (i < n) others = V(max)(LDN(x + i, n - i, (REAL)-INFINITY), others);
  return FN(peak_of)(&quads, others);
}

/* Returns the sum of x, whose top is given; `way`: of calm rows. `calm`: this one takes it, where the row before is
 * calm, too, or there is none. Then that one waits only where exponentials lie in another order. */
ACLPY_INLINE double FN(rows_step)(const STORED *next, FN(peak) * next_top, const STORED *x, REAL *e, int64_t n,
                                  FN(peak) top, FN(pending) * before, int logarithm, int way, int calm) {
  FN(three) t = {next, x, e, V(set1)(top.max), TOP_FIRST(), V(acc_zero)()};
  VEC others = V(set1)((REAL)-INFINITY);
  V(acc) rest = t.sum;
  int64_t i = 0;
  if (before->y != NULL) {
    const int paired = calm && way == ACLPY_WAY_PAIRS;
    if (calm && before->paired == paired) i = FN(three_both)(&t, n, before, logarithm, way);
    if (!calm && before->paired == paired) i = FN(three_both)(&t, n, before, logarithm, ACLPY_WAY_ANY);
    FN(pending_end)(before, logarithm, way);
  }
  if (calm) i = FN(three_rest)(&t, i, n, logarithm, way);
  if (!calm) i = FN(three_rest)(&t, i, n, logarithm, ACLPY_WAY_ANY);
  if (calm && way == ACLPY_WAY_PAIRS) V(acc_order_halves)(&t.sum, ORDER_SUMX);
  const int64_t ahead = before->streaming == ACLPY_STREAM_NEAR ? ACLPY_NEAR_BYTES_ZEN_5 : before->near;
  if (before->streaming && i < n) aclpy_fetch_at(next + i, ahead, (n - i) * (int64_t)sizeof(STORED));
  for (; i + LANES <= n; i += LANES) {
    others = V(max)(LD(next + i), others);
    t.sum = V(acc_add)(t.sum, FN(exp_at)(x, e, i, t.shift, !logarithm));
  }
  if (i < n) {
    others = V(max)(LDN(next + i, n - i, (REAL)-INFINITY), others);
    rest = V(acc_add)(rest, FN(exp_rest)(x, e, i, n, t.shift, !logarithm));
  }
  *next_top = FN(peak_of)(&t.top, others);
  return V(acc_sum)(t.sum, rest);
}

/* Where the exponentials of row `row` wait: in y itself, or in scratch where y is not to be touched twice, streamed
 * past the caches or of a narrower type, or has no room for a whole last vector: a part that is stored would be waited
 * for when it is read. There in one row, each of whose places is read before it is written, for two
 * of them and two of x are more than the first-level cache holds well. Arithmetic binds narrower types, so theirs lie
 * in two rows in turn, unless they are long. */
ACLPY_INLINE REAL *FN(rows_place)(const aclpy_geometry *g, STORED *y, int64_t row, REAL *scratch, int streaming) {
#if PLAIN
  return streaming || g->n % LANES != 0 ? scratch : y + row * g->pitch[1];
#else
  (void)y, (void)streaming;
  const int64_t second = aclpy_rows_waiting(g->n, (int64_t)sizeof(REAL), PLAIN) - 1;
  return scratch + (row & second) * aclpy_round16(g->n);
#endif
}

/* Rows [begin, end). */
ACLPY_INLINE void FN(rows_run_as)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                                  REAL *scratch, int logarithm, int streaming, int way) {
  const int64_t n = g->n, from = g->pitch[0], to = g->pitch[1];
  FN(pending) before = {0};
  FN(peak) top = {0, 0}, next_top = {0, 0};
  const int64_t size = (int64_t)sizeof(STORED), near = aclpy_near_bytes(g->core);
  const int seamed = PLAIN && streaming && way == ACLPY_WAY_ANY && aclpy_rows_seamed(y, to * size, n * size, g->core);
  aclpy_seam seam = aclpy_seam_none();
  if (begin < end) top = FN(row_peak)(x + begin * from, n);
  for (int64_t row = begin; row < end; ++row) {
    const STORED *here = x + row * from, *next = row + 1 < end ? here + from : here;
    REAL *e = FN(rows_place)(g, y, row, scratch, streaming);
    const int calm = way != ACLPY_WAY_ANY && top.calm && (row == begin || before.calm);
    const double sum = FN(rows_step)(next, &next_top, here, e, n, top, &before, logarithm, way, calm);
    const REAL factor = (REAL)(logarithm ? aclpy_log_f64(sum) : 1.0 / sum);
    const int paired = calm && way == ACLPY_WAY_PAIRS;
    const FN(pending) now = {.e = e,
                             .x = here,
                             .y = y + row * to,
                             .n = n,
                             .shift = top.max,
                             .factor = factor,
                             .streaming = streaming,
                             .near = near,
                             .calm = top.calm,
                             .paired = paired,
                             .seam = seamed ? &seam : NULL,
                             .last = row + 1 == end};
    before = now;
    FN(pending_begin)(&before, logarithm, way);
    top = next_top;
  }
  if (before.y != NULL) FN(pending_end)(&before, logarithm, way);
}
static void FN(rows_run_calm)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                              REAL *scratch, int logarithm, int streaming, int way) {
  if (way == ACLPY_WAY_CALM && logarithm) {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 1, streaming, ACLPY_WAY_CALM);
  } else if (way == ACLPY_WAY_CALM) {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 0, streaming, ACLPY_WAY_CALM);
  } else if (logarithm) {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 1, streaming, ACLPY_WAY_PAIRS);
  } else {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 0, streaming, ACLPY_WAY_PAIRS);
  }
}

/* Rows [begin, end) of two whole vectors: they stay in registers. The bits of rows_run_as. */
ACLPY_INLINE void FN(rows_pair)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const STORED *here = x + row * g->pitch[0];
    STORED *to = y + row * g->pitch[1];
    const VEC a = LD(here), b = LD(here + LANES);
    const VEC shift = V(set1)(V(hmax)(V(max)(a, b)));
    const VEC d = FN(exp_of)(V(sub)(a, shift), 1), e = FN(exp_of)(V(sub)(b, shift), 1);
    const V(acc) s = V(acc_add)(V(acc_add)(V(acc_zero)(), d), e);
    const VEC factor = V(set1)((REAL)(1.0 / V(acc_sum)(s, V(acc_zero)())));
    ST(to, V(mul)(d, factor));
    ST(to + LANES, V(mul)(e, factor));
  }
}

#if ACLPY_ISA_RANK == 2
/* Rows [begin, end) of four whole vectors, likewise. */
ACLPY_APART void FN(rows_quad)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    STORED *to = y + row * g->pitch[1];
    VEC v[4];
    LDQ(x + row * g->pitch[0], v);
    const VEC shift = V(set1)(V(hmax)(V(max)(V(max)(v[0], v[1]), V(max)(v[2], v[3]))));
    for (int k = 0; k < 4; ++k) v[k] = V(sub)(v[k], shift);
    V(exp_quad)(v, FN(exp_results)(1));
    const V(acc) s = V(acc_add)(V(acc_zero)(), V(add)(V(add)(v[0], v[1]), V(add)(v[2], v[3])));
    const VEC factor = V(set1)((REAL)(1.0 / V(acc_sum)(s, V(acc_zero)())));
    for (int k = 0; k < 4; ++k) ST(to + k * LANES, V(mul)(v[k], factor));
  }
}
#endif

/* log-softmax of `count` short rows, at most v64_LANES: what is done across the lanes of a row, and the logarithm, is
 * done for all of them at once. The bits of rows_run_as. n: where the caller knows it, loops unroll. What lies `near`
 * bytes further on is asked for, unless that is 0. */
ACLPY_INLINE void FN(group_log)(const STORED *x, int64_t from, STORED *y, int64_t to, int64_t n, int64_t count,
                                int streaming, int64_t near) {
  VEC top[v64_LANES];
  v64 sum[v64_LANES];
  double max[v64_LANES], offset[v64_LANES];
  for (int64_t r = 0; r < v64_LANES; ++r) {
    top[r] = V(set1)(0);
    sum[r] = v64_set1(1.0);
  }
  for (int64_t r = 0; r < count; ++r) top[r] = FN(row_max_lanes)(x + r * from, n);
  v64_store(max, V(hmaxs)(top));
  for (int64_t r = 0; r < count; ++r) {
    if (near > 0) aclpy_fetch_at(x + r * from, near, n * (int64_t)sizeof(STORED));
    sum[r] = FN(row_exp_lanes)(x + r * from, NULL, n, (REAL)max[r], 0, 0);
  }
  v64_store(offset, v64_log(v64_hsums(sum)));
  for (int64_t r = 0; r < count; ++r) {
    FN(row_offset)(x + r * from, y + r * to, n, (REAL)max[r], (REAL)offset[r], streaming);
  }
}

#include "softmax_short.h"
#include "turned.h"
#include "softmax_turned.h"
#include "softmax_choice.h"

static void FN(rows_run)(const aclpy_geometry *g, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                         REAL *scratch, int logarithm) {
  const STORED *x = (const STORED *)args->addr[0];
  STORED *y = (STORED *)args->addr[1];
  const int64_t moved = aclpy_whole_bytes(args, g->bytes);
  const int apart = args->addr[0] != args->addr[1], brief = FN(rows_brief)(g, logarithm);
  const int streaming = apart ? FN(rows_streaming)(g, y, moved, logarithm) : 0;
#if ACLPY_PACKS
  const int past = PLAIN && apart && moved > aclpy_stream_bytes();
  if (past && FN(rows_gather)(g, y + begin * g->pitch[1], logarithm)) {
    if (logarithm) FN(rows_run_gathered)(g, x, y, begin, end, 1);
    if (!logarithm) FN(rows_run_gathered)(g, x, y, begin, end, 0);
    aclpy_stream_fence();
    return;
  }
  if (g->n < 4 * LANES && end - begin > 2) {
    if (logarithm) FN(rows_run_short)(g, x, y, begin, end, 1, past);
    if (!logarithm) FN(rows_run_short)(g, x, y, begin, end, 0, past);
    if (past) aclpy_stream_fence();
    return;
  }
#endif
#if ACLPY_TURNS && SPLITS
  if (g->n <= FN(turned_most) && end - begin >= LANES) {
    const int past = PLAIN && apart && moved > aclpy_stream_bytes();
    FN(rows_turned)(g, x, y, begin, end, logarithm, past);
    if (past) aclpy_stream_fence();
    return;
  }
#endif
  const int pair = g->n == 2 * LANES && !streaming, grouped = brief && !(streaming && FN(rows_alone)(g));
  const int lines = aclpy_rows_lined(y, g->pitch[1] * (int64_t)sizeof(STORED));
  const int way = CALM_WAY(g->n % (4 * LANES) == 0 && (lines || !streaming));
  if (grouped) {
    const int64_t from = g->pitch[0], to = g->pitch[1];
    const int64_t near = streaming && g->core == ACLPY_CORE_ANY ? aclpy_near_bytes(g->core) : 0;
    for (int64_t i = begin; i < end; i += v64_LANES) {
      const int64_t count = aclpy_min_i64(v64_LANES, end - i);
      if (pair) FN(group_log)(x + i * from, from, y + i * to, to, 2 * LANES, count, 0, 0);
      if (!pair) FN(group_log)(x + i * from, from, y + i * to, to, g->n, count, streaming, near);
    }
  } else if (PLAIN && pair) { /* where converting binds, rows that overlap are faster */
    FN(rows_pair)(g, x, y, begin, end);
#if ACLPY_ISA_RANK == 2
  } else if (PLAIN && g->n == 4 * LANES && !streaming && !logarithm) {
    FN(rows_quad)(g, x, y, begin, end);
#endif
  } else if (way != ACLPY_WAY_ANY) {
    FN(rows_run_calm)(g, x, y, begin, end, scratch, logarithm, streaming, way);
  } else if (logarithm) {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 1, streaming, ACLPY_WAY_ANY);
  } else {
    FN(rows_run_as)(g, x, y, begin, end, scratch, 0, streaming, ACLPY_WAY_ANY);
  }
  if (streaming) aclpy_stream_fence();
}
