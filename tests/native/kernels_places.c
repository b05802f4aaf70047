/* SPDX-License-Identifier: Apache-2.0
 * Softmax-family kernels of other layouts, every dtype and supported ISA: rows at a pitch have the bits of dense ones,
 * so have inputs that lie with the reduced axis last or with the axes behind it in another order, and results with
 * gaps, between which nothing is written.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "kernels_family.h"

/* The thread sanitizer makes each access many times slower: what is large only to be large is not for it. */
static int too_large_(int64_t elements) { return THREAD_SANITIZED && elements > 150000; }

/* Rows at a pitch: the bits of dense rows, nothing written between them; also upwards and in place. */
static void check_pitches_(const aclpy_kernel *k, const shape3 *s, const int64_t *pitch) {
  const aclpy_kernel *dense = dense_like(k);
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t n = s->n, rows = s->outer, inputs = is_backward(k) ? 2 : 1, count = rows * n;
  buffer in[2], want = buffer_make((size_t)count * bytes, bytes), spread[3];
  int64_t first[3], span[3], params[5] = {rows, n};
  for (int64_t i = 0; i < 2; ++i) in[i] = buffer_make((size_t)count * bytes, bytes);
  fill_family(k, s, in, 1.0);
  const int64_t whole[3] = {rows, n, 1};
  aclpy_kernel_args args = {{in[0].data, inputs == 1 ? want.data : in[1].data, want.data}, NULL, whole, 0};
  run_plan(dense, &args, 3, PIECES);
  args.params = params;
  for (int64_t i = 0; i <= inputs; ++i) {
    const int64_t step = params[2 + i] = pitch[i];
    first[i] = step < 0 ? -step * (rows - 1) : 0;
    span[i] = (step < 0 ? -step : step) * (rows - 1) + n;
    spread[i] = buffer_make((size_t)span[i] * bytes, bytes);
    memset(spread[i].data, 0x5a, spread[i].bytes);
    args.addr[i] = spread[i].data + (size_t)first[i] * bytes;
    for (int64_t r = 0; r < rows && i < inputs; ++r) {
      memcpy(args.addr[i] + r * step * (int64_t)bytes, in[i].data + (size_t)(r * n) * bytes, (size_t)n * bytes);
    }
  }
  run_plan(k, &args, (int32_t)(3 + inputs), PIECES);
  unsigned char *expected = checked_malloc(spread[inputs].bytes);
  memset(expected, 0x5a, spread[inputs].bytes);
  for (int64_t r = 0; r < rows; ++r) {
    memcpy(expected + (size_t)(first[inputs] + r * pitch[inputs]) * bytes, want.data + (size_t)(r * n) * bytes,
           (size_t)n * bytes);
  }
  CHECK(memcmp(expected, spread[inputs].data, spread[inputs].bytes) == 0 && buffer_guards_hold(&spread[inputs]),
        "%s %s %s n=%" PRId64 " pitch %" PRId64 ": not the dense rows", k->name, k->dtype, k->isa, n, pitch[inputs]);
  if (pitch[0] == pitch[inputs]) {
    args.addr[inputs] = args.addr[0];
    run_plan(k, &args, (int32_t)(3 + inputs), PIECES);
    CHECK(memcmp(expected, spread[0].data, spread[0].bytes) == 0 && buffer_guards_hold(&spread[0]),
          "%s %s %s n=%" PRId64 ": in place differs", k->name, k->dtype, k->isa, n);
  }
  free(expected);
  for (int64_t i = 0; i <= inputs; ++i) buffer_free(&spread[i]);
  for (int64_t i = 0; i < 2; ++i) buffer_free(&in[i]);
  buffer_free(&want);
}

static void check_pitched_(const aclpy_kernel *k) {
  const shape3 shapes[] = {{1, 5, 1}, {7, 16, 1}, {9, 33, 1}, {5, 130, 1}, {3, 2049, 1}, {2, 33001, 1}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    const int64_t n = shapes[i].n;
    const int64_t pitches[][3] = {{n, n, n}, {n + 3, n + 1, n + 16}, {-n - 5, n + 2, -n}, {n + 7, n + 7, n + 7}};
    for (size_t j = 0; j < sizeof pitches / sizeof pitches[0]; ++j) check_pitches_(k, &shapes[i], pitches[j]);
  }
  aclpy_kernel_shape shape;
  const int32_t count = is_backward(k) ? 5 : 4;
  const int64_t far[5] = {2, 3, INT64_MAX / 2, 3, 3}, negative[5] = {-1, 3, 3, 3, 3};
  CHECK(k->plan(far, count, &shape) == -1, "%s: overflow accepted", k->name);
  CHECK(k->plan(negative, count, &shape) == -1, "%s: negative size accepted", k->name);
  CHECK(k->plan(far, count - 1, &shape) == -1, "%s: wrong count accepted", k->name);
}

/* Inputs that lie as the result does and moved elsewhere, results of the first and of the second. */
typedef struct places {
  buffer in[2], moved[2], want, got;
} places;

static places places_make_(const aclpy_kernel *k, const shape3 *s) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t n = s->n, inner = s->inner;
  places p;
  p.want = buffer_make((size_t)(s->outer * n * inner) * bytes, bytes);
  p.got = buffer_make(p.want.bytes, bytes);
  for (int64_t j = 0; j < 2; ++j) {
    p.in[j] = buffer_make(p.want.bytes, bytes);
    p.moved[j] = buffer_make(p.want.bytes, bytes);
  }
  fill_family(k, s, p.in, 1.0);
  /* A column of nothing but -inf, and two with NaN and infinity. */
  for (int64_t i = 0; i < n; ++i) element_set(k->dtype, p.in[0].data, i * inner + 2, -INFINITY);
  element_set(k->dtype, p.in[0].data, n / 2 * inner + 3, NAN);
  element_set(k->dtype, p.in[0].data, n / 2 * inner + inner - 1, INFINITY);
  return p;
}
static void places_free_(places *p) {
  for (int64_t j = 0; j < 2; ++j) {
    buffer_free(&p->in[j]);
    buffer_free(&p->moved[j]);
  }
  buffer_free(&p->want);
  buffer_free(&p->got);
}

/* Both kernels give the same bits, NaNs apart. `params`: those of the second. */
static void check_places_(const aclpy_kernel *k, places *p, const shape3 *s, const int64_t *params, int32_t n_params) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t count = s->outer * s->n * s->inner, dense[3] = {s->outer, s->n, s->inner};
  const int backward = is_backward(k);
  unsigned char *want = p->want.data, *got = p->got.data;
  aclpy_kernel_args plain = {{p->in[0].data, backward ? p->in[1].data : want, want}, NULL, dense, 0};
  aclpy_kernel_args moved = {{p->moved[0].data, backward ? p->moved[1].data : got, got}, NULL, params, 0};
  run_plan(dense_like(k), &plain, 3, WHOLE);
  run_plan(k, &moved, n_params, PIECES);
  for (int64_t i = 0; i < count; ++i) {
    if (i % s->inner == 0 && memcmp(want + (size_t)i * bytes, got + (size_t)i * bytes, (size_t)s->inner * bytes) == 0) {
      i += s->inner - 1;
      continue;
    }
    if (memcmp(want + (size_t)i * bytes, got + (size_t)i * bytes, bytes) == 0) continue;
    const double a = element_get(k->dtype, want, i), b = element_get(k->dtype, got, i);
    CHECK(a != a && b != b, "%s %s %s [%" PRId64 ",%" PRId64 ",%" PRId64 "] at %" PRId64 ": %g for %g", k->name,
          k->dtype, k->isa, s->outer, s->n, s->inner, i, b, a);
  }
  CHECK(buffer_guards_hold(&p->got), "%s %s %s: wrote outside", k->name, k->dtype, k->isa);
}

/* Inputs with the reduced axis last: the bits of inputs that lie as the result does. Returns whether it does the size.
 */
static int check_turned_(const aclpy_kernel *k, const shape3 *s) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t n = s->n, inner = s->inner, params[3] = {s->outer, n, inner};
  aclpy_kernel_shape shape;
  if (k->plan(params, 3, &shape) != 0) return 0;
  places p = places_make_(k, s);
  for (int64_t j = 0; j <= is_backward(k); ++j) {
    for (int64_t i = 0; i < s->outer * n * inner; ++i) {
      const int64_t outer = i / (n * inner), row = i / inner % n, column = i % inner;
      element_copy(p.moved[j].data + (size_t)((outer * inner + column) * n + row) * bytes,
                   p.in[j].data + (size_t)i * bytes, (int64_t)bytes);
    }
  }
  check_places_(k, &p, s, params, 3);
  places_free_(&p);
  return 1;
}

static void check_transposed_(const aclpy_kernel *k) {
  /* Parts of squares, strips beside each other, a narrower last one, chunks of whole strips and others, and strips that
   * have no room; then as if all of it were more than the caches hold, where strips are written past them. */
  const shape3 shapes[] = {{3, 1, 33},    {2, 2, 40},     {1, 15, 64},    {2, 16, 65},    {2, 17, 100}, {1, 33, 47},
                           {1, 96, 256},  {1, 256, 49},   {9, 70, 128},   {9, 40, 80},    {9, 33, 100}, {9, 70, 64},
                           {9, 32, 160},  {1, 96, 40},    {2, 16, 48},    {9, 71, 128},   {8, 5, 64},   {2, 64, 512},
                           {1, 300, 530}, {1, 1300, 530}, {1, 1100, 512}, {1, 2100, 100}, {1, 4099, 64}};
  int done = 0, large = 0;
  for (size_t i = 0; i < 2 * (sizeof shapes / sizeof shapes[0]); ++i) {
    const shape3 *s = &shapes[i / 2];
    if (too_large_(s->outer * s->n * s->inner)) {
      ++large;
      continue;
    }
    if (i % 2 == 1) aclpy_cache_set_last_level(32 * 1024);
    if (i % 2 == 1) aclpy_core_set_kind(ACLPY_CORE_ZEN_5);
    done += check_turned_(k, s);
    aclpy_cache_set_last_level(0);
    aclpy_core_set_kind(-1);
  }
  CHECK(done + large >= 40, "%s %s %s does only %d sizes", k->name, k->dtype, k->isa, done);
  aclpy_kernel_shape shape;
  const int64_t refused[][3] = {{3, 5, 1}, {3, 5, 32}, {1, 1 << 20, 64}, {0, 5, 64}, {2, -1, 64}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    CHECK(k->plan(refused[i], 3, &shape) == -1, "%s: takes what it does not do", k->name);
  }
  CHECK(k->plan(refused[0], 2, &shape) == -1, "%s: wrong count accepted", k->name);
}

/* Where element `i` of [outer * n, rows, columns] lies as [outer * n, columns, rows]. */
static int64_t swapped_at_(int64_t i, int64_t rows, int64_t columns) {
  const int64_t plane = rows * columns, within = i % plane;
  return i - within + within % columns * rows + within / columns;
}

/* Inputs with rows and columns of their planes swapped: the bits of those that lie as the result does. */
static void check_planes_(const aclpy_kernel *k, const int64_t *params) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t rows = params[2], columns = params[3];
  const shape3 s = {params[0], params[1], rows * columns};
  places p = places_make_(k, &s);
  for (int64_t j = 0; j <= is_backward(k); ++j) {
    for (int64_t i = 0; i < s.outer * s.n * s.inner; ++i) {
      element_copy(p.moved[j].data + (size_t)swapped_at_(i, rows, columns) * bytes, p.in[j].data + (size_t)i * bytes,
                   (int64_t)bytes);
    }
  }
  check_places_(k, &p, &s, params, 4);
  places_free_(&p);
}

static void check_swapped_(const aclpy_kernel *k) {
  /* Squares that fit and that overlap; one tile and several, a narrower last one; an odd row, more than a block. */
  const int64_t params[][4] = {{8, 5, 32, 32},  {9, 33, 33, 47}, {8, 70, 64, 35},
                               {8, 33, 39, 64}, {11, 2, 56, 56}, {8, 1, 40, 100}};
  aclpy_kernel_shape shape;
  for (size_t i = 0; i < sizeof params / sizeof params[0]; ++i) {
    CHECK(k->plan(params[i], 4, &shape) == 0, "%s %s %s: size %zu refused", k->name, k->dtype, k->isa, i);
    if (too_large_(params[i][0] * params[i][1] * params[i][2] * params[i][3])) continue;
    check_planes_(k, params[i]);
    /* As if all of it were more than the last level, but not one outer position. */
    aclpy_cache_set_last_level(8 * params[i][1] * params[i][2] * params[i][3] * (int64_t)dtype_bytes(k->dtype));
    CHECK(k->plan(params[i], 4, &shape) == 0, "%s %s %s: size %zu refused", k->name, k->dtype, k->isa, i);
    check_planes_(k, params[i]);
    aclpy_cache_set_last_level(0);
  }
  const int64_t refused[][4] = {{8, 5, 7, 64},  {8, 5, 64, 7},   {7, 5, 64, 64},           {8, 1 << 24, 64, 64},
                                {0, 5, 64, 64}, {8, -1, 64, 64}, {8, 5, INT64_MAX / 2, 64}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    CHECK(k->plan(refused[i], 4, &shape) == -1, "%s: takes what it does not do", k->name);
  }
  CHECK(k->plan(params[0], 3, &shape) == -1, "%s: wrong count accepted", k->name);
}

/* Results with gaps: the bits of dense ones, and nothing between them is touched. Returns whether it does the size. */
static int check_gaps_(const aclpy_kernel *k, const int64_t *params) {
  const aclpy_kernel *plain = dense_like(k);
  const size_t bytes = dtype_bytes(k->dtype);
  const int64_t outer = params[0], n = params[1], inner = params[2], run = params[5], count = outer * n * inner;
  const int64_t span = (outer - 1) * params[3] + (n - 1) * params[4] + (inner / run - 1) * params[6] + run;
  aclpy_kernel_shape shape;
  if (k->plan(params, 7, &shape) != 0) return 0;
  buffer in[2], want = buffer_make((size_t)count * bytes, bytes), got = buffer_make((size_t)span * bytes, bytes);
  for (int64_t j = 0; j < 2; ++j) in[j] = buffer_make(want.bytes, bytes);
  const shape3 s = {outer, n, inner};
  fill_family(k, &s, in, 1.0);
  memset(got.data, 0x5a, got.bytes);
  const int backward = is_backward(k);
  aclpy_kernel_args args = {{in[0].data, backward ? in[1].data : want.data, want.data}, NULL, params, 0};
  run_plan(plain, &args, 3, WHOLE);
  args.addr[backward ? 2 : 1] = got.data;
  run_plan(k, &args, 7, PIECES);
  unsigned char *left = checked_malloc(got.bytes);
  memcpy(left, got.data, got.bytes);
  for (int64_t i = 0; i < count; i += run) {
    const int64_t at = i / (n * inner) * params[3] + i / inner % n * params[4] + i % inner / run * params[6];
    CHECK(memcmp(want.data + (size_t)i * bytes, got.data + (size_t)at * bytes, (size_t)run * bytes) == 0,
          "%s %s %s [%" PRId64 ",%" PRId64 ",%" PRId64 "] from %" PRId64 " on: other bits", k->name, k->dtype, k->isa,
          outer, n, inner, i);
    memset(left + (size_t)at * bytes, 0x5a, (size_t)run * bytes);
  }
  /* All of them are as the first. */
  CHECK(left[0] == 0x5a && memcmp(left, left + 1, got.bytes - 1) == 0, "%s %s %s: wrote a gap", k->name, k->dtype,
        k->isa);
  CHECK(buffer_guards_hold(&got), "%s %s %s: wrote outside", k->name, k->dtype, k->isa);
  for (int64_t j = 0; j < 2; ++j) buffer_free(&in[j]);
  buffer_free(&want);
  buffer_free(&got);
  free(left);
  return 1;
}

static void check_spaced_(const aclpy_kernel *k) {
  /* Rows, tensors and runs apart; strips of whole lines and not; chunks; many tiles. */
  const int64_t params[][7] = {
      {3, 5, 33, 199, 39, 33, 33},        {2, 40, 64, 3240, 80, 64, 64},   {1, 9, 112, 0, 144, 56, 72},
      {2, 33, 1120, 47521, 1440, 56, 72}, {1, 300, 640, 0, 700, 640, 640}, {1, 1300, 530, 0, 531, 530, 530},
      {1, 64, 3136, 0, 4032, 56, 72},     {1, 4099, 96, 0, 120, 48, 60},   {2, 3, 48, 64 * 48, 48, 16, 3 * 48},
      {1, 4099, 1024, 0, 1040, 1024, 1},  {1, 1000, 112, 0, 144, 56, 72}};
  int done = 0;
  for (size_t i = 0; i < sizeof params / sizeof params[0]; ++i) {
    const int large = params[i][1] * params[i][2] > 1 << 20;
    if (too_large_(params[i][0] * params[i][1] * params[i][2])) {
      ++done;
      continue;
    }
    /* Past the caches, where that is done at all: some cores do it of few widths. */
    aclpy_cache_set_last_level(4096);
    aclpy_core_set_kind(ACLPY_CORE_ANY);
    const int past = large || check_gaps_(k, params[i]);
    aclpy_core_set_kind(-1);
    aclpy_cache_set_last_level(0);
    done += check_gaps_(k, params[i]) && past;
  }
  CHECK(done == (int)(sizeof params / sizeof params[0]), "%s %s %s does only %d", k->name, k->dtype, k->isa, done);
  aclpy_kernel_shape shape;
  const int64_t refused[][7] = {{3, 5, 1, 9, 1, 1, 1},
                                {3, 5, 32, 160, 32, 32, 32},
                                {2, 5, 64, 320, 64, 48, 64},
                                {2, 5, 64, 320, 64, 0, 64},
                                {2, -1, 64, 0, 64, 64, 64},
                                {9, 5, 64, INT64_MAX / 4, 64, 64, 64},
                                {2, 5, 64, 0, INT64_MAX / 4, 64, 64},
                                {2, 5, 64, 0, 64, 32, INT64_MAX / 2}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    CHECK(k->plan(refused[i], 7, &shape) == -1, "%s: takes what it does not do", k->name);
  }
  CHECK(k->plan(params[0], 3, &shape) == -1, "%s: wrong count accepted", k->name);
}

int main(void) {
  /* Two processes share the kernels: no other harness takes as long. */
  const pid_t other = fork();
  CHECK(other >= 0, "no second process");
  const int mine = other == 0;
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    const char *layout = is_of_family(k) ? layout_of(k) : NULL;
    if (layout == NULL || isa_bit(k) == 0) continue;
    if (tested++ % 2 != mine) continue;
    for (int way = 0; way <= rounds_two_ways(k); ++way) {
      aclpy_core_set_bf16(way - 1);
      if (strcmp(layout, "_pitched") == 0) check_pitched_(k);
      if (strcmp(layout, "_transposed") == 0) check_transposed_(k);
      if (strcmp(layout, "_swapped") == 0) check_swapped_(k);
      if (strcmp(layout, "_spaced") == 0) check_spaced_(k);
    }
    aclpy_core_set_bf16(-1);
    printf("%-32s %-5s %-9s the bits of the dense kernel\n", k->name, k->dtype, k->isa);
  }
  CHECK(tested >= 48, "only %d kernels found", tested);
  if (other == 0) return finish("every second of them");
  int status = 0;
  CHECK(waitpid(other, &status, 0) == other && status == 0, "the second process failed");
  return finish("softmax kernels of other layouts");
}
