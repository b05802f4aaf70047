/* SPDX-License-Identifier: Apache-2.0
 * The end of graphs and models, and the functions that are called then.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "graph.h"
#include "model.h"

struct eng_farewell {
  aclpy_graph_farewell function;
  void *data;
  struct eng_farewell *next; /* in the order of registration */
};

/* ---- what is called ---- */

static struct eng_farewell *take_all_(struct eng_graph *graph) {
  pthread_mutex_lock(&graph->lock);
  struct eng_farewell *list = graph->farewells;
  graph->farewells = NULL;
  pthread_mutex_unlock(&graph->lock);
  return list;
}

void eng_graph_say_farewell(struct eng_graph *graph) {
  for (struct eng_farewell *one = take_all_(graph), *next; one != NULL; one = next) {
    next = one->next;
    one->function(one->data);
    free(one);
  }
}

void eng_graph_forget_farewells(struct eng_graph *graph) {
  for (struct eng_farewell *one = graph->farewells, *next; one != NULL; one = next) {
    next = one->next;
    free(one);
  }
  graph->farewells = NULL;
}

static int32_t refuse_function_(const char *function, const char *expected, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "func", expected, "", "%s", got);
}

int32_t aclpy_graph_farewell_register(aclpy_handle handle, aclpy_graph_farewell farewell, void *data) {
  static const char function[] = "aclmdlRIDestroyRegisterCallback";
  if (farewell == NULL) return refuse_function_(function, "a function", "NULL");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  struct eng_farewell *made = eng_object_alloc(sizeof(*made));
  if (made == NULL) {
    status = eng_fail_memory(function, "a callback");
  } else {
    *made = (struct eng_farewell){.function = farewell, .data = data};
    pthread_mutex_lock(&graph->lock);
    struct eng_farewell **link = &graph->farewells;
    while (*link != NULL) link = &(*link)->next;
    *link = made;
    pthread_mutex_unlock(&graph->lock);
  }
  eng_release(&graph->head);
  return status;
}

int32_t aclpy_graph_farewell_unregister(aclpy_handle handle, aclpy_graph_farewell farewell) {
  static const char function[] = "aclmdlRIDestroyUnregisterCallback";
  if (farewell == NULL) return refuse_function_(function, "a registered function", "NULL");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  pthread_mutex_lock(&graph->lock);
  struct eng_farewell **link = &graph->farewells;
  while (*link != NULL && (*link)->function != farewell) link = &(*link)->next;
  struct eng_farewell *found = *link;
  if (found != NULL) *link = found->next;
  pthread_mutex_unlock(&graph->lock);
  if (found == NULL) status = refuse_function_(function, "a registered function", "a function that is not registered");
  free(found);
  eng_release(&graph->head);
  return status;
}

/* ---- the end ---- */

static int32_t check_destroy_(struct eng_graph *graph, const char *function) {
  pthread_mutex_lock(&graph->lock);
  bool capturing = !graph->built && (graph->state == ENG_GRAPH_CAPTURING || graph->state == ENG_GRAPH_INVALID);
  int64_t running = graph->running;
  pthread_mutex_unlock(&graph->lock);
  if (capturing) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CAPTURED, function, "modelRI", "a finished graph",
                      "call aclmdlRICaptureEnd first", "a graph that is still being captured");
  }
  if (running == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_RUNNING, function, "modelRI", "a graph that is not running",
                    "synchronise the stream that runs it first", "a graph with %" PRId64 " replays queued or running",
                    running);
}

static void end_(struct eng_graph *closed) { /* takes over the handle's reference */
  if (closed->built) eng_model_unbind_all(closed);
  eng_graph_say_farewell(closed);
  eng_release(&closed->head);
}

int32_t aclpy_graph_destroy(aclpy_handle handle) {
  static const char function[] = "aclmdlRIDestroy";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  status = check_destroy_(graph, function);
  if (status == ACLPY_ACL_SUCCESS && eng_handle_close(ENG_GRAPH, handle, false) != NULL) end_(graph);
  eng_release(&graph->head);
  return status;
}

void aclpy_graph_release(aclpy_handle handle) {
  struct eng_graph *graph = eng_handle_close(ENG_GRAPH, handle, false);
  if (graph != NULL) end_(graph); /* replays hold what they need */
}
