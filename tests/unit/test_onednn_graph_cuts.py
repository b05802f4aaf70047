# SPDX-License-Identifier: Apache-2.0
"""Where a graph is cut, from what is known of shapes before compile; graphs of any size."""

from __future__ import annotations

import pytest

from support.onednn import refused
from support.onednn_graph import Bench, lt, op, partitions

WIDE = lt(20, "f32", (4, 6))


def cuts(*ops):
    return [part.get_ops() for part in partitions(*ops)]


# How dimensions of (1, 6) come to a softmax's input with id 5.
WAYS = {
    "softmax": [op(0, "SoftMax", [lt(0, "f32", (1, 6))], [lt(5)])],
    "log-softmax": [op(0, "LogSoftmax", [lt(0, "f32", (1, 6))], [lt(5)])],
    "a gradient": [op(0, "SoftMaxBackward", [lt(0, "f32", (1, 6)), lt(1, "f32", (1, 6))], [lt(5)])],
    "unary": [op(0, "Exp", [lt(0, "f32", (1, 6))], [lt(5)])],
    "cast": [op(0, "TypeCast", [lt(0, "bf16", (1, 6))], [lt(5)])],
    "binary": [op(0, "Add", [lt(0, "f32", (6,)), lt(1, "f32", (1, 1))], [lt(5)])],
    "several": [
        op(0, "LogSoftmax", [lt(0, "f32", (1, 6))], [lt(1)]),
        op(7, "Exp", [lt(1)], [lt(2)]),
        op(8, "Subtract", [lt(2), lt(3, "f32", ())], [lt(5)]),
    ],
}


@pytest.mark.parametrize("name", WAYS)
def test_dimensions_that_follow_from_the_inputs(name):
    softmax = op(1, "SoftMax", [lt(5)], [lt(6)])
    assert [1] in cuts(*WAYS[name], softmax, op(2, "Add", [lt(6), WIDE], [lt(7)]))
    fits = lt(20, "f32", (1, 6))
    assert [1, 2] in cuts(*WAYS[name], softmax, op(2, "Add", [lt(6), fits], [lt(7)]))


def test_dimensions_of_an_operand_that_follow():
    softmax = op(0, "SoftMax", [lt(0, "f32", (1, 6))], [lt(1)])
    operand = op(1, "Exp", [lt(2, "f32", (4, 6))], [lt(3)])
    add = op(2, "Add", [lt(1), lt(3)], [lt(4)])
    assert cuts(softmax, operand, add) == [[0], [1], [2]]


def test_statistics_have_one_element_on_the_axis():
    first = op(0, "SoftMax", [lt(0, "f32", (4, 6))], [lt(1), lt(2)])
    second = op(1, "SoftMax", [lt(2)], [lt(3)])
    add = op(2, "Add", [lt(3), WIDE], [lt(4)])
    assert cuts(first, second, add) == [[0], [1], [2]]


def test_a_result_that_says_it_is_larger():
    softmax = op(0, "SoftMax", [lt(0, "f32", (1, 6))], [lt(1)])
    add = op(1, "Add", [lt(1), lt(20)], [lt(2, "f32", (4, 6))])
    assert cuts(softmax, add) == [[0], [1]]


def test_an_operand_that_is_not_known_leaves_the_chain_its_shape():
    softmax = op(0, "SoftMax", [lt(0, "f32", (1, 6))], [lt(1)])
    chain = op(1, "Add", [lt(1), lt(21)], [lt(2)]), op(2, "Add", [lt(2), WIDE], [lt(3)])
    assert cuts(softmax, *chain) == [[0, 1], [2]]


@pytest.mark.parametrize("unknown", ["src", "operand"])
def test_what_is_not_known_fuses_and_is_refused_by_compile(unknown):
    src = lt(0, "f32", None if unknown == "src" else (1, 6))
    other = lt(20, "f32", None if unknown == "operand" else (4, 6))
    (part,) = partitions(op(0, "SoftMax", [src], [lt(1)]), op(1, "Add", [lt(1), other], [lt(2)]))
    assert part.get_ops() == [0, 1]
    with refused("invalid_shape"):
        Bench().compiled(part, [lt(0, "f32", (1, 6)), WIDE])


# Shapes that cannot be, and operators of which nothing is known.
OPEN = {
    "no broadcast": [op(0, "Add", [lt(0, "f32", (3,)), lt(1, "f32", (2,))], [lt(5)])],
    "an axis out of range": [
        op(0, "SoftMax", [lt(0, "f32", (6,))], [lt(4), lt(5)], axis=3),
    ],
    "another operator": [op(0, "MatMul", [lt(0, "f32", (3, 2)), lt(1, "f32", (2, 6))], [lt(5)])],
    "without broadcasting": [
        op(0, "Add", [lt(0, "f32", (3, 6)), lt(1, "f32", (6,))], [lt(5)], auto_broadcast="none")
    ],
    "an input": [op(0, "Add", [lt(0, "f32", (3, 6)), lt(1)], [lt(5)])],
}


@pytest.mark.parametrize("name", OPEN)
def test_what_does_not_follow_is_left_to_compile(name):
    softmax = op(1, "SoftMax", [lt(5)], [lt(6)])
    assert [1, 2] in cuts(*OPEN[name], softmax, op(2, "Add", [lt(6), WIDE], [lt(7)]))


def test_a_graph_that_is_deep():
    """Each sum reads the next one's: an order in which they run goes back through all of them."""
    ops, count = [], 1200
    for k in range(count):
        ops += [
            op(2 * k, "SoftMax", [lt(0)], [lt(1 + k)]),
            op(2 * k + 1, "Add", [lt(1 + k), lt(10001 + k)], [lt(10000 + k)]),
        ]
    assert cuts(*ops) == [[2 * k, 2 * k + 1] for k in reversed(range(count))]
