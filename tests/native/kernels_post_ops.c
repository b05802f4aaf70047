/* SPDX-License-Identifier: Apache-2.0
 * Fused softmax kernels, every supported ISA: accuracy against long double, narrower results as the float result
 * rounded once, same bits for any split and whether streamed or not, in place, guard bytes, refused parameters.
 */
#include <math.h>

#include "kernels_support.h"
#include "post_ops_codes.h"

typedef struct shape3 {
  int64_t outer, n, inner;
} shape3;

static const shape3 shapes_[] = {
    {1, 1, 1},     {7, 2, 1},    {300, 13, 1}, {40, 64, 1},   {20, 100, 1},  {9, 511, 1},   {9, 512, 1},
    {9, 513, 1},   {5, 1000, 1}, {4, 1024, 1}, {3, 1025, 1},  {3, 4099, 1},  {9, 5000, 1},  {1, 33000, 1},
    {1, 50001, 1}, {2, 5, 3},    {3, 40, 70},  {1, 128, 512}, {2, 300, 530}, {1, 5000, 40},
};

/* Operations and operands of a program: `each` has the shape of the result, `row` that of its last dimension. */
enum { NOTHING = 0, SCALE_RELU, ADD_CLIP, ROW_SQUARE, EXP_MAX, PROGRAMS };

typedef struct operands {
  buffer scalar, row, each;
} operands;

static int64_t word_(float alpha, float beta) {
  uint32_t a, b;
  memcpy(&a, &alpha, 4);
  memcpy(&b, &beta, 4);
  return (int64_t)((uint64_t)a | (uint64_t)b << 32);
}

static int64_t last_(const shape3 *s) { return s->inner == 1 ? s->n : s->inner; }

/* Fills parameters and addresses; returns how many parameters there are. */
static int32_t program_(int which, const shape3 *s, int log, int64_t from, int64_t to, const operands *o, int64_t *p,
                        aclpy_kernel_args *args) {
  const int64_t all = s->outer * s->n * s->inner;
  const int64_t head[] = {s->outer, s->n, s->inner, log, from, to, 2, 0, 0, all / last_(s), last_(s)};
  const int64_t scalar = ACLPY_TYPE_FLOAT | 3 << 16, row = ACLPY_TYPE_FLOAT | 1 << 16, each = ACLPY_TYPE_FLOAT;
  int64_t words[2] = {0, 0}, ops[6] = {0, 0, 0, 0, 0, 0}, n_words = 0, n_ops = 0;
  unsigned char *addr[2] = {NULL, NULL};
  if (which != NOTHING) {
    words[n_words] = scalar;
    addr[n_words++] = o->scalar.data;
    ops[2 * n_ops++] = which == EXP_MAX ? ACLPY_POST_MAX : ACLPY_POST_MUL;
  }
  if (which == SCALE_RELU) ops[2 * n_ops] = ACLPY_POST_RELU, ops[2 * n_ops++ + 1] = word_(0.5f, 0.0f);
  if (which == ADD_CLIP || which == ROW_SQUARE) {
    words[n_words] = which == ADD_CLIP ? each : row;
    addr[n_words] = which == ADD_CLIP ? o->each.data : o->row.data;
    ops[2 * n_ops++] = ACLPY_POST_ADD | n_words++ << 8;
  }
  if (which == ADD_CLIP) ops[2 * n_ops] = ACLPY_POST_CLIP, ops[2 * n_ops++ + 1] = word_(-0.25f, 0.75f);
  if (which == ROW_SQUARE) ops[2 * n_ops++] = ACLPY_POST_SQUARE;
  if (which == EXP_MAX) ops[2 * n_ops++] = ACLPY_POST_EXP;
  int32_t count = 0;
  for (size_t i = 0; i < sizeof head / sizeof head[0]; ++i) p[count++] = head[i];
  p[7] = n_words;
  p[8] = n_ops;
  for (int64_t i = 0; i < n_words; ++i) p[count++] = words[i], args->addr[1 + i] = addr[i];
  for (int64_t i = 0; i < 2 * n_ops; ++i) p[count++] = ops[i];
  args->params = p;
  return count;
}

static long double expected_(int which, long double t, long double scalar, long double row, long double each) {
  if (which == SCALE_RELU) return t * scalar > 0 ? t * scalar : t * scalar * 0.5L;
  if (which == ADD_CLIP) return fminl(fmaxl(t * scalar + each, -0.25L), 0.75L);
  if (which == ROW_SQUARE) return (t * scalar + row) * (t * scalar + row);
  if (which == EXP_MAX) return expl(fmaxl(t, scalar));
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
      const long double want = expected_(
          which, log ? d - logl(sum) : expl(d) / sum, (long double)element_get("f32", o->scalar.data, 0),
          (long double)element_get("f32", o->row.data, e % last_(s)), (long double)element_get("f32", o->each.data, e));
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
    } else {
      uint16_t got;
      memcpy(&got, y->data + 2 * i, 2);
      CHECK(got == half_round(v, to == ACLPY_TYPE_BF16), "%s half at %" PRId64, k->isa, i);
    }
  }
}

static int64_t bytes_of_(int64_t type) { return type == ACLPY_TYPE_FLOAT ? 4 : type == ACLPY_TYPE_INT8 ? 1 : 2; }

static void fill_(buffer *b, const char *dtype, int64_t n) {
  for (int64_t i = 0; i < n; ++i) element_set(dtype, b->data, i, random_normal());
}

/* Every destination of one source and program; `from` as float is x. */
static void check_program_(const aclpy_kernel *k, const shape3 *s, int which, int log, int64_t from, const operands *o,
                           const buffer *x, const buffer *source) {
  static const int64_t targets[] = {ACLPY_TYPE_FLOAT, ACLPY_TYPE_BF16, ACLPY_TYPE_FLOAT16, ACLPY_TYPE_INT8};
  const int64_t n = s->outer * s->n * s->inner;
  buffer wide = {NULL, NULL, 0};
  for (size_t t = 0; t < sizeof targets / sizeof targets[0]; ++t) {
    int64_t p[ACLPY_MAX_PARAMS];
    const size_t bytes = (size_t)(n * bytes_of_(targets[t]));
    buffer y[3];
    for (int form = 0; form < 3; ++form) { /* in one piece, in pieces, in pieces and streamed */
      aclpy_kernel_args args = {{source->data}, NULL, p, form == 2 ? INT64_MAX : 0};
      y[form] = buffer_make(bytes, (size_t)bytes_of_(targets[t]));
      const int32_t count = program_(which, s, log, from, targets[t], o, p, &args);
      args.addr[1 + p[7]] = y[form].data;
      run_plan(k, &args, count, form);
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
      run_plan(k, &args, count, 1);
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
  }
  buffer_free(&wide);
}

static void check_shape_(const aclpy_kernel *k, const shape3 *s) {
  const int64_t n = s->outer * s->n * s->inner;
  operands o = {buffer_make(4, 4), buffer_make((size_t)last_(s) * 4, 4), buffer_make((size_t)n * 4, 4)};
  buffer x = buffer_make((size_t)n * 4, 4), half = buffer_make((size_t)n * 2, 2);
  fill_(&half, "f16", n);
  for (int64_t i = 0; i < n; ++i) element_set("f32", x.data, i, element_get("f16", half.data, i));
  element_set("f32", o.scalar.data, 0, 0.75);
  fill_(&o.row, "f32", last_(s));
  fill_(&o.each, "f32", n);
  for (int which = 0; which < PROGRAMS; ++which) {
    const int log = which % 2;
    check_program_(k, s, which, log, ACLPY_TYPE_FLOAT, &o, &x, &x);
    check_program_(k, s, which, !log, ACLPY_TYPE_FLOAT16, &o, &x, &half);
  }
  buffer_free(&o.scalar);
  buffer_free(&o.row);
  buffer_free(&o.each);
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
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (strcmp(k->name, "softmax_fused") != 0 || isa_bit(k) == 0) continue;
    ++tested;
    for (size_t s = 0; s < sizeof shapes_ / sizeof shapes_[0]; ++s) check_shape_(k, &shapes_[s]);
    check_refusals_(k);
  }
  CHECK(tested >= 1, "no kernel found");
  return finish("fused softmax kernels");
}
