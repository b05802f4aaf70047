/* SPDX-License-Identifier: Apache-2.0
 * A small ring of finished texts, and the envelope around them.
 */
#include "message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "text.h"
#include "thread.h"

enum { KEPT = 8, TEXT_BYTES = 1024, ENVELOPE_BYTES = 96 };

struct message_ {
  int32_t status;
  int32_t code;    /* 0: by status */
  uint64_t number; /* in the process */
  time_t when;
  char text[TEXT_BYTES];
};

struct eng_messages {
  unsigned count, newest;
  struct message_ kept[KEPT];
  char shown[KEPT * (TEXT_BYTES + ENVELOPE_BYTES)];
};

static pthread_mutex_t process_lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct eng_messages process_box_;
static atomic_bool process_wide_;
static _Atomic uint64_t numbers_;

void eng_messages_free(struct eng_messages *messages) { free(messages); }

void eng_messages_set_process_wide(bool on) { atomic_store(&process_wide_, on); }

static struct eng_messages *own_box_(bool create) {
  struct eng_thread *self = eng_self();
  if (self->messages == NULL && create) {
    eng_thread_attach();
    self->messages = calloc(1, sizeof(*self->messages)); /* without memory the message is lost, the status is not */
  }
  return self->messages;
}

static void put_(struct eng_messages *box, int32_t status, const char *text) {
  box->newest = box->count == 0 ? 0 : (box->newest + 1) % KEPT;
  if (box->count < KEPT) box->count++;
  struct message_ *slot = &box->kept[box->newest];
  slot->status = status;
  slot->number = eng_self()->last_message = atomic_fetch_add(&numbers_, 1) + 1;
  slot->when = time(NULL);
  slot->code = eng_self()->message_code;
  eng_self()->message_code = 0;
  eng_text(slot->text, sizeof(slot->text), "%s", text);
}

void aclpy_error_push(int32_t status, const char *text) {
  if (text == NULL) return;
  eng_error_remember(status);
  if (atomic_load(&process_wide_)) {
    pthread_mutex_lock(&process_lock_);
    put_(&process_box_, status, text);
    pthread_mutex_unlock(&process_lock_);
    return;
  }
  struct eng_messages *box = own_box_(true);
  if (box != NULL) put_(box, status, text);
}

static void take_back_(struct eng_messages *box) {
  if (box == NULL || box->count == 0 || box->kept[box->newest].number != eng_self()->last_message) return;
  box->count--;
  box->newest = (box->newest + KEPT - 1) % KEPT;
}

void eng_message_code_next(int32_t code) { eng_self()->message_code = code; }

void eng_messages_take_back(void) {
  if (atomic_load(&process_wide_)) {
    pthread_mutex_lock(&process_lock_);
    take_back_(&process_box_);
    pthread_mutex_unlock(&process_lock_);
  } else {
    take_back_(own_box_(false));
  }
}

static const char *title_of_(int32_t status, int32_t *code) {
  int32_t first = status;
  while (first >= 10) first /= 10;
  if (first == 1) {
    *code = 1001;
    return "AclNN_Parameter_Error";
  }
  if (first == 3) {
    *code = 9903;
    return "AclNN_Runtime_Error";
  }
  *code = 9999;
  return "AclNN_Inner_Error";
}

static size_t show_one_(char *to, size_t room, const struct message_ *message) {
  int32_t code;
  const char *title = title_of_(message->status, &code);
  if (message->code != 0) code = message->code;
  char when[32] = "";
  struct tm local;
  if (localtime_r(&message->when, &local) != NULL) strftime(when, sizeof(when), "%Y-%m-%d-%H:%M:%S", &local);
  /* The vendor cuts the whole line, envelope included. */
  size_t length = eng_text(to, room < TEXT_BYTES ? room : TEXT_BYTES, "[PID: %ld] %s %s(EZ%d): %s", (long)getpid(),
                           when, title, (int)code, message->text);
  return length + eng_text(to + length, room - length, "\n");
}

/* Newest first; older ones under a heading of their own. Leaves the box empty. */
static const char *show_(struct eng_messages *box) {
  if (box == NULL || box->count == 0) return NULL;
  size_t used = show_one_(box->shown, sizeof(box->shown), &box->kept[box->newest]);
  for (unsigned back = 1; back < box->count; back++) {
    if (back == 1) {
      used += eng_text(box->shown + used, sizeof(box->shown) - used, "        TraceBack (most recent call last):\n");
    }
    used += show_one_(box->shown + used, sizeof(box->shown) - used, &box->kept[(box->newest + KEPT - back) % KEPT]);
  }
  box->count = 0;
  return box->shown;
}

const char *aclpy_recent_message(void) {
  if (!atomic_load(&process_wide_)) return show_(own_box_(false));
  /* The text must live until this thread's next call, so it moves from the shared box into the thread's own. */
  struct eng_messages *own = own_box_(true);
  if (own == NULL) return NULL;
  pthread_mutex_lock(&process_lock_);
  memcpy(own->kept, process_box_.kept, sizeof(own->kept));
  own->count = process_box_.count;
  own->newest = process_box_.newest;
  process_box_.count = 0;
  pthread_mutex_unlock(&process_lock_);
  return show_(own);
}

void eng_messages_before_fork(void) { pthread_mutex_lock(&process_lock_); }

void eng_messages_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&process_lock_, NULL);
  } else {
    pthread_mutex_unlock(&process_lock_);
  }
}
