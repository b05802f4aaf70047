# SPDX-License-Identifier: Apache-2.0
"""One function turns calls into plans, whichever face asks: counted, and compared byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import aclnn_py as acl
from aclnn_py import twophase
from aclnn_py.cli import main
from aclnn_py.plan import plan as planner

SHAPE, DIM = (4, 6), 1


def c_names(_device):
    memory = acl.Device(0).malloc(96)
    dims = list(SHAPE)
    x, out = (
        acl.aclCreateTensor(dims, dtype, None, 0, acl.ACL_FORMAT_ND, dims, memory)
        for dtype in (acl.ACL_FLOAT, acl.ACL_FLOAT16)
    )
    acl.aclnnSoftmaxGetWorkspaceSize(x, DIM, out)


def nouns(device):
    x, out = device.zeros(SHAPE), device.empty(SHAPE, "float16")
    acl.aclnnSoftmaxGetWorkspaceSize(x, np.int64(DIM), out)


def door(device):
    x, out = device.zeros(SHAPE), device.empty(SHAPE, "float16")
    twophase.operator("Softmax").get_workspace_size((x, out), (DIM,))


def command_line(_device):
    arguments = "explain Softmax --shape 4,6 --dtype float32 --out-dtype float16 --dim 1"
    outcome = CliRunner().invoke(main, arguments.split())
    assert outcome.exit_code == 0, outcome.output


@pytest.fixture
def plans(monkeypatch, fresh):
    made = []
    original = planner.make_plan

    def counted(*arguments):
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(planner, "make_plan", counted)
    return made


@pytest.mark.parametrize("face", [c_names, nouns, door, command_line])
def test_every_face_asks_the_planner_once(device, plans, face):
    face(device)
    assert len(plans) == 1
    assert plans[0].operator == "aclnnSoftmax"


def test_all_faces_get_the_same_plan(device, plans):
    for face in (c_names, nouns, door, command_line):
        twophase.operator("Softmax").plans.clear()
        face(device)
    assert len({plan.fingerprint() for plan in plans}) == 1
    assert len(plans) == 4


def test_a_second_call_asks_nobody(device, plans):
    for face in (nouns, c_names, door):
        face(device)
    assert len(plans) == 1
