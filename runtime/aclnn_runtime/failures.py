# SPDX-License-Identifier: Apache-2.0
"""Exceptions of failed host functions, kept until the synchronise that reports them."""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from threading import Lock, current_thread, main_thread
from typing import Final

__all__ = ["keep", "new_token", "sentence", "take"]

# A stream reports one failure per synchronise, so the exceptions of further ones are never asked
# for. The bound keeps them from piling up.
CAPACITY: Final = 1024
_LONGEST_REPR: Final = 200

_kept: OrderedDict[int, BaseException] = OrderedDict()
# Of Ctrl-C while the main thread, which a schedule runs tasks on, was in a host function.
_interrupts: set[int] = set()
_lock = Lock()
_tokens = count(1)


def new_token() -> int:
    """A number that no other task or step has."""
    return next(_tokens)


def keep(token: int, exception: BaseException) -> None:
    """Remember the exception of the task that was submitted with `token`."""
    with _lock:
        _kept[token] = exception
        if isinstance(exception, KeyboardInterrupt) and current_thread() is main_thread():
            _interrupts.add(token)
        while len(_kept) > CAPACITY:
            _interrupts.discard(_kept.popitem(last=False)[0])


def take(token: int) -> BaseException | None:
    """Hand over the exception kept for `token`, once; Ctrl-C goes on from here."""
    with _lock:
        kept = _kept.pop(token, None)
        interrupts = token in _interrupts
        _interrupts.discard(token)
    if kept is not None and interrupts:
        raise kept
    return kept


def sentence(exception: BaseException) -> str:
    """What a Python function did instead of returning, in one line for the "got" line."""
    try:
        text = repr(exception)
    except Exception:  # noqa: BLE001  # a broken repr must not hide the failure of the task
        text = f"{type(exception).__name__}, which cannot be printed"
    if len(text) > _LONGEST_REPR:
        text = text[: _LONGEST_REPR - 1] + "…"
    return "the function raised " + text.replace("\n", "\\n")
