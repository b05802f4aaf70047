/* SPDX-License-Identifier: Apache-2.0
 * Exception callbacks: one slot of the older call, a list of the newer one, and each device's last fault.
 *
 * Callbacks run on the thread that ran the failed task, without a lock, so that they may register and unregister.
 */
#include "exception.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "settings.h"
#include "stream.h"
#include "thread.h"

enum { MOST_CALLBACKS = 64 };

struct callbacks_ {
  aclpy_exception_callback slot;
  int count;
  aclpy_exception_callback at[MOST_CALLBACKS];
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct callbacks_ callbacks_;
static atomic_bool any_; /* spares failing tasks the lock, and keeps them from calling foreign code at shutdown */
static _Atomic int32_t last_fault_[ENG_MAX_DEVICES];

static void changed_(void) { atomic_store(&any_, callbacks_.slot != NULL || callbacks_.count > 0); }

int32_t aclpy_exception_set(aclpy_exception_callback callback) {
  pthread_mutex_lock(&lock_);
  callbacks_.slot = callback;
  changed_();
  pthread_mutex_unlock(&lock_);
  return ACLPY_ACL_SUCCESS;
}

static int find_(aclpy_exception_callback callback) {
  for (int i = 0; i < callbacks_.count; i++) {
    if (callbacks_.at[i] == callback) return i;
  }
  return -1;
}

static int32_t refuse_(const char *function, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "callback", "a function; at most 64 of them",
                    "pass the function that is to be called", "%s", got);
}

int32_t aclpy_exception_register(aclpy_exception_callback callback) {
  static const char function[] = "aclrtExceptionInfoCallbackRegister";
  if (callback == NULL) return refuse_(function, "NULL");
  pthread_mutex_lock(&lock_);
  bool full = callbacks_.count == MOST_CALLBACKS;
  if (find_(callback) >= 0) {
    full = false;
  } else if (!full) {
    callbacks_.at[callbacks_.count++] = callback;
  }
  changed_();
  pthread_mutex_unlock(&lock_);
  return full ? refuse_(function, "one function too many") : ACLPY_ACL_SUCCESS;
}

int32_t aclpy_exception_unregister(aclpy_exception_callback callback) {
  if (callback == NULL) return refuse_("aclrtExceptionInfoCallbackUnregister", "NULL");
  pthread_mutex_lock(&lock_);
  int found = find_(callback);
  if (found >= 0) {
    callbacks_.count--;
    for (int i = found; i < callbacks_.count; i++) callbacks_.at[i] = callbacks_.at[i + 1];
  }
  changed_();
  pthread_mutex_unlock(&lock_);
  return ACLPY_ACL_SUCCESS; /* an unknown one, too */
}

void eng_exception_report(const struct eng_stream *stream, int32_t status) {
  if (eng_stopping()) return; /* its tasks are dropped, they do not fail */
  atomic_store(&last_fault_[stream->device], status);
  if (!atomic_load(&any_)) return;
  pthread_mutex_lock(&lock_);
  struct callbacks_ now = callbacks_;
  pthread_mutex_unlock(&lock_);
  struct aclpy_exception_info info = {.task_id = (uint32_t)atomic_load(&stream->completed),
                                      .stream_id = (uint32_t)stream->id,
                                      .thread_id = eng_thread_number(),
                                      .device_id = (uint32_t)stream->device,
                                      .error_code = (uint32_t)status};
  aclpy_error kept = eng_self()->error; /* what a callback calls must not replace the failure's text */
  if (eng_worker_enter_foreign()) {
    if (now.slot != NULL) now.slot(&info);
    for (int i = 0; i < now.count; i++) now.at[i](&info);
  }
  eng_worker_leave_foreign();
  eng_self()->error = kept;
}

uint32_t aclpy_exception_value(const aclpy_exception_info *info, int32_t what) {
  if (info == NULL) return UINT32_MAX;
  switch (what) {
    case ACLPY_EXCEPTION_TASK:
      return info->task_id;
    case ACLPY_EXCEPTION_STREAM:
      return info->stream_id;
    case ACLPY_EXCEPTION_THREAD:
      return info->thread_id;
    case ACLPY_EXCEPTION_DEVICE:
      return info->device_id;
    case ACLPY_EXCEPTION_CODE:
      return info->error_code;
    default:
      return UINT32_MAX;
  }
}

/* ---- the device's last fault ---- */

enum { FAULT_NONE = 0, FAULT_MEMORY = 1, FAULT_AICORE = 3, FAULT_LINK = 4, FAULT_L3_PORT = 5, FAULT_OTHER = 0xFFFF };

static int32_t fault_of_(int32_t status) {
  static const struct {
    int32_t first, last, fault;
  } rows[] = {
      {ACLPY_ACL_SUCCESS, ACLPY_ACL_SUCCESS, FAULT_NONE},
      {ACLPY_ACL_ERROR_RT_AICORE_TIMEOUT, ACLPY_ACL_ERROR_RT_AICORE_TRAP_EXCEPTION, FAULT_AICORE},
      {ACLPY_ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, ACLPY_ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, FAULT_AICORE},
      {ACLPY_ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW, ACLPY_ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW, FAULT_AICORE},
      {ACLPY_ACL_ERROR_RT_DEVICE_MEM_ERROR, ACLPY_ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR, FAULT_MEMORY},
      {ACLPY_ACL_ERROR_RT_LINK_ERROR, ACLPY_ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, FAULT_LINK},
      {ACLPY_ACL_ERROR_RT_L3_PORT_ERROR, ACLPY_ACL_ERROR_RT_L3_PORT_ERROR, FAULT_L3_PORT}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    if (status >= rows[i].first && status <= rows[i].last) return rows[i].fault;
  }
  return FAULT_OTHER;
}

int32_t aclpy_error_verbose(int32_t device, int32_t *fault) {
  static const char function[] = "aclrtGetErrorVerbose";
  if (fault == NULL) return eng_fail_null(function, "errorInfo");
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) *fault = fault_of_(atomic_load(&last_fault_[device]));
  return status;
}

int32_t aclpy_unsupported(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "", "a call that the CPU device supports",
                    "leave the call out where the program runs without an NPU", "a call that needs an NPU's hardware");
}

void eng_exception_forget(int32_t device) { atomic_store(&last_fault_[device], ACLPY_ACL_SUCCESS); }

void eng_exceptions_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_exceptions_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  for (int i = 0; i < ENG_MAX_DEVICES; i++) eng_exception_forget(i);
}
