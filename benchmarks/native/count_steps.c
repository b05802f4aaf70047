/* SPDX-License-Identifier: Apache-2.0
 * Counts the instructions of a kernel by running it one instruction at a time: with the processor's trap flag set,
 * every instruction ends in a signal, whose handler looks at the next one (x86-64, Linux).
 *
 *   count_steps <kernel> <dtype> <isa> <inputs> <outer> <n> <inner>
 * prints: all instructions, vector arithmetic as slots of 32 bytes, vector moves, and how many nanoseconds the same
 * instructions take where none waits for another (replay.h); start-up excluded.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "kernel.h"
#include "replay.h"

typedef struct counts {
  int64_t all;
  int64_t slots; /* vector arithmetic: 1 for up to 32 bytes, 2 for 64 */
  int64_t moves; /* vector loads, stores and copies */
  mix mix;
} counts;

static size_t item_bytes_(const char *dtype) {
  if (!strcmp(dtype, "f64")) return 8;
  return strcmp(dtype, "f32") ? 2 : 4;
}

/* Half of a number from 2^-14 to 2^15, its lower bits cut off. */
static uint16_t half_(uint32_t bits) {
  return (uint16_t)((bits >> 16 & 0x8000u) | (((bits >> 13) & 0x3ffffu) - ((127u - 15u) << 10)));
}

/* Numbers from `least` on, less than `most`. */
static void fill_(unsigned char *at, const char *dtype, int64_t elements, float least, float most) {
  for (int64_t i = 0; i < elements; i++) {
    const float value = least + (most - least) * 0.001f * (float)(i * 37 % 1000 + 1);
    const double wide = value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t half = strcmp(dtype, "bf16") ? half_(bits) : (uint16_t)(bits >> 16);
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

static void count_(const unsigned char *instruction, counts *total) {
  step one;
  const step_kind kind = step_decode(instruction, &one);
  total->all++;
  mix_add(&total->mix, kind, &one);
  if (kind != STEP_VECTOR) return; /* legacy encodings, too: SSE, whose bound is not asked for */
  if (step_is_move(&one)) total->moves++;
  if (!step_is_move(&one)) total->slots += one.length == 2 ? 2 : 1;
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
  count_((const unsigned char *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP], &total_);
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
    /* The second input of a gradient: probabilities, or their logarithms, which kernels work on in a way of their own.
     */
    const int logs = i == 1 && !strncmp(argv[1], "log", 3);
    if (i < inputs) fill_(args.addr[i], argv[2], elements, logs ? -10.0f : 0.0f, logs ? -5.0f : 1.0f);
  }
  void *own = memory_(shape.thread_scratch_bytes);
  const struct sigaction action = {.sa_sigaction = on_step_, .sa_flags = SA_SIGINFO};
  if (!own || !args.scratch || sigaction(SIGTRAP, &action, NULL)) return 4;
  trap_from_here_();
  for (int32_t pass = 0; pass < shape.passes * (shape.rounds > 1 ? shape.rounds : 1); pass++) {
    kernel->run(&args, pass, 0, shape.items[pass % shape.passes], own);
  }
  counting_ = 0;
  printf("%" PRId64 " %" PRId64 " %" PRId64 " %.1f\n", total_.all, total_.slots, total_.moves, replay_ns(&total_.mix));
  return 0;
}
