/* SPDX-License-Identifier: Apache-2.0
 * Allocating and freeing device and pinned host memory, in all of AscendCL's forms.
 */
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "park.h"
#include "soc.h"

enum { ROUND = 32, HUGE1G_ONLY = 6, HUGE1G_ONLY_P2P = 7, ATTACH_GLOBAL = 1 };
enum { ATTRIBUTE_MODULE = 1, ATTRIBUTE_DEVICE = 2, ATTRIBUTE_VA_FLAG = 3 };

/* What tells one allocating call from another. */
struct form_ {
  const char *function, *result;
  int32_t kind;
  size_t round;
  bool padded, managed;
};

static const struct form_ forms_[ACLPY_MALLOC_FORMS] = {
    [ACLPY_MALLOC_PLAIN] = {"aclrtMalloc", "devPtr", ACLPY_MEMORY_DEVICE, ROUND, true, false},
    [ACLPY_MALLOC_ALIGN32] = {"aclrtMallocAlign32", "devPtr", ACLPY_MEMORY_DEVICE, ROUND, false, false},
    [ACLPY_MALLOC_CACHED] = {"aclrtMallocCached", "devPtr", ACLPY_MEMORY_DEVICE, ROUND, true, false},
    [ACLPY_MALLOC_WITH_CFG] = {"aclrtMallocWithCfg", "devPtr", ACLPY_MEMORY_DEVICE, 1, false, false},
    [ACLPY_MALLOC_TASK_SCHEDULER] = {"aclrtMallocForTaskScheduler", "devPtr", ACLPY_MEMORY_DEVICE, 1, false, false},
    [ACLPY_MALLOC_HOST] = {"aclrtMallocHost", "hostPtr", ACLPY_MEMORY_HOST, ROUND, false, false},
    [ACLPY_MALLOC_HOST_WITH_CFG] = {"aclrtMallocHostWithCfg", "ptr", ACLPY_MEMORY_HOST, 1, false, false},
    [ACLPY_MALLOC_MANAGED] = {"aclrtMemAllocManaged", "ptr", ACLPY_MEMORY_DEVICE, 1, false, true}};

struct eng_memory *eng_memory_new(const struct eng_memory *like) {
  struct eng_memory *memory = eng_object_zalloc(sizeof(*memory));
  if (memory == NULL) return NULL;
  memory->kind = like->kind;
  memory->device = like->device;
  memory->base = like->base;
  memory->size = like->size;
  memory->reserved = like->reserved;
  memory->managed = like->managed;
  memory->registration = like->registration;
  memory->borrowed = like->borrowed;
  if (like->kind != ACLPY_MEMORY_REGISTERED && !like->borrowed && !eng_bytes_alloc(memory)) {
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

struct eng_memory *eng_memory_stage(int32_t device, size_t size) {
  struct eng_memory *memory = eng_object_zalloc(sizeof(*memory));
  if (memory == NULL) return NULL;
  memory->kind = ACLPY_MEMORY_HOST;
  memory->device = device;
  memory->size = memory->reserved = size;
  if (!eng_bytes_alloc(memory)) {
    free(memory);
    return NULL;
  }
  if (eng_handle_open(ENG_MEMORY, &memory->head, &memory->handle)) {
    /* The handle's reference becomes the caller's: nobody is to find it. */
    (void)eng_handle_close(ENG_MEMORY, memory->handle, false);
    return memory;
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

static int32_t alloc_on_(const struct form_ *form, size_t size, size_t reserved, int32_t device, uintptr_t *address) {
  if (eng_device_foreign(device) && form->managed) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, form->function, "", "an emulated device",
                      "allocate with aclrtMalloc and aclrtMallocHost, and copy",
                      "a GPU, whose memory the host must not touch");
  }
  if (eng_device_foreign(device)) aclpy_error_clear();
  struct eng_memory *memory = eng_memory_new(&(struct eng_memory){
      .kind = form->kind, .device = device, .size = size, .reserved = reserved, .managed = form->managed});
  if (memory != NULL) {
    *address = memory->base;
    return ACLPY_ACL_SUCCESS;
  }
  if (eng_device_foreign(device) && aclpy_error_last()->status != ACLPY_ACL_SUCCESS) return aclpy_error_last()->status;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_MEMORY_ALLOCATION, form->function, "size", "a size that still fits",
                    "free memory, or raise ACLNN_PY_DEVICE_MEMORY if it is set",
                    "%zu bytes (%zu with rounding), with %" PRIu64 " in use of %" PRIu64, size, reserved,
                    aclpy_memory_in_use(), eng_bytes_limit(device));
}

static int32_t alloc_(aclpy_handle ctx, const struct form_ *form, size_t size, int32_t policy, int32_t device,
                      uintptr_t *address) {
  if (address == NULL) return eng_fail_null(form->function, form->result);
  bool exact = policy == HUGE1G_ONLY || policy == HUGE1G_ONLY_P2P;
  size_t padding = form->padded && !exact ? eng_soc_allocation_padding() : 0;
  if (size == 0 || size > SIZE_MAX - form->round - padding) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, form->function, "size",
                      "a size of at least 1 byte that rounding up does not overflow", "pass the number of bytes needed",
                      "%zu", size);
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, form->function, &status);
  if (context == NULL) return status;
  size_t reserved = (size + form->round - 1) / form->round * form->round + padding;
  status = alloc_on_(form, size, reserved, device >= 0 ? device : context->device, address);
  eng_release(&context->head);
  return status;
}

int32_t aclpy_malloc(aclpy_handle ctx, size_t size, int32_t policy, uintptr_t *address) {
  return alloc_(ctx, &forms_[ACLPY_MALLOC_PLAIN], size, policy, -1, address);
}

int32_t aclpy_malloc_host(aclpy_handle ctx, size_t size, uintptr_t *address) {
  return alloc_(ctx, &forms_[ACLPY_MALLOC_HOST], size, 0, -1, address);
}

/* The device that the attributes name, or -1. */
static int32_t read_attributes_(const struct form_ *form, const aclpy_malloc_attribute *attributes, size_t count,
                                int32_t *device) {
  if (count > 0 && attributes == NULL) return eng_fail_null(form->function, "cfg");
  for (size_t i = 0; i < count; i++) {
    int32_t type = attributes[i].type;
    if (type < ATTRIBUTE_MODULE || type > ATTRIBUTE_VA_FLAG) {
      return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, form->function, "cfg",
                        "attributes 1 (module), 2 (device) and 3 (address flag)", "leave other attributes out",
                        "attribute %" PRId32 " at position %zu", type, i);
    }
    if (type != ATTRIBUTE_DEVICE) continue;
    *device = attributes[i].value > INT32_MAX ? -1 : (int32_t)attributes[i].value;
    int32_t status = eng_device_check(*device, form->function, "cfg");
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_malloc_form(aclpy_handle ctx, int32_t form, size_t size, int32_t policy,
                          const aclpy_malloc_attribute *attributes, size_t count, uintptr_t *address) {
  if (form < 0 || form >= ACLPY_MALLOC_FORMS) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclpy_malloc_form", "form", "ACLPY_MALLOC_*", "", "%" PRId32,
                      form);
  }
  int32_t device = -1;
  int32_t status = read_attributes_(&forms_[form], attributes, count, &device);
  if (status == ACLPY_ACL_SUCCESS && form == ACLPY_MALLOC_MANAGED && policy != ATTACH_GLOBAL) {
    status = aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, forms_[form].function, "flag", "1 (attach globally)", "pass 1",
                        "%" PRId32, policy);
  }
  return status == ACLPY_ACL_SUCCESS ? alloc_(ctx, &forms_[form], size, policy, device, address) : status;
}

/* ---- freeing ---- */

struct free_ {
  const char *function, *argument, *maker;
  int32_t kind;
};

static const struct free_ free_device_ = {"aclrtFree", "devPtr", "the start of a live allocation of aclrtMalloc",
                                          ACLPY_MEMORY_DEVICE};
static const struct free_ free_host_ = {"aclrtFreeHost", "hostPtr", "the start of a live allocation of aclrtMallocHost",
                                        ACLPY_MEMORY_HOST};

static int32_t refuse_(const struct free_ *how, uintptr_t address) {
  char history[256];
  eng_memory_describe(address, history, sizeof(history));
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, how->function, how->argument, how->maker,
                    "free each allocation once, by its start", "%s", history);
}

static int32_t free_memory_(uintptr_t address, const struct free_ *how) {
  if (eng_stopping()) return eng_fail_stopped(how->function);
  if (address == 0) return eng_fail_null(how->function, how->argument);
  struct eng_memory *memory = eng_registry_take(address, how->kind);
  if (memory == NULL) return refuse_(how, address);
  eng_release(&memory->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_free(uintptr_t address) { return free_memory_(address, &free_device_); }

int32_t aclpy_free_host(uintptr_t address) { return free_memory_(address, &free_host_); }

int32_t aclpy_free_synchronized(aclpy_handle ctx, uintptr_t address, int32_t host) {
  struct free_ how = host ? free_host_ : free_device_;
  how.function = host ? "aclrtFreeHostWithDevSync" : "aclrtFreeWithDevSync";
  if (eng_stopping()) return eng_fail_stopped(how.function);
  if (address == 0) return eng_fail_null(how.function, how.argument);
  struct eng_memory *memory = eng_memory_find(address);
  bool good = memory != NULL && memory->base == address && memory->kind == how.kind;
  if (memory != NULL) eng_release(&memory->head);
  if (!good) return refuse_(&how, address); /* before anything is waited for */
  int32_t status = aclpy_synchronize_device(ctx);
  return status == ACLPY_ACL_SUCCESS ? free_memory_(address, &how) : status;
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
