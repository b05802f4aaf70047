/* SPDX-License-Identifier: Apache-2.0
 * What a program can ask about devices and the installation, under its C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

/* Enumerations are as wide as the engine's integers, so their addresses may stand for each other. */
_Static_assert(sizeof(aclrtRunMode) == sizeof(int32_t) && sizeof(aclCannAttr) == sizeof(int32_t), "int enumerations");

const char *aclrtGetSocName(void) { return aclpy_soc_name(); }
aclError aclrtGetRunMode(aclrtRunMode *runMode) { return aclpy_run_mode((int32_t *)runMode); }
aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
  return aclpy_version(majorVersion, minorVersion, patchVersion);
}
aclError aclsysGetVersionStr(char *pkgName, char *versionStr) { return aclpy_package_version(pkgName, versionStr); }
aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum) { return aclpy_package_number(pkgName, versionNum); }

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) {
  const int32_t *rows = NULL;
  int32_t status = aclpy_cann_attributes(CAPI_OUT(cannAttrList, &rows), num);
  if (status == 0) *cannAttrList = (const aclCannAttr *)rows;
  return status;
}
aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) {
  return aclpy_cann_attribute((int32_t)cannAttr, value);
}
aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
  return aclpy_device_capability(deviceId, (int32_t)deviceInfo, value);
}
aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
  return aclpy_device_info(deviceId, (int32_t)attr, value);
}
aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority) {
  return aclpy_stream_priority_range(leastPriority, greatestPriority);
}
aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) {
  return aclpy_device_status(deviceId, (int32_t *)deviceStatus);
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo) {
  aclpy_utilization rates = {0};
  if (utilizationInfo != NULL) rates.extend = utilizationInfo->utilizationExtend;
  int32_t status = aclpy_device_utilization(deviceId, CAPI_OUT(utilizationInfo, &rates));
  if (status == 0) *utilizationInfo = (aclrtUtilizationInfo){rates.cube, rates.vector, rates.aicpu, rates.memory, NULL};
  return status;
}

float aclFloat16ToFloat(aclFloat16 value) { return aclpy_float16_to_float(value); }
aclFloat16 aclFloatToFloat16(float value) { return aclpy_float_to_float16(value); }

/* ---- numbers of devices, overflow ------------------------------------------------------------------------------- */

/* A container's own numbering has no counterpart here, so a logical number is the physical one. The two functions that
 * go between logical and physical numbers mean the program's number where they say logical: so the vendor documents. */
aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId) {
  return aclpy_device_physical(userDevid, logicDevId, "aclrtGetLogicDevIdByUserDevId", "userDevid");
}
aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid) {
  return aclpy_device_of_physical(logicDevId, userDevid, "aclrtGetUserDevIdByLogicDevId", "logicDevId");
}
aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId) {
  return aclpy_device_of_physical(phyDevId, logicDevId, "aclrtGetLogicDevIdByPhyDevId", "phyDevId");
}
aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId) {
  return aclpy_device_physical(logicDevId, phyDevId, "aclrtGetPhyDevIdByLogicDevId", "logicDevId");
}
aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId) {
  return aclpy_device_of_physical(phyDevId, userDevId, "aclrtGetUserDevIdByPhyDevId", "phyDevId");
}
aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId) {
  return aclpy_device_physical(userDevId, phyDevId, "aclrtGetPhyDevIdByUserDevId", "userDevId");
}

aclError aclrtDeviceGetBareTgid(int32_t *pid) { return aclpy_process_id(pid); }
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) { return aclpy_overflow_mode_set(0, (int32_t)mode); }
aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) { return aclpy_overflow_mode(0, (int32_t *)mode); }
