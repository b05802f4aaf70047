/* SPDX-License-Identifier: Apache-2.0
 * Launches that the engine makes by itself through a device's driver: the right words in the right context, failures,
 * scratch memory; and a worker that nobody wakes, which lets go of what is done all the same.
 */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreign_support.h"
#include "fork_support.h"
#include "order_support.h"

enum { BYTES = 64, THREADS = 4, ROUNDS = SANITIZED ? 300 : 3000, SMALL = 64, LARGE = 1024, SHARED = 4096 };

static uint32_t op_id;
static int32_t device, second;
static aclpy_handle context;

/* ---- an operator: out[0] = in[0] + field, and with scratch memory by way of that ---- */

static atomic_uint last_blocks, last_threads;

static void add(const int64_t *words, unsigned blocks, unsigned threads) {
  int64_t *scratch = (int64_t *)words[2], sum = *(const int64_t *)words[0] + words[3];
  if (scratch != NULL) {
    *scratch = sum;
    sum = *scratch;
  }
  *(int64_t *)words[1] = sum;
  atomic_store(&last_blocks, blocks);
  atomic_store(&last_threads, threads);
}

/* The token: the field in the lowest 8 bits, bytes of scratch memory above. */
static int32_t call(uint64_t token, unsigned char *const *addr) {
  int32_t index = -1;
  uint64_t stream = aclpy_launching(&index), scratch = token >> 8;
  CHECK(stream != 0);
  struct queue *queue = queue_of(index, stream);
  struct put what = {.kernel = add, .blocks = 7, .threads = 32};
  const int64_t field = (int64_t)(token & 255), words[4] = {-1, -1, -1, field};
  const int32_t places[3] = {1, 2, 3};
  what.words[0] = (int64_t)(uintptr_t)addr[0];
  what.words[1] = (int64_t)(uintptr_t)addr[1];
  what.words[2] = scratch == 0 ? 0 : (int64_t)(uintptr_t)queue->scratch;
  what.words[3] = field;
  put_work(queue, &what);
  atomic_fetch_add(&calls_made, 1);
  aclpy_launch_kernel kernel = {NULL, what.blocks, what.threads, SHARED};
  memcpy(&kernel.kernel, &what.kernel, sizeof kernel.kernel);
  aclpy_launching_queue(queue, (uintptr_t)queue->scratch, scratch);
  aclpy_launch_desc desc = {.n_kernels = 1,
                            .kernels = &kernel,
                            .n_words = 4,
                            .words = words,
                            .n_places = 3,
                            .places = places,
                            .scratch_bytes = scratch};
  CHECK_EQUAL(aclpy_launching_step(&desc), 1);
  return 0;
}

static aclpy_handle plan_of(int64_t field, uint64_t scratch) {
  static const aclpy_slot_desc slots[2] = {{"self", 0, 8, 0, NULL}, {"out", 0, 8, ACLPY_SLOT_WRITTEN, NULL}};
  aclpy_step_desc step = {.call = call,
                          .call_token = (uint64_t)field | scratch << 8,
                          .shape = {.cost_ns = 1e9},
                          .n_operands = 2,
                          .operands = {{0, 0}, {1, 0}}};
  aclpy_plan_desc desc = {
      .op = op_id, .flags = ACLPY_PLAN_FOREIGN, .n_slots = 2, .slots = slots, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

struct pair {
  uintptr_t address;
  aclpy_handle tensor[2]; /* both in one allocation */
};

static struct pair make_pair(int64_t value) {
  const int64_t dims[1] = {1};
  struct pair pair = {0};
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &pair.address), 0);
  for (int i = 0; i < 2; i++) {
    ((int64_t *)pair.address)[i] = i == 0 ? value : -1;
    uintptr_t at = pair.address + (uintptr_t)i * 8;
    CHECK_EQUAL(aclpy_tensor_create(dims, 1, 9, NULL, 0, 2, dims, 1, at, &pair.tensor[i], NULL), 0);
  }
  return pair;
}

static void end_pair(struct pair *pair) {
  for (int i = 0; i < 2; i++) CHECK_EQUAL(aclpy_tensor_destroy(pair->tensor[i]), 0);
  CHECK_EQUAL(aclpy_free(pair->address), 0);
}

static int64_t result(const struct pair *pair) { return ((const int64_t *)pair->address)[1]; }

static void run(aclpy_handle plan, const struct pair *pair, aclpy_handle stream) {
  aclpy_handle executor = aclpy_executor_new(plan, pair->tensor[0], pair->tensor[1], 0, 0);
  CHECK(executor != 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, stream), 0);
}

static void synchronize(aclpy_handle stream) { CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0); }

/* ---- what is launched ---- */

static void one_call_then_the_driver(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(5, 0);
  struct pair first = make_pair(10), other = make_pair(20);
  int calls = atomic_load(&calls_made), launches = atomic_load(&launched);
  run(plan, &first, stream);
  for (int i = 0; i < 3; i++) run(plan, &other, stream);
  synchronize(stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 1);
  CHECK_EQUAL(atomic_load(&launched), launches + 3);
  CHECK_EQUAL(atomic_load(&last_blocks), 7);
  CHECK_EQUAL(atomic_load(&last_threads), 32);
  CHECK_EQUAL(atomic_load(&last_shared), SHARED);
  CHECK_EQUAL(result(&first), 15);
  CHECK_EQUAL(result(&other), 25);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&first);
  end_pair(&other);
  destroy_stream(stream);
}

static void contexts_stay_the_programs(void) {
  aclpy_handle plan = plan_of(1, 0), there = 0;
  int calls = atomic_load(&calls_made);
  void *const mine[] = {NULL, &contexts[DEVICES], &contexts[0], &contexts[1]};
  for (int32_t on = 0; on < DEVICES; on++) {
    if (on == 1) CHECK_EQUAL(aclpy_context_create(second, &there), 0);
    aclpy_handle stream = new_stream();
    struct pair pair = make_pair(1);
    run(plan, &pair, stream);
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) {
      current = mine[i];
      run(plan, &pair, stream);
      CHECK(current == mine[i]);
      synchronize(stream);
      CHECK(current == mine[i]);
    }
    end_pair(&pair);
    destroy_stream(stream);
  }
  CHECK_EQUAL(atomic_load(&calls_made), calls + DEVICES); /* each device has kernels of its own */
  current = NULL;
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  CHECK_EQUAL(aclpy_context_destroy(there), 0);
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
}

static void failures_are_statuses(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0);
  struct pair pair = make_pair(1);
  run(plan, &pair, stream);
  synchronize(stream);
  const char *const said[] = {"launch: number 719", "launch: number 719", "synchronize: number 719"};
  atomic_int *const at[] = {&fail_launch, &fail_context, &fail_synchronize};
  for (int i = 0; i < 3; i++) {
    atomic_store(at[i], 719);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507015);
    CHECK_CONTAINS(aclpy_error_last()->got, said[i]);
    run(plan, &pair, stream);
    synchronize(stream);
  }
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
}

static void scratch_that_is_there_serves(void) {
  aclpy_handle stream = new_stream(), small = plan_of(1, SMALL), large = plan_of(2, LARGE);
  struct pair pair = make_pair(1);
  int calls = atomic_load(&calls_made);
  run(small, &pair, stream);
  run(small, &pair, stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 1);
  run(large, &pair, stream);
  run(large, &pair, stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 2);
  synchronize(stream);               /* nothing orders it with the next, which writes where it wrote */
  aclpy_handle fresh = new_stream(); /* which has none */
  run(large, &pair, fresh);
  run(large, &pair, fresh);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 3);
  synchronize(fresh);
  CHECK_EQUAL(result(&pair), 3);
  CHECK_EQUAL(aclpy_plan_release(small), 0);
  CHECK_EQUAL(aclpy_plan_release(large), 0);
  end_pair(&pair);
  destroy_stream(stream);
  destroy_stream(fresh);
}

static void senseless_descriptions_are_not_kept(void) {
  aclpy_launch_desc desc = {.n_words = 1};
  CHECK_EQUAL(aclpy_launching_step(&desc), 0); /* no step */
  aclpy_launching_queue(NULL, 0, 0);
  CHECK_EQUAL(aclpy_device_driver_install(NULL), 100000);
  CHECK_EQUAL(aclpy_device_driver_install(&driver), 100000); /* there is one */
  CHECK_EQUAL(aclpy_device_context(DEVICES, &contexts[0]), 100000);
  CHECK_EQUAL(aclpy_device_context(0, NULL), 100000);
}

static void another_table_begins_anew(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0);
  struct pair pair = make_pair(1);
  int calls = atomic_load(&calls_made);
  run(plan, &pair, stream);
  run(plan, &pair, stream);
  synchronize(stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 1);
  install_table(false);
  for (int i = 0; i < 2; i++) run(plan, &pair, stream);
  synchronize(stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 3);
  install_table(true);
  for (int i = 0; i < 2; i++) run(plan, &pair, stream);
  synchronize(stream);
  CHECK_EQUAL(atomic_load(&calls_made), calls + 4);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
}

static void events_go_the_short_way(void) {
  aclpy_handle stream = new_stream(), other = new_stream(), plan = plan_of(1, 0), event = 0;
  struct pair pair = make_pair(1);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  run(plan, &pair, stream);
  synchronize(stream); /* no event yet orders the two streams, and both write the pair */
  run(plan, &pair, other);
  synchronize(other);
  int records = atomic_load(&driver_records);
  for (int i = 0; i < 8; i++) { /* the first ones have no event of the device's to use again */
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
    CHECK_EQUAL(aclpy_event_wait(0, other, event), 0);
    run(plan, &pair, other);
    synchronize(other);
    synchronize(stream);
  }
  CHECK(atomic_load(&driver_records) > records);
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
  destroy_stream(other);
}

/* ---- the worker ---- */

static int32_t count_up(void *arg) {
  ++*(int64_t *)arg;
  return 0;
}

static void what_is_done_is_let_go_of(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0);
  for (int round = 0; round < 20; round++) {
    struct pair pair = make_pair(1);
    int before = atomic_load(&releases);
    for (int i = 0; i < 10; i++) run(plan, &pair, stream);
    end_pair(&pair);
    while (atomic_load(&releases) == before) sched_yield(); /* nobody waits for the stream, and yet */
  }
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  destroy_stream(stream);
}

static void who_asks_hears(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0), event = 0;
  struct pair pair = make_pair(1);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &event), 0);
  for (int round = 0; round < 20; round++) {
    int32_t state = 1, recorded = 0;
    run(plan, &pair, stream);
    while (state != 0) CHECK_EQUAL(aclpy_stream_query(0, stream, &state), 0);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_memory_wait(pair.address), 0);
    CHECK_EQUAL(result(&pair), 2);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
    while (recorded == 0) CHECK_EQUAL(aclpy_event_query(event, &recorded), 0);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_event_record(0, event, stream), 0);
    CHECK_EQUAL(aclpy_event_synchronize(event), 0);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_stream_synchronize_with_timeout(0, stream, 60000), 0);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  }
  CHECK_EQUAL(aclpy_event_destroy(event), 0);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
}

static void host_functions_keep_their_place(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(0, 0);
  struct pair pair = make_pair(0);
  for (int round = 0; round < ROUNDS / 10; round++) {
    run(plan, &pair, stream);
    run(plan, &pair, stream);
    CHECK_EQUAL(aclpy_submit(0, stream, "count", count_up, NULL, (void *)pair.address, 0), 0);
    run(plan, &pair, stream);
    if (round % 7 == 0) synchronize(stream);
  }
  synchronize(stream);
  CHECK_EQUAL(result(&pair), ROUNDS / 10);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
}

/* ---- many at once ---- */

static aclpy_handle shared_plan, shared_stream;

static void *launch_and_wait(void *arg) {
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  int64_t value = (int64_t)(intptr_t)arg;
  struct pair pair = make_pair(value), ours = make_pair(value + 1); /* streams are not in order with each other */
  aclpy_handle mine = new_stream();
  for (int round = 0; round < ROUNDS; round++) {
    if (round % 3 == 0) run(shared_plan, &ours, shared_stream);
    run(shared_plan, &pair, mine);
    if (round % 16 == 0) synchronize(shared_stream);
    if (round % 5 == 0) synchronize(mine);
    if (round % 64 == 63) { /* with work that nobody has waited for */
      run(shared_plan, &pair, mine);
      destroy_stream(mine);
      mine = new_stream();
    }
  }
  synchronize(shared_stream);
  synchronize(mine);
  CHECK_EQUAL(result(&pair), value + 9);
  CHECK_EQUAL(result(&ours), value + 10);
  end_pair(&pair);
  end_pair(&ours);
  destroy_stream(mine);
  return NULL;
}

static void threads_share_a_step(void) {
  pthread_t threads[THREADS];
  shared_plan = plan_of(9, SMALL);
  shared_stream = new_stream();
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(launch_and_wait, (void *)(intptr_t)(100 * i));
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_plan_release(shared_plan), 0);
  destroy_stream(shared_stream);
}

/* ---- ends ---- */

static void a_fork_has_no_device(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0);
  struct pair pair = make_pair(1);
  for (int i = 0; i < 3; i++) run(plan, &pair, stream);
  synchronize(stream);
  int launches = atomic_load(&launched);
  pid_t child = fork_at_rest();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQUAL(aclpy_foreign_count(), 0);
    CHECK_EQUAL(atomic_load(&launched), launches);
    _exit(0);
  }
  int state = -1;
  CHECK(waitpid(child, &state, 0) == child);
  CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  run(plan, &pair, stream);
  synchronize(stream);
  CHECK_EQUAL(atomic_load(&launched), launches + 1);
  CHECK_EQUAL(aclpy_plan_release(plan), 0);
  end_pair(&pair);
  destroy_stream(stream);
}

static void an_end_with_work_left(void) {
  aclpy_handle stream = new_stream(), plan = plan_of(1, 0);
  struct pair pair = make_pair(1);
  for (int i = 0; i < 50; i++) run(plan, &pair, stream);
  aclpy_shutdown(); /* while the worker naps */
}

int main(void) {
  alarm(300);
  install_table(true);
  op_id = aclpy_operator_id("aclnnLaunched");
  CHECK_EQUAL(aclpy_foreign_device(0, &device), 0);
  CHECK_EQUAL(aclpy_foreign_device(1, &second), 0);
  CHECK_EQUAL(aclpy_context_create(device, &context), 0);
  RUN(one_call_then_the_driver);
  RUN(contexts_stay_the_programs);
  RUN(failures_are_statuses);
  RUN(scratch_that_is_there_serves);
  RUN(senseless_descriptions_are_not_kept);
  RUN(another_table_begins_anew);
  RUN(events_go_the_short_way);
  RUN(what_is_done_is_let_go_of);
  RUN(who_asks_hears);
  RUN(host_functions_keep_their_place);
  RUN(threads_share_a_step);
  RUN(a_fork_has_no_device);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 1); /* the context has one of its own */
  CHECK_EQUAL(aclpy_live_count("plan"), 0);
  RUN(an_end_with_work_left);
  return 0;
}
