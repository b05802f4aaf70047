/* SPDX-License-Identifier: Apache-2.0
 * Devices that are not emulated, as the rest of the engine sees them.
 *
 * Work goes to the device at two places. A submitter that finds nothing of the host queued before its task puts the
 * work into the device's queue at once (foreign_stream.c), and the stream's worker merely waits for its end. What
 * stands behind work of the host - a host function, a wait for an emulated stream - is put there by the worker, when
 * its turn comes. So tasks complete in order in both cases, and holds, events and failures mean the same as ever.
 */
#ifndef ACLPY_ENGINE_FOREIGN_H
#define ACLPY_ENGINE_FOREIGN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings.h"

struct eng_marker;
struct eng_memory;
struct eng_stream;
struct eng_task;

extern atomic_int eng_foreign_devices; /* 0 while no table is installed */
extern atomic_uint eng_foreign_era;    /* grows with every table: what was known through one before is void */

/* Of a device that exists. */
static inline bool eng_device_foreign(int32_t device) { return eng_settings.foreign || device >= ACLPY_FOREIGN_FIRST; }
/* The status of a device number that only a table can make valid; loads it where it is meant to be loaded. */
int32_t eng_foreign_check(int32_t device, const char *function, const char *argument);
/* Loads the table unless it is there. */
int32_t eng_foreign_load(const char *function);
/* How the library finds a loader in a program without Python; of the C ABI. */
typedef int32_t (*eng_foreign_starter)(const char *function);
void eng_foreign_starter_install(eng_foreign_starter starter);
void eng_foreign_after_fork(void);

/* ---- memory ---- */

bool eng_foreign_alloc(struct eng_memory *memory);
void eng_foreign_free(struct eng_memory *memory);
uint64_t eng_foreign_memory_bytes(int32_t device);
int32_t eng_foreign_memory(int32_t device, uint64_t *free_bytes, uint64_t *total);
/* Device memory that no processor can read. */
bool eng_memory_foreign(const struct eng_memory *memory);
bool eng_address_foreign(uintptr_t address);

/* Moves and sets bytes that may be a device's, at once. The allocations, or NULL for pageable memory. */
int32_t eng_bytes_move(const struct eng_memory *to, const struct eng_memory *from, uintptr_t dst, uintptr_t src,
                       size_t count);
int32_t eng_bytes_set(const struct eng_memory *to, uintptr_t dst, int32_t value, size_t count);

/* ---- tasks ---- */

enum eng_launch { ENG_LAUNCH_NONE, ENG_LAUNCHED, ENG_LAUNCH_FAILED };

/* Moving and setting bytes as part of a task. False: it is all the host's memory. */
/* Whether it is one that the device does by itself, so that it can be recorded. */
bool eng_foreign_launches(const struct eng_stream *stream, const struct eng_task *task);
bool eng_foreign_moves(struct eng_stream *stream, struct eng_task *task, int32_t *status);
/* Under the stream's lock: whether the task may go to the device now. */
bool eng_foreign_may_launch(const struct eng_stream *stream, const struct eng_task *task);
/* Without it, after that: does it, then lets the worker see the task. */
void eng_foreign_launch(struct eng_stream *stream, struct eng_task *task, uint64_t number);
/* By whoever has the reader's side, for a task of such a stream: runs it, or waits for what was launched. */
int32_t eng_foreign_run(struct eng_stream *stream, struct eng_task *task);
void eng_foreign_discarded(struct eng_stream *stream, const struct eng_task *task);
/* Waits for all that the device has of the stream. */
int32_t eng_foreign_settle(struct eng_stream *stream);
void eng_foreign_end(struct eng_stream *stream);

/* ---- replays ---- */

/* A recording is known by the graph's number and, in the low bits, the first task of the stretch. */
enum { ENG_STRETCH_BITS = 24 };

/* Whether the device has put its recording of a stretch into the stream; else *record says whether to record now. */
bool eng_foreign_replay(struct eng_stream *stream, uint64_t key, bool *record);
bool eng_foreign_replayed(struct eng_stream *stream, uint64_t key, bool whole);
void eng_foreign_forget_graph(int32_t device, uint64_t key);

/* ---- markers ---- */

void eng_foreign_event_end(struct eng_marker *marker);
/* Those that wait to be used again are another table's. */
void eng_foreign_forget_events(void);
bool eng_foreign_elapsed(const struct eng_marker *start, const struct eng_marker *end, float *ms);

#endif
