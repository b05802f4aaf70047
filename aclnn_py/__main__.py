# SPDX-License-Identifier: Apache-2.0
"""``python -m aclnn_py``: the command line."""

from aclnn_py.cli import main

__all__: list[str] = []

main(prog_name="aclnn-py")
