/* SPDX-License-Identifier: Apache-2.0
 * Everything that host programs of the runtime need.
 */
#ifndef ACLNN_PY_ACL_H
#define ACLNN_PY_ACL_H

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#endif
