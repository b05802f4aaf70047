/* SPDX-License-Identifier: Apache-2.0
 * aclInit, aclFinalize and their counting.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "context.h"
#include "device.h"
#include "failure.h"
#include "hooks.h"
#include "json.h"
#include "message.h"
#include "park.h"
#include "process.h"
#include "soc.h"

enum { LARGEST_CONFIG = 1 << 20 };

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count_;
static bool finalized_;
static bool configured_; /* the first aclInit's content is known; it survives aclFinalize */
static uint64_t content_;

/* The whole file with a 0 behind it, or NULL. */
static char *read_file_(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return NULL;
  errno = EFBIG; /* unless reading says otherwise */
  char *text = malloc(LARGEST_CONFIG + 1);
  size_t length = text == NULL ? 0 : fread(text, 1, LARGEST_CONFIG + 1, file);
  bool good = text != NULL && ferror(file) == 0 && length <= LARGEST_CONFIG;
  fclose(file);
  if (!good) {
    free(text);
    return NULL;
  }
  text[length] = 0;
  if (strlen(text) != length) text[0] = 0; /* a 0 inside is no JSON */
  return text;
}

static uint64_t hash_(const char *text) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *text != 0; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return hash;
}

/* What the file says, as far as it concerns the engine. */
struct config_ {
  char *text; /* NULL without a file */
  uint64_t content;
  bool process_wide;
  int32_t device; /* -1: none */
};

/* A device number, or a refusal: other text is no attribute of the file, another number no device. */
static int32_t default_device_(struct config_ *config, const char *text) {
  char value[16];
  if (!eng_json_value(text, "defaultDevice", "default_device", value, sizeof(value))) return ACLPY_ACL_SUCCESS;
  char *end = NULL;
  long device = strtol(value, &end, 10);
  if (value[0] == 0 || *end != 0 || value[0] == '+' || value[0] == ' ' || device < INT32_MIN || device > INT32_MAX) {
    return aclpy_fail(ACLPY_ACL_ERROR_FILE_ATTR_INVALID, "aclInit", "configPath",
                      "a whole number as defaultDevice.default_device", "name a device, such as \"0\"", "%s", value);
  }
  int32_t status = eng_device_check((int32_t)device, "aclInit", "configPath");
  if (status == ACLPY_ACL_SUCCESS) config->device = (int32_t)device;
  return status;
}

/* An absent file and an empty object mean the same: no settings. */
static int32_t load_(const char *path, struct config_ *config) {
  static const char function[] = "aclInit";
  if (path == NULL || path[0] == 0) return ACLPY_ACL_SUCCESS;
  char *text = config->text = read_file_(path);
  if (text == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_FILE, function, "configPath",
                      "the path of a readable JSON file of at most 1 MiB, or NULL", "check the path, or pass NULL",
                      "%.200s: %s", path, strerror(errno));
  }
  if (!eng_json_is_object(text)) {
    return aclpy_fail(ACLPY_ACL_ERROR_PARSE_FILE, function, "configPath", "a file that holds one JSON object",
                      "an empty object {} is enough", "%.200s, which is no JSON object", path);
  }
  char mode[8];
  config->process_wide = eng_json_value(text, "err_msg_mode", NULL, mode, sizeof(mode)) && strcmp(mode, "1") == 0;
  const char *inside = text + strspn(text, " \t\r\n{");
  if (*inside != '}') config->content = hash_(text);
  return default_device_(config, text);
}

/* Under the lock: a further call is counted, whatever file it names. */
static int32_t count_again_(void) {
  if (count_ == 0) return ACLPY_ACL_SUCCESS;
  count_++;
  return aclpy_fail(ACLPY_ACL_ERROR_REPEAT_INITIALIZE, "aclInit", "", "one call in the whole process",
                    "nothing: it has been counted, and as many aclFinalizeReference calls undo it",
                    "call number %" PRIu64 " without aclFinalize in between", count_);
}

/* Under the lock. */
static int32_t count_up_(const struct config_ *config) {
  int32_t status = count_again_(); /* another thread was faster */
  if (status != ACLPY_ACL_SUCCESS) return status;
  if (configured_ && config->content != content_) {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "aclInit", "configPath",
                      "the settings of the process's first aclInit", "pass the same file again",
                      "other settings after aclFinalize");
  }
  configured_ = true;
  content_ = config->content;
  count_ = 1;
  finalized_ = false;
  eng_messages_set_process_wide(config->process_wide);
  eng_device_set_default(config->device);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_init(const char *config_path) {
  if (eng_stopping()) return eng_fail_stopped("aclInit");
  if (eng_soc() == NULL) {
    return aclpy_fail(ACLPY_ACL_ERROR_INTERNAL_ERROR, "aclInit", "", "a known chip in ACLNN_PY_SOC",
                      "unset ACLNN_PY_SOC, or name a profile such as Ascend910B", "%.60s", getenv("ACLNN_PY_SOC"));
  }
  pthread_mutex_lock(&lock_);
  int32_t status = count_again_();
  pthread_mutex_unlock(&lock_);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct config_ config = {.device = -1};
  status = load_(config_path, &config);
  if (status == ACLPY_ACL_SUCCESS) {
    pthread_mutex_lock(&lock_);
    status = count_up_(&config);
    pthread_mutex_unlock(&lock_);
    const char *text = config.text != NULL ? config.text : "";
    if (status == ACLPY_ACL_SUCCESS) status = eng_hooks_init(text, strlen(text));
  }
  free(config.text);
  return status;
}

static int32_t refuse_repeat_(const char *function) {
  return aclpy_fail(ACLPY_ACL_ERROR_REPEAT_FINALIZE, function, "", "one call for each aclInit",
                    "leave the second call out", "a call after everything was finalised");
}

/* Under the lock. Settings of the file end with the last aclFinalize; objects stay what they are. */
static void tear_down_(void) {
  finalized_ = true;
  count_ = 0;
  eng_device_set_default(-1);
}

int32_t aclpy_finalize(void) {
  pthread_mutex_lock(&lock_);
  bool repeated = finalized_;
  if (!repeated) tear_down_();
  pthread_mutex_unlock(&lock_);
  return repeated ? refuse_repeat_("aclFinalize") : eng_hooks_finalize();
}

int32_t aclpy_finalize_reference(uint64_t *count) {
  pthread_mutex_lock(&lock_);
  bool none = count_ == 0;
  bool last = count_ == 1;
  if (count_ > 1) count_--;
  if (last) tear_down_();
  uint64_t left = count_;
  pthread_mutex_unlock(&lock_);
  if (count != NULL) *count = left;
  if (none) return refuse_repeat_("aclFinalizeReference");
  return last ? eng_hooks_finalize() : ACLPY_ACL_SUCCESS;
}

/* Whatever the file, the vendor's answer is 0; nothing in it concerns us. */
int32_t aclpy_nn_init(const char *config_path) {
  (void)config_path;
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_nn_finalize(void) { return ACLPY_ACL_SUCCESS; }

void eng_init_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_init_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  count_ = 0;
  finalized_ = false;
  configured_ = false;
}
