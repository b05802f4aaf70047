/* SPDX-License-Identifier: Apache-2.0
 * Building graphs.
 */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "event.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "marker.h"
#include "memory.h"
#include "stream.h"

static _Atomic uint64_t ids_;

struct eng_graph *eng_graph_new(struct eng_context *context, const char *function, int32_t *status) {
  struct eng_graph *graph = eng_object_zalloc(sizeof(*graph));
  if (graph == NULL) {
    *status = eng_fail_memory(function, "a graph");
    return NULL;
  }
  pthread_mutex_init(&graph->lock, NULL);
  pthread_mutex_init(&graph->launch_lock, NULL);
  graph->id = atomic_fetch_add(&ids_, 1) + 1;
  graph->context = context;
  if (eng_handle_open(ENG_GRAPH, &graph->head, &graph->handle)) {
    eng_retain(&context->head);
    return graph;
  }
  pthread_mutex_destroy(&graph->lock);
  pthread_mutex_destroy(&graph->launch_lock);
  free(graph);
  *status = eng_fail_memory(function, "a graph");
  return NULL;
}

static void end_stream_(struct eng_stream *stream) {
  if (stream == NULL) return;
  if (eng_handle_close(ENG_STREAM, stream->handle, false) != NULL) eng_stream_finish_later(stream);
  eng_release(&stream->head);
}

void eng_graph_dispose(void *object) {
  struct eng_graph *graph = object;
  if (eng_device_foreign(graph->context->device))
    eng_foreign_forget_graph(graph->context->device, graph->id << ENG_STRETCH_BITS);
  for (uint32_t i = 0; i < graph->n_nodes; i++) eng_task_drop(&graph->nodes[i].task);
  for (uint32_t i = 0; i < graph->n_slots; i++) eng_marker_drop(graph->slots[i].origin);
  for (uint32_t i = 0; i < graph->n_branches; i++) end_stream_(graph->branches[i].stream);
  free(graph->nodes);
  free(graph->slots);
  free(graph->branches);
  free(graph->memories);
  eng_marker_drop(graph->last_over);
  if (graph->start != NULL) eng_marker_drop(graph->start);
  end_stream_(graph->runner);
  free(graph->bound);
  eng_graph_forget_farewells(graph);
  pthread_mutex_destroy(&graph->lock);
  pthread_mutex_destroy(&graph->launch_lock);
  eng_release(&graph->context->head);
  free(graph);
}

struct eng_graph *eng_graph_find(aclpy_handle handle, const char *function, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
    return NULL;
  }
  if (handle == 0) {
    *status = eng_fail_null(function, "modelRI");
    return NULL;
  }
  struct eng_graph *graph = eng_handle_acquire(ENG_GRAPH, handle);
  if (graph == NULL) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "modelRI", "a live graph",
                         "use a graph that has not been destroyed", "graph 0x%" PRIx64 ", %s", handle,
                         eng_handle_past_text(ENG_GRAPH, handle));
  }
  return graph;
}

/* ---- growing ---- */

static bool grow_(void **array, uint32_t *room, uint32_t needed, size_t size) {
  if (needed <= *room) return true;
  uint32_t more = *room == 0 ? 16 : *room * 2;
  while (more < needed) more *= 2;
  if (eng_fault(ENG_RESOURCE_OBJECT)) return false;
  void *grown = realloc(*array, (size_t)more * size);
  if (grown == NULL) return false;
  *array = grown;
  *room = more;
  return true;
}

static bool room_(struct eng_graph *graph, uint32_t n) {
  return n < UINT32_MAX / 2 - graph->n_nodes &&
         grow_((void **)&graph->nodes, &graph->room_nodes, graph->n_nodes + n, sizeof(struct eng_node)) &&
         grow_((void **)&graph->slots, &graph->room_slots, graph->n_slots + n, sizeof(struct eng_slot));
}

int32_t eng_graph_branch(struct eng_graph *graph, struct eng_stream *stream) {
  if (!grow_((void **)&graph->branches, &graph->room_branches, graph->n_branches + 1, sizeof(struct eng_branch))) {
    return -1;
  }
  graph->branches[graph->n_branches] = (struct eng_branch){.stream = stream, .empty = true};
  return (int32_t)graph->n_branches++;
}

/* ---- adding ---- */

static int32_t new_slot_(struct eng_graph *graph, struct eng_marker *origin, uint32_t branch) {
  graph->slots[graph->n_slots] =
      (struct eng_slot){.origin = eng_marker_share(origin), .branch = branch, .node = graph->n_nodes};
  return (int32_t)graph->n_slots++;
}

static int32_t find_slot_(const struct eng_graph *graph, const struct eng_marker *origin) {
  for (uint32_t i = graph->n_slots; i-- > 0;) { /* mostly a recent one */
    if (graph->slots[i].origin == origin) return (int32_t)i;
  }
  return ENG_NO_SLOT;
}

static int32_t slot_of_(struct eng_graph *graph, const struct eng_task *task, uint32_t branch) {
  if (task->kind == ENG_TASK_RUN) {
    bool posts = task->work == ENG_WORK_POST && task->u.post.marker != NULL;
    return posts ? new_slot_(graph, task->u.post.marker, branch) : ENG_NO_SLOT;
  }
  struct eng_marker *marker = eng_task_event_marker(task);
  if (marker == NULL) return ENG_NO_SLOT;
  if (task->kind == ENG_TASK_RECORD) return new_slot_(graph, marker, branch);
  int32_t slot = find_slot_(graph, marker);
  if (slot != ENG_NO_SLOT && graph->slots[slot].branch != branch) {
    graph->slots[slot].joined = true;
    graph->slots[slot].joined_by = branch;
  }
  return slot;
}

/* A captured wait does not wait: the event's count of waits is not its business. */
static void forget_event_(struct eng_task *task) {
  if (task->kind != ENG_TASK_WAIT || task->work != ENG_MARK_EVENT || task->u.mark.external) return;
  if (task->u.mark.object == NULL) return;
  eng_event_wait_over(task->u.mark.object);
  eng_release(task->u.mark.object);
  task->u.mark.object = NULL;
}

static void append_(struct eng_graph *graph, const struct eng_task *task, uint32_t branch) {
  struct eng_branch *place = &graph->branches[branch];
  struct eng_node *node = &graph->nodes[graph->n_nodes];
  node->task = *task;
  node->branch = branch;
  node->group = place->open_group;
  node->slot = slot_of_(graph, task, branch);
  forget_event_(&node->task);
  if (task->kind == ENG_TASK_RUN && task->work == ENG_WORK_POST && task->u.post.marker != NULL) graph->blocking++;
  place->last = graph->n_nodes;
  place->empty = false;
  graph->n_nodes++;
}

bool eng_graph_append(struct eng_graph *graph, const struct eng_task *task, uint32_t branch) {
  if (!room_(graph, 1)) return false;
  append_(graph, task, branch);
  return true;
}

static int32_t refuse_invalid_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, function, "stream", "a capture that is still valid",
                    "end the capture and begin again without the call that was refused",
                    "a stream whose capture an illegal event operation has invalidated");
}

int32_t eng_graph_room(struct eng_stream *stream, uint32_t n, const char *function) {
  struct eng_graph *graph = stream->graph;
  if (graph == NULL) return ACLPY_ACL_SUCCESS; /* an update: it says by itself what it does not take */
  pthread_mutex_lock(&graph->lock);
  bool room = room_(graph, n);
  pthread_mutex_unlock(&graph->lock);
  return room ? ACLPY_ACL_SUCCESS : eng_fail_memory(function, "captured tasks");
}

/* A wait for a record that is not of this graph: its stream came into it, or the record's capture ended, meanwhile. */
static bool is_stray_(const struct eng_graph *graph, const struct eng_task *task) {
  struct eng_marker *marker = task->kind == ENG_TASK_WAIT ? eng_task_event_marker(task) : NULL;
  return marker != NULL && task->u.mark.object != NULL && marker->capture_id != graph->id; /* without: a callback's */
}

static int32_t refuse_stray_(struct eng_graph *graph, const char *function) {
  if (!graph->built) graph->state = ENG_GRAPH_INVALID;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_CAPTURE_DEPENDENCY, function, "event", "an event recorded in the same capture",
                    "begin and end captures while no other thread waits for their events",
                    "an event recorded outside of the capture");
}

int32_t eng_graph_add(struct eng_stream *stream, const struct eng_task *task, const char *function) {
  struct eng_graph *graph = stream->graph;
  struct eng_marker *marker = eng_task_event_marker(task);
  int32_t status = ACLPY_ACL_SUCCESS;
  pthread_mutex_lock(&graph->lock);
  if (graph->state != ENG_GRAPH_CAPTURING) {
    status = refuse_invalid_(function);
  } else if (is_stray_(graph, task)) {
    status = refuse_stray_(graph, function);
  } else if (!room_(graph, 1)) {
    status = eng_fail_memory(function, "a captured task");
  } else {
    if (task->kind == ENG_TASK_RECORD && marker != NULL) marker->capture_id = graph->id;
    append_(graph, task, stream->branch);
  }
  pthread_mutex_unlock(&graph->lock);
  return status;
}

/* ---- finishing ---- */

/* A branch has come back when its last node is a record that a branch waits for which has come back itself. */
bool eng_graph_joined(const struct eng_graph *graph) {
  for (uint32_t branch = 1; branch < graph->n_branches; branch++) {
    uint32_t at = branch;
    for (uint32_t steps = 0; at != 0; steps++) {
      const struct eng_branch *place = &graph->branches[at];
      int32_t slot = place->empty ? ENG_NO_SLOT : graph->nodes[place->last].slot;
      if (steps == graph->n_branches || slot == ENG_NO_SLOT) return false;
      if (graph->slots[slot].node != place->last || !graph->slots[slot].joined) return false;
      at = graph->slots[slot].joined_by;
    }
  }
  return true;
}

static int compare_(const void *left, const void *right) {
  uintptr_t a = (uintptr_t)*(struct eng_memory *const *)left, b = (uintptr_t)*(struct eng_memory *const *)right;
  return a < b ? -1 : a > b;
}

bool eng_graph_list_memories(struct eng_graph *graph) {
  size_t n = 0;
  for (uint32_t i = 0; i < graph->n_nodes; i++) n += graph->nodes[i].task.n_holds;
  struct eng_memory **list = n == 0 ? NULL : eng_object_alloc(n * sizeof(*list));
  if (n != 0 && list == NULL) return false;
  size_t at = 0;
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    const eng_hold *holds = eng_task_holds(&graph->nodes[i].task);
    for (uint32_t hold = 0; hold < graph->nodes[i].task.n_holds; hold++) list[at++] = eng_hold_memory(holds[hold]);
  }
  if (n != 0) qsort(list, n, sizeof(*list), compare_);
  uint32_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
  }
  free(graph->memories);
  graph->memories = list;
  graph->n_memories = kept;
  return true;
}

bool eng_graph_finish(struct eng_graph *graph) {
  struct eng_node *sorted = NULL;
  if (graph->n_nodes != 0) {
    sorted = eng_object_alloc((size_t)graph->n_nodes * sizeof(*sorted));
    if (sorted == NULL) return false;
  }
  uint32_t at = 0;
  for (uint32_t branch = 0; branch < graph->n_branches; branch++) {
    graph->branches[branch].first = at;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
      if (graph->nodes[i].branch == branch) memcpy(&sorted[at++], &graph->nodes[i], sizeof(*sorted));
    }
    graph->branches[branch].end = at;
  }
  free(graph->nodes);
  graph->nodes = sorted;
  return eng_graph_list_memories(graph);
}
