/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of softmax_rows.h: rows of at most a vector, as many at once as a vector has lanes. ACLPY_T names
 * the instance.
 *
 * What is done across the lanes of a row takes longer than all else that such a row needs; done for all rows of a
 * batch at once it costs a third (across.h). The bits of rows_run_as.
 */
#include "../simd/instance.h"

#if ACLPY_PACKS
/* So many rows at once: what one waits for, others hide. */
enum { FN(batch) = ACLPY_ROWS_BATCH };

/* `count` of `most` rows (v64_LANES or twice that), of at most four vectors each. `kept` has room for them. n and
 * count: where the caller knows them, loops unroll. */
ACLPY_INLINE void FN(short_batch)(const STORED *x, int64_t from, STORED *y, int64_t to, int64_t n, int64_t count,
                                  int64_t most, REAL *kept, int logarithm, int streaming) {
  _Alignas(64) REAL top[FN(batch)], factor[FN(batch)];
  const int64_t stride = (n + LANES - 1) / LANES * LANES;
  VEC largest[FN(batch)];
  v64 sum[FN(batch)];
  for (int64_t r = 0; r < most; ++r) {
    largest[r] = V(set1)(0);
    sum[r] = v64_set1(1.0);
  }
  for (int64_t r = 0; r < count; ++r) largest[r] = FN(row_max_lanes)(x + r * from, n);
  for (int64_t r = 0; r < most; r += v64_LANES) V(store_doubles)(top + r, V(hmaxs)(largest + r));
  for (int64_t r = 0; r < count; ++r) {
    const VEC shift = V(set1)(top[r]);
    const STORED *here = x + r * from;
    REAL *const e = kept + r * stride;
    V(acc) s = V(acc_zero)(), t = s;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) s = V(acc_add)(s, FN(exp_at)(here, e, i, shift, !logarithm));
    if (i < n) {
      const VEC v = FN(exp_of)(V(sub)(LDN(here + i, n - i, (REAL)-INFINITY), shift), !logarithm);
      if (!logarithm) V(store)(e + i, v);
      t = V(acc_add)(t, v);
    }
    sum[r] = V(acc_lanes)(s, t);
  }
  for (int64_t r = 0; r < most; r += v64_LANES) {
    const v64 all = v64_hsums(sum + r);
    V(store_doubles)(factor + r, logarithm ? v64_log(all) : v64_div(v64_set1(1.0), all));
  }
  for (int64_t r = 0; r < count; ++r) {
    if (logarithm) FN(row_offset)(x + r * from, y + r * to, n, top[r], factor[r], streaming);
    if (!logarithm) FN(row_scale)(kept + r * stride, y + r * to, n, factor[r], streaming);
  }
}

/* A batch of LANES rows of fewer elements, without gaps: n vectors. */
ACLPY_INLINE void FN(packed_batch)(const aclpy_lanes *rows, const STORED *x, STORED *y, int64_t n, int logarithm,
                                   int streaming) {
  VEC e[LANES + 1], v[LANES];
  v64 sum[LANES], of_rows[LANES / v64_LANES];
  for (int64_t r = 0; r < LANES; ++r) v[r] = LDN(x + r * n, n, (REAL)-INFINITY);
  const VEC top = V(largest)(v);
  for (int64_t k = 0; k < n; ++k) {
    e[k] = FN(exp_of)(V(sub)(LD(x + k * LANES), V(spread)(top, rows[k])), !logarithm);
  }
  e[n] = V(set1)(0);
  for (int64_t r = 0; r < LANES; ++r) {
    const int64_t at = r * n;
    sum[r] = V(lanes)(V(pick)(e[at / LANES], e[at / LANES + 1], at % LANES, n));
  }
  for (int64_t k = 0; k < LANES / v64_LANES; ++k) {
    const v64 all = v64_hsums(sum + k * v64_LANES);
    of_rows[k] = logarithm ? v64_log(all) : v64_div(v64_set1(1.0), all);
  }
  const VEC factor = V(of_doubles)(of_rows);
  for (int64_t k = 0; k < n; ++k) {
    const VEC f = V(spread)(factor, rows[k]);
    const VEC out = logarithm ? V(sub)(V(sub)(LD(x + k * LANES), V(spread)(top, rows[k])), f) : V(mul)(e[k], f);
    if (streaming) {
      NT(y + k * LANES, out);
    } else {
      ST(y + k * LANES, out);
    }
  }
}

/* Rows [begin, end), n being g->n. */
ACLPY_INLINE void FN(rows_run_brief)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                                     int64_t n, int logarithm, int streaming) {
  _Alignas(64) REAL kept[4 * LANES * FN(batch)];
  const int64_t from = g->pitch[0], to = g->pitch[1], size = (int64_t)sizeof(STORED);
  const int64_t near = aclpy_near_bytes(g->core);
  int64_t row = begin;
  for (; row + FN(batch) <= end; row += FN(batch)) {
    const STORED *here = x + row * from;
    for (int64_t r = 0; r < FN(batch) && streaming && g->core != ACLPY_CORE_ZEN_3; ++r) {
      aclpy_fetch_at(here + r * from, near, n * size);
    }
    FN(short_batch)(here, from, y + row * to, to, n, FN(batch), FN(batch), kept, logarithm, streaming);
  }
  for (int64_t count; row < end; row += count) {
    count = aclpy_min_i64(v64_LANES, end - row);
    FN(short_batch)(x + row * from, from, y + row * to, to, n, count, v64_LANES, kept, logarithm, streaming);
  }
}

/* Rows [begin, end) of less than a vector, without gaps. Past the caches go whole lines only: the rows before the first
 * that begins with one are a batch of their own. */
static void FN(rows_run_packed)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                                int logarithm, int streaming) {
  const int64_t n = g->n, near = aclpy_near_bytes(g->core),
                first = streaming ? aclpy_rows_to_line(y + begin * n, n * (int64_t)sizeof(STORED), LANES) : LANES;
  const int streams = streaming && first < LANES, fetches = streaming && g->core != ACLPY_CORE_ZEN_3;
  aclpy_lanes rows[LANES]; /* of the elements of each vector */
  for (int64_t k = 0; k < n; ++k) rows[k] = V(rows_of)(k * LANES, n);
  int64_t count = streams && first > 0 ? first : LANES;
  for (int64_t row = begin; row < end; row += count, count = LANES) {
    const STORED *here = x + row * n;
    STORED *out = y + row * n;
    if (fetches) aclpy_fetch_at(here, near, LANES * n * (int64_t)sizeof(STORED));
    count = aclpy_min_i64(count, end - row);
    if (count < LANES) {
      FN(rows_run_brief)(g, x, y, row, row + count, n, logarithm, 0);
    } else if (streams) {
      FN(packed_batch)(rows, here, out, n, logarithm, 1);
    } else {
      FN(packed_batch)(rows, here, out, n, logarithm, 0);
    }
  }
}

/* At most 16 rows, by batches up to four vectors, longer ones of logarithms by groups. */
ACLPY_INLINE void FN(rows_gathered)(const STORED *x, int64_t from, STORED *y, int64_t n, int64_t count, REAL *kept,
                                    int logarithm) {
  if (n < 4 * LANES) {
    FN(short_batch)(x, from, y, n, n, count, FN(batch), kept, logarithm, 0);
    return;
  }
  for (int64_t r = 0; r < count; r += v64_LANES) {
    FN(group_log)(x + r * from, from, y + r * n, n, n, aclpy_min_i64(v64_LANES, count - r), 0, 0);
  }
}
/* Rows that wait for each other (aclpy_rows_gather). */
static void FN(rows_run_gathered)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                                  int logarithm) {
  _Alignas(64) STORED held[ACLPY_ROW_ALONE_BYTES / (int64_t)sizeof(STORED) * FN(batch)];
  _Alignas(64) REAL kept[4 * LANES * FN(batch)];
  const int64_t n = g->n, from = g->pitch[0], size = (int64_t)sizeof(STORED), near = aclpy_near_bytes(g->core);
  int64_t count = aclpy_rows_to_line(y + begin * n, n * size, FN(batch));
  if (count == 0) count = FN(batch);
  for (int64_t row = begin; row < end; row += count, count = FN(batch)) {
    const STORED *here = x + row * from;
    STORED *out = y + row * n;
    count = aclpy_min_i64(count, end - row);
    for (int64_t r = 0; r < count; ++r) aclpy_fetch_at(here + r * from, near, n * size);
    FN(rows_gathered)(here, from, count < FN(batch) ? out : held, n, count, kept, logarithm);
    for (int64_t i = 0; i < n * count && count == FN(batch); i += LANES) NT(out + i, LD(held + i));
  }
}

/* Rows [begin, end) of at most four vectors. */
static void FN(rows_run_short)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                               int logarithm, int streaming) {
  const int64_t n = g->n;
  const int streams = streaming && aclpy_rows_lined(y, g->pitch[1] * (int64_t)sizeof(STORED));
  if (n < LANES && g->pitch[0] == n && g->pitch[1] == n && end - begin >= 2 * LANES) {
    FN(rows_run_packed)(g, x, y, begin, end, logarithm, streaming);
  } else if (n == LANES && streams) {
    FN(rows_run_brief)(g, x, y, begin, end, LANES, logarithm, 1);
  } else if (n == LANES) {
    FN(rows_run_brief)(g, x, y, begin, end, LANES, logarithm, 0);
  } else if (n == 2 * LANES && streams) {
    FN(rows_run_brief)(g, x, y, begin, end, 2 * LANES, logarithm, 1);
  } else if (n == 2 * LANES) {
    FN(rows_run_brief)(g, x, y, begin, end, 2 * LANES, logarithm, 0);
  } else {
    FN(rows_run_brief)(g, x, y, begin, end, n, logarithm, streams);
  }
}
#endif
