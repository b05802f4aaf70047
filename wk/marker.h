/* SPDX-License-Identifier: Apache-2.0
 * Markers: points in a stream's queue that have been reached or not, and that threads can wait for.
 *
 * An ordinary marker is reached once. The flag of an aclrtCreateEventWithFlag event is a marker that can be cleared.
 */
#ifndef ACLPY_ENGINE_MARKER_H
#define ACLPY_ENGINE_MARKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct eng_marker_waiter;

struct eng_marker {
  atomic_int owners;
  atomic_bool reached;
  _Atomic int64_t time_ns; /* when it was reached */
  uint64_t stream_id;      /* of the stream it was recorded in */
  struct eng_marker_waiter *waiters;
};

struct eng_marker *eng_marker_new(uint64_t stream_id); /* one owner; NULL without memory */
struct eng_marker *eng_marker_share(struct eng_marker *marker);
void eng_marker_drop(struct eng_marker *marker);
static inline bool eng_marker_reached(struct eng_marker *marker) { return atomic_load(&marker->reached); }
void eng_marker_reach(struct eng_marker *marker);
void eng_marker_clear(struct eng_marker *marker);
/* Blocks the calling thread. False: the engine shuts down. A waiter that was there when the marker was reached is let
 * go even when the marker is cleared before it wakes. */
bool eng_marker_wait(struct eng_marker *marker);

void eng_marker_before_fork(void);
void eng_marker_after_fork(bool child);

#endif
