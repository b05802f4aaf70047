/* SPDX-License-Identifier: Apache-2.0
 * Template: the quads of fused_direct_rows.h where the operations come to one of the kinds of fused_single.h. ACLPY_T
 * names the source. What is written of the row before is held in values: in memory it would be read again for each
 * quad, for results may lie anywhere, and with all other operations in the same loop registers are short.
 */
#include "../simd/instance.h"

#ifndef ACLPY_POWERS_AT_ONCE_
#define ACLPY_POWERS_AT_ONCE_ (ACLPY_ISA_RANK == 3 ? 4 : 1) /* as exponentials: registers */
#endif

/* Four results of the row before, and their store. */
ACLPY_INLINE void FN(single_make)(const fused_single *s, const float *e, v32 *v, int64_t i, int kind, int way) {
  for (int k = 0; k < 4; ++k) v[k] = v32_load(e + i + k * LANES);
  for (int k = 0; k < 4 && kind == ACLPY_SINGLE_LOGGED; ++k) v[k] = v32_fma(v[k], s->factor, s->value);
  if (kind != ACLPY_SINGLE_MANY && kind != ACLPY_SINGLE_LOGGED) single_times_(v, s->factor);
  fused_single_apply_(s, v, i, kind, way != ACLPY_WAY_ANY);
}
ACLPY_INLINE void FN(single_store)(const aclpy_fused *f, const fused_single *s, const v32 *v, unsigned char *y,
                                   int64_t i, int kind, int64_t target, int way) {
  unsigned char *to = y + i * (__builtin_constant_p(target) ? (int64_t)sizeof(STORED) : f->to);
  if (way == ACLPY_WAY_PAIRS) {
    STQ((STORED *)(void *)to, v, s->streaming, single_tame_(s, kind) || single_firm_(s, kind));
  } else if (way == ACLPY_WAY_CALM && single_firm_(s, kind)) {
    STC((STORED *)(void *)to, v, s->streaming, way);
  } else if (way == ACLPY_WAY_CALM) {
    STA((STORED *)(void *)to, v, s->streaming);
  } else {
    direct_store_(target, to, v, s->streaming, single_tame_(s, kind));
  }
}

/* The same where neither takes much, one after the other. */
ACLPY_INLINE void FN(single_in_turn)(const fused_single *s, const float *e, float *y, int64_t i, int kind) {
  const float *each = single_has_row_(kind) ? single_row_(s, i) : NULL;
  for (int k = 0; k < 4; ++k) {
    v32 v = v32_mul(v32_load(e + i + k * LANES), s->factor);
    if (kind == ACLPY_SINGLE_MUL) v = v32_mul(v, s->value);
    if (kind == ACLPY_SINGLE_ADD) v = v32_add(v, s->value);
    if (kind == ACLPY_SINGLE_MUL_EACH) v = v32_mul(v, v32_load(each + k * v32_LANES));
    if (kind == ACLPY_SINGLE_ADD_EACH) v = v32_add(v, v32_load(each + k * v32_LANES));
    if (s->streaming) {
      nt_f32(y + i + k * LANES, v);
    } else {
      v32_store(y + i + k * LANES, v);
    }
  }
}

/* As direct_exp, but of e^(x - shift) only the sum: its powers are stored, or for logarithms x - shift. */
ACLPY_INLINE void FN(direct_powers)(FN(direct_three) * t, const v32 *x, int64_t i, int way, int logarithm) {
  v32 v[4], power[4];
  for (int k = 0; k < 4; ++k) power[k] = v[k] = v32_sub(x[k], t->shift);
  if (way == ACLPY_WAY_ANY) {
    t->least = v32_min(v32_min(v32_min(v[0], v[1]), v32_min(v[2], v[3])), t->least);
  }
  for (int k = 0; k < 4 && !logarithm; k += ACLPY_POWERS_AT_ONCE_) {
    v32_exp2_times(power + k, ACLPY_POWERS_AT_ONCE_, t->powers->high, t->powers->low);
  }
  for (int k = 0; k < 4; ++k) v32_store(t->e + i + k * LANES, power[k]);
  v32_exp_quad(v, way == ACLPY_WAY_ANY ? ACLPY_EXP_ANY : ACLPY_EXP_NORMAL);
  t->sum = v32_acc_add(t->sum, way == ACLPY_WAY_PAIRS ? SUMX(v) : v32_add(v32_add(v[0], v[1]), v32_add(v[2], v[3])));
}

/* A quad of each of the three rows of 16-bit elements, the others' work between the exponentials (softmax_rows.h). */
ACLPY_INLINE void FN(single_woven)(const aclpy_fused *f, FN(direct_three) * t, const fused_single *s,
                                   const STORED *next, unsigned char *y, int64_t i, int kind, int64_t target, int way) {
  v32 v[4], made[4];
  FN(direct_load)(t->x + i, v, way);
  for (int k = 0; k < 4; ++k) v[k] = v32_sub(v[k], t->shift);
  TOP_QUAD(&t->top, next);
  v32_exp_two(v);
  FN(single_make)(s, s->e, made, i, kind, way);
  FN(single_store)(f, s, made, y, i, kind, target, way);
  v32_exp_two(v + 2);
  t->sum = FN(direct_sum)(v, t->e + i, 0, t->sum, way);
}

/* Whole quads of both rows; returns where they end. */
ACLPY_INLINE int64_t FN(single_quads)(const aclpy_fused *f, FN(direct_three) * t, fused_single s, int kind,
                                      int64_t target, int way) {
  const int64_t n = s.n, size = (int64_t)sizeof(STORED), quad = ACLPY_DIRECT_QUAD * size;
  const int row = single_has_row_(kind), each = row || single_may_row_(kind);
  const int fixed = single_is_fixed_(kind), made_here = !fixed && kind != ACLPY_SINGLE_POWERS;
  /* Where results need more registers than there are beside x. */
  const int late = kind == ACLPY_SINGLE_TANH || (row && sizeof(STORED) < sizeof(float));
  /* Beside a row of operands the first level has less room; results of one byte a float want the whole way even so. */
  const int64_t least = row && f->to > 1 ? ACLPY_NEAR_BYTES_ZEN_5 / 2 : ACLPY_NEAR_BYTES_ZEN_5;
  const int64_t near = FN(direct_near_bytes)(s.d, f->g.n, least);
  const int in_turn = PLAIN && __builtin_constant_p(target) && target == ACLPY_TYPE_FLOAT && kind < ACLPY_SINGLE_MANY;
  const int woven = ACLPY_ISA_RANK == 2 && way != ACLPY_WAY_ANY && made_here && single_is_cheap_(kind);
  const float *e = s.e;
  unsigned char *y = s.y;
  fixed_row bytes;
  if (fixed) bytes = *s.fixed;
  /* Only loops of bytes begin elsewhere; those of one type of results are better off without the choice. */
  int64_t i = __builtin_constant_p(target) ? 0 : s.from;
  const int64_t touched = each ? t->touched : 0;
  aclpy_walk next = aclpy_walk_of(t->next, n * size, quad, i / ACLPY_DIRECT_QUAD, touched, direct_ahead_(near));
  for (; i + ACLPY_DIRECT_QUAD <= n; i += ACLPY_DIRECT_QUAD, aclpy_walk_on(&next)) {
    v32 v[4], made[4];
    if (s.streaming) direct_fetch_(&next, t->x + i, quad, near);
    if (woven) {
      FN(single_woven)(f, t, &s, (const STORED *)next.now, y, i, kind, target, way);
      continue;
    }
    TOP_QUAD(&t->top, (const STORED *)next.now);
    /* Before anything is stored (direct_quads). */
    if (!late) FN(direct_load)(t->x + i, v, way);
    if (made_here && !in_turn) FN(single_make)(&s, e, made, i, kind, way);
    if (in_turn) FN(single_in_turn)(&s, e, (float *)(void *)y, i, kind);
    if (late) FN(direct_load)(t->x + i, v, way);
    if (made_here && !in_turn) FN(single_store)(f, &s, made, y, i, kind, target, way);
    /* Left for the caller, who comes back: a call from here would take all registers. */
    if (fixed && i != s.again && !single_bytes_(&s, &bytes, e, y, i, kind)) break;
    if (kind >= ACLPY_SINGLE_POWERED) {
      const int either = kind == ACLPY_SINGLE_POWERS && t->powers->logarithm;
      FN(direct_powers)(t, v, i, way, kind == ACLPY_SINGLE_LOGGED || either);
    } else {
      t->sum = FN(direct_exp)(v, t->e + i, t->shift, 0, t->sum, way, way != ACLPY_WAY_ANY);
    }
  }
  return i;
}

/* The row's end, and the beginning of the next; whether that is at the same loop: 0 where nothing is done yet, for it
 * is the last row or rows do not stay of a kind, -1 where it has begun but is of another. */
ACLPY_INLINE int FN(single_on)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, FN(direct_three) * t,
                               fused_single *s, int64_t i, int way) {
  if (!s->stays || r->row + 1 >= r->end) return 0;
  d->at += i;
  if (d->at < f->g.n) direct_part_(f, d, f->g.n - d->at);
  i = FN(direct_last)(f, t, i, way);
  const float factor = fused_factor_(f->flags, FN(direct_end_of)(f, r, t, i, 0, way));
  direct_next_(f, d, r->row, t->e, (const unsigned char *)t->x, r->shift, factor, r->calm);
  d->wary = d->follows = 1;
  ++r->row;
  FN(direct_begin)(f, d, r, t);
  if ((way != ACLPY_WAY_ANY && !(r->calm && d->calm)) || !fused_single_stays_(d, s)) return -1;
  fused_single_again_(f, d, s);
  return 1;
}

/* Functions of their own, so that registers are shared out for each of these loops alone. */
#define ACLPY_SINGLE_(name, kind, target, way)                                                                 \
  ACLPY_APART int64_t FN(name)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single * s) { \
    FN(direct_three) t = r->t;                                                                                 \
    const int64_t end = FN(single_quads)(f, &t, *s, kind, target, way);                                        \
    (void)d;                                                                                                   \
    r->t.top = t.top;                                                                                          \
    r->t.sum = t.sum;                                                                                          \
    if (kind >= ACLPY_SINGLE_POWERED) r->t.least = t.least;                                                    \
    return end;                                                                                                \
  }
/* Rows of common kinds one after the other, as long as they stay so. Returns -1 where one has begun that does not. */
#define ACLPY_SINGLE_ROWS_(name, kind, target, way)                                                            \
  ACLPY_APART int64_t FN(name)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single * s) { \
    FN(direct_three) t = r->t;                                                                                 \
    int64_t i;                                                                                                 \
    int on;                                                                                                    \
    do {                                                                                                       \
      i = FN(single_quads)(f, &t, *s, kind, target, way);                                                      \
      on = FN(single_on)(f, d, r, &t, s, i, way);                                                              \
    } while (on > 0);                                                                                          \
    r->t = t;                                                                                                  \
    return on < 0 ? -1 : i;                                                                                    \
  }
#define ACLPY_SINGLES_(name, target, way)                                                                    \
  ACLPY_SINGLE_ROWS_(name##_none, ACLPY_SINGLE_NONE, target, way)                                            \
  ACLPY_SINGLE_ROWS_(name##_mul, ACLPY_SINGLE_MUL, target, way)                                              \
  ACLPY_SINGLE_ROWS_(name##_mul_each, ACLPY_SINGLE_MUL_EACH, target, way)                                    \
  ACLPY_SINGLE_ROWS_(name##_add, ACLPY_SINGLE_ADD, target, way)                                              \
  ACLPY_SINGLE_ROWS_(name##_add_each, ACLPY_SINGLE_ADD_EACH, target, way)                                    \
  ACLPY_SINGLE_(name##_easy, ACLPY_SINGLE_EASY, target, way)                                                 \
  ACLPY_SINGLE_(name##_min, ACLPY_SINGLE_MIN, target, way)                                                   \
  ACLPY_SINGLE_(name##_div, ACLPY_SINGLE_DIV, target, way)                                                   \
  ACLPY_SINGLE_ROWS_(name##_linear, ACLPY_SINGLE_LINEAR, target, way)                                        \
  ACLPY_SINGLE_ROWS_(name##_led_add, ACLPY_SINGLE_LED_ADD, target, way)                                      \
  ACLPY_SINGLE_ROWS_(name##_led_mul, ACLPY_SINGLE_LED_MUL, target, way)                                      \
  ACLPY_SINGLE_(name##_many, ACLPY_SINGLE_MANY, target, way)                                                 \
  ACLPY_SINGLE_(name##_exp, ACLPY_SINGLE_EXP, target, way)                                                   \
  ACLPY_SINGLE_(name##_tanh, ACLPY_SINGLE_TANH, target, way)                                                 \
  ACLPY_SINGLE_(name##_gelu_erf, ACLPY_SINGLE_GELU_ERF, target, way)                                         \
  ACLPY_SINGLE_(name##_pow, ACLPY_SINGLE_POW, target, way)                                                   \
  ACLPY_SINGLE_(name##_powered, ACLPY_SINGLE_POWERED, target, way)                                           \
  ACLPY_SINGLE_(name##_logged, ACLPY_SINGLE_LOGGED, target, way)                                             \
  ACLPY_SINGLE_(name##_powers, ACLPY_SINGLE_POWERS, target, way)                                             \
  ACLPY_APART int64_t FN(name)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single * s, \
                               int kind) {                                                                   \
    if (kind == ACLPY_SINGLE_MUL) return FN(name##_mul)(f, d, r, s);                                         \
    if (kind == ACLPY_SINGLE_MUL_EACH) return FN(name##_mul_each)(f, d, r, s);                               \
    if (kind == ACLPY_SINGLE_ADD) return FN(name##_add)(f, d, r, s);                                         \
    if (kind == ACLPY_SINGLE_ADD_EACH) return FN(name##_add_each)(f, d, r, s);                               \
    if (kind == ACLPY_SINGLE_EASY) return FN(name##_easy)(f, d, r, s);                                       \
    if (kind == ACLPY_SINGLE_MIN) return FN(name##_min)(f, d, r, s);                                         \
    if (kind == ACLPY_SINGLE_DIV) return FN(name##_div)(f, d, r, s);                                         \
    if (kind == ACLPY_SINGLE_LINEAR) return FN(name##_linear)(f, d, r, s);                                   \
    if (kind == ACLPY_SINGLE_LED_ADD) return FN(name##_led_add)(f, d, r, s);                                 \
    if (kind == ACLPY_SINGLE_LED_MUL) return FN(name##_led_mul)(f, d, r, s);                                 \
    if (kind == ACLPY_SINGLE_MANY) return FN(name##_many)(f, d, r, s);                                       \
    if (kind == ACLPY_SINGLE_EXP) return FN(name##_exp)(f, d, r, s);                                         \
    if (kind == ACLPY_SINGLE_TANH) return FN(name##_tanh)(f, d, r, s);                                       \
    if (kind == ACLPY_SINGLE_GELU_ERF) return FN(name##_gelu_erf)(f, d, r, s);                               \
    if (kind == ACLPY_SINGLE_POWERED) return FN(name##_powered)(f, d, r, s);                                 \
    if (kind == ACLPY_SINGLE_LOGGED) return FN(name##_logged)(f, d, r, s);                                   \
    if (kind == ACLPY_SINGLE_POWERS) return FN(name##_powers)(f, d, r, s);                                   \
    return kind == ACLPY_SINGLE_POW ? FN(name##_pow)(f, d, r, s) : FN(name##_none)(f, d, r, s);              \
  }
ACLPY_SINGLES_(single_other, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLES_(single_same, ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), ACLPY_WAY_ANY)
ACLPY_SINGLES_(single_calm, ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), ACLPY_WAY_CALM)
ACLPY_SINGLES_(single_pairs, ACLPY_PASTE2(ACLPY_TYPE_OF_, ACLPY_T), ACLPY_WAY_PAIRS)

#if ACLPY_FIXED_BYTES
ACLPY_SINGLE_(single_fixed, ACLPY_SINGLE_FIXED, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_sum, ACLPY_SINGLE_FIXED_SUM, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_moved, ACLPY_SINGLE_FIXED_MOVED, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_product, ACLPY_SINGLE_FIXED_PRODUCT, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_done, ACLPY_SINGLE_FIXED_DONE, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_exp, ACLPY_SINGLE_FIXED_EXP, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_tanh, ACLPY_SINGLE_FIXED_TANH, f->post.target, ACLPY_WAY_ANY)
ACLPY_SINGLE_(single_fixed_gelu_erf, ACLPY_SINGLE_FIXED_GELU_ERF, f->post.target, ACLPY_WAY_ANY)
ACLPY_INLINE int64_t FN(single_fixed_run)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                          int kind) {
  if (kind == ACLPY_SINGLE_FIXED) return FN(single_fixed)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_SUM) return FN(single_fixed_sum)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_MOVED) return FN(single_fixed_moved)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_PRODUCT) return FN(single_fixed_product)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_EXP) return FN(single_fixed_exp)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_TANH) return FN(single_fixed_tanh)(f, d, r, s);
  if (kind == ACLPY_SINGLE_FIXED_GELU_ERF) return FN(single_fixed_gelu_erf)(f, d, r, s);
  return FN(single_fixed_done)(f, d, r, s);
}
#else
ACLPY_INLINE int64_t FN(single_fixed_run)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                          int kind) {
  (void)d, (void)r, (void)s, (void)kind;
  return f->g.n;
}
#endif

/* `same`: the destination is of the source's type. */
ACLPY_INLINE int64_t FN(single_run)(const aclpy_fused *f, fused_direct *d, FN(direct_rows) * r, fused_single *s,
                                    int kind, int same, int way) {
  if (!same) return FN(single_other)(f, d, r, s, kind);
  if (way == ACLPY_WAY_CALM) return FN(single_calm)(f, d, r, s, kind);
  if (way == ACLPY_WAY_PAIRS) return FN(single_pairs)(f, d, r, s, kind);
  return FN(single_same)(f, d, r, s, kind);
}
#undef ACLPY_SINGLE_
#undef ACLPY_SINGLES_
