/* SPDX-License-Identifier: Apache-2.0
 * Devices and their contexts: who holds them, which one a thread means, which streams they own.
 */
#ifndef ACLPY_ENGINE_CONTEXT_H
#define ACLPY_ENGINE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handle_table.h"

struct eng_stream;

enum { ENG_SYSPARAMS = 4 };
struct eng_sysparams {
  int64_t value[ENG_SYSPARAMS];
  bool set[ENG_SYSPARAMS];
};

struct eng_context {
  struct eng_object head;
  aclpy_handle handle;
  int32_t device;
  bool primary;
  pthread_mutex_t lock;            /* the rest */
  bool closing;                    /* takes no more streams */
  struct eng_stream *first, *last; /* by creation */
  aclpy_handle default_stream;     /* made when first asked for */
  atomic_bool stop_on_failure;     /* one of its streams is ACL_STOP_ON_FAILURE */
  struct eng_failure *stopped;     /* the failure that stopped it (stream_state.c) */
  struct eng_sysparams sysparams;
};

/* The context a call means, with a reference: `ctx` itself, or for 0 the thread's current one (107002 without one). */
struct eng_context *eng_context_resolve(aclpy_handle ctx, const char *function, int32_t *status);
/* The thread's current context with a reference, or NULL; sets no error. */
struct eng_context *eng_context_current(void);
/* Whether it is that of a context to which the caller has a reference, if only through a stream: a look at two words.
 * False may also mean that somebody has to ask. */
bool eng_context_is_current(const struct eng_context *context);

bool eng_context_add_stream(struct eng_context *context, struct eng_stream *stream); /* false: closing */
void eng_context_remove_stream(struct eng_stream *stream);
aclpy_handle eng_context_default_stream(struct eng_context *context, const char *function, int32_t *status);

enum { ENG_STREAMS_ORDINARY = 1, ENG_STREAMS_FREE_STANDING = 2, ENG_STREAMS_ALL = 3 };
/* The first stream of these sorts after `id`, with a reference; ids only grow, so the walk survives removals. */
struct eng_stream *eng_context_next_stream(struct eng_context *context, int sorts, uint64_t id);
/* Ends streams of the given sorts, waiting for their work or not. */
void eng_context_end_streams(struct eng_context *context, int sorts, bool wait);
/* Ends the handle and every stream; gives back the handle's reference. */
void eng_context_end(struct eng_context *context, bool wait);
struct eng_context *eng_context_new(int32_t device, bool primary, const char *function, int32_t *status);
/* Checks a device number: 107001. */
int32_t eng_device_check(int32_t device, const char *function, const char *argument);

void eng_sysparams_before_fork(void);
void eng_sysparams_after_fork(bool child);
void eng_devices_before_fork(void);
void eng_devices_after_fork(bool child);

#endif
