/* SPDX-License-Identifier: Apache-2.0
 * Planned failures and the allocation of objects, which is where one kind of them strikes.
 */
#include "fault.h"

#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "engine.h"

_Atomic int64_t eng_fault_countdown[ENG_RESOURCES];

bool eng_fault_strikes(enum eng_resource what) {
  int64_t left = atomic_load(&eng_fault_countdown[what]);
  while (left > 0) {
    if (atomic_compare_exchange_weak(&eng_fault_countdown[what], &left, left - 1)) return left == 1;
  }
  return false;
}

void *eng_object_alloc(size_t size) { return eng_fault(ENG_RESOURCE_OBJECT) ? NULL : malloc(size); }

void *eng_object_zalloc(size_t size) { return eng_fault(ENG_RESOURCE_OBJECT) ? NULL : calloc(1, size); }

int32_t aclpy_fail_after(const char *what, int64_t n) {
  static const char *const names[ENG_RESOURCES] = {"memory", "thread", "object"};
  for (int i = 0; what != NULL && n >= 0 && i < ENG_RESOURCES; i++) {
    if (strcmp(what, names[i]) == 0) {
      atomic_store(&eng_fault_countdown[i], n);
      return ACLPY_ACL_SUCCESS;
    }
  }
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclpy_fail_after", "what",
                    "\"memory\", \"thread\" or \"object\", n >= 0", "", "%s, n %lld", what == NULL ? "NULL" : what,
                    (long long)n);
}
