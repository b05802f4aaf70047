/* SPDX-License-Identifier: Apache-2.0
 * What the kernels take for granted: element types, 16-byte units, the shape of a kernel.
 *
 * No header of a toolkit is needed, so that run-time compilation needs none either. With ACLPY_TWIN the same text is
 * C++ for the host: the includer brings the thread hierarchy (tests/cuda/twin.h).
 */
#ifndef ACLPY_CUDA_PORTABLE_H
#define ACLPY_CUDA_PORTABLE_H

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;
using u16 = unsigned short;
using u8 = unsigned char;

constexpr int ACLPY_LANES = 32, ACLPY_VECTOR = 16;

/* Whom a program is compiled for: 75, 80, ... Compilers need different numbers of registers for the same text. */
#ifdef __CUDA_ARCH__
constexpr int ACLPY_CARD = __CUDA_ARCH__ / 10;
#else
constexpr int ACLPY_CARD = 90;
#endif

#ifndef ACLPY_TWIN
#define ACLPY_INFINITY __int_as_float(0x7f800000)
/* A kernel takes one structure by value. `...`: the most threads of a block, and how many blocks a multiprocessor
 * shall hold: 0, as many as the compiler thinks best; fewer where it would spill registers for more. */
#define ACLPY_GLOBAL(name, Args, ...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const Args a)
#endif

#define ACLPY_JOIN_(a, b) a##_##b
#define ACLPY_JOIN(a, b) ACLPY_JOIN_(a, b)
/* softmax_block -> softmax_block_f32 */
#define ACLPY_NAME(kernel) ACLPY_JOIN(kernel, ACLPY_T)

__device__ inline u32 bits_of(float x) {
#ifdef ACLPY_TWIN
  return twin::bits_of(x);
#else
  return __float_as_uint(x);
#endif
}
__device__ inline float from_bits(u32 x) {
#ifdef ACLPY_TWIN
  return twin::from_bits(x);
#else
  return __uint_as_float(x);
#endif
}

__device__ inline u64 bits_of(double x) {
#ifdef ACLPY_TWIN
  return twin::bits_of(x);
#else
  return (u64)__double_as_longlong(x);
#endif
}
__device__ inline double from_bits(u64 x) {
#ifdef ACLPY_TWIN
  return twin::from_bits((uint64_t)x);
#else
  return __longlong_as_double((long long)x);
#endif
}

/* 16 bytes as they lie in memory. */
struct alignas(ACLPY_VECTOR) Word4 {
  u32 at[4];
};

/* An element type. load, store: one element; unpack, pack: 16 bytes of them; put, take: one of those, as it lies in
 * memory; lowest: word k of 16 bytes of -inf; top, where there are PAIRS: the larger of two words' elements.
 * EXACT: whether products of two are exact in Real. TINY: whether results below the normal floats count.
 * WIDE: whether Real has no more bytes than what is stored. */
struct f32 {
  using Stored = float;
  using Real = float;
  static constexpr bool EXACT = false, TINY = true, PAIRS = false, WIDE = true;
  __device__ static Real load(Stored x) { return x; }
  __device__ static Stored store(Real x) { return x; }
  __device__ static u32 lowest(int) { return 0xff800000u; }
  __device__ static void put(Word4 &w, int k, Stored x) { w.at[k] = bits_of(x); }
  __device__ static Stored take(const Word4 &w, int k) { return from_bits(w.at[k]); }
  __device__ static void unpack(const Word4 &w, Real *v) {
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = from_bits(w.at[k]);
  }
  __device__ static Word4 pack(const Real *v) { return {{bits_of(v[0]), bits_of(v[1]), bits_of(v[2]), bits_of(v[3])}}; }
};

struct f64 {
  using Stored = double;
  using Real = double;
  static constexpr bool EXACT = false, TINY = true, PAIRS = false, WIDE = true;
  __device__ static Real load(Stored x) { return x; }
  __device__ static Stored store(Real x) { return x; }
  __device__ static u32 lowest(int k) { return k % 2 == 0 ? 0u : 0xfff00000u; }
  __device__ static void put(Word4 &w, int k, Stored x) {
    w.at[2 * k] = (u32)bits_of(x);
    w.at[2 * k + 1] = (u32)(bits_of(x) >> 32);
  }
  __device__ static Stored take(const Word4 &w, int k) {
    return from_bits((u64)w.at[2 * k + 1] << 32 | (u64)w.at[2 * k]);
  }
  __device__ static void unpack(const Word4 &w, Real *v) {
    v[0] = take(w, 0);
    v[1] = take(w, 1);
  }
  __device__ static Word4 pack(const Real *v) {
    Word4 w;
    put(w, 0, v[0]);
    put(w, 1, v[1]);
    return w;
  }
};

/* What types of two bytes share. */
struct Halves {
  using Stored = u16;
  using Real = float;
  static constexpr bool EXACT = true, WIDE = false;
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
  static constexpr bool PAIRS = true;
#else
  static constexpr bool PAIRS = false;
#endif
  __device__ static void put(Word4 &w, int k, Stored x) {
    u32 &word = w.at[k / 2];
    word = k % 2 == 0 ? (word & 0xffff0000u) | (u32)x : (word & 0xffffu) | (u32)x << 16;
  }
  __device__ static Stored take(const Word4 &w, int k) { return (Stored)(w.at[k / 2] >> (k % 2 * 16)); }
};

struct f16 : Halves {
  static constexpr bool TINY = false;
  __device__ static u32 lowest(int) { return 0xfc00fc00u; }
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
  __device__ static u32 top(u32 a, u32 b) {
    u32 most;
    asm("max.f16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
  }
#endif
#ifdef ACLPY_TWIN
  static Real load(Stored x) { return twin::half_to_float(x); }
  static Stored store(Real x) { return twin::float_to_half(x); }
#else
  __device__ static Real load(Stored x) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x));
    return wide;
  }
  __device__ static Stored store(Real x) {
    u16 narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    return narrow;
  }
#endif
  __device__ static void unpack(const Word4 &w, Real *v) {
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = load(take(w, k));
  }
  __device__ static u32 pair(Real low, Real high) {
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
    u32 both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return (u32)store(low) | (u32)store(high) << 16;
#endif
  }
  __device__ static Word4 pack(const Real *v) {
    return {{pair(v[0], v[1]), pair(v[2], v[3]), pair(v[4], v[5]), pair(v[6], v[7])}};
  }
};

struct bf16 : Halves {
  static constexpr bool TINY = true;
  __device__ static u32 lowest(int) { return 0xff80ff80u; }
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
  __device__ static u32 top(u32 a, u32 b) {
    u32 most;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
  }
#endif
  __device__ static Real load(Stored x) { return from_bits((u32)x << 16); }
  /* Nearest even, on the bits: cards before sm_80 have no instruction for it. */
  __device__ static Stored store(Real x) {
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
    u16 narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    return narrow;
#else
    const u32 bits = bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
  }
  __device__ static void unpack(const Word4 &w, Real *v) {
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = from_bits(k % 2 == 0 ? w.at[k / 2] << 16 : w.at[k / 2] & 0xffff0000u);
  }
  __device__ static u32 pair(Real low, Real high) {
#if !defined(ACLPY_TWIN) && __CUDA_ARCH__ >= 800
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return (u32)store(low) | (u32)store(high) << 16;
#endif
  }
  __device__ static Word4 pack(const Real *v) {
    return {{pair(v[0], v[1]), pair(v[2], v[3]), pair(v[4], v[5]), pair(v[6], v[7])}};
  }
};

/* N elements that move as one where they lie aligned. */
template <class T, int N>
struct alignas((int)sizeof(T) * N < ACLPY_VECTOR ? (int)sizeof(T) * N : ACLPY_VECTOR) Pack {
  T at[N];
};

template <class T, int N>
__device__ inline bool lies_aligned(const T *p) {
  return (u64)p % alignof(Pack<T, N>) == 0;
}

/* Elements that a thread moves at once. */
template <class D>
struct Unit {
  enum { N = ACLPY_VECTOR / (int)sizeof(typename D::Stored) };
};

/* v = p[i, i + N), `fill` outside of [0, n). */
template <class D>
__device__ inline void load_unit(const typename D::Stored *p, i64 i, i64 n, typename D::Real fill,
                                 typename D::Real *v) {
  constexpr int N = Unit<D>::N;
  using Vector = Pack<typename D::Stored, N>;
  if (i >= 0 && i + N <= n && lies_aligned<typename D::Stored, N>(p + i)) {
    const Vector whole = *(const Vector *)(const void *)(p + i);
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = D::load(whole.at[k]);
  } else {
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = i + k >= 0 && i + k < n ? D::load(p[i + k]) : fill;
  }
}

/* Elements between the last 16-byte boundary and p: units of a row begin that much before it. 0 where the row would
 * not fit `room` elements that way. */
template <class D>
__device__ inline int lead_of(const typename D::Stored *p, i64 n, i64 room) {
  const int lead = (int)((u64)p % ACLPY_VECTOR / sizeof(typename D::Stored));
  return n + lead <= room ? lead : 0;
}

#endif
