/* SPDX-License-Identifier: Apache-2.0
 * Events: the object behind the handle.
 */
#ifndef ACLPY_ENGINE_EVENT_H
#define ACLPY_ENGINE_EVENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "handle_table.h"

struct eng_marker;
struct eng_stream;

enum {
  ENG_EVENT_SYNC = 0x01,
  ENG_EVENT_PROGRESS = 0x02,
  ENG_EVENT_DEVICE_SYNC = 0x04,
  ENG_EVENT_TIME_LINE = 0x08,
  ENG_EVENT_DEVICE_USE_ONLY = 0x10,
  ENG_EVENT_EXTERNAL = 0x20,
  ENG_EVENT_IPC = 0x40
};

struct eng_event {
  struct eng_object head;
  int32_t kind; /* ACLPY_EVENT_* */
  uint32_t flags;
  uint32_t id;
  int32_t device;
  atomic_int waits; /* WAIT tasks that have not run yet */
  pthread_mutex_t lock;
  struct eng_marker *latest; /* of the latest record; NULL before the first */
  struct eng_marker *flag;   /* ACLPY_EVENT_WITH_FLAG only */
  int32_t record_flag;       /* of aclrtRecordEventWithFlag; -1 before the first */
};

/* The live event with a reference, or NULL, *status and the thread's error. */
struct eng_event *eng_event_find(aclpy_handle handle, const char *function, const char *argument, int32_t *status);
/* A reference to the latest record's marker, or NULL. Records that belong to a capture that is over count as none. */
struct eng_marker *eng_event_latest(struct eng_event *event);
/* Host calls on an event that is being captured: 107028. */
int32_t eng_event_check_captured(struct eng_event *event, const struct eng_marker *latest, const char *function);
void eng_event_wait_over(struct eng_object *event);

/* At a replay: the record of, or the wait for, an event outside of the graph, as if it were called now. */
int32_t eng_event_record_now(struct eng_event *event, struct eng_stream *stream, const char *function);
int32_t eng_event_wait_now(struct eng_event *event, struct eng_stream *stream, const char *function);
int32_t eng_event_reset_now(struct eng_event *event, struct eng_stream *stream, const char *function);

#endif
