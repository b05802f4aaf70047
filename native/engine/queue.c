/* SPDX-License-Identifier: Apache-2.0
 * Blocks of tasks.
 */
#include "queue.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "fault.h"

enum { BLOCK_BYTES = 64 * 1024 };

struct eng_block {
  struct eng_block *next;
  struct eng_task tasks[];
};

enum { BLOCK_TASKS = (BLOCK_BYTES - sizeof(struct eng_block)) / sizeof(struct eng_task) };
_Static_assert(sizeof(struct eng_task) <= 256, "a queued task takes at most 256 bytes");

static struct eng_block *map_(void) {
  if (eng_fault(ENG_RESOURCE_OBJECT)) return NULL;
  void *data = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? NULL : data;
}

static void unmap_(struct eng_block *block) {
  if (block != NULL) munmap(block, BLOCK_BYTES);
}

struct eng_task *eng_queue_reserve(struct eng_queue *queue) {
  if (queue->tail == NULL || queue->tail_index == BLOCK_TASKS) {
    struct eng_block *block = atomic_exchange(&queue->spare, NULL);
    if (block == NULL) block = map_();
    if (block == NULL) return NULL;
    block->next = NULL;
    if (queue->tail == NULL) {
      queue->head = block;
    } else {
      queue->tail->next = block;
    }
    queue->tail = block;
    queue->tail_index = 0;
  }
  return &queue->tail->tasks[queue->tail_index];
}

bool eng_queue_room(struct eng_queue *queue, uint32_t n) {
  if (queue->tail != NULL && queue->tail_index + n <= BLOCK_TASKS) return true;
  if (atomic_load(&queue->spare) != NULL) return true; /* only the writer takes it; the reader may exchange it */
  struct eng_block *block = map_();
  if (block == NULL) return false;
  unmap_(atomic_exchange(&queue->spare, block));
  return true;
}

struct eng_task *eng_queue_next(struct eng_queue *queue) {
  if (queue->head_index == BLOCK_TASKS) {
    struct eng_block *empty = queue->head;
    queue->head = empty->next;
    queue->head_index = 0;
    unmap_(atomic_exchange(&queue->spare, empty));
  }
  return &queue->head->tasks[queue->head_index++];
}

const struct eng_task *eng_queue_first(const struct eng_queue *queue) {
  bool stepped = queue->head_index == BLOCK_TASKS;
  const struct eng_block *block = stepped ? queue->head->next : queue->head;
  return &block->tasks[stepped ? 0 : queue->head_index];
}

void eng_queue_rewind(struct eng_queue *queue) {
  if (queue->head != queue->tail) return; /* the reader has yet to step into the last block */
  queue->head_index = 0;
  queue->tail_index = 0;
}

void eng_queue_peek(const struct eng_queue *queue, uint64_t count, void (*visit)(struct eng_task *task)) {
  struct eng_block *block = queue->head;
  uint32_t index = queue->head_index;
  for (; count > 0; count--) {
    if (index == BLOCK_TASKS) {
      block = block->next;
      index = 0;
    }
    visit(&block->tasks[index++]);
  }
}

bool eng_queue_find(const struct eng_queue *queue, uint64_t count,
                    bool (*fits)(const struct eng_task *task, const void *arg), const void *arg, uint64_t *position) {
  const struct eng_block *block = queue->head;
  uint32_t index = queue->head_index;
  for (uint64_t i = 0; i < count; i++) {
    if (index == BLOCK_TASKS) {
      block = block->next;
      index = 0;
    }
    if (!fits(&block->tasks[index++], arg)) continue;
    *position = i;
    return true;
  }
  return false;
}

void eng_queue_close(struct eng_queue *queue) {
  while (queue->head != NULL) {
    struct eng_block *next = queue->head->next;
    unmap_(queue->head);
    queue->head = next;
  }
  queue->tail = NULL;
  unmap_(atomic_exchange(&queue->spare, NULL));
}
