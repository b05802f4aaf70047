/* SPDX-License-Identifier: Apache-2.0
 * One table a kind: slots in chunks that double, a free list, and the words that references live in.
 */
#include "handle_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fault.h"
#include "thread.h"

enum { FIRST_CHUNK = 1024, FIRST_CHUNK_BITS = 10, CHUNKS = 22, GENERATION_BITS = 24, HISTORY_BITS = 64 };
#define LAST_GENERATION ((UINT32_C(1) << GENERATION_BITS) - 1)
#define NO_SLOT UINT32_MAX
#define CLOSED ENG_SLOT_CLOSED
#define SHARED ENG_SLOT_SHARED
#define REFERENCES (SHARED - 1)

struct table_ {
  pthread_mutex_t lock; /* free list and growth */
  struct eng_handle_slot *free_head;
  uint32_t used; /* slots ever handed out */
  struct eng_handle_slot *_Atomic chunks[CHUNKS];
};

#define EMPTY_TABLE {.lock = PTHREAD_MUTEX_INITIALIZER}
static struct table_ tables_[ENG_KINDS] = {
    [ENG_CONTEXT] = EMPTY_TABLE,       [ENG_STREAM] = EMPTY_TABLE, [ENG_EVENT] = EMPTY_TABLE,
    [ENG_TENSOR] = EMPTY_TABLE,        [ENG_PLAN] = EMPTY_TABLE,   [ENG_EXECUTOR] = EMPTY_TABLE,
    [ENG_MEMORY] = EMPTY_TABLE,        [ENG_VALUE] = EMPTY_TABLE,  [ENG_DATA_BUFFER] = EMPTY_TABLE,
    [ENG_NOTIFY] = EMPTY_TABLE,        [ENG_GRAPH] = EMPTY_TABLE,  [ENG_TASK_GROUP] = EMPTY_TABLE,
    [ENG_STREAM_CONFIG] = EMPTY_TABLE, [ENG_LATCH] = EMPTY_TABLE,  [ENG_ALLOCATOR] = EMPTY_TABLE,
};

static void (*const dispose_[ENG_KINDS])(void *) = {
    [ENG_CONTEXT] = eng_context_dispose,
    [ENG_STREAM] = eng_stream_dispose,
    [ENG_EVENT] = eng_event_dispose,
    [ENG_TENSOR] = eng_tensor_dispose,
    [ENG_PLAN] = eng_plan_dispose,
    [ENG_EXECUTOR] = eng_executor_dispose,
    [ENG_MEMORY] = eng_memory_dispose,
    [ENG_VALUE] = free,
    [ENG_DATA_BUFFER] = eng_data_buffer_dispose,
    [ENG_NOTIFY] = eng_notify_dispose,
    [ENG_GRAPH] = eng_graph_dispose,
    [ENG_TASK_GROUP] = eng_task_group_dispose,
    [ENG_STREAM_CONFIG] = eng_stream_config_dispose,
    [ENG_LATCH] = eng_latch_dispose,
    [ENG_ALLOCATOR] = eng_allocator_dispose,
};

static inline uint32_t references_(uint64_t word) { return (uint32_t)(word & REFERENCES); }
static inline bool open_(uint64_t word) { return (word & CLOSED) == 0 && references_(word) != 0; }
static inline uint32_t generation_(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint64_t word_(uint32_t generation, uint32_t references) {
  return (uint64_t)generation << 32 | references;
}

static inline struct eng_handle_slot *slot_at_(struct table_ *table, uint32_t index) {
  if (index < FIRST_CHUNK) { /* nearly every time */
    struct eng_handle_slot *first = atomic_load_explicit(&table->chunks[0], memory_order_acquire);
    return first == NULL ? NULL : &first[index];
  }
  uint64_t shifted = (uint64_t)index + FIRST_CHUNK;
  int chunk = 63 - __builtin_clzll(shifted) - FIRST_CHUNK_BITS;
  if (chunk >= CHUNKS) return NULL;
  struct eng_handle_slot *slots = atomic_load_explicit(&table->chunks[chunk], memory_order_acquire);
  return slots == NULL ? NULL : &slots[shifted - ((uint64_t)FIRST_CHUNK << chunk)];
}

static inline struct eng_handle_slot *slot_of_handle_(enum eng_kind kind, aclpy_handle handle, uint32_t *generation) {
  if (handle >> 56 != (uint64_t)kind) return NULL;
  *generation = (uint32_t)(handle >> 32) & LAST_GENERATION;
  return slot_at_(&tables_[kind], (uint32_t)handle);
}

/* Under the table's lock. */
static struct eng_handle_slot *take_slot_(struct table_ *table) {
  struct eng_handle_slot *slot = table->free_head;
  if (slot != NULL) {
    table->free_head = slot->next_free;
    return slot;
  }
  if (table->used == NO_SLOT) return NULL;
  slot = slot_at_(table, table->used);
  if (slot == NULL) {
    uint64_t shifted = (uint64_t)table->used + FIRST_CHUNK;
    int chunk = 63 - __builtin_clzll(shifted) - FIRST_CHUNK_BITS;
    if (chunk >= CHUNKS) return NULL;
    struct eng_handle_slot *slots = calloc((size_t)FIRST_CHUNK << chunk, sizeof(*slots));
    if (slots == NULL) return NULL;
    atomic_store_explicit(&table->chunks[chunk], slots, memory_order_release);
    slot = slot_at_(table, table->used);
  }
  atomic_store_explicit(&slot->word, word_(1, 0), memory_order_relaxed);
  slot->kind = (uint8_t)(table - tables_);
  slot->number = table->used++;
  return slot;
}

static struct eng_handle_slot *free_slot_(enum eng_kind kind) {
  struct table_ *table = &tables_[kind];
  struct eng_kept_slots *kept = &eng_self()->executor_slots;
  if (kind == ENG_EXECUTOR && kept->n > 0) return kept->slot[--kept->n];
  pthread_mutex_lock(&table->lock);
  struct eng_handle_slot *slot = take_slot_(table);
  pthread_mutex_unlock(&table->lock);
  return slot;
}

bool eng_handle_open(enum eng_kind kind, struct eng_object *object, aclpy_handle *handle) {
  return eng_handle_open_noted(kind, object, 0, handle);
}

bool eng_handle_open_noted(enum eng_kind kind, struct eng_object *object, uint64_t note, aclpy_handle *handle) {
  struct eng_handle_slot *slot = free_slot_(kind);
  if (slot == NULL) return false;
  object->slot = slot;
  slot->object = object;
  uint32_t generation = generation_(atomic_load_explicit(&slot->word, memory_order_relaxed));
  *handle = (uint64_t)kind << 56 | (uint64_t)generation << 32 | slot->number;
  atomic_store_explicit(&slot->note, note, memory_order_release);
  atomic_store_explicit(&slot->word, word_(generation, 1), memory_order_release);
  return true;
}

bool eng_handle_spot(enum eng_kind kind, aclpy_handle handle, struct eng_spot *spot) {
  spot->slot = slot_of_handle_(kind, handle, &spot->generation);
  return spot->slot != NULL;
}

void *eng_handle_acquire(enum eng_kind kind, aclpy_handle handle) {
  struct eng_spot spot;
  return eng_handle_spot(kind, handle, &spot) ? eng_spot_acquire(&spot) : NULL;
}

static void remember_(struct eng_handle_slot *slot, bool consumed) {
  uint64_t history = atomic_load_explicit(&slot->history, memory_order_relaxed);
  atomic_store_explicit(&slot->history, history << 1 | (consumed ? 1 : 0), memory_order_relaxed);
}

void *eng_handle_close(enum eng_kind kind, aclpy_handle handle, bool consumed) {
  uint32_t generation;
  struct eng_handle_slot *slot = slot_of_handle_(kind, handle, &generation);
  if (slot == NULL) return NULL;
  uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
  while (generation_(word) == generation && open_(word)) {
    uint64_t closed = word_(generation + 1, references_(word)) | CLOSED;
    if (atomic_compare_exchange_weak_explicit(&slot->word, &word, closed, memory_order_acq_rel, memory_order_acquire)) {
      remember_(slot, consumed);
      return slot->object;
    }
  }
  return NULL;
}

void eng_retain(struct eng_object *object) { atomic_fetch_add_explicit(&object->slot->word, 1, memory_order_relaxed); }

static void list_free_(struct table_ *table, struct eng_handle_slot *const *slots, uint32_t n) {
  pthread_mutex_lock(&table->lock);
  for (uint32_t i = 0; i < n; i++) {
    slots[i]->next_free = table->free_head;
    table->free_head = slots[i];
  }
  pthread_mutex_unlock(&table->lock);
}

/* Nobody has the slot any more, whose generation is that one. */
static void free_slot_of_(struct eng_handle_slot *slot, uint32_t generation) {
  if (generation > LAST_GENERATION) return; /* retired */
  struct eng_kept_slots *kept = &eng_self()->executor_slots;
  if (slot->kind == ENG_EXECUTOR && kept->n < ENG_KEPT_SLOTS) {
    eng_thread_attach();
    kept->slot[kept->n++] = slot;
  } else {
    list_free_(&tables_[slot->kind], &slot, 1);
  }
}

void eng_handle_give_back(struct eng_kept_slots *kept) {
  list_free_(&tables_[ENG_EXECUTOR], kept->slot, kept->n);
  kept->n = 0;
}

/* The last reference is gone; the word was that one before. */
static void end_(struct eng_handle_slot *slot, struct eng_object *object, uint64_t before) {
  dispose_[slot->kind](object);
  free_slot_of_(slot, generation_(before));
}

void eng_release(struct eng_object *object) {
  struct eng_handle_slot *slot = object->slot;
  uint64_t before = atomic_fetch_sub_explicit(&slot->word, 1, memory_order_acq_rel);
  if (references_(before) == 1) end_(slot, object, before);
}

/* ---- taking ---- */

void *eng_handle_take(enum eng_kind kind, aclpy_handle handle) {
  uint32_t generation;
  struct eng_handle_slot *slot = slot_of_handle_(kind, handle, &generation);
  if (slot == NULL) return NULL;
  uint64_t alone = word_(generation, 1);
  if (atomic_load_explicit(&slot->word, memory_order_relaxed) != alone)
    return NULL; /* a failed exchange costs as much */
  if (!atomic_compare_exchange_strong_explicit(&slot->word, &alone, word_(generation + 1, 1) | CLOSED,
                                               memory_order_acq_rel, memory_order_relaxed)) {
    return NULL;
  }
  remember_(slot, true);
  return slot->object;
}

/* Until here nobody else could do anything with the slot: the old handle is dead and the next one closed. */
void eng_handle_put_back(struct eng_object *object) {
  struct eng_handle_slot *slot = object->slot;
  uint64_t history = atomic_load_explicit(&slot->history, memory_order_relaxed);
  atomic_store_explicit(&slot->history, history >> 1, memory_order_relaxed);
  uint32_t generation = generation_(atomic_load_explicit(&slot->word, memory_order_relaxed)) - 1;
  atomic_store_explicit(&slot->word, word_(generation, 1), memory_order_release);
}

void eng_handle_finish(struct eng_object *object) {
  struct eng_handle_slot *slot = object->slot;
  uint32_t generation = generation_(atomic_load_explicit(&slot->word, memory_order_relaxed));
  dispose_[slot->kind](object);
  atomic_store_explicit(&slot->word, word_(generation, 0), memory_order_release);
  free_slot_of_(slot, generation);
}

void eng_handle_share(struct eng_object *object) {
  atomic_fetch_or_explicit(&object->slot->word, SHARED, memory_order_relaxed);
}

enum eng_past eng_handle_past(enum eng_kind kind, aclpy_handle handle) {
  uint32_t generation;
  struct eng_handle_slot *slot = slot_of_handle_(kind, handle, &generation);
  if (slot == NULL || generation == 0) return ENG_PAST_NEVER;
  uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
  uint32_t now = generation_(word);
  if (generation > now) return ENG_PAST_NEVER;
  if (generation == now) return open_(word) ? ENG_PAST_LIVE : ENG_PAST_NEVER;
  if (generation <= slot->inherited) return ENG_PAST_PARENT;
  uint32_t back = now - generation - 1;
  if (back >= HISTORY_BITS) return ENG_PAST_GONE;
  uint64_t history = atomic_load_explicit(&slot->history, memory_order_relaxed);
  return (history >> back & 1) != 0 ? ENG_PAST_CONSUMED : ENG_PAST_DESTROYED;
}

/* Whether it is an open handle of any other kind. */
static bool of_another_kind_(enum eng_kind kind, aclpy_handle handle) {
  const uint64_t other = handle >> 56;
  return other > 0 && other < ENG_KINDS && other != (uint64_t)kind &&
         eng_handle_past((enum eng_kind)other, handle) == ENG_PAST_LIVE;
}

const char *eng_handle_past_text(enum eng_kind kind, aclpy_handle handle) {
  switch (eng_handle_past(kind, handle)) {
    case ENG_PAST_LIVE:
      return "live";
    case ENG_PAST_DESTROYED:
      return "destroyed already";
    case ENG_PAST_CONSUMED:
      return "consumed already";
    case ENG_PAST_GONE:
      return "gone long ago";
    case ENG_PAST_PARENT:
      return "the parent process's: a forked child begins without objects and makes its own";
    case ENG_PAST_NEVER:
    default:
      return of_another_kind_(kind, handle) ? "a live object of another kind" : "never created here";
  }
}

static uint32_t used_(struct table_ *table) {
  pthread_mutex_lock(&table->lock);
  uint32_t used = table->used;
  pthread_mutex_unlock(&table->lock);
  return used;
}

/* Counted when somebody asks, which is seldom, instead of twice in every object's life. */
int64_t eng_handle_open_count(enum eng_kind kind) {
  struct table_ *table = &tables_[kind];
  int64_t count = 0;
  for (uint32_t used = used_(table), index = 0; index < used; index++) {
    count += open_(atomic_load_explicit(&slot_at_(table, index)->word, memory_order_relaxed));
  }
  return count;
}

void eng_handle_before_fork(void) {
  for (int kind = 1; kind < ENG_KINDS; kind++) pthread_mutex_lock(&tables_[kind].lock);
}

/* The objects themselves stay behind, unreachable: threads that no longer exist may have been in the middle of them. */
static void forget_(struct table_ *table) {
  table->free_head = NULL;
  for (uint32_t index = 0; index < table->used; index++) {
    struct eng_handle_slot *slot = slot_at_(table, index);
    uint32_t generation = generation_(atomic_load(&slot->word));
    if (generation >= LAST_GENERATION) continue;
    slot->inherited = generation & LAST_GENERATION;
    atomic_store(&slot->history, 0);
    atomic_store(&slot->word, word_(generation + 1, 0));
    slot->next_free = table->free_head;
    table->free_head = slot;
  }
}

void eng_handle_after_fork(bool child) {
  if (child) eng_self()->executor_slots.n = 0; /* they are in the list of free ones again */
  for (int kind = ENG_KINDS - 1; kind >= 1; kind--) {
    if (child) {
      pthread_mutex_init(&tables_[kind].lock, NULL);
      if (kind != ENG_PLAN) forget_(&tables_[kind]); /* plans are immutable and passive: they stay valid */
    } else {
      pthread_mutex_unlock(&tables_[kind].lock);
    }
  }
}
