/* SPDX-License-Identifier: Apache-2.0
 * Captured graphs under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return aclpy_capture_begin(0, capi_handle(stream), (int32_t)mode);
}
/* NULL in *modelRI after every failure. */
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
  aclpy_handle made = 0;
  int32_t status = aclpy_capture_end(0, capi_handle(stream), CAPI_OUT(modelRI, &made));
  if (modelRI != NULL) *modelRI = capi_pointer(made);
  return status;
}
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI) {
  aclpy_handle found = 0;
  return capi_give(modelRI, &found,
                   aclpy_capture_info(0, capi_handle(stream), (int32_t *)status, CAPI_OUT(modelRI, &found)));
}
aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
  return aclpy_capture_exchange_mode((int32_t *)mode);
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return aclpy_graph_execute(0, capi_handle(modelRI), capi_handle(stream));
}
aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return aclpy_graph_execute_sync(capi_handle(modelRI), timeout);
}
aclError aclmdlRIDestroy(aclmdlRI modelRI) { return aclpy_graph_destroy(capi_handle(modelRI)); }
aclError aclmdlRIAbort(aclmdlRI modelRI) { return aclpy_graph_abort(capi_handle(modelRI)); }
aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) {
  return aclpy_graph_set_name(capi_handle(modelRI), name);
}
aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) {
  return aclpy_graph_get_name(capi_handle(modelRI), maxLen, name);
}
aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId) {
  return aclpy_graph_id(capi_handle(modelRI), modelRIId);
}
aclError aclmdlRIDebugPrint(aclmdlRI modelRI) { return aclpy_graph_print(capi_handle(modelRI)); }
aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
  return aclpy_graph_print_json(capi_handle(modelRI), path, flags);
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams) {
  return aclpy_graph_streams(capi_handle(modelRI), (aclpy_handle *)(void *)streams, numStreams);
}
aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData) {
  return aclpy_graph_farewell_register(capi_handle(modelRI), func, userData);
}
aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  return aclpy_graph_farewell_unregister(capi_handle(modelRI), func);
}

/* ---- models of persistent streams ------------------------------------------------------------------------------ */

aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag) {
  aclpy_handle made = 0;
  return capi_give(modelRI, &made, aclpy_model_build_begin(0, flag, CAPI_OUT(modelRI, &made)));
}
aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
  return aclpy_model_bind(0, capi_handle(modelRI), capi_handle(stream), flag);
}
aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return aclpy_model_end_task(0, capi_handle(modelRI), capi_handle(stream));
}
aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) {
  return aclpy_model_build_end(capi_handle(modelRI), reserve);
}
aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return aclpy_model_unbind(0, capi_handle(modelRI), capi_handle(stream));
}

/* ---- groups of tasks ------------------------------------------------------------------------------------------- */

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) { return aclpy_task_group_begin(0, capi_handle(stream)); }
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) {
  aclpy_handle made = 0;
  return capi_give(handle, &made, aclpy_task_group_end(0, capi_handle(stream), CAPI_OUT(handle, &made)));
}
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return aclpy_task_update_begin(0, capi_handle(stream), capi_handle(handle));
}
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) { return aclpy_task_update_end(0, capi_handle(stream)); }
