/* SPDX-License-Identifier: Apache-2.0
 * The trace: a file of Chrome-trace events, one lane a stream, arrows from records to the waits for them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aclpy_status.h"
#include "bench.h"
#include "failure.h"
#include "plan.h"
#include "stream.h"
#include "text.h"
#include "trace_arrow.h"

/* The engine's own harnesses have no kernels. */
extern const aclpy_kernel *aclpy_kernel_at(size_t index) __attribute__((weak));

static pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
static struct {
  FILE *file;
  bool empty; /* no event yet */
  uint64_t *named;
  size_t n_named, room_named;
  uint64_t arrows;
} now_;

/* ---- writing, under the lock ---- */

/* Lanes are numbered by stream; 0 is the process. */
static void begin_(const char *phase, const char *name, uint64_t lane, int64_t time_ns) {
  fprintf(now_.file, "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRIu64 ",\"ts\":%" PRId64 ".%03d,\"name\":\"",
          now_.empty ? "" : ",\n", phase, lane, time_ns / 1000, (int)(time_ns % 1000));
  now_.empty = false;
  for (const unsigned char *at = (const unsigned char *)name; *at != 0; at++) {
    if (*at == '"' || *at == '\\') {
      fprintf(now_.file, "\\%c", *at);
    } else if (*at < 0x20) {
      fprintf(now_.file, "\\u%04x", *at);
    } else {
      fputc(*at, now_.file);
    }
  }
  fputc('"', now_.file);
}

/* The lane's name comes with its first event. */
static void name_lane_(const struct eng_stream *stream) {
  for (size_t i = now_.n_named; i-- > 0;) {
    if (now_.named[i] == stream->id) return;
  }
  if (now_.n_named == now_.room_named) {
    size_t room = now_.room_named == 0 ? 64 : 2 * now_.room_named;
    uint64_t *named = realloc(now_.named, room * sizeof(*named));
    if (named == NULL) return;
    now_.named = named;
    now_.room_named = room;
  }
  now_.named[now_.n_named++] = stream->id;
  begin_("M", "thread_name", stream->id, 0);
  fprintf(now_.file, ",\"args\":{\"name\":\"stream %" PRIu64 "\"}}", stream->id);
}

static void counters_(const struct eng_stream *stream, int64_t time_ns) {
  char name[48];
  eng_text(name, sizeof(name), "queue of stream %" PRIu64, stream->id);
  begin_("C", name, stream->id, time_ns);
  fprintf(now_.file, ",\"args\":{\"tasks\":%" PRIu64 "}}",
          atomic_load(&stream->submitted) - atomic_load(&stream->completed));
  begin_("C", "memory", 0, time_ns);
  fprintf(now_.file, ",\"args\":{\"bytes\":%" PRIu64 "}}", aclpy_memory_in_use());
}

static const aclpy_kernel *kernel_of_(const struct eng_plan *plan) {
  if (aclpy_kernel_at == NULL) return NULL;
  for (int32_t step = 0; step < plan->n_steps; step++) {
    const aclpy_kernel *kernel;
    for (size_t i = 0; plan->steps[step].run != NULL && (kernel = aclpy_kernel_at(i)) != NULL; i++) {
      if (kernel->run == plan->steps[step].run) return kernel;
    }
  }
  return NULL;
}

static void plan_arguments_(const struct eng_plan *plan) {
  fprintf(now_.file, ",\"steps\":%" PRId32 ",\"workspace\":%" PRIu64, plan->n_steps, plan->workspace_bytes);
  const aclpy_kernel *kernel = kernel_of_(plan);
  if (kernel != NULL) {
    fprintf(now_.file, ",\"kernel\":\"%s %s\",\"isa\":\"%s\"", kernel->name, kernel->dtype, kernel->isa);
  }
  fprintf(now_.file, ",\"tensors\":{");
  for (int32_t slot = 0; slot < plan->n_slots; slot++) {
    const aclpy_slot_desc *desc = &plan->slots[slot];
    fprintf(now_.file, "%s\"%s\":\"%s, %" PRId64 " bytes\"", slot > 0 ? "," : "", desc->name, desc->about,
            desc->high_bytes - desc->low_bytes);
  }
  fprintf(now_.file, "}");
}

static void arguments_(const struct eng_task_view *view) {
  const struct eng_task *task = view->task;
  fprintf(now_.file, ",\"args\":{\"call\":\"%s\",\"number\":%" PRIu64 ",\"status\":%" PRId32, eng_task_name(task),
          view->number, view->status);
  if (task->kind == ENG_TASK_RUN && task->work == ENG_WORK_PLAN) plan_arguments_(task->u.plan.plan);
  if (task->kind == ENG_TASK_RUN && (task->work == ENG_WORK_COPY || task->work == ENG_WORK_SET)) {
    fprintf(now_.file, ",\"bytes\":%zu", task->u.copy.count);
  }
  fprintf(now_.file, "}}");
}

/* Viewers let an arrow run from the slice that began first to the other one. So where the wait began before its record,
 * the arrow ends in a slice of its own inside the wait's last nanosecond. */
static void draw_release_(const struct eng_arrow_end *wait, int64_t arrival_ns) {
  begin_("X", "released", wait->lane, arrival_ns);
  fprintf(now_.file, ",\"cat\":\"order\",\"dur\":0.001,\"args\":{\"waited_ns\":%" PRId64 "}}",
          arrival_ns - wait->start_ns);
}

/* Each arrow has a number of its own: one record may be waited for more than once. It leaves the record's slice, and
 * ends inside the wait's, just before that ends. */
static void draw_(const struct eng_arrow_end *record, const struct eng_arrow_end *wait) {
  int64_t arrival_ns = wait->end_ns - 1;
  int64_t departure_ns = record->start_ns < arrival_ns ? record->start_ns : arrival_ns;
  now_.arrows++;
  begin_("s", "order", record->lane, departure_ns);
  fprintf(now_.file, ",\"cat\":\"order\",\"id\":%" PRIu64 "}", now_.arrows);
  if (wait->start_ns < departure_ns) draw_release_(wait, arrival_ns);
  begin_("f", "order", wait->lane, arrival_ns);
  fprintf(now_.file, ",\"cat\":\"order\",\"id\":%" PRIu64 ",\"bp\":\"e\"}", now_.arrows);
}

void eng_trace_task(const struct eng_task_view *view) {
  pthread_mutex_lock(&lock_);
  if (now_.file != NULL) {
    name_lane_(view->stream);
    /* Something to see, and for an arrow to end in, also where the clock has not moved. */
    int64_t end_ns = view->end_ns > view->start_ns ? view->end_ns : view->start_ns + 1, span = end_ns - view->start_ns;
    struct eng_arrow_end end = {.lane = view->stream->id, .start_ns = view->start_ns, .end_ns = end_ns};
    begin_("X", view->label, view->stream->id, view->start_ns);
    fprintf(now_.file, ",\"cat\":\"task\",\"dur\":%" PRId64 ".%03d", span / 1000, (int)(span % 1000));
    arguments_(view);
    if (eng_arrow_end_of(view->task, &end)) eng_arrow_add(&end, draw_);
    counters_(view->stream, view->end_ns);
  }
  pthread_mutex_unlock(&lock_);
}

void eng_trace_queued(struct eng_stream *stream) {
  pthread_mutex_lock(&lock_);
  if (now_.file != NULL) {
    name_lane_(stream);
    counters_(stream, eng_clock_ns());
  }
  pthread_mutex_unlock(&lock_);
}

/* ---- beginning and ending ---- */

static int32_t refuse_(const char *expected, const char *got) {
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, "trace", "", expected, "", "%s", got);
}

int32_t aclpy_trace_start(const char *path) {
  if (path == NULL) return eng_fail_null("trace", "path");
  pthread_mutex_lock(&lock_);
  bool active = now_.file != NULL;
  if (!active) now_.file = fopen(path, "we");
  bool opened = now_.file != NULL;
  if (!active && opened) {
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", now_.file);
    now_.empty = true;
    now_.n_named = 0;
    now_.arrows = 0;
    eng_arrows_forget();
    begin_("M", "process_name", 0, 0);
    fputs(",\"args\":{\"name\":\"aclnn_py\"}}", now_.file);
    eng_bench_switch(ENG_BENCH_TRACE, true);
  }
  pthread_mutex_unlock(&lock_);
  if (active) return refuse_("one trace at a time", "a trace inside of a trace");
  if (opened) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_INVALID_FILE, "trace", "path", "a file that can be written",
                    "check the folder and its permissions", "%.200s", path);
}

int32_t aclpy_trace_stop(void) {
  pthread_mutex_lock(&lock_);
  FILE *file = now_.file;
  bool good = true;
  if (file != NULL) {
    eng_bench_switch(ENG_BENCH_TRACE, false);
    fputs("\n]}\n", file);
    good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    now_.file = NULL;
    free(now_.named);
    now_.named = NULL;
    now_.n_named = now_.room_named = 0;
  }
  pthread_mutex_unlock(&lock_);
  if (file == NULL) return refuse_("a trace", "none: start one first");
  if (good) return ACLPY_ACL_SUCCESS;
  return aclpy_fail(ACLPY_ACL_ERROR_WRITE_FILE, "trace", "path", "a file with room for the trace",
                    "free space on that disk", "a file that could not be written");
}

void eng_trace_before_fork(void) { pthread_mutex_lock(&lock_); }

void eng_trace_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&lock_);
    return;
  }
  pthread_mutex_init(&lock_, NULL);
  now_.file = NULL; /* the parent's, with what it has not written yet */
  eng_bench_switch(ENG_BENCH_TRACE, false);
}
