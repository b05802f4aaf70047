/* SPDX-License-Identifier: Apache-2.0
 * Allocating and freeing device and pinned host memory.
 */
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "park.h"

enum { ROUND = 32, PADDING = 32, HUGE1G_ONLY = 6, HUGE1G_ONLY_P2P = 7 };

static int32_t refuse_size_(const char *function, size_t size) {
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "size",
                    "a size of at least 1 byte that rounding up to 32 does not overflow",
                    "pass the number of bytes needed", "%zu", size);
}

static struct eng_memory *new_(int32_t kind, int32_t device, size_t size, size_t reserved) {
  struct eng_memory *memory = eng_object_zalloc(sizeof(*memory));
  if (memory == NULL) return NULL;
  memory->kind = kind;
  memory->device = device;
  memory->size = size;
  memory->reserved = reserved;
  if (!eng_bytes_alloc(memory)) {
    free(memory);
    return NULL;
  }
  if (eng_handle_open(ENG_MEMORY, &memory->head, &memory->handle)) {
    if (eng_registry_add(memory)) return memory;
    if (eng_handle_close(ENG_MEMORY, memory->handle, false) != NULL) eng_release(&memory->head);
    return NULL;
  }
  eng_bytes_free(memory);
  free(memory);
  return NULL;
}

void eng_memory_dispose(void *object) {
  struct eng_memory *memory = object;
  eng_bytes_free(memory);
  eng_failure_drop(atomic_load(&memory->failure));
  free(memory);
}

static int32_t alloc_(aclpy_handle ctx, size_t size, size_t padding, int32_t kind, const char *function,
                      uintptr_t *address) {
  if (address == NULL) return eng_fail_null(function, kind == ACLPY_MEMORY_HOST ? "hostPtr" : "devPtr");
  if (size == 0 || size > SIZE_MAX - ROUND - padding) return refuse_size_(function, size);
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  size_t reserved = ((size + ROUND - 1) & ~(size_t)(ROUND - 1)) + padding;
  struct eng_memory *memory = new_(kind, context->device, size, reserved);
  if (memory != NULL) {
    *address = memory->base;
  } else {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION, function, "size", "a size that still fits",
                        "free memory, or raise ACLNN_PY_DEVICE_MEMORY if it is set",
                        "%zu bytes (%zu with rounding), with %" PRIu64 " in use of %" PRIu64, size, reserved,
                        aclpy_memory_in_use(), eng_bytes_limit(context->device));
  }
  eng_release(&context->head);
  return status;
}

int32_t aclpy_malloc(aclpy_handle ctx, size_t size, int32_t policy, uintptr_t *address) {
  bool exact = policy == HUGE1G_ONLY || policy == HUGE1G_ONLY_P2P;
  return alloc_(ctx, size, exact ? 0 : PADDING, ACLPY_MEMORY_DEVICE, "aclrtMalloc", address);
}

int32_t aclpy_malloc_host(aclpy_handle ctx, size_t size, uintptr_t *address) {
  return alloc_(ctx, size, 0, ACLPY_MEMORY_HOST, "aclrtMallocHost", address);
}

static int32_t free_(uintptr_t address, int32_t kind, const char *function, const char *argument, const char *maker) {
  if (eng_stopping()) return eng_fail_stopped(function);
  if (address == 0) return eng_fail_null(function, argument);
  struct eng_memory *memory = eng_registry_take(address, kind);
  if (memory != NULL) {
    eng_release(&memory->head);
    return ACLPY_ACL_SUCCESS;
  }
  char history[256];
  eng_memory_describe(address, history, sizeof(history));
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, argument, maker,
                    "free each allocation once, by its start", "%s", history);
}

int32_t aclpy_free(uintptr_t address) {
  return free_(address, ACLPY_MEMORY_DEVICE, "aclrtFree", "devPtr", "the start of a live allocation of aclrtMalloc");
}

int32_t aclpy_free_host(uintptr_t address) {
  return free_(address, ACLPY_MEMORY_HOST, "aclrtFreeHost", "hostPtr",
               "the start of a live allocation of aclrtMallocHost");
}

void aclpy_memory_discard(uintptr_t address, uint64_t identity) {
  /* While this reference is held the bytes are, so that nobody else can be given the same address. */
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) return;
  if (memory->handle == identity && memory->base == address) {
    struct eng_memory *taken = eng_registry_take(address, memory->kind);
    if (taken != NULL) eng_release(&taken->head);
  }
  eng_release(&memory->head);
}

int32_t aclpy_memory_query(uintptr_t address, aclpy_memory_info *info) {
  if (info == NULL) return eng_fail_null("aclpy_memory_query", "info");
  *info = (aclpy_memory_info){.kind = ACLPY_MEMORY_NONE};
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) return ACLPY_ACL_SUCCESS;
  info->kind = memory->kind;
  info->device = memory->device;
  info->base = memory->base;
  info->size = memory->size;
  info->identity = memory->handle;
  int64_t pending = atomic_load(&memory->pending[0]) + atomic_load(&memory->pending[1]);
  info->pending = pending > 0 ? (uint64_t)pending : 0;
  eng_release(&memory->head);
  return ACLPY_ACL_SUCCESS;
}
