/* SPDX-License-Identifier: Apache-2.0
 * Planned failures: every acquisition of memory, of a thread or of an object asks here first.
 */
#ifndef ACLPY_ENGINE_FAULT_H
#define ACLPY_ENGINE_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum eng_resource { ENG_RESOURCE_MEMORY, ENG_RESOURCE_THREAD, ENG_RESOURCE_OBJECT, ENG_RESOURCES };

extern _Atomic int64_t eng_fault_countdown[ENG_RESOURCES];
bool eng_fault_strikes(enum eng_resource what);

/* True: the caller must behave as if the system had refused. One relaxed load when nothing is planned. */
static inline bool eng_fault(enum eng_resource what) {
  return atomic_load_explicit(&eng_fault_countdown[what], memory_order_relaxed) != 0 && eng_fault_strikes(what);
}

/* An object of `size` bytes, not cleared; NULL when there is none. Given back with free(). */
void *eng_object_alloc(size_t size);
/* The same, cleared. */
void *eng_object_zalloc(size_t size);

#endif
