/* SPDX-License-Identifier: Apache-2.0
 * Halves of small jobs handed to a pool thread that looks for work: every item is done once, by whoever does it, with
 * helpers that come and go, callers that find the offer taken, a fork, and a pool that ends.
 */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include <time.h>

#include "check.h"
#include "engine.h"
#include "offer.h"
#include "pool.h"

enum { ITEMS = 48, BYTES = ITEMS * 4, ROUNDS = SANITIZED ? 2000 : 20000, PATIENCE_SECONDS = 120 };

/* Who did each item of one job. */
struct record {
  atomic_int times[ITEMS];
  pthread_t caller;
  atomic_int elsewhere;
};

static void record_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  struct record *record = (struct record *)(void *)args->addr[0];
  CHECK_EQUAL(pass, 3);
  CHECK(scratch != NULL);
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&record->times[i], 1);
  if (!pthread_equal(pthread_self(), record->caller)) atomic_fetch_add(&record->elsewhere, (int)(end - begin));
}

static atomic_bool ended;
static atomic_int placed, helped;

static void *place(void *arg) {
  unsigned state = (unsigned)(uintptr_t)arg;
  for (int round = 0; round < ROUNDS; round++) {
    struct record record = {.caller = pthread_self()};
    const aclpy_kernel_args args = {.addr = {(unsigned char *)&record}};
    state = state * 1664525u + 1013904223u;
    const int64_t begin = state >> 28, end = begin + (state >> 8) % 32;
    const struct eng_share share = {.run = record_run,
                                    .args = &args,
                                    .begin = begin,
                                    .end = end,
                                    .scratch_bytes = 64,
                                    .pass = 3,
                                    .processor = -1,
                                    .pieces = (int8_t)(1 + (state >> 16) % 5),
                                    .spare = (int8_t)((state >> 20) % 3),
                                    .backwards = (state >> 25) % 2 == 1};
    unsigned char scratch[64];
    if (!eng_offer_place(&share)) continue;
    eng_offer_work(&share, scratch);
    eng_offer_settle(&share, scratch);
    atomic_fetch_add(&placed, 1);
    atomic_fetch_add(&helped, atomic_load(&record.elsewhere) > 0);
    for (int64_t i = 0; i < ITEMS; i++) CHECK_EQUAL(atomic_load(&record.times[i]), i >= begin && i < end);
  }
  return NULL;
}

static void *attend(void *arg) {
  (void)arg;
  while (!atomic_load(&ended)) {
    if (!eng_offer_attend()) continue;
    for (int look = 0; look < 50 || !eng_offer_leave(); look++) {
      if (eng_offer_made()) eng_offer_serve();
    }
  }
  return NULL;
}

static void every_item_is_done_once(void) {
  enum { CALLERS = 3, HELPERS = 2 };
  pthread_t callers[CALLERS], helpers[HELPERS];
  for (int i = 0; i < HELPERS; i++) helpers[i] = start_thread(attend, NULL);
  for (int i = 0; i < CALLERS; i++) callers[i] = start_thread(place, (void *)(uintptr_t)(i + 1));
  for (int i = 0; i < CALLERS; i++) join_thread(callers[i]);
  /* However slow the machine: until both have been seen. */
  while (atomic_load(&placed) == 0 || atomic_load(&helped) == 0) place((void *)7);
  atomic_store(&ended, true);
  for (int i = 0; i < HELPERS; i++) join_thread(helpers[i]);
  CHECK(!eng_offer_engaged() || !eng_offer_made());
}

/* A job of as many items as pieces, one side of which stays in its first until the other has done all that it may. */
struct held {
  atomic_int done, began; /* items; sides */
  atomic_int first, last; /* of the slow side's half: who did these */
  int until;              /* so many are done */
  int64_t slow_first, slow_last;
  pthread_t caller;
};

enum { CALLER = 1, HELPER = 2, HALF = 4 };

static void held_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  struct held *held = (struct held *)(void *)args->addr[0];
  (void)pass, (void)scratch;
  const int me = pthread_equal(pthread_self(), held->caller) ? CALLER : HELPER;
  CHECK_EQUAL(end - begin, 1);
  atomic_fetch_or(&held->began, me);
  while (atomic_load(&held->began) != (CALLER | HELPER)) continue; /* the helper has taken it */
  if (begin == held->slow_first) {
    while (atomic_load(&held->done) < held->until) continue;
    atomic_store(&held->first, me);
  }
  if (begin == held->slow_last) atomic_store(&held->last, me);
  atomic_fetch_add(&held->done, 1);
}

static void hold(bool caller_is_slow, bool backwards, int spare) {
  const int64_t half = caller_is_slow ? 0 : HALF;
  struct held held = {.until = 2 * HALF - 1 - spare,
                      .slow_first = half + (backwards ? HALF - 1 : 0),
                      .slow_last = half + (backwards ? 0 : HALF - 1),
                      .caller = pthread_self()};
  const aclpy_kernel_args args = {.addr = {(unsigned char *)&held}};
  const struct eng_share share = {.run = held_run,
                                  .args = &args,
                                  .end = 2 * HALF,
                                  .scratch_bytes = 64,
                                  .processor = -1,
                                  .pieces = HALF,
                                  .spare = (int8_t)spare,
                                  .backwards = backwards};
  unsigned char scratch[64];
  while (!eng_offer_place(&share)) continue;
  eng_offer_work(&share, scratch);
  eng_offer_settle(&share, scratch);
  const int slow = caller_is_slow ? CALLER : HELPER;
  CHECK_EQUAL(atomic_load(&held.done), 2 * HALF);
  CHECK_EQUAL(atomic_load(&held.first), slow);
  CHECK_EQUAL(atomic_load(&held.last), spare > 0 ? slow : slow ^ (CALLER | HELPER));
}

static void who_is_through_helps_the_other(void) {
  atomic_store(&ended, false);
  pthread_t helper = start_thread(attend, NULL);
  for (int way = 0; way < 8; way++) hold((way & 1) != 0, (way & 2) != 0, way >> 2);
  atomic_store(&ended, true);
  join_thread(helper);
}

static uint32_t op_id;
static aclpy_handle context, tensor;
static atomic_int rows_done, rows_elsewhere;
static _Thread_local bool calls; /* this thread is one that launches */

static void count_run(const aclpy_kernel_args *args, int32_t pass, int64_t begin, int64_t end, void *scratch) {
  (void)args, (void)pass, (void)scratch;
  atomic_fetch_add(&rows_done, (int)(end - begin));
  if (!calls) atomic_fetch_add(&rows_elsewhere, (int)(end - begin));
}

static aclpy_handle make_plan(double cost_ns) {
  aclpy_slot_desc slot = {"self", 0, BYTES, 0, NULL};
  aclpy_step_desc step = {
      .run = count_run, .shape = {.passes = 1, .items = {ITEMS}, .grain = {1}, .cost_ns = cost_ns}, .n_operands = 1};
  aclpy_plan_desc desc = {.op = op_id, .n_slots = 1, .slots = &slot, .n_steps = 1, .steps = &step};
  aclpy_handle plan = 0;
  CHECK_EQUAL(aclpy_plan_create(&desc, &plan), 0);
  return plan;
}

static void run_plan(aclpy_handle plan, aclpy_handle stream) {
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plan, tensor, 0, 0, 0), stream), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
}

/* Small jobs, some larger ones between them, on a stream of one's own. */
static void *launch(void *arg) {
  (void)arg;
  aclpy_handle small = make_plan(4e3), middle = make_plan(15e3), large = make_plan(1e6), stream = 0;
  calls = true;
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  for (int round = 0; round < ROUNDS / 4; round++) {
    run_plan(round % 50 == 0 ? large : round % 3 == 0 ? middle : small, stream);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_plan_release(small), 0);
  CHECK_EQUAL(aclpy_plan_release(middle), 0);
  CHECK_EQUAL(aclpy_plan_release(large), 0);
  return NULL;
}

static void *launch_until_shared(void *arg) {
  enum { PATIENCE_SECONDS = 60 };
  aclpy_handle large = make_plan(1e6), stream = 0;
  calls = true;
  CHECK_EQUAL(aclpy_context_set_current(context), 0);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
  for (time_t end = time(NULL) + PATIENCE_SECONDS; atomic_load(&rows_elsewhere) == 0 && time(NULL) < end;) {
    run_plan(large, stream);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_plan_release(large), 0);
  return arg;
}

static void jobs_of_streams_are_done_once(void) {
  enum { THREADS = 3 };
  for (int threads = 1; threads <= THREADS; threads += THREADS - 1) {
    pthread_t callers[THREADS];
    atomic_store(&rows_done, 0);
    for (int i = 0; i < threads; i++) callers[i] = start_thread(launch, NULL);
    for (int i = 0; i < threads; i++) join_thread(callers[i]);
    CHECK_EQUAL(atomic_load(&rows_done), threads * (ROUNDS / 4) * ITEMS);
  }
  /* On a crowded machine the caller may have done all of it so far. */
  join_thread(start_thread(launch_until_shared, NULL));
  CHECK(atomic_load(&rows_elsewhere) > 0);
}

static void run_jobs(void) {
  const aclpy_kernel_args args = {.params = NULL};
  calls = true;
  for (int i = 0; i < 20; i++) {
    atomic_store(&rows_done, 0);
    const struct eng_load load = {.items = ITEMS, .grain = 1, .cost_ns = i == 0 ? 1e6 : 4e3};
    CHECK(eng_pool_run(count_run, &args, 0, &load));
    CHECK_EQUAL(atomic_load(&rows_done), ITEMS);
  }
}

/* With a helper that attends: the child's pool begins anew, the parent's goes on. */
static void an_attended_pool_survives_a_fork(void) {
  for (int round = 0; round < 20; round++) {
    run_jobs();
    pid_t child = fork();
    if (child == 0) {
      alarm(PATIENCE_SECONDS);
      CHECK_EQUAL(aclpy_set_device(0), 0);
      if (!THREAD_SANITIZED) run_jobs(); /* which cannot start threads in such a child */
      _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

int main(void) {
  const int64_t dims[1] = {ITEMS};
  uintptr_t memory = 0;
  alarm(PATIENCE_SECONDS); /* an offer that nobody ends would wait for ever */
  RUN(every_item_is_done_once);
  RUN(who_is_through_helps_the_other);
  op_id = aclpy_operator_id("aclnnFake");
  CHECK_EQUAL(aclpy_set_thread_count(2), 0);
  CHECK_EQUAL(aclpy_set_device(0), 0);
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  CHECK_EQUAL(aclpy_malloc(0, BYTES, 0, &memory), 0);
  CHECK_EQUAL(aclpy_tensor_create(dims, 1, 0, NULL, 0, 2, dims, 1, memory, &tensor, NULL), 0);
  RUN(jobs_of_streams_are_done_once);
  RUN(an_attended_pool_survives_a_fork);
  CHECK_EQUAL(aclpy_tensor_destroy(tensor), 0);
  CHECK_EQUAL(aclpy_free(memory), 0);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  aclpy_shutdown();
  return 0;
}
