/* SPDX-License-Identifier: Apache-2.0
 * ACLNN_PY_SCHEDULE and ACLNN_PY_TRACE: the schedule and the trace of a whole process.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "engine.h"

static bool scheduled_, traced_;

static bool start_(const char *variable, int32_t (*start)(const char *value)) {
  const char *value = getenv(variable);
  if (value == NULL || *value == 0) return false;
  if (start(value) == 0) return true;
  const aclpy_error *why = aclpy_error_last();
  fprintf(stderr, "aclnn_py: %s is ignored: expected %s, got %s\n", variable, why->expected, why->got);
  aclpy_error_clear();
  return false;
}

__attribute__((constructor)) static void begin_(void) {
  scheduled_ = start_("ACLNN_PY_SCHEDULE", aclpy_schedule_start);
  traced_ = start_("ACLNN_PY_TRACE", aclpy_trace_start);
}

/* What a test program failed with is its own business; how to have the same order again is said in any case. */
__attribute__((destructor)) static void end_(void) {
  aclpy_schedule_info info;
  aclpy_schedule_facts(&info);
  const char *asked = getenv("ACLNN_PY_SCHEDULE");
  size_t length = aclpy_schedule_replay(NULL, 0);
  char *text = scheduled_ && info.steps > 0 ? malloc(length + 1) : NULL;
  if (text != NULL) {
    (void)aclpy_schedule_replay(text, length + 1);
    fprintf(stderr, "aclnn_py: schedule %s\n", text);
    if (info.diverged != 0) {
      fprintf(stderr, "aclnn_py: %.40s... does not fit this program from step %llu on\n", asked == NULL ? "" : asked,
              (unsigned long long)info.diverged);
    }
    free(text);
  }
  if (traced_) (void)aclpy_trace_stop();
}
