/* SPDX-License-Identifier: Apache-2.0
 * What one core of this machine does at most: vector arithmetic, in slots of 32 bytes a nanosecond; and how long the
 * instructions of work_kinds.h hold up the pipes that multiply, and those that add. */
#define _GNU_SOURCE
#include <stdint.h>
#include <time.h>

#include "work_kinds.h"

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

#if defined(__AVX512F__)
/* Multiply-adds, or additions, of eight chains and four instructions between them that nothing waits for, so that only
 * their share of the pipes counts. `text` works on zmm30 and writes zmm31. */
#define BESIDE(text)                                                                  \
  for (int64_t turn = 0; turn < turns; turn++) {                                      \
    if (adds) {                                                                       \
      CHAINS(ADD)                                                                     \
    } else {                                                                          \
      CHAINS(FMA)                                                                     \
    }                                                                                 \
    __asm__ volatile(text "\n" text "\n" text "\n" text::[at] "r"(memory) : "xmm31"); \
  }                                                                                   \
  break
#define FMA(i) __asm__ volatile("vfmadd213ps %1, %1, %0" : "+v"(chain##i) : "v"(factor));
#define ADD(i) __asm__ volatile("vaddps %1, %0, %0" : "+v"(chain##i) : "v"(factor));
#define CHAIN(i) vector chain##i = factor;

/* Nanoseconds a turn of eight multiply-adds (or additions, where `adds`) and four instructions of that kind; below 0
 * where this machine has none. */
double bench_beside(int kind, int adds, int64_t turns) {
  static const char memory[64] __attribute__((aligned(64)));
  const vector factor = (vector){0} + 0.5f;
  CHAINS(CHAIN)
  __asm__ volatile("vpxord %%zmm30, %%zmm30, %%zmm30" ::: "xmm30");
  const int64_t start = now_();
  switch (kind) {
    case WORK_NONE:
      BESIDE("");
    case WORK_MULTIPLY:
      BESIDE("vmulps %%zmm30, %%zmm30, %%zmm31");
    case WORK_ADD:
      BESIDE("vaddps %%zmm30, %%zmm30, %%zmm31");
    case WORK_HALF_TO_FLOAT:
      BESIDE("vcvtph2ps %%ymm30, %%zmm31");
    case WORK_HALF_TO_FLOAT_MEMORY:
      BESIDE("vcvtph2ps (%[at]), %%zmm31");
    case WORK_FLOAT_TO_HALF:
      BESIDE("vcvtps2ph $8, %%zmm30, %%ymm31");
    case WORK_FLOAT_TO_DOUBLE:
      BESIDE("vcvtps2pd %%ymm30, %%zmm31");
    case WORK_FLOAT_TO_DOUBLE_MEMORY:
      BESIDE("vcvtps2pd (%[at]), %%zmm31");
#if defined(__AVX512BF16__)
    case WORK_FLOATS_TO_BFLOAT:
      BESIDE("vcvtne2ps2bf16 %%zmm30, %%zmm30, %%zmm31");
#endif
    case WORK_SCALE:
      BESIDE("vscalefps %%zmm30, %%zmm30, %%zmm31");
#if defined(__AVX512BW__)
    case WORK_PERMUTE_WORDS:
      BESIDE("vpermw %%zmm30, %%zmm30, %%zmm31");
#endif
    default:
      return -1.0;
  }
  const int64_t took = now_() - start;
  __asm__ volatile("" ::"v"(chain0), "v"(chain1), "v"(chain2), "v"(chain3), "v"(chain4), "v"(chain5), "v"(chain6),
                   "v"(chain7));
  return (double)took / (double)turns;
}
#else
double bench_beside(int kind, int adds, int64_t turns) {
  (void)kind, (void)adds, (void)turns;
  return -1.0;
}
#endif
