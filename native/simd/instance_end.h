/* SPDX-License-Identifier: Apache-2.0
 * Takes away the names of instance.h, so that the next instance can be made.
 */
#undef STORED
#undef REAL
#undef VEC
#undef V
#undef LANES
#undef LD
#undef LDN
#undef ST
#undef STN
#undef NT
#undef QUAD
#undef LDQ
#undef LDX
#undef STX
#undef STQ
#undef SUMP
#undef STC
#undef CALM_WAY
#undef SUMX
#undef ORDER_SUMX
#undef PAIRS
#undef TOP
#undef TOP_FIRST
#undef TOP_QUAD
#undef TOP_CALM
#undef TOP_VALUE
#undef ORDER
#undef ORDER_SUMS
#undef LDNR
#undef STNR
#undef PLAIN
#undef KEEPS
#undef SPLITS
#undef FN
#undef ACLPY_T
