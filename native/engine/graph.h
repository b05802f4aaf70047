/* SPDX-License-Identifier: Apache-2.0
 * Graphs: captured tasks, by the stream they were captured from.
 *
 * Every stream of a capture is a branch. While capturing, nodes stand in the order of the calls; the end of the capture
 * sorts them by branch. Markers that captured tasks reach and wait for are numbered: each replay makes its own.
 */
#ifndef ACLPY_ENGINE_GRAPH_H
#define ACLPY_ENGINE_GRAPH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"
#include "task.h"

struct eng_context;
struct eng_marker;
struct eng_memory;
struct eng_stream;

enum { ENG_MODE_NONE = 3 }; /* of a model: it forbids nothing */
enum { ENG_NO_SLOT = -1, ENG_GRAPH_NAME_BYTES = 513 };

struct eng_node {
  struct eng_task task; /* its markers are those of the capture: numbers to tell them apart, never reached */
  uint32_t branch;
  uint32_t group; /* 0: none */
  int32_t slot;   /* the marker it reaches or waits for */
};

struct eng_slot {
  struct eng_marker *origin; /* of the capture */
  uint32_t branch;           /* of the task that reaches it */
  uint32_t node;             /* the same, by order of capture */
  bool joined;               /* another branch waits for it */
  uint32_t joined_by;
};

struct eng_branch {
  aclpy_handle origin;       /* the program's stream */
  struct eng_stream *stream; /* captured from; after that the engine's own one for replays, NULL until it is needed */
  uint32_t first, end;       /* of the sorted nodes */
  uint32_t last;             /* node added last, by order of capture */
  bool empty;
  uint32_t open_group; /* 0: none */
};

struct eng_bound;
struct eng_farewell;

enum eng_graph_state { ENG_GRAPH_CAPTURING, ENG_GRAPH_INVALID, ENG_GRAPH_READY, ENG_GRAPH_DROPPED };

struct eng_graph {
  struct eng_object head;
  aclpy_handle handle;
  uint64_t id;
  struct eng_context *context; /* a reference */
  int32_t mode;                /* of the capture */
  uint64_t thread;             /* that began it */
  struct eng_graph *next;      /* list of captures, under its lock */
  bool built;                  /* a model of persistent streams (model.c) */

  pthread_mutex_t lock; /* the rest */
  enum eng_graph_state state;
  char name[ENG_GRAPH_NAME_BYTES];
  struct eng_node *nodes;
  struct eng_branch *branches;
  struct eng_slot *slots;
  struct eng_memory **memories; /* each once, without references: the nodes have them */
  uint32_t n_nodes, n_branches, n_slots, n_memories, n_groups;
  uint32_t room_nodes, room_branches, room_slots;
  uint32_t blocking;              /* callbacks that a stream waits for */
  int64_t running;                /* replays that are not over */
  struct eng_farewell *farewells; /* functions for the end */

  /* Of a model. */
  struct eng_bound *bound; /* one a branch */
  uint32_t n_bound;
  bool ended;                /* a stream's tasks have ended */
  bool unbound;              /* a stream was taken from it: not to be executed any more */
  struct eng_marker *start;  /* the first branch's record, which the others wait for */
  struct eng_stream *runner; /* of aclmdlRIExecute; under the launch lock */
  bool steered;              /* some of its streams start or end by what runs (steer.c) */
  struct eng_replay *steered_replays;
  _Atomic uint64_t aborts;

  pthread_mutex_t launch_lock;  /* one replay is queued at a time; taken before `lock` */
  struct eng_marker *last_over; /* of the latest replay */
  uint64_t last_stream;
};

struct eng_graph *eng_graph_new(struct eng_context *context, const char *function, int32_t *status);
/* A branch for the stream, whose reference it takes over; its number, or -1 without memory. Under the lock. */
int32_t eng_graph_branch(struct eng_graph *graph, struct eng_stream *stream);
/* The task of a stream that is being captured, which it takes over. Under the stream's lock. */
int32_t eng_graph_add(struct eng_stream *stream, const struct eng_task *task, const char *function);
/* The same for a task of the engine's own. Under the graph's lock. False: no memory. */
bool eng_graph_append(struct eng_graph *graph, const struct eng_task *task, uint32_t branch);
/* Makes sure that the next n fit. Under the stream's lock. */
int32_t eng_graph_room(struct eng_stream *stream, uint32_t n, const char *function);
/* The end of a capture: sorts by branch, looks up what replays need. False: no memory. */
bool eng_graph_finish(struct eng_graph *graph);
/* Lists each allocation once. Under the lock. False: no memory, and the list is as before. */
bool eng_graph_list_memories(struct eng_graph *graph);
struct eng_graph *eng_graph_find(aclpy_handle handle, const char *function, int32_t *status);
/* Whether every side branch has come back to the origin. */
bool eng_graph_joined(const struct eng_graph *graph);

/* graph_end.c: calls what was registered for the graph's end, and forgets it. */
void eng_graph_say_farewell(struct eng_graph *graph);
void eng_graph_forget_farewells(struct eng_graph *graph);
/* replay.c */
int32_t eng_graph_check_ready(struct eng_graph *graph, const char *function);
/* Under the launch lock. */
int32_t eng_graph_launch(struct eng_graph *graph, struct eng_stream *target);
int32_t eng_replay_run(struct eng_replay *replay, struct eng_stream *stream, uint32_t first, uint32_t end);
void eng_replay_done(struct eng_replay *replay, bool last);
/* graph_update.c */
int32_t eng_update_add(struct eng_stream *stream, const struct eng_task *task, const char *function);
void eng_update_apply(struct eng_update *update);
void eng_update_free(struct eng_update *update);
/* The same for one that the stream has begun; it is about to end. */
void eng_update_abandon(struct eng_stream *stream);

#endif
