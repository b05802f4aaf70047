/* SPDX-License-Identifier: Apache-2.0
 * Allocators that a program registers.
 */
#ifndef ACLNN_PY_ACL_RT_ALLOCATOR_H
#define ACLNN_PY_ACL_RT_ALLOCATOR_H

#include "acl/rt/allocators.h"

#endif
