/* SPDX-License-Identifier: Apache-2.0
 * Queueing what steers a model: starting one of its streams, and switching to one.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "failure.h"
#include "foreign.h"
#include "graph.h"
#include "memory.h"
#include "steer.h"
#include "stream.h"

enum { CONDITIONS = 6, INT32 = 0, INT64 = 1 };

static int32_t refuse_unbound_(const char *function, const char *argument, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, argument, "a persistent stream bound to the model",
                    "call aclmdlRIBindStream first", "%s", got);
}

/* The model that the stream is bound to, with a reference, and its branch there; NULL: none. */
static struct eng_graph *model_of_(struct eng_stream *stream, uint32_t *branch) {
  pthread_mutex_lock(&stream->lock);
  struct eng_graph *graph = (atomic_load(&stream->gate) & ENG_GATE_MODEL) != 0 ? stream->graph : NULL;
  if (graph != NULL) eng_retain(&graph->head);
  *branch = stream->branch;
  pthread_mutex_unlock(&stream->lock);
  return graph;
}

static int32_t aim_(struct eng_stream *stream, struct eng_stream *target, struct eng_task *task, const char *argument,
                    const char *function) {
  uint32_t here, there;
  struct eng_graph *graph = model_of_(stream, &here), *other = model_of_(target, &there);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (graph == NULL) {
    status = refuse_unbound_(function, "stream", "a stream that is bound to no model");
  } else if (other != graph) {
    status = refuse_unbound_(function, argument,
                             other == NULL ? "a stream that is bound to no model" : "a stream of another model");
  }
  task->u.steer.target = there;
  if (graph != NULL) eng_release(&graph->head);
  if (other != NULL) eng_release(&other->head);
  return status;
}

/* Takes over what the task holds. */
static int32_t queue_(aclpy_handle ctx, struct eng_task *task, aclpy_handle target, const char *argument,
                      aclpy_handle stream, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  struct eng_stream *aimed = found == NULL ? NULL : eng_stream_resolve(ctx, target, function, &status);
  if (aimed != NULL && found->foreign) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream of an emulated device",
                        "order the model's streams by events", "a stream of a CUDA device");
  } else if (aimed != NULL) {
    status = aim_(found, aimed, task, argument, function);
    if (status == ACLPY_ACL_SUCCESS) status = eng_stream_submit(found, task, function, NULL);
  }
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(task);
  if (aimed != NULL) eng_release(&aimed->head);
  if (found != NULL) eng_release(&found->head);
  return status;
}

static void init_(struct eng_task *task, enum eng_steer what) {
  eng_task_init(task, ENG_TASK_RUN, ENG_WORK_STEER);
  task->u.steer.replay = NULL;
  task->u.steer.what = what;
  task->u.steer.over = false;
}

int32_t aclpy_stream_activate(aclpy_handle ctx, aclpy_handle active, aclpy_handle stream) {
  static const char function[] = "aclrtActiveStream";
  if (active == 0) return eng_fail_null(function, "activeStream");
  if (stream == 0) return eng_fail_null(function, "stream");
  struct eng_task task;
  init_(&task, ENG_STEER_ACTIVATE);
  return queue_(ctx, &task, active, "activeStream", stream, function);
}

/* A value that the switch reads at its turn. */
static int32_t hold_value_(struct eng_task *task, uintptr_t address, const char *argument, const char *function) {
  size_t size = task->u.steer.wide ? sizeof(int64_t) : sizeof(int32_t);
  if (address % size != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_ADDR_UNALIGNED, function, argument, "an address divisible by the value's size",
                      "align the value to its size", "0x%" PRIxPTR, address);
  }
  struct eng_memory *memory = eng_memory_find(address);
  bool good = memory != NULL && memory->kind == ACLPY_MEMORY_DEVICE && !eng_memory_foreign(memory) &&
              size <= memory->size - (address - memory->base);
  if (good) {
    task->hold[task->n_holds++] = (uintptr_t)memory;
    return ACLPY_ACL_SUCCESS;
  }
  char place[256];
  eng_memory_describe(address, place, sizeof(place));
  int32_t status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, argument,
                              "a value inside a live allocation of an emulated device", "allocate it with aclrtMalloc",
                              "%s", memory == NULL ? place : "other memory, or too little of it");
  if (memory != NULL) eng_release(&memory->head);
  return status;
}

static int32_t check_switch_(const aclpy_switch *what, const char *function) {
  if (what->left == 0) return eng_fail_null(function, "leftValue");
  if (what->right == 0) return eng_fail_null(function, "rightValue");
  if (what->true_stream == 0) return eng_fail_null(function, "trueStream");
  if (what->condition < 0 || what->condition >= CONDITIONS) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "cond", "a condition from 0 (==) to 5 (<=)", "",
                      "%" PRId32, what->condition);
  }
  if (what->type != INT32 && what->type != INT64) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "dataType",
                      "ACL_RT_SWITCH_INT32 (0) or ACL_RT_SWITCH_INT64 (1)", "", "%" PRId32, what->type);
  }
  if (what->false_stream == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "falseStream", "NULL: reserved",
                    "queue what is to run otherwise behind the switch", "a stream");
}

int32_t aclpy_stream_switch(aclpy_handle ctx, const aclpy_switch *what, aclpy_handle stream) {
  static const char function[] = "aclrtSwitchStream";
  int32_t status = check_switch_(what, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (stream == 0) return eng_fail_null(function, "stream");
  struct eng_task task;
  init_(&task, ENG_STEER_SWITCH);
  task.u.steer.condition = (uint32_t)what->condition;
  task.u.steer.wide = what->type == INT64;
  task.u.steer.left = what->left;
  task.u.steer.right = what->right;
  status = hold_value_(&task, what->left, "leftValue", function);
  if (status == ACLPY_ACL_SUCCESS) status = hold_value_(&task, what->right, "rightValue", function);
  if (status == ACLPY_ACL_SUCCESS) return queue_(ctx, &task, what->true_stream, "trueStream", stream, function);
  eng_task_drop(&task);
  return status;
}
