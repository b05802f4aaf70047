/* SPDX-License-Identifier: Apache-2.0
 * Two short lists: what to call at aclInit, and at aclFinalize.
 *
 * The functions are called without the lock, from a copy of the list, so that they may register and unregister.
 */
#include "hooks.h"

#include <inttypes.h>
#include <pthread.h>

#include "aclpy_status.h"
#include "failure.h"

enum { MOST_HOOKS = 64 };

struct hook_ {
  int32_t type;
  aclpy_init_callback init; /* one of the two */
  aclpy_finalize_callback finalize;
  void *data;
};

struct hooks_ {
  int count;
  struct hook_ at[MOST_HOOKS];
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct hooks_ at_init_, at_finalize_;

static struct hooks_ copy_(const struct hooks_ *hooks) {
  pthread_mutex_lock(&lock_);
  struct hooks_ copy = *hooks;
  pthread_mutex_unlock(&lock_);
  return copy;
}

static bool same_(const struct hook_ *a, const struct hook_ *b) {
  return a->type == b->type && a->init == b->init && a->finalize == b->finalize;
}

static int find_(const struct hooks_ *hooks, const struct hook_ *hook) {
  for (int i = 0; i < hooks->count; i++) {
    if (same_(&hooks->at[i], hook)) return i;
  }
  return -1;
}

static int32_t add_(struct hooks_ *hooks, struct hook_ hook, const char *function) {
  if (hook.init == NULL && hook.finalize == NULL) return eng_fail_null(function, "cbFunc");
  const char *problem = NULL;
  pthread_mutex_lock(&lock_);
  if (find_(hooks, &hook) >= 0) {
    problem = "a function that is registered for this type already";
  } else if (hooks->count == MOST_HOOKS) {
    problem = "one function too many";
  } else {
    hooks->at[hooks->count++] = hook;
  }
  pthread_mutex_unlock(&lock_);
  if (problem == NULL) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "cbFunc", "at most 64 functions, each once for a type",
                    "register each function once", "%s", problem);
}

static int32_t remove_(struct hooks_ *hooks, struct hook_ hook, const char *function) {
  if (hook.init == NULL && hook.finalize == NULL) return eng_fail_null(function, "cbFunc");
  pthread_mutex_lock(&lock_);
  int found = find_(hooks, &hook);
  if (found >= 0) {
    hooks->count--;
    for (int i = found; i < hooks->count; i++) hooks->at[i] = hooks->at[i + 1];
  }
  pthread_mutex_unlock(&lock_);
  if (found >= 0) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "cbFunc", "a function that is registered for this type",
                    "pass the type and function that were registered",
                    "an unknown pair of type %" PRId32 " and function", hook.type);
}

int32_t aclpy_init_callback_register(int32_t type, aclpy_init_callback callback, void *data) {
  return add_(&at_init_, (struct hook_){.type = type, .init = callback, .data = data}, "aclInitCallbackRegister");
}

int32_t aclpy_init_callback_unregister(int32_t type, aclpy_init_callback callback) {
  return remove_(&at_init_, (struct hook_){.type = type, .init = callback}, "aclInitCallbackUnRegister");
}

int32_t aclpy_finalize_callback_register(int32_t type, aclpy_finalize_callback callback, void *data) {
  return add_(&at_finalize_, (struct hook_){.type = type, .finalize = callback, .data = data},
              "aclFinalizeCallbackRegister");
}

int32_t aclpy_finalize_callback_unregister(int32_t type, aclpy_finalize_callback callback) {
  return remove_(&at_finalize_, (struct hook_){.type = type, .finalize = callback}, "aclFinalizeCallbackUnRegister");
}

static int32_t report_(int32_t status, const char *function, int32_t type) {
  if (status == ACLPY_ACL_SUCCESS) return status;
  return aclpy_fail(status, function, "", "a callback that answers with 0", "see the callback of that component",
                    "status %" PRId32 " from the registered callback of type %" PRId32, status, type);
}

int32_t eng_hooks_init(const char *config, size_t length) {
  struct hooks_ hooks = copy_(&at_init_);
  int32_t first = ACLPY_ACL_SUCCESS;
  for (int i = 0; i < hooks.count; i++) {
    int32_t status = hooks.at[i].init(config, length, hooks.at[i].data);
    if (first == ACLPY_ACL_SUCCESS) first = report_(status, "aclInit", hooks.at[i].type);
  }
  return first;
}

int32_t eng_hooks_finalize(void) {
  struct hooks_ hooks = copy_(&at_finalize_);
  int32_t first = ACLPY_ACL_SUCCESS;
  for (int i = 0; i < hooks.count; i++) {
    int32_t status = hooks.at[i].finalize(hooks.at[i].data);
    if (first == ACLPY_ACL_SUCCESS) first = report_(status, "aclFinalize", hooks.at[i].type);
  }
  return first;
}

void eng_hooks_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_hooks_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
