/* SPDX-License-Identifier: Apache-2.0
 * Plans: what phase 1 worked out, as the engine needs it. Immutable once made.
 */
#ifndef ACLPY_ENGINE_PLAN_H
#define ACLPY_ENGINE_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "handle_table.h"

struct eng_chain;
struct eng_prepared;
struct eng_stream;

struct eng_plan {
  struct eng_object head;
  aclpy_handle handle; /* never used again for another plan, so it serves as the plan's id */
  uint32_t op;
  uint32_t flags;
  uint64_t workspace_bytes;
  int32_t n_slots, n_steps, n_hazards, n_chains;
  bool calls;  /* some step is a call into foreign code */
  bool small;  /* kernels only, at most 10 microseconds together: may run on the calling thread */
  bool halved; /* at most 20: may run there while a pool thread attends, which takes half of it */
  bool brief;  /* at most 40 of them: may run there while the pool has one thread, whom a hand-over would not help */
  aclpy_slot_desc *slots;
  aclpy_step_desc *steps;
  aclpy_hazard *hazards;
  struct eng_chain *chains;
  struct eng_prepared *_Atomic *launches; /* of each step on each foreign device (launch.h); NULL elsewhere */
  char *texts;                            /* the slots' names, then the refusal */
  int64_t *params;                        /* of all steps */
  const char *refusal;
  aclpy_retired *retired; /* NULL where no step is a call */
};

/* Runs every step in order; the first failure ends it. `address` holds one address a slot. */
int32_t eng_plan_run(const struct eng_plan *plan, struct eng_stream *stream, const uintptr_t *address,
                     uintptr_t workspace);

#endif
