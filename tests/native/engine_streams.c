/* SPDX-License-Identifier: Apache-2.0
 * Streams: order within one, independence of several, failures, ends, and a million queued tasks.
 */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "order_support.h"

/* ---- order ---- */

struct step {
  atomic_int *next;
  int number;
};

static int32_t in_turn(void *arg) {
  struct step *step = arg;
  return atomic_fetch_add(step->next, 1) == step->number ? 0 : 507000;
}

static void tasks_run_in_order(void) {
  enum { N = 5000 };
  static struct step steps[N];
  atomic_int next = 0;
  aclpy_handle stream = new_stream();
  for (int i = 0; i < N; i++) {
    steps[i] = (struct step){&next, i};
    CHECK_EQUAL(aclpy_submit(0, stream, NULL, in_turn, NULL, &steps[i], 0), 0);
  }
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(atomic_load(&next), N);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

struct submitter {
  aclpy_handle context, stream;
  atomic_int *ran;
};

static int32_t count(void *arg) {
  atomic_fetch_add((atomic_int *)arg, 1);
  return 0;
}

static void *submit_many(void *arg) {
  struct submitter *self = arg;
  CHECK_EQUAL(aclpy_context_set_current(self->context), 0);
  for (int i = 0; i < 2000; i++) {
    CHECK_EQUAL(aclpy_submit(0, self->stream, NULL, count, NULL, self->ran, 0), 0);
    if (i % 100 == 0) CHECK_EQUAL(aclpy_stream_synchronize(0, self->stream), 0);
  }
  return NULL;
}

static void threads_share_a_stream(void) {
  atomic_int ran = 0;
  struct submitter submitter = {.stream = new_stream(), .ran = &ran};
  CHECK_EQUAL(aclpy_context_get_current(&submitter.context), 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(submit_many, &submitter);
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_stream_synchronize(0, submitter.stream), 0);
  CHECK_EQUAL(atomic_load(&ran), 8000);
  CHECK_EQUAL(aclpy_stream_destroy(0, submitter.stream), 0);
}

static void parked_streams_are_all_in_flight(void) {
  struct park first = PARK, second = PARK;
  atomic_int ran = 0;
  aclpy_handle a = new_stream(), b = new_stream();
  park_stream(a, &first);
  park_stream(b, &second); /* returns only when b's task has begun while a's is parked */
  CHECK_EQUAL(aclpy_submit(0, a, NULL, count, NULL, &ran, 0), 0);
  CHECK_EQUAL(aclpy_submit(0, b, NULL, count, NULL, &ran, 0), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 4);
  int32_t status = -1;
  CHECK_EQUAL(aclpy_stream_query(0, a, &status), 0);
  CHECK_EQUAL(status, 1);
  CHECK_EQUAL(atomic_load(&ran), 0);
  latch_add(&second.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, b), 0);
  CHECK_EQUAL(atomic_load(&ran), 1);
  latch_add(&first.go);
  CHECK_EQUAL(aclpy_synchronize_device(0), 0);
  CHECK_EQUAL(atomic_load(&ran), 2);
  CHECK_EQUAL(aclpy_stream_query(0, a, &status), 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
}

/* ---- failures ---- */

static int32_t fail_with_text(void *arg) {
  (void)arg;
  return aclpy_fail(507000, "inner", "thing", "better", "try again", "bad %d", 7);
}

static int32_t fail_without_text(void *arg) { return (int32_t)(intptr_t)arg; }

static void failures_surface_once(void) {
  atomic_int ran = 0;
  aclpy_handle stream = new_stream();
  CHECK_EQUAL(aclpy_submit(0, stream, "my function", fail_with_text, NULL, NULL, 42), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "second", fail_without_text, NULL, (void *)(intptr_t)507018, 43), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, count, NULL, &ran, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507000);
  const aclpy_error *error = aclpy_error_last();
  CHECK_EQUAL(error->status, 507000);
  CHECK_EQUAL(error->token, 42);
  CHECK_CONTAINS(error->function, "my function");
  CHECK_CONTAINS(error->got, "bad 7");
  CHECK_EQUAL(atomic_load(&ran), 1); /* what follows a failure still runs */
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "third", fail_without_text, NULL, (void *)(intptr_t)507018, 44), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 507018);
  CHECK_EQUAL(aclpy_error_last()->token, 44);
  CHECK_CONTAINS(aclpy_error_last()->got, "507018");
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static aclpy_handle own_stream;
static int32_t wait_for_self(void *arg) {
  *(int32_t *)arg = aclpy_stream_synchronize(0, own_stream);
  return 0;
}

static void a_task_cannot_wait_for_its_own_stream(void) {
  int32_t status = 0;
  own_stream = new_stream();
  CHECK_EQUAL(aclpy_submit(0, own_stream, NULL, wait_for_self, NULL, &status, 0), 0);
  CHECK_EQUAL(aclpy_stream_synchronize(0, own_stream), 0);
  CHECK_EQUAL(status, ACLPY_ACL_ERROR_RT_INTERNAL_ERROR);
  CHECK_EQUAL(aclpy_stream_destroy(0, own_stream), 0);
}

/* ---- ends ---- */

static void destroyed_streams_are_refused(void) {
  aclpy_handle stream = new_stream();
  struct park park = PARK;
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0); /* drains */
  CHECK_EQUAL(latch_count(&park.begun), 1);
  CHECK_EQUAL(latch_count(&park.dropped), 1);
  int32_t status;
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 107017);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107017);
  CHECK_EQUAL(aclpy_stream_query(0, stream, &status), 107017);
  CHECK_EQUAL(aclpy_stream_release(stream), 107017);
  CHECK_EQUAL(aclpy_stream_destroy(0, 0), 100000);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, NULL), 100000);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &park, 0), 107017);
  CHECK_EQUAL(latch_count(&park.dropped), 2); /* dropped once, though it never ran */
  CHECK_EQUAL(aclpy_submit(0, 0, NULL, NULL, park_drop, &park, 0), 107000);
  CHECK_EQUAL(latch_count(&park.dropped), 3);
  CHECK_CONTAINS(aclpy_recent_message(), "NULL");
}

static void released_streams_finish_their_work(void) {
  int64_t streams = aclpy_live_count("stream");
  struct park park = PARK, last = PARK;
  latch_add(&last.go);
  aclpy_handle stream = new_stream();
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_submit(0, stream, NULL, park_run, park_drop, &last, 0), 0);
  CHECK_EQUAL(aclpy_stream_release(stream), 0); /* returns although the stream is parked */
  CHECK_EQUAL(aclpy_live_count("stream"), streams);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 107017);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_synchronize_device(0), 0); /* still waits for it */
  latch_wait(&last.dropped, 1);
  stream = new_stream();
  CHECK_EQUAL(aclpy_stream_release(stream), 0); /* never used: no worker */
}

struct destroyer {
  aclpy_handle context, stream;
  int32_t status;
};

static void *destroy_it(void *arg) {
  struct destroyer *self = arg;
  CHECK_EQUAL(aclpy_context_set_current(self->context), 0);
  self->status = aclpy_stream_destroy(0, self->stream);
  return NULL;
}

static void two_threads_destroy_one_stream(void) {
  for (int round = 0; round < 50; round++) {
    struct destroyer one = {.stream = new_stream()};
    CHECK_EQUAL(aclpy_context_get_current(&one.context), 0);
    atomic_int ran = 0;
    CHECK_EQUAL(aclpy_submit(0, one.stream, NULL, count, NULL, &ran, 0), 0);
    struct destroyer other = one;
    pthread_t a = start_thread(destroy_it, &one), b = start_thread(destroy_it, &other);
    join_thread(a);
    join_thread(b);
    CHECK_EQUAL(atomic_load(&ran), 1);
    CHECK_EQUAL(one.status + other.status, 107017);
  }
}

/* ---- many ---- */

static long resident_kib(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long whole = 0, resident = 0;
  CHECK(file != NULL && fscanf(file, "%ld %ld", &whole, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void a_million_tasks_give_their_memory_back(void) {
  enum { N = SANITIZED ? 100000 : 1000000 };
  struct park park = PARK;
  atomic_int ran = 0;
  aclpy_handle stream = new_stream();
  park_stream(stream, &park);
  long before = resident_kib();
  double start = now();
  for (int i = 0; i < N; i++) CHECK_EQUAL(aclpy_submit(0, stream, NULL, count, NULL, &ran, 0), 0);
  double seconds = now() - start;
  long full = resident_kib();
  CHECK_EQUAL(aclpy_live_count("task"), N + 1);
  latch_add(&park.go);
  start = now();
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  double drained = now() - start;
  CHECK_EQUAL(atomic_load(&ran), N);
  long after = resident_kib();
  fprintf(stderr, "    enqueue to a parked stream: %.0f ns a task, %.0f bytes a task; drained at %.0f ns a task\n",
          seconds / N * 1e9, (double)(full - before) * 1024 / N, drained / N * 1e9);
  if (!SANITIZED) {
    CHECK((double)(full - before) * 1024 / N <= 256);
    CHECK(after - before < 4096);
  }
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static void synchronise_of_an_empty_stream_is_cheap(void) {
  enum { N = SANITIZED ? 1000 : 200000 };
  aclpy_handle stream = new_stream();
  double start = now();
  for (int i = 0; i < N; i++) CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  fprintf(stderr, "    synchronise of an empty stream: %.0f ns\n", (now() - start) / N * 1e9);
  atomic_int ran = 0;
  start = now();
  for (int i = 0; i < N / 20; i++) {
    CHECK_EQUAL(aclpy_submit(0, stream, NULL, count, NULL, &ran, 0), 0);
    CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  }
  fprintf(stderr, "    submit, run on the worker, synchronise: %.0f ns\n", (now() - start) / (N / 20) * 1e9);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(tasks_run_in_order);
  RUN(threads_share_a_stream);
  RUN(parked_streams_are_all_in_flight);
  RUN(failures_surface_once);
  RUN(a_task_cannot_wait_for_its_own_stream);
  RUN(destroyed_streams_are_refused);
  RUN(released_streams_finish_their_work);
  RUN(two_threads_destroy_one_stream);
  RUN(a_million_tasks_give_their_memory_back);
  RUN(synchronise_of_an_empty_stream_is_cheap);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("context"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
