/* SPDX-License-Identifier: Apache-2.0
 * What a program can ask about the devices and the installation.
 *
 * The emulated device is the machine's processors: a core of whatever kind is a thread of the compute pool, and what
 * has no counterpart on a processor is refused by name instead of being made up.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"
#include "memory.h"
#include "settings.h"
#include "soc.h"
#include "text.h"

enum { MODE_HOST = 1, LEAST_PRIORITY = 7, GREATEST_PRIORITY = 0, TS_LAST = 1, STATUS_NORMAL = 0 };
enum { ATTR_AICORE = 101, ATTR_CUBE = 102, ATTR_VECTOR = 201, ATTR_GLOBAL_MEMORY = 301, ATTR_L2 = 302 };
enum { MODE_SATURATES = 0, MODE_INFINITIES = 1 };
enum { CAPABILITY_AICORE = 0, CAPABILITY_VECTOR = 1, CAPABILITY_L2 = 2 };
enum { CANN_INF_NAN = 0, CANN_BF16 = 1, CANN_JIT_COMPILE = 2, CANN_ATTRIBUTES };

int32_t aclpy_run_mode(int32_t *mode) {
  if (mode == NULL) return eng_fail_null("aclrtGetRunMode", "runMode");
  *mode = MODE_HOST;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_version(int32_t *major, int32_t *minor, int32_t *patch) {
  static const char function[] = "aclrtGetVersion";
  if (major == NULL) return eng_fail_null(function, "majorVersion");
  if (minor == NULL) return eng_fail_null(function, "minorVersion");
  if (patch == NULL) return eng_fail_null(function, "patchVersion");
  *major = 1;
  *minor = 17;
  *patch = 0;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_stream_priority_range(int32_t *least, int32_t *greatest) {
  static const char function[] = "aclrtDeviceGetStreamPriorityRange";
  if (least == NULL) return eng_fail_null(function, "leastPriority");
  if (greatest == NULL) return eng_fail_null(function, "greatestPriority");
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_set_ts_device(int32_t ts) {
  if (ts >= 0 && ts <= TS_LAST) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclrtSetTsDevice", "tsId", "0 (AI core) or 1 (AI vector)",
                    "pass 0 or 1", "%" PRId32, ts);
}

int32_t aclpy_device_status(int32_t device, int32_t *status) {
  static const char function[] = "aclrtQueryDeviceStatus";
  if (status == NULL) return eng_fail_null(function, "deviceStatus");
  int32_t failure = eng_device_check(device, function, "deviceId");
  if (failure == ACLPY_ACL_SUCCESS) *status = STATUS_NORMAL;
  return failure;
}

int32_t aclpy_device_utilization(int32_t device, aclpy_utilization *info) {
  static const char function[] = "aclrtGetDeviceUtilizationRate";
  if (info == NULL) return eng_fail_null(function, "utilizationInfo");
  if (info->extend != NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "utilizationExtend", "NULL",
                      "clear the record before the call", "a pointer");
  }
  int32_t status = eng_device_check(device, function, "deviceId");
  if (status == ACLPY_ACL_SUCCESS) *info = (aclpy_utilization){.memory = -1};
  return status;
}

static int64_t last_level_cache_(void) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (size <= 0) size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return size > 0 ? size : 0;
#else
  return 0;
#endif
}

int32_t aclpy_device_info(uint32_t device, int32_t attribute, int64_t *value) {
  static const char function[] = "aclrtGetDeviceInfo";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = eng_device_check(device > INT32_MAX ? -1 : (int32_t)device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  switch (attribute) {
    case ATTR_AICORE:
    case ATTR_CUBE:
    case ATTR_VECTOR:
      *value = aclpy_thread_count();
      return ACLPY_ACL_SUCCESS;
    case ATTR_GLOBAL_MEMORY:
      *value = (int64_t)eng_bytes_limit((int32_t)device);
      return ACLPY_ACL_SUCCESS;
    case ATTR_L2:
      *value = last_level_cache_();
      return ACLPY_ACL_SUCCESS;
    default:
      return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "attr",
                        "an attribute that a processor has: 101, 102, 201, 301 or 302",
                        "ask for another attribute, or take the figure from the chip's data sheet",
                        "attribute %" PRId32, attribute);
  }
}

int32_t aclpy_device_capability(uint32_t device, int32_t capability, int64_t *value) {
  static const char function[] = "aclGetDeviceCapability";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = eng_device_check(device > INT32_MAX ? -1 : (int32_t)device, function, "deviceId");
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (capability == CAPABILITY_AICORE || capability == CAPABILITY_VECTOR) {
    *value = aclpy_thread_count();
  } else if (capability == CAPABILITY_L2) {
    *value = last_level_cache_();
  } else {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "deviceInfo", "0, 1 or 2", "check the number",
                      "%" PRId32, capability);
  }
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_cann_attributes(const int32_t **list, size_t *count) {
  static const int32_t all[CANN_ATTRIBUTES] = {CANN_INF_NAN, CANN_BF16, CANN_JIT_COMPILE};
  static const char function[] = "aclGetCannAttributeList";
  if (list == NULL) return eng_fail_null(function, "cannAttrList");
  if (count == NULL) return eng_fail_null(function, "num");
  *list = all;
  *count = CANN_ATTRIBUTES;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_cann_attribute(int32_t attribute, int32_t *value) {
  static const char function[] = "aclGetCannAttribute";
  if (value == NULL) return eng_fail_null(function, "value");
  if (attribute < 0 || attribute >= CANN_ATTRIBUTES) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "cannAttr", "0, 1 or 2", "check the number", "%" PRId32,
                      attribute);
  }
  const struct eng_soc *soc = eng_soc();
  /* Arithmetic here is IEEE's, and nothing is ever compiled while it runs. */
  *value = attribute == CANN_INF_NAN || (attribute == CANN_BF16 && soc != NULL && soc->bf16);
  return ACLPY_ACL_SUCCESS;
}

/* ---- numbers of devices ---- */

int32_t aclpy_device_physical(int32_t device, int32_t *physical, const char *function, const char *argument) {
  if (physical == NULL) return eng_fail_null(function, "the result's address");
  int32_t status = eng_device_check(device, function, argument);
  if (status == ACLPY_ACL_SUCCESS) *physical = eng_settings.visible[device];
  return status;
}

int32_t aclpy_device_of_physical(int32_t physical, int32_t *device, const char *function, const char *argument) {
  if (device == NULL) return eng_fail_null(function, "the result's address");
  for (int32_t i = 0; i < eng_settings.devices; i++) {
    if (eng_settings.visible[i] != physical) continue;
    *device = i;
    return ACLPY_ACL_SUCCESS;
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_DEVICEID, function, argument, "the number of a device that is visible",
                    "ASCEND_RT_VISIBLE_DEVICES lists those that this process sees", "%" PRId32, physical);
}

int32_t aclpy_process_id(int32_t *pid) {
  if (pid == NULL) return eng_fail_null("aclrtDeviceGetBareTgid", "pid");
  *pid = (int32_t)getpid();
  return ACLPY_ACL_SUCCESS;
}

/* ---- overflow ---- */

static int32_t current_(aclpy_handle ctx, const char *function) {
  int32_t status = ACLPY_ACL_SUCCESS;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context != NULL) eng_release(&context->head);
  return status;
}

int32_t aclpy_overflow_mode(aclpy_handle ctx, int32_t *mode) {
  static const char function[] = "aclrtGetDeviceSatMode";
  if (mode == NULL) return eng_fail_null(function, "mode");
  int32_t status = current_(ctx, function);
  if (status == ACLPY_ACL_SUCCESS) *mode = MODE_INFINITIES;
  return status;
}

int32_t aclpy_overflow_mode_set(aclpy_handle ctx, int32_t mode) {
  static const char function[] = "aclrtSetDeviceSatMode";
  if (mode != MODE_INFINITIES && mode != MODE_SATURATES) {
    return aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "mode", "0 or 1", "", "%" PRId32, mode);
  }
  int32_t status = current_(ctx, function);
  if (status != ACLPY_ACL_SUCCESS || mode == MODE_INFINITIES) return status;
  return aclpy_fail(ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT, function, "mode", "1 (infinities and NaN)",
                    "arithmetic here is IEEE's; clip the numbers where they have to stay finite", "0 (saturation)");
}

/* ---- versions of installed packages ---- */

static FILE *open_version_(const char *package) {
  const char *home = getenv("ASCEND_HOME_PATH");
  if (home == NULL || *home == 0) return NULL;
  static const char marks[] = "-_";
  for (int spelling = -1; spelling < 2; spelling++) { /* as it is, then with either mark throughout */
    char name[128], path[1024];
    if (eng_text(name, sizeof(name), "%s", package) + 1 == sizeof(name)) return NULL;
    for (char *at = name; spelling >= 0 && *at != 0; at++) {
      if (*at == '-' || *at == '_') *at = marks[spelling];
    }
    eng_text(path, sizeof(path), "%s/share/info/%s/version.info", home, name);
    FILE *file = fopen(path, "re");
    if (file != NULL) return file;
  }
  return NULL;
}

static int32_t read_version_(const char *package, char *text, size_t room, const char *function) {
  if (package == NULL) return eng_fail_null(function, "pkgName");
  FILE *file = strchr(package, '/') == NULL ? open_version_(package) : NULL;
  if (file == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_FILE, function, "pkgName", "an installed package",
                      "set ASCEND_HOME_PATH to where packages are installed",
                      "no share/info/%.60s/version.info below ASCEND_HOME_PATH", package);
  }
  static const char key[] = "Version=";
  char line[256];
  bool found = false;
  while (!found && fgets(line, sizeof(line), file) != NULL) found = strncmp(line, key, sizeof(key) - 1) == 0;
  fclose(file);
  if (!found) {
    return aclpy_fail(ACLPY_ACL_ERROR_INTERNAL_ERROR, function, "pkgName", "a version.info with a line Version=...",
                      "install the package again", "a file without such a line");
  }
  line[strcspn(line, "\r\n")] = 0;
  eng_text(text, room, "%s", line + sizeof(key) - 1);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_package_version(const char *package, char *text) {
  static const char function[] = "aclsysGetVersionStr";
  if (text == NULL) return eng_fail_null(function, "versionStr");
  return read_version_(package, text, ACLPY_VERSION_BYTES, function);
}

/* "8.1.0", "8.1.RC1", "8.1.RC1.alpha002", "9.0.0-beta.1": a stage before the release counts down from it. */
static bool version_number_(const char *text, int64_t *number) {
  static const int64_t weights[] = {10000000, 100000, 1000};
  static const struct {
    const char *name;
    int64_t below;
  } stages[] = {{"alpha", 300}, {"beta", 200}, {"rc", 100}};
  int64_t total = 0;
  int part = 0;
  for (const char *at = text; *at != 0;) {
    int64_t below = 0;
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
      size_t length = strlen(stages[i].name);
      if (strncasecmp(at, stages[i].name, length) != 0) continue;
      below = stages[i].below;
      at += length;
      at += *at == '.' || *at == '-' || *at == '_';
      break;
    }
    if (!isdigit((unsigned char)*at)) return false;
    char *end = NULL;
    long value = strtol(at, &end, 10);
    if (value > 99) return false;
    if (below != 0) {
      total += value - below;
    } else if (part < 3) {
      total += value * weights[part++];
    } else {
      return false;
    }
    at = end;
    if (*at == '.' || *at == '-' || *at == '_') at++;
  }
  *number = total;
  return part > 0;
}

int32_t aclpy_package_number(const char *package, int32_t *number) {
  static const char function[] = "aclsysGetVersionNum";
  if (number == NULL) return eng_fail_null(function, "versionNum");
  char text[ACLPY_VERSION_BYTES];
  int32_t status = read_version_(package, text, sizeof(text), function);
  if (status != ACLPY_ACL_SUCCESS) return status;
  int64_t value;
  if (!version_number_(text, &value) || value < INT32_MIN || value > INT32_MAX) {
    return aclpy_fail(ACLPY_ACL_ERROR_INTERNAL_ERROR, function, "pkgName", "a version such as 8.1.0 or 8.1.RC1",
                      "install the package again", "version %.60s", text);
  }
  *number = (int32_t)value;
  return ACLPY_ACL_SUCCESS;
}
