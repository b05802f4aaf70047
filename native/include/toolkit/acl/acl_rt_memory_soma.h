/* SPDX-License-Identifier: Apache-2.0
 * Pools of device memory.
 */
#ifndef ACLNN_PY_ACL_RT_MEMORY_SOMA_H
#define ACLNN_PY_ACL_RT_MEMORY_SOMA_H

#include "acl/rt/pools.h"

#endif
