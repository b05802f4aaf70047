/* SPDX-License-Identifier: Apache-2.0
 * The plans that a thread's latest calls have found: a call that is known takes no lock of Python's, which alone costs
 * more than all the rest of phase 1.
 */
#ifndef ACLPY_CAPI_KNOWN_PLANS_H
#define ACLPY_CAPI_KNOWN_PLANS_H

#include <stdint.h>

#include "capi.h"

struct eng_plan;

/* A call: its operator, and what tells it from others of that operator. */
struct capi_call {
  const struct capi_operator *op;
  const int64_t *key;
  int32_t n_key;
};

/* Changes when plans are to be made anew. */
uint64_t capi_plans_era(void);
/* The plan of a known call with a reference, and its workspace [bytes]; NULL where the planner is to be asked. */
struct eng_plan *capi_plans_find(const struct capi_call *call, uint64_t *workspace_bytes);
/* Remembers what the planner answered, asked in the given era. */
void capi_plans_keep(const struct capi_call *call, uint64_t era, aclpy_handle plan, uint64_t workspace_bytes);

#endif
