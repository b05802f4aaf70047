/* SPDX-License-Identifier: Apache-2.0
 * Notifies, counting notifies and values under their C names.
 */
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "capi.h"
#include "failure.h"

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) {
  aclpy_handle made = 0;
  return capi_give(notify, &made, aclpy_notify_create(0, flag, CAPI_OUT(notify, &made)));
}
aclError aclrtDestroyNotify(aclrtNotify notify) { return aclpy_notify_destroy(capi_handle(notify)); }
aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) {
  return aclpy_notify_id(capi_handle(notify), notifyId);
}
aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return aclpy_notify_record(0, capi_handle(notify), capi_handle(stream));
}
aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return aclpy_notify_wait(0, capi_handle(notify), capi_handle(stream), timeout);
}
aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num) {
  if (notifies == NULL || num == 0) return aclpy_notify_batch_reset(NULL, num);
  aclpy_handle *handles = calloc(num, sizeof(*handles));
  if (handles == NULL) return eng_fail_memory("aclrtNotifyBatchReset", "the list of notifies");
  for (size_t i = 0; i < num; i++) handles[i] = capi_handle(notifies[i]);
  int32_t status = aclpy_notify_batch_reset(handles, num);
  free(handles);
  return status;
}

/* ---- for other processes: always refused ----------------------------------------------------------------------- */

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags) {
  (void)key;
  (void)len;
  (void)flags;
  return aclpy_notify_ipc(capi_handle(notify), "aclrtNotifyGetExportKey");
}
aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags) {
  (void)notify;
  (void)key;
  (void)flags;
  return aclpy_unsupported("aclrtNotifyImportByKey");
}
aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num) {
  (void)pid;
  (void)num;
  return aclpy_notify_ipc(capi_handle(notify), "aclrtNotifySetImportPid");
}
aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids, size_t num) {
  (void)serverPids;
  (void)num;
  return aclpy_notify_ipc(capi_handle(notify), "aclrtNotifySetImportPidInterServer");
}

/* ---- counting notifies ----------------------------------------------------------------------------------------- */

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag) {
  aclpy_handle made = 0;
  return capi_give(cntNotify, &made, aclpy_count_create(0, flag, CAPI_OUT(cntNotify, &made)));
}
aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) { return aclpy_count_destroy(capi_handle(cntNotify)); }
aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId) {
  return aclpy_count_id(capi_handle(cntNotify), notifyId);
}
aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  return aclpy_count_reset(0, capi_handle(cntNotify), capi_handle(stream));
}
aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info) {
  if (info == NULL) return eng_fail_null("aclrtCntNotifyRecord", "info");
  return aclpy_count_record(0, capi_handle(cntNotify), capi_handle(stream), (uint32_t)info->mode, info->value);
}
/* isClear: the count goes back to 0 in the same stream, right behind the wait. */
aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info) {
  if (info == NULL) return eng_fail_null("aclrtCntNotifyWaitWithTimeout", "info");
  int32_t status = aclpy_count_wait(0, capi_handle(cntNotify), capi_handle(stream), (uint32_t)info->mode, info->value,
                                    info->timeout);
  if (status != 0 || info->isClear == 0) return status;
  return aclpy_count_reset(0, capi_handle(cntNotify), capi_handle(stream));
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return aclpy_value_write(0, (uintptr_t)devAddr, value, flag, capi_handle(stream));
}
aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return aclpy_value_wait(0, (uintptr_t)devAddr, value, flag, capi_handle(stream));
}
