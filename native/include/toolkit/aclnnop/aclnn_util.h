/* SPDX-License-Identifier: Apache-2.0
 * The visibility macro of the operator headers.
 */
#ifndef ACLNN_PY_ACLNN_UTIL_H
#define ACLNN_PY_ACLNN_UTIL_H

#ifndef ACLNN_API
#define ACLNN_API
#endif

#endif
