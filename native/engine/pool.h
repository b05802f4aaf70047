/* SPDX-License-Identifier: Apache-2.0
 * The compute pool: threads that help whoever runs a large kernel, shared by all streams.
 */
#ifndef ACLPY_ENGINE_POOL_H
#define ACLPY_ENGINE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

/* One pass of a kernel over all its items, the caller taking part; returns when every item is done. `cost_ns`: what the
 * whole kernel takes one thread, which decides whether it is worth the help of others. False: no scratch memory for the
 * calling thread, nothing was run. Helpers without scratch memory simply do not help. */
bool eng_pool_run(aclpy_kernel_run run, const aclpy_kernel_args *args, int32_t pass, int64_t items, int64_t grain,
                  int64_t thread_scratch_bytes, double cost_ns);

void eng_pool_stop(void); /* at shutdown: the threads end, callers go on alone */
void eng_pool_before_fork(void);
void eng_pool_after_fork(bool child);

#endif
