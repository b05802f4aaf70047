/* SPDX-License-Identifier: Apache-2.0
 * The door of a stream: how a thread runs small work at once on an idle stream, without a lock and without a reference.
 *
 * A word beside the stream's handle says what the stream is up to:
 *
 *     0 -- enter --> BUSY -- leave --> 0          one compare-and-swap each; nothing else is touched
 *     0, BUSY -- shut --> SHUT                    under the stream's lock, by whoever is about to change the stream
 *     SHUT -- reopen --> BUSY                     under the lock, once the stream is idle again
 *
 * 0 means: idle, no failure to report, no gate, no callback to wait for; so a thread that synchronises only looks. Who
 * shuts the door on somebody inside counts the run as a submitted task in that thread's stead, and takes a reference
 * for it; from there on it is an ordinary inline run, which ends under the lock. The word outlives the stream, and a
 * stream does not go while its door is busy: ending it begins with shutting.
 */
#ifndef ACLPY_ENGINE_DOOR_H
#define ACLPY_ENGINE_DOOR_H

#include "stream.h"

/* The stream of a handle, if it is free-standing or of the thread's current context and its door is open: the caller is
 * inside and must leave. NULL otherwise, which says nothing about the handle. */
struct eng_stream *eng_door_enter(aclpy_handle handle);
struct eng_stream *eng_door_enter_at(const struct eng_spot *spot);
/* The same for a stream that is the caller's to use. */
bool eng_door_try(struct eng_stream *stream);
/* After the work, once it has been dropped. */
void eng_door_leave(struct eng_stream *stream);
/* Whether a live stream is idle and has nothing to report; false may also mean that somebody has to look. */
bool eng_door_quiet(aclpy_handle handle);

/* Under the stream's lock. */
void eng_door_shut(struct eng_stream *stream);
/* Under the lock of an idle stream: the caller is inside and must leave. */
void eng_door_reopen(struct eng_stream *stream);

/* Without a lock, after a gate was set: nobody enters from now on. Who is inside stays uncounted. */
void eng_door_bolt(struct eng_stream *stream);

#endif
