/* SPDX-License-Identifier: Apache-2.0
 * The public calls on finished graphs: names and pictures.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "graph.h"
#include "text.h"

int32_t aclpy_graph_set_name(aclpy_handle handle, const char *name) {
  static const char function[] = "aclmdlRISetName";
  if (name == NULL) return eng_fail_null(function, "name");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  size_t length = strlen(name);
  if (length >= sizeof(graph->name)) {
    status =
        aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "name", "at most 512 bytes", "", "%zu bytes", length);
  } else {
    pthread_mutex_lock(&graph->lock);
    memcpy(graph->name, name, length + 1);
    pthread_mutex_unlock(&graph->lock);
  }
  eng_release(&graph->head);
  return status;
}

int32_t aclpy_graph_get_name(aclpy_handle handle, size_t room, char *name) {
  static const char function[] = "aclmdlRIGetName";
  if (name == NULL) return eng_fail_null(function, "name");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  pthread_mutex_lock(&graph->lock);
  size_t length = strlen(graph->name);
  if (length < room) memcpy(name, graph->name, length + 1);
  pthread_mutex_unlock(&graph->lock);
  if (length >= room) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, function, "maxLen", "room for the name and a 0",
                        "", "%zu bytes for a name of %zu", room, length);
  }
  eng_release(&graph->head);
  return status;
}

int32_t aclpy_graph_id(aclpy_handle handle, uint32_t *id) {
  static const char function[] = "aclmdlRIGetId";
  if (id == NULL) return eng_fail_null(function, "modelRIId");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  *id = (uint32_t)graph->id;
  eng_release(&graph->head);
  return ACLPY_ACL_SUCCESS;
}

/* ---- looking inside ---- */

int32_t aclpy_graph_size(aclpy_handle handle, uint32_t *nodes, uint32_t *branches) {
  static const char function[] = "Graph";
  if (nodes == NULL || branches == NULL) return eng_fail_null(function, "nodes");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  pthread_mutex_lock(&graph->lock);
  *nodes = graph->n_nodes;
  *branches = graph->n_branches;
  pthread_mutex_unlock(&graph->lock);
  eng_release(&graph->head);
  return ACLPY_ACL_SUCCESS;
}

static const char *kind_name_(const struct eng_node *node) {
  return node->task.kind == ENG_TASK_WAIT ? "wait" : node->task.kind == ENG_TASK_RECORD ? "record" : "run";
}

int32_t aclpy_graph_node(aclpy_handle handle, uint32_t index, aclpy_graph_task *task) {
  static const char function[] = "Graph";
  if (task == NULL) return eng_fail_null(function, "task");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  pthread_mutex_lock(&graph->lock);
  if (index < graph->n_nodes) {
    const struct eng_node *node = &graph->nodes[index];
    *task =
        (aclpy_graph_task){.kind = node->task.kind, .branch = node->branch, .marker = node->slot, .group = node->group};
    eng_text(task->name, sizeof(task->name), "%s", eng_task_name(&node->task));
  } else {
    status = aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "index", "a task of the graph", "", "%" PRIu32, index);
  }
  pthread_mutex_unlock(&graph->lock);
  eng_release(&graph->head);
  return status;
}

/* Names of operators and labels: what JSON needs escaped is left out. */
static void print_name_(FILE *file, const char *name) {
  for (; *name != 0; name++) {
    if ((unsigned char)*name >= 0x20 && *name != '"' && *name != '\\') fputc(*name, file);
  }
}

/* Under the lock. */
static void print_json_(FILE *file, const struct eng_graph *graph, bool verbose) {
  fprintf(file, "{\n  \"id\": %" PRIu64 ",\n  \"name\": \"", graph->id);
  print_name_(file, graph->name);
  fprintf(file, "\",\n  \"streams\": %" PRIu32 ",\n  \"tasks\": [", graph->n_branches);
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    const struct eng_node *node = &graph->nodes[i];
    fprintf(file, "%s\n    {\"task\": %" PRIu32 ", \"stream\": %" PRIu32 ", \"kind\": \"%s\", \"name\": \"",
            i == 0 ? "" : ",", i, node->branch, kind_name_(node));
    print_name_(file, eng_task_name(&node->task));
    fputs("\"", file);
    if (node->slot != ENG_NO_SLOT) fprintf(file, ", \"marker\": %" PRId32, node->slot);
    if (verbose) {
      fprintf(file, ", \"group\": %" PRIu32 ", \"allocations\": %" PRIu32, node->group, node->task.n_holds);
    }
    fputs("}", file);
  }
  fputs("\n  ]\n}\n", file);
}

static int32_t refuse_file_(int32_t status, const char *function, const char *path) {
  return aclpy_fail(status, function, "path", "the path of a file that can be written", "check the folder",
                    "%.200s: %s", path, strerror(errno));
}

int32_t aclpy_graph_print_json(aclpy_handle handle, const char *path, uint32_t flags) {
  static const char function[] = "aclmdlRIDebugJsonPrint";
  if (path == NULL) return eng_fail_null(function, "path");
  if (flags > 1) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flags", "0 (summary) or 1 (verbose)", "", "%" PRIu32,
                      flags);
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  FILE *file = fopen(path, "we");
  if (file == NULL) {
    status = refuse_file_(ACLPY_ACL_ERROR_RT_FILE_OPEN, function, path);
  } else {
    pthread_mutex_lock(&graph->lock);
    print_json_(file, graph, flags == 1);
    pthread_mutex_unlock(&graph->lock);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) status = refuse_file_(ACLPY_ACL_ERROR_RT_FILE_WRITE, function, path);
  }
  eng_release(&graph->head);
  return status;
}

int32_t aclpy_graph_print(aclpy_handle handle) {
  static const char function[] = "aclmdlRIDebugPrint";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  pthread_mutex_lock(&graph->lock);
  print_json_(stderr, graph, false);
  pthread_mutex_unlock(&graph->lock);
  eng_release(&graph->head);
  return ACLPY_ACL_SUCCESS;
}
