/* SPDX-License-Identifier: Apache-2.0
 * Finding the two ends of an arrow among the latest records and waits.
 */
#include "trace_arrow.h"

#include <stddef.h>

#include "marker.h"

/* More tasks than that between the two ends' reports: no arrow. */
enum { KEPT = 512 };

struct ring_ {
  struct eng_arrow_end ends[KEPT]; /* link 0: none, or drawn */
  uint64_t added;
};

static struct ring_ records_, waits_;

static uintptr_t link_of_(const struct eng_task *task) {
  switch ((enum eng_task_mark)task->work) {
    case ENG_MARK_EVENT:
      if (task->u.mark.clears) return 0;
      return (uintptr_t)(task->u.mark.flag != NULL ? task->u.mark.flag : task->u.mark.marker);
    case ENG_MARK_VALUE:
      return task->u.mark.address;
    case ENG_MARK_NOTIFY:
    case ENG_MARK_COUNT:
    default:
      return (uintptr_t)task->u.mark.object;
  }
}

bool eng_arrow_end_of(const struct eng_task *task, struct eng_arrow_end *end) {
  end->lasts = task->kind == ENG_TASK_RUN;
  end->starts = end->lasts || task->kind == ENG_TASK_RECORD;
  end->reached_ns = -1;
  if (end->lasts) {
    end->link = task->work == ENG_WORK_POST ? (uintptr_t)task->u.post.marker : 0;
    return end->link != 0;
  }
  end->link = link_of_(task);
  if (end->link == 0) return false;
  if (task->kind == ENG_TASK_WAIT && task->work == ENG_MARK_EVENT) {
    end->reached_ns = atomic_load(&task->u.mark.marker->time_ns);
    return end->reached_ns != 0; /* a wait that was given up */
  }
  return true;
}

static bool fit_(const struct eng_arrow_end *record, const struct eng_arrow_end *wait) {
  if (record->link != wait->link || record->start_ns > wait->end_ns) return false;
  if (wait->reached_ns < 0) return true;
  return record->start_ns <= wait->reached_ns && (record->lasts || wait->reached_ns <= record->end_ns);
}

static void keep_(struct ring_ *ring, const struct eng_arrow_end *end) { ring->ends[ring->added++ % KEPT] = *end; }

static void add_record_(const struct eng_arrow_end *record, eng_arrow_draw draw) {
  keep_(&records_, record);
  uint64_t first = waits_.added > KEPT ? waits_.added - KEPT : 0;
  for (uint64_t i = first; i < waits_.added; i++) {
    struct eng_arrow_end *wait = &waits_.ends[i % KEPT];
    if (wait->link == 0 || !fit_(record, wait)) continue;
    draw(record, wait);
    wait->link = 0;
  }
}

static void add_wait_(const struct eng_arrow_end *wait, eng_arrow_draw draw) {
  uint64_t first = records_.added > KEPT ? records_.added - KEPT : 0;
  for (uint64_t i = records_.added; i-- > first;) { /* mostly a late one */
    if (!fit_(&records_.ends[i % KEPT], wait)) continue;
    draw(&records_.ends[i % KEPT], wait);
    return;
  }
  keep_(&waits_, wait);
}

void eng_arrow_add(const struct eng_arrow_end *end, eng_arrow_draw draw) {
  if (end->starts) {
    add_record_(end, draw);
  } else {
    add_wait_(end, draw);
  }
}

void eng_arrows_forget(void) { records_.added = waits_.added = 0; }
