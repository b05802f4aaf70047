/* SPDX-License-Identifier: Apache-2.0
 * Instructions of 64 bytes of which it matters which vector pipes do them, or that many processors do in more than one
 * step: what each takes of the pipes is measured (peak_loop.c), how many there are of them is counted (count_steps.c).
 */
#ifndef BENCH_WORK_KINDS_H
#define BENCH_WORK_KINDS_H

enum {
  WORK_MULTIPLY = 0,  /* and multiply-add */
  WORK_ADD,           /* subtract, largest, least */
  WORK_HALF_TO_FLOAT, /* vcvtph2ps, from a register */
  WORK_HALF_TO_FLOAT_MEMORY,
  WORK_FLOAT_TO_HALF, /* vcvtps2ph, to a register */
  WORK_FLOAT_TO_DOUBLE,
  WORK_FLOAT_TO_DOUBLE_MEMORY,
  WORK_FLOATS_TO_BFLOAT, /* vcvtne2ps2bf16 */
  WORK_SCALE,            /* vscalefps, vscalefpd */
  WORK_PERMUTE_WORDS,    /* vpermw */
  WORK_KINDS,
  WORK_NONE = -1
};

#endif
