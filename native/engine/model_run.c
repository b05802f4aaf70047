/* SPDX-License-Identifier: Apache-2.0
 * Running models and waiting for them; aborting them.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "graph.h"
#include "schedule.h"
#include "steer.h"
#include "stream.h"
#include "stream_state.h"

static int32_t check_built_(const struct eng_graph *graph, int32_t status, const char *function, const char *instead) {
  if (graph->built) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(status, function, "modelRI", "a model that was built, not captured", instead, "a captured graph");
}

static int32_t check_context_(const struct eng_graph *graph, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(0, function, &status);
  if (context == NULL) return status;
  bool mine = context == graph->context;
  eng_release(&context->head);
  if (mine) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MODEL_CONTEXT, function, "modelRI", "a model of the current context",
                    "call aclrtSetCurrentContext with the context in which it was built", "a model of another context");
}

/* A stream of the engine's own, on which nothing else runs. */
static int32_t start_(struct eng_graph *graph, struct eng_stream **runner, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  bool held = eng_schedule_hold();
  pthread_mutex_lock(&graph->launch_lock);
  if (graph->runner == NULL) {
    graph->runner = eng_stream_new_unlimited(graph->context, true, 0, 0, function, &status);
  }
  if (status == ACLPY_ACL_SUCCESS) status = eng_graph_launch(graph, graph->runner);
  if (status == ACLPY_ACL_SUCCESS) {
    *runner = graph->runner;
    eng_retain(&graph->runner->head);
  }
  pthread_mutex_unlock(&graph->launch_lock);
  eng_schedule_let_go(held);
  return status;
}

static int32_t execute_(struct eng_graph *graph, int32_t timeout_ms, const char *function) {
  struct eng_stream *runner = NULL;
  int64_t deadline_ns;
  int32_t status = eng_graph_check_ready(graph, function);
  if (status == ACLPY_ACL_SUCCESS) {
    status = check_built_(graph, ACLPY_ACL_ERROR_RT_PARAM_INVALID, function,
                          "call aclmdlRIExecuteAsync and synchronise the stream");
  }
  if (status == ACLPY_ACL_SUCCESS) status = eng_deadline_of_ms(timeout_ms, function, &deadline_ns);
  if (status == ACLPY_ACL_SUCCESS) status = check_context_(graph, function);
  if (status == ACLPY_ACL_SUCCESS) status = start_(graph, &runner, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  status = eng_stream_synchronize_until(runner, deadline_ns, function);
  eng_release(&runner->head);
  return status;
}

int32_t aclpy_graph_execute_sync(aclpy_handle handle, int32_t timeout_ms) {
  static const char function[] = "aclmdlRIExecute";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  status = execute_(graph, timeout_ms, function);
  eng_release(&graph->head);
  return status;
}

/* What has not begun of the executions so far is left out; their records are still made, so that nobody waits in vain.
 */
int32_t aclpy_graph_abort(aclpy_handle handle) {
  static const char function[] = "aclmdlRIAbort";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_graph *graph = eng_graph_find(handle, function, &status);
  if (graph == NULL) return status;
  status = check_built_(graph, ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function,
                        "abort the stream that runs it: aclrtStreamAbort");
  if (status == ACLPY_ACL_SUCCESS) atomic_fetch_add(&graph->aborts, 1);
  if (status == ACLPY_ACL_SUCCESS) eng_steer_abort(graph);
  eng_release(&graph->head);
  return status;
}
