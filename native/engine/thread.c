/* SPDX-License-Identifier: Apache-2.0
 * Thread-local state, its clean-up, and starting threads.
 */
#include "thread.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "callback.h"
#include "fault.h"
#include "handle_table.h"
#include "message.h"
#include "vendor_cache.h"

_Thread_local struct eng_thread eng_thread_state;
static pthread_key_t exit_key_;

static void at_exit_(void *arg) {
  struct eng_thread *self = arg;
  eng_posts_left();
  if (self->serves) eng_reporter_thread_ends();
  self->serves = false;
  self->attached = false;
  if (self->parker.listed) eng_parker_close(&self->parker);
  eng_messages_free(self->messages);
  self->messages = NULL;
  eng_vendor_cache_free(self->vendor_cache);
  self->vendor_cache = NULL;
  eng_scratch_free(&self->scratch);
  eng_handle_give_back(&self->executor_slots);
}

__attribute__((constructor)) static void start_(void) {
  if (pthread_key_create(&exit_key_, at_exit_) != 0) abort(); /* at load time: nothing can work without it */
}

void eng_thread_attach(void) {
  struct eng_thread *self = eng_self();
  if (self->attached) return;
  self->attached = true;
  /* Failing costs a leak at thread exit and nothing else. */
  (void)pthread_setspecific(exit_key_, self);
}

int eng_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg) {
  if (eng_fault(ENG_RESOURCE_THREAD)) return -1;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed != 0) return -1;
#if defined(__linux__)
  (void)pthread_setname_np(*thread, name);
#else
  (void)name;
#endif
  return 0;
}

/* A masked load whose idle lanes lie in a page that is not there yet is done in microcode, some hundred cycles each
 * time, and the last vector of a row may reach so far: behind all of it comes one vector more, and every page is there.
 */
enum { SCRATCH_ALIGNMENT = 64, SCRATCH_SMALLEST = 4096, SCRATCH_BEHIND = 64, SCRATCH_PAGE = 4096 };
/* Larger ones take no memory before they need it: whole blocks and partial results, where one such load is nothing. */
enum { SCRATCH_TOUCHED = 1 << 20 };

static void touch_pages_(volatile unsigned char *data, size_t size) {
  for (size_t at = 0; at < size; at += SCRATCH_PAGE) data[at] = 0;
  data[size - 1] = 0;
}

bool eng_scratch_get(struct eng_scratch *scratch, size_t size, void **data) {
  *data = NULL;
  if (size == 0) return true;
  if (scratch->size < size) {
    if (size > SIZE_MAX / 2 || eng_fault(ENG_RESOURCE_MEMORY)) return false;
    size_t rounded = SCRATCH_SMALLEST;
    while (rounded < size) rounded *= 2;
    void *grown = NULL;
    if (posix_memalign(&grown, SCRATCH_ALIGNMENT, rounded + SCRATCH_BEHIND) != 0) return false;
    if (rounded <= SCRATCH_TOUCHED) touch_pages_(grown, rounded + SCRATCH_BEHIND);
    free(scratch->data);
    scratch->data = grown;
    scratch->size = rounded;
  }
  *data = scratch->data;
  return true;
}

bool eng_thread_scratch(size_t size, void **data) {
  if (size > 0) eng_thread_attach();
  return eng_scratch_get(&eng_self()->scratch, size, data);
}

void eng_scratch_free(struct eng_scratch *scratch) {
  free(scratch->data);
  scratch->data = NULL;
  scratch->size = 0;
}

int64_t eng_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint32_t eng_thread_number(void) {
#if defined(__linux__)
  return (uint32_t)syscall(SYS_gettid);
#else
  uint64_t number = 0;
  pthread_threadid_np(NULL, &number);
  return (uint32_t)number;
#endif
}
