/* SPDX-License-Identifier: Apache-2.0
 * What a program can ask about memory: how much there is, and what an address belongs to.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "text.h"

enum { MEMORY_ATTRIBUTES = 18, HUGE_PAGE_BYTES = 2 << 20 };
enum { LOCATION_HOST = 0, LOCATION_DEVICE = 1, LOCATION_UNREGISTERED = 2, LOCATION_MANAGED = 3 };

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

/* Every kind of device memory is the same memory here, so each is answered with the whole. */
int32_t aclpy_memory_figures(aclpy_handle ctx, int32_t attribute, uint64_t *free_bytes, uint64_t *total) {
  static const char function[] = "aclrtGetMemInfo";
  if (free_bytes == NULL) return eng_fail_null(function, "free");
  if (total == NULL) return eng_fail_null(function, "total");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  if (attribute < 0 || attribute >= MEMORY_ATTRIBUTES) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_MEMORY_TYPE, function, "attr", "a kind of memory from 0 to 17",
                        "pass ACL_HBM_MEM or another member of aclrtMemAttr", "%" PRId32, attribute);
  } else if (eng_device_foreign(context->device) && atomic_load(&eng_settings.device_memory) == 0) {
    status = eng_foreign_memory(context->device, free_bytes, total);
  } else {
    uint64_t used, most, limit = eng_bytes_limit(context->device);
    eng_bytes_used(context->device, &used, &most);
    *total = limit;
    *free_bytes = used < limit ? limit - used : 0;
  }
  eng_release(&context->head);
  return status;
}

int32_t aclpy_memory_usage(int32_t device, aclpy_usage *rows, size_t room, size_t *count) {
  static const char function[] = "aclrtGetMemUsageInfo";
  if (rows == NULL) return eng_fail_null(function, "memUsageInfo");
  if (count == NULL) return eng_fail_null(function, "outputNum");
  if (room == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "inputNum", "room for at least one component",
                      "pass an array of some rows", "0");
  }
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  rows[0] = (aclpy_usage){0};
  eng_text(rows[0].component, sizeof(rows[0].component), "program"); /* the only one that allocates here */
  eng_bytes_used(device, &rows[0].now, &rows[0].most);
  *count = 1;
  return ACLPY_ACL_SUCCESS;
}

static int32_t location_of_(const struct eng_memory *memory) {
  if (memory->kind != ACLPY_MEMORY_DEVICE) return LOCATION_HOST;
  return memory->managed ? LOCATION_MANAGED : LOCATION_DEVICE;
}

int32_t aclpy_pointer_attributes(uintptr_t address, aclpy_pointer *attributes) {
  static const char function[] = "aclrtPointerGetAttributes";
  if (address == 0) return eng_fail_null(function, "ptr");
  if (attributes == NULL) return eng_fail_null(function, "attributes");
  *attributes = (aclpy_pointer){.location = LOCATION_UNREGISTERED};
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) return ACLPY_ACL_SUCCESS;
  attributes->location = location_of_(memory);
  attributes->id = memory->kind == ACLPY_MEMORY_DEVICE ? memory->device : 0;
  attributes->page_size = memory->mapping != NULL ? HUGE_PAGE_BYTES : (uint32_t)sysconf(_SC_PAGESIZE);
  eng_release(&memory->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_memory_range(uintptr_t address, uintptr_t *base, size_t *size) {
  static const char function[] = "aclrtMemGetAddressRange";
  if (address == 0) return eng_fail_null(function, "ptr");
  if (base == NULL) return eng_fail_null(function, "pbase");
  if (size == NULL) return eng_fail_null(function, "psize");
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) {
    char place[256];
    eng_memory_describe(address, place, sizeof(place));
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "ptr", "an address inside a live allocation",
                      "allocate it with aclrtMalloc or aclrtMallocHost", "%s", place);
  }
  *base = memory->base;
  *size = memory->size;
  eng_release(&memory->head);
  return ACLPY_ACL_SUCCESS;
}

/* Caches are the hardware's own business here. */
int32_t aclpy_memory_maintain(uintptr_t address, size_t size, int32_t invalidate) {
  const char *function = invalidate ? "aclrtMemInvalidate" : "aclrtMemFlush";
  if (address == 0) return eng_fail_null(function, "devPtr");
  if (size > 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "size", "at least 1 byte",
                    "leave the call out: it is not needed", "0");
}
