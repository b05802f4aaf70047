/* SPDX-License-Identifier: Apache-2.0
 * The engine's calls about devices that are not emulated: a table of functions that somebody else fills, such as the
 * CUDA backend through CuPy. Part of engine.h, whose conventions hold here too.
 *
 * The engine keeps order, lifetime, statuses and host-side waits. The table's functions put work into a queue of the
 * device's own (one for each stream, made on its first use) and return; `synchronize` alone waits. They may be called
 * by any thread, several at once, but for one stream only `synchronize` beside another one. A failure's text goes
 * through aclpy_fail_text before the status is returned.
 */
#ifndef ACLPY_ENGINE_DEVICE_TABLE_H
#define ACLPY_ENGINE_DEVICE_TABLE_H

enum {
  ACLPY_FOREIGN_DEVICES = 8, /* at most so many */
  ACLPY_FOREIGN_FIRST = 64   /* number of the first one, beside emulated ones; 0 with ACLNN_PY_BACKEND=cuda */
};

/* What a replay does with the device's recording of a stretch of captured tasks. */
enum {
  ACLPY_GRAPH_LAUNCH = 0,
  ACLPY_GRAPH_BEGIN = 1,
  ACLPY_GRAPH_END = 2,
  ACLPY_GRAPH_FORGET = 3,
  ACLPY_GRAPH_DROP = 4 /* in the place of END: the recording is not whole */
};

/* `device` counts from 0; `stream` is the engine's number of the stream, 0: at once, done when the call returns. */
typedef struct aclpy_device_table {
  int32_t devices;
  uint64_t memory_bytes[8]; /* of each */
  int32_t (*alloc)(int32_t device, size_t size, int32_t host, uintptr_t *address);
  int32_t (*release)(int32_t device, uintptr_t address, int32_t host); /* 2: borrowed */
  int32_t (*memory)(int32_t device, uint64_t *free_bytes, uint64_t *total);
  int32_t (*copy)(int32_t device, uint64_t stream, uintptr_t dst, uintptr_t src, size_t count);
  int32_t (*fill)(int32_t device, uint64_t stream, uintptr_t dst, int32_t value, size_t count);
  int32_t (*record)(int32_t device, uint64_t stream, uint64_t *event); /* a new one where *event is 0 */
  int32_t (*wait)(int32_t device, uint64_t stream, uint64_t event);
  int32_t (*elapsed)(int32_t device, uint64_t start, uint64_t end, float *ms);
  int32_t (*synchronize)(int32_t device, uint64_t stream); /* blocks */
  int32_t (*stream_end)(int32_t device, uint64_t stream);
  /* LAUNCH, END: *done says whether the recording `key` has been put into the stream. */
  int32_t (*graph)(int32_t device, uint64_t stream, uint64_t key, int32_t act, int32_t *done);
} aclpy_device_table;

/* Called once, by whoever needs such a device first; it installs the table. */
typedef int32_t (*aclpy_device_loader)(void);
void aclpy_device_loader_install(aclpy_device_loader loader);
int32_t aclpy_device_table_install(const aclpy_device_table *table); /* copied; NULL: there is none any more */
/* The number of the `index`-th such device. Loads the table. */
int32_t aclpy_foreign_device(int32_t index, int32_t *device);
/* How many there are: 0 while no table is loaded. Loads nothing. */
int32_t aclpy_foreign_count(void);
int32_t aclpy_device_is_foreign(int32_t device);
/* Copies bytes of a live allocation, of whatever device, into memory of the program. Needs no context; blocks. */
int32_t aclpy_memory_fetch(uintptr_t address, uintptr_t dst, size_t count);
/* Makes memory of such a device known that somebody else owns. When the engine needs it no more it calls the table's
 * `release` with 2 for `host`. 107000 where some of it is known already. */
int32_t aclpy_memory_borrow(aclpy_handle ctx, uintptr_t address, size_t size);
/* aclpy_fail with a finished text. */
int32_t aclpy_fail_text(int32_t status, const char *function, const char *argument, const char *expected,
                        const char *hint, const char *got);
/* Inside a step's call: the device and the stream whose task it is. 0 outside of one. */
uint64_t aclpy_launching(int32_t *device);

/* ---- the short way ----
 *
 * A step's call goes through whoever made the table, which takes long where that is Python. So the call may say how
 * the step was put into the device's queue; with the driver's functions the engine then does the same by itself, as
 * long as nothing more is needed than it knows of. Numbers are the driver's: 0 for success. */
typedef struct aclpy_device_driver {
  int32_t (*launch)(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                    unsigned block_z, unsigned shared_bytes, void *queue, void **params, void **extra);
  int32_t (*synchronize)(void *queue);
  int32_t (*record)(void *event, void *queue);
  int32_t (*wait)(void *queue, void *event, unsigned flags);
  int32_t (*get_context)(void **context); /* the calling thread's */
  int32_t (*set_context)(void *context);
  /* A status for what went wrong (ACLPY_DRIVER_*) with the driver's number for it; its text goes down, too. */
  int32_t (*failed)(int32_t what, int32_t number);
} aclpy_device_driver;

enum { ACLPY_DRIVER_LAUNCH = 0, ACLPY_DRIVER_SYNCHRONIZE = 1, ACLPY_DRIVER_RECORD = 2, ACLPY_DRIVER_WAIT = 3 };
enum {
  ACLPY_LAUNCH_KERNELS = 4,
  ACLPY_LAUNCH_PLACES = 16,
  ACLPY_LAUNCH_WORDS = 512 /* a driver's 4 KiB of arguments */
};

typedef struct aclpy_launch_kernel {
  void *kernel;
  unsigned blocks;
  unsigned threads;
  unsigned shared; /* memory that a block asks for, in bytes */
} aclpy_launch_kernel;

/* Kernels of one step, one after another; all take the same structure of 64-bit words by value. */
typedef struct aclpy_launch_desc {
  int32_t n_kernels;
  const aclpy_launch_kernel *kernels; /* copied */
  int32_t n_words;
  const int64_t *words; /* copied */
  int32_t n_places;     /* words at the beginning that may be addresses */
  /* Of each: 0 for a word that is what `words` says, the number of an operand counted from 1, or one more than the
   * last of these for scratch memory. Copied. */
  const int32_t *places;
  uint64_t scratch_bytes;
} aclpy_launch_desc;

/* For the table that is installed now, copied; a later table comes without one. */
int32_t aclpy_device_driver_install(const aclpy_device_driver *driver);
/* A device that may be used by it, and the context to use it in. */
int32_t aclpy_device_context(int32_t device, void *context);
/* Inside a step's call: the queue behind the stream, as the driver knows it, and scratch memory that every step may
 * use there until the stream ends. */
void aclpy_launching_queue(void *queue, uintptr_t scratch, uint64_t scratch_bytes);
/* Inside a step's call, for its device: what the call has done. 1 where the engine does it from now on. */
int32_t aclpy_launching_step(const aclpy_launch_desc *desc);

/* The program uses the device's queue behind the stream as well: from now on waiting for the stream waits for that
 * work, too. *id is the number that the table knows the stream by. */
int32_t aclpy_stream_expose(aclpy_handle stream, int32_t *device, uint64_t *id);

#endif
