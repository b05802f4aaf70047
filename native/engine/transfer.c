/* SPDX-License-Identifier: Apache-2.0
 * Queueing and running the larger forms of copying.
 */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "copy.h"
#include "failure.h"
#include "fault.h"
#include "foreign.h"
#include "memory.h"
#include "stream.h"

static struct eng_transfer *clone_(const struct eng_transfer *what, const struct eng_piece *pieces) {
  size_t n = pieces != NULL ? what->n : 0;
  if (n > (SIZE_MAX - sizeof(*what)) / sizeof(*pieces)) return NULL;
  struct eng_transfer *clone = eng_object_alloc(sizeof(*what) + n * sizeof(*pieces));
  if (clone == NULL) return NULL;
  memcpy(clone, what, sizeof(*what));
  atomic_init(&clone->owners, 1);
  if (n > 0) memcpy(clone->pieces, pieces, n * sizeof(*pieces));
  return clone;
}

int32_t eng_transfer_queue(struct eng_stream *stream, const struct eng_transfer *what, const struct eng_piece *pieces,
                           struct eng_end *ends, size_t n_ends) {
  struct eng_task task;
  eng_task_init(&task, ENG_TASK_RUN, ENG_WORK_TRANSFER);
  task.u.transfer = clone_(what, pieces);
  if (task.u.transfer == NULL || n_ends > INT32_MAX || !eng_task_reserve(&task, (int32_t)n_ends)) {
    free(task.u.transfer);
    return eng_fail_memory(what->function, "a queued copy");
  }
  for (size_t i = 0; i < n_ends; i++) eng_task_give(&task, &ends[i]);
  return eng_stream_put(stream, &task, what->function);
}

void eng_transfer_retain(struct eng_transfer *transfer) { atomic_fetch_add(&transfer->owners, 1); }

void eng_transfer_drop(struct eng_transfer *transfer) {
  if (atomic_fetch_sub(&transfer->owners, 1) == 1) free(transfer);
}

/* ---- what they do ---- */

int32_t eng_copy_2d(const struct eng_transfer *what, const struct eng_memory *to, const struct eng_memory *from) {
  int32_t status = ACLPY_ACL_SUCCESS;
  for (size_t row = 0; row < what->height && status == ACLPY_ACL_SUCCESS; row++) {
    status =
        eng_bytes_move(to, from, what->dst + row * what->dst_pitch, what->src + row * what->src_pitch, what->width);
  }
  return status;
}

/* The pattern is made on the host and goes over piece by piece. */
static int32_t fill_foreign_(const struct eng_memory *to, uintptr_t dst, uint32_t value, size_t count) {
  enum { PIECE = 1 << 14 };
  uint32_t *piece = malloc(PIECE * sizeof(*piece));
  if (piece == NULL) return eng_fail_memory("aclrtMemsetD32", "the pattern");
  for (size_t i = 0; i < PIECE; i++) piece[i] = value;
  int32_t status = ACLPY_ACL_SUCCESS;
  for (size_t done = 0; done < count && status == ACLPY_ACL_SUCCESS; done += PIECE) {
    size_t now = count - done < PIECE ? count - done : PIECE;
    status = eng_bytes_move(to, NULL, dst + done * sizeof(*piece), (uintptr_t)piece, now * sizeof(*piece));
  }
  free(piece);
  return status;
}

int32_t eng_fill_d32(const struct eng_memory *to, uintptr_t dst, uint32_t value, size_t count) {
  if (eng_memory_foreign(to)) return fill_foreign_(to, dst, value, count);
  uint32_t *at = (uint32_t *)dst;
  for (size_t i = 0; i < count; i++) at[i] = value;
  return ACLPY_ACL_SUCCESS;
}

static void copy_list_(const struct eng_transfer *what) {
  for (size_t i = 0; i < what->n; i++) {
    const struct eng_piece *piece = &what->pieces[i];
    memmove((void *)piece->dst, (const void *)piece->src, piece->count);
  }
}

int32_t eng_transfer_run(const struct eng_transfer *what) {
  switch (what->form) {
    case ENG_TRANSFER_2D:
      return eng_copy_2d(what, NULL, NULL);
    case ENG_TRANSFER_LIST:
      copy_list_(what);
      return ACLPY_ACL_SUCCESS;
    case ENG_TRANSFER_D32:
      return eng_fill_d32(NULL, what->dst, what->value, what->n);
    case ENG_TRANSFER_BEHIND:
      return eng_copy_behind(what);
    case ENG_TRANSFER_DESCRIBED:
      return eng_copy_described(what);
    default:
      return ACLPY_ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
  }
}
