# SPDX-License-Identifier: Apache-2.0
"""Memory descriptors and memory objects of the oneDNN dialect (reference, sections 1.1 and 1.4)."""
# ruff: noqa: ARG005  # the functions of a table have one signature

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.dialects import onednn as dnnl
from aclnn_py.dialects import onednn_graph as graph
from aclnn_py.dialects.onednn import memories
from support.onednn import NUMPY, Bench, md, refused

RUNTIME = dnnl.DNNL_RUNTIME_DIM_VAL
F32 = dnnl.data_type.f32


@pytest.fixture(scope="module")
def bench():
    return Bench()


@pytest.mark.parametrize(
    ("dims", "tag", "strides"),
    [
        ((7,), "a", (1,)),
        ((7,), "x", (1,)),
        ((2, 3), "ab", (3, 1)),
        ((2, 3), "nc", (3, 1)),
        ((2, 3), "ba", (1, 2)),
        ((2, 3), "cn", (1, 2)),
        ((2, 3, 4), "abc", (12, 4, 1)),
        ((2, 3, 4), "nwc", (12, 1, 3)),
        ((2, 3, 4), "ntc", (4, 8, 1)),
        ((2, 3, 4, 5), "nchw", (60, 20, 5, 1)),
        ((2, 3, 4, 5), "nhwc", (60, 1, 15, 3)),
        ((2, 3, 4, 5), "chwn", (1, 40, 10, 2)),
        ((2, 3, 4, 5, 6), "ncdhw", (360, 120, 30, 6, 1)),
        ((2, 3, 4, 5, 6), "ndhwc", (360, 1, 90, 18, 3)),
        ((1,) * 11 + (3,), "abcdefghijkl", (3,) * 11 + (1,)),
        ((2, 0, 3), "abc", (3, 3, 1)),
    ],
)
def test_tags_are_orders_of_the_axes(dims, tag, strides):
    desc = md(dims, "f32", tag)
    assert desc.strides == strides
    assert desc.format_kind is dnnl.format_kind.blocked
    assert desc == md(dims, "f32", strides)


@pytest.mark.parametrize(
    ("dims", "dtype", "layout", "nbytes"),
    [
        ((2, 3), "f32", "ab", 24),
        ((2, 3), "u8", "ba", 6),
        ((2, 3), "f16", (8, 1), 32),  # the gap behind the last row counts
        ((2, 3), "f32", (0, 1), 12),
        ((1, 3), "f32", (8, 1), 12),  # what a stride of one element would skip does not
        ((2, 0), "f32", "ab", 0),
        ((2, 3), "f32", "any", 0),
        ((RUNTIME, 3), "f32", "ab", RUNTIME),
    ],
)
def test_sizes(dims, dtype, layout, nbytes):
    assert md(dims, dtype, layout).get_size() == nbytes


REFUSED = [
    # Section 1.1, below the table: creation itself refuses negative dims and undefined types.
    (((2, -3), F32, "ab"), "invalid_arguments", "dims"),
    (((2, 3), 0, "ab"), "invalid_arguments", "data_type"),
    (((2, 3), 99, "ab"), "invalid_arguments", "data_type"),
    (((2, 3), "f32", "ab"), "invalid_arguments", "data_type"),
    (((2, 3), dnnl.data_type.s4, "ab"), "unimplemented", "data_type"),
    (((1,) * 13, F32, (1,) * 13), "invalid_arguments", "dims"),
    ((2.5, F32, "a"), "invalid_arguments", "dims"),
    (({3, 2}, F32, "ab"), "invalid_arguments", "dims"),  # a set has no order
    ((b"ab", F32, "ab"), "invalid_arguments", "dims"),
    (((2, 2.5), F32, "ab"), "invalid_arguments", "dims"),
    (((2**40, 2**40), F32, "ab"), "invalid_arguments", "dims"),
    (((2**63,), F32, "a"), "invalid_arguments", "dims"),
    (((2**27, 2**29), F32, "ab"), "invalid_arguments", "dims"),  # more than 2**57 bytes
    (((2, 3), F32, (2**62, 1)), "invalid_arguments", "strides"),
    (((2, 3), F32, "abc"), "invalid_arguments", "format_tag"),
    (((2, 3), F32, "aa"), "invalid_arguments", "format_tag"),
    (((2, 3), F32, "undef"), "invalid_arguments", "format_tag"),
    (((2, 3), F32, ""), "invalid_arguments", "format_tag"),
    (((2, 16, 3, 3), F32, "nChw8c"), "unimplemented", "format_tag"),
    (((2, 16, 3, 3), F32, "aBcd16b"), "unimplemented", "format_tag"),
    (((2, 3), F32, (3,)), "invalid_arguments", "strides"),
    (((2, 3), F32, (-3, 1)), "invalid_arguments", "strides"),
    (((1, 3), F32, (-8, 1)), "invalid_arguments", "strides"),
    (((2, 0), F32, (-1, 1)), "invalid_arguments", "strides"),
    (((RUNTIME, 3), F32, (-3, 1)), "invalid_arguments", "strides"),
    (((2, 3), F32, (RUNTIME, -1)), "invalid_arguments", "strides"),
    (((2, 3), F32, (2, 1)), "invalid_arguments", "strides"),
    (((2, 3), F32, (1, 1)), "invalid_arguments", "strides"),
    (((2, 3), F32, None), "invalid_arguments", "strides"),
]


@pytest.mark.parametrize(("given", "status", "argument"), REFUSED)
def test_descriptors_refuse(given, status, argument):
    with refused(status, argument):
        dnnl.memory_desc(*given)


def test_a_type_by_its_number():
    for number in (3, np.int64(3), np.uint8(3)):
        assert dnnl.memory_desc((2,), number, "a") == md((2,))
    for wrong in (True, np.True_, 3.0, "3", np.array([3, 3]), dnnl.prop_kind.backward):
        with refused("invalid_arguments", "data_type"):
            dnnl.memory_desc((2,), wrong, "a")


@pytest.mark.parametrize(
    ("desc", "kind", "strides"),
    [
        (md((2, 3), "f16", "ba"), "blocked", (1, 2)),
        (md((2, 3), "u8", "any"), "any", ()),
        (dnnl.memory_desc(), "undef", ()),
    ],
    ids=repr,
)
def test_getters(desc, kind, strides):
    assert desc.get_dims() == desc.dims
    assert desc.get_ndims() == desc.ndims
    assert desc.get_data_type() is desc.data_type
    assert desc.get_format_kind() is dnnl.format_kind[kind]
    assert desc.get_strides() == strides


def test_the_zero_descriptor():
    zero = dnnl.memory_desc()
    assert (zero.ndims, zero.get_size(), zero.format_kind) == (0, 0, dnnl.format_kind.undef)
    assert zero == dnnl.memory_desc(()) == dnnl.memory_desc((), F32) != md((1,))
    assert hash(zero) == hash(dnnl.memory_desc((), F32))


def test_equality_ignores_strides_that_move_nothing():
    assert md((1, 3), "f32", (7, 1)) == md((1, 3))
    assert md((1, 5, 1), "f32", (2, 6, 15)) == md((1, 5, 1), "f32", (1, 6, 1))
    assert hash(md((1, 3), "f32", (7, 1))) == hash(md((1, 3)))
    assert md((2, 0), "f32", "ba") == md((2, 0))
    assert md((2, 3)) != md((2, 3), "f16")
    assert md((2, 3)) != md((2, 3), "f32", "ba")
    assert md((2, 3)).same_layout(md((2, 3), "u8"))
    assert not md((2, 3)).same_layout(md((3, 2)))


@pytest.mark.parametrize("method", ["same_layout", "in_order_of", "with_layout_of"])
@pytest.mark.parametrize("other", [None, (2, 3), "ab"], ids=repr)
def test_what_is_no_descriptor_beside_another(method, other):
    with refused("invalid_arguments", "other"):
        getattr(md((2, 3)), method)(other)


@pytest.mark.parametrize("method", ["in_order_of", "with_layout_of"])
@pytest.mark.parametrize("other", [md((2,)), md((2, 3, 4)), md((2, 3), "f32", "any")], ids=repr)
def test_a_layout_beside_another_has_as_many_dimensions(method, other):
    with refused("invalid_arguments", "other"):
        getattr(md((2, 3), "f32", "any"), method)(other)


def test_a_descriptor_without_layout_has_no_order_and_without_dims_no_type():
    assert md((2, 3), "f32", "any").order == ()
    with refused("invalid_arguments"):
        _ = dnnl.memory_desc().row


@pytest.mark.parametrize(
    ("name", "value"), [("data_type", 1), ("dims", (3, 3)), ("strides", (9, 9)), ("format_kind", 1)]
)
def test_a_descriptor_does_not_change(name, value):
    desc = md((2, 3))
    with pytest.raises(FrozenInstanceError, match=name):
        setattr(desc, name, value)
    with pytest.raises(FrozenInstanceError, match=name):
        delattr(desc, name)
    assert desc == md((2, 3))


@pytest.mark.parametrize("other", [None, 0, dnnl.engine_kind.cpu], ids=repr)
def test_what_is_no_engine_beside_another(bench, other):
    assert bench.engine.is_same_device(dnnl.engine(dnnl.engine_kind.cpu, 0))
    with refused("invalid_arguments", "other"):
        bench.engine.is_same_device(other)


@pytest.mark.parametrize(
    ("layout", "forward", "backward"),
    [
        ("ba", (1, 2), (1, 2)),
        ((8, 1), (3, 1), (8, 1)),
        ((1, 5), (1, 2), (1, 5)),
        ((0, 1), (1, 2), (1, 2)),  # repeated elements are not taken over
    ],
)
def test_any_takes_a_layout(layout, forward, backward):
    """Section 1.4: the blocking forward, the layout backward; oneDNN 3.13 answers the same."""
    desc, other = md((2, 3), "f16", "any"), md((2, 3), "f32", layout)
    assert desc.in_order_of(other).strides == forward
    assert desc.with_layout_of(other).strides == backward
    assert desc.in_order_of(other).data_type == dnnl.data_type.f16


def test_any_takes_the_order_for_a_repeated_operand():
    got = md((1, 3, 1), "f32", "any").in_order_of(md((2, 3, 4), "f32", "acb"))
    assert got == md((1, 3, 1), "f32", "acb")


@pytest.mark.parametrize("dtype", sorted(NUMPY))
@pytest.mark.parametrize("layout", ["ab", "ba", (5, 1), (1, 7)])
def test_memory_holds_values_in_logical_order(bench, dtype, layout):
    values = np.arange(6).reshape(2, 3).astype(NUMPY[dtype])
    one = dnnl.memory(md((2, 3), dtype, layout), bench.engine).write(values)
    np.testing.assert_array_equal(one.numpy(), values)
    assert one.numpy().dtype == NUMPY[dtype]
    assert one.get_desc() == md((2, 3), dtype, layout)


def test_memory_over_a_buffer(bench):
    with acl.Device(0) as device:
        buffer = device.malloc(24)
        one = dnnl.memory(md((2, 3)), bench.engine, buffer).write(np.ones((2, 3)))
        other = dnnl.memory(md((3, 2)), bench.engine, buffer.ptr)
        np.testing.assert_array_equal(other.numpy(), np.ones((3, 2), np.float32))
        assert one.get_data_handle() == other.get_data_handle() == buffer.ptr
        small = device.malloc(23)
        with refused("invalid_arguments", "handle"):
            one.set_data_handle(small)
        del one, other


@pytest.fixture
def ones(bench):
    """Memory and an edge of a graph that have data."""
    lt = graph.logical_tensor(0, F32, (2, 3))
    made = dnnl.memory(md((2, 3)), bench.engine), graph.tensor(lt, bench.engine)
    return tuple(one.write(np.ones((2, 3))) for one in made)


@pytest.fixture
def foreign(bench, ones):
    """Memory that is none of the engine's device, or has too little behind it, by name.

    Behind `ones`, which might get what is freed here.
    """
    desc, device = md((2, 3)), bench.engine.device
    acl.aclrtSetDevice(0)
    pinned = acl.aclrtMallocHost(desc.get_size())
    freed = device.malloc(desc.get_size())
    array, buffer, gone = np.zeros((2, 3), np.float32), device.malloc(desc.get_size()), freed.ptr
    freed.close()
    yield {
        "pageable": array.ctypes.data, "pinned": pinned, "pinned, its address": pinned.ptr,
        "freed": gone, "what is left is too small": buffer + 4, "behind the end": buffer + 24,
        "the last address": 2**64 - 1, "small": device.malloc(desc.get_size() - 1),
        "closed": freed,
    }  # fmt: skip
    acl.aclrtFreeHost(pinned)
    acl.aclrtResetDevice(0)


NOT_OF_THE_DEVICE = (
    "pageable", "pinned", "pinned, its address", "freed", "what is left is too small",
    "behind the end", "the last address", "small", "closed",
)  # fmt: skip


@pytest.mark.parametrize("name", NOT_OF_THE_DEVICE)
def test_memory_is_of_the_engine_s_device(bench, ones, foreign, name):
    """Refused where it is given; what was there before stays."""
    one, edge = ones
    desc, lt = one.get_desc(), edge.get_logical_tensor()
    for function, call in (
        ("memory", lambda: dnnl.memory(desc, bench.engine, foreign[name])),
        ("memory.set_data_handle", lambda: one.set_data_handle(foreign[name])),
        ("tensor", lambda: graph.tensor(lt, bench.engine, foreign[name])),
        ("tensor.set_data_handle", lambda: edge.set_data_handle(foreign[name])),
    ):
        with refused("invalid_arguments", "^handle$") as caught:
            call()
        assert caught.value.function == function
        assert "161002" not in str(caught.value)
    assert (one.numpy() == 1).all()
    assert (edge.numpy() == 1).all()


@pytest.mark.parametrize("desc", [dnnl.memory_desc(), md((2, 0))], ids=repr)
def test_nothing_needs_no_memory(bench, foreign, desc):
    address = foreign["pageable"]
    assert dnnl.memory(desc, bench.engine, address).get_data_handle() == address


def test_another_handle_comes_in_one_go(bench, monkeypatch):
    """A thread that executes meanwhile finds the memory from before."""
    one = dnnl.memory(md((2, 3)), bench.engine)
    before, seen = (one.get_data_handle(), one.tensor), []
    create = memories.create_tensor

    def looked_at(*given):
        seen.append((one.get_data_handle(), one.tensor))
        return create(*given)

    monkeypatch.setattr(memories, "create_tensor", looked_at)
    moved = bench.engine.device.malloc(24)
    one.set_data_handle(moved)
    assert seen == [before]
    assert one.get_data_handle() == int(moved)
    assert one.tensor.data_ptr == int(moved)


def test_memory_tells_its_engine(bench):
    assert dnnl.memory(md((2, 3)), bench.engine).get_engine() is bench.engine
    with refused("invalid_arguments"):
        host_scalar("f32", 1).get_engine()


def test_memory_without_data(bench):
    none = dnnl.memory(md((2, 3)), bench.engine, dnnl.DNNL_MEMORY_NONE)
    assert none.get_data_handle() == 0
    with refused("invalid_arguments", "handle"):
        none.numpy()
    assert dnnl.memory(md((2, 0)), bench.engine).numpy().shape == (2, 0)
    zero = dnnl.memory(dnnl.memory_desc(), bench.engine)
    assert zero.write(zero.numpy()) is zero
    assert zero.numpy().size == 0


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda e: dnnl.memory(None, e), "desc"),
        (lambda e: dnnl.memory(md((2,), "f32", "any"), e), "desc"),
        (lambda e: dnnl.memory(md((RUNTIME,)), e), "desc"),
        (lambda e: dnnl.memory(dnnl.memory_desc.host_scalar(F32), e), "desc"),
        (lambda e: dnnl.memory(md((2,)), None), "engine"),
        (lambda e: dnnl.memory(md((2,)), dnnl.engine_description()), "engine"),
        (lambda e: dnnl.memory(md((2,)), e, "here"), "handle"),
        (lambda e: dnnl.memory(md((2,)), e, 2.5), "handle"),
        (lambda e: dnnl.memory(md((2,)), e, -1), "handle"),
        (lambda e: dnnl.memory(md((2,)), e).write(np.ones(3)), "values"),
        (lambda e: dnnl.memory(md((2,)), e).write("text"), "values"),
        (lambda e: dnnl.memory(md((2, 2)), e).write([[1], [1, 2]]), "values"),
        (lambda e: dnnl.memory(md((2,)), e).write([1j, 0]), "values"),
        (lambda e: dnnl.memory(md((2,)), e).write(np.zeros(2, [("a", "f4")])), "values"),
        (lambda e: dnnl.memory(md((2,)), e).write(np.zeros(2, [("a", "f4", 2)])), "values"),
        (lambda e: dnnl.memory(md((2,)), e).write(np.zeros(2, "V4")), "values"),
        (lambda e: host_scalar("f32", np.zeros((), [("a", "f4")])), "value"),
        (lambda e: dnnl.memory(md((2,), "s8"), e).write([0, 300]), "values"),
        (lambda e: dnnl.memory(md((2,), "u8"), e).write([-1, 0]), "values"),
        (lambda e: dnnl.memory(md((2,), "s32"), e).write([0.5, 0]), "values"),
        (lambda e: dnnl.memory(md((2,), "s32"), e).write([np.nan, 0]), "values"),
        (lambda e: host_scalar("s32", 2**40), "value"),
        (lambda e: host_scalar("s64", 1.5), "value"),
        (lambda e: host_scalar("f32", None), "value"),
        (lambda e: host_scalar("f32", "1.5"), "value"),
        (lambda e: host_scalar("f32", 1e39), "value"),
        (lambda e: host_scalar("f16", 70000), "value"),
        (lambda e: host_scalar("f32", 1).set_data_handle(e.device.malloc(4)), "handle"),
        (lambda e: host_scalar("f32", 1).write([2]), "values"),
        (lambda e: dnnl.memory(dnnl.memory_desc(), e).write(1), "values"),
        (lambda e: dnnl.memory.host_scalar(md((1,)), 1), "desc"),
        (lambda e: dnnl.memory.host_scalar(dnnl.memory_desc.host_scalar(F32), "x"), "value"),
    ],
)
def test_memory_refuses(bench, make, argument):
    with refused("invalid_arguments", argument):
        make(bench.engine)


def test_memory_is_zeroed_on_a_stream_of_either_kind(bench):
    for layout in ("ab", (8, 1)):
        for stream in (dnnl.stream(bench.engine), bench.engine.device.create_stream()):
            filled = dnnl.memory(md((2, 3), "f32", layout), bench.engine).write(np.ones((2, 3)))
            filled.zero_on(stream)
            (stream.wait if isinstance(stream, dnnl.stream) else stream.synchronize)()
            assert not filled.numpy().any()
    for other in (None, bench.engine):
        with refused("invalid_arguments", "stream"):
            filled.zero_on(other)


@pytest.mark.parametrize(
    ("make", "fix"),
    [
        (lambda e: dnnl.memory(dnnl.memory_desc.host_scalar(F32), e), "memory.host_scalar(desc"),
        (lambda e: dnnl.memory.host_scalar(md((1,)), 1), "memory_desc.host_scalar(data_type)"),
    ],
)
def test_host_scalars_are_told_from_tensors(bench, make, fix):
    with pytest.raises(dnnl.OneDnnError) as caught:
        make(bench.engine)
    assert fix in caught.value.hint


def host_scalar(dtype, value):
    return dnnl.memory.host_scalar(dnnl.memory_desc.host_scalar(dnnl.data_type[dtype]), value)


def test_memory_that_is_gone_where_something_else_lies_now(bench):
    desc, device = md((64, 64)), bench.engine.device
    for _ in range(30):
        buffer = device.malloc(desc.get_size())
        gone = dnnl.memory(desc, bench.engine, buffer)
        address = buffer.ptr
        buffer.close()
        other = dnnl.memory(desc, bench.engine, device.malloc(desc.get_size()))
        if other.get_data_handle() == address:
            break
    else:
        pytest.skip("no address was given twice")
    other.write(np.full((64, 64), 5))
    for use in (gone.numpy, lambda: gone.write(np.zeros((64, 64)))):
        with refused("invalid_arguments", "handle"):
            use()
    assert (other.numpy() == 5).all()


def test_memory_that_is_gone(bench):
    with acl.Device(0) as device:
        buffer = device.malloc(8)
        one = dnnl.memory(md((2,)), bench.engine, buffer)
        buffer.close()
        with pytest.raises(dnnl.OneDnnError) as caught:
            one.numpy()
    assert caught.value.status is dnnl.status.invalid_arguments


def test_memory_runs_out():
    """out_of_memory of section 1.8, from a device that has too little."""
    with pytest.raises(dnnl.OneDnnError) as caught:
        dnnl.memory(md((2**55,), "u8"), dnnl.engine())
    assert caught.value.status is dnnl.status.out_of_memory
