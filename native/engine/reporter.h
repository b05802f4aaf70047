/* SPDX-License-Identifier: Apache-2.0
 * Subscribed threads and what waits for them.
 */
#ifndef ACLPY_ENGINE_REPORTER_H
#define ACLPY_ENGINE_REPORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct eng_stream;
struct eng_marker;

struct eng_callback {
  atomic_int owners;
  struct eng_stream *stream; /* a reference */
  aclpy_task_run run;
  aclpy_task_drop drop;
  void *arg;
  uint64_t token;
  bool counted; /* in the stream's blocking_callbacks */
};

/* A posted callback. */
struct eng_post {
  struct eng_callback *callback; /* a reference */
  struct eng_marker *marker;     /* likewise, or NULL */
  uint64_t number;               /* in its thread's queue */
  struct eng_post *next;
  struct eng_post *outer; /* inside of which it is called, or NULL */
};

/* Puts it into the queue of the stream's thread; false: nobody is subscribed. Takes the post over on success. */
bool eng_reporter_post(struct eng_stream *stream, struct eng_post *post);
bool eng_reporter_bound(struct eng_stream *stream);
/* Ends a post: runs it, or fails it with that status. */
void eng_post_run(struct eng_post *post);
void eng_post_fail(struct eng_post *post, int32_t status);
int32_t eng_reporter_refuse_unbound(const char *function);

#endif
