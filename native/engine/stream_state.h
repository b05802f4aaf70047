/* SPDX-License-Identifier: Apache-2.0
 * Streams that are not in their usual state: captured, stopped, aborted, timed out.
 */
#ifndef ACLPY_ENGINE_STREAM_STATE_H
#define ACLPY_ENGINE_STREAM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct eng_context;
struct eng_failure;
struct eng_stream;
struct eng_task;

/* Why a stream with a gate does not take a task; ACLPY_ACL_SUCCESS when it does. Under the stream's lock. */
int32_t eng_stream_refuse_gate(const struct eng_stream *stream, const char *function);
/* What a synchronise of a stream with a gate has to say before it waits; *done: it need not wait. */
int32_t eng_stream_synchronize_gated(struct eng_stream *stream, const char *function, bool *done);
int32_t eng_stream_refuse_timeout(const struct eng_stream *stream, const char *function);
/* Its failure, or one that says that it was aborted. */
int32_t eng_stream_report_abort(struct eng_stream *stream);
/* Whoever waits for the stream, or synchronises it next, is told that work was discarded (107023). */
void eng_stream_tell_abort(struct eng_stream *stream);

/* Stops every stream of the context, for good. */
void eng_context_stop(struct eng_context *context, struct eng_failure *failure);
int32_t eng_context_report_stopped(struct eng_context *context);

/* aclrtRegStreamStateCallback. */
void eng_stream_announce(struct eng_stream *stream, bool created);
void eng_stream_listeners_before_fork(void);
void eng_stream_listeners_after_fork(bool child);

#endif
