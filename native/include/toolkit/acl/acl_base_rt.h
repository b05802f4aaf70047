/* SPDX-License-Identifier: Apache-2.0
 * Types, statuses and small helpers that the runtime and the operators share.
 */
#ifndef ACLNN_PY_ACL_BASE_RT_H
#define ACLNN_PY_ACL_BASE_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Functions are visible by default; host programs name this macro in their own declarations. */
#ifndef ACL_FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY
#endif
/* Nothing is marked as out of date. */
#ifndef ACL_DEPRECATED
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)

typedef int aclError;
typedef uint16_t aclFloat16;

typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc;

/* begin generated: statuses acl */
#ifdef __cplusplus
static const aclError ACL_SUCCESS = 0;
static const aclError ACL_ERROR_INVALID_PARAM = 100000;
static const aclError ACL_ERROR_UNINITIALIZE = 100001;
static const aclError ACL_ERROR_REPEAT_INITIALIZE = 100002;
static const aclError ACL_ERROR_INVALID_FILE = 100003;
static const aclError ACL_ERROR_WRITE_FILE = 100004;
static const aclError ACL_ERROR_INVALID_FILE_SIZE = 100005;
static const aclError ACL_ERROR_PARSE_FILE = 100006;
static const aclError ACL_ERROR_FILE_MISSING_ATTR = 100007;
static const aclError ACL_ERROR_FILE_ATTR_INVALID = 100008;
static const aclError ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
static const aclError ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
static const aclError ACL_ERROR_INVALID_MODEL_ID = 100011;
static const aclError ACL_ERROR_DESERIALIZE_MODEL = 100012;
static const aclError ACL_ERROR_PARSE_MODEL = 100013;
static const aclError ACL_ERROR_READ_MODEL_FAILURE = 100014;
static const aclError ACL_ERROR_MODEL_SIZE_INVALID = 100015;
static const aclError ACL_ERROR_MODEL_MISSING_ATTR = 100016;
static const aclError ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
static const aclError ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
static const aclError ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
static const aclError ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
static const aclError ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
static const aclError ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
static const aclError ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
static const aclError ACL_ERROR_OP_NOT_FOUND = 100024;
static const aclError ACL_ERROR_OP_LOAD_FAILED = 100025;
static const aclError ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
static const aclError ACL_ERROR_FORMAT_NOT_MATCH = 100027;
static const aclError ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
static const aclError ACL_ERROR_KERNEL_NOT_FOUND = 100029;
static const aclError ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
static const aclError ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
static const aclError ACL_ERROR_INVALID_QUEUE_ID = 100032;
static const aclError ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
static const aclError ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
static const aclError ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
static const aclError ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
static const aclError ACL_ERROR_REPEAT_FINALIZE = 100037;
static const aclError ACL_ERROR_NOT_STATIC_AIPP = 100038;
static const aclError ACL_ERROR_COMPILING_STUB_MODE = 100039;
static const aclError ACL_ERROR_GROUP_NOT_SET = 100040;
static const aclError ACL_ERROR_GROUP_NOT_CREATE = 100041;
static const aclError ACL_ERROR_PROF_ALREADY_RUN = 100042;
static const aclError ACL_ERROR_PROF_NOT_RUN = 100043;
static const aclError ACL_ERROR_DUMP_ALREADY_RUN = 100044;
static const aclError ACL_ERROR_DUMP_NOT_RUN = 100045;
static const aclError ACL_ERROR_RT_PARAM_INVALID = 107000;
static const aclError ACL_ERROR_RT_INVALID_DEVICEID = 107001;
static const aclError ACL_ERROR_RT_CONTEXT_NULL = 107002;
static const aclError ACL_ERROR_RT_STREAM_CONTEXT = 107003;
static const aclError ACL_ERROR_RT_MODEL_CONTEXT = 107004;
static const aclError ACL_ERROR_RT_STREAM_MODEL = 107005;
static const aclError ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107006;
static const aclError ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL = 107007;
static const aclError ACL_ERROR_RT_ADDR_UNALIGNED = 107008;
static const aclError ACL_ERROR_RT_FILE_OPEN = 107009;
static const aclError ACL_ERROR_RT_FILE_WRITE = 107010;
static const aclError ACL_ERROR_RT_STREAM_SUBSCRIBE = 107011;
static const aclError ACL_ERROR_RT_THREAD_SUBSCRIBE = 107012;
static const aclError ACL_ERROR_RT_GROUP_NOT_SET = 107013;
static const aclError ACL_ERROR_RT_GROUP_NOT_CREATE = 107014;
static const aclError ACL_ERROR_RT_STREAM_NO_CB_REG = 107015;
static const aclError ACL_ERROR_RT_INVALID_MEMORY_TYPE = 107016;
static const aclError ACL_ERROR_RT_INVALID_HANDLE = 107017;
static const aclError ACL_ERROR_RT_INVALID_MALLOC_TYPE = 107018;
static const aclError ACL_ERROR_RT_WAIT_TIMEOUT = 107019;
static const aclError ACL_ERROR_RT_TASK_TIMEOUT = 107020;
static const aclError ACL_ERROR_RT_SYSPARAMOPT_NOT_SET = 107021;
static const aclError ACL_ERROR_RT_DEVICE_TASK_ABORT = 107022;
static const aclError ACL_ERROR_RT_STREAM_ABORT = 107023;
static const aclError ACL_ERROR_RT_CAPTURE_DEPENDENCY = 107024;
static const aclError ACL_ERROR_RT_STREAM_UNJOINED = 107025;
static const aclError ACL_ERROR_RT_MODEL_CAPTURED = 107026;
static const aclError ACL_ERROR_RT_STREAM_CAPTURED = 107027;
static const aclError ACL_ERROR_RT_EVENT_CAPTURED = 107028;
static const aclError ACL_ERROR_RT_STREAM_NOT_CAPTURED = 107029;
static const aclError ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT = 107030;
static const aclError ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT = 107031;
static const aclError ACL_ERROR_STREAM_CAPTURE_CONFLICT = 107032;
static const aclError ACL_ERROR_STREAM_TASK_GROUP_STATUS = 107033;
static const aclError ACL_ERROR_STREAM_TASK_GROUP_INTR = 107034;
static const aclError ACL_ERROR_RT_TASK_ABORT_STOP = 107035;
static const aclError ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED = 107036;
static const aclError ACL_ERROR_RT_MODEL_RUNNING = 107037;
static const aclError ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD = 107038;
static const aclError ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY = 107039;
static const aclError ACL_ERROR_RT_MODEL_UPDATE_FAILED = 107040;
static const aclError ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC = 107041;
static const aclError ACL_ERROR_RT_SYMBOL_NOT_FOUND = 107042;
static const aclError ACL_ERROR_RT_INVALID_SYMBOL = 107043;
static const aclError ACL_ERROR_RT_INVALID_DEVICE_FUNCTION = 107044;
static const aclError ACL_ERROR_RT_SUB_GRAPH_CAPTURING = 107045;
static const aclError ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
static const aclError ACL_ERROR_PROF_API_CONFLICT = 148047;
static const aclError ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
static const aclError ACL_ERROR_INVALID_OPP_PATH = 148049;
static const aclError ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
static const aclError ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
static const aclError ACL_ERROR_UNSUPPORTED_JPEG = 148052;
static const aclError ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;
static const aclError ACL_ERROR_BAD_ALLOC = 200000;
static const aclError ACL_ERROR_API_NOT_SUPPORT = 200001;
static const aclError ACL_ERROR_INVALID_DEVICE = 200002;
static const aclError ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
static const aclError ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
static const aclError ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
static const aclError ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
static const aclError ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;
static const aclError ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000;
static const aclError ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;
static const aclError ACL_ERROR_RT_MEMORY_FREE = 207002;
static const aclError ACL_ERROR_RT_AICORE_OVER_FLOW = 207003;
static const aclError ACL_ERROR_RT_NO_DEVICE = 207004;
static const aclError ACL_ERROR_RT_RESOURCE_ALLOC_FAIL = 207005;
static const aclError ACL_ERROR_RT_NO_PERMISSION = 207006;
static const aclError ACL_ERROR_RT_NO_EVENT_RESOURCE = 207007;
static const aclError ACL_ERROR_RT_NO_STREAM_RESOURCE = 207008;
static const aclError ACL_ERROR_RT_NO_NOTIFY_RESOURCE = 207009;
static const aclError ACL_ERROR_RT_NO_MODEL_RESOURCE = 207010;
static const aclError ACL_ERROR_RT_NO_CDQ_RESOURCE = 207011;
static const aclError ACL_ERROR_RT_OVER_LIMIT = 207012;
static const aclError ACL_ERROR_RT_QUEUE_EMPTY = 207013;
static const aclError ACL_ERROR_RT_QUEUE_FULL = 207014;
static const aclError ACL_ERROR_RT_REPEATED_INIT = 207015;
static const aclError ACL_ERROR_RT_AIVEC_OVER_FLOW = 207016;
static const aclError ACL_ERROR_RT_OVER_FLOW = 207017;
static const aclError ACL_ERROR_RT_DEVIDE_OOM = 207018;
static const aclError ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP = 207019;
static const aclError ACL_ERROR_RT_DRV_TIMEOUT = 207020;
static const aclError ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORT = 207021;
static const aclError ACL_ERROR_STORAGE_OVER_LIMIT = 300000;
static const aclError ACL_ERROR_INTERNAL_ERROR = 500000;
static const aclError ACL_ERROR_FAILURE = 500001;
static const aclError ACL_ERROR_GE_FAILURE = 500002;
static const aclError ACL_ERROR_RT_FAILURE = 500003;
static const aclError ACL_ERROR_DRV_FAILURE = 500004;
static const aclError ACL_ERROR_PROFILING_FAILURE = 500005;
static const aclError ACL_ERROR_RT_INTERNAL_ERROR = 507000;
static const aclError ACL_ERROR_RT_TS_ERROR = 507001;
static const aclError ACL_ERROR_RT_STREAM_TASK_FULL = 507002;
static const aclError ACL_ERROR_RT_STREAM_TASK_EMPTY = 507003;
static const aclError ACL_ERROR_RT_STREAM_NOT_COMPLETE = 507004;
static const aclError ACL_ERROR_RT_END_OF_SEQUENCE = 507005;
static const aclError ACL_ERROR_RT_EVENT_NOT_COMPLETE = 507006;
static const aclError ACL_ERROR_RT_CONTEXT_RELEASE_ERROR = 507007;
static const aclError ACL_ERROR_RT_SOC_VERSION = 507008;
static const aclError ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT = 507009;
static const aclError ACL_ERROR_RT_LOST_HEARTBEAT = 507010;
static const aclError ACL_ERROR_RT_MODEL_EXECUTE = 507011;
static const aclError ACL_ERROR_RT_REPORT_TIMEOUT = 507012;
static const aclError ACL_ERROR_RT_SYS_DMA = 507013;
static const aclError ACL_ERROR_RT_AICORE_TIMEOUT = 507014;
static const aclError ACL_ERROR_RT_AICORE_EXCEPTION = 507015;
static const aclError ACL_ERROR_RT_AICORE_TRAP_EXCEPTION = 507016;
static const aclError ACL_ERROR_RT_AICPU_TIMEOUT = 507017;
static const aclError ACL_ERROR_RT_AICPU_EXCEPTION = 507018;
static const aclError ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR = 507019;
static const aclError ACL_ERROR_RT_AICPU_MODEL_RSP_ERR = 507020;
static const aclError ACL_ERROR_RT_PROFILING_ERROR = 507021;
static const aclError ACL_ERROR_RT_IPC_ERROR = 507022;
static const aclError ACL_ERROR_RT_MODEL_ABORT_NORMAL = 507023;
static const aclError ACL_ERROR_RT_KERNEL_UNREGISTERING = 507024;
static const aclError ACL_ERROR_RT_RINGBUFFER_NOT_INIT = 507025;
static const aclError ACL_ERROR_RT_RINGBUFFER_NO_DATA = 507026;
static const aclError ACL_ERROR_RT_KERNEL_LOOKUP = 507027;
static const aclError ACL_ERROR_RT_KERNEL_DUPLICATE = 507028;
static const aclError ACL_ERROR_RT_DEBUG_REGISTER_FAIL = 507029;
static const aclError ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL = 507030;
static const aclError ACL_ERROR_RT_LABEL_CONTEXT = 507031;
static const aclError ACL_ERROR_RT_PROGRAM_USE_OUT = 507032;
static const aclError ACL_ERROR_RT_DEV_SETUP_ERROR = 507033;
static const aclError ACL_ERROR_RT_VECTOR_CORE_TIMEOUT = 507034;
static const aclError ACL_ERROR_RT_VECTOR_CORE_EXCEPTION = 507035;
static const aclError ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION = 507036;
static const aclError ACL_ERROR_RT_CDQ_BATCH_ABNORMAL = 507037;
static const aclError ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR = 507038;
static const aclError ACL_ERROR_RT_DIE_SET_ERROR = 507039;
static const aclError ACL_ERROR_RT_INVALID_DIEID = 507040;
static const aclError ACL_ERROR_RT_DIE_MODE_NOT_SET = 507041;
static const aclError ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW = 507042;
static const aclError ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW = 507043;
static const aclError ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW = 507044;
static const aclError ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW = 507045;
static const aclError ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507046;
static const aclError ACL_ERROR_RT_EVENT_SYNC_TIMEOUT = 507047;
static const aclError ACL_ERROR_RT_FFTS_PLUS_TIMEOUT = 507048;
static const aclError ACL_ERROR_RT_FFTS_PLUS_EXCEPTION = 507049;
static const aclError ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION = 507050;
static const aclError ACL_ERROR_RT_SEND_MSG = 507051;
static const aclError ACL_ERROR_RT_COPY_DATA = 507052;
static const aclError ACL_ERROR_RT_DEVICE_MEM_ERROR = 507053;
static const aclError ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR = 507054;
static const aclError ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR = 507055;
static const aclError ACL_ERROR_RT_LINK_ERROR = 507056;
static const aclError ACL_ERROR_RT_SUSPECT_REMOTE_ERROR = 507057;
static const aclError ACL_ERROR_RT_DRV_INTERNAL_ERROR = 507899;
static const aclError ACL_ERROR_RT_AICPU_INTERNAL_ERROR = 507900;
static const aclError ACL_ERROR_RT_SOCKET_CLOSE = 507901;
static const aclError ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR = 507902;
static const aclError ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED = 507903;
static const aclError ACL_ERROR_RT_COMM_OP_RETRY_FAIL = 507904;
static const aclError ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT = 507905;
static const aclError ACL_ERROR_SNAPSHOT_LOCK_FAILED = 507906;
static const aclError ACL_ERROR_SNAPSHOT_UNLOCK_FAILED = 507907;
static const aclError ACL_ERROR_SNAPSHOT_BACKUP_FAILED = 507908;
static const aclError ACL_ERROR_SNAPSHOT_RESTORE_FAILED = 507909;
static const aclError ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 507910;
static const aclError ACL_ERROR_HOST_MEMORY_NOT_REGISTERED = 507911;
static const aclError ACL_ERROR_SNAPSHOT_CALLBACK_FAILED = 507912;
static const aclError ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED = 507913;
static const aclError ACL_ERROR_RT_L3_PORT_ERROR = 507914;
static const aclError ACL_ERROR_RT_CCU_TIMEOUT = 507915;
static const aclError ACL_ERROR_RT_CCU_EXCEPTION = 507916;
static const aclError ACL_ERROR_NONE = 0;
static const aclError ACL_RT_SUCCESS = 0;
#else
enum {
  ACL_SUCCESS = 0, /* success */
  ACL_ERROR_INVALID_PARAM = 100000, /* argument rejected before the runtime was asked */
  ACL_ERROR_UNINITIALIZE = 100001, /* not initialised, or shut down already */
  ACL_ERROR_REPEAT_INITIALIZE = 100002, /* initialised already; the reference count has grown */
  ACL_ERROR_INVALID_FILE = 100003, /* file missing or unreadable */
  ACL_ERROR_WRITE_FILE = 100004, /* writing a file failed */
  ACL_ERROR_INVALID_FILE_SIZE = 100005, /* file size out of range */
  ACL_ERROR_PARSE_FILE = 100006, /* file could not be parsed */
  ACL_ERROR_FILE_MISSING_ATTR = 100007, /* file lacks an attribute */
  ACL_ERROR_FILE_ATTR_INVALID = 100008, /* file holds an invalid attribute */
  ACL_ERROR_INVALID_DUMP_CONFIG = 100009, /* dump configuration invalid */
  ACL_ERROR_INVALID_PROFILING_CONFIG = 100010, /* profiling configuration invalid */
  ACL_ERROR_INVALID_MODEL_ID = 100011, /* model id invalid */
  ACL_ERROR_DESERIALIZE_MODEL = 100012, /* model could not be deserialised */
  ACL_ERROR_PARSE_MODEL = 100013, /* model could not be parsed */
  ACL_ERROR_READ_MODEL_FAILURE = 100014, /* model could not be read */
  ACL_ERROR_MODEL_SIZE_INVALID = 100015, /* model size invalid */
  ACL_ERROR_MODEL_MISSING_ATTR = 100016, /* model lacks an attribute */
  ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017, /* model inputs do not match */
  ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018, /* model outputs do not match */
  ACL_ERROR_MODEL_NOT_DYNAMIC = 100019, /* model is not dynamic */
  ACL_ERROR_OP_TYPE_NOT_MATCH = 100020, /* operator type does not match */
  ACL_ERROR_OP_INPUT_NOT_MATCH = 100021, /* operator inputs do not match */
  ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022, /* operator outputs do not match */
  ACL_ERROR_OP_ATTR_NOT_MATCH = 100023, /* operator attributes do not match */
  ACL_ERROR_OP_NOT_FOUND = 100024, /* operator not found */
  ACL_ERROR_OP_LOAD_FAILED = 100025, /* operator could not be loaded */
  ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026, /* data type unsupported */
  ACL_ERROR_FORMAT_NOT_MATCH = 100027, /* format does not match */
  ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028, /* kernel selector not registered */
  ACL_ERROR_KERNEL_NOT_FOUND = 100029, /* kernel not found */
  ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030, /* kernel selector registered already */
  ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031, /* kernel registered already */
  ACL_ERROR_INVALID_QUEUE_ID = 100032, /* queue id invalid */
  ACL_ERROR_REPEAT_SUBSCRIBE = 100033, /* stream subscribed already */
  ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034, /* stream not subscribed */
  ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035, /* thread not subscribed */
  ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036, /* no callback arrived in time */
  ACL_ERROR_REPEAT_FINALIZE = 100037, /* finalised already */
  ACL_ERROR_NOT_STATIC_AIPP = 100038, /* no static image preprocessing */
  ACL_ERROR_COMPILING_STUB_MODE = 100039, /* linked against a stub library */
  ACL_ERROR_GROUP_NOT_SET = 100040, /* group not set */
  ACL_ERROR_GROUP_NOT_CREATE = 100041, /* group not created */
  ACL_ERROR_PROF_ALREADY_RUN = 100042, /* profiling runs already */
  ACL_ERROR_PROF_NOT_RUN = 100043, /* profiling not initialised */
  ACL_ERROR_DUMP_ALREADY_RUN = 100044, /* dump runs already */
  ACL_ERROR_DUMP_NOT_RUN = 100045, /* dump not initialised */
  ACL_ERROR_RT_PARAM_INVALID = 107000, /* parameter invalid */
  ACL_ERROR_RT_INVALID_DEVICEID = 107001, /* device id invalid */
  ACL_ERROR_RT_CONTEXT_NULL = 107002, /* no current context */
  ACL_ERROR_RT_STREAM_CONTEXT = 107003, /* stream not in the current context */
  ACL_ERROR_RT_MODEL_CONTEXT = 107004, /* model not in the current context */
  ACL_ERROR_RT_STREAM_MODEL = 107005, /* stream and model do not belong together */
  ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107006, /* event has no usable timestamp */
  ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL = 107007, /* event timestamps in reverse order */
  ACL_ERROR_RT_ADDR_UNALIGNED = 107008, /* address unaligned */
  ACL_ERROR_RT_FILE_OPEN = 107009, /* file could not be opened */
  ACL_ERROR_RT_FILE_WRITE = 107010, /* file could not be written */
  ACL_ERROR_RT_STREAM_SUBSCRIBE = 107011, /* stream subscription wrong */
  ACL_ERROR_RT_THREAD_SUBSCRIBE = 107012, /* thread subscription wrong */
  ACL_ERROR_RT_GROUP_NOT_SET = 107013, /* group not set */
  ACL_ERROR_RT_GROUP_NOT_CREATE = 107014, /* group not created */
  ACL_ERROR_RT_STREAM_NO_CB_REG = 107015, /* stream has no callback thread */
  ACL_ERROR_RT_INVALID_MEMORY_TYPE = 107016, /* memory type invalid */
  ACL_ERROR_RT_INVALID_HANDLE = 107017, /* handle invalid or destroyed */
  ACL_ERROR_RT_INVALID_MALLOC_TYPE = 107018, /* allocation type invalid */
  ACL_ERROR_RT_WAIT_TIMEOUT = 107019, /* wait timed out */
  ACL_ERROR_RT_TASK_TIMEOUT = 107020, /* task timed out */
  ACL_ERROR_RT_SYSPARAMOPT_NOT_SET = 107021, /* system parameter not set */
  ACL_ERROR_RT_DEVICE_TASK_ABORT = 107022, /* device is being aborted */
  ACL_ERROR_RT_STREAM_ABORT = 107023, /* stream is being aborted */
  ACL_ERROR_RT_CAPTURE_DEPENDENCY = 107024, /* captured wait without its record */
  ACL_ERROR_RT_STREAM_UNJOINED = 107025, /* captured side stream not joined */
  ACL_ERROR_RT_MODEL_CAPTURED = 107026, /* model is being captured */
  ACL_ERROR_RT_STREAM_CAPTURED = 107027, /* stream is being captured */
  ACL_ERROR_RT_EVENT_CAPTURED = 107028, /* event is being captured */
  ACL_ERROR_RT_STREAM_NOT_CAPTURED = 107029, /* stream is not being captured */
  ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT = 107030, /* capture mode forbids the call */
  ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT = 107031, /* default stream in a capture */
  ACL_ERROR_STREAM_CAPTURE_CONFLICT = 107032, /* event links two captures */
  ACL_ERROR_STREAM_TASK_GROUP_STATUS = 107033, /* task group in the wrong state */
  ACL_ERROR_STREAM_TASK_GROUP_INTR = 107034, /* task group interrupted */
  ACL_ERROR_RT_TASK_ABORT_STOP = 107035, /* abort stopped before post-processing */
  ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED = 107036, /* capture ended on another stream */
  ACL_ERROR_RT_MODEL_RUNNING = 107037, /* model is running */
  ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD = 107038, /* capture ended in another thread */
  ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY = 107039, /* array too small */
  ACL_ERROR_RT_MODEL_UPDATE_FAILED = 107040, /* model update failed */
  ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC = 107041, /* asynchronous call turned synchronous */
  ACL_ERROR_RT_SYMBOL_NOT_FOUND = 107042, /* symbol not found */
  ACL_ERROR_RT_INVALID_SYMBOL = 107043, /* symbol invalid */
  ACL_ERROR_RT_INVALID_DEVICE_FUNCTION = 107044, /* device function invalid */
  ACL_ERROR_RT_SUB_GRAPH_CAPTURING = 107045, /* sub-graph is being captured */
  ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046, /* model subscribed already */
  ACL_ERROR_PROF_API_CONFLICT = 148047, /* profiling interfaces mixed */
  ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048, /* operator queue limit invalid */
  ACL_ERROR_INVALID_OPP_PATH = 148049, /* operator package path invalid */
  ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050, /* operator does not support dynamic shapes */
  ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051, /* related resource not released */
  ACL_ERROR_UNSUPPORTED_JPEG = 148052, /* image encoding unsupported */
  ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053, /* bundle model id invalid */
  ACL_ERROR_BAD_ALLOC = 200000, /* memory allocation failed */
  ACL_ERROR_API_NOT_SUPPORT = 200001, /* call unsupported */
  ACL_ERROR_INVALID_DEVICE = 200002, /* device invalid */
  ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003, /* memory address unaligned */
  ACL_ERROR_RESOURCE_NOT_MATCH = 200004, /* resources do not match */
  ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005, /* resource handle invalid */
  ACL_ERROR_FEATURE_UNSUPPORTED = 200006, /* feature unsupported */
  ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007, /* profiling module unsupported */
  ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000, /* feature not supported */
  ACL_ERROR_RT_MEMORY_ALLOCATION = 207001, /* memory allocation failed */
  ACL_ERROR_RT_MEMORY_FREE = 207002, /* memory could not be freed */
  ACL_ERROR_RT_AICORE_OVER_FLOW = 207003, /* AI core overflow */
  ACL_ERROR_RT_NO_DEVICE = 207004, /* no device */
  ACL_ERROR_RT_RESOURCE_ALLOC_FAIL = 207005, /* resource allocation failed */
  ACL_ERROR_RT_NO_PERMISSION = 207006, /* no permission */
  ACL_ERROR_RT_NO_EVENT_RESOURCE = 207007, /* no event left */
  ACL_ERROR_RT_NO_STREAM_RESOURCE = 207008, /* no stream left */
  ACL_ERROR_RT_NO_NOTIFY_RESOURCE = 207009, /* no notify left */
  ACL_ERROR_RT_NO_MODEL_RESOURCE = 207010, /* no model left */
  ACL_ERROR_RT_NO_CDQ_RESOURCE = 207011, /* no queue resource left */
  ACL_ERROR_RT_OVER_LIMIT = 207012, /* over the limit */
  ACL_ERROR_RT_QUEUE_EMPTY = 207013, /* queue empty */
  ACL_ERROR_RT_QUEUE_FULL = 207014, /* queue full */
  ACL_ERROR_RT_REPEATED_INIT = 207015, /* initialised already */
  ACL_ERROR_RT_AIVEC_OVER_FLOW = 207016, /* AI vector overflow */
  ACL_ERROR_RT_OVER_FLOW = 207017, /* other overflow */
  ACL_ERROR_RT_DEVIDE_OOM = 207018, /* device out of memory */
  ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP = 207019, /* operator update unsupported */
  ACL_ERROR_RT_DRV_TIMEOUT = 207020, /* driver timed out */
  ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORT = 207021, /* link type unsupported */
  ACL_ERROR_STORAGE_OVER_LIMIT = 300000, /* storage over the limit */
  ACL_ERROR_INTERNAL_ERROR = 500000, /* internal error */
  ACL_ERROR_FAILURE = 500001, /* failure */
  ACL_ERROR_GE_FAILURE = 500002, /* graph engine failure */
  ACL_ERROR_RT_FAILURE = 500003, /* runtime failure */
  ACL_ERROR_DRV_FAILURE = 500004, /* driver failure */
  ACL_ERROR_PROFILING_FAILURE = 500005, /* profiling failure */
  ACL_ERROR_RT_INTERNAL_ERROR = 507000, /* runtime internal error */
  ACL_ERROR_RT_TS_ERROR = 507001, /* task scheduler internal error */
  ACL_ERROR_RT_STREAM_TASK_FULL = 507002, /* stream full */
  ACL_ERROR_RT_STREAM_TASK_EMPTY = 507003, /* stream empty */
  ACL_ERROR_RT_STREAM_NOT_COMPLETE = 507004, /* stream not complete */
  ACL_ERROR_RT_END_OF_SEQUENCE = 507005, /* end of sequence */
  ACL_ERROR_RT_EVENT_NOT_COMPLETE = 507006, /* event not complete */
  ACL_ERROR_RT_CONTEXT_RELEASE_ERROR = 507007, /* context release failed */
  ACL_ERROR_RT_SOC_VERSION = 507008, /* SoC version unknown */
  ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT = 507009, /* task type unsupported */
  ACL_ERROR_RT_LOST_HEARTBEAT = 507010, /* heartbeat lost */
  ACL_ERROR_RT_MODEL_EXECUTE = 507011, /* model execution failed */
  ACL_ERROR_RT_REPORT_TIMEOUT = 507012, /* no report in time */
  ACL_ERROR_RT_SYS_DMA = 507013, /* DMA error */
  ACL_ERROR_RT_AICORE_TIMEOUT = 507014, /* AI core timed out */
  ACL_ERROR_RT_AICORE_EXCEPTION = 507015, /* AI core exception */
  ACL_ERROR_RT_AICORE_TRAP_EXCEPTION = 507016, /* AI core trap */
  ACL_ERROR_RT_AICPU_TIMEOUT = 507017, /* AI CPU timed out */
  ACL_ERROR_RT_AICPU_EXCEPTION = 507018, /* AI CPU exception */
  ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR = 507019, /* AI CPU gave no dump response */
  ACL_ERROR_RT_AICPU_MODEL_RSP_ERR = 507020, /* AI CPU gave no model response */
  ACL_ERROR_RT_PROFILING_ERROR = 507021, /* profiling error */
  ACL_ERROR_RT_IPC_ERROR = 507022, /* inter-process communication error */
  ACL_ERROR_RT_MODEL_ABORT_NORMAL = 507023, /* model aborted */
  ACL_ERROR_RT_KERNEL_UNREGISTERING = 507024, /* kernel is being unregistered */
  ACL_ERROR_RT_RINGBUFFER_NOT_INIT = 507025, /* ring buffer not initialised */
  ACL_ERROR_RT_RINGBUFFER_NO_DATA = 507026, /* ring buffer empty */
  ACL_ERROR_RT_KERNEL_LOOKUP = 507027, /* kernel not registered */
  ACL_ERROR_RT_KERNEL_DUPLICATE = 507028, /* kernel registered twice */
  ACL_ERROR_RT_DEBUG_REGISTER_FAIL = 507029, /* debug registration failed */
  ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL = 507030, /* debug unregistration failed */
  ACL_ERROR_RT_LABEL_CONTEXT = 507031, /* label not in the current context */
  ACL_ERROR_RT_PROGRAM_USE_OUT = 507032, /* program slots used up */
  ACL_ERROR_RT_DEV_SETUP_ERROR = 507033, /* device could not be set up */
  ACL_ERROR_RT_VECTOR_CORE_TIMEOUT = 507034, /* vector core timed out */
  ACL_ERROR_RT_VECTOR_CORE_EXCEPTION = 507035, /* vector core exception */
  ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION = 507036, /* vector core trap */
  ACL_ERROR_RT_CDQ_BATCH_ABNORMAL = 507037, /* queue batch abnormal */
  ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR = 507038, /* die mode cannot change */
  ACL_ERROR_RT_DIE_SET_ERROR = 507039, /* die cannot be set */
  ACL_ERROR_RT_INVALID_DIEID = 507040, /* die id invalid */
  ACL_ERROR_RT_DIE_MODE_NOT_SET = 507041, /* die mode not set */
  ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW = 507042, /* AI core read out of range */
  ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW = 507043, /* AI core write out of range */
  ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW = 507044, /* vector core read out of range */
  ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW = 507045, /* vector core write out of range */
  ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507046, /* stream synchronise timed out */
  ACL_ERROR_RT_EVENT_SYNC_TIMEOUT = 507047, /* event synchronise timed out */
  ACL_ERROR_RT_FFTS_PLUS_TIMEOUT = 507048, /* scheduled task timed out */
  ACL_ERROR_RT_FFTS_PLUS_EXCEPTION = 507049, /* scheduled task exception */
  ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION = 507050, /* scheduled task trap */
  ACL_ERROR_RT_SEND_MSG = 507051, /* message could not be sent */
  ACL_ERROR_RT_COPY_DATA = 507052, /* data could not be copied */
  ACL_ERROR_RT_DEVICE_MEM_ERROR = 507053, /* device memory error */
  ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR = 507054, /* memory bit error */
  ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR = 507055, /* suspected memory error */
  ACL_ERROR_RT_LINK_ERROR = 507056, /* link error */
  ACL_ERROR_RT_SUSPECT_REMOTE_ERROR = 507057, /* suspected remote error */
  ACL_ERROR_RT_DRV_INTERNAL_ERROR = 507899, /* driver internal error */
  ACL_ERROR_RT_AICPU_INTERNAL_ERROR = 507900, /* AI CPU internal error */
  ACL_ERROR_RT_SOCKET_CLOSE = 507901, /* link between host and device closed */
  ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR = 507902, /* AI CPU information not loaded */
  ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED = 507903, /* capture invalidated */
  ACL_ERROR_RT_COMM_OP_RETRY_FAIL = 507904, /* collective retry failed */
  ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT = 507905, /* snapshot lock timed out */
  ACL_ERROR_SNAPSHOT_LOCK_FAILED = 507906, /* snapshot lock failed */
  ACL_ERROR_SNAPSHOT_UNLOCK_FAILED = 507907, /* snapshot unlock failed */
  ACL_ERROR_SNAPSHOT_BACKUP_FAILED = 507908, /* snapshot backup failed */
  ACL_ERROR_SNAPSHOT_RESTORE_FAILED = 507909, /* snapshot restore failed */
  ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 507910, /* host memory registered already */
  ACL_ERROR_HOST_MEMORY_NOT_REGISTERED = 507911, /* host memory not registered */
  ACL_ERROR_SNAPSHOT_CALLBACK_FAILED = 507912, /* snapshot callback failed */
  ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED = 507913, /* snapshot callback not registered */
  ACL_ERROR_RT_L3_PORT_ERROR = 507914, /* port error */
  ACL_ERROR_RT_CCU_TIMEOUT = 507915, /* collective unit timed out */
  ACL_ERROR_RT_CCU_EXCEPTION = 507916, /* collective unit exception */
  ACL_ERROR_NONE = 0, /* as ACL_SUCCESS */
  ACL_RT_SUCCESS = 0, /* as ACL_SUCCESS */
};
#endif
/* end generated: statuses acl */

/* begin generated: aclDataType */
typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41,
} aclDataType;
/* end generated: aclDataType */

#ifdef __cplusplus
}
#endif

#include "acl/rt/base.h"
#include "acl/rt/base_types.h"

#endif
