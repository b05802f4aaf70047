/* SPDX-License-Identifier: Apache-2.0
 * The one door into a stream, and the short cut through it for small work on an empty stream.
 */
#include "aclpy_status.h"
#include "bench.h"
#include "door.h"
#include "failure.h"
#include "foreign.h"
#include "graph.h"
#include "marker.h"
#include "settings.h"
#include "stream.h"
#include "stream_state.h"
#include "watch.h"

static bool may_run_inline_(const struct eng_stream *stream, unsigned bench) {
  return bench == 0 && !stream->inline_busy &&
         atomic_load_explicit(&stream->completed, memory_order_acquire) ==
             atomic_load_explicit(&stream->submitted, memory_order_relaxed) &&
         atomic_load_explicit(&eng_settings.inline_runs, memory_order_relaxed);
}

/* Under the lock. A worker that is needed is started first: when that fails, nothing has been queued. */
static int32_t put_(struct eng_stream *stream, const struct eng_task *task, const char *function, bool *wake,
                    struct eng_task **put) {
  struct eng_task *place = eng_queue_reserve(&stream->queue);
  if (place == NULL) return eng_fail_memory(function, "a queued task");
  if (!stream->worker_started && stream->lane == NULL) {
    int32_t status = eng_worker_start(stream, function);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  *place = *task;
  eng_task_pin(place);
  if (put != NULL) *put = place;
  eng_queue_commit(&stream->queue);
  stream->queued++;
  atomic_store_explicit(&stream->submitted, atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1,
                        memory_order_release);
  if (!stream->inline_busy) {
    atomic_store_explicit(&stream->visible, stream->queued, memory_order_release);
    if (stream->foreign) atomic_store(&stream->hurried, true); /* the host's to start, as soon as its turn comes */
    /* Its borrower looks for new tasks when it gives the queue back, the worker at the end of its nap. */
    if (!stream->lent && (!stream->napping || stream->foreign)) {
      *wake = *wake || stream->worker_sleeping;
      stream->worker_sleeping = false;
    }
  }
  return ACLPY_ACL_SUCCESS;
}

/* Under the lock: the task of a stream with a gate. */
static int32_t take_elsewhere_(struct eng_stream *stream, const struct eng_task *task, const char *function) {
  int32_t status = eng_stream_refuse_gate(stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  unsigned gate = atomic_load(&stream->gate);
  if (gate & ENG_GATE_UPDATE) return eng_update_add(stream, task, function);
  return eng_graph_add(stream, task, function);
}

int32_t eng_stream_submit_all(struct eng_stream *stream, const struct eng_task *tasks, uint32_t n,
                              const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  bool wake = false;
  unsigned bench = eng_bench();
  if (bench != 0) eng_bench_before_submit(stream, bench);
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  bool gated = atomic_load_explicit(&stream->gate, memory_order_relaxed) != 0;
  if (eng_stopping()) {
    status = eng_fail_stopped(function);
  } else if (gated) {
    status = eng_stream_refuse_gate(stream, function);
    if (status == ACLPY_ACL_SUCCESS) status = eng_graph_room(stream, n, function);
  } else if (!eng_queue_room(&stream->queue, n)) {
    status = eng_fail_memory(function, "queued tasks");
  }
  for (uint32_t i = 0; i < n && status == ACLPY_ACL_SUCCESS; i++) {
    status = gated ? take_elsewhere_(stream, &tasks[i], function) : put_(stream, &tasks[i], function, &wake, NULL);
    if (stream->foreign && !gated && status == ACLPY_ACL_SUCCESS) atomic_fetch_add(&stream->backlog, 1);
    if (bench != 0 && status == ACLPY_ACL_SUCCESS && !gated) eng_bench_queued(stream, bench);
  }
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_watch_or_wake(stream);
  if (bench != 0 && !gated && status == ACLPY_ACL_SUCCESS) eng_bench_after_submit(stream, bench);
  return status;
}

/* Under the lock, on a foreign device's stream: *launch is the task when it can go to the device at once. It stays
 * out of the worker's sight until eng_foreign_launch is through. */
static int32_t put_foreign_(struct eng_stream *stream, const struct eng_task *task, const char *function, bool *wake,
                            struct eng_task **launch) {
  bool now = eng_bench() == 0 && eng_foreign_may_launch(stream, task);
  struct eng_task *place = NULL;
  if (now) stream->inline_busy = true;
  int32_t status = put_(stream, task, function, wake, &place);
  if (status != ACLPY_ACL_SUCCESS) {
    if (now) stream->inline_busy = false;
  } else if (now) {
    *launch = place;
  } else {
    atomic_fetch_add(&stream->backlog, 1);
  }
  return status;
}

static bool waits_for_a_capture_(const struct eng_task *task) {
  const struct eng_marker *marker = task->kind == ENG_TASK_WAIT ? eng_task_event_marker(task) : NULL;
  return marker != NULL && marker->capture_id != 0;
}

int32_t eng_stream_submit(struct eng_stream *stream, const struct eng_task *task, const char *function, bool *run_now) {
  int32_t status = ACLPY_ACL_SUCCESS;
  bool wake = false, queued = false;
  struct eng_task *launch = NULL;
  uint64_t number = 0;
  unsigned bench = eng_bench();
  if (run_now != NULL && eng_door_try(stream)) {
    *run_now = true;
    return status;
  }
  if (bench != 0) eng_bench_before_submit(stream, bench);
  pthread_mutex_lock(&stream->lock);
  eng_door_shut(stream);
  if (eng_stopping()) {
    status = eng_fail_stopped(function);
  } else if (atomic_load_explicit(&stream->gate, memory_order_relaxed) != 0) {
    status = take_elsewhere_(stream, task, function); /* captured tasks are seen when they are replayed */
  } else if (waits_for_a_capture_(task)) {
    status = ENG_SUBMIT_NOTHING;
  } else if (run_now != NULL && may_run_inline_(stream, bench)) {
    *run_now = true;
    eng_door_reopen(stream);
  } else {
    status = stream->foreign ? put_foreign_(stream, task, function, &wake, &launch)
                             : put_(stream, task, function, &wake, NULL);
    number = stream->queued;
    queued = status == ACLPY_ACL_SUCCESS;
  }
  if (bench != 0 && queued) eng_bench_queued(stream, bench);
  pthread_mutex_unlock(&stream->lock);
  if (launch != NULL) eng_foreign_launch(stream, launch, number);
  if (wake) eng_watch_or_wake(stream);
  if (bench != 0 && queued) eng_bench_after_submit(stream, bench);
  return status;
}
