/* SPDX-License-Identifier: Apache-2.0
 * ACLNN_PY_SCHEDULE and ACLNN_PY_TRACE: the schedule and the trace of a whole process.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "engine.h"
#include "schedule.h"
#include "text.h"

enum { PROBLEM = 512 };

struct variable_ {
  const char *name;
  char *value; /* when the library was loaded */
  bool started;
  char problem[PROBLEM]; /* what was wrong with its value */
};

static struct variable_ schedule_ = {.name = "ACLNN_PY_SCHEDULE"}, trace_ = {.name = "ACLNN_PY_TRACE"};

static void start_(struct variable_ *variable, int32_t (*start)(const char *value)) {
  if (variable->value == NULL || variable->value[0] == 0) return;
  variable->started = start(variable->value) == 0;
  if (variable->started) return;
  const aclpy_error *why = aclpy_error_last();
  (void)eng_text(variable->problem, PROBLEM, "expected %s, got %s", why->expected, why->got);
  fprintf(stderr, "aclnn_py: %s cannot be used, so phase 1 and Python will refuse it: %s\n", variable->name, variable->problem);
  aclpy_error_clear();
}

__attribute__((constructor)) static void begin_(void) {
  struct variable_ *const all[] = {&schedule_, &trace_};
  for (int i = 0; i < 2; i++) {
    const char *value = getenv(all[i]->name);
    all[i]->value = value == NULL ? NULL : strdup(value);
  }
  start_(&schedule_, aclpy_schedule_start);
  start_(&trace_, aclpy_trace_start);
}

void eng_environment_after_fork(void) {
  if (schedule_.started && eng_schedule_was_active()) start_(&schedule_, aclpy_schedule_start);
}

const char *aclpy_environment_problem(const char *variable) {
  if (strcmp(variable, schedule_.name) == 0) return schedule_.problem;
  return strcmp(variable, trace_.name) == 0 ? trace_.problem : "";
}

/* What a test program failed with is its own business; how to have the same order again is said in any case. */
__attribute__((destructor)) static void end_(void) {
  aclpy_schedule_info info;
  aclpy_schedule_facts(&info);
  size_t length = aclpy_schedule_replay(NULL, 0);
  char *text = schedule_.started && info.steps > 0 ? malloc(length + 1) : NULL;
  if (text != NULL) {
    (void)aclpy_schedule_replay(text, length + 1);
    fprintf(stderr, "aclnn_py: schedule %s\n", text);
    if (info.diverged != 0) {
      fprintf(stderr, "aclnn_py: %.40s... does not fit this program from step %llu on\n", schedule_.value,
              (unsigned long long)info.diverged);
    }
    free(text);
  }
  if (trace_.started) (void)aclpy_trace_stop();
}
