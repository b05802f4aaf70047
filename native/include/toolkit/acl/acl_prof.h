/* SPDX-License-Identifier: Apache-2.0
 * Profiling.
 */
#ifndef ACLNN_PY_ACL_PROF_H
#define ACLNN_PY_ACL_PROF_H

#include "acl/rt/profiling.h"

#endif
