/* SPDX-License-Identifier: Apache-2.0
 * Phase 2 for those who keep what its checks have found.
 */
#ifndef ACLPY_ENGINE_EXECUTE_H
#define ACLPY_ENGINE_EXECUTE_H

#include <stdint.h>

struct eng_executor;
struct eng_stream;
struct eng_task;

/* Checks what a repeatable executor would work on, on a stream of that device. The task gets the addresses, and
 * references to the allocations even where something is refused. */
int32_t eng_execute_check(struct eng_executor *executor, uintptr_t workspace, uint64_t workspace_size, int32_t device,
                          struct eng_task *task);
/* Runs a checked task on the calling thread, which is inside the stream's door, and leaves that. The plan is somebody
 * else's meanwhile. */
void eng_execute_here(struct eng_task *task, struct eng_stream *stream);

#endif
