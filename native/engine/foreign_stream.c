/* SPDX-License-Identifier: Apache-2.0
 * Tasks of a foreign device's streams: put into the device's queue early, completed in order.
 *
 * `launched` is the number of the last task that the device has, `synced` that of the last one it has certainly done.
 * `backlog` counts queued tasks that the device does not have yet: while there are any, everything waits its turn.
 */
#include "foreign.h"

#include <stdlib.h>

#include "aclpy_status.h"
#include "bench.h"
#include "driver.h"
#include "failure.h"
#include "foreign_table.h"
#include "marker.h"
#include "memory.h"
#include "operator.h"
#include "plan.h"
#include "stream.h"
#include "transfer.h"
#include "watch.h"

/* ---- what a task asks of the device ---- */

/* Memory of a foreign device among what a copy or fill touches: of the stream's own device, where some is. */
static const struct eng_memory *foreign_end_(const struct eng_stream *stream, const struct eng_task *task) {
  const struct eng_memory *found = NULL;
  const eng_hold *holds = eng_task_holds((struct eng_task *)(uintptr_t)task); /* they are only read */
  for (uint32_t i = 0; i < task->n_holds; i++) {
    const struct eng_memory *memory = eng_hold_memory(holds[i]);
    if (!eng_memory_foreign(memory)) continue;
    if (memory->device == stream->device) return memory;
    if (found == NULL) found = memory;
  }
  return found;
}

/* Whether it goes into the stream's own queue; what touches host memory only, or other devices', is the host's to
 * start. */
static bool in_queue_(const struct eng_stream *stream, const struct eng_task *task) {
  const struct eng_memory *end = foreign_end_(stream, task);
  return end != NULL && end->device == stream->device;
}

struct queue_ {
  int32_t device;
  uint64_t stream; /* 0: at once */
};

static int32_t copy_(struct queue_ to, uintptr_t dst, uintptr_t src, size_t count) {
  return count == 0 ? ACLPY_ACL_SUCCESS : eng_foreign_table.copy(to.device, to.stream, dst, src, count);
}

static int32_t transfer_(struct queue_ to, const struct eng_transfer *what) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (what->form == ENG_TRANSFER_LIST) {
    for (size_t i = 0; i < what->n && status == ACLPY_ACL_SUCCESS; i++) {
      status = copy_(to, what->pieces[i].dst, what->pieces[i].src, what->pieces[i].count);
    }
    return status;
  }
  for (size_t row = 0; row < what->height && status == ACLPY_ACL_SUCCESS; row++) {
    status = copy_(to, what->dst + row * what->dst_pitch, what->src + row * what->src_pitch, what->width);
  }
  return status;
}

static int32_t fill_pattern_(struct eng_stream *stream, const struct eng_memory *to, const struct eng_transfer *what) {
  int32_t status = stream->foreign ? eng_foreign_settle(stream) : ACLPY_ACL_SUCCESS;
  return status == ACLPY_ACL_SUCCESS ? eng_fill_d32(to, what->dst, what->value, what->n) : status;
}

bool eng_foreign_moves(struct eng_stream *stream, struct eng_task *task, int32_t *status) {
  const struct eng_memory *end = foreign_end_(stream, task);
  if (end == NULL) return false;
  struct queue_ to = {.device = eng_foreign_index(end->device)};
  if (stream->foreign && stream->device == end->device) to.stream = stream->id;
  if (stream->foreign && to.stream == 0) (void)eng_foreign_settle(stream); /* what is done at once comes after it */
  if (task->work == ENG_WORK_COPY) {
    *status = copy_(to, task->u.copy.dst, task->u.copy.src, task->u.copy.count);
  } else if (task->work == ENG_WORK_SET) {
    *status = eng_foreign_table.fill(to.device, to.stream, task->u.copy.dst, task->u.copy.value, task->u.copy.count);
  } else if (task->u.transfer->form == ENG_TRANSFER_D32) {
    *status = fill_pattern_(stream, end, task->u.transfer);
  } else {
    *status = transfer_(to, task->u.transfer);
  }
  return true;
}

/* Whether the device can do it without the host. */
static bool launchable_(const struct eng_stream *stream, const struct eng_task *task) {
  if (task->kind == ENG_TASK_RECORD) return task->work == ENG_MARK_EVENT && task->u.mark.marker != NULL;
  if (task->kind == ENG_TASK_WAIT) {
    return task->work == ENG_MARK_EVENT &&
           (eng_marker_reached(task->u.mark.marker) || atomic_load(&task->u.mark.marker->device_event) != 0);
  }
  switch ((enum eng_task_work)task->work) {
    case ENG_WORK_PLAN:
      return (task->u.plan.plan->flags & ACLPY_PLAN_FOREIGN) != 0;
    case ENG_WORK_COPY:
    case ENG_WORK_SET:
      return in_queue_(stream, task);
    case ENG_WORK_TRANSFER:
      return task->u.transfer->form != ENG_TRANSFER_D32 && in_queue_(stream, task);
    case ENG_WORK_FOREIGN:
    case ENG_WORK_POST:
    case ENG_WORK_REPLAY:
    case ENG_WORK_UPDATE:
    default:
      return false;
  }
}

bool eng_foreign_launches(const struct eng_stream *stream, const struct eng_task *task) {
  return task->kind == ENG_TASK_RUN && launchable_(stream, task);
}

bool eng_foreign_may_launch(const struct eng_stream *stream, const struct eng_task *task) {
  return !stream->inline_busy && atomic_load(&stream->backlog) == 0 &&
         atomic_load_explicit(&eng_settings.inline_runs, memory_order_relaxed) &&
         atomic_load(&eng_foreign_devices) != 0 && launchable_(stream, task);
}

/* ---- events ---- */

static struct spare_ {
  int32_t device;
  uint64_t event;
} *spare_;
static size_t n_spare_, spare_places_;
static pthread_mutex_t spare_lock_ = PTHREAD_MUTEX_INITIALIZER;

static uint64_t take_event_(int32_t device) {
  uint64_t event = 0;
  pthread_mutex_lock(&spare_lock_);
  for (size_t i = 0; i < n_spare_ && event == 0; i++) {
    if (spare_[i].device != device) continue;
    event = spare_[i].event;
    spare_[i] = spare_[--n_spare_];
  }
  pthread_mutex_unlock(&spare_lock_);
  return event;
}

void eng_foreign_forget_events(void) {
  pthread_mutex_lock(&spare_lock_);
  n_spare_ = 0;
  pthread_mutex_unlock(&spare_lock_);
}

/* A place for one more; under the lock. */
static bool room_for_spare_(void) {
  if (n_spare_ < spare_places_) return true;
  size_t places = spare_places_ == 0 ? 64 : 2 * spare_places_;
  struct spare_ *grown = realloc(spare_, places * sizeof(*grown));
  if (grown == NULL) return false;
  spare_ = grown;
  spare_places_ = places;
  return true;
}

/* All are kept for the next: as many as ever lived at once. Without memory one is left to the device's end. */
void eng_foreign_event_end(struct eng_marker *marker) {
  pthread_mutex_lock(&spare_lock_);
  if (atomic_load(&eng_foreign_devices) != 0 && room_for_spare_()) {
    spare_[n_spare_].device = marker->device;
    spare_[n_spare_++].event = atomic_load(&marker->device_event);
  }
  pthread_mutex_unlock(&spare_lock_);
}

bool eng_foreign_elapsed(const struct eng_marker *start, const struct eng_marker *end, float *ms) {
  uint64_t from = atomic_load(&start->device_event), to = atomic_load(&end->device_event);
  if (from == 0 || to == 0 || start->device != end->device || atomic_load(&eng_foreign_devices) == 0) return false;
  return eng_foreign_table.elapsed(start->device, from, to, ms) == ACLPY_ACL_SUCCESS;
}

static int32_t wait_(const struct eng_stream *stream, uint64_t event) {
  int32_t status;
  if (eng_driver_wait(stream, event, &status)) return status;
  return eng_foreign_table.wait(eng_foreign_index(stream->device), stream->id, event);
}

static int32_t record_(const struct eng_stream *stream, uint64_t *event) {
  int32_t status;
  if (*event != 0 && eng_driver_record(stream, *event, &status)) return status;
  return eng_foreign_table.record(eng_foreign_index(stream->device), stream->id, event);
}

static int32_t launch_mark_(struct eng_stream *stream, struct eng_task *task) {
  struct eng_marker *marker = task->u.mark.marker;
  int32_t device = eng_foreign_index(stream->device);
  if (task->kind == ENG_TASK_WAIT) {
    uint64_t event = atomic_load(&marker->device_event);
    return event == 0 || eng_marker_reached(marker) ? ACLPY_ACL_SUCCESS : wait_(stream, event);
  }
  uint64_t event = take_event_(device);
  int32_t status = record_(stream, &event);
  if (status == ACLPY_ACL_SUCCESS) {
    marker->device = device;
    atomic_store(&marker->device_event, event);
  }
  return status;
}

/* ---- launching and completing ---- */

uint64_t aclpy_launching(int32_t *device) {
  const struct eng_stream *stream = eng_self()->launching;
  if (stream == NULL) return 0;
  if (device != NULL) *device = eng_foreign_index(stream->device);
  return stream->id;
}

static int32_t with_stream_(struct eng_stream *stream, struct eng_task *task,
                            int32_t (*run)(struct eng_stream *stream, struct eng_task *task)) {
  struct eng_stream *outer = eng_self()->launching;
  eng_self()->launching = stream;
  int32_t status = run(stream, task);
  eng_self()->launching = outer;
  return status;
}

/* A record tells the host, and what is queued behind it may be the host's. Everything else is nobody's business until
 * somebody asks: the worker finds it at the end of its nap, and nobody pays for waking it. */
static bool wakes_(struct eng_stream *stream, bool record) { /* under the lock */
  bool urgent = record || atomic_load(&stream->backlog) != 0;
  if (urgent) atomic_store(&stream->hurried, true);
  if (stream->lent || !stream->worker_sleeping || (stream->napping && !urgent)) return false;
  stream->worker_sleeping = false;
  return true;
}

void eng_foreign_launch(struct eng_stream *stream, struct eng_task *task, uint64_t number) {
  int32_t status = task->kind == ENG_TASK_RUN ? with_stream_(stream, task, eng_task_run) : launch_mark_(stream, task);
  task->launch = status == ACLPY_ACL_SUCCESS ? ENG_LAUNCHED : ENG_LAUNCH_FAILED;
  if (status != ACLPY_ACL_SUCCESS) eng_stream_fail(stream, task, status);
  atomic_store(&stream->launched, number);
  bool record = task->kind == ENG_TASK_RECORD; /* the task is the worker's once it is visible */
  pthread_mutex_lock(&stream->lock);
  stream->inline_busy = false;
  atomic_store_explicit(&stream->visible, stream->queued, memory_order_release);
  bool wake = wakes_(stream, record);
  pthread_mutex_unlock(&stream->lock);
  if (wake) eng_watch_or_wake(stream);
}

static int32_t synchronize_(const struct eng_stream *stream) {
  int32_t status;
  if (eng_driver_synchronize(stream, &status)) return status;
  return eng_foreign_table.synchronize(eng_foreign_index(stream->device), stream->id);
}

int32_t eng_foreign_settle(struct eng_stream *stream) {
  static const char function[] = "aclrtSynchronizeStream";
  uint64_t target = atomic_load(&stream->launched);
  if (atomic_load(&eng_foreign_devices) == 0) return eng_fail_stopped(function);
  int32_t status = eng_worker_enter_foreign() ? synchronize_(stream) : eng_fail_stopped(function);
  eng_worker_leave_foreign();
  if (status == ACLPY_ACL_SUCCESS) atomic_store(&stream->synced, target); /* else each task asks for itself */
  return status;
}

static int32_t settle_to_(struct eng_stream *stream, uint64_t number) {
  return atomic_load(&stream->synced) >= number ? ACLPY_ACL_SUCCESS : eng_foreign_settle(stream);
}

static uint64_t number_(const struct eng_stream *stream) {
  return atomic_load_explicit(&stream->taken, memory_order_relaxed);
}

/* The device has had it for a while. */
static int32_t finish_(struct eng_stream *stream, struct eng_task *task) {
  int32_t status = settle_to_(stream, number_(stream));
  int32_t second = task->kind == ENG_TASK_RUN ? ACLPY_ACL_SUCCESS : eng_task_run(stream, task);
  return status != ACLPY_ACL_SUCCESS ? status : second;
}

int32_t eng_foreign_run(struct eng_stream *stream, struct eng_task *task) {
  if (task->launch != ENG_LAUNCH_NONE) return finish_(stream, task);
  int32_t status = atomic_load(&stream->exposed) ? eng_foreign_settle(stream) : ACLPY_ACL_SUCCESS;
  int32_t second = with_stream_(stream, task, eng_bench() == 0 ? eng_task_run : eng_bench_run);
  if (status == ACLPY_ACL_SUCCESS) status = second;
  if (task->kind == ENG_TASK_RUN && task->work != ENG_WORK_FOREIGN && task->work != ENG_WORK_POST) {
    atomic_store(&stream->launched, number_(stream));
    second = settle_to_(stream, number_(stream));
    if (status == ACLPY_ACL_SUCCESS) status = second;
  }
  atomic_fetch_sub(&stream->backlog, 1);
  return status;
}

void eng_foreign_discarded(struct eng_stream *stream, const struct eng_task *task) {
  if (task->launch == ENG_LAUNCH_NONE) {
    atomic_fetch_sub(&stream->backlog, 1);
  } else {
    (void)settle_to_(stream, number_(stream));
  }
}

void eng_foreign_end(struct eng_stream *stream) {
  if (eng_stopping() || atomic_load(&eng_foreign_devices) == 0) return;
  (void)eng_foreign_table.stream_end(eng_foreign_index(stream->device), stream->id);
}

/* ---- replays ---- */

enum { GRAPH_ABSENT = 0, GRAPH_DONE = 1, GRAPH_RECORD = 2 };

static int32_t graph_(struct eng_stream *stream, uint64_t key, int32_t act, int32_t *done) {
  *done = GRAPH_ABSENT;
  if (atomic_load(&eng_foreign_devices) == 0) return ACLPY_ACL_SUCCESS;
  return eng_foreign_table.graph(eng_foreign_index(stream->device), stream->id, key, act, done);
}

bool eng_foreign_replay(struct eng_stream *stream, uint64_t key, bool *record) {
  int32_t done, begun;
  bool good = graph_(stream, key, ACLPY_GRAPH_LAUNCH, &done) == ACLPY_ACL_SUCCESS;
  /* What the owner of a shared stream puts there meanwhile would be recorded, too. */
  *record = good && done == GRAPH_RECORD && !atomic_load(&stream->exposed) &&
            graph_(stream, key, ACLPY_GRAPH_BEGIN, &begun) == ACLPY_ACL_SUCCESS && begun == GRAPH_DONE;
  stream->device_queue.recording = *record;
  return good && done == GRAPH_DONE;
}

bool eng_foreign_replayed(struct eng_stream *stream, uint64_t key, bool whole) {
  int32_t done;
  stream->device_queue.recording = false;
  return graph_(stream, key, whole ? ACLPY_GRAPH_END : ACLPY_GRAPH_DROP, &done) == ACLPY_ACL_SUCCESS &&
         done == GRAPH_DONE;
}

void eng_foreign_forget_graph(int32_t device, uint64_t key) {
  int32_t done = 0;
  if (eng_stopping() || atomic_load(&eng_foreign_devices) == 0) return;
  (void)eng_foreign_table.graph(eng_foreign_index(device), 0, key, ACLPY_GRAPH_FORGET, &done);
}

/* ---- streams that the program shares with the device's own calls ---- */

int32_t aclpy_stream_expose(aclpy_handle handle, int32_t *device, uint64_t *id) {
  static const char function[] = "Stream.__cuda_stream__";
  if (device == NULL || id == NULL) return eng_fail_null(function, device == NULL ? "device" : "id");
  struct eng_stream *stream = eng_handle_acquire(ENG_STREAM, handle);
  if (stream == NULL) return eng_stream_refuse_dead(handle, function);
  int32_t status = ACLPY_ACL_SUCCESS;
  if (!stream->foreign) {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "stream", "a stream of a CUDA device",
                        "make it with Device(\"cuda:0\").create_stream()", "a stream of an emulated device");
  } else {
    atomic_store(&stream->exposed, true);
    *device = eng_foreign_index(stream->device);
    *id = stream->id;
    /* Until everything queued so far is in the device's own queue; blocks only behind work of the host. */
    const bool idle = atomic_load(&stream->backlog) == 0 || eng_stream_drain(stream);
    if (!idle) status = eng_fail_stopped(function);
  }
  eng_release(&stream->head);
  return status;
}
