/* SPDX-License-Identifier: Apache-2.0
 * Counts the instructions of a kernel by running it one instruction at a time: with the processor's trap flag set,
 * every instruction ends in a signal, whose handler looks at the next one (x86-64, Linux).
 *
 *   count_steps <kernel> <dtype> <isa> <inputs> <outer> <n> <inner>
 * prints: all instructions, vector arithmetic as slots of 32 bytes, vector moves, then how many there were of each kind
 * of work_kinds.h; start-up excluded.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "kernel.h"
#include "work_kinds.h"

typedef struct counts {
  int64_t all;
  int64_t slots; /* vector arithmetic: 1 for up to 32 bytes, 2 for 64 */
  int64_t moves; /* vector loads, stores and copies */
  int64_t kinds[WORK_KINDS];
} counts;

static size_t item_bytes_(const char *dtype) {
  if (!strcmp(dtype, "f64")) return 8;
  return strcmp(dtype, "f32") ? 2 : 4;
}

static void fill_(unsigned char *at, const char *dtype, int64_t elements) {
  for (int64_t i = 0; i < elements; i++) {
    const float value = 0.001f * (float)(i * 37 % 1000);
    const double wide = value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t half = (uint16_t)(strcmp(dtype, "bf16") ? 0x3000 + i * 37 % 0x400 : bits >> 16);
    if (item_bytes_(dtype) == 8) memcpy(at + 8 * i, &wide, 8);
    if (item_bytes_(dtype) == 4) memcpy(at + 4 * i, &value, 4);
    if (item_bytes_(dtype) == 2) memcpy(at + 2 * i, &half, 2);
  }
}

static unsigned char *memory_(int64_t bytes) {
  unsigned char *memory = aligned_alloc(4096, ((size_t)bytes + 8191) / 4096 * 4096);
  if (memory) memset(memory, 0, ((size_t)bytes + 8191) / 4096 * 4096);
  return memory;
}

/* Opcodes of the first map that only move: (un)aligned and non-temporal loads, stores, register copies. */
static int is_move_(unsigned map, unsigned char opcode) {
  static const unsigned char moves[] = {0x10, 0x11, 0x28, 0x29, 0x2b, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xe7};
  return map == 1 && memchr(moves, opcode, sizeof moves) != NULL;
}

/* Multiplications of the first map; multiply-adds of the second are 96 to 9f, a6 to af and b6 to bf. */
static int multiplies_(unsigned map, unsigned char opcode) {
  return (map == 1 && opcode == 0x59) || (map == 2 && opcode >= 0x96 && opcode <= 0xbf && (opcode & 0xf) >= 6);
}
/* Additions, subtractions, the least and the largest. */
static int adds_(unsigned map, unsigned char opcode) {
  return map == 1 && (opcode == 0x58 || opcode == 0x5c || opcode == 0x5d || opcode == 0x5f);
}

/* The kind of 64-byte arithmetic with this opcode, -1: another; `modrm` tells whether its operand lies in memory. */
static int kind_(unsigned map, unsigned char opcode, unsigned char modrm) {
  const int memory = modrm < 0xc0;
  if (multiplies_(map, opcode)) return WORK_MULTIPLY;
  if (adds_(map, opcode)) return WORK_ADD;
  if (map == 2 && opcode == 0x13) return memory ? WORK_HALF_TO_FLOAT_MEMORY : WORK_HALF_TO_FLOAT;
  if (map == 3 && opcode == 0x1d && !memory) return WORK_FLOAT_TO_HALF;
  if (map == 1 && opcode == 0x5a) return memory ? WORK_FLOAT_TO_DOUBLE_MEMORY : WORK_FLOAT_TO_DOUBLE;
  if (map == 2 && opcode == 0x72) return WORK_FLOATS_TO_BFLOAT;
  if (map == 2 && opcode == 0x2c) return WORK_SCALE;
  return map == 2 && opcode == 0x8d ? WORK_PERMUTE_WORDS : -1;
}

static void classify_(uint64_t word, counts *total) {
  const unsigned char *byte = (const unsigned char *)&word;
  unsigned map = 0, wide = 0;
  unsigned char opcode = 0;
  int kind = -1;
  total->all++;
  if (byte[0] == 0x62) { /* EVEX: 62 P0 P1 P2 opcode */
    map = byte[1] & 7u;
    wide = (byte[3] >> 5 & 3u) == 2;
    opcode = byte[4];
    if (wide) kind = kind_(map, opcode, byte[5]);
  } else if (byte[0] == 0xc5) { /* VEX, two bytes */
    map = 1;
    opcode = byte[2];
  } else if (byte[0] == 0xc4) { /* VEX, three bytes */
    map = byte[1] & 31u;
    opcode = byte[3];
  } else {
    return; /* legacy encodings: scalar and address arithmetic, and SSE, whose bound is not asked for */
  }
  if (map == 1 && opcode == 0x77) return; /* vzeroupper */
  if (is_move_(map, opcode))
    total->moves++;
  else
    total->slots += wide ? 2 : 1;
  if (kind >= 0) total->kinds[kind]++;
}

static counts total_;
static volatile sig_atomic_t counting_;
enum { TRAP_FLAG = 0x100 };

static void on_step_(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  ucontext_t *at = context;
  if (!counting_) {
    at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    return;
  }
  uint64_t word;
  memcpy(&word, (const void *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP], sizeof word);
  classify_(word, &total_);
}

static void trap_from_here_(void) {
  counting_ = 1;
  uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(flags | TRAP_FLAG);
}

int main(int argc, char **argv) {
  if (argc != 8) return 2;
  const aclpy_kernel *kernel = aclpy_kernel_find(argv[1], argv[2], aclpy_isa_mask(argv[3]));
  const int inputs = atoi(argv[4]);
  const int64_t params[3] = {atoll(argv[5]), atoll(argv[6]), atoll(argv[7])};
  const int64_t elements = params[0] * params[1] * params[2];
  aclpy_kernel_shape shape;
  memset(&shape, 0, sizeof shape);
  if (!kernel || inputs < 1 || inputs > 2 || kernel->plan(params, 3, &shape)) return 3;
  aclpy_kernel_args args = {.params = params, .scratch = memory_(shape.scratch_bytes)};
  for (int i = 0; i <= inputs; i++) {
    args.addr[i] = memory_(elements * (int64_t)item_bytes_(argv[2]));
    if (!args.addr[i]) return 3;
    if (i < inputs) fill_(args.addr[i], argv[2], elements);
  }
  void *own = memory_(shape.thread_scratch_bytes);
  const struct sigaction action = {.sa_sigaction = on_step_, .sa_flags = SA_SIGINFO};
  if (!own || !args.scratch || sigaction(SIGTRAP, &action, NULL)) return 4;
  trap_from_here_();
  for (int32_t pass = 0; pass < shape.passes * (shape.rounds > 1 ? shape.rounds : 1); pass++) {
    kernel->run(&args, pass, 0, shape.items[pass % shape.passes], own);
  }
  counting_ = 0;
  printf("%" PRId64 " %" PRId64 " %" PRId64, total_.all, total_.slots, total_.moves);
  for (int k = 0; k < WORK_KINDS; k++) printf(" %" PRId64, total_.kinds[k]);
  printf("\n");
  return 0;
}
