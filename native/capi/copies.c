/* SPDX-License-Identifier: Apache-2.0
 * Copies and fills under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
  return aclpy_memcpy(0, (uintptr_t)dst, destMax, (uintptr_t)src, count, (int32_t)kind);
}
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return aclpy_memcpy_async(0, (uintptr_t)dst, destMax, (uintptr_t)src, count, (int32_t)kind, capi_handle(stream));
}
aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream) {
  return aclpy_memcpy_async(0, (uintptr_t)dst, destMax, (uintptr_t)src, count, (int32_t)kind, capi_handle(stream));
}
aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return aclpy_memcpy_2d(0, (uintptr_t)dst, dpitch, (uintptr_t)src, spitch, width, height, (int32_t)kind);
}
aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
  return aclpy_memcpy_2d_async(0, (uintptr_t)dst, dpitch, (uintptr_t)src, spitch, width, height, (int32_t)kind,
                               capi_handle(stream));
}

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset, const void **src, size_t count,
                                    size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream) {
  return aclpy_memcpy_async_with_offset(0, (uintptr_t)dst, destMax, dstDataOffset, (uintptr_t)src, count, srcDataOffset,
                                        (int32_t)kind, capi_handle(stream));
}
aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) {
  return aclpy_memcpy_desc_size(0, (int32_t)kind, descSize);
}
aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count,
                            void *config) {
  return aclpy_memcpy_desc_set(0, (uintptr_t)desc, (int32_t)kind, (uintptr_t)srcAddr, (uintptr_t)dstAddr, count,
                               config);
}
aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return aclpy_memcpy_async_with_desc(0, (uintptr_t)desc, (int32_t)kind, capi_handle(stream));
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  return aclpy_memset(0, (uintptr_t)devPtr, maxCount, value, count);
}
aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return aclpy_memset_async(0, (uintptr_t)devPtr, maxCount, value, count, capi_handle(stream));
}
aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N) {
  return aclpy_memset_d32(0, (uintptr_t)ptr, memSize, value, N);
}
aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
  return aclpy_memset_d32_async(0, (uintptr_t)ptr, memSize, value, N, capi_handle(stream));
}
