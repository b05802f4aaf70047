/* SPDX-License-Identifier: Apache-2.0
 * The fuzzer's calls of operators: both phases, executors, tensors over memory that comes and goes, lists and arrays.
 */
#ifndef FUZZ_OPERATORS_H
#define FUZZ_OPERATORS_H

#include <stdlib.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_backward.h"
#include "fuzz.h"

enum { OPERATOR_CALLS = 24, ROOM = 64 << 10 };

static uint64_t planned_[2], ran_[2]; /* calls, and those that succeeded */
static uint64_t size_;                /* what the latest phase 1 asked for */
static uint64_t planner_[KEPT];       /* which operator planned the kept executors */

/* Memory of the device that stays, so that some calls succeed. */
static void *lasting_(void) {
  static void *blocks[4];
  void **block = &blocks[random_(4)];
  if (*block == NULL && aclrtMalloc(block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) *block = NULL;
  return *block;
}

/* Memory of the device, of the host, of nobody, or none. */
static void *address_(void) {
  static unsigned char pageable[BYTES];
  switch (random_(8)) {
    case 0:
      return NULL;
    case 1:
      return pageable;
    case 2:
      return (void *)(uintptr_t)(random_(UINT64_C(1) << 47) | 1);
    case 3:
      return kept_[MEMORY][random_(KEPT)];
    case 4:
      return live_[random_(KEPT)];
    default:
      return lasting_();
  }
}

static void *workspace_(void) {
  static void *room;
  if (room == NULL && aclrtMalloc(&room, ROOM, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) room = NULL;
  return random_(3) == 0 ? address_() : room;
}

static int64_t dim_(void) {
  switch (random_(16)) {
    case 0:
      return INT64_MIN;
    case 1:
      return INT64_MAX;
    default:
      return (int64_t)random_(4) - 2;
  }
}

/* ---- tensors ------------------------------------------------------------------------------------------------------
 */

struct description_ {
  int64_t dims[3], strides[3], storage[3];
  uint64_t rank, storage_rank;
  int64_t offset;
  aclDataType dtype;
};

/* Mostly one of two shapes, so that tensors fit each other; now and then something that no call may believe. */
static struct description_ description_(void) {
  static const aclDataType usual[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  struct description_ d = {{2, 3, 4}, {12, 4, 1}, {2, 3, 4}, 3, 3, 0, ACL_FLOAT};
  if (random_(4) == 0) d = (struct description_){{6, 4, 1}, {4, 1, 1}, {6, 4, 1}, 2, 2, 0, ACL_FLOAT};
  if (random_(4) == 0) d.dtype = usual[random_(3)];
  switch (random_(32)) {
    case 0:
      d.dims[random_(3)] = (int64_t)random_(UINT64_C(1) << 62) * (random_(2) == 0 ? 1 : -1);
      break;
    case 1:
      d.strides[random_(3)] = (int64_t)random_(UINT64_C(1) << 62) * (random_(2) == 0 ? 1 : -1);
      break;
    case 2:
      d.offset = (int64_t)random_(UINT64_C(1) << 62) * (random_(2) == 0 ? 1 : -1);
      break;
    case 3:
      d.storage[random_(3)] = (int64_t)random_(64) - 2;
      break;
    case 4:
      d.dims[random_(3)] = 0;
      break;
    case 5:
      d.strides[0] = 1;
      d.strides[2] = 6;
      break;
    case 6:
      d.dtype = (aclDataType)((int32_t)random_(45) - 1);
      break;
    case 7:
      d.rank = random_(4);
      break;
    default:
      break;
  }
  return d;
}

static int make_tensor_(void **place) {
  struct description_ d = description_();
  aclTensor *made = aclCreateTensor(d.dims, d.rank, d.dtype, random_(8) == 0 ? NULL : d.strides, d.offset,
                                    ACL_FORMAT_ND, d.storage, d.storage_rank, address_());
  *place = made;
  return made == NULL;
}

static int init_tensor_(void) {
  struct description_ d = description_();
  return aclInitTensor(any_(TENSOR), d.dims, d.rank, d.dtype, random_(8) == 0 ? NULL : d.strides, d.offset,
                       ACL_FORMAT_ND, d.storage, d.storage_rank, address_());
}

/* ---- the two phases -----------------------------------------------------------------------------------------------
 */

static void keep_(aclOpExecutor *made, uint64_t which) {
  size_t at = random_(KEPT);
  kept_[EXECUTOR][at] = made;
  planner_[at] = which;
}

static int plan_(uint64_t which) {
  uint64_t *size = random_(32) == 0 ? NULL : &size_;
  aclOpExecutor *made = NULL;
  aclOpExecutor **to = random_(32) == 0 ? NULL : &made;
  void *x = any_(TENSOR), *y = any_(TENSOR), *out = any_(TENSOR);
  int64_t dim = dim_();
  int status = which == 0   ? aclnnSoftmaxGetWorkspaceSize(x, dim, out, size, to)
               : which == 1 ? aclnnLogSoftmaxGetWorkspaceSize(x, dim, out, size, to)
               : which == 2 ? aclnnSoftmaxBackwardGetWorkspaceSize(x, y, dim, out, size, to)
                            : aclnnLogSoftmaxBackwardGetWorkspaceSize(x, y, dim, out, size, to);
  planned_[0]++;
  planned_[1] += status == ACL_SUCCESS;
  if (status == ACL_SUCCESS) keep_(made, which);
  return status;
}

static int run_(uint64_t which, void *executor) {
  uint64_t size = random_(8) == 0 ? random_(UINT64_C(1) << random_(63)) : random_(2) == 0 ? size_ : ROOM;
  void *workspace = workspace_(), *stream = random_(2) == 0 ? NULL : any_(STREAM);
  int status = which == 0   ? aclnnSoftmax(workspace, size, executor, stream)
               : which == 1 ? aclnnLogSoftmax(workspace, size, executor, stream)
               : which == 2 ? aclnnSoftmaxBackward(workspace, size, executor, stream)
                            : aclnnLogSoftmaxBackward(workspace, size, executor, stream);
  ran_[0]++;
  ran_[1] += status == ACL_SUCCESS;
  return status;
}

/* As programs do it: tensors of one shape over live memory, both phases. Everything stays for the other calls. */
static int whole_call_(void) {
  size_t at = random_(KEPT);
  void **x = &kept_[TENSOR][at], **out = &kept_[TENSOR][(at + 1) % KEPT];
  static const int64_t dims[] = {2, 3, 4}, strides[] = {12, 4, 1};
  *x = aclCreateTensor(dims, 3, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 3, lasting_());
  *out = aclCreateTensor(dims, 3, random_(2) == 0 ? ACL_FLOAT : ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, dims, 3,
                         lasting_());
  if (*x == NULL || *out == NULL) return 1;
  aclOpExecutor *made = NULL;
  planned_[0]++;
  int status = aclnnSoftmaxGetWorkspaceSize(*x, (int64_t)random_(3), *out, &size_, &made);
  if (status != ACL_SUCCESS) return status;
  planned_[1]++;
  keep_(made, 0);
  return random_(4) == 0 ? ACL_SUCCESS : run_(0, made);
}

/* ---- lists and arrays ----------------------------------------------------------------------------------------------
 */

static int list_call_(uint64_t which) {
  static const float floats[] = {1, 2, 3};
  static const bool bools[] = {true, false, true};
  const aclTensor *tensors[] = {any_(TENSOR), any_(TENSOR)};
  const aclScalar *scalars[] = {any_(SCALAR), any_(SCALAR)};
  uint64_t count = random_(3), size;
  void *made = NULL;
  switch (which) {
    case 0:
      kept_[TENSORS][random_(KEPT)] = made = aclCreateTensorList(random_(8) == 0 ? NULL : tensors, count);
      return made == NULL;
    case 1:
      return aclDestroyTensorList(any_(TENSORS));
    case 2:
      kept_[SCALARS][random_(KEPT)] = made = aclCreateScalarList(random_(8) == 0 ? NULL : scalars, count);
      return made == NULL;
    case 3:
      return aclDestroyScalarList(any_(SCALARS));
    case 4:
      kept_[FLOATS][random_(KEPT)] = made = aclCreateFloatArray(random_(8) == 0 ? NULL : floats, count);
      return made == NULL;
    case 5:
      return aclDestroyFloatArray(any_(FLOATS));
    case 6:
      kept_[BOOLS][random_(KEPT)] = made = aclCreateBoolArray(random_(8) == 0 ? NULL : bools, count);
      return made == NULL;
    case 7:
      return aclDestroyBoolArray(any_(BOOLS));
    case 8:
      return aclGetTensorListSize(any_(TENSORS), random_(8) == 0 ? NULL : &size);
    default:
      return aclGetScalarListSize(any_(SCALARS), random_(8) == 0 ? NULL : &size);
  }
}

static int getter_(void) {
  int64_t *array = NULL, offset;
  uint64_t count;
  void *address;
  aclFormat format;
  void *tensor = any_(TENSOR);
  int status;
  switch (random_(5)) {
    case 0:
      status = aclGetStorageShape(tensor, random_(8) == 0 ? NULL : &array, &count);
      break;
    case 1:
      status = aclGetViewStrides(tensor, &array, random_(8) == 0 ? NULL : &count);
      break;
    case 2:
      return aclGetViewOffset(tensor, random_(8) == 0 ? NULL : &offset);
    case 3:
      return aclGetRawTensorAddr(tensor, random_(8) == 0 ? NULL : &address);
    default:
      return aclGetFormat(tensor, random_(8) == 0 ? NULL : &format);
  }
  if (status == ACL_SUCCESS) free(array);
  return status;
}

static int operator_call_(uint64_t which) {
  void *executor = any_(EXECUTOR);
  switch (which) {
    case 0:
    case 1:
    case 2:
    case 3:
      return plan_(which);
    case 4:
    case 5:
    case 6:
    case 7: {
      size_t at = random_(KEPT);
      return random_(8) == 0 ? run_(which - 4, executor) : run_(planner_[at], kept_[EXECUTOR][at]);
    }
    case 8:
    case 9:
      return make_tensor_(&kept_[TENSOR][random_(KEPT)]);
    case 10:
    case 11:
    case 12:
      return whole_call_();
    case 13:
      return init_tensor_();
    case 14:
      return aclSetAclOpExecutorRepeatable(executor);
    case 15:
      return aclDestroyAclOpExecutor(executor);
    case 16:
      return aclSetInputTensorAddr(executor, random_(4), any_(TENSOR), address_());
    case 17:
      return aclSetOutputTensorAddr(executor, random_(4), any_(TENSOR), address_());
    case 18:
      return aclSetDynamicTensorAddr(executor, random_(3), random_(4), any_(TENSORS), address_());
    case 19:
      return aclSetRawTensorAddr(any_(TENSOR), address_());
    case 20:
      return aclnnAbsGetWorkspaceSize(any_(TENSOR), any_(TENSOR), &size_, (aclOpExecutor **)place_(EXECUTOR));
    case 21:
      return aclnnAbs(workspace_(), size_, executor, any_(STREAM));
    case 22:
      return getter_();
    default:
      return list_call_(random_(10));
  }
}

#endif
