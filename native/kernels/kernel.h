/* SPDX-License-Identifier: Apache-2.0
 * What a compute kernel is: a pure function over ranges of work items, found by (name, dtype, allowed ISAs).
 *
 * A kernel knows nothing of threads, streams or Python. `plan` says, from the parameters alone, how the work
 * splits; `run` does items [begin, end) of one pass. Passes run one after another with a barrier between, all of them
 * once for each round.
 * The split may depend on the parameters, never on the number of threads, so results are the same bits for
 * any thread count.
 *
 * A plan may run several steps block by block, so that what lies between them stays in the caches. A kernel takes
 * part where its `plan` sets `order`: then params[0] counts rows (or elements), a block of rows has the same params
 * with a smaller params[0], and the addresses of its first row. Copies are cut by their own parameters.
 */
#ifndef ACLPY_KERNEL_H
#define ACLPY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { ACLPY_MAX_ARGS = 6, ACLPY_MAX_PASSES = 4, ACLPY_MAX_PARAMS = 96 };

/* Bits of an ISA mask. One per folder of compiled kernels. */
enum {
  ACLPY_ISA_BASELINE = 1u << 0, /* x86-64: SSE2; arm64: NEON is the baseline; elsewhere plain C */
  ACLPY_ISA_AVX2 = 1u << 1,     /* AVX2 + FMA + F16C */
  ACLPY_ISA_AVX512 = 1u << 2    /* AVX-512 F, BW, DQ, VL */
};

typedef struct aclpy_kernel_args {
  unsigned char *addr[ACLPY_MAX_ARGS]; /* inputs first, then outputs; exact start of element 0 of each view */
  unsigned char *scratch;              /* shape.scratch_bytes, shared by all passes of this launch */
  const int64_t *params;
  int64_t parts; /* this launch is one of so many parts of a problem: sizes count times that where a kernel decides
                    whether to write past the caches; 0 and 1: it is the whole */
} aclpy_kernel_args;

typedef struct aclpy_kernel_shape {
  int32_t passes;
  int32_t rounds; /* 0: one. `run` is given round * passes + pass; in the last round some items may be nothing to do */
  int64_t items[ACLPY_MAX_PASSES];
  int64_t grain[ACLPY_MAX_PASSES]; /* fewest items worth giving to a thread of its own */
  int32_t at_once;                 /* fewer items than this in a `run` cost more each; 0: any number is as good */
  int64_t scratch_bytes;           /* shared between passes; small: partial results only */
  int64_t thread_scratch_bytes;    /* private to each thread for the time of one `run` */
  double cost_ns;                  /* rough one-thread cost of the whole launch */
  int32_t order; /* launches of one order give a row the same bits, however many rows they do; 0: never cut */
} aclpy_kernel_shape;

typedef void (*aclpy_kernel_run)(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end,
                                 void *thread_scratch);
/* Returns 0, or -1 where the parameters make no sense (wrong count, negative size, overflow) or the kernel, which is
 * then one that stands for others, does not do problems of that size. */
typedef int32_t (*aclpy_kernel_plan)(const int64_t *params, int32_t n_params, aclpy_kernel_shape *shape);

typedef struct aclpy_kernel {
  const char *name;  /* "softmax" */
  const char *dtype; /* "f32"; "f32_f16" for a cast */
  const char *isa;   /* "baseline", "avx2", "avx512" */
  aclpy_kernel_run run;
  aclpy_kernel_plan plan;
} aclpy_kernel;

/* The best kernel for this machine among the allowed ISAs, or NULL. */
const aclpy_kernel *aclpy_kernel_find(const char *name, const char *dtype, uint32_t allowed_isas);
/* Every kernel compiled in, for tests: index from 0, NULL past the end. */
const aclpy_kernel *aclpy_kernel_at(size_t index);
/* ISAs this processor can run. */
uint32_t aclpy_isa_supported(void);
/* ISA mask for a limit by name ("baseline", "avx2", "avx512"; "neon" = baseline of arm64); 0 for an unknown name. */
uint32_t aclpy_isa_mask(const char *limit);
/* Bytes of the caches of this machine (L2 of one core, our processors' share of the last level); never 0. */
int64_t aclpy_cache_bytes_l2(void);
int64_t aclpy_cache_bytes_last_level(void);
/* For tests: as if the last level had so many bytes; 0: as found. Plans made before expect what they found then. */
void aclpy_cache_set_last_level(int64_t bytes);
/* What kind of core this is, where that decides the order of a kernel's work. On AMD's family 19h (Zen 3 and 4) lines
 * that are read and lines that are written past the caches in turn, and software prefetches between, cost a third of
 * the memory's speed. On family 1Ah (measured on Zen 5) that is so in short rows of one thread, and not so that it
 * would hurt several; 16-bit gradients go past the caches from half of the last level on. Tests choose; below 0: as
 * found. */
enum { ACLPY_CORE_ANY = 0, ACLPY_CORE_ZEN_3, ACLPY_CORE_ZEN_5, ACLPY_CORES };
int aclpy_core_kind(void);
void aclpy_core_set_kind(int kind);
/* Whether kernels for AVX-512 round to bfloat16 by the processor's own instruction. Tests choose, before any kernel
 * runs on another thread; below 0: as found. */
void aclpy_core_set_bf16(int rounds);
/* The same of whether they turn floats into bytes by sums (simd/fixed_bytes.h), which takes AVX-512-VBMI. */
void aclpy_core_set_vbmi(int can);

#endif
