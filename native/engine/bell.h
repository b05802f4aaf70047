/* SPDX-License-Identifier: Apache-2.0
 * A bell: threads of the schedule that have nothing to do sleep until it rings. It is rung after changes, and
 * may be rung under any lock.
 */
#ifndef ACLPY_ENGINE_BELL_H
#define ACLPY_ENGINE_BELL_H

#include <stdbool.h>
#include <stdint.h>

/* How often it has rung. Who reads this, then looks for news, and then waits for the next ring misses none. */
uint64_t eng_bell_count(void);
void eng_bell_ring(void);
/* Until it has rung more often than `heard`. False: the deadline came first. Ends at shutdown too. */
bool eng_bell_await(uint64_t heard, int64_t deadline_ns);

void eng_bell_before_fork(void);
void eng_bell_after_fork(bool child);

#endif
