/* SPDX-License-Identifier: Apache-2.0
 * Building models: begin, bind, end; and unbinding.
 */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "capture.h"
#include "context.h"
#include "door.h"
#include "failure.h"
#include "marker.h"
#include "steer.h"
#include "stream.h"

enum { FLAG_HEAD = 0, FLAG_DEFAULT = 0x7FFFFFFF };

static int32_t refuse_relation_(const char *function, const char *argument, const char *expected, const char *hint,
                                const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, argument, expected, hint, "%s", got);
}

static bool building_(const struct eng_graph *graph) { return graph->state == ENG_GRAPH_CAPTURING; }

/* ---- begin ---- */

int32_t aclpy_model_build_begin(aclpy_handle ctx, uint32_t flag, aclpy_handle *model) {
  static const char function[] = "aclmdlRIBuildBegin";
  if (model == NULL) return eng_fail_null(function, "modelRI");
  if (flag != 0) return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag", "0", "", "%" PRIu32, flag);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  struct eng_graph *graph = eng_graph_new(context, function, &status);
  eng_release(&context->head);
  if (graph == NULL) return status;
  graph->built = true;
  graph->mode = ENG_MODE_NONE;
  graph->start = eng_marker_new(0);
  if (graph->start == NULL) {
    if (eng_handle_close(ENG_GRAPH, graph->handle, false) != NULL) eng_release(&graph->head);
    return eng_fail_memory(function, "a model");
  }
  eng_capture_enlist(graph);
  *model = graph->handle;
  return ACLPY_ACL_SUCCESS;
}

/* ---- which model, which stream ---- */

static struct eng_graph *find_(aclpy_handle handle, const char *function, int32_t *status) {
  struct eng_graph *graph = eng_graph_find(handle, function, status);
  if (graph == NULL || graph->built) return graph;
  eng_release(&graph->head);
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "modelRI", "a model of aclmdlRIBuildBegin", "",
                       "a captured graph");
  return NULL;
}

typedef int32_t (*act_)(struct eng_graph *graph, struct eng_stream *stream, const char *function);

/* Under the stream's lock and the graph's. */
static int32_t with_both_(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream, act_ act, const char *function) {
  if (stream == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = find_(model, function, &status);
  if (graph == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL && found->context != graph->context) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CONTEXT, function, "modelRI", "a model of the stream's context",
                        "build it in the context of its streams", "a model of another context");
  } else if (found != NULL) {
    pthread_mutex_lock(&found->lock);
    pthread_mutex_lock(&graph->lock);
    status = act(graph, found, function);
    pthread_mutex_unlock(&graph->lock);
    pthread_mutex_unlock(&found->lock);
  }
  if (found != NULL) eng_release(&found->head);
  eng_release(&graph->head);
  return status;
}

static int32_t check_building_(const struct eng_graph *graph, const char *function) {
  if (building_(graph)) return ACLPY_ACL_SUCCESS;
  return refuse_relation_(function, "modelRI", "a model that is being built", "build another one",
                          "a model whose building has ended");
}

static int32_t check_mine_(const struct eng_graph *graph, const struct eng_stream *stream, const char *function) {
  if (stream->graph == graph) return ACLPY_ACL_SUCCESS;
  return refuse_relation_(
      function, "stream", "a stream bound to this model", "call aclmdlRIBindStream first",
      stream->graph == NULL ? "a stream that is bound to no model" : "a stream that is bound to another model");
}

/* ---- binding ---- */

static int32_t check_unbound_(const struct eng_stream *stream, const char *function) {
  if (stream->closing) return eng_stream_refuse_dead(stream->handle, function); /* by another thread, meanwhile */
  if ((atomic_load(&stream->gate) & ENG_GATE_PERSISTENT) == 0) {
    return refuse_relation_(function, "stream", "a persistent stream",
                            "create it by aclrtCreateStreamWithConfig with ACL_STREAM_PERSISTENT",
                            "a stream that runs its tasks at once");
  }
  if (stream->graph == NULL) return ACLPY_ACL_SUCCESS;
  return refuse_relation_(function, "stream", "a stream bound to no model", "unbind it from the other model first",
                          "a stream that is bound already");
}

/* A branch begins with the model: the first one's first task says so to the others. */
static bool add_mark_(struct eng_graph *graph, uint32_t branch, enum eng_task_kind kind, struct eng_marker *marker) {
  struct eng_task task;
  eng_task_init_mark(&task, kind, ENG_MARK_EVENT);
  task.u.mark.marker = eng_marker_share(marker);
  if (eng_graph_append(graph, &task, branch)) return true;
  eng_task_drop(&task);
  return false;
}

static bool has_head_(const struct eng_graph *graph) {
  for (uint32_t i = 0; i < graph->n_bound; i++) {
    if (graph->bound[i].head) return true;
  }
  return false;
}

static int32_t bind_as_(struct eng_graph *graph, struct eng_stream *stream, bool head, const char *function) {
  int32_t status = check_building_(graph, function);
  if (status == ACLPY_ACL_SUCCESS) status = check_unbound_(stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_bound *bound = realloc(graph->bound, (graph->n_bound + 1) * sizeof(*bound));
  if (bound == NULL) return eng_fail_memory(function, "a bound stream");
  graph->bound = bound;
  int32_t branch = eng_graph_branch(graph, NULL);
  enum eng_task_kind first = has_head_(graph) ? ENG_TASK_WAIT : ENG_TASK_RECORD;
  if (branch < 0 || (head && !add_mark_(graph, (uint32_t)branch, first, graph->start))) {
    if (branch >= 0) graph->n_branches--;
    return eng_fail_memory(function, "a bound stream");
  }
  graph->branches[branch].origin = stream->handle;
  graph->bound[graph->n_bound++] = (struct eng_bound){.stream = stream, .head = head};
  eng_retain(&stream->head);
  eng_retain(&graph->head);
  stream->graph = graph;
  stream->branch = (uint32_t)branch;
  eng_door_shut(stream);
  atomic_fetch_or(&stream->gate, ENG_GATE_CAPTURE | ENG_GATE_MODEL);
  return ACLPY_ACL_SUCCESS;
}

static int32_t bind_head_(struct eng_graph *graph, struct eng_stream *stream, const char *function) {
  return bind_as_(graph, stream, true, function);
}

static int32_t bind_other_(struct eng_graph *graph, struct eng_stream *stream, const char *function) {
  if (!stream->foreign) return bind_as_(graph, stream, false, function);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "flag", "ACL_MODEL_STREAM_FLAG_HEAD (0)",
                    "let every stream start with the model, ordered by events",
                    "a stream of a CUDA device that another one activates");
}

int32_t aclpy_model_bind(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream, uint32_t flag) {
  static const char function[] = "aclmdlRIBindStream";
  if (flag != FLAG_HEAD && flag != FLAG_DEFAULT) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag",
                      "ACL_MODEL_STREAM_FLAG_HEAD (0) or ACL_MODEL_STREAM_FLAG_DEFAULT (0x7FFFFFFF)", "", "%" PRIu32,
                      flag);
  }
  return with_both_(ctx, model, stream, flag == FLAG_HEAD ? bind_head_ : bind_other_, function);
}

/* ---- the end of building ---- */

static int32_t end_task_(struct eng_graph *graph, struct eng_stream *stream, const char *function) {
  int32_t status = check_building_(graph, function);
  if (status == ACLPY_ACL_SUCCESS) status = check_mine_(graph, stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  atomic_fetch_and(&stream->gate, ~(unsigned)ENG_GATE_CAPTURE);
  graph->ended = true;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_model_end_task(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream) {
  return with_both_(ctx, model, stream, end_task_, "aclmdlRIEndTask");
}

/* The first branch waits for all others, so that its end is the model's. */
static bool join_(struct eng_graph *graph) {
  for (uint32_t branch = 1; branch < graph->n_branches; branch++) {
    struct eng_marker *end = eng_marker_new(0);
    bool good =
        end != NULL && add_mark_(graph, branch, ENG_TASK_RECORD, end) && add_mark_(graph, 0, ENG_TASK_WAIT, end);
    if (end != NULL) eng_marker_drop(end);
    if (!good) return false;
  }
  return true;
}

/* Bound streams take no more tasks. Their number does not grow any more. */
static void close_streams_(struct eng_graph *graph) {
  for (uint32_t i = 0; i < graph->n_bound; i++) {
    struct eng_stream *stream = graph->bound[i].stream;
    if (stream == NULL) continue;
    pthread_mutex_lock(&stream->lock);
    if (stream->graph == graph) atomic_fetch_and(&stream->gate, ~(unsigned)ENG_GATE_CAPTURE);
    pthread_mutex_unlock(&stream->lock);
  }
}

static int32_t claim_end_(struct eng_graph *graph, const char *function) {
  pthread_mutex_lock(&graph->lock);
  int32_t status = check_building_(graph, function);
  if (status == ACLPY_ACL_SUCCESS && !graph->ended) {
    const bool bare = graph->n_bound == 0;
    status = refuse_relation_(function, "modelRI", "a model with a stream whose tasks have ended",
                              bare ? "bind a stream with aclmdlRIBindStream and end its tasks with aclmdlRIEndTask"
                                   : "call aclmdlRIEndTask first",
                              bare ? "a model without a stream" : "a model none of whose streams has ended its tasks");
  }
  if (status == ACLPY_ACL_SUCCESS) status = eng_steer_look(graph, function);
  if (status == ACLPY_ACL_SUCCESS) graph->state = ENG_GRAPH_DROPPED; /* takes no more tasks */
  pthread_mutex_unlock(&graph->lock);
  return status;
}

int32_t aclpy_model_build_end(aclpy_handle model, const void *reserve) {
  static const char function[] = "aclmdlRIBuildEnd";
  if (reserve != NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "reserve", "NULL", "", "a pointer");
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = find_(model, function, &status);
  if (graph == NULL) return status;
  status = claim_end_(graph, function);
  if (status == ACLPY_ACL_SUCCESS) {
    close_streams_(graph);
    eng_capture_unlist(graph);
    pthread_mutex_lock(&graph->lock);
    if ((!graph->steered && !join_(graph)) || !eng_graph_finish(graph)) status = eng_fail_memory(function, "a model");
    if (status == ACLPY_ACL_SUCCESS) graph->state = ENG_GRAPH_READY;
    pthread_mutex_unlock(&graph->lock);
  }
  eng_release(&graph->head);
  return status;
}

/* ---- unbinding ---- */

/* Under both locks. The two references between stream and graph are the caller's to release. */
static void let_go_(struct eng_graph *graph, struct eng_stream *stream) {
  for (uint32_t i = 0; i < graph->n_bound; i++) {
    if (graph->bound[i].stream == stream) graph->bound[i].stream = NULL;
  }
  graph->unbound = true;
  stream->graph = NULL;
  atomic_fetch_and(&stream->gate, ~(unsigned)(ENG_GATE_CAPTURE | ENG_GATE_MODEL));
}

static int32_t unbind_(struct eng_graph *graph, struct eng_stream *stream, const char *function) {
  int32_t status = check_mine_(graph, stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (building_(graph)) {
    return refuse_relation_(function, "modelRI", "a model whose building has ended", "call aclmdlRIBuildEnd first",
                            "a model that is being built");
  }
  if (graph->running != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_RUNNING, function, "modelRI", "a model that is not running",
                      "synchronise the stream that runs it first", "%" PRId64 " executions queued or running",
                      graph->running);
  }
  let_go_(graph, stream);
  return ACLPY_ACL_SUCCESS;
}

static void release_both_(struct eng_graph *graph, struct eng_stream *stream) {
  eng_release(&graph->head);
  eng_release(&stream->head);
}

int32_t aclpy_model_unbind(aclpy_handle ctx, aclpy_handle model, aclpy_handle handle) {
  struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle); /* outlives what the binding held */
  struct eng_graph *graph = eng_handle_acquire(ENG_GRAPH, model);
  int32_t status = with_both_(ctx, model, handle, unbind_, "aclmdlRIUnbindStream");
  if (status == ACLPY_ACL_SUCCESS) release_both_(graph, stream);
  if (graph != NULL) eng_release(&graph->head);
  if (stream != NULL) eng_release(&stream->head);
  return status;
}

static bool take_(struct eng_graph *graph, struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  pthread_mutex_lock(&graph->lock);
  bool mine = stream->graph == graph;
  if (mine) let_go_(graph, stream);
  if (mine && building_(graph)) graph->state = ENG_GRAPH_DROPPED;
  pthread_mutex_unlock(&graph->lock);
  pthread_mutex_unlock(&stream->lock);
  return mine;
}

void eng_model_lose_stream(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  struct eng_graph *graph = stream->graph;
  if (graph != NULL) eng_retain(&graph->head);
  pthread_mutex_unlock(&stream->lock);
  if (graph == NULL) return;
  eng_capture_unlist(graph);
  if (take_(graph, stream)) release_both_(graph, stream);
  eng_release(&graph->head);
}

void eng_model_unbind_all(struct eng_graph *graph) {
  eng_capture_unlist(graph);
  for (uint32_t i = 0;; i++) {
    pthread_mutex_lock(&graph->lock);
    if (building_(graph)) graph->state = ENG_GRAPH_DROPPED; /* binds no more */
    bool more = i < graph->n_bound;
    struct eng_stream *stream = more ? graph->bound[i].stream : NULL;
    if (stream != NULL) eng_retain(&stream->head);
    pthread_mutex_unlock(&graph->lock);
    if (!more) return;
    if (stream == NULL) continue;
    if (take_(graph, stream)) release_both_(graph, stream);
    eng_release(&stream->head);
  }
}

/* ---- asking ---- */

int32_t eng_model_check_ready(const struct eng_graph *graph, const char *function) {
  if (graph->state == ENG_GRAPH_READY && !graph->unbound) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_EXECUTE, function, "modelRI", "a model that has been built",
                    building_(graph) ? "call aclmdlRIBuildEnd first" : "build it again", "%s",
                    building_(graph)                  ? "a model that is being built"
                    : graph->state == ENG_GRAPH_READY ? "a model that has lost one of its streams"
                                                      : "a model whose building failed");
}

int32_t eng_stream_check_bound(struct eng_stream *stream, const char *function) {
  if ((atomic_load(&stream->gate) & ENG_GATE_MODEL) == 0) return ACLPY_ACL_SUCCESS;
  return refuse_relation_(function, "stream", "a stream bound to no model", "call aclmdlRIUnbindStream first",
                          "a stream that is bound to a model");
}

int32_t aclpy_graph_streams(aclpy_handle handle, aclpy_handle *streams, uint32_t *number) {
  static const char function[] = "aclmdlRIGetStreams";
  if (number == NULL) return eng_fail_null(function, "numStreams");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  uint32_t found = 0;
  pthread_mutex_lock(&graph->lock);
  for (uint32_t i = 0; i < graph->n_branches; i++) {
    bool gone = graph->built && graph->bound[i].stream == NULL;
    if (gone) continue;
    if (streams != NULL && found < *number) streams[found] = graph->branches[i].origin;
    found++;
  }
  pthread_mutex_unlock(&graph->lock);
  eng_release(&graph->head);
  if (streams != NULL && found > *number) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, function, "numStreams", "room for every stream",
                      "ask with streams NULL first", "%" PRIu32 " for %" PRIu32, *number, found);
  }
  *number = found;
  return ACLPY_ACL_SUCCESS;
}
