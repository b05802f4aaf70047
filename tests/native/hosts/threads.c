/* SPDX-License-Identifier: Apache-2.0
 * A host program with eight threads. Each has a context and two streams of its own and makes HOST_CALLS (10,000)
 * two-phase calls: a softmax on one stream, its gradient on the other behind an event. Every number is held against an
 * oracle in double; nothing may stay open, and memory may not grow.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_backward.h"

int64_t aclpy_live_count(const char *kind);

enum { THREADS = 8, SLOTS = 8, ROWS = 6, COLUMNS = 40, COUNT = ROWS * COLUMNS, WORKSPACE = 1 << 16 };
enum { CASES = 8 }; /* bit 0: log-softmax, bit 1: axis 0, bit 2: the gradient is cast to float16, with a workspace */
enum { ALLOWED_GROWTH = 2 << 20 };

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    int status_ = (int)(call);                                                                       \
    if (status_ != 0) {                                                                              \
      const char *text_ = aclGetRecentErrMsg();                                                      \
      printf("%s (line %d): status %d\n%s\n", #call, __LINE__, status_, text_ == NULL ? "" : text_); \
      exit(1);                                                                                       \
    }                                                                                                \
  } while (0)

struct worker {
  pthread_t thread;
  uint64_t index, calls, checked;
  float x[COUNT], g[COUNT];
  double y[2][2][COUNT], dx[2][2][COUNT]; /* by operator and axis */
};

static pthread_barrier_t start_;

/* ---- the oracle -------------------------------------------------------------------------------------------------- */

static void row_(const struct worker *worker, bool logarithm, int first, int step, int length, double *y, double *dx) {
  double top = -INFINITY, sum = 0, dot = 0;
  for (int i = 0; i < length; i++) top = fmax(top, worker->x[first + i * step]);
  for (int i = 0; i < length; i++) sum += exp(worker->x[first + i * step] - top);
  for (int i = 0; i < length; i++) {
    int at = first + i * step;
    double shifted = worker->x[at] - top;
    y[at] = logarithm ? shifted - log(sum) : exp(shifted) / sum;
    dot += logarithm ? worker->g[at] : worker->g[at] * y[at];
  }
  for (int i = 0; i < length; i++) {
    int at = first + i * step;
    dx[at] = logarithm ? worker->g[at] - exp(y[at]) * dot : y[at] * (worker->g[at] - dot);
  }
}

static void oracle_(struct worker *worker) {
  for (int i = 0; i < COUNT; i++) {
    worker->x[i] = (float)((i * 37 + (int)worker->index * 11) % 101) / 25.0F - 2.0F;
    worker->g[i] = (float)((i * 53 + (int)worker->index * 7) % 89) / 44.0F - 1.0F;
  }
  for (int logarithm = 0; logarithm < 2; logarithm++) {
    for (int i = 0; i < ROWS; i++) {
      row_(worker, logarithm, i * COLUMNS, 1, COLUMNS, worker->y[logarithm][0], worker->dx[logarithm][0]);
    }
    for (int i = 0; i < COLUMNS; i++) {
      row_(worker, logarithm, i, COLUMNS, ROWS, worker->y[logarithm][1], worker->dx[logarithm][1]);
    }
  }
}

static void compare_(const struct worker *worker, const char *what, int which, const double *want, const void *got) {
  const float *wide = got;
  const aclFloat16 *narrow = got;
  for (int i = 0; i < COUNT; i++) {
    double value = (which & 4) != 0 ? (double)aclFloat16ToFloat(narrow[i]) : (double)wide[i];
    double bound = ((which & 4) != 0 ? 1e-3 : 2e-6) * (fabs(want[i]) + 1);
    if (fabs(value - want[i]) <= bound) continue;
    printf("thread %" PRIu64 ", %s, case %d, element %d: %.9g, expected %.9g\n", worker->index, what, which, i, value,
           want[i]);
    exit(1);
  }
}

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

struct memory {
  void *x, *g, *y[SLOTS], *dx[SLOTS], *workspace[SLOTS];
};

static void *allocate_(size_t bytes) {
  void *made = NULL;
  CHECK(aclrtMalloc(&made, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return made;
}

static aclTensor *tensor_(aclDataType dtype, void *data) {
  static const int64_t dims[] = {ROWS, COLUMNS}, strides[] = {COLUMNS, 1};
  aclTensor *made = aclCreateTensor(dims, 2, dtype, strides, 0, ACL_FORMAT_ND, dims, 2, data);
  CHECK(made == NULL);
  return made;
}

/* Two two-phase calls. The tensors go before their tasks have run: the executors hold what they need. */
static void step_(const struct memory *memory, size_t slot, int which, aclrtStream forward, aclrtStream backward,
                  aclrtEvent event) {
  int64_t dim = (which & 2) != 0 ? 0 : -1;
  aclTensor *x = tensor_(ACL_FLOAT, memory->x), *g = tensor_(ACL_FLOAT, memory->g);
  aclTensor *y = tensor_(ACL_FLOAT, memory->y[slot]);
  aclTensor *dx = tensor_((which & 4) != 0 ? ACL_FLOAT16 : ACL_FLOAT, memory->dx[slot]);
  uint64_t size = 0;
  aclOpExecutor *executor = NULL;
  if ((which & 1) != 0) {
    CHECK(aclnnLogSoftmaxGetWorkspaceSize(x, dim, y, &size, &executor));
    CHECK(aclnnLogSoftmax(NULL, size, executor, forward));
  } else {
    CHECK(aclnnSoftmaxGetWorkspaceSize(x, dim, y, &size, &executor));
    CHECK(aclnnSoftmax(NULL, size, executor, forward));
  }
  CHECK(aclrtRecordEvent(event, forward));
  CHECK(aclrtStreamWaitEvent(backward, event));
  if ((which & 1) != 0) {
    CHECK(aclnnLogSoftmaxBackwardGetWorkspaceSize(g, y, dim, dx, &size, &executor));
  } else {
    CHECK(aclnnSoftmaxBackwardGetWorkspaceSize(g, y, dim, dx, &size, &executor));
  }
  CHECK(size > WORKSPACE || ((which & 4) != 0) != (size > 0));
  void *workspace = size > 0 ? memory->workspace[slot] : NULL;
  if ((which & 1) != 0) {
    CHECK(aclnnLogSoftmaxBackward(workspace, size, executor, backward));
  } else {
    CHECK(aclnnSoftmaxBackward(workspace, size, executor, backward));
  }
  CHECK(aclDestroyTensor(x));
  CHECK(aclDestroyTensor(g));
  CHECK(aclDestroyTensor(y));
  CHECK(aclDestroyTensor(dx));
}

static void check_(struct worker *worker, const struct memory *memory, size_t slot, int which) {
  float y[COUNT], dx[COUNT];
  CHECK(aclrtMemcpy(y, sizeof(y), memory->y[slot], sizeof(y), ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtMemcpy(dx, sizeof(dx), memory->dx[slot], sizeof(dx), ACL_MEMCPY_DEVICE_TO_HOST));
  compare_(worker, "forward", which & 3, worker->y[which & 1][(which & 2) != 0], y);
  compare_(worker, "gradient", which, worker->dx[which & 1][(which & 2) != 0], dx);
  worker->checked += 2;
}

/* A batch: every slot once, from memory in which an old result would be seen. */
static void batch_(struct worker *worker, const struct memory *memory, aclrtStream forward, aclrtStream backward,
                   const aclrtEvent *events, int first) {
  for (size_t slot = 0; slot < SLOTS; slot++) {
    CHECK(aclrtMemset(memory->y[slot], sizeof(worker->x), 0xFF, sizeof(worker->x)));
    CHECK(aclrtMemset(memory->dx[slot], sizeof(worker->x), 0xFF, sizeof(worker->x)));
  }
  for (size_t slot = 0; slot < SLOTS; slot++) {
    step_(memory, slot, (first + (int)slot) % CASES, forward, backward, events[slot]);
  }
  CHECK(aclrtSynchronizeStream(backward));
  CHECK(aclrtSynchronizeStream(forward));
  for (size_t slot = 0; slot < SLOTS; slot++) check_(worker, memory, slot, (first + (int)slot) % CASES);
}

static void *work_(void *argument) {
  struct worker *worker = argument;
  struct memory memory;
  aclrtContext context = NULL;
  aclrtStream forward = NULL, backward = NULL;
  aclrtEvent events[SLOTS];
  CHECK(aclrtCreateContext(&context, 0));
  CHECK(aclrtCreateStream(&forward));
  CHECK(aclrtCreateStream(&backward));
  memory.x = allocate_(sizeof(worker->x));
  memory.g = allocate_(sizeof(worker->g));
  for (size_t slot = 0; slot < SLOTS; slot++) {
    CHECK(aclrtCreateEventExWithFlag(&events[slot], ACL_EVENT_SYNC));
    memory.y[slot] = allocate_(sizeof(worker->x));
    memory.dx[slot] = allocate_(sizeof(worker->x));
    memory.workspace[slot] = allocate_(WORKSPACE);
  }
  CHECK(aclrtMemcpy(memory.x, sizeof(worker->x), worker->x, sizeof(worker->x), ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtMemcpy(memory.g, sizeof(worker->g), worker->g, sizeof(worker->g), ACL_MEMCPY_HOST_TO_DEVICE));
  (void)pthread_barrier_wait(&start_);
  for (int batch = 0; worker->checked < worker->calls; batch++) {
    batch_(worker, &memory, forward, backward, events, batch * 3 + (int)worker->index);
  }
  for (size_t slot = 0; slot < SLOTS; slot++) {
    CHECK(aclrtDestroyEvent(events[slot]));
    CHECK(aclrtFree(memory.y[slot]));
    CHECK(aclrtFree(memory.dx[slot]));
    CHECK(aclrtFree(memory.workspace[slot]));
  }
  CHECK(aclrtFree(memory.x));
  CHECK(aclrtFree(memory.g));
  CHECK(aclrtDestroyStream(forward));
  CHECK(aclrtDestroyStream(backward));
  CHECK(aclrtDestroyContext(context));
  return NULL;
}

static uint64_t round_(uint64_t calls) {
  static struct worker workers[THREADS];
  uint64_t checked = 0;
  CHECK(pthread_barrier_init(&start_, NULL, THREADS));
  for (uint64_t i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.index = i, .calls = calls};
    oracle_(&workers[i]);
    CHECK(pthread_create(&workers[i].thread, NULL, work_, &workers[i]));
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_join(workers[i].thread, NULL));
    checked += workers[i].checked;
  }
  CHECK(pthread_barrier_destroy(&start_));
  return checked;
}

/* ---- growth ------------------------------------------------------------------------------------------------------ */

static long resident_(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  (void)fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/* But each context's default stream. */
static void none_is_open_(int64_t plans, int64_t contexts) {
  static const char *const kinds[] = {"stream", "event", "memory", "tensor", "executor", "task"};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    int64_t open = aclpy_live_count(kinds[i]) - (i == 0 ? contexts : 0);
    if (open == 0) continue;
    printf("%" PRId64 " of kind %s stay open\n", open, kinds[i]);
    exit(1);
  }
  if (aclpy_live_count("plan") == plans) return;
  printf("plans grew from %" PRId64 " to %" PRId64 "\n", plans, aclpy_live_count("plan"));
  exit(1);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* these keep what was freed for a while; leaks are looked for by other means */
#else
enum { SANITIZED = 0 };
#endif

int main(void) {
  (void)setvbuf(stdout, NULL, _IOLBF, 0); /* sanitizers end the process without writing what is buffered */
  const char *text = getenv("HOST_CALLS");
  uint64_t calls = text == NULL ? 10000 : strtoull(text, NULL, 10);
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  (void)round_(calls / 10 + 1);
  int64_t plans = aclpy_live_count("plan"), contexts = aclpy_live_count("context");
  long before = resident_();
  uint64_t checked = round_(calls);
  long growth = resident_() - before;
  none_is_open_(plans, contexts);
  CHECK(aclpy_live_count("context") != contexts);
  if (SANITIZED == 0 && growth > ALLOWED_GROWTH) {
    printf("memory grew by %ld bytes in %" PRIu64 " calls\n", growth, checked);
    return 1;
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  printf("%d threads, %" PRIu64 " results right, %ld bytes of growth\n", THREADS, checked, growth);
  return 0;
}
