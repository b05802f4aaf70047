/* SPDX-License-Identifier: Apache-2.0
 * Devices and contexts under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtSetDevice(int32_t deviceId) { return aclpy_set_device(deviceId); }
aclError aclrtResetDevice(int32_t deviceId) { return aclpy_reset_device(deviceId); }
aclError aclrtResetDeviceForce(int32_t deviceId) { return aclpy_reset_device_force(deviceId); }
aclError aclrtGetDevice(int32_t *deviceId) { return aclpy_get_device(deviceId); }
aclError aclrtGetDeviceCount(uint32_t *count) { return aclpy_device_count(count); }
aclError aclrtSynchronizeDevice(void) { return aclpy_synchronize_device(0); }
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return aclpy_synchronize_device_with_timeout(0, timeout);
}
aclError aclrtSetTsDevice(aclrtTsId tsId) { return aclpy_set_ts_device((int32_t)tsId); }
aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active) {
  return aclpy_primary_state(deviceId, flags, active);
}

/* ---- contexts -------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(aclpy_handle) == sizeof(aclrtContext), "handles travel as pointers");

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  aclpy_handle made = 0;
  return capi_give(context, &made, aclpy_context_create(deviceId, CAPI_OUT(context, &made)));
}
aclError aclrtDestroyContext(aclrtContext context) { return aclpy_context_destroy(capi_handle(context)); }
aclError aclrtSetCurrentContext(aclrtContext context) { return aclpy_context_set_current(capi_handle(context)); }
aclError aclrtGetCurrentContext(aclrtContext *context) {
  aclpy_handle found = 0;
  return capi_give(context, &found, aclpy_context_get_current(CAPI_OUT(context, &found)));
}
aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
  aclpy_handle found = 0;
  return capi_give(stream, &found, aclpy_stream_default(0, CAPI_OUT(stream, &found)));
}

/* ---- system parameters ----------------------------------------------------------------------------------------- */

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) { return aclpy_sysparam_set((int32_t)opt, value); }
aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) { return aclpy_sysparam_get((int32_t)opt, value); }
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return aclpy_context_sysparam_set(0, (int32_t)opt, value);
}
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
  return aclpy_context_sysparam_get(0, (int32_t)opt, value);
}

/* ---- peers ----------------------------------------------------------------------------------------------------- */

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return aclpy_can_access_peer(canAccessPeer, deviceId, peerDeviceId);
}
aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return aclpy_enable_peer_access(0, peerDeviceId, flags);
}
aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) { return aclpy_disable_peer_access(0, peerDeviceId); }
aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status) {
  return aclpy_peer_access_status(deviceId, peerDeviceId, status);
}
aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value) {
  return aclpy_devices_topology((int32_t)deviceId, (int32_t)otherDeviceId, value);
}
