# SPDX-License-Identifier: Apache-2.0
"""Executing softmax primitives: arguments (section 1.2), in-place and empties (1.4), scratchpad (1.7)."""  # noqa: E501  # one sentence

from __future__ import annotations

import threading

import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl
from aclnn_runtime.arguments import describe
from support import onednn_oracle as oracle
from support.latch import Latch
from support.onednn import Bench, md, refused

SRC, DST, SCRATCHPAD = dnnl.DNNL_ARG_SRC, dnnl.DNNL_ARG_DST, dnnl.DNNL_ARG_SCRATCHPAD
DIFF_SRC, DIFF_DST = dnnl.DNNL_ARG_DIFF_SRC, dnnl.DNNL_ARG_DIFF_DST
SHAPE = (3, 5)
ALG = dnnl.algorithm


@pytest.fixture(scope="module")
def bench():
    return Bench()


def user_mode():
    attr = dnnl.primitive_attr()
    attr.set_scratchpad_mode(dnnl.scratchpad_mode.user)
    return attr


class Everything:
    """A forward call with every execution argument there is."""

    def __init__(self, bench):
        attr, ops = user_mode(), dnnl.post_ops()
        attr.set_scales_mask(SRC, 0)
        attr.set_scales_mask(DST, 0)
        attr.set_dropout(md(SHAPE, "u8"), use_offset=True)
        ops.append_binary(ALG.binary_add, md((1, 5)))
        ops.append_binary(ALG.binary_select, md(SHAPE), md(SHAPE, "s8"))
        attr.set_post_ops(ops)
        self.pd = bench.forward_pd(md(SHAPE, "f32", "ba"), md(SHAPE, "s8"), 1, attr=attr)
        self.primitive = dnnl.softmax_forward(self.pd)
        x = np.linspace(-2, 2, 15).reshape(SHAPE)
        self.args = {
            SRC: bench.memory(md(SHAPE, "f32", "ba"), x),
            DST: bench.memory(md(SHAPE, "s8")),
            4096 | SRC: bench.memory(md((1,)), [2.0]),
            4096 | DST: bench.memory(md((1,)), [1 / 64]),
            510: bench.memory(md((1,)), [0.25]),
            511: bench.memory(dnnl.memory_desc((1,), dnnl.data_type.s64, "a"), [11]),
            507: bench.memory(dnnl.memory_desc((1,), dnnl.data_type.s64, "a"), [0]),
            509: bench.memory(md(SHAPE, "u8")),
            32768 | 2: bench.memory(md((1, 5)), np.full((1, 5), 0.5)),
            65536 | 2: bench.memory(md(SHAPE), np.zeros(SHAPE)),
            65536 | 3: bench.memory(md(SHAPE, "s8"), np.eye(3, 5)),
        }
        if self.pd.scratchpad_desc().dims:
            self.args[SCRATCHPAD] = bench.memory(self.pd.scratchpad_desc())


@pytest.fixture
def everything(bench):
    return Everything(bench)


def refuses(bench, primitive, args, argument=None):
    """Refused before anything runs: every memory keeps its bytes."""
    kept = {i: m.numpy() for i, m in args.items() if isinstance(m, dnnl.memory) and m.tensor}
    with refused("invalid_arguments", argument):
        primitive.execute(bench.stream, args)
    bench.stream.wait()
    for index, before in kept.items():
        np.testing.assert_array_equal(args[index].numpy(), before)


def test_all_arguments_at_once(bench, everything):
    """Section 1.2: every index, in one call that runs."""
    everything.primitive.execute(bench.stream, everything.args)
    bench.stream.wait()
    ops = [
        ("binary", "add", np.full((1, 5), 0.5)),
        ("select", np.zeros(SHAPE), np.eye(3, 5)),
    ]
    problem = {"src_scale": 2.0, "dst_scale": 1 / 64, "dropout": (0.25, 11, 0), "post_ops": ops}
    x = everything.args[SRC].numpy()
    t, tolerance, mask = oracle.forward(x, 1, problem=problem)
    oracle.assert_stored(everything.args[DST].numpy(), t, tolerance)
    np.testing.assert_array_equal(everything.args[509].numpy(), mask)


INDICES = [SRC, DST, 4096 | SRC, 4096 | DST, 510, 511, 507, 509, 32768 | 2, 65536 | 2, 65536 | 3]


@pytest.mark.parametrize("index", INDICES)
def test_a_missing_argument(bench, everything, index):
    """Section 1.2, one row each."""
    del everything.args[index]
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


@pytest.mark.parametrize("index", INDICES)
def test_an_argument_of_another_shape(bench, everything, index):
    wanted = everything.args[index].desc
    other = md((*wanted.dims[:-1], wanted.dims[-1] + 1), wanted.data_type.name)
    everything.args[index] = bench.memory(other)
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


@pytest.mark.parametrize("index", INDICES)
def test_an_argument_of_another_type(bench, everything, index):
    everything.args[index] = bench.memory(md(everything.args[index].desc.dims, "f16"))
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


@pytest.mark.parametrize("index", [SRC, DST, 509, 65536 | 2, 65536 | 3])
def test_an_argument_of_another_layout(bench, everything, index):
    desc = everything.args[index].desc
    other = md(SHAPE, desc.data_type.name, "ab" if index == SRC else "ba")
    everything.args[index] = bench.memory(other)
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


@pytest.mark.parametrize("value", [None, 3, np.zeros(SHAPE, np.float32), md(SHAPE)])
@pytest.mark.parametrize("index", [SRC, DST, 511])
def test_an_argument_that_is_no_memory(bench, everything, index, value):
    everything.args[index] = value
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


@pytest.mark.parametrize("index", [SRC, DST, 509])
def test_memory_without_data(bench, everything, index):
    desc = everything.args[index].desc
    everything.args[index] = dnnl.memory(desc, bench.engine, dnnl.DNNL_MEMORY_NONE)
    refuses(bench, everything.primitive, everything.args, rf"args\[{index}\]")


def test_a_host_scalar_where_none_was_asked_for(bench, everything):
    desc = dnnl.memory_desc.host_scalar(dnnl.data_type.f32)
    everything.args[4096 | SRC] = dnnl.memory.host_scalar(desc, 1.0)
    refuses(bench, everything.primitive, everything.args, r"args\[4097\]")
    with pytest.raises(dnnl.OneDnnError, match=r"got: .*host_scalar.*\n.*expected: .*strides"):
        everything.primitive.execute(bench.stream, everything.args)


@pytest.mark.parametrize("index", [0, 2, 18, 64, 80, 129, 145, 4097, 4113, 510, 511, 507, 509,
                                   32770, 32771, -1, "src", None])  # fmt: skip
def test_an_index_that_a_plain_forward_does_not_take(bench, index):
    """Section 1.2: 64 and 80 exist, but not as tensors with elements."""
    desc = md(SHAPE)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    args = {SRC: bench.memory(desc), DST: bench.memory(desc), index: bench.memory(desc)}
    refuses(bench, primitive, args, "args")


@pytest.mark.parametrize("index", [SRC, 64, 80, 4097, 4113, 510, 511, 507, 509, 32770, 32771])
def test_an_index_that_backward_does_not_take(bench, index):
    """Section 1.2, column bwd: not used, or refused."""
    desc = md(SHAPE)
    primitive = dnnl.softmax_backward(bench.backward_pd(desc, desc, desc, 1))
    args = {i: bench.memory(desc) for i in (DST, DIFF_DST, DIFF_SRC, index)}
    refuses(bench, primitive, args, "args")


@pytest.mark.parametrize("index", [DST, DIFF_DST, DIFF_SRC])
def test_a_missing_argument_of_backward(bench, index):
    desc = md(SHAPE)
    primitive = dnnl.softmax_backward(bench.backward_pd(desc, desc, desc, 1))
    args = {i: bench.memory(desc) for i in (DST, DIFF_DST, DIFF_SRC) if i != index}
    refuses(bench, primitive, args, rf"args\[{index}\]")


def test_empty_workspace_and_scratchpad_may_be_passed(bench):
    """Section 1.2, rows workspace and scratchpad: their size is 0 here."""
    desc, zero = md(SHAPE), dnnl.memory(dnnl.memory_desc(), bench.engine)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    x = np.arange(15.0).reshape(SHAPE)
    args = {SRC: bench.memory(desc, x), DST: bench.memory(desc), 64: zero, SCRATCHPAD: zero}
    bench.run(primitive, args)
    np.testing.assert_allclose(args[DST].numpy(), oracle.value(x, 1, log=False), rtol=2e-6)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({}, "is empty"), (None, "is no mapping"), ([], "is no mapping"), ([1], "is no mapping"),
        (5, "is no mapping"),
    ],
)  # fmt: skip
def test_no_arguments(bench, args, text):
    """Section 1.8: executing with an empty argument map throws."""
    desc = md(SHAPE)
    with refused("invalid_arguments", "args") as caught:
        dnnl.softmax_forward(bench.forward_pd(desc, desc, 1)).execute(bench.stream, args)
    assert f"'args' {text}" in str(caught.value)
    assert f"got:      {describe(args)}\n" in str(caught.value)


def test_no_stream(bench):
    desc = md(SHAPE)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    args = {SRC: bench.memory(desc), DST: bench.memory(desc)}
    for stream in (None, bench.stream.runtime_stream, bench.engine):
        with refused("invalid_arguments", "stream"):
            primitive.execute(stream, args)
    bench.run(primitive, args)
    with refused("invalid_arguments", "stream"):  # also where the arguments are known already
        primitive.execute(None, args)


def test_known_arguments_are_looked_at_again(bench):
    """What was bound before is not taken for what is passed now."""
    desc = md(SHAPE)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    args = {SRC: bench.memory(desc, np.zeros(SHAPE)), DST: bench.memory(desc)}
    for _ in range(3):
        bench.run(primitive, args)
    refuses(bench, primitive, {**args, 5: args[SRC]}, "args")
    refuses(bench, primitive, {SRC: args[SRC]}, "args")
    refuses(bench, primitive, {**args, DST: np.zeros(SHAPE)}, "args")
    other = bench.memory(desc)
    args[DST] = other
    bench.run(primitive, args)
    np.testing.assert_allclose(other.numpy(), np.full(SHAPE, 0.2), rtol=1e-6)
    moved = bench.engine.device.malloc(60)
    other.set_data_handle(moved)
    other.write(np.full(SHAPE, 7))
    bench.run(primitive, args)
    np.testing.assert_allclose(other.numpy(), np.full(SHAPE, 0.2), rtol=1e-6)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("key", [True, np.float32(1), 1.0, None, "src"], ids=repr)
def test_a_key_is_an_integer(bench, key, known):
    """Also where the arguments are known already: some of them are equal to 1."""
    desc = md(SHAPE)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    src, dst = bench.memory(desc), bench.memory(desc)
    if known:
        bench.run(primitive, {SRC: src, DST: dst})
    refuses(bench, primitive, {key: src, DST: dst}, "args")
    bench.run(primitive, {np.int64(SRC): src, DST: dst})


# ---- in place (section 1.4) ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8"])
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_dst_on_src(bench, dtype, algorithm):
    desc = md(SHAPE, dtype)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1, algorithm))
    one = bench.memory(desc, oracle.logits(SHAPE, desc.row.numpy, 3))
    x = one.numpy()
    bench.run(primitive, {SRC: one, DST: one})
    t, tolerance, _ = oracle.forward(x, 1, log=algorithm == "log")
    oracle.assert_stored(one.numpy(), t, tolerance)


@pytest.mark.parametrize("layout", ["ab", "ba", (9, 1)])
def test_dst_on_src_by_address(bench, layout):
    """Two memory objects over the same bytes are in place as well, in any layout."""
    desc = md(SHAPE, "f32", layout)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 0))
    one = bench.memory(desc, np.arange(15.0).reshape(SHAPE))
    x, same = one.numpy(), dnnl.memory(desc, bench.engine, one.handle)
    bench.run(primitive, {SRC: one, DST: same})
    t, tolerance, _ = oracle.forward(x, 0)
    oracle.assert_stored(one.numpy(), t, tolerance)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_diff_src_on_diff_dst(bench, dtype, algorithm):
    desc = md(SHAPE, dtype)
    y, g = oracle.gradients(SHAPE, desc.row.numpy, log=algorithm == "log")
    one = bench.memory(desc, g)
    primitive = dnnl.softmax_backward(bench.backward_pd(desc, desc, desc, 1, algorithm))
    bench.run(primitive, {DST: bench.memory(desc, y), DIFF_DST: one, DIFF_SRC: one})
    t, tolerance = oracle.backward(y, g, 1, log=algorithm == "log")
    oracle.assert_stored(one.numpy(), t, tolerance)


def test_diff_src_on_dst_is_not_offered(bench):
    desc = md(SHAPE)
    primitive = dnnl.softmax_backward(bench.backward_pd(desc, desc, desc, 1))
    one = bench.memory(desc)
    refuses(bench, primitive, {DST: one, DIFF_DST: bench.memory(desc), DIFF_SRC: one}, "args")


def test_in_place_needs_one_descriptor(bench):
    """Other type or layout over the same bytes: refused."""
    one = bench.memory(md(SHAPE))
    for dst in (md(SHAPE, "f16"), md(SHAPE, "s8"), md(SHAPE, "f32", "ba")):
        primitive = dnnl.softmax_forward(bench.forward_pd(md(SHAPE), dst, 1))
        args = {SRC: one, DST: dnnl.memory(dst, bench.engine, one.handle)}
        refuses(bench, primitive, args, "args")


def test_partial_overlaps(bench):
    memory = bench.engine.device.malloc(100)
    desc = md(SHAPE)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    args = {
        SRC: dnnl.memory(desc, bench.engine, memory),
        DST: dnnl.memory(desc, bench.engine, memory + 4),
    }
    refuses(bench, primitive, args, "args")


@pytest.mark.parametrize(("shift", "apart"), [(20, True), (4, False), (36, False), (40, False)])
def test_rows_between_rows(bench, shift, apart):
    """Layouts whose ranges overlap and whose elements do not: no element is shared."""
    memory = bench.engine.device.malloc(200)
    desc = dnnl.memory_desc((2, 5), dnnl.data_type.f32, (10, 1))
    src = dnnl.memory(desc, bench.engine, memory.ptr).write(np.arange(10).reshape(2, 5))
    dst = dnnl.memory(desc, bench.engine, memory.ptr + shift)
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    if not apart:
        refuses(bench, primitive, {SRC: src, DST: dst}, "args")
        return
    primitive.execute(bench.stream, {SRC: src, DST: dst})
    bench.stream.wait()
    powers = np.exp(np.arange(5.0) - 4)
    np.testing.assert_allclose(dst.numpy(), np.tile(powers / powers.sum(), (2, 1)), rtol=1e-6)
    np.testing.assert_array_equal(src.numpy(), np.arange(10).reshape(2, 5))


@pytest.mark.parametrize("index", [4096 | SRC, 511, 32768 | 2, 65536 | 2, 65536 | 3])
def test_outputs_overlap_no_other_input(bench, everything, index):
    desc = everything.args[index].desc
    target = everything.args[509]  # the mask, of 15 bytes
    big = bench.engine.device.malloc(512)
    everything.args[index] = dnnl.memory(desc, bench.engine, big)
    everything.args[509] = dnnl.memory(target.desc, bench.engine, big)
    refuses(bench, everything.primitive, everything.args, "args")


# ---- empties (section 1.4) ----------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0), (3, 0, 2), (0, 0)])
@pytest.mark.parametrize("algorithm", ["accurate", "log", "inf_as_zero"])
def test_empties_do_nothing(bench, shape, algorithm):
    """Any dimension 0, the axis included: creation and execution succeed."""
    desc, axis = md(shape), len(shape) - 1
    primitive = dnnl.softmax_forward(
        bench.forward_pd(desc, desc, axis, algorithm, attr=user_mode())
    )
    assert primitive.get_primitive_desc().scratchpad_desc() == dnnl.memory_desc()
    args = {SRC: bench.memory(desc), DST: bench.memory(desc)}
    bench.run(primitive, args)
    assert args[DST].numpy().shape == shape
    if algorithm != "inf_as_zero":
        back = dnnl.softmax_backward(bench.backward_pd(desc, desc, desc, axis, algorithm))
        bench.run(back, {i: bench.memory(desc) for i in (DST, DIFF_DST, DIFF_SRC)})


def test_empties_are_checked_all_the_same(bench):
    desc = md((0, 5))
    primitive = dnnl.softmax_forward(bench.forward_pd(desc, desc, 1))
    with refused("invalid_arguments"):
        primitive.execute(bench.stream, {SRC: bench.memory(desc)})
    with refused("invalid_arguments"):
        primitive.execute(bench.stream, {SRC: bench.memory(desc), DST: bench.memory(md((1, 5)))})


# ---- scratchpad (section 1.7) -------------------------------------------------------------------

STRIDED = md((16, 40), "f32", "ba")  # needs a dense copy for the row kernel, or a strided kernel


def scratchpad_pds(bench):
    dense = md((16, 40))
    library = bench.forward_pd(STRIDED, dense, 1)
    return library, bench.forward_pd(STRIDED, dense, 1, attr=user_mode())


def test_library_mode(bench):
    """Empty descriptor; the total is visible as memory consumption."""
    library, user = scratchpad_pds(bench)
    assert library.scratchpad_desc() == dnnl.memory_desc()
    assert library.memory_consumption_s64() == user.scratchpad_desc().get_size()
    assert library.workspace_bytes == user.workspace_bytes > 0


def test_user_mode(bench):
    """1-D u8 of the byte count; the library then consumes nothing itself."""
    _, user = scratchpad_pds(bench)
    desc = user.scratchpad_desc()
    assert desc == user.query_md(SCRATCHPAD) == md((user.workspace_bytes,), "u8")
    assert user.memory_consumption_s64() == 0


def test_user_mode_without_need(bench):
    """An empty descriptor where nothing is needed, and no argument then."""
    desc = md(SHAPE)
    pd = bench.forward_pd(desc, desc, 1, attr=user_mode())
    assert pd.scratchpad_desc() == dnnl.memory_desc()
    args = {SRC: bench.memory(desc, np.zeros(SHAPE)), DST: bench.memory(desc)}
    bench.run(dnnl.softmax_forward(pd), args)
    np.testing.assert_allclose(args[DST].numpy(), np.full(SHAPE, 0.2), rtol=1e-6)


def test_both_modes_compute_the_same(bench):
    library, user = scratchpad_pds(bench)
    x = np.random.default_rng(5).standard_normal((16, 40))
    results = []
    for pd in (library, user):
        args = {SRC: bench.memory(STRIDED, x), DST: bench.memory(md((16, 40)))}
        bench.run(dnnl.softmax_forward(pd), args)
        results.append(args[DST].numpy())
    np.testing.assert_array_equal(*results)


def test_scratchpads_that_do_not_fit(bench):
    """Missing, too small, of another type, without data, or over a tensor."""
    _, user = scratchpad_pds(bench)
    need = user.workspace_bytes
    primitive = dnnl.softmax_forward(user)
    args = {SRC: bench.memory(STRIDED), DST: bench.memory(md((16, 40)))}
    none = dnnl.memory(user.scratchpad_desc(), bench.engine, None)
    over = bench.engine.device.malloc(need + 2560)
    for given in (bench.memory(md((need - 1,), "u8")), bench.memory(md((need,), "s8")), none, None):
        refuses(bench, primitive, args | {SCRATCHPAD: given}, r"args\[80\]")
    refuses(bench, primitive, args, r"args\[80\]")
    with pytest.raises(dnnl.OneDnnError, match="has no data"):
        primitive.execute(bench.stream, args | {SCRATCHPAD: none})
    odd = dnnl.memory(user.scratchpad_desc(), bench.engine, int(over) + 4)
    refuses(bench, primitive, args | {SCRATCHPAD: odd}, r"args\[80\]")
    closed = bench.engine.device.malloc(need)
    gone = dnnl.memory(user.scratchpad_desc(), bench.engine, closed)
    closed.close()
    with refused("invalid_arguments", r"args\[80\]"):
        primitive.execute(bench.stream, args | {SCRATCHPAD: gone})
    refuses(
        bench,
        primitive,
        {
            SRC: args[SRC],
            DST: dnnl.memory(md((16, 40)), bench.engine, over),
            SCRATCHPAD: dnnl.memory(user.scratchpad_desc(), bench.engine, over),
        },
        "args",
    )


def test_one_primitive_on_two_streams_at_once(bench):
    """Section 1.7: concurrent execution, with distinct scratchpads."""
    _, user = scratchpad_pds(bench)
    primitive = dnnl.softmax_forward(user)
    streams = [dnnl.stream(bench.engine) for _ in range(2)]
    xs = [np.random.default_rng(seed).standard_normal((16, 40)) for seed in range(2)]
    calls = [
        {
            SRC: bench.memory(STRIDED, x),
            DST: bench.memory(md((16, 40))),
            SCRATCHPAD: bench.memory(user.scratchpad_desc()),
        }
        for x in xs
    ]

    def work(stream, args):
        for _ in range(20):
            primitive.execute(stream, args)

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(streams, calls, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for stream, args in zip(streams, calls, strict=True):
        stream.wait()
        t, tolerance, _ = oracle.forward(args[SRC].numpy(), 1)
        oracle.assert_stored(args[DST].numpy(), t, tolerance)


def test_execution_is_asynchronous_and_keeps_its_memory(bench):
    """A queued primitive runs behind earlier work, also when nobody holds its memory any more."""
    library, _ = scratchpad_pds(bench)
    args = {SRC: bench.memory(STRIDED, np.zeros((16, 40))), DST: bench.memory(md((16, 40)))}
    dst = args[DST]
    with Latch(bench.stream.runtime_stream):
        dnnl.softmax_forward(library).execute(bench.stream, args)
        args.clear()
        assert not bench.stream.runtime_stream.query()
    bench.stream.wait()
    np.testing.assert_allclose(dst.numpy(), np.full((16, 40), 1 / 40), rtol=1e-6)
