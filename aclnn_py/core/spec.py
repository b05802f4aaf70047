# SPDX-License-Identifier: Apache-2.0
"""What an operator is, as data: parameters, ordered checks, a recipe, a bound, a source."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003  # pydantic reads the annotation at run time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from aclnn_py.core.dtype import by_name

if TYPE_CHECKING:
    from typing_extensions import Self

    from aclnn_py.core.soc import SocProfile

__all__ = ["AttrParam", "Check", "OpSpec", "Param", "TensorParam"]

# Dataclasses, for the planner reads them some fifty times a plan: fields of a model take five times
# as long.
_FORBID = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True, config=_FORBID)
class TensorParam:
    """One tensor argument.

    Attributes
    ----------
    name : str
        The C parameter name.
    kind : {"input", "output"}
        Whether the operator reads or writes it.
    dtypes : tuple of str
        Supported types by vendor name; BF16 counts only where the SoC profile has it.
    soc_gated : bool
        Whether the SoC profile has a say; it has none in other dialects.
    doc : str
        Meaning, shape and unit, for docstrings.
    """

    name: str
    kind: Literal["input", "output"]
    dtypes: tuple[str, ...]
    soc_gated: bool = True
    doc: str

    @model_validator(mode="after")
    def _known_dtypes(self) -> Self:
        unknown = set(self.dtypes) - set(by_name)
        if unknown:
            raise ValueError(f"{self.name}: unknown dtypes {sorted(unknown)}")
        return self

    @property
    def ctype(self) -> str:
        """The C parameter type."""
        return "const aclTensor *" if self.kind == "input" else "aclTensor *"

    def takes(self, dtype: str, profile: SocProfile) -> bool:
        """Whether a type is among `dtypes_on`."""
        return dtype in self.dtypes and (dtype != "BF16" or profile.bf16 or not self.soc_gated)

    def dtypes_on(self, profile: SocProfile) -> tuple[str, ...]:
        """The supported types on one SoC, in the order of the vendor's list."""
        gated = self.soc_gated and not profile.bf16
        return tuple(name for name in self.dtypes if name != "BF16" or not gated)


# In words of ours: pydantic's tell neither the range nor, of 1.0, why it is no integer.
_EXPECTED: Final = {
    "int64_t": "an int from -2**63 to 2**63 - 1",
    "double": "a float",
    "float": "a float",
    "bool": "a bool",
}
_ATTRIBUTES: dict[str, TypeAdapter[Any]] = {}


def _adapter(ctype: str) -> TypeAdapter[Any]:
    if ctype not in _ATTRIBUTES:
        from typing import Annotated  # noqa: PLC0415  # only on a plan-cache miss

        bounds = {
            "int64_t": Annotated[int, Field(strict=True, ge=-(2**63), le=2**63 - 1)],
            "double": Annotated[float, Field()],
            "float": Annotated[float, Field()],
            "bool": Annotated[bool, Field()],
        }
        adapter: Any = TypeAdapter
        _ATTRIBUTES[ctype] = adapter(bounds[ctype])
    return _ATTRIBUTES[ctype]


@dataclass(frozen=True, slots=True, kw_only=True, config=_FORBID)
class AttrParam:
    """One attribute argument (a number); `default` is for faces that leave it out."""

    name: str
    kind: Literal["attr"] = "attr"
    ctype: Literal["int64_t", "double", "float", "bool"] = "int64_t"
    default: int | None = None
    doc: str

    def validate_value(self, value: object) -> str | None:
        """What is expected instead of `value`, or ``None`` when it is a `ctype`."""
        if type(value) is int and self.ctype == "int64_t" and -(2**63) <= value < 2**63:
            return None  # nearly always: it is timed
        try:
            _adapter(self.ctype).validate_python(value)
        except ValidationError:
            return _EXPECTED[self.ctype]
        return None


Param: TypeAlias = TensorParam | AttrParam


@dataclass(frozen=True, slots=True, kw_only=True, config=_FORBID)
class Check:
    """One named check; ``plan/checks.py`` interprets it. First hit wins, in the spec's order."""

    rule: Literal[
        "not_null",
        "empty_returns",
        "dtype_in_list",
        "bf16_gate",
        "same_dtype",
        "dim_in_range",
        "rank_at_most",
        "same_shape",
    ]
    params: tuple[str, ...]
    limit: int = 0
    unless_regbase: bool = False
    reason: str = ""


@dataclass(
    frozen=True, kw_only=True, config=ConfigDict(extra="forbid", arbitrary_types_allowed=True)
)
class OpSpec:
    """Everything the project knows of one two-phase operator.

    Attributes
    ----------
    acl_name : str
        The vendor's name without the ``aclnn`` prefix; function names are built from it.
    dialect : str
        Whose operator it is: "aclnn", or the dialect whose own names it has.
    header : str
        The vendor's header, relative to the include folder; none for other dialects.
    formula : str
        One line of maths.
    params : tuple of Param
        In C order.
    checks : tuple of Check
        The vendor's order.
    empty_when : tuple of str
        Parameters any of which, empty, makes the whole call a no-op after its checks.
    recipe : callable
        Writes the steps of a checked call into a ``plan.recipe.Recipe``.
    bound : str
        The documented numeric bound.
    notes : tuple of str
        Facts for docstrings: empties, aliasing, NaN, accumulation, casts.
    source : str
        Where the facts come from.
    """

    acl_name: str
    dialect: str = "aclnn"
    header: str = ""
    formula: str
    params: tuple[TensorParam | AttrParam, ...]
    checks: tuple[Check, ...]
    empty_when: tuple[str, ...]
    recipe: Callable[[Any], None]
    bound: str
    notes: tuple[str, ...]
    source: str

    @model_validator(mode="after")
    def _checks_name_params(self) -> Self:
        names = {param.name for param in self.params}
        for check in self.checks:
            missing = set(check.params) - names
            if missing:
                raise ValueError(f"{self.acl_name}: {check.rule} names {sorted(missing)}")
        return self

    @cached_property
    def key(self) -> str:
        """What the door knows it by: ``"Softmax"``, or ``"onnxruntime.SoftmaxGrad"``."""
        return self.acl_name if self.dialect == "aclnn" else f"{self.dialect}.{self.acl_name}"

    @cached_property
    def function(self) -> str:
        """Name of phase 2: ``"aclnnSoftmax"``, or another dialect's own ``"SoftmaxGrad"``."""
        return f"aclnn{self.acl_name}" if self.dialect == "aclnn" else self.acl_name

    @cached_property
    def planner(self) -> str:
        """Name of phase 1, ``"aclnnSoftmaxGetWorkspaceSize"``."""
        return f"{self.function}GetWorkspaceSize"

    @cached_property
    def tensors(self) -> tuple[TensorParam, ...]:
        """Tensor parameters in C order; their positions are the plan's slots."""
        return tuple(param for param in self.params if isinstance(param, TensorParam))

    @cached_property
    def tensor_named(self) -> dict[str, TensorParam]:
        """Tensor parameters by name."""
        return {param.name: param for param in self.tensors}

    @cached_property
    def slots(self) -> dict[str, int]:
        """Position among the tensor parameters, by name."""
        return {param.name: position for position, param in enumerate(self.tensors)}

    @cached_property
    def attributes(self) -> tuple[AttrParam, ...]:
        """Attribute parameters in C order."""
        return tuple(param for param in self.params if isinstance(param, AttrParam))

    @cached_property
    def attribute_named(self) -> dict[str, AttrParam]:
        """Attribute parameters by name."""
        return {param.name: param for param in self.attributes}
