# SPDX-License-Identifier: Apache-2.0
"""Executing with the same objects again: what is run without checks, and what is checked anew."""

from __future__ import annotations

import ctypes
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import calls
from aclnn_py.dialects import onednn, onednn_graph
from aclnn_py.dialects.onednn import primitive as primitives
from aclnn_py.dialects.onednn_graph import compiled_partitions
from aclnn_py.testing import Latch, record
from support import onednn_graph as graph

PATIENCE_S = 60.0  # a call that waits with the interpreter lock would never let the test go on

SRC, DST = onednn.DNNL_ARG_SRC, onednn.DNNL_ARG_DST
VALUES = np.arange(256, dtype=np.float32).reshape(8, 32) % 7


# The first call is checked, the second one prepared, later ones are ready.
TURNS = (1, 4)


class Bench:
    """A primitive with its arguments, and how often it was checked."""

    def __init__(self, monkeypatch, turns):
        self.turns = turns
        self.engine = onednn.engine(onednn.engine_kind.cpu, 0)
        self.stream = onednn.stream(self.engine)
        self.desc = onednn.memory_desc((8, 32), onednn.data_type.f32, "ab")
        self.softmax = onednn.softmax_forward(
            onednn.softmax_forward.primitive_desc(
                self.engine,
                onednn.prop_kind.forward_inference,
                onednn.algorithm.softmax_accurate,
                self.desc,
                self.desc,
                1,
            )
        )
        self.args = {SRC: self.memory().write(VALUES), DST: self.memory()}
        self.checked = 0
        real = primitives.primitive._execute

        def counted(primitive, *arguments, **named):
            self.checked += 1
            return real(primitive, *arguments, **named)

        monkeypatch.setattr(primitives.primitive, "_execute", counted)

    def memory(self):
        return onednn.memory(self.desc, self.engine)

    def run(self, args=None, stream=None):
        stream = stream or self.stream
        for _ in range(self.turns):
            self.softmax.execute(stream, self.args if args is None else args)
            stream.wait()

    def result(self, memory=None):
        return (memory or self.args[DST]).numpy()


@pytest.fixture(params=TURNS)
def bench(monkeypatch, request):
    return Bench(monkeypatch, request.param)


def softmax(values):
    powers = np.exp(values - values.max(axis=1, keepdims=True), dtype=np.float64)
    return powers / powers.sum(axis=1, keepdims=True)


def test_the_same_objects_run_without_checks(bench):
    for turn in range(3):
        bench.args[SRC].write(VALUES * turn)
        bench.run()
        np.testing.assert_allclose(bench.result(), softmax(VALUES * turn), rtol=1e-5)
    bench.run(dict(bench.args))  # another dict of the same memory
    assert bench.checked == 1


@pytest.mark.parametrize("which", [SRC, DST])
def test_other_memory_is_checked(bench, which):
    bench.run()
    before = dict(bench.args)
    other = bench.memory().write(VALUES[::-1])
    bench.args[which] = other
    bench.run()
    assert bench.checked == 2
    want = VALUES[::-1] if which == SRC else VALUES
    np.testing.assert_allclose(bench.result(), softmax(want), rtol=1e-5)
    bench.run(before)
    assert bench.checked == 3


def test_another_order_of_arguments_is_checked_and_right(bench):
    bench.run()
    bench.run(dict(reversed(bench.args.items())))
    assert bench.checked == 2
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)


def test_a_moved_data_handle_is_seen(bench):
    bench.run()
    buffer = bench.engine.device.malloc(VALUES.nbytes)
    bench.args[DST].set_data_handle(buffer)
    bench.args[DST].write(np.zeros_like(VALUES))
    bench.run()
    assert bench.checked == 2
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)
    bench.args[DST].set_data_handle(None)
    with pytest.raises(onednn.OneDnnError, match="has no data"):
        bench.run()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda _, a: a.pop(DST), "is missing"),
        (lambda b, a: a.update({99: b.memory()}), "an index that this primitive does not take"),
        (lambda _, a: a.update({SRC: 3}), "is missing or no memory"),
        (lambda _, a: a.clear(), "is empty"),
        (
            lambda b, a: a.update(
                {
                    DST: onednn.memory(
                        onednn.memory_desc((4, 32), onednn.data_type.f32, "ab"), b.engine
                    )
                }
            ),
            "another descriptor",
        ),
    ],
)
def test_bad_arguments_are_refused_after_good_ones(bench, change, text):
    bench.run()
    bench.run()
    bench.args[DST].write(np.zeros_like(VALUES))
    bad = dict(bench.args)
    change(bench, bad)
    with pytest.raises(onednn.OneDnnError, match=text):
        bench.softmax.execute(bench.stream, bad)
    bench.stream.wait()
    assert not bench.result().any()  # nothing has run
    bench.run()
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)


def test_a_dict_that_changes_in_place_is_seen(bench):
    bench.run()
    dst = bench.args.pop(DST)
    dst.write(np.zeros_like(VALUES))
    for text in ("is missing", "an index that this primitive does not take"):
        with pytest.raises(onednn.OneDnnError, match=text):
            bench.softmax.execute(bench.stream, bench.args)
        bench.args[99] = dst
    bench.args = {SRC: bench.args[SRC], DST: dst}
    bench.stream.wait()
    assert not bench.result().any()
    bench.run()
    bench.args[DST] = bench.args[SRC]  # in place, which oneDNN offers
    bench.turns = 1
    bench.run()
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)


def test_it_waits_behind_queued_work(bench):
    bench.run()
    bench.args[DST].write(np.zeros_like(VALUES))
    place = bench.args[DST].get_data_handle()
    with Latch(bench.stream.runtime_stream):
        bench.softmax.execute(bench.stream, bench.args)
        bench.args[SRC].set_data_handle(None)  # the queued call keeps what it has
        assert not any(ctypes.string_at(place, VALUES.nbytes))  # `numpy()` would wait
    bench.stream.wait()
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)
    with pytest.raises(onednn.OneDnnError, match="has no data"):
        bench.run()


def test_the_recorder_sees_every_run(bench):
    bench.run()
    with record() as recording:
        for _ in range(3):
            bench.softmax.execute(bench.stream, bench.args)
            bench.stream.wait()
    assert len(recording.tasks()) == 3
    bench.run()
    assert len(recording.tasks()) == 3
    assert bench.checked == 1


def test_a_destroyed_executor_is_found(bench):
    bench.run()
    acl.aclDestroyAclOpExecutor(bench.softmax._bound.executor)
    bench.args[DST].write(np.zeros_like(VALUES))
    with pytest.raises(onednn.OneDnnError):
        bench.softmax.execute(bench.stream, bench.args)
    bench.stream.wait()
    assert not bench.result().any()


def test_freed_memory_is_found_in_every_call(bench):
    buffer = bench.engine.device.malloc(VALUES.nbytes)
    bench.args[DST] = onednn.memory(bench.desc, bench.engine, buffer)
    bench.run()
    bench.run()
    buffer.close()
    with pytest.raises(onednn.OneDnnError, match=r"dst|out|destination"):
        bench.softmax.execute(bench.stream, bench.args)
    assert bench.checked == 1


def test_streams_are_told_apart(bench):
    bench.run()
    other = onednn.stream(bench.engine)
    with Latch(bench.stream.runtime_stream):
        bench.run(stream=other)  # or it would wait behind the latch
        bench.softmax.execute(other, bench.args)
        other.wait()
    assert bench.checked == 2
    bench.stream.wait()
    for wrong in (None, bench.stream.runtime_stream, 3):
        with pytest.raises(onednn.OneDnnError, match="'stream' is no stream of this engine"):
            bench.softmax.execute(wrong, bench.args)
    other.runtime_stream.close()
    bench.run()
    with pytest.raises(onednn.OneDnnError):
        bench.softmax.execute(other, bench.args)


def test_two_streams_in_turn(bench):
    streams = [bench.stream, onednn.stream(bench.engine)]
    for turn in range(8):
        bench.args[SRC].write(VALUES * turn)
        bench.run(stream=streams[turn % 2])
        np.testing.assert_allclose(bench.result(), softmax(VALUES * turn), rtol=1e-5)


def test_it_does_not_keep_the_stream(bench):
    stream = onednn.stream(bench.engine)
    bench.run(stream=stream)
    watched = weakref.ref(stream)
    del stream
    gc.collect()
    assert watched() is None
    bench.run()


def test_arguments_by_name_and_missing_ones(bench):
    bench.softmax.execute(stream=bench.stream, args=bench.args)
    bench.stream.wait()
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)
    with pytest.raises(TypeError, match=r"execute\(\) missing"):
        bench.softmax.execute(bench.stream)
    with pytest.raises(TypeError, match=r"wait\(\) takes"):
        bench.stream.wait(3)


def test_it_goes_with_what_it_holds(bench):
    bench.run()
    watched = [weakref.ref(bench.softmax), weakref.ref(bench.args[SRC])]
    bench.softmax.itself = bench.softmax
    bench.softmax = bench.args = None
    gc.collect()
    assert [one() for one in watched] == [None, None]


def in_threads(work, items):
    """Calls work(item) in a thread for each, and raises what one of them raised."""
    pool = ThreadPoolExecutor(len(items))
    try:
        for done in [pool.submit(work, item) for item in items]:
            done.result(PATIENCE_S)
    finally:
        pool.shutdown(wait=False)


@pytest.mark.parametrize("streams", [1, 4])
def test_threads_with_their_own_arguments(bench, streams):
    bench.run()
    failures = []
    streams = [onednn.stream(bench.engine) for _ in range(streams)]

    def work(factor):
        stream = streams[factor % len(streams)]
        args = {SRC: bench.memory().write(VALUES * factor), DST: bench.memory()}
        for _ in range(200):
            bench.softmax.execute(stream, args)
            stream.wait()
            if not np.allclose(args[DST].numpy(), softmax(VALUES * factor), rtol=1e-5):
                failures.append(factor)

    in_threads(work, range(4))
    assert not failures


def test_threads_with_the_same_arguments(bench):
    bench.run()
    bench.args[DST].write(np.zeros_like(VALUES))

    def work(_):
        for _ in range(500):
            bench.softmax.execute(bench.stream, bench.args)
            bench.stream.wait()

    in_threads(work, range(4))
    assert bench.checked == 1
    np.testing.assert_allclose(bench.result(), softmax(VALUES), rtol=1e-5)


class Part:
    """A compiled partition with its tensors, and how often it was checked."""

    def __init__(self, monkeypatch, turns):
        self.turns = turns
        self.bench = graph.Bench()
        source, result = graph.lt(0, "f32", VALUES.shape), graph.lt(9, "f32", VALUES.shape)
        (part,) = graph.partitions(graph.op(0, "SoftMax", [source], [graph.lt(9, "f32")], axis=-1))
        self.compiled = self.bench.compiled(part, [source], [result])
        self.x, self.y, self.other = (self.tensor(number) for number in (0, 9, 9))
        self.x.write(VALUES)
        self.checked = 0
        real = compiled_partitions.compiled_partition._execute

        def counted(compiled, *arguments, **named):
            self.checked += 1
            return real(compiled, *arguments, **named)

        monkeypatch.setattr(compiled_partitions.compiled_partition, "_execute", counted)

    def tensor(self, number):
        described = self.compiled.query_logical_tensor(number)
        return onednn_graph.tensor(described, self.bench.engine)

    def run(self, inputs, outputs, *scratchpad):
        for _ in range(self.turns):
            self.compiled.execute(self.bench.stream, inputs, outputs, *scratchpad)
            self.bench.stream.wait()


@pytest.fixture(params=TURNS)
def part(monkeypatch, request):
    return Part(monkeypatch, request.param)


def test_partitions_run_again_without_checks(part):
    for turn in range(3):
        part.x.write(VALUES * turn)
        part.run([part.x], [part.y])
        np.testing.assert_allclose(part.y.numpy(), softmax(VALUES * turn), rtol=1e-5)
    part.run((part.x,), (part.y,))
    assert part.checked == 1
    part.run([part.x], [part.other])
    assert part.checked == 2
    np.testing.assert_allclose(part.other.numpy(), softmax(VALUES * 2), rtol=1e-5)
    part.run([part.x], [part.other], None)
    assert part.checked == 2 + part.turns


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [("", "y"), ("x", ""), ("xy", ""), ("", "xy"), ("y", "x"), ("xx", "y")],
)
def test_partitions_refuse_after_a_good_call(part, inputs, outputs):
    part.run([part.x], [part.y])
    part.y.write(np.zeros_like(VALUES))
    with pytest.raises(onednn.OneDnnError):
        part.run(
            [getattr(part, name) for name in inputs], [getattr(part, name) for name in outputs]
        )
    assert not part.y.numpy().any()
    part.run([part.x], [part.y])
    assert part.y.numpy().any()


def test_partitions_see_moved_data(part):
    part.run([part.x], [part.y])
    part.y.set_data_handle(part.bench.engine.device.malloc(VALUES.nbytes))
    part.run([part.x], [part.y])
    assert part.checked == 2
    np.testing.assert_allclose(part.y.numpy(), softmax(VALUES), rtol=1e-5)


def test_prepare_takes_a_repeatable_executor_and_a_stream(device, stream):
    x, out = device.tensor(VALUES), device.empty(VALUES.shape, VALUES.dtype)
    executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)[1]
    prepared = calls.Prepared()
    for arguments in (
        (1, 0, 0, executor, (stream,), 0),  # runs once only
        (1, 0, 0, None, (stream,), 0),
        (1, 0, 0, executor, (), 0),
        (),
    ):
        with pytest.raises(TypeError):
            prepared._prepare(*arguments)
    with pytest.raises(AttributeError, match="_execute"):
        prepared.execute(stream)


# ---- a call of another thread in between --------------------------------------------------------


class Preempted:
    """Runs something in another thread as soon as one call is executed, before it is prepared."""

    def __init__(self, monkeypatch, owner, name, other):
        real = getattr(owner, name)

        def execute(*arguments):
            answer = real(*arguments)
            monkeypatch.setattr(owner, name, real)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(other).result(PATIENCE_S)
            return answer

        monkeypatch.setattr(owner, name, execute)


def test_a_call_in_between_is_not_what_is_repeated(monkeypatch):
    bench = Bench(monkeypatch, 1)
    first, second = bench.args, {SRC: bench.memory().write(VALUES[::-1]), DST: bench.memory()}
    other = onednn.stream(bench.engine)
    Preempted(monkeypatch, calls, "execute", lambda: bench.softmax.execute(other, second))
    bench.run(first)
    other.wait()
    bench.run(second)
    for args in (first, second):
        args[DST].write(np.zeros_like(VALUES))
    bench.run(first)
    np.testing.assert_allclose(bench.result(first[DST]), softmax(VALUES), rtol=1e-5)
    assert not second[DST].numpy().any()


def test_a_partition_called_in_between_is_not_what_is_repeated(monkeypatch):
    bench = graph.Bench()
    (part,) = graph.Chain(dims=(2, 3)).partitions()
    compiled = bench.compiled(part)
    (given,), (made,) = part.get_input_ports(), part.get_output_ports()
    values = [np.arange(6, dtype=np.float32).reshape(2, 3) * k for k in (1, 2)]
    sources = [bench.tensor(compiled, given.id, one) for one in values]
    results = [bench.tensor(compiled, made.id) for _ in values]
    other = onednn_graph.stream(bench.engine)
    Preempted(
        monkeypatch, calls, "execute",
        lambda: compiled.execute(other, [sources[1]], [results[1]]),
    )  # fmt: skip
    inputs, outputs = [sources[0]], [results[0]]
    bench.run(compiled, inputs, outputs)
    other.wait()
    for one in results:
        one.write(np.zeros((2, 3)))
    (found,) = bench.run(compiled, inputs, outputs)
    np.testing.assert_allclose(found, softmax(values[0]), rtol=1e-5)
    assert not results[1].numpy().any()
