/* SPDX-License-Identifier: Apache-2.0
 * Latches: streams that are parked at one wait until it is released. No thread of the program is held.
 */
#include "aclpy_status.h"

#include <inttypes.h>
#include <stdlib.h>

#include "failure.h"
#include "fault.h"
#include "handle_table.h"
#include "marker.h"
#include "stream.h"
#include "task.h"

struct eng_latch {
  struct eng_object head;
  struct eng_marker *marker;
};

void eng_latch_dispose(void *object) {
  struct eng_latch *latch = object;
  eng_marker_drop(latch->marker);
  free(latch);
}

int32_t aclpy_latch_create(aclpy_handle *handle) {
  static const char function[] = "Latch";
  if (handle == NULL) return eng_fail_null(function, "latch");
  struct eng_latch *latch = eng_object_zalloc(sizeof(*latch));
  if (latch != NULL) latch->marker = eng_marker_new(0);
  if (latch != NULL && latch->marker != NULL && eng_handle_open(ENG_LATCH, &latch->head, handle)) {
    return ACLPY_ACL_SUCCESS;
  }
  if (latch != NULL) eng_marker_drop(latch->marker);
  free(latch);
  return eng_fail_memory(function, "a latch");
}

static struct eng_latch *find_(aclpy_handle handle, const char *function, int32_t *status) {
  struct eng_latch *latch = handle == 0 ? NULL : eng_handle_acquire(ENG_LATCH, handle);
  if (latch != NULL) return latch;
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "latch", "a live latch",
                       "use a latch that has not been destroyed", "latch 0x%" PRIx64, handle);
  return NULL;
}

int32_t aclpy_latch_park(aclpy_handle ctx, aclpy_handle handle, aclpy_handle stream) {
  static const char function[] = "Latch.park";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_latch *latch = find_(handle, function, &status);
  if (latch == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found != NULL) status = eng_stream_check_captured(found, function);
  if (found != NULL && status == ACLPY_ACL_SUCCESS) {
    struct eng_task task;
    eng_task_init_mark(&task, ENG_TASK_WAIT, ENG_MARK_EVENT);
    task.u.mark.marker = eng_marker_share(latch->marker);
    status = eng_stream_submit(found, &task, function, NULL);
    if (status != ACLPY_ACL_SUCCESS) eng_task_drop(&task);
  }
  if (found != NULL) eng_release(&found->head);
  eng_release(&latch->head);
  return status;
}

int32_t aclpy_latch_release(aclpy_handle handle) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_latch *latch = find_(handle, "Latch.release", &status);
  if (latch == NULL) return status;
  eng_marker_reach(latch->marker);
  eng_release(&latch->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_latch_destroy(aclpy_handle handle) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_latch *latch = find_(handle, "Latch.close", &status);
  if (latch == NULL) return status;
  eng_marker_reach(latch->marker); /* nobody could release it any more */
  if (eng_handle_close(ENG_LATCH, handle, false) != NULL) eng_release(&latch->head);
  eng_release(&latch->head);
  return ACLPY_ACL_SUCCESS;
}
