/* SPDX-License-Identifier: Apache-2.0
 * 64-bit values in device memory that streams write and wait for.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "failure.h"
#include "foreign.h"
#include "mark.h"
#include "memory.h"
#include "stream.h"

enum { VALUE_BYTES = 8 };

/* The allocation that holds the value, with a reference, or NULL and *status. */
static struct eng_memory *find_(uintptr_t address, const char *function, int32_t *status) {
  if (address == 0) {
    *status = eng_fail_null(function, "devAddr");
    return NULL;
  }
  if (address % VALUE_BYTES != 0) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_ADDR_UNALIGNED, function, "devAddr", "an address divisible by 8",
                         "align the value to its size", "0x%" PRIxPTR, address);
    return NULL;
  }
  struct eng_memory *memory = eng_memory_find(address);
  if (eng_memory_foreign(memory)) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "devAddr", "memory of an emulated device",
                         "use an event, or a value in pinned host memory", "memory of a CUDA device");
    eng_release(&memory->head);
    return NULL;
  }
  if (memory != NULL && memory->size - (address - memory->base) >= VALUE_BYTES) return memory;
  char place[256];
  eng_memory_describe(address, place, sizeof(place));
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "devAddr", "8 bytes inside a live allocation",
                       "allocate the value with aclrtMalloc", "%s", place);
  if (memory != NULL) eng_release(&memory->head);
  return NULL;
}

static int32_t queue_(aclpy_handle ctx, uintptr_t address, aclpy_handle stream, struct eng_task *task,
                      const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_memory *memory = find_(address, function, &status);
  if (memory == NULL) return status;
  struct eng_stream *found = eng_stream_resolve(ctx, stream, function, &status);
  if (found == NULL) {
    eng_release(&memory->head);
    return status;
  }
  task->u.mark.address = address;
  task->hold[task->n_holds++] = (uintptr_t)memory;
  status = eng_stream_submit(found, task, function, NULL);
  if (status != ACLPY_ACL_SUCCESS) eng_task_drop(task);
  eng_release(&found->head);
  return status;
}

static int32_t refuse_flag_(const char *function, uint32_t flag, const char *expected) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag", expected, "", "%" PRIu32, flag);
}

int32_t aclpy_value_write(aclpy_handle ctx, uintptr_t address, uint64_t value, uint32_t flag, aclpy_handle stream) {
  static const char function[] = "aclrtValueWrite";
  if (flag != 0) return refuse_flag_(function, flag, "0");
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_VALUE);
  task.u.mark.value = value;
  return queue_(ctx, address, stream, &task, function);
}

int32_t aclpy_value_wait(aclpy_handle ctx, uintptr_t address, uint64_t value, uint32_t flag, aclpy_handle stream) {
  static const char function[] = "aclrtValueWait";
  if (flag >= ENG_CMP_MODES) return refuse_flag_(function, flag, "0 (>=), 1 (==), 2 (and) or 3 (nor)");
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_WAIT, ENG_MARK_VALUE);
  task.u.mark.value = value;
  task.u.mark.mode = flag;
  return queue_(ctx, address, stream, &task, function);
}
