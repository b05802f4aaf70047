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

struct f32 {
  using Stored = float;
  using Real = float;
  __device__ static Real load(Stored x) { return x; }
  __device__ static Stored store(Real x) { return x; }
};

struct f64 {
  using Stored = double;
  using Real = double;
  __device__ static Real load(Stored x) { return x; }
  __device__ static Stored store(Real x) { return x; }
};

struct f16 {
  using Stored = u16;
  using Real = float;
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
};

struct bf16 {
  using Stored = u16;
  using Real = float;
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

template <class D>
__device__ inline void store_unit(typename D::Stored *p, i64 i, i64 n, const typename D::Real *v) {
  constexpr int N = Unit<D>::N;
  using Vector = Pack<typename D::Stored, N>;
  if (i >= 0 && i + N <= n && lies_aligned<typename D::Stored, N>(p + i)) {
    Vector whole;
#pragma unroll
    for (int k = 0; k < N; ++k) whole.at[k] = D::store(v[k]);
    *(Vector *)(void *)(p + i) = whole;
  } else {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (i + k >= 0 && i + k < n) p[i + k] = D::store(v[k]);
    }
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
