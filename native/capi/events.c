/* SPDX-License-Identifier: Apache-2.0
 * Events under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

static int32_t create_(aclrtEvent *event, int32_t kind, uint32_t flags) {
  aclpy_handle made = 0;
  return capi_give(event, &made, aclpy_event_create(0, kind, flags, CAPI_OUT(event, &made)));
}

aclError aclrtCreateEvent(aclrtEvent *event) { return create_(event, ACLPY_EVENT_PLAIN, 0); }
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
  return create_(event, ACLPY_EVENT_WITH_FLAG, flag);
}
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
  return create_(event, ACLPY_EVENT_EX_WITH_FLAG, flag);
}
aclError aclrtDestroyEvent(aclrtEvent event) { return aclpy_event_destroy(capi_handle(event)); }

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return aclpy_event_record(0, capi_handle(event), capi_handle(stream));
}
aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  return aclpy_event_record_with_flag(0, capi_handle(event), capi_handle(stream), flag);
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return aclpy_event_reset(0, capi_handle(event), capi_handle(stream));
}

/* ---- waits: the stream's, then the host's ---------------------------------------------------------------------- */

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return aclpy_event_wait(0, capi_handle(stream), capi_handle(event));
}
aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return aclpy_event_wait_with_timeout(0, capi_handle(stream), capi_handle(event), timeout);
}
aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
  return aclpy_event_wait_with_flag(0, capi_handle(stream), capi_handle(event), timeout, flag);
}
aclError aclrtSetOpWaitTimeout(uint32_t timeout) { return aclpy_set_op_wait_timeout(timeout); }
aclError aclrtSynchronizeEvent(aclrtEvent event) { return aclpy_event_synchronize(capi_handle(event)); }
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return aclpy_event_synchronize_with_timeout(capi_handle(event), timeout);
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
  return aclpy_event_query_old(capi_handle(event), (int32_t *)status);
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
  return aclpy_event_query(capi_handle(event), (int32_t *)status);
}
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) {
  return aclpy_event_query_waits(capi_handle(event), (int32_t *)status);
}
aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return aclpy_event_elapsed_ms(capi_handle(startEvent), capi_handle(endEvent), ms);
}
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
  return aclpy_event_timestamp_us(capi_handle(event), timestamp);
}
aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId) { return aclpy_event_id(capi_handle(event), eventId); }
aclError aclrtGetEventAvailNum(uint32_t *eventCount) { return aclpy_event_available(0, eventCount); }

/* ---- for other processes: always refused ----------------------------------------------------------------------- */

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle) {
  (void)handle;
  return aclpy_event_ipc(capi_handle(event), "aclrtIpcGetEventHandle");
}
aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event) {
  (void)handle;
  (void)event;
  return aclpy_unsupported("aclrtIpcOpenEventHandle");
}
