/* SPDX-License-Identifier: Apache-2.0
 * What the operations of a launch may come to as a whole: a power, a logarithm, or a multiple and a sum that bytes are
 * made of.
 */
#ifndef ACLPY_KERNELS_FUSED_FORMS_H
#define ACLPY_KERNELS_FUSED_FORMS_H

#include <stdint.h>

/* A power, or a logarithm (fused_powers.h). */
typedef struct direct_powers {
  int can; /* they do */
  int logarithm;
  float high, low;                /* exponent * log2 e, in two parts */
  double exponent, before, after; /* of a power; factors before and behind it */
} direct_powers;

/* Bytes (fused_fixed.h), with values alone; with the sum with a row, with one that differs from row to row; with the
 * product with a row; of results but for a factor. */
enum { ACLPY_FIXED_VALUE = 0, ACLPY_FIXED_SUM, ACLPY_FIXED_MOVED, ACLPY_FIXED_PRODUCT, ACLPY_FIXED_DONE };
typedef struct fixed_form {
  int can; /* they do */
  int shape;
  int places;               /* last places that terms allow for; 0: as many as a row needs */
  int64_t row;              /* the step with the row, or -1 */
  double slope;             /* by which what the factor makes of exponentials, */
  double share;             /* by which the row is multiplied, */
  double rest;              /* and what values add */
  double low, high;         /* of the row's share in a sum */
  double least, most;       /* of the row in a product; 1 */
  double error, error_term; /* of results: constant, and for each unit of the factor */
  const float *terms;       /* of a sum with a row: what comes of it */
  int64_t pause;            /* rows to be done in turn */
} fixed_form;

#endif
