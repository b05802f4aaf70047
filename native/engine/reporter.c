/* SPDX-License-Identifier: Apache-2.0
 * Subscriptions: which thread serves which streams, and its queue of callbacks.
 */
#include "reporter.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "callback.h"
#include "failure.h"
#include "fault.h"
#include "lot.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

enum { MOST_THREADS = 1024 };

struct eng_reporter {
  uint64_t thread;
  int32_t device;
  uint32_t streams;
  bool gone;        /* its thread has ended */
  uint32_t inside;  /* calls of aclrtProcessReport that its thread is in; the last one frees it if nobody needs it */
  uint64_t arrived; /* callbacks so far */
  struct eng_post *first, *last;
  struct eng_reporter *next;
};

/* Guards the list, its reporters, and every stream's `reporter`. Of other locks only those of the waiting lot
 * are taken under it. */
static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_reporter *list_;
static uint32_t threads_;

static uint64_t self_id_(void) { return (uint64_t)(uintptr_t)pthread_self(); }

/* Under the lock. */
static struct eng_reporter *find_(uint64_t thread) {
  struct eng_reporter *reporter = list_;
  while (reporter != NULL && reporter->thread != thread) reporter = reporter->next;
  return reporter;
}

/* Under the lock: gone once it serves no stream and nobody waits in it. */
static void tidy_(struct eng_reporter *reporter) {
  if (reporter->streams != 0 || reporter->inside != 0) return;
  struct eng_reporter **link = &list_;
  while (*link != NULL && *link != reporter) link = &(*link)->next;
  if (*link == NULL) return; /* one of the process that forked */
  *link = reporter->next;
  threads_--;
  free(reporter);
}

bool eng_reporter_bound(struct eng_stream *stream) {
  pthread_mutex_lock(&lock_);
  bool bound = stream->reporter != NULL && !stream->reporter->gone;
  pthread_mutex_unlock(&lock_);
  return bound;
}

bool eng_reporter_post(struct eng_stream *stream, struct eng_post *post) {
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = stream->reporter;
  if (reporter != NULL && reporter->gone) reporter = NULL;
  if (reporter != NULL) {
    post->number = reporter->arrived++;
    if (reporter->last != NULL) {
      reporter->last->next = post;
    } else {
      reporter->first = post;
    }
    reporter->last = post;
  }
  pthread_mutex_unlock(&lock_);
  if (reporter != NULL) eng_lot_wake(reporter); /* an address, nothing more: it may be gone by now */
  return reporter != NULL;
}

bool eng_reporter_waits_for_itself(struct eng_stream *stream) {
  if (atomic_load(&stream->blocking_callbacks) == 0) return false;
  uint64_t self = self_id_();
  pthread_mutex_lock(&lock_);
  bool mine = stream->reporter != NULL ? stream->reporter->thread == self : find_(self) != NULL;
  pthread_mutex_unlock(&lock_);
  return mine;
}

int32_t eng_reporter_refuse_own_wait(const char *function, const char *argument) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, argument, "a thread other than the subscribed one",
                    "call aclrtProcessReport until the callbacks have run, or wait in another thread",
                    "the thread that has to run the callbacks which the stream waits for");
}

int32_t eng_reporter_claim_host_functions(struct eng_stream *stream, const char *function) {
  if (atomic_load_explicit(&stream->host_functions, memory_order_relaxed)) return ACLPY_ACL_SUCCESS;
  pthread_mutex_lock(&lock_);
  bool bound = stream->reporter != NULL;
  if (!bound) atomic_store(&stream->host_functions, true);
  pthread_mutex_unlock(&lock_);
  if (!bound) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_SUBSCRIBE, function, "stream", "a stream that no thread is subscribed to",
                    "use aclrtLaunchCallback on it, or another stream", "a stream with a subscribed thread");
}

void eng_reporter_forget(struct eng_stream *stream) {
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = stream->reporter;
  stream->reporter = NULL;
  if (reporter != NULL) {
    reporter->streams--;
    eng_lot_wake(reporter);
    tidy_(reporter);
  }
  pthread_mutex_unlock(&lock_);
}

/* ---- subscribing ---- */

static int32_t refuse_stream_(const char *function, const char *expected, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_SUBSCRIBE, function, "stream", expected, "", "%s", got);
}

/* Under the lock: the thread's reporter, made where it is new, or NULL and *status. */
static struct eng_reporter *reporter_for_(uint64_t thread, int32_t device, const char *function, int32_t *status) {
  struct eng_reporter *reporter = find_(thread);
  if (reporter != NULL && reporter->streams > 0 && reporter->device != device) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_THREAD_SUBSCRIBE, function, "threadId", "a thread for each device",
                         "let another thread serve this stream", "a thread that serves streams of device %" PRId32,
                         reporter->device);
    return NULL;
  }
  if (reporter == NULL && threads_ == MOST_THREADS) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_OVER_LIMIT, function, "threadId", "at most 1024 subscribed threads",
                         "let one thread serve several streams", "one thread more");
    return NULL;
  }
  if (reporter == NULL) {
    reporter = eng_object_zalloc(sizeof(*reporter));
    if (reporter == NULL) {
      *status = eng_fail_memory(function, "a subscription");
      return NULL;
    }
    reporter->thread = thread;
    reporter->next = list_;
    list_ = reporter;
    threads_++;
  }
  reporter->device = device;
  reporter->gone = false; /* another thread has its number now */
  return reporter;
}

/* This thread's end is to be noticed: its number will be another thread's. */
static void attend_(void) {
  eng_thread_attach();
  eng_self()->serves = true;
}

static int32_t subscribe_(struct eng_stream *stream, uint64_t thread, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (thread == self_id_()) attend_();
  pthread_mutex_lock(&lock_);
  if (stream->reporter != NULL) {
    status = refuse_stream_(function, "a stream that is not subscribed yet", "a stream with a subscribed thread");
  } else if (atomic_load(&stream->host_functions)) {
    status = refuse_stream_(function, "a stream without host functions", "a stream used with aclrtLaunchHostFunc");
  } else {
    struct eng_reporter *reporter = reporter_for_(thread, stream->device, function, &status);
    if (reporter != NULL) {
      stream->reporter = reporter;
      reporter->streams++;
    }
  }
  pthread_mutex_unlock(&lock_);
  return status;
}

static struct eng_stream *resolve_(aclpy_handle ctx, aclpy_handle stream, const char *function, int32_t *status) {
  if (stream != 0) return eng_stream_resolve(ctx, stream, function, status);
  *status = eng_fail_null(function, "stream");
  return NULL;
}

int32_t aclpy_subscribe_report(aclpy_handle ctx, uint64_t thread, aclpy_handle stream) {
  static const char function[] = "aclrtSubscribeReport";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = resolve_(ctx, stream, function, &status);
  if (found == NULL) return status;
  status = subscribe_(found, thread, function);
  eng_release(&found->head);
  return status;
}

/* Under the lock: takes the stream's callbacks out of the thread's queue. */
static struct eng_post *take_out_(struct eng_reporter *reporter, const struct eng_stream *stream) {
  struct eng_post *taken = NULL, **link = &reporter->first, *last = NULL;
  while (*link != NULL) {
    struct eng_post *post = *link;
    if (post->callback->stream == stream) {
      *link = post->next;
      post->next = taken;
      taken = post;
    } else {
      last = post;
      link = &post->next;
    }
  }
  reporter->last = last;
  return taken;
}

static void fail_all_(struct eng_post *post) {
  while (post != NULL) {
    struct eng_post *next = post->next;
    eng_post_fail(post, ACLPY_ACL_ERROR_RT_STREAM_NO_CB_REG);
    post = next;
  }
}

/* Under the lock: the stream is served by nobody any more. Returns what was handed over and not called. */
static struct eng_post *detach_(struct eng_stream *stream) {
  struct eng_reporter *reporter = stream->reporter;
  if (reporter == NULL) return NULL;
  stream->reporter = NULL;
  reporter->streams--;
  struct eng_post *orphans = take_out_(reporter, stream);
  eng_lot_wake(reporter); /* it may wait for a stream that is gone */
  tidy_(reporter);
  return orphans;
}

void eng_reporter_leave(struct eng_stream *stream) {
  pthread_mutex_lock(&lock_);
  struct eng_post *orphans = detach_(stream);
  pthread_mutex_unlock(&lock_);
  fail_all_(orphans);
}

bool eng_reporter_holds(uint64_t stream_id) {
  bool found = false;
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = find_(self_id_());
  for (struct eng_post *post = reporter == NULL ? NULL : reporter->first; post != NULL && !found; post = post->next) {
    found = post->marker != NULL && post->callback->stream->id == stream_id;
  }
  pthread_mutex_unlock(&lock_);
  return found;
}

bool eng_reporter_others_may_call(void) {
  int mine = 0;
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = find_(self_id_());
  for (struct eng_post *post = reporter == NULL ? NULL : reporter->first; post != NULL; post = post->next) mine++;
  pthread_mutex_unlock(&lock_);
  return atomic_load(&eng_posts_open) > mine;
}

void eng_reporter_thread_ends(void) {
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = find_(self_id_());
  struct eng_post *orphans = NULL;
  if (reporter != NULL) {
    orphans = reporter->first;
    reporter->first = reporter->last = NULL;
    reporter->gone = true;
    reporter->inside = 0;
    tidy_(reporter);
  }
  pthread_mutex_unlock(&lock_);
  fail_all_(orphans);
}

static int32_t unsubscribe_(struct eng_stream *stream, uint64_t thread, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_post *orphans = NULL;
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = stream->reporter;
  if (reporter == NULL) {
    status = refuse_stream_(function, "a subscribed stream", "a stream that no thread is subscribed to");
  } else if (reporter->thread != thread) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_THREAD_SUBSCRIBE, function, "threadId", "the thread that was subscribed",
                        "pass the same thread id as to aclrtSubscribeReport", "another thread");
  } else {
    orphans = detach_(stream);
  }
  pthread_mutex_unlock(&lock_);
  fail_all_(orphans);
  return status;
}

int32_t aclpy_unsubscribe_report(aclpy_handle ctx, uint64_t thread, aclpy_handle stream) {
  static const char function[] = "aclrtUnSubscribeReport";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = resolve_(ctx, stream, function, &status);
  if (found == NULL) return status;
  status = unsubscribe_(found, thread, function);
  eng_release(&found->head);
  return status;
}

uint64_t aclpy_thread_id(void) { return self_id_(); }

/* ---- processing ---- */

static bool look_(void *arg) {
  struct eng_reporter *reporter = arg;
  pthread_mutex_lock(&lock_);
  bool news = reporter->first != NULL || reporter->streams == 0;
  pthread_mutex_unlock(&lock_);
  return news;
}

static int32_t refuse_thread_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_THREAD_SUBSCRIBE, function, "", "a subscribed thread",
                    "call it in the thread whose id went to aclrtSubscribeReport",
                    "a thread that is subscribed to no stream");
}

static struct eng_post *take_before_(struct eng_reporter *reporter, uint64_t number) {
  pthread_mutex_lock(&lock_);
  struct eng_post *post = reporter->first;
  if (post != NULL && post->number >= number) post = NULL;
  if (post != NULL) reporter->first = post->next;
  if (reporter->first == NULL) reporter->last = NULL;
  pthread_mutex_unlock(&lock_);
  return post;
}

/* Those that have arrived by now. One at a time: who unsubscribes meanwhile is told that no more of them run. */
static bool run_arrived_(struct eng_reporter *reporter) {
  pthread_mutex_lock(&lock_);
  bool some = reporter->first != NULL;
  const uint64_t number = reporter->arrived;
  pthread_mutex_unlock(&lock_);
  for (struct eng_post *post; some && (post = take_before_(reporter, number)) != NULL;) eng_post_run(post);
  return some;
}

static struct eng_reporter *enter_(void) {
  attend_();
  pthread_mutex_lock(&lock_);
  struct eng_reporter *reporter = find_(self_id_());
  if (reporter != NULL) reporter->inside++;
  pthread_mutex_unlock(&lock_);
  return reporter;
}

/* Also where a callback is left by an exception (-fexceptions). */
static void leave_(struct eng_reporter **inside) {
  struct eng_reporter *reporter = *inside;
  if (reporter == NULL) return;
  pthread_mutex_lock(&lock_);
  reporter->inside--;
  tidy_(reporter);
  pthread_mutex_unlock(&lock_);
}

int32_t aclpy_process_report(int32_t timeout_ms) {
  static const char function[] = "aclrtProcessReport";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (timeout_ms == 0 || timeout_ms < -1) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "timeout", "-1 (for ever) or more than 0 ms", "",
                      "%" PRId32, timeout_ms);
  }
  __attribute__((cleanup(leave_))) struct eng_reporter *reporter = enter_();
  if (reporter == NULL) return refuse_thread_(function);
  int64_t deadline_ns = timeout_ms < 0 ? ENG_NEVER : eng_clock_ns() + (int64_t)timeout_ms * 1000000;
  enum eng_wait_end end =
      eng_lot_wait(&(struct eng_wait){.key = reporter, .look = look_, .arg = reporter, .deadline_ns = deadline_ns});
  bool ran = end == ENG_WAIT_DONE && run_arrived_(reporter);
  if (ran) return ACLPY_ACL_SUCCESS;
  if (end == ENG_WAIT_STOPPED) return eng_fail_stopped(function);
  if (end == ENG_WAIT_DONE) return refuse_thread_(function);
  if (eng_schedule_stuck()) return eng_schedule_refuse_stuck(ACLPY_ACL_ERROR_RT_REPORT_TIMEOUT, function);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_REPORT_TIMEOUT, function, "timeout", "a callback that arrives in time",
                    "call it again", "none within %" PRId32 " ms", timeout_ms);
}

void eng_reporters_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_reporters_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  /* Callbacks stay with the parent's streams, those too that this thread was about to run. */
  for (struct eng_reporter *r = list_; r != NULL; r = r->next) r->first = r->last = NULL;
  list_ = NULL;
  threads_ = 0;
  atomic_store(&eng_posts_open, 0);
}
