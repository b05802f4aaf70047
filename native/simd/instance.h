/* SPDX-License-Identifier: Apache-2.0
 * Names for one instance of a kernel template: included (again and again) after ACLPY_T is set to f32 f16 bf16 or f64.
 *
 * STORED is the type in memory, REAL the type of the arithmetic, VEC a vector of REAL with LANES lanes, V(op) an
 * operation on it, LD LDN ST STN NT QUAD LDX STX LDW LDWN the memory accesses of STORED, LDNR STNR partial ones of
 * REAL, FN(name) a function name of this instance. A template ends with including instance_end.h, which takes the names
 * away.
 */
#include "isa.h"

#ifndef ACLPY_SIMD_INSTANCE_H
#define ACLPY_SIMD_INSTANCE_H

typedef float aclpy_stored_f32, aclpy_real_f32, aclpy_real_f16, aclpy_real_bf16;
typedef uint16_t aclpy_stored_f16, aclpy_stored_bf16;
typedef double aclpy_stored_f64, aclpy_real_f64;

#define ACLPY_V_f32 v32
#define ACLPY_V_f16 v32
#define ACLPY_V_bf16 v32
#define ACLPY_V_f64 v64

#define ACLPY_LDNR_f32 ldn_f32
#define ACLPY_LDNR_f16 ldn_f32
#define ACLPY_LDNR_bf16 ldn_f32
#define ACLPY_LDNR_f64 ldn_f64
#define ACLPY_STNR_f32 stn_f32
#define ACLPY_STNR_f16 stn_f32
#define ACLPY_STNR_bf16 stn_f32
#define ACLPY_STNR_f64 stn_f64

/* 1 where results are stored as they are computed. */
#define ACLPY_PLAIN_f32 1
#define ACLPY_PLAIN_f16 0
#define ACLPY_PLAIN_bf16 0
#define ACLPY_PLAIN_f64 1

/* 1 where what was converted to REAL is better kept than converted again. */
#define ACLPY_KEEPS_f32 0
#define ACLPY_KEEPS_f16 1
#define ACLPY_KEEPS_bf16 0
#define ACLPY_KEEPS_f64 0

/* 1 where e^-60 times a factor of at most 1 is 0 once it is stored. */
#define ACLPY_FADES_f32 0
#define ACLPY_FADES_f16 1
#define ACLPY_FADES_bf16 0
#define ACLPY_FADES_f64 0

/* 1 where ldx has an order of its own in which columns are best summed and written. */
#define ACLPY_PAIRED_f32 0
#define ACLPY_PAIRED_f16 0
#if ACLPY_ISA_RANK == 2
#define ACLPY_PAIRED_bf16 1
#else
#define ACLPY_PAIRED_bf16 0
#endif
#define ACLPY_PAIRED_f64 0

/* 1 where two vectors are one register in memory, of which a part is loaded and stored as easily (ldpn, stpn). */
#define ACLPY_ENDS_PAIRED_f32 0
#define ACLPY_ENDS_PAIRED_f16 0
#if ACLPY_ISA_RANK == 3
#define ACLPY_ENDS_PAIRED_bf16 1
#else
#define ACLPY_ENDS_PAIRED_bf16 0
#endif
#define ACLPY_ENDS_PAIRED_f64 0

/* 1 where a double sum does not fit one REAL. */
#define ACLPY_SPLITS_f32 1
#define ACLPY_SPLITS_f16 1
#define ACLPY_SPLITS_bf16 1
#define ACLPY_SPLITS_f64 0

#endif

#define STORED ACLPY_PASTE2(aclpy_stored_, ACLPY_T)
#define REAL ACLPY_PASTE2(aclpy_real_, ACLPY_T)
#define VEC ACLPY_PASTE2(ACLPY_V_, ACLPY_T)
#define V(op) ACLPY_PASTE3(VEC, _, op)
#define LANES ((int64_t)V(LANES))
#define LD ACLPY_PASTE2(ld_, ACLPY_T)
#define LDN ACLPY_PASTE2(ldn_, ACLPY_T)
#define LDM ACLPY_PASTE2(ldm_, ACLPY_T) /* AVX-512 alone */
#define ST ACLPY_PASTE2(st_, ACLPY_T)
#define STN ACLPY_PASTE2(stn_, ACLPY_T)
#define NT ACLPY_PASTE2(nt_, ACLPY_T)
#define QUAD ACLPY_PASTE2(quad_, ACLPY_T)
#define LDW ACLPY_PASTE2(ldw_, ACLPY_T)
#define LDWN ACLPY_PASTE2(ldwn_, ACLPY_T)
#define LDQ ACLPY_PASTE2(ldq_, ACLPY_T)
#define LDX ACLPY_PASTE2(ldx_, ACLPY_T)
#define STX ACLPY_PASTE2(stx_, ACLPY_T)
#define LDPN ACLPY_PASTE2(ldpn_, ACLPY_T)
#define STP ACLPY_PASTE2(stp_, ACLPY_T)
#define STPN ACLPY_PASTE2(stpn_, ACLPY_T)
#define STQ ACLPY_PASTE2(stq_, ACLPY_T)
#define STT ACLPY_PASTE2(stt_, ACLPY_T)
#define SUMP ACLPY_PASTE2(sump_, ACLPY_T)
#define STC ACLPY_PASTE2(stc_, ACLPY_T)
#define STA ACLPY_PASTE2(sta_, ACLPY_T)
#define CALM_WAY ACLPY_PASTE2(calm_way_, ACLPY_T)
#define SUMX ACLPY_PASTE2(sumx_, ACLPY_T)
#define ORDER_SUMX ACLPY_PASTE2(order_sumx_, ACLPY_T)
#define PAIRS ACLPY_PASTE2(pairs_, ACLPY_T)
#define TOP ACLPY_PASTE2(top_, ACLPY_T)
#define TOP_FIRST ACLPY_PASTE2(top_first_, ACLPY_T)
#define TOP_QUAD ACLPY_PASTE2(top_quad_, ACLPY_T)
#define TOP_CALM ACLPY_PASTE2(top_calm_, ACLPY_T)
#define TOP_VALUE ACLPY_PASTE2(top_value_, ACLPY_T)
#define TOPS ACLPY_PASTE2(tops_, ACLPY_T)
#define TOPS_FIRST ACLPY_PASTE2(tops_first_, ACLPY_T)
#define TOPS_ROW ACLPY_PASTE2(tops_row_, ACLPY_T)
#define TOPS_VALUES ACLPY_PASTE2(tops_values_, ACLPY_T)
#define ORDER ACLPY_PASTE2(order_, ACLPY_T)
#define ORDER_SUMS ACLPY_PASTE2(order_sums_, ACLPY_T)
#define LDNR ACLPY_PASTE2(ACLPY_LDNR_, ACLPY_T)
#define STNR ACLPY_PASTE2(ACLPY_STNR_, ACLPY_T)
#define PLAIN ACLPY_PASTE2(ACLPY_PLAIN_, ACLPY_T)
#define KEEPS ACLPY_PASTE2(ACLPY_KEEPS_, ACLPY_T)
#define FADES ACLPY_PASTE2(ACLPY_FADES_, ACLPY_T)
#define PAIRED ACLPY_PASTE2(ACLPY_PAIRED_, ACLPY_T)
#define ENDS_PAIRED ACLPY_PASTE2(ACLPY_ENDS_PAIRED_, ACLPY_T)
#define SPLITS ACLPY_PASTE2(ACLPY_SPLITS_, ACLPY_T)
#define FN(name) ACLPY_PASTE3(name, _, ACLPY_T)
