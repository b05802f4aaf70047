# SPDX-License-Identifier: Apache-2.0
"""Executing compiled partitions: arguments, order, threads, empties, scratchpad (section 2)."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

from aclnn_py.dialects import onednn
from aclnn_py.dialects import onednn_graph as dnnl
from support import onednn_oracle as oracle
from support.latch import Latch
from support.onednn import md, refused
from support.onednn_graph import STRIDED, Bench, Chain, lt, op, part_of, partitions, shaped

FAMILY = ("SoftMax", "SoftMaxBackward", "LogSoftmax", "LogSoftmaxBackward")
SHAPE = (3, 4, 5)
X = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)


@pytest.fixture(scope="module")
def bench():
    return Bench()


class Call:
    """A backward call whose tensors can be changed one at a time."""

    def __init__(self, bench):
        self.bench = bench
        self.compiled = bench.compiled(part := part_of("SoftMaxBackward"), shaped(part, SHAPE))
        self.inputs = [bench.tensor(self.compiled, n, X) for n in range(2)]
        self.outputs = [bench.tensor(self.compiled, 9)]

    def refuses(self, argument=None):
        with refused("invalid_arguments", argument):
            self.compiled.execute(self.bench.stream, self.inputs, self.outputs)
        self.bench.stream.wait()


@pytest.fixture
def call(bench):
    return Call(bench)


def other(bench, tid, dims=SHAPE, dtype="f32", layout=STRIDED):
    return dnnl.tensor(lt(tid, dtype, dims, layout), bench.engine)


def test_steps_along_a_dimension_of_one_are_any(bench):
    shape = (3, 1, 5)
    compiled = bench.compiled(part := part_of("LogSoftmaxBackward"), shaped(part, shape))
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    results = []
    for strides in ((5, 5, 1), (5, 999, 1)):
        inputs = [other(bench, n, shape, "f32", strides) for n in range(2)]
        outputs = [other(bench, 9, shape, "f32", strides)]
        for one in inputs:
            one.memory_as(md(shape, "f32")).write(x)
        compiled.execute(bench.stream, inputs, outputs)
        bench.stream.wait()
        results.append(outputs[0].memory_as(md(shape, "f32")).numpy())
    np.testing.assert_array_equal(results[0], results[1])
    assert np.isfinite(results[0]).all()
    assert results[0].any()


def test_tensors_that_do_not_fit(bench, call):
    y = call.inputs[1]
    for wrong in (
        other(bench, 1, (3, 4, 6)), other(bench, 1, SHAPE, "f16"), other(bench, 7), None, X,
        other(bench, 1, SHAPE, "f32", (1, 3, 12)), call.inputs[0], call.outputs[0],
        dnnl.tensor(lt(1, "f32", SHAPE), bench.engine, dnnl.DNNL_MEMORY_NONE),
    ):  # fmt: skip
        call.inputs[1] = wrong
        call.refuses(r"inputs\[1\]")
    call.inputs[1] = y
    for wrong in (other(bench, 9, (3, 4, 6)), other(bench, 8), None, call.inputs[0]):
        call.outputs = [wrong]
        call.refuses(r"outputs\[0\]")
    call.outputs = []
    call.refuses()
    call.outputs, call.inputs = [bench.tensor(call.compiled, 9)], [y]
    call.refuses()
    call.inputs = None
    call.refuses()


def test_nothing_runs_when_refused(bench, call):
    before = call.outputs[0].numpy()
    call.inputs.append(other(bench, 5))
    call.refuses(r"inputs\[2\]")
    np.testing.assert_array_equal(call.outputs[0].numpy(), before)


def test_memory_that_overlaps(bench, call):
    handle = call.inputs[1]._memory.handle
    call.outputs = [dnnl.tensor(lt(9, "f32", SHAPE), bench.engine, handle)]
    with refused("invalid_arguments", "inputs or outputs") as caught:  # diff_src on dst: no pair
        call.compiled.execute(call.bench.stream, call.inputs, call.outputs)
    assert "get_inplace_ports()" in str(caught.value)
    assert "query_md" not in str(caught.value)
    large = bench.engine.device.malloc(2 * X.nbytes)
    call.inputs[1].set_data_handle(large)
    call.outputs = [dnnl.tensor(lt(9, "f32", SHAPE), bench.engine, int(large) + 4)]
    call.refuses()


@pytest.mark.parametrize("tid", [2, 4])
def test_memory_that_overlaps_is_named_by_ids(bench, tid):
    """Also of operands, two of which may be of operators of one kind."""
    chain = Chain(dims=SHAPE).then("Add", ("f32", SHAPE)).then("Add", ("f32", SHAPE))
    (part,) = chain.partitions()
    compiled = bench.compiled(part)
    inputs = {port.id: bench.tensor(compiled, port.id, X) for port in part.get_input_ports()}
    assert list(inputs) == [0, 2, 4]
    lt_out = compiled.query_logical_tensor(chain.end.id)
    out = dnnl.tensor(lt_out, bench.engine, inputs[tid]._memory.handle)
    with refused("invalid_arguments", "inputs or outputs") as caught:
        compiled.execute(bench.stream, list(inputs.values()), [out])
    adds = {2: "<op 1 Add>", 4: "<op 2 Add>"}
    got = f"tensor {chain.end.id} (dst) and tensor {tid} (operand of {adds[tid]}) share bytes"
    assert f"got:      {got}\n" in str(caught.value)


def test_memory_that_is_gone_is_called_by_the_graph_s_names(bench, call):
    memory = bench.engine.device.malloc(call.inputs[0].get_logical_tensor().get_mem_size())
    call.inputs[0] = dnnl.tensor(call.inputs[0].get_logical_tensor(), bench.engine, memory)
    memory.close()
    with refused("invalid_arguments", "inputs") as caught:
        call.compiled.execute(bench.stream, call.inputs, call.outputs)
    assert "args[" not in str(caught.value)
    assert "query_md" not in str(caught.value)


def test_a_stream_of_another_kind(call):
    for stream in (None, 3, call.bench.engine):
        with refused("invalid_arguments", "stream"):
            call.compiled.execute(stream, call.inputs, call.outputs)


@pytest.mark.parametrize("tid", [77, None, [], ([],), np.array([1, 2])], ids=repr)
def test_unknown_ids(call, tid):
    with refused("invalid_arguments", "tid"):
        call.compiled.query_logical_tensor(tid)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("desc", lambda tensor: tensor.memory_as([])),
        ("desc", lambda tensor: tensor.memory_as(None)),
        ("desc", lambda tensor: tensor.memory_as(np.zeros(3))),
        ("values", lambda tensor: tensor.write([[1], [2, 3]])),
        ("values", lambda tensor: tensor.write(np.zeros(2, [("a", "f4")]))),
        ("values", lambda tensor: tensor.write(None)),
        ("other", lambda tensor: tensor.get_logical_tensor().has_same_shape_and_layout(None)),
        ("other", lambda tensor: tensor.get_logical_tensor().is_equal(None)),
        ("other", lambda tensor: tensor.get_logical_tensor().is_equal(np.zeros(3))),
    ],
)
@pytest.mark.parametrize("dims", [(), (2,), (2, 2)], ids=str)
def test_wrong_arguments_of_tensors(bench, dims, argument, wrong):
    with refused("invalid_arguments", argument):
        wrong(dnnl.tensor(lt(0, "f32", dims), bench.engine))


def test_a_view_is_refused_by_its_own_name(bench):
    with refused("invalid_arguments", "^desc$") as caught:
        dnnl.tensor(lt(0, "f32", (2, 3)), bench.engine).memory_as(np.zeros((99, 99)))
    assert caught.value.function == "tensor.memory_as"
    assert "got:      float64 array of shape (99, 99)" in str(caught.value)


def test_the_same_tensors_with_other_data(bench):
    compiled = bench.compiled(part := part_of("SoftMax"), shaped(part, SHAPE))
    x, y = bench.tensor(compiled, 0, X), bench.tensor(compiled, 9)
    for values in (X, X * 2, X):
        x.write(values)
        (got,) = bench.run(compiled, [x], [y])
        np.testing.assert_allclose(got, oracle.value(values, 1, log=False), rtol=2e-6)
    buffer = bench.engine.device.malloc(4 * X.size)
    x.set_data_handle(buffer)
    assert x.get_data_handle() == int(buffer)
    x.write(X * 3)
    (got,) = bench.run(compiled, [x], [y])
    np.testing.assert_allclose(got, oracle.value(X * 3, 1, log=False), rtol=2e-6)


def test_a_view_of_memory_that_has_moved_is_not_kept(bench, monkeypatch):
    """Where the handle is set between the moment it is read and that its view is there."""
    one = dnnl.tensor(lt(0, "f32", (4,)), bench.engine)
    column, moved = md((4, 1)), bench.engine.device.malloc(16)
    made_by = onednn.memory.made_by

    def overtaken(*given):
        made = made_by(*given)
        monkeypatch.undo()
        one.set_data_handle(moved)
        return made

    monkeypatch.setattr(onednn.memory, "made_by", overtaken)
    one.memory_as(column)
    assert one.memory_as(column).get_data_handle() == int(moved)


def test_work_is_queued_in_order(bench):
    compiled = bench.compiled(part := part_of("SoftMax"), shaped(part, SHAPE))
    x, y = bench.tensor(compiled, 0, X), bench.tensor(compiled, 9)
    with Latch(bench.stream.runtime_stream):
        compiled.execute(bench.stream, [x], [y])
    bench.stream.wait()
    np.testing.assert_allclose(y.numpy(), oracle.value(X, 1, log=False), rtol=2e-6)


def test_tensors_that_are_gone_through_once(bench):
    compiled = bench.compiled(part := part_of("SoftMax"), shaped(part, SHAPE))
    x, y = bench.tensor(compiled, 0, X), bench.tensor(compiled, 9)
    for _ in range(2):
        compiled.execute(bench.stream, iter([x]), (one for one in [y]))
    bench.stream.wait()
    np.testing.assert_allclose(y.numpy(), oracle.value(X, 1, log=False), rtol=2e-6)


def test_many_threads(bench):
    compiled = bench.compiled(part := part_of("SoftMax"), shaped(part, SHAPE))
    found = [None] * 8

    def work(number):
        stream = dnnl.stream(bench.engine)
        x, y = bench.tensor(compiled, 0, X * number), bench.tensor(compiled, 9)
        for _ in range(20):
            compiled.execute(stream, [x], [y])
        stream.wait()
        found[number] = y.numpy()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, got in enumerate(found):
        np.testing.assert_allclose(got, oracle.value(X * number, 1, log=False), rtol=2e-6)


EMPTY = [(0, 4), (3, 0), (0, 0), (2, 0, 3)]


@pytest.mark.parametrize("dims", EMPTY, ids=str)
@pytest.mark.parametrize("kind", FAMILY)
def test_empties(bench, kind, dims):
    """Section 2, as section 1.4: success, and nothing runs."""
    part = part_of(kind, stats=kind == "SoftMax")
    compiled = bench.compiled(part, shaped(part, dims))
    inputs = [bench.tensor(compiled, one.id) for one in part.get_input_ports()]
    outputs = [bench.tensor(compiled, one.id) for one in part.get_output_ports()]
    found = bench.run(compiled, inputs, outputs)
    assert found[-1].shape == dims or found[0].shape == dims


# ---- scratchpad (section 2) ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def hungry(bench):
    """A partition that needs temporary memory: both inputs of a mixed gradient are cast."""
    given = [lt(0, "bf16", (64, 50)), lt(1, "bf16", (64, 50))]
    (part,) = partitions(op(0, "SoftMaxBackward", given, [lt(9, "f32")]))
    return bench.compiled(part)


def test_section_2_scratchpad(bench, hungry):
    wanted = hungry.get_scratchpad_logical_tensor()
    size = wanted.get_mem_size()
    assert size > 0
    assert (wanted.get_data_type(), wanted.get_dims()) == (dnnl.data_type.u8, (size,))
    random = np.random.default_rng(3)
    inputs = [bench.tensor(hungry, n, random.random((64, 50))) for n in range(2)]
    out = bench.tensor(hungry, 9)
    (by_library,) = bench.run(hungry, inputs, [out])
    out.write(np.zeros((64, 50)))
    pad = dnnl.tensor(wanted, bench.engine)
    (by_user,) = bench.run(hungry, inputs, [out], pad)
    np.testing.assert_array_equal(by_library, by_user)
    assert np.any(by_user)
    larger = dnnl.tensor(lt(5, "u8", (size + 100,)), bench.engine)
    np.testing.assert_array_equal(bench.run(hungry, inputs, [out], larger)[0], by_user)
    for wrong in (dnnl.tensor(lt(5, "u8", (size - 1,)), bench.engine), 5, inputs):
        with refused("invalid_arguments", "scratchpad"):
            hungry.execute(bench.stream, inputs, [out], wrong)
    on_input = dnnl.tensor(lt(5, "u8", (size,)), bench.engine)
    inputs[0].set_data_handle(on_input._memory.handle)
    with refused("invalid_arguments"):
        hungry.execute(bench.stream, inputs, [out], on_input)


def test_section_2_a_scratchpad_of_no_size(bench):
    compiled = bench.compiled(part := part_of("SoftMax"), shaped(part, SHAPE))
    wanted = compiled.get_scratchpad_logical_tensor()
    assert wanted.get_mem_size() == 0
    x, y = bench.tensor(compiled, 0, X), bench.tensor(compiled, 9)
    pad = dnnl.tensor(wanted, bench.engine)
    (got,) = bench.run(compiled, [x], [y], pad)
    np.testing.assert_allclose(got, oracle.value(X, 1, log=False), rtol=2e-6)


@pytest.mark.parametrize("strides", [(1, 1), (2, 1)])
def test_statistics_of_rows_without_elements_are_written_in_their_turn(bench, strides):
    stats = lt(8, "f32", (3, 1), strides)
    (part,) = partitions(op(0, "SoftMax", [lt(0, "f32", (3, 0))], [lt(9), stats]))
    compiled = part.compile([lt(0, "f32", (3, 0))], [lt(9, "f32", (3, 0)), stats], bench.engine)
    size = stats.get_mem_size()
    memory = bench.engine.device.malloc(size)
    seen = onednn.memory(md((size,), "u8"), bench.engine, memory).write(np.full(size, 7))
    x, y = bench.tensor(compiled, 0, np.zeros((3, 0))), bench.tensor(compiled, 9)
    with Latch(bench.stream.runtime_stream):
        compiled.execute(bench.stream, [x], [y, dnnl.tensor(stats, bench.engine, memory)])
        # Neither written yet, nor waited for; NumPy would wait.
        assert ctypes.string_at(int(memory), size) == bytes([7] * size)
    bench.stream.wait()
    wanted = np.full(size, 7, np.uint8)
    wanted.view(np.float32)[:: strides[0]] = 0
    np.testing.assert_array_equal(seen.numpy(), wanted)


def test_relu_of_what_has_no_logarithm_is_0(bench):
    """Of -inf, which the logarithm makes of a probability that underflows."""
    for axes in ((2, 64), (2, 6000)):
        chain = Chain(dims=axes).then("Log").then("ReLU")
        x = np.zeros(axes, np.float32)
        x[:, 1:3] = -200, np.nan
        x[1, 2] = 1
        (got,) = bench.answer(chain.partitions()[0], [x])
        np.testing.assert_array_equal(got[0], np.full(axes[1], np.nan))
        np.testing.assert_array_equal(got[1], np.zeros(axes[1]))


@pytest.mark.parametrize("dims", [(3, 0), (2, 0, 3)])
def test_section_2_statistics_of_rows_without_elements(bench, dims):
    """The denominator is 0, so they are."""
    stats = bench.answer(part_of("SoftMax", dims, stats=True), [np.zeros(dims)])[1]
    assert np.array_equal(stats, np.zeros((dims[0], 1, *dims[2:])))
