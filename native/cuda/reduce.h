/* SPDX-License-Identifier: Apache-2.0
 * Sums and maxima of threads, warps and blocks, always in the same order.
 *
 * A thread adds float32 in two parts, as good as double without its cost on cards that have little of it. Between
 * threads double is added: few additions, whose order then hardly shows.
 */
#ifndef ACLPY_CUDA_REDUCE_H
#define ACLPY_CUDA_REDUCE_H

#include "exponential.h"

template <class Real>
struct Sum;

template <>
struct Sum<float> {
  float high = 0, low = 0;
  __device__ void add(float x) {
    const float s = high + x, of_x = s - high, of_high = s - of_x;
    low += (high - of_high) + (x - of_x);
    high = s;
  }
  template <bool EXACT>
  __device__ void add_product(float x, float y) {
    const float p = x * y;
    if (!EXACT) low += fmaf(x, y, -p);
    add(p);
  }
  /* An infinity has no meaningful low part. */
  __device__ double value() const { return isfinite(high) ? (double)high + (double)low : (double)high; }
};

template <>
struct Sum<double> {
  double high = 0;
  __device__ void add(double x) { high += x; }
  template <bool EXACT>
  __device__ void add_product(double x, double y) {
    high = fma(x, y, high);
  }
  __device__ double value() const { return high; }
};

/* A sum of exponentials, of at most 1 each: it begins at 2, so that it is the larger one in every addition, which then
 * has a simpler error. */
template <class Real>
struct PowerSum;

template <>
struct PowerSum<float> {
  float high = 2, low = 0;
  __device__ void add(float x) {
    const float s = high + x;
    low += x - (s - high);
    high = s;
  }
  __device__ double value() const { return ((double)high - 2.0) + (double)low; }
};

template <>
struct PowerSum<double> {
  double high = 0;
  __device__ void add(double x) { high += x; }
  __device__ double value() const { return high; }
};
/* COUNT exponentials; those of types of two bytes in pairs, which takes one rounding more. */
template <class D, int COUNT>
__device__ inline void add_powers(PowerSum<typename D::Real> &s, const typename D::Real *e) {
#pragma unroll
  for (int k = 0; k < COUNT; k += D::WIDE ? 1 : 2) s.add(D::WIDE ? e[k] : e[k] + e[k + 1]);
}

__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }
__device__ inline float exp_of(float x) { return expf(x); }
/* Below 2^-126: 0. */
__device__ inline float exp2_approximately(float x) {
#ifdef ACLPY_TWIN
  return exp2f(x);
#else
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#endif
}

/* exp of what is at most 0, for results of the type D. What is stored in two bytes needs no more than 2^-17 of it (of
 * bfloat16's least results; float16's have 2^-20). */
template <class D>
__device__ inline float exp_below(float x) {
  if constexpr (D::WIDE) {
    return expf(x);
  } else {
    /* A square, so that nothing is flushed before the last step; float16 has no results that small. */
    const float power = exp2_approximately(x * (D::TINY ? 0.721347521f : 1.44269504f));
    return D::TINY ? power * power : power;
  }
}
template <class D>
__device__ inline double exp_below(double x) {
  return exp_of(x);
}

/* A sum (at least 1) as what a row is multiplied with, or what is subtracted from it. */
__device__ inline float factor_of(double sum, bool logarithm, float) {
  const float high = (float)sum;
  if (!logarithm) return 1.0f / high;
  const float low = isfinite(high) ? (float)(sum - (double)high) : 0.0f;
  return logf(high) + low / high; /* the argument may be 1 + little */
}
__device__ inline double factor_of(double sum, bool logarithm, double) { return logarithm ? log(sum) : 1.0 / sum; }

template <class Real>
__device__ inline Real warp_max(Real x) {
#pragma unroll
  for (int k = ACLPY_LANES / 2; k > 0; k /= 2) x = larger(x, __shfl_xor_sync(0xffffffffu, x, k));
  return x;
}
__device__ inline double warp_sum(double x) {
#pragma unroll
  for (int k = ACLPY_LANES / 2; k > 0; k /= 2) x += __shfl_xor_sync(0xffffffffu, x, k);
  return x;
}

/* Of a block of whole warps; every thread gets the result. */
template <class Real>
__device__ inline Real block_max(Real x) {
  __shared__ Real parts[ACLPY_LANES];
  const int lane = threadIdx.x % ACLPY_LANES, warps = blockDim.x / ACLPY_LANES;
  x = warp_max(x);
  __syncthreads(); /* the block may still read what an earlier call left */
  if (lane == 0) parts[threadIdx.x / ACLPY_LANES] = x;
  __syncthreads();
  return warp_max(parts[lane < warps ? lane : 0]);
}
__device__ inline double block_sum(double x) {
  __shared__ double parts[ACLPY_LANES];
  const int lane = threadIdx.x % ACLPY_LANES, warps = blockDim.x / ACLPY_LANES;
  x = warp_sum(x);
  __syncthreads();
  if (lane == 0) parts[threadIdx.x / ACLPY_LANES] = x;
  __syncthreads();
  return warp_sum(lane < warps ? parts[lane] : 0.0);
}

#endif
