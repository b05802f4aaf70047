# SPDX-License-Identifier: Apache-2.0
"""Settings: every environment variable of our own, in one class, read once on first use."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from aclnn_native import ffi, lib
from aclnn_py.core.isa import ISAS
from aclnn_py.core.soc import DEFAULT_SOC, SOC_ALIASES, SOC_PROFILES, SocProfile
from aclnn_runtime import AclError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Settings", "current", "on_change", "override"]


class _RefusedError(ValueError):
    """A value that a validator does not take: the "got" and "expected" lines of the error."""

    def __init__(self, got: str, expected: str) -> None:
        super().__init__(f"{got}; {expected}")
        self.got, self.expected = got, expected


class Settings(BaseModel):
    """What the environment says; field descriptions are the reference text of each variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: Literal["cpu", "cuda"] = Field(
        default="cpu",
        alias="ACLNN_PY_BACKEND",
        description="cuda makes NVIDIA GPUs, through CuPy, the devices of every name and number.",
    )
    soc: str = Field(
        default=DEFAULT_SOC,
        alias="ACLNN_PY_SOC",
        description="SoC profile: dtype gates, workspace reserve and other per-chip facts.",
    )
    strict: bool = Field(
        default=True,
        alias="ACLNN_PY_STRICT",
        description="0 relaxes the checks of workspace size, storage bounds and operator mismatch.",
    )
    isa: str = Field(
        default="",
        alias="ACLNN_PY_ISA",
        description="Highest instruction set kernels may use: baseline, avx2, avx512, neon.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=1024,
        alias="ACLNN_PY_THREADS",
        description="Threads of the compute pool; 0 = the processors this process may use.",
    )
    inline: bool = Field(
        default=True,
        alias="ACLNN_PY_INLINE",
        description="0 sends every kernel to its stream's worker, however small it is.",
    )
    fallback: Literal["allow", "error"] = Field(
        default="allow",
        alias="ACLNN_PY_FALLBACK",
        description="error refuses plans that would need the NumPy reference backend.",
    )
    fuse: bool = Field(
        default=True,
        alias="ACLNN_PY_FUSE",
        description="0 runs the steps of a plan one after the other instead of block by block.",
    )
    explain: int = Field(
        default=0,
        ge=0,
        le=2,
        alias="ACLNN_PY_EXPLAIN",
        description="1 prints each new plan to stderr; 2 adds every refused candidate.",
    )
    devices: int = Field(
        default=1,
        ge=1,
        le=64,
        alias="ACLNN_PY_DEVICES",
        description="Number of emulated devices.",
    )
    device_memory: int = Field(
        default=0,
        ge=0,
        alias="ACLNN_PY_DEVICE_MEMORY",
        description="Memory of the emulated devices [bytes]; 0 = what the machine has.",
    )
    schedule: str = Field(
        default="",
        alias="ACLNN_PY_SCHEDULE",
        description="Deterministic order of tasks: eager, lazy, reverse, a seed, or a replay r1:….",
    )
    trace: str = Field(
        default="",
        alias="ACLNN_PY_TRACE",
        description="File for a timeline of the whole process, as Chrome-trace events.",
    )
    vendor_cache: bool = Field(
        default=True,
        alias="DISABLE_L2_CACHE",
        description="The vendor's variable: set to any value, the emulated operator cache is off.",
    )
    vendor_cache_limit: int = Field(
        default=10000,
        ge=0,
        le=10_000_000,
        alias="ACLNN_CACHE_LIMIT",
        description="The vendor's variable: plans the emulated operator cache remembers a thread.",
    )

    @field_validator("strict", "inline", "fuse", mode="before")
    @classmethod
    def _switch(cls, value: object) -> object:
        # The library reads some of them itself and knows no other words.
        if isinstance(value, str) and value not in ("0", "1"):
            raise _RefusedError(repr(value), "0 or 1")
        return value

    @field_validator("soc")
    @classmethod
    def _known_soc(cls, value: str) -> str:
        spelled = {name.lower(): name for name in SOC_PROFILES} | dict(SOC_ALIASES)
        if value.lower() not in spelled:
            known = ", ".join(SOC_PROFILES)
            raise _RefusedError(f"unknown SoC {value!r}", f"one of {known}")
        return spelled[value.lower()]

    @field_validator("isa")
    @classmethod
    def _known_isa(cls, value: str) -> str:
        if value and not lib.aclpy_isa_mask(value.encode()):
            here = ", ".join(name for name in _ISAS if lib.aclpy_isa_mask(name.encode()))
            kind = "another machine's" if value in _ISAS else "unknown"
            raise _RefusedError(f"{kind} ISA {value!r}", f"one of {here}")
        return value

    @field_validator("schedule", "trace")
    @classmethod
    def _taken_by_the_library(cls, value: str, info: ValidationInfo) -> str:
        alias = str(cls.model_fields[str(info.field_name)].alias)
        raw = ffi.string(lib.aclpy_environment_problem(alias.encode()))
        problem = raw.decode(errors="replace")  # long values are cut, also inside of a letter
        if value and problem:
            # "expected ..., got ...", as the library prints it when it is loaded.
            expected = problem.removeprefix("expected ").partition(", got ")[0]
            raise _RefusedError(repr(value), expected)
        return value

    @cached_property
    def profile(self) -> SocProfile:
        """The facts of the selected SoC."""
        return SOC_PROFILES[self.soc]

    @cached_property
    def isa_mask(self) -> int:
        """ISAs that kernels may use, as the native library's bit mask."""
        limit: int = lib.aclpy_isa_mask(self.isa.encode()) if self.isa else 0xFFFFFFFF
        return limit


def _expected(name: str) -> str:
    """What a variable may be, in words of ours: pydantic's are about the field's Python type."""
    field = next(field for field in Settings.model_fields.values() if field.alias == name)
    if field.annotation is not int:
        return " or ".join(get_args(field.annotation)) or "text in UTF-8"
    low = next(bound.ge for bound in field.metadata if hasattr(bound, "ge"))
    high = next((bound.le for bound in field.metadata if hasattr(bound, "le")), None)
    return f"an integer >= {low}" if high is None else f"an integer from {low} to {high}"


def _got_and_expected(name: str, value: str, context: Mapping[str, object]) -> tuple[str, str]:
    error = context.get("error")
    if isinstance(error, _RefusedError):
        return error.got, error.expected
    return repr(value), _expected(name)


def _from_environment(environ: Mapping[str, str]) -> Settings:
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    values: dict[str, object] = {name: environ[name] for name in names if environ.get(name)}
    # The vendor's switch counts as set even when it is empty.
    values["DISABLE_L2_CACHE"] = "DISABLE_L2_CACHE" not in environ
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        got, expected = _got_and_expected(name, str(environ.get(name)), first.get("ctx", {}))
        problem = AclError.build(
            100000,
            function="aclnn_py settings",
            argument=name,
            got=got,
            expected=expected,
            fix=f"unset {name} or give it such a value",
        )
        # A C host that plans for the first time sees the status only, and asks for the message.
        lib.aclpy_error_push(problem.status, str(problem).encode())
        raise problem from None


_ISAS: Final = (*ISAS, "neon")
_READ_BY_THE_LIBRARY: Final = frozenset(
    {"threads", "inline", "devices", "device_memory", "schedule", "trace"}
)
_current: Settings | None = None
_listeners: list[Callable[[], None]] = []


def on_change(listener: Callable[[], None]) -> None:
    """Call `listener` whenever the settings change, so that caches built from them are dropped."""
    _listeners.append(listener)


def _install(settings: Settings) -> None:
    global _current  # noqa: PLW0603  # the one process-wide settings object
    _current = settings
    lib.aclpy_set_strict(settings.strict)
    lib.aclpy_set_soc(settings.soc.encode())
    lib.aclpy_set_vendor_cache(settings.vendor_cache, settings.vendor_cache_limit)
    for listener in _listeners:
        listener()


def current() -> Settings:
    """The settings in force; read from the environment on first use."""
    if _current is None:
        _install(_from_environment(os.environ))
    assert _current is not None
    return _current


@contextmanager
def override(**values: object) -> Iterator[Settings]:
    """Other settings for the time of a ``with`` block (tests); the planner's caches are dropped.

    Parameters
    ----------
    **values
        Fields of `Settings` by field name: ``override(soc="Ascend950", strict=False)``.

    Raises
    ------
    ValueError
        For a field that the native library reads itself, once; set its variable instead.
    """
    fixed = _READ_BY_THE_LIBRARY & values.keys()
    if fixed:
        raise ValueError(f"read once, by the native library: {', '.join(sorted(fixed))}")
    before = current()
    aliases = {name: field.alias or name for name, field in Settings.model_fields.items()}
    merged = {aliases[name]: value for name, value in (before.model_dump() | values).items()}
    _install(Settings.model_validate(merged))
    try:
        yield current()
    finally:
        _install(before)
