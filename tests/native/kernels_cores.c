/* SPDX-License-Identifier: Apache-2.0
 * Softmax-family kernels of rows, every dtype and supported ISA, dense and at a pitch: which order suits the core
 * (aclpy_core_kind) does not change a bit, nor does writing past the caches, nor writing in place, nor whether the
 * processor rounds to bfloat16 itself.
 */
#include "kernels_family.h"

enum { SIZES = 4, WAYS = 2 * SIZES * ACLPY_CORES };

/* Way `way`: on a core of each kind, as a problem of this size, or as a part of one that fills three quarters of the
 * last level, is one and a half times it, or so large that it is streamed anywhere; rounding to bfloat16 as found or
 * not.
 */
static void run_way_(const aclpy_kernel *k, aclpy_kernel_args *args, int32_t n_params, int way) {
  const int64_t elements = args->params[0] * args->params[1], moved = is_backward(k) ? 3 : 2;
  const int64_t bytes = elements * moved * (int64_t)dtype_bytes(k->dtype);
  const int64_t last = aclpy_cache_bytes_last_level();
  const int64_t parts[SIZES] = {1, last / 4 * 3 / bytes, last / 2 * 3 / bytes, INT64_C(1) << 20};
  args->parts = parts[way / ACLPY_CORES % SIZES];
  aclpy_core_set_kind(way % ACLPY_CORES);
  if (way >= WAYS / 2) aclpy_core_set_bf16(0);
  run_plan(k, args, n_params, way != 0 ? PIECES : WHOLE);
  aclpy_core_set_kind(-1);
  aclpy_core_set_bf16(-1);
}

/* Results that begin at a line: short rows go past the caches only so. */
static buffer make_(size_t bytes, size_t element, int lined) {
  buffer b = buffer_make(bytes, element);
  if (lined) b.data += -(uintptr_t)b.data & 63u;
  memset(b.data, 0x5a, bytes);
  memset(b.whole, GUARD_BYTE, (size_t)(b.data - b.whole));
  memset(b.data + bytes, GUARD_BYTE, GUARD / 2);
  return b;
}

/* Way `way` in place of a copy of input `which`, against `want`, which has 0x5a between rows. */
static void check_in_place_(const aclpy_kernel *k, const shape3 *s, const buffer *in, const buffer *want,
                            const int64_t *params, int32_t n_params, int way, int which) {
  const size_t bytes = dtype_bytes(k->dtype), row = (size_t)s->n * bytes;
  const size_t pitch = in[0].bytes / (size_t)s->outer;
  buffer got = buffer_make(in[0].bytes, bytes);
  memset(got.data, 0x5a, got.bytes);
  for (int64_t r = 0; r < s->outer; ++r) memcpy(got.data + (size_t)r * pitch, in[which].data + (size_t)r * pitch, row);
  aclpy_kernel_args args = {{got.data, is_backward(k) ? in[1].data : got.data, got.data}, NULL, params, 0};
  if (which == 1) args.addr[0] = in[0].data, args.addr[1] = got.data;
  run_way_(k, &args, n_params, way);
  CHECK(buffer_guards_hold(&got), "%s %s %s: wrote outside, in place", k->name, k->dtype, k->isa);
  CHECK(memcmp(got.data, want->data, got.bytes) == 0,
        "%s %s %s [%" PRId64 ",%" PRId64 "]: way %d differs in place, or wrote between rows", k->name, k->dtype, k->isa,
        s->outer, s->n, way);
  buffer_free(&got);
}

/* The products of such rows vanish, below 0: a sum of -0 would show in the sign of results. */
static void check_vanishing_(const aclpy_kernel *k) {
  enum { ROWS = 8, N = 128 };
  const size_t bytes = dtype_bytes(k->dtype);
  const double tiny = strcmp(k->dtype, "f64") == 0 ? 1e-200 : strcmp(k->dtype, "f16") == 0 ? 1e-7 : 1e-30;
  const int64_t params[3] = {ROWS, N, 1};
  buffer in[2], out[WAYS];
  for (int i = 0; i < 2; ++i) in[i] = buffer_make(ROWS * N * bytes, bytes);
  for (int64_t i = 0; i < ROWS * N; ++i) {
    element_set(k->dtype, in[0].data, i, i % N < N / 2 ? -0.0 : -tiny);
    element_set(k->dtype, in[1].data, i, tiny);
  }
  for (int i = 0; i < WAYS; ++i) {
    out[i] = buffer_make(in[0].bytes, bytes);
    aclpy_kernel_args args = {{in[0].data, in[1].data, out[i].data}, NULL, params, 0};
    run_way_(k, &args, 3, i);
    CHECK(memcmp(out[0].data, out[i].data, out[0].bytes) == 0, "%s %s %s: way %d has other zeros", k->name, k->dtype,
          k->isa, i);
  }
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  for (int i = 0; i < WAYS; ++i) buffer_free(&out[i]);
}

/* Rows whose sums leave the binade of simd/products.h, among rows whose sums do not. */
static void check_large_(const aclpy_kernel *k, int64_t n) {
  enum { ROWS = 19 };
  const size_t bytes = dtype_bytes(k->dtype);
  const shape3 s = {ROWS, n, 1};
  const int64_t params[3] = {ROWS, n, 1};
  buffer in[2], out[WAYS];
  for (int i = 0; i < 2; ++i) in[i] = buffer_make((size_t)(ROWS * n) * bytes, bytes);
  fill_family(k, &s, in, 1.0);
  for (int64_t i = 0; i < ROWS * n; ++i) {
    const double g = element_get(k->dtype, in[0].data, i);
    if (i / n % 3 == 1) element_set(k->dtype, in[0].data, i, 9000.0 * g);
    if (i / n % 3 == 1) element_set(k->dtype, in[1].data, i, i % 7 == 0 ? -3.0 : 0.5);
  }
  for (int i = 0; i < WAYS; ++i) {
    out[i] = buffer_make(in[0].bytes, bytes);
    aclpy_kernel_args args = {{in[0].data, in[1].data, out[i].data}, NULL, params, 0};
    run_way_(k, &args, 3, i);
    CHECK(memcmp(out[0].data, out[i].data, out[0].bytes) == 0, "%s %s %s, large sums of %" PRId64 ": way %d differs",
          k->name, k->dtype, k->isa, n, i);
  }
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  for (int i = 0; i < WAYS; ++i) buffer_free(&out[i]);
}

static void check_cores_(const aclpy_kernel *k, const shape3 *s, int64_t gap, int lined) {
  const size_t bytes = dtype_bytes(k->dtype);
  const int backward = is_backward(k), pitched = layout_of(k) != NULL;
  const int64_t pitch = s->n + gap;
  const shape3 whole = {s->outer, pitch, 1};
  const int64_t params[5] = {s->outer, s->n, pitched ? pitch : 1, pitch, pitch};
  const int32_t n_params = pitched ? backward ? 5 : 4 : 3;
  const int ways = rounds_two_ways(k) ? WAYS : WAYS / 2;
  buffer in[2], out[WAYS];
  for (int i = 0; i < 2; ++i) in[i] = buffer_make((size_t)(s->outer * pitch) * bytes, bytes);
  fill_family(k, &whole, in, 1.0);
  for (int i = 0; i < ways; ++i) {
    out[i] = make_(in[0].bytes, bytes, lined);
    aclpy_kernel_args args = {{in[0].data, backward ? in[1].data : out[i].data, out[i].data}, NULL, params, 0};
    run_way_(k, &args, n_params, i);
    CHECK(buffer_guards_hold(&out[i]), "%s %s %s: wrote outside", k->name, k->dtype, k->isa);
    CHECK(memcmp(out[0].data, out[i].data, out[0].bytes) == 0,
          "%s %s %s [%" PRId64 ",%" PRId64 "] gap %" PRId64 ": way %d has other bits", k->name, k->dtype, k->isa,
          s->outer, s->n, gap, i);
  }
  for (int i = 0; i < ways && !lined; ++i) {
    for (int which = 0; which <= backward; ++which) check_in_place_(k, s, in, &out[0], params, n_params, i, which);
  }
  for (int i = 0; i < 2; ++i) buffer_free(&in[i]);
  for (int i = 0; i < ways; ++i) buffer_free(&out[i]);
}

int main(void) {
  const shape3 shapes[] = {{19, 16, 1},  {9, 33, 1},   {19, 32, 1},  {9, 64, 1},   {7, 128, 1},
                           {6, 512, 1},  {5, 1000, 1}, {4, 1024, 1}, {4, 2039, 1}, {3, 4096, 1},
                           {3, 8200, 1}, {7, 67, 1},   {5, 129, 1},  {5, 1023, 1}, {75, 10, 1},
                           {67, 7, 1},   {61, 3, 1},   {41, 16, 1},  {37, 24, 1},  {37, 62, 1},
                           {35, 67, 1},  {41, 90, 1},  {9, 100, 1},  {21, 200, 1}, {9, 320, 1}};
  int done = 0;
  const aclpy_kernel *k;
  for (size_t i = 0; (k = aclpy_kernel_at(i)) != NULL; ++i) {
    const char *layout = is_of_family(k) ? layout_of(k) : "";
    if (!is_of_family(k) || !isa_bit(k) || (layout != NULL && strcmp(layout, "_pitched") != 0)) continue;
    for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j += THREAD_SANITIZED ? 3 : 1) {
      for (int lined = 0; lined < 2; ++lined) check_cores_(k, &shapes[j], 0, lined);
      if (layout != NULL) check_cores_(k, &shapes[j], 3, 0);
      if (layout != NULL) check_cores_(k, &shapes[j], -shapes[j].n & 31, 1);
    }
    if (layout == NULL && is_backward(k)) {
      check_vanishing_(k);
      check_large_(k, 40);
      check_large_(k, 200);
    }
    ++done;
  }
  CHECK(done >= 32, "only %d kernels", done);
  return finish("kernels on each kind of core");
}
