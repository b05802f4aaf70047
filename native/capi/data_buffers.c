/* SPDX-License-Identifier: Apache-2.0
 * Data buffers under their C names.
 */
#include "capi.h"

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
  aclpy_handle made = 0;
  return aclpy_data_buffer_create((uintptr_t)data, size, &made) == 0 ? capi_pointer(made) : NULL;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
  return aclpy_data_buffer_destroy(capi_handle(dataBuffer));
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
  return aclpy_data_buffer_update(capi_handle(dataBuffer), (uintptr_t)data, size);
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) {
  uintptr_t address = 0;
  return aclpy_data_buffer_get(capi_handle(dataBuffer), &address, NULL) == 0 ? (void *)address : NULL;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) {
  size_t size = 0;
  return aclpy_data_buffer_get(capi_handle(dataBuffer), NULL, &size) == 0 ? size : 0;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) { return (uint32_t)aclGetDataBufferSizeV2(dataBuffer); }
