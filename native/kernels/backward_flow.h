/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_rows.h: gradients of rows that go past the caches. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

/* Rows past the caches on their way. */
typedef struct FN(flow) {
  aclpy_seam seam;
  int seamed;   /* lines that two rows share are written whole */
  int paced;    /* the core is kept from running ahead */
  int64_t near; /* bytes that operands are fetched ahead */
} FN(flow);
/* Two rows of two operands are read at a time. */
ACLPY_INLINE int FN(rows_paced)(const aclpy_geometry *geometry, int logarithm) {
  const int64_t bytes = geometry->n * (int64_t)sizeof(STORED);
  return PLAIN && !logarithm && aclpy_paced(geometry) && 4 * bytes <= aclpy_cache_bytes_l2();
}
ACLPY_INLINE FN(flow)
    FN(flow_of)(const aclpy_geometry *geometry, const FN(operands) * p, int logarithm, int streaming) {
  const int64_t size = (int64_t)sizeof(STORED), bytes = geometry->n * size, pitch = geometry->pitch[2] * size;
  FN(flow) f;
  f.seam = aclpy_seam_none();
  f.seamed = PLAIN && streaming && aclpy_rows_seamed(p->out, pitch, bytes, geometry->core);
  f.near = aclpy_near_bytes(geometry->core);
  f.paced = streaming && FN(rows_paced)(geometry, logarithm);
  return f;
}

/* The results of a row up to its first whole line; returns where that begins. */
ACLPY_INLINE int64_t FN(row_begin)(const STORED *g, const STORED *y, STORED *out, int64_t n, FN(total) sum,
                                   int logarithm, FN(flow) * f) {
  const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
  const int64_t head = aclpy_to_line(out, (int64_t)sizeof(STORED), n);
#if ACLPY_SEAMS && PLAIN
  if (f->seam.held > 0) {
    const VEC v = FN(result)(LDN(g, head, 0), LDN(y, head, 0), high, low, logarithm);
    aclpy_seam_close(&f->seam, out + head - LANES, V(line)(v));
    return head;
  }
#endif
  if (!f->seamed) aclpy_fetch_shared(out + n);
  FN(row_out_each)(g, y, out, head, high, low, logarithm, 0);
  return head;
}
/* The results from `at` on. Where another row follows that shares its last line, those of that line wait for it. */
ACLPY_INLINE void FN(row_finish)(const STORED *g, const STORED *y, STORED *out, int64_t at, int64_t n, FN(total) sum,
                                 int logarithm, int streaming, FN(flow) * f) {
#if ACLPY_SEAMS && PLAIN
  if (f->seamed) {
    const VEC high = V(set1)(sum.high), low = V(set1)(sum.low);
    const int64_t tail = (int64_t)((uintptr_t)(out + n) & 63u) / (int64_t)sizeof(STORED), end = n - tail;
    FN(row_end)(g, y, out, at, end, sum, logarithm, streaming);
    const VEC v = FN(result)(LDN(g + end, tail, 0), LDN(y + end, tail, 0), high, low, logarithm);
    aclpy_seam_open(&f->seam, V(line)(v), tail * (int64_t)sizeof(STORED));
    return;
  }
#endif
  (void)f;
  FN(row_end)(g, y, out, at, n, sum, logarithm, streaming);
}
