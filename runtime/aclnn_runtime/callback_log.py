# SPDX-License-Identifier: Apache-2.0
"""Exceptions of functions that the library calls: there is no caller to raise them to."""

from __future__ import annotations

__all__ = ["log_raised"]


def log_raised(registered_with: str, error: Exception) -> None:
    """Log what a function raised (logger ``aclnn_py``; without handlers: standard error)."""
    import logging  # noqa: PLC0415  # costs a tenth of the import of this package

    text = "the function given to %s raised"
    logging.getLogger("aclnn_py").error(text, registered_with, exc_info=error)
