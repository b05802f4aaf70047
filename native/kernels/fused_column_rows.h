/* SPDX-License-Identifier: Apache-2.0
 * Rows of results over an axis before the last one, from exponentials in scratch. What most programs come to is a
 * product with the factors, one with a value or a list, one multiply-add, whose parts may be values, lists or rows, and
 * a clip: such results are made beside the exponentials of the tile that follows.
 */
#ifndef ACLPY_KERNELS_FUSED_COLUMN_ROWS_H
#define ACLPY_KERNELS_FUSED_COLUMN_ROWS_H

#include "fused_column_steps.h"

enum { ACLPY_OPERAND_ROWS = 4 /* between those of an operand that are read and those that are asked for */ };

/* A part of the form: each[row * pitch + column], or list[row], or one value. */
typedef struct column_part {
  const float *each, *list;
  int64_t pitch;
  float value;
} column_part;

/* Results are times * ((e * factor) * lead) + plus, clipped perhaps. */
typedef struct column_form {
  column_part lead, times, plus;
  int clips;
  float low, high;
} column_form;

ACLPY_INLINE void part_value_(column_part *p, float value) {
  p->each = p->list = NULL;
  p->value = value;
}
/* What row `row` sees. */
ACLPY_INLINE float part_at_(const column_part *p, int64_t row) { return p->list != NULL ? p->list[row] : p->value; }

/* The operand of step k, rows being counted from `row` on. */
ACLPY_INLINE void part_operand_(column_part *p, const column_steps *c, int folded, int64_t k, int64_t row,
                                const aclpy_post_step *step) {
  const float *values = column_values_(c, folded, k);
  part_value_(p, step->operand.value);
  if (values != NULL) p->list = values + row;
  p->each = step->operand.each;
  p->pitch = column_pitch_(c, folded, k);
}

ACLPY_INLINE void column_form_plain_(column_form *form) {
  part_value_(&form->lead, 1.0f);
  part_value_(&form->times, 1.0f);
  part_value_(&form->plus, -0.0f); /* which leaves zeros their sign */
  form->clips = 0;
}
/* Whether a step is a multiply-add, or a part of one. */
ACLPY_INLINE int column_form_sum_(column_form *form, const column_steps *c, int folded, int64_t k, int64_t row,
                                  const aclpy_post_step *s) {
  switch (s->code) {
    case ACLPY_POST_MUL:
      part_operand_(&form->times, c, folded, k, row, s);
      return 1;
    case ACLPY_POST_ADD:
      part_operand_(&form->plus, c, folded, k, row, s);
      return 1;
    case ACLPY_POST_FMA:
      part_operand_(&form->plus, c, folded, k, row, s);
      part_value_(&form->times, s->alpha);
      return 1;
    case ACLPY_POST_LINEAR:
      part_value_(&form->times, s->alpha);
      part_value_(&form->plus, s->beta);
      return 1;
    default:
      return 0;
  }
}
/* Whether it is a clip: of numbers a minimum is one, too. */
ACLPY_INLINE int column_form_clip_(column_form *form, int folded, int listed, const aclpy_post_step *s) {
  const int least = folded && s->code == ACLPY_POST_MIN && s->operand.each == NULL && !listed;
  form->clips = least || s->code == ACLPY_POST_CLIP;
  form->low = least ? -INFINITY : s->alpha;
  form->high = least ? s->operand.value : s->beta;
  return form->clips;
}

/* Whether the steps are of the form, for rows from `row` and columns from `column` on. */
ACLPY_INLINE int column_form_make_(const column_steps *c, int folded, int64_t row, int64_t column, column_form *form) {
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  const int64_t n = columns_steps_(c, folded, row, column, steps);
  int64_t k = 0;
  column_form_plain_(form);
  if (k < n && direct_is_factor_(&steps[0])) part_operand_(&form->lead, c, folded, k++, row, &steps[0]);
  if (k < n && column_form_sum_(form, c, folded, k, row, &steps[k])) ++k;
  if (k < n && column_form_clip_(form, folded, column_values_(c, folded, k) != NULL, &steps[k])) ++k;
  return k == n;
}

/* Some rows of results, of one length. */
typedef struct column_out {
  const float *e, *factor; /* padded */
  int64_t stride;
  unsigned char *y;
  int64_t apart, n, count, target;
  int shift;           /* of an index to bytes */
  int streaming, tame; /* streaming: strips that begin with lines are whole lines */
  int heads;           /* rows begin within lines, but strips are stored past the caches */
  column_form form;
  int64_t row; /* of the form */
  int64_t far; /* rows from those of an operand to those to ask for, or 0 */
} column_out;

/* The form's parts that are the same for a row. */
typedef struct column_terms {
  v32 lead, times, plus;
  const float *times_each, *plus_each;
} column_terms;
ACLPY_INLINE column_terms column_terms_(const column_out *o, int64_t r) {
  const column_form *f = &o->form;
  const int64_t row = o->row + r;
  const column_terms t = {v32_set1(part_at_(&f->lead, row)), v32_set1(part_at_(&f->times, row)),
                          v32_set1(part_at_(&f->plus, row)),
                          f->times.each == NULL ? NULL : f->times.each + row * f->times.pitch,
                          f->plus.each == NULL ? NULL : f->plus.each + row * f->plus.pitch};
  return t;
}
ACLPY_INLINE void part_fetch_(const float *each, int64_t pitch, int64_t far) {
  const uintptr_t at = (uintptr_t)each + (uintptr_t)(far * pitch * (int64_t)sizeof(float));
  for (uintptr_t k = 0; k < 4 * v32_LANES * sizeof(float); k += 64) ACLPY_PREFETCH_NEAR(at + k);
}

/* Four vectors from column i of row r on. */
ACLPY_INLINE void column_quad_out_(const column_out *o, const column_terms *t, int64_t r, int64_t i, v32 *v) {
  const float *e = o->e + r * o->stride + i, *factor = o->factor + i;
  for (int k = 0; k < 4; ++k) {
    const v32 x = v32_mul(v32_load(e + k * v32_LANES), v32_load(factor + k * v32_LANES));
    const v32 times = t->times_each == NULL ? t->times : v32_load(t->times_each + i + k * v32_LANES);
    const v32 plus = t->plus_each == NULL ? t->plus : v32_load(t->plus_each + i + k * v32_LANES);
    v[k] = v32_fma(v32_mul(x, t->lead), times, plus);
  }
  if (o->form.clips) {
    const v32 low = v32_set1(o->form.low), high = v32_set1(o->form.high);
    for (int k = 0; k < 4; ++k) v[k] = aclpy_easy_clip_(v[k], low, high);
  }
  if (o->far == 0) return;
  if (t->times_each != NULL) part_fetch_(t->times_each + i, o->form.times.pitch, o->far);
  if (t->plus_each != NULL) part_fetch_(t->plus_each + i, o->form.plus.pitch, o->far);
}

/* Columns of row r before the first whole line. */
ACLPY_INLINE int64_t column_head_(const column_out *o, int64_t r) {
  return o->heads ? (int64_t)(-(uintptr_t)(o->y + r * o->apart) & 63u) >> o->shift : 0;
}
ACLPY_INLINE void column_put_(const column_out *o, int64_t r, int64_t i) {
  const column_terms t = column_terms_(o, r);
  v32 v[4];
  column_quad_out_(o, &t, r, i, v);
  direct_store_(o->target, o->y + r * o->apart + (i << o->shift), v, o->streaming, o->tame);
}
/* Strip c of row r, in whole lines where those go past the caches. */
ACLPY_INLINE void column_strip_out_(const column_out *o, int64_t r, int64_t c) {
  const int64_t i = column_head_(o, r) + c;
  if (i + 4 * v32_LANES <= o->n) column_put_(o, r, i);
}

/* Columns [i, end) of row r, fewer than a strip. */
static __attribute__((unused, noinline)) void column_some_out_(const column_out *o, int64_t r, int64_t i, int64_t end) {
  _Alignas(64) float t[4 * v32_LANES];
  const column_terms terms = column_terms_(o, r);
  const float *e = o->e + r * o->stride;
  const int64_t n = end - i;
  for (int64_t k = 0; k < n; k += v32_LANES) {
    const int64_t m = aclpy_min_i64(v32_LANES, n - k);
    const v32 x = v32_mul(v32_mul(v32_load(e + i + k), v32_load(o->factor + i + k)), terms.lead);
    const v32 times = terms.times_each == NULL ? terms.times : ldn_f32(terms.times_each + i + k, m, 1);
    const v32 plus = terms.plus_each == NULL ? terms.plus : ldn_f32(terms.plus_each + i + k, m, 0);
    const v32 v = v32_fma(x, times, plus);
    v32_store(t + k, o->form.clips ? aclpy_easy_clip_(v, v32_set1(o->form.low), v32_set1(o->form.high)) : v);
  }
  aclpy_store_run(o->target, t, o->y + r * o->apart + (i << o->shift), n, o->heads);
}

/* All but what column_strip_out_ stores of strips before column `end`. */
static __attribute__((unused, noinline)) void column_edges_out_(const column_out *o, int64_t end) {
  const int64_t width = 4 * v32_LANES;
  if (!o->heads && o->n == end) return;
  for (int64_t r = 0; r < o->count; ++r) {
    const int64_t head = aclpy_min_i64(column_head_(o, r), o->n);
    const int64_t strips = aclpy_min_i64(end, (o->n - head) / width * width);
    if (head > 0) column_some_out_(o, r, 0, head);
    int64_t i = head + strips;
    for (; i + width <= o->n; i += width) column_put_(o, r, i); /* beside a shorter row */
    if (i < o->n) column_some_out_(o, r, i, o->n);
  }
}

/* Columns of rows from `from` on, by themselves. */
static __attribute__((unused, noinline)) void column_rows_out_(const column_out *o, int64_t from) {
  const int64_t width = 4 * v32_LANES;
  for (int64_t r = 0; r < o->count; ++r) {
    int64_t i = from;
    const uintptr_t y = (uintptr_t)(o->y + r * o->apart) + ((uintptr_t)from << o->shift);
    if (o->streaming) i = aclpy_min_i64(o->n, from + ((int64_t)(-y & 63u) >> o->shift));
    if (i > from) column_some_out_(o, r, from, i);
    for (; i + width <= o->n; i += width) column_put_(o, r, i);
    if (i < o->n) column_some_out_(o, r, i, o->n);
  }
}

#endif
