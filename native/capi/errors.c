/* SPDX-License-Identifier: Apache-2.0
 * Errors, exception callbacks and the log under their C names.
 */
#include <stdarg.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "capi.h"
#include "text.h"

/* The code itself, or why there is none. */
static int32_t last_(aclrtLastErrLevel level, int32_t clear) {
  int32_t code = 0;
  int32_t status = aclpy_last_error((int32_t)level, clear, &code);
  return status != 0 ? status : code;
}
aclError aclrtPeekAtLastError(aclrtLastErrLevel level) { return last_(level, 0); }
aclError aclrtGetLastError(aclrtLastErrLevel level) { return last_(level, 1); }

/* ---- what a callback is told of a failed task ------------------------------------------------------------------ */

/* The vendor's opaque record and the engine's are one: pointers to structures look alike. */
static aclpy_exception_callback engine_(aclrtExceptionInfoCallback callback) {
  aclpy_exception_callback same = NULL;
  _Static_assert(sizeof(same) == sizeof(callback), "pointers to functions are alike");
  memcpy(&same, &callback, sizeof(same));
  return same;
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return aclpy_exception_set(engine_(callback));
}
aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  return aclpy_exception_register(engine_(callback));
}
aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  return aclpy_exception_unregister(engine_(callback));
}

static uint32_t value_(const aclrtExceptionInfo *info, int32_t what) {
  return aclpy_exception_value((const aclpy_exception_info *)(const void *)info, what);
}
uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info) { return value_(info, ACLPY_EXCEPTION_TASK); }
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return value_(info, ACLPY_EXCEPTION_STREAM);
}
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return value_(info, ACLPY_EXCEPTION_THREAD);
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return value_(info, ACLPY_EXCEPTION_DEVICE);
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info) {
  return value_(info, ACLPY_EXCEPTION_CODE);
}

/* ---- faults of devices ----------------------------------------------------------------------------------------- */

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo) {
  int32_t fault = 0;
  int32_t status = aclpy_error_verbose(deviceId, CAPI_OUT(errorInfo, &fault));
  if (status != 0) return status;
  memset(errorInfo, 0, sizeof(*errorInfo));
  errorInfo->errorType = (aclrtErrorType)fault;
  return status;
}
aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo) {
  (void)deviceId;
  (void)errorInfo;
  return aclpy_unsupported("aclrtRepairError");
}
aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize) {
  (void)deviceId;
  (void)memUceInfoArray;
  (void)arraySize;
  (void)retSize;
  return aclpy_unsupported("aclrtGetMemUceInfo");
}
aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize) {
  (void)deviceId;
  (void)memUceInfoArray;
  (void)arraySize;
  return aclpy_unsupported("aclrtMemUceRepair");
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

enum { LOG_BYTES = 1024 };

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...) {
  char text[LOG_BYTES];
  if (fmt != NULL) {
    va_list values;
    va_start(values, fmt);
    (void)eng_text_list(text, sizeof(text), fmt, values);
    va_end(values);
  }
  (void)aclpy_app_log((int32_t)logLevel, func, file, line, CAPI_OUT(fmt, text));
}
