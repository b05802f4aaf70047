# SPDX-License-Identifier: Apache-2.0
"""Phase 1 answers as the table says, and blames the argument that the table names."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from aclnn_py.core import settings
from support.phase1_table import CASES, OK, ROWS, arguments_of, name_of
from support.tensors import SOCS, check_error, planner


def test_the_table_is_as_large_as_promised():
    assert len(ROWS) >= 150
    assert len(set(ROWS)) == len(ROWS), "a row is listed twice"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_phase_1_status(case):
    operator, soc, cells, status, argument = case
    with settings.override(soc=SOCS[soc]):
        arguments = list(arguments_of(cells))
        if status == OK:
            size, executor = planner(operator)(*arguments)
            assert isinstance(size, int)
            assert size >= 0
            acl.aclDestroyAclOpExecutor(executor)
            return
        with pytest.raises(Exception) as caught:  # noqa: PT011 - check_error looks at all of it
            planner(operator)(*arguments)
        check_error(caught.value, status, operator=operator, argument=argument)
