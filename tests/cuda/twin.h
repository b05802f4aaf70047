/* SPDX-License-Identifier: Apache-2.0
 * The thread hierarchy on the host, as far as the kernels of native/cuda use it.
 *
 * Blocks run one after another. The threads of a block are fibers that run until they meet a barrier; one warp runs
 * ahead of the others as far as barriers of the block let it, the first or the last as the caller chooses: a kernel
 * that lacks a barrier gives different results. A barrier that some threads never reach ends the launch with an error.
 */
#ifndef ACLPY_TESTS_TWIN_H
#define ACLPY_TESTS_TWIN_H

#include <cmath>
#include <cstdint>
#include <cstring>

using std::isfinite;

#define ACLPY_TWIN 1
#define ACLPY_INFINITY __builtin_inff()
#define __device__
#define __shared__ static
#define ACLPY_GLOBAL(name, Args, ...) ACLPY_TWIN_GLOBAL(name, Args, __VA_ARGS__, 0)
/* Exported beside each kernel: the most threads that it is compiled for. */
#define ACLPY_TWIN_GLOBAL(name, Args, threads, ...)                                         \
  static void name##_body(const Args &a);                                                   \
  extern "C" void name(const void *args) { name##_body(*static_cast<const Args *>(args)); } \
  extern "C" {                                                                              \
  extern const unsigned name##_threads;                                                     \
  const unsigned name##_threads = threads;                                                  \
  }                                                                                         \
  static void name##_body(const Args &a)

namespace twin {

struct Position {
  unsigned x = 0;
};
extern Position thread, block, threads_of_block, blocks_of_grid;

enum class Barrier { none, warp, block };
/* Parks this thread until all of its warp, or of its block, are here. */
void meet(Barrier barrier);
/* What the thread of this warp with that lane handed in at the same barrier. */
uint64_t exchange(uint64_t mine, unsigned lane);

/* Shared memory that the launch has asked for. */
void *shared_memory();
/* A copy that is not made before this thread waits for it: until then what is there is spoiled. */
void fetch(void *to, const void *from, size_t bytes);
void wait_fetches();

inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double from_bits(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16, rest = half & 0x7fffu;
  if (rest >= 0x7c00u) return from_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  const float magnitude =
      rest < 0x400u ? std::ldexp(static_cast<float>(rest), -24) : from_bits((rest << 13) + (112u << 23));
  return from_bits(sign | bits_of(magnitude));
}

/* Nearest even, by arithmetic that rounds so itself. */
inline uint16_t float_to_half(float x) {
  const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) { /* 65520 and above */
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) { /* below 2^-14: units of 2^-24 */
    half = bits_of(from_bits(magnitude) + 0.5f) - bits_of(0.5f);
  } else {
    half = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

template <class T>
T shuffle_xor(T x, int mask) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "one word a lane");
  uint64_t word = 0;
  std::memcpy(&word, &x, sizeof x);
  word = exchange(word, (thread.x % 32u) ^ static_cast<unsigned>(mask));
  std::memcpy(&x, &word, sizeof x);
  return x;
}

}  // namespace twin

#define threadIdx twin::thread
#define blockIdx twin::block
#define blockDim twin::threads_of_block
#define gridDim twin::blocks_of_grid
#define __syncthreads() twin::meet(twin::Barrier::block)
#define __shfl_xor_sync(lanes, x, mask) twin::shuffle_xor(x, mask)

#endif
