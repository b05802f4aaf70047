/* SPDX-License-Identifier: Apache-2.0
 * Memory: sizes and statuses, lifetimes while tasks are queued, copies by AscendCL's rules, waiting for an allocation.
 */
#include <stdatomic.h>

#include "order_support.h"

static uintptr_t device(size_t size) {
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_malloc(0, size, 0, &address), 0);
  CHECK_EQUAL(address % 64, 0);
  memset((void *)address, 0x11, size);
  return address;
}

static uintptr_t pinned(size_t size) {
  uintptr_t address = 0;
  CHECK_EQUAL(aclpy_malloc_host(0, size, &address), 0);
  CHECK_EQUAL(address % 64, 0);
  memset((void *)address, 0x22, size);
  return address;
}

/* ---- allocating ---- */

static void sizes_and_limits(void) {
  uintptr_t address = 7;
  CHECK_EQUAL(aclpy_malloc(0, 0, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc(0, SIZE_MAX, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc(0, SIZE_MAX - 62, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc(0, 8, 0, NULL), 100000);
  CHECK_EQUAL(aclpy_malloc_host(0, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc(0, SIZE_MAX / 2, 0, &address), 207001);
  CHECK_CONTAINS(aclpy_error_last()->got, "in use");
  CHECK_EQUAL(address, 7);

  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  uintptr_t small = device(33);
  CHECK_EQUAL(aclpy_memory_in_use(), 64 + 32);
  uintptr_t host = pinned(33);
  CHECK_EQUAL(aclpy_memory_in_use(), 64 + 32 + 64);
  CHECK_EQUAL(aclpy_malloc(0, 33, 6, &address), 0); /* one of the 1 GiB page policies: no padding */
  CHECK_EQUAL(aclpy_memory_in_use(), 64 + 32 + 64 + 64);
  CHECK_EQUAL(aclpy_free(address), 0);
  CHECK_EQUAL(aclpy_malloc(0, 33, 12345, &address), 0); /* policies outside the enumeration are accepted */
  CHECK_EQUAL(aclpy_free(address), 0);

  aclpy_set_device_memory(1 << 20);
  CHECK_EQUAL(aclpy_malloc(0, 1 << 20, 0, &address), 207001);
  uintptr_t half = device(1 << 19);
  CHECK_EQUAL(aclpy_malloc(0, 1 << 19, 0, &address), 207001);
  CHECK_EQUAL(aclpy_free(half), 0);
  half = device((1 << 20) - 1024);
  CHECK_EQUAL(aclpy_free(half), 0);
  aclpy_set_device_memory(0);
  CHECK_EQUAL(aclpy_free(small), 0);
  CHECK_EQUAL(aclpy_free_host(host), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
}

static void large_blocks(void) {
  for (size_t size = (size_t)1 << 20; size <= (size_t)64 << 20; size *= 2) {
    uintptr_t address = device(size - 5);
    aclpy_memory_info info;
    CHECK_EQUAL(aclpy_memory_query(address + size - 6, &info), 0);
    CHECK_EQUAL(info.kind, ACLPY_MEMORY_DEVICE);
    CHECK_EQUAL(info.base, address);
    CHECK_EQUAL(info.size, size - 5);
    CHECK_EQUAL(aclpy_memory_query(address + size - 5, &info), 0);
    CHECK_EQUAL(info.kind, ACLPY_MEMORY_NONE);
    CHECK_EQUAL(aclpy_free(address), 0);
  }
}

static void wrong_frees_tell_the_history(void) {
  uintptr_t address = device(100), host = pinned(100);
  int local = 0;
  CHECK_EQUAL(aclpy_free(0), 100000);
  CHECK_EQUAL(aclpy_free_host(0), 100000);
  CHECK_EQUAL(aclpy_free(address + 16), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "16 bytes into a live device allocation of 100 bytes");
  CHECK_EQUAL(aclpy_free(host), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "live pinned host allocation");
  CHECK_EQUAL(aclpy_free_host(address), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "live device allocation");
  CHECK_EQUAL(aclpy_free((uintptr_t)&local), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "in no allocation");
  CHECK_EQUAL(aclpy_free(address), 0);
  CHECK_EQUAL(aclpy_free(address), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "freed already");
  CHECK_EQUAL(aclpy_free(address + 99), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "99 bytes into a device allocation of 100 bytes that was freed already");
  CHECK_EQUAL(aclpy_free_host(host), 0);
  CHECK_EQUAL(aclpy_free_host(host), 107000);
  CHECK_EQUAL(aclpy_memory_query(address, NULL), 100000);
}

static void discarding_hits_its_own_allocation_only(void) {
  aclpy_memory_info info;
  uintptr_t address = device(100), host = pinned(100);
  CHECK_EQUAL(aclpy_memory_query(address, &info), 0);
  uint64_t identity = info.identity;
  while (aclpy_recent_message() != NULL) {
  }
  aclpy_memory_discard(address + 16, identity); /* not its start */
  aclpy_memory_discard(address, identity + 1);
  CHECK_EQUAL(aclpy_memory_query(address, &info), 0);
  CHECK_EQUAL(info.kind, ACLPY_MEMORY_DEVICE);
  CHECK_EQUAL(aclpy_free(address), 0);
  uintptr_t later = device(100); /* very likely the same address again */
  aclpy_memory_discard(address, identity);
  CHECK_EQUAL(aclpy_memory_query(later, &info), 0);
  CHECK_EQUAL(info.kind, ACLPY_MEMORY_DEVICE);
  CHECK(info.identity != identity);
  aclpy_memory_discard(later, info.identity);
  CHECK_EQUAL(aclpy_memory_query(host, &info), 0);
  aclpy_memory_discard(host, info.identity); /* of either kind */
  aclpy_memory_discard(0, 0);
  CHECK(aclpy_recent_message() == NULL);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
}

static void *allocate_and_free(void *arg) {
  CHECK_EQUAL(aclpy_context_set_current(*(aclpy_handle *)arg), 0);
  uintptr_t kept[64] = {0};
  unsigned random = (unsigned)(uintptr_t)&kept;
  for (int round = 0; round < 4000; round++) {
    random = random * 1103515245u + 12345u;
    uintptr_t *place = &kept[random >> 16 & 63];
    if (*place != 0) {
      aclpy_memory_info info;
      CHECK_EQUAL(aclpy_memory_query(*place + 3, &info), 0);
      CHECK_EQUAL(info.base, *place);
      CHECK_EQUAL(aclpy_free(*place), 0);
      *place = 0;
    } else {
      CHECK_EQUAL(aclpy_malloc(0, 4 + (random >> 20), 0, place), 0);
    }
  }
  for (int i = 0; i < 64; i++) {
    if (kept[i] != 0) CHECK_EQUAL(aclpy_free(kept[i]), 0);
  }
  return NULL;
}

static void threads_allocate_at_once(void) {
  aclpy_handle context = 0;
  CHECK_EQUAL(aclpy_context_get_current(&context), 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) threads[i] = start_thread(allocate_and_free, &context);
  for (int i = 0; i < 4; i++) join_thread(threads[i]);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
}

static void exported_bytes_outlive_aclrt_free(void) {
  uintptr_t address = device(256);
  CHECK_EQUAL(aclpy_memory_retain(address + 8), 0);
  CHECK_EQUAL(aclpy_memory_retain(address), 0);
  CHECK_EQUAL(aclpy_free(address), 0);
  aclpy_memory_info info;
  CHECK_EQUAL(aclpy_memory_query(address, &info), 0);
  CHECK_EQUAL(info.kind, ACLPY_MEMORY_NONE);
  CHECK_EQUAL(((unsigned char *)address)[255], 0x11);
  CHECK(aclpy_memory_in_use() > 0);
  CHECK_EQUAL(aclpy_memory_release(address), 0);
  CHECK_EQUAL(((unsigned char *)address)[255], 0x11);
  CHECK_EQUAL(aclpy_memory_release(address), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  CHECK_EQUAL(aclpy_memory_release(address), 107000);
  CHECK_EQUAL(aclpy_memory_retain(address), 107000);
}

/* ---- copying at once ---- */

static void copy_rules_in_order(void) {
  unsigned char host[64] = {1, 2, 3};
  uintptr_t d = device(64), h = (uintptr_t)host;
  CHECK_EQUAL(aclpy_memcpy(0, 0, 0, 0, 0, 99), 0); /* count 0 comes before every other check */
  CHECK_EQUAL(aclpy_memcpy(0, 0, 64, h, 1, 99), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 64, 0, 1, 99), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 0, h, 1, 99), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 0, h, 1, 6), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 0, h, 1, 7), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 0, h, 1, -1), 100000);
  CHECK_EQUAL(aclpy_memcpy(0, d, 0, d, 1, 1), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "count 1, destMax 0");
  CHECK_EQUAL(aclpy_memcpy(0, d, 1000, d, 1000, 1), 0); /* onto itself: nothing to do, whatever the size */
  CHECK_EQUAL(aclpy_memcpy(0, d, 65, h, 65, 1), 107000);
  CHECK_CONTAINS(aclpy_error_last()->got, "65 bytes");
  CHECK_CONTAINS(aclpy_error_last()->got, "64 left");
  CHECK_CONTAINS(aclpy_error_last()->argument, "dst");
  CHECK_EQUAL(aclpy_memcpy(0, h, 64, d + 60, 5, 2), 107000);
  CHECK_CONTAINS(aclpy_error_last()->argument, "src");
  for (int kind = 0; kind <= 5; kind++) { /* the direction comes from the addresses */
    host[0] = (unsigned char)(10 + kind);
    CHECK_EQUAL(aclpy_memcpy(0, d, 64, h, 64, kind), 0);
    CHECK_EQUAL(((unsigned char *)d)[0], 10 + kind);
  }
  CHECK_EQUAL(aclpy_memset(0, 0, 0, 0, 0), 0);
  CHECK_EQUAL(aclpy_memset(0, 0, 4, 0, 4), 100000);
  CHECK_EQUAL(aclpy_memset(0, d, 4, 0, 5), 107000);
  CHECK_EQUAL(aclpy_memset(0, d + 1, 64, 0, 64), 107000);
  CHECK_EQUAL(aclpy_memset(0, d, 64, 0x1ab, 64), 0); /* one byte of the value counts */
  CHECK_EQUAL(((unsigned char *)d)[63], 0xab);
  CHECK_EQUAL(aclpy_free(d), 0);
}

static void *without_context(void *arg) {
  uintptr_t d = *(uintptr_t *)arg, address;
  aclpy_handle handle;
  unsigned char host[8] = {0};
  CHECK_EQUAL(aclpy_memcpy(0, d, 8, (uintptr_t)host, 8, 1), 107002);
  CHECK_EQUAL(aclpy_memcpy(0, d, 8, d, 8, 1), 0);
  CHECK_EQUAL(aclpy_memset(0, d, 8, 0, 8), 107002);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 8, (uintptr_t)host, 8, 1, 0), 107002);
  CHECK_EQUAL(aclpy_memset_async(0, d, 8, 0, 8, 0), 107002);
  CHECK_EQUAL(aclpy_malloc(0, 8, 0, &address), 107002);
  CHECK_EQUAL(aclpy_malloc(0, 0, 0, &address), 100000);
  CHECK_EQUAL(aclpy_malloc_host(0, 8, &address), 107002);
  CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &handle), 107002);
  CHECK_EQUAL(aclpy_event_create(0, ACLPY_EVENT_PLAIN, 0, &handle), 107002);
  CHECK_EQUAL(aclpy_stream_synchronize(0, 0), 107002);
  CHECK_EQUAL(aclpy_synchronize_device(0), 107002);
  CHECK_EQUAL(aclpy_free(d), 0); /* needs no context */
  return NULL;
}

static void calls_need_a_context(void) {
  uintptr_t d = device(8);
  join_thread(start_thread(without_context, &d));
}

/* ---- copying in a stream ---- */

static void async_copies_wait_their_turn(void) {
  struct park park = PARK;
  aclpy_handle stream = new_stream();
  uintptr_t d = device(64), e = device(64), h = pinned(64);
  park_stream(stream, &park);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 64, h, 64, 1, stream), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, e, 64, d, 32, 3, stream), 0);
  CHECK_EQUAL(aclpy_memset_async(0, e + 32, 32, 0x33, 32, stream), 0);
  CHECK_EQUAL(((unsigned char *)d)[0], 0x11);
  uint64_t in_use = aclpy_memory_in_use();
  CHECK_EQUAL(aclpy_free(d), 0); /* queued tasks keep it */
  CHECK_EQUAL(aclpy_free_host(h), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), in_use);
  CHECK_EQUAL(aclpy_free(d), 107000);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(((unsigned char *)e)[31], 0x22);
  CHECK_EQUAL(((unsigned char *)e)[32], 0x33);
  CHECK_EQUAL(aclpy_free(e), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static void *let_go_later(void *arg) {
  struct park *park = arg;
  latch_wait(&park->begun, 1);
  latch_add(&park->go);
  return NULL;
}

static void pageable_copies_wait_for_the_stream(void) {
  struct park park = PARK;
  unsigned char host[64];
  memset(host, 0x44, sizeof(host));
  aclpy_handle stream = new_stream();
  uintptr_t d = device(64);
  CHECK_EQUAL(aclpy_submit(0, stream, "park", park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_memset_async(0, d, 64, 0x55, 32, stream), 0);
  pthread_t thread = start_thread(let_go_later, &park);
  CHECK_EQUAL(aclpy_memcpy_async(0, (uintptr_t)host, 64, d, 64, 2, stream), 0);
  CHECK_EQUAL(host[31], 0x55);
  CHECK_EQUAL(host[32], 0x11);
  memset(host, 0x66, sizeof(host));
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 64, (uintptr_t)host, 64, 5, stream), 0);
  CHECK_EQUAL(((unsigned char *)d)[0], 0x66); /* copied when the call returns */
  join_thread(thread);
  CHECK_EQUAL(aclpy_free(d), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
}

static void async_kinds(void) {
  unsigned char page[8] = {0}, other[8] = {0};
  uintptr_t d = device(8), e = device(8), h = pinned(8), u = (uintptr_t)page, v = (uintptr_t)other;
  struct row {
    uintptr_t dst, src;
    int32_t status[6]; /* by kind */
  } rows[] = {
      {d, e, {0, 0, 0, 0, 0, 0}},
      {d, h, {0, 0, 0, 0, 0, 0}},
      {h, d, {0, 0, 0, 0, 0, 0}},
      {d, u, {107000, 0, 107000, 0, 0, 0}},
      {u, d, {107000, 107000, 0, 0, 0, 107000}},
      {u, h, {207000, 0, 107000, 107000, 207000, 0}},
      {h, u, {207000, 107000, 0, 107000, 207000, 107000}},
      {u, v, {207000, 0, 0, 0, 207000, 0}},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    for (int kind = 0; kind < 6; kind++) {
      CHECK_EQUAL(aclpy_memcpy_async(0, rows[i].dst, 8, rows[i].src, 8, kind, 0), rows[i].status[kind]);
    }
  }
  uintptr_t g = pinned(8);
  CHECK_EQUAL(aclpy_memcpy_async(0, g, 8, h, 8, 1, 0), 207000); /* forced to host to host */
  CHECK_EQUAL(aclpy_memcpy_async(0, 0, 0, 0, 0, 9, 12345), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 8, e, 8, 9, 12345), 100000);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 7, e, 8, 3, 12345), 107000);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 8, d, 8, 3, 12345), 0);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 8, e, 8, 3, 12345), 107017);
  CHECK_EQUAL(aclpy_memcpy_async(0, d, 9, e, 9, 3, 0), 107000);
  CHECK_EQUAL(aclpy_memset_async(0, d, 7, 0, 8, 0), 107000);
  CHECK_EQUAL(aclpy_memset_async(0, d, 9, 0, 9, 0), 107000);
  CHECK_EQUAL(aclpy_memset_async(0, 0, 9, 0, 9, 0), 100000);
  CHECK_EQUAL(aclpy_memset_async(0, u, 8, 9, 8, 0), 0);
  CHECK_EQUAL(page[7], 9);
  CHECK_EQUAL(aclpy_stream_synchronize(0, 0), 0);
  CHECK_EQUAL(aclpy_free(d), 0);
  CHECK_EQUAL(aclpy_free(e), 0);
  CHECK_EQUAL(aclpy_free_host(h), 0);
  CHECK_EQUAL(aclpy_free_host(g), 0);
}

/* ---- waiting for one allocation ---- */

static void waiting_ignores_other_work(void) {
  struct park park = PARK, behind = PARK;
  aclpy_handle a = new_stream(), b = new_stream();
  uintptr_t d = device(64), e = device(64);
  park_stream(a, &park);
  CHECK_EQUAL(aclpy_memset_async(0, d, 64, 1, 64, a), 0);
  CHECK_EQUAL(aclpy_memset_async(0, e, 64, 2, 64, b), 0);
  CHECK_EQUAL(aclpy_submit(0, b, "park", park_run, park_drop, &behind, 0), 0);
  CHECK_EQUAL(aclpy_memory_wait(e + 5), 0); /* although a is parked, and b behind the task on e */
  CHECK_EQUAL(((unsigned char *)e)[63], 2);
  CHECK_EQUAL(aclpy_memory_wait(12345), 0);
  pthread_t thread = start_thread(let_go_later, &park);
  CHECK_EQUAL(aclpy_memory_wait(d), 0);
  CHECK_EQUAL(((unsigned char *)d)[0], 1);
  join_thread(thread);
  latch_add(&behind.go);
  CHECK_EQUAL(aclpy_stream_destroy(0, a), 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, b), 0);
  CHECK_EQUAL(aclpy_free(d), 0);
  CHECK_EQUAL(aclpy_free(e), 0);
}

struct feeder {
  aclpy_handle context, stream;
  uintptr_t address;
  atomic_bool stop;
  struct latch fed;
};

static void *feed(void *arg) {
  struct feeder *feeder = arg;
  CHECK_EQUAL(aclpy_context_set_current(feeder->context), 0);
  while (!atomic_load(&feeder->stop)) {
    CHECK_EQUAL(aclpy_memset_async(0, feeder->address, 64, 7, 64, feeder->stream), 0);
    latch_add(&feeder->fed);
  }
  return NULL;
}

static void *wait_often(void *arg) {
  struct feeder *feeder = arg;
  for (int i = 0; i < 50; i++) CHECK_EQUAL(aclpy_memory_wait(feeder->address), 0);
  return NULL;
}

static void waiting_ends_though_work_keeps_coming(void) {
  struct feeder feeder = {.stream = new_stream(), .address = device(64), .fed = LATCH};
  CHECK_EQUAL(aclpy_context_get_current(&feeder.context), 0);
  pthread_t feeding = start_thread(feed, &feeder);
  latch_wait(&feeder.fed, 10);
  pthread_t waiting[3];
  for (int i = 0; i < 3; i++) waiting[i] = start_thread(wait_often, &feeder);
  for (int i = 0; i < 3; i++) join_thread(waiting[i]);
  atomic_store(&feeder.stop, true);
  join_thread(feeding);
  CHECK_EQUAL(aclpy_stream_destroy(0, feeder.stream), 0);
  CHECK_EQUAL(aclpy_free(feeder.address), 0);
}

static uintptr_t watched;
static int32_t wait_inside(void *arg) {
  *(int32_t *)arg = aclpy_memory_wait(watched);
  return 0;
}

static void a_task_does_not_wait_for_tasks_behind_it(void) {
  struct park park = PARK;
  aclpy_handle stream = new_stream();
  int32_t status = 0, later = -1;
  watched = device(64);
  CHECK_EQUAL(aclpy_submit(0, stream, "park", park_run, park_drop, &park, 0), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "wait", wait_inside, NULL, &status, 0), 0);
  CHECK_EQUAL(aclpy_memset_async(0, watched, 64, 7, 64, stream), 0);
  CHECK_EQUAL(aclpy_submit(0, stream, "wait", wait_inside, NULL, &later, 0), 0);
  latch_add(&park.go);
  CHECK_EQUAL(aclpy_stream_synchronize(0, stream), 0);
  CHECK_EQUAL(status, 507000);
  CHECK_EQUAL(later, 0);
  CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  CHECK_EQUAL(aclpy_free(watched), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(sizes_and_limits);
  RUN(large_blocks);
  RUN(wrong_frees_tell_the_history);
  RUN(discarding_hits_its_own_allocation_only);
  RUN(threads_allocate_at_once);
  RUN(exported_bytes_outlive_aclrt_free);
  RUN(copy_rules_in_order);
  RUN(calls_need_a_context);
  RUN(async_copies_wait_their_turn);
  RUN(pageable_copies_wait_for_the_stream);
  RUN(async_kinds);
  RUN(waiting_ignores_other_work);
  RUN(waiting_ends_though_work_keeps_coming);
  RUN(a_task_does_not_wait_for_tasks_behind_it);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("memory"), 0);
  CHECK_EQUAL(aclpy_memory_in_use(), 0);
  return 0;
}
