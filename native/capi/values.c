/* SPDX-License-Identifier: Apache-2.0
 * Scalars, arrays and lists under their C names. Lists own their members and destroy them.
 */
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "capi.h"
#include "dtypes.h"
#include "fault.h"
#include "message.h"

/* What each is called, and who makes it. */
static const char *const names_[] = {"a scalar",     "an int array",  "a float array",
                                     "a bool array", "a tensor list", "a scalar list"};
static const char *const makers_[] = {"aclCreateScalar",    "aclCreateIntArray",   "aclCreateFloatArray",
                                      "aclCreateBoolArray", "aclCreateTensorList", "aclCreateScalarList"};

/* `from` may be NULL: an object of size 0. */
static void *make_(enum capi_value_kind kind, int32_t dtype, const void *from, uint64_t size, size_t each) {
  if (from == NULL) size = 0;
  size_t bytes = 0;
  struct capi_object *made = NULL;
  if (!__builtin_mul_overflow((size_t)size, each, &bytes) && bytes <= SIZE_MAX - sizeof(*made)) {
    made = eng_object_alloc(sizeof(*made) + bytes);
  }
  aclpy_handle handle = 0;
  if (made != NULL) {
    made->kind = kind;
    made->dtype = dtype;
    made->size = size;
    if (bytes > 0) memcpy(made->bytes, from, bytes);
    if (eng_handle_open(ENG_VALUE, &made->head, &handle)) return capi_pointer(handle);
    free(made);
  }
  (void)aclpy_fail(ACLPY_ACL_ERROR_BAD_ALLOC, makers_[kind], "size", "memory for a copy of the values",
                   "free memory, or check the size", "no memory for %s of %" PRIu64, names_[kind], size);
  return NULL;
}

static int32_t refuse_(const void *pointer, enum capi_value_kind kind, const char *function, const char *argument) {
  aclpy_handle handle = capi_handle(pointer);
  struct capi_object *other = eng_handle_acquire(ENG_VALUE, handle);
  const char *is = other == NULL ? eng_handle_past_text(ENG_VALUE, handle) : names_[other->kind];
  if (other != NULL) eng_release(&other->head);
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, argument, names_[kind],
                    "pass one that its creator returned and that has not been destroyed", "0x%" PRIx64 " (%s)", handle,
                    is);
}

struct capi_object *capi_value_acquire(const void *pointer, enum capi_value_kind kind, const char *function,
                                       const char *argument, int32_t *status) {
  if (pointer == NULL) {
    *status = aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, argument, "a pointer other than NULL",
                         "pass the object that its creator returned", "NULL");
    return NULL;
  }
  struct capi_object *found = eng_handle_acquire(ENG_VALUE, capi_handle(pointer));
  if (found != NULL && found->kind == kind) return found;
  if (found != NULL) eng_release(&found->head);
  *status = refuse_(pointer, kind, function, argument);
  return NULL;
}

/* One that the program has destroyed itself is blamed on the list, which owns it. */
static int32_t destroy_member_(const void *member, enum eng_kind kind, uint64_t index, const char *function) {
  const aclpy_handle handle = capi_handle(member);
  struct eng_object *live = member == NULL ? NULL : eng_handle_acquire(kind, handle);
  if (member != NULL && live == NULL) {
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, "array", "live members, which the list destroys itself",
                      "destroy the list alone, not what is in it", "member %" PRIu64 ", 0x%" PRIx64 " (%s)", index,
                      handle, eng_handle_past_text(kind, handle));
  }
  if (live != NULL) eng_release(live);
  return kind == ENG_TENSOR ? aclDestroyTensor(member) : aclDestroyScalar(member);
}
static int32_t destroy_members_(const struct capi_object *list, const char *function) {
  const enum eng_kind kind = list->kind == CAPI_TENSOR_LIST ? ENG_TENSOR : ENG_VALUE;
  int32_t status = ACLPY_ACL_SUCCESS;
  const void *member;
  for (uint64_t i = 0; i < list->size; i++) {
    memcpy(&member, list->bytes + i * sizeof(member), sizeof(member));
    int32_t one = destroy_member_(member, kind, i, function);
    if (status == ACLPY_ACL_SUCCESS) status = one;
  }
  return status;
}

static int32_t destroy_(const void *pointer, enum capi_value_kind kind, const char *function) {
  if (pointer == NULL) return ACLPY_ACL_SUCCESS;
  const char *argument = kind == CAPI_SCALAR ? "scalar" : "array";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct capi_object *found = capi_value_acquire(pointer, kind, function, argument, &status);
  if (found == NULL) return status;
  if (eng_handle_close(ENG_VALUE, capi_handle(pointer), false) == NULL) {
    status = refuse_(pointer, kind, function, argument); /* another thread was faster */
  } else {
    if (kind == CAPI_TENSOR_LIST || kind == CAPI_SCALAR_LIST) status = destroy_members_(found, function);
    eng_release(&found->head);
  }
  eng_release(&found->head);
  return status;
}

static int32_t size_(const void *pointer, enum capi_value_kind kind, const char *function, uint64_t *size) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (size == NULL) {
    return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, "size", "the address of a variable", "pass one", "NULL");
  }
  struct capi_object *found = capi_value_acquire(pointer, kind, function, "array", &status);
  if (found == NULL) return status;
  *size = found->size;
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

/* Scalars hold one element; these types have none that could be copied. */
static bool has_scalar_(int32_t dtype) {
  switch (dtype) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_COMPLEX32:
      return false;
    default:
      return capi_dtype_is_named(dtype);
  }
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType) {
  if (value != NULL && has_scalar_((int32_t)dataType)) {
    return make_(CAPI_SCALAR, (int32_t)dataType, value, 1, aclDataTypeSize(dataType));
  }
  if (value != NULL) eng_message_code_next(ENG_MESSAGE_DTYPE);
  (void)aclpy_fail(value == NULL ? ACLPY_ACLNN_ERR_PARAM_NULLPTR : ACLPY_ACLNN_ERR_PARAM_INVALID, "aclCreateScalar",
                   value == NULL ? "value" : "dataType", "the address of a value of a type that scalars can have",
                   value == NULL ? "pass the value's address" : "pass one of the numeric types",
                   value == NULL ? "NULL" : "data type %d", (int)dataType);
  return NULL;
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
  return make_(CAPI_INT_ARRAY, ACL_INT64, value, size, sizeof(*value));
}
aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
  return make_(CAPI_FLOAT_ARRAY, ACL_FLOAT, value, size, sizeof(*value));
}
aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) {
  return make_(CAPI_BOOL_ARRAY, ACL_BOOL, value, size, sizeof(*value));
}
aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
  return make_(CAPI_TENSOR_LIST, ACL_DT_UNDEFINED, value, size, sizeof(*value));
}
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) {
  return make_(CAPI_SCALAR_LIST, ACL_DT_UNDEFINED, value, size, sizeof(*value));
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar) { return destroy_(scalar, CAPI_SCALAR, "aclDestroyScalar"); }
aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
  return destroy_(array, CAPI_INT_ARRAY, "aclDestroyIntArray");
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
  return destroy_(array, CAPI_FLOAT_ARRAY, "aclDestroyFloatArray");
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) {
  return destroy_(array, CAPI_BOOL_ARRAY, "aclDestroyBoolArray");
}
aclnnStatus aclDestroyTensorList(const aclTensorList *array) {
  return destroy_(array, CAPI_TENSOR_LIST, "aclDestroyTensorList");
}
aclnnStatus aclDestroyScalarList(const aclScalarList *array) {
  return destroy_(array, CAPI_SCALAR_LIST, "aclDestroyScalarList");
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size) {
  return size_(array, CAPI_INT_ARRAY, "aclGetIntArraySize", size);
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size) {
  return size_(array, CAPI_FLOAT_ARRAY, "aclGetFloatArraySize", size);
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size) {
  return size_(array, CAPI_BOOL_ARRAY, "aclGetBoolArraySize", size);
}
aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size) {
  return size_(tensorList, CAPI_TENSOR_LIST, "aclGetTensorListSize", size);
}
aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size) {
  return size_(scalarList, CAPI_SCALAR_LIST, "aclGetScalarListSize", size);
}

/* ---- addresses of a list's members ------------------------------------------------------------------------------- */

static int32_t set_member_(const char *function, aclOpExecutor *executor, size_t index, const aclTensorList *tensors,
                           void *addr) {
  if (tensors == NULL) {
    eng_message_code_next(ENG_MESSAGE_NULL);
    return aclpy_fail(ACLPY_ACLNN_ERR_INNER_NULLPTR, function, "tensors", "a list of tensors", "pass a list of phase 1",
                      "NULL");
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct capi_object *list = capi_value_acquire(tensors, CAPI_TENSOR_LIST, function, "tensors", &status);
  if (list == NULL) return status;
  const void *member = NULL;
  if (index >= list->size) {
    eng_message_code_next(ENG_MESSAGE_INDEX);
    status = aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, "relativeIndex", "an index inside the list",
                        "count members from 0", "%zu in a list of %" PRIu64, index, list->size);
  } else {
    memcpy(&member, list->bytes + index * sizeof(member), sizeof(member));
  }
  eng_release(&list->head);
  if (status != ACLPY_ACL_SUCCESS) return status;
  return aclpy_executor_set_address(function, capi_handle(executor), index, capi_handle(member), (uintptr_t)addr);
}

#define SET_MEMBER(prefix, name)                                                                \
  aclnnStatus prefix##name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, \
                           aclTensorList *tensors, void *addr) {                                \
    (void)irIndex; /* ignored, as it is for every hand-written composite operator */            \
    return set_member_(#prefix #name, executor, relativeIndex, tensors, addr);                  \
  }
SET_MEMBER(acl, SetDynamicInputTensorAddr)
SET_MEMBER(acl, SetDynamicOutputTensorAddr)
SET_MEMBER(acl, SetDynamicTensorAddr)
SET_MEMBER(Acl, SetDynamicInputTensorAddr)
SET_MEMBER(Acl, SetDynamicOutputTensorAddr)
SET_MEMBER(Acl, SetDynamicTensorAddr)
