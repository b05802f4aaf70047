/* SPDX-License-Identifier: Apache-2.0
 * What every operator header stands on.
 */
#ifndef ACLNN_PY_ACLNN_BASE_H
#define ACLNN_PY_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both always answer 0; a file that cannot be read changes nothing. */
aclnnStatus aclnnInit(const char *configPath);
aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
