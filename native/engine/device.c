/* SPDX-License-Identifier: Apache-2.0
 * Devices and their primary contexts.
 *
 * A primary context has two counts: aclrtSetDevice's and that of the Python nouns. It exists while either is above 0.
 * When aclrtResetDevice's count reaches 0 the streams of the C names go; the nouns' free-standing ones stay.
 */
#include "device.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "aclpy_status.h"
#include "context.h"
#include "exception.h"
#include "failure.h"
#include "foreign.h"
#include "peer.h"
#include "settings.h"
#include "thread.h"

struct device_ {
  struct eng_context *primary; /* the handle's reference */
  uint32_t set_count;          /* aclrtSetDevice */
  uint32_t noun_count;         /* aclpy_primary_retain */
  _Atomic uint64_t epoch;
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct device_ devices_[ENG_MAX_DEVICES];
static uint64_t epochs_;

uint64_t eng_device_epoch(int32_t device) {
  return atomic_load_explicit(&devices_[device].epoch, memory_order_acquire);
}

int32_t eng_device_check(int32_t device, const char *function, const char *argument) {
  if (device >= 0 && device < eng_settings.devices && !eng_settings.foreign) return ACLPY_ACL_SUCCESS;
  if (eng_settings.foreign || device >= ACLPY_FOREIGN_FIRST) return eng_foreign_check(device, function, argument);
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_DEVICEID, function, argument,
                    "a device from 0 to one below the device count",
                    eng_settings.devices == eng_settings.physical_devices
                        ? "aclrtGetDeviceCount says how many there are; ACLNN_PY_DEVICES emulates more"
                        : "ASCEND_RT_VISIBLE_DEVICES hides devices, and those it leaves are numbered anew from 0",
                    "device %" PRId32 " of %" PRId32, device, eng_settings.devices);
}

/* Under the lock. */
static struct eng_context *primary_(struct device_ *device, int32_t number, const char *function, int32_t *status) {
  if (device->primary == NULL) device->primary = eng_context_new(number, true, function, status);
  return device->primary;
}

int32_t aclpy_device_count(uint32_t *count) {
  static const char function[] = "aclrtGetDeviceCount";
  if (count == NULL) return eng_fail_null(function, "count");
  if (eng_settings.foreign) {
    int32_t status = eng_foreign_load(function);
    if (status != ACLPY_ACL_SUCCESS) return status;
  }
  if (eng_settings.devices == 0) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_NO_DEVICE, function, "",
                      "device numbers in ascending order, each once, separated by commas, in ASCEND_RT_VISIBLE_DEVICES",
                      "unset ASCEND_RT_VISIBLE_DEVICES or correct its list before the program starts",
                      "a list that leaves none of the %" PRId32 " devices", eng_settings.physical_devices);
  }
  *count = (uint32_t)eng_settings.devices;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_primary_state(int32_t device, const void *flags, int32_t *active) {
  static const char function[] = "aclrtGetPrimaryCtxState";
  if (active == NULL) return eng_fail_null(function, "active");
  if (flags != NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "flags", "NULL", "pass NULL: flags are reserved",
                      "a pointer");
  }
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) *active = eng_device_epoch(device) != 0;
  return status;
}

/* Where the device has no stream left, the first call that needs the default stream says so. */
static void make_default_stream_(aclpy_handle handle, const char *function) {
  struct eng_context *context = eng_handle_acquire(ENG_CONTEXT, handle);
  if (context == NULL) return; /* another thread has reset the device meanwhile */
  int32_t status = ACLPY_ACL_SUCCESS;
  if (eng_context_default_stream(context, function, &status) == 0) eng_failure_drop(eng_failure_new(status, 0, NULL));
  eng_release(&context->head);
}

int32_t aclpy_set_device(int32_t device) {
  static const char function[] = "aclrtSetDevice";
  if (eng_stopping()) return eng_fail_stopped(function);
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&lock_);
  struct device_ *entry = &devices_[device];
  struct eng_context *context = primary_(entry, device, function, &status);
  struct eng_context_slot slot = {0};
  if (context != NULL) {
    entry->set_count++;
    if (atomic_load(&entry->epoch) == 0) atomic_store(&entry->epoch, ++epochs_);
    slot = (struct eng_context_slot){.handle = context->handle, .epoch = atomic_load(&entry->epoch)};
  }
  pthread_mutex_unlock(&lock_);
  if (context == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_DEV_SETUP_ERROR, function, "deviceId", "memory for the device's context",
                      "free memory and try again", "no memory to set device %" PRId32 " up", device);
  }
  struct eng_thread *self = eng_self();
  self->explicit_context = (struct eng_context_slot){0};
  self->primary_context = slot;
  make_default_stream_(slot.handle, function);
  return ACLPY_ACL_SUCCESS;
}

/* What does not outlive the primary context. Under the lock. */
static void forget_(int32_t device) {
  eng_peer_forget(device);
  eng_exception_forget(device);
}

static int32_t reset_(int32_t device, const char *function, bool force) {
  if (eng_stopping()) return eng_fail_stopped(function);
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&lock_);
  struct device_ *entry = &devices_[device];
  if (entry->set_count == 0) {
    pthread_mutex_unlock(&lock_);
    return aclpy_fail(ACLPY_ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, function, "deviceId", "a device held by aclrtSetDevice",
                      "call it once for every aclrtSetDevice",
                      "device %" PRId32 ", which was never set or has been released already", device);
  }
  entry->set_count = force ? 0 : entry->set_count - 1;
  struct eng_context *streams_of = NULL, *ended = NULL;
  if (entry->set_count == 0) {
    atomic_store(&entry->epoch, 0);
    if (entry->noun_count == 0) forget_(device);
    streams_of = entry->primary;
    eng_retain(&streams_of->head);
    if (entry->noun_count == 0) {
      ended = entry->primary;
      entry->primary = NULL;
    }
  }
  pthread_mutex_unlock(&lock_);
  if (ended != NULL) {
    eng_context_end(ended, true);
  } else if (streams_of != NULL) {
    eng_context_end_streams(streams_of, ENG_STREAMS_ORDINARY, true);
  }
  if (streams_of != NULL) eng_release(&streams_of->head);
  return eng_stopping() ? eng_fail_stopped(function) : ACLPY_ACL_SUCCESS;
}

int32_t aclpy_reset_device(int32_t device) { return reset_(device, "aclrtResetDevice", false); }

int32_t aclpy_reset_device_force(int32_t device) { return reset_(device, "aclrtResetDeviceForce", true); }

int32_t aclpy_get_device(int32_t *device) { return aclpy_context_device(0, device); }

int32_t aclpy_primary_retain(int32_t device, aclpy_handle *ctx) {
  static const char function[] = "Device";
  if (eng_stopping()) return eng_fail_stopped(function);
  if (ctx == NULL) return eng_fail_null(function, "context");
  int32_t status = eng_device_check(device, function, "device");
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&lock_);
  struct eng_context *context = primary_(&devices_[device], device, function, &status);
  if (context != NULL) {
    devices_[device].noun_count++;
    *ctx = context->handle;
  }
  pthread_mutex_unlock(&lock_);
  return status;
}

int32_t aclpy_primary_release(aclpy_handle ctx) {
  static const char function[] = "Device.close";
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_context *context = eng_handle_acquire(ENG_CONTEXT, ctx);
  struct eng_context *ended = NULL;
  bool held = false, last = false;
  if (context != NULL && context->primary) {
    pthread_mutex_lock(&lock_);
    struct device_ *entry = &devices_[context->device];
    held = entry->primary == context && entry->noun_count > 0;
    if (held) last = --entry->noun_count == 0;
    if (last && entry->set_count == 0) {
      forget_(context->device);
      ended = context;
      entry->primary = NULL;
    }
    pthread_mutex_unlock(&lock_);
  }
  if (ended != NULL) {
    eng_context_end(ended, false);
  } else if (last) {
    eng_context_end_streams(context, ENG_STREAMS_FREE_STANDING, false);
  }
  if (context != NULL) eng_release(&context->head);
  if (held) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "context", "a primary context that is still held",
                    "close a device once", "context 0x%" PRIx64 ", %s", ctx, eng_handle_past_text(ENG_CONTEXT, ctx));
}

static _Atomic int32_t default_ = -1;

void eng_device_set_default(int32_t device) { atomic_store(&default_, device); }

bool eng_device_use_default(void) {
  int32_t device = atomic_load(&default_);
  return device >= 0 && aclpy_set_device(device) == ACLPY_ACL_SUCCESS;
}

void eng_devices_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_devices_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  for (int i = 0; i < ENG_MAX_DEVICES; i++) {
    devices_[i].primary = NULL;
    devices_[i].set_count = 0;
    devices_[i].noun_count = 0;
    atomic_store(&devices_[i].epoch, 0);
  }
}
