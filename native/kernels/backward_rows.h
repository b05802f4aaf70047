/* SPDX-License-Identifier: Apache-2.0
 * Template: backward of softmax and log-softmax over dense rows, whole or in chunks. ACLPY_T names the instance.
 *
 * softmax: out = y * (g - sum(g * y)); log-softmax: out = g - exp(y) * sum(g). Both passes read the tensors as
 * stored (a row stays in cache between them), so no scratch is needed and out may be g or y. Sums have double
 * precision and are subtracted in two parts: where terms cancel, the absolute error stays that of the result's own
 * rounding.
 */
#include "../simd/instance.h"

#include "backward_results.h"

/* The sum of g * y over a block, whatever the products' size. */
ACLPY_APART double FN(block_dot)(const STORED *g, const STORED *y, int64_t n) {
  V(dot) s[4] = {V(dot_zero)(), V(dot_zero)(), V(dot_zero)(), V(dot_zero)()};
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    for (int k = 0; k < 4; ++k) s[k] = V(dot_add)(s[k], LD(g + i + k * LANES), LD(y + i + k * LANES), !PLAIN);
  }
  for (; i + LANES <= n; i += LANES) s[0] = V(dot_add)(s[0], LD(g + i), LD(y + i), !PLAIN);
  if (i < n) s[1] = V(dot_add)(s[1], LDN(g + i, n - i, 0), LDN(y + i, n - i, 0), !PLAIN);
  return V(dot_total)(s, 4);
}

/* Elements whose sum is made at once. */
enum { FN(sum_block) = sizeof(REAL) == sizeof(double) ? 4 * LANES * ACLPY_CHAIN_STEPS : ACLPY_BLOCK };

/* Sums of g * y, or of g, in progress. Two chains of double additions are enough beside exponentials. */
typedef struct FN(sums) {
  V(products) products;
  V(acc) terms[2];
} FN(sums);

ACLPY_INLINE void FN(sums_begin)(FN(sums) * s) {
  s->products = V(products_zero)();
  for (int k = 0; k < 2; ++k) s->terms[k] = V(acc_zero)();
}

/* Four vectors. */
ACLPY_INLINE void FN(sums_quad)(FN(sums) * s, const STORED *g, const STORED *y, int logarithm) {
  if (logarithm) {
    for (int k = 0; k < 4; ++k) s->terms[k & 1] = V(acc_add)(s->terms[k & 1], LDX(g, k));
    return;
  }
  const VEC v[4] = {LDX(g, 0), LDX(g, 1), LDX(g, 2), LDX(g, 3)};
  const VEC w[4] = {LDX(y, 0), LDX(y, 1), LDX(y, 2), LDX(y, 3)};
  V(products_quad)(&s->products, v, w, KEEPS && ACLPY_ISA_RANK == 3); /* with AVX2 1.04 of the time */
}

/* Lanes to the order of memory. */
ACLPY_INLINE void FN(sums_order)(FN(sums) * s, int logarithm) {
  if (logarithm) {
    V(acc_order)(s->terms, ORDER_SUMS);
  } else {
    V(products_order)(&s->products, ORDER);
  }
}

/* The last vectors of a block, behind whole groups of four. */
ACLPY_INLINE void FN(sums_rest)(FN(sums) * s, const STORED *g, const STORED *y, int64_t i, int64_t n, int logarithm) {
  if (i > 0) FN(sums_order)(s, logarithm);
  if (logarithm) {
    for (; i + LANES <= n; i += LANES) s->terms[0] = V(acc_add)(s->terms[0], LD(g + i));
    if (i < n) s->terms[1] = V(acc_add)(s->terms[1], LDN(g + i, n - i, 0));
    return;
  }
  for (; i + LANES <= n; i += LANES) V(products_add)(&s->products, 0, LD(g + i), LD(y + i));
  if (i < n) V(products_add)(&s->products, 1, LDN(g + i, n - i, 0), LDN(y + i, n - i, 0));
}

/* The sum of the block, its last vectors added. */
ACLPY_INLINE double FN(sums_end)(FN(sums) * s, const STORED *g, const STORED *y, int64_t i, int64_t n, int logarithm) {
  FN(sums_rest)(s, g, y, i, n, logarithm);
  if (logarithm) return V(acc_sum)(s->terms[0], s->terms[1]);
  if (!ACLPY_LIKELY(V(products_hold)(&s->products))) return FN(block_dot)(g, y, n);
  /* Not by a number that is known later: chains that are counted live in memory, stored again in each turn. */
  if (n < 4 * LANES) return V(products_total)(&s->products, 2);
  return V(products_total)(&s->products, 4);
}

/* Sum of one block: g * y, or g alone. */
ACLPY_INLINE double FN(block_sum)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  FN(sums) s;
  FN(sums_begin)(&s);
  int64_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) FN(sums_quad)(&s, g + i, y + i, logarithm);
  return FN(sums_end)(&s, g, y, i, n, logarithm);
}

ACLPY_INLINE double FN(row_sum)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  aclpy_sum sum = {0.0, 0.0};
  for (int64_t i = 0; i < n; i += FN(sum_block)) {
    sum = aclpy_sum_add(sum, FN(block_sum)(g + i, y + i, aclpy_min_i64(FN(sum_block), n - i), logarithm));
  }
  return aclpy_sum_total(sum);
}

/* Writes four vectors of `out` from element `at` on, where that many are left; returns where it ended. */
ACLPY_INLINE int64_t FN(out_quad)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, VEC high,
                                  VEC low, int logarithm, int streaming) {
  if (at + 4 * LANES > n) return at;
  const int looks = logarithm && (FN(looks) || (FN(can_look) && !streaming));
  VEC v[4];
  if (looks) {
    const VEC w[4] = {LDX(g + at, 0), LDX(g + at, 1), LDX(g + at, 2), LDX(g + at, 3)};
    const VEC h[4] = {high, high, high, high}, l[4] = {low, low, low, low};
    for (int k = 0; k < 4; ++k) v[k] = LDX(y + at, k);
    FN(results_log)(w, v, h, l);
  }
  for (int k = 0; k < 4; ++k) {
    if (!looks) v[k] = FN(result)(LDX(g + at, k), LDX(y + at, k), high, low, logarithm);
    STX(out + at, v, k, streaming);
  }
  return at + 4 * LANES;
}

/* As out_quad for log-softmax, but results wait for the next four vectors, or for waiting_end. */
ACLPY_INLINE int64_t FN(out_quad_late)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, VEC high,
                                       VEC low, int streaming, FN(waiting) * w) {
  if (at + 4 * LANES > n) return at;
  VEC v[4];
  for (int k = 0; k < 4; ++k) v[k] = LDX(y + at, k);
  const VEC h[4] = {high, high, high, high}, l[4] = {low, low, low, low};
  if (!ACLPY_LIKELY(V(quad_close)(v))) {
    FN(waiting_out)(w, h, l, streaming);
    return FN(out_quad)(g, y, out, at, n, high, low, 1, streaming);
  }
  FN(waiting_next)(w, v, h, l, streaming);
  w->g = g + at;
  w->out = out + at;
  return at + 4 * LANES;
}

ACLPY_INLINE void FN(waiting_end)(FN(waiting) * w, VEC high, VEC low, int streaming) {
  const VEC h[4] = {high, high, high, high}, l[4] = {low, low, low, low};
  FN(waiting_out)(w, h, l, streaming);
}
ACLPY_INLINE int64_t FN(out_next)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, VEC high,
                                  VEC low, int logarithm, int streaming, FN(waiting) * w) {
  if (logarithm && FN(waits)) return FN(out_quad_late)(g, y, out, at, n, high, low, streaming, w);
  return FN(out_quad)(g, y, out, at, n, high, low, logarithm, streaming);
}

/* Vector by vector. */
ACLPY_INLINE void FN(row_out_each)(const STORED *g, const STORED *y, STORED *out, int64_t n, VEC high, VEC low,
                                   int logarithm, int streaming) {
#define FULL_(i) FN(result)(LD(g + (i)), LD(y + (i)), high, low, logarithm)
#define PART_(i, m) FN(result)(LDN(g + (i), m, 0), LDN(y + (i), m, 0), high, low, logarithm)
  ACLPY_MAP(out, n, streaming, FULL_, PART_);
#undef FULL_
#undef PART_
}

/* What is left of a row from `at` on: by fours in the caches, */
ACLPY_INLINE void FN(row_end)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, FN(total) sum,
                              int logarithm, int streaming) {
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  FN(waiting) w = {.out = NULL};
  while (!streaming && at + 4 * LANES <= n) at = FN(out_next)(g, y, out, at, n, high, low, logarithm, 0, &w);
  FN(waiting_end)(&w, high, low, 0);
#if ACLPY_ISA_RANK == 3 && SPLITS
  if (logarithm && !streaming && n != LANES && n != 2 * LANES) { /* those are quicker vector by vector */
    if (at < n) FN(out_rest)(g + at, y + at, out + at, n - at, high, low);
    return;
  }
#endif
  FN(row_out_each)(g + at, y + at, out + at, n - at, high, low, logarithm, streaming);
}
/* and past them, too, where several are rounded together and whole lines. Long rows from the first whole line on: where
 * the operands lie as the results do, their lines are whole then as well. */
ACLPY_INLINE void FN(row_out)(const STORED *g, const STORED *y, STORED *out, int64_t n, FN(total) sum, int logarithm,
                              int streaming) {
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  int64_t at = 0;
  if (!streaming && n * (int64_t)sizeof(STORED) >= ACLPY_ROW_LONG_BYTES) {
    at = aclpy_to_line(out, (int64_t)sizeof(STORED), n);
    if (at > 0) FN(row_out_each)(g, y, out, at, high, low, logarithm, 0);
  }
  if (streaming && !PLAIN && 4 * LANES * (int64_t)sizeof(STORED) >= 64) {
    at = aclpy_to_line(out, (int64_t)sizeof(STORED), n);
    FN(row_out_each)(g, y, out, at, high, low, logarithm, 0);
    FN(waiting) w = {.out = NULL};
    while (at + 4 * LANES <= n) at = FN(out_next)(g, y, out, at, n, high, low, logarithm, 1, &w);
    FN(waiting_end)(&w, high, low, 1);
  }
  FN(row_end)(g, y, out, at, n, sum, logarithm, streaming);
}

typedef struct FN(operands) {
  const STORED *g;
  const STORED *y;
  STORED *out;
  int streaming;
} FN(operands);

ACLPY_INLINE FN(operands) FN(operands_of)(const aclpy_geometry *geometry, const aclpy_kernel_args *args) {
  FN(operands) p;
  p.g = (const STORED *)args->addr[0];
  p.y = (const STORED *)args->addr[1];
  p.out = (STORED *)args->addr[2];
  p.streaming = geometry->streaming && args->addr[0] != args->addr[2] && args->addr[1] != args->addr[2];
  return p;
}

#include "backward_flow.h"

/* Row `at` is written while the sum of the row behind it is made, so that reading and writing overlap. The sum has
 * the same steps as row_sum. Results in the caches follow one group of vectors behind the sum: rows of 4000 bytes are
 * read just before the place, in another page, of what was written, and such a load waits for the store. They begin
 * at a whole line, where operands mostly do, too: an access of 64 bytes that two lines share counts as two. */
enum { FN(fetches) = sizeof(STORED) < sizeof(double) /* two rows of doubles fill the first-level cache as it is */ };
ACLPY_INLINE double FN(rows_step)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t row, FN(total) sum,
                                  int logarithm, int streaming, FN(flow) * f) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  const STORED *g = p->g + row * pitch[0], *y = p->y + row * pitch[1];
  STORED *out = p->out + row * pitch[2];
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  aclpy_sum total = {0.0, 0.0};
  int64_t done = 0;
  FN(waiting) w = {.out = NULL};
  if (streaming) {
    done = FN(row_begin)(g, y, out, n, sum, logarithm, f);
  } else if (n * (int64_t)sizeof(STORED) >= ACLPY_ROW_LINED_BYTES) {
    done = aclpy_to_line(out, (int64_t)sizeof(STORED), n);
    if (done > 0) FN(row_out_each)(g, y, out, done, high, low, logarithm, 0);
  }
  for (int64_t first = 0; first < n; first += FN(sum_block)) {
    const STORED *h = g + pitch[0] + first, *z = y + pitch[1] + first;
    const int64_t m = aclpy_min_i64(FN(sum_block), n - first);
    FN(sums) s;
    FN(sums_begin)(&s);
    int64_t i = 0;
    for (; i + 4 * LANES <= m; i += 4 * LANES) {
      if (PLAIN && streaming && f->paced && i % (ACLPY_PACE_GROUPS * 4 * LANES) == 0) aclpy_pace();
      FN(sums_quad)(&s, h + i, z + i, logarithm);
      if (streaming) aclpy_fetch_at(h + i, f->near, 4 * LANES * (int64_t)sizeof(STORED));
      if (streaming) aclpy_fetch_at(z + i, f->near, 4 * LANES * (int64_t)sizeof(STORED));
      if (!streaming && FN(fetches)) aclpy_fetch_soon(h + i, 4 * LANES * (int64_t)sizeof(STORED));
      if (!streaming && FN(fetches)) aclpy_fetch_soon(z + i, 4 * LANES * (int64_t)sizeof(STORED));
      if (streaming || first + i > 0) done = FN(out_next)(g, y, out, done, n, high, low, logarithm, streaming, &w);
    }
    if (streaming && i < m) aclpy_fetch_rest(h + i, f->near, (m - i) * (int64_t)sizeof(STORED));
    if (streaming && i < m) aclpy_fetch_rest(z + i, f->near, (m - i) * (int64_t)sizeof(STORED));
    total = aclpy_sum_add(total, FN(sums_end)(&s, h, z, i, m, logarithm));
  }
  FN(waiting_end)(&w, high, low, streaming);
  FN(row_finish)(g, y, out, done, n, sum, logarithm, streaming, f);
  return aclpy_sum_total(total);
}

#if KEEPS
/* Gradients of softmax whose conversions cost more than a trip through the first-level cache: what the sum of a row has
 * converted waits in `kept` for its results. Otherwise as rows_step, with the steps of row_sum and row_out. */
ACLPY_INLINE void FN(kept_sum)(FN(sums) * s, const STORED *g, const STORED *y, REAL *kept) {
  VEC v[8];
  for (int k = 0; k < 4; ++k) {
    v[k] = LDX(g, k);
    v[4 + k] = LDX(y, k);
  }
  for (int k = 0; k < 8; ++k) V(store)(kept + k * LANES, v[k]);
  V(products_quad)(&s->products, v, v + 4, KEEPS);
}
ACLPY_INLINE void FN(kept_out)(const REAL *kept, STORED *out, VEC high, VEC low) {
  VEC v[4];
  for (int k = 0; k < 4; ++k) {
    v[k] = FN(result)(V(load)(kept + k * LANES), V(load)(kept + (4 + k) * LANES), high, low, 0);
    STX(out, v, k, 0);
  }
}
/* The sum of row `row` where `sums`, the results of the row before where `outs`, one group of vectors behind: so the
 * end of a sum, in which its lanes come together, has work beside it. */
ACLPY_INLINE double FN(kept_step)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t row, FN(total) sum,
                                  REAL (*kept)[2 * ACLPY_ROW_KEPT], int sums, int outs) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  const STORED *g = sums ? p->g + row * pitch[0] : NULL, *y = sums ? p->y + row * pitch[1] : NULL;
  STORED *out = outs ? p->out + (row - 1) * pitch[2] : NULL;
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  FN(sums) s;
  FN(sums_begin)(&s);
  const int64_t group = 4 * LANES;
  int64_t i = 0;
  for (; i + group <= n; i += group) {
    if (sums) FN(kept_sum)(&s, g + i, y + i, kept[row & 1] + 2 * i);
    if (outs && i > 0) FN(kept_out)(kept[~row & 1] + 2 * (i - group), out + i - group, high, low);
  }
  const double total = sums ? FN(sums_end)(&s, g, y, i, n, 0) : 0;
  if (outs && i > 0) FN(kept_out)(kept[~row & 1] + 2 * (i - group), out + i - group, high, low);
  if (outs) {
    const STORED *x = p->g + (row - 1) * pitch[0] + i, *z = p->y + (row - 1) * pitch[1] + i;
    FN(row_out)(x, z, out + i, n - i, sum, 0, 0);
  }
  return total;
}
static void FN(rows_run_kept)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end) {
  _Alignas(64) REAL kept[2][2 * ACLPY_ROW_KEPT];
  double sum = FN(kept_step)(geometry, p, begin, FN(total_of)(0), kept, 1, 0);
  for (int64_t i = begin + 1; i < end; ++i) sum = FN(kept_step)(geometry, p, i, FN(total_of)(sum), kept, 1, 1);
  FN(kept_step)(geometry, p, end, FN(total_of)(sum), kept, 0, 1);
}
#endif

/* Whether each row is written before the sum of the next is begun. In the caches: where rows do not share the first
 * level, beyond the second, and on cores that do best so; on Intel's (and others) only doubles and the exponentials of
 * long rows. On AMD's, 16-bit rows in the caches are bound by their conversions, which the other way hides; so are the
 * exponentials of log-softmax but for streams of short rows. On Zen 5 only streams of short rows are, of softmax
 * without conversions, where the core is not paced. */
ACLPY_INLINE int FN(rows_apart)(const aclpy_geometry *geometry, int logarithm, int streaming) {
  const int64_t bytes = geometry->n * (int64_t)sizeof(STORED);
  const int steps = sizeof(STORED) < sizeof(double) && geometry->core == ACLPY_CORE_ANY;
  if (!streaming && geometry->far && !steps) return 1;
  if (!streaming && bytes >= ACLPY_ROW_LONG_BYTES && (logarithm || !steps)) return 1;
  if (geometry->core == ACLPY_CORE_ZEN_5) {
    return PLAIN && streaming && !logarithm && bytes <= ACLPY_ROW_BRIEF_BYTES && !FN(rows_paced)(geometry, logarithm);
  }
  if (geometry->core != ACLPY_CORE_ZEN_3) return 0;
  if (sizeof(STORED) == 2) return streaming && !logarithm;
  return !logarithm || (streaming && bytes <= ACLPY_ROW_APART_BYTES);
}
ACLPY_INLINE void FN(rows_run_apart_as)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin,
                                        int64_t end, int logarithm, int streaming) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  for (int64_t i = begin; i < end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    const double sum = FN(row_sum)(g, y, n, logarithm);
    if (streaming) aclpy_fetch_shared(p->out + i * pitch[2] + n);
    FN(row_out)(g, y, p->out + i * pitch[2], n, FN(total_of)(sum), logarithm, streaming);
  }
}

/* Functions of their own, so that registers are shared out for each of these loops alone. */
ACLPY_APART void FN(rows_run_apart)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                    int logarithm, int streaming) {
  if (logarithm && streaming) FN(rows_run_apart_as)(geometry, p, begin, end, 1, 1);
  if (logarithm && !streaming) FN(rows_run_apart_as)(geometry, p, begin, end, 1, 0);
  if (!logarithm && streaming) FN(rows_run_apart_as)(geometry, p, begin, end, 0, 1);
  if (!logarithm && !streaming) FN(rows_run_apart_as)(geometry, p, begin, end, 0, 0);
}

/* The same for softmax's gradients of rows so short that it shows how long the lanes of a sum take to come together:
 * meanwhile the next row's sum is begun. Beyond the second level that costs more than it hides. */
enum { FN(led) = 3 * 4 * LANES };
ACLPY_INLINE int FN(rows_led)(const aclpy_geometry *geometry, int64_t rows) {
  const int64_t bytes = geometry->n * (int64_t)sizeof(STORED);
  return PLAIN && bytes <= ACLPY_ROW_LED_BYTES && 3 * bytes * rows <= aclpy_cache_bytes_l2();
}
ACLPY_APART void FN(rows_run_led)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end) {
  const int64_t n = geometry->n, *pitch = geometry->pitch, whole = n / (4 * LANES) * (4 * LANES);
  const int64_t led = aclpy_min_i64(whole, FN(led));
  FN(sums) s;
  FN(total) sum = {0, 0};
  for (int64_t i = begin; i <= end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    FN(sums_begin)(&s);
    for (int64_t k = 0; k < led && i < end; k += 4 * LANES) FN(sums_quad)(&s, g + k, y + k, 0);
    if (i > begin) FN(row_out)(g - pitch[0], y - pitch[1], p->out + (i - 1) * pitch[2], n, sum, 0, 0);
    if (i == end) return;
    for (int64_t k = led; k < whole; k += 4 * LANES) FN(sums_quad)(&s, g + k, y + k, 0);
    sum = FN(total_of)(0.0 + FN(sums_end)(&s, g, y, whole, n, 0)); /* as row_sum: never -0 */
  }
}

ACLPY_INLINE void FN(rows_run_as)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                  int logarithm, int streaming) {
  const int64_t n = geometry->n, *pitch = geometry->pitch, last = end - 1;
  if (begin >= end) return;
#if KEEPS
  if (!streaming && !logarithm && n <= ACLPY_ROW_KEPT) {
    FN(rows_run_kept)(geometry, p, begin, end);
    return;
  }
#endif
  if (FN(rows_apart)(geometry, logarithm, streaming)) {
    const int led = !logarithm && !streaming && FN(rows_led)(geometry, end - begin);
    if (led) FN(rows_run_led)(geometry, p, begin, end);
    if (!led) FN(rows_run_apart)(geometry, p, begin, end, logarithm, streaming);
    return;
  }
  FN(flow) f = FN(flow_of)(geometry, p, logarithm, streaming);
  double sum = FN(row_sum)(p->g + begin * pitch[0], p->y + begin * pitch[1], n, logarithm);
  for (int64_t i = begin; i < last; ++i) {
    sum = FN(rows_step)(geometry, p, i, FN(total_of)(sum), logarithm, streaming, &f);
  }
  const STORED *g = p->g + last * pitch[0], *y = p->y + last * pitch[1];
  STORED *out = p->out + last * pitch[2];
  const FN(total) end_sum = FN(total_of)(sum);
  const int64_t at = streaming ? FN(row_begin)(g, y, out, n, end_sum, logarithm, &f) : 0;
  FN(row_end)(g, y, out, at, n, end_sum, logarithm, streaming);
}

#include "turned.h"
#include "backward_turned.h"
#include "backward_few.h"
#include "backward_many.h"
#include "backward_short.h"

/* Whether rows go past the caches: on family 19h not those so short that the lines they share are felt; 16-bit ones of
 * whole lines or long ones, on Zen 5 from half of the last level on (but for kept ones), on family 19h those of
 * log-softmax and short ones; never where the result is an input, one of two reasons for `streaming` to be 0. */
ACLPY_INLINE int FN(rows_streaming)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm) {
  const int64_t size = (int64_t)sizeof(STORED), bytes = geometry->n * size;
  const int well = aclpy_rows_well(p->out, geometry->pitch[2] * size, bytes);
  if (size != 2) {
    return p->streaming && (well || bytes >= ACLPY_ROW_SHARED_BYTES || geometry->core != ACLPY_CORE_ZEN_3);
  }
  if (p->streaming) return well || aclpy_rows_fair(bytes, size, 4 * LANES * size, ACLPY_FAIR_BACKWARD);
  const int kept = KEEPS && !logarithm && geometry->n <= ACLPY_ROW_KEPT;
  const int early = geometry->core == ACLPY_CORE_ZEN_5 ||
                    (geometry->core == ACLPY_CORE_ZEN_3 && (logarithm || bytes <= ACLPY_ROW_BRIEF_BYTES));
  return early && geometry->half && well && !kept && p->out != p->g && p->out != p->y;
}

static void FN(rows_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int64_t begin, int64_t end,
                         int logarithm) {
  FN(operands) p = FN(operands_of)(geometry, args);
  const int past = p.streaming;
  p.streaming = FN(rows_streaming)(geometry, &p, logarithm);
#if ACLPY_TURNS && SPLITS
  if (FN(rows_are_few)(geometry->n, logarithm)) {
    FN(rows_few)(geometry, &p, begin, end, logarithm, PLAIN && past);
    if (PLAIN && past) aclpy_stream_fence();
    return;
  }
  if (geometry->n <= FN(turned_most)) {
    FN(rows_turned)(geometry, &p, begin, end, logarithm, PLAIN && past);
    if (past) aclpy_stream_fence();
    return;
  }
#if PLAIN
  if (!logarithm && !p.streaming && geometry->n <= FN(eight_most)) {
    FN(rows_eight)(geometry, &p, begin, end);
    return;
  }
#endif
#endif
  if (FN(rows_grouped)(geometry, &p, logarithm, past)) {
    if (logarithm) FN(rows_short)(geometry, &p, begin, end, 1, past);
    if (!logarithm) FN(rows_short)(geometry, &p, begin, end, 0, past);
    if (past || p.streaming) aclpy_stream_fence();
    return;
  }
  if (logarithm && p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 1, 1);
  if (logarithm && !p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 1, 0);
  if (!logarithm && p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 0, 1);
  if (!logarithm && !p.streaming) FN(rows_run_as)(geometry, &p, begin, end, 0, 0);
  if (p.streaming) aclpy_stream_fence();
}

/* Pass 0: sums of chunks; pass 1: of rows, behind them; pass 2: write. */
static void FN(row_chunks_run)(const aclpy_geometry *geometry, const aclpy_kernel_args *args, int32_t pass,
                               int64_t begin, int64_t end, int logarithm) {
  const FN(operands) p = FN(operands_of)(geometry, args);
  double *sum = (double *)(void *)args->scratch;
  double *total = sum + geometry->outer * geometry->chunks;
  aclpy_turn_items(geometry, &pass, &begin, &end);
  for (int64_t i = begin; i < end; ++i) {
    if (pass == 1) {
      aclpy_sum s = {0.0, 0.0};
      for (int64_t c = 0; c < geometry->chunks; ++c) s = aclpy_sum_add(s, sum[i * geometry->chunks + c]);
      total[i] = aclpy_sum_total(s);
      continue;
    }
    const int64_t row = i / geometry->chunks, first = i % geometry->chunks * geometry->chunk;
    const STORED *g = p.g + row * geometry->pitch[0] + first, *y = p.y + row * geometry->pitch[1] + first;
    STORED *out = p.out + row * geometry->pitch[2] + first;
    const int64_t n = aclpy_min_i64(geometry->chunk, geometry->n - first);
    if (pass == 0) {
      sum[i] = FN(row_sum)(g, y, n, logarithm);
    } else {
      FN(row_out)(g, y, out, n, FN(total_of)(total[row]), logarithm, p.streaming);
    }
  }
  if (p.streaming) aclpy_stream_fence();
}
