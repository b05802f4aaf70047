/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the schedule share. All of it is read and written under the schedule's lock.
 */
#ifndef ACLPY_ENGINE_SCHEDULE_LANE_H
#define ACLPY_ENGINE_SCHEDULE_LANE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trail.h"

struct eng_host_wait;
struct eng_stream;
struct eng_task;

/* A stream that has been submitted to. */
struct eng_lane {
  struct eng_stream *stream; /* a reference */
  struct eng_lane *next;     /* in the order of numbers */
  uint32_t number;           /* by first submission, from 0 */
  uint64_t stamp;            /* of the latest submission */
  uint64_t rank;             /* drawn by a seed */
  uint64_t let_go;           /* the task of this number waits no more: what it waits for has been there */
  bool busy;                 /* its current task is running ... */
  const void *runner;        /* ... on this thread */
  bool ends;                 /* released: goes with its last task */
};

/* The next task, or NULL. */
const struct eng_task *eng_lane_next(const struct eng_lane *lane);
/* Of the next task in its stream. */
uint64_t eng_lane_number(const struct eng_lane *lane);
bool eng_lane_ready(const struct eng_lane *lane);
/* Notes the waits whose condition holds now: a stream stands in its wait from the moment it is next. */
void eng_lane_look(struct eng_lane *lane);

/* ---- who waits for whom (schedule_cycle.c) ---- */

/* The lane that holds what the lane's next task waits for, or NULL. */
struct eng_lane *eng_lane_supplier(struct eng_lane *lanes, const struct eng_lane *lane);
/* The lane that is to do what a host thread waits for, or NULL. */
struct eng_lane *eng_lane_wanted(struct eng_lane *lanes, const struct eng_host_wait *wait);
/* A sentence on each stream that waits, along the cycle where there is one. */
void eng_schedule_explain(struct eng_lane *lanes, struct eng_lane *first, char *text, size_t room);

/* ---- decisions (schedule_policy.c) ---- */

struct eng_policy {
  enum { ENG_POLICY_EAGER, ENG_POLICY_LAZY, ENG_POLICY_REVERSE, ENG_POLICY_SEED, ENG_POLICY_REPLAY } kind;
  char name[24];   /* as it was given; of a replay only "replay" */
  uint64_t random; /* state of the generator */
  uint32_t chance; /* of 4, that one more task runs at a submit */
  bool ranked;     /* the ready lane of the highest rank runs, and ranks change now and then; else any */
  struct eng_trail_reader replay;
};

/* False: the text is no policy. The text of a replay stays in use. */
bool eng_policy_read(struct eng_policy *policy, const char *text);
uint64_t eng_policy_draw(struct eng_policy *policy);
/* One of the ready lanes, of which there is one; NULL, where `may_stop`: none now. `first`: the one that was submitted
 * to or is waited for, or NULL. *diverged: a replay does not fit. */
struct eng_lane *eng_policy_choose(struct eng_policy *policy, struct eng_lane *lanes, struct eng_lane *first,
                                   bool may_stop, bool *diverged);

/* ---- the state ---- */

/* Taken after a stream's lock, never before one. */
extern pthread_mutex_t eng_schedule_lock;

/* A host thread in a wait. */
struct eng_host_waiter {
  const struct eng_host_wait *wait;
  struct eng_host_waiter *next;
};

struct eng_schedule_state {
  bool active;
  uint64_t generation; /* of schedules; 0: there was none yet */
  struct eng_lane *lanes;
  uint32_t n_lanes; /* ever */
  uint64_t stamps, steps, diverged;
  int running; /* tasks, of all threads */
  int known;   /* threads that have submitted or waited, and live */
  int waiting; /* of these, how many wait */
  struct eng_host_waiter *waiters;
  struct eng_policy policy;
  char *replay; /* the text behind a replay */
  struct eng_trail trail;
};
extern struct eng_schedule_state eng_schedule_now;

enum eng_verdict { ENG_AS_IT_IS, ENG_LET_GO, ENG_EXPIRED };

struct eng_schedule_thread {
  uint64_t generation; /* of the schedule that knows this thread */
  int waits, runs, holds;
  struct eng_stream *held_back; /* submitted to under a hold */
  enum eng_verdict verdict;     /* on the wait that is about to run */
  bool stuck;
  char why[320];
};
extern _Thread_local struct eng_schedule_thread eng_schedule_self;

void eng_schedule_know_thread(void); /* the calling one */

/* ---- lanes (schedule_lane.c) ---- */

bool eng_schedule_any_ready(void);
void eng_schedule_look(void); /* eng_lane_look at each */
/* Under the lock. False: who ends the schedule has taken the lanes, and gives them back. */
bool eng_lane_unlink(struct eng_lane *lane);
/* Without the lock, for a lane that is out of the list: its stream goes back to its worker. */
void eng_lane_give_back(struct eng_lane *lane);
/* The same for a released stream that has run its last task. */
void eng_lane_end(struct eng_lane *lane);

/* ---- running (schedule.c) ---- */

/* Both let the lock go while a task runs. The second makes a decision, with a ready lane; false: none is to run now. */
void eng_lane_run(struct eng_lane *lane, enum eng_verdict verdict);
bool eng_schedule_decide(struct eng_lane *first, bool may_stop);
/* Whether no other thread is running a task that ends by itself. */
bool eng_schedule_turn(void);

#endif
