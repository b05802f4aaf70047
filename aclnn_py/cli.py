# SPDX-License-Identifier: Apache-2.0
"""The command line ``aclnn-py``: ``info``, ``ops``, ``dialects`` and ``explain``.

Exit codes: 0 done, 1 the planner refused the call (its text is printed), 2 wrong usage.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

import click
from rich.box import MINIMAL
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aclnn_native import ffi, lib
from aclnn_py.abi.prototypes import prototypes
from aclnn_py.cli_status import looks_like_a_status, status_of, status_text
from aclnn_py.cli_timeline import COMMANDS as TIMELINE_COMMANDS
from aclnn_py.cli_toolkit import COMMANDS as TOOLKIT_COMMANDS
from aclnn_py.core import isa, settings
from aclnn_py.core.desc import TensorDesc, row_major_strides
from aclnn_py.core.dtype import as_dtype
from aclnn_py.core.soc import SOC_PROFILES
from aclnn_py.dialects import onnx_ops, onnxruntime
from aclnn_py.dialects.facts import FAMILIES
from aclnn_py.dialects.facts import table as side_by_side
from aclnn_py.support import gpu_lines, host_python, setting_rows, support_rows
from aclnn_py.twophase import dialect_operators, explain, operators
from aclnn_runtime import AclError
from aclnn_runtime.device import device_count
from aclnn_runtime.status_help import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aclnn_py.core.dtype import DType
    from aclnn_py.core.spec import OpSpec

__all__ = ["main"]


def _integers(_: click.Context, param: click.Parameter, value: str | None) -> object:
    """``4,2`` or ``-1``; an empty text is the 0-d shape."""
    if value is None:
        return None
    try:
        return tuple(int(part) for part in value.split(",")) if value.strip() else ()
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no list of integers such as 4,2", param=param
        ) from None


def _dtype(_: click.Context, param: click.Parameter, value: str | None) -> object:
    """Any spelling of a dtype: ``float16``, ``FLOAT16``, ``ACL_FLOAT16``."""
    if value is None:
        return None
    try:
        return as_dtype(value)
    except KeyError:
        raise click.BadParameter(
            f"{value!r} is no dtype such as float16, bfloat16 or ACL_FLOAT", param=param
        ) from None


def _operator(_: click.Context, param: click.Parameter, value: str) -> object:
    """An operator, with or without ``aclnn``, in any case; others' as ``onnx.Exp``; or a status."""
    if looks_like_a_status(value):
        try:
            return status_of(value)
        except ValueError as error:
            raise click.BadParameter(str(error), param=param) from None
    known = {**operators, **dialect_operators}
    alone = Counter(name.partition(".")[2] for name in dialect_operators)
    names = {
        short.lower(): name
        for name in dialect_operators
        if alone[short := name.partition(".")[2]] == 1
    } | {name.lower(): name for name in known}
    wanted = value.lower().removeprefix("aclnn").removesuffix("getworkspacesize")
    found = names.get(wanted)
    if found is None and any(wanted == one.name.lower()[5:] for one in prototypes()):
        raise click.BadParameter(
            f"{value!r} is declared for C hosts, not implemented: its phase 1 answers 561003",
            param=param,
        )
    if found is None:
        raise click.BadParameter(f"{value!r} is unknown; one of {', '.join(known)}", param=param)
    return known[found]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("aclnn-py"), prog_name="aclnn-py")
def main() -> None:
    """Ascend's two-phase operator API on this machine's CPU, or on its GPU."""
    try:
        settings.current()
    except AclError as error:
        raise click.UsageError(str(error)) from None


for _command in TOOLKIT_COMMANDS + TIMELINE_COMMANDS:
    main.add_command(_command)


@main.command()
def info() -> None:
    """Show version, devices, instruction sets, threads and settings."""
    table = Table.grid(padding=(0, 2))
    for name, value in _facts():
        table.add_row(name, value)
    table.add_row("Python for C hosts", escape(host_python()))
    for line in gpu_lines():
        table.add_row("GPU", escape(line))
    for variable, value, _ in setting_rows(settings.current()):
        table.add_row(variable, value)
    _console().print(table)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="For programs: all facts, every SoC profile.")
def ops(*, as_json: bool) -> None:
    """List the operators with the dtypes of the current SoC profile."""
    rows = support_rows()
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    soc = settings.current().soc
    click.echo(f"SoC profile: {soc}")
    table = Table("operator", "parameter", "dtypes", box=None, pad_edge=False)
    for row in rows:
        for number, (tensor, dtypes) in enumerate(row.dtypes[soc].items()):
            table.add_row("" if number else row.name, tensor, ", ".join(dtypes))
    _console().print(table)


@main.command()
@click.argument("family", type=click.Choice(FAMILIES))
@click.option("--json", "as_json", is_flag=True, help="For programs: one object a dialect.")
def dialects(family: str, *, as_json: bool) -> None:
    """Show how the dialects speak of one family, side by side."""
    heads, *rows = side_by_side(family)
    if as_json:
        found = [
            {"dialect": name, **{row[0]: row[column] for row in rows}}
            for column, name in enumerate(heads[1:], 1)
        ]
        click.echo(json.dumps(found, indent=2))
        return
    table = Table(*heads, box=MINIMAL, pad_edge=False, show_lines=True)
    for row in rows:
        table.add_row(*row)
    _console().print(table)


@main.command(name="explain")
@click.argument("operator", callback=_operator)
@click.option("--shape", callback=_integers, help='View, such as 4,2; "" is 0-d.')
@click.option("--dtype", callback=_dtype, default="float32", show_default=True, help="Of inputs.")
@click.option("--out-dtype", callback=_dtype, help="Of the output; default: as the inputs.")
@click.option("--dim", type=int, default=-1, show_default=True, help="The operator's axis.")
@click.option(
    "--strides", callback=_integers, help="Of the inputs, in elements; default: row-major."
)
@click.option("--out-strides", callback=_integers, help="Of the output; default: row-major.")
@click.option("--soc", type=click.Choice(list(SOC_PROFILES)), help="Default: ACLNN_PY_SOC.")
def explain_(  # the name `explain` is the planner's
    operator: OpSpec | Status,
    *,
    shape: tuple[int, ...] | None,
    dtype: DType,
    out_dtype: DType | None,
    dim: int,
    strides: tuple[int, ...] | None,
    out_strides: tuple[int, ...] | None,
    soc: str | None,
) -> None:
    """Show the plan of one call, or what a status means.

    For an operator: steps, kernels, refused candidates, workspace; nothing is allocated and nothing
    runs. For a status, such as 107003 or ACL_ERROR_RT_STREAM_CONTEXT: meaning, usual cause, fix.
    """
    if isinstance(operator, Status):
        click.echo(status_text(operator))
        return
    if shape is None:
        raise click.UsageError("Missing option '--shape'.")
    reduces = any(one.name == "axes" for one in operator.attributes)
    result = _reduced(operator, shape, dim) if reduces else shape
    descs = [
        _desc(shape, dtype, strides)
        if tensor.kind == "input"
        else _desc(result, out_dtype or dtype, out_strides)
        for tensor in operator.tensors
    ]
    try:
        with settings.override(**({"soc": soc} if soc else {})):
            values = [dim if one.default is None else one.default for one in operator.attributes]
            if reduces:  # bits of the axes, and whether these stay as dimensions of 1
                values = [1 << (dim % len(shape)), 1]
            text = _explained(operator, descs, values, dim)
    except AclError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    click.echo(text)


def _reduced(operator: OpSpec, shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """What is left of a shape after a reduction over one axis."""
    rank = len(shape)
    if not -rank <= dim < rank:
        what = f"an axis from {-rank} to {rank - 1}" if rank else "a shape of rank 1 or more"
        raise click.UsageError(f"'--dim' is {dim}; {operator.acl_name} of this shape needs {what}.")
    return tuple(1 if axis == dim % rank else size for axis, size in enumerate(shape))


def _explained(operator: OpSpec, descs: list[TensorDesc], values: list[int], axis: int) -> str:
    """The plan, by the checks of the operator's own dialect where it has any."""
    name = operator.acl_name
    if operator.dialect == "onnxruntime":
        gradient, saved, out = descs
        return onnxruntime.OPERATORS[name].explain(gradient, saved, out, axis)
    versions = [version for known, version in onnx_ops.OPERATORS if known == name]
    if operator.dialect == "onnx" and versions:
        given, out = descs
        return onnx_ops.OPERATORS[name, max(versions)].explain(given, out, axis)
    return explain(operator.key, descs, values)


def _desc(shape: tuple[int, ...], dtype: DType, strides: tuple[int, ...] | None) -> TensorDesc:
    """A tensor over a storage that is just large enough for its view."""
    steps = row_major_strides(shape) if strides is None else strides
    if len(steps) != len(shape):
        raise click.UsageError(f"{len(steps)} strides for {len(shape)} dimensions")
    spans = [step * (size - 1) for step, size in zip(steps, shape, strict=True) if size > 0]
    low = sum(span for span in spans if span < 0)
    elements = 1 + sum(span for span in spans if span > 0) - low
    return TensorDesc(shape, steps, -low, (elements,), dtype.value)


def _facts() -> Iterator[tuple[str, str]]:
    """Names and values of what holds on this machine."""
    active = settings.current()
    yield "aclnn_py", version("aclnn-py")
    yield "devices", _devices(active.backend)
    yield "SoC profile", active.soc
    yield "instruction sets", ", ".join(isa.supported())
    yield "softmax float32 runs on", _chosen_isa(active.isa_mask)
    yield "threads", str(lib.aclpy_thread_count())
    yield "L2 cache of a core", f"{lib.aclpy_cache_bytes_l2() // 1024} KiB"
    yield "last-level cache (our share)", f"{lib.aclpy_cache_bytes_last_level() // 1024} KiB"


def _devices(backend: str) -> str:
    try:
        count = device_count()
    except AclError as error:  # the row "GPU" says why
        return f"none: {error.status_name} {error.status}"
    return ", ".join(f"{backend}:{index}" for index in range(count))


def _chosen_isa(allowed: int) -> str:
    kernel = lib.aclpy_kernel_find(b"softmax", b"f32", allowed)
    return ffi.string(kernel.isa).decode() if kernel else "the NumPy reference"


def _console() -> Console:
    """Wide enough for pipes, where there is no terminal to fit into."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=200)
