/* SPDX-License-Identifier: Apache-2.0
 * The test bench's two places: where tasks are queued and where they run.
 */
#include "bench.h"

#include <stdlib.h>

#include "aclpy_status.h"
#include "fault.h"
#include "failure.h"
#include "operator.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

atomic_uint eng_bench_parts;

/* A label of its own that a queued task carries. */
struct eng_tag {
  struct eng_tag *next;
  uint64_t number; /* of the task in its stream */
  uint32_t label;  /* an interned name */
};

static _Thread_local uint32_t label_;

void eng_bench_switch(enum eng_bench_part part, bool on) {
  if (on) {
    atomic_fetch_or(&eng_bench_parts, (unsigned)part);
  } else {
    atomic_fetch_and(&eng_bench_parts, ~(unsigned)part);
  }
}

int32_t aclpy_bench_is_on(void) { return eng_bench() != 0; }

/* ---- labels ---- */

int32_t aclpy_label(const char *label) {
  label_ = 0;
  if (label == NULL || *label == 0) return ACLPY_ACL_SUCCESS;
  label_ = aclpy_operator_id(label);
  return label_ != 0 ? ACLPY_ACL_SUCCESS : eng_fail_memory("label", "a label");
}

/* Under the stream's lock. Without memory the task goes by its C name. */
static void tag_(struct eng_stream *stream) {
  struct eng_tag *tag = eng_object_alloc(sizeof(*tag));
  if (tag == NULL) return;
  *tag = (struct eng_tag){.number = stream->queued, .label = label_};
  struct eng_tag **link = &stream->tags;
  while (*link != NULL) link = &(*link)->next;
  *link = tag;
}

/* The label of the task taken as this number; older ones go with it. */
static uint32_t take_tag_(struct eng_stream *stream, uint64_t number) {
  uint32_t label = 0;
  pthread_mutex_lock(&stream->lock);
  while (stream->tags != NULL && stream->tags->number <= number) {
    struct eng_tag *tag = stream->tags;
    stream->tags = tag->next;
    if (tag->number == number) label = tag->label;
    free(tag);
  }
  pthread_mutex_unlock(&stream->lock);
  return label;
}

void eng_tags_free(struct eng_tag *tag) {
  while (tag != NULL) {
    struct eng_tag *next = tag->next;
    free(tag);
    tag = next;
  }
}

/* ---- queueing ---- */

void eng_bench_before_submit(struct eng_stream *stream, unsigned parts) {
  if ((parts & ENG_BENCH_SCHEDULE) != 0) eng_schedule_adopt(stream);
}

void eng_bench_queued(struct eng_stream *stream, unsigned parts) {
  if (label_ != 0) tag_(stream);
  if ((parts & ENG_BENCH_TRACE) != 0) eng_trace_queued(stream);
}

void eng_bench_after_submit(struct eng_stream *stream, unsigned parts) {
  if ((parts & ENG_BENCH_SCHEDULE) != 0) eng_schedule_submitted(stream);
}

/* ---- running ---- */

/* Records and posts happen at one instant, which others see at once: they are over before anybody can see them. */
static bool instant_(const struct eng_task *task) {
  return task->kind == ENG_TASK_RECORD || (task->kind == ENG_TASK_RUN && task->work == ENG_WORK_POST);
}

static int32_t planned_failure_(const struct eng_task_view *view, unsigned parts) {
  int32_t status = (parts & ENG_BENCH_FAULT) != 0 ? eng_fault_of_task(view->label) : ACLPY_ACL_SUCCESS;
  if (status == ACLPY_ACL_SUCCESS) return status;
  return aclpy_fail(status, view->label, "", "a task that nobody lets fail", "leave the block of fail_task",
                    "the planned failure of task %llu of stream %llu", (unsigned long long)view->number,
                    (unsigned long long)view->stream->id);
}

int32_t eng_bench_run(struct eng_stream *stream, struct eng_task *task) {
  unsigned parts = eng_bench();
  uint64_t number = atomic_load_explicit(&stream->taken, memory_order_relaxed);
  uint32_t label = take_tag_(stream, number);
  struct eng_task_view view = {.stream = stream,
                               .task = task,
                               .label = label != 0 ? eng_operator_name(label) : eng_task_name(task),
                               .number = number,
                               .start_ns = eng_clock_ns()};
  view.status = planned_failure_(&view, parts);
  bool skipped = view.status != ACLPY_ACL_SUCCESS && task->kind == ENG_TASK_RUN && task->work != ENG_WORK_POST;
  if ((parts & ENG_BENCH_RECORD) != 0) {
    eng_recorder_start(&view);
    if (instant_(task)) eng_recorder_finish(&view);
  }
  if (!skipped) {
    int32_t status = eng_task_run(stream, task);
    if (status != ACLPY_ACL_SUCCESS) view.status = status;
  }
  if ((parts & ENG_BENCH_RECORD) != 0 && !instant_(task)) eng_recorder_finish(&view);
  view.end_ns = eng_clock_ns();
  if ((parts & ENG_BENCH_TRACE) != 0) eng_trace_task(&view);
  return view.status;
}
