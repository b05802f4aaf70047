/* SPDX-License-Identifier: Apache-2.0
 * Random sequences of calls by their C names, with NULL, destroyed, foreign and mismatched handles. Nothing may crash,
 * hang, or fail without a message. FUZZ_CALLS: how many (20,000); FUZZ_SEED: which sequence. Phase 1 is the planner's
 * in Python; ACLNN_PY_PYTHON says which.
 *
 * Left out are calls that may rightly wait for ever (waits for events, notifies, values, callbacks), and addresses that
 * no runtime can check (host memory that is not there).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/acl_rt_allocator.h"
#include "aclnn/acl_meta.h"
#include "fuzz.h"
#include "fuzz_operators.h"

/* C programs free the getters' arrays, which come from new[] where the process has it, as under this sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "alloc_dealloc_mismatch=0"; }

/* Random programs copy and compute in one place from several streams at once: a race of theirs, over bytes that are
 * theirs. What the engine keeps for itself is never touched in these functions and files, so its races are still seen.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
  return "race:move_bytes_\nrace:set_bytes_\nrace:eng_copy_2d\nrace:copy_list_\nrace:eng_fill_d32\n"
         "race:native/kernels/\nrace:native/simd/\n";
}

static void host_function_(void *argument) { (void)argument; }

static int memory_call_(uint64_t which) {
  size_t at = random_(KEPT), other = random_(KEPT);
  static unsigned char pageable[BYTES];
  void *dst = random_(4) == 0 ? pageable : live_[at], *src = random_(4) == 0 ? pageable : live_[other];
  size_t room = random_(BYTES + 1), count = random_(BYTES + 1);
  void *stream = any_(STREAM);
  aclrtMemcpyKind kind = (aclrtMemcpyKind)random_(9);
  switch (which) {
    case 0:
      if (live_[at] != NULL) return ACL_SUCCESS;
      pinned_[at] = random_(3) == 0;
      return pinned_[at] ? aclrtMallocHost(&live_[at], BYTES) : aclrtMalloc(&live_[at], BYTES, (int)random_(9));
    case 1: {
      void *gone = live_[at];
      int status = pinned_[at] ? aclrtFreeHost(gone) : aclrtFree(gone);
      kept_[pinned_[at] ? HOST : MEMORY][at] = gone;
      if (status == ACL_SUCCESS) live_[at] = NULL;
      return status;
    }
    case 2:
      return aclrtMemcpy(dst, room, src, count > room ? room + 1 : count, kind);
    case 3:
      return aclrtMemcpyAsync(dst, room, src, count > room ? room + 1 : count, kind, stream);
    case 4:
      return aclrtMemset(live_[at], room, small_(), count > room ? room + 1 : count);
    case 5:
      return aclrtMemsetAsync(live_[at], room, small_(), count > room ? room + 1 : count, stream);
    case 6:
      return aclrtMemcpy2d(dst, 16, src, 16, random_(18), random_(16), kind);
    case 7:
      return aclrtMemcpy2dAsync(dst, 16, src, 16, random_(18), random_(16), kind, stream);
    case 8:
      return aclrtMemsetD32(live_[at], room, 7, random_(65));
    case 9:
      return aclrtMalloc(NULL, count, 0);
    default: {
      aclrtPtrAttributes attributes;
      return aclrtPointerGetAttributes(any_(MEMORY), random_(8) == 0 ? NULL : &attributes);
    }
  }
}

static int stream_call_(uint64_t which) {
  void *stream = any_(STREAM);
  int32_t number;
  uint32_t value;
  uint64_t wide = random_(9);
  aclrtStreamStatus status;
  aclrtStreamAttrValue attribute = {.failureMode = 0};
  switch (which) {
    case 0:
      return aclrtCreateStream(place_(STREAM));
    case 1:
      return aclrtCreateStreamWithConfig(place_(STREAM), (uint32_t)small_(), bits_() & ~0x24U);
    case 2:
      return aclrtDestroyStream(stream);
    case 3:
      return aclrtDestroyStreamForce(stream);
    case 4:
      return aclrtSynchronizeStream(stream);
    case 5:
      return aclrtSynchronizeStreamWithTimeout(stream, small_());
    case 6:
      return aclrtStreamQuery(stream, random_(8) == 0 ? NULL : &status);
    case 7:
      return aclrtStreamGetId(stream, random_(8) == 0 ? NULL : &number);
    case 8:
      return aclrtStreamGetPriority(stream, &value);
    case 9:
      return aclrtSetStreamFailureMode(stream, (uint64_t)(small_() & 2));
    case 10:
      return aclrtGetStreamAttribute(stream, (aclrtStreamAttr)small_(), &attribute);
    case 11:
      return aclrtSetStreamAttribute(stream, (aclrtStreamAttr)(small_() + 2), &attribute);
    case 12:
      return aclrtStreamAbort(stream);
    case 13:
      return aclrtStreamStop(stream);
    case 14:
      return aclrtLaunchHostFunc(stream, random_(8) == 0 ? NULL : host_function_, NULL);
    case 15:
      return aclrtCtxGetCurrentDefaultStream(place_(STREAM));
    case 16: {
      aclrtStreamConfigHandle *made = aclrtCreateStreamConfigHandle();
      kept_[CONFIG][random_(KEPT)] = made;
      return made == NULL;
    }
    case 17:
      return aclrtSetStreamConfigOpt(any_(CONFIG), ACL_RT_STREAM_PRIORITY, &wide, random_(9));
    case 18:
      return aclrtCreateStreamV2(place_(STREAM), any_(CONFIG));
    default:
      return aclrtDestroyStreamConfigHandle(any_(CONFIG));
  }
}

static int event_call_(uint64_t which) {
  void *event = any_(EVENT), *stream = any_(STREAM);
  aclrtEventRecordedStatus recorded;
  aclrtEventWaitStatus waited;
  float ms;
  uint64_t time;
  switch (which) {
    case 0:
      return aclrtCreateEvent(place_(EVENT));
    case 1:
      return aclrtCreateEventWithFlag(place_(EVENT), bits_());
    case 2:
      return aclrtCreateEventExWithFlag(place_(EVENT), bits_());
    case 3:
      return aclrtDestroyEvent(event);
    case 4:
      return aclrtRecordEvent(event, stream);
    case 5:
      return aclrtResetEvent(event, stream);
    case 6:
      return aclrtSynchronizeEvent(event);
    case 7:
      return aclrtSynchronizeEventWithTimeout(event, small_());
    case 8:
      return aclrtQueryEventStatus(event, random_(8) == 0 ? NULL : &recorded);
    case 9:
      return aclrtQueryEventWaitStatus(event, &waited);
    case 10:
      return aclrtEventElapsedTime(random_(8) == 0 ? NULL : &ms, event, any_(EVENT));
    case 11:
      return aclrtEventGetTimestamp(event, &time);
    case 12:
      return aclrtCreateNotify(place_(NOTIFY), random_(3));
    case 13:
      return aclrtDestroyNotify(any_(NOTIFY));
    case 14:
      return aclrtRecordNotify(any_(NOTIFY), stream);
    case 15:
      return aclrtNotifyBatchReset(random_(4) == 0 ? NULL : kept_[NOTIFY], random_(KEPT));
    case 16:
      return aclrtCntNotifyCreate(place_(COUNT), random_(3));
    case 17:
      return aclrtCntNotifyDestroy(any_(COUNT));
    case 18:
      return aclrtCntNotifyReset(any_(COUNT), stream);
    default: {
      aclrtCntNotifyRecordInfo info = {(aclrtCntNotifyRecordMode)random_(6), 3};
      return aclrtCntNotifyRecord(any_(COUNT), stream, random_(8) == 0 ? NULL : &info);
    }
  }
}

static int context_call_(uint64_t which) {
  void *stream = any_(STREAM), *graph = any_(GRAPH);
  int32_t device;
  uint32_t id;
  char name[16];
  aclmdlRICaptureStatus status;
  switch (which) {
    case 0:
      return aclrtSetDevice(small_() / 4);
    case 1:
      return aclrtGetDevice(random_(8) == 0 ? NULL : &device);
    case 2:
      return aclrtCreateContext(place_(CONTEXT), small_() / 4);
    case 3:
      return aclrtDestroyContext(any_(CONTEXT));
    case 4:
      return aclrtSetCurrentContext(any_(CONTEXT));
    case 5:
      return aclrtGetCurrentContext(place_(CONTEXT));
    case 6:
      return aclrtSynchronizeDevice();
    case 7:
      return aclrtSynchronizeDeviceWithTimeout(small_());
    case 8:
      return aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)random_(4));
    case 9:
      return aclmdlRICaptureEnd(stream, place_(GRAPH));
    case 10:
      return aclmdlRICaptureGetInfo(stream, &status, place_(GRAPH));
    case 11:
      return aclmdlRIExecuteAsync(graph, stream);
    case 12:
      return aclmdlRIDestroy(graph);
    case 13:
      return aclmdlRIGetId(graph, &id);
    case 14:
      return aclmdlRISetName(graph, random_(4) == 0 ? NULL : "a graph");
    case 15:
      return aclmdlRIGetName(graph, (uint32_t)random_(sizeof(name) + 1), name);
    default:
      return aclmdlRICaptureTaskUpdateEnd(stream);
  }
}

static int object_call_(uint64_t which) {
  static const int64_t dims[] = {2, 3, 4};
  uint64_t rank = random_(4), size;
  int64_t *array = NULL;
  aclDataType dtype;
  float value = 1;
  switch (which) {
    case 0: {
      aclTensor *made = aclCreateTensor(random_(16) == 0 ? NULL : dims, rank, (int)random_(45) - 1, NULL, small_(),
                                        ACL_FORMAT_ND, dims, rank, NULL);
      kept_[TENSOR][random_(KEPT)] = made;
      return made == NULL;
    }
    case 1:
      return aclDestroyTensor(any_(TENSOR));
    case 2: {
      int status = aclGetViewShape(any_(TENSOR), &array, random_(8) == 0 ? NULL : &size);
      if (status == ACL_SUCCESS) free(array);
      return status;
    }
    case 3:
      return aclGetDataType(any_(TENSOR), random_(8) == 0 ? NULL : &dtype);
    case 4:
      return aclSetRawTensorAddr(any_(TENSOR), NULL);
    case 5: {
      void *made = aclCreateScalar(random_(8) == 0 ? NULL : &value, ACL_FLOAT);
      kept_[SCALAR][random_(KEPT)] = made;
      return made == NULL;
    }
    case 6:
      return aclDestroyScalar(any_(SCALAR));
    case 7: {
      void *made = aclCreateIntArray(random_(8) == 0 ? NULL : dims, rank);
      kept_[ARRAY][random_(KEPT)] = made;
      return made == NULL;
    }
    case 8:
      return aclDestroyIntArray(any_(ARRAY));
    case 9:
      return aclGetIntArraySize(any_(ARRAY), random_(8) == 0 ? NULL : &size);
    case 10: {
      void *made = aclCreateDataBuffer(NULL, rank);
      kept_[BUFFER][random_(KEPT)] = made;
      return made == NULL;
    }
    case 11:
      return aclDestroyDataBuffer(any_(BUFFER));
    case 12:
      return aclUpdateDataBuffer(any_(BUFFER), NULL, rank);
    case 13:
      return aclDestroyAclOpExecutor(any_((enum kind_)random_(KINDS)));
    case 14:
      return aclSetAclOpExecutorRepeatable(any_((enum kind_)random_(KINDS)));
    default:
      return aclSetInputTensorAddr(any_(TENSOR), rank, any_(TENSOR), NULL);
  }
}

static void allocate_nothing_(void) {}

/* What the stream and its thread keep for the host: limits of cores, an allocator. */
static int keeping_call_(uint64_t which) {
  void *stream = any_(STREAM), *allocator = any_(ALLOCATOR), *parts[6];
  uint32_t cores;
  switch (which) {
    case 0:
      return aclrtSetStreamResLimit(stream, (aclrtDevResLimitType)small_(), (uint32_t)random_(4));
    case 1:
      return aclrtGetStreamResLimit(stream, (aclrtDevResLimitType)small_(), random_(8) == 0 ? NULL : &cores);
    case 2:
      return aclrtUseStreamResInCurrentThread(stream);
    case 3:
      return aclrtUnuseStreamResInCurrentThread(stream);
    case 4:
      return aclrtGetResInCurrentThread((aclrtDevResLimitType)small_(), random_(8) == 0 ? NULL : &cores);
    case 5:
      return aclrtSetDeviceResLimit(small_(), (aclrtDevResLimitType)small_(), (uint32_t)random_(4));
    case 6: {
      aclrtAllocatorDesc made = aclrtAllocatorCreateDesc();
      kept_[ALLOCATOR][random_(KEPT)] = made;
      return made == NULL;
    }
    case 7:
      return aclrtAllocatorDestroyDesc(allocator);
    case 8:
      return aclrtAllocatorSetObjToDesc(allocator, random_(8) == 0 ? NULL : parts);
    case 9:
      return aclrtAllocatorSetAllocFuncToDesc(allocator, (aclrtAllocatorAllocFunc)allocate_nothing_);
    case 10:
      return aclrtAllocatorSetFreeFuncToDesc(allocator, (aclrtAllocatorFreeFunc)allocate_nothing_);
    case 11:
      return aclrtAllocatorSetGetAddrFromBlockFuncToDesc(allocator,
                                                         (aclrtAllocatorGetAddrFromBlockFunc)allocate_nothing_);
    case 12:
    case 13:
      return aclrtAllocatorRegister(stream, allocator);
    case 14:
      return aclrtAllocatorGetByStream(stream, random_(8) == 0 ? NULL : &parts[0], &parts[1],
                                       (aclrtAllocatorAllocFunc *)&parts[2], (aclrtAllocatorFreeFunc *)&parts[3],
                                       (aclrtAllocatorAllocAdviseFunc *)&parts[4],
                                       (aclrtAllocatorGetAddrFromBlockFunc *)&parts[5]);
    default:
      return aclrtAllocatorUnregister(stream);
  }
}

static int call_(char *what, size_t room) {
  static int (*const groups[])(uint64_t) = {memory_call_, stream_call_,   event_call_,    context_call_,
                                            object_call_, operator_call_, operator_call_, keeping_call_};
  static const uint64_t sizes[] = {11, 20, 20, 17, 16, OPERATOR_CALLS, OPERATOR_CALLS, 16};
  uint64_t group = random_(8), which = random_(sizes[group]);
  (void)snprintf(what, room, "group %" PRIu64 ", call %" PRIu64, group, which);
  return groups[group](which);
}

/* NULL arguments of creators are 1 here, everything else is a status; both come with a message. */
int main(void) {
  (void)setvbuf(stdout, NULL, _IOLBF, 0); /* sanitizers end the process without writing what is buffered */
  const char *calls = getenv("FUZZ_CALLS"), *seed = getenv("FUZZ_SEED");
  uint64_t n = calls == NULL ? 20000 : strtoull(calls, NULL, 10), refused = 0;
  state_ = (seed == NULL ? 1 : strtoull(seed, NULL, 10)) * UINT64_C(0x9E3779B97F4A7C15) + 1;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  for (uint64_t i = 0; i < n; i++) {
    char what[64];
    int status = call_(what, sizeof(what));
    const char *message = aclGetRecentErrMsg();
    if (status == ACL_SUCCESS) continue;
    refused++;
    if (message == NULL || message[0] == 0) {
      printf("%s of step %" PRIu64 ": status %d without a message\n", what, i, status);
      return 1;
    }
  }
  printf("%" PRIu64 " calls, %" PRIu64 " refused; %" PRIu64 " of %" PRIu64 " phases 1 and %" PRIu64 " of %" PRIu64
         " phases 2 succeeded\n",
         n, refused, planned_[1], planned_[0], ran_[1], ran_[0]);
  if (n >= 20000 && (planned_[1] * 10 < planned_[0] || ran_[1] * 10 < ran_[0])) {
    printf("too few of them to have looked at more than refusals\n");
    return 1;
  }
  return aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
