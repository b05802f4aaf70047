/* SPDX-License-Identifier: Apache-2.0
 * Arrows of a trace: which record a wait waited for. Everything under the trace's lock.
 */
#ifndef ACLPY_ENGINE_TRACE_ARROW_H
#define ACLPY_ENGINE_TRACE_ARROW_H

#include <stdbool.h>
#include <stdint.h>

#include "task.h"

struct eng_arrow_end {
  uintptr_t link; /* what record and wait have in common; addresses come again, so times decide, too */
  uint64_t lane;
  int64_t start_ns, end_ns; /* of the task */
  int64_t reached_ns;       /* of a wait for an event: when its record was made; -1: not known */
  bool starts;              /* a record, or a callback's post, which the wait behind it waits for */
  bool lasts;               /* what it starts ends after it: the callback on its thread */
};

typedef void (*eng_arrow_draw)(const struct eng_arrow_end *record, const struct eng_arrow_end *wait);

/* False: the task is no end of an arrow. */
bool eng_arrow_end_of(const struct eng_task *task, struct eng_arrow_end *end);
/* A record and its waits are told in any order; an arrow is drawn when both ends are known. */
void eng_arrow_add(const struct eng_arrow_end *end, eng_arrow_draw draw);
void eng_arrows_forget(void);

#endif
