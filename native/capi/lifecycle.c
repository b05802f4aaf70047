/* SPDX-License-Identifier: Apache-2.0
 * Initialisation and messages under their C names. None of it needs Python.
 */
#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "capi.h"

aclError aclInit(const char *configPath) { return aclpy_init(configPath); }
aclError aclFinalize(void) { return aclpy_finalize(); }
aclError aclFinalizeReference(uint64_t *refCount) { return aclpy_finalize_reference(refCount); }
const char *aclGetRecentErrMsg(void) { return aclpy_recent_message(); }
aclnnStatus aclnnInit(const char *configPath) { return aclpy_nn_init(configPath); }
aclnnStatus aclnnFinalize(void) { return aclpy_nn_finalize(); }

/* ---- functions of other components ----------------------------------------------------------------------------- */

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData) {
  return aclpy_init_callback_register((int32_t)type, cbFunc, userData);
}
aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return aclpy_init_callback_unregister((int32_t)type, cbFunc);
}
aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData) {
  return aclpy_finalize_callback_register((int32_t)type, cbFunc, userData);
}
aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
  return aclpy_finalize_callback_unregister((int32_t)type, cbFunc);
}
