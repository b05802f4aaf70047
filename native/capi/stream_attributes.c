/* SPDX-License-Identifier: Apache-2.0
 * Attributes and configurations of streams under their C names.
 */
#include <inttypes.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "aclpy_status.h"
#include "capi.h"
#include "failure.h"

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return aclpy_stream_set_attribute(0, capi_handle(stream), ACL_STREAM_ATTR_FAILURE_MODE, mode,
                                    "aclrtSetStreamFailureMode");
}
aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return aclpy_stream_set_attribute(0, capi_handle(stream), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, flag,
                                    "aclrtSetStreamOverflowSwitch");
}
aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
  static const char function[] = "aclrtGetStreamOverflowSwitch";
  uint64_t value = 0;
  int32_t status = aclpy_stream_get_attribute(0, capi_handle(stream), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
                                              CAPI_OUT(flag, &value), function);
  if (status == 0) *flag = (uint32_t)value;
  return status;
}

/* The failure mode has 64 bits, all others 32. */
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
  static const char function[] = "aclrtSetStreamAttribute";
  if (value == NULL) return eng_fail_null(function, "value");
  uint64_t number = stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE ? value->failureMode : value->overflowSwitch;
  return aclpy_stream_set_attribute(0, capi_handle(stream), (int32_t)stmAttrType, number, function);
}
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
  static const char function[] = "aclrtGetStreamAttribute";
  uint64_t number = 0;
  int32_t status =
      aclpy_stream_get_attribute(0, capi_handle(stream), (int32_t)stmAttrType, CAPI_OUT(value, &number), function);
  if (status != 0) return status;
  *value = (aclrtStreamAttrValue){.failureMode = 0};
  if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE) {
    value->failureMode = number;
  } else {
    value->overflowSwitch = (uint32_t)number;
  }
  return status;
}

/* ---- configurations -------------------------------------------------------------------------------------------- */

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void) {
  aclpy_handle made = 0;
  return aclpy_stream_config_create(&made) == 0 ? capi_pointer(made) : NULL;
}
aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle) {
  return aclpy_stream_config_destroy(capi_handle(handle));
}

/* Values come as 4 bytes (a priority, a flag) or 8 (an address, a size, a flag). */
aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue,
                                 size_t valueSize) {
  static const char function[] = "aclrtSetStreamConfigOpt";
  if (handle == NULL) return eng_fail_null(function, "handle");
  if (attrValue == NULL) return eng_fail_null(function, "attrValue");
  uint32_t narrow = 0;
  uint64_t wide = 0;
  if (valueSize == sizeof(narrow)) {
    memcpy(&narrow, attrValue, sizeof(narrow));
    wide = narrow;
  } else if (valueSize == sizeof(wide)) {
    memcpy(&wide, attrValue, sizeof(wide));
  } else {
    return aclpy_fail(ACLPY_ACL_ERROR_INVALID_PARAM, function, "valueSize", "the size of the attribute's type: 4 or 8",
                      "pass sizeof of the variable", "%zu", valueSize);
  }
  return aclpy_stream_config_set(capi_handle(handle), (int32_t)attr, wide);
}
aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle) {
  aclpy_handle made = 0;
  return capi_give(stream, &made, aclpy_stream_create_from(0, capi_handle(handle), CAPI_OUT(stream, &made)));
}
