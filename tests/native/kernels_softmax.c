/* SPDX-License-Identifier: Apache-2.0
 * Softmax-family kernels, every dtype and supported ISA: accuracy against long double, float16 and bfloat16 as the
 * float kernel rounded once, same bits for any split and for a row alone, in place, guard bytes, special values, empty
 * shapes. Kernels of other layouts are in kernels_places.c.
 */
#include <math.h>

#include "kernels_family.h"

static const shape3 shapes_[] = {
    {1, 1, 1},     {3, 2, 1},     {5, 3, 1},     {9, 7, 1},      {8, 8, 1},     {8, 15, 1},     {8, 16, 1},
    {8, 17, 1},    {8, 31, 1},    {8, 32, 1},    {8, 33, 1},     {4, 63, 1},    {4, 64, 1},     {4, 65, 1},
    {4, 127, 1},   {3, 129, 1},   {3, 255, 1},   {2, 257, 1},    {2, 1023, 1},  {2, 1024, 1},   {2, 1025, 1},
    {2, 2047, 1},  {2, 2048, 1},  {2, 2049, 1},  {2, 4099, 1},   {9, 4097, 1},  {1, 32767, 1},  {1, 32768, 1},
    {2, 33001, 1}, {1, 65536, 1}, {8, 9001, 1},  {1, 140001, 1}, {2, 1, 5},     {2, 2, 2},      {3, 5, 3},
    {2, 17, 4},    {2, 33, 7},    {2, 64, 8},    {2, 31, 15},    {2, 40, 16},   {2, 70, 17},    {2, 65, 31},
    {2, 65, 33},   {1, 33, 47},   {1, 96, 63},   {2, 96, 64},    {1, 100, 65},  {1, 37, 100},   {1, 256, 49},
    {1, 20, 600},  {1, 70, 1100}, {1, 128, 512}, {1, 4099, 24},  {1, 8193, 33}, {1, 70001, 2},  {3, 30011, 3},
    {1, 96, 256},  {2, 3, 1000},  {2, 700, 100}, {1, 1300, 530}, {9, 40001, 1}, {3, 100, 1536}, {70, 1, 1},
    {67, 3, 1},    {67, 7, 1},    {75, 10, 1},   {67, 15, 1},    {41, 16, 1},   {37, 24, 1},    {35, 48, 1},
    {21, 200, 1},  {33, 64, 1},   {37, 100, 1},  {18, 256, 1},   {17, 320, 1},
};

/* Every mode of rows_geometry.h, with and without tails, groups, copied tiles and several chunks. */
static const shape3 few_[] = {
    {3, 2, 1},    {67, 10, 1},   {5, 33, 1},    {2, 130, 1}, {2, 2049, 1}, {1, 33001, 1}, {2, 33, 7},
    {1, 37, 100}, {1, 4099, 24}, {1, 128, 512}, {2, 70, 17}, {1, 20, 600}, {1, 96, 256},  {1, 300, 530},
};

typedef struct worst {
  double relative, scaled;
} worst;

/* Kernels of float and shorter types are compared with bounds far above the rounding of double; long double is slow
 * where no processor has it. */
static long double exp_of_(const char *dtype, long double x) {
  return is_f64(dtype) ? expl(x) : (long double)exp((double)x);
}

/* One column: x (or g, y) at stride `s`, expected values into `want`; returns the column's largest term. */
static long double forward_(const char *dtype, const unsigned char *x, int64_t at, int64_t n, int64_t s, int logarithm,
                            long double *want) {
  long double max = -INFINITY, sum = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) max = fmaxl(max, (long double)element_get(dtype, x, at + i * s));
  for (int64_t i = 0; i < n; ++i) sum += exp_of_(dtype, (long double)element_get(dtype, x, at + i * s) - max);
  const long double log_sum = logl(sum);
  for (int64_t i = 0; i < n; ++i) {
    const long double d = (long double)element_get(dtype, x, at + i * s) - max;
    want[i] = logarithm ? d - log_sum : exp_of_(dtype, d) / sum;
    largest = fmaxl(largest, fabsl(logarithm ? d : want[i]));
  }
  return largest;
}

static long double backward_(const char *dtype, const unsigned char *g, const unsigned char *y, int64_t at, int64_t n,
                             int64_t s, int logarithm, long double *want) {
  long double sum = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const long double a = (long double)element_get(dtype, g, at + i * s);
    const long double term = logarithm ? a : a * (long double)element_get(dtype, y, at + i * s);
    sum += term;
    largest = fmaxl(largest, fabsl(term));
  }
  for (int64_t i = 0; i < n; ++i) {
    const long double a = (long double)element_get(dtype, g, at + i * s);
    const long double b = (long double)element_get(dtype, y, at + i * s);
    want[i] = logarithm ? a - exp_of_(dtype, b) * sum : b * (a - sum);
    largest = fmaxl(largest, fabsl(want[i]));
  }
  return largest;
}

/* Bounds: relative for float, with an absolute floor; for double an error scaled by result and largest term. */
static double bound_(const aclpy_kernel *k) {
  if (!is_backward(k)) return is_log(k) ? 6e-6 : 1.2e-6;
  return is_log(k) ? 2.4e-5 : 4.8e-6;
}

/* Absolute floor of a float error. In the gradient of log-softmax exp(y) is a float, and without fused multiply-adds so
 * is its product with the sum: where g - exp(y) * sum cancels, their rounding stays, in units of the larger term. */
static double floor_(const aclpy_kernel *k, const unsigned char *first, int64_t at, double want) {
  if (!is_backward(k) || !is_log(k)) return 1.2e-7;
  const double g = element_get(k->dtype, first, at);
  return 1.2e-7 * fmax(1.0, fmin(fabs(g), fabs(g - want)));
}

static void compare_(const aclpy_kernel *k, const shape3 *s, const unsigned char *first, const unsigned char *out,
                     int64_t at, const long double *want, long double largest, worst *w) {
  for (int64_t i = 0; i < s->n; ++i) {
    const long double got = (long double)element_get(k->dtype, out, at + i * s->inner);
    const double error = (double)fabsl(got - want[i]);
    if (is_f64(k->dtype)) {
      const double scaled = error / (double)(fabsl(want[i]) + largest);
      if (error != 0) w->scaled = fmax(w->scaled, scaled);
      CHECK(error == 0 || scaled <= 1e-14, "%s f64 %s n=%" PRId64 ": %.3g", k->name, k->isa, s->n, scaled);
      continue;
    }
    const double relative = error == 0 ? 0 : error / (double)fabsl(want[i]);
    const double floor = floor_(k, first, at + i * s->inner, (double)want[i]);
    if (error > floor) w->relative = fmax(w->relative, relative);
    CHECK(relative <= bound_(k) || error <= floor, "%s %s %s [%" PRId64 ",%" PRId64 ",%" PRId64 "]: got %Lg want %Lg",
          k->name, k->dtype, k->isa, s->outer, s->n, s->inner, got, want[i]);
  }
}

static void check_oracle_(const aclpy_kernel *k, const shape3 *s, const buffer *in, const unsigned char *out,
                          worst *w) {
  long double *want = checked_malloc((size_t)s->n * sizeof *want);
  const int64_t lines = s->outer * s->inner;
  const int64_t most = few_shapes() ? 6 : 40, step = lines > most ? lines / most : 1;
  for (int64_t line = 0; line < lines; line += step) {
    const int64_t at = line / s->inner * s->n * s->inner + line % s->inner;
    const long double largest = is_backward(k)
                                    ? backward_(k->dtype, in[0].data, in[1].data, at, s->n, s->inner, is_log(k), want)
                                    : forward_(k->dtype, in[0].data, at, s->n, s->inner, is_log(k), want);
    compare_(k, s, in[0].data, out, at, want, largest, w);
  }
  free(want);
}

/* Half types: the float kernel of this ISA on the same values, rounded once. */
static void check_against_float_(const aclpy_kernel *k, const shape3 *s, const buffer *in, const unsigned char *out) {
  const aclpy_kernel *wide = kernel_like(k, k->name, "f32");
  const int64_t n = s->outer * s->n * s->inner, inputs = is_backward(k) ? 2 : 1;
  buffer b[3];
  for (int i = 0; i < 3; ++i) b[i] = buffer_make((size_t)n * 4, 4);
  for (int64_t j = 0; j < inputs; ++j) {
    for (int64_t i = 0; i < n; ++i) element_set("f32", b[j].data, i, element_get(k->dtype, in[j].data, i));
  }
  const int64_t params[3] = {s->outer, s->n, s->inner};
  aclpy_kernel_args args = {{b[0].data, inputs == 1 ? b[2].data : b[1].data, b[2].data}, NULL, params, 0};
  run_plan(wide, &args, 3, WHOLE);
  for (int64_t i = 0; i < n; ++i) {
    unsigned char expected[8];
    const double v = element_get("f32", b[2].data, i);
    element_set(k->dtype, expected, 0, v);
    const int same = memcmp(expected, out + 2 * i, 2) == 0;
    CHECK(same || (v != v && element_get(k->dtype, out, i) != element_get(k->dtype, out, i)),
          "%s %s %s [%" PRId64 ",%" PRId64 ",%" PRId64 "] at %" PRId64 ": not the float result rounded once", k->name,
          k->dtype, k->isa, s->outer, s->n, s->inner, i);
  }
  for (int i = 0; i < 3; ++i) buffer_free(&b[i]);
}

static void check_shape_(const aclpy_kernel *k, const shape3 *s, double scale, worst *w) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t n = s->outer * s->n * s->inner, inputs = is_backward(k) ? 2 : 1;
  buffer in[2], out = buffer_make((size_t)n * bytes, bytes), again = buffer_make((size_t)n * bytes, bytes);
  for (int i = 0; i < 2; ++i) in[i] = buffer_make((size_t)n * bytes, bytes);
  fill_family(k, s, in, scale);
  const int64_t params[3] = {s->outer, s->n, s->inner};
  aclpy_kernel_args args = {{in[0].data, inputs == 1 ? out.data : in[1].data, out.data}, NULL, params, 0};
  run_plan(k, &args, 3, WHOLE);
  if (bytes == 2) {
    check_against_float_(k, s, in, out.data);
  } else {
    check_oracle_(k, s, in, out.data, w);
  }
  args.addr[inputs] = again.data;
  run_plan(k, &args, 3, PIECES);
  CHECK(memcmp(out.data, again.data, out.bytes) == 0,
        "%s %s %s n=%" PRId64 " inner=%" PRId64 ": the split changed bits", k->name, k->dtype, k->isa, s->n, s->inner);
  for (int64_t j = 0; j < inputs; ++j) {
    memcpy(again.data, in[j].data, again.bytes);
    aclpy_kernel_args same = {{in[0].data, in[1].data, again.data}, NULL, params, 0};
    same.addr[j] = again.data;
    same.addr[inputs] = again.data;
    run_plan(k, &same, 3, PIECES);
    CHECK(memcmp(out.data, again.data, out.bytes) == 0, "%s %s %s n=%" PRId64 " inner=%" PRId64 ": in place differs",
          k->name, k->dtype, k->isa, s->n, s->inner);
  }
  CHECK(buffer_guards_hold(&out) && buffer_guards_hold(&again) && buffer_guards_hold(&in[0]) &&
            buffer_guards_hold(&in[1]),
        "%s %s %s n=%" PRId64 " inner=%" PRId64 ": wrote outside", k->name, k->dtype, k->isa, s->n, s->inner);
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  buffer_free(&out);
  buffer_free(&again);
}

/* Columns of a small problem, each with its own kind of special value; the neighbours must stay finite. */
static void check_specials_(const aclpy_kernel *k, int64_t n, int64_t inner, int transposed) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t count = n * inner;
  buffer in = buffer_make((size_t)count * bytes, bytes), out = buffer_make((size_t)count * bytes, bytes);
  const int64_t outer_stride = transposed ? n : 1, step = transposed ? 1 : inner;
  for (int64_t c = 0; c < inner; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      double v = random_normal();
      if (c % 6 == 1) v = -INFINITY;
      if (c % 6 == 2 && i == n / 2) v = NAN;
      if (c % 6 == 3 && i == n / 2) v = INFINITY;
      if (c % 6 == 4 && i % 2 == 1) v = -INFINITY;
      if (c % 6 == 5) v = i % 3 == 0 ? 1e4 : -1e4;
      element_set(k->dtype, in.data, c * outer_stride + i * step, v);
    }
  }
  const int64_t params[3] = {transposed ? inner : 1, n, transposed ? 1 : inner};
  aclpy_kernel_args args = {{in.data, out.data}, NULL, params, 0};
  run_plan(k, &args, 3, WHOLE);
  for (int64_t c = 0; c < inner; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      const double v = element_get(k->dtype, out.data, c * outer_stride + i * step);
      const int kind = (int)(c % 6);
      const int nan_wanted = kind == 1 || kind == 2 || (kind == 3 && (!is_log(k) || i == n / 2));
      if (kind == 3 && is_log(k) && i != n / 2) continue; /* -inf or NaN: both are "not a number of this row" */
      CHECK((v != v) == nan_wanted, "%s %s %s kind %d: %g", k->name, k->dtype, k->isa, kind, v);
      if (kind == 4 && i % 2 == 1) CHECK(is_log(k) ? v == -INFINITY : v == 0, "%s %s: %g", k->name, k->isa, v);
      if (kind == 5 && i % 3 != 0 && !is_log(k)) CHECK(v == 0, "%s %s: %g", k->name, k->isa, v);
    }
  }
  buffer_free(&in);
  buffer_free(&out);
}

/* Gradients of rows with NaNs, each with bits of its own, or infinities, between rows without: none of it
 * reaches its neighbours, whichever rows are done together. (Which of several NaNs is handed on is the processor's
 * choice, by the order of a multiply-add's operands.) */
static void check_special_gradients_(const aclpy_kernel *k, int64_t n) {
  enum { ROWS = 75 };
  const size_t bytes = dtype_bytes(k->dtype);
  const shape3 shape = {ROWS, n, 1};
  const int64_t params[3] = {ROWS, n, 1};
  buffer in[2], out[2];
  for (int i = 0; i < 2; ++i) in[i] = buffer_make((size_t)(ROWS * n) * bytes, bytes);
  for (int i = 0; i < 2; ++i) out[i] = buffer_make((size_t)(ROWS * n) * bytes, bytes);
  fill_family(k, &shape, in, 1.0);
  for (int64_t row = 0; row < ROWS; ++row) {
    for (int64_t i = row % 3; i < n && row % 4 != 0; i += 5) {
      unsigned char *at = in[row % 4 == 3].data + (size_t)(row * n + i) * bytes;
      element_set(k->dtype, in[row % 4 == 3].data, row * n + i, row % 4 == 2 ? INFINITY : NAN);
      if (row % 4 != 2) at[0] = (unsigned char)(0x81 + (row + i) % 127);
    }
  }
  for (int i = 0; i < 2; ++i) {
    aclpy_kernel_args args = {{in[0].data, in[1].data, out[i].data}, NULL, params, 0};
    run_plan(k, &args, 3, i);
  }
  for (int64_t row = 0; row < ROWS; ++row) {
    const int kind = row % 3 < n ? (int)(row % 4) : 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = element_get(k->dtype, out[0].data, row * n + i);
      const double again = element_get(k->dtype, out[1].data, row * n + i);
      const int hit = i >= row % 3 && (i - row % 3) % 5 == 0;
      const int nan_wanted = kind == 1 || (kind == 2 && hit) || (kind == 3 && (!is_log(k) || hit));
      CHECK(v != v ? again != again : memcmp(&v, &again, 8) == 0, "%s %s %s n=%" PRId64 " row %" PRId64 ": %g and %g",
            k->name, k->dtype, k->isa, n, row, v, again);
      if (kind == 2 && !hit) continue; /* of an infinite sum */
      CHECK((v != v) == nan_wanted, "%s %s %s n=%" PRId64 " row %" PRId64 ": %g", k->name, k->dtype, k->isa, n, row, v);
    }
  }
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  for (int i = 0; i < 2; ++i) buffer_free(&out[i]);
}

/* Rows that are done several at once have the bits that each has alone, beside others whose products are large, too. */
static void check_rows_alone_(const aclpy_kernel *k, int64_t n) {
  enum { ROWS = 41 };
  const size_t bytes = dtype_bytes(k->dtype), row_bytes = (size_t)n * bytes;
  const shape3 shape = {ROWS, n, 1};
  const int64_t params[3] = {ROWS, n, 1}, one[3] = {1, n, 1};
  buffer in[2], out = buffer_make(ROWS * row_bytes, bytes), alone = buffer_make(row_bytes, bytes);
  for (int i = 0; i < 2; ++i) in[i] = buffer_make(ROWS * row_bytes, bytes);
  fill_family(k, &shape, in, 1.0);
  for (int64_t i = 0; i < ROWS * n; ++i) {
    if (i / n % 3 == 1) element_set(k->dtype, in[0].data, i, 3e4 * element_get(k->dtype, in[0].data, i));
  }
  aclpy_kernel_args args = {{in[0].data, in[1].data, out.data}, NULL, params, 0};
  run_plan(k, &args, 3, WHOLE);
  for (size_t row = 0; row < ROWS; ++row) {
    const size_t at = row * row_bytes;
    aclpy_kernel_args own = {{in[0].data + at, in[1].data + at, alone.data}, NULL, one, 0};
    run_plan(k, &own, 3, WHOLE);
    CHECK(memcmp(out.data + at, alone.data, row_bytes) == 0, "%s %s %s n=%" PRId64 ": row %zu alone differs", k->name,
          k->dtype, k->isa, n, row);
  }
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  buffer_free(&out);
  buffer_free(&alone);
}

/* One large element, the others far below: exact zeros, and subnormals to within one of their steps. */
static void check_far_below_(const aclpy_kernel *k) {
  enum { N = 1200 };
  const int is_double = strcmp(k->dtype, "f64") == 0;
  const size_t bytes = dtype_bytes(k->dtype);
  buffer in = buffer_make(N * bytes, bytes), out = buffer_make(N * bytes, bytes);
  const double range = is_double ? 760.0 : 110.0;
  for (int i = 0; i < N; ++i) element_set(k->dtype, in.data, i, i == 0 ? 0.0 : -range * i / N);
  const int64_t params[3] = {1, N, 1};
  aclpy_kernel_args args = {{in.data, out.data}, NULL, params, 0};
  run_plan(k, &args, 3, WHOLE);
  long double sum = 0;
  for (int i = 0; i < N; ++i) sum += expl((long double)element_get(k->dtype, in.data, i));
  for (int i = 0; i < N; ++i) {
    const long double want = expl((long double)element_get(k->dtype, in.data, i)) / sum;
    const long double got = (long double)element_get(k->dtype, out.data, i);
    const long double step = is_double ? 0x1p-1074L : 0x1p-149L;
    const long double loss = is_double ? 1e-13L : 1e-5L; /* the argument's own rounding, magnified */
    CHECK(fabsl(got - want) <= want * loss + 2 * step, "%s %s %s at %d: %Lg for %Lg", k->name, k->dtype, k->isa, i, got,
          want);
  }
  buffer_free(&in);
  buffer_free(&out);
}

/* Rows of a kind each: within reach of the largest, all below 0, far from 0, with elements that vanish, masked, NaN. */
static double of_kind_(int kind, int64_t i) {
  const double v = random_normal();
  switch (kind) {
    case 1:
      return -1.0 - fabs(v);
    case 2:
      return v + 100.0;
    case 3:
      return i % 7 == 3 ? -90.0 + v : v;
    case 4:
      return i % 5 == 2 ? -INFINITY : v;
    case 5:
      return i == 70 ? NAN : v;
    case 6:
      return i % 3 == 0 ? 58.5 + v : v;
    default:
      return v;
  }
}

/* Half types, whose rows may take a shorter way where they and the row before allow it (simd/calm.h): kinds in any
 * order, runs of one among them, in the caches and past them, results at lines and not. */
static void check_kinds_(const aclpy_kernel *k, int64_t n, int64_t parts, int64_t skip) {
  enum { ROWS = 40 };
  buffer in = buffer_make((size_t)(ROWS * n) * 2, 2), out = buffer_make((size_t)(ROWS * n) * 2 + 128, 2);
  for (int64_t row = 0; row < ROWS; ++row) {
    const int kind = row % 11 < 5 ? (int)(row / 11 % 2) : (int)(row * 5 % 7);
    for (int64_t i = 0; i < n; ++i) element_set(k->dtype, in.data, row * n + i, of_kind_(kind, i));
  }
  unsigned char *to = out.data + (-(uintptr_t)out.data & 63u) + 2 * skip;
  const int64_t params[3] = {ROWS, n, 1};
  aclpy_kernel_args args = {{in.data, to}, NULL, params, parts};
  const shape3 shape = {ROWS, n, 1};
  run_plan(k, &args, 3, WHOLE);
  check_against_float_(k, &shape, &in, to);
  CHECK(buffer_guards_hold(&out), "%s %s %s n=%" PRId64 ": wrote outside", k->name, k->dtype, k->isa, n);
  buffer_free(&in);
  buffer_free(&out);
}

/* Strips of columns (softmax_tiles_again.h) of a kind each, so that they go other ways than those of the tile before.
 */
static void fill_strips_(const aclpy_kernel *k, const shape3 *s, unsigned char *to) {
  for (int64_t i = 0; i < s->outer * s->n * s->inner; ++i) {
    const int64_t outer = i / (s->n * s->inner), column = i % s->inner;
    const int kind = outer < 3 ? (int)(column / 64 % 2) : (int)((outer * 3 + column / 64 * 5) % 7);
    element_set(k->dtype, to, i, of_kind_(kind, i / s->inner % s->n + column % 64 * (kind == 5)));
  }
}

/* Over an axis before the last one, in the caches and past them, results at lines and not: the bits of the rounded
 * float kernel, and those of the result at lines that stays in the caches, computed in one piece. */
static void check_tile_kinds_(const aclpy_kernel *k, const shape3 *shape) {
  const size_t bytes = dtype_bytes(k->dtype), all = (size_t)(shape->outer * shape->n * shape->inner) * bytes;
  const int64_t params[3] = {shape->outer, shape->n, shape->inner};
  buffer in = buffer_make(all, bytes), first = buffer_make(all + 64, bytes);
  fill_strips_(k, shape, in.data);
  unsigned char *lines = first.data + (-(uintptr_t)first.data & 63u);
  for (int way = 0; way < 4; ++way) {
    buffer out = buffer_make(all + 128, bytes);
    unsigned char *to = way == 0 ? lines : out.data + (-(uintptr_t)out.data & 63u) + (way & 2 ? bytes : 0);
    aclpy_kernel_args args = {{in.data, to}, NULL, params, way & 1 ? 1 << 30 : 1};
    run_plan(k, &args, 3, way == 3 ? PIECES : WHOLE);
    if (bytes == 2) check_against_float_(k, shape, &in, to);
    CHECK(way == 0 || memcmp(lines, to, all) == 0,
          "%s %s %s [%" PRId64 ",%" PRId64 ",%" PRId64 "]: way %d has other bits", k->name, k->dtype, k->isa,
          shape->outer, shape->n, shape->inner, way);
    CHECK(buffer_guards_hold(&out) && buffer_guards_hold(&first), "%s %s %s: wrote outside", k->name, k->dtype, k->isa);
    buffer_free(&out);
  }
  buffer_free(&in);
  buffer_free(&first);
}

/* Few long rows, all passes of which are made over some of them before the others: as many as a last level of such a
 * size holds, in the last turn fewer. */
static void check_turns_(const aclpy_kernel *k) {
  const shape3 shape = {5, 40001, 1};
  const int64_t params[3] = {shape.outer, shape.n, 1}, real = is_f64(k->dtype) ? 8 : 4;
  const size_t bytes = dtype_bytes(k->dtype), all = (size_t)(shape.outer * shape.n) * bytes;
  buffer in[2], first = buffer_make(all, bytes);
  for (int i = 0; i < 2; ++i) in[i] = buffer_make(all, bytes);
  fill_family(k, &shape, in, 1.0);
  /* A chunk whose elements are all -inf, and a row that has a number beside infinities. */
  for (int64_t i = 0; i < 16384 && !is_backward(k); ++i) {
    element_set(k->dtype, in[0].data, 3 * shape.n + 16384 + i, -INFINITY);
    element_set(k->dtype, in[0].data, 4 * shape.n + 2 * i + (i > 0), -INFINITY);
  }
  for (int64_t way = 0; way < 8; ++way) {
    const int64_t rows = way / 2, parts = way % 2 == 1 ? 1 << 20 : 1; /* of a problem beyond the caches */
    buffer out = buffer_make(all, bytes);
    unsigned char *to = way == 0 ? first.data : out.data;
    aclpy_kernel_args args = {{in[0].data, is_backward(k) ? in[1].data : to, to}, NULL, params, parts};
    aclpy_kernel_shape plan;
    if (rows > 0) aclpy_cache_set_last_level(4 * rows * shape.n * (is_backward(k) ? 2 * (int64_t)bytes : real));
    CHECK(k->plan(params, 3, &plan) == 0, "%s %s", k->name, k->dtype);
    CHECK(rows == 0 || plan.rounds == (shape.outer + rows - 1) / rows, "%s %s %s: %d rounds", k->name, k->dtype, k->isa,
          (int)plan.rounds);
    run_plan(k, &args, 3, rows > 0);
    CHECK(memcmp(first.data, to, all) == 0, "%s %s %s: turns of %" PRId64 " rows of %" PRId64 " parts have other bits",
          k->name, k->dtype, k->isa, rows, parts);
    CHECK(buffer_guards_hold(&out), "%s %s %s: wrote outside", k->name, k->dtype, k->isa);
    buffer_free(&out);
  }
  aclpy_cache_set_last_level(0);
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  buffer_free(&first);
}

static void check_plan_refusals_(const aclpy_kernel *k) {
  aclpy_kernel_shape shape;
  const int64_t negative[3] = {2, -1, 3}, huge[3] = {INT64_MAX / 2, 3, 5};
  CHECK(k->plan(negative, 3, &shape) == -1, "%s: negative size accepted", k->name);
  CHECK(k->plan(huge, 3, &shape) == -1, "%s: overflow accepted", k->name);
  CHECK(k->plan(negative, 2, &shape) == -1, "%s: wrong count accepted", k->name);
  const shape3 empties[] = {{0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {0, 0, 0}};
  for (size_t i = 0; i < sizeof empties / sizeof empties[0]; ++i) {
    const int64_t params[3] = {empties[i].outer, empties[i].n, empties[i].inner};
    aclpy_kernel_args args = {{NULL, NULL, NULL}, NULL, params, 0};
    run_plan(k, &args, 3, PIECES);
  }
}

static void check_kernel_(const aclpy_kernel *k, const shape3 *shapes, size_t n_shapes, int few, worst *w) {
  const int forward = !is_backward(k), half = dtype_bytes(k->dtype) == 2;
  for (size_t s = 0; s < n_shapes; ++s) check_shape_(k, &shapes[s], 1.0, w);
  const shape3 wide[] = {{4, 1025, 1}, {1, 33001, 1}, {2, 129, 20}};
  for (size_t s = few ? 2 : 0; s < 3 && forward; ++s) check_shape_(k, &wide[s], 20.0, w);
  check_plan_refusals_(k);
  check_turns_(k);
  for (int64_t n = 192; n <= 576 && forward && half; n += few ? 192 : 64) {
    for (int way = 0; way < 4; ++way) check_kinds_(k, n + (way == 3 ? 5 : 0), way & 1 ? 1 << 30 : 1, way / 2);
  }
  /* Tiles of several widths, with columns left over; chunks of columns. */
  const shape3 strips[] = {{7, 71, 256}, {1, 4099, 256}, {7, 64, 200}, {7, 101, 600}};
  for (size_t s = few ? 3 : 0; s < 4 && forward; ++s) check_tile_kinds_(k, &strips[s]);
  if (forward) {
    for (int64_t n = 1; n < 70; n += few ? 17 : n < 20 ? 1 : 13) {
      check_specials_(k, n + 1, 13, 0);
      check_specials_(k, n + 1, 45, 1);
    }
    check_specials_(k, few ? 4100 : 40000, 6, 0);
    check_specials_(k, few ? 33000 : 40000, 6, 1);
    check_specials_(k, few ? 40 : 200, 700, 0);
  }
  for (int64_t n = 1; n < 140 && !forward; n += few ? 33 : n < 20 ? 1 : 13) check_special_gradients_(k, n);
  for (int64_t n = 1; n < 400 && !forward; n += few ? 61 : n < 70 ? 3 : 17) check_rows_alone_(k, n);
  if (strcmp(k->name, "softmax") == 0 && !half) check_far_below_(k);
}

int main(void) {
  const int few = few_shapes();
  const shape3 *shapes = few ? few_ : shapes_;
  const size_t n_shapes = few ? sizeof few_ / sizeof few_[0] : sizeof shapes_ / sizeof shapes_[0];
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (!is_of_family(k) || layout_of(k) != NULL || isa_bit(k) == 0) continue;
    ++tested;
    worst w = {0, 0};
    for (int way = 0; way <= rounds_two_ways(k); ++way) {
      aclpy_core_set_bf16(way - 1);
      check_kernel_(k, shapes, n_shapes, few, &w);
    }
    aclpy_core_set_bf16(-1);
    printf("%-22s %-5s %-9s", k->name, k->dtype, k->isa);
    if (is_f64(k->dtype)) {
      printf(" largest error %.2g of result and largest term (bound 1e-14)\n", w.scaled);
    } else if (dtype_bytes(k->dtype) == 4) {
      printf(" largest error %.2g relative (bound %.2g) where above the absolute floor\n", w.relative, bound_(k));
    } else {
      printf(" the float kernel rounded once\n");
    }
  }
  CHECK(tested >= 16, "only %d kernels found", tested);
  return finish("softmax kernels");
}
