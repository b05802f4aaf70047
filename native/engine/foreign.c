/* SPDX-License-Identifier: Apache-2.0
 * The table of a foreign device: loading it, memory through it.
 */
#include "foreign.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "driver.h"
#include "failure.h"
#include "foreign_table.h"
#include "park.h"
#include "memory.h"

atomic_int eng_foreign_devices;
atomic_uint eng_foreign_era;
struct aclpy_device_table eng_foreign_table; /* written before the count */

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(aclpy_device_loader) loader_;
static _Atomic(eng_foreign_starter) starter_;

void aclpy_device_loader_install(aclpy_device_loader loader) { atomic_store(&loader_, loader); }

void eng_foreign_starter_install(eng_foreign_starter starter) { atomic_store(&starter_, starter); }

static bool complete_(const aclpy_device_table *table) {
  return table->alloc != NULL && table->release != NULL && table->memory != NULL && table->copy != NULL &&
         table->fill != NULL && table->record != NULL && table->wait != NULL && table->elapsed != NULL &&
         table->synchronize != NULL && table->stream_end != NULL && table->graph != NULL;
}

int32_t aclpy_device_table_install(const aclpy_device_table *table) {
  static const char function[] = "aclpy_device_table_install";
  if (table != NULL && (table->devices < 1 || table->devices > ACLPY_FOREIGN_DEVICES || !complete_(table))) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "table", "1 to 8 devices and every function", "",
                      "a table of %" PRId32 " devices", table->devices);
  }
  pthread_mutex_lock(&lock_);
  if (table != NULL) eng_foreign_table = *table;
  eng_driver_forget();
  atomic_fetch_add(&eng_foreign_era, 1);
  eng_foreign_forget_events(); /* they were made through the one before */
  atomic_store(&eng_foreign_devices, table == NULL ? 0 : table->devices);
  if (eng_settings.foreign) eng_settings.devices = eng_settings.physical_devices = table == NULL ? 1 : table->devices;
  pthread_mutex_unlock(&lock_);
  return ACLPY_ACL_SUCCESS;
}

/* Several threads may load at once: whoever makes the table sees to that (Python's import lock does). */
int32_t eng_foreign_load(const char *function) {
  if (atomic_load(&eng_foreign_devices) != 0) return ACLPY_ACL_SUCCESS;
  aclpy_device_loader loader = atomic_load(&loader_);
  eng_foreign_starter starter = atomic_load(&starter_);
  if (loader == NULL && starter != NULL) {
    int32_t status = starter(function);
    if (status != ACLPY_ACL_SUCCESS) return status;
    loader = atomic_load(&loader_);
  }
  if (loader == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_NO_DEVICE, function, "", "a backend for the device",
                      "import aclnn_py, or unset ACLNN_PY_BACKEND", "a device that nothing here implements");
  }
  int32_t status = loader();
  if (status == ACLPY_ACL_SUCCESS && atomic_load(&eng_foreign_devices) == 0) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_NO_DEVICE, function, "", "at least one device", "", "none");
  }
  return status;
}

int32_t aclpy_foreign_count(void) { return atomic_load(&eng_foreign_devices); }

int32_t aclpy_device_is_foreign(int32_t device) { return eng_device_foreign(device); }

int32_t eng_foreign_check(int32_t device, const char *function, const char *argument) {
  if (eng_settings.foreign) {
    int32_t status = eng_foreign_load(function);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  int32_t index = eng_foreign_index(device), known = atomic_load(&eng_foreign_devices);
  if (index >= 0 && index < known) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_DEVICEID, function, argument,
                    "a device from 0 to one below the device count", "aclrtGetDeviceCount says how many there are",
                    "device %" PRId32 " of %" PRId32, device, eng_settings.foreign ? known : eng_settings.devices);
}

int32_t aclpy_foreign_device(int32_t index, int32_t *device) {
  static const char function[] = "Device";
  if (device == NULL) return eng_fail_null(function, "device");
  int32_t status = eng_foreign_load(function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  int32_t known = atomic_load(&eng_foreign_devices);
  if (index < 0 || index >= known) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_DEVICEID, function, "index",
                      "a device from 0 to one below the number of devices", "CUDA_VISIBLE_DEVICES may hide some",
                      "device %" PRId32 " of %" PRId32, index, known);
  }
  *device = index + (eng_settings.foreign ? 0 : ACLPY_FOREIGN_FIRST);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_fail_text(int32_t status, const char *function, const char *argument, const char *expected,
                        const char *hint, const char *got) {
  return aclpy_fail(status, function, argument, expected, hint, "%s", got);
}

void eng_foreign_after_fork(void) {
  pthread_mutex_init(&lock_, NULL);
  atomic_store(&eng_foreign_devices, 0); /* the driver does not outlive a fork */
  eng_driver_forget();
  atomic_fetch_add(&eng_foreign_era, 1);
}

/* ---- memory ---- */

bool eng_memory_foreign(const struct eng_memory *memory) {
  return memory != NULL && memory->kind == ACLPY_MEMORY_DEVICE && eng_device_foreign(memory->device);
}

bool eng_address_foreign(uintptr_t address) {
  if (eng_settings.foreign) return true;
  if (address == 0 || atomic_load_explicit(&eng_foreign_devices, memory_order_relaxed) == 0) return false;
  struct eng_memory *memory = eng_memory_find(address);
  bool foreign = eng_memory_foreign(memory);
  if (memory != NULL) eng_release(&memory->head);
  return foreign;
}

bool eng_foreign_alloc(struct eng_memory *memory) {
  if (atomic_load(&eng_foreign_devices) == 0) return false;
  uintptr_t address = 0;
  int32_t status = eng_foreign_table.alloc(eng_foreign_index(memory->device), memory->reserved,
                                           memory->kind == ACLPY_MEMORY_HOST, &address);
  memory->base = address;
  memory->foreign = true;
  return status == ACLPY_ACL_SUCCESS && address != 0;
}

void eng_foreign_free(struct eng_memory *memory) {
  /* At the process's end the driver takes everything back, and Python may be gone. */
  if (eng_stopping() || atomic_load(&eng_foreign_devices) == 0) return;
  int32_t sort = memory->borrowed ? 2 : memory->kind == ACLPY_MEMORY_HOST;
  (void)eng_foreign_table.release(eng_foreign_index(memory->device), memory->base, sort);
}

uint64_t eng_foreign_memory_bytes(int32_t device) {
  return atomic_load(&eng_foreign_devices) == 0 ? 0 : eng_foreign_table.memory_bytes[eng_foreign_index(device)];
}

int32_t eng_foreign_memory(int32_t device, uint64_t *free_bytes, uint64_t *total) {
  return eng_foreign_table.memory(eng_foreign_index(device), free_bytes, total);
}

int32_t aclpy_memory_borrow(aclpy_handle ctx, uintptr_t address, size_t size) {
  static const char function[] = "Device.from_dlpack";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  int32_t device = context->device;
  eng_release(&context->head);
  if (size == 0 || eng_registry_overlaps(address, size)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "array", "memory that is not known yet",
                      "use the tensor that it belongs to", "%zu bytes at 0x%" PRIxPTR, size, address);
  }
  struct eng_memory *memory = eng_memory_new(&(struct eng_memory){.kind = ACLPY_MEMORY_DEVICE,
                                                                  .device = device,
                                                                  .base = address,
                                                                  .size = size,
                                                                  .reserved = size,
                                                                  .borrowed = true});
  return memory != NULL ? ACLPY_ACL_SUCCESS : eng_fail_memory(function, "the record of an allocation");
}

int32_t aclpy_memory_fetch(uintptr_t address, uintptr_t dst, size_t count) {
  static const char function[] = "Tensor.numpy";
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_memory *memory = eng_memory_find(address);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (memory == NULL || count > memory->size - (address - memory->base)) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "self", "a live allocation that is large enough",
                        "free memory after the last use of its tensors", "%zu bytes at 0x%" PRIxPTR, count, address);
  } else {
    status = eng_bytes_move(NULL, memory, dst, address, count);
  }
  if (memory != NULL) eng_release(&memory->head);
  return status;
}

int32_t eng_bytes_move(const struct eng_memory *to, const struct eng_memory *from, uintptr_t dst, uintptr_t src,
                       size_t count) {
  if (count == 0) return ACLPY_ACL_SUCCESS;
  const struct eng_memory *foreign = eng_memory_foreign(to) ? to : eng_memory_foreign(from) ? from : NULL;
  if (foreign != NULL) return eng_foreign_table.copy(eng_foreign_index(foreign->device), 0, dst, src, count);
  memmove((void *)dst, (const void *)src, count);
  return ACLPY_ACL_SUCCESS;
}

int32_t eng_bytes_set(const struct eng_memory *to, uintptr_t dst, int32_t value, size_t count) {
  if (count == 0) return ACLPY_ACL_SUCCESS;
  if (eng_memory_foreign(to)) return eng_foreign_table.fill(eng_foreign_index(to->device), 0, dst, value, count);
  memset((void *)dst, value, count);
  return ACLPY_ACL_SUCCESS;
}
