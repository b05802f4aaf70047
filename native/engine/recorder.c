/* SPDX-License-Identifier: Apache-2.0
 * The recorder: which tasks really started and finished, in one order for all streams.
 */
#include <pthread.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "bench.h"
#include "failure.h"
#include "fault.h"
#include "stream.h"
#include "text.h"

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct {
  bool active, incomplete;
  aclpy_task_event *events;
  size_t n, room;
} now_;

static bool grow_(void) {
  if (now_.n < now_.room) return true;
  size_t room = now_.room == 0 ? 256 : 2 * now_.room;
  if (room > SIZE_MAX / sizeof(*now_.events) || eng_fault(ENG_RESOURCE_OBJECT)) return false;
  aclpy_task_event *events = realloc(now_.events, room * sizeof(*events));
  if (events == NULL) return false;
  now_.events = events;
  now_.room = room;
  return true;
}

static void keep_(const struct eng_task_view *view, bool finish) {
  pthread_mutex_lock(&lock_);
  if (now_.active && !now_.incomplete) {
    if (grow_()) {
      aclpy_task_event *event = &now_.events[now_.n++];
      *event = (aclpy_task_event){.sequence = now_.n,
                                  .stream = view->stream->id,
                                  .number = view->number,
                                  .finish = finish,
                                  .status = finish ? view->status : ACLPY_ACL_SUCCESS};
      eng_text(event->label, sizeof(event->label), "%s", view->label);
    } else {
      now_.incomplete = true;
    }
  }
  pthread_mutex_unlock(&lock_);
}

void eng_recorder_start(const struct eng_task_view *view) { keep_(view, false); }

void eng_recorder_finish(const struct eng_task_view *view) { keep_(view, true); }

int32_t aclpy_record_start(void) {
  pthread_mutex_lock(&lock_);
  bool active = now_.active;
  if (!active) {
    now_.n = 0;
    now_.active = true;
    now_.incomplete = false;
    eng_bench_switch(ENG_BENCH_RECORD, true);
  }
  pthread_mutex_unlock(&lock_);
  if (!active) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "record", "", "one recording at a time", "leave the other one first",
                    "a recording inside of a recording");
}

int32_t aclpy_record_stop(void) {
  pthread_mutex_lock(&lock_);
  bool active = now_.active, incomplete = now_.incomplete;
  now_.active = false;
  eng_bench_switch(ENG_BENCH_RECORD, false);
  pthread_mutex_unlock(&lock_);
  if (!active) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "record", "", "a recording", "start one first", "none");
  }
  return incomplete ? eng_fail_memory("record", "every event") : ACLPY_ACL_SUCCESS;
}

size_t aclpy_record_count(void) {
  pthread_mutex_lock(&lock_);
  size_t n = now_.n;
  pthread_mutex_unlock(&lock_);
  return n;
}

size_t aclpy_record_read(size_t first, aclpy_task_event *events, size_t room) {
  size_t written = 0;
  pthread_mutex_lock(&lock_);
  for (; written < room && first < now_.n; written++, first++) events[written] = now_.events[first];
  pthread_mutex_unlock(&lock_);
  return written;
}

void eng_recorder_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_recorder_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
