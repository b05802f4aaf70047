/* SPDX-License-Identifier: Apache-2.0
 * Environment variables and setters.
 */
#include "settings.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "engine.h"

enum { VENDOR_LIMIT = 10000, VENDOR_LIMIT_MAX = 10000000 };

struct eng_settings eng_settings = {.strict = true,
                                    .inline_runs = true,
                                    .vendor_cache = true,
                                    .vendor_limit = VENDOR_LIMIT,
                                    .devices = 1,
                                    .physical_devices = 1};

/* A whole number in [low, high], or `otherwise` for anything else. */
static int64_t number_(const char *name, int64_t low, int64_t high, int64_t otherwise) {
  const char *text = getenv(name);
  if (text == NULL || *text == 0) return otherwise;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  return errno != 0 || *end != 0 || value < low || value > high ? otherwise : value;
}

static bool switch_(const char *name) {
  const char *text = getenv(name);
  return text == NULL || strcmp(text, "0") != 0;
}

static int usable_processors_(void) {
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0 && CPU_COUNT(&mask) > 0) return CPU_COUNT(&mask);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}

static int default_threads_(void) {
  int usable = usable_processors_();
  return (int)number_("ACLNN_PY_THREADS", 1, ENG_MAX_THREADS, usable < ENG_MAX_THREADS ? usable : ENG_MAX_THREADS);
}

/* How many devices the list leaves: all when there is none, none when it is malformed, out of order or too high. */
static int32_t visible_devices_(const char *list, int32_t physical) {
  int32_t count = 0;
  if (list == NULL) {
    for (; count < physical; count++) eng_settings.visible[count] = count;
    return count;
  }
  for (const char *at = list;; at++) {
    if (*at < '0' || *at > '9') return 0;
    char *end = NULL;
    errno = 0;
    long device = strtol(at, &end, 10);
    if (errno != 0 || device >= physical) return 0;
    if (count > 0 && device <= eng_settings.visible[count - 1]) return 0;
    eng_settings.visible[count++] = (int32_t)device;
    if (*end == 0) return count;
    if (*end != ',') return 0;
    at = end;
  }
}

__attribute__((constructor)) static void read_environment_(void) {
  atomic_store(&eng_settings.strict, switch_("ACLNN_PY_STRICT"));
  atomic_store(&eng_settings.inline_runs, switch_("ACLNN_PY_INLINE"));
  atomic_store(&eng_settings.vendor_cache, getenv("DISABLE_L2_CACHE") == NULL);
  atomic_store(&eng_settings.vendor_limit, number_("ACLNN_CACHE_LIMIT", 0, VENDOR_LIMIT_MAX, VENDOR_LIMIT));
  atomic_store(&eng_settings.threads, default_threads_());
  atomic_store(&eng_settings.device_memory, (uint64_t)number_("ACLNN_PY_DEVICE_MEMORY", 0, INT64_MAX, 0));
  const char *backend = getenv("ACLNN_PY_BACKEND");
  eng_settings.foreign = backend != NULL && strcmp(backend, "cuda") == 0;
  eng_settings.physical_devices = (int32_t)number_("ACLNN_PY_DEVICES", 1, ENG_EMULATED_DEVICES, 1);
  /* A foreign device has a variable of its own for what is visible. */
  for (int32_t i = 0; i < ENG_MAX_DEVICES; i++) eng_settings.visible[i] = i;
  if (eng_settings.foreign) return;
  eng_settings.devices = visible_devices_(getenv("ASCEND_RT_VISIBLE_DEVICES"), eng_settings.physical_devices);
}

void aclpy_set_strict(int32_t strict) { atomic_store(&eng_settings.strict, strict != 0); }

void aclpy_set_vendor_cache(int32_t enabled, int64_t limit) {
  if (limit < 0) limit = VENDOR_LIMIT;
  if (limit > VENDOR_LIMIT_MAX) limit = VENDOR_LIMIT_MAX;
  atomic_store(&eng_settings.vendor_limit, limit);
  atomic_store(&eng_settings.vendor_cache, enabled != 0);
}

void aclpy_set_device_memory(uint64_t bytes) { atomic_store(&eng_settings.device_memory, bytes); }

int32_t aclpy_thread_count(void) { return atomic_load(&eng_settings.threads); }

int32_t aclpy_set_thread_count(int32_t count) {
  if (count < 1 || count > ENG_MAX_THREADS) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclpy_set_thread_count", "count", "1 to 1024 threads", "", "%d",
                      (int)count);
  }
  atomic_store(&eng_settings.threads, count);
  return ACLPY_ACL_SUCCESS;
}
