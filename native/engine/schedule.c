/* SPDX-License-Identifier: Apache-2.0
 * The threads that run the lanes' tasks.
 *
 * One lock guards it all but is never held while a task runs. With one host thread one task runs at a time; further
 * threads run tasks of their own only while the others are in foreign code, which might wait for them.
 */
#include "schedule.h"

#include "bell.h"
#include "bench.h"
#include "schedule_lane.h"
#include "stream.h"
#include "thread.h"

/* A task sees what it would see on its stream's own thread. */
static void run_next_(struct eng_stream *stream) {
  struct eng_thread *self = eng_self();
  struct eng_stream *worker_of = self->worker_of;
  struct eng_context_slot explicit_context = self->explicit_context, primary_context = self->primary_context;
  self->worker_of = stream;
  self->explicit_context = (struct eng_context_slot){0};
  self->primary_context = (struct eng_context_slot){0};
  eng_stream_run_next(stream);
  self->worker_of = worker_of;
  self->explicit_context = explicit_context;
  self->primary_context = primary_context;
}

/* Under the lock, which it lets go meanwhile. */
void eng_lane_run(struct eng_lane *lane, enum eng_verdict verdict) {
  lane->busy = true;
  lane->runner = &eng_schedule_self;
  eng_schedule_now.running++;
  eng_schedule_now.steps++;
  eng_schedule_self.verdict = lane->let_go == eng_lane_number(lane) ? ENG_LET_GO : verdict;
  eng_schedule_self.runs++;
  pthread_mutex_unlock(&eng_schedule_lock);
  run_next_(lane->stream);
  pthread_mutex_lock(&eng_schedule_lock);
  eng_schedule_self.runs--;
  eng_schedule_self.verdict = ENG_AS_IT_IS;
  eng_schedule_now.running--;
  lane->busy = false;
  eng_schedule_look();
  bool over = lane->ends && eng_lane_next(lane) == NULL && eng_lane_unlink(lane);
  if (over) {
    pthread_mutex_unlock(&eng_schedule_lock);
    eng_lane_end(lane);
    pthread_mutex_lock(&eng_schedule_lock);
  }
  eng_bell_ring();
}

/* Under the lock: whether no other thread is running a task that ends by itself. */
bool eng_schedule_turn(void) {
  for (const struct eng_lane *lane = eng_schedule_now.lanes; lane != NULL; lane = lane->next) {
    if (lane->busy && lane->runner != &eng_schedule_self && atomic_load(&lane->stream->activity) != ENG_FOREIGN)
      return false;
  }
  return true;
}

/* One decision, with a ready lane. False: none is to run now. */
bool eng_schedule_decide(struct eng_lane *first, bool may_stop) {
  bool diverged;
  struct eng_lane *lane =
      eng_policy_choose(&eng_schedule_now.policy, eng_schedule_now.lanes, first, may_stop, &diverged);
  if (diverged && eng_schedule_now.diverged == 0) eng_schedule_now.diverged = eng_schedule_now.steps + 1;
  eng_trail_add(&eng_schedule_now.trail, lane == NULL ? ENG_TRAIL_STOP : (int64_t)lane->number);
  if (lane != NULL) eng_lane_run(lane, ENG_AS_IT_IS);
  return lane != NULL;
}

static void pump_(struct eng_stream *stream) {
  if (eng_schedule_self.runs > 0) return; /* a task submits: whoever runs it goes on afterwards */
  pthread_mutex_lock(&eng_schedule_lock);
  while (eng_schedule_now.active && !eng_stopping() && eng_schedule_turn() && eng_schedule_any_ready()) {
    if (!eng_schedule_decide(stream->lane, true)) break;
  }
  pthread_mutex_unlock(&eng_schedule_lock);
}

void eng_schedule_submitted(struct eng_stream *stream) {
  pthread_mutex_lock(&eng_schedule_lock);
  bool ours = stream->lane != NULL;
  if (ours) stream->lane->stamp = ++eng_schedule_now.stamps;
  eng_schedule_look();
  pthread_mutex_unlock(&eng_schedule_lock);
  if (!ours) return;
  eng_bell_ring();
  if (eng_schedule_self.holds > 0) {
    if (eng_schedule_self.held_back == NULL) eng_retain(&stream->head);
    if (eng_schedule_self.held_back == NULL) eng_schedule_self.held_back = stream;
  } else {
    pump_(stream);
  }
}

bool eng_schedule_hold(void) {
  if (!eng_scheduling()) return false;
  eng_schedule_self.holds++;
  return true;
}

void eng_schedule_let_go(bool held) {
  if (!held || --eng_schedule_self.holds > 0 || eng_schedule_self.held_back == NULL) return;
  struct eng_stream *stream = eng_schedule_self.held_back;
  eng_schedule_self.held_back = NULL;
  pump_(stream);
  eng_release(&stream->head);
}

void eng_schedule_asked(void) {
  if (eng_schedule_self.runs > 0) return;
  pthread_mutex_lock(&eng_schedule_lock);
  eng_schedule_know_thread();
  if (eng_schedule_now.active && !eng_stopping() && eng_schedule_turn() && eng_schedule_any_ready())
    (void)eng_schedule_decide(NULL, false);
  pthread_mutex_unlock(&eng_schedule_lock);
}
