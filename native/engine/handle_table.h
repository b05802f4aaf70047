/* SPDX-License-Identifier: Apache-2.0
 * Handles: numbers that name objects, and the references that keep the objects alive.
 *
 * A slot holds one word, generation | references. Opening gives an object its handle and the handle's own reference.
 * Closing moves the generation on, so the handle is dead at once, while the object lives until its last reference
 * goes. Looking up takes no lock: one compare-and-swap checks the generation and takes a reference together. Slots are
 * never given back to the system, and a slot whose generations are used up is retired, so a dead handle stays dead.
 */
#ifndef ACLPY_ENGINE_HANDLE_TABLE_H
#define ACLPY_ENGINE_HANDLE_TABLE_H

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

/* First member of every object that has a handle. */
struct eng_object {
  uint32_t kind;
  uint32_t slot;
};

/* Why a handle names nothing. */
enum eng_past { ENG_PAST_LIVE, ENG_PAST_NEVER, ENG_PAST_DESTROYED, ENG_PAST_CONSUMED, ENG_PAST_GONE };

/* False: no memory; the object is untouched. */
bool eng_handle_open(enum eng_kind kind, struct eng_object *object, aclpy_handle *handle);
/* The object with one more reference, or NULL for anything that is not a live handle of this kind. */
void *eng_handle_acquire(enum eng_kind kind, aclpy_handle handle);
/* Ends the handle. The caller gets the handle's own reference; NULL when somebody else was first. */
void *eng_handle_close(enum eng_kind kind, aclpy_handle handle, bool consumed);
enum eng_past eng_handle_past(enum eng_kind kind, aclpy_handle handle);
/* "destroyed already", "never a handle of this kind", ... for messages. */
const char *eng_handle_past_text(enum eng_kind kind, aclpy_handle handle);

void eng_retain(struct eng_object *object);
void eng_release(struct eng_object *object);

int64_t eng_handle_open_count(enum eng_kind kind);
/* Calls `visit` for every open object of the kind, with a reference held meanwhile. */
void eng_handle_each(enum eng_kind kind, void (*visit)(void *object, void *arg), void *arg);

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
