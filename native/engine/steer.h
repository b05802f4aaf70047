/* SPDX-License-Identifier: Apache-2.0
 * Steering: streams of a model that start or end by what its tasks find (aclrtActiveStream, aclrtSwitchStream).
 *
 * An execution of such a model starts its branches when its turn has come, and queues each piece by piece: up to the
 * next switch, which then queues the rest, or starts another branch instead. Every branch that has started has one task
 * in its queue that goes on with it or ends it, also when that task is dropped; with the last branch the execution is
 * over.
 */
#ifndef ACLPY_ENGINE_STEER_H
#define ACLPY_ENGINE_STEER_H

#include <stdint.h>

struct eng_graph;
struct eng_replay;
struct eng_replay_batch;
struct eng_stream;
struct eng_task;

enum eng_steer { ENG_STEER_ACTIVATE, ENG_STEER_SWITCH, ENG_STEER_END, ENG_STEER_BEGIN };

/* Queues an execution. Under the launch lock. */
int32_t eng_steer_queue(struct eng_replay *replay, struct eng_replay_batch *batch);
int32_t eng_steer_run(struct eng_stream *stream, struct eng_task *task);
void eng_steer_drop(struct eng_task *task);
const char *eng_steer_name(const struct eng_task *task);
/* Nobody waits any longer: for a failed launch, and for aborted executions. */
void eng_steer_lose(struct eng_replay *replay, int32_t status);
void eng_steer_abort(struct eng_graph *graph);
/* Takes an execution that is over from the graph's list. Under the graph's lock. */
void eng_steer_forget(struct eng_replay *replay);
/* Whether a model has anything to steer. */
int32_t eng_steer_look(struct eng_graph *graph, const char *function);

#endif
