/* SPDX-License-Identifier: Apache-2.0
 * Marks and ranges for a profiler of the host program. No such tool attaches here: each call does nothing.
 */
#ifndef ACLNN_PY_MSTX_MS_TOOLS_EXT_H
#define ACLNN_PY_MSTX_MS_TOOLS_EXT_H

#include <stdint.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st *mstxDomainHandle_t;

/* `stream` may be NULL: the host alone is marked. Without a tool every range is 0, which is none. */
void mstxMarkA(const char *message, aclrtStream stream);
mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(mstxRangeId id);
/* NULL: there is no tool that keeps domains, and the calls below take it. */
mstxDomainHandle_t mstxDomainCreateA(const char *name);
void mstxDomainDestroy(mstxDomainHandle_t domain);
void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

#ifdef __cplusplus
}
#endif

#endif
