/* SPDX-License-Identifier: Apache-2.0
 * Host functions in stream order, under their C names.
 */
#include <stdlib.h>

#include "acl/acl_rt.h"
#include "aclpy_status.h"
#include "capi.h"
#include "failure.h"

/* A host function with its argument, freed when the stream drops it. */
struct call_ {
  void (*function)(void *);
  void *argument;
};

static int32_t run_(void *arg) {
  const struct call_ *call = arg;
  call->function(call->argument);
  return ACLPY_ACL_SUCCESS;
}

/* NULL after a failure. */
static struct call_ *call_(const char *name, void (*function)(void *), void *argument, int32_t *status) {
  if (function == NULL) {
    *status = aclpy_fail(ACLPY_ACL_ERROR_RT_PARAM_INVALID, name, "fn", "a function", "pass the function", "NULL");
    return NULL;
  }
  struct call_ *made = malloc(sizeof(*made));
  if (made == NULL) {
    *status = eng_fail_memory(name, "the function's argument");
    return NULL;
  }
  *made = (struct call_){function, argument};
  return made;
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return aclpy_subscribe_report(0, threadId, capi_handle(stream));
}
aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return aclpy_unsubscribe_report(0, threadId, capi_handle(stream));
}
aclError aclrtProcessReport(int32_t timeout) { return aclpy_process_report(timeout); }

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  int32_t status = ACLPY_ACL_SUCCESS;
  if (fn == NULL) return aclpy_launch_callback(0, capi_handle(stream), NULL, NULL, NULL, 0, (int32_t)blockType);
  struct call_ *call = call_("aclrtLaunchCallback", fn, userData, &status);
  if (call == NULL) return status;
  return aclpy_launch_callback(0, capi_handle(stream), run_, free, call, 0, (int32_t)blockType);
}
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
  static const char function[] = "aclrtLaunchHostFunc";
  int32_t status = ACLPY_ACL_SUCCESS;
  struct call_ *call = call_(function, fn, args, &status);
  if (call == NULL) return status;
  return aclpy_submit(0, capi_handle(stream), function, run_, free, call, 0);
}
