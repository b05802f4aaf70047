/* SPDX-License-Identifier: Apache-2.0
 * Replaying graphs.
 *
 * The origin's tasks go into the stream that replays, those of side branches into streams of the engine's own.
 * Captured tasks between two waits or records are one task of the queue, which runs them where they are: nothing is
 * copied for them. So a graph of a single stream is one task.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "callback.h"
#include "capture.h"
#include "context.h"
#include "event.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "graph.h"
#include "marker.h"
#include "memory.h"
#include "model.h"
#include "replay.h"
#include "reporter.h"
#include "schedule.h"
#include "steer.h"
#include "stream.h"
#include "stream_state.h"

static const char function_[] = "aclmdlRIExecuteAsync";

/* ---- life ---- */

static void over_(struct eng_replay *replay) {
  if (atomic_exchange(&replay->over, true)) return;
  struct eng_graph *graph = replay->graph;
  pthread_mutex_lock(&graph->lock);
  graph->running--;
  if (graph->steered) eng_steer_forget(replay);
  uint32_t blocking = graph->blocking;
  pthread_mutex_unlock(&graph->lock);
  if (blocking != 0) atomic_fetch_sub(&replay->target->blocking_callbacks, (int)blocking);
  eng_marker_reach(replay->end);
}

static void release_(struct eng_replay *replay) {
  if (atomic_fetch_sub(&replay->owners, 1) != 1) return;
  for (uint32_t i = 0; i < replay->n_holds; i++) eng_memory_unhold(replay->holds[i]);
  free(replay->holds);
  for (uint32_t i = 0; i < replay->n_markers; i++) eng_marker_drop(replay->markers[i]);
  eng_marker_drop(replay->settled);
  eng_marker_drop(replay->end);
  eng_release(&replay->target->head);
  eng_release(&replay->graph->head);
  free(replay);
}

void eng_replay_hold(struct eng_replay *replay) { atomic_fetch_add(&replay->owners, 1); }

void eng_replay_done(struct eng_replay *replay, bool last) {
  if (last) over_(replay);
  release_(replay);
}

/* Under the graph's lock. */
static bool hold_memories_(struct eng_replay *replay) {
  const struct eng_graph *graph = replay->graph;
  if (graph->n_memories == 0) return true;
  replay->holds = eng_object_alloc((size_t)graph->n_memories * sizeof(*replay->holds));
  if (replay->holds == NULL) return false;
  for (; replay->n_holds < graph->n_memories; replay->n_holds++) {
    eng_retain(&graph->memories[replay->n_holds]->head);
    replay->holds[replay->n_holds] = eng_memory_hold(graph->memories[replay->n_holds]);
  }
  return true;
}

static struct eng_replay *new_(struct eng_graph *graph, struct eng_stream *target) {
  struct eng_replay *replay = eng_object_zalloc(sizeof(*replay) + graph->n_slots * sizeof(replay->markers[0]));
  if (replay == NULL) return NULL;
  atomic_init(&replay->owners, 1);
  replay->graph = graph;
  replay->target = target;
  eng_retain(&graph->head);
  eng_retain(&target->head);
  replay->end = eng_marker_new(target->id);
  bool good = replay->end != NULL;
  for (; good && replay->n_markers < graph->n_slots; replay->n_markers++) {
    replay->markers[replay->n_markers] = eng_marker_new(0);
    if (replay->markers[replay->n_markers] == NULL) break;
  }
  good = good && replay->n_markers == graph->n_slots;
  pthread_mutex_lock(&graph->lock);
  good = good && hold_memories_(replay);
  if (good) graph->running++;
  atomic_init(&replay->aborts, atomic_load(&graph->aborts));
  uint32_t blocking = graph->blocking;
  pthread_mutex_unlock(&graph->lock);
  if (good) {
    if (blocking != 0) atomic_fetch_add(&target->blocking_callbacks, (int)blocking);
    return replay;
  }
  release_(replay);
  return NULL;
}

/* ---- running a stretch of captured tasks ---- */

/* Whether it went well; what did not is told, or, where the queue records, left to the run that follows. */
static bool run_node_(struct eng_replay *replay, struct eng_stream *stream, struct eng_node *node, bool tell) {
  struct eng_graph *graph = replay->graph;
  struct eng_task copy, *task = &node->task;
  if (node->group != 0 && eng_task_lendable(task)) { /* an update may exchange it meanwhile */
    pthread_mutex_lock(&graph->lock);
    bool good = eng_task_copy(&node->task, &copy);
    pthread_mutex_unlock(&graph->lock);
    if (!good) {
      int32_t lacking = eng_fail_memory(function_, "a captured task");
      if (tell) eng_stream_fail(replay->target, &node->task, lacking);
      return false;
    }
    task = &copy;
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  if (stream->foreign && !eng_foreign_launches(stream, task)) {
    status = eng_foreign_settle(stream); /* the host comes after it */
  }
  int32_t second = eng_task_run(stream, task);
  if (status == ACLPY_ACL_SUCCESS) status = second;
  if (tell && status != ACLPY_ACL_SUCCESS) eng_stream_fail(replay->target, task, status);
  if (task == &copy) eng_task_drop(task);
  return status == ACLPY_ACL_SUCCESS;
}

static void tell_abort_(struct eng_replay *replay) {
  if (atomic_exchange(&replay->told, true)) return;
  struct eng_task *task = &replay->graph->nodes[0].task; /* a model has one at least */
  eng_stream_fail(replay->target, task,
                  aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_ABORT_NORMAL, "aclmdlRIAbort", "modelRI", "",
                             "execute it again where its work is still wanted", "a model that was aborted"));
}

bool eng_replay_aborted(struct eng_replay *replay) {
  if (atomic_load_explicit(&replay->graph->aborts, memory_order_relaxed) ==
      atomic_load_explicit(&replay->aborts, memory_order_relaxed)) {
    return false;
  }
  tell_abort_(replay);
  return true;
}

static int32_t run_nodes_(struct eng_replay *replay, struct eng_stream *stream, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    if (eng_stopping()) return eng_fail_stopped(function_);
    if (eng_replay_aborted(replay)) break;
    if (eng_stream_interrupted(stream)) break;
    (void)run_node_(replay, stream, &replay->graph->nodes[i], true);
  }
  return ACLPY_ACL_SUCCESS; /* failures have been told one by one */
}

/* Runs them on a queue that records; whether the recording is whole. */
static bool record_nodes_(struct eng_replay *replay, struct eng_stream *stream, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    if (eng_stopping() || eng_replay_aborted(replay) || eng_stream_interrupted(stream)) return false;
    if (!run_node_(replay, stream, &replay->graph->nodes[i], false)) return false;
  }
  return true;
}

/* Whether a foreign device can keep a recording of the stretch and replay it by itself. */
static bool recordable_(const struct eng_graph *graph, const struct eng_stream *stream, uint32_t first, uint32_t end) {
  if (!stream->foreign || first == end || first >> ENG_STRETCH_BITS != 0) return false;
  for (uint32_t i = first; i < end; i++) {
    if (graph->nodes[i].group != 0 || !eng_foreign_launches(stream, &graph->nodes[i].task)) return false;
  }
  return true;
}

int32_t eng_replay_run(struct eng_replay *replay, struct eng_stream *stream, uint32_t first, uint32_t end) {
  bool record = false;
  uint64_t key = replay->graph->id << ENG_STRETCH_BITS | first;
  if (recordable_(replay->graph, stream, first, end) && eng_foreign_replay(stream, key, &record)) {
    return ACLPY_ACL_SUCCESS;
  }
  if (record && eng_foreign_replayed(stream, key, record_nodes_(replay, stream, first, end))) {
    return ACLPY_ACL_SUCCESS;
  }
  return run_nodes_(replay, stream, first, end); /* where it could not be recorded it has not run yet */
}

/* ---- queueing ---- */

int32_t eng_replay_flush(struct eng_replay_batch *batch) {
  if (batch->n == 0) return ACLPY_ACL_SUCCESS;
  int32_t status = eng_stream_submit_all(batch->stream, batch->tasks, batch->n, function_);
  for (uint32_t i = 0; i < batch->n && status != ACLPY_ACL_SUCCESS; i++) eng_task_drop(&batch->tasks[i]);
  batch->n = 0;
  return status;
}

/* A place for the next task, or NULL and *status. */
struct eng_task *eng_replay_place(struct eng_replay_batch *batch, int32_t *status) {
  if (batch->n == ENG_SUBMIT_MOST) *status = eng_replay_flush(batch);
  return *status == ACLPY_ACL_SUCCESS ? &batch->tasks[batch->n] : NULL;
}

bool eng_replay_in_stretch(const struct eng_node *node) {
  return node->task.kind == ENG_TASK_RUN && node->task.work != ENG_WORK_POST && node->task.work != ENG_WORK_STEER;
}

static bool is_foreign_(const struct eng_node *node) { return !eng_task_lendable(&node->task); }

int32_t eng_replay_add_stretch(struct eng_replay_batch *batch, uint32_t first, uint32_t end, bool last) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_task *task = eng_replay_place(batch, &status);
  if (task == NULL) return status;
  eng_task_init(task, ENG_TASK_RUN, ENG_WORK_REPLAY);
  bool foreign = false;
  for (uint32_t i = first; i < end && !foreign; i++) foreign = is_foreign_(&batch->replay->graph->nodes[i]);
  eng_replay_hold(batch->replay);
  task->u.replay.replay = batch->replay;
  task->u.replay.first = first;
  task->u.replay.end = end;
  task->u.replay.foreign = foreign;
  task->u.replay.last = last;
  batch->n++;
  return ACLPY_ACL_SUCCESS;
}

static int32_t act_outside_(struct eng_replay_batch *batch, const struct eng_task *captured) {
  int32_t status = eng_replay_flush(batch); /* what stands before it is queued first */
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_event *event = (struct eng_event *)captured->u.mark.object;
  if (captured->kind == ENG_TASK_WAIT) return eng_event_wait_now(event, batch->stream, function_);
  if (captured->u.mark.clears) return eng_event_reset_now(event, batch->stream, function_);
  return eng_event_record_now(event, batch->stream, function_);
}

static struct eng_marker *marker_of_(struct eng_replay *replay, int32_t slot) {
  if (slot == ENG_NO_SLOT) return NULL;
  if (!replay->graph->steered) return eng_marker_share(replay->markers[slot]);
  pthread_mutex_lock(&replay->graph->lock);
  struct eng_marker *marker = eng_marker_share(replay->markers[slot]);
  pthread_mutex_unlock(&replay->graph->lock);
  return marker;
}

/* A callback, a wait or a record. */
int32_t eng_replay_add_mark(struct eng_replay_batch *batch, const struct eng_node *node) {
  const struct eng_task *captured = &node->task;
  if (captured->kind != ENG_TASK_RUN && captured->work == ENG_MARK_EVENT && captured->u.mark.external) {
    return act_outside_(batch, captured);
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_task *task = eng_replay_place(batch, &status);
  if (task == NULL) return status;
  if (!eng_task_copy(captured, task)) return eng_fail_memory(function_, "a replayed task");
  struct eng_marker *marker = marker_of_(batch->replay, node->slot);
  if (captured->kind == ENG_TASK_RUN) {
    eng_callback_retain(task->u.post.callback);
    task->u.post.marker = marker;
  } else {
    if (task->u.mark.object != NULL) eng_retain(task->u.mark.object);
    task->u.mark.marker = marker;
  }
  batch->n++;
  return ACLPY_ACL_SUCCESS;
}

static int32_t queue_branch_(struct eng_replay_batch *batch, const struct eng_branch *branch) {
  const struct eng_node *nodes = batch->replay->graph->nodes;
  bool origin = branch == batch->replay->graph->branches;
  int32_t status = ACLPY_ACL_SUCCESS;
  uint32_t first = branch->first;
  for (uint32_t i = branch->first; i < branch->end && status == ACLPY_ACL_SUCCESS; i++) {
    if (eng_replay_in_stretch(&nodes[i])) continue;
    if (i > first) status = eng_replay_add_stretch(batch, first, i, false);
    if (status == ACLPY_ACL_SUCCESS) status = eng_replay_add_mark(batch, &nodes[i]);
    first = i + 1;
  }
  if (status == ACLPY_ACL_SUCCESS && (origin || first < branch->end)) {
    status = eng_replay_add_stretch(batch, first, branch->end, origin);
  }
  return status == ACLPY_ACL_SUCCESS ? eng_replay_flush(batch) : status;
}

int32_t eng_replay_stream_of(struct eng_graph *graph, struct eng_branch *branch, struct eng_stream **stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (branch->stream == NULL) {
    branch->stream = eng_stream_new_unlimited(graph->context, true, 0, 0, function_, &status);
  }
  *stream = branch->stream;
  return status;
}

int32_t eng_replay_after_previous(struct eng_replay_batch *batch) {
  struct eng_graph *graph = batch->replay->graph;
  if (graph->last_over == NULL || graph->last_stream == batch->stream->id || eng_marker_reached(graph->last_over)) {
    return ACLPY_ACL_SUCCESS;
  }
  struct eng_task *task = &batch->tasks[batch->n++];
  eng_task_init_mark(task, ENG_TASK_WAIT, ENG_MARK_EVENT);
  task->u.mark.marker = eng_marker_share(graph->last_over);
  return ACLPY_ACL_SUCCESS;
}

/* Under the launch lock. */
static int32_t queue_all_(struct eng_replay *replay, struct eng_replay_batch *batch) {
  struct eng_graph *graph = replay->graph;
  if (graph->steered) return eng_steer_queue(replay, batch);
  int32_t status = ACLPY_ACL_SUCCESS;
  for (uint32_t i = 0; i < graph->n_branches && status == ACLPY_ACL_SUCCESS; i++) {
    batch->replay = replay;
    batch->stream = replay->target;
    batch->n = 0;
    if (i == 0) status = eng_replay_after_previous(batch);
    if (i > 0) status = eng_replay_stream_of(graph, &graph->branches[i], &batch->stream);
    if (status == ACLPY_ACL_SUCCESS) status = queue_branch_(batch, &graph->branches[i]);
    for (uint32_t task = 0; task < batch->n; task++) eng_task_drop(&batch->tasks[task]); /* after a failure */
  }
  return status;
}

int32_t eng_graph_launch(struct eng_graph *graph, struct eng_stream *target) {
  struct eng_replay *replay = new_(graph, target);
  struct eng_replay_batch *batch = replay == NULL ? NULL : eng_object_alloc(sizeof(*batch));
  int32_t status = batch == NULL ? eng_fail_memory(function_, "a replay") : queue_all_(replay, batch);
  free(batch);
  if (replay == NULL) return status;
  if (status == ACLPY_ACL_SUCCESS) {
    struct eng_marker *old = graph->last_over;
    graph->last_over = eng_marker_share(replay->end);
    graph->last_stream = target->id;
    eng_marker_drop(old);
  } else { /* what has been queued already must not wait for what has not */
    if (graph->steered) eng_steer_lose(replay, status);
    for (uint32_t i = 0; i < replay->n_markers; i++) eng_marker_lose(replay->markers[i], status);
    over_(replay);
  }
  release_(replay);
  return status;
}

int32_t eng_graph_check_ready(struct eng_graph *graph, const char *function) {
  pthread_mutex_lock(&graph->lock);
  enum eng_graph_state state = graph->state;
  int32_t status = graph->built ? eng_model_check_ready(graph, function) : ACLPY_ACL_SUCCESS;
  pthread_mutex_unlock(&graph->lock);
  if (graph->built || state == ENG_GRAPH_READY) return status;
  if (state == ENG_GRAPH_DROPPED) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_EXECUTE, function, "modelRI", "a finished graph", "capture it again",
                      "a graph whose capture was thrown away");
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CAPTURED, function, "modelRI", "a finished graph",
                    "call aclmdlRICaptureEnd first", "a graph that is still being captured");
}

static int32_t check_target_(struct eng_graph *graph, struct eng_stream *target) {
  int32_t status = eng_stream_check_captured(target, function_);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (target->context != graph->context) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CONTEXT, function_, "modelRI", "a graph of the stream's context",
                      "capture it in the context in which it is to run", "a graph of another context");
  }
  if (atomic_load(&target->gate) & ENG_GATE_UPDATE) {
    return aclpy_fail(ACLPY_ACL_ERROR_STREAM_TASK_GROUP_STATUS, function_, "stream", "a stream without a task update",
                      "call aclmdlRICaptureTaskUpdateEnd first", "a stream that takes tasks for an update");
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_graph_execute(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function_, &status);
  if (graph == NULL) return status;
  status = eng_graph_check_ready(graph, function_);
  struct eng_stream *target = status == ACLPY_ACL_SUCCESS ? eng_stream_resolve(ctx, stream, function_, &status) : NULL;
  if (target != NULL) {
    status = check_target_(graph, target);
    if (status == ACLPY_ACL_SUCCESS) {
      bool held = eng_schedule_hold();
      pthread_mutex_lock(&graph->launch_lock);
      status = eng_graph_launch(graph, target);
      pthread_mutex_unlock(&graph->launch_lock);
      eng_schedule_let_go(held);
    }
    eng_release(&target->head);
  }
  eng_release(&graph->head);
  return status;
}
