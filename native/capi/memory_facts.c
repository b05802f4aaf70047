/* SPDX-License-Identifier: Apache-2.0
 * Questions about memory, and registered host memory, under their C names.
 */
#include <string.h>

#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) {
  uint64_t left = 0, all = 0;
  int32_t status = aclpy_memory_figures(0, (int32_t)attr, CAPI_OUT(free, &left), CAPI_OUT(total, &all));
  if (status == 0) {
    *free = (size_t)left;
    *total = (size_t)all;
  }
  return status;
}

/* There is one component here: one row is always enough. */
aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum) {
  aclpy_usage row = {0};
  int32_t status = aclpy_memory_usage(deviceId, CAPI_OUT(memUsageInfo, &row), inputNum > 1 ? 1 : inputNum, outputNum);
  if (status != 0) return status;
  *memUsageInfo = (aclrtMemUsageInfo){.curMemSize = row.now, .memPeakSize = row.most};
  _Static_assert(sizeof(memUsageInfo->name) == sizeof(row.component), "names of one length");
  memcpy(memUsageInfo->name, row.component, sizeof(row.component));
  return status;
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize) {
  uintptr_t base = 0;
  return capi_give_address(pbase, &base, aclpy_memory_range((uintptr_t)ptr, CAPI_OUT(pbase, &base), psize));
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
  aclpy_pointer found = {0};
  int32_t status = aclpy_pointer_attributes((uintptr_t)ptr, CAPI_OUT(attributes, &found));
  if (status == 0) {
    *attributes = (aclrtPtrAttributes){
        .location = {.id = (uint32_t)found.id, .type = (aclrtMemLocationType)found.location},
        .pageSize = found.page_size,
    };
  }
  return status;
}

aclError aclrtMemFlush(void *devPtr, size_t size) { return aclpy_memory_maintain((uintptr_t)devPtr, size, 0); }
aclError aclrtMemInvalidate(void *devPtr, size_t size) { return aclpy_memory_maintain((uintptr_t)devPtr, size, 1); }

/* ---- the program's own host memory ----------------------------------------------------------------------------- */

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr) {
  uintptr_t found = 0;
  return capi_give_address(devPtr, &found,
                           aclpy_host_register(0, (uintptr_t)ptr, size, (int32_t)type, CAPI_OUT(devPtr, &found)));
}
aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) {
  return aclpy_host_register_flags(0, (uintptr_t)ptr, size, flag);
}
aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag) {
  uintptr_t found = 0;
  return capi_give_address(pDevice, &found,
                           aclpy_host_device_pointer((uintptr_t)pHost, CAPI_OUT(pDevice, &found), flag));
}
aclError aclrtHostUnregister(void *ptr) { return aclpy_host_unregister((uintptr_t)ptr); }
