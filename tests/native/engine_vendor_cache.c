/* SPDX-License-Identifier: Apache-2.0
 * The vendor's cache of operators, as far as it shows: repeatability.
 */
#include "execute_support.h"

/* ---- the vendor's cache ---- */

static int32_t hit(aclpy_handle executor) {
  int32_t is_hit = -1;
  CHECK_EQUAL(aclpy_executor_is_cache_hit(executor, &is_hit), 0);
  return is_hit;
}

static void *other_thread_misses(void *arg) {
  struct setup *s = arg;
  aclpy_handle executor = phase1(s);
  CHECK_EQUAL(hit(executor), 0);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  return NULL;
}

static void completed_calls_hit_the_vendor_cache(void) {
  struct setup s = set_up(0, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE, 1000);
  uintptr_t in2 = new_floats(50);
  aclpy_handle executor = phase1(&s), early = phase1(&s);
  CHECK_EQUAL(hit(executor), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  executor = phase1(&s);
  CHECK_EQUAL(hit(executor), 1);
  CHECK_EQUAL(aclpy_executor_set_repeatable(executor), 561000);
  CHECK_CONTAINS(aclpy_error_last()->got, "cache");
  CHECK_EQUAL(aclpy_tensor_set_address(s.in, in2), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, executor, s.stream), 0);
  CHECK(first_out(&s) == 1.0f); /* a hit uses phase 1's addresses */
  join_thread(start_thread(other_thread_misses, &s));
  aclpy_set_vendor_cache(0, -1);
  CHECK_EQUAL(hit(executor = phase1(&s)), 0);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  aclpy_set_vendor_cache(1, -1);
  CHECK_EQUAL(hit(executor = phase1(&s)), 1);
  CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
  CHECK_EQUAL(aclpy_executor_destroy(early), 0);
  CHECK_EQUAL(aclpy_free(in2), 0);
  tear_down(&s);
}

static void repeatable_executors_leave_the_vendor_cache(void) {
  struct setup s = set_up(0, ACLPY_PLAN_VENDOR_CACHEABLE | ACLPY_PLAN_REPEATABLE, 1000);
  aclpy_handle first = phase1(&s), second = phase1(&s);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, first, s.stream), 0);
  CHECK_EQUAL(aclpy_executor_set_repeatable(second), 0); /* planned before the flag was set: no hit */
  aclpy_handle third = phase1(&s);
  CHECK_EQUAL(hit(third), 0);
  CHECK_EQUAL(aclpy_execute(op_id, 0, 0, second, s.stream), 0);
  CHECK_EQUAL(aclpy_executor_destroy(third), 0);
  third = phase1(&s);
  CHECK_EQUAL(hit(third), 0); /* repeatable runs do not enter it */
  CHECK_EQUAL(aclpy_executor_destroy(second), 0);
  CHECK_EQUAL(aclpy_executor_destroy(third), 0);
  tear_down(&s);
}

static void *fill_own_cache(void *arg) {
  enum { LIMIT = 100, EVICTED = 30 };
  CHECK_EQUAL(aclpy_context_set_current(*(aclpy_handle *)arg), 0);
  struct setup s = set_up(0, 0, 1000);
  aclpy_set_vendor_cache(1, LIMIT);
  aclpy_handle plans[LIMIT + 1];
  for (int i = 0; i <= LIMIT; i++) {
    plans[i] = make_plan(0, ACLPY_PLAN_VENDOR_CACHEABLE, 10);
    if (i == LIMIT) { /* refresh the oldest before the cache overflows */
      aclpy_handle again = aclpy_executor_new(plans[0], s.in, s.out, 0, 0);
      CHECK_EQUAL(hit(again), 1);
      CHECK_EQUAL(aclpy_executor_destroy(again), 0);
    }
    CHECK_EQUAL(aclpy_execute(op_id, 0, 0, aclpy_executor_new(plans[i], s.in, s.out, 0, 0), s.stream), 0);
  }
  int hits = 0;
  for (int i = 0; i <= LIMIT; i++) {
    aclpy_handle executor = aclpy_executor_new(plans[i], s.in, s.out, 0, 0);
    if (i == 0 || i > EVICTED) CHECK_EQUAL(hit(executor), 1);
    hits += hit(executor);
    CHECK_EQUAL(aclpy_executor_destroy(executor), 0);
    CHECK_EQUAL(aclpy_plan_release(plans[i]), 0);
  }
  CHECK_EQUAL(hits, LIMIT + 1 - EVICTED);
  aclpy_set_vendor_cache(1, -1);
  tear_down(&s);
  return NULL;
}

static void the_vendor_cache_evicts_the_least_recent(void) {
  aclpy_handle context = 0;
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  join_thread(start_thread(fill_own_cache, &context)); /* a thread of its own begins with an empty cache */
}

int main(int argc, char **argv) {
  (void)argc;
  begin_harness(argv);
  RUN(completed_calls_hit_the_vendor_cache);
  RUN(repeatable_executors_leave_the_vendor_cache);
  RUN(the_vendor_cache_evicts_the_least_recent);
  end_harness();
  return 0;
}
