/* SPDX-License-Identifier: Apache-2.0
 * Allocations under their C names.
 */
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "capi.h"
#include "failure.h"

static int32_t allocate_(void **to, int32_t form, size_t size, int32_t policy, const aclpy_malloc_attribute *attributes,
                         size_t count) {
  uintptr_t made = 0;
  return capi_give_address(to, &made, aclpy_malloc_form(0, form, size, policy, attributes, count, CAPI_OUT(to, &made)));
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  uintptr_t made = 0;
  return capi_give_address(devPtr, &made, aclpy_malloc(0, size, (int32_t)policy, CAPI_OUT(devPtr, &made)));
}
aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_(devPtr, ACLPY_MALLOC_ALIGN32, size, (int32_t)policy, NULL, 0);
}
aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_(devPtr, ACLPY_MALLOC_CACHED, size, (int32_t)policy, NULL, 0);
}
aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag) {
  return allocate_(ptr, ACLPY_MALLOC_MANAGED, (size_t)size, (int32_t)flag, NULL, 0);
}
aclError aclrtMallocHost(void **hostPtr, size_t size) {
  uintptr_t made = 0;
  return capi_give_address(hostPtr, &made, aclpy_malloc_host(0, size, CAPI_OUT(hostPtr, &made)));
}

/* ---- with attributes ------------------------------------------------------------------------------------------- */

static uint64_t value_of_(const aclrtMallocAttribute *attribute) {
  switch (attribute->attr) {
    case ACL_RT_MEM_ATTR_MODULE_ID:
      return attribute->value.moduleId;
    case ACL_RT_MEM_ATTR_DEVICE_ID:
      return attribute->value.deviceId;
    default:
      return attribute->value.vaFlag;
  }
}

static int32_t configured_(const char *function, void **to, int32_t form, size_t size, int32_t policy,
                           const aclrtMallocConfig *cfg) {
  size_t count = cfg == NULL ? 0 : cfg->numAttrs;
  if (count == 0) return allocate_(to, form, size, policy, NULL, 0);
  if (cfg->attrs == NULL) return eng_fail_null(function, "cfg->attrs");
  aclpy_malloc_attribute *rows = calloc(count, sizeof(*rows));
  if (rows == NULL) return eng_fail_memory(function, "the attributes of cfg");
  for (size_t i = 0; i < count; i++) {
    rows[i] = (aclpy_malloc_attribute){(int32_t)cfg->attrs[i].attr, value_of_(&cfg->attrs[i])};
  }
  int32_t status = allocate_(to, form, size, policy, rows, count);
  free(rows);
  return status;
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
  return configured_("aclrtMallocWithCfg", devPtr, ACLPY_MALLOC_WITH_CFG, size, (int32_t)policy, cfg);
}
aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
  return configured_("aclrtMallocForTaskScheduler", devPtr, ACLPY_MALLOC_TASK_SCHEDULER, size, (int32_t)policy, cfg);
}
aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) {
  return configured_("aclrtMallocHostWithCfg", ptr, ACLPY_MALLOC_HOST_WITH_CFG, (size_t)size, 0, cfg);
}

/* ---- freeing --------------------------------------------------------------------------------------------------- */

aclError aclrtFree(void *devPtr) { return aclpy_free((uintptr_t)devPtr); }
aclError aclrtFreeHost(void *hostPtr) { return aclpy_free_host((uintptr_t)hostPtr); }
aclError aclrtFreeWithDevSync(void *devPtr) { return aclpy_free_synchronized(0, (uintptr_t)devPtr, 0); }
aclError aclrtFreeHostWithDevSync(void *hostPtr) { return aclpy_free_synchronized(0, (uintptr_t)hostPtr, 1); }
