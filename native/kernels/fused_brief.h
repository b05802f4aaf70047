/* SPDX-License-Identifier: Apache-2.0
 * Template: fused softmax of short rows (direct_brief_), a group at a time: what is done across the lanes of a row is
 * done for all rows of a group at once. Beside a group's exponentials go the maxima of the next one and the results of
 * the one before, which the writer hands on (fused_writer.h). The bits of fused_direct_rows.h and fused_rows.h. ACLPY_T
 * names the source; after fused_direct_rows.h.
 */
#include "../simd/instance.h"

ACLPY_INLINE v32 FN(brief_top)(const STORED *x, int64_t n) {
  v32 a = v32_set1(-INFINITY);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) a = v32_max(LD(x + i), a);
  return i < n ? v32_max(LDN(x + i, n - i, -INFINITY), a) : a;
}

/* The exponentials of a row, whole vectors of them; returns the lanes of their sum. */
ACLPY_INLINE v64 FN(brief_exp)(const STORED *x, float *e, int64_t n, float shift_by) {
  const v32 shift = v32_set1(shift_by);
  v32_acc sum = v32_acc_zero(), rest = sum;
  int64_t i = 0;
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD) {
    v32 v[4];
    LDQ(x + i, v);
    sum = FN(direct_exp)(v, e + i, shift, 0, sum, ACLPY_WAY_ANY, 0);
  }
  for (; i < n; i += LANES) {
    const v32 v = FN(direct_end)(x + i, aclpy_min_i64(LANES, n - i), shift);
    v32_store(e + i, v);
    rest = v32_acc_add(rest, v);
  }
  return v32_acc_lanes(sum, rest);
}

ACLPY_APART void FN(brief_run)(const aclpy_fused *f, const fused_direct *d, int64_t begin, int64_t end,
                               float *scratch) {
  enum { ROWS = v64_LANES };
  brief_steps steps;
  fused_writer w;
  double max[ROWS] = {0}, total[ROWS];
  float factor[ROWS] = {0};
  v32 top[ROWS];
  v64 sum[ROWS];
  const int64_t n = f->g.n, pitch = brief_pitch_(n);
  const STORED *x = (const STORED *)(const void *)f->x;
  float *e = scratch, *held = scratch + ROWS * pitch; /* this group's exponentials, and those of the one before */
  aclpy_fused out = *f;
  out.post.n_ops = out.post.n_operands = 0;
  brief_steps_make_(&steps, d, n);
  /* Behind a row's last vector nothing is ever written, but read with it. */
  if (pitch - n >= LANES) memset(scratch, 0, (size_t)(2 * ROWS * pitch) * sizeof(float));
  fused_writer_begin_(&w, begin * n);
  /* The first turn has but maxima, the last one but results. */
  for (int64_t row = begin - ROWS; row < end + ROWS; row += ROWS) {
    for (int64_t r = 0; r < ROWS; ++r) {
      const int64_t next = row + ROWS + r, now = row + r, before = now - ROWS;
      top[r] = v32_set1(0.0f);
      sum[r] = v64_set1(1.0);
      if (next < end) {
        if (f->streaming) aclpy_fetch(x + next * n, n * (int64_t)sizeof(STORED));
        top[r] = FN(brief_top)(x + next * n, n);
      }
      if (now >= begin && now < end) {
        sum[r] = FN(brief_exp)(x + now * n, e + r * pitch, n, fused_shift_(f->flags, (float)max[r]));
      }
      if (before >= begin && before < end) {
        brief_out_(&steps, held + r * pitch, fused_writer_room_(&w), n, factor[r], &w.drain);
        fused_writer_add_(&out, &w, n);
      }
    }
    v64_store(max, v32_hmaxs(top));
    v64_store(total, v64_hsums(sum));
    for (int64_t r = 0; r < ROWS; ++r) factor[r] = fused_factor_(f->flags, total[r]);
    float *const free = held;
    held = e;
    e = free;
  }
  fused_writer_end_(&out, &w);
}

#include "../simd/instance_end.h"
