/* SPDX-License-Identifier: Apache-2.0
 * Host threads that wait: they run tasks until what they wait for is there, or can never be.
 */
#include "schedule.h"

#include "aclpy_status.h"
#include "bell.h"
#include "callback.h"
#include "failure.h"
#include "schedule_lane.h"
#include "stream.h"
#include "text.h"

/* Under the lock: every thread we know of waits, and none of them can go on. */
static bool all_wait_(void) {
  if (eng_schedule_now.running > eng_schedule_self.runs || eng_schedule_now.waiting < eng_schedule_now.known ||
      (atomic_load(&eng_posts_open) != 0 && eng_reporter_others_may_call()))
    return false;
  for (const struct eng_host_waiter *waiter = eng_schedule_now.waiters; waiter != NULL; waiter = waiter->next) {
    if (waiter->wait->over(waiter->wait->arg)) return false;
  }
  return true;
}

/* A stream's wait with a timeout of its own: nothing else can happen, so that time passes. */
static bool expire_one_(void) {
  for (struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    const struct eng_task *task = lane->busy ? NULL : eng_lane_next(lane);
    if (task == NULL || task->kind != ENG_TASK_WAIT || task->u.mark.timeout_ns == 0) continue;
    eng_lane_run(lane, ENG_EXPIRED);
    return true;
  }
  return false;
}

static enum eng_wait_end give_up_(const struct eng_host_wait *wait) {
  if (wait->deadline_ns != ENG_NEVER) return ENG_WAIT_TIMED_OUT;
  eng_schedule_self.stuck = true;
  eng_schedule_explain(eng_schedule_now.lanes, eng_lane_wanted(eng_schedule_now.lanes, wait), eng_schedule_self.why,
                       sizeof(eng_schedule_self.why));
  return ENG_WAIT_TIMED_OUT;
}

/* A wait whose time is over while there is always something to run: it may run so much more, so that short times are
 * not a matter of luck. */
enum { STEPS_AFTER_TIME = 1000 };

static bool overdue_(const struct eng_host_wait *wait, int *steps) {
  return wait->deadline_ns != ENG_NEVER && eng_clock_ns() >= wait->deadline_ns && ++*steps > STEPS_AFTER_TIME;
}

static enum eng_wait_end drive_(const struct eng_host_wait *wait) {
  int steps = 0;
  for (;;) {
    uint64_t heard = eng_bell_count();
    if (wait->over(wait->arg)) return ENG_WAIT_DONE;
    if (eng_stopping()) return ENG_WAIT_STOPPED;
    if (!eng_schedule_now.active) return ENG_WAIT_INTERRUPTED;
    if (overdue_(wait, &steps)) return ENG_WAIT_TIMED_OUT;
    if (eng_schedule_turn() && eng_schedule_any_ready()) {
      (void)eng_schedule_decide(eng_lane_wanted(eng_schedule_now.lanes, wait), false);
      continue;
    }
    if (all_wait_()) {
      if (expire_one_()) continue;
      return give_up_(wait);
    }
    pthread_mutex_unlock(&eng_schedule_lock);
    bool in_time = eng_bell_await(heard, wait->deadline_ns);
    pthread_mutex_lock(&eng_schedule_lock);
    if (!in_time) return wait->over(wait->arg) ? ENG_WAIT_DONE : ENG_WAIT_TIMED_OUT;
  }
}

enum eng_wait_end eng_schedule_wait(const struct eng_host_wait *wait) {
  struct eng_host_waiter waiter = {.wait = wait};
  eng_schedule_self.stuck = false;
  pthread_mutex_lock(&eng_schedule_lock);
  if (!eng_schedule_now.active) {
    pthread_mutex_unlock(&eng_schedule_lock);
    return ENG_WAIT_INTERRUPTED;
  }
  eng_schedule_know_thread();
  waiter.next = eng_schedule_now.waiters;
  eng_schedule_now.waiters = &waiter;
  if (eng_schedule_self.waits++ == 0) eng_schedule_now.waiting++;
  enum eng_wait_end end = drive_(wait);
  if (--eng_schedule_self.waits == 0) eng_schedule_now.waiting--;
  struct eng_host_waiter **link = &eng_schedule_now.waiters;
  while (*link != &waiter) link = &(*link)->next;
  *link = waiter.next;
  pthread_mutex_unlock(&eng_schedule_lock);
  return end;
}

bool eng_schedule_stuck(void) { return eng_schedule_self.stuck; }

enum eng_wait_end eng_schedule_task_wait(const struct eng_wait *wait) {
  if (eng_schedule_self.verdict == ENG_LET_GO || wait->look(wait->arg)) return ENG_WAIT_DONE;
  if (eng_schedule_self.verdict == ENG_EXPIRED) return ENG_WAIT_TIMED_OUT;
  for (;;) { /* another thread was faster: the notify is taken */
    uint64_t heard = eng_bell_count();
    if (wait->look(wait->arg)) return ENG_WAIT_DONE;
    if (eng_stopping()) return ENG_WAIT_STOPPED;
    if (eng_stream_interrupted(wait->stream)) return ENG_WAIT_INTERRUPTED;
    if (!eng_bell_await(heard, wait->deadline_ns)) return ENG_WAIT_TIMED_OUT;
  }
}

int32_t eng_schedule_refuse_stuck(int32_t status, const char *function) {
  char replay[200], hint[320];
  bool shown = aclpy_schedule_replay(replay, sizeof(replay)) < sizeof(replay);
  eng_text(hint, sizeof(hint),
           "record, release or submit what is missing before this wait; ACLNN_PY_SCHEDULE=%s replays it",
           shown ? replay : eng_schedule_now.policy.name);
  eng_schedule_self.stuck = false;
  return aclpy_fail(status, function, "", "a wait that can end", hint, "%s", eng_schedule_self.why);
}
