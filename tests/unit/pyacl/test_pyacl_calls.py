# SPDX-License-Identifier: Apache-2.0
"""pyACL's calls for devices, memory, pointers and data: what each returns, and what it refuses."""

from __future__ import annotations

import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest

import aclnn_py.pyacl as acl
from support.process import run_python
from support.pyacl import H2D, first, read

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
    for least in (
        float("inf"),
        10**400,
        Fraction(10**400),
    ):  # what no float can hold is beyond, too
        assert acl.float_to_float16(least) == 0x7BFF
        assert acl.float_to_float16(-least) == 0xFBFF
