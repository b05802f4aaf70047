# SPDX-License-Identifier: Apache-2.0
"""C names of system parameters, and of the callbacks of aclInit and aclFinalize."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import facts as _facts
from aclnn_runtime import hooks as _hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_runtime.enums_device import aclSysParamOpt

__all__ = [
    "aclFinalizeCallbackRegister",
    "aclFinalizeCallbackUnRegister",
    "aclInitCallbackRegister",
    "aclInitCallbackUnRegister",
    "aclrtCtxGetSysParamOpt",
    "aclrtCtxSetSysParamOpt",
    "aclrtGetSysParamOpt",
    "aclrtSetSysParamOpt",
]


def aclrtSetSysParamOpt(opt: aclSysParamOpt | int, value: int) -> None:
    """Set a system parameter of the process.

    Parameters
    ----------
    opt : aclSysParamOpt or int
        0 to 3.
    value : int
        0 to 3 for the first one.

    Raises
    ------
    AclError
        100000 for another option or value.

    Notes
    -----
    Results are the same on every run whatever is set.

    Source: CANN runtime API reference, ``aclrtSetSysParamOpt`` (ACL API version 1.17.0).
    """
    _facts.set_parameter(opt, value)


def aclrtGetSysParamOpt(opt: aclSysParamOpt | int) -> int:
    """A system parameter of the process.

    Parameters
    ----------
    opt : aclSysParamOpt or int
        0 to 3.

    Returns
    -------
    int
        What was set.

    Raises
    ------
    AclError
        107021 when nobody has set it; 100000 for another option.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetSysParamOpt`` (ACL API version 1.17.0).
    """
    return _facts.parameter(opt)


def aclrtCtxSetSysParamOpt(opt: aclSysParamOpt | int, value: int) -> None:
    """Set a system parameter of the current context.

    Parameters
    ----------
    opt : aclSysParamOpt or int
        0 to 2.
    value : int
        0 to 3 for the first one.

    Raises
    ------
    AclError
        100000 for another option or value; 107002 when the thread has no current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCtxSetSysParamOpt`` (ACL API version 1.17.0).
    """
    _facts.set_context_parameter(opt, value)


def aclrtCtxGetSysParamOpt(opt: aclSysParamOpt | int) -> int:
    """A system parameter of the current context.

    Parameters
    ----------
    opt : aclSysParamOpt or int
        0 to 2.

    Returns
    -------
    int
        What was set.

    Raises
    ------
    AclError
        107021 when nobody has set it in this context; 100000 for another option; 107002 when
        the thread has no current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCtxGetSysParamOpt`` (ACL API version 1.17.0).
    """
    return _facts.context_parameter(opt)


def aclInitCallbackRegister(type: int, cbFunc: Callable[[str], object]) -> None:
    """Let `aclInit` call a function of another component.

    Parameters
    ----------
    type : int
        Which component.
    cbFunc : callable
        Called with the text of the configuration file by the aclInit that initialises.

    Raises
    ------
    AclError
        100000 for something that cannot be called, and for a type that has a function
        already.

    Notes
    -----
    An exception in it becomes the status of `aclInit`: its own, or 500001.

    Source: CANN runtime API reference, ``aclInitCallbackRegister`` (ACL API version 1.17.0).
    """
    _hooks.register_init(type, cbFunc)


def aclInitCallbackUnRegister(type: int, cbFunc: Callable[[str], object]) -> None:
    """Undo `aclInitCallbackRegister`.

    Parameters
    ----------
    type : int
        Which component.
    cbFunc : callable
        What was registered.

    Raises
    ------
    AclError
        100000 for a function that is not registered for this type.

    Notes
    -----
    Source: CANN runtime API reference, ``aclInitCallbackUnRegister`` (ACL API version
    1.17.0).
    """
    _hooks.unregister_init(type, cbFunc)


def aclFinalizeCallbackRegister(type: int, cbFunc: Callable[[], object]) -> None:
    """Let `aclFinalize` call a function of another component.

    Parameters
    ----------
    type : int
        Which component.
    cbFunc : callable
        Called without arguments by what undoes `aclInit`.

    Raises
    ------
    AclError
        100000 for something that cannot be called, and for a type that has a function
        already.

    Notes
    -----
    An exception in it becomes the status of `aclFinalize`: its own, or 500001.

    Source: CANN runtime API reference, ``aclFinalizeCallbackRegister`` (ACL API version
    1.17.0).
    """
    _hooks.register_finalize(type, cbFunc)


def aclFinalizeCallbackUnRegister(type: int, cbFunc: Callable[[], object]) -> None:
    """Undo `aclFinalizeCallbackRegister`.

    Parameters
    ----------
    type : int
        Which component.
    cbFunc : callable
        What was registered.

    Raises
    ------
    AclError
        100000 for a function that is not registered for this type.

    Notes
    -----
    Source: CANN runtime API reference, ``aclFinalizeCallbackUnRegister`` (ACL API version
    1.17.0).
    """
    _hooks.unregister_finalize(type, cbFunc)
