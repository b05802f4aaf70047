/* SPDX-License-Identifier: Apache-2.0
 * What one core of this machine does at most: vector arithmetic, in slots of 32 bytes a nanosecond. */
#define _GNU_SOURCE
#include <stdint.h>
#include <time.h>

#if defined(__AVX512F__)
enum { LANES = 16, SLOTS = 2 };
#else
enum { LANES = 8, SLOTS = 1 };
#endif
typedef float vector __attribute__((vector_size(LANES * sizeof(float))));
#define CHAINS(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7)
#define BEGIN(i)                                                                                       \
  vector product##i = factor + (float)i, sum##i = factor - (float)i; /* all different, so all computed \
                                                                      */
#define TURN(i)                            \
  product##i = product##i * factor + step; \
  sum##i = sum##i + step;
#define END(i) total += product##i + sum##i;
enum { OPERATIONS = 16 }; /* a turn: the multiply-adds are contracted to one instruction each */

static int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

#if defined(__AVX__) && !defined(__AVX512F__)
/* Multiplications and additions, half and half, which nothing waits for: sixteen registers are too few for chains that
 * hide the units' latencies, so the loop below would measure those, and its trips to the stack. */
#define EACH(i)                               \
  __asm__ volatile(                           \
      "vmulps %%ymm14, %%ymm14, %%ymm15\n"    \
      "vaddps %%ymm14, %%ymm14, %%ymm13\n" :: \
          : "xmm13", "xmm15");
double bench_peak(int64_t turns) {
  __asm__ volatile("vxorps %%ymm14, %%ymm14, %%ymm14" ::: "xmm14");
  const int64_t start = now_();
  for (int64_t turn = 0; turn < turns; turn++) {
    CHAINS(EACH)
  }
  const int64_t took = now_() - start;
  return took > 0 ? (double)(turns * OPERATIONS * SLOTS) / (double)took : 0.0;
}
#else
static volatile float sink;

/* Independent multiply-adds and additions, half and half, as the units of most cores want them. */
double bench_peak(int64_t turns) {
  const vector factor = (vector){0} + 0.999f, step = (vector){0} + 0.001f;
  vector total = {0};
  CHAINS(BEGIN)
  const int64_t start = now_();
  for (int64_t turn = 0; turn < turns; turn++) {
    CHAINS(TURN)
  }
  const int64_t took = now_() - start;
  CHAINS(END)
  sink = total[0];
  return took > 0 ? (double)(turns * OPERATIONS * SLOTS) / (double)took : 0.0;
}
#endif
