/* SPDX-License-Identifier: Apache-2.0
 * The queue of one stream: blocks of tasks, filled at one end under the stream's lock, emptied at the other without.
 *
 * Blocks come from the system and go back to it as soon as they are empty, but for one that is kept for the next need.
 */
#ifndef ACLPY_ENGINE_QUEUE_H
#define ACLPY_ENGINE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "task.h"

struct eng_block;

struct eng_queue {
  struct eng_block *tail; /* writer's side */
  uint32_t tail_index;
  struct eng_block *head; /* reader's side */
  uint32_t head_index;
  struct eng_block *_Atomic spare;
};

/* Writer, one at a time: room for the next task, or NULL without memory. The task counts once it is committed. */
struct eng_task *eng_queue_reserve(struct eng_queue *queue);
/* Writer: makes sure that the next `n` reserves succeed; n is at most that of one block. */
bool eng_queue_room(struct eng_queue *queue, uint32_t n);
static inline void eng_queue_commit(struct eng_queue *queue) { queue->tail_index++; }
/* Reader: the next task; there must be one. It stays in place until the next call. */
struct eng_task *eng_queue_next(struct eng_queue *queue);
/* Reader: what eng_queue_next would give. */
const struct eng_task *eng_queue_first(const struct eng_queue *queue);
/* With both sides at rest and nothing queued: starts over at the beginning of the block, which is warm in the cache. */
void eng_queue_rewind(struct eng_queue *queue);
/* Calls `visit` for each of the next `count` tasks without moving the reader. */
void eng_queue_peek(const struct eng_queue *queue, uint64_t count, void (*visit)(struct eng_task *task));
/* Reader: whether one of the next `count` tasks fits, and how many come before it. */
bool eng_queue_find(const struct eng_queue *queue, uint64_t count,
                    bool (*fits)(const struct eng_task *task, const void *arg), const void *arg, uint64_t *position);
void eng_queue_close(struct eng_queue *queue);

#endif
