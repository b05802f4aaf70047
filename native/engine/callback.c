/* SPDX-License-Identifier: Apache-2.0
 * Callbacks: queueing them, posting them from the stream, running them.
 */
#include "callback.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "capture.h"
#include "failure.h"
#include "fault.h"
#include "marker.h"
#include "reporter.h"
#include "stream.h"
#include "text.h"
#include "thread.h"

enum { NO_BLOCK = 0, BLOCK = 1 };

atomic_int eng_posts_open;

void eng_callback_retain(struct eng_callback *callback) { atomic_fetch_add(&callback->owners, 1); }

void eng_callback_release(struct eng_callback *callback) {
  if (atomic_fetch_sub(&callback->owners, 1) != 1) return;
  if (callback->counted) atomic_fetch_sub(&callback->stream->blocking_callbacks, 1);
  if (callback->drop != NULL) callback->drop(callback->arg);
  eng_release(&callback->stream->head);
  free(callback);
}

/* ---- the end of a post ---- */

static void fail_(struct eng_callback *callback, int32_t status) {
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_FOREIGN);
  eng_text(task.u.foreign.label, sizeof(task.u.foreign.label), "aclrtLaunchCallback");
  task.token = callback->token;
  eng_stream_fail(callback->stream, &task, status);
}

static void finish_(struct eng_post *post) {
  /* In a child that was forked by the callback itself, it is not counted. */
  if (atomic_load(&eng_posts_open) > 0) atomic_fetch_sub(&eng_posts_open, 1);
  eng_marker_drop(post->marker);
  eng_callback_release(post->callback);
  free(post);
}

/* The callback has not returned: an exception or its thread's end passes through. */
static void left_(struct eng_post **inside) {
  struct eng_post *post = *inside;
  if (post == NULL) return;
  eng_self()->inside = post->outer;
  int32_t status =
      aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, "aclrtLaunchCallback", "fn", "a callback that returns",
                 "catch exceptions inside of the callback", "one left by an exception or its thread's end");
  fail_(post->callback, status);
  if (post->marker != NULL) eng_marker_reach(post->marker);
  finish_(post);
}

/* Not every C library (musl) unwinds a thread that ends. */
void eng_posts_left(void) {
  while (eng_self()->inside != NULL) left_(&(struct eng_post *){eng_self()->inside});
}

void eng_post_run(struct eng_post *post) {
  aclpy_error_clear();
  post->outer = eng_self()->inside;
  eng_self()->inside = post;
  __attribute__((cleanup(left_))) struct eng_post *inside = post;
  int32_t status = post->callback->run(post->callback->arg);
  inside = NULL;
  eng_self()->inside = post->outer;
  if (status != ACLPY_ACL_SUCCESS) fail_(post->callback, status); /* before anybody can see that it is over */
  if (post->marker != NULL) eng_marker_reach(post->marker);
  finish_(post);
}

int32_t eng_reporter_refuse_unbound(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_NO_CB_REG, function, "stream", "a stream with a subscribed thread",
                    "call aclrtSubscribeReport first, and unsubscribe only after the last callback",
                    "a stream that no thread is subscribed to");
}

void eng_post_fail(struct eng_post *post, int32_t status) {
  (void)eng_reporter_refuse_unbound("aclrtLaunchCallback");
  fail_(post->callback, status);
  if (post->marker != NULL) eng_marker_lose(post->marker, status);
  finish_(post);
}

int32_t eng_callback_post(struct eng_callback *callback, struct eng_marker *marker) {
  struct eng_post *post = eng_object_zalloc(sizeof(*post));
  if (post == NULL) {
    if (marker != NULL) eng_marker_lose(marker, ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION);
    return eng_fail_memory("aclrtLaunchCallback", "a callback's call");
  }
  atomic_fetch_add(&eng_posts_open, 1);
  eng_callback_retain(callback);
  post->callback = callback;
  post->marker = marker == NULL ? NULL : eng_marker_share(marker);
  if (eng_reporter_post(callback->stream, post)) return ACLPY_ACL_SUCCESS;
  eng_post_fail(post, ACLPY_ACL_ERROR_RT_STREAM_NO_CB_REG); /* has told the stream already */
  return ACLPY_ACL_SUCCESS;
}

/* ---- queueing ---- */

static int32_t check_(aclpy_task_run run, int32_t block_type, const char *function) {
  if (block_type != NO_BLOCK && block_type != BLOCK) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "blockType", "0 (no block) or 1 (block)",
                      "pass ACL_CALLBACK_NO_BLOCK or ACL_CALLBACK_BLOCK", "%" PRId32, block_type);
  }
  if (run != NULL) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "fn", "a function", "pass the function", "NULL");
}

static int32_t check_stream_(struct eng_stream *stream, const char *function) {
  if (atomic_load(&stream->host_functions)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_SUBSCRIBE, function, "stream", "a stream without host functions",
                      "use aclrtLaunchHostFunc or subscribed callbacks on a stream, not both",
                      "a stream that aclrtLaunchHostFunc was used on");
  }
  return eng_reporter_bound(stream) ? ACLPY_ACL_SUCCESS : eng_reporter_refuse_unbound(function);
}

/* The POST, and behind it the WAIT that lets the stream go on once the callback has been called. */
static int32_t queue_(struct eng_stream *stream, struct eng_callback *callback, bool blocks, const char *function) {
  struct eng_task tasks[2];
  struct eng_marker *marker = blocks ? eng_marker_new(0) : NULL;
  if (blocks && marker == NULL) return eng_fail_memory(function, "a callback");
  eng_task_init(&tasks[0], ENG_TASK_RUN, ENG_WORK_POST);
  tasks[0].token = callback->token;
  tasks[0].u.post.callback = callback;
  tasks[0].u.post.marker = marker;
  if (blocks) {
    eng_task_init_mark(&tasks[1], ENG_TASK_WAIT, ENG_MARK_EVENT);
    tasks[1].u.mark.marker = eng_marker_share(marker);
  }
  eng_callback_retain(callback); /* the task's */
  int32_t status = eng_stream_submit_all(stream, tasks, blocks ? 2 : 1, function);
  if (status == ACLPY_ACL_SUCCESS) return status;
  eng_task_drop(&tasks[0]);
  if (blocks) eng_task_drop(&tasks[1]);
  return status;
}

static int32_t launch_(struct eng_stream *stream, struct eng_callback *callback, bool blocks, const char *function) {
  int32_t status = check_stream_(stream, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  callback->counted = blocks && !eng_stream_capturing(stream);
  if (callback->counted) atomic_fetch_add(&stream->blocking_callbacks, 1);
  return queue_(stream, callback, blocks, function);
}

int32_t aclpy_launch_callback(aclpy_handle ctx, aclpy_handle stream, aclpy_task_run run, aclpy_task_drop drop,
                              void *arg, uint64_t token, int32_t block_type) {
  static const char function[] = "aclrtLaunchCallback";
  int32_t status = check_(run, block_type, function);
  struct eng_stream *found = status == ACLPY_ACL_SUCCESS ? eng_stream_resolve(ctx, stream, function, &status) : NULL;
  struct eng_callback *callback = found == NULL ? NULL : eng_object_zalloc(sizeof(*callback));
  if (found != NULL && callback == NULL) {
    status = eng_fail_memory(function, "a callback");
    eng_release(&found->head);
  }
  if (callback == NULL) {
    if (drop != NULL) drop(arg);
    return status;
  }
  *callback = (struct eng_callback){.stream = found, .run = run, .drop = drop, .arg = arg, .token = token};
  atomic_init(&callback->owners, 1);
  status = launch_(found, callback, block_type == BLOCK, function);
  eng_callback_release(callback);
  return status;
}
