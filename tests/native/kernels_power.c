/* SPDX-License-Identifier: Apache-2.0
 * Powers after a softmax, every supported ISA: at most 1.3 ulp from long double, and the same bits on every instruction
 * set that rounds multiply-adds once, whichever the machine.
 */
#include <math.h>

#include "kernels_run.h"
#include "post_ops_codes.h"

static int64_t word_(float alpha, float beta) {
  uint32_t a, b;
  memcpy(&a, &alpha, 4);
  memcpy(&b, &beta, 4);
  return (int64_t)((uint64_t)a | (uint64_t)b << 32);
}

static uint32_t next_(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

/* Positive: all magnitudes, what probabilities have, the neighbourhood of 1. The same on every machine. */
static float positive_(uint64_t *state) {
  const uint32_t r = next_(state);
  const uint32_t bits = r % 3 == 0   ? 1 + (r / 3) % 0x7f7fffffu
                        : r % 3 == 1 ? 0x30000000u + (r / 3) % 0x0f800000u
                                     : 0x3f7ff000u + (r / 3) % 0x2000u;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/* y = x^beta, by way of a softmax that is multiplied by 0. Returns a digest of the bits. */
static uint64_t powers_(const aclpy_kernel *k, const buffer *x, const buffer *y, int64_t n, float beta) {
  float zero = 0.0f;
  enum { F32 = ACLPY_TYPE_FLOAT };
  /* One row of n; two operands, three operations: times a value, plus a row, the power. */
  const int64_t head[] = {1, n, 1, 0, F32, F32, 2, 2, 3, 1, n, F32 | 3 << 16, F32};
  const int64_t ops[] = {ACLPY_POST_MUL, 0, ACLPY_POST_ADD | 1 << 8, 0, ACLPY_POST_POW, word_(1.0f, beta)};
  int64_t p[sizeof head / sizeof head[0] + sizeof ops / sizeof ops[0]];
  memcpy(p, head, sizeof head);
  memcpy(p + sizeof head / sizeof head[0], ops, sizeof ops);
  aclpy_kernel_args args = {{x->data, (unsigned char *)&zero, x->data, y->data}, NULL, p, 0};
  run_plan(k, &args, sizeof p / sizeof p[0], WHOLE);
  uint64_t digest = 14695981039346656037u;
  for (size_t i = 0; i < y->bytes; ++i) digest = (digest ^ y->data[i]) * 1099511628211u;
  return digest;
}

static int fuses_(const aclpy_kernel *k) {
#ifdef __aarch64__
  (void)k;
  return 1;
#else
  return strcmp(k->isa, "baseline") != 0;
#endif
}

static void check_powers_(const aclpy_kernel *k) {
  static const struct {
    float beta;
    uint64_t digest;
  } powers[] = {{0.3f, 0x0c3e95a8cfd7c992u},
                {-2.5f, 0x015cae37b0b02efdu},
                {3.9f, 0x0701ce46e5b680abu},
                {-0.001f, 0x4df1b8eeaf74dc59u}};
  enum { N = 16384 };
  const int fuses = fuses_(k);
  buffer x = buffer_make(4 * N, 4), y = buffer_make(4 * N, 4);
  for (size_t which = 0; which < sizeof powers / sizeof powers[0]; ++which) {
    uint64_t state = which;
    for (int64_t i = 0; i < N; ++i) {
      const float v = positive_(&state);
      memcpy(x.data + 4 * i, &v, 4);
    }
    const uint64_t digest = powers_(k, &x, &y, N, powers[which].beta);
    CHECK(!fuses || digest == powers[which].digest, "%s: power %g has the bits %016" PRIx64, k->isa,
          (double)powers[which].beta, digest);
    for (int64_t i = 0; i < N; ++i) {
      const double v = element_get("f32", x.data, i), got = element_get("f32", y.data, i);
      const long double want = powl((long double)v, (long double)powers[which].beta);
      const long double ulp = ldexpl(1.0L, (want < 0x1p-126L ? -126 : ilogbl(want)) - 23);
      if (want >= 0x1.fffffp127L) continue;
      CHECK(fabsl((long double)got - want) <= 1.3L * ulp, "%s: %a^%g is %a", k->isa, v, (double)powers[which].beta,
            got);
    }
  }
  buffer_free(&x);
  buffer_free(&y);
}

/* Powers of a softmax by its exponentials (fused_powers.h): two rows within 60, one beyond, against long double. */
static void check_rows_(const aclpy_kernel *k) {
  enum { N = 512, ROWS = 3, F32 = ACLPY_TYPE_FLOAT };
  static const float betas[] = {0.3f, -0.7f, 0.999f};
  buffer x = buffer_make(4 * N * ROWS, 4), y = buffer_make(4 * N * ROWS + 64, 64);
  unsigned char *out = (unsigned char *)(((uintptr_t)y.data + 63) & ~(uintptr_t)63); /* whole lines take this way */
  for (size_t which = 0; which < sizeof betas / sizeof betas[0]; ++which) {
    uint64_t state = which + 7;
    for (int64_t i = 0; i < N * ROWS; ++i) {
      const float v = -1.0f - (float)(next_(&state) % 1000) * (i < N ? 0.001f : 0.059f);
      const float special = i == N + 5 ? -60.0f : i == 2 * N + 5 ? -90.0f : v;
      const float given = i % N == 9 ? 0.0f : special;
      memcpy(x.data + 4 * i, &given, 4);
    }
    const int64_t head[] = {ROWS, N, 1, 0, F32, F32, 2, 0, 1, ROWS, N, ACLPY_POST_POW, word_(1.0f, betas[which])};
    aclpy_kernel_args args = {{x.data, out}, NULL, head, 0};
    run_plan(k, &args, sizeof head / sizeof head[0], WHOLE);
    for (int64_t row = 0; row < ROWS; ++row) {
      long double sum = 0.0L;
      for (int64_t i = 0; i < N; ++i) sum += expl((long double)element_get("f32", x.data, row * N + i));
      for (int64_t i = 0; i < N; ++i) {
        const long double p = expl((long double)element_get("f32", x.data, row * N + i)) / sum;
        if (p < 0x1p-126L) continue; /* its power is that of a rounded subnormal */
        const long double want = powl(p, (long double)betas[which]);
        const double got = element_get("f32", out, row * N + i);
        const long double ulp = ldexpl(1.0L, ilogbl(want) - 23);
        CHECK(fabsl((long double)got - want) <= (fuses_(k) && row < 2 ? 4.0L : 8.0L) * ulp,
              "%s: row %d, power %g: %a, %La wanted", k->isa, (int)row, (double)betas[which], got, want);
      }
    }
  }
  buffer_free(&x);
  buffer_free(&y);
}

int main(void) {
  int tested = 0;
  for (size_t index = 0;; ++index) {
    const aclpy_kernel *k = aclpy_kernel_at(index);
    if (k == NULL) break;
    if (strcmp(k->name, "softmax_fused") != 0 || isa_bit(k) == 0) continue;
    ++tested;
    check_powers_(k);
    check_rows_(k);
  }
  CHECK(tested >= 1, "no kernel found");
  return finish("powers");
}
