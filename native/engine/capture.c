/* SPDX-License-Identifier: Apache-2.0
 * Captures: beginning and ending them, joining them, and what they forbid meanwhile.
 */
#include "capture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "door.h"
#include "failure.h"
#include "graph.h"
#include "marker.h"
#include "model.h"
#include "thread.h"

enum { GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2, NONE = ENG_MODE_NONE }; /* the strictest first */
enum { STATUS_NONE = 0, STATUS_ACTIVE = 1, STATUS_INVALIDATED = 2 };

/* The list of captures. Taken before a stream's lock, which is taken before a graph's. */
static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_graph *list_;
static _Atomic int32_t active_;
static _Thread_local int32_t exchange_mode_ = GLOBAL;

static uint64_t self_id_(void) { return (uint64_t)(uintptr_t)pthread_self(); }

/* ---- the list ---- */

void eng_capture_enlist(struct eng_graph *graph) {
  pthread_mutex_lock(&lock_);
  graph->next = list_;
  list_ = graph;
  atomic_fetch_add(&active_, 1);
  pthread_mutex_unlock(&lock_);
}

void eng_capture_unlist(struct eng_graph *graph) {
  pthread_mutex_lock(&lock_);
  struct eng_graph **link = &list_;
  while (*link != NULL && *link != graph) link = &(*link)->next;
  if (*link != NULL) {
    *link = graph->next;
    atomic_fetch_sub(&active_, 1);
  }
  pthread_mutex_unlock(&lock_);
}

static struct eng_graph *find_active_(uint64_t id) {
  pthread_mutex_lock(&lock_);
  struct eng_graph *graph = list_;
  while (graph != NULL && graph->id != id) graph = graph->next;
  if (graph != NULL) eng_retain(&graph->head);
  pthread_mutex_unlock(&lock_);
  return graph;
}

bool eng_capture_is_active(uint64_t id) {
  struct eng_graph *graph = find_active_(id);
  if (graph == NULL) return false;
  eng_release(&graph->head);
  return true;
}

/* ---- streams ---- */

/* The graph that the stream belongs to, with a reference, or NULL. */
static struct eng_graph *graph_of_(struct eng_stream *stream, uint32_t *branch) {
  pthread_mutex_lock(&stream->lock);
  struct eng_graph *graph = stream->graph;
  if (graph != NULL) eng_retain(&graph->head);
  *branch = stream->branch;
  pthread_mutex_unlock(&stream->lock);
  return graph;
}

/* What came of making a stream a branch. Other threads may have ended the capture, taken the stream for it or for
 * something else, or be destroying it. */
enum attached_ { ATTACHED, OVER, TAKEN, GOING, NO_MEMORY };

static bool is_going_on_(const struct eng_graph *graph) {
  return graph->state == ENG_GRAPH_CAPTURING || graph->state == ENG_GRAPH_INVALID;
}

static enum attached_ attach_(struct eng_graph *graph, struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  pthread_mutex_lock(&graph->lock);
  enum attached_ end = is_going_on_(graph) ? ATTACHED : OVER;
  if (stream->graph != NULL || stream->update != NULL) end = TAKEN;
  if (stream->closing) end = GOING;
  int32_t branch = end == ATTACHED ? eng_graph_branch(graph, stream) : 0;
  if (branch < 0) end = NO_MEMORY;
  if (end == ATTACHED) {
    graph->branches[branch].origin = stream->handle;
    eng_retain(&stream->head);
    eng_retain(&graph->head);
    stream->graph = graph;
    stream->branch = (uint32_t)branch;
    eng_door_shut(stream);
    atomic_fetch_or(&stream->gate, ENG_GATE_CAPTURE);
  }
  pthread_mutex_unlock(&graph->lock);
  pthread_mutex_unlock(&stream->lock);
  return end;
}

/* The streams are their own again. Further ones cannot join: the graph is not in the list any more. */
static void detach_all_(struct eng_graph *graph) {
  for (uint32_t i = 0; i < graph->n_branches; i++) {
    struct eng_stream *stream = graph->branches[i].stream;
    graph->branches[i].stream = NULL;
    pthread_mutex_lock(&stream->lock);
    bool mine = stream->graph == graph;
    if (mine) {
      stream->graph = NULL;
      atomic_fetch_and(&stream->gate, ~(unsigned)ENG_GATE_CAPTURE);
    }
    pthread_mutex_unlock(&stream->lock);
    if (mine) eng_release(&graph->head);
    eng_release(&stream->head);
  }
}

static void invalidate_(struct eng_graph *graph) {
  if (graph->built) return; /* the call is refused, and all is as before */
  pthread_mutex_lock(&graph->lock);
  if (graph->state == ENG_GRAPH_CAPTURING) graph->state = ENG_GRAPH_INVALID;
  pthread_mutex_unlock(&graph->lock);
}

static bool is_default_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->context->lock);
  bool yes = stream->context->default_stream == stream->handle;
  pthread_mutex_unlock(&stream->context->lock);
  return yes;
}

/* ---- begin ---- */

static int32_t check_mode_(int32_t mode, const char *function) {
  if (mode >= GLOBAL && mode <= RELAXED) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "mode", "0 (global), 1 (thread local) or 2 (relaxed)",
                    "", "%" PRId32, mode);
}

static struct eng_stream *resolve_(aclpy_handle ctx, aclpy_handle handle, const char *function, int32_t *status) {
  if (handle == 0) {
    *status = eng_fail_null(function, "stream");
    return NULL;
  }
  struct eng_stream *stream = eng_stream_resolve(ctx, handle, function, status);
  if (stream == NULL || !is_default_(stream)) return stream;
  eng_release(&stream->head);
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream of aclrtCreateStream",
                       "capture on a stream of your own", "the default stream of its context");
  return NULL;
}

static int32_t check_begin_(struct eng_stream *stream, int32_t mode, const char *function) {
  int32_t status = check_mode_(mode, function);
  if (status == ACLPY_ACL_SUCCESS) status = eng_stream_check_bound(stream, function);
  if (status == ACLPY_ACL_SUCCESS) status = eng_stream_check_captured(stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  unsigned gate = atomic_load(&stream->gate);
  if ((gate & (ENG_GATE_PERSISTENT | ENG_GATE_DEVICE | ENG_GATE_UPDATE)) == 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "stream", "an ordinary stream",
                    "capture on a stream made without flags, outside of a task update",
                    "a stream with flags 0x%" PRIx32, stream->flags);
}

static int32_t refuse_taken_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURED, function, "stream", "a stream that is not being captured",
                    "let one thread capture on a stream",
                    "a stream that another thread has taken for a capture or an update");
}

static int32_t begin_(struct eng_stream *stream, int32_t mode, const char *function) {
  int32_t status = check_begin_(stream, mode, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_graph *graph = eng_graph_new(stream->context, function, &status);
  if (graph == NULL) return status;
  graph->mode = mode;
  graph->thread = self_id_();
  eng_capture_enlist(graph);
  enum attached_ end = attach_(graph, stream);
  if (end == ATTACHED) return ACLPY_ACL_SUCCESS;
  eng_capture_unlist(graph);
  if (eng_handle_close(ENG_GRAPH, graph->handle, false) != NULL) eng_release(&graph->head);
  if (end == GOING) return eng_stream_refuse_dead(stream->handle, function);
  return end == TAKEN ? refuse_taken_(function) : eng_fail_memory(function, "a capture");
}

int32_t aclpy_capture_begin(aclpy_handle ctx, aclpy_handle handle, int32_t mode) {
  static const char function[] = "aclmdlRICaptureBegin";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  status = begin_(stream, mode, function);
  eng_release(&stream->head);
  return status;
}

/* ---- end ---- */

static int32_t refuse_not_captured_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_NOT_CAPTURED, function, "stream", "a stream that is being captured",
                    "call aclmdlRICaptureBegin first", "a stream that is not being captured");
}

static bool group_open_(const struct eng_graph *graph) {
  for (uint32_t i = 0; i < graph->n_branches; i++) {
    if (graph->branches[i].open_group != 0) return true;
  }
  return false;
}

/* What is wrong with a capture that is over. Under the graph's lock. */
static int32_t judge_(const struct eng_graph *graph, const char *function) {
  if (graph->mode != RELAXED && graph->thread != self_id_()) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, function, "stream",
                      "the thread that began the capture", "end it there, or begin it in mode 2 (relaxed)",
                      "another thread; the capture is thrown away");
  }
  if (graph->state == ENG_GRAPH_INVALID) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, function, "stream", "a capture that is valid",
                      "leave out the event operation that was refused", "a capture that was invalidated");
  }
  if (group_open_(graph)) {
    return aclpy_fail(ACLPY_ACL_ERROR_STREAM_TASK_GROUP_STATUS, function, "stream", "task groups that have ended",
                      "call aclmdlRICaptureTaskGrpEnd before the capture ends",
                      "a capture with an open task group; it is thrown away");
  }
  if (!eng_graph_joined(graph)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_UNJOINED, function, "stream", "side streams that have come back",
                      "record an event last on each side stream and wait for it on the stream of the capture",
                      "a side stream with work that nobody waits for");
  }
  return ACLPY_ACL_SUCCESS;
}

/* True for the one thread that ends the capture; from then on it takes no more tasks. */
static bool claim_end_(struct eng_graph *graph, int32_t *status, const char *function) {
  eng_capture_unlist(graph);
  pthread_mutex_lock(&graph->lock);
  bool first = is_going_on_(graph);
  if (first && status != NULL) *status = judge_(graph, function);
  if (first) graph->state = ENG_GRAPH_DROPPED;
  pthread_mutex_unlock(&graph->lock);
  return first;
}

/* Ends the capture, whatever comes of it. */
static int32_t finish_(struct eng_graph *graph, aclpy_handle *made, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (!claim_end_(graph, &status, function)) return refuse_not_captured_(function);
  detach_all_(graph);
  pthread_mutex_lock(&graph->lock);
  if (status == ACLPY_ACL_SUCCESS && !eng_graph_finish(graph)) status = eng_fail_memory(function, "a graph");
  if (status == ACLPY_ACL_SUCCESS) graph->state = ENG_GRAPH_READY;
  pthread_mutex_unlock(&graph->lock);
  if (status == ACLPY_ACL_SUCCESS) {
    *made = graph->handle;
  } else if (eng_handle_close(ENG_GRAPH, graph->handle, false) != NULL) {
    eng_release(&graph->head);
  }
  return status;
}

int32_t aclpy_capture_end(aclpy_handle ctx, aclpy_handle handle, aclpy_handle *made) {
  static const char function[] = "aclmdlRICaptureEnd";
  if (made == NULL) return eng_fail_null(function, "modelRI");
  *made = 0;
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = resolve_(ctx, handle, function, &status);
  if (stream == NULL) return status;
  uint32_t branch;
  struct eng_graph *graph = graph_of_(stream, &branch);
  if (graph == NULL || graph->built) {
    status = refuse_not_captured_(function);
  } else if (branch != 0) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, function, "stream",
                        "the stream on which the capture began", "end it there", "a stream that joined by an event");
  } else {
    status = finish_(graph, made, function);
  }
  if (graph != NULL) eng_release(&graph->head);
  eng_release(&stream->head);
  return status;
}

void eng_capture_abandon(struct eng_stream *stream) {
  uint32_t branch;
  struct eng_graph *graph = graph_of_(stream, &branch);
  if (graph == NULL) return;
  if (graph->built) {
    eng_model_lose_stream(stream);
    eng_release(&graph->head);
    return;
  }
  if (claim_end_(graph, NULL, NULL)) {
    detach_all_(graph);
    if (eng_handle_close(ENG_GRAPH, graph->handle, false) != NULL) eng_release(&graph->head);
  }
  eng_release(&graph->head);
}

/* ---- asking ---- */

int32_t aclpy_capture_info(aclpy_handle ctx, aclpy_handle handle, int32_t *state, aclpy_handle *made) {
  static const char function[] = "aclmdlRICaptureGetInfo";
  if (state == NULL && made == NULL) return eng_fail_null(function, "status");
  if (handle == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *stream = eng_stream_resolve(ctx, handle, function, &status);
  if (stream == NULL) return status;
  uint32_t branch;
  struct eng_graph *graph = graph_of_(stream, &branch);
  bool captured = graph != NULL && !graph->built;
  int32_t found = STATUS_NONE;
  if (captured) {
    pthread_mutex_lock(&graph->lock);
    found = graph->state == ENG_GRAPH_CAPTURING ? STATUS_ACTIVE : STATUS_INVALIDATED;
    pthread_mutex_unlock(&graph->lock);
  }
  if (state != NULL) *state = found;
  if (made != NULL) *made = captured ? graph->handle : 0;
  if (graph != NULL) eng_release(&graph->head);
  eng_release(&stream->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_capture_exchange_mode(int32_t *mode) {
  static const char function[] = "aclmdlRICaptureThreadExchangeMode";
  if (mode == NULL) return eng_fail_null(function, "mode");
  int32_t status = check_mode_(*mode, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  int32_t old = exchange_mode_;
  exchange_mode_ = *mode;
  *mode = old;
  return ACLPY_ACL_SUCCESS;
}

/* ---- events ---- */

int32_t eng_capture_refuse_kind(struct eng_stream *stream, const char *function) {
  uint32_t branch;
  struct eng_graph *graph = graph_of_(stream, &branch);
  bool built = graph != NULL && graph->built;
  if (graph != NULL) {
    invalidate_(graph);
    eng_release(&graph->head);
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "event",
                    "an event of aclrtCreateEventExWithFlag inside a capture or a model",
                    built ? "create it with aclrtCreateEventExWithFlag(ACL_EVENT_SYNC)"
                          : "create it with aclrtCreateEventExWithFlag(ACL_EVENT_SYNC); the capture has become invalid",
                    "an event of another kind, or a reset");
}

static int32_t refuse_wait_(struct eng_graph *graph, int32_t status, const char *function, const char *expected,
                            const char *got) {
  invalidate_(graph);
  return aclpy_fail(status, function, "event", expected,
                    graph->built ? "record it in a stream of the same model"
                                 : "the capture has become invalid: end it and begin again",
                    "%s", got);
}

static int32_t join_(struct eng_stream *stream, struct eng_graph *recorded, bool *again, const char *function) {
  if (recorded->built) {
    return refuse_wait_(recorded, ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, "a stream bound to the event's model",
                        "another stream waiting for an event of a model that is being built");
  }
  if (is_default_(stream)) {
    return refuse_wait_(recorded, ACLPY_ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, function,
                        "a stream other than the default one", "the default stream waiting for a captured event");
  }
  if (stream->context != recorded->context) {
    return refuse_wait_(recorded, ACLPY_ACL_ERROR_STREAM_CAPTURE_CONFLICT, function, "streams of one context",
                        "a stream of another context waiting for a captured event");
  }
  switch (attach_(recorded, stream)) {
    case NO_MEMORY:
      return eng_fail_memory(function, "a captured stream");
    case GOING:
      return eng_stream_refuse_dead(stream->handle, function);
    case TAKEN: /* it belongs to a capture now, this one or another: what follows is as if it had before */
      *again = true;
      break;
    case OVER: /* so is the record: the wait finds that out (ENG_SUBMIT_NOTHING) */
    case ATTACHED:
      break;
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t try_join_(struct eng_stream *stream, const struct eng_marker *marker, bool *again,
                         const char *function) {
  uint32_t branch;
  struct eng_graph *own = graph_of_(stream, &branch);
  struct eng_graph *recorded = marker->capture_id == 0 ? NULL : find_active_(marker->capture_id);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (own != NULL && recorded == NULL) {
    status = refuse_wait_(own, ACLPY_ACL_ERROR_RT_CAPTURE_DEPENDENCY, function, "an event recorded in the same capture",
                          "an event recorded outside of the capture");
  } else if (own != NULL && own != recorded) {
    status = refuse_wait_(own, ACLPY_ACL_ERROR_STREAM_CAPTURE_CONFLICT, function,
                          "an event recorded in the same capture", "an event of another capture");
  } else if (own == NULL && recorded != NULL) {
    status = join_(stream, recorded, again, function);
  }
  if (own != NULL) eng_release(&own->head);
  if (recorded != NULL) eng_release(&recorded->head);
  return status;
}

int32_t eng_capture_join(struct eng_stream *stream, const struct eng_marker *marker, const char *function) {
  bool again = false;
  int32_t status = try_join_(stream, marker, &again, function);
  if (again) status = try_join_(stream, marker, &again, function);
  return status;
}

/* ---- what is forbidden ---- */

static bool forbids_(const struct eng_context *context) {
  int32_t in_context = NONE, by_thread = NONE;
  pthread_mutex_lock(&lock_);
  for (const struct eng_graph *graph = list_; graph != NULL; graph = graph->next) {
    if (graph->context == context && graph->mode < in_context) in_context = graph->mode;
    if (graph->thread == self_id_() && graph->mode < by_thread) by_thread = graph->mode;
  }
  pthread_mutex_unlock(&lock_);
  if (exchange_mode_ == RELAXED) return false;
  if (exchange_mode_ == GLOBAL) return in_context == GLOBAL || by_thread == THREAD_LOCAL;
  return by_thread == GLOBAL || by_thread == THREAD_LOCAL;
}

struct eng_context *eng_capture_resolve(aclpy_handle ctx, const char *function, int32_t *status) {
  struct eng_context *context = eng_context_resolve(ctx, function, status);
  if (context == NULL || atomic_load_explicit(&active_, memory_order_relaxed) == 0 || !forbids_(context)) {
    return context;
  }
  eng_release(&context->head);
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, function, "",
                       "no capture whose mode forbids synchronous copies",
                       "end the capture first, capture in another mode, or call aclmdlRICaptureThreadExchangeMode",
                       "a call during a capture that forbids it");
  return NULL;
}

/* 107000 on a stream that is captured, 107041 where a mode forbids what has become a synchronous copy. */
static int32_t check_pageable_(struct eng_stream *stream, const char *function) {
  if (atomic_load_explicit(&active_, memory_order_relaxed) == 0) return ACLPY_ACL_SUCCESS;
  bool captured = eng_stream_capturing(stream);
  if (!captured && !forbids_(stream->context)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(captured ? ACLPY_ACL_ERROR_RT_PARAM_INVALID : ACLPY_ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, function,
                    "", "memory of aclrtMallocHost on the host's side",
                    "pin the memory, or copy outside of the capture", "pageable host memory during a capture");
}

int32_t eng_stream_settle(struct eng_stream *stream, const char *function) {
  int32_t status = check_pageable_(stream, function);
  return status == ACLPY_ACL_SUCCESS ? eng_stream_synchronize(stream, function) : status;
}

int32_t eng_capture_check_context(const struct eng_context *context, const char *function) {
  if (atomic_load_explicit(&active_, memory_order_relaxed) == 0) return ACLPY_ACL_SUCCESS;
  bool captured = false;
  pthread_mutex_lock(&lock_);
  for (const struct eng_graph *graph = list_; graph != NULL; graph = graph->next) {
    captured = captured || (!graph->built && graph->context == context);
  }
  pthread_mutex_unlock(&lock_);
  if (!captured) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_CAPTURED, function, "", "a context without captures",
                    "call aclmdlRICaptureEnd first", "a context one of whose streams is being captured");
}

void eng_captures_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_captures_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  list_ = NULL;
  atomic_store(&active_, 0);
}
