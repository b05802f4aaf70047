/* SPDX-License-Identifier: Apache-2.0
 * What cheap operations see of their operands over an axis before the last one: the same value everywhere, a value for
 * each row of the axis, or one for each element of a row.
 */
#ifndef ACLPY_KERNELS_FUSED_COLUMN_STEPS_H
#define ACLPY_KERNELS_FUSED_COLUMN_STEPS_H

#include "fused_columns.h"
#include "fused_direct.h"

enum { ACLPY_COLUMN_VALUE = 0, ACLPY_COLUMN_LIST, ACLPY_COLUMN_EACH };
enum { ACLPY_COLUMN_LISTS = 3 /* that a launch has room for: two of operands, one of a fold */ };

typedef struct column_step {
  aclpy_post_step step;
  const aclpy_post_operand *o; /* LIST, EACH */
  int how, fixed;              /* fixed: the same for every index before the axis */
  float *list;                 /* LIST: n values; EACH: what was spread to a group's columns, or NULL */
  const float *each;           /* EACH: column 0 of row 0, */
  int64_t pitch;               /* and from row to row */
} column_step;

typedef struct column_steps {
  int cheap; /* all of them are, and their operands as above */
  int alone; /* none sees another element than its own: functions, or cheap with a value */
  int64_t steps;
  column_step given[ACLPY_EASY_STEPS];
  fused_fold fold;
  int64_t bound;                        /* the index before the axis for which operands are in place; -1 */
  const float *lists[ACLPY_EASY_STEPS]; /* of the steps of the fold: their lists, or NULL */
  const aclpy_post_operand *moves[ACLPY_EASY_STEPS];
} column_steps;

/* Whether results of the type are stored four vectors at a time; others, row by row. */
ACLPY_INLINE int columns_quads_(int64_t target) {
  return target == ACLPY_TYPE_FLOAT || target == ACLPY_TYPE_FLOAT16 || target == ACLPY_TYPE_BF16 ||
         target == ACLPY_TYPE_INT8 || target == ACLPY_TYPE_UINT8;
}

/* Whether there is room for lists: they are made for every few items. */
ACLPY_INLINE int columns_listed_(const aclpy_fused_geometry *g) {
  return g->group > 1 ? g->lines * g->columns <= ACLPY_FUSED_TALL : g->n <= ACLPY_FUSED_TALL;
}
/* Floats that a thread keeps for them. */
ACLPY_INLINE int64_t columns_list_floats_(const aclpy_fused_geometry *g) {
  if (!columns_listed_(g)) return 0;
  return g->group > 1 ? aclpy_fused_round_(g->lines * g->columns) : ACLPY_COLUMN_LISTS * aclpy_fused_round_(g->n);
}

ACLPY_INLINE int64_t column_offset_(const aclpy_fused *f, const aclpy_post_operand *o, int64_t index) {
  return o->whole ? index : aclpy_post_offset_(&f->post, o, index);
}

/* One step; 0 where it cannot be done this way. `lists`: rooms that are left. */
ACLPY_INLINE int column_step_make_(const aclpy_fused *f, column_step *s, int64_t k, float **room, int *lists) {
  const int64_t code = f->post.ops[2 * k] & 0xff, needed = aclpy_post_operands_of(code);
  const aclpy_post_operand *o = needed > 0 ? &f->post.operand[f->post.ops[2 * k] >> 8] : NULL;
  memset(s, 0, sizeof *s);
  if (needed > 1) return 0;
  if (o == NULL || (o->whole && !o->dense)) {
    s->step = aclpy_post_step_(&f->post, k, 0, 1, NULL);
    aclpy_power_make(s->step.power, s->step.beta);
    return 1;
  }
  if (!aclpy_post_is_easy(code)) return 0;
  const uint64_t constants = (uint64_t)f->post.ops[2 * k + 1];
  s->step.code = code;
  s->step.alpha = aclpy_f32_from_bits((uint32_t)constants);
  s->step.beta = aclpy_f32_from_bits((uint32_t)(constants >> 32));
  s->o = o;
  s->fixed = direct_fixed_(f, o);
  const int rows = o->segment % f->g.inner == 0, floats = o->dense && o->type == ACLPY_TYPE_FLOAT;
  const int lasts = o->dense && o->segment % (f->g.n * f->g.inner) == 0;
  s->how = rows && !o->dense && f->g.group == 1 ? ACLPY_COLUMN_LIST : ACLPY_COLUMN_EACH;
  if (s->how == ACLPY_COLUMN_EACH && floats && (f->g.group == 1 ? rows : lasts)) return 1;
  if (*lists == 0 || (s->how == ACLPY_COLUMN_EACH && f->g.group == 1)) return 0;
  s->list = *room;
  *room += f->g.group == 1 ? aclpy_fused_round_(f->g.n) : 0;
  *lists -= 1;
  return 1;
}

/* The operand at rows of one index before the axis; `list` has room for them. */
ACLPY_INLINE void column_list_(const aclpy_fused *f, const aclpy_post_operand *o, int64_t index, float *list) {
  const int64_t first = column_offset_(f, o, index);
  const int64_t step = f->g.n > 1 ? column_offset_(f, o, index + f->g.inner) - first : 1;
  const unsigned char *from = o->base + first * o->bytes;
  if (step == 1) {
    aclpy_load_run(o->type, from, list, f->g.n);
    return;
  }
  aclpy_load_run(o->type, from, list, 1);
  for (int64_t i = 1; i < f->g.n; ++i) list[i] = list[0];
}
/* The same at all its elements. */
ACLPY_INLINE void column_spread_(const aclpy_fused *f, int64_t which, int64_t index, float *list) {
  const int64_t all = f->g.n * f->g.inner;
  for (int64_t at = 0; at < all; at += ACLPY_RUN) {
    _Alignas(64) float stage[ACLPY_RUN];
    const int64_t n = aclpy_min_i64(ACLPY_RUN, all - at);
    const aclpy_post_view view = aclpy_post_operand_run(&f->post, which, index + at, n, stage);
    for (int64_t i = 0; i < n; ++i) list[at + i] = view.each == NULL ? view.value : view.each[i];
  }
}

/* A step's operand for one index before the axis. */
ACLPY_INLINE void column_bind_(const aclpy_fused *f, column_step *s, int64_t outer) {
  const int64_t index = outer * f->g.n * f->g.inner;
  if (s->how == ACLPY_COLUMN_LIST) column_list_(f, s->o, index, s->list);
  if (s->how != ACLPY_COLUMN_EACH) return;
  s->pitch = f->g.columns;
  s->each = s->list;
  if (s->list != NULL) {
    column_spread_(f, s->o - f->post.operand, index, s->list);
    return;
  }
  const int64_t first = column_offset_(f, s->o, index);
  if (f->g.group == 1 && f->g.n > 1) s->pitch = column_offset_(f, s->o, index + f->g.inner) - first;
  s->each = (const float *)(const void *)s->o->base + first;
}

/* The fold of the steps. Lists that are fixed are rows of n operands there; nothing is known of others. */
ACLPY_INLINE void columns_fold_(const aclpy_fused *f, column_steps *c, float *own) {
  const int64_t target = f->post.target;
  const int coarse = target == ACLPY_TYPE_INT8 || target == ACLPY_TYPE_UINT8 || target == ACLPY_TYPE_FLOAT16;
  aclpy_post_step steps[ACLPY_EASY_STEPS];
  for (int64_t k = 0; k < c->steps; ++k) {
    column_step *s = &c->given[k];
    steps[k] = s->step;
    c->moves[k] = s->o;
    if (s->how != ACLPY_COLUMN_LIST || !s->fixed) continue;
    column_bind_(f, s, 0);
    steps[k].operand.each = s->list;
    c->moves[k] = NULL;
  }
  c->fold.paired = 0;
  fused_fold_make_(&c->fold, steps, c->moves, c->steps, f->g.n, own, coarse);
  for (int64_t k = 0; k < c->fold.steps; ++k) c->lists[k] = c->fold.step[k].operand.each;
}

/* `room` has columns_list_floats_. */
ACLPY_APART void columns_steps_make_(const aclpy_fused *f, column_steps *c, float *room) {
  int lists = !columns_listed_(&f->g) ? 0 : f->g.group > 1 ? 1 : ACLPY_COLUMN_LISTS - 1;
  int known = f->post.n_ops <= ACLPY_EASY_STEPS, easy = 1;
  c->alone = 1;
  c->steps = 0;
  c->bound = -1;
  c->fold.limit = NAN; /* no factor is below it */
  for (int64_t k = 0; k < f->post.n_ops && known; ++k) {
    known = column_step_make_(f, &c->given[k], k, &room, &lists);
    easy &= aclpy_post_is_easy(f->post.ops[2 * k] & 0xff);
    c->alone &= c->given[k].how == ACLPY_COLUMN_VALUE;
    c->steps = k + 1;
  }
  c->alone &= known;
  c->cheap = known && easy && f->rounded == 0 && columns_quads_(f->post.target);
  if (c->cheap && (f->flags & ACLPY_FUSED_LOG) == 0) columns_fold_(f, c, room);
}

/* Operands of the index before the axis. */
ACLPY_INLINE void columns_bind_(const aclpy_fused *f, column_steps *c, int64_t outer) {
  if (!c->cheap || c->bound == outer) return;
  for (int64_t k = 0; k < c->steps; ++k) {
    if (c->bound < 0 || !c->given[k].fixed) column_bind_(f, &c->given[k], outer);
  }
  c->bound = outer;
}

/* The values of a step, row by row, or NULL: one for all. */
ACLPY_INLINE const float *column_values_(const column_steps *c, int folded, int64_t k) {
  const int64_t from = folded ? c->fold.from[k] : k;
  if (from < 0) return c->lists[k];
  return c->given[from].how == ACLPY_COLUMN_LIST ? c->given[from].list : NULL;
}

/* The steps of row r from column `column` on. */
ACLPY_INLINE int64_t columns_steps_(const column_steps *c, int folded, int64_t r, int64_t column,
                                    aclpy_post_step *steps) {
  const int64_t n = folded ? c->fold.steps : c->steps;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t from = folded ? c->fold.from[k] : k;
    const float *values = column_values_(c, folded, k);
    const column_step *given = &c->given[from < 0 ? 0 : from];
    steps[k] = folded ? c->fold.step[k] : c->given[k].step;
    if (from >= 0 || values != NULL) steps[k].operand.each = NULL;
    if (values != NULL) steps[k].operand.value = values[r];
    if (from >= 0 && given->how == ACLPY_COLUMN_EACH) {
      steps[k].operand.each = given->each + r * given->pitch + column;
    }
  }
  return n;
}
/* From row to row. */
ACLPY_INLINE int64_t column_pitch_(const column_steps *c, int folded, int64_t k) {
  const int64_t from = folded ? c->fold.from[k] : k;
  return from >= 0 ? c->given[from].pitch : 0;
}

#endif
