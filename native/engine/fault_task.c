/* SPDX-License-Identifier: Apache-2.0
 * Planned failures of tasks.
 */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "aclpy_status.h"
#include "bench.h"
#include "engine.h"
#include "text.h"

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char label[64]; /* empty: any */
  int64_t left;   /* 0: none is planned */
  int32_t status;
} plan_;

int32_t eng_fault_of_task(const char *label) {
  pthread_mutex_lock(&lock_);
  bool meant = plan_.left > 0 && (plan_.label[0] == 0 || strcmp(plan_.label, label) == 0);
  bool now = meant && --plan_.left == 0;
  if (now) eng_bench_switch(ENG_BENCH_FAULT, false);
  int32_t status = now ? plan_.status : ACLPY_ACL_SUCCESS;
  pthread_mutex_unlock(&lock_);
  return status;
}

int32_t aclpy_fail_task(const char *label, int64_t n, int32_t status) {
  static const char function[] = "fail_task";
  if (n < 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "nth", "1 or more", "count from 1", "%" PRId64, n);
  }
  if (n > 0 && status == ACLPY_ACL_SUCCESS) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "status", "a status other than 0",
                      "pass the status to fail with", "0");
  }
  if (label != NULL && strlen(label) >= sizeof(plan_.label)) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "label", "at most 63 bytes", "use a shorter label",
                      "%zu bytes", strlen(label));
  }
  pthread_mutex_lock(&lock_);
  eng_text(plan_.label, sizeof(plan_.label), "%s", label == NULL ? "" : label);
  plan_.left = n;
  plan_.status = status;
  eng_bench_switch(ENG_BENCH_FAULT, n > 0);
  pthread_mutex_unlock(&lock_);
  return ACLPY_ACL_SUCCESS;
}
