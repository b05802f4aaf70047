/* SPDX-License-Identifier: Apache-2.0
 * Template, a part of softmax_rows.h: short rows, turned (turned.h). ACLPY_T names the instance. The bits of
 * rows_run_as, whose sums' order is kept.
 */
#include "../simd/instance.h"

#if ACLPY_TURNS && SPLITS
/* By lanes of rows_run_as: whole vectors first, then what is left, then the lanes. */
ACLPY_INLINE V(acc) FN(turned_sum)(const VEC *e, int64_t n) {
  const int64_t whole = n / LANES * LANES;
  V(acc) lanes[LANES / 2];
  for (int64_t m = 0; m < LANES / 2; ++m) {
    V(acc) half[2];
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t lane = m + k * (LANES / 2);
      half[k] = V(acc_zero)();
      for (int64_t i = lane; i < whole; i += LANES) half[k] = V(acc_add)(half[k], e[i]);
      if (whole + lane < n) half[k] = V(acc_add)(half[k], e[whole + lane]);
    }
    lanes[m] = V(acc_join)(half[0], half[1]);
  }
  return V(acc_join)(V(acc_join)(lanes[0], lanes[2]), V(acc_join)(lanes[1], lanes[3]));
}

/* Columns become results. */
ACLPY_INLINE void FN(turned_work)(VEC *column, int64_t n, int logarithm) {
  VEC top = V(set1)((REAL)-INFINITY), e[FN(turned_room)];
  for (int64_t k = 0; k < n; ++k) top = V(max)(column[k], top);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int64_t k = i; k < i + 4; ++k) e[k] = column[k] = V(sub)(column[k], top);
    V(exp_quad)(e + i, FN(exp_results)(!logarithm));
  }
  for (; i < n; ++i) {
    column[i] = V(sub)(column[i], top);
    e[i] = FN(exp_of)(column[i], !logarithm);
  }
  const V(acc) sum = FN(turned_sum)(e, n);
  const v64 one = v64_set1(1.0);
  const v64 low = logarithm ? v64_log(sum.low) : v64_div(one, sum.low);
  const v64 high = logarithm ? v64_log(sum.high) : v64_div(one, sum.high);
  const VEC factor = V(narrow)(low, high);
  for (int64_t k = 0; k < n; ++k) column[k] = logarithm ? V(sub)(column[k], factor) : V(mul)(e[k], factor);
}

/* Rows [begin, end). */
ACLPY_APART void FN(rows_turned)(const aclpy_geometry *g, const STORED *x, STORED *y, int64_t begin, int64_t end,
                                 int logarithm, int past) {
  const int64_t from = g->pitch[0], bytes = LANES * g->n * (int64_t)sizeof(STORED), near = aclpy_near_bytes(g->core);
  FN(turned) t = FN(turned_of)(g->n, y, g->pitch[1], begin, end, past);
  VEC column[FN(turned_room)];
  while (FN(turned_next)(&t)) {
    if (t.streams) aclpy_fetch_at(x + t.row * from, near, bytes);
    FN(turned_load)(&t, x, from, column);
    if (logarithm) FN(turned_work)(column, g->n, 1);
    if (!logarithm) FN(turned_work)(column, g->n, 0);
    FN(turned_put)(&t, column, y, g->pitch[1]);
  }
}
#endif
