/* SPDX-License-Identifier: Apache-2.0
 * Live allocations by address, and a short memory of the freed ones for messages.
 *
 * The tree is the C library's own (search.h). Ranges never overlap, so an address compares equal to the one range that
 * holds it. Most look-ups never get here: a thread remembers where it found an address.
 */
#include <inttypes.h>
#include <pthread.h>
#include <search.h>

#include "memory.h"
#include "text.h"
#include "thread.h"

enum { FREED = 256, MOST_SLACK = 64 };

struct freed_ {
  uintptr_t base;
  size_t size;
  int32_t kind;
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static void *tree_;
static struct freed_ freed_[FREED];
static uint64_t frees_;

/* Either side may be a probe: a record with base = address and size = 1. */
static int compare_(const void *left, const void *right) {
  const struct eng_memory *a = left, *b = right;
  if (a->base + a->size <= b->base) return -1;
  if (b->base + b->size <= a->base) return 1;
  return 0;
}

/* Under the lock. */
static struct eng_memory *lookup_(uintptr_t address) {
  struct eng_memory probe;
  probe.base = address;
  probe.size = 1;
  struct eng_memory *const *node = tfind(&probe, &tree_, compare_);
  return node == NULL ? NULL : *node;
}

/* Under the lock. The system has given the same bytes to somebody else, so the program freed them without a word. */
static void evict_(struct eng_memory *stale) {
  tdelete(stale, &tree_, compare_);
  (void)eng_handle_close(ENG_MEMORY, stale->handle, false);
  eng_release(&stale->head);
}

bool eng_registry_add(struct eng_memory *memory) {
  pthread_mutex_lock(&lock_);
  struct eng_memory *const *node = tsearch(memory, &tree_, compare_);
  while (node != NULL && *node != memory && (*node)->kind == ACLPY_MEMORY_REGISTERED &&
         memory->kind != ACLPY_MEMORY_REGISTERED) {
    evict_(*node);
    node = tsearch(memory, &tree_, compare_);
  }
  bool added = node != NULL && *node == memory;
  pthread_mutex_unlock(&lock_);
  return added;
}

bool eng_registry_overlaps(uintptr_t address, size_t size) {
  struct eng_memory probe;
  probe.base = address;
  probe.size = size;
  pthread_mutex_lock(&lock_);
  bool found = tfind(&probe, &tree_, compare_) != NULL;
  pthread_mutex_unlock(&lock_);
  return found;
}

struct eng_memory *eng_registry_take(uintptr_t address, int32_t kind) {
  pthread_mutex_lock(&lock_);
  struct eng_memory *memory = lookup_(address);
  if (memory != NULL && (memory->base != address || memory->kind != kind)) memory = NULL;
  if (memory != NULL) {
    tdelete(memory, &tree_, compare_);
    freed_[frees_++ % FREED] = (struct freed_){.base = memory->base, .size = memory->size, .kind = memory->kind};
    (void)eng_handle_close(ENG_MEMORY, memory->handle, false);
  }
  pthread_mutex_unlock(&lock_);
  return memory;
}

struct eng_memory *eng_memory_find(uintptr_t address) {
  aclpy_handle *hint = &eng_self()->memory_hints[(address * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
  struct eng_memory *memory = eng_handle_acquire(ENG_MEMORY, *hint);
  if (memory != NULL) {
    if (address - memory->base < memory->size) return memory;
    eng_release(&memory->head);
  }
  pthread_mutex_lock(&lock_);
  memory = lookup_(address);
  if (memory != NULL) {
    eng_retain(&memory->head);
    *hint = memory->handle;
  }
  pthread_mutex_unlock(&lock_);
  return memory;
}

bool eng_memory_ends_before(uintptr_t address, size_t *size) {
  if (address < MOST_SLACK) return false;
  struct eng_memory probe;
  probe.base = address - MOST_SLACK;
  probe.size = MOST_SLACK;
  const struct eng_memory *found = NULL;
  pthread_mutex_lock(&lock_);
  /* Hardly ever is one of ours so near; only then is it worth looking byte by byte. */
  if (tfind(&probe, &tree_, compare_) != NULL) {
    for (size_t back = 1; back <= MOST_SLACK && found == NULL; back++) {
      const struct eng_memory *near = lookup_(address - back);
      if (near != NULL && address - near->base < near->reserved) found = near;
    }
  }
  if (found != NULL) *size = found->size;
  pthread_mutex_unlock(&lock_);
  return found != NULL;
}

/* Under the lock. The first one of the runtime's own found in a range; host memory that is registered is the program's.
 */
static const struct eng_memory *own_in_(uintptr_t address, size_t size) {
  struct eng_memory probe;
  probe.base = address;
  probe.size = size;
  struct eng_memory *const *node = size == 0 ? NULL : tfind(&probe, &tree_, compare_);
  if (node == NULL) return NULL;
  const struct eng_memory *found = *node;
  if (found->kind != ACLPY_MEMORY_REGISTERED) return found;
  const uintptr_t end = found->base + found->size;
  const struct eng_memory *before = found->base > address ? own_in_(address, found->base - address) : NULL;
  if (before != NULL || address + size <= end) return before;
  return own_in_(end, address + size - end);
}

bool eng_memory_runs_into(uintptr_t address, size_t span, uintptr_t *base, size_t *size) {
  if (span > UINTPTR_MAX - address) return false;
  pthread_mutex_lock(&lock_);
  const struct eng_memory *found = own_in_(address, span);
  if (found != NULL) {
    *base = found->base;
    *size = found->size;
  }
  pthread_mutex_unlock(&lock_);
  return found != NULL;
}

static const char *kind_name_(int32_t kind) {
  if (kind == ACLPY_MEMORY_REGISTERED) return "registered host";
  return kind == ACLPY_MEMORY_HOST ? "pinned host" : "device";
}

void eng_memory_describe(uintptr_t address, char *text, size_t room) {
  pthread_mutex_lock(&lock_);
  const struct eng_memory *live = lookup_(address);
  if (live != NULL) {
    eng_text(text, room, "0x%" PRIxPTR ", %zu bytes into a live %s allocation of %zu bytes that starts at 0x%" PRIxPTR,
             address, (size_t)(address - live->base), kind_name_(live->kind), live->size, live->base);
    pthread_mutex_unlock(&lock_);
    return;
  }
  uint64_t known = frees_ < FREED ? frees_ : FREED;
  for (uint64_t back = 1; back <= known; back++) {
    const struct freed_ *old = &freed_[(frees_ - back) % FREED];
    if (address - old->base >= old->size) continue;
    eng_text(text, room,
             "0x%" PRIxPTR ", %zu bytes into a %s allocation of %zu bytes that was freed already, %" PRIu64
             " free%s ago",
             address, (size_t)(address - old->base), kind_name_(old->kind), old->size, back, back == 1 ? "" : "s");
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_unlock(&lock_);
  eng_text(text, room, "0x%" PRIxPTR ", which is in no allocation of aclrtMalloc or aclrtMallocHost", address);
}

/* ---- further owners of the bytes (exported views) ---- */

static void *exported_; /* a second tree: these stay findable by their base after aclpy_free */

int32_t aclpy_memory_retain(uintptr_t address) {
  pthread_mutex_lock(&lock_);
  struct eng_memory *memory = lookup_(address);
  bool kept = memory != NULL;
  if (kept && memory->exports == 0) kept = tsearch(memory, &exported_, compare_) != NULL;
  if (kept) {
    memory->exports++;
    eng_retain(&memory->head);
  }
  pthread_mutex_unlock(&lock_);
  return kept ? 0
              : aclpy_fail(107000, "aclpy_memory_retain", "address", "an address in a live allocation", "",
                           "0x%" PRIxPTR, address);
}

int32_t aclpy_memory_release(uintptr_t base) {
  struct eng_memory probe;
  probe.base = base;
  probe.size = 1;
  pthread_mutex_lock(&lock_);
  struct eng_memory *const *node = tfind(&probe, &exported_, compare_);
  struct eng_memory *memory = node == NULL ? NULL : *node;
  if (memory != NULL && --memory->exports == 0) tdelete(memory, &exported_, compare_);
  pthread_mutex_unlock(&lock_);
  if (memory == NULL) {
    return aclpy_fail(107000, "aclpy_memory_release", "base", "an address that aclpy_memory_retain was called with", "",
                      "0x%" PRIxPTR, base);
  }
  eng_release(&memory->head);
  return 0;
}

void eng_registry_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_registry_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  /* The child's copies of the bytes stay readable through pointers it already has; nothing of ours names them. */
  pthread_mutex_init(&lock_, NULL);
  tree_ = NULL;
  exported_ = NULL;
  frees_ = 0;
}
