/* SPDX-License-Identifier: Apache-2.0
 * Bits of 2^(k/16), which permutations of one register look up (v32_power_part): for AVX-512 all, for AVX2 every
 * second.
 */
#ifndef ACLPY_SIMD_POWERS_H
#define ACLPY_SIMD_POWERS_H

#include <stdint.h>

#if ACLPY_ISA_RANK == 3
#define ACLPY_POWERS_(P)                                                           \
  {P(0, 0x3f800000u),  P(1, 0x3f85aac3u),  P(2, 0x3f8b95c2u),  P(3, 0x3f91c3d3u),  \
   P(4, 0x3f9837f0u),  P(5, 0x3f9ef532u),  P(6, 0x3fa5fed7u),  P(7, 0x3fad583fu),  \
   P(8, 0x3fb504f3u),  P(9, 0x3fbd08a4u),  P(10, 0x3fc5672au), P(11, 0x3fce248cu), \
   P(12, 0x3fd744fdu), P(13, 0x3fe0ccdfu), P(14, 0x3feac0c7u), P(15, 0x3ff5257du)}
enum { ACLPY_POWERS_SHIFT_ = 19 };
_Alignas(64) static const double aclpy_powers_64_[] = {0x1.0p+0,
                                                       0x1.0b5586cf9890fp+0,
                                                       0x1.172b83c7d517bp+0,
                                                       0x1.2387a6e756238p+0,
                                                       0x1.306fe0a31b715p+0,
                                                       0x1.3dea64c123422p+0,
                                                       0x1.4bfdad5362a27p+0,
                                                       0x1.5ab07dd485429p+0,
                                                       0x1.6a09e667f3bcdp+0,
                                                       0x1.7a11473eb0187p+0,
                                                       0x1.8ace5422aa0dbp+0,
                                                       0x1.9c49182a3f090p+0,
                                                       0x1.ae89f995ad3adp+0,
                                                       0x1.c199bdd85529cp+0,
                                                       0x1.d5818dcfba487p+0,
                                                       0x1.ea4afa2a490dap+0};
#else
#define ACLPY_POWERS_(P)                                                       \
  {P(0, 0x3f800000u), P(1, 0x3f8b95c2u), P(2, 0x3f9837f0u), P(3, 0x3fa5fed7u), \
   P(4, 0x3fb504f3u), P(5, 0x3fc5672au), P(6, 0x3fd744fdu), P(7, 0x3feac0c7u)}
enum { ACLPY_POWERS_SHIFT_ = 20 };
#endif
#define ACLPY_WHOLE_(k, bits) bits
#define ACLPY_LESS_(k, bits) ((bits) - ((uint32_t)(k) << ACLPY_POWERS_SHIFT_))

_Alignas(64) static const uint32_t aclpy_powers_[] = ACLPY_POWERS_(ACLPY_WHOLE_);
/* The same less k in the bits that k is shifted to when n is shifted into the exponent. */
_Alignas(64) static const uint32_t aclpy_powers_less_[] = ACLPY_POWERS_(ACLPY_LESS_);

#endif
