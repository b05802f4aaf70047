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

/* Results are times * ((e * factor) * lead) + plus, clipped perhaps, and over a divisor, a value. */
typedef struct column_form {
  column_part lead, times, plus;
  int leads, sums, caps, clips, divides; /* what there is of it; a cap is a minimum */
  float low, high, divisor;
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
  form->leads = form->sums = form->caps = form->clips = form->divides = 0;
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
/* Whether it is a clip, or a minimum with one value. */
ACLPY_INLINE int column_form_clip_(column_form *form, int listed, const aclpy_post_step *s) {
  form->caps = s->code == ACLPY_POST_MIN && s->operand.each == NULL && !listed;
  form->clips = s->code == ACLPY_POST_CLIP;
  form->low = s->alpha;
  form->high = form->caps ? s->operand.value : s->beta;
  return form->caps || form->clips;
}
/* Whether it is a division by one value: bytes' scale. */
ACLPY_INLINE int column_form_over_(column_form *form, int listed, const aclpy_post_step *s) {
  form->divides = s->code == ACLPY_POST_DIV && s->operand.each == NULL && !listed;
  form->divisor = s->operand.value;
  return form->divides;
}
/* What follows the sum, for four vectors. What minima and clips make of NaNs and zeros differs. */
ACLPY_INLINE void column_form_end_(const column_form *f, v32 *v) {
  if (f->caps) {
    const v32 high = v32_set1(f->high);
    for (int k = 0; k < 4; ++k) v[k] = v32_smaller(v[k], high);
  }
  if (f->clips) {
    const v32 low = v32_set1(f->low), high = v32_set1(f->high);
    for (int k = 0; k < 4; ++k) v[k] = aclpy_easy_clip_(v[k], low, high);
  }
  if (f->divides) {
    const v32 divisor = v32_set1(f->divisor);
    for (int k = 0; k < 4; ++k) v[k] = v32_div(v[k], divisor);
  }
}

/* Whether the steps are of the form, for rows from `row` and columns from `column` on. */
ACLPY_INLINE int column_form_make_(const column_steps *c, int folded, int64_t row, int64_t column, column_form *form) {
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  const int64_t n = columns_steps_(c, folded, row, column, steps);
  int64_t k = 0;
  column_form_plain_(form);
  form->leads = n > 0 && direct_is_factor_(&steps[0]);
  if (form->leads) part_operand_(&form->lead, c, folded, k++, row, &steps[0]);
  form->sums = k < n && column_form_sum_(form, c, folded, k, row, &steps[k]);
  k += form->sums;
  if (k < n && column_form_clip_(form, column_values_(c, folded, k) != NULL, &steps[k])) ++k;
  if (k < n && column_form_over_(form, column_values_(c, folded, k) != NULL, &steps[k])) ++k;
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

/* Its elements for row `row`, or NULL. */
ACLPY_INLINE const float *part_row_(const column_part *p, int64_t row) {
  return p->each == NULL ? NULL : p->each + row * p->pitch;
}
ACLPY_INLINE void part_fetch_(const float *each, int64_t pitch, int64_t far) {
  const uintptr_t at = (uintptr_t)each + (uintptr_t)(far * pitch * (int64_t)sizeof(float));
  for (uintptr_t k = 0; k < 4 * v32_LANES * sizeof(float); k += 64) ACLPY_PREFETCH_NEAR(at + k);
}

/* What four vectors of exponentials come to, from column i of row r on. */
ACLPY_INLINE void column_form_apply_(const column_out *o, int64_t r, int64_t i, v32 *v) {
  const column_form *f = &o->form;
  const int64_t row = o->row + r;
  for (int k = 0; k < 4; ++k) v[k] = v32_mul(v[k], v32_load(o->factor + i + k * v32_LANES));
  if (f->leads) {
    const v32 lead = v32_set1(part_at_(&f->lead, row));
    for (int k = 0; k < 4; ++k) v[k] = v32_mul(v[k], lead);
  }
  if (f->sums) {
    const float *times_row = part_row_(&f->times, row), *plus_row = part_row_(&f->plus, row);
    const v32 times = v32_set1(part_at_(&f->times, row)), plus = v32_set1(part_at_(&f->plus, row));
    for (int k = 0; k < 4; ++k) {
      v[k] = v32_fma(v[k], times_row == NULL ? times : v32_load(times_row + i + k * v32_LANES),
                     plus_row == NULL ? plus : v32_load(plus_row + i + k * v32_LANES));
    }
    if (o->far != 0 && times_row != NULL) part_fetch_(times_row + i, f->times.pitch, o->far);
    if (o->far != 0 && plus_row != NULL) part_fetch_(plus_row + i, f->plus.pitch, o->far);
  }
  column_form_end_(f, v);
}

/* Columns of row r before the first whole line. */
ACLPY_INLINE int64_t column_head_(const column_out *o, int64_t r) {
  return o->heads ? (int64_t)(-(uintptr_t)(o->y + r * o->apart) & 63u) >> o->shift : 0;
}
ACLPY_INLINE void column_put_(const column_out *o, int64_t r, int64_t i) {
  v32 v[4];
  for (int k = 0; k < 4; ++k) v[k] = v32_load(o->e + r * o->stride + i + k * v32_LANES);
  column_form_apply_(o, r, i, v);
  direct_store_(o->target, o->y + r * o->apart + (i << o->shift), v, o->streaming, o->tame);
}
/* Strip c of row r, in whole lines where those go past the caches. */
ACLPY_INLINE void column_strip_out_(const column_out *o, int64_t r, int64_t c) {
  const int64_t i = column_head_(o, r) + c;
  if (i + 4 * v32_LANES <= o->n) column_put_(o, r, i);
}

/* Columns [i, end) of row r, fewer than a strip. */
ACLPY_APART void column_some_out_(const column_out *o, int64_t r, int64_t i, int64_t end) {
  _Alignas(64) float t[4 * v32_LANES];
  const column_form *f = &o->form;
  const int64_t row = o->row + r, n = end - i;
  const float *e = o->e + r * o->stride;
  const float *times_row = part_row_(&f->times, row), *plus_row = part_row_(&f->plus, row);
  const v32 lead = v32_set1(part_at_(&f->lead, row));
  const v32 times = v32_set1(part_at_(&f->times, row)), plus = v32_set1(part_at_(&f->plus, row));
  v32 v[4] = {lead, lead, lead, lead};
  for (int k = 0; k < 4 && k * v32_LANES < n; ++k) {
    const int64_t at = i + k * v32_LANES, m = aclpy_min_i64(v32_LANES, end - at);
    const v32 x = v32_mul(v32_mul(v32_load(e + at), v32_load(o->factor + at)), lead);
    v[k] = v32_fma(x, times_row == NULL ? times : ldn_f32(times_row + at, m, 1),
                   plus_row == NULL ? plus : ldn_f32(plus_row + at, m, 0));
  }
  column_form_end_(f, v);
  for (int k = 0; k < 4; ++k) v32_store(t + k * v32_LANES, v[k]);
  aclpy_store_run(o->target, t, o->y + r * o->apart + (i << o->shift), n, o->heads);
}

/* All but what column_strip_out_ stores of strips before column `end`. */
ACLPY_APART void column_edges_out_(const column_out *o, int64_t end) {
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
ACLPY_APART void column_rows_out_(const column_out *o, int64_t from) {
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
