/* SPDX-License-Identifier: Apache-2.0
 * Initialisation, messages, and everything below.
 */
#ifndef ACLNN_PY_ACL_H
#define ACLNN_PY_ACL_H

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

aclError aclInit(const char *configPath);
aclError aclFinalize(void);
aclError aclFinalizeReference(uint64_t *refCount);
/* The calling thread's messages, newest first; NULL when there is none. It lives until the next call. */
const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
