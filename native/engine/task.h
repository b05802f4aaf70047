/* SPDX-License-Identifier: Apache-2.0
 * Tasks: what a stream's queue holds.
 *
 * A task is a plain record, built by the submitter and copied into the queue. It owns what it names: references to
 * its plan, its marker and the allocations it touches. Dropping it gives these back, whether it ran or not.
 */
#ifndef ACLPY_ENGINE_TASK_H
#define ACLPY_ENGINE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

struct eng_memory;
struct eng_marker;
struct eng_plan;
struct eng_stream;
struct eng_object;
struct eng_callback;
struct eng_transfer;
struct eng_replay;
struct eng_update;

/* What a scheduler has to know: RUN and RECORD are always ready, WAIT when what it waits for is there
 * (eng_task_ready). */
enum eng_task_kind { ENG_TASK_RUN, ENG_TASK_WAIT, ENG_TASK_RECORD };
/* What a RUN task does. Everything but FOREIGN is our own C code, which ends by itself; a REPLAY runs captured tasks,
 * which may be foreign. */
enum eng_task_work {
  ENG_WORK_PLAN,
  ENG_WORK_FOREIGN,
  ENG_WORK_COPY,
  ENG_WORK_SET,
  ENG_WORK_TRANSFER, /* the larger forms of copying (transfer.h) */
  ENG_WORK_POST,     /* hands a callback to the thread that is subscribed */
  ENG_WORK_REPLAY,   /* runs captured tasks */
  ENG_WORK_UPDATE,   /* exchanges captured tasks */
  ENG_WORK_STEER     /* says which of a model's streams go on (steer.h) */
};
/* What a WAIT waits for and a RECORD changes: the same field of the task. */
enum eng_task_mark { ENG_MARK_EVENT, ENG_MARK_NOTIFY, ENG_MARK_COUNT, ENG_MARK_VALUE };

enum { ENG_TASK_SLOTS = 8, ENG_TASK_HOLDS = ENG_TASK_SLOTS + 1, ENG_LABEL_BYTES = 40 };

/* An allocation that a task touches: the record's address, and once pinned the parity of its epoch (memory.h). */
typedef uintptr_t eng_hold;

struct eng_task {
  uint8_t kind;
  uint8_t work;
  bool pinned;    /* the holds count as pending; before that they are plain references */
  uint8_t launch; /* enum eng_launch, on a foreign device's stream */
  uint32_t op;    /* operator's id, for messages; 0 = none */
  uint32_t n_holds;
  uint32_t more_slots; /* of `more` */
  uint64_t token;
  union {
    struct {
      struct eng_plan *plan;
      uintptr_t workspace;
    } plan;
    struct {
      aclpy_task_run run;
      aclpy_task_drop drop;
      void *arg;
      char label[ENG_LABEL_BYTES];
    } foreign;
    struct {
      uintptr_t dst, src;
      size_t count;
      int32_t value;
    } copy;
    struct eng_transfer *transfer; /* a reference */
    struct {
      struct eng_marker *marker; /* reached by RECORD, waited for by WAIT */
      struct eng_marker *flag;   /* the manual-reset flag of the event, or NULL */
      bool clears;               /* RECORD that clears (aclrtResetEvent, aclrtCntNotifyReset) */
      bool external;             /* captured, but the event is one outside of the graph */
      uint32_t mode;             /* how a count or a value is changed or compared */
      struct eng_object *object; /* a reference: the event, for its pending waits; the notify */
      uintptr_t address;         /* of a value in memory */
      uint64_t value;
      int64_t timeout_ns; /* of a WAIT, from its turn on; 0: none */
    } mark;
    struct {
      struct eng_callback *callback; /* a reference */
      struct eng_marker *marker;     /* reached when it has been called; NULL: nobody waits for that */
    } post;
    struct {
      struct eng_replay *replay; /* a reference */
      uint32_t first, end;       /* nodes of the graph */
      bool foreign;              /* one of them is foreign code */
      bool last;                 /* with this task the replay is over, whether it ran or not */
    } replay;
    struct {
      struct eng_update *update; /* owned */
    } update;
    struct {
      struct eng_replay *replay; /* a reference; NULL in the model itself */
      uint32_t what;             /* enum eng_steer */
      uint32_t target;           /* branch to start */
      uint32_t branch, node;     /* where it stands */
      uint32_t condition;
      bool wide; /* the values have 64 bits */
      bool over; /* its branch has gone on or ended */
      uintptr_t left, right;
    } steer;
  } u;
  uintptr_t *more; /* n_slots addresses, then n_holds holds, for plans with more slots than fit here; or NULL */
  uintptr_t address[ENG_TASK_SLOTS];
  eng_hold hold[ENG_TASK_HOLDS];
};

/* An empty task of this kind; the rest of the record stays as it is, which is what makes this cheap. */
static inline void eng_task_init(struct eng_task *task, enum eng_task_kind kind, enum eng_task_work work) {
  task->kind = (uint8_t)kind;
  task->work = (uint8_t)work;
  task->pinned = false;
  task->launch = 0;
  task->op = 0;
  task->n_holds = 0;
  task->token = 0;
  task->more = NULL;
}

static inline uintptr_t *eng_task_addresses(struct eng_task *task) {
  return task->more != NULL ? task->more : task->address;
}
/* Space for the addresses and holds of `n_slots` slots and a workspace. False: no memory. */
bool eng_task_reserve(struct eng_task *task, int32_t n_slots);
eng_hold *eng_task_holds(struct eng_task *task);
/* Turns the references into counted holds; done once, when the task enters a queue. */
void eng_task_pin(struct eng_task *task);

/* A WAIT or RECORD without anything in it yet. */
void eng_task_init_mark(struct eng_task *task, enum eng_task_kind kind, enum eng_task_mark mark);
/* A second task that does the same, with references of its own and unpinned; for captured ones. False: no memory. */
bool eng_task_copy(const struct eng_task *task, struct eng_task *copy);

/* True when the task can run without waiting for another stream. */
bool eng_task_ready(const struct eng_task *task);
/* Runs it on the calling thread; `stream` lends its scratch memory. A status other than 0 is the task's failure. */
int32_t eng_task_run(struct eng_stream *stream, struct eng_task *task);
void eng_task_drop(struct eng_task *task);
/* Only what it holds of memory, and its own: the plan or whatever else it works with is the caller's. */
void eng_task_let_go(struct eng_task *task);
/* Drops a task that will not run; who waits for its record learns that it never will. */
void eng_task_discard(struct eng_task *task, int32_t status);
/* True when a thread that waits for the stream may run it: our own code, which does not block. */
bool eng_task_lendable(const struct eng_task *task);
/* "aclnnSoftmax", or the label of a foreign task. */
const char *eng_task_name(const struct eng_task *task);
/* The marker that a RECORD or WAIT of an event has; NULL for other tasks, and for an event outside of its graph. */
static inline struct eng_marker *eng_task_event_marker(const struct eng_task *task) {
  bool marks = task->kind != ENG_TASK_RUN && task->work == ENG_MARK_EVENT && !task->u.mark.external;
  return marks ? task->u.mark.marker : NULL;
}

#endif
