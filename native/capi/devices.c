/* SPDX-License-Identifier: Apache-2.0
 * Devices and contexts under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtSetDevice(int32_t deviceId) { return aclpy_set_device(deviceId); }
aclError aclrtResetDevice(int32_t deviceId) { return aclpy_reset_device(deviceId); }
aclError aclrtGetDevice(int32_t *deviceId) { return aclpy_get_device(deviceId); }
aclError aclrtGetDeviceCount(uint32_t *count) { return aclpy_device_count(count); }
aclError aclrtSynchronizeDevice(void) { return aclpy_synchronize_device(0); }

/* Handles are as wide as pointers, so out-parameters are written in place. */
_Static_assert(sizeof(aclpy_handle) == sizeof(aclrtContext), "handles travel as pointers");

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  return aclpy_context_create(deviceId, (aclpy_handle *)context);
}
aclError aclrtDestroyContext(aclrtContext context) { return aclpy_context_destroy(capi_handle(context)); }
aclError aclrtSetCurrentContext(aclrtContext context) { return aclpy_context_set_current(capi_handle(context)); }
aclError aclrtGetCurrentContext(aclrtContext *context) { return aclpy_context_get_current((aclpy_handle *)context); }
