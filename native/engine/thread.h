/* SPDX-License-Identifier: Apache-2.0
 * What the engine keeps for each thread that calls it.
 */
#ifndef ACLPY_ENGINE_THREAD_H
#define ACLPY_ENGINE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "handle_table.h"
#include "park.h"

struct eng_post;
struct eng_step_place;
struct eng_stream;
struct eng_messages;
struct eng_vendor_cache;

/* A context as a thread remembers it. The epoch tells a primary context from its later reincarnation. */
struct eng_context_slot {
  aclpy_handle handle;
  uint64_t epoch;
};

struct eng_scratch {
  void *data;
  size_t size;
};

enum { ENG_MEMORY_HINTS = 64 };

struct eng_thread {
  struct eng_parker parker;
  struct eng_context_slot explicit_context; /* CreateContext, SetCurrentContext */
  struct eng_context_slot primary_context;  /* SetDevice */
  struct eng_stream *worker_of;             /* the stream whose task this thread is running; NULL elsewhere */
  struct eng_stream *launching;             /* the foreign device's stream whose task is being put there */
  const struct eng_step_place *launching_step;
  struct eng_post *inside; /* the innermost subscribed callback that it is in */
  struct eng_messages *messages;
  struct eng_vendor_cache *vendor_cache;
  struct eng_scratch scratch;
  struct eng_kept_slots executor_slots;
  aclpy_handle last_executor;                  /* of this thread's latest phase 1 */
  aclpy_handle memory_hints[ENG_MEMORY_HINTS]; /* allocation an address was found in, by a hash of the address */
  aclpy_error error;
  uint64_t last_message;        /* number of the message it put down last */
  int32_t message_code;         /* of its next message; 0: by status */
  int32_t runtime_error;        /* aclrtGetLastError */
  int32_t runtime_error_before; /* the one that it replaced: a failed task takes its own back (error.c) */
  int32_t (*pulse)(void *arg);  /* asked now and then while this thread waits; NULL: nobody is */
  void *pulse_arg;
  bool pulsed; /* it has ended a wait */
  bool serves; /* it has subscribed to callbacks, or asked for them */
  bool attached;
};

extern _Thread_local struct eng_thread eng_thread_state;
static inline struct eng_thread *eng_self(void) { return &eng_thread_state; }

/* Arms the clean-up at thread exit; called before anything is hung onto the thread. */
void eng_thread_attach(void);
/* Starts a joinable thread with every signal blocked: signals belong to the host program's threads. */
int eng_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

/* *data becomes at least `size` bytes aligned to 64, grown and kept, or NULL for size 0. False: no memory. */
bool eng_scratch_get(struct eng_scratch *scratch, size_t size, void **data);
/* The same from the calling thread's own scratch memory. */
bool eng_thread_scratch(size_t size, void **data);
void eng_scratch_free(struct eng_scratch *scratch);

int64_t eng_clock_ns(void);
/* The system's number of the calling thread. */
uint32_t eng_thread_number(void);

#endif
