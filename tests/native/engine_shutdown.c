/* SPDX-License-Identifier: Apache-2.0
 * Shutting down with work pending: waits end, tasks are dropped, kernels finish, nothing hangs.
 *
 * Every scenario needs a process of its own: the program starts itself once for each.
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order_support.h"

enum { N = 64, BYTES = N * 4, PATIENCE_SECONDS = 60 };

static aclpy_handle context;

/* ---- a host function that never returns ---- */

struct waiter {
  int32_t (*wait)(struct waiter *self);
  aclpy_handle handle;
  uintptr_t address;
  struct latch begun;
  int32_t status;
};

static int32_t wait_stream(struct waiter *self) { return aclpy_stream_synchronize(0, self->handle); }
static int32_t wait_event(struct waiter *self) { return aclpy_event_synchronize(self->handle); }
static int32_t wait_memory(struct waiter *self) { return aclpy_memory_wait(self->address); }
static int32_t wait_device(struct waiter *self) {
  (void)self;
  return aclpy_synchronize_device(0);
}
static int32_t destroy_waited_stream(struct waiter *self) { return aclpy_stream_destroy(0, self->handle); }

static void *waiting(void *arg) {
  struct waiter *self = arg;
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  latch_add(&self->begun);
  self->status = self->wait(self);
  return NULL;
}

static void parked_forever(void) {
  static struct park park = PARK, behind = PARK; /* static: the parked thread outlives this function */
  aclpy_handle stream = new_stream(), blocked = new_stream(), idle = new_stream(), ending = new_stream();
  aclpy_handle flag = 0, event = 0;
  uintptr_t memory = 0;
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_WITH_FLAG, 1, &flag), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  CHECK_EQUAL(aclpy_memset_async(0, memory, BYTES, 1, BYTES, idle), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, idle), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  for (int i = 0; i < 1000; i++) CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &behind, 0), 0);
  CHECK_EQUAL(aclpy_memset_async(0, memory, BYTES, 2, BYTES, stream), 0);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
  CHECK_EQUAL(aclpy_event_wait(0, blocked, flag), 0); /* never recorded */
  for (int i = 0; i < 100; i++) CHECK_EQUAL(aclpy_submit(0, blocked, NULL, park_run, park_drop, &behind, 0), 0);
  CHECK_EQUAL(aclpy_event_wait(0, ending, flag), 0);
  struct waiter waiters[] = {{.wait = wait_stream, .handle = stream, .begun = LATCH},
                             {.wait = wait_stream, .handle = blocked, .begun = LATCH},
                             {.wait = wait_event, .handle = event, .begun = LATCH},
                             {.wait = wait_memory, .address = memory, .begun = LATCH},
                             {.wait = wait_memory, .address = memory, .begun = LATCH},
                             {.wait = wait_device, .begun = LATCH},
                             {.wait = destroy_waited_stream, .handle = ending, .begun = LATCH}};
  enum { WAITERS = sizeof(waiters) / sizeof(waiters[0]) };
  pthread_t threads[WAITERS];
  for (int i = 0; i < WAITERS; i++) threads[i] = start_thread(waiting, &waiters[i]);
  for (int i = 0; i < WAITERS; i++) latch_wait(&waiters[i].begun, 1);
  aclpy_shutdown();
  for (int i = 0; i < WAITERS; i++) {
    join_thread(threads[i]);
    CHECK_EQUAL(waiters[i].status, ACLPY_ACL_ERROR_UNINITIALIZE);
  }
  CHECK_EQUAL(latch_count(&behind.begun), 0); /* dropped, not run */
  CHECK_EQUAL(latch_count(&behind.dropped), 1100);
  CHECK_EQUAL(latch_count(&park.dropped), 0); /* still inside */
  CHECK_EQUAL(((unsigned char *)memory)[0], 1);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &behind, 0), ACLPY_ACL_ERROR_UNINITIALIZE);
  CHECK_EQUAL(latch_count(&behind.dropped), 1101);
  aclpy_shutdown();
}

/* ---- a host function that returns after the shutdown ---- */

static void parked_and_let_go_late(void) {
  static struct park park = PARK, behind = PARK;
  aclpy_handle stream = new_stream();
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  latch_wait(&park.begun, 1);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &behind, 0), 0);
  aclpy_shutdown();
  CHECK_EQUAL(latch_count(&behind.dropped), 1);
  latch_add(&park.go);
  latch_wait(&park.dropped, 1);
  CHECK_EQUAL(latch_count(&behind.dropped), 1);
  CHECK_EQUAL(latch_count(&behind.begun), 0);
}

/* ---- our own code finishes ---- */

static struct latch kernel_begun = LATCH;
static atomic_int kernels_done;

static void slow_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)pass, (void)scratch;
  latch_add(&kernel_begun);
  float *out = (float *)args->addr[0];
  for (int repeat = 0; repeat < 2000; repeat++) {
    for (int64_t i = begin; i < end; i++) out[i] = out[i] * 0.5f + (float)repeat;
  }
  atomic_fetch_add(&kernels_done, 1);
}

static aclpy_handle slow_plan(uint32_t op) {
  static aclpy_slot_desc slot = {"out", 0, BYTES, ACLPY_SLOT_WRITTEN, NULL};
  aclpy_step_desc steps[3];
  for (int i = 0; i < 3; i++) {
    steps[i] = (aclpy_step_desc){
        .run = slow_run,
        .shape = {.passes = 1, .items = {N}, .grain = {N}, .cost_ns = 1e6},
        .n_operands = 1,
    };
  }
  aclpy_plan_desc desc = {
      .op = op, .flags = ACLPY_PLAN_REPEATABLE, .n_slots = 1, .slots = &slot, .n_steps = 3, .steps = steps};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static void kernels_finish(void) {
  uint32_t op = aclpy_operator_id("aclnnSlow");
  const int64_t dims[1] = {N};
  aclpy_handle stream = new_stream(), plan = slow_plan(op), tensor = 0, executor = 0;
  uintptr_t memory = 0;
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  memset((void *)memory, 0, BYTES);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, NULL), 0);
  CHECK_EQUAL(aclpy_executor_create(plan, &tensor, 1, &executor), 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 0);
  for (int i = 0; i < 100; i++) CHECK_EQUAL(aclpy_execute(op, 0, 0, executor, stream), 0);
  latch_wait(&kernel_begun, 1);
  aclpy_shutdown();
  CHECK_EQUAL(atomic_load(&kernels_done), latch_count(&kernel_begun)); /* none is left half done */
  int done = atomic_load(&kernels_done);
  CHECK_EQUAL(aclpy_execute(op, 0, 0, executor, stream), ACLPY_ACL_ERROR_UNINITIALIZE);
  CHECK_EQUAL(atomic_load(&kernels_done), done);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
}

/* ---- threads that go on submitting ---- */

static atomic_long submitted, dropped;

static int32_t quick(void *arg) {
  (void)arg;
  return 0;
}

static void count_drop(void *arg) {
  (void)arg;
  atomic_fetch_add(&dropped, 1);
}

static void *submitting(void *arg) {
  aclpy_handle stream = *(aclpy_handle *)arg;
  if (aclpy_context_set_current(context) == ACLPY_ACL_ERROR_UNINITIALIZE) return NULL; /* the others were enough */
  for (;;) {
    atomic_fetch_add(&submitted, 1);
    int32_t status = aclpy_submit(0, stream, NULL, quick, count_drop, NULL, 0);
    if (status == ACLPY_ACL_ERROR_UNINITIALIZE) return NULL;
    CHECK_EQUAL(status, 0);
  }
}

static void submitters_are_turned_away(void) {
  aclpy_handle streams[2] = {new_stream(), new_stream()};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(submitting, &streams[i % 2]);
  while (atomic_load(&submitted) < 2000) CHECK_EQUAL(aclpy_stream_synchronize(0, streams[0]), 0);
  aclpy_shutdown();
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  /* A worker within `quick`, foreign code, is not waited for: it drops its task when it comes back. */
  while (atomic_load(&dropped) < atomic_load(&submitted)) sched_yield();
  CHECK_EQUAL(atomic_load(&dropped), atomic_load(&submitted)); /* each exactly once */
}

static void every_call_fails_cleanly(void) {
  aclpy_handle stream = new_stream(), event = 0, handle = 0;
  uintptr_t memory = 0;
  int32_t number;
  CHECK_EQUAL(aclpy_malloc(0, 64, 0, &memory), 0);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  aclpy_shutdown();
  enum { GONE = ACLPY_ACL_ERROR_UNINITIALIZE };
  CHECK_EQUAL(aclpy_init(NULL), GONE);
  CHECK_EQUAL(aclpy_set_device(0), GONE);
  CHECK_EQUAL(aclpy_reset_device(0), GONE);
  CHECK_EQUAL(aclpy_get_device(&number), GONE);
  CHECK_EQUAL(aclpy_context_create(0, &handle), GONE);
  CHECK_EQUAL(aclpy_context_destroy(context), GONE);
  CHECK_EQUAL(aclpy_context_set_current(context), GONE);
  CHECK_EQUAL(aclpy_primary_retain(0, &handle), GONE);
  CHECK_EQUAL(aclpy_primary_release(context), GONE);
  CHECK_EQUAL(aclpy_synchronize_device(0), GONE);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &handle), GONE);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), GONE);
  CHECK_EQUAL(aclpy_stream_release(stream), GONE);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), GONE);
  CHECK_EQUAL(aclpy_event_record(0, event, stream), GONE);
  CHECK_EQUAL(aclpy_event_destroy(event), GONE);
  CHECK_EQUAL(aclpy_malloc(0, 64, 0, &memory), GONE);
  CHECK_EQUAL(aclpy_free(memory), GONE);
  CHECK_EQUAL(aclpy_memory_wait(memory), GONE);
  CHECK_EQUAL(aclpy_memcpy(0, memory, 8, memory + 8, 8, 3), GONE);
  CHECK_EQUAL(aclpy_tensor_create(NULL, 0, 0, NULL, 0, 2, NULL, 0, 0, &handle, NULL), GONE);
  CHECK_EQUAL(aclpy_executor_new(1, 0, 0, 0, 0), 0);
  CHECK_CONTAINS(aclpy_error_last()->got, "shut down");
}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {{"parked_forever", parked_forever},
                 {"parked_and_let_go_late", parked_and_let_go_late},
                 {"kernels_finish", kernels_finish},
                 {"submitters_are_turned_away", submitters_are_turned_away},
                 {"every_call_fails_cleanly", every_call_fails_cleanly}};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
    if (argc > 1) {
      if (strcmp(argv[1], scenarios[i].name) != 0) continue;
      alarm(PATIENCE_SECONDS);
      CHECK_EQUAL(aclpy_set_device(0), 0);
      CHECK_EQUAL(aclpy_context_get_current(&context), 0);
      scenarios[i].run();
      return 0;
    }
    fprintf(stderr, "  %s\n", scenarios[i].name);
    char *const arguments[] = {argv[0], (char *)(uintptr_t)scenarios[i].name, NULL};
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      execv("/proc/self/exe", arguments);
      _exit(127);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 0);
  }
  return 0;
}
