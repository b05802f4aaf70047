/* SPDX-License-Identifier: Apache-2.0
 * A wake-up that can wait: a pool thread that looks for work anyhow watches over a stream with a sleeping worker.
 *
 * Waking a worker costs its submitter microseconds, and the worker then takes a processor from a pool thread. Mostly
 * the submitter synchronises at once and runs the task itself. So as long as a pool thread is looking, a submitter
 * leaves the stream with it; only when nobody has taken the task after some microseconds does it wake the worker.
 */
#ifndef ACLPY_ENGINE_WATCH_H
#define ACLPY_ENGINE_WATCH_H

#include <stdbool.h>

struct eng_stream;

/* Sees to it that the worker wakes: at once, or later where somebody watches. By whoever set `worker_sleeping` to
 * false, without the stream's lock. */
void eng_watch_or_wake(struct eng_stream *stream);
/* Under the stream's lock, by whoever takes the queue: the wake-up is needed no more, the worker sleeps on. */
void eng_watch_cancel(struct eng_stream *stream);

/* The watcher: between begin and end it calls `look` at every turn of its loop, with the same counter (at first 0). */
void eng_watch_begin(void);
void eng_watch_look(int *patience);
void eng_watch_end(void);
void eng_watch_after_fork(void); /* in the child */

#endif
