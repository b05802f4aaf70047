/* SPDX-License-Identifier: Apache-2.0
 * Streams under their C names.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "capi.h"
#include "failure.h"

aclError aclrtCreateStream(aclrtStream *stream) {
  return stream == NULL ? eng_fail_null("aclrtCreateStream", "stream") : aclrtCreateStreamWithConfig(stream, 0, 0);
}
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag) {
  if (stream == NULL) return eng_fail_null("aclrtCreateStreamWithConfig", "stream");
  aclpy_handle made = 0;
  return capi_give(stream, &made, aclpy_stream_create(0, priority, flag, CAPI_OUT(stream, &made)));
}
aclError aclrtDestroyStream(aclrtStream stream) { return aclpy_stream_destroy(0, capi_handle(stream)); }
aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclpy_stream_destroy_force(0, capi_handle(stream)); }
aclError aclrtSynchronizeStream(aclrtStream stream) { return aclpy_stream_synchronize(0, capi_handle(stream)); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return aclpy_stream_synchronize_with_timeout(0, capi_handle(stream), timeout);
}
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
  return aclpy_stream_query(0, capi_handle(stream), (int32_t *)status);
}
aclError aclrtStreamAbort(aclrtStream stream) { return aclpy_stream_abort(0, capi_handle(stream)); }
aclError aclrtStreamStop(aclrtStream stream) { return aclpy_stream_stop(0, capi_handle(stream)); }

/* ---- facts ----------------------------------------------------------------------------------------------------- */

static int32_t facts_(aclrtStream stream, const char *function, const void *out, const char *argument,
                      aclpy_stream_info *info) {
  if (out == NULL) return eng_fail_null(function, argument);
  return aclpy_stream_facts(0, capi_handle(stream), function, info);
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
  aclpy_stream_info info;
  int32_t status = facts_(stream, "aclrtStreamGetId", streamId, "streamId", &info);
  if (status == 0) *streamId = info.id;
  return status;
}
aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) {
  aclpy_stream_info info;
  int32_t status = facts_(stream, "aclrtStreamGetPriority", priority, "priority", &info);
  if (status == 0) *priority = info.priority;
  return status;
}
aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) {
  aclpy_stream_info info;
  int32_t status = facts_(stream, "aclrtStreamGetFlags", flags, "flags", &info);
  if (status == 0) *flags = info.flags;
  return status;
}
aclError aclrtGetStreamAvailableNum(uint32_t *streamCount) { return aclpy_stream_available(0, streamCount); }

/* ---- streams of built graphs, which do not exist here ---------------------------------------------------------- */

aclError aclrtPersistentTaskClean(aclrtStream stream) {
  return aclpy_stream_model_only(0, capi_handle(stream), "aclrtPersistentTaskClean");
}
aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  return aclpy_stream_activate(0, capi_handle(activeStream), capi_handle(stream));
}
aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue, aclrtCompareDataType dataType,
                           aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream) {
  const aclpy_switch what = {.left = (uintptr_t)leftValue,
                             .right = (uintptr_t)rightValue,
                             .condition = (int32_t)cond,
                             .type = (int32_t)dataType,
                             .true_stream = capi_handle(trueStream),
                             .false_stream = capi_handle(falseStream)};
  return aclpy_stream_switch(0, &what, capi_handle(stream));
}

/* ---- listeners ------------------------------------------------------------------------------------------------- */

/* Who listens under a name. It stays for good: a stream may be calling it while it is taken out. */
struct listener_ {
  struct listener_ *next;
  aclrtStreamStateCallback callback;
  void *args;
  char name[];
};
static struct listener_ *listeners_;
static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;

static void tell_(aclpy_handle stream, int32_t state, void *arg) {
  struct listener_ *listener = arg;
  pthread_mutex_lock(&lock_);
  struct listener_ now = {.callback = listener->callback, .args = listener->args};
  pthread_mutex_unlock(&lock_);
  if (now.callback != NULL) now.callback(capi_pointer(stream), (aclrtStreamState)state, now.args);
}

static struct listener_ *named_(const char *name) {
  struct listener_ *found = listeners_;
  while (found != NULL && strcmp(found->name, name) != 0) found = found->next;
  if (found != NULL) return found;
  size_t bytes = strlen(name) + 1;
  found = calloc(1, sizeof(*found) + bytes);
  if (found == NULL) return NULL;
  memcpy(found->name, name, bytes);
  found->next = listeners_;
  listeners_ = found;
  return found;
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args) {
  if (regName == NULL || callback == NULL) return aclpy_stream_listen(regName, NULL, NULL);
  pthread_mutex_lock(&lock_);
  struct listener_ *listener = named_(regName);
  pthread_mutex_unlock(&lock_);
  if (listener == NULL) return eng_fail_memory("aclrtRegStreamStateCallback", "the callback");
  int32_t status = aclpy_stream_listen(regName, tell_, listener);
  if (status != 0) return status;
  pthread_mutex_lock(&lock_);
  listener->callback = callback;
  listener->args = args;
  pthread_mutex_unlock(&lock_);
  return status;
}
