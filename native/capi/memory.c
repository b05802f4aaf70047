/* SPDX-License-Identifier: Apache-2.0
 * Memory and copies under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return aclpy_malloc(0, size, (int32_t)policy, (uintptr_t *)devPtr);
}
aclError aclrtFree(void *devPtr) { return aclpy_free((uintptr_t)devPtr); }
aclError aclrtMallocHost(void **hostPtr, size_t size) { return aclpy_malloc_host(0, size, (uintptr_t *)hostPtr); }
aclError aclrtFreeHost(void *hostPtr) { return aclpy_free_host((uintptr_t)hostPtr); }
aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
  return aclpy_memcpy(0, (uintptr_t)dst, destMax, (uintptr_t)src, count, (int32_t)kind);
}
aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  return aclpy_memset(0, (uintptr_t)devPtr, maxCount, value, count);
}
