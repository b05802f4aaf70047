/* SPDX-License-Identifier: Apache-2.0
 * The test bench: what looks at, orders or fails tasks. One word says which parts are on; while it is 0 the engine
 * reads that word once for each submit and each task, and that is all.
 */
#ifndef ACLPY_ENGINE_BENCH_H
#define ACLPY_ENGINE_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct eng_stream;
struct eng_task;
struct eng_tag;

enum eng_bench_part {
  ENG_BENCH_SCHEDULE = 1u << 0,
  ENG_BENCH_RECORD = 1u << 1,
  ENG_BENCH_TRACE = 1u << 2,
  ENG_BENCH_FAULT = 1u << 3
};

extern atomic_uint eng_bench_parts;
static inline unsigned eng_bench(void) { return atomic_load_explicit(&eng_bench_parts, memory_order_acquire); }
static inline bool eng_scheduling(void) { return (eng_bench() & ENG_BENCH_SCHEDULE) != 0; }
void eng_bench_switch(enum eng_bench_part part, bool on);

/* Before the stream's lock is taken for a submit: the schedule may take the stream over. */
void eng_bench_before_submit(struct eng_stream *stream, unsigned parts);
/* Under the stream's lock: a task has been queued. */
void eng_bench_queued(struct eng_stream *stream, unsigned parts);
/* After the stream's lock is let go. */
void eng_bench_after_submit(struct eng_stream *stream, unsigned parts);
/* Runs the task that was just taken, as eng_task_run does. */
int32_t eng_bench_run(struct eng_stream *stream, struct eng_task *task);
void eng_tags_free(struct eng_tag *tag);

/* What the parts are told of a task. */
struct eng_task_view {
  struct eng_stream *stream;
  const struct eng_task *task;
  const char *label; /* its own, or its C name */
  uint64_t number;   /* in its stream, from 1 */
  int32_t status;    /* once it is over */
  int64_t start_ns, end_ns;
};
void eng_recorder_start(const struct eng_task_view *view);
void eng_recorder_finish(const struct eng_task_view *view);
/* The status the task is to fail with, or 0. */
int32_t eng_fault_of_task(const char *label);
void eng_trace_task(const struct eng_task_view *view);
void eng_trace_queued(struct eng_stream *stream);

void eng_recorder_before_fork(void);
void eng_recorder_after_fork(bool child);
void eng_trace_before_fork(void);
void eng_trace_after_fork(bool child);

/* In a child, once all else is new: the schedule of ACLNN_PY_SCHEDULE begins again, without the parent's streams. */
void eng_environment_after_fork(void);

#endif
