/* SPDX-License-Identifier: Apache-2.0
 * The driver's functions, and the contexts they are called in.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>

#include "aclpy_status.h"
#include "failure.h"
#include "foreign.h"
#include "foreign_table.h"
#include "stream.h"

static aclpy_device_driver driver_; /* written before ... */
static atomic_bool installed_;
static _Atomic(void *) contexts_[ACLPY_FOREIGN_DEVICES]; /* ... these, which are NULL without it */

static bool complete_(const aclpy_device_driver *driver) {
  return driver->launch != NULL && driver->synchronize != NULL && driver->record != NULL && driver->wait != NULL &&
         driver->get_context != NULL && driver->set_context != NULL && driver->failed != NULL;
}

void eng_driver_forget(void) {
  atomic_store(&installed_, false);
  for (int i = 0; i < ACLPY_FOREIGN_DEVICES; i++) atomic_store(&contexts_[i], NULL);
}

int32_t aclpy_device_driver_install(const aclpy_device_driver *driver) {
  static const char function[] = "aclpy_device_driver_install";
  if (driver == NULL || !complete_(driver) || atomic_load(&eng_foreign_devices) == 0 || atomic_load(&installed_)) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "driver", "every function, once for a table", "", "%s",
                      driver == NULL ? "NULL" : "a driver that is not whole, or that comes too soon or too late");
  }
  driver_ = *driver;
  atomic_store(&installed_, true);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_device_context(int32_t device, void *context) {
  static const char function[] = "aclpy_device_context";
  if (device < 0 || device >= atomic_load(&eng_foreign_devices) || context == NULL || !atomic_load(&installed_)) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "device", "a device of the table, and its driver", "",
                      "device %" PRId32, device);
  }
  atomic_store_explicit(&contexts_[device], context, memory_order_release);
  return ACLPY_ACL_SUCCESS;
}

/* NULL where the driver cannot be called: read once for a call, for it may go at any time. */
static void *context_(const struct eng_stream *stream) {
  if (atomic_load_explicit(&stream->device_queue.era, memory_order_acquire) !=
      atomic_load_explicit(&eng_foreign_era, memory_order_relaxed)) {
    return NULL;
  }
  return atomic_load_explicit(&contexts_[eng_foreign_index(stream->device)], memory_order_acquire);
}

bool eng_driver_serves(const struct eng_stream *stream) { return context_(stream) != NULL; }

void aclpy_launching_queue(void *queue, uintptr_t scratch, uint64_t scratch_bytes) {
  struct eng_stream *stream = eng_self()->launching;
  if (stream == NULL) return;
  struct eng_device_queue *known = &stream->device_queue;
  unsigned era = atomic_load(&eng_foreign_era);
  known->scratch = scratch;
  known->scratch_bytes = scratch_bytes;
  if (atomic_load_explicit(&known->era, memory_order_relaxed) == era) return; /* a waiter may be reading `queue` */
  known->queue = queue;
  atomic_store_explicit(&known->era, era, memory_order_release);
}

/* ---- calls ---- */

/* The thread's own context is put back also where it has none: then the program may yet choose a device. */
struct visit_ {
  void *before;
  bool changed;
  int32_t number; /* the driver's, of what went wrong */
};

static bool enter_(const struct eng_stream *stream, struct visit_ *visit) {
  void *wanted = context_(stream);
  if (wanted == NULL) return false;
  visit->before = NULL;
  visit->changed = false;
  visit->number = driver_.get_context(&visit->before);
  if (visit->number == 0 && visit->before != wanted) {
    visit->number = driver_.set_context(wanted);
    visit->changed = visit->number == 0;
  }
  return true;
}

static int32_t leave_(const struct visit_ *visit, int32_t what) {
  if (visit->changed) (void)driver_.set_context(visit->before);
  return visit->number == 0 ? ACLPY_ACL_SUCCESS : driver_.failed(what, visit->number);
}

bool eng_driver_launch(const struct eng_stream *stream, const aclpy_launch_kernel *kernels, int32_t n, int64_t *words,
                       int32_t *status) {
  void *params[] = {words};
  struct visit_ visit;
  if (!enter_(stream, &visit)) return false;
  for (int32_t i = 0; i < n && visit.number == 0; i++) {
    visit.number = driver_.launch(kernels[i].kernel, kernels[i].blocks, 1, 1, kernels[i].threads, 1, 1,
                                  kernels[i].shared, stream->device_queue.queue, params, NULL);
  }
  *status = leave_(&visit, ACLPY_DRIVER_LAUNCH);
  return true;
}

bool eng_driver_synchronize(const struct eng_stream *stream, int32_t *status) {
  struct visit_ visit;
  if (!enter_(stream, &visit)) return false;
  if (visit.number == 0) visit.number = driver_.synchronize(stream->device_queue.queue);
  *status = leave_(&visit, ACLPY_DRIVER_SYNCHRONIZE);
  return true;
}

bool eng_driver_record(const struct eng_stream *stream, uint64_t event, int32_t *status) {
  struct visit_ visit;
  if (!enter_(stream, &visit)) return false;
  if (visit.number == 0) visit.number = driver_.record((void *)(uintptr_t)event, stream->device_queue.queue);
  *status = leave_(&visit, ACLPY_DRIVER_RECORD);
  return true;
}

bool eng_driver_wait(const struct eng_stream *stream, uint64_t event, int32_t *status) {
  struct visit_ visit;
  if (!enter_(stream, &visit)) return false;
  if (visit.number == 0) visit.number = driver_.wait(stream->device_queue.queue, (void *)(uintptr_t)event, 0);
  *status = leave_(&visit, ACLPY_DRIVER_WAIT);
  return true;
}
