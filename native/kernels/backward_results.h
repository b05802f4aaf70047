/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: results of both gradients, by vectors, once their sums are known. ACLPY_T names
 * the instance.
 */
#include "../simd/instance.h"

/* A sum in two parts, so that nothing of it is lost where an element cancels it. */
typedef struct FN(total) {
  REAL high;
  REAL low; /* 0 where REAL is double */
} FN(total);

ACLPY_INLINE FN(total) FN(total_of)(double sum) {
  FN(total) t = {(REAL)sum, 0};
  if (SPLITS && isfinite(t.high)) t.low = (REAL)(sum - (double)t.high);
  return t;
}

/* a - b. Half floats' conversions fill the pipes that add; multiply-adds have others. */
ACLPY_INLINE VEC FN(less)(VEC a, VEC b) { return KEEPS && ACLPY_FUSES ? V(fnma)(b, V(set1)(1), a) : V(sub)(a, b); }

/* One vector of results. The larger terms are subtracted first: where they cancel, that is exact. */
ACLPY_INLINE VEC FN(result)(VEC g, VEC y, VEC high, VEC low, int logarithm) {
  if (logarithm) {
    const VEC e = V(exp_probability)(y), rest = V(fnma)(e, high, g);
    /* A y above any logarithm of a probability: infinity times the low part must not become NaN. */
    return SPLITS ? V(fnma)(V(min)(V(set1)((REAL)FLT_MAX), e), low, rest) : rest;
  }
  const VEC rest = FN(less)(g, high);
  return V(mul)(y, SPLITS ? FN(less)(rest, low) : rest);
}

/* Whether the logarithms of four vectors are looked at together (results_log), where it can be done; of doubles with
 * AVX2 only, for NEON's squares have two. With AVX-512 not those of floats where memory may be what binds: they gain
 * nothing there, and are better stored as they are made. */
enum {
  FN(can_look) = ACLPY_ISA_RANK == 3 ? SPLITS : ACLPY_LOOKS && (SPLITS || ACLPY_ISA_RANK == 2),
  FN(looks) = FN(can_look) && (!PLAIN || ACLPY_ISA_RANK < 3)
};
/* A result of log-softmax whose exponential is finite. */
ACLPY_INLINE VEC FN(rest_of)(VEC g, VEC e, VEC high, VEC low) {
  const VEC rest = V(fnma)(e, high, g);
  return SPLITS ? V(fnma)(e, low, rest) : rest;
}
/* Four vectors of results of log-softmax, which take the place of y. Where they are logarithms of probabilities, none
 * too small (with NEON any of a size of at most 86; doubles of at most 600), exponentials take no bounds, no masks and
 * no scaling, and are finite. */
ACLPY_INLINE void FN(results_log)(const VEC *g, VEC *y, const VEC *high, const VEC *low) {
  if (FN(can_look) && ACLPY_LIKELY(V(quad_close)(y))) {
    V(exps_close)(y, 4);
    for (int k = 0; k < 4; ++k) y[k] = FN(rest_of)(g[k], y[k], high[k], low[k]);
    return;
  }
  for (int k = 0; k < 4; ++k) y[k] = FN(result)(g[k], y[k], high[k], low[k], 1);
}

/* Exponentials of four vectors whose results come with the next four. A core looks ahead over too few instructions to
 * begin the next exponentials while results wait for these. */
typedef struct FN(waiting) {
  VEC e[4];
  const STORED *g;
  STORED *out; /* NULL: none wait */
} FN(waiting);
enum { FN(waits) = ACLPY_ISA_RANK == 2 };
/* Writes the results of those that wait. */
ACLPY_INLINE void FN(waiting_out)(FN(waiting) * w, const VEC *high, const VEC *low, int streaming) {
  if (w->out == NULL) return;
  VEC v[4];
  for (int k = 0; k < 4; ++k) v[k] = FN(rest_of)(LDX(w->g, k), w->e[k], high[k], low[k]);
  for (int k = 0; k < 4; ++k) STX(w->out, v, k, streaming);
  w->out = NULL;
}
/* Those of v, which are close, wait from now on, and results of those before are written between them. */
ACLPY_INLINE void FN(waiting_next)(FN(waiting) * w, VEC *v, const VEC *high, const VEC *low, int streaming) {
  const int first = sizeof(REAL) == sizeof(double) ? 4 : 2; /* the exponentials of doubles have work enough */
  V(exps_close)(v, first);
  FN(waiting_out)(w, high, low, streaming);
  if (first < 4) V(exps_close)(v + first, 4 - first);
  for (int k = 0; k < 4; ++k) w->e[k] = v[k];
}

#if ACLPY_ISA_RANK == 3 && SPLITS
/* What is left of a row of log-softmax, n elements in `count` vectors, at most four, that are looked at together. */
ACLPY_INLINE void FN(out_some)(const STORED *g, const STORED *y, STORED *out, int64_t n, int count, VEC high, VEC low) {
  const int last = count - 1;
  const int64_t at = last * LANES, m = n - at;
  VEC v[4], w[4];
  for (int k = 0; k < last; ++k) v[k] = LD(y + k * LANES);
  for (int k = 0; k < last; ++k) w[k] = LD(g + k * LANES);
  v[last] = LDN(y + at, m, -1);
  w[last] = LDN(g + at, m, 0);
  for (int k = count; k < 4; ++k) v[k] = v[last];
  if (ACLPY_LIKELY(V(quad_close)(v))) {
    V(exps_close)(v, count);
    for (int k = 0; k < count; ++k) v[k] = FN(rest_of)(w[k], v[k], high, low);
  } else {
    for (int k = 0; k < count; ++k) v[k] = FN(result)(w[k], v[k], high, low, 1);
  }
  for (int k = 0; k < last; ++k) ST(out + k * LANES, v[k]);
  STN(out + at, v[last], m);
}
ACLPY_APART void FN(out_rest)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low) {
  if (n > 3 * LANES) {
    FN(out_some)(g, y, out, n, 4, high, low);
  } else if (n > 2 * LANES) {
    FN(out_some)(g, y, out, n, 3, high, low);
  } else if (n > LANES) {
    FN(out_some)(g, y, out, n, 2, high, low);
  } else {
    FN(out_some)(g, y, out, n, 1, high, low);
  }
}
#endif
