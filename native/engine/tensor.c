/* SPDX-License-Identifier: Apache-2.0
 * Making, changing and reading tensors.
 */
#include "tensor.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "park.h"

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER; /* aclInitTensor against readers of the layout */

int32_t eng_tensor_refuse(aclpy_handle handle, const char *function, const char *argument) {
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, argument, "a live tensor",
                    "use a tensor that has not been destroyed", "tensor 0x%" PRIx64 ", %s", handle,
                    eng_handle_past_text(ENG_TENSOR, handle));
}

static int32_t refuse_null_(const char *function, const char *argument) {
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_NULLPTR, function, argument, "a pointer or handle other than NULL", "",
                    "NULL");
}

static int32_t refuse_rank_(const char *function, const char *argument, uint64_t rank) {
  return aclpy_fail(ACLPY_ACLNN_ERR_PARAM_INVALID, function, argument, "at most 25 dimensions", "use fewer dimensions",
                    "%" PRIu64 " dimensions", rank);
}

/* Products of dims may overflow: phase 1 reports that, not the creator. */
static void row_major_(int64_t *strides, const int64_t *dims, uint64_t rank) {
  uint64_t stride = 1;
  for (uint64_t i = rank; i-- > 0;) {
    strides[i] = (int64_t)stride;
    stride *= (uint64_t)dims[i];
  }
}

struct view_ {
  const int64_t *dims, *strides;
  uint64_t rank;
};

static uint32_t words_(int64_t *word, int32_t dtype, int32_t format, int64_t offset, struct view_ view,
                       const int64_t *storage_dims, uint64_t storage_rank, bool foreign) {
  word[0] = dtype;
  word[1] = format;
  word[2] = offset;
  word[3] = (int64_t)view.rank;
  word[4] = (int64_t)storage_rank;
  word[ENG_LAYOUT_FOREIGN] = foreign;
  int64_t *to = word + ENG_LAYOUT_FIXED;
  for (uint64_t i = 0; i < view.rank; i++) to[i] = view.dims[i];
  to += view.rank;
  if (view.strides == NULL) {
    row_major_(to, to - view.rank, view.rank);
  } else {
    for (uint64_t i = 0; i < view.rank; i++) to[i] = view.strides[i];
  }
  to += view.rank;
  for (uint64_t i = 0; i < storage_rank; i++) to[i] = storage_dims[i];
  return (uint32_t)(to + storage_rank - word);
}

int32_t aclpy_tensor_create(const int64_t *view_dims, uint64_t view_rank, int32_t dtype, const int64_t *strides,
                            int64_t offset, int32_t format, const int64_t *storage_dims, uint64_t storage_rank,
                            uintptr_t data, aclpy_handle *tensor, uint64_t *layout) {
  static const char function[] = "aclCreateTensor";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (tensor == NULL) return refuse_null_(function, "tensor");
  if (view_dims == NULL && view_rank > 0) return refuse_null_(function, "viewDims");
  if (storage_dims == NULL && storage_rank > 0) return refuse_null_(function, "storageDims");
  if (view_rank > ACLPY_MAX_RANK) return refuse_rank_(function, "viewDimsNum", view_rank);
  if (storage_rank > ACLPY_MAX_RANK) return refuse_rank_(function, "storageDimsNum", storage_rank);
  int64_t word[ENG_LAYOUT_WORDS];
  struct view_ view = {.dims = view_dims, .strides = strides, .rank = view_rank};
  struct eng_layout *interned = eng_layout_intern(
      word, words_(word, dtype, format, offset, view, storage_dims, storage_rank, eng_address_foreign(data)));
  if (interned == NULL) return eng_fail_memory(function, "a tensor");
  struct eng_tensor *made = eng_object_alloc(sizeof(*made));
  if (made != NULL) {
    uint64_t id = interned->id;
    atomic_init(&made->layout, interned);
    atomic_init(&made->layout_id, id);
    if (eng_handle_open_noted(ENG_TENSOR, &made->head, data, tensor)) {
      made->address = eng_handle_note(&made->head);
      if (layout != NULL) *layout = id;
      return ACLPY_ACL_SUCCESS;
    }
    free(made);
  }
  eng_layout_leave(interned);
  return eng_fail_memory(function, "a tensor");
}

void eng_tensor_dispose(void *object) {
  struct eng_tensor *tensor = object;
  eng_layout_leave(atomic_load_explicit(&tensor->layout, memory_order_relaxed));
  free(tensor);
}

static struct eng_tensor *find_(aclpy_handle handle, const char *function, int32_t *status) {
  struct eng_tensor *tensor = NULL;
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
  } else if (handle == 0) {
    *status = refuse_null_(function, "tensor");
  } else {
    tensor = eng_handle_acquire(ENG_TENSOR, handle);
    if (tensor == NULL) *status = eng_tensor_refuse(handle, function, "tensor");
  }
  return tensor;
}

/* Under the lock: the new description, taking from the old layout what the arguments leave out. */
static struct eng_layout *changed_(const struct eng_layout *old, struct view_ view, int32_t dtype, int32_t format,
                                   int64_t offset, const int64_t *storage_dims, uint64_t storage_rank, bool foreign) {
  if (view.dims == NULL || view.rank == 0) {
    uint64_t given = view.rank;
    view.dims = eng_layout_view_dims(old);
    view.rank = eng_layout_view_rank(old);
    if (given != view.rank) view.strides = NULL; /* the strides given are not as many as the shape that stays */
  }
  if (storage_dims == NULL || storage_rank == 0) {
    storage_dims = eng_layout_storage_dims(old);
    storage_rank = eng_layout_storage_rank(old);
  }
  int64_t word[ENG_LAYOUT_WORDS];
  return eng_layout_intern(word, words_(word, dtype, format, offset, view, storage_dims, storage_rank, foreign));
}

int32_t aclpy_tensor_init(aclpy_handle handle, const int64_t *view_dims, uint64_t view_rank, int32_t dtype,
                          const int64_t *strides, int64_t offset, int32_t format, const int64_t *storage_dims,
                          uint64_t storage_rank, uintptr_t data, uint64_t *layout) {
  static const char function[] = "aclInitTensor";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_tensor *tensor = find_(handle, function, &status);
  if (tensor == NULL) return status;
  if (view_rank > ACLPY_MAX_RANK || storage_rank > ACLPY_MAX_RANK) {
    eng_release(&tensor->head);
    return view_rank > ACLPY_MAX_RANK ? refuse_rank_(function, "viewDimsNum", view_rank)
                                      : refuse_rank_(function, "storageDimsNum", storage_rank);
  }
  struct view_ view = {.dims = view_dims, .strides = strides, .rank = view_rank};
  bool foreign = eng_address_foreign(data != 0 ? data : eng_tensor_address(tensor));
  pthread_mutex_lock(&lock_);
  struct eng_layout *old = atomic_load(&tensor->layout);
  struct eng_layout *made = changed_(old, view, dtype, format, offset, storage_dims, storage_rank, foreign);
  if (made != NULL) {
    atomic_store(&tensor->layout, made);
    atomic_store(&tensor->layout_id, made->id);
    if (data != 0) eng_tensor_place(tensor, data);
    if (layout != NULL) *layout = made->id;
    eng_layout_leave(old);
  } else {
    status = eng_fail_memory(function, "the tensor's new description");
  }
  pthread_mutex_unlock(&lock_);
  eng_release(&tensor->head);
  return status;
}

int32_t aclpy_tensor_destroy(aclpy_handle handle) {
  static const char function[] = "aclDestroyTensor";
  if (handle == 0) return ACLPY_ACL_SUCCESS;
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_tensor *tensor = eng_handle_close(ENG_TENSOR, handle, false);
  if (tensor == NULL) return eng_tensor_refuse(handle, function, "tensor");
  eng_release(&tensor->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_tensor_describe(const char *function, aclpy_handle handle, aclpy_tensor_desc *desc) {
  if (desc == NULL) return refuse_null_(function, "desc");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_tensor *tensor = find_(handle, function, &status);
  if (tensor == NULL) return status;
  memset(desc, 0, sizeof(*desc));
  pthread_mutex_lock(&lock_);
  const struct eng_layout *layout = atomic_load(&tensor->layout);
  desc->layout = layout->id;
  desc->dtype = (int32_t)layout->word[0];
  desc->format = (int32_t)layout->word[1];
  desc->offset = layout->word[2];
  desc->view_rank = eng_layout_view_rank(layout);
  desc->storage_rank = eng_layout_storage_rank(layout);
  memcpy(desc->view_dims, eng_layout_view_dims(layout), desc->view_rank * sizeof(int64_t));
  memcpy(desc->view_strides, eng_layout_strides(layout), desc->view_rank * sizeof(int64_t));
  memcpy(desc->storage_dims, eng_layout_storage_dims(layout), desc->storage_rank * sizeof(int64_t));
  pthread_mutex_unlock(&lock_);
  eng_release(&tensor->head);
  return status;
}

int32_t aclpy_tensor_layout(aclpy_handle handle, uint64_t *layout) {
  static const char function[] = "aclGetViewShape";
  if (layout == NULL) return refuse_null_(function, "layout");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_tensor *tensor = find_(handle, function, &status);
  if (tensor == NULL) return status;
  *layout = atomic_load(&tensor->layout_id);
  eng_release(&tensor->head);
  return status;
}

int32_t aclpy_tensor_get_address(aclpy_handle handle, uintptr_t *address) {
  static const char function[] = "aclGetRawTensorAddr";
  if (address == NULL) return refuse_null_(function, "addr");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_tensor *tensor = find_(handle, function, &status);
  if (tensor == NULL) return status;
  *address = eng_tensor_address(tensor);
  eng_release(&tensor->head);
  return status;
}

int32_t aclpy_tensor_set_address(aclpy_handle handle, uintptr_t address) {
  static const char function[] = "aclSetRawTensorAddr";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_tensor *tensor = find_(handle, function, &status);
  if (tensor == NULL) return status;
  eng_tensor_place(tensor, address);
  bool foreign = eng_address_foreign(address);
  pthread_mutex_lock(&lock_);
  struct eng_layout *old = atomic_load(&tensor->layout);
  if ((old->word[ENG_LAYOUT_FOREIGN] != 0) != foreign) { /* calls are planned for where the memory is */
    int64_t word[ENG_LAYOUT_WORDS];
    memcpy(word, old->word, old->words * sizeof(*word));
    word[ENG_LAYOUT_FOREIGN] = foreign;
    struct eng_layout *made = eng_layout_intern(word, old->words);
    if (made != NULL) {
      atomic_store(&tensor->layout, made);
      atomic_store(&tensor->layout_id, made->id);
      eng_layout_leave(old);
    } else {
      status = eng_fail_memory(function, "the tensor's new description");
    }
  }
  pthread_mutex_unlock(&lock_);
  eng_release(&tensor->head);
  return status;
}

void eng_tensors_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_tensors_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
