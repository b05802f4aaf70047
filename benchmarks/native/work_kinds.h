/* SPDX-License-Identifier: Apache-2.0
 * Instructions of 64 bytes that many processors do in more than one step of their vector ports: how many slots each
 * takes is measured (peak_loop.c), how many there are of them is counted (count_steps.c). */
#ifndef BENCH_WORK_KINDS_H
#define BENCH_WORK_KINDS_H

enum {
  WORK_HALF_TO_FLOAT = 0, /* vcvtph2ps, from a register */
  WORK_HALF_TO_FLOAT_MEMORY,
  WORK_FLOAT_TO_HALF, /* vcvtps2ph, to a register */
  WORK_FLOAT_TO_DOUBLE,
  WORK_FLOAT_TO_DOUBLE_MEMORY,
  WORK_FLOATS_TO_BFLOAT, /* vcvtne2ps2bf16 */
  WORK_SCALE,            /* vscalefps, vscalefpd */
  WORK_PERMUTE_WORDS,    /* vpermw */
  WORK_KINDS
};

#endif
