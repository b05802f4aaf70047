/* SPDX-License-Identifier: Apache-2.0
 * Tensors, scalars, arrays, lists and executors of the two-phase operators.
 */
#ifndef ACLNN_PY_ACL_META_H
#define ACLNN_PY_ACL_META_H

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

typedef int32_t aclnnStatus;
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#endif

/* begin generated: statuses aclnn */
#ifdef __cplusplus
static const aclnnStatus ACLNN_ERR_PARAM_NULLPTR = 161001;
static const aclnnStatus ACLNN_ERR_PARAM_INVALID = 161002;
static const aclnnStatus ACLNN_ERR_RUNTIME_ERROR = 361001;
static const aclnnStatus ACLNN_ERR_INNER = 561000;
static const aclnnStatus ACLNN_ERR_INNER_INFERSHAPE_ERROR = 561001;
static const aclnnStatus ACLNN_ERR_INNER_TILING_ERROR = 561002;
static const aclnnStatus ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003;
static const aclnnStatus ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101;
static const aclnnStatus ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR = 561102;
static const aclnnStatus ACLNN_ERR_INNER_NULLPTR = 561103;
static const aclnnStatus ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE = 561104;
static const aclnnStatus ACLNN_ERR_INNER_KEY_CONFLICT = 561105;
static const aclnnStatus ACLNN_ERR_INNER_INVALID_IMPL_MODE = 561106;
static const aclnnStatus ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND = 561107;
static const aclnnStatus ACLNN_ERR_INNER_LOAD_JSON_FAILED = 561108;
static const aclnnStatus ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND = 561109;
static const aclnnStatus ACLNN_ERR_INNER_JSON_FORMAT_INVALID = 561110;
static const aclnnStatus ACLNN_ERR_INNER_JSON_DTYPE_INVALID = 561111;
static const aclnnStatus ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND = 561112;
static const aclnnStatus ACLNN_ERR_INNER_OP_FILE_INVALID = 561113;
static const aclnnStatus ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND = 561114;
static const aclnnStatus ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH = 561115;
static const aclnnStatus ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE = 561116;
static const aclnnStatus ACLNN_ERR_INNER_INPUT_JSON_IS_NULL = 561117;
static const aclnnStatus ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID = 561118;
static const aclnnStatus ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID = 561119;
static const aclnnStatus ACLNN_SUCCESS = 0;
static const aclnnStatus ACLNN_ERR_INNER_KEY_CONFILICT = 561105;
#else
enum {
  ACLNN_ERR_PARAM_NULLPTR = 161001, /* a required argument is NULL */
  ACLNN_ERR_PARAM_INVALID = 161002, /* an argument is invalid */
  ACLNN_ERR_RUNTIME_ERROR = 361001, /* the runtime refused */
  ACLNN_ERR_INNER = 561000, /* internal operator error */
  ACLNN_ERR_INNER_INFERSHAPE_ERROR = 561001, /* shape inference failed */
  ACLNN_ERR_INNER_TILING_ERROR = 561002, /* tiling failed */
  ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003, /* kernel not found */
  ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101, /* executor could not be created */
  ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR = 561102, /* executor not handed over */
  ACLNN_ERR_INNER_NULLPTR = 561103, /* an inner object is NULL */
  ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE = 561104, /* attribute size wrong */
  ACLNN_ERR_INNER_KEY_CONFLICT = 561105, /* keys in conflict */
  ACLNN_ERR_INNER_INVALID_IMPL_MODE = 561106, /* implementation mode invalid */
  ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND = 561107, /* operator package path unset */
  ACLNN_ERR_INNER_LOAD_JSON_FAILED = 561108, /* kernel description could not be loaded */
  ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND = 561109, /* kernel description lacks a value */
  ACLNN_ERR_INNER_JSON_FORMAT_INVALID = 561110, /* kernel description has an invalid format */
  ACLNN_ERR_INNER_JSON_DTYPE_INVALID = 561111, /* kernel description has an invalid dtype */
  ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND = 561112, /* kernel package not found */
  ACLNN_ERR_INNER_OP_FILE_INVALID = 561113, /* operator file invalid */
  ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND = 561114, /* too many attributes */
  ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH = 561115, /* attribute too short */
  ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE = 561116, /* kernel description: too many inputs */
  ACLNN_ERR_INNER_INPUT_JSON_IS_NULL = 561117, /* kernel description is NULL */
  ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID = 561118, /* static workspace invalid */
  ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID = 561119, /* static block count invalid */
  ACLNN_SUCCESS = 0, /* as ACL_SUCCESS */
  ACLNN_ERR_INNER_KEY_CONFILICT = 561105, /* as ACLNN_ERR_INNER_KEY_CONFLICT */
};
#endif
/* end generated: statuses aclnn */

/* ---- tensors: a view over device memory that somebody else owns; strides and offset count elements ---- */

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
                           int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                           void *tensorData);
aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
                          uint64_t storageDimsNum, void *tensorDataAddr);
aclnnStatus aclDestroyTensor(const aclTensor *tensor);

/* The caller deletes the array: delete[] in C++, free() in C. */
aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum);
aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum);
aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum);
aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);
aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);
aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);
/* The start of the storage, without the offset; not between the two phases. */
aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);
aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);

/* ---- values: copied when they are made ---- */

aclScalar *aclCreateScalar(void *value, aclDataType dataType);
aclnnStatus aclDestroyScalar(const aclScalar *scalar);
aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);
aclnnStatus aclDestroyIntArray(const aclIntArray *array);
aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);
aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);
aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);
aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);
aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);

/* ---- lists: take over their members, and destroy them ---- */

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size);
aclnnStatus aclDestroyTensorList(const aclTensorList *array);
aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size);
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size);
aclnnStatus aclDestroyScalarList(const aclScalarList *array);
aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size);

/* ---- executors ---- */

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);
aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr);
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr);
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr);
/* The same under the names that the vendor keeps in reserve. */
aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr);
aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr);
aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr);

#ifdef __cplusplus
}
#endif

#endif
