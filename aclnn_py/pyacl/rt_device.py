# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: devices and contexts."""

from __future__ import annotations

from functools import partial

from aclnn_native import calls, ffi, lib
from aclnn_py.pyacl.calls import INT32, INT64, UINT32, UINT64, answer, integer, order

__all__ = [
    "create_context",
    "ctx_get_current_default_stream",
    "ctx_get_sys_param_opt",
    "ctx_set_sys_param_opt",
    "destroy_context",
    "device_can_access_peer",
    "device_disable_peer_access",
    "device_enable_peer_access",
    "device_get_stream_priority_range",
    "device_peer_access_status",
    "get_context",
    "get_device",
    "get_device_count",
    "get_device_info",
    "get_device_utilization_rate",
    "get_run_mode",
    "get_sys_param_opt",
    "query_device_status",
    "reset_device",
    "reset_device_force",
    "set_context",
    "set_device",
    "set_sys_param_opt",
    "set_ts_device",
    "synchronize_device",
    "synchronize_device_with_timeout",
]

_CONTEXT = {"context": "aclpy_handle"}

set_device = order("acl.rt.set_device", "aclrtSetDevice", lib.aclpy_set_device, deviceId=INT32)
reset_device = order(
    "acl.rt.reset_device", "aclrtResetDevice", lib.aclpy_reset_device, deviceId=INT32
)
reset_device_force = order(
    "acl.rt.reset_device_force",
    "aclrtResetDeviceForce",
    lib.aclpy_reset_device_force,
    deviceId=INT32,
)
get_device = answer(
    "acl.rt.get_device", "aclrtGetDevice", lib.aclpy_get_device, {"deviceId": "int32_t"}
)
get_device_count = answer(
    "acl.rt.get_device_count", "aclrtGetDeviceCount", lib.aclpy_device_count, {"count": "uint32_t"}
)
get_run_mode = answer(
    "acl.rt.get_run_mode", "aclrtGetRunMode", lib.aclpy_run_mode, {"runMode": "int32_t"}
)
set_ts_device = order(
    "acl.rt.set_ts_device", "aclrtSetTsDevice", lib.aclpy_set_ts_device, tsId=INT32
)
query_device_status = answer(
    "acl.rt.query_device_status",
    "aclrtQueryDeviceStatus",
    lib.aclpy_device_status,
    {"deviceStatus": "int32_t"},
    deviceId=INT32,
)
get_device_info = answer(
    "acl.rt.get_device_info",
    "aclrtGetDeviceInfo",
    lib.aclpy_device_info,
    {"value": "int64_t"},
    deviceId=UINT32,
    attr=INT32,
)
device_get_stream_priority_range = answer(
    "acl.rt.device_get_stream_priority_range",
    "aclrtDeviceGetStreamPriorityRange",
    lib.aclpy_stream_priority_range,
    {"leastPriority": "int32_t", "greatestPriority": "int32_t"},
)
synchronize_device = order(
    "acl.rt.synchronize_device", "aclrtSynchronizeDevice", partial(calls.wait, calls.DEVICE, 0)
)
synchronize_device_with_timeout = order(
    "acl.rt.synchronize_device_with_timeout",
    "aclrtSynchronizeDeviceWithTimeout",
    partial(calls.wait, calls.DEVICE_UNTIL, 0),
    timeout=INT32,
)

# ---- contexts ----

create_context = answer(
    "acl.rt.create_context",
    "aclrtCreateContext",
    lib.aclpy_context_create,
    _CONTEXT,
    deviceId=INT32,
)
destroy_context = order(
    "acl.rt.destroy_context", "aclrtDestroyContext", lib.aclpy_context_destroy, context=UINT64
)
set_context = order(
    "acl.rt.set_context", "aclrtSetCurrentContext", lib.aclpy_context_set_current, context=UINT64
)
get_context = answer(
    "acl.rt.get_context", "aclrtGetCurrentContext", lib.aclpy_context_get_current, _CONTEXT
)
ctx_get_current_default_stream = answer(
    "acl.rt.ctx_get_current_default_stream",
    "aclrtCtxGetCurrentDefaultStream",
    partial(lib.aclpy_stream_default, 0),
    {"stream": "aclpy_handle"},
)
ctx_set_sys_param_opt = order(
    "acl.rt.ctx_set_sys_param_opt",
    "aclrtCtxSetSysParamOpt",
    partial(lib.aclpy_context_sysparam_set, 0),
    opt=INT32,
    value=INT64,
)
ctx_get_sys_param_opt = answer(
    "acl.rt.ctx_get_sys_param_opt",
    "aclrtCtxGetSysParamOpt",
    partial(lib.aclpy_context_sysparam_get, 0),
    {"value": "int64_t"},
    opt=INT32,
)
set_sys_param_opt = order(
    "acl.rt.set_sys_param_opt",
    "aclrtSetSysParamOpt",
    lib.aclpy_sysparam_set,
    opt=INT32,
    value=INT64,
)
get_sys_param_opt = answer(
    "acl.rt.get_sys_param_opt",
    "aclrtGetSysParamOpt",
    lib.aclpy_sysparam_get,
    {"value": "int64_t"},
    opt=INT32,
)

# ---- peers ----

device_can_access_peer = answer(
    "acl.rt.device_can_access_peer",
    "aclrtDeviceCanAccessPeer",
    lambda device, peer, can: lib.aclpy_can_access_peer(can, device, peer),
    {"canAccessPeer": "int32_t"},
    deviceId=INT32,
    peerDeviceId=INT32,
)
device_enable_peer_access = order(
    "acl.rt.device_enable_peer_access",
    "aclrtDeviceEnablePeerAccess",
    partial(lib.aclpy_enable_peer_access, 0),
    peerDeviceId=INT32,
    flags=UINT32,
)
device_disable_peer_access = order(
    "acl.rt.device_disable_peer_access",
    "aclrtDeviceDisablePeerAccess",
    partial(lib.aclpy_disable_peer_access, 0),
    peerDeviceId=INT32,
)
device_peer_access_status = answer(
    "acl.rt.device_peer_access_status",
    "aclrtDevicePeerAccessStatus",
    lib.aclpy_peer_access_status,
    {"status": "int32_t"},
    deviceId=INT32,
    peerDeviceId=INT32,
)


def get_device_utilization_rate(device_id: int, /) -> tuple[dict[str, int], int]:
    """``aclrtGetDeviceUtilizationRate``: (percentages by kind of core, ret)."""
    number = integer("acl.rt.get_device_utilization_rate", "deviceId", device_id, INT32)
    info = ffi.new("aclpy_utilization *")
    status = int(lib.aclpy_device_utilization(number, info))
    rates = {
        "cubeUtilization": int(info.cube),
        "vectorUtilization": int(info.vector),
        "aicpuUtilization": int(info.aicpu),
        "memoryUtilization": int(info.memory),
    }
    return rates, status
