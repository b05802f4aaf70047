/* SPDX-License-Identifier: Apache-2.0
 * How long a core takes at least for a mix of instructions: as many of each are written behind one another, evenly
 * mixed, with registers chosen so that nothing waits for anything, and loads and stores in the first level. The bound
 * knows what each takes of the pipes, of decoding and of the ports to the cache, without a table of any of it. */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <xmmintrin.h>

#include "steps.h"

enum { MIX_MOST = 512, REPLAY_LENGTH = 1024, REPLAY_TURNS = 100, REPLAY_TRIALS = 200, CODE_BYTES = 1 << 15 };

typedef struct mix {
  step steps[MIX_MOST]; /* the first is for all scalar ones */
  int64_t counts[MIX_MOST];
  int used;
} mix;

static void mix_add(mix *all, step_kind kind, const step *one) {
  int i = 1;
  if (kind == STEP_NOTHING) return;
  if (kind == STEP_SCALAR) {
    i = 0;
  } else {
    while (i < all->used && memcmp(&all->steps[i], one, sizeof *one)) i++;
    if (i == MIX_MOST) i = 0;
  }
  if (i >= all->used) all->used = i + 1;
  if (i) all->steps[i] = *one;
  all->counts[i]++;
}

/* Registers: 1 to 9 in turn for results that are operands, too; 10 and 11 for all others; 12 and 14 are only read, and
 * so are general ones: rdi and rsi point to what is loaded and stored. */
typedef struct writer {
  unsigned char *at;
  unsigned chain, place;
} writer;

static void write_scalar_(writer *to) {
  static const unsigned char lea[] = {0x44, 0x8d, 0x57, 0x01}; /* lea 1(%rdi), %r10d */
  memcpy(to->at, lea, sizeof lea);
  to->at += sizeof lea;
}

static void write_vector_(writer *to, const step *one) {
  const int back = step_result_is_rm(one), group = step_is_group(one);
  unsigned result = 10 + (to->place++ & 1u);
  if (step_reads_result(one)) result = 1 + to->chain++ % 9;
  if (step_result_is_mask(one)) result = 1;
  const unsigned reg = group ? one->extension : back ? 14 : result;
  const unsigned rm = one->memory ? (back ? 6 : 7) : (back ? result : 14);
  const unsigned third = one->third ? (group ? result : 12) : 0;
  const unsigned high = (unsigned)(reg < 8) << 7 | 1u << 6 | (unsigned)(rm < 8) << 5;
  unsigned opcode = one->opcode;
  if (one->map == 1 && (opcode == 0x2b || opcode == 0xe7))
    opcode = opcode == 0x2b ? 0x29 : 0x7f; /* not past the caches */
  if (one->evex) {
    *to->at++ = 0x62;
    *to->at++ = (unsigned char)(high | 1u << 4 | one->map);
    *to->at++ = (unsigned char)((unsigned)one->wide << 7 | (~third & 15u) << 3 | 4u | one->prefix);
    *to->at++ = (unsigned char)((unsigned)one->length << 5 | (unsigned)one->broadcast << 4 | 8u);
  } else {
    *to->at++ = 0xc4;
    *to->at++ = (unsigned char)(high | one->map);
    *to->at++ =
        (unsigned char)((unsigned)one->wide << 7 | (~third & 15u) << 3 | (unsigned)one->length << 2 | one->prefix);
  }
  *to->at++ = (unsigned char)opcode;
  *to->at++ = (unsigned char)((one->memory ? 0x40u : 0xc0u) | (reg & 7u) << 3 | (rm & 7u));
  if (one->memory) *to->at++ = (unsigned char)(one->evex ? to->place & 1u : (to->place & 1u) << 6);
  if (step_has_constant(one)) *to->at++ = 1;
}

/* The mix as `length` instructions, each as often as it is its turn, and a return. */
static void write_mix_(writer *to, const mix *all, int length) {
  static int64_t written[MIX_MOST];
  int64_t total = 0;
  memset(written, 0, sizeof written);
  for (int i = 0; i < all->used; i++) total += all->counts[i];
  for (int place = 1; place <= length; place++) {
    int next = 0;
    double most = -1e30;
    for (int i = 0; i < all->used; i++) {
      const double behind = (double)all->counts[i] * place / (double)total - (double)written[i];
      if (behind > most) most = behind, next = i;
    }
    written[next]++;
    if (next) {
      write_vector_(to, &all->steps[next]);
    } else {
      write_scalar_(to);
    }
  }
  *to->at++ = 0xc3;
}

static int64_t replay_now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

#if defined(__AVX512F__)
#define REPLAY_MASK , "k1" /* what comparisons write */
#else
#define REPLAY_MASK
#endif

/* Registers that are only read hold ones. What lies below the stack's end may be the compiler's, so the return address
 * goes further down. */
static void replay_once_(const unsigned char *code, float *loaded, float *stored) {
  __asm__ volatile(
      "vbroadcastss (%%rdi), %%ymm12\n"
      "vmovaps %%ymm12, %%ymm14\n"
      "lea -128(%%rsp), %%rsp\n"
      "call *%0\n"
      "lea 128(%%rsp), %%rsp\n"
      "vzeroupper\n"
      :
      : "r"(code), "D"(loaded), "S"(stored)
      : "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15" REPLAY_MASK);
}

static sigjmp_buf replay_refused_;
static void on_refusal_(int number) {
  (void)number;
  siglongjmp(replay_refused_, 1);
}

/* Nanoseconds of so many turns, in the best of some trials. */
static int64_t replay_least_(const unsigned char *code) {
  static float memory[4096] __attribute__((aligned(4096)));
  int64_t least = INT64_MAX;
  for (int i = 0; i < 4096; i++) memory[i] = 1.0f;
  /* Stores half a page from the loads: no load looks like one of what was just stored. */
  for (int trial = 0; trial < REPLAY_TRIALS; trial++) {
    const int64_t start = replay_now_();
    for (int turn = 0; turn < REPLAY_TURNS; turn++) replay_once_(code, memory, memory + 1024 + 512);
    const int64_t took = replay_now_() - start;
    if (took < least) least = took;
  }
  return least;
}

static double replay_made_ns_(const mix *all) {
  int64_t total = 0;
  for (int i = 0; i < all->used; i++) total += all->counts[i];
  unsigned char *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED || total == 0) return -1.0;
  writer to = {.at = code};
  write_mix_(&to, all, REPLAY_LENGTH);
  if (mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC)) return -1.0;
  return (double)replay_least_(code) * (double)total / (REPLAY_LENGTH * REPLAY_TURNS);
}

/* Nanoseconds of the whole mix; below 0 where its code cannot be made, or the processor refuses it. Work on bits leaves
 * any bits in registers: subnormal numbers are taken as 0, for arithmetic on them costs a hundred times as much. */
static double replay_ns(const mix *all) {
  enum { FLUSH = 0x8000, ZEROS = 0x40 };
  _mm_setcsr(_mm_getcsr() | FLUSH | ZEROS);
  (void)signal(SIGILL, on_refusal_);
  return sigsetjmp(replay_refused_, 1) ? -1.0 : replay_made_ns_(all);
}

#endif
