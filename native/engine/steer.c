/* SPDX-License-Identifier: Apache-2.0
 * Executing models whose streams start and end by what their tasks find.
 */
#include "steer.h"

#include <stdlib.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "marker.h"
#include "model.h"
#include "replay.h"
#include "stream.h"

static const char function_[] = "aclmdlRIExecuteAsync";

/* ---- branches ---- */

static void end_branch_(struct eng_replay *replay) {
  if (atomic_fetch_sub(&replay->live, 1) == 1) eng_marker_reach(replay->settled);
}

/* A branch that runs again makes its records and callbacks again: what was reached gives way to a new marker, for those
 * who begin to wait from now on. */
static bool renew_(struct eng_replay *replay, const struct eng_node *node) {
  bool records = node->task.kind == ENG_TASK_RECORD || node->task.kind == ENG_TASK_RUN;
  if (!records || node->slot == ENG_NO_SLOT) return true;
  struct eng_marker *fresh = NULL, *old = NULL;
  pthread_mutex_lock(&replay->graph->lock);
  if (eng_marker_reached(replay->markers[node->slot])) {
    fresh = eng_marker_new(0);
    old = fresh != NULL ? replay->markers[node->slot] : NULL;
    if (fresh != NULL) replay->markers[node->slot] = fresh;
  } else {
    fresh = replay->markers[node->slot];
  }
  pthread_mutex_unlock(&replay->graph->lock);
  eng_marker_drop(old);
  return fresh != NULL;
}

/* A captured task, or one of this sort. */
static int32_t add_steer_(struct eng_replay_batch *batch, const struct eng_task *captured, enum eng_steer what,
                          uint32_t branch, uint32_t node) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_task *task = eng_replay_place(batch, &status);
  if (task == NULL) return status;
  if (captured == NULL) {
    eng_task_init(task, ENG_TASK_RUN, ENG_WORK_STEER);
    task->u.steer.what = what;
  } else if (!eng_task_copy(captured, task)) {
    return eng_fail_memory(function_, "a replayed task");
  }
  eng_replay_hold(batch->replay);
  task->u.steer.replay = batch->replay;
  task->u.steer.branch = branch;
  task->u.steer.node = node;
  task->u.steer.over = false;
  batch->n++;
  return ACLPY_ACL_SUCCESS;
}

/* From node `first` of the branch to its next switch or its end. *closed: with a task that goes on from there, which
 * ends the branch where it is dropped. */
static int32_t queue_piece_(struct eng_replay_batch *batch, uint32_t branch, uint32_t first, bool *closed) {
  const struct eng_graph *graph = batch->replay->graph;
  const struct eng_branch *place = &graph->branches[branch];
  int32_t status = ACLPY_ACL_SUCCESS;
  bool switched = false;
  uint32_t i = first;
  for (; i < place->end && status == ACLPY_ACL_SUCCESS && !switched; i++) {
    const struct eng_node *node = &graph->nodes[i];
    if (eng_replay_in_stretch(node)) continue;
    if (i > first) status = eng_replay_add_stretch(batch, first, i, false);
    if (status != ACLPY_ACL_SUCCESS) break;
    if (node->task.kind == ENG_TASK_RUN && node->task.work == ENG_WORK_STEER) {
      status = add_steer_(batch, &node->task, ENG_STEER_SWITCH, branch, i);
      switched = node->task.u.steer.what == ENG_STEER_SWITCH;
      *closed = switched && status == ACLPY_ACL_SUCCESS;
    } else {
      status = renew_(batch->replay, node) ? eng_replay_add_mark(batch, node)
                                           : eng_fail_memory(function_, "a replayed task");
    }
    first = i + 1;
  }
  if (status == ACLPY_ACL_SUCCESS && !switched) {
    if (first < place->end) status = eng_replay_add_stretch(batch, first, place->end, false);
    if (status == ACLPY_ACL_SUCCESS) status = add_steer_(batch, NULL, ENG_STEER_END, branch, place->end);
    *closed = status == ACLPY_ACL_SUCCESS;
  }
  return status == ACLPY_ACL_SUCCESS ? eng_replay_flush(batch) : status;
}

static void drop_rest_(struct eng_replay_batch *batch) {
  for (uint32_t i = 0; i < batch->n; i++) eng_task_drop(&batch->tasks[i]);
  batch->n = 0;
}

/* Goes on with a branch that counts as live. */
static void go_on_(struct eng_replay *replay, struct eng_task *why, uint32_t branch, uint32_t first) {
  struct eng_replay_batch *batch = eng_object_alloc(sizeof(*batch));
  int32_t status = batch == NULL ? eng_fail_memory(function_, "a replayed task") : ACLPY_ACL_SUCCESS;
  bool closed = false;
  if (batch != NULL) {
    batch->replay = replay;
    batch->stream = replay->graph->branches[branch].stream;
    batch->n = 0;
    status = queue_piece_(batch, branch, first, &closed);
    drop_rest_(batch);
  }
  free(batch);
  if (status != ACLPY_ACL_SUCCESS) eng_stream_fail(replay->target, why, status);
  if (!closed) end_branch_(replay);
}

static void start_(struct eng_replay *replay, struct eng_task *why, uint32_t branch) {
  atomic_fetch_add(&replay->live, 1);
  go_on_(replay, why, branch, replay->graph->branches[branch].first);
}

/* The branches that start with the model. The execution counts as a branch itself until all have started. */
static void begin_(struct eng_replay *replay, struct eng_task *why) {
  const struct eng_graph *graph = replay->graph;
  for (uint32_t i = 0; i < graph->n_branches; i++) {
    if (graph->bound[i].head) start_(replay, why, i);
  }
}

/* ---- the tasks ---- */

static bool compare_(int64_t left, int64_t right, uint32_t condition) {
  switch (condition) {
    case 0:
      return left == right;
    case 1:
      return left != right;
    case 2:
      return left > right;
    case 3:
      return left >= right;
    case 4:
      return left < right;
    default:
      return left <= right;
  }
}

static int64_t read_(uintptr_t address, bool wide) {
  return wide ? __atomic_load_n((const int64_t *)address, __ATOMIC_ACQUIRE)
              : __atomic_load_n((const int32_t *)address, __ATOMIC_ACQUIRE);
}

static bool jumps_(const struct eng_task *task) {
  bool wide = task->u.steer.wide;
  return compare_(read_(task->u.steer.left, wide), read_(task->u.steer.right, wide), task->u.steer.condition);
}

int32_t eng_steer_run(struct eng_stream *stream, struct eng_task *task) {
  struct eng_replay *replay = task->u.steer.replay;
  if (eng_stopping() || eng_replay_aborted(replay) || eng_stream_interrupted(stream)) return ACLPY_ACL_SUCCESS;
  switch ((enum eng_steer)task->u.steer.what) {
    case ENG_STEER_BEGIN:
      begin_(replay, task);
      break;
    case ENG_STEER_ACTIVATE:
      start_(replay, task, task->u.steer.target);
      break;
    case ENG_STEER_SWITCH:
      if (jumps_(task)) {
        start_(replay, task, task->u.steer.target);
      } else {
        task->u.steer.over = true;
        go_on_(replay, task, task->u.steer.branch, task->u.steer.node + 1);
      }
      break;
    case ENG_STEER_END:
    default:
      break;
  }
  return ACLPY_ACL_SUCCESS; /* what has not gone on by now ends when the task is dropped */
}

void eng_steer_drop(struct eng_task *task) {
  struct eng_replay *replay = task->u.steer.replay;
  if (replay == NULL) return;
  if (task->u.steer.what != ENG_STEER_ACTIVATE && !task->u.steer.over) end_branch_(replay);
  eng_replay_done(replay, false);
}

const char *eng_steer_name(const struct eng_task *task) {
  static const char *const names[] = {"aclrtActiveStream", "aclrtSwitchStream", "aclmdlRIEndTask",
                                      "aclmdlRIExecuteAsync"};
  return names[task->u.steer.what];
}

/* ---- executions ---- */

void eng_steer_lose(struct eng_replay *replay, int32_t status) {
  if (replay->settled != NULL) eng_marker_lose(replay->settled, status);
}

/* Under the graph's lock: records that will not be made any more hold nobody up. */
static void reach_all_(struct eng_replay *replay) {
  for (uint32_t i = 0; i < replay->n_markers; i++) {
    if (!eng_marker_reached(replay->markers[i])) eng_marker_reach(replay->markers[i]);
  }
}

void eng_steer_abort(struct eng_graph *graph) {
  pthread_mutex_lock(&graph->lock);
  for (struct eng_replay *replay = graph->steered_replays; replay != NULL; replay = replay->next) reach_all_(replay);
  pthread_mutex_unlock(&graph->lock);
}

/* Branches that are left, when the target's work was dropped, have nothing to do any more. */
void eng_steer_forget(struct eng_replay *replay) {
  struct eng_replay **link = &replay->graph->steered_replays;
  while (*link != NULL && *link != replay) link = &(*link)->next;
  if (*link != NULL) *link = replay->next;
  if (atomic_load(&replay->live) <= 0) return;
  atomic_store(&replay->told, true);
  atomic_store(&replay->aborts, UINT64_MAX);
  reach_all_(replay);
}

static int32_t add_wait_(struct eng_replay_batch *batch, struct eng_marker *marker) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_task *task = eng_replay_place(batch, &status);
  if (task == NULL) return status;
  eng_task_init_mark(task, ENG_TASK_WAIT, ENG_MARK_EVENT);
  task->u.mark.marker = eng_marker_share(marker);
  batch->n++;
  return ACLPY_ACL_SUCCESS;
}

static int32_t prepare_(struct eng_replay *replay) {
  struct eng_graph *graph = replay->graph;
  int32_t status = ACLPY_ACL_SUCCESS;
  for (uint32_t i = 0; i < graph->n_branches && status == ACLPY_ACL_SUCCESS; i++) {
    struct eng_stream *stream;
    status = eng_replay_stream_of(graph, &graph->branches[i], &stream);
  }
  atomic_store(&replay->live, 1);
  replay->settled = eng_marker_new(0);
  if (status == ACLPY_ACL_SUCCESS && replay->settled == NULL) status = eng_fail_memory(function_, "a replay");
  return status;
}

/* The target starts the branches, and waits until none is left. */
int32_t eng_steer_queue(struct eng_replay *replay, struct eng_replay_batch *batch) {
  struct eng_graph *graph = replay->graph;
  int32_t status = prepare_(replay);
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&graph->lock);
  replay->next = graph->steered_replays;
  graph->steered_replays = replay;
  pthread_mutex_unlock(&graph->lock);
  batch->replay = replay;
  batch->stream = replay->target;
  batch->n = 0;
  status = eng_replay_after_previous(batch);
  if (status == ACLPY_ACL_SUCCESS) status = add_steer_(batch, NULL, ENG_STEER_BEGIN, 0, 0);
  if (status == ACLPY_ACL_SUCCESS) status = add_wait_(batch, replay->settled);
  if (status == ACLPY_ACL_SUCCESS) status = eng_replay_add_stretch(batch, 0, 0, true);
  if (status == ACLPY_ACL_SUCCESS) status = eng_replay_flush(batch);
  drop_rest_(batch);
  return status;
}

int32_t eng_steer_look(struct eng_graph *graph, const char *function) {
  uint32_t heads = 0;
  for (uint32_t i = 0; i < graph->n_bound; i++) {
    heads += graph->bound[i].head;
    graph->steered |= !graph->bound[i].head;
  }
  for (uint32_t i = 0; i < graph->n_nodes && !graph->steered; i++) {
    const struct eng_task *task = &graph->nodes[i].task;
    graph->steered = task->kind == ENG_TASK_RUN && task->work == ENG_WORK_STEER;
  }
  if (heads != 0 || graph->n_bound == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, "modelRI", "a model with a stream that starts with it",
                    "bind one with ACL_MODEL_STREAM_FLAG_HEAD", "a model all of whose streams wait to be activated");
}
