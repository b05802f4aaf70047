/* SPDX-License-Identifier: Apache-2.0
 * A whole shutdown between a waiter's first look, which finds the engine alive, and its wait, which finds nothing left
 * to wait for: the tasks were dropped. That is no success.
 *
 * The linker sends the engine's calls of two functions through the ones below (sanitize.mk), which hold a waiter there.
 */
#include "aclpy_status.h"
#include "check.h"
#include "context.h"
#include "engine.h"
#include "memory.h"

enum { BYTES = 256 };

struct hold {
  struct latch begun, go;
};

/* The thread's own: only waiters are held. */
static _Thread_local struct hold *hold;

static void hold_here(void) {
  if (hold == NULL) return;
  latch_add(&hold->begun);
  latch_wait(&hold->go, 1);
}

struct eng_memory *__real_eng_memory_find(uintptr_t address);
struct eng_memory *__wrap_eng_memory_find(uintptr_t address);
struct eng_memory *__wrap_eng_memory_find(uintptr_t address) {
  hold_here();
  return __real_eng_memory_find(address);
}

int32_t __real_eng_capture_check_context(const struct eng_context *context, const char *function);
int32_t __wrap_eng_capture_check_context(const struct eng_context *context, const char *function);
int32_t __wrap_eng_capture_check_context(const struct eng_context *context, const char *function) {
  hold_here();
  return __real_eng_capture_check_context(context, function);
}

/* As a task that is at work in registered memory: its bytes are not the program's yet. */
static void check_registered_(eng_hold task) {
  CHECK_EQUAL(aclpy_host_unregister(eng_hold_memory(task)->base), ACLPY_ACL_ERROR_UNINITIALIZE);
  eng_memory_unhold(task);
}

struct waiter {
  int32_t (*wait)(uintptr_t memory);
  uintptr_t memory;
  aclpy_handle context;
  struct hold hold;
  int32_t status;
};

static int32_t wait_device(uintptr_t memory) {
  (void)memory;
  return aclpy_synchronize_device(0);
}

static void *waiting(void *arg) {
  struct waiter *self = arg;
  CHECK_EQUAL(aclpy_context_set_current(self->context), 0);
  hold = &self->hold;
  self->status = self->wait(self->memory);
  return NULL;
}

int main(void) {
  static struct park park = PARK, behind = PARK; /* its thread outlives main */
  aclpy_handle context = 0, stream = 0;
  uintptr_t memory = 0;
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_memset_async(0, memory, BYTES, 1, BYTES, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &behind, 0), 0);

  static _Alignas(4096) unsigned char registered[4096];
  CHECK_EQUAL(aclpy_host_register_flags(0, (uintptr_t)registered, sizeof(registered), 2), 0);
  const eng_hold task = eng_memory_hold(eng_memory_find((uintptr_t)registered));
  struct waiter waiters[] = {
      {.wait = aclpy_memory_wait, .memory = memory, .context = context, .hold = {LATCH, LATCH}},
      {.wait = wait_device, .context = context, .hold = {LATCH, LATCH}}}; /* the default stream is idle */
  enum { WAITERS = sizeof(waiters) / sizeof(waiters[0]) };
  pthread_t threads[WAITERS];
  for (int i = 0; i < WAITERS; i++) {
    threads[i] = start_thread(waiting, &waiters[i]);
    latch_wait(&waiters[i].hold.begun, 1);
  }
  aclpy_shutdown();
  CHECK_EQUAL(latch_count(&behind.dropped), 1); /* and what was queued before it */
  check_registered_(task);
  for (int i = 0; i < WAITERS; i++) {
    latch_add(&waiters[i].hold.go);
    join_thread(threads[i]);
    CHECK_EQUAL(waiters[i].status, ACLPY_ACL_ERROR_UNINITIALIZE);
  }
  return 0;
}
