/* SPDX-License-Identifier: Apache-2.0
 * The deterministic schedule: streams without threads.
 *
 * A stream that is submitted to gets a lane; its queue is then lent to the schedule, so that its worker stays out.
 * Threads that submit or wait run tasks, each decision made by the policy and kept in the trail.
 */
#ifndef ACLPY_ENGINE_SCHEDULE_H
#define ACLPY_ENGINE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lot.h"

struct eng_marker;
struct eng_stream;

/* The stream gets a lane, if it is idle. Without the stream's lock. */
void eng_schedule_adopt(struct eng_stream *stream);
void eng_schedule_submitted(struct eng_stream *stream);
/* Around submits under a lock that tasks may want: what would run at once waits for the end. */
bool eng_schedule_hold(void);
void eng_schedule_let_go(bool held);

/* A host wait. `over` is called under the schedule's lock; it may take locks of the waiting lot and the reporters. */
struct eng_host_wait {
  bool (*over)(void *arg);
  void *arg;
  struct eng_stream *stream; /* waited for, or NULL */
  const void *key;           /* of the waiting lot, or NULL */
  int64_t deadline_ns;
};
/* Runs tasks until it is over. TIMED_OUT also when it never can be: eng_schedule_stuck then says so. */
enum eng_wait_end eng_schedule_wait(const struct eng_host_wait *wait);
/* Whether the thread's latest host wait ended because nothing could ever end it, and the refusal for that. */
bool eng_schedule_stuck(void);
int32_t eng_schedule_refuse_stuck(int32_t status, const char *function);
/* The wait of a stream's task, which the schedule runs only when it can end. */
enum eng_wait_end eng_schedule_task_wait(const struct eng_wait *wait);
/* A question was answered with "not ready": one task runs, so that asking again and again comes to an end. */
void eng_schedule_asked(void);
/* The stream goes: its queue is nobody's, or, with tasks left, the schedule ends the stream when they have run: true.
 */
bool eng_schedule_forget(struct eng_stream *stream);
/* The stream is empty; the thread that ran its last task has put it down, too. */
void eng_schedule_settle(struct eng_stream *stream);
void eng_schedule_shutdown(void);
/* Tasks in lanes whose streams have no worker. */
int64_t eng_schedule_pending(void);
void eng_schedule_before_fork(void);
void eng_schedule_after_fork(bool child);
bool eng_schedule_was_active(void); /* when the process was forked */

#endif
