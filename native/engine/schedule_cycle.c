/* SPDX-License-Identifier: Apache-2.0
 * Who waits for whom, and how that is told.
 */
#include <inttypes.h>

#include "mark.h"
#include "schedule.h"
#include "schedule_lane.h"
#include "stream.h"
#include "text.h"

/* What a waiter waits for: a marker, or the object or address that a record changes. */
struct sought_ {
  const struct eng_marker *marker;
  const void *object;
  uintptr_t address;
  uint8_t mark;
};

static bool supplies_(const struct eng_task *task, const void *arg) {
  const struct sought_ *sought = arg;
  if (task->kind == ENG_TASK_RUN) {
    return task->work == ENG_WORK_POST && sought->marker != NULL && task->u.post.marker == sought->marker;
  }
  if (task->kind != ENG_TASK_RECORD || task->work != sought->mark || task->u.mark.clears) return false;
  switch ((enum eng_task_mark)sought->mark) {
    case ENG_MARK_EVENT:
      return sought->marker != NULL && (task->u.mark.marker == sought->marker || task->u.mark.flag == sought->marker);
    case ENG_MARK_VALUE:
      return task->u.mark.address == sought->address;
    case ENG_MARK_NOTIFY:
    case ENG_MARK_COUNT:
    default:
      return task->u.mark.object == sought->object;
  }
}

static uint64_t queued_(const struct eng_lane *lane) {
  return atomic_load_explicit(&lane->stream->visible, memory_order_acquire) -
         atomic_load_explicit(&lane->stream->taken, memory_order_relaxed);
}

static struct eng_lane *search_(struct eng_lane *lanes, const struct sought_ *sought, uint64_t *position) {
  for (struct eng_lane *lane = lanes; lane != NULL; lane = lane->next) {
    if (lane->busy || !eng_queue_find(&lane->stream->queue, queued_(lane), supplies_, sought, position)) continue;
    return lane;
  }
  return NULL;
}

static struct sought_ sought_by_(const struct eng_task *task) {
  return (struct sought_){.marker = task->work == ENG_MARK_EVENT ? task->u.mark.marker : NULL,
                          .object = task->u.mark.object,
                          .address = task->u.mark.address,
                          .mark = task->work};
}

static struct eng_lane *supplier_(struct eng_lane *lanes, const struct eng_lane *lane, uint64_t *position) {
  const struct eng_task *task = eng_lane_next(lane);
  if (task == NULL || task->kind != ENG_TASK_WAIT) return NULL;
  struct sought_ sought = sought_by_(task);
  return search_(lanes, &sought, position);
}

struct eng_lane *eng_lane_supplier(struct eng_lane *lanes, const struct eng_lane *lane) {
  uint64_t position;
  return supplier_(lanes, lane, &position);
}

struct eng_lane *eng_lane_wanted(struct eng_lane *lanes, const struct eng_host_wait *wait) {
  for (struct eng_lane *lane = lanes; wait->stream != NULL && lane != NULL; lane = lane->next) {
    if (lane->stream == wait->stream) return lane;
  }
  if (wait->key == NULL) return NULL;
  uint64_t position;
  return search_(lanes, &(struct sought_){.marker = wait->key, .object = wait->key, .mark = ENG_MARK_EVENT}, &position);
}

/* ---- telling ---- */

static size_t clause_(struct eng_lane *lanes, const struct eng_lane *lane, char *text, size_t room,
                      struct eng_lane **next) {
  const struct eng_task *task = eng_lane_next(lane);
  uint64_t position = 0;
  *next = supplier_(lanes, lane, &position);
  const char *what = eng_mark_name(task);
  if (*next == lane) {
    return eng_text(text, room, "stream %" PRIu64 " waits in %s for what is queued behind it in the same stream",
                    lane->stream->id, what);
  }
  if (*next == NULL) {
    return eng_text(text, room, "stream %" PRIu64 " waits in %s for what nobody has queued", lane->stream->id, what);
  }
  return eng_text(
      text, room, "stream %" PRIu64 " waits in %s for task %" PRIu64 " of stream %" PRIu64, lane->stream->id, what,
      atomic_load_explicit(&(*next)->stream->taken, memory_order_relaxed) + position + 1, (*next)->stream->id);
}

static bool stuck_(const struct eng_lane *lane) {
  const struct eng_task *task = eng_lane_next(lane);
  return task != NULL && task->kind == ENG_TASK_WAIT && !lane->busy;
}

void eng_schedule_explain(struct eng_lane *lanes, struct eng_lane *first, char *text, size_t room) {
  struct eng_lane *lane = first;
  uint32_t most = 0;
  for (struct eng_lane *one = lanes; one != NULL; one = one->next, most++) {
    if ((lane == NULL || !stuck_(lane)) && stuck_(one)) lane = one;
  }
  size_t at = eng_text(text, room, "a deadlock: ");
  if (lane == NULL || !stuck_(lane)) {
    eng_text(text + at, room - at, "no queued task can bring what the program waits for");
    return;
  }
  struct eng_lane *start = lane;
  do {
    at += clause_(lanes, lane, text + at, room - at, &lane);
    if (lane == NULL || lane == start || !stuck_(lane)) break;
    at += eng_text(text + at, room - at, "; ");
  } while (most-- > 0);
}
