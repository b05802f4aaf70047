/* SPDX-License-Identifier: Apache-2.0
 * The engine's calls for tests of order: schedule, recorder, latch, planned failures, trace. Part of engine.h, whose
 * conventions hold here too. Everything is process-wide, and one of each kind at a time.
 */
#ifndef ACLPY_ENGINE_BENCH_CALLS_H
#define ACLPY_ENGINE_BENCH_CALLS_H

/* 1 while anything of this header that takes part in calls is on. */
int32_t aclpy_bench_is_on(void);

/* Streams without threads: tasks run on the thread that submits or waits, in the order of the policy: "eager", "lazy",
 * "reverse", a seed in decimals, or "r1:..." as aclpy_schedule_replay gives it (100000 for anything else, and when
 * there is a schedule already; 507004 with tasks that have not run). */
int32_t aclpy_schedule_start(const char *policy);
/* Runs what is left and gives the streams back to their threads. 507046: tasks that can never run are left. */
int32_t aclpy_schedule_stop(void);
/* The decisions so far, cut to `room` bytes; the number of bytes that it takes without the 0. Also after the end. */
size_t aclpy_schedule_replay(char *text, size_t room);

typedef struct aclpy_schedule_info {
  int32_t active;
  uint64_t steps;    /* tasks run */
  uint64_t diverged; /* 0, or the step at which a replay no longer fitted */
} aclpy_schedule_info;
void aclpy_schedule_facts(aclpy_schedule_info *info);
/* Ids of the streams whose next task could run; returns how many there are. */
size_t aclpy_schedule_ready(uint64_t *streams, size_t room);
/* Runs the stream's next task, if it is ready: *ran. */
int32_t aclpy_schedule_step(aclpy_handle ctx, aclpy_handle stream, int32_t *ran);

/* Tasks that this thread submits from now on carry the label; NULL: their C names. Kept only while something of this
 * header is on that shows or uses it. */
int32_t aclpy_label(const char *label);

typedef struct aclpy_task_event {
  uint64_t sequence; /* from 1 */
  uint64_t stream;   /* id */
  uint64_t number;   /* of the task in its stream, from 1 */
  int32_t finish;    /* 0: started */
  int32_t status;
  char label[64];
} aclpy_task_event;
int32_t aclpy_record_start(void);
int32_t aclpy_record_stop(void); /* the events stay until the next start */
size_t aclpy_record_count(void);
size_t aclpy_record_read(size_t first, aclpy_task_event *events, size_t room); /* how many were written */

/* Streams that are parked at a latch wait until it is released. */
int32_t aclpy_latch_create(aclpy_handle *latch);
int32_t aclpy_latch_park(aclpy_handle ctx, aclpy_handle latch, aclpy_handle stream);
int32_t aclpy_latch_release(aclpy_handle latch);
int32_t aclpy_latch_destroy(aclpy_handle latch); /* releases it */

/* The nth task from now, of that label (NULL: any), fails with the status; n 0 switches it off. */
int32_t aclpy_fail_task(const char *label, int64_t n, int32_t status);

/* Chrome-trace events of every task from now on; complete after the stop. */
int32_t aclpy_trace_start(const char *path);
int32_t aclpy_trace_stop(void);

/* Why the value of ACLNN_PY_SCHEDULE or ACLNN_PY_TRACE was not taken when the library was loaded; "" where it was. */
const char *aclpy_environment_problem(const char *variable);

#endif
