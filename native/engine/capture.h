/* SPDX-License-Identifier: Apache-2.0
 * Captures in progress: which stream belongs to which, and what they forbid.
 */
#ifndef ACLPY_ENGINE_CAPTURE_H
#define ACLPY_ENGINE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

struct eng_context;
struct eng_graph;
struct eng_marker;

static inline bool eng_stream_capturing(struct eng_stream *stream) {
  return (atomic_load_explicit(&stream->gate, memory_order_relaxed) & ENG_GATE_CAPTURE) != 0;
}
bool eng_capture_is_active(uint64_t id);

/* An event of a kind that does not belong into a capture: invalidates it, 207000. */
int32_t eng_capture_refuse_kind(struct eng_stream *stream, const char *function);
/* A wait where the stream or the record is being captured: lets the stream join the record's capture, or refuses. */
int32_t eng_capture_join(struct eng_stream *stream, const struct eng_marker *marker, const char *function);

/* The stream ends in the middle of its capture, which is thrown away. */
void eng_capture_abandon(struct eng_stream *stream);

/* eng_context_resolve for synchronous copies and fills, which the mode of a capture may forbid: 107030. */
struct eng_context *eng_capture_resolve(aclpy_handle ctx, const char *function, int32_t *status);
/* aclrtSynchronizeDevice while a stream of the context is being captured: 107027. */
int32_t eng_capture_check_context(const struct eng_context *context, const char *function);

/* The list of captures in progress, to which models that are being built belong too: events are theirs as well. */
void eng_capture_enlist(struct eng_graph *graph);
void eng_capture_unlist(struct eng_graph *graph); /* also one that is not in it */

void eng_captures_before_fork(void);
void eng_captures_after_fork(bool child);

#endif
