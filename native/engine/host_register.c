/* SPDX-License-Identifier: Apache-2.0
 * Registering the program's own host memory, so that copies treat it as pinned and the device may reach it.
 *
 * Host and device share their addresses here, so the device's pointer to such memory is the host's.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "memory.h"
#include "park.h"

enum { HOST_PAGE = 4096, TYPE_MAPPED = 0 };
enum { FLAG_MAPPED = 2, FLAG_IO_MEMORY = 4, FLAG_READONLY = 8, FLAG_PINNED = 0x10000000 };
static const uint32_t FLAGS = FLAG_MAPPED | FLAG_IO_MEMORY | FLAG_READONLY | FLAG_PINNED;

/* Memory of aclrtMallocHost, or NULL; to be released. It may be registered, too: the device reaches it then by its own
 * pointer. Its blocks need not begin at pages. */
static struct eng_memory *pinned_(uintptr_t address) {
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL || memory->kind == ACLPY_MEMORY_HOST) return memory;
  eng_release(&memory->head);
  return NULL;
}

static int32_t refuse_known_(uintptr_t address, uint64_t size, const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, function, "ptr",
                    "host memory that is not registered, nor pinned again",
                    "register each range once; memory of aclrtMallocHost is pinned: leave that flag out",
                    "%" PRIu64 " bytes at 0x%" PRIxPTR ", of which the runtime knows some already", size, address);
}

static int32_t register_pinned_(struct eng_memory *memory, uintptr_t address, uint64_t size, uint32_t flags,
                                const char *function) {
  const uint64_t left = memory->base + memory->size - address;
  if (size > left) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "size", "a range within one allocation",
                      "pass at most what is left of it", "%" PRIu64 " bytes, %" PRIu64 " are left", size, left);
  }
  uint32_t none = 0;
  if ((flags & FLAG_PINNED) != 0 || !atomic_compare_exchange_strong(&memory->registration, &none, flags)) {
    return refuse_known_(address, size, function);
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t check_range_(uintptr_t address, uint64_t size, bool pinned, const char *function) {
  if (address == 0) return eng_fail_null(function, "ptr");
  if (size == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "size", "at least 1 byte", "pass the memory's size",
                      "0");
  }
  if (!pinned && address % HOST_PAGE != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "ptr", "an address that is a multiple of 4096",
                      "allocate with posix_memalign or mmap", "0x%" PRIxPTR, address);
  }
  if (size > UINTPTR_MAX - address || !eng_bytes_mapped(address, (size_t)size)) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "ptr", "the address of that many bytes of memory",
                      "pass live host memory", "%" PRIu64 " bytes at 0x%" PRIxPTR ", where the process has no memory",
                      size, address);
  }
  return ACLPY_ACL_SUCCESS;
}

static int32_t register_(aclpy_handle ctx, uintptr_t address, uint64_t size, uint32_t flags, const char *function) {
  struct eng_memory *pinned = pinned_(address);
  int32_t status = check_range_(address, size, pinned != NULL, function);
  struct eng_context *context = status == ACLPY_ACL_SUCCESS ? eng_context_resolve(ctx, function, &status) : NULL;
  if (context != NULL && pinned != NULL) status = register_pinned_(pinned, address, size, flags, function);
  if (context != NULL && pinned != NULL) eng_release(&context->head);
  if (pinned != NULL) eng_release(&pinned->head);
  if (context == NULL || pinned != NULL) return status;
  struct eng_memory like = {.kind = ACLPY_MEMORY_REGISTERED,
                            .device = context->device,
                            .base = address,
                            .size = (size_t)size,
                            .reserved = (size_t)size,
                            .registration = flags};
  bool added = eng_memory_new(&like) != NULL;
  eng_release(&context->head);
  if (added) return ACLPY_ACL_SUCCESS;
  if (!eng_registry_overlaps(address, (size_t)size)) return eng_fail_memory(function, "a registration");
  return refuse_known_(address, size, function);
}

int32_t aclpy_host_register(aclpy_handle ctx, uintptr_t address, uint64_t size, int32_t type, uintptr_t *device) {
  static const char function[] = "aclrtHostRegister";
  if (device == NULL) return eng_fail_null(function, "devPtr");
  if (type != TYPE_MAPPED) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "type", "0 (mapped)", "pass 0", "%" PRId32, type);
  }
  int32_t status = register_(ctx, address, size, FLAG_MAPPED, function);
  if (status == ACLPY_ACL_SUCCESS) *device = address;
  return status;
}

int32_t aclpy_host_register_flags(aclpy_handle ctx, uintptr_t address, uint64_t size, uint32_t flags) {
  static const char function[] = "aclrtHostRegisterV2";
  if (flags == 0 || (flags & ~FLAGS) != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "flag", "some of 2, 4, 8 and 0x10000000",
                      "pass ACL_HOST_REG_MAPPED", "0x%" PRIx32, flags);
  }
  if ((flags & FLAG_IO_MEMORY) != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "flag", "ordinary memory",
                      "leave the flag 4 out", "input and output memory, which needs an NPU");
  }
  return register_(ctx, address, size, flags, function);
}

static int32_t refuse_unknown_(uintptr_t address, const char *function) {
  char place[256];
  eng_memory_describe(address, place, sizeof(place));
  return aclpy_fail(ACLPY_ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, function, "ptr", "the start of registered host memory",
                    "call aclrtHostRegister first, and unregister once", "%s", place);
}

int32_t aclpy_host_device_pointer(uintptr_t address, uintptr_t *device, uint32_t flag) {
  static const char function[] = "aclrtHostGetDevicePointer";
  if (address == 0) return eng_fail_null(function, "pHost");
  if (device == NULL) return eng_fail_null(function, "pDevice");
  if (flag != 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "flag", "0", "pass 0: it is reserved", "0x%" PRIx32,
                      flag);
  }
  struct eng_memory *memory = eng_memory_find(address);
  const uint32_t flags = memory == NULL ? 0 : atomic_load(&memory->registration);
  const bool known = flags != 0, mapped = (flags & FLAG_MAPPED) != 0;
  if (memory != NULL) eng_release(&memory->head);
  if (!known) return refuse_unknown_(address, function);
  if (!mapped) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "pHost", "memory that is mapped for the device",
                      "register it with the flag 2 (mapped)", "0x%" PRIxPTR ", registered without that flag", address);
  }
  *device = address;
  return ACLPY_ACL_SUCCESS;
}

static int32_t refuse_busy_(const char *function) {
  if (eng_stopping()) return eng_fail_stopped(function);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "ptr", "memory that no queued task touches",
                    "unregister it outside of host functions",
                    "memory that tasks still use, in a host function: they may be queued behind it");
}

int32_t aclpy_host_unregister(uintptr_t address) {
  static const char function[] = "aclrtHostUnregister";
  if (address == 0) return eng_fail_null(function, "ptr");
  struct eng_memory *pinned = pinned_(address);
  if (pinned != NULL) {
    const bool registered = atomic_load(&pinned->registration) != 0, idle = registered && eng_memory_settle(pinned);
    const bool ended = idle && atomic_exchange(&pinned->registration, 0) != 0; /* another thread may be first */
    eng_release(&pinned->head);
    if (registered && !idle) return refuse_busy_(function);
    return ended ? ACLPY_ACL_SUCCESS : refuse_unknown_(address, function);
  }
  struct eng_memory *memory = eng_memory_find(address);
  bool known = memory != NULL && memory->base == address && memory->kind == ACLPY_MEMORY_REGISTERED;
  /* Before it is taken away, so that a refusal leaves it registered, unless another thread queues work with it now. */
  bool idle = known && eng_memory_settle(memory);
  if (memory != NULL) eng_release(&memory->head);
  if (!known) return refuse_unknown_(address, function);
  if (!idle) return refuse_busy_(function);
  memory = eng_registry_take(address, ACLPY_MEMORY_REGISTERED);
  if (memory == NULL) return refuse_unknown_(address, function); /* another thread was first */
  /* The bytes are the program's, which may free them as soon as this returns: what was queued meanwhile, too. */
  idle = eng_memory_settle(memory);
  eng_release(&memory->head);
  return idle ? ACLPY_ACL_SUCCESS : refuse_busy_(function);
}
