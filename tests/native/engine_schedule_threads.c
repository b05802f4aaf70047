/* SPDX-License-Identifier: Apache-2.0
 * A schedule whose streams one thread makes and ends while another submits to them.
 */
#include <stdatomic.h>

#include "check.h"
#include "engine.h"

static _Atomic aclpy_handle passing;
static atomic_int passing_over;

static int32_t do_nothing(void *arg) {
  (void)arg;
  return 0;
}

static void *use_what_passes(void *arg) {
  const aclpy_handle ctx = *(const aclpy_handle *)arg;
  while (!atomic_load(&passing_over)) {
    const aclpy_handle stream = atomic_load(&passing);
    if (stream == 0) continue;
    int32_t status = aclpy_submit(ctx, stream, "late", do_nothing, NULL, NULL, 0);
    if (status == 0) (void)aclpy_stream_synchronize_with_timeout(ctx, stream, 5);
  }
  return NULL;
}

/* Whoever runs a stream's last task may still hold it when another thread, which waited for that, ends the stream. */
static void streams_go_while_others_submit(void) {
  enum { STREAMS = 3000 };
  aclpy_handle ctx = 0;
  CHECK_EQUAL(aclpy_context_get_current(&ctx), 0);
  CHECK_EQUAL(aclpy_schedule_start("eager"), 0);
  atomic_store(&passing_over, 0);
  pthread_t thread = start_thread(use_what_passes, &ctx);
  for (int i = 0; i < STREAMS; i++) {
    aclpy_handle stream = 0;
    CHECK_EQUAL(aclpy_stream_create(0, 0, 0, &stream), 0);
    atomic_store(&passing, stream);
    CHECK_EQUAL(aclpy_submit(0, stream, "own", do_nothing, NULL, NULL, 0), 0);
    CHECK_EQUAL(aclpy_stream_destroy(0, stream), 0);
  }
  atomic_store(&passing_over, 1);
  join_thread(thread);
  CHECK_EQUAL(aclpy_schedule_stop(), 0);
}

int main(void) {
  CHECK_EQUAL(aclpy_set_device(0), 0);
  RUN(streams_go_while_others_submit);
  CHECK_EQUAL(aclpy_reset_device(0), 0);
  CHECK_EQUAL(aclpy_live_count("stream"), 0);
  CHECK_EQUAL(aclpy_live_count("task"), 0);
  return 0;
}
