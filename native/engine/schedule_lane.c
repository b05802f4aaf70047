/* SPDX-License-Identifier: Apache-2.0
 * Lanes: which streams the schedule has, from their first submit until they go back to their workers.
 */
#include "schedule.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bell.h"
#include "bench.h"
#include "context.h"
#include "door.h"
#include "fault.h"
#include "schedule_lane.h"
#include "stream.h"
#include "watch.h"

pthread_mutex_t eng_schedule_lock = PTHREAD_MUTEX_INITIALIZER;
struct eng_schedule_state eng_schedule_now;
_Thread_local struct eng_schedule_thread eng_schedule_self;

static pthread_key_t key_;
static pthread_once_t key_once_ = PTHREAD_ONCE_INIT;

/* ---- threads ---- */

static void thread_ends_(void *generation) {
  pthread_mutex_lock(&eng_schedule_lock);
  if ((uintptr_t)generation == eng_schedule_now.generation) eng_schedule_now.known--;
  pthread_mutex_unlock(&eng_schedule_lock);
  eng_bell_ring();
}

static void make_key_(void) { (void)pthread_key_create(&key_, thread_ends_); }

/* Under the lock. */
void eng_schedule_know_thread(void) {
  if (eng_schedule_self.generation == eng_schedule_now.generation) return;
  eng_schedule_self.generation = eng_schedule_now.generation;
  eng_schedule_self.waits = eng_schedule_self.runs = eng_schedule_self.holds = 0;
  eng_schedule_now.known++;
  (void)pthread_once(&key_once_, make_key_);
  (void)pthread_setspecific(key_, (void *)(uintptr_t)eng_schedule_now.generation);
}

/* ---- lanes ---- */

const struct eng_task *eng_lane_next(const struct eng_lane *lane) {
  const struct eng_stream *stream = lane->stream;
  if (atomic_load_explicit(&stream->visible, memory_order_acquire) ==
      atomic_load_explicit(&stream->taken, memory_order_relaxed)) {
    return NULL;
  }
  return eng_queue_first(&stream->queue);
}

uint64_t eng_lane_number(const struct eng_lane *lane) {
  return atomic_load_explicit(&lane->stream->taken, memory_order_relaxed) + 1;
}

bool eng_lane_ready(const struct eng_lane *lane) {
  const struct eng_task *task = lane->busy ? NULL : eng_lane_next(lane);
  if (task == NULL) return false;
  uint64_t number = eng_lane_number(lane);
  return number <= atomic_load(&lane->stream->discard_until) || lane->let_go == number || eng_task_ready(task);
}

void eng_lane_look(struct eng_lane *lane) {
  const struct eng_task *task = lane->busy ? NULL : eng_lane_next(lane);
  if (task == NULL || task->kind != ENG_TASK_WAIT || task->work != ENG_MARK_EVENT) return;
  if (eng_task_ready(task)) lane->let_go = eng_lane_number(lane);
}

void eng_schedule_look(void) {
  for (struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) eng_lane_look(lane);
}

bool eng_schedule_any_ready(void) {
  for (struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    if (eng_lane_ready(lane)) return true;
  }
  return false;
}

/* Under both locks. */
static void add_(struct eng_stream *stream, struct eng_lane *lane) {
  struct eng_lane **link = &eng_schedule_now.lanes;
  while (*link != NULL) link = &(*link)->next;
  *lane = (struct eng_lane){.stream = stream, .number = eng_schedule_now.n_lanes++};
  if (eng_schedule_now.policy.ranked) lane->rank = eng_policy_draw(&eng_schedule_now.policy);
  *link = lane;
  eng_retain(&stream->head);
  stream->lent = true;
  stream->lane = lane;
}

/* Under the stream's lock: whether nobody has, or will soon have, the reader's side of its queue. */
static bool idle_(struct eng_stream *stream) {
  return !stream->lent && !stream->inline_busy && !stream->closing && atomic_load(&stream->gate) == 0 &&
         eng_stream_empty(stream);
}

void eng_schedule_adopt(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  while (stream->lane == NULL && stream->worker_running && idle_(stream)) { /* it is on its way to sleep */
    pthread_mutex_unlock(&stream->lock);
    sched_yield();
    pthread_mutex_lock(&stream->lock);
  }
  struct eng_lane *lane = NULL;
  if (stream->lane == NULL && idle_(stream)) lane = eng_object_alloc(sizeof(*lane));
  pthread_mutex_lock(&eng_schedule_lock);
  eng_schedule_know_thread();
  if (lane != NULL && eng_schedule_now.active) {
    eng_watch_cancel(stream);
    add_(stream, lane);
    lane = NULL;
  }
  pthread_mutex_unlock(&eng_schedule_lock);
  pthread_mutex_unlock(&stream->lock);
  free(lane);
}

bool eng_lane_unlink(struct eng_lane *lane) {
  struct eng_lane **link = &eng_schedule_now.lanes;
  while (*link != NULL && *link != lane) link = &(*link)->next;
  if (*link == NULL) return false;
  *link = lane->next;
  return true;
}

/* A lane that is out of the list: its stream goes back to its worker. */
void eng_lane_give_back(struct eng_lane *lane) {
  struct eng_stream *stream = lane->stream;
  pthread_mutex_lock(&stream->lock);
  pthread_mutex_lock(&eng_schedule_lock);
  stream->lane = NULL;
  stream->lent = false;
  pthread_mutex_unlock(&eng_schedule_lock);
  bool left = atomic_load(&stream->visible) != atomic_load(&stream->taken);
  if (left && !stream->worker_started && !eng_stopping()) (void)eng_worker_start(stream, "aclpy_schedule_stop");
  bool wake = stream->worker_sleeping;
  stream->worker_sleeping = false;
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
  eng_release(&stream->head);
  free(lane);
}

bool eng_schedule_forget(struct eng_stream *stream) {
  pthread_mutex_lock(&eng_schedule_lock);
  struct eng_lane *lane = stream->lane;
  bool left = lane != NULL && (lane->busy || eng_lane_next(lane) != NULL);
  if (left) lane->ends = true;
  bool mine = lane != NULL && !left && eng_lane_unlink(lane);
  pthread_mutex_unlock(&eng_schedule_lock);
  if (mine) eng_lane_give_back(lane);
  return left;
}

void eng_schedule_settle(struct eng_stream *stream) {
  pthread_mutex_lock(&eng_schedule_lock);
  while (stream->lane != NULL && stream->lane->busy) {
    pthread_mutex_unlock(&eng_schedule_lock);
    sched_yield();
    pthread_mutex_lock(&eng_schedule_lock);
  }
  pthread_mutex_unlock(&eng_schedule_lock);
}

/* A released stream has run its last task, or what is left never can. Then giving it back starts its worker, if it has
 * none yet, and that ends it. */
void eng_lane_end(struct eng_lane *lane) {
  struct eng_stream *stream = lane->stream;
  eng_retain(&stream->head);
  eng_lane_give_back(lane);
  if (!stream->worker_started) { /* nobody can start it any more */
    eng_context_remove_stream(stream);
    eng_release(&stream->head); /* the handle's */
  }
  eng_release(&stream->head);
}
