/* SPDX-License-Identifier: Apache-2.0
 * Operators get numbers once and keep them.
 */
#include "operator.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fault.h"

enum { MOST = 16384 };

struct operator_ {
  uint32_t id;
  char name[];
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static void *by_name_;
static struct operator_ *_Atomic by_id_[MOST];
static uint32_t count_;

static int compare_(const void *left, const void *right) {
  const struct operator_ *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static uint32_t add_(const char *name, size_t bytes) {
  struct operator_ *candidate = count_ + 1 < MOST ? eng_object_alloc(sizeof(*candidate) + bytes) : NULL;
  if (candidate == NULL) return 0;
  memcpy(candidate->name, name, bytes);
  candidate->id = count_ + 1;
  struct operator_ *const *node = tsearch(candidate, &by_name_, compare_);
  if (node == NULL || *node != candidate) {
    free(candidate);
    return node == NULL ? 0 : (*node)->id;
  }
  count_++;
  atomic_store_explicit(&by_id_[candidate->id], candidate, memory_order_release);
  return candidate->id;
}

uint32_t aclpy_operator_id(const char *name) {
  if (name == NULL) return 0;
  pthread_mutex_lock(&lock_);
  uint32_t id = add_(name, strlen(name) + 1);
  pthread_mutex_unlock(&lock_);
  return id;
}

const char *eng_operator_name(uint32_t op) {
  const struct operator_ *found = op < MOST ? atomic_load_explicit(&by_id_[op], memory_order_acquire) : NULL;
  return found == NULL ? "operator" : found->name;
}

void eng_operators_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_operators_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&lock_, NULL);
  } else {
    pthread_mutex_unlock(&lock_);
  }
}
