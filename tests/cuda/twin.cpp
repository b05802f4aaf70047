/* SPDX-License-Identifier: Apache-2.0
 * The kernels of native/cuda as host code, and the scheduler that launches them.
 */
#include "twin.h"

#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <vector>

namespace twin {

Position thread, block, threads_of_block, blocks_of_grid;

namespace {

enum { STACK_BYTES = 256 << 10, LANES = 32 };

struct Fetch {
  void *to;
  const void *from;
  size_t bytes;
};

struct Fiber {
  ucontext_t context; /* where it begins */
  jmp_buf place;      /* where it goes on: a jump makes no system call */
  std::unique_ptr<char[]> stack;
  Barrier waits = Barrier::none;
  bool begun = false, done = false;
  uint64_t word = 0; /* for its warp */
  std::vector<Fetch> fetches;
};

std::vector<Fiber> fibers;
std::unique_ptr<char[]> shared; /* of the block */
enum { SPOILED = 0xff /* NaN in every type */ };
jmp_buf scheduler;
void (*kernel)(const void *);
const void *arguments;

/* Back to the scheduler, until it comes here again. */
void park(Fiber &me) {
  if (_setjmp(me.place) == 0) _longjmp(scheduler, 1);
}

void go_on(Fiber &fiber) {
  if (_setjmp(scheduler) != 0) return;
  if (fiber.begun) _longjmp(fiber.place, 1);
  fiber.begun = true;
  setcontext(&fiber.context);
}

void body() {
  kernel(arguments);
  Fiber &me = fibers[thread.x];
  me.done = true;
  park(me);
}

/* Opens a barrier where each of `count` fibers from `first` on has come to it. */
bool open(size_t first, size_t count, Barrier barrier) {
  for (size_t i = first; i < first + count; ++i) {
    if (fibers[i].done || fibers[i].waits != barrier) return false;
  }
  for (size_t i = first; i < first + count; ++i) fibers[i].waits = Barrier::none;
  return true;
}

void start(size_t i) {
  Fiber &fiber = fibers[i];
  fiber.waits = Barrier::none;
  fiber.begun = fiber.done = false;
  fiber.fetches.clear();
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = STACK_BYTES;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, body, 0);
}

/* Runs a warp until all its threads have ended or wait for other warps. Whether any has moved. */
bool run_warp(size_t first, bool backwards) {
  bool moved = false;
  do {
    for (size_t k = 0; k < LANES; ++k) {
      const size_t i = first + (backwards ? LANES - 1 - k : k);
      Fiber &fiber = fibers[i];
      if (fiber.done || fiber.waits != Barrier::none) continue;
      thread.x = static_cast<unsigned>(i);
      go_on(fiber);
      moved = true;
    }
  } while (open(first, LANES, Barrier::warp));
  return moved;
}

/* One warp runs ahead of the others as far as the barriers let it. 0, or -1 where threads wait for others that have
 * ended or wait elsewhere. */
int run_block(bool backwards) {
  const size_t count = threads_of_block.x;
  for (size_t i = 0; i < count; ++i) start(i);
  for (;;) {
    bool moved = false;
    for (size_t k = 0; k < count; k += LANES) moved |= run_warp(backwards ? count - LANES - k : k, backwards);
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) done += fibers[i].done;
    if (done == count) return 0;
    moved |= open(0, count, Barrier::block);
    if (!moved) return -1;
  }
}

}  // namespace

void meet(Barrier barrier) {
  Fiber &me = fibers[thread.x];
  me.waits = barrier;
  park(me);
}

uint64_t exchange(uint64_t mine, unsigned lane) {
  const unsigned self = thread.x;
  fibers[self].word = mine;
  meet(Barrier::warp);
  const uint64_t theirs = fibers[self / LANES * LANES + lane].word;
  meet(Barrier::warp); /* before anyone hands in the next */
  return theirs;
}

void *shared_memory() { return shared.get(); }

void fetch(void *to, const void *from, size_t bytes) {
  std::memset(to, SPOILED, bytes);
  fibers[thread.x].fetches.push_back({to, from, bytes});
}

void wait_fetches() {
  for (const Fetch &one : fibers[thread.x].fetches) std::memcpy(one.to, one.from, one.bytes);
  fibers[thread.x].fetches.clear();
}

}  // namespace twin

/* Runs `fn` on blocks [first, first + count) of a grid, with `bytes` of shared memory. 0; -1: a barrier was not reached
 * by all; -2: blocks of whole warps only. */
extern "C" int twin_launch(void (*fn)(const void *), const void *args, unsigned grid, unsigned threads, unsigned bytes,
                           unsigned first, unsigned count, int backwards) {
  using namespace twin;
  if (threads == 0 || threads % LANES != 0 || threads > 1024) return -2;
  while (fibers.size() < threads) {
    fibers.emplace_back();
    fibers.back().stack.reset(new char[STACK_BYTES]);
  }
  kernel = fn;
  arguments = args;
  threads_of_block.x = threads;
  blocks_of_grid.x = grid;
  for (unsigned i = 0; i < count; ++i) {
    block.x = first + (backwards ? count - 1 - i : i);
    shared.reset(new char[bytes]); /* so that a sanitizer knows its end */
    std::memset(shared.get(), SPOILED, bytes);
    if (run_block(backwards != 0) != 0) return -1;
  }
  return 0;
}

/* For a test of the twin itself: the last thread never comes to the barrier. */
extern "C" void twin_broken(const void *) {
  if (threadIdx.x != blockDim.x - 1) __syncthreads();
}
/* And one whose result depends on the order of threads, for want of a barrier. */
extern "C" void twin_racing(const void *args) {
  int *shared = *static_cast<int *const *>(args);
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  shared[blockDim.x + threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

#include "copy_strided.cu"
#include "post_ops.cu"
#include "softmax_fused.cu"

/* The same text once a dtype. */

#define ACLPY_T f32
#include "instance.h"
#undef ACLPY_T
#define ACLPY_T f16
#include "instance.h"
#undef ACLPY_T
#define ACLPY_T bf16
#include "instance.h"
#undef ACLPY_T
#define ACLPY_T f64
#include "instance.h"
