/* SPDX-License-Identifier: Apache-2.0
 * What the forms of copying and filling share: the two ends, their checks, the real direction.
 */
#ifndef ACLPY_ENGINE_COPY_H
#define ACLPY_ENGINE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eng_memory;
struct eng_stream;
struct eng_task;

enum {
  ENG_HOST_TO_HOST = 0,
  ENG_HOST_TO_DEVICE = 1,
  ENG_DEVICE_TO_HOST = 2,
  ENG_DEVICE_TO_DEVICE = 3,
  ENG_DEFAULT_KIND = 4,
  ENG_HOST_TO_BUF_TO_DEVICE = 5
};

/* One end of a copy: `span` bytes from `address`. */
struct eng_end {
  const char *name;
  uintptr_t address;
  size_t span;
  struct eng_memory *memory; /* a reference; NULL: memory that we did not allocate, so pageable host memory */
};

bool eng_end_on_device(const struct eng_end *end);
/* Finds the allocation and refuses to run past its end, or past the memory that the process has at all. */
int32_t eng_end_find(struct eng_end *end, const char *function);
/* Both ends, and the peer access that `device` needs for a copy between two others. Nothing is held on failure. */
int32_t eng_ends_find(struct eng_end *dst, struct eng_end *src, int32_t device, const char *function);
void eng_end_release(struct eng_end *end);
void eng_ends_release(struct eng_end *dst, struct eng_end *src);
/* The task takes over the references. */
void eng_task_give(struct eng_task *task, struct eng_end *end);

/* The direction by where the ends lie; a kind that contradicts the known end is refused. */
int32_t eng_kind_correct(const char *function, const struct eng_end *dst, const struct eng_end *src, int32_t kind,
                         int32_t *real);
int32_t eng_refuse_kind(const char *function, int32_t status, int32_t kind, const char *expected);
int32_t eng_refuse_count(const char *function, const char *limit_name, size_t count, size_t limit);
int32_t eng_refuse_host_to_host(const char *function);

/* Queues a built task; it is dropped when the stream refuses it. */
int32_t eng_stream_put(struct eng_stream *stream, struct eng_task *task, const char *function);

#endif
