/* SPDX-License-Identifier: Apache-2.0
 * A device that is not emulated, and its driver, in a few lines: queues that do their work when somebody waits for
 * them, contexts by thread, numbers of errors on demand.
 */
#ifndef ACLPY_TESTS_FOREIGN_SUPPORT_H
#define ACLPY_TESTS_FOREIGN_SUPPORT_H

#include <stdatomic.h>

#include "aclpy_status.h"
#include "check.h"
#include "engine.h"

enum { DEVICES = 2, QUEUES = 4096, ROOM = 4096, PLACES = 4, SCRATCH = 4096 };

/* ---- queues ---- */

typedef void (*kernel)(const int64_t *words, unsigned blocks, unsigned threads);

struct put {
  kernel kernel; /* NULL: an event's record */
  unsigned blocks, threads;
  int64_t words[PLACES + 2];
};

struct queue {
  pthread_mutex_t lock;
  uint64_t stream;
  int device, put, done;
  struct put work[ROOM];
  unsigned char scratch[SCRATCH];
};

static struct queue *_Atomic queues[QUEUES];
static atomic_int calls_made, launched, synchronised, releases, table_records, driver_records, driver_waits;
static atomic_uint last_shared;                                /* memory that the driver's last launch asked for */
static atomic_int fail_launch, fail_synchronize, fail_context; /* numbers to answer with, once */
static int contexts[DEVICES + 1];                              /* their addresses serve; the last is a program's own */
static _Thread_local void *current;

static inline struct queue *queue_of(int32_t device, uint64_t stream) {
  CHECK(stream < QUEUES);
  struct queue *found = atomic_load(&queues[stream]);
  if (found != NULL) return found;
  struct queue *made = calloc(1, sizeof *made), *nobody = NULL;
  CHECK(made != NULL && pthread_mutex_init(&made->lock, NULL) == 0);
  made->device = device;
  made->stream = stream;
  if (atomic_compare_exchange_strong(&queues[stream], &nobody, made)) return made;
  free(made);
  return nobody;
}

static inline void put_work(struct queue *queue, const struct put *what) {
  pthread_mutex_lock(&queue->lock);
  CHECK(queue->put - queue->done < ROOM);
  queue->work[queue->put++ % ROOM] = *what;
  pthread_mutex_unlock(&queue->lock);
}

static inline void do_work(struct queue *queue) {
  pthread_mutex_lock(&queue->lock);
  for (; queue->done < queue->put; queue->done++) {
    const struct put *what = &queue->work[queue->done % ROOM];
    if (what->kernel != NULL) what->kernel(what->words, what->blocks, what->threads);
  }
  pthread_mutex_unlock(&queue->lock);
}

/* An event is where it was recorded last: what was put there by then is done before who waits goes on. */
struct event {
  _Atomic uint64_t stream;
};

static inline void await(const struct event *event) {
  struct queue *queue = atomic_load(&queues[atomic_load(&event->stream)]);
  if (queue != NULL) do_work(queue);
}

static inline int taken(atomic_int *number) { return atomic_load(number) == 0 ? 0 : atomic_exchange(number, 0); }

/* ---- the driver ---- */

static int32_t drv_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *queue, void **params, void **extra) {
  CHECK(gy == 1 && gz == 1 && by == 1 && bz == 1 && extra == NULL);
  CHECK(current == &contexts[((struct queue *)queue)->device]);
  int number = taken(&fail_launch);
  if (number != 0) return number;
  struct put what = {.blocks = gx, .threads = bx};
  memcpy(&what.kernel, &function, sizeof what.kernel);
  memcpy(what.words, params[0], sizeof what.words);
  atomic_fetch_add(&launched, 1);
  atomic_store(&last_shared, shared);
  put_work(queue, &what);
  return 0;
}

static int32_t drv_synchronize(void *queue) {
  CHECK(current == &contexts[((struct queue *)queue)->device]);
  int number = taken(&fail_synchronize);
  atomic_fetch_add(&synchronised, 1);
  do_work(queue);
  return number;
}

static int32_t drv_record(void *event, void *queue) {
  atomic_fetch_add(&driver_records, 1);
  atomic_store(&((struct event *)event)->stream, ((struct queue *)queue)->stream);
  put_work(queue, &(struct put){.kernel = NULL});
  return 0;
}

static int32_t drv_wait(void *queue, void *event, unsigned flags) {
  CHECK(queue != NULL && flags == 0);
  atomic_fetch_add(&driver_waits, 1);
  await(event);
  return 0;
}

static int32_t drv_get_context(void **context) {
  *context = current;
  return taken(&fail_context);
}

static int32_t drv_set_context(void *context) {
  current = context;
  return 0;
}

static int32_t drv_failed(int32_t what, int32_t number) {
  static const char *const names[] = {"launch", "synchronize", "record", "wait"};
  char text[48];
  (void)snprintf(text, sizeof text, "%s: number %d", names[what], (int)number);
  return aclpy_fail_text(507015, names[what], "", "", "", text);
}

static const aclpy_device_driver driver = {.launch = drv_launch,
                                           .synchronize = drv_synchronize,
                                           .record = drv_record,
                                           .wait = drv_wait,
                                           .get_context = drv_get_context,
                                           .set_context = drv_set_context,
                                           .failed = drv_failed};

/* ---- the table ---- */

static int32_t tab_alloc(int32_t device, size_t size, int32_t host, uintptr_t *address) {
  (void)device, (void)host;
  *address = (uintptr_t)malloc(size);
  return *address == 0;
}

static int32_t tab_release(int32_t device, uintptr_t address, int32_t host) {
  (void)device, (void)host;
  free((void *)address);
  atomic_fetch_add(&releases, 1);
  return 0;
}

static int32_t tab_memory(int32_t device, uint64_t *free_bytes, uint64_t *total) {
  (void)device;
  *free_bytes = *total = 1 << 20;
  return 0;
}

static int32_t tab_copy(int32_t device, uint64_t stream, uintptr_t dst, uintptr_t src, size_t count) {
  if (stream != 0) do_work(queue_of(device, stream));
  memmove((void *)dst, (const void *)src, count);
  return 0;
}

static int32_t tab_fill(int32_t device, uint64_t stream, uintptr_t dst, int32_t value, size_t count) {
  if (stream != 0) do_work(queue_of(device, stream));
  memset((void *)dst, value, count);
  return 0;
}

static int32_t tab_record(int32_t device, uint64_t stream, uint64_t *event) {
  atomic_fetch_add(&table_records, 1);
  struct event *made = *event != 0 ? (struct event *)(uintptr_t)*event : calloc(1, sizeof *made);
  CHECK(made != NULL);
  atomic_store(&made->stream, queue_of(device, stream)->stream);
  *event = (uint64_t)(uintptr_t)made;
  return 0;
}

static int32_t tab_wait(int32_t device, uint64_t stream, uint64_t event) {
  (void)device, (void)stream;
  await((const struct event *)(uintptr_t)event);
  return 0;
}

static int32_t tab_elapsed(int32_t device, uint64_t start, uint64_t end, float *ms) {
  (void)device, (void)start, (void)end;
  *ms = 1;
  return 0;
}

static int32_t tab_synchronize(int32_t device, uint64_t stream) {
  do_work(queue_of(device, stream));
  return 0;
}

static int32_t tab_stream_end(int32_t device, uint64_t stream) {
  (void)device;
  struct queue *queue = atomic_exchange(&queues[stream], NULL);
  if (queue == NULL) return 0;
  CHECK_EQUAL(queue->done, queue->put);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
  return 0;
}

static int32_t tab_graph(int32_t device, uint64_t stream, uint64_t key, int32_t act, int32_t *done) {
  (void)device, (void)stream, (void)key, (void)act;
  *done = 0;
  return 0;
}

static const aclpy_device_table table = {.devices = DEVICES,
                                         .memory_bytes = {1 << 20, 1 << 20},
                                         .alloc = tab_alloc,
                                         .release = tab_release,
                                         .memory = tab_memory,
                                         .copy = tab_copy,
                                         .fill = tab_fill,
                                         .record = tab_record,
                                         .wait = tab_wait,
                                         .elapsed = tab_elapsed,
                                         .synchronize = tab_synchronize,
                                         .stream_end = tab_stream_end,
                                         .graph = tab_graph};

/* With the driver, or without. */
static inline void install_table(bool with_driver) {
  CHECK_EQUAL(aclpy_device_table_install(&table), 0);
  if (!with_driver) return;
  CHECK_EQUAL(aclpy_device_driver_install(&driver), 0);
  for (int i = 0; i < DEVICES; i++) CHECK_EQUAL(aclpy_device_context(i, &contexts[i]), 0);
}

#endif
