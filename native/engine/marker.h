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

#include "lot.h"

struct eng_marker {
  atomic_int owners;
  atomic_bool reached;
  atomic_int status;             /* other than 0: the task was discarded, its record never ran */
  _Atomic int64_t time_ns;       /* when it was reached */
  _Atomic uint64_t device_event; /* what the table of a foreign device calls the record; 0: none */
  int32_t device;                /* the table's number */
  uint64_t stream_id;            /* of the stream it was recorded in */
  uint64_t capture_id;           /* of the capture that its record belongs to; 0: the record really runs */
};

struct eng_marker *eng_marker_new(uint64_t stream_id); /* one owner; NULL without memory */
struct eng_marker *eng_marker_share(struct eng_marker *marker);
void eng_marker_drop(struct eng_marker *marker);
static inline bool eng_marker_reached(struct eng_marker *marker) { return atomic_load(&marker->reached); }
void eng_marker_reach(struct eng_marker *marker);
/* An event's record, and its flag with it: under the lot's lock of the flag nobody sees one without the other. */
void eng_marker_reach_both(struct eng_marker *marker, struct eng_marker *flag);
/* Lets the waiters go with a failure: what they wait for will never happen. */
void eng_marker_lose(struct eng_marker *marker, int32_t status);
void eng_marker_clear(struct eng_marker *marker);
/* Blocks the calling thread. A waiter that was there when the marker was reached is let go even when the marker is
 * cleared before it wakes. `stream`: the one whose task waits, or NULL. */
enum eng_wait_end eng_marker_wait(struct eng_marker *marker, int64_t deadline_ns, struct eng_stream *stream);

#endif
