/* SPDX-License-Identifier: Apache-2.0
 * The bytes behind allocations: where they come from and how many there may be.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"
#include "foreign.h"
#include "memory.h"
#include "settings.h"
#include "text.h"

enum { ALIGNMENT = 64 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

static _Atomic uint64_t used_;                         /* all devices and pinned memory */
static _Atomic uint64_t device_used_[ENG_MAX_DEVICES]; /* device memory alone */
static _Atomic uint64_t device_peak_[ENG_MAX_DEVICES];
static _Atomic uint64_t machine_bytes_; /* 0: not asked yet */

static uint64_t read_limit_(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return UINT64_MAX;
  unsigned long long value = 0;
  int got = fscanf(file, "%llu", &value); /* "max" is no number: no limit */
  fclose(file);
  return got == 1 && value > 0 ? value : UINT64_MAX;
}

/* The smallest limit from this control group up to the root: version 2, then the memory controller of version 1. */
static uint64_t group_limit_(void) {
  uint64_t limit = UINT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  char line[512], path[640];
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    char *group = strrchr(line, ':');
    if (group == NULL) continue;
    bool first_version = strstr(line, ":memory:") != NULL;
    if (!first_version && strncmp(line, "0::", 3) != 0) continue;
    group++;
    group[strcspn(group, "\n")] = 0;
    for (;;) {
      if (first_version) {
        eng_text(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
      } else {
        eng_text(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
      }
      uint64_t one = read_limit_(path);
      if (one < limit) limit = one;
      char *slash = strrchr(group, '/');
      if (slash == NULL) break;
      *slash = 0; /* "" is the root itself */
    }
  }
  if (file != NULL) fclose(file);
  return limit;
}

static uint64_t machine_limit_(void) {
  uint64_t known = atomic_load_explicit(&machine_bytes_, memory_order_relaxed);
  if (known != 0) return known;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
  uint64_t group = group_limit_();
  known = group < machine ? group : machine;
  atomic_store_explicit(&machine_bytes_, known, memory_order_relaxed);
  return known;
}

uint64_t eng_bytes_limit(int32_t device) {
  uint64_t set = atomic_load(&eng_settings.device_memory);
  if (set != 0) return set;
  return eng_device_foreign(device) ? eng_foreign_memory_bytes(device) : machine_limit_(); /* emulated: all alike */
}

static bool charge_(_Atomic uint64_t *counter, uint64_t bytes, uint64_t limit) {
  uint64_t used = atomic_load(counter);
  do {
    if (bytes > limit || used > limit - bytes) return false;
  } while (!atomic_compare_exchange_weak(counter, &used, used + bytes));
  return true;
}

static bool charge_both_(const struct eng_memory *memory) {
  uint64_t machine = eng_memory_foreign(memory) ? UINT64_MAX : machine_limit_();
  if (!charge_(&used_, memory->reserved, machine)) return false;
  if (memory->kind != ACLPY_MEMORY_DEVICE) return true;
  if (charge_(&device_used_[memory->device], memory->reserved, eng_bytes_limit(memory->device))) {
    uint64_t now = atomic_load(&device_used_[memory->device]);
    uint64_t most = atomic_load_explicit(&device_peak_[memory->device], memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&device_peak_[memory->device], &most, now)) {
    }
    return true;
  }
  atomic_fetch_sub(&used_, memory->reserved);
  return false;
}

static void discharge_(const struct eng_memory *memory) {
  atomic_fetch_sub(&used_, memory->reserved);
  if (memory->kind == ACLPY_MEMORY_DEVICE) atomic_fetch_sub(&device_used_[memory->device], memory->reserved);
}

void eng_bytes_used(int32_t device, uint64_t *now, uint64_t *most) {
  *now = atomic_load(&device_used_[device]);
  *most = atomic_load(&device_peak_[device]);
}

/* Large blocks start at a huge page: fewer page faults and address translations for the kernels. */
static bool map_(struct eng_memory *memory) {
  if (memory->reserved > SIZE_MAX - 2 * HUGE_PAGE) return false;
  size_t whole = memory->reserved + HUGE_PAGE;
  void *data = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return false;
  uintptr_t start = (uintptr_t)data;
  uintptr_t aligned = (start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
#if defined(MADV_HUGEPAGE)
  (void)madvise((void *)aligned, whole - (aligned - start), MADV_HUGEPAGE);
#endif
  memory->mapping = data;
  memory->mapping_size = whole;
  memory->base = aligned;
  return true;
}

bool eng_bytes_alloc(struct eng_memory *memory) {
  if (eng_fault(ENG_RESOURCE_MEMORY) || !charge_both_(memory)) return false;
  bool got;
  if (eng_device_foreign(memory->device)) {
    got = eng_foreign_alloc(memory);
  } else if (memory->reserved >= HUGE_PAGE) {
    got = map_(memory);
  } else {
    void *data = NULL;
    got = posix_memalign(&data, ALIGNMENT, memory->reserved) == 0;
    memory->base = (uintptr_t)data;
  }
  if (!got) discharge_(memory);
  return got;
}

void eng_bytes_free(struct eng_memory *memory) {
  if (memory->kind == ACLPY_MEMORY_REGISTERED) return;
  if (memory->borrowed) {
    eng_foreign_free(memory);
    return; /* it was never counted */
  }
  if (memory->foreign) {
    eng_foreign_free(memory);
  } else if (memory->mapping != NULL) {
    munmap(memory->mapping, memory->mapping_size);
  } else {
    free((void *)memory->base);
  }
  discharge_(memory);
}

bool eng_bytes_mapped(uintptr_t address, size_t count) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = address & ~(page - 1);
  if (count > UINTPTR_MAX - address - (page - 1)) return false;
  uintptr_t end = (address + count + page - 1) & ~(page - 1);
  /* With MS_ASYNC nothing is written: the call only walks the ranges, and says ENOMEM where one is missing. */
  return msync((void *)first, end - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

uint64_t aclpy_memory_in_use(void) { return atomic_load(&used_); }

void eng_bytes_after_fork(void) {
  atomic_store(&used_, 0);
  for (int i = 0; i < ENG_MAX_DEVICES; i++) {
    atomic_store(&device_used_[i], 0);
    atomic_store(&device_peak_[i], 0);
  }
}
