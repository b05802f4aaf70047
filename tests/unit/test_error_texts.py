# SPDX-License-Identifier: Apache-2.0
"""What the texts of phase 1 carry, check by check, and where else they can be read."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from aclnn_py.core import settings
from support.tensors import SOCS, build, planner

# (SoC, call, words that the text must carry); typed from the vendor's facts, section 1.5
TEXTS = [
    ("910B", ("Softmax", None, 0, "FLOAT[2]"), ["aclTensor", "self", "nullptr"]),
    (
        "910B",
        ("SoftmaxBackward", "FLOAT[2]", None, 0, "FLOAT[2]"),
        ["aclTensor", "output", "nullptr"],
    ),
    (
        "910B",
        ("Softmax", "INT8[2]", 0, "FLOAT[2]"),
        ["self", "INT8", "FLOAT", "FLOAT16", "BF16", "DOUBLE"],
    ),
    ("910B", ("Softmax", "FLOAT[2]", 0, "STRING[2]"), ["out", "STRING", "FLOAT16"]),
    ("910B", ("Softmax", "DT14[2]", 0, "FLOAT[2]"), ["self", "14"]),
    (
        "910B",
        ("SoftmaxBackward", "DOUBLE[2]", "DOUBLE[2]", 0, "FLOAT[2]"),
        ["gradOutput", "DOUBLE", "FLOAT16"],
    ),
    ("910", ("LogSoftmax", "BF16[2]", 0, "FLOAT[2]"), ["aclnnLogSoftmax", "bfloat16", "Ascend910"]),
    (
        "310P",
        ("SoftmaxBackward", "BF16[2]", "BF16[2]", 0, "FLOAT[2]"),
        ["aclnnSoftmaxBackward", "bfloat16", "Ascend310P"],
    ),
    (
        "910B",
        ("SoftmaxBackward", "FLOAT[2]", "FLOAT16[2]", 0, "FLOAT[2]"),
        ["output", "FLOAT16", "FLOAT"],
    ),
    (
        "910B",
        ("LogSoftmaxBackward", "FLOAT[2]", "FLOAT16[2]", 0, "FLOAT[2]"),
        ["output", "gradOutput", "FLOAT16", "FLOAT"],
    ),
    ("910B", ("Softmax", "FLOAT[2,3]", 7, "FLOAT[2,3]"), ["dim", "7", "rank 2"]),
    ("910B", ("Softmax", "FLOAT[]", -5, "FLOAT[]"), ["dim", "-5", "rank 1"]),
    ("910B", ("Softmax", "FLOAT[1,1,1,1,1,1,1,1,1]", 0, "FLOAT[1]"), ["self", "9", "8"]),
    (
        "910B",
        ("LogSoftmaxBackward", "FLOAT[1]", "FLOAT[1,1,1,1,1,1,1,1,1]", 0, "FLOAT[1]"),
        ["output", "9", "8"],
    ),
    ("910B", ("Softmax", "FLOAT[2,3]", 0, "FLOAT[3,2]"), ["self", "out", "[2, 3]", "[3, 2]"]),
    (
        "910B",
        ("SoftmaxBackward", "FLOAT[2,3]", "FLOAT[3,2]", 0, "FLOAT[2,3]"),
        ["gradOutput", "output", "[2, 3]", "[3, 2]"],
    ),
    ("910B", ("SoftmaxBackward", "FLOAT[2]", "FLOAT[2]", 0, "INT4[2]"), ["out", "INT4"]),
    (
        "910B",
        ("Softmax", "FLOAT[4,3] strides=1,4 storage=11", 0, "FLOAT[4,3]"),
        ["self", "[1, 4]", "11"],
    ),
    ("910B", ("Softmax", "FLOAT[4,3] storage=9", 0, "FLOAT[4,3]"), ["self", "9"]),
    ("910B", ("Softmax", "FLOAT[2,-3]", 0, "FLOAT[2,-3]"), ["self", "[2, -3]", "negative"]),
]


@pytest.mark.parametrize(
    ("soc", "call", "words"), TEXTS, ids=[f"{s} {' '.join(map(str, c))}" for s, c, _ in TEXTS]
)
def test_text_carries(soc, call, words):
    operator, *cells = call
    with settings.override(soc=SOCS[soc]), pytest.raises(acl.AclnnError) as caught:
        planner(operator)(*(build(cell) for cell in cells))
    text = str(caught.value)
    missing = [word for word in words if word not in text]
    assert not missing, f"{missing} missing in:\n{text}"


def test_recent_messages_are_newest_first_and_cleared():
    acl.aclGetRecentErrMsg()
    for line in ("INT8[2]", "INT32[2]"):
        with pytest.raises(acl.AclnnError):
            acl.aclnnSoftmaxGetWorkspaceSize(build(line), 0, build("FLOAT[2]"))
    text = acl.aclGetRecentErrMsg()
    assert "EZ1001" in text
    assert 0 <= text.index("INT32") < text.index("INT8")
    assert acl.aclGetRecentErrMsg() is None


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        (207000, lambda device: device.from_dlpack(device.zeros((2,)))),
        (100000, lambda _device: build("STRING[2]").dtype),
    ],
    ids=["Device.from_dlpack", "Tensor.dtype"],
)
def test_what_the_nouns_refuse_is_a_recent_message(device, status, refused):
    acl.aclGetRecentErrMsg()
    with pytest.raises(acl.AclError) as caught:
        refused(device)
    assert caught.value.status == status
    assert str(caught.value) in acl.aclGetRecentErrMsg()
    assert acl.aclGetRecentErrMsg() is None
