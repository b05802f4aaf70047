# SPDX-License-Identifier: Apache-2.0
"""One operator call as the planner sees it: descriptions and attributes, no data, no device."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aclnn_py.core.made import maker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.core.desc import TensorDesc
    from aclnn_py.core.soc import SocProfile
    from aclnn_py.core.spec import OpSpec

__all__ = ["Problem", "new_problem"]


class Problem(NamedTuple):
    """What phase 1 was asked.

    Attributes
    ----------
    spec : OpSpec
        The operator.
    tensors : mapping of str to TensorDesc
        By parameter name. A null pointer is ``None`` here until the first check refuses it.
    attributes : mapping of str to object
        By parameter name.
    profile : SocProfile
        The SoC whose rules hold.
    strict : bool
        Whether the project's own storage checks apply.
    fuse : bool
        Whether steps may run block by block.
    """

    spec: OpSpec
    tensors: Mapping[str, TensorDesc]
    attributes: Mapping[str, object]
    profile: SocProfile
    strict: bool = True
    fuse: bool = True

    def integer(self, name: str) -> int:
        """An integer attribute."""
        value = self.attributes[name]
        assert isinstance(value, int), name
        return value


new_problem = maker(Problem)
