/* SPDX-License-Identifier: Apache-2.0
 * The process as a whole: forking, shutting down, counting what is open.
 *
 * Around a fork every lock that guards something global is held, in one order, so that the child finds it whole. The
 * child has no worker and no helper; it starts fresh: what needed them, and memory, is forgotten, its handles are dead.
 * Plans, layouts and operator numbers are passive and stay. Locks inside single objects are not taken: the child never
 * reaches those objects again.
 */
#include "process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bell.h"
#include "bench.h"
#include "callback.h"
#include "capture.h"
#include "context.h"
#include "engine.h"
#include "exception.h"
#include "foreign.h"
#include "handle_table.h"
#include "hooks.h"
#include "layout.h"
#include "limit.h"
#include "lot.h"
#include "memory.h"
#include "message.h"
#include "operator.h"
#include "park.h"
#include "peer.h"
#include "pool.h"
#include "schedule.h"
#include "stream.h"
#include "stream_state.h"
#include "tensor.h"
#include "thread.h"

struct guard_ {
  void (*before)(void);
  void (*after)(bool child);
};

/* Outer locks first: the order in which the engine itself nests them. */
static const struct guard_ guards_[] = {
    {eng_init_before_fork, eng_init_after_fork},
    {eng_devices_before_fork, eng_devices_after_fork},
    {eng_hooks_before_fork, eng_hooks_after_fork},
    {eng_sysparams_before_fork, eng_sysparams_after_fork},
    {eng_exceptions_before_fork, eng_exceptions_after_fork},
    {eng_tensors_before_fork, eng_tensors_after_fork},
    {eng_layouts_before_fork, eng_layouts_after_fork},
    {eng_operators_before_fork, eng_operators_after_fork},
    {eng_registry_before_fork, eng_registry_after_fork},
    {eng_workers_before_fork, eng_workers_after_fork},
    {eng_memory_wait_before_fork, eng_memory_wait_after_fork},
    {eng_schedule_before_fork, eng_schedule_after_fork},
    {eng_recorder_before_fork, eng_recorder_after_fork},
    {eng_trace_before_fork, eng_trace_after_fork},
    {eng_captures_before_fork, eng_captures_after_fork},
    {eng_reporters_before_fork, eng_reporters_after_fork},
    {eng_stream_listeners_before_fork, eng_stream_listeners_after_fork},
    {eng_limits_before_fork, eng_limits_after_fork},
    {eng_lot_before_fork, eng_lot_after_fork},
    {eng_bell_before_fork, eng_bell_after_fork},
    {eng_pool_before_fork, eng_pool_after_fork},
    {eng_handle_before_fork, eng_handle_after_fork},
    {eng_messages_before_fork, eng_messages_after_fork},
    {eng_park_before_fork, eng_park_after_fork},
};
enum { GUARDS = sizeof(guards_) / sizeof(guards_[0]) };

static void before_fork_(void) {
  for (int i = 0; i < GUARDS; i++) guards_[i].before();
}

static void in_parent_(void) {
  for (int i = GUARDS; i-- > 0;) guards_[i].after(false);
}

static void in_child_(void) {
  for (int i = GUARDS; i-- > 0;) guards_[i].after(true);
  struct eng_thread *self = eng_self();
  self->explicit_context = (struct eng_context_slot){0};
  self->primary_context = (struct eng_context_slot){0};
  self->last_executor = 0;
  eng_bytes_after_fork();
  eng_peer_after_fork();
  eng_foreign_after_fork();
  eng_environment_after_fork();
}

static void guard_(void) {
  if (pthread_atfork(before_fork_, in_parent_, in_child_) != 0) abort(); /* at load time: a fork would not be safe */
}

void eng_fork_guard(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, guard_);
}

__attribute__((constructor)) static void start_(void) { eng_fork_guard(); }

void aclpy_shutdown(void) {
  if (atomic_exchange(&eng_stopping_flag, true)) return;
  eng_park_wake_all();
  eng_schedule_shutdown();
  eng_workers_stop();
  eng_pool_stop();
}

int64_t aclpy_live_count(const char *kind) {
  static const struct {
    const char *name;
    enum eng_kind kind;
  } kinds[] = {{"context", ENG_CONTEXT},   {"stream", ENG_STREAM}, {"event", ENG_EVENT},
               {"memory", ENG_MEMORY},     {"tensor", ENG_TENSOR}, {"plan", ENG_PLAN},
               {"executor", ENG_EXECUTOR}, {"notify", ENG_NOTIFY}, {"graph", ENG_GRAPH}};
  if (kind == NULL) return -1;
  if (strcmp(kind, "callback") == 0) return atomic_load(&eng_posts_open);
  if (strcmp(kind, "task") == 0) return eng_workers_pending() + eng_schedule_pending();
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    if (strcmp(kind, kinds[i].name) == 0) return eng_handle_open_count(kinds[i].kind);
  }
  return -1;
}
