/* SPDX-License-Identifier: Apache-2.0
 * The engine: contexts, streams, events, memory, tensors, plans and executors behind handles.
 *
 * It runs tasks and knows no operator. Every function returns an AscendCL status (0 = success); the text of a
 * failure is kept for the calling thread (aclpy_error_last) and joins its recent messages. No function blocks
 * unless its comment says so. Python's C names, Python's nouns and the C ABI all come through here.
 *
 * `ctx` arguments: 0 means the calling thread's current context, with AscendCL's own rules (107002 when there is
 * none, 107003 for a stream of another context). A context handle means exactly that context: thread-local state
 * is neither read nor changed, and a stream made that way ("free-standing") is exempt from the current-context rule.
 */
#ifndef ACLPY_ENGINE_H
#define ACLPY_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

/* kind (8 bits) | generation (24 bits) | slot (32 bits). Looked up in a table, never dereferenced. 0 = none. */
typedef uint64_t aclpy_handle;

/* ---- errors ------------------------------------------------------------------------------------------------ */

typedef struct aclpy_error {
  int32_t status;
  uint64_t token;    /* failed task: the token of aclpy_submit, or the call_token of the failed step; else 0 */
  char function[64]; /* "aclrtMemcpy", or the operator of a failed task */
  char argument[48];
  char got[320];
  char expected[320];
  char hint[320];
} aclpy_error;

/* Builds the text, keeps it for this thread and returns `status`, so that callers write `return aclpy_fail(...)`. */
int32_t aclpy_fail(int32_t status, const char *function, const char *argument, const char *expected, const char *hint,
                   const char *got_format, ...);
const aclpy_error *aclpy_error_last(void);
void aclpy_error_clear(void);
void aclpy_error_take_back(void); /* as if the call that failed last in this thread had not been made */
/* aclrtGetLastError (clear) and aclrtPeekAtLastError: the calling thread's latest failure of the runtime layer. */
int32_t aclpy_last_error(int32_t level, int32_t clear, int32_t *code);
/* What an exception callback is told of a failed task; it runs on the thread that ran the task. */
typedef struct aclpy_exception_info {
  uint32_t task_id, stream_id, thread_id, device_id, error_code;
} aclpy_exception_info;
enum {
  ACLPY_EXCEPTION_TASK = 0,
  ACLPY_EXCEPTION_STREAM = 1,
  ACLPY_EXCEPTION_THREAD = 2,
  ACLPY_EXCEPTION_DEVICE = 3,
  ACLPY_EXCEPTION_CODE = 4
};
typedef void (*aclpy_exception_callback)(aclpy_exception_info *info);
int32_t aclpy_exception_set(aclpy_exception_callback callback);      /* the one slot; NULL empties it */
int32_t aclpy_exception_register(aclpy_exception_callback callback); /* besides the slot; each once */
int32_t aclpy_exception_unregister(aclpy_exception_callback callback);
uint32_t aclpy_exception_value(const aclpy_exception_info *info, int32_t what); /* 0xFFFFFFFF for NULL */
int32_t aclpy_error_verbose(int32_t device, int32_t *fault); /* sort of the device's last fault, 0 = none */
int32_t aclpy_app_log(int32_t level, const char *function, const char *file, uint32_t line, const char *text);
int32_t aclpy_unsupported(const char *function); /* 207000: a call that needs an NPU's hardware */
/* Adds a finished text (the planner's) to the thread's recent messages. */
void aclpy_error_push(int32_t status, const char *text);
/* aclGetRecentErrMsg: returns and clears, newest first, NULL when there is none; lives until the next call. */
const char *aclpy_recent_message(void);

/* ---- process, devices, contexts ----------------------------------------------------------------------------- */

int32_t aclpy_init(const char *config_path);
int32_t aclpy_finalize(void);
int32_t aclpy_finalize_reference(uint64_t *count);
/* Functions of other components: called by the aclInit that initialises, and by what undoes it. */
typedef int32_t (*aclpy_init_callback)(const char *config, size_t length, void *data);
typedef int32_t (*aclpy_finalize_callback)(void *data);
int32_t aclpy_init_callback_register(int32_t type, aclpy_init_callback callback, void *data);
int32_t aclpy_init_callback_unregister(int32_t type, aclpy_init_callback callback);
int32_t aclpy_finalize_callback_register(int32_t type, aclpy_finalize_callback callback, void *data);
int32_t aclpy_finalize_callback_unregister(int32_t type, aclpy_finalize_callback callback);
int32_t aclpy_nn_init(const char *config_path); /* aclnnInit, aclnnFinalize: always 0 */
int32_t aclpy_nn_finalize(void);

int32_t aclpy_device_count(uint32_t *count);
int32_t aclpy_set_device(int32_t device);
int32_t aclpy_reset_device(int32_t device);       /* blocks: waits for the work of what it releases */
int32_t aclpy_reset_device_force(int32_t device); /* likewise */
int32_t aclpy_get_device(int32_t *device);
int32_t aclpy_synchronize_device(aclpy_handle ctx); /* blocks; every stream of the context */

int32_t aclpy_primary_state(int32_t device, const void *flags, int32_t *active);

typedef struct aclpy_utilization {
  int32_t cube, vector, aicpu, memory; /* percentages; memory always -1 */
  void *extend;                        /* NULL */
} aclpy_utilization;
enum { ACLPY_VERSION_BYTES = 128 };
int32_t aclpy_run_mode(int32_t *mode);
int32_t aclpy_version(int32_t *major, int32_t *minor, int32_t *patch);
int32_t aclpy_package_version(const char *package, char *text); /* ACLPY_VERSION_BYTES of room */
int32_t aclpy_package_number(const char *package, int32_t *number);
int32_t aclpy_stream_priority_range(int32_t *least, int32_t *greatest);
int32_t aclpy_set_ts_device(int32_t ts);
int32_t aclpy_device_status(int32_t device, int32_t *status);
int32_t aclpy_device_utilization(int32_t device, aclpy_utilization *info);
int32_t aclpy_device_info(uint32_t device, int32_t attribute, int64_t *value);
int32_t aclpy_device_capability(uint32_t device, int32_t capability, int64_t *value);
int32_t aclpy_cann_attributes(const int32_t **list, size_t *count);
int32_t aclpy_cann_attribute(int32_t attribute, int32_t *value);
const char *aclpy_soc_name(void); /* NULL when ACLNN_PY_SOC names no chip */
/* System parameters of the process, and of a context. */
int32_t aclpy_sysparam_set(int32_t option, int64_t value);
int32_t aclpy_sysparam_get(int32_t option, int64_t *value);
int32_t aclpy_context_sysparam_set(aclpy_handle ctx, int32_t option, int64_t value);
int32_t aclpy_context_sysparam_get(aclpy_handle ctx, int32_t option, int64_t *value);
/* Limits of cores (kind 0 cube, 1 vector): of a device for the process, of a stream, and those that hold in a thread.
 */
int32_t aclpy_device_cores(int32_t device, int32_t kind, uint32_t *value);
int32_t aclpy_device_cores_set(int32_t device, int32_t kind, uint32_t value);
int32_t aclpy_device_cores_reset(int32_t device);
int32_t aclpy_stream_cores(aclpy_handle ctx, aclpy_handle stream, int32_t kind, uint32_t *value);
int32_t aclpy_stream_cores_set(aclpy_handle ctx, aclpy_handle stream, int32_t kind, uint32_t value);
int32_t aclpy_stream_cores_reset(aclpy_handle ctx, aclpy_handle stream);
int32_t aclpy_thread_cores(aclpy_handle ctx, int32_t kind, uint32_t *value);
int32_t aclpy_thread_cores_use(aclpy_handle ctx, aclpy_handle stream);
int32_t aclpy_thread_cores_unuse(aclpy_handle ctx, aclpy_handle stream);
/* Numbers of a device: the program's (0 to the count), and the one that ASCEND_RT_VISIBLE_DEVICES knows it by. */
int32_t aclpy_device_physical(int32_t device, int32_t *physical, const char *function, const char *argument);
int32_t aclpy_device_of_physical(int32_t physical, int32_t *device, const char *function, const char *argument);
int32_t aclpy_process_id(int32_t *pid);
/* Arithmetic gives infinities and NaN (mode 1), never saturated numbers (mode 0). */
int32_t aclpy_overflow_mode(aclpy_handle ctx, int32_t *mode);
int32_t aclpy_overflow_mode_set(aclpy_handle ctx, int32_t mode);
/* Allocators of the host program, kept for streams. `parts` are addresses, as ACLPY_ALLOCATOR_* numbers them. */
enum {
  ACLPY_ALLOCATOR_OBJECT,
  ACLPY_ALLOCATOR_ALLOC,
  ACLPY_ALLOCATOR_FREE,
  ACLPY_ALLOCATOR_ADVISE,
  ACLPY_ALLOCATOR_ADDRESS,
  ACLPY_ALLOCATOR_PARTS
};
int32_t aclpy_allocator_create(aclpy_handle *description);
int32_t aclpy_allocator_destroy(aclpy_handle description);
int32_t aclpy_allocator_set(aclpy_handle description, int32_t part, uintptr_t value, const char *function);
int32_t aclpy_allocator_register(aclpy_handle ctx, aclpy_handle stream, aclpy_handle description);
int32_t aclpy_allocator_unregister(aclpy_handle stream);
int32_t aclpy_allocator_of_stream(aclpy_handle ctx, aclpy_handle stream, aclpy_handle *description, uintptr_t *parts);
/* Peer access: the context's device may then copy to and from the peer's memory. */
int32_t aclpy_can_access_peer(int32_t *can, int32_t device, int32_t peer);
int32_t aclpy_enable_peer_access(aclpy_handle ctx, int32_t peer, uint32_t flags);
int32_t aclpy_disable_peer_access(aclpy_handle ctx, int32_t peer);
int32_t aclpy_peer_access_status(int32_t device, int32_t peer, int32_t *enabled);
int32_t aclpy_devices_topology(int32_t device, int32_t other, uint64_t *links);

int32_t aclpy_context_create(int32_t device, aclpy_handle *ctx); /* becomes current */
int32_t aclpy_context_destroy(aclpy_handle ctx);
int32_t aclpy_context_set_current(aclpy_handle ctx);
int32_t aclpy_context_get_current(aclpy_handle *ctx);
int32_t aclpy_context_device(aclpy_handle ctx, int32_t *device);
/* Nouns: hold the device's primary context without touching the thread; counted apart from aclrtSetDevice. */
int32_t aclpy_primary_retain(int32_t device, aclpy_handle *ctx);
int32_t aclpy_primary_release(aclpy_handle ctx);

/* ---- memory ------------------------------------------------------------------------------------------------- */

enum { ACLPY_MEMORY_NONE = 0, ACLPY_MEMORY_DEVICE = 1, ACLPY_MEMORY_HOST = 2, ACLPY_MEMORY_REGISTERED = 3 };

typedef struct aclpy_memory_info {
  int32_t kind; /* ACLPY_MEMORY_* of the live allocation that holds the address */
  int32_t device;
  uintptr_t base;
  uint64_t size;     /* as requested */
  uint64_t pending;  /* queued or running tasks that touch it */
  uint64_t identity; /* of this allocation: never that of a later one at the same address */
} aclpy_memory_info;

int32_t aclpy_malloc(aclpy_handle ctx, size_t size, int32_t policy, uintptr_t *address);
/* Every form; `policy` is the flag of aclrtMemAllocManaged, and of no use to pinned memory. */
enum {
  ACLPY_MALLOC_PLAIN = 0,
  ACLPY_MALLOC_ALIGN32 = 1,
  ACLPY_MALLOC_CACHED = 2,
  ACLPY_MALLOC_WITH_CFG = 3,
  ACLPY_MALLOC_TASK_SCHEDULER = 4,
  ACLPY_MALLOC_HOST = 5,
  ACLPY_MALLOC_HOST_WITH_CFG = 6,
  ACLPY_MALLOC_MANAGED = 7,
  ACLPY_MALLOC_FORMS = 8
};
typedef struct aclpy_malloc_attribute {
  int32_t type; /* 1 module, 2 device, 3 address flag */
  uint64_t value;
} aclpy_malloc_attribute;
int32_t aclpy_malloc_form(aclpy_handle ctx, int32_t form, size_t size, int32_t policy,
                          const aclpy_malloc_attribute *attributes, size_t count, uintptr_t *address);
int32_t aclpy_free(uintptr_t address); /* memory in use by a queued task lives until that task has run */
/* Frees exactly this allocation, of either kind, saying nothing where it is gone already (garbage collection). */
void aclpy_memory_discard(uintptr_t address, uint64_t identity);
int32_t aclpy_malloc_host(aclpy_handle ctx, size_t size, uintptr_t *address);
int32_t aclpy_free_host(uintptr_t address);
/* Blocks: synchronises the context, then frees; on a failure nothing is freed. */
int32_t aclpy_free_synchronized(aclpy_handle ctx, uintptr_t address, int32_t host);
int32_t aclpy_memory_query(uintptr_t address, aclpy_memory_info *info); /* 0 also for unknown addresses: kind NONE */
/* Blocks until every task queued so far that touches the allocation holding `address` has run; the status (and
 * aclpy_error_last) of a failed one is returned once. 0 for an address in no live allocation. */
int32_t aclpy_memory_wait(uintptr_t address);
/* One more owner of the bytes themselves (exported views): freed when the last owner lets go. */
int32_t aclpy_memory_retain(uintptr_t address);
int32_t aclpy_memory_release(uintptr_t base);
/* Bytes now held for device and pinned memory, freed-but-in-use ones included. */
uint64_t aclpy_memory_in_use(void);

typedef struct aclpy_usage {
  char component[32];
  uint64_t now, most; /* bytes */
} aclpy_usage;
typedef struct aclpy_pointer {
  int32_t location; /* 0 host, 1 device, 2 unregistered, 3 managed */
  int32_t id;
  uint32_t page_size; /* bytes; 0 where nothing is known */
} aclpy_pointer;
int32_t aclpy_memory_figures(aclpy_handle ctx, int32_t attribute, uint64_t *free_bytes, uint64_t *total);
int32_t aclpy_memory_usage(int32_t device, aclpy_usage *rows, size_t room, size_t *count);
int32_t aclpy_pointer_attributes(uintptr_t address, aclpy_pointer *attributes);
int32_t aclpy_memory_range(uintptr_t address, uintptr_t *base, size_t *size); /* of the allocation around it */
int32_t aclpy_memory_maintain(uintptr_t address, size_t size, int32_t invalidate);
/* The program's own host memory as pinned memory. */
int32_t aclpy_host_register(aclpy_handle ctx, uintptr_t address, uint64_t size, int32_t type, uintptr_t *device);
int32_t aclpy_host_register_flags(aclpy_handle ctx, uintptr_t address, uint64_t size, uint32_t flags);
int32_t aclpy_host_device_pointer(uintptr_t address, uintptr_t *device, uint32_t flag);
int32_t aclpy_host_unregister(uintptr_t address); /* blocks for the queued tasks that use it */
/* An address and a size that travel together. */
int32_t aclpy_data_buffer_create(uintptr_t address, size_t size, aclpy_handle *buffer);
int32_t aclpy_data_buffer_destroy(aclpy_handle buffer);
int32_t aclpy_data_buffer_update(aclpy_handle buffer, uintptr_t address, size_t size);
int32_t aclpy_data_buffer_get(aclpy_handle buffer, uintptr_t *address, size_t *size); /* one may be NULL */
float aclpy_float16_to_float(uint16_t half); /* saturating, not IEEE: reference 2.3 */
uint16_t aclpy_float_to_float16(float value);

int32_t aclpy_memcpy(aclpy_handle ctx, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count, int32_t kind);
int32_t aclpy_memset(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count);
int32_t aclpy_memcpy_async(aclpy_handle ctx, uintptr_t dst, size_t dst_max, uintptr_t src, size_t count, int32_t kind,
                           aclpy_handle stream); /* blocks only for pageable host memory (reference 2.2) */
int32_t aclpy_memset_async(aclpy_handle ctx, uintptr_t dst, size_t max, int32_t value, size_t count,
                           aclpy_handle stream);

int32_t aclpy_memset_d32(aclpy_handle ctx, uintptr_t dst, size_t size, uint32_t value, size_t count);
int32_t aclpy_memset_d32_async(aclpy_handle ctx, uintptr_t dst, size_t size, uint32_t value, size_t count,
                               aclpy_handle stream);
int32_t aclpy_memcpy_2d(aclpy_handle ctx, uintptr_t dst, size_t dst_pitch, uintptr_t src, size_t src_pitch,
                        size_t width, size_t height, int32_t kind);
int32_t aclpy_memcpy_2d_async(aclpy_handle ctx, uintptr_t dst, size_t dst_pitch, uintptr_t src, size_t src_pitch,
                              size_t width, size_t height, int32_t kind, aclpy_handle stream);
typedef struct aclpy_copy {
  uintptr_t dst;
  size_t dst_max;
  uintptr_t src;
  size_t count;
} aclpy_copy;
typedef struct aclpy_copy_place {
  int32_t dst_type, dst_id, src_type, src_id; /* types: 0 host, 1 device */
} aclpy_copy_place;
/* places[i] describes the copies from firsts[i] on. *fail_index: the copy to blame, or SIZE_MAX. */
int32_t aclpy_memcpy_batch(aclpy_handle ctx, const aclpy_copy *copies, size_t n, const aclpy_copy_place *places,
                           const size_t *firsts, size_t n_places, size_t *fail_index);
int32_t aclpy_memcpy_batch_async(aclpy_handle ctx, const aclpy_copy *copies, size_t n, const aclpy_copy_place *places,
                                 const size_t *firsts, size_t n_places, size_t *fail_index, aclpy_handle stream);

/* ---- streams and events -------------------------------------------------------------------------------------- */

int32_t aclpy_stream_create(aclpy_handle ctx, uint32_t priority, uint32_t flags, aclpy_handle *stream);
/* From now on `pulse` is called about ten times a second while the calling thread waits in the engine, outside of all
 * locks; what it returns 1 for ends as if its time were over. NULL: no more. Whether one did so since the last call
 * is returned. */
int32_t aclpy_set_pulse(int32_t (*pulse)(void *arg), void *arg);
int32_t aclpy_stream_destroy(aclpy_handle ctx, aclpy_handle stream); /* blocks: drains */
/* The same; tells of a failure that no synchronise has told of, when the stream is gone. */
int32_t aclpy_stream_close(aclpy_handle ctx, aclpy_handle stream);
/* Returns at once; queued work still runs, then the stream goes (used when a noun is garbage collected). */
int32_t aclpy_stream_release(aclpy_handle stream);
int32_t aclpy_stream_default(aclpy_handle ctx, aclpy_handle *stream);
int32_t aclpy_stream_context(aclpy_handle stream, aclpy_handle *ctx);
int32_t aclpy_stream_synchronize(aclpy_handle ctx, aclpy_handle stream); /* blocks; 0 = default stream; task error */
/* 1 where that would return 0 at once, without blocking; anything else, dead handles too: 0. */
int32_t aclpy_stream_is_quiet(aclpy_handle stream);
int32_t aclpy_stream_query(aclpy_handle ctx, aclpy_handle stream, int32_t *status); /* 0 complete, 1 not ready */

enum { ACLPY_EVENT_PLAIN = 0, ACLPY_EVENT_WITH_FLAG = 1, ACLPY_EVENT_EX_WITH_FLAG = 2 };
int32_t aclpy_event_create(aclpy_handle ctx, int32_t kind, uint32_t flags, aclpy_handle *event);
int32_t aclpy_event_destroy(aclpy_handle event);
int32_t aclpy_event_record(aclpy_handle ctx, aclpy_handle event, aclpy_handle stream);
/* The stream waits, not the host. */
int32_t aclpy_event_wait(aclpy_handle ctx, aclpy_handle stream, aclpy_handle event);
int32_t aclpy_event_reset(aclpy_handle ctx, aclpy_handle event, aclpy_handle stream);
int32_t aclpy_event_synchronize(aclpy_handle event);              /* blocks */
int32_t aclpy_event_query(aclpy_handle event, int32_t *recorded); /* NOT_READY 0, COMPLETE 1 */
int32_t aclpy_event_elapsed_ms(aclpy_handle start, aclpy_handle end, float *ms);

/* Any work in stream order on the stream's worker. `run` returns a status; a failure surfaces at the next
 * synchronise of the stream with `token`. `drop` is called exactly once, run or not, also when this call itself fails.
 * Used by host functions. */
typedef int32_t (*aclpy_task_run)(void *arg);
typedef void (*aclpy_task_drop)(void *arg);
int32_t aclpy_submit(aclpy_handle ctx, aclpy_handle stream, const char *label, aclpy_task_run run, aclpy_task_drop drop,
                     void *arg, uint64_t token);

/* ---- tensors --------------------------------------------------------------------------------------------------- */

enum { ACLPY_MAX_RANK = 25 };

typedef struct aclpy_tensor_desc {
  int32_t dtype; /* aclDataType */
  int32_t format;
  int64_t offset; /* elements */
  uint64_t view_rank;
  uint64_t storage_rank;
  uint64_t layout; /* its id */
  int64_t view_dims[ACLPY_MAX_RANK];
  int64_t view_strides[ACLPY_MAX_RANK]; /* elements */
  int64_t storage_dims[ACLPY_MAX_RANK];
} aclpy_tensor_desc;

/* strides NULL: row-major. Validates nothing beyond reference 3.1 (and rank <= ACLPY_MAX_RANK: 161002).
 * `layout` receives the id of the interned description: equal descriptions share one id, ids are never reused. */
int32_t aclpy_tensor_create(const int64_t *view_dims, uint64_t view_rank, int32_t dtype, const int64_t *strides,
                            int64_t offset, int32_t format, const int64_t *storage_dims, uint64_t storage_rank,
                            uintptr_t data, aclpy_handle *tensor, uint64_t *layout);
/* aclInitTensor: reference 3.2. */
int32_t aclpy_tensor_init(aclpy_handle tensor, const int64_t *view_dims, uint64_t view_rank, int32_t dtype,
                          const int64_t *strides, int64_t offset, int32_t format, const int64_t *storage_dims,
                          uint64_t storage_rank, uintptr_t data, uint64_t *layout);
int32_t aclpy_tensor_destroy(aclpy_handle tensor); /* executors keep the object they need */
/* `function` is for messages. */
int32_t aclpy_tensor_describe(const char *function, aclpy_handle tensor, aclpy_tensor_desc *desc);
int32_t aclpy_tensor_layout(aclpy_handle tensor, uint64_t *layout);
int32_t aclpy_tensor_get_address(aclpy_handle tensor, uintptr_t *address);
int32_t aclpy_tensor_set_address(aclpy_handle tensor, uintptr_t address);

/* ---- executors; plans are in engine_plan.h ----------------------------------------------------------------------- */

/* Binds tensors to a plan. Reads the emulated vendor-cache flag of (this thread, plan). Destroyed or foreign tensor
 * handles: 161002 naming the slot. The fixed-arity form is the hot path: unused handles 0, returns 0 on failure. */
int32_t aclpy_executor_create(aclpy_handle plan, const aclpy_handle *tensors, int32_t n, aclpy_handle *executor);
aclpy_handle aclpy_executor_new(aclpy_handle plan, aclpy_handle t0, aclpy_handle t1, aclpy_handle t2, aclpy_handle t3);
/* Phase 2, for every face. stream 0: the default stream of the current context. `op` names the called operator. */
int32_t aclpy_execute(uint32_t op, uintptr_t workspace, uint64_t workspace_size, aclpy_handle executor,
                      aclpy_handle stream);
/* A phase 2 that is repeated with the same numbers and was successful before: what its checks found is kept, and each
 * run only looks whether that still holds. For small plans and repeatable executors on streams made with a context;
 * NULL for others, which is no error. Running gives 1, or 0 where it has done nothing: call aclpy_execute then, which
 * runs it another way or refuses it. Nobody may free it meanwhile. */
struct aclpy_ready;
struct aclpy_ready *aclpy_ready_new(uint32_t op, uintptr_t workspace, uint64_t workspace_size, aclpy_handle executor,
                                    aclpy_handle stream);
int32_t aclpy_ready_run(const struct aclpy_ready *ready);
void aclpy_ready_free(struct aclpy_ready *ready);
int32_t aclpy_executor_set_repeatable(aclpy_handle executor);
int32_t aclpy_executor_destroy(aclpy_handle executor);
/* Destroys what is left of it, saying nothing: also for stale handles (garbage collection). */
void aclpy_executor_discard(aclpy_handle executor);
int32_t aclpy_executor_is_cache_hit(aclpy_handle executor, int32_t *hit);
/* aclSet(Input|Output|)TensorAddr: reference 4.3 (order of checks included). `function` is for messages. */
int32_t aclpy_executor_set_address(const char *function, aclpy_handle executor, size_t index, aclpy_handle tensor,
                                   uintptr_t address);

/* ---- the planner, for C hosts ----------------------------------------------------------------------------------- */

/* Phase 1 of the operator `name`: `key` holds a word for each parameter in C order (a tensor's layout id, or the bits
 * of an attribute) and one for which tensors are the same object. Returns a plan that stays alive, or minus the status.
 */
typedef int64_t (*aclpy_planner)(const char *name, const int64_t *key, int32_t n_key, const aclpy_handle *tensors,
                                 uint64_t *workspace_bytes);
void aclpy_planner_install(aclpy_planner planner);
void aclpy_planner_forget(void); /* what it answered so far holds no more */

/* ---- settings, threads, tests ------------------------------------------------------------------------------- */

int32_t aclpy_thread_count(void);              /* threads of the compute pool, the calling worker included */
int32_t aclpy_set_thread_count(int32_t count); /* tests and benchmarks; takes effect for later steps */
void aclpy_set_strict(int32_t strict);         /* ACLNN_PY_STRICT */
void aclpy_set_vendor_cache(int32_t enabled, int64_t limit); /* DISABLE_L2_CACHE, ACLNN_CACHE_LIMIT */
int32_t aclpy_set_soc(const char *profile);                  /* ACLNN_PY_SOC */
void aclpy_set_device_memory(uint64_t bytes);                /* 0: what the machine has */
/* Stops cleanly at interpreter exit: waits are released, queued tasks are dropped, running C kernels finish; a host
 * function still inside Python is left behind. After it every call fails cleanly. Never hangs. */
void aclpy_shutdown(void);
/* Objects of a kind still open: "context", "stream", "event", "memory", "tensor", "plan", "executor", "task"; and
 * "callback": posted to its thread and not called yet. */
int64_t aclpy_live_count(const char *kind);
/* Fault injection: the n-th next ("memory" | "thread" | "object") acquisition fails; 0 switches it off. */
int32_t aclpy_fail_after(const char *what, int64_t n);

#include "engine_plan.h"

#include "engine_order.h"

#include "engine_device.h"

#include "engine_bench.h"

#endif
