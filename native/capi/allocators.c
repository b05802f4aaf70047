/* SPDX-License-Identifier: Apache-2.0
 * Allocators of the host program under their C names.
 */
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "capi.h"

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
  aclpy_handle made = 0;
  return aclpy_allocator_create(&made) == 0 ? capi_pointer(made) : NULL;
}
aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return aclpy_allocator_destroy(capi_handle(allocatorDesc));
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return aclpy_allocator_set(capi_handle(allocatorDesc), ACLPY_ALLOCATOR_OBJECT, (uintptr_t)allocator,
                             "aclrtAllocatorSetObjToDesc");
}

/* Functions travel as numbers, which is what POSIX lets a pointer to a function become. */
aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func) {
  return aclpy_allocator_set(capi_handle(allocatorDesc), ACLPY_ALLOCATOR_ALLOC, (uintptr_t)func,
                             "aclrtAllocatorSetAllocFuncToDesc");
}
aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func) {
  return aclpy_allocator_set(capi_handle(allocatorDesc), ACLPY_ALLOCATOR_FREE, (uintptr_t)func,
                             "aclrtAllocatorSetFreeFuncToDesc");
}
aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func) {
  return aclpy_allocator_set(capi_handle(allocatorDesc), ACLPY_ALLOCATOR_ADVISE, (uintptr_t)func,
                             "aclrtAllocatorSetAllocAdviseFuncToDesc");
}
aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return aclpy_allocator_set(capi_handle(allocatorDesc), ACLPY_ALLOCATOR_ADDRESS, (uintptr_t)func,
                             "aclrtAllocatorSetGetAddrFromBlockFuncToDesc");
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return aclpy_allocator_register(0, capi_handle(stream), capi_handle(allocatorDesc));
}
aclError aclrtAllocatorUnregister(aclrtStream stream) { return aclpy_allocator_unregister(capi_handle(stream)); }

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
                                   aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc) {
  bool all = allocatorDesc != NULL && allocator != NULL && allocFunc != NULL && freeFunc != NULL &&
             allocAdviseFunc != NULL && getAddrFromBlockFunc != NULL;
  aclpy_handle description = 0;
  uintptr_t parts[ACLPY_ALLOCATOR_PARTS];
  int32_t status = aclpy_allocator_of_stream(0, capi_handle(stream), all ? &description : NULL, parts);
  if (status != 0) return status;
  *allocatorDesc = capi_pointer(description);
  *allocator = (aclrtAllocator)parts[ACLPY_ALLOCATOR_OBJECT];
  *allocFunc = (aclrtAllocatorAllocFunc)parts[ACLPY_ALLOCATOR_ALLOC];
  *freeFunc = (aclrtAllocatorFreeFunc)parts[ACLPY_ALLOCATOR_FREE];
  *allocAdviseFunc = (aclrtAllocatorAllocAdviseFunc)parts[ACLPY_ALLOCATOR_ADVISE];
  *getAddrFromBlockFunc = (aclrtAllocatorGetAddrFromBlockFunc)parts[ACLPY_ALLOCATOR_ADDRESS];
  return status;
}
