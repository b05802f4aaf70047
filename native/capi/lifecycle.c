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
