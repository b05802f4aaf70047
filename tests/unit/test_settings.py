# SPDX-License-Identifier: Apache-2.0
"""Settings: what may change while the program runs, and what may not."""

from __future__ import annotations

import pytest

from aclnn_native import lib
from aclnn_py.core import settings


@pytest.mark.parametrize("field", ["threads", "inline", "devices", "device_memory"])
def test_what_the_library_reads_itself_cannot_be_overridden(field):
    with pytest.raises(ValueError, match=field), settings.override(**{field: 1}):
        pass


def test_isas_that_are_not_here_are_told_from_those_that_are_nowhere():
    other = "avx2" if lib.aclpy_isa_mask(b"neon") else "neon"
    with pytest.raises(ValueError, match=f"another machine's ISA '{other}'; one of baseline"):
        settings.Settings(ACLNN_PY_ISA=other)
    with pytest.raises(ValueError, match="unknown ISA 'sse9'; one of baseline"):
        settings.Settings(ACLNN_PY_ISA="sse9")


def test_an_override_ends_with_its_block():
    before = settings.current()
    with settings.override(soc="Ascend950", strict=False) as inside:
        assert (inside.profile.name, inside.strict) == ("Ascend950", False)
        assert settings.current() is inside
    assert settings.current() == before
