/* SPDX-License-Identifier: Apache-2.0
 * aclDataBuffer: an address and a size that travel together; the memory is never its own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "handle_table.h"

struct eng_data_buffer {
  struct eng_object head;
  _Atomic uintptr_t address;
  _Atomic size_t size;
};

void eng_data_buffer_dispose(void *object) { free(object); }

static struct eng_data_buffer *find_(aclpy_handle buffer, const char *function, int32_t *status) {
  *status = ACLPY_ACL_SUCCESS;
  struct eng_data_buffer *found = buffer == 0 ? NULL : eng_handle_acquire(ENG_DATA_BUFFER, buffer);
  if (found != NULL) return found;
  if (buffer == 0) {
    *status = eng_fail_null(function, "dataBuffer");
  } else {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "dataBuffer", "a live data buffer",
                         "use a data buffer before it is destroyed", "data buffer 0x%" PRIx64 ", %s", buffer,
                         eng_handle_past_text(ENG_DATA_BUFFER, buffer));
  }
  return NULL;
}

int32_t aclpy_data_buffer_create(uintptr_t address, size_t size, aclpy_handle *buffer) {
  static const char function[] = "aclCreateDataBuffer";
  if (buffer == NULL) return eng_fail_null(function, "dataBuffer");
  struct eng_data_buffer *made = eng_object_zalloc(sizeof(*made));
  if (made == NULL) return eng_fail_memory(function, "a data buffer");
  atomic_init(&made->address, address);
  atomic_init(&made->size, size);
  if (eng_handle_open(ENG_DATA_BUFFER, &made->head, buffer)) return ACLPY_ACL_SUCCESS;
  free(made);
  return eng_fail_memory(function, "a data buffer");
}

int32_t aclpy_data_buffer_destroy(aclpy_handle buffer) {
  int32_t status;
  struct eng_data_buffer *found = find_(buffer, "aclDestroyDataBuffer", &status);
  if (found == NULL) return status;
  if (eng_handle_close(ENG_DATA_BUFFER, buffer, false) != NULL) eng_release(&found->head);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_data_buffer_update(aclpy_handle buffer, uintptr_t address, size_t size) {
  int32_t status;
  struct eng_data_buffer *found = find_(buffer, "aclUpdateDataBuffer", &status);
  if (found == NULL) return status;
  atomic_store(&found->address, address);
  atomic_store(&found->size, size);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_data_buffer_get(aclpy_handle buffer, uintptr_t *address, size_t *size) {
  const char *function = address == NULL ? "aclGetDataBufferSizeV2" : "aclGetDataBufferAddr";
  if (address == NULL && size == NULL) return eng_fail_null(function, "result");
  int32_t status;
  struct eng_data_buffer *found = find_(buffer, function, &status);
  if (found == NULL) return status;
  if (address != NULL) *address = atomic_load(&found->address);
  if (size != NULL) *size = atomic_load(&found->size);
  eng_release(&found->head);
  return ACLPY_ACL_SUCCESS;
}
