/* SPDX-License-Identifier: Apache-2.0
 * Waiting for the tasks that touch an allocation, and no others.
 *
 * Every queued task is counted under the parity of the epoch it came in. A waiter first lets the other parity run
 * empty, then turns the epoch, so that new tasks count elsewhere, and waits for the old parity. What was queued before
 * the wait is in one of the two, and tasks queued later cannot prolong it for ever.
 */
#include <inttypes.h>
#include <pthread.h>

#include "aclpy_status.h"
#include "bench.h"
#include "failure.h"
#include "foreign.h"
#include "memory.h"
#include "schedule.h"
#include "stream.h"
#include "thread.h"

struct waiter_ {
  struct eng_memory *memory;
  struct eng_parker *parker;
  struct waiter_ *next;
};

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct waiter_ *waiters_;

eng_hold eng_memory_hold(struct eng_memory *memory) {
  uintptr_t parity = atomic_load(&memory->epoch) & 1;
  atomic_fetch_add(&memory->pending[parity], 1);
  return (uintptr_t)memory | parity;
}

/* Under the lock. */
static void wake_(const struct eng_memory *memory) {
  for (struct waiter_ *waiter = waiters_; waiter != NULL; waiter = waiter->next) {
    if (waiter->memory == memory) eng_unpark(waiter->parker);
  }
}

void eng_memory_unhold(eng_hold hold) {
  struct eng_memory *memory = eng_hold_memory(hold);
  int64_t before = atomic_fetch_sub(&memory->pending[hold & 1], 1);
  if (before == 1 && atomic_load(&memory->waiters) != 0) {
    pthread_mutex_lock(&lock_);
    wake_(memory);
    pthread_mutex_unlock(&lock_);
  }
  eng_release(&memory->head);
}

void eng_memory_fail(struct eng_memory *memory, struct eng_failure *failure) {
  pthread_mutex_lock(&lock_);
  struct eng_failure *old = atomic_load(&memory->failure);
  if (old == NULL || atomic_load(&old->delivered)) {
    atomic_store(&memory->failure, eng_failure_share(failure));
    eng_failure_drop(old);
  }
  pthread_mutex_unlock(&lock_);
}

/* Until the tasks counted under `parity` are done; false where the thread's pulse has ended the wait. */
static bool await_parity_(struct eng_memory *memory, uint64_t parity, struct eng_parker *parker) {
  if (atomic_load(&memory->pending[parity]) != 0 && atomic_load(&eng_foreign_devices) != 0) eng_workers_hurry();
  while (atomic_load(&memory->pending[parity]) != 0 && !eng_stopping()) {
    if (!eng_park_patiently(parker, ENG_NEVER)) return false;
  }
  return true;
}

static bool await_both_(struct eng_memory *memory, struct eng_parker *parker) {
  uint64_t now = atomic_load(&memory->epoch) & 1;
  if (!await_parity_(memory, now ^ 1, parker)) return false;
  atomic_fetch_add(&memory->epoch, 1);
  return await_parity_(memory, now, parker);
}

static bool none_pending_(void *arg) {
  struct eng_memory *memory = arg;
  return atomic_load(&memory->pending[0]) == 0 && atomic_load(&memory->pending[1]) == 0;
}

static bool await_scheduled_(struct eng_memory *memory) {
  struct eng_host_wait wait = {.over = none_pending_, .arg = memory, .deadline_ns = ENG_NEVER};
  return eng_schedule_wait(&wait) != ENG_WAIT_INTERRUPTED;
}

static bool await_(struct eng_memory *memory) {
  if (eng_scheduling() && await_scheduled_(memory)) return true;
  struct waiter_ self = {.memory = memory, .parker = eng_parker_self()};
  pthread_mutex_lock(&lock_);
  self.next = waiters_;
  waiters_ = &self;
  atomic_fetch_add(&memory->waiters, 1);
  bool patient = true;
  while (patient && memory->waiting && !eng_stopping()) { /* one turn at a time */
    pthread_mutex_unlock(&lock_);
    patient = eng_park_patiently(self.parker, ENG_NEVER);
    pthread_mutex_lock(&lock_);
  }
  if (patient) {
    memory->waiting = true;
    pthread_mutex_unlock(&lock_);
    patient = await_both_(memory, self.parker);
    pthread_mutex_lock(&lock_);
    memory->waiting = false;
  }
  atomic_fetch_sub(&memory->waiters, 1);
  struct waiter_ **link = &waiters_;
  while (*link != &self) link = &(*link)->next;
  *link = self.next;
  wake_(memory);
  pthread_mutex_unlock(&lock_);
  return patient;
}

static bool busy_(struct eng_memory *memory) {
  return atomic_load(&memory->pending[0]) != 0 || atomic_load(&memory->pending[1]) != 0;
}

bool eng_memory_settle(struct eng_memory *memory) {
  if (!busy_(memory)) return true;
  if (eng_self()->worker_of != NULL) return false;
  /* A deadlock in a schedule, or a task that is still at work while a shutdown or a signal ends the wait. */
  return (await_(memory) && !eng_scheduling() && !eng_stopping()) || !busy_(memory);
}

static int32_t report_(struct eng_memory *memory) {
  if (atomic_load(&memory->failure) == NULL) return ACLPY_ACL_SUCCESS;
  pthread_mutex_lock(&lock_);
  struct eng_failure *failure = atomic_exchange(&memory->failure, NULL);
  pthread_mutex_unlock(&lock_);
  if (failure == NULL) return ACLPY_ACL_SUCCESS;
  int32_t status = atomic_load(&failure->delivered) ? ACLPY_ACL_SUCCESS : eng_failure_report(failure);
  eng_failure_drop(failure);
  return status;
}

int32_t aclpy_memory_wait(uintptr_t address) {
  static const char function[] = "Tensor.numpy";
  if (eng_stopping()) return eng_fail_stopped(function);
  struct eng_memory *memory = eng_memory_find(address);
  if (memory == NULL) return ACLPY_ACL_SUCCESS;
  int32_t status = ACLPY_ACL_SUCCESS;
  if (busy_(memory)) {
    if (eng_self()->worker_of != NULL) {
      status =
          aclpy_fail(ACLPY_ACL_ERROR_RT_INTERNAL_ERROR, function, "address", "memory that no queued task touches",
                     "read it before or after the host function, or pass its values in",
                     "a host function that waits for tasks on 0x%" PRIxPTR ": they may be queued behind it", address);
    } else {
      if (!await_(memory)) {
        status = aclpy_fail(ACLPY_ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function, "address", "tasks that end", "wait again",
                            "a wait that a signal has ended");
      } else if (eng_schedule_stuck()) {
        status = eng_schedule_refuse_stuck(ACLPY_ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function);
      }
    }
  }
  if (status == ACLPY_ACL_SUCCESS) status = report_(memory);
  /* Also where nothing was pending: a shutdown drops the tasks that were. */
  if (status == ACLPY_ACL_SUCCESS && eng_stopping()) status = eng_fail_stopped(function);
  eng_release(&memory->head);
  return status;
}

void eng_memory_wait_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_memory_wait_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  waiters_ = NULL;
}
