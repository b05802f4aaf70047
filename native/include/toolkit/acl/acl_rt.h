/* SPDX-License-Identifier: Apache-2.0
 * The runtime: devices, contexts, memory, streams, events, graphs. Functions that do not exist here are declared as
 * well; they return 200001 or 207000, or NULL, with a message.
 */
#ifndef ACLNN_PY_ACL_RT_H
#define ACLNN_PY_ACL_RT_H

#include "acl/rt/allocators.h"
#include "acl/rt/buffers.h"
#include "acl/rt/callbacks.h"
#include "acl/rt/copies.h"
#include "acl/rt/devices.h"
#include "acl/rt/errors.h"
#include "acl/rt/events.h"
#include "acl/rt/graphs.h"
#include "acl/rt/kernels.h"
#include "acl/rt/memory.h"
#include "acl/rt/notifies.h"
#include "acl/rt/streams.h"

#endif
