/* SPDX-License-Identifier: Apache-2.0
 * Limits of cores under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value) {
  return aclpy_device_cores(deviceId, (int32_t)type, value);
}
aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return aclpy_device_cores_set(deviceId, (int32_t)type, value);
}
aclError aclrtResetDeviceResLimit(int32_t deviceId) { return aclpy_device_cores_reset(deviceId); }

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value) {
  return aclpy_stream_cores(0, capi_handle(stream), (int32_t)type, value);
}
aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return aclpy_stream_cores_set(0, capi_handle(stream), (int32_t)type, value);
}
aclError aclrtResetStreamResLimit(aclrtStream stream) { return aclpy_stream_cores_reset(0, capi_handle(stream)); }

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) { return aclpy_thread_cores_use(0, capi_handle(stream)); }
aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return aclpy_thread_cores_unuse(0, capi_handle(stream));
}
aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) {
  return aclpy_thread_cores(0, (int32_t)type, value);
}
