/* SPDX-License-Identifier: Apache-2.0
 * Allocations: real memory with a record beside it, found by any address inside.
 *
 * A record is referenced by the registry (until aclpy_free), by every queued task that touches the bytes, and by
 * exported views. The bytes go with the last reference.
 */
#ifndef ACLPY_ENGINE_MEMORY_H
#define ACLPY_ENGINE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"
#include "task.h"

struct eng_failure;

struct eng_memory {
  struct eng_object head;
  aclpy_handle handle;
  int32_t kind; /* ACLPY_MEMORY_* */
  int32_t device;
  uintptr_t base;
  size_t size;     /* as asked for */
  size_t reserved; /* rounded: what counts against the limit */
  void *mapping;   /* large ones come straight from the system */
  size_t mapping_size;
  /* Queued tasks by the epoch they came in, so that a waiter can wait for those of the past only (memory_wait.c). */
  _Atomic uint64_t epoch;
  _Atomic int64_t pending[2];
  atomic_int waiters;
  bool waiting;                        /* a waiter is turning the epoch; under the waiters' lock */
  struct eng_failure *_Atomic failure; /* of a task that touched it; first one kept; written under the same lock */
  bool foreign;                        /* its bytes come from the table of a foreign device */
  bool borrowed;                       /* somebody else's: told when it is needed no more */
  bool managed;                        /* aclrtMemAllocManaged */
  _Atomic uint32_t registration;       /* flags of aclrtHostRegister; 0: none */
  uint64_t exports;                    /* owners by aclpy_memory_retain; under the registry's lock */
};

/* The live allocation that holds the address, with a reference, or NULL. */
struct eng_memory *eng_memory_find(uintptr_t address);

/* Whether the address lies in the slack behind a live allocation of *size bytes, which is nobody's memory. */
bool eng_memory_ends_before(uintptr_t address, size_t *size);
/* Whether memory that begins outside of all allocations reaches into one of the runtime's own, *size bytes at *base. */
bool eng_memory_runs_into(uintptr_t address, size_t span, uintptr_t *base, size_t *size);

/* A queued task's hold: a reference and a place in the pending count. */
eng_hold eng_memory_hold(struct eng_memory *memory); /* takes over the caller's reference */
void eng_memory_unhold(eng_hold hold);
static inline struct eng_memory *eng_hold_memory(eng_hold hold) { return (struct eng_memory *)(hold & ~(uintptr_t)1); }
/* Keeps the failure for aclpy_memory_wait. */
void eng_memory_fail(struct eng_memory *memory, struct eng_failure *failure);

/* An allocation of `kind`, or with `bytes` other than 0 a record over memory that is the program's own. NULL: no
 * memory, or the limit is reached. */
struct eng_memory *eng_memory_new(const struct eng_memory *like);
/* Pinned memory that no address leads to: for bytes on their way. The caller's reference is the only one. */
struct eng_memory *eng_memory_stage(int32_t device, size_t size);
/* Waits for the queued tasks that touch it; false: not from inside a task. */
bool eng_memory_settle(struct eng_memory *memory);

/* What is known of an address that is in no live allocation, for messages: "freed already, ...". */
void eng_memory_describe(uintptr_t address, char *text, size_t room);

/* ---- the parts of it, one file each ---- */

/* memory_bytes.c: the bytes themselves and how many there may be. */
bool eng_bytes_alloc(struct eng_memory *memory);
void eng_bytes_free(struct eng_memory *memory);
void eng_bytes_after_fork(void);
/* Whether the process has memory at all of these addresses; says nothing of whose it is. */
bool eng_bytes_mapped(uintptr_t address, size_t count);
uint64_t eng_bytes_limit(int32_t device);
/* Device memory in use, and the most there ever was. */
void eng_bytes_used(int32_t device, uint64_t *now, uint64_t *most);

/* registry.c: live allocations by address, freed ones for messages. */
bool eng_registry_add(struct eng_memory *memory); /* false: no memory, or it overlaps another one */
bool eng_registry_overlaps(uintptr_t address, size_t size);
/* Removes the allocation that starts at `address` and is of this kind: ends its handle and returns it with the
 * registry's reference. NULL otherwise. */
struct eng_memory *eng_registry_take(uintptr_t address, int32_t kind);
void eng_registry_before_fork(void);
void eng_registry_after_fork(bool child);

void eng_memory_wait_before_fork(void);
void eng_memory_wait_after_fork(bool child);

#endif
