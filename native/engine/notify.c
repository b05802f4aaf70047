/* SPDX-License-Identifier: Apache-2.0
 * Notifies: a flag that one waiter takes, and the counting kind.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "fault.h"
#include "limit.h"
#include "lot.h"
#include "mark.h"
#include "stream.h"

enum { FLAG_DEFAULT = 0, FLAG_DEVICE_USE_ONLY = 1 };
enum { SET = 0, ADD = 1, OR = 2, AND = 4 };
enum { LESS, EQUAL, BIGGER, BIGGER_OR_EQUAL, EQUAL_WITH_BITMASK, WAIT_MODES };
#define RUNTIME_DEFAULT UINT32_MAX

struct eng_notify {
  struct eng_object head;
  bool counting;
  bool device_only;
  int32_t device;
  uint32_t id;
  _Atomic uint32_t value; /* 0 or 1 unless it counts */
};

static _Atomic uint32_t ids_;

/* ---- what tasks do ---- */

static struct eng_notify *notify_(struct eng_object *object) { return (struct eng_notify *)object; }

bool eng_notify_is_set(struct eng_object *object) { return atomic_load(&notify_(object)->value) != 0; }

bool eng_notify_take(struct eng_object *object) { return atomic_exchange(&notify_(object)->value, 0) != 0; }

void eng_notify_set(struct eng_object *object) {
  atomic_store(&notify_(object)->value, 1);
  eng_lot_wake(object);
}

bool eng_count_matches(struct eng_object *object, uint32_t mode, uint32_t value) {
  uint32_t now = atomic_load(&notify_(object)->value);
  switch (mode) {
    case LESS:
      return now < value;
    case EQUAL:
      return now == value;
    case BIGGER:
      return now > value;
    case BIGGER_OR_EQUAL:
      return now >= value;
    default:
      return (now & value) == value;
  }
}

void eng_count_change(struct eng_object *object, uint32_t mode, uint32_t value, bool reset) {
  _Atomic uint32_t *count = &notify_(object)->value;
  if (reset) {
    atomic_store(count, 0);
  } else if (mode == SET) {
    atomic_store(count, value);
  } else if (mode == ADD) {
    atomic_fetch_add(count, value);
  } else if (mode == OR) {
    atomic_fetch_or(count, value);
  } else {
    atomic_fetch_and(count, value);
  }
  eng_lot_wake(object);
}

/* ---- life ---- */

static int32_t create_(aclpy_handle ctx, uint64_t flag, bool counting, aclpy_handle *handle, const char *function) {
  if (handle == NULL) return eng_fail_null(function, "notify");
  if (flag > FLAG_DEVICE_USE_ONLY) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "flag", "0 (default) or 1 (for devices only)", "",
                      "%" PRIu64, flag);
  }
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  int32_t device = context->device;
  eng_release(&context->head);
  status = eng_limit_take(ENG_LIMIT_NOTIFIES, device, function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_notify *made = eng_object_zalloc(sizeof(*made));
  if (made != NULL) {
    made->counting = counting;
    made->device_only = flag == FLAG_DEVICE_USE_ONLY;
    made->device = device;
    made->id = atomic_fetch_add(&ids_, 1);
    if (eng_handle_open(ENG_NOTIFY, &made->head, handle)) return ACLPY_ACL_SUCCESS;
  }
  free(made);
  eng_limit_give(ENG_LIMIT_NOTIFIES, device);
  return eng_fail_memory(function, "a notify");
}

int32_t aclpy_notify_create(aclpy_handle ctx, uint64_t flag, aclpy_handle *notify) {
  return create_(ctx, flag, false, notify, "aclrtCreateNotify");
}

int32_t aclpy_count_create(aclpy_handle ctx, uint64_t flag, aclpy_handle *notify) {
  return create_(ctx, flag, true, notify, "aclrtCntNotifyCreate");
}

void eng_notify_dispose(void *object) {
  struct eng_notify *notify = object;
  eng_limit_give(ENG_LIMIT_NOTIFIES, notify->device);
  free(notify);
}

static struct eng_notify *find_(aclpy_handle handle, bool counting, const char *function, int32_t *status) {
  if (eng_stopping()) {
    *status = eng_fail_stopped(function);
    return NULL;
  }
  if (handle == 0) {
    *status = eng_fail_null(function, "notify");
    return NULL;
  }
  struct eng_notify *notify = eng_handle_acquire(ENG_NOTIFY, handle);
  if (notify != NULL && notify->counting == counting) return notify;
  *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "notify",
                       counting ? "a live counting notify" : "a live notify", "use one that has not been destroyed",
                       "notify 0x%" PRIx64 ", %s", handle,
                       notify != NULL ? "of the other kind" : eng_handle_past_text(ENG_NOTIFY, handle));
  if (notify != NULL) eng_release(&notify->head);
  return NULL;
}

static int32_t destroy_(aclpy_handle handle, bool counting, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_notify *notify = find_(handle, counting, function, &status);
  if (notify == NULL) return status;
  if (eng_handle_close(ENG_NOTIFY, handle, false) != NULL) eng_release(&notify->head); /* queued tasks hold theirs */
  eng_release(&notify->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_notify_destroy(aclpy_handle notify) { return destroy_(notify, false, "aclrtDestroyNotify"); }

int32_t aclpy_count_destroy(aclpy_handle notify) { return destroy_(notify, true, "aclrtCntNotifyDestroy"); }

static int32_t id_(aclpy_handle handle, bool counting, uint32_t *id, const char *function) {
  if (id == NULL) return eng_fail_null(function, "notifyId");
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_notify *notify = find_(handle, counting, function, &status);
  if (notify == NULL) return status;
  *id = notify->id;
  eng_release(&notify->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_notify_id(aclpy_handle notify, uint32_t *id) { return id_(notify, false, id, "aclrtGetNotifyId"); }

int32_t aclpy_count_id(aclpy_handle notify, uint32_t *id) { return id_(notify, true, id, "aclrtCntNotifyGetId"); }

/* ---- in streams ---- */

/* Fills the rest of a task that names the notify, and queues it. */
static int32_t queue_(aclpy_handle ctx, aclpy_handle handle, bool counting, aclpy_handle stream, struct eng_task *task,
                      const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_notify *notify = find_(handle, counting, function, &status);
  if (notify == NULL) return status;
  if (notify->device_only) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "notify", "a notify made with flag 0",
                        "the host may not use a notify that belongs to devices", "a notify for devices only");
  }
  struct eng_stream *found = status == ACLPY_ACL_SUCCESS ? eng_stream_resolve(ctx, stream, function, &status) : NULL;
  if (found != NULL) {
    eng_retain(&notify->head);
    task->u.mark.object = &notify->head;
    status = eng_stream_submit(found, task, function, NULL);
    if (status != ACLPY_ACL_SUCCESS) eng_release(&notify->head);
    eng_release(&found->head);
  }
  eng_release(&notify->head);
  return status;
}

int32_t aclpy_notify_record(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream) {
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_NOTIFY);
  return queue_(ctx, notify, false, stream, &task, "aclrtRecordNotify");
}

static int64_t span_(uint32_t seconds) {
  return eng_wait_span_ns(seconds == RUNTIME_DEFAULT ? eng_op_wait_seconds() : seconds);
}

int32_t aclpy_notify_wait(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t seconds) {
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_WAIT, ENG_MARK_NOTIFY);
  task.u.mark.timeout_ns = span_(seconds);
  return queue_(ctx, notify, false, stream, &task, "aclrtWaitAndResetNotify");
}

int32_t aclpy_notify_batch_reset(const aclpy_handle *notifies, size_t n) {
  static const char function[] = "aclrtNotifyBatchReset";
  if (notifies == NULL || n == 0) return eng_fail_null(function, notifies == NULL ? "notifies" : "num");
  int32_t status = ACLPY_ACL_SUCCESS;
  for (size_t i = 0; i < n; i++) { /* all are looked at before one is touched */
    struct eng_notify *notify = find_(notifies[i], false, function, &status);
    if (notify == NULL) return status;
    eng_release(&notify->head);
  }
  for (size_t i = 0; i < n; i++) {
    struct eng_notify *notify = find_(notifies[i], false, function, &status);
    if (notify == NULL) return status;
    (void)eng_notify_take(&notify->head);
    eng_release(&notify->head);
  }
  return ACLPY_ACL_SUCCESS;
}

/* Keys and imports: one process emulates its devices for itself. */
int32_t aclpy_notify_ipc(aclpy_handle handle, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_notify *notify = find_(handle, false, function, &status);
  if (notify == NULL) return status;
  eng_release(&notify->head);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "notify", "a notify used in its own process",
                    "emulated devices belong to one process", "a notify to be shared with another process");
}

static int32_t refuse_mode_(const char *function, uint32_t mode, const char *expected) {
  return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "mode", expected, "", "%" PRIu32, mode);
}

int32_t aclpy_count_record(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t mode, uint32_t value) {
  static const char function[] = "aclrtCntNotifyRecord";
  if (mode != SET && mode != ADD && mode != OR && mode != AND) {
    return refuse_mode_(function, mode, "0 (set), 1 (add), 2 (or) or 4 (and)");
  }
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_COUNT);
  task.u.mark.mode = mode;
  task.u.mark.value = value;
  return queue_(ctx, notify, true, stream, &task, function);
}

int32_t aclpy_count_wait(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t mode, uint32_t value,
                         uint32_t seconds) {
  static const char function[] = "aclrtCntNotifyWaitWithTimeout";
  if (mode >= WAIT_MODES) {
    return refuse_mode_(function, mode,
                        "0 (less), 1 (equal), 2 (bigger), 3 (bigger or equal) or 4 (equal with bit mask)");
  }
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_WAIT, ENG_MARK_COUNT);
  task.u.mark.mode = mode;
  task.u.mark.value = value;
  task.u.mark.timeout_ns = span_(seconds);
  return queue_(ctx, notify, true, stream, &task, function);
}

int32_t aclpy_count_reset(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream) {
  struct eng_task task;
  eng_task_init_mark(&task, ENG_TASK_RECORD, ENG_MARK_COUNT);
  task.u.mark.clears = true;
  return queue_(ctx, notify, true, stream, &task, "aclrtCntNotifyReset");
}
