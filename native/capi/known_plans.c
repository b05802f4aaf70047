/* SPDX-License-Identifier: Apache-2.0
 * What a thread has planned lately; see known_plans.h.
 *
 * Each thread has a table of its own, so nothing is shared but the era. The table holds no reference: the planner may
 * drop a plan at any time, and then its handle is dead and the planner is asked.
 */
#include "known_plans.h"

#include <stdatomic.h>
#include <string.h>

#include "handle_table.h"
#include "plan.h"

enum { PLACES_BITS = 6, WORDS = 8 };

struct known_ {
  const struct capi_operator *op;
  uint64_t era, workspace_bytes;
  aclpy_handle plan;
  int32_t n_key;
  int64_t key[WORDS];
};

static _Thread_local struct known_ known_[1 << PLACES_BITS];
static _Atomic uint64_t era_;

void aclpy_planner_forget(void) { atomic_fetch_add_explicit(&era_, 1, memory_order_release); }

uint64_t capi_plans_era(void) { return atomic_load_explicit(&era_, memory_order_acquire); }

static struct known_ *place_(const struct capi_call *call) {
  static const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
  uint64_t hash = (uint64_t)(uintptr_t)call->op * golden;
  for (int32_t i = 0; i < call->n_key; i++) {
    hash = (hash ^ (uint64_t)call->key[i]) * golden;
    hash ^= hash >> 32; /* the upper bits take part in the next product, too */
  }
  return &known_[hash * golden >> (64 - PLACES_BITS)];
}

struct eng_plan *capi_plans_find(const struct capi_call *call, uint64_t *workspace_bytes) {
  if (call->n_key > WORDS) return NULL;
  const struct known_ *known = place_(call);
  if (known->op != call->op || known->era != capi_plans_era() || known->n_key != call->n_key ||
      memcmp(known->key, call->key, (size_t)call->n_key * sizeof(*call->key)) != 0) {
    return NULL;
  }
  *workspace_bytes = known->workspace_bytes;
  return eng_handle_acquire(ENG_PLAN, known->plan);
}

void capi_plans_keep(const struct capi_call *call, uint64_t era, aclpy_handle plan, uint64_t workspace_bytes) {
  if (call->n_key > WORDS) return;
  struct known_ *known = place_(call);
  known->op = call->op;
  known->era = era;
  known->workspace_bytes = workspace_bytes;
  known->plan = plan;
  known->n_key = call->n_key;
  memcpy(known->key, call->key, (size_t)call->n_key * sizeof(*call->key));
}
