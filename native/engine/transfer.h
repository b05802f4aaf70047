/* SPDX-License-Identifier: Apache-2.0
 * The copies that need more words than a task has: rectangles, lists, patterns, and addresses that stand in memory.
 */
#ifndef ACLPY_ENGINE_TRANSFER_H
#define ACLPY_ENGINE_TRANSFER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct eng_end;
struct eng_memory;
struct eng_stream;

enum eng_transfer_form {
  ENG_TRANSFER_2D,
  ENG_TRANSFER_LIST,
  ENG_TRANSFER_D32,
  ENG_TRANSFER_BEHIND,   /* dst and src are where the addresses stand, the pitches are added to them */
  ENG_TRANSFER_DESCRIBED /* src is where the descriptor stands */
};

struct eng_piece {
  uintptr_t dst, src;
  size_t count;
};

struct eng_transfer {
  enum eng_transfer_form form;
  atomic_int owners;    /* a task in a queue, and one in each recorded graph */
  const char *function; /* for messages and traces */
  uintptr_t dst, src;
  size_t dst_pitch, src_pitch, width, height; /* 2D; BEHIND without a height */
  uint32_t value;                             /* D32 */
  size_t n;                                   /* D32: values; LIST: pieces */
  struct eng_piece pieces[];
};

/* Queues a copy of `what` with its n pieces; the task takes over what the ends hold. */
int32_t eng_transfer_queue(struct eng_stream *stream, const struct eng_transfer *what, const struct eng_piece *pieces,
                           struct eng_end *ends, size_t n_ends);
void eng_transfer_retain(struct eng_transfer *transfer);
void eng_transfer_drop(struct eng_transfer *transfer);
int32_t eng_transfer_run(const struct eng_transfer *what);

/* At once; the allocations, or NULL for pageable memory. */
int32_t eng_copy_2d(const struct eng_transfer *what, const struct eng_memory *to, const struct eng_memory *from);
/* copy_indirect.c: addresses are read now. */
int32_t eng_copy_behind(const struct eng_transfer *what);
int32_t eng_copy_described(const struct eng_transfer *what);
int32_t eng_fill_d32(const struct eng_memory *to, uintptr_t dst, uint32_t value, size_t count);

#endif
