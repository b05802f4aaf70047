/* SPDX-License-Identifier: Apache-2.0
 * Stream configurations: what aclrtCreateStreamV2 makes a stream from.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "aclpy_status.h"
#include "failure.h"
#include "fault.h"
#include "handle_table.h"

enum { WORK_ADDRESS, WORK_SIZE, FLAG, PRIORITY, OPTIONS };

struct config_ {
  struct eng_object head;
  _Atomic uint64_t value[OPTIONS];
};

int32_t aclpy_stream_config_create(aclpy_handle *config) {
  static const char function[] = "aclrtCreateStreamConfigHandle";
  if (config == NULL) return eng_fail_null(function, "handle");
  struct config_ *made = eng_object_zalloc(sizeof(*made));
  if (made != NULL && eng_handle_open(ENG_STREAM_CONFIG, &made->head, config)) return ACLPY_ACL_SUCCESS;
  free(made);
  return eng_fail_memory(function, "a stream configuration");
}

void eng_stream_config_dispose(void *object) { free(object); }

static struct config_ *find_(aclpy_handle handle, const char *function, int32_t *status) {
  if (handle == 0) {
    *status = eng_fail_null(function, "handle");
    return NULL;
  }
  struct config_ *config = eng_handle_acquire(ENG_STREAM_CONFIG, handle);
  if (config == NULL) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_INVALID_HANDLE, function, "handle", "a live stream configuration",
                         "use one that has not been destroyed", "configuration 0x%" PRIx64 ", %s", handle,
                         eng_handle_past_text(ENG_STREAM_CONFIG, handle));
  }
  return config;
}

int32_t aclpy_stream_config_set(aclpy_handle handle, int32_t option, uint64_t value) {
  static const char function[] = "aclrtSetStreamConfigOpt";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct config_ *config = find_(handle, function, &status);
  if (config == NULL) return status;
  if (option >= WORK_ADDRESS && option < OPTIONS) {
    atomic_store(&config->value[option], value);
  } else {
    status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, function, "attr", "an attribute from 0 to 3", "", "%" PRId32,
                        option);
  }
  eng_release(&config->head);
  return status;
}

int32_t aclpy_stream_create_from(aclpy_handle ctx, aclpy_handle handle, aclpy_handle *stream) {
  static const char function[] = "aclrtCreateStreamV2";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct config_ *config = find_(handle, function, &status);
  if (config == NULL) return status;
  uint64_t priority = atomic_load(&config->value[PRIORITY]);
  uint32_t flags = (uint32_t)atomic_load(&config->value[FLAG]);
  eng_release(&config->head);
  return aclpy_stream_create(ctx, priority > 7 ? 7 : (uint32_t)priority, flags, stream);
}

int32_t aclpy_stream_config_destroy(aclpy_handle handle) {
  static const char function[] = "aclrtDestroyStreamConfigHandle";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct config_ *config = find_(handle, function, &status);
  if (config == NULL) return status;
  if (eng_handle_close(ENG_STREAM_CONFIG, handle, false) != NULL) eng_release(&config->head);
  eng_release(&config->head);
  return ACLPY_ACL_SUCCESS;
}
