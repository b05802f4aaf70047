/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of softmax_rows.h: in which way rows are done, where several give the same bits. ACLPY_T names the
 * instance.
 */
#include "../simd/instance.h"

/* Logarithms of rows so short come in groups, */
ACLPY_INLINE int FN(rows_brief)(const aclpy_geometry *g, int logarithm) {
  return logarithm && g->n <= ACLPY_ROW_SHORT * LANES;
}
/* but past the caches one by one from some length on where that was measured to be better. */
ACLPY_INLINE int FN(rows_alone)(const aclpy_geometry *g) {
  return PLAIN && g->core == ACLPY_CORE_ANY && g->n * (int64_t)sizeof(STORED) >= ACLPY_ROW_ALONE_BYTES;
}
/* Whether rows from `first` on wait for each other in a buffer past the caches. */
ACLPY_INLINE int FN(rows_gather)(const aclpy_geometry *g, const STORED *first, int logarithm) {
  const int64_t size = (int64_t)sizeof(STORED);
  if (g->n >= 4 * LANES && (!FN(rows_brief)(g, logarithm) || FN(rows_alone)(g))) return 0;
  return PLAIN && aclpy_rows_gather(first, g->pitch[1] * size, g->n * size, LANES * size, g->core);
}
/* Whether rows that do not begin and end with lines are worth writing past the caches. */
ACLPY_INLINE int FN(rows_fair)(const aclpy_geometry *g, const STORED *y, int logarithm) {
  const int64_t size = (int64_t)sizeof(STORED), row = g->n * size;
  if (!PLAIN || !aclpy_rows_seamed(y, g->pitch[1] * size, row, g->core)) {
    if (g->core == ACLPY_CORE_ANY) return 4 * LANES * size >= 64 && row >= ACLPY_FAIR_BYTES;
    return aclpy_rows_fair(row, size, 4 * LANES * size, ACLPY_FAIR_FORWARD);
  }
  if (FN(rows_brief)(g, logarithm)) return FN(rows_alone)(g);
  return g->core == ACLPY_CORE_ANY || row * size >= ACLPY_FAIR_SEAMED;
}
/* Whether rows of a launch that moves so much go past the caches, and how (ACLPY_STREAM). */
ACLPY_INLINE int FN(rows_streaming)(const aclpy_geometry *g, const STORED *y, int64_t moved, int logarithm) {
  const int64_t size = (int64_t)sizeof(STORED);
  const int well = aclpy_rows_well(y, g->pitch[1] * size, g->n * size);
  const int early = well || g->core == ACLPY_CORE_ANY;
  if (moved <= (early ? aclpy_stream_bytes() : aclpy_cache_bytes_last_level())) return 0;
  if (!well && !FN(rows_fair)(g, y, logarithm)) return 0;
  return PLAIN && g->core == ACLPY_CORE_ZEN_5 ? ACLPY_STREAM_NEAR : ACLPY_STREAM;
}
