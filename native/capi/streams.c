/* SPDX-License-Identifier: Apache-2.0
 * Streams under their C names.
 */
#include "acl/acl_rt.h"
#include "capi.h"

aclError aclrtCreateStream(aclrtStream *stream) { return aclpy_stream_create(0, 0, 0, (aclpy_handle *)stream); }
aclError aclrtDestroyStream(aclrtStream stream) { return aclpy_stream_destroy(0, capi_handle(stream)); }
aclError aclrtSynchronizeStream(aclrtStream stream) { return aclpy_stream_synchronize(0, capi_handle(stream)); }
