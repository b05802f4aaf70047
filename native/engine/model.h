/* SPDX-License-Identifier: Apache-2.0
 * Models: graphs that are built from persistent streams bound to them, instead of being captured.
 *
 * Every bound stream is a branch, which starts with the model or is activated by another one (steer.h); the model is
 * over when all branches are. While it is built, a stream's gate has ENG_GATE_MODEL and ENG_GATE_CAPTURE; the latter
 * goes when no more tasks are taken.
 */
#ifndef ACLPY_ENGINE_MODEL_H
#define ACLPY_ENGINE_MODEL_H

#include "graph.h"

struct eng_bound {
  struct eng_stream *stream; /* a reference; NULL once it is unbound */
  bool head;                 /* starts with the model; the others are activated */
};

/* A stream ends while it is bound: the model cannot be executed any more. */
void eng_model_lose_stream(struct eng_stream *stream);
/* Every stream is its own again. */
void eng_model_unbind_all(struct eng_graph *graph);
/* Whether a model can be executed: 507011 otherwise. Under the graph's lock. */
int32_t eng_model_check_ready(const struct eng_graph *graph, const char *function);
/* Host calls that a bound stream refuses: 107005. */
int32_t eng_stream_check_bound(struct eng_stream *stream, const char *function);

#endif
