/* SPDX-License-Identifier: Apache-2.0
 * Fused softmax kernels, every supported ISA: accuracy against long double, narrower results as the float result
 * rounded once, same bits for any split and whether streamed or not, two threads at neighbouring items, in place, guard
 * bytes, refused parameters.
 */
#include <math.h>

#include "kernels_run.h"
#include "post_ops_codes.h"

static const shape3 shapes_[] = {
    {1, 1, 1},     {7, 2, 1},     {300, 13, 1},  {40, 64, 1},  {20, 100, 1},   {9, 511, 1},
    {9, 512, 1},   {9, 513, 1},   {5, 1000, 1},  {4, 1024, 1}, {3, 1025, 1},   {3, 4099, 1},
    {9, 5000, 1},  {1, 33000, 1}, {1, 50001, 1}, {2, 5, 3},    {3, 40, 70},    {1, 128, 512},
    {2, 300, 530}, {1, 2150, 70}, {9, 33, 22},   {2, 36, 600}, {1, 300, 1024}, {1, 1100, 128},
};

/* Operands: a value, a row (also in bfloat16) repeated for all, a value for each row, the shape of the result, a value
 * for each place along the axis (also in bfloat16). A row is the last dimension. */
enum { NONE = -1, SCALAR = 0, EIGHTH, ROW, ROW16, LINE, EACH, AXIS, AXIS16, OPERANDS };

typedef struct operands {
  buffer of[OPERANDS];
} operands;

typedef struct step {
  int code, operand;
  float alpha, beta;
} step;

typedef struct program {
  int steps;
  step step[4];
} program;

static const program programs_[] = {
    {0, {{0, NONE, 0, 0}}},
    {2, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_RELU, NONE, 0.5f, 0}}},
    {3, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_ADD, EACH, 0, 0}, {ACLPY_POST_CLIP, NONE, -0.25f, 0.75f}}},
    {3, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_ADD, ROW, 0, 0}, {ACLPY_POST_SQUARE, NONE, 0, 0}}},
    {2, {{ACLPY_POST_MAX, SCALAR, 0, 0}, {ACLPY_POST_EXP, NONE, 0, 0}}},
    {3, {{ACLPY_POST_ADD, LINE, 0, 0}, {ACLPY_POST_DIV, EIGHTH, 0, 0}, {ACLPY_POST_LINEAR, NONE, 0.5f, 1.5f}}},
    {3, {{ACLPY_POST_MUL, ROW16, 0, 0}, {ACLPY_POST_SUB, LINE, 0, 0}, {ACLPY_POST_DIV, SCALAR, 0, 0}}},
    {3, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_TANH, NONE, 0, 0}, {ACLPY_POST_MIN, EACH, 0, 0}}},
    {3, {{ACLPY_POST_ABS, NONE, 0, 0}, {ACLPY_POST_POW, NONE, 1.0f, 1.7f}, {ACLPY_POST_DIV, EIGHTH, 0, 0}}},
    {1, {{ACLPY_POST_GELU_ERF, NONE, 0, 0}}},
    {2, {{ACLPY_POST_EXP, NONE, 0, 0}, {ACLPY_POST_ADD, ROW, 0, 0}}},
    {3, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_SQUARE, NONE, 0, 0}, {ACLPY_POST_POW, NONE, 2.0f, 0.3f}}},
    {1, {{ACLPY_POST_SUB, ROW, 0, 0}}},
    {2, {{ACLPY_POST_MAX, ROW, 0, 0}, {ACLPY_POST_MUL, SCALAR, 0, 0}}},
    {2, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_MIN, ROW16, 0, 0}}},
    {2, {{ACLPY_POST_MUL, AXIS, 0, 0}, {ACLPY_POST_ADD, AXIS16, 0, 0}}},
    {3, {{ACLPY_POST_MUL, SCALAR, 0, 0}, {ACLPY_POST_MUL, EACH, 0, 0}, {ACLPY_POST_CLIP, NONE, 0.0f, 0.5f}}},
    {3, {{ACLPY_POST_SUB, AXIS, 0, 0}, {ACLPY_POST_ADD, ROW, 0, 0}, {ACLPY_POST_RELU, NONE, 0, 0}}},
};
enum { PROGRAMS = sizeof programs_ / sizeof programs_[0] };

static int64_t word_(float alpha, float beta) {
  uint32_t a, b;
  memcpy(&a, &alpha, 4);
  memcpy(&b, &beta, 4);
  return (int64_t)((uint64_t)a | (uint64_t)b << 32);
}

static int64_t last_(const shape3 *s) { return s->inner == 1 ? s->n : s->inner; }

static const char *dtype_of_(int operand) { return operand == ROW16 || operand == AXIS16 ? "bf16" : "f32"; }
static int64_t elements_of_(int operand, const shape3 *s) {
  const int64_t all = s->outer * s->n * s->inner;
  if (operand >= AXIS) return s->n;
  return operand < ROW ? 1 : operand < LINE ? last_(s) : operand == LINE ? all / last_(s) : all;
}
static int64_t index_of_(int operand, const shape3 *s, int64_t e) {
  if (operand >= AXIS) return e / s->inner % s->n;
  return operand < ROW ? 0 : operand < LINE ? e % last_(s) : operand == LINE ? e / last_(s) : e;
}

/* Fills parameters and addresses; returns how many parameters there are. */
static int32_t program_(int which, const shape3 *s, int log, int64_t from, int64_t to, const operands *o, int64_t *p,
                        aclpy_kernel_args *args) {
  /* Of the dimensions before the axis, the axis and those behind it; where it is the last, of those before and it. */
  static const int64_t broadcast[][OPERANDS] = {{3, 3, 1, 1, 2, 0, 1, 1}, {7, 7, 3, 3, 4, 0, 5, 5}};
  const int deep = s->inner > 1;
  const int64_t head[] = {s->outer, s->n, s->inner, log, from, to, 2 + deep, 0, 0, s->outer, s->n, s->inner};
  const program *program = &programs_[which];
  int32_t count = 0;
  for (int i = 0; i < 11 + deep; ++i) p[count++] = head[i];
  p[8] = program->steps;
  for (int i = 0; i < program->steps; ++i) {
    const int operand = program->step[i].operand;
    if (operand == NONE) continue;
    args->addr[1 + p[7]++] = o->of[operand].data;
    const int64_t type = strcmp(dtype_of_(operand), "bf16") == 0 ? ACLPY_TYPE_BF16 : ACLPY_TYPE_FLOAT;
    p[count++] = type | broadcast[deep][operand] << 16;
  }
  for (int64_t i = 0, used = 0; i < program->steps; ++i) {
    const step *one = &program->step[i];
    p[count++] = one->code | (one->operand == NONE ? 0 : used++ << 8);
    p[count++] = word_(one->alpha, one->beta);
  }
  args->params = p;
  return count;
}

static long double applied_(const step *one, long double t, long double v) {
  const long double a = (long double)one->alpha, b = (long double)one->beta;
  switch (one->code) {
    case ACLPY_POST_ADD:
      return t + v;
    case ACLPY_POST_SUB:
      return t - v;
    case ACLPY_POST_MUL:
      return t * v;
    case ACLPY_POST_DIV:
      return t / v;
    case ACLPY_POST_MAX:
      return fmaxl(t, v);
    case ACLPY_POST_MIN:
      return fminl(t, v);
    case ACLPY_POST_RELU:
      return t > 0 ? t : t * a;
    case ACLPY_POST_CLIP:
      return fminl(fmaxl(t, a), b);
    case ACLPY_POST_LINEAR:
      return a * t + b;
    case ACLPY_POST_SQUARE:
      return t * t;
    case ACLPY_POST_EXP:
      return expl(t);
    case ACLPY_POST_TANH:
      return tanhl(t);
    case ACLPY_POST_ABS:
      return fabsl(t);
    case ACLPY_POST_POW:
      return a * powl(t, b);
    default: /* ACLPY_POST_GELU_ERF */
      return 0.5L * t * erfcl(-t / sqrtl(2.0L));
  }
}

/* The operations on t, which is element `e`. */
static long double expected_(int which, const shape3 *s, const operands *o, int64_t e, long double t) {
  for (int i = 0; i < programs_[which].steps; ++i) {
    const step *one = &programs_[which].step[i];
    const int operand = one->operand;
    const double v =
        operand == NONE ? 0.0 : element_get(dtype_of_(operand), o->of[operand].data, index_of_(operand, s, e));
    t = applied_(one, t, (long double)v);
  }
  return t;
}

static void check_oracle_(const aclpy_kernel *k, const shape3 *s, int which, int log, const operands *o,
                          const buffer *x, const buffer *y) {
  const int64_t lines = s->outer * s->inner, step = lines > 20 ? lines / 20 : 1;
  for (int64_t line = 0; line < lines; line += step) {
    const int64_t at = line / s->inner * s->n * s->inner + line % s->inner;
    long double max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < s->n; ++i) max = fmaxl(max, (long double)element_get("f32", x->data, at + i * s->inner));
    for (int64_t i = 0; i < s->n; ++i) sum += expl((long double)element_get("f32", x->data, at + i * s->inner) - max);
    for (int64_t i = 0; i < s->n; ++i) {
      const int64_t e = at + i * s->inner;
      const long double d = (long double)element_get("f32", x->data, e) - max;
      const long double want = expected_(which, s, o, e, log ? d - logl(sum) : expl(d) / sum);
      const long double got = (long double)element_get("f32", y->data, e);
      CHECK(fabsl(got - want) <= 8e-6L * fabsl(want) + 4e-6L,
            "%s program %d log %d [%" PRId64 ",%" PRId64 ",%" PRId64 "] at %" PRId64 ": %Lg for %Lg", k->isa, which,
            log, s->outer, s->n, s->inner, e, got, want);
    }
  }
}

/* The float result rounded once. */
static void check_rounded_(const aclpy_kernel *k, int64_t to, const buffer *wide, const buffer *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = element_get("f32", wide->data, i);
    if (to == ACLPY_TYPE_INT8) {
      const double inside = fmin(fmax(v, -128.0), 127.0);
      CHECK((double)(int8_t)y->data[i] == rint(inside), "%s int8 at %" PRId64, k->isa, i);
    } else if (to == ACLPY_TYPE_UINT8) {
      CHECK((double)y->data[i] == rint(fmin(fmax(v, 0.0), 255.0)), "%s uint8 at %" PRId64, k->isa, i);
    } else {
      uint16_t got;
      memcpy(&got, y->data + 2 * i, 2);
      CHECK(got == half_round(v, to == ACLPY_TYPE_BF16), "%s half at %" PRId64, k->isa, i);
    }
  }
}

static int64_t bytes_of_(int64_t type) {
  return type == ACLPY_TYPE_FLOAT ? 4 : type == ACLPY_TYPE_INT8 || type == ACLPY_TYPE_UINT8 ? 1 : 2;
}

static void fill_(buffer *b, const char *dtype, int64_t n) {
  for (int64_t i = 0; i < n; ++i) element_set(dtype, b->data, i, random_normal());
}

/* Every destination of one source and program; `from` as float is x. */
static void check_program_(const aclpy_kernel *k, const shape3 *s, int which, int log, int64_t from, const operands *o,
                           const buffer *x, const buffer *source) {
  static const int64_t targets[] = {ACLPY_TYPE_FLOAT, ACLPY_TYPE_BF16, ACLPY_TYPE_FLOAT16, ACLPY_TYPE_INT8,
                                    ACLPY_TYPE_UINT8};
  const int64_t n = s->outer * s->n * s->inner;
  buffer wide = {NULL, NULL, 0};
  for (size_t t = 0; t < sizeof targets / sizeof targets[0]; ++t) {
    int64_t p[ACLPY_MAX_PARAMS];
    const size_t bytes = (size_t)(n * bytes_of_(targets[t]));
    buffer y[4];
    for (int form = 0; form < 4;
         ++form) { /* in one piece, in pieces, in pieces and streamed, streamed by two threads */
      aclpy_kernel_args args = {{source->data}, NULL, p, form >= 2 ? INT64_MAX : 0};
      y[form] = buffer_make(bytes, (size_t)bytes_of_(targets[t]));
      const int32_t count = program_(which, s, log, from, targets[t], o, p, &args);
      args.addr[1 + p[7]] = y[form].data;
      run_plan(k, &args, count, form == 0 ? WHOLE : form == 3 ? NEIGHBOURS : PIECES);
      CHECK(buffer_guards_hold(&y[form]), "%s: wrote outside", k->isa);
      CHECK(memcmp(y[form].data, y[0].data, bytes) == 0,
            "%s program %d log %d from %d to %d form %d [%" PRId64 ",%" PRId64 ",%" PRId64 "]", k->isa, which, log,
            (int)from, (int)targets[t], form, s->outer, s->n, s->inner);
    }
    if (from == targets[t]) { /* in place */
      memcpy(y[1].data, source->data, bytes);
      aclpy_kernel_args args = {{y[1].data}, NULL, p, 0};
      const int32_t count = program_(which, s, log, from, targets[t], o, p, &args);
      args.addr[1 + p[7]] = y[1].data;
      run_plan(k, &args, count, PIECES);
      CHECK(memcmp(y[1].data, y[0].data, bytes) == 0, "%s program %d in place", k->isa, which);
    }
    if (t == 0) {
      wide = y[0];
      check_oracle_(k, s, which, log, o, x, &wide);
    } else {
      check_rounded_(k, targets[t], &wide, &y[0], n);
      buffer_free(&y[0]);
    }
    buffer_free(&y[1]);
    buffer_free(&y[2]);
    buffer_free(&y[3]);
  }
  buffer_free(&wide);
}

/* Under a sanitizer a large shape has every third program, beginning at `phase`; small ones have all of them. */
static void check_shape_(const aclpy_kernel *k, const shape3 *s, int phase) {
  const int64_t n = s->outer * s->n * s->inner;
  const int apart = SANITIZED && n > 30000 ? 3 : 1;
  operands o;
  for (int i = 0; i < OPERANDS; ++i) {
    const int64_t elements = elements_of_(i, s), bytes = i == ROW16 || i == AXIS16 ? 2 : 4;
    o.of[i] = buffer_make((size_t)(elements * bytes), (size_t)bytes);
    fill_(&o.of[i], dtype_of_(i), elements);
  }
  element_set("f32", o.of[SCALAR].data, 0, 0.75);
  element_set("f32", o.of[EIGHTH].data, 0, 0.125);
  buffer x = buffer_make((size_t)n * 4, 4), half = buffer_make((size_t)n * 2, 2);
  for (int which = phase % apart; which < PROGRAMS; which += apart) {
    const int log = which % 2, brain = which / 2 % 2 || which >= PROGRAMS - 6;
    const char *dtype = brain ? "bf16" : "f16";
    fill_(&half, dtype, n);
    for (int64_t i = 0; i < n; ++i) element_set("f32", x.data, i, element_get(dtype, half.data, i));
    check_program_(k, s, which, log, ACLPY_TYPE_FLOAT, &o, &x, &x);
    check_program_(k, s, which, !log, brain ? ACLPY_TYPE_BF16 : ACLPY_TYPE_FLOAT16, &o, &x, &half);
    if (brain) check_program_(k, s, which, log, ACLPY_TYPE_BF16, &o, &x, &half);
  }
  for (int i = 0; i < OPERANDS; ++i) buffer_free(&o.of[i]);
  buffer_free(&x);
  buffer_free(&half);
}

static void check_refusals_(const aclpy_kernel *k) {
  aclpy_kernel_shape shape;
  const int64_t good[] = {2, 3, 1, 0, 0, 0, 1, 0, 1, 6, ACLPY_POST_EXP, 0};
  enum { COUNT = sizeof good / sizeof good[0] };
  CHECK(k->plan(good, COUNT, &shape) == 0, "%s: good parameters refused", k->isa);
  for (int32_t n = 0; n < COUNT; ++n) CHECK(k->plan(good, n, &shape) == -1, "%s: %d of them accepted", k->isa, (int)n);
  const int64_t wrong[][2] = {
      {0, -1},  {0, INT64_MAX},      {3, -1}, {4, 99}, {5, 99}, {6, 13}, {7, 5}, {8, 35}, {8, -1}, {10, ACLPY_POST_END},
      {10, -1}, {10, ACLPY_POST_ADD}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    int64_t p[COUNT];
    memcpy(p, good, sizeof good);
    p[wrong[i][0]] = wrong[i][1];
    CHECK(k->plan(p, COUNT, &shape) == -1, "%s: parameter %d accepted", k->isa, (int)wrong[i][0]);
  }
}

int main(void) {
  const int few = few_shapes();
  int tested = 0, phase = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (strcmp(k->name, "softmax_fused") != 0 || isa_bit(k) == 0) continue;
    ++tested;
    for (int way = 0; way <= (strcmp(k->isa, "avx512") == 0); ++way) {
      aclpy_core_set_bf16(way - 1);
      aclpy_core_set_vbmi(way - 1);
      for (size_t s = few; s < sizeof shapes_ / sizeof shapes_[0]; s += few ? 3 : 1) {
        check_shape_(k, &shapes_[s], phase++);
      }
    }
    aclpy_core_set_bf16(-1);
    aclpy_core_set_vbmi(-1);
    check_refusals_(k);
  }
  CHECK(tested >= 1, "no kernel found");
  return finish("fused softmax kernels");
}
