/* SPDX-License-Identifier: Apache-2.0
 * What one instruction of x86-64 is, as far as its throughput depends on it: encoding, opcode, width, and where its
 * operands lie, but not which registers. Such steps are counted (count_steps.c) and written again (replay.h). */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include <stdint.h>

typedef struct step {
  unsigned char evex, map, opcode;
  unsigned char wide;      /* the W bit */
  unsigned char prefix;    /* pp: none, 66, f3, f2 */
  unsigned char length;    /* 0: 16 bytes, 1: 32, 2: 64 */
  unsigned char broadcast; /* EVEX.b */
  unsigned char memory;    /* an operand lies there */
  unsigned char extension; /* of an opcode of a group, else 0 */
  unsigned char third;     /* vvvv names a register */
} step;

/* Scalar: everything else that takes a place, as address arithmetic, its loads and stores, and work on masks. */
typedef enum step_kind { STEP_NOTHING, STEP_SCALAR, STEP_VECTOR } step_kind;

static int step_among_(unsigned char opcode, const unsigned char *list) {
  for (; *list; list++) {
    if (opcode == *list) return 1;
  }
  return 0;
}

/* Shifts by a constant: the modrm byte's register is a part of the opcode, and vvvv names the result. */
static int step_is_group(const step *one) { return one->map == 1 && one->opcode >= 0x71 && one->opcode <= 0x73; }

static int step_has_constant(const step *one) {
  static const unsigned char first[] = {0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6, 0};
  return one->map == 3 || (one->map == 1 && step_among_(one->opcode, first));
}

/* Only moves, to or from memory or another register. */
static int step_is_move(const step *one) {
  static const unsigned char moves[] = {0x10, 0x11, 0x28, 0x29, 0x2b, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xe7, 0};
  return one->map == 1 && step_among_(one->opcode, moves);
}

/* The operand that may lie in memory is the result. */
static int step_result_is_rm(const step *one) {
  static const unsigned char first[] = {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7e, 0x7f, 0xd6, 0xe7, 0};
  static const unsigned char second[] = {0x2e, 0x2f, 0x8a, 0x8b, 0x8e, 0};
  static const unsigned char third[] = {0x14, 0x15, 0x16, 0x17, 0x19, 0x1b, 0x1d, 0x39, 0x3b, 0};
  if (one->map == 1 && one->opcode == 0x7e && one->prefix == 2) return 0; /* vmovq, a load */
  if (one->map == 1) return step_among_(one->opcode, first);
  if (one->map == 3) return step_among_(one->opcode, third);
  const unsigned high = one->opcode & 0xf8u;
  const int narrows = (one->opcode & 7u) <= 5; /* vpmovdw...; 6 and 7 are vptestnm's, whose results are masks */
  if (one->evex && one->prefix == 2 && narrows && (high == 0x10 || high == 0x20 || high == 0x30)) return 1;
  return step_among_(one->opcode, second);
}

/* The result is a mask (EVEX only). */
static int step_result_is_mask(const step *one) {
  static const unsigned char first[] = {0x64, 0x65, 0x66, 0x74, 0x75, 0x76, 0xc2, 0};
  static const unsigned char second[] = {0x26, 0x27, 0x29, 0x37, 0};
  static const unsigned char third[] = {0x1e, 0x1f, 0x3e, 0x3f, 0x66, 0x67, 0};
  if (!one->evex) return 0;
  if (one->map == 1) return step_among_(one->opcode, first);
  return step_among_(one->opcode, one->map == 2 ? second : third);
}

/* Multiply-adds and their like: what was in the result's register is an operand. */
static int step_reads_result(const step *one) {
  static const unsigned char second[] = {0x50, 0x51, 0x52, 0x53, 0x75, 0x76, 0x77, 0x7d, 0x7e, 0x7f, 0};
  if (one->map == 2 && one->opcode >= 0x96 && one->opcode <= 0xbf && (one->opcode & 0xf) >= 6) return 1;
  return (one->map == 2 && one->evex && step_among_(one->opcode, second)) ||
         (one->map == 3 && one->evex && one->opcode == 0x25);
}

/* Works on general registers or masks, or gathers: counted as one scalar step. */
static int step_is_other_(const step *one) {
  static const unsigned char masks[] = {0x90, 0x91, 0x92, 0x93, 0x98, 0x99, 0x50, 0xd7, 0};
  static const unsigned char bits[] = {0xf2, 0xf3, 0xf5, 0xf6, 0xf7, 0};
  static const unsigned char gathers[] = {0x90, 0x91, 0x92, 0x93, 0xa0, 0xa1, 0xa2, 0xa3, 0};
  if (one->map == 1 && !one->evex)
    return step_among_(one->opcode, masks) || (one->opcode >= 0x41 && one->opcode <= 0x4b);
  if (one->map == 2 && step_among_(one->opcode, gathers)) return 1;
  if (one->map == 2 && !one->evex) return step_among_(one->opcode, bits);
  if (one->map == 2 && one->prefix == 2) return (one->opcode & 0xee) == 0x28; /* vpmovm2d, vpmovd2m... */
  return one->map == 3 && !one->evex && (one->opcode == 0xf0 || (one->opcode >= 0x30 && one->opcode <= 0x33));
}

/* A jump that depends: processors of today fuse it with the comparison before it. */
static int step_is_jump_(const unsigned char *byte) {
  return (byte[0] & 0xf0) == 0x70 || (byte[0] == 0x0f && (byte[1] & 0xf0) == 0x80);
}

/* The instruction at `byte`, of which 16 bytes can be read. */
static step_kind step_decode(const unsigned char *byte, step *one) {
  *one = (step){0};
  unsigned vvvv;
  if (byte[0] == 0x62) {
    *one = (step){.evex = 1,
                  .map = byte[1] & 7u,
                  .opcode = byte[4],
                  .wide = byte[2] >> 7,
                  .prefix = byte[2] & 3u,
                  .length = byte[3] >> 5 & 3u,
                  .broadcast = byte[3] >> 4 & 1u,
                  .memory = byte[5] < 0xc0};
    vvvv = (byte[2] >> 3 & 15u) | (byte[3] >> 3 & 1u) << 4;
    one->extension = step_is_group(one) ? byte[5] >> 3 & 7u : 0;
    one->third = vvvv != 31;
  } else if (byte[0] == 0xc5 || byte[0] == 0xc4) {
    const unsigned more = byte[0] == 0xc4;
    *one = (step){.map = more ? byte[1] & 31u : 1,
                  .opcode = byte[2 + more],
                  .wide = more && byte[2] >> 7,
                  .prefix = byte[1 + more] & 3u,
                  .length = byte[1 + more] >> 2 & 1u,
                  .memory = byte[3 + more] < 0xc0};
    vvvv = byte[1 + more] >> 3 & 15u;
    one->extension = step_is_group(one) ? byte[3 + more] >> 3 & 7u : 0;
    one->third = vvvv != 15;
    if (one->map == 1 && one->opcode == 0x77) return STEP_NOTHING; /* vzeroupper */
  } else {
    return step_is_jump_(byte) ? STEP_NOTHING : STEP_SCALAR;
  }
  return step_is_other_(one) ? STEP_SCALAR : STEP_VECTOR;
}

#endif
