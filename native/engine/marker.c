/* SPDX-License-Identifier: Apache-2.0
 * Markers.
 */
#include "marker.h"

#include <stdlib.h>

#include "fault.h"
#include "foreign.h"
#include "thread.h"

struct eng_marker *eng_marker_new(uint64_t stream_id) {
  struct eng_marker *marker = eng_object_alloc(sizeof(*marker));
  if (marker == NULL) return NULL;
  atomic_init(&marker->owners, 1);
  atomic_init(&marker->reached, false);
  atomic_init(&marker->status, 0);
  atomic_init(&marker->time_ns, 0);
  atomic_init(&marker->device_event, 0);
  marker->stream_id = stream_id;
  marker->capture_id = 0;
  return marker;
}

struct eng_marker *eng_marker_share(struct eng_marker *marker) {
  atomic_fetch_add_explicit(&marker->owners, 1, memory_order_relaxed);
  return marker;
}

void eng_marker_drop(struct eng_marker *marker) {
  if (marker == NULL || atomic_fetch_sub_explicit(&marker->owners, 1, memory_order_acq_rel) != 1) return;
  if (atomic_load_explicit(&marker->device_event, memory_order_relaxed) != 0) eng_foreign_event_end(marker);
  free(marker);
}

void eng_marker_reach(struct eng_marker *marker) {
  atomic_store(&marker->time_ns, eng_clock_ns());
  atomic_store(&marker->reached, true);
  eng_lot_wake(marker);
}

void eng_marker_reach_both(struct eng_marker *marker, struct eng_marker *flag) {
  eng_lot_lock(flag);
  int64_t now = eng_clock_ns();
  atomic_store(&flag->time_ns, now);
  atomic_store(&flag->reached, true);
  atomic_store(&marker->time_ns, now);
  atomic_store(&marker->reached, true);
  eng_lot_unlock(flag);
  eng_lot_wake(flag);
  eng_lot_wake(marker);
}

void eng_marker_lose(struct eng_marker *marker, int32_t status) {
  if (eng_marker_reached(marker)) return;
  atomic_store(&marker->status, status);
  eng_marker_reach(marker);
}

void eng_marker_clear(struct eng_marker *marker) { atomic_store(&marker->reached, false); }

static bool look_(void *arg) { return eng_marker_reached((struct eng_marker *)arg); }

enum eng_wait_end eng_marker_wait(struct eng_marker *marker, int64_t deadline_ns, struct eng_stream *stream) {
  return eng_lot_wait(&(struct eng_wait){
      .key = marker, .look = look_, .arg = marker, .latched = true, .deadline_ns = deadline_ns, .stream = stream});
}
