/* SPDX-License-Identifier: Apache-2.0
 * Chains: consecutive steps of a plan done block by block, so that what lies between them stays in the caches.
 */
#ifndef ACLPY_ENGINE_CHAIN_H
#define ACLPY_ENGINE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct eng_plan;

/* A chain as a plan keeps it: the planner's description, copied, and what follows from it. */
struct eng_chain {
  aclpy_chain_desc desc;
  int64_t *params;       /* of all parts, or of `whole` */
  aclpy_step_desc whole; /* where desc.whole is set: that points here */
  int64_t blocks, grain;
  int64_t kernel_scratch; /* where a kernel's own scratch memory begins in the thread's */
  int64_t thread_bytes;
  double cost_ns;
};

/* What is wrong with a chain of this plan, or NULL. */
const char *eng_chain_fault(const aclpy_plan_desc *plan, const aclpy_chain_desc *desc);
/* False: no memory; what was made so far is freed by eng_chain_free. `chain` comes cleared. */
bool eng_chain_copy(struct eng_chain *chain, const aclpy_chain_desc *desc, const aclpy_step_desc *steps);
void eng_chain_free(struct eng_chain *chain);

/* Whether blocks are independent of each other at these addresses: no block writes what another one reads. */
bool eng_chain_apart(const struct eng_plan *plan, const struct eng_chain *chain, const uintptr_t *address);
/* Runs all blocks. False: no scratch memory for the calling thread, nothing was run. */
bool eng_chain_run(const struct eng_plan *plan, const struct eng_chain *chain, const uintptr_t *address,
                   uintptr_t workspace);

#endif
