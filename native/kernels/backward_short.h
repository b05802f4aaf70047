/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients of rows of a few vectors. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

/* Elsewhere it is no gain: vectors have few lanes. */
#if ACLPY_PACKS
enum { FN(batch) = ACLPY_ROWS_BATCH };

/* What is left to add of the sum of a row: exact products, or elements, in lanes of double. */
ACLPY_INLINE v64 FN(short_term)(v64 sum, v64 g, v64 y, int logarithm) {
  return logarithm ? v64_add(sum, g) : v64_fma(g, y, sum);
}
ACLPY_INLINE v64 FN(short_lanes)(const STORED *g, const STORED *y, int64_t n, int logarithm) {
  v64 a = v64_set1(0), b = a;
  int64_t i = 0;
  for (; i + 2 * v64_LANES <= n; i += 2 * v64_LANES) {
    const STORED *h = g + i + v64_LANES, *z = y + i + v64_LANES;
    a = FN(short_term)(a, LDW(g + i), logarithm ? a : LDW(y + i), logarithm);
    b = FN(short_term)(b, LDW(h), logarithm ? b : LDW(z), logarithm);
  }
  if (i + v64_LANES <= n) {
    a = FN(short_term)(a, LDW(g + i), logarithm ? a : LDW(y + i), logarithm);
    i += v64_LANES;
  }
  if (i < n) b = FN(short_term)(b, LDWN(g + i, n - i), logarithm ? b : LDWN(y + i, n - i), logarithm);
  return v64_add(a, b);
}

/* The sums of `count` of `most` rows (v64_LANES or twice that). */
ACLPY_INLINE void FN(short_sums)(const STORED *g, const STORED *y, const int64_t *pitch, int64_t n, int64_t count,
                                 int64_t most, REAL *high, REAL *low, int logarithm) {
  v64 sum[FN(batch)], total[FN(batch) / v64_LANES];
  for (int64_t r = 0; r < FN(batch); ++r) sum[r] = v64_set1(0);
  for (int64_t r = 0; r < FN(batch) / v64_LANES; ++r) total[r] = v64_set1(0);
  for (int64_t r = 0; r < count; ++r) sum[r] = FN(short_lanes)(g + r * pitch[0], y + r * pitch[1], n, logarithm);
  for (int64_t r = 0; r < most; r += v64_LANES) total[r / v64_LANES] = v64_hsums(sum + r);
  for (int64_t r = 0; r < FN(batch); r += LANES) {
    const VEC all = V(of_doubles)(total + r / v64_LANES);
    V(store)(high + r, all);
    if (SPLITS) V(store)(low + r, V(rests)(total + r / v64_LANES, all));
  }
}

/* `count` of `most` rows to rows `to` apart from `first` on. n and count: where the caller knows them, loops unroll. */
ACLPY_INLINE void FN(short_batch)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t row, STORED *first,
                                  int64_t to, int64_t n, int64_t count, int64_t most, int logarithm, int streaming) {
  const int64_t *pitch = geometry->pitch;
  const STORED *g = p->g + row * pitch[0], *y = p->y + row * pitch[1];
  _Alignas(64) REAL high[FN(batch)], low[FN(batch)];
#if SPLITS
  const int dots = !logarithm && n > FN(many_least);
  if (dots) FN(many_dots_only)(g, y, pitch, n, count, high, low);
#else
  const int dots = 0;
#endif
  if (!dots) FN(short_sums)(g, y, pitch, n, count, most, high, low, logarithm);
  for (int64_t r = 0; r < count; ++r) {
    const FN(total) t = {high[r], SPLITS ? low[r] : 0};
    STORED *out = first + r * to;
    if (streaming) aclpy_fetch_shared(out + n);
    FN(row_out)(g + r * pitch[0], y + r * pitch[1], out, n, t, logarithm, streaming);
  }
}
ACLPY_INLINE void FN(rows_brief)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                 int64_t n, int logarithm, int streaming) {
  const int64_t *pitch = geometry->pitch, bytes = n * (int64_t)sizeof(STORED), near = aclpy_near_bytes(geometry->core);
  int64_t row = begin;
  for (; row + FN(batch) <= end; row += FN(batch)) {
    for (int64_t r = row; r < row + FN(batch) && streaming && geometry->core != ACLPY_CORE_ZEN_3; ++r) {
      aclpy_fetch_at(p->g + r * pitch[0], near, bytes);
      aclpy_fetch_at(p->y + r * pitch[1], near, bytes);
    }
    FN(short_batch)(geometry, p, row, p->out + row * pitch[2], pitch[2], n, FN(batch), FN(batch), logarithm, streaming);
  }
  for (int64_t count; row < end; row += count) {
    count = aclpy_min_i64(v64_LANES, end - row);
    FN(short_batch)(geometry, p, row, p->out + row * pitch[2], pitch[2], n, count, v64_LANES, logarithm, streaming);
  }
}

/* LANES rows of fewer elements, without gaps: n vectors. The bits of short_batch. */
ACLPY_INLINE void FN(packed_batch)(const aclpy_lanes *rows, const STORED *g, const STORED *y, STORED *out, int64_t n,
                                   int logarithm, int streaming) {
  v64 sum[LANES], total[LANES / v64_LANES];
  for (int64_t r = 0; r < LANES; ++r) sum[r] = FN(short_lanes)(g + r * n, y + r * n, n, logarithm);
  for (int64_t r = 0; r < LANES; r += v64_LANES) total[r / v64_LANES] = v64_hsums(sum + r);
  const VEC high = V(of_doubles)(total), low = V(rests)(total, high);
  for (int64_t k = 0; k < n; ++k) {
    const VEC h = V(spread)(high, rows[k]), l = SPLITS ? V(spread)(low, rows[k]) : low;
    const VEC v = FN(result)(LD(g + k * LANES), LD(y + k * LANES), h, l, logarithm);
    if (streaming) NT(out + k * LANES, v);
    if (!streaming) ST(out + k * LANES, v);
  }
}
/* Past the caches go whole lines only: the rows before the first that begins with one are a batch of their own. */
ACLPY_APART void FN(rows_packed)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                 int logarithm, int streaming) {
  const int64_t n = geometry->n, bytes = LANES * n * (int64_t)sizeof(STORED), near = aclpy_near_bytes(geometry->core);
  const int64_t first = streaming ? aclpy_rows_to_line(p->out + begin * n, n * (int64_t)sizeof(STORED), LANES) : LANES;
  const int streams = streaming && first < LANES;
  aclpy_lanes rows[LANES];
  for (int64_t k = 0; k < n; ++k) rows[k] = V(rows_of)(k * LANES, n);
  int64_t count = streams && first > 0 ? first : LANES;
  for (int64_t row = begin; row < end; row += count, count = LANES) {
    const STORED *g = p->g + row * n, *y = p->y + row * n;
    count = aclpy_min_i64(count, end - row);
    if (streaming && geometry->core != ACLPY_CORE_ZEN_3) {
      aclpy_fetch_at(g, near, bytes);
      aclpy_fetch_at(y, near, bytes);
    }
    if (count < LANES) {
      FN(rows_brief)(geometry, p, row, row + count, n, logarithm, 0);
    } else if (streams) {
      FN(packed_batch)(rows, g, y, p->out + row * n, n, logarithm, 1);
    } else {
      FN(packed_batch)(rows, g, y, p->out + row * n, n, logarithm, 0);
    }
  }
}

/* Rows that wait for each other (aclpy_rows_gather). */
ACLPY_APART void FN(rows_gathered)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                   int logarithm) {
  _Alignas(64) STORED held[4 * LANES * FN(batch)];
  const int64_t n = geometry->n, bytes = n * (int64_t)sizeof(STORED), near = aclpy_near_bytes(geometry->core);
  int64_t count = aclpy_rows_to_line(p->out + begin * n, bytes, FN(batch));
  if (count == 0) count = FN(batch);
  for (int64_t row = begin; row < end; row += count, count = FN(batch)) {
    STORED *out = p->out + row * n;
    count = aclpy_min_i64(count, end - row);
    for (int64_t r = row; r < row + count; ++r) {
      aclpy_fetch_at(p->g + r * geometry->pitch[0], near, bytes);
      aclpy_fetch_at(p->y + r * geometry->pitch[1], near, bytes);
    }
    FN(short_batch)(geometry, p, row, count < FN(batch) ? out : held, n, n, count, FN(batch), logarithm, 0);
    for (int64_t i = 0; i < n * count && count == FN(batch); i += LANES) NT(out + i, LD(held + i));
  }
}

/* Rows whose length no loop knows. */
ACLPY_APART void FN(rows_brief_any)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                    int logarithm, int streaming) {
  FN(rows_brief)(geometry, p, begin, end, geometry->n, logarithm, streaming);
}
/* Rows that are grouped (backward_many.h). `past`: they may go past the caches, by whole lines even where p->streaming
 * says no. */
static void FN(rows_short)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                           int logarithm, int past) {
  const int64_t n = geometry->n, *pitch = geometry->pitch;
  const int64_t size = (int64_t)sizeof(STORED);
  const int gather =
      PLAIN && past &&
      aclpy_rows_gather(p->out + begin * pitch[2], pitch[2] * size, n * size, LANES * size, geometry->core);
  const int dense = pitch[0] == n && pitch[1] == n && pitch[2] == n;
  const int streams = p->streaming && (PLAIN || aclpy_rows_lined(p->out, pitch[2] * size));
#if SPLITS
  if (FN(rows_are_many)(geometry, p, logarithm, past)) {
    FN(rows_many)(geometry, p, begin, end, logarithm);
    return;
  }
#endif
  if (n < LANES && dense && end - begin >= 2 * LANES) {
    FN(rows_packed)(geometry, p, begin, end, logarithm, PLAIN && past);
  } else if (gather) {
    FN(rows_gathered)(geometry, p, begin, end, logarithm);
  } else if (n == LANES && streams) {
    FN(rows_brief)(geometry, p, begin, end, LANES, logarithm, 1);
  } else if (n == LANES) {
    FN(rows_brief)(geometry, p, begin, end, LANES, logarithm, 0);
  } else if (n == 2 * LANES && !streams) {
    FN(rows_brief)(geometry, p, begin, end, 2 * LANES, logarithm, 0);
  } else {
    FN(rows_brief_any)(geometry, p, begin, end, logarithm, streams);
  }
}
#else
/* Rows of two whole vectors: they stay in registers. The bits of rows_run_as. */
ACLPY_INLINE void FN(rows_pair)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                int logarithm) {
  const int64_t n = 2 * LANES, *pitch = geometry->pitch;
  for (int64_t i = begin; i < end; ++i) {
    const STORED *g = p->g + i * pitch[0], *y = p->y + i * pitch[1];
    const FN(total) sum = FN(total_of)(FN(row_sum)(g, y, n, logarithm));
    FN(row_out)(g, y, p->out + i * pitch[2], n, sum, logarithm, 0);
  }
}
static void FN(rows_short)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                           int logarithm, int past) {
  (void)past;
  FN(rows_pair)(geometry, p, begin, end, logarithm);
}
#endif
