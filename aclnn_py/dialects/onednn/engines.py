# SPDX-License-Identifier: Apache-2.0
"""Engine and stream: where primitives run, and the queue they run in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aclnn_native import calls
from aclnn_py.core.device import Device
from aclnn_py.dialects.onednn.enums import DNNL_MAX_NDIMS, engine_kind, member, stream_flags
from aclnn_py.dialects.onednn.statuses import refuse, status, translated, translation
from aclnn_runtime import AclError, raise_last
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["check_engine", "engine", "engine_description", "stream"]

_GPU_NDIMS: Final = 6


@dataclass(frozen=True)
class engine_description:
    """What checks need to know of an engine; enough to make primitive descriptors with.

    Attributes
    ----------
    kind : engine_kind
        cpu or gpu.
    index : int
        Which of them.
    vendor : {"intel", "nvidia", "generic"}
        Whose implementations a GPU engine has.
    allow_f64 : bool
        Whether a CPU engine takes f64, which oneDNN's own does not.
    """

    kind: engine_kind = engine_kind.cpu
    index: int = 0
    vendor: Literal["intel", "nvidia", "generic"] = "intel"
    allow_f64: bool = False

    def __post_init__(self) -> None:
        kind = member("engine_description", "kind", self.kind, engine_kind)
        object.__setattr__(self, "kind", kind)
        if self.vendor not in ("intel", "nvidia", "generic"):
            refuse(
                status.invalid_arguments,
                "engine_description",
                "vendor",
                "is unknown",
                got=self.vendor,
                expected="'intel', 'nvidia' or 'generic'",
                fix="choose whose implementations the checks should follow",
            )

    @property
    def max_ndims(self) -> int:
        """The largest rank that some implementation takes."""
        return _GPU_NDIMS if self.kind is engine_kind.gpu else DNNL_MAX_NDIMS


class engine:
    """A device that primitives run on.

    Parameters
    ----------
    kind : engine_kind
        cpu; gpu: an NVIDIA GPU, through CuPy.
    index : int
        Less than ``engine.get_count(kind)``.
    allow_f64 : bool
        Take f64 tensors, which oneDNN's own CPU engine refuses as unimplemented.
    vendor : {"intel", "nvidia", "generic"}
        Whose implementations the checks of a GPU engine follow; every one is computed by this
        project's own kernels.

    Raises
    ------
    OneDnnError
        invalid_arguments where there is no such engine.
    """

    def __init__(
        self,
        kind: engine_kind | int = engine_kind.cpu,
        index: int = 0,
        *,
        allow_f64: bool = False,
        vendor: Literal["intel", "nvidia", "generic"] = "intel",
    ) -> None:
        kind = member("engine", "kind", kind, engine_kind)
        count = self.get_count(kind)
        number = _number(index)
        if not 0 <= number < count:
            gpu = kind is engine_kind.gpu
            refuse(
                status.invalid_arguments,
                "engine",
                "index" if count else "kind",
                "has no engine",
                got=f"{kind.name} {index!r}; there are {count}",
                expected="less than engine.get_count(kind)",
                fix="gpu needs CuPy and an NVIDIA GPU (aclnn-py info says what is missing); "
                "engine_description(engine_kind.gpu) serves checks"
                if gpu
                else "use engine(engine_kind.cpu, 0)",
            )
        self.description = engine_description(kind, number, vendor, bool(allow_f64))
        with translated("engine"):
            self.device = Device(f"cuda:{number}" if kind is engine_kind.gpu else number)

    @staticmethod
    def get_count(kind: engine_kind | int) -> int:
        """How many engines of a kind there are: one CPU; the NVIDIA GPUs that CuPy finds."""
        kind = member("engine.get_count", "kind", kind, engine_kind)
        if kind is engine_kind.gpu:
            from aclnn_runtime.cuda_device import count_devices  # noqa: PLC0415  # brings CuPy

            return count_devices()
        return 1 if kind is engine_kind.cpu else 0

    def get_kind(self) -> engine_kind:
        """Cpu or gpu."""
        return self.description.kind

    def is_same_device(self, other: engine) -> bool:
        """Whether memory of one serves primitives of the other."""
        check_engine("engine.is_same_device", other, "other")
        mine, theirs = self.description, other.description
        return (mine.kind, mine.index) == (theirs.kind, theirs.index)

    def __repr__(self) -> str:
        return f"<engine {self.description.kind.name} {self.description.index}>"


def _number(index: object) -> int:
    """An index; -1 for what is none."""
    number = whole_number(index)
    return -1 if number is None else number


class stream(calls.PrimitiveStream):
    """A queue of primitives on one engine; they run in the order they were submitted.

    Parameters
    ----------
    engine : engine
        Where it runs.
    flags : stream_flags
        in_order, the default. The other kinds are refused as unimplemented.
    """

    def __init__(self, engine: engine, flags: stream_flags | int = stream_flags.in_order) -> None:
        check_engine("stream", engine)
        kind = member("stream", "flags", flags, stream_flags)
        if kind is not stream_flags.in_order:
            refuse(
                status.unimplemented,
                "stream",
                "flags",
                "asks for another kind of queue",
                got=kind.name,
                expected="stream_flags.in_order",
                fix="make several streams where work may run in any order",
            )
        self.engine = engine
        with translated("stream"):
            self.runtime_stream = engine.device.create_stream()
        self._context = self.runtime_stream._context  # noqa: SLF001  # what `wait` needs, in C
        self._handle = self.runtime_stream.handle

    # `wait` is the base's, in C; these serve it.
    def _synchronize(self) -> NoReturn:  # with arguments, which Python refuses
        raise AssertionError

    _synchronize.__qualname__ = "stream.wait"

    def _failed(self, status: int) -> NoReturn:
        try:
            raise_last(status)
        except AclError as error:
            raise translation("stream.wait", error) from error

    def get_engine(self) -> engine:
        """The engine it runs on."""
        return self.engine

    def __repr__(self) -> str:
        return f"<stream of {self.engine!r}>"


def check_engine(function: str, value: object, argument: str = "engine") -> None:
    """Refuse what is no engine with a device."""
    if not isinstance(value, engine):
        refuse(
            status.invalid_arguments,
            function,
            argument,
            "is no engine",
            got=describe(value),
            expected="an engine",
            fix="engine(engine_kind.cpu, 0); a description has no device behind it",
        )
