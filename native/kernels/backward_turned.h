/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of backward_short.h: gradients of short rows, turned (turned.h). ACLPY_T names the instance.
 */
#include "../simd/instance.h"

#if ACLPY_TURNS && SPLITS
/* What a lane's sum is rounded to, and what that loses, nothing where it is no number. */
ACLPY_INLINE void FN(turned_total)(V(acc) sum, VEC *high, VEC *low) {
  *high = V(narrow)(sum.low, sum.high);
  const v64 first = v64_sub(sum.low, V(widen_low)(*high)), last = v64_sub(sum.high, V(widen_high)(*high));
  *low = V(where_finite)(*high, V(narrow)(first, last));
}

/* Columns of g become results. The products of floats are exact in double. */
ACLPY_INLINE void FN(turned_work)(VEC *g, const VEC *y, int64_t n, int logarithm) {
  V(acc) sum = V(acc_zero)();
  VEC high, low;
  for (int64_t k = 0; k < n; ++k) {
    if (logarithm) {
      sum = V(acc_add)(sum, g[k]);
    } else {
      sum.low = v64_fma(V(widen_low)(g[k]), V(widen_low)(y[k]), sum.low);
      sum.high = v64_fma(V(widen_high)(g[k]), V(widen_high)(y[k]), sum.high);
    }
  }
  FN(turned_total)(sum, &high, &low);
  for (int64_t k = 0; k < n; ++k) g[k] = FN(result)(g[k], y[k], high, low, logarithm);
}

/* Rows [begin, end). */
ACLPY_APART void FN(rows_turned)(const aclpy_geometry *geometry, const FN(operands) * p, int64_t begin, int64_t end,
                                 int logarithm, int past) {
  const int64_t *pitch = geometry->pitch, bytes = LANES * geometry->n * (int64_t)sizeof(STORED);
  const int64_t near = aclpy_near_bytes(geometry->core);
  FN(turned) t = FN(turned_of)(geometry->n, p->out, pitch[2], begin, end, past);
  VEC g[FN(turned_room)], y[FN(turned_room)];
  while (FN(turned_next)(&t)) {
    if (t.streams) aclpy_fetch_at(p->g + t.row * pitch[0], near, bytes);
    if (t.streams) aclpy_fetch_at(p->y + t.row * pitch[1], near, bytes);
    FN(turned_load)(&t, p->g, pitch[0], g);
    FN(turned_load)(&t, p->y, pitch[1], y);
    if (logarithm) FN(turned_work)(g, y, geometry->n, 1);
    if (!logarithm) FN(turned_work)(g, y, geometry->n, 0);
    FN(turned_put)(&t, g, p->out, pitch[2]);
  }
}
#endif
