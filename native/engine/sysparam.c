/* SPDX-License-Identifier: Apache-2.0
 * System parameters: numbers that a program sets for the process or for a context, and may ask for again.
 *
 * None of them changes what runs here: results are the same on every run anyway, and there are no debug kernels.
 */
#include <inttypes.h>

#include "aclpy_status.h"
#include "context.h"
#include "failure.h"

enum { DETERMINISTIC = 0, EARLY_START = 3, MOST_DETERMINISTIC = 3 };

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_sysparams process_;

static int32_t check_option_(const char *function, int32_t option, bool of_context) {
  int32_t last = of_context ? EARLY_START - 1 : EARLY_START;
  if (option >= DETERMINISTIC && option <= last) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "opt",
                    of_context ? "an option from 0 to 2" : "an option from 0 to 3",
                    option == EARLY_START ? "set it for the process, with aclrtSetSysParamOpt" : "check the option",
                    "option %" PRId32, option);
}

static int32_t check_value_(const char *function, int32_t option, int64_t value) {
  if (option != DETERMINISTIC || (value >= 0 && value <= MOST_DETERMINISTIC)) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "value", "0 to 3", "check the value", "%" PRId64, value);
}

static int32_t get_(const char *function, const struct eng_sysparams *params, int32_t option, int64_t *value) {
  if (params->set[option]) {
    *value = params->value[option];
    return ACLPY_ACL_SUCCESS;
  }
  return aclpy_fail(ACLPY_ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, function, "opt", "an option that has been set",
                    "set it first", "option %" PRId32 ", which nobody has set", option);
}

static void set_(struct eng_sysparams *params, int32_t option, int64_t value) {
  params->set[option] = true;
  params->value[option] = value;
}

int32_t aclpy_sysparam_set(int32_t option, int64_t value) {
  static const char function[] = "aclrtSetSysParamOpt";
  int32_t status = check_option_(function, option, false);
  if (status == ACLPY_ACL_SUCCESS) status = check_value_(function, option, value);
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&lock_);
  set_(&process_, option, value);
  pthread_mutex_unlock(&lock_);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_sysparam_get(int32_t option, int64_t *value) {
  static const char function[] = "aclrtGetSysParamOpt";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = check_option_(function, option, false);
  if (status != ACLPY_ACL_SUCCESS) return status;
  pthread_mutex_lock(&lock_);
  struct eng_sysparams params = process_;
  pthread_mutex_unlock(&lock_);
  return get_(function, &params, option, value);
}

int32_t aclpy_context_sysparam_set(aclpy_handle ctx, int32_t option, int64_t value) {
  static const char function[] = "aclrtCtxSetSysParamOpt";
  int32_t status = check_option_(function, option, true);
  if (status == ACLPY_ACL_SUCCESS) status = check_value_(function, option, value);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  pthread_mutex_lock(&context->lock);
  set_(&context->sysparams, option, value);
  pthread_mutex_unlock(&context->lock);
  eng_release(&context->head);
  return ACLPY_ACL_SUCCESS;
}

int32_t aclpy_context_sysparam_get(aclpy_handle ctx, int32_t option, int64_t *value) {
  static const char function[] = "aclrtCtxGetSysParamOpt";
  if (value == NULL) return eng_fail_null(function, "value");
  int32_t status = check_option_(function, option, true);
  if (status != ACLPY_ACL_SUCCESS) return status;
  struct eng_context *context = eng_context_resolve(ctx, function, &status);
  if (context == NULL) return status;
  pthread_mutex_lock(&context->lock);
  struct eng_sysparams params = context->sysparams;
  pthread_mutex_unlock(&context->lock);
  eng_release(&context->head);
  return get_(function, &params, option, value);
}

void eng_sysparams_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_sysparams_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
