/* SPDX-License-Identifier: Apache-2.0
 * Handles: numbers that name objects, and the references that keep the objects alive.
 *
 * A slot holds one word, generation | references. Opening gives an object its handle and the handle's own reference.
 * Closing moves the generation on, so the handle is dead at once, while the object lives until its last reference
 * goes. Looking up takes no lock: one compare-and-swap checks the generation and takes a reference together. Slots are
 * never given back to the system, and a slot whose generations are used up is retired, so a dead handle stays dead.
 *
 * Locked instructions are most of what a short call costs, so there are ways round them: a slot's note, which is read
 * without a reference; an executor that nobody else holds, which is taken as a whole; free slots that a thread keeps.
 */
#ifndef ACLPY_ENGINE_HANDLE_TABLE_H
#define ACLPY_ENGINE_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

enum eng_kind {
  ENG_CONTEXT = 1,
  ENG_STREAM,
  ENG_EVENT,
  ENG_TENSOR,
  ENG_PLAN,
  ENG_EXECUTOR,
  ENG_MEMORY,
  ENG_VALUE,
  ENG_DATA_BUFFER,
  ENG_NOTIFY,
  ENG_GRAPH,
  ENG_TASK_GROUP,
  ENG_STREAM_CONFIG,
  ENG_LATCH,
  ENG_ALLOCATOR,
  ENG_KINDS
};

struct eng_object;

/* Of a table; stays where it is for ever. Only handle_table.c writes there, but for notes. */
struct eng_handle_slot {
  _Atomic uint64_t word;    /* generation << 32 | marks | references */
  _Atomic uint64_t history; /* bit i: how the (i+1)-th last generation ended, 1 = consumed */
  _Atomic uint64_t note;
  struct eng_object *object;
  struct eng_handle_slot *next_free;
  uint32_t kind : 8, inherited : 24; /* the last generation that the parent process had; 0 where there is none */
  uint32_t number;
};

/* First member of every object that has a handle. */
struct eng_object {
  struct eng_handle_slot *slot;
};

/* Why a handle names nothing. */
enum eng_past { ENG_PAST_LIVE, ENG_PAST_NEVER, ENG_PAST_DESTROYED, ENG_PAST_CONSUMED, ENG_PAST_GONE, ENG_PAST_PARENT };

/* False: no memory; the object is untouched. */
bool eng_handle_open(enum eng_kind kind, struct eng_object *object, aclpy_handle *handle);
/* The same with a first note, which is there before the handle is. */
bool eng_handle_open_noted(enum eng_kind kind, struct eng_object *object, uint64_t note, aclpy_handle *handle);
/* The object with one more reference, or NULL for anything that is not a live handle of this kind. */
void *eng_handle_acquire(enum eng_kind kind, aclpy_handle handle);
/* Ends the handle. The caller gets the handle's own reference; NULL when somebody else was first. */
void *eng_handle_close(enum eng_kind kind, aclpy_handle handle, bool consumed);
enum eng_past eng_handle_past(enum eng_kind kind, aclpy_handle handle);
/* "destroyed already", "never a handle of this kind", ... for messages. */
const char *eng_handle_past_text(enum eng_kind kind, aclpy_handle handle);

void eng_retain(struct eng_object *object);
void eng_release(struct eng_object *object);

/* ---- spots: handles that are asked for more than once ---- */

/* Where a handle's slot is, and the generation that it stands for. */
struct eng_spot {
  struct eng_handle_slot *slot;
  uint32_t generation;
};

/* False for what never was a handle of this kind; true says nothing about its being alive. */
bool eng_handle_spot(enum eng_kind kind, aclpy_handle handle, struct eng_spot *spot);

/* Marks of a slot's word: the handle that this generation would have is not given out yet, while the object of the
 * last one lives; the object cannot be taken. */
#define ENG_SLOT_CLOSED (UINT64_C(1) << 31)
#define ENG_SLOT_SHARED (UINT64_C(1) << 30)

static inline bool eng_word_lives(uint64_t word, uint32_t generation) {
  return (uint32_t)(word >> 32) == generation && (word & ENG_SLOT_CLOSED) == 0 && (word & (ENG_SLOT_SHARED - 1)) != 0;
}
static inline bool eng_spot_lives(const struct eng_spot *spot) {
  return eng_word_lives(atomic_load_explicit(&spot->slot->word, memory_order_acquire), spot->generation);
}
/* As eng_handle_acquire. */
static inline void *eng_spot_acquire(const struct eng_spot *spot) {
  struct eng_handle_slot *slot = spot->slot;
  uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
  while (eng_word_lives(word, spot->generation)) {
    if (atomic_compare_exchange_weak_explicit(&slot->word, &word, word + 1, memory_order_acq_rel,
                                              memory_order_acquire)) {
      return slot->object;
    }
  }
  return NULL;
}

/* The note: a word of the slot, which stays when the object goes. With a spot alone it is read between two looks at
 * whether that lives. */
static inline _Atomic uint64_t *eng_handle_note(const struct eng_object *object) { return &object->slot->note; }

/* ---- taking an object that nobody else holds ---- */

/* Ends the handle as eng_handle_close with `consumed` does, if its own reference is the only one and it may be taken:
 * then the object is the caller's alone. NULL otherwise, which says nothing about the handle. */
void *eng_handle_take(enum eng_kind kind, aclpy_handle handle);
/* The handle is as it was before. */
void eng_handle_put_back(struct eng_object *object);
/* Disposes of a taken object. */
void eng_handle_finish(struct eng_object *object);
/* From now on it cannot be taken. */
void eng_handle_share(struct eng_object *object);

/* Free slots that a thread keeps; it gives them back when it ends. */
enum { ENG_KEPT_SLOTS = 32 };
struct eng_kept_slots {
  uint32_t n;
  struct eng_handle_slot *slot[ENG_KEPT_SLOTS];
};
void eng_handle_give_back(struct eng_kept_slots *kept);

int64_t eng_handle_open_count(enum eng_kind kind);

void eng_handle_before_fork(void);
/* In the child, the handles of kinds that need their threads or their memory are dead. */
void eng_handle_after_fork(bool child);

/* What happens when the last reference of an object goes; each in the file of its noun. */
void eng_context_dispose(void *object);
void eng_stream_dispose(void *object);
void eng_event_dispose(void *object);
void eng_tensor_dispose(void *object);
void eng_plan_dispose(void *object);
void eng_executor_dispose(void *object);
void eng_memory_dispose(void *object);
void eng_notify_dispose(void *object);
void eng_graph_dispose(void *object);
void eng_task_group_dispose(void *object);
void eng_stream_config_dispose(void *object);
void eng_latch_dispose(void *object);
void eng_allocator_dispose(void *object);
void eng_data_buffer_dispose(void *object);

#endif
