# SPDX-License-Identifier: Apache-2.0
"""Every call of pyACL's runtime: what it returns, in which order, and what it refuses."""

from __future__ import annotations

import importlib
import logging
import threading
import warnings
from types import ModuleType

import numpy as np
import pytest

import aclnn_py.pyacl as acl
from aclnn_py import Stream
from support.latch import PATIENCE_S
from support.process import run_python

H2D, D2H = 1, 2
SYNC, TIMED = 1, 8
UNKNOWN = 0x123456789


def first(answer):
    """The value of a call that must succeed."""
    *values, ret = answer
    assert ret == 0, acl.get_recent_err_msg()
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture(autouse=True)
def _current_device():
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.reset_device(0) == 0


@pytest.fixture
def stream():
    handle = first(acl.rt.create_stream())
    yield handle
    assert acl.rt.destroy_stream(handle) == 0


@pytest.fixture
def pointer():
    address = first(acl.rt.malloc(256, 0))
    yield address
    assert acl.rt.free(address) == 0


def read(pointer, size):
    room = bytes(bytearray(size))
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(room), size, pointer, size, D2H) == 0
    return room


# ---- beginning, end, questions ----


BEGINNING_AND_END = """
import json, tempfile, aclnn_py.pyacl as acl
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    file.write(json.dumps({})); file.flush()
    print(acl.init(file.name), acl.init(), acl.finalize_reference(), acl.finalize(), acl.finalize())
    print(acl.finalize_reference(), acl.init(), acl.finalize())
"""


def test_init_and_finalize():
    assert run_python(BEGINNING_AND_END).stdout.splitlines() == [
        "0 100002 (1, 0) 0 100037",
        "(0, 100037) 0 0",
    ]


def test_versions_and_attributes(tmp_path, monkeypatch):
    assert acl.get_version() == (1, 17, 0, 0)
    assert acl.get_soc_name() == "Ascend910B1"
    info = tmp_path / "share" / "info" / "runtime"
    info.mkdir(parents=True)
    (info / "version.info").write_text("Version=8.1.RC1\n", encoding="utf-8")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    assert acl.get_version_str("runtime") == ("8.1.RC1", 0)
    version, ret = acl.get_cann_version(1)
    assert (version["version"], version["majorVersion"], ret) == ("8.1.RC1", "8", 0)
    assert acl.get_cann_version(99)[1] != 0
    assert acl.get_version_str("nothing_of_that_name") == ("", 100003)
    assert acl.get_version_num("nothing_of_that_name") == (0, 100003)
    found, number, ret = acl.get_cann_attribute_list()
    assert (len(found), ret) == (number, 0)
    assert first(acl.get_cann_attribute(found[0])) in (0, 1)
    assert first(acl.get_device_capability(0, 0)) > 0


def test_recent_message_is_handed_over_once():
    acl.get_recent_err_msg()
    assert acl.rt.free(0) == 100000
    assert "aclrtFree" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None


# ---- devices and contexts ----


def test_devices():
    assert acl.rt.get_device() == (0, 0)
    assert first(acl.rt.get_device_count()) >= 1
    assert acl.rt.get_run_mode() == (1, 0)
    assert acl.rt.set_device(99) == 107001
    assert acl.rt.reset_device(99) == 107001
    assert acl.rt.reset_device_force(99) == 107001
    assert acl.rt.set_ts_device(0) == 0
    assert acl.rt.query_device_status(0) == (0, 0)
    assert acl.rt.device_get_stream_priority_range() == (7, 0, 0)
    assert acl.rt.device_can_access_peer(0, 0) == (0, 100000)
    assert acl.rt.get_device_utilization_rate(0)[0]["memoryUtilization"] == -1
    assert acl.rt.synchronize_device() == 0
    assert acl.rt.synchronize_device_with_timeout(0) == 107000


TWO_DEVICES = """
import aclnn_py.pyacl as acl
print(acl.rt.get_device_count(), acl.rt.device_can_access_peer(0, 1), acl.rt.set_device(0))
print(acl.rt.device_enable_peer_access(1, 0), acl.rt.device_peer_access_status(0, 1))
print(acl.rt.device_disable_peer_access(1), acl.rt.device_peer_access_status(0, 1))
"""


def test_two_devices_see_each_other():
    assert run_python(TWO_DEVICES, ACLNN_PY_DEVICES="2").stdout.splitlines() == [
        "(2, 0) (1, 0) 0",
        "0 (1, 0)",
        "0 (0, 0)",
    ]


def test_contexts():
    primary = first(acl.rt.get_context())
    made = first(acl.rt.create_context(0))
    assert acl.rt.get_context() == (made, 0)
    assert acl.rt.set_context(primary) == 0
    assert first(acl.rt.ctx_get_current_default_stream())
    assert acl.rt.ctx_set_sys_param_opt(0, 1) == 0
    assert acl.rt.ctx_get_sys_param_opt(0) == (1, 0)
    assert acl.rt.destroy_context(made) == 0
    assert acl.rt.destroy_context(0) == 100000
    assert acl.rt.set_context(0) == 100000
    seen = []
    thread = threading.Thread(target=lambda: seen.append(acl.rt.get_context()))
    thread.start()
    thread.join()
    assert seen == [(0, 107002)]


# ---- memory ----


@pytest.mark.parametrize(
    "allocate",
    [
        lambda size: acl.rt.malloc(size, 0),
        lambda size: acl.rt.malloc_align32(size, 0),
        lambda size: acl.rt.malloc_cached(size, 2),
        lambda size: acl.rt.malloc_with_cfg(size, 0, {}),
        lambda size: acl.rt.malloc_with_cfg(size, 0, {2: 0}),
    ],
)
def test_device_memory(allocate):
    pointer = first(allocate(100))
    assert pointer % 64 == 0
    assert acl.rt.memset(pointer, 100, 7, 100) == 0
    assert read(pointer, 100) == b"\x07" * 100
    assert acl.rt.free(pointer) == 0
    assert acl.rt.free(pointer) == 107000
    assert allocate(0) == (0, 100000)


def test_host_memory():
    pointer = first(acl.rt.malloc_host(64))
    assert acl.rt.free_host(pointer) == 0
    assert acl.rt.malloc_host(0) == (0, 100000)
    assert acl.rt.free_with_dev_sync(first(acl.rt.malloc(8, 0))) == 0
    assert acl.rt.free_host_with_dev_sync(first(acl.rt.malloc_host(8))) == 0


def test_copies(pointer, stream):
    source = np.arange(64, dtype=np.uint8).tobytes()
    there = acl.util.bytes_to_ptr(source)
    assert acl.rt.memcpy(pointer, 256, there, 64, H2D) == 0
    assert acl.rt.memcpy_async(pointer + 64, 192, pointer, 64, 3, stream) == 0
    assert acl.rt.memset_async(pointer + 128, 128, 255, 2, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(pointer, 130) == source + source + b"\xff\xff"
    assert acl.rt.memcpy(pointer, 8, there, 64, H2D) == 107000
    assert acl.rt.memcpy(pointer, 256, there, 64, 9) == 100000


def test_copies_of_rectangles(pointer, stream):
    source = np.arange(12, dtype=np.uint8).reshape(3, 4)
    there = acl.util.bytes_to_ptr(kept := source.tobytes())
    assert acl.rt.memcpy2d(pointer, 8, there, 4, 4, 3, H2D) == 0
    assert acl.rt.memcpy2d_async(pointer + 32, 2, pointer, 8, 2, 3, 3, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(pointer, 4) == kept[:4]
    assert read(pointer + 32, 6) == source[:, :2].tobytes()
    assert acl.rt.memcpy2d(pointer, 2, there, 4, 4, 3, H2D) == 100000


def test_memory_figures(pointer):
    free, total, ret = acl.rt.get_mem_info(1)
    assert 0 < free <= total
    assert ret == 0
    assert acl.rt.get_mem_info(99) == (0, 0, 107016)
    assert acl.rt.mem_flush(pointer, 64) == acl.rt.mem_invalidate(pointer, 64) == 0


# ---- streams ----


def test_streams(stream):
    assert acl.rt.stream_query(stream) == (0, 0)
    assert first(acl.rt.stream_get_id(stream)) == Stream.from_handle(stream).id
    made = first(acl.rt.create_stream_with_config(3, 1))
    assert acl.rt.stream_get_priority(made) == (3, 0)
    assert acl.rt.stream_get_flags(made) == (1, 0)
    assert first(acl.rt.get_stream_available_num()) > 0
    assert acl.rt.synchronize_stream_with_timeout(made, 0) == 107000
    assert acl.rt.synchronize_stream_with_timeout(made, 1000) == 0
    assert acl.rt.stream_abort(made) == 0
    assert acl.rt.stream_stop(0) == 107000
    assert acl.rt.destroy_stream_force(made) == 0
    assert acl.rt.destroy_stream(made) == 107017
    assert acl.rt.stream_query(made) == (0, 107017)
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.destroy_stream(0) == 100000


def test_attributes_of_streams():
    made = first(acl.rt.create_stream())
    assert acl.rt.get_stream_overflow_switch(made) == (0, 0)
    assert acl.rt.set_stream_overflow_switch(made, 1) == 0
    assert acl.rt.get_stream_overflow_switch(made) == (1, 0)
    assert acl.rt.set_stream_attribute(made, 3, {"userCustomTag": 5}) == 0
    assert acl.rt.get_stream_attribute(made, 3) == ({"userCustomTag": 5}, 0)
    assert acl.rt.set_stream_failure_mode(made, 0) == 0
    assert acl.rt.get_stream_attribute(made, 1) == ({"failureMode": 0}, 0)
    assert acl.rt.get_stream_attribute(made, 99)[1] == 107000
    with pytest.raises(ValueError, match="needs the key 'failureMode'"):
        acl.rt.set_stream_attribute(made, 1, {"overflowSwitch": 0})
    with pytest.raises(TypeError, match="must be a dict"):
        acl.rt.set_stream_attribute(made, 1, 0)
    assert acl.rt.destroy_stream(made) == 0


# ---- events ----


def test_events(stream):
    start, end = (first(acl.rt.create_event()) for _ in range(2))
    assert acl.rt.query_event_status(start) == (0, 0)
    assert acl.rt.stream_wait_event(stream, start) == 107000
    assert acl.rt.event_elapsed_time(start, end) == (0.0, 507000)
    assert acl.rt.record_event(start, stream) == acl.rt.record_event(end, stream) == 0
    assert acl.rt.stream_wait_event_with_timeout(stream, end, 1) == 0
    assert acl.rt.synchronize_event(end) == 0
    assert acl.rt.synchronize_event_with_timeout(end, -1) == 0
    assert acl.rt.synchronize_event_with_timeout(end, 0) == 107000
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.query_event(end) == (0, 0)
    assert acl.rt.query_event_status(end) == (1, 0)
    assert acl.rt.query_event_wait_status(end) == (0, 0)
    ms, ret = acl.rt.event_elapsed_time(start, end)
    assert isinstance(ms, float)
    assert (ms >= 0, ret) == (True, 0)
    assert first(acl.rt.event_get_timestamp(end)) > 0
    assert acl.rt.get_event_id(end)[1] == 0
    assert first(acl.rt.get_event_avail_num()) > 0
    assert acl.rt.set_op_wait_timeout(0) == 0
    assert acl.rt.destroy_event(start) == acl.rt.destroy_event(end) == 0
    assert acl.rt.destroy_event(end) == 107017


def test_kinds_of_events(stream):
    flagged = first(acl.rt.create_event_with_flag(SYNC))
    assert acl.rt.record_event(flagged, stream) == 0
    assert acl.rt.reset_event(flagged, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(flagged) == 0
    late = first(acl.rt.create_event_ex_with_flag(SYNC | TIMED))
    assert acl.rt.stream_wait_event(stream, late) == 0
    assert acl.rt.reset_event(late, stream) == 207000
    assert acl.rt.query_event_status(late) == (1, 0)
    assert acl.rt.destroy_event(late) == 0
    assert acl.rt.create_event_with_flag(0) == (0, 107000)
    assert acl.rt.create_event_ex_with_flag(0) == (0, 107000)


def test_notifies(stream):
    notify = first(acl.rt.create_notify(0))
    assert acl.rt.get_notify_id(notify)[1] == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_notify(notify) == 0


# ---- callbacks and failures ----


def serve(argument):
    ready, done, _ = argument
    assert ready.wait(PATIENCE_S)
    while acl.rt.process_report(-1) == 0:
        pass
    done.set()


def test_callbacks_run_on_their_thread(stream, caplog):
    ready, done, seen = threading.Event(), threading.Event(), []
    thread = first(acl.util.start_thread(serve, (ready, done, seen)))
    assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 107015
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.subscribe_report(thread, stream) == 107011
    ready.set()
    note = lambda data: seen.append((data, threading.get_ident()))  # noqa: E731  # one argument
    assert acl.rt.launch_callback(note, "first", 1, stream) == 0
    assert acl.rt.launch_callback(lambda data: 1 / data, 0, 1, stream) == 0
    assert acl.rt.launch_callback(note, None, 0, stream) == 0
    assert acl.rt.launch_callback(note, None, 2, stream) == 100000
    with caplog.at_level(logging.ERROR):
        assert acl.rt.synchronize_stream(stream) == 0  # an exception is no failure of the stream
        assert acl.rt.unsubscribe_report(thread, stream) == 0
        assert done.wait(PATIENCE_S)
    assert seen[0] == ("first", thread)
    assert "ZeroDivisionError" in caplog.text
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == 100000
    assert acl.rt.process_report(0) == 100000
    assert acl.rt.unsubscribe_report(thread, stream) == 107011


def test_host_functions(stream):
    seen = []
    assert acl.rt.launch_host_func(stream, seen.append, "called") == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == ["called"]


def test_exception_callback_and_last_error(stream):
    seen = []

    def on_failure(info):
        seen.append(
            (
                acl.rt.get_error_code_from_exception_info(info),
                acl.rt.get_stream_id_from_exception_info(info),
                acl.rt.get_device_id_from_exception_info(info),
                acl.rt.get_task_id_from_exception_info(info) != 0xFFFFFFFF,
                acl.rt.get_thread_id_from_exception_info(info) != 0xFFFFFFFF,
            )
        )

    def fail():
        raise ArithmeticError

    assert acl.rt.set_exception_info_callback(on_failure) == 0
    Stream.from_handle(stream).launch_host_func(fail)
    assert acl.rt.synchronize_stream(stream) == 507000
    assert acl.rt.set_exception_info_callback(None) == 0
    number = first(acl.rt.stream_get_id(stream))
    assert seen == [(507000, number, 0, True, True)]
    assert acl.rt.get_error_code_from_exception_info(UNKNOWN) == 0xFFFFFFFF
    assert acl.rt.peek_at_last_error(0) == 507000
    assert acl.rt.get_last_error(0) == 507000
    assert acl.rt.get_last_error(0) == 0
    assert acl.rt.get_last_error(1) == 100000


# ---- pointers and arrays ----


def test_bytes():
    data = bytes(range(200))
    pointer = acl.util.bytes_to_ptr(data)
    assert acl.util.ptr_to_bytes(pointer, 200) == data
    assert acl.util.ptr_to_bytes(0, 0) == b""


def test_arrays():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    with pytest.warns(Warning, match="deprecated") as told:
        pointer = acl.util.numpy_to_ptr(array)
    assert len(told) == 1
    assert pointer == array.ctypes.data
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        acl.util.numpy_to_ptr(array.T)
    assert [str(one.message).split()[-1] for one in told] == [
        "acl.util.bytes_to_ptr",
        "numpy_contiguous_to_ptr",
    ]
    with pytest.warns(Warning, match="deprecated"):
        address, copy = acl.util.numpy_contiguous_to_ptr(array.T)
    assert address == copy.ctypes.data
    assert copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, array.T)
    with pytest.warns(Warning, match="deprecated"):
        view = acl.util.ptr_to_numpy(pointer, (3, 4), 11)
    assert view.dtype == np.float32
    view[1, 2] = 99
    assert array[1, 2] == 99


def test_an_array_on_pinned_memory_outlives_it():
    pointer = first(acl.rt.malloc_host(64))
    with pytest.warns(Warning, match="deprecated"):
        view = acl.util.ptr_to_numpy(pointer, (16,), np.dtype(np.float32).num)
    view[:] = 3
    assert acl.rt.free_host(pointer) == 0
    assert view.sum() == 48


@pytest.mark.filterwarnings("ignore:acl.util")
def test_what_the_host_cannot_read_is_refused(pointer):
    with pytest.raises(ValueError, match="copy it to the host first"):
        acl.util.ptr_to_bytes(pointer, 8)
    with pytest.raises(ValueError, match="copy it to the host first"):
        acl.util.ptr_to_numpy(pointer, (2,), 11)
    with pytest.raises(ValueError, match="null"):
        acl.util.ptr_to_bytes(0, 8)
    host = first(acl.rt.malloc_host(64))
    with pytest.raises(ValueError, match="has 64 from there"):
        acl.util.ptr_to_numpy(host, (17,), 11)
    with pytest.raises(ValueError, match="no plain element type"):
        acl.util.ptr_to_numpy(host, (1,), np.dtype(object).num)
    assert acl.rt.free_host(host) == 0


# ---- data buffers, tensor descriptions, element types ----


def test_data_buffers():
    buffer = acl.create_data_buffer(4096, 2**33)
    assert acl.get_data_buffer_addr(buffer) == 4096
    assert acl.get_data_buffer_size(buffer) == 0  # 32 bits
    assert acl.get_data_buffer_size_v2(buffer) == 2**33
    assert acl.update_data_buffer(buffer, 8192, 16) == 0
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size(buffer)) == (8192, 16)
    assert acl.destroy_data_buffer(buffer) == 0
    assert acl.get_data_buffer_addr(buffer) == 0
    assert acl.destroy_data_buffer(0) == 100000


def test_tensor_descriptions():
    desc = acl.create_tensor_desc(0, [2, -1, 5], 2)
    assert desc
    assert acl.get_tensor_desc_dim_v2(desc, 2) == (5, 0)
    assert acl.get_tensor_desc_dim_v2(desc, 3) == (0, 100000)
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == ([2, 2], 0)
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == (None, 100000)
    assert acl.destroy_tensor_desc(desc) is None
    assert acl.get_tensor_desc_dim_v2(desc, 0) == (0, 100000)
    assert acl.destroy_tensor_desc(desc) is None


def test_element_types():
    assert [acl.data_type_size(kind) for kind in (0, 1, 11, 12, 999)] == [4, 2, 8, 1, 0]
    assert acl.float16_to_float(0x3C00) == 1.0
    assert acl.float16_to_float(0x7C00) == 65536.0
    assert acl.float_to_float16(1.0) == 0x3C00
    assert acl.float_to_float16(float("inf")) == 0x7BFF


# ---- the convention ----

ROOMS = {"acl": acl, "acl.rt": acl.rt, "acl.util": acl.util}


def calls():
    for room, module in ROOMS.items():
        for name in module.__all__:
            if callable(found := getattr(module, name)):
                yield f"{room}.{name}", found


@pytest.mark.parametrize(("name", "call"), list(calls()))
def test_names_and_positional_arguments(name, call):
    assert call.__name__ == name.rpartition(".")[2]
    assert call.__doc__
    with pytest.raises(TypeError):
        call(*[1] * 9)
    with pytest.raises(TypeError):
        call(surely_no_name=1)


@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        (acl.rt.free, (None,), TypeError),
        (acl.rt.free, ("1",), TypeError),
        (acl.rt.free, (1.0,), TypeError),
        (acl.rt.free, (-1,), ValueError),
        (acl.rt.set_device, (2**31,), ValueError),
        (acl.rt.create_stream_with_config, (-1, 0), ValueError),
        (acl.rt.malloc_with_cfg, (8, 0, None), TypeError),
        (acl.rt.launch_callback, (3, None, 0, 0), TypeError),
        (acl.rt.launch_host_func, (0, None, 0), TypeError),
        (acl.rt.set_exception_info_callback, (3,), TypeError),
        (acl.init, (None,), TypeError),
        (acl.init, ("a\0b",), ValueError),
        (acl.get_version_str, (b"runtime",), TypeError),
        (acl.create_tensor_desc, (0, 3, 2), TypeError),
        (acl.create_tensor_desc, (0, [None], 2), TypeError),
        (acl.float16_to_float, (65536,), ValueError),
        (acl.float_to_float16, ("1",), TypeError),
        (acl.util.bytes_to_ptr, ("text",), TypeError),
        (acl.util.ptr_to_bytes, (1, -1), ValueError),
        (acl.util.numpy_to_ptr, ([1],), TypeError),
        (acl.util.ptr_to_numpy, (1, [1], 11), TypeError),
        (acl.util.start_thread, (None, ()), TypeError),
    ],
)
def test_wrong_arguments_are_exceptions(call, arguments, error):
    with pytest.raises(error):
        call(*arguments)


@pytest.mark.parametrize("part", ["mdl", "op", "blas", "media", "himpi", "fv", "prof"])
def test_what_is_outside_refuses_by_name(part):
    found = getattr(acl, part)
    assert not hasattr(found, "load")
    with pytest.raises(AttributeError, match=rf"acl\.{part}\.load is outside of aclnn_py\.pyacl"):
        found.load("model.om")


def test_other_names_refuse_by_name():
    for module, name in ((acl, "acl.create_dataset"), (acl.rt, "acl.rt.launch_kernel")):
        with pytest.raises(AttributeError, match=f"{name} is outside"):
            getattr(module, name.rpartition(".")[2])
    with pytest.raises(AttributeError, match=r"acl\.util\.vector_to_ptr is outside"):
        acl.util.vector_to_ptr  # noqa: B018  # asking is the test
    assert isinstance(importlib.import_module("aclnn_py.pyacl.rt"), ModuleType)
