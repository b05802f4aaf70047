/* SPDX-License-Identifier: Apache-2.0
 * Starting and ending schedules, and asking about them.
 */
#include "schedule.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "bell.h"
#include "bench.h"
#include "failure.h"
#include "schedule_lane.h"
#include "stream.h"
#include "text.h"
#include "thread.h"

enum { PATIENCE_NS = 100 * 1000 * 1000 };

size_t aclpy_schedule_replay(char *text, size_t room) {
  pthread_mutex_lock(&eng_schedule_lock);
  size_t length = eng_schedule_now.trail.incomplete ? eng_text(text, room, "%s", eng_schedule_now.policy.name)
                                                    : eng_trail_text(&eng_schedule_now.trail, text, room);
  pthread_mutex_unlock(&eng_schedule_lock);
  return length;
}

void aclpy_schedule_facts(aclpy_schedule_info *info) {
  pthread_mutex_lock(&eng_schedule_lock);
  *info = (aclpy_schedule_info){
      .active = eng_schedule_now.active, .steps = eng_schedule_now.steps, .diverged = eng_schedule_now.diverged};
  pthread_mutex_unlock(&eng_schedule_lock);
}

size_t aclpy_schedule_ready(uint64_t *streams, size_t room) {
  size_t n = 0;
  pthread_mutex_lock(&eng_schedule_lock);
  for (struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    if (!eng_lane_ready(lane)) continue;
    if (n < room) streams[n] = lane->stream->id;
    n++;
  }
  pthread_mutex_unlock(&eng_schedule_lock);
  return n;
}

static int32_t step_(struct eng_stream *stream, int32_t *ran) {
  pthread_mutex_lock(&eng_schedule_lock);
  struct eng_lane *lane = stream->lane;
  *ran = eng_schedule_now.active && lane != NULL && eng_lane_ready(lane);
  if (*ran) {
    int64_t sign;
    if (eng_schedule_now.policy.kind == ENG_POLICY_REPLAY) (void)eng_trail_next(&eng_schedule_now.policy.replay, &sign);
    eng_trail_add(&eng_schedule_now.trail, lane->number);
    eng_lane_run(lane, ENG_AS_IT_IS);
  }
  pthread_mutex_unlock(&eng_schedule_lock);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_schedule_step(aclpy_handle ctx, aclpy_handle handle, int32_t *ran) {
  static const char function[] = "Schedule.step";
  if (ran == NULL) return eng_fail_null(function, "ran");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = eng_stream_resolve(ctx, handle, function, &status);
  if (stream == NULL) return status;
  status = step_(stream, ran);
  eng_release(&stream->head);
  return status;
}

static int32_t begin_(const struct eng_policy *policy, char *replay, const char *function) {
  pthread_mutex_lock(&eng_schedule_lock);
  bool active = eng_schedule_now.active;
  if (!active) {
    free(eng_schedule_now.replay);
    eng_trail_clear(&eng_schedule_now.trail);
    eng_schedule_now.policy = *policy;
    eng_schedule_now.replay = replay;
    eng_schedule_now.generation++;
    eng_schedule_now.n_lanes = 0;
    eng_schedule_now.stamps = eng_schedule_now.steps = eng_schedule_now.diverged = 0;
    eng_schedule_now.known = eng_schedule_now.waiting = 0;
    eng_schedule_now.active = true;
    eng_schedule_know_thread();
    eng_bench_switch(ENG_BENCH_SCHEDULE, true);
  }
  pthread_mutex_unlock(&eng_schedule_lock);
  if (!active) return ACLPY_ACL_SUCCESS;
  free(replay);
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "", "one schedule at a time", "leave the other one first",
                    "a schedule inside of a schedule");
}

/* Tasks that have not run, after a moment's patience: who waits for a model's execution learns of its end a little
 * before the stream that ran it has counted its last task. */
static int64_t pending_(void) {
  const int64_t deadline_ns = eng_clock_ns() + PATIENCE_NS;
  int64_t pending = eng_workers_pending();
  while (pending != 0 && eng_clock_ns() < deadline_ns) {
    sched_yield();
    pending = eng_workers_pending();
  }
  return pending;
}

int32_t aclpy_schedule_start(const char *text) {
  static const char function[] = "scheduler";
  struct eng_policy policy;
  if (text == NULL) return eng_fail_null(function, "policy");
  char *replay = strdup(text);
  if (replay == NULL) return eng_fail_memory(function, "a schedule");
  if (!eng_policy_read(&policy, replay)) {
    free(replay);
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "policy",
                      "eager, lazy, reverse, a seed such as 7, or a replay such as r1:a2.b", "pass one of these",
                      "%.200s", text);
  }
  int64_t pending = pending_();
  if (pending == 0) return begin_(&policy, replay, function);
  free(replay);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_NOT_COMPLETE, function, "", "streams that have ended their work",
                    "synchronise every stream first", "%" PRId64 " tasks that have not run", pending);
}

static bool all_empty_(void *arg) {
  (void)arg;
  for (const struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    if (lane->busy || eng_lane_next(lane) != NULL) return false;
  }
  return true;
}

static struct eng_lane *take_all_(void) {
  pthread_mutex_lock(&eng_schedule_lock);
  struct eng_lane *lanes = eng_schedule_now.lanes;
  eng_schedule_now.lanes = NULL;
  eng_schedule_now.active = false;
  eng_bench_switch(ENG_BENCH_SCHEDULE, false);
  pthread_mutex_unlock(&eng_schedule_lock);
  eng_bell_ring();
  return lanes;
}

int32_t aclpy_schedule_stop(void) {
  static const char function[] = "scheduler";
  enum eng_wait_end end = eng_schedule_wait(&(struct eng_host_wait){.over = all_empty_, .deadline_ns = ENG_NEVER});
  if (end == ENG_WAIT_INTERRUPTED) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "", "a schedule", "start one first", "none");
  }
  for (struct eng_lane *lane = take_all_(), *next; lane != NULL; lane = next) {
    next = lane->next;
    pthread_mutex_lock(&eng_schedule_lock);
    bool ends = lane->ends;
    pthread_mutex_unlock(&eng_schedule_lock);
    if (ends) {
      eng_lane_end(lane);
    } else {
      eng_lane_give_back(lane);
    }
  }
  if (end == ENG_WAIT_STOPPED) return eng_fail_stopped(function);
  return end == ENG_WAIT_DONE ? ACLPY_ACL_SUCCESS
                              : eng_schedule_refuse_stuck(ACLPY_ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function);
}

/* The queues of streams without a worker; the others are their workers' business. */
void eng_schedule_shutdown(void) {
  for (struct eng_lane *lane = take_all_(), *next; lane != NULL; lane = next) {
    next = lane->next;
    struct eng_stream *stream = lane->stream;
    pthread_mutex_lock(&stream->lock);
    bool mine = !stream->worker_started && !stream->stolen && !lane->busy;
    if (mine) stream->stolen = true;
    uint64_t left = mine ? stream->queued - atomic_load(&stream->taken) : 0;
    pthread_mutex_unlock(&stream->lock);
    eng_queue_peek(&stream->queue, left, eng_task_drop);
    if (!lane->busy) eng_lane_give_back(lane);
  }
}

int64_t eng_schedule_pending(void) {
  int64_t pending = 0;
  pthread_mutex_lock(&eng_schedule_lock);
  for (const struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    if (lane->stream->worker_started) continue; /* counted with the workers */
    uint64_t completed = atomic_load(&lane->stream->completed);
    pending += (int64_t)(atomic_load(&lane->stream->submitted) - completed);
  }
  pthread_mutex_unlock(&eng_schedule_lock);
  return pending;
}

static bool active_at_fork_;

void eng_schedule_before_fork(void) {
  pthread_mutex_lock(&eng_schedule_lock);
  active_at_fork_ = eng_schedule_now.active;
}

bool eng_schedule_was_active(void) { return active_at_fork_; }

void eng_schedule_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&eng_schedule_lock);
    return;
  }
  pthread_mutex_init(&eng_schedule_lock, NULL);
  eng_schedule_now.active = false; /* its streams stay behind, as all of them do */
  eng_schedule_now.lanes = NULL;
  eng_schedule_now.waiters = NULL;
  eng_schedule_now.running = 0;
  eng_bench_switch(ENG_BENCH_SCHEDULE, false);
}
