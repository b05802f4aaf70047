/* SPDX-License-Identifier: Apache-2.0
 * Casts from float and double, element by element.
 *
 * To integers: truncate, saturate, NaN -> 0. To bool: x != 0 (NaN is true). To complex: imaginary part 0. Narrowing
 * floats: nearest even, in one rounding.
 */
#ifndef ACLPY_CUDA_CAST_H
#define ACLPY_CUDA_CAST_H

#include "float8.h"

struct Elements {
  const void *from;
  void *to;
  i64 n;
};

template <class Real>
struct Complex {
  Real real, imaginary;
};

template <class T>
struct Range;
#define RANGE_(type, low_, high_, most_)                  \
  template <>                                             \
  struct Range<type> {                                    \
    static constexpr double low = (low_), high = (high_); \
    static constexpr type most = (type)(most_);           \
  };
RANGE_(signed char, -128.0, 128.0, 127)
RANGE_(short, -32768.0, 32768.0, 32767)
RANGE_(int, -2147483648.0, 2147483648.0, 2147483647)
RANGE_(i64, -9223372036854775808.0, 9223372036854775808.0, 9223372036854775807LL)
RANGE_(u8, 0.0, 256.0, 255)
RANGE_(u16, 0.0, 65536.0, 65535)
RANGE_(u32, 0.0, 4294967296.0, 4294967295u)
RANGE_(u64, 0.0, 18446744073709551616.0, 18446744073709551615ull)
#undef RANGE_

/* Rounds to odd: a later rounding to a type with at least two bits less gives what one rounding would have given. */
__device__ inline float narrowed(double x) {
  const float nearest = (float)x;
  const double back = (double)nearest;
  const u32 away = fabs(back) > fabs(x) ? 1u : 0u, inexact = back != x ? 1u : 0u;
  return from_bits((bits_of(nearest) - away) | inexact);
}
__device__ inline float narrowed(float x) { return x; }

struct to_f32 {
  using Stored = float;
  template <class Real>
  __device__ static Stored of(Real x) {
    return (float)x;
  }
};
struct to_f64 {
  using Stored = double;
  template <class Real>
  __device__ static Stored of(Real x) {
    return (double)x;
  }
};
template <class D>
struct to_narrow {
  using Stored = typename D::Stored;
  template <class Real>
  __device__ static Stored of(Real x) {
    return D::store(narrowed(x));
  }
};
using to_f16 = to_narrow<f16>;
using to_bf16 = to_narrow<bf16>;
using to_f8e5m2 = to_narrow<f8e5m2>;
using to_f8e4m3 = to_narrow<f8e4m3>;
struct to_bool {
  using Stored = u8;
  template <class Real>
  __device__ static Stored of(Real x) {
    return x != (Real)0 ? 1 : 0;
  }
};
template <class T>
struct to_integer {
  using Stored = T;
  template <class Real>
  __device__ static Stored of(Real x) {
    const Real low = (Real)Range<T>::low, high = (Real)Range<T>::high, raised = x < low ? low : x;
    return raised >= high ? Range<T>::most : (T)(raised < high ? raised : (Real)0);
  }
};
using to_i8 = to_integer<signed char>;
using to_i16 = to_integer<short>;
using to_i32 = to_integer<int>;
using to_i64 = to_integer<i64>;
using to_u8 = to_integer<u8>;
using to_u16 = to_integer<u16>;
using to_u32 = to_integer<u32>;
using to_u64 = to_integer<u64>;
template <class Part>
struct to_complex {
  using Stored = Complex<Part>;
  template <class Real>
  __device__ static Stored of(Real x) {
    return {(Part)x, (Part)0};
  }
};
using to_c64 = to_complex<float>;
using to_c128 = to_complex<double>;

/* N elements a thread, beginning where the source is aligned; the target moves in 16 bytes where it is, too. */
template <class D, class To>
__device__ inline void cast_elements(const Elements &a) {
  constexpr int N = Unit<D>::N;
  using Target = typename To::Stored;
  const auto *x = (const typename D::Stored *)a.from;
  Target *y = (Target *)a.to;
  const int lead = lead_of<D>(x, a.n, a.n + N);
  i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N - lead;
  for (; i < a.n; i += (i64)gridDim.x * blockDim.x * N) {
    typename D::Real v[N];
    load_unit<D>(x, i, a.n, (typename D::Real)0, v);
    if (i >= 0 && i + N <= a.n && lies_aligned<Target, N>(y + i)) {
      Pack<Target, N> whole;
#pragma unroll
      for (int k = 0; k < N; ++k) whole.at[k] = To::of(v[k]);
      *(Pack<Target, N> *)(void *)(y + i) = whole;
    } else {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (i + k >= 0 && i + k < a.n) y[i + k] = To::of(v[k]);
      }
    }
  }
}

#endif
