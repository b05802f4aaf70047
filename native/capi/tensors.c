/* SPDX-License-Identifier: Apache-2.0
 * Tensors and executors under their C names.
 */
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "capi.h"
#include "dtypes.h"

/* C++ callers delete the arrays of the getters with delete[]: where the process has C++'s allocator, it is used. */
extern void *_Znam(size_t size) __attribute__((weak));

static int64_t *array_(uint64_t count) {
  size_t bytes = (size_t)(count == 0 ? 1 : count) * sizeof(int64_t);
  return _Znam != NULL ? _Znam(bytes) : malloc(bytes);
}

static int32_t null_(const char *function, const char *argument) {
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, argument, "a pointer other than NULL",
                    "pass the object or the address of a variable", "NULL");
}

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
                           int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                           void *tensorData) {
  aclpy_handle made = 0;
  int32_t status = aclpy_tensor_create(viewDims, viewDimsNum, (int32_t)dataType, stride, offset, (int32_t)format,
                                       storageDims, storageDimsNum, (uintptr_t)tensorData, &made, NULL);
  return status == ACLPY_ACL_SUCCESS ? capi_pointer(made) : NULL;
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
                          uint64_t storageDimsNum, void *tensorDataAddr) {
  return aclpy_tensor_init(capi_handle(tensor), viewDims, viewDimsNum, (int32_t)dataType, stride, offset,
                           (int32_t)format, storageDims, storageDimsNum, (uintptr_t)tensorDataAddr, NULL);
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor) { return aclpy_tensor_destroy(capi_handle(tensor)); }

/* ---- getters --------------------------------------------------------------------------------------------------- */

#define NEEDED(function, pointer) \
  if ((pointer) == NULL) return null_(function, #pointer)

static int32_t give_(const char *function, const int64_t *from, uint64_t count, int64_t **values, uint64_t *number) {
  int64_t *array = array_(count);
  if (array == NULL) {
    return aclpy_fail(ACLPY_ACLNN_ERR_INNER_NULLPTR, function, "", "memory for the array", "free memory and try again",
                      "no memory");
  }
  memcpy(array, from, (size_t)count * sizeof(*array));
  *values = array;
  *number = count;
  return ACLPY_ACL_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum) {
  NEEDED("aclGetViewShape", tensor);
  NEEDED("aclGetViewShape", viewDims);
  NEEDED("aclGetViewShape", viewDimsNum);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetViewShape", capi_handle(tensor), &desc);
  return status != 0 ? status : give_("aclGetViewShape", desc.view_dims, desc.view_rank, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum) {
  NEEDED("aclGetStorageShape", tensor);
  NEEDED("aclGetStorageShape", storageDims);
  NEEDED("aclGetStorageShape", storageDimsNum);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetStorageShape", capi_handle(tensor), &desc);
  return status != 0 ? status
                     : give_("aclGetStorageShape", desc.storage_dims, desc.storage_rank, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum) {
  NEEDED("aclGetViewStrides", tensor);
  NEEDED("aclGetViewStrides", stridesValue);
  NEEDED("aclGetViewStrides", stridesNum);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetViewStrides", capi_handle(tensor), &desc);
  return status != 0 ? status : give_("aclGetViewStrides", desc.view_strides, desc.view_rank, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) {
  NEEDED("aclGetViewOffset", tensor);
  NEEDED("aclGetViewOffset", offset);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetViewOffset", capi_handle(tensor), &desc);
  if (status == ACLPY_ACL_SUCCESS) *offset = desc.offset;
  return status;
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) {
  NEEDED("aclGetFormat", tensor);
  NEEDED("aclGetFormat", format);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetFormat", capi_handle(tensor), &desc);
  if (status == ACLPY_ACL_SUCCESS) *format = (aclFormat)desc.format;
  return status;
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) {
  NEEDED("aclGetDataType", tensor);
  NEEDED("aclGetDataType", dataType);
  aclpy_tensor_desc desc;
  int32_t status = aclpy_tensor_describe("aclGetDataType", capi_handle(tensor), &desc);
  if (status == ACLPY_ACL_SUCCESS) *dataType = capi_dtype_is_named(desc.dtype) ? (aclDataType)desc.dtype : -1;
  return status;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) {
  NEEDED("aclGetRawTensorAddr", tensor);
  NEEDED("aclGetRawTensorAddr", addr);
  uintptr_t found = 0;
  int32_t status = aclpy_tensor_get_address(capi_handle(tensor), &found);
  if (status == ACLPY_ACL_SUCCESS) *addr = (void *)found;
  return status;
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) {
  return aclpy_tensor_set_address(capi_handle(tensor), (uintptr_t)addr);
}

/* ---- executors ------------------------------------------------------------------------------------------------- */

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
  return aclpy_executor_set_repeatable(capi_handle(executor));
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) { return aclpy_executor_destroy(capi_handle(executor)); }

#define SET_ADDRESS(prefix, name)                                                                        \
  aclnnStatus prefix##name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr) { \
    return aclpy_executor_set_address(#prefix #name, capi_handle(executor), index, capi_handle(tensor),  \
                                      (uintptr_t)addr);                                                  \
  }
SET_ADDRESS(acl, SetInputTensorAddr)
SET_ADDRESS(acl, SetOutputTensorAddr)
SET_ADDRESS(acl, SetTensorAddr)
SET_ADDRESS(Acl, SetInputTensorAddr)
SET_ADDRESS(Acl, SetOutputTensorAddr)
SET_ADDRESS(Acl, SetTensorAddr)
