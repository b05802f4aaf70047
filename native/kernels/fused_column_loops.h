/* SPDX-License-Identifier: Apache-2.0
 * Loops over rows of tiles, by the type of the source (fused_column_source.h).
 */
#ifndef ACLPY_KERNELS_FUSED_COLUMN_LOOPS_H
#define ACLPY_KERNELS_FUSED_COLUMN_LOOPS_H

#include "../simd/tops_columns.h"
#include "fused_column_rows.h"

/* Rows whose maxima are known, to become exponentials in scratch. */
typedef struct column_lines {
  const void *x;
  int64_t pitch, have, count; /* elements from row to row, of a row; rows */
  float *e;
  int64_t stride;
  const float *max;
  double *sum;
  const void *next; /* rows of the next tile, whose maxima are added to `top`, or NULL; */
  int64_t lies;     /* elements from row to row; */
  void *into;       /* where these are copied, in place of x, or NULL */
  float *top;
  const column_out *out; /* results of the tile before, as many rows, or NULL */
  uintptr_t far;         /* what is asked for beside them, as wide: its first row, or 0, */
  int64_t apart;         /* and bytes from row to row */
} column_lines;

enum { ACLPY_COLUMN_KEEP_NONE = 0, ACLPY_COLUMN_KEEP_E, ACLPY_COLUMN_KEEP_X };

#define ACLPY_T f32
#include "fused_column_source.h"
#define ACLPY_T bf16
#include "fused_column_source.h"
#define ACLPY_T f16
#include "fused_column_source.h"

#endif
