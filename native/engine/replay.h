/* SPDX-License-Identifier: Apache-2.0
 * One execution of a graph, and what its tasks are queued with.
 */
#ifndef ACLPY_ENGINE_REPLAY_H
#define ACLPY_ENGINE_REPLAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph.h"
#include "memory.h"
#include "stream.h"

struct eng_replay {
  atomic_int owners;         /* tasks, and whoever is queueing them */
  atomic_bool over;          /* the last task of the target has run or was dropped */
  struct eng_graph *graph;   /* a reference */
  struct eng_stream *target; /* a reference: where failures show */
  struct eng_marker *end;    /* reached when it is over: the next replay waits for it */
  _Atomic uint64_t aborts;   /* of the graph, when this began */
  atomic_bool told;          /* that it was aborted */
  eng_hold *holds;           /* n_holds of them: what is pending as long as the replay is */
  uint32_t n_holds, n_markers;
  struct eng_replay *next;      /* of the graph's steered ones, under its lock */
  atomic_int live;              /* branches that have started and not ended */
  struct eng_marker *settled;   /* of a steered one: no branch is left; the target waits for it */
  struct eng_marker *markers[]; /* one a slot; of a steered one under the graph's lock */
};

void eng_replay_hold(struct eng_replay *replay);
/* Says so once to who waits for the target. */
bool eng_replay_aborted(struct eng_replay *replay);

/* Tasks on their way into one stream. */
struct eng_replay_batch {
  struct eng_replay *replay;
  struct eng_stream *stream;
  uint32_t n;
  struct eng_task tasks[ENG_SUBMIT_MOST];
};

int32_t eng_replay_flush(struct eng_replay_batch *batch);
/* A place for the next task, which counts when `n` grows; NULL and *status on failure. */
struct eng_task *eng_replay_place(struct eng_replay_batch *batch, int32_t *status);
bool eng_replay_in_stretch(const struct eng_node *node);
int32_t eng_replay_add_stretch(struct eng_replay_batch *batch, uint32_t first, uint32_t end, bool last);
/* A callback, a wait or a record. */
int32_t eng_replay_add_mark(struct eng_replay_batch *batch, const struct eng_node *node);
int32_t eng_replay_stream_of(struct eng_graph *graph, struct eng_branch *branch, struct eng_stream **stream);
/* A wait for the replay before it, where that may still run. */
int32_t eng_replay_after_previous(struct eng_replay_batch *batch);

#endif
