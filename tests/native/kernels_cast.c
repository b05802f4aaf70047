/* SPDX-License-Identifier: Apache-2.0
 * Cast kernels: every source, target and supported ISA against scalar code of another make, all float16 and bfloat16
 * patterns, edges of every integer range, ties of every narrowing; any split, guard bytes.
 */
#include <math.h>

#include "kernels_run.h"

enum { TARGET_BYTES = 16 };

static double integer_limit_(const char *target, int upper) {
  const int bits = atoi(target + 1);
  if (target[0] == 'u') return upper ? ldexp(1.0, bits) : 0.0;
  return upper ? ldexp(1.0, bits - 1) : -ldexp(1.0, bits - 1);
}

/* Truncated towards zero and saturated, as the low bytes of a 64-bit integer. */
static uint64_t integer_(const char *target, double v) {
  const double low = integer_limit_(target, 0), high = integer_limit_(target, 1);
  if (v != v) return 0;
  if (v <= low) return target[0] == 'u' ? 0 : (uint64_t)(int64_t)low;
  if (v < high) return target[0] == 'u' ? (uint64_t)trunc(v) : (uint64_t)(int64_t)trunc(v);
  const int bits = atoi(target + 1) - (target[0] == 'u' ? 0 : 1);
  return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The expected bytes of one element; returns how many. NaN targets are compared by kind, see `same_`. */
static size_t expected_(const char *target, double v, unsigned char *out) {
  const float f = (float)v, zero = 0.0f;
  const double d = v, dzero = 0.0;
  if (strcmp(target, "bool") == 0) {
    out[0] = v != 0;
    return 1;
  }
  if (strcmp(target, "f32") == 0) return memcpy(out, &f, 4), (size_t)4;
  if (strcmp(target, "f64") == 0) return memcpy(out, &d, 8), (size_t)8;
  if (strcmp(target, "c64") == 0) return memcpy(out, &f, 4), memcpy(out + 4, &zero, 4), (size_t)8;
  if (strcmp(target, "c128") == 0) return memcpy(out, &d, 8), memcpy(out + 8, &dzero, 8), (size_t)16;
  if (strcmp(target, "f16") == 0 || strcmp(target, "bf16") == 0) {
    const uint16_t h = half_round(v, target[0] == 'b');
    return memcpy(out, &h, 2), (size_t)2;
  }
  if (strncmp(target, "f8", 2) == 0) {
    out[0] = (unsigned char)(strcmp(target, "f8e5m2") == 0 ? small_round(v, 5, 2, 1) : small_round(v, 4, 3, 0));
    return 1;
  }
  const uint64_t i = integer_(target, v);
  memcpy(out, &i, 8);
  return (size_t)atoi(target + 1) / 8;
}

/* Equal bytes, or both NaN where the target is a float (its payload is free, its sign is not). */
static int same_(const char *target, const unsigned char *a, const unsigned char *b, size_t bytes) {
  if (memcmp(a, b, bytes) == 0) return 1;
  const size_t real = target[0] == 'c' ? bytes / 2 : bytes;
  double x = 0, y = 0;
  if (strcmp(target, "f8e5m2") == 0) {
    x = small_value(a[0], 5, 2, 1), y = small_value(b[0], 5, 2, 1);
  } else if (strcmp(target, "f8e4m3") == 0) {
    x = small_value(a[0], 4, 3, 0), y = small_value(b[0], 4, 3, 0);
  } else if (target[0] == 'f' || target[0] == 'b' || target[0] == 'c') {
    const char *type = real == 8 ? "f64" : real == 4 ? "f32" : target;
    if (real == 1) return 0;
    x = element_get(type, a, 0), y = element_get(type, b, 0);
  }
  return x != x && y != y && (a[real - 1] & 0x80) == (b[real - 1] & 0x80);
}

/* Values worth trying for a target: range edges and ties, one step of the source around each. */
static int64_t edges_(double *v) {
  static const double bases[] = {
      0.0,       0x1p-149,   0x1p-133,   0x1p-134,    0x1p-126,       0x1p-24,        0x1p-25,      0x1.8p-24,
      0x1p-14,   0x1p-16,    0x1p-17,    0x1p-9,      0x1p-10,        0x1.8p-9,       0x1p-6,       0.5,
      1.0,       1.5,        2.5,        1.0625,      1.1875,         1.125,          1.25,         1.375,
      127.0,     127.5,      128.0,      128.5,       255.0,          255.5,          256.0,        448.0,
      464.0,     480.0,      32767.0,    32767.5,     32768.0,        32769.0,        65504.0,      65519.0,
      65520.0,   65535.0,    65536.0,    57344.0,     61440.0,        0x1p31,         0x1p32,       0x1p63,
      0x1p64,    0x1.fep127, 0x1.ffp127, 0x1.ff8p127, 0x1.fffffep127, 2147483647.0,   4294967295.0, 1e300,
      0x1p-1074, 0x1.002p0,  0x1.006p0,  0x1.01p0,    0x1.03p0,       0x1.fffffefp127};
  int64_t n = 0;
  for (size_t i = 0; i < sizeof bases / sizeof bases[0]; ++i) {
    const double fine_up = nextafter(bases[i], INFINITY), fine_down = nextafter(bases[i], -INFINITY);
    const double up = (double)nextafterf((float)bases[i], INFINITY),
                 down = (double)nextafterf((float)bases[i], -INFINITY);
    const double all[] = {bases[i], fine_up, fine_down, up, down};
    for (int j = 0; j < 10; ++j) v[n++] = j < 5 ? all[j] : -all[j - 5];
  }
  v[n++] = INFINITY;
  v[n++] = -INFINITY;
  v[n++] = NAN;
  v[n++] = copysign(NAN, -1.0);
  return n;
}

static int64_t fill_(const char *source, unsigned char *x, int64_t capacity) {
  int64_t n = 0;
  if (dtype_bytes(source) == 2) {
    for (; n < 65536; ++n) {
      const uint16_t h = (uint16_t)n;
      memcpy(x + 2 * n, &h, 2);
    }
    return n;
  }
  double v[1000];
  const int64_t edges = edges_(v);
  for (; n < edges; ++n) element_set(source, x, n, v[n]);
  for (; n < capacity; ++n) {
    /* Any exponent the targets know, and often a value that lies near a tie of float16 or bfloat16. */
    double r = ldexp(1.0 + random_unit(), (int)random_below(n % 2 ? 40 : 300) - (n % 2 ? 20 : 150));
    if (n % 3 == 0) r = ldexp(trunc(ldexp(r, 12 - ilogb(r))) + (n % 4 ? 0.0 : 0x1p-39), ilogb(r) - 12);
    element_set(source, x, n, n % 5 < 2 ? -r : r);
  }
  return n;
}

static void check_(const aclpy_kernel *k, const char *source, const char *target) {
  const int64_t capacity = 65536 + 777;
  const size_t bytes = dtype_bytes(source);
  unsigned char want[TARGET_BYTES];
  const size_t out_bytes = expected_(target, 1.0, want);
  const size_t unit = out_bytes == 16 || target[0] == 'c' ? out_bytes / 2 : out_bytes;
  buffer x = buffer_make((size_t)capacity * bytes, bytes);
  const int64_t n = fill_(source, x.data, capacity);
  buffer y = buffer_make((size_t)n * out_bytes, unit), again = buffer_make((size_t)n * out_bytes, unit);
  int64_t params[1] = {n};
  aclpy_kernel_args args = {{x.data, y.data}, NULL, params, 0};
  run_plan(k, &args, 1, WHOLE);
  for (int64_t i = 0; i < n; ++i) {
    const double v = element_get(source, x.data, i);
    double exact = v;
    if (v != v) exact = copysign(NAN, (x.data[(size_t)(i + 1) * bytes - 1] & 0x80) ? -1.0 : 1.0);
    expected_(target, exact, want);
    CHECK(same_(target, y.data + (size_t)i * out_bytes, want, out_bytes), "%s %s: %a -> %02x.. want %02x..", k->dtype,
          k->isa, v, y.data[(size_t)i * out_bytes + out_bytes - 1], want[out_bytes - 1]);
  }
  args.addr[1] = again.data;
  run_plan(k, &args, 1, PIECES);
  CHECK(memcmp(y.data, again.data, y.bytes) == 0, "%s %s: the split changed bits", k->dtype, k->isa);
  CHECK(buffer_guards_hold(&y) && buffer_guards_hold(&again), "%s %s: wrote outside", k->dtype, k->isa);
  /* Short ones: every length around the vectors, each its own buffer. */
  for (int64_t length = 0; length < 70; ++length) {
    buffer part = buffer_make((size_t)length * out_bytes, unit);
    params[0] = length;
    args.addr[1] = part.data;
    run_plan(k, &args, 1, PIECES);
    CHECK(memcmp(part.data, y.data, part.bytes) == 0, "%s %s: length %" PRId64, k->dtype, k->isa, length);
    CHECK(buffer_guards_hold(&part), "%s %s: wrote outside at length %" PRId64, k->dtype, k->isa, length);
    buffer_free(&part);
  }
  buffer_free(&x);
  buffer_free(&y);
  buffer_free(&again);
}

int main(void) {
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (strcmp(k->name, "cast") != 0 || isa_bit(k) == 0) continue;
    ++tested;
    char source[8] = {0};
    const char *target = strchr(k->dtype, '_') + 1;
    memcpy(source, k->dtype, (size_t)(target - k->dtype) - 1);
    check_(k, source, target);
    aclpy_kernel_shape shape;
    const int64_t negative[1] = {-1};
    CHECK(k->plan(negative, 1, &shape) == -1 && k->plan(negative, 0, &shape) == -1, "%s: bad plan accepted", k->dtype);
  }
  /* 4 sources x 16 other targets. */
  CHECK(tested >= 64 && tested % 64 == 0, "%d cast kernels", tested);
  printf("%d casts\n", tested);
  return finish("cast kernels");
}
