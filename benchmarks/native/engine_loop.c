/* SPDX-License-Identifier: Apache-2.0
 * Our side of the C layer: phase 2 in a loop, to completion, without Python. */
#define _GNU_SOURCE
#include <time.h>

#include "engine.h"

static int64_t now_(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Nanoseconds of `count` executions of a repeatable executor and one synchronise; minus the status on failure. */
int64_t bench_execute(uint32_t op, uintptr_t workspace, uint64_t workspace_size, aclpy_handle executor,
                      aclpy_handle ctx, aclpy_handle stream, int64_t count) {
  const int64_t start = now_();
  for (int64_t i = 0; i < count; i++) {
    const int32_t status = aclpy_execute(op, workspace, workspace_size, executor, stream);
    if (status) return -(int64_t)status;
  }
  const int32_t status = aclpy_stream_synchronize(ctx, stream);
  return status ? -(int64_t)status : now_() - start;
}
