/* SPDX-License-Identifier: Apache-2.0
 * Callbacks that run on a thread of the program, which has been subscribed to their stream.
 */
#ifndef ACLPY_ENGINE_CALLBACK_H
#define ACLPY_ENGINE_CALLBACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct eng_callback;
struct eng_marker;
struct eng_stream;

/* Calls that have been handed over and are not over: somebody will act. */
extern atomic_int eng_posts_open;

void eng_callback_retain(struct eng_callback *callback);
void eng_callback_release(struct eng_callback *callback);
/* Hands it to its thread, which reaches the marker (NULL: none) when it has called it. */
int32_t eng_callback_post(struct eng_callback *callback, struct eng_marker *marker);

/* Refuses a wait by the very thread that has to run the callbacks which the stream waits for. */
bool eng_reporter_waits_for_itself(struct eng_stream *stream);
int32_t eng_reporter_refuse_own_wait(const char *function, const char *argument);
/* The refusal, once it is clear that such a wait does not end; 0 for every other wait. Blocks for a second at most. */
int32_t eng_stream_check_own_callbacks(struct eng_stream *stream, int64_t deadline_ns, const char *function);
/* aclrtLaunchHostFunc and subscribed callbacks do not mix on a stream: 107011. */
int32_t eng_reporter_claim_host_functions(struct eng_stream *stream, const char *function);
/* The stream goes: its thread serves one less. */
void eng_reporter_forget(struct eng_stream *stream);
/* As if the stream had been unsubscribed: callbacks that wait to be called fail (107015), those that come later, too.
 */
void eng_reporter_leave(struct eng_stream *stream);
/* Whether the stream with that id waits for a callback that the calling thread has been handed. */
bool eng_reporter_holds(uint64_t stream_id);
/* Whether some callback is being called, or may be by another thread than the calling one. */
bool eng_reporter_others_may_call(void);
/* Callbacks that the calling thread has not returned from are over; it is about to end. */
void eng_posts_left(void);
/* As eng_reporter_leave for all that the calling thread was to call, likewise. */
void eng_reporter_thread_ends(void);

void eng_reporters_before_fork(void);
void eng_reporters_after_fork(bool child);

#endif
