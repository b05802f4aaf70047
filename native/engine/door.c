/* SPDX-License-Identifier: Apache-2.0
 * The door of a stream.
 */
#include "door.h"

#include "bench.h"
#include "context.h"
#include "settings.h"

enum { BUSY = ENG_DOOR_BUSY, SHUT = ENG_DOOR_SHUT };

static bool take_(_Atomic uint64_t *door) {
  uint64_t idle = 0;
  return atomic_load_explicit(door, memory_order_relaxed) == 0 &&
         atomic_compare_exchange_strong_explicit(door, &idle, BUSY, memory_order_acq_rel, memory_order_relaxed);
}

/* Whether a call that names no context may use it. */
static bool at_hand_(const struct eng_stream *stream) {
  return stream->free_standing || eng_context_is_current(stream->context);
}

static bool wanted_(void) {
  return eng_bench() == 0 && atomic_load_explicit(&eng_settings.inline_runs, memory_order_relaxed) && !eng_stopping();
}

struct eng_stream *eng_door_enter_at(const struct eng_spot *spot) {
  _Atomic uint64_t *door = &spot->slot->note;
  if (!eng_spot_lives(spot) || !take_(door)) return NULL;
  /* Perhaps a later stream in the same place; one that stays while its door is busy, in any case. */
  struct eng_stream *stream = (struct eng_stream *)spot->slot->object;
  if (eng_spot_lives(spot) && at_hand_(stream) && wanted_()) return stream;
  eng_door_leave(stream);
  return NULL;
}

struct eng_stream *eng_door_enter(aclpy_handle handle) {
  struct eng_spot spot;
  return eng_handle_spot(ENG_STREAM, handle, &spot) ? eng_door_enter_at(&spot) : NULL;
}

bool eng_door_try(struct eng_stream *stream) {
  if (!take_(stream->door)) return false;
  if (wanted_()) return true;
  eng_door_leave(stream);
  return false;
}

bool eng_door_quiet(aclpy_handle handle) {
  struct eng_spot spot;
  return eng_handle_spot(ENG_STREAM, handle, &spot) && eng_spot_lives(&spot) &&
         atomic_load_explicit(&spot.slot->note, memory_order_acquire) == 0 && eng_spot_lives(&spot);
}

/* Under the lock: a run as one of the stream's tasks. */
static void count_(struct eng_stream *stream) {
  eng_retain(&stream->head);
  stream->inline_busy = true;
  atomic_store_explicit(&stream->submitted, atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1,
                        memory_order_release);
}

void eng_door_shut(struct eng_stream *stream) {
  /* Only reopening, under the lock, takes SHUT away. */
  if (atomic_load_explicit(stream->door, memory_order_relaxed) == SHUT) return;
  uint64_t before = atomic_fetch_or_explicit(stream->door, SHUT, memory_order_acq_rel);
  if ((before & BUSY) == 0) return;
  count_(stream);
  /* Last: until here those who look without the lock see it busy, from here on they see it counted. */
  atomic_fetch_and_explicit(stream->door, ~(uint64_t)BUSY, memory_order_acq_rel);
}

void eng_door_reopen(struct eng_stream *stream) {
  if (stream->foreign || atomic_load(&stream->failed) || atomic_load(&stream->blocking_callbacks) != 0) {
    count_(stream);
    return;
  }
  (void)atomic_exchange_explicit(stream->door, BUSY, memory_order_acq_rel);
  /* A gate that was set meanwhile was set before its bolt, which the exchange may have taken away. */
  if (atomic_load_explicit(&stream->gate, memory_order_relaxed) != 0) eng_door_bolt(stream);
}

void eng_door_bolt(struct eng_stream *stream) {
  (void)atomic_fetch_or_explicit(stream->door, SHUT, memory_order_acq_rel);
}

/* The end of a run that was counted. */
static void done_(struct eng_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->inline_busy = false;
  uint64_t completed = atomic_fetch_add(&stream->completed, 1) + 1;
  bool wake = false;
  if (stream->queued != atomic_load_explicit(&stream->visible, memory_order_relaxed)) {
    atomic_store_explicit(&stream->visible, stream->queued, memory_order_release);
    wake = stream->worker_sleeping;
    stream->worker_sleeping = false;
  } else if (stream->closing && stream->worker_sleeping) {
    wake = true; /* it was only waiting for us */
    stream->worker_sleeping = false;
  }
  bool waited_for = completed >= atomic_load(&stream->next_target);
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_unpark(&stream->parker);
  if (waited_for) eng_stream_wake_waiters(stream);
}

void eng_door_leave(struct eng_stream *stream) {
  uint64_t busy = BUSY;
  if (atomic_compare_exchange_strong_explicit(stream->door, &busy, 0, memory_order_release, memory_order_relaxed)) {
    return; /* the stream may be gone by now */
  }
  pthread_mutex_lock(&stream->lock);
  bool counted = (atomic_load_explicit(stream->door, memory_order_relaxed) & BUSY) == 0;
  if (!counted) { /* bolted */
    eng_retain(&stream->head);
    atomic_fetch_and_explicit(stream->door, ~(uint64_t)BUSY, memory_order_acq_rel);
  }
  pthread_mutex_unlock(&stream->lock);
  if (counted) done_(stream);
  eng_release(&stream->head);
}
