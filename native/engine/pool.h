/* SPDX-License-Identifier: Apache-2.0
 * The compute pool: threads that help whoever runs a large kernel, shared by all streams.
 */
#ifndef ACLPY_ENGINE_POOL_H
#define ACLPY_ENGINE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

/* What there is to do in one pass of a kernel; see aclpy_kernel_shape. */
struct eng_load {
  int64_t items, grain, at_once, thread_scratch_bytes;
  double cost_ns; /* of the whole kernel on one thread, which decides whether it is worth the help of others */
};

/* One pass over all items, the caller taking part; returns when every item is done. False: no scratch memory for the
 * calling thread, nothing was run. Helpers without scratch memory simply do not help. */
bool eng_pool_run(aclpy_kernel_run run, const aclpy_kernel_args *args, int32_t pass, const struct eng_load *load);

void eng_pool_stop(void); /* at shutdown: the threads end, callers go on alone */
void eng_pool_before_fork(void);
void eng_pool_after_fork(bool child);

#endif
