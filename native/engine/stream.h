/* SPDX-License-Identifier: Apache-2.0
 * Streams: in-order queues, each with a worker thread of its own that starts with the first queued task.
 */
#ifndef ACLPY_ENGINE_STREAM_H
#define ACLPY_ENGINE_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"
#include "queue.h"
#include "thread.h"

struct eng_context;
struct eng_failure;
struct eng_lane;
struct eng_sync_waiter;
struct eng_tag;
struct eng_graph;
struct eng_registration;
struct eng_reporter;
struct eng_update;

/* Why a task may not simply be queued; 0 on the usual stream. Changed under the stream's lock. */
enum { ENG_STREAM_PERSISTENT = 0x04, ENG_STREAM_DEVICE_USE_ONLY = 0x20 }; /* of its flags */

enum { ENG_CORE_KINDS = 2 }; /* cube, vector */

enum { ENG_DOOR_BUSY = 1u << 0, ENG_DOOR_SHUT = 1u << 1 };

enum eng_gate {
  ENG_GATE_CLOSED = 1u << 0,     /* being destroyed */
  ENG_GATE_CAPTURE = 1u << 1,    /* tasks go into `graph` */
  ENG_GATE_UPDATE = 1u << 2,     /* tasks replace captured ones */
  ENG_GATE_STOPPED = 1u << 3,    /* its context stops on failure, and there was one */
  ENG_GATE_PERSISTENT = 1u << 4, /* takes tasks for a model only */
  ENG_GATE_DEVICE = 1u << 5,     /* used from the device only */
  ENG_GATE_MODEL = 1u << 6       /* bound to a model; with CAPTURE: its tasks go into `graph` */
};

/* What the worker is doing, as far as shutdown cares. */
enum eng_activity {
  ENG_IDLE,    /* between tasks, or in our own code: it ends by itself */
  ENG_FOREIGN, /* in a host function or a call step, perhaps for ever */
  ENG_EXITED
};

/* The queue of a foreign device behind a stream, as its driver knows it (driver.c). Whoever puts a task into it has the
 * rest. */
struct eng_device_queue {
  atomic_uint era; /* of the table that it belongs to; 0: not known yet */
  void *queue;
  uintptr_t scratch;
  uint64_t scratch_bytes;
  bool recording; /* what is put there now is recorded: scratch memory is the recording's own */
};

struct eng_stream {
  struct eng_object head;
  aclpy_handle handle;
  struct eng_context *context; /* a reference */
  int32_t device;
  bool free_standing; /* made with an explicit context: exempt from the current-context rule */
  uint32_t priority, flags;
  uint64_t id;                        /* grows along a context's list; 0: in none yet */
  struct eng_stream *previous, *next; /* the context's list, under the context's lock */

  _Atomic uint64_t *door;     /* of ENG_DOOR_*; beside the handle (door.h) */
  pthread_mutex_t lock;       /* everything down to `failure`, unless noted */
  struct eng_queue queue;     /* the reader's side belongs to the worker, or to whom it is lent */
  uint64_t queued;            /* tasks ever put into the queue */
  _Atomic uint64_t visible;   /* of these, how many the worker may take; behind `queued` during an inline run */
  _Atomic uint64_t submitted; /* tasks ever accepted, with those inline ones that somebody met (door.h) */
  _Atomic uint64_t completed; /* of these, how many have run */
  bool inline_busy;           /* a submitter is running a task itself */
  bool closing;               /* takes no more tasks */
  atomic_uint gate;           /* enum eng_gate */
  bool released;              /* closing without anybody waiting: the worker cleans up */
  bool worker_started;
  bool joined; /* somebody joins the worker, or it has detached itself */
  bool worker_sleeping;
  bool napping;             /* it sleeps for a moment only, and looks by itself (worker.c) */
  uint8_t in_vain;          /* times in a row that its sleep ended with nothing to run */
  bool worker_running;      /* the reader's side of the queue is the worker's just now */
  bool lent;                /* it is a synchroniser's, which runs the tasks it waits for itself (sync.c), or ... */
  struct eng_lane *lane;    /* ... the schedule's (schedule.c); NULL without one; under the schedule's lock too */
  struct eng_tag *tags;     /* labels of queued tasks (bench.c) */
  bool stolen;              /* shutdown has dropped the queue */
  bool stop_seen;           /* shutdown has been here (under the list of workers' lock) */
  struct eng_parker parker; /* where the idle worker sleeps: part of the stream, so that it outlives the worker */
  pthread_t worker;
  struct eng_stream *worker_previous, *worker_next; /* list of streams with a worker (worker.c) */
  struct eng_sync_waiter *waiters;
  _Atomic uint64_t next_target; /* the smallest `completed` that somebody waits for; UINT64_MAX = nobody */
  struct eng_failure *failure;  /* first one since the last synchronise */

  /* Streams of a foreign device (foreign_stream.c). */
  bool foreign;
  atomic_bool exposed;       /* the program uses the device's queue as well */
  atomic_int backlog;        /* queued tasks that the device does not have */
  _Atomic uint64_t launched; /* number of the last task that it has */
  _Atomic uint64_t synced;   /* of the last one that it has done */
  atomic_bool hurried;       /* somebody waits for what it has done (worker.c) */
  struct eng_device_queue device_queue;

  /* The rarely used rest, under the lock unless noted. */
  struct eng_graph *graph;       /* a reference while GATE_CAPTURE or GATE_MODEL */
  uint32_t branch;               /* of the graph */
  struct eng_update *update;     /* while GATE_UPDATE */
  struct eng_reporter *reporter; /* where callbacks go; under the reporters' lock */
  atomic_bool host_functions;    /* aclrtLaunchHostFunc was used */
  atomic_int blocking_callbacks; /* queued ones that the stream will wait for */
  atomic_bool end_announced;     /* once, whoever of several ends it */
  bool limited;                  /* counted against the device's number of streams */
  bool stop_on_failure;
  uint64_t attributes[ACLPY_STREAM_ATTRIBUTES];
  _Atomic uint64_t aborts;                /* how often it was aborted */
  _Atomic uint32_t cores[ENG_CORE_KINDS]; /* limits set on it, 0 for none (core_limits.c) */
  struct eng_registration *allocator;     /* the host program's (allocator.c) */

  atomic_bool failed;             /* `failure` is set */
  _Atomic uint64_t discard_until; /* tasks taken before that many are discarded instead of run */
  _Atomic uint64_t stop_task;     /* the task taken as this number has been told to stop */
  atomic_int activity;            /* enum eng_activity */
  _Atomic uint64_t taken;         /* tasks taken out of the queue, by whoever has its reader's side */
  struct eng_scratch scratch;     /* whoever runs the current task */
};

void eng_allocator_forget(struct eng_stream *stream);

/* ---- looking up ---- */

/* The stream that a call means, with a reference, by the rules of AscendCL: stream 0 is the default stream; a stream
 * other than a free-standing one must belong to the context. On failure NULL, *status and the thread's error. */
struct eng_stream *eng_stream_resolve(aclpy_handle ctx, aclpy_handle stream, const char *function, int32_t *status);

/* Dead handles: 107017. */
int32_t eng_stream_refuse_dead(aclpy_handle stream, const char *function);

/* ---- life ---- */

/* With a reference for the caller besides the handle's own. */
struct eng_stream *eng_stream_new(struct eng_context *context, bool free_standing, uint32_t priority, uint32_t flags,
                                  const char *function, int32_t *status);
/* The same, not counted against the device's streams and unknown to listeners: for the engine's own use. */
struct eng_stream *eng_stream_new_unlimited(struct eng_context *context, bool free_standing, uint32_t priority,
                                            uint32_t flags, const char *function, int32_t *status);
/* Both take over the handle's reference (the handle is closed). */
void eng_stream_finish_waiting(struct eng_stream *stream);
void eng_stream_finish_later(struct eng_stream *stream);
/* Everything queued so far is discarded instead of run, and a wait that is going on ends. */
void eng_stream_discard_queued(struct eng_stream *stream);
static inline bool eng_stream_interrupted(struct eng_stream *stream) {
  uint64_t taken = atomic_load_explicit(&stream->taken, memory_order_relaxed);
  return taken <= atomic_load(&stream->discard_until) ? atomic_load(&stream->discard_until) != 0
                                                      : atomic_load(&stream->stop_task) == taken;
}

/* ---- submitting: the one door for every task ---- */

/* Queues a copy of the task, or, when `run_now` is given and the stream is completely empty, sets *run_now: the caller
 * then runs the task itself and leaves by eng_door_leave. On failure the task stays the caller's, and with
 * ENG_SUBMIT_NOTHING, too: the task waits for a record of a capture that is over, which never runs. */
enum { ENG_SUBMIT_NOTHING = -1 };
int32_t eng_stream_submit(struct eng_stream *stream, const struct eng_task *task, const char *function, bool *run_now);
/* Several tasks, with nothing of another thread in between; all of them or none. At most ENG_SUBMIT_MOST. */
enum { ENG_SUBMIT_MOST = 128 };
int32_t eng_stream_submit_all(struct eng_stream *stream, const struct eng_task *tasks, uint32_t n,
                              const char *function);

/* ---- waiting ---- */

/* Until everything submitted so far has run. False: the engine shuts down. Must not be called by the own worker. */
bool eng_stream_drain(struct eng_stream *stream);
/* The same, then the stream's failure, if any, is reported once. */
int32_t eng_stream_synchronize(struct eng_stream *stream, const char *function);
/* The first failure that nobody has been told of; 0 for none. */
int32_t eng_stream_report_failure(struct eng_stream *stream);
/* With a deadline; timed_out is the status and `function` the caller it is reported for. */
int32_t eng_stream_synchronize_until(struct eng_stream *stream, int64_t deadline_ns, const char *function);
/* What a host wait's timeout in milliseconds means: -1 for ever, above 0 that long, anything else 107000. */
int32_t eng_deadline_of_ms(int32_t timeout_ms, const char *function, int64_t *deadline_ns);
/* Host calls on a stream that is being captured: 107027. */
int32_t eng_stream_check_captured(struct eng_stream *stream, const char *function);
/* Before pageable memory is copied at once instead of in the stream: refuses during captures, then synchronises. */
int32_t eng_stream_settle(struct eng_stream *stream, const char *function);
void eng_stream_wake_waiters(struct eng_stream *stream);
/* Somebody is inside the door who is not counted as a task. Looked at before the counters are. */
static inline bool eng_door_busy(const struct eng_stream *stream) {
  return (atomic_load_explicit(stream->door, memory_order_acquire) & ENG_DOOR_BUSY) != 0;
}
static inline bool eng_stream_empty(struct eng_stream *stream) {
  return !eng_door_busy(stream) && atomic_load(&stream->completed) == atomic_load(&stream->submitted);
}
/* Keeps the failure of `task`: for the stream's next synchronise and for the allocations the task touches. */
void eng_stream_fail(struct eng_stream *stream, struct eng_task *task, int32_t status);

/* ---- the worker ---- */

/* By whoever has the reader's side: runs the next task, drops it and counts it as completed. */
void eng_stream_run_next(struct eng_stream *stream);
int32_t eng_worker_start(struct eng_stream *stream, const char *function); /* under the stream's lock */
/* Around foreign code inside a task. False: the engine shuts down, do not enter. */
bool eng_worker_enter_foreign(void);
void eng_worker_leave_foreign(void);
/* Somebody needs to know what a foreign device has done: its stream's worker rests no longer. Any thread, no lock. */
void eng_worker_hurry(struct eng_stream *stream);
/* The same for every stream. */
void eng_workers_hurry(void);
/* Waits for the end of a worker that was told to end, unless it sees to itself. */
void eng_worker_join(struct eng_stream *stream);
/* At shutdown, once eng_stopping: drops what is queued behind foreign code, and waits for every worker that is not in
 * such code. */
void eng_workers_stop(void);
/* Tasks accepted and not yet run, of all streams. */
int64_t eng_workers_pending(void);
void eng_workers_before_fork(void);
void eng_workers_after_fork(bool child);

#endif
