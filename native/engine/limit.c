/* SPDX-License-Identifier: Apache-2.0
 * Counts of taken resources, by kind and device. The numbers are those of the SoC profile unless a program sets
 * others.
 */
#include "limit.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "settings.h"
#include "soc.h"

static _Atomic uint32_t limits_[ENG_LIMITS];
static atomic_bool set_; /* by aclpy_set_limits, which counts more than the profile */
static _Atomic uint32_t taken_[ENG_LIMITS][ENG_MAX_DEVICES];

static uint32_t limit_(enum eng_limit kind) {
  const struct eng_soc *soc = eng_soc();
  if (atomic_load(&set_)) return atomic_load(&limits_[kind]);
  if (soc == NULL) return UINT32_MAX; /* a chip that nobody knows */
  return kind == ENG_LIMIT_STREAMS ? soc->streams : kind == ENG_LIMIT_EVENTS ? soc->events : soc->notifies;
}

int32_t eng_limit_take(enum eng_limit kind, int32_t device, const char *function) {
  static const struct {
    int32_t status;
    const char *what;
  } rows[ENG_LIMITS] = {{ACLPY_ACL_ERROR_RT_NO_STREAM_RESOURCE, "streams"},
                        {ACLPY_ACL_ERROR_RT_NO_EVENT_RESOURCE, "events"},
                        {ACLPY_ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "notifies"}};
  uint32_t limit = limit_(kind);
  uint32_t taken = atomic_load(&taken_[kind][device]);
  while (taken < limit) {
    if (atomic_compare_exchange_weak(&taken_[kind][device], &taken, taken + 1)) return ACLPY_ACL_SUCCESS;
  }
  return aclpy_fail(rows[kind].status, function, "", "one that is left on the device",
                    "destroy what is no longer needed: a device of this SoC has no more",
                    "device %" PRId32 ", whose %" PRIu32 " %s are all in use", device, limit, rows[kind].what);
}

void eng_limit_give(enum eng_limit kind, int32_t device) { atomic_fetch_sub(&taken_[kind][device], 1); }

int32_t eng_limit_available(enum eng_limit kind, aclpy_handle ctx, uint32_t *number, const char *function,
                            const char *argument) {
  if (number == NULL) return eng_fail_null(function, argument);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  uint32_t limit = limit_(kind), taken = atomic_load(&taken_[kind][context->device]);
  *number = taken < limit ? limit - taken : 0;
  eng_release(&context->head);
  return ACLPY_ACL_SUCCESS;
}

void aclpy_set_limits(uint32_t streams, uint32_t events, uint32_t notifies) {
  atomic_store(&limits_[ENG_LIMIT_STREAMS], streams);
  atomic_store(&limits_[ENG_LIMIT_EVENTS], events);
  atomic_store(&limits_[ENG_LIMIT_NOTIFIES], notifies);
  atomic_store(&set_, true);
}

void eng_limits_before_fork(void) {}

void eng_limits_after_fork(bool child) {
  if (!child) return;
  for (int kind = 0; kind < ENG_LIMITS; kind++) {
    for (int device = 0; device < ENG_MAX_DEVICES; device++) atomic_store(&taken_[kind][device], 0);
  }
}
