/* SPDX-License-Identifier: Apache-2.0
 * A foreign device's driver, called without a detour: launches, events and waits in a queue that is known.
 *
 * Each call makes the device's context the thread's for as long as it takes, so the program never sees it changed.
 */
#ifndef ACLPY_ENGINE_DRIVER_H
#define ACLPY_ENGINE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct eng_stream;

/* Whether the driver can be called for this stream: its device and its queue are known. */
bool eng_driver_serves(const struct eng_stream *stream);
/* The rest: false where it cannot after all, because another table has come since. A status, whose text is down. */
bool eng_driver_launch(const struct eng_stream *stream, const aclpy_launch_kernel *kernels, int32_t n, int64_t *words,
                       int32_t *status);
bool eng_driver_synchronize(const struct eng_stream *stream, int32_t *status);
bool eng_driver_record(const struct eng_stream *stream, uint64_t event, int32_t *status);
bool eng_driver_wait(const struct eng_stream *stream, uint64_t event, int32_t *status);
/* There is none any more. */
void eng_driver_forget(void);

#endif
