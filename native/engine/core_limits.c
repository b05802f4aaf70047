/* SPDX-License-Identifier: Apache-2.0
 * Limits of cores: of a device for the process, of a stream, and which stream's a thread goes by.
 *
 * They are kept and told again; results do not depend on them, and they hold nothing back, since the pool's threads
 * stand for cores of either kind. Figures of a chip with more cores are therefore taken as they are.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "settings.h"
#include "stream.h"

enum { CUBE, VECTOR };

static _Atomic uint32_t process_[ENG_MAX_DEVICES][ENG_CORE_KINDS]; /* 0: not set */
static _Thread_local aclpy_handle used_;                           /* the stream whose limits hold in this thread */

static int32_t check_kind_(const char *function, int32_t kind) {
  if (kind == CUBE || kind == VECTOR) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "type", "0 (cube cores) or 1 (vector cores)", "",
                    "%" PRId32, kind);
}

static int32_t check_value_(const char *function, uint32_t value) {
  if (value > 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "value", "at least one core",
                    "reset the limit to lift it", "0");
}

static uint32_t of_device_(int32_t device, int32_t kind) {
  uint32_t set = atomic_load(&process_[device][kind]);
  return set != 0 ? set : (uint32_t)aclpy_thread_count();
}

static uint32_t of_stream_(struct eng_stream *stream, int32_t kind) {
  uint32_t set = atomic_load(&stream->cores[kind]);
  return set != 0 ? set : of_device_(stream->device, kind);
}

int32_t aclpy_device_cores(int32_t device, int32_t kind, uint32_t *value) {
  static const char function[] = "aclrtGetDeviceResLimit";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) status = check_kind_(function, kind);
  if (status == ACLPY_ACL_SUCCESS) *value = of_device_(device, kind);
  return status;
}

int32_t aclpy_device_cores_set(int32_t device, int32_t kind, uint32_t value) {
  static const char function[] = "aclrtSetDeviceResLimit";
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) status = check_kind_(function, kind);
  if (status == ACLPY_ACL_SUCCESS) status = check_value_(function, value);
  if (status == ACLPY_ACL_SUCCESS) atomic_store(&process_[device][kind], value);
  return status;
}

int32_t aclpy_device_cores_reset(int32_t device) {
  int32_t status = eng_device_check(device, "aclrtResetDeviceResLimit", "deviceId");
  for (int32_t kind = CUBE; status == ACLPY_ACL_SUCCESS && kind <= VECTOR; kind++) {
    atomic_store(&process_[device][kind], 0);
  }
  return status;
}

int32_t aclpy_stream_cores(aclpy_handle ctx, aclpy_handle stream, int32_t kind, uint32_t *value) {
  static const char function[] = "aclrtGetStreamResLimit";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  *value = of_stream_(found, kind);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_cores_set(aclpy_handle ctx, aclpy_handle stream, int32_t kind, uint32_t value) {
  static const char function[] = "aclrtSetStreamResLimit";
  int32_t status = check_kind_(function, kind);
  if (status == ACLPY_ACL_SUCCESS) status = check_value_(function, value);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) return status;
  atomic_store(&found->cores[kind], value);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_cores_reset(aclpy_handle ctx, aclpy_handle stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, "aclrtResetStreamResLimit", &status);
  if (found == NULL) return status;
  for (int32_t kind = CUBE; kind <= VECTOR; kind++) atomic_store(&found->cores[kind], 0);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

/* ---- the calling thread ----------------------------------------------------------------------------------------- */

int32_t aclpy_thread_cores_use(aclpy_handle ctx, aclpy_handle stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, "aclrtUseStreamResInCurrentThread", &status);
  if (found == NULL) return status;
  used_ = found->handle;
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_thread_cores_unuse(aclpy_handle ctx, aclpy_handle stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, "aclrtUnuseStreamResInCurrentThread", &status);
  if (found == NULL) return status;
  if (used_ == found->handle) used_ = 0; /* of another stream: nothing to take back */
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_thread_cores(aclpy_handle ctx, int32_t kind, uint32_t *value) {
  static const char function[] = "aclrtGetResInCurrentThread";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = check_kind_(function, kind);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  /* A stream that is gone, or one of another device, says nothing about what this thread does next. */
  struct eng_stream *stream = used_ == 0 ? NULL : eng_handle_acquire(ENG_STREAM, used_);
  bool holds = stream != NULL && stream->device == context->device;
  *value = holds ? of_stream_(stream, kind) : of_device_(context->device, kind);
  if (stream != NULL) eng_release(&stream->head);
  eng_release(&context->head);
  return ACLPY_ACL_SUCCESS;
}
