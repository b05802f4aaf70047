/* SPDX-License-Identifier: Apache-2.0
 * The engine's calls about order: copies by address in memory, streams, events, notifies, values, callbacks, captured
 * graphs. Part of engine.h, whose conventions hold here too. Where several C names share a call, it is told the name
 * for its messages.
 */
#ifndef ACLPY_ENGINE_ORDER_H
#define ACLPY_ENGINE_ORDER_H

/* ---- copies inside a device whose addresses stand in its memory, and are read when the copy runs --------------- */

/* dst and src point to where the addresses stand; the offsets are added to those [bytes]. */
int32_t aclpy_memcpy_async_with_offset(aclpy_handle ctx, uintptr_t dst, size_t dst_max, size_t dst_offset,
                                       uintptr_t src, size_t count, size_t src_offset, int32_t kind,
                                       aclpy_handle stream);
int32_t aclpy_memcpy_desc_size(aclpy_handle ctx, int32_t kind, size_t *size);
int32_t aclpy_memcpy_desc_set(aclpy_handle ctx, uintptr_t desc, int32_t kind, uintptr_t src, uintptr_t dst,
                              size_t count, const void *config);
int32_t aclpy_memcpy_async_with_desc(aclpy_handle ctx, uintptr_t desc, int32_t kind, aclpy_handle stream);

/* ---- streams ------------------------------------------------------------------------------------------------- */

enum { ACLPY_STREAM_ATTRIBUTES = 6 }; /* numbered from 1: failure mode, overflow check, user tag, cache, priority */

typedef struct aclpy_stream_info {
  int32_t id;
  uint32_t priority;
  uint32_t flags;
} aclpy_stream_info;

/* Does not wait: what has not begun is dropped, what runs ends by itself. Who waits for a dropped record fails with
 * 107023 instead of waiting for ever. */
int32_t aclpy_stream_destroy_force(aclpy_handle ctx, aclpy_handle stream);
int32_t aclpy_stream_abort(aclpy_handle ctx, aclpy_handle stream); /* likewise, but the stream stays usable */
int32_t aclpy_context_abort(aclpy_handle ctx);                    /* of all streams of the context that are not empty */
int32_t aclpy_stream_stop(aclpy_handle ctx, aclpy_handle stream); /* ends the wait that is the running task */
/* Milliseconds: -1 for ever, above 0 that long (507046), else 107000. */
int32_t aclpy_stream_synchronize_with_timeout(aclpy_handle ctx, aclpy_handle stream, int32_t timeout_ms); /* blocks */
int32_t aclpy_synchronize_device_with_timeout(aclpy_handle ctx, int32_t timeout_ms);                      /* blocks */
int32_t aclpy_stream_facts(aclpy_handle ctx, aclpy_handle stream, const char *function, aclpy_stream_info *info);
int32_t aclpy_stream_available(aclpy_handle ctx, uint32_t *number);
int32_t aclpy_stream_set_attribute(aclpy_handle ctx, aclpy_handle stream, int32_t attribute, uint64_t value,
                                   const char *function);
int32_t aclpy_stream_get_attribute(aclpy_handle ctx, aclpy_handle stream, int32_t attribute, uint64_t *value,
                                   const char *function);
int32_t aclpy_stream_model_only(aclpy_handle ctx, aclpy_handle stream, const char *function); /* always refuses */
int32_t aclpy_stream_config_create(aclpy_handle *config);
int32_t aclpy_stream_config_set(aclpy_handle config, int32_t option, uint64_t value);
int32_t aclpy_stream_config_destroy(aclpy_handle config);
int32_t aclpy_stream_create_from(aclpy_handle ctx, aclpy_handle config, aclpy_handle *stream);
/* Called after a stream has come (1) and before one goes (2); NULL unregisters. A name is registered once. */
typedef void (*aclpy_stream_listener)(aclpy_handle stream, int32_t state, void *arg);
int32_t aclpy_stream_listen(const char *name, aclpy_stream_listener listener, void *arg);
/* How many of each a device has. */
void aclpy_set_limits(uint32_t streams, uint32_t events, uint32_t notifies);

/* ---- events -------------------------------------------------------------------------------------------------- */

int32_t aclpy_event_record_with_flag(aclpy_handle ctx, aclpy_handle event, aclpy_handle stream, uint32_t flag);
int32_t aclpy_event_wait_with_timeout(aclpy_handle ctx, aclpy_handle stream, aclpy_handle event, int32_t seconds);
int32_t aclpy_event_wait_with_flag(aclpy_handle ctx, aclpy_handle stream, aclpy_handle event, uint32_t seconds,
                                   uint32_t flag);
int32_t aclpy_set_op_wait_timeout(uint32_t seconds); /* of later waits without a timeout of their own; 0: none */
int32_t aclpy_event_synchronize_with_timeout(aclpy_handle event, int32_t timeout_ms); /* blocks; 507047 */
int32_t aclpy_event_query_old(aclpy_handle event, int32_t *state);   /* aclrtQueryEvent: COMPLETE 0, NOT_READY 1 */
int32_t aclpy_event_query_waits(aclpy_handle event, int32_t *state); /* COMPLETE 0, NOT_READY 1 */
int32_t aclpy_event_timestamp_us(aclpy_handle event, uint64_t *us);
int32_t aclpy_event_id(aclpy_handle event, uint32_t *id);
int32_t aclpy_event_available(aclpy_handle ctx, uint32_t *number);
int32_t aclpy_event_ipc(aclpy_handle event, const char *function); /* always refuses */

/* ---- notifies and values ------------------------------------------------------------------------------------- */

int32_t aclpy_notify_create(aclpy_handle ctx, uint64_t flag, aclpy_handle *notify);
int32_t aclpy_notify_destroy(aclpy_handle notify);
int32_t aclpy_notify_id(aclpy_handle notify, uint32_t *id);
int32_t aclpy_notify_record(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream);
/* Seconds: 0 for ever, 0xFFFFFFFF that of aclpy_set_op_wait_timeout. */
int32_t aclpy_notify_wait(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t seconds);
int32_t aclpy_notify_batch_reset(const aclpy_handle *notifies, size_t n);
int32_t aclpy_notify_ipc(aclpy_handle notify, const char *function); /* always refuses */
int32_t aclpy_count_create(aclpy_handle ctx, uint64_t flag, aclpy_handle *notify);
int32_t aclpy_count_destroy(aclpy_handle notify);
int32_t aclpy_count_id(aclpy_handle notify, uint32_t *id);
int32_t aclpy_count_record(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t mode, uint32_t value);
int32_t aclpy_count_wait(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream, uint32_t mode, uint32_t value,
                         uint32_t seconds);
int32_t aclpy_count_reset(aclpy_handle ctx, aclpy_handle notify, aclpy_handle stream);
int32_t aclpy_value_write(aclpy_handle ctx, uintptr_t address, uint64_t value, uint32_t flag, aclpy_handle stream);
int32_t aclpy_value_wait(aclpy_handle ctx, uintptr_t address, uint64_t value, uint32_t flag, aclpy_handle stream);

/* ---- callbacks ------------------------------------------------------------------------------------------------ */

/* `thread` is a pthread id; this is the caller's. */
uint64_t aclpy_thread_id(void);
int32_t aclpy_subscribe_report(aclpy_handle ctx, uint64_t thread, aclpy_handle stream);
int32_t aclpy_unsubscribe_report(aclpy_handle ctx, uint64_t thread, aclpy_handle stream);
int32_t aclpy_process_report(int32_t timeout_ms); /* blocks; runs the callbacks that wait for the calling thread */
/* `run`, `drop` and `token` as with aclpy_submit; a failure surfaces at the stream's next synchronise. block_type 1:
 * the stream goes on when `run` has returned. A captured callback runs at every replay and is dropped with the graph.
 */
int32_t aclpy_launch_callback(aclpy_handle ctx, aclpy_handle stream, aclpy_task_run run, aclpy_task_drop drop,
                              void *arg, uint64_t token, int32_t block_type);

/* ---- captured graphs ------------------------------------------------------------------------------------------- */

int32_t aclpy_capture_begin(aclpy_handle ctx, aclpy_handle stream, int32_t mode);
int32_t aclpy_capture_end(aclpy_handle ctx, aclpy_handle stream, aclpy_handle *graph);
int32_t aclpy_capture_info(aclpy_handle ctx, aclpy_handle stream, int32_t *state, aclpy_handle *graph);
int32_t aclpy_capture_exchange_mode(int32_t *mode);
int32_t aclpy_graph_execute(aclpy_handle ctx, aclpy_handle graph, aclpy_handle stream);
int32_t aclpy_graph_execute_sync(aclpy_handle graph, int32_t timeout_ms); /* blocks; models only */
int32_t aclpy_graph_destroy(aclpy_handle graph);
void aclpy_graph_release(aclpy_handle graph);  /* says nothing; also while it runs (garbage collection) */
int32_t aclpy_graph_abort(aclpy_handle graph); /* models only; 507023 at the next synchronise */
/* Called when the graph is destroyed, in the order of registration. */
typedef void (*aclpy_graph_farewell)(void *data);
int32_t aclpy_graph_farewell_register(aclpy_handle graph, aclpy_graph_farewell farewell, void *data);
int32_t aclpy_graph_farewell_unregister(aclpy_handle graph, aclpy_graph_farewell farewell);
/* The program's streams. `streams` NULL: how many; otherwise *number says how many fit. */
int32_t aclpy_graph_streams(aclpy_handle graph, aclpy_handle *streams, uint32_t *number);
int32_t aclpy_graph_set_name(aclpy_handle graph, const char *name);
int32_t aclpy_graph_get_name(aclpy_handle graph, size_t room, char *name);
int32_t aclpy_graph_id(aclpy_handle graph, uint32_t *id);
int32_t aclpy_graph_print_json(aclpy_handle graph, const char *path, uint32_t flags);
int32_t aclpy_graph_print(aclpy_handle graph); /* to the standard error stream */

/* Models: graphs built from persistent streams. Their handles are graphs' in every call above. */
int32_t aclpy_model_build_begin(aclpy_handle ctx, uint32_t flag, aclpy_handle *model);
int32_t aclpy_model_bind(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream, uint32_t flag);
int32_t aclpy_model_end_task(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream);
int32_t aclpy_model_build_end(aclpy_handle model, const void *reserve);
int32_t aclpy_model_unbind(aclpy_handle ctx, aclpy_handle model, aclpy_handle stream);

/* In a model: lets another of its streams start; or lets it run instead of the rest of this one, where the values at
 * the two addresses compare so: 0 ==, 1 !=, 2 >, 3 >=, 4 <, 5 <=. */
typedef struct aclpy_switch {
  uintptr_t left, right;
  int32_t condition, type; /* type: 0 of 32 bits, 1 of 64 */
  aclpy_handle true_stream, false_stream;
} aclpy_switch;
int32_t aclpy_stream_activate(aclpy_handle ctx, aclpy_handle active, aclpy_handle stream);
int32_t aclpy_stream_switch(aclpy_handle ctx, const aclpy_switch *what, aclpy_handle stream);

typedef struct aclpy_graph_task {
  int32_t kind;    /* 0 run, 1 wait, 2 record */
  uint32_t branch; /* 0: the stream of the capture */
  int32_t marker;  /* a wait waits for the record of the same number; -1: none */
  uint32_t group;  /* task group; 0: none */
  char name[64];
} aclpy_graph_task;
int32_t aclpy_graph_size(aclpy_handle graph, uint32_t *tasks, uint32_t *streams);
int32_t aclpy_graph_node(aclpy_handle graph, uint32_t index, aclpy_graph_task *task);

int32_t aclpy_task_group_begin(aclpy_handle ctx, aclpy_handle stream);
int32_t aclpy_task_group_end(aclpy_handle ctx, aclpy_handle stream, aclpy_handle *group);
void aclpy_task_group_release(aclpy_handle group); /* the graph keeps its tasks */
int32_t aclpy_task_update_begin(aclpy_handle ctx, aclpy_handle stream, aclpy_handle group);
int32_t aclpy_task_update_end(aclpy_handle ctx, aclpy_handle stream);

#endif
