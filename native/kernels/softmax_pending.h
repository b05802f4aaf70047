/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of softmax_rows.h: rows whose sums are known, to be written. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

/* A row whose sum is known, to be written: y = e * factor, or (x - shift) - factor. */
typedef struct FN(pending) {
  const REAL *e;
  const STORED *x;
  STORED *y; /* NULL: none */
  int64_t n;
  int64_t at; /* elements before it are written */
  REAL shift, factor;
  int streaming;
  int64_t near;     /* bytes that what is streamed is fetched ahead into the first level */
  int calm;         /* its elements are */
  int paired;       /* e lies in the order of ldx */
  aclpy_seam *seam; /* of its first line, then of its last; NULL: shared lines are written in parts */
  int last;         /* no row follows */
} FN(pending);

/* Four vectors, where the row has them. */
ACLPY_INLINE void FN(pending_quad)(FN(pending) * p, int logarithm, int way) {
  const int64_t i = p->at;
  VEC v[4];
  if (logarithm) FN(quad_load)(p->x + i, v, way);
  for (int k = 0; k < 4; ++k) {
    if (logarithm) v[k] = V(sub)(V(sub)(v[k], V(set1)(p->shift)), V(set1)(p->factor));
    if (!logarithm) v[k] = V(mul)(V(load)(p->e + i + k * LANES), V(set1)(p->factor));
    if (way == ACLPY_WAY_ANY) QUAD(p->y + i, v, k, p->streaming);
  }
  if (way != ACLPY_WAY_ANY) STC(p->y + i, v, p->streaming, way);
  p->at = i + 4 * LANES;
}

/* `way`: of calm rows. */
ACLPY_INLINE void FN(pending_write)(FN(pending) * p, int64_t end, int streaming, int logarithm, int way) {
  while (way == ACLPY_WAY_PAIRS && !logarithm && p->paired && p->at < end) FN(pending_quad)(p, logarithm, way);
  const int64_t at = p->at, n = end - at;
  if (n <= 0) return;
  if (logarithm) {
    FN(row_offset)(p->x + at, p->y + at, n, p->shift, p->factor, streaming);
  } else {
    FN(row_scale)(p->e + at, p->y + at, n, p->factor, streaming);
  }
  p->at = end;
}

#if ACLPY_SEAMS && PLAIN
/* `count` results from `at` on, less than a line. */
ACLPY_INLINE VEC FN(pending_part)(const FN(pending) * p, int64_t at, int64_t count, int logarithm) {
  const VEC shift = V(set1)(p->shift), factor = V(set1)(p->factor);
  if (logarithm) return V(sub)(V(sub)(LDN(p->x + at, count, 0), shift), factor);
  return V(mul)(LDNR(p->e + at, count, 0), factor);
}
/* Whether the row's first line was begun by the row before; then it is written. */
ACLPY_INLINE int FN(pending_seam_closed)(FN(pending) * p, int logarithm) {
  if (p->seam == NULL || p->seam->held == 0) return 0;
  const int64_t head = aclpy_to_line(p->y, (int64_t)sizeof(STORED), p->n);
  aclpy_seam_close(p->seam, p->y + head - LANES, V(line)(FN(pending_part)(p, 0, head, logarithm)));
  p->at = head;
  return 1;
}
/* What the row has of its last line waits for the row that follows. */
ACLPY_INLINE void FN(pending_seam_open)(FN(pending) * p, int logarithm) {
  const int64_t tail = (int64_t)((uintptr_t)(p->y + p->n) & 63u) / (int64_t)sizeof(STORED);
  FN(pending_write)(p, p->n - tail, p->streaming, logarithm, ACLPY_WAY_ANY);
  const VEC part = FN(pending_part)(p, p->n - tail, tail, logarithm);
  aclpy_seam_open(p->seam, V(line)(part), tail * (int64_t)sizeof(STORED));
  p->at = p->n;
}
#else
ACLPY_INLINE int FN(pending_seam_closed)(FN(pending) * p, int logarithm) { return (void)p, (void)logarithm, 0; }
ACLPY_INLINE void FN(pending_seam_open)(FN(pending) * p, int logarithm) { (void)p, (void)logarithm; }
#endif

/* Up to the first whole line, so that streaming stores are aligned; so are those of logarithms in the caches, whose
 * exponentials do not wait at lines of their own. */
ACLPY_INLINE void FN(pending_begin)(FN(pending) * p, int logarithm, int way) {
  const int lined = PLAIN && logarithm && p->n * (int64_t)sizeof(STORED) >= ACLPY_ROW_LINED_BYTES;
  if (!p->streaming && lined) FN(pending_write)(p, aclpy_to_line(p->y, (int64_t)sizeof(STORED), p->n), 0, 1, way);
  if (!p->streaming || FN(pending_seam_closed)(p, logarithm)) return;
  if (!PLAIN || p->seam == NULL || p->last) aclpy_fetch_shared(p->y + p->n);
  FN(pending_write)(p, aclpy_to_line(p->y, (int64_t)sizeof(STORED), p->n), 0, logarithm, way);
}
/* What is left of it. */
ACLPY_INLINE void FN(pending_end)(FN(pending) * p, int logarithm, int way) {
  if (PLAIN && p->seam != NULL && !p->last) FN(pending_seam_open)(p, logarithm);
  FN(pending_write)(p, p->n, p->streaming, logarithm, way);
}
