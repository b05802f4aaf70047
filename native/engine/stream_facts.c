/* SPDX-License-Identifier: Apache-2.0
 * What can be asked of a stream and set on it, and who wants to hear of streams that come and go.
 */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "limit.h"
#include "stream.h"
#include "stream_state.h"
#include "text.h"

enum { FAILURE_MODE = 1, OVERFLOW_CHECK, USER_TAG, CACHE_OP_INFO, PRIORITY };
enum { CONTINUE_ON_FAILURE = 0, STOP_ON_FAILURE = 1 };

int32_t aclpy_stream_facts(aclpy_handle ctx, aclpy_handle stream, const char *function, aclpy_stream_info *info) {
  if (info == NULL) return eng_fail_null(function, "value");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  pthread_mutex_lock(&found->lock);
  *info = (aclpy_stream_info){.id = (int32_t)found->id, .priority = found->priority, .flags = found->flags};
  pthread_mutex_unlock(&found->lock);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_available(aclpy_handle ctx, uint32_t *number) {
  return eng_limit_available(ENG_LIMIT_STREAMS, ctx, number, "aclrtGetStreamAvailableNum", "streamCount");
}

/* ---- attributes ---- */

static int32_t set_failure_mode_(struct eng_stream *stream, uint64_t mode, const char *function) {
  if (mode > STOP_ON_FAILURE) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "mode", "0 (continue) or 1 (stop on failure)", "",
                      "%" PRIu64, mode);
  }
  if (atomic_load(&stream->gate) & (ENG_GATE_PERSISTENT | ENG_GATE_DEVICE)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "an ordinary stream",
                      "set it on a stream that is neither persistent nor for the device only",
                      "a stream that is persistent or for the device only");
  }
  pthread_mutex_lock(&stream->lock);
  bool back = stream->stop_on_failure && mode == CONTINUE_ON_FAILURE;
  if (mode == STOP_ON_FAILURE) stream->stop_on_failure = true;
  if (!back) stream->attributes[FAILURE_MODE] = mode;
  pthread_mutex_unlock(&stream->lock);
  if (mode == STOP_ON_FAILURE) atomic_store(&stream->context->stop_on_failure, true);
  if (!back) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "mode", "1, which the stream has already",
                    "create another stream: stopping cannot be taken back", "0");
}

/* The names that call an attribute's value otherwise are those of the overflow check. */
static const char *value_name_(const char *function) {
  return strstr(function, "OverflowSwitch") != NULL ? "flag" : "value";
}

static int32_t set_(struct eng_stream *stream, int32_t attribute, uint64_t value, const char *function) {
  if (attribute == FAILURE_MODE) return set_failure_mode_(stream, value, function);
  if (attribute == OVERFLOW_CHECK && value > 1) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, value_name_(function), "0 (off) or 1 (on)", "", "%" PRIu64, value);
  }
  pthread_mutex_lock(&stream->lock);
  if (attribute == PRIORITY) {
    stream->priority = value > 7 ? 7 : (uint32_t)value;
  } else {
    stream->attributes[attribute] = value;
  }
  pthread_mutex_unlock(&stream->lock);
  return ACLPY_ACL_SUCCESS;
}

/* The stream, with a reference, once both have been checked. */
static struct eng_stream *find_(aclpy_handle ctx, aclpy_handle stream, int32_t attribute, const char *function,
                                int32_t *status) {
  if (stream == 0) {
    *status = eng_fail_null(function, "stream");
    return NULL;
  }
  if (attribute >= FAILURE_MODE && attribute <= PRIORITY) return eng_stream_resolve(ctx, stream, function, status);
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "stmAttrType", "an attribute from 1 to 5", "",
                       "%" PRId32, attribute);
  return NULL;
}

int32_t aclpy_stream_set_attribute(aclpy_handle ctx, aclpy_handle stream, int32_t attribute, uint64_t value,
                                   const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = find_(ctx, stream, attribute, function, &status);
  if (found == NULL) return status;
  status = set_(found, attribute, value, function);
  eng_release(&found->head);
  return status;
}

int32_t aclpy_stream_get_attribute(aclpy_handle ctx, aclpy_handle stream, int32_t attribute, uint64_t *value,
                                   const char *function) {
  if (value == NULL) return eng_fail_null(function, value_name_(function));
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = find_(ctx, stream, attribute, function, &status);
  if (found == NULL) return status;
  pthread_mutex_lock(&found->lock);
  *value = attribute == PRIORITY ? found->priority : found->attributes[attribute];
  pthread_mutex_unlock(&found->lock);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

/* Streams outside of any model have nothing to clean. */
int32_t aclpy_stream_model_only(aclpy_handle ctx, aclpy_handle stream, const char *function) {
  if (stream == 0) return eng_fail_null(function, "stream");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  bool bound = (atomic_load(&found->gate) & ENG_GATE_MODEL) != 0;
  eng_release(&found->head);
  if (bound) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream whose tasks stay",
                      "build another model", "a stream of a model");
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_MODEL, function, "stream", "a persistent stream bound to a model",
                    "call aclmdlRIBindStream first", "a stream that is bound to no model");
}

/* ---- listeners ---- */

enum { CREATE_POST = 1, DESTROY_PRE = 2, LISTENERS = 16, NAME_BYTES = 64 };

struct listener_ {
  char name[NAME_BYTES];
  aclpy_stream_listener call;
  void *arg;
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct listener_ listeners_[LISTENERS];
static atomic_int listening_;

/* Under the lock: the one of this name, or a free place (name ""), or NULL. */
static struct listener_ *place_(const char *name) {
  for (int i = 0; i < LISTENERS; i++) {
    if (listeners_[i].call != NULL && strcmp(listeners_[i].name, name) == 0) return &listeners_[i];
  }
  for (int i = 0; i < LISTENERS; i++) {
    if (listeners_[i].call == NULL) return &listeners_[i];
  }
  return NULL;
}

int32_t aclpy_stream_listen(const char *name, aclpy_stream_listener call, void *arg) {
  static const char function[] = "aclrtRegStreamStateCallback";
  if (name == NULL || name[0] == 0 || strlen(name) >= NAME_BYTES) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "regName", "a name of 1 to 63 bytes", "",
                      name == NULL ? "NULL" : "%.80s", name);
  }
  pthread_mutex_lock(&lock_);
  struct listener_ *place = place_(name);
  bool known = place != NULL && place->call != NULL;
  bool refused = place == NULL || (known && call != NULL);
  if (!refused && (known || call != NULL)) {
    place->call = call;
    place->arg = arg;
    eng_text(place->name, sizeof(place->name), "%s", name);
    atomic_fetch_add(&listening_, call != NULL ? 1 : -1);
  }
  pthread_mutex_unlock(&lock_);
  if (!refused) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "regName", "a name that is not registered yet",
                    "register NULL under this name first", known ? "%s, which is registered" : "%s, one too many",
                    name);
}

void eng_stream_announce(struct eng_stream *stream, bool created) {
  if (!created && atomic_exchange(&stream->end_announced, true)) return;
  if (atomic_load_explicit(&listening_, memory_order_relaxed) == 0) return;
  struct listener_ copy[LISTENERS];
  pthread_mutex_lock(&lock_);
  memcpy(copy, listeners_, sizeof(copy));
  pthread_mutex_unlock(&lock_);
  for (int i = 0; i < LISTENERS; i++) {
    if (copy[i].call != NULL) copy[i].call(stream->handle, created ? CREATE_POST : DESTROY_PRE, copy[i].arg);
  }
}

void eng_stream_listeners_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_stream_listeners_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
