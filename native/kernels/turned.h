/* SPDX-License-Identifier: Apache-2.0
 * Template: rows of a few vectors with AVX2, as many at once as a vector has lanes, turned in registers so that a lane
 * is a row. ACLPY_T names the instance.
 *
 * What is done across the lanes of a row, and its end, take longer than all else that such a row needs; turned there is
 * neither.
 */
#include "../simd/instance.h"

#if ACLPY_TURNS && SPLITS
/* Rows up to so many elements; longer ones have little of an end. */
enum { FN(turned_most) = (int)(4 * LANES - 1), FN(turned_room) = (int)(4 * LANES) };

/* Rows of n elements of which a batch is worked on. */
typedef struct FN(turned) {
  int64_t row, count; /* the first one, and how many, at most LANES */
  int64_t n;          /* elements of each */
  int64_t end;        /* of all rows to be done */
  int64_t lead;       /* rows before the first one whose results begin with a line */
  int streams, streams_now;
} FN(turned);

/* `past`: results may go past the caches; whole batches do, where rows have no gaps. */
ACLPY_INLINE FN(turned)
    FN(turned_of)(int64_t n, const STORED *out, int64_t pitch, int64_t begin, int64_t end, int past) {
  FN(turned) t = {.row = begin, .n = n, .end = end};
  const int64_t lead =
      past && pitch == n ? aclpy_rows_to_line(out + begin * n, n * (int64_t)sizeof(STORED), 2 * LANES) : 2 * LANES;
  t.streams = lead < 2 * LANES;
  if (t.streams) t.lead = lead;
  return t;
}
/* The next batch; 0 where none is left. */
ACLPY_INLINE int FN(turned_next)(FN(turned) * t) {
  const int leads = t->lead > 0;
  t->row += t->count;
  t->lead -= leads ? t->count : 0;
  const int64_t most = t->lead > 0 ? t->lead : LANES;
  t->count = aclpy_min_i64(aclpy_min_i64(most, LANES), t->end - t->row);
  t->streams_now = t->streams && t->lead == 0 && t->count == LANES;
  return t->count > 0;
}

/* Where the vector at column c of a row begins: the last one ends with the row. */
ACLPY_INLINE int64_t FN(turned_at)(int64_t n, int64_t c) { return aclpy_max_i64(0, aclpy_min_i64(c, n - LANES)); }

/* All columns of a batch, each in a vector; rows that do not exist are the first one. Of rows of less than a vector
 * whole ones are read where they end before the last row does. */
ACLPY_INLINE void FN(turned_load)(const FN(turned) * t, const STORED *x, int64_t pitch, VEC *column) {
  const STORED *first = x + t->row * pitch;
  const int whole = t->n >= LANES || (pitch == t->n && (t->end - t->row) * t->n >= (LANES - 1) * t->n + LANES);
  for (int64_t c = 0; c < t->n; c += LANES) {
    const int64_t at = FN(turned_at)(t->n, c);
    VEC v[LANES];
    for (int64_t r = 0; r < LANES; ++r) {
      const STORED *from = first + (r < t->count ? r : 0) * pitch + at;
      v[r] = whole ? LD(from) : LDN(from, t->n, 0);
    }
    V(transpose)(v);
    for (int64_t k = 0; k < LANES; ++k) column[at + k] = v[k];
  }
}

/* `count` rows of results. Of rows of less than a vector whole ones are written where `spills`: all but the last are
 * then overwritten by the next row. */
ACLPY_INLINE void FN(turned_store)(const VEC *column, STORED *out, int64_t pitch, int64_t n, int64_t count,
                                   int spills) {
  for (int64_t c = 0; c < n; c += LANES) {
    const int64_t at = FN(turned_at)(n, c);
    VEC v[LANES];
    for (int64_t k = 0; k < LANES; ++k) v[k] = column[at + k];
    V(transpose)(v);
    for (int64_t r = 0; r < LANES && r < count; ++r) {
      if (n >= LANES || spills) ST(out + r * pitch + at, v[r]);
      if (n < LANES && !spills) STN(out + r * pitch + at, v[r], n);
    }
  }
}

/* A batch of results: whole vectors where rows follow each other and would not fill them, or go past the caches. */
ACLPY_INLINE void FN(turned_put)(const FN(turned) * t, const VEC *column, STORED *out, int64_t pitch) {
  STORED *to = out + t->row * pitch;
  STORED held[LANES * FN(turned_room)];
  if (!(t->streams_now || (t->n < LANES && pitch == t->n && t->count == LANES))) {
    FN(turned_store)(column, to, pitch, t->n, t->count, 0);
    return;
  }
  FN(turned_store)(column, held, t->n, t->n, LANES, 1);
  for (int64_t i = 0; i < t->n * LANES; i += LANES) {
    if (t->streams_now) NT(to + i, LD(held + i));
    if (!t->streams_now) ST(to + i, LD(held + i));
  }
}
#endif
