/* SPDX-License-Identifier: Apache-2.0
 * Task groups: captured tasks that can be issued again with other parameters.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "capture.h"
#include "door.h"
#include "failure.h"
#include "fault.h"
#include "graph.h"
#include "stream.h"

struct group_ {
  struct eng_object head;
  struct eng_graph *graph; /* a reference */
  uint32_t number;
};

struct eng_update {
  struct eng_graph *graph; /* a reference */
  uint32_t group;
  uint32_t n, room;
  bool broken; /* a task that no update takes was refused */
  struct eng_task *tasks;
};

void eng_task_group_dispose(void *object) {
  struct group_ *group = object;
  eng_release(&group->graph->head);
  free(group);
}

void eng_update_free(struct eng_update *update) {
  for (uint32_t i = 0; i < update->n; i++) eng_task_drop(&update->tasks[i]);
  free(update->tasks);
  eng_release(&update->graph->head);
  free(update);
}

static int32_t refuse_state_(const char *function, const char *expected, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_STREAM_TASK_GROUP_STATUS, function, "stream", expected,
                    "begin and end task groups and updates in pairs", "%s", got);
}

static struct eng_stream *resolve_(aclpy_handle ctx, aclpy_handle handle, const char *function, int32_t *status) {
  if (handle != 0) return eng_stream_resolve(ctx, handle, function, status);
  *status = eng_fail_null(function, "stream");
  return NULL;
}

/* ---- while capturing ---- */

static int32_t refuse_not_captured_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_NOT_CAPTURED, function, "stream", "a stream that is being captured",
                    "call aclmdlRICaptureBegin first", "a stream that is not being captured");
}

int32_t aclpy_task_group_begin(aclpy_handle ctx, aclpy_handle handle) {
  static const char function[] = "aclmdlRICaptureTaskGrpBegin";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  pthread_mutex_lock(&stream->lock);
  struct eng_graph *graph = stream->graph;
  if (graph == NULL) {
    status = refuse_not_captured_(function);
  } else {
    pthread_mutex_lock(&graph->lock);
    struct eng_branch *branch = &graph->branches[stream->branch];
    if (branch->open_group != 0) {
      status = refuse_state_(function, "no open task group", "a stream with an open task group");
    } else {
      branch->open_group = ++graph->n_groups;
    }
    pthread_mutex_unlock(&graph->lock);
  }
  pthread_mutex_unlock(&stream->lock);
  eng_release(&stream->head);
  return status;
}

/* Under the locks of stream and graph. */
static int32_t close_group_(struct eng_graph *graph, struct eng_branch *branch, aclpy_handle *made,
                            const char *function) {
  if (branch->open_group == 0) return refuse_state_(function, "an open task group", "a stream without a task group");
  struct group_ *group = eng_object_zalloc(sizeof(*group));
  if (group == NULL) return eng_fail_memory(function, "a task group");
  group->graph = graph;
  group->number = branch->open_group;
  if (!eng_handle_open(ENG_TASK_GROUP, &group->head, made)) {
    free(group);
    return eng_fail_memory(function, "a task group");
  }
  eng_retain(&graph->head);
  branch->open_group = 0;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_task_group_end(aclpy_handle ctx, aclpy_handle handle, aclpy_handle *group) {
  static const char function[] = "aclmdlRICaptureTaskGrpEnd";
  if (group == NULL) return eng_fail_null(function, "handle");
  *group = 0;
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  pthread_mutex_lock(&stream->lock);
  struct eng_graph *graph = stream->graph;
  if (graph == NULL) {
    status = refuse_not_captured_(function);
  } else {
    pthread_mutex_lock(&graph->lock);
    status = close_group_(graph, &graph->branches[stream->branch], group, function);
    pthread_mutex_unlock(&graph->lock);
  }
  pthread_mutex_unlock(&stream->lock);
  eng_release(&stream->head);
  return status;
}

void aclpy_task_group_release(aclpy_handle handle) {
  struct group_ *group = eng_handle_close(ENG_TASK_GROUP, handle, false);
  if (group != NULL) eng_release(&group->head);
}

/* ---- updating ---- */

static bool updatable_(const struct eng_task *task) {
  return task->kind == ENG_TASK_RUN &&
         (task->work == ENG_WORK_PLAN || task->work == ENG_WORK_COPY || task->work == ENG_WORK_SET);
}

static int32_t refuse_task_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP, function, "stream", "operators, copies and fills",
                    "capture the group without events, callbacks and host functions", "a task of another sort");
}

static int32_t check_group_(struct eng_graph *graph, uint32_t number, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  pthread_mutex_lock(&graph->lock);
  if (graph->state != ENG_GRAPH_READY) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CAPTURED, function, "handle", "a task group of a finished graph",
                        "call aclmdlRICaptureEnd first", "a task group of a graph that is not finished");
  }
  for (uint32_t i = 0; i < graph->n_nodes && status == ACLPY_ACL_SUCCESS; i++) {
    if (graph->nodes[i].group == number && !updatable_(&graph->nodes[i].task)) status = refuse_task_(function);
  }
  pthread_mutex_unlock(&graph->lock);
  return status;
}

static int32_t open_(struct eng_stream *stream, const struct group_ *group, const char *function) {
  int32_t status = eng_stream_check_captured(stream, function);
  if (status == ACLPY_ACL_SUCCESS) status = check_group_(group->graph, group->number, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_update *update = eng_object_zalloc(sizeof(*update));
  if (update == NULL) return eng_fail_memory(function, "an update");
  update->graph = group->graph;
  eng_retain(&update->graph->head);
  update->group = group->number;
  pthread_mutex_lock(&stream->lock);
  bool going = stream->closing, free = stream->update == NULL && stream->graph == NULL && !going;
  if (free) {
    stream->update = update;
    eng_door_shut(stream);
    atomic_fetch_or(&stream->gate, ENG_GATE_UPDATE);
  }
  pthread_mutex_unlock(&stream->lock);
  if (free) return ACLPY_ACL_SUCCESS;
  eng_update_free(update);
  if (going) return eng_stream_refuse_dead(stream->handle, function);
  return refuse_state_(function, "a stream without an update", "a stream with an update that has not ended");
}

int32_t aclpy_task_update_begin(aclpy_handle ctx, aclpy_handle handle, aclpy_handle group_handle) {
  static const char function[] = "aclmdlRICaptureTaskUpdateBegin";
  if (group_handle == 0) return eng_fail_null(function, "handle");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  struct group_ *group = eng_handle_acquire(ENG_TASK_GROUP, group_handle);
  if (group == NULL) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "handle", "a live task group",
                        "pass what aclmdlRICaptureTaskGrpEnd returned", "task group 0x%" PRIx64 ", %s", group_handle,
                        eng_handle_past_text(ENG_TASK_GROUP, group_handle));
  } else {
    status = open_(stream, group, function);
    eng_release(&group->head);
  }
  eng_release(&stream->head);
  return status;
}

int32_t eng_update_add(struct eng_stream *stream, const struct eng_task *task, const char *function) {
  struct eng_update *update = stream->update;
  if (!updatable_(task)) {
    update->broken = true;
    return refuse_task_(function);
  }
  if (update->n == update->room) {
    uint32_t room = update->room == 0 ? 4 : update->room * 2;
    struct eng_task *grown =
        eng_fault(ENG_RESOURCE_OBJECT) ? NULL : realloc(update->tasks, (size_t)room * sizeof(*grown));
    if (grown == NULL) return eng_fail_memory(function, "an update");
    update->tasks = grown;
    update->room = room;
  }
  update->tasks[update->n++] = *task;
  return ACLPY_ACL_SUCCESS;
}

/* Under the graph's lock: node of the group after `from`, or n_nodes. */
static uint32_t next_of_group_(const struct eng_graph *graph, uint32_t group, uint32_t from) {
  while (from < graph->n_nodes && graph->nodes[from].group != group) from++;
  return from;
}

static bool matches_(struct eng_update *update) {
  struct eng_graph *graph = update->graph;
  pthread_mutex_lock(&graph->lock);
  bool good = !update->broken;
  uint32_t node = next_of_group_(graph, update->group, 0);
  for (uint32_t i = 0; i < update->n && good; i++) {
    good = node < graph->n_nodes && graph->nodes[node].task.work == update->tasks[i].work &&
           graph->nodes[node].task.op == update->tasks[i].op;
    if (good) node = next_of_group_(graph, update->group, node + 1);
  }
  good = good && node == graph->n_nodes;
  pthread_mutex_unlock(&graph->lock);
  return good;
}

/* In stream order. The tasks change places: the old ones are dropped with the update. */
void eng_update_apply(struct eng_update *update) {
  struct eng_graph *graph = update->graph;
  pthread_mutex_lock(&graph->lock);
  uint32_t node = next_of_group_(graph, update->group, 0);
  for (uint32_t i = 0; i < update->n; i++) {
    struct eng_task old = graph->nodes[node].task;
    graph->nodes[node].task = update->tasks[i];
    update->tasks[i] = old;
    node = next_of_group_(graph, update->group, node + 1);
  }
  bool listed = eng_graph_list_memories(graph);
  if (!listed) graph->n_memories = 0; /* replays keep working: every task holds its memory itself */
  pthread_mutex_unlock(&graph->lock);
}

static struct eng_update *take_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  struct eng_update *update = stream->update;
  stream->update = NULL;
  atomic_fetch_and(&stream->gate, ~(unsigned)ENG_GATE_UPDATE);
  pthread_mutex_unlock(&stream->lock);
  return update;
}

void eng_update_abandon(struct eng_stream *stream) {
  struct eng_update *update = take_(stream);
  if (update != NULL) eng_update_free(update);
}

static int32_t close_(struct eng_stream *stream, const char *function) {
  struct eng_update *update = take_(stream);
  if (update == NULL) return refuse_state_(function, "a stream with an update", "a stream without an update");
  if (!matches_(update)) {
    eng_update_free(update);
    return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_UPDATE_FAILED, function, "stream",
                      "as many tasks as were captured, of the same sorts in the same order",
                      "issue the same calls again, with other parameters only", "other tasks; nothing was updated");
  }
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_UPDATE);
  task.u.update.update = update;
  int32_t status = eng_stream_submit(stream, &task, function, NULL);
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(&task);
  return status;
}

int32_t aclpy_task_update_end(aclpy_handle ctx, aclpy_handle handle) {
  static const char function[] = "aclmdlRICaptureTaskUpdateEnd";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  status = close_(stream, function);
  eng_release(&stream->head);
  return status;
}
