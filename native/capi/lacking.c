/* SPDX-License-Identifier: Apache-2.0
 * The answer of functions that do not exist here.
 */
#include "aclpy_status.h"
#include "capi.h"

int32_t capi_lacking(const char *function, int32_t status, const char *reason) {
  if (status == ACLPY_ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return aclpy_unsupported(function);
  return aclpy_fail(status, function, "", "a function that this emulator has",
                    "leave the call out here: programs load and link with it, but nothing can answer it",
                    "a function that is declared and not implemented: %s", reason);
}
