# SPDX-License-Identifier: Apache-2.0
"""Commands for C and C++ programs: ``toolkit``, ``build`` and ``run``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NoReturn

import click

from aclnn_py.abi.toolkit import LIBRARIES, make_toolkit
from aclnn_py.core.soc import SOC_PROFILES
from aclnn_py.testing import scheduler
from aclnn_runtime import AclError

__all__ = ["COMMANDS"]

_LIBRARY_VARIABLE: Final = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
_LINKED: Final = ("opapi_nn", "opapi_math", "ascendcl", "nnopbase")


def _include_flags(root: Path) -> list[str]:
    return [f"-I{root}/include", f"-I{root}/include/aclnnop"]


def _library_flags(root: Path) -> list[str]:
    return [f"-L{root}/lib64", *[f"-l{name}" for name in _LINKED], f"-Wl,-rpath,{root}/lib64"]


def _stop(text: str) -> NoReturn:
    raise click.ClickException(text)


def _made(into: Path | None = None) -> Path:
    """The toolkit's folder."""
    try:
        return make_toolkit(into)
    except OSError as error:
        variable = "--into" if into is not None else "XDG_CACHE_HOME"
        kind = "an empty or a new folder" if isinstance(error, FileExistsError) else "a folder"
        _stop(f"the toolkit cannot be made: {error}\nLet {variable} name {kind} to write to.")


def _check_schedule(text: str) -> None:
    """A usage error where the engine does not know such a schedule."""
    try:
        with scheduler(text):
            pass
    except AclError as error:
        if error.argument != "policy":  # the variable has started one here, which this replaces
            return
        raise click.BadParameter(str(error), param_hint="--schedule") from None


@click.command()
@click.option("--cflags", is_flag=True, help="Compiler flags.")
@click.option("--libs", is_flag=True, help="Linker flags.")
@click.option("--cmake", is_flag=True, help="Folder of the CMake package.")
@click.option("--into", help="Make the tree in this folder, which is new or empty.")
def toolkit(cflags: bool, libs: bool, cmake: bool, into: str | None) -> None:  # click's
    """Make headers and libraries for C and C++ programs; print where.

    The printed folder is what ASCEND_HOME_PATH means to a host program's own build files.
    """
    if into is not None and not into.strip():
        raise click.BadParameter("is no folder's name", param_hint="--into")
    root = _made(None if into is None else Path(into).absolute())
    if cmake and (cflags or libs):
        raise click.UsageError("--cmake is a folder: it goes without --cflags and --libs")
    flags = [*(_include_flags(root) if cflags else ()), *(_library_flags(root) if libs else ())]
    folder = root / "cmake" / "AclnnPy" if cmake else root
    click.echo(" ".join(flags) if flags else str(folder))


def _compiler(sources: tuple[str, ...]) -> list[str]:
    c_only = all(Path(source).suffix == ".c" for source in sources)
    chosen = os.environ.get("CC" if c_only else "CXX")
    candidates = ("cc", "gcc", "clang") if c_only else ("c++", "g++", "clang++")
    if chosen and chosen.strip():
        return chosen.split()
    for name in candidates:
        if shutil.which(name):
            return [name]
    language = "C" if c_only else "C++"
    _stop(
        f"no {language} compiler was found (tried {', '.join(candidates)}).\n"
        f"Install one (Debian, Ubuntu: sudo apt-get install g++), or name one in "
        f"{'CC' if c_only else 'CXX'}."
    )


# Flags whose value may be an argument of its own.
_WITH_VALUE: Final = (
    *("-D", "-I", "-L", "-MF", "-MQ", "-MT", "-T", "-U", "-Xassembler", "-Xlinker"),
    *("-Xpreprocessor", "-arch", "-framework", "-idirafter", "-imacros", "-include", "-iquote"),
    *("-isystem", "-l", "-o", "-u", "-x", "-z"),
)


def _files(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """What is to be compiled, and whether the flags say where to."""
    flags = ("", *arguments[:-1])  # before each argument
    values = [flag in _WITH_VALUE for flag in flags]
    files = tuple(
        text
        for text, is_value in zip(arguments, values, strict=True)
        if not is_value and not text.startswith("-")
    )
    written = "-o" in flags or any(text.startswith("-o") and text != "-o" for text in arguments)
    return files, written


# -o is the compiler's and not declared here: click would find it inside flags such as -Werror.
# Neither is -h, which is part of -lpthread.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED)
def build(arguments: tuple[str, ...]) -> None:
    """Compile host programs against the toolkit.

    For example: aclnn-py build softmax.cpp -o softmax.

    ARGUMENTS are files, -o with the program to write, and any further flags of the compiler.
    """
    if arguments == ("-h",):
        click.echo(click.get_current_context().get_help())
        return
    files, written = _files(arguments)
    if not written:
        _stop("no -o with the program to write: aclnn-py build softmax.cpp -o softmax")
    if not files:
        _stop("no file to compile: aclnn-py build softmax.cpp -o softmax")
    missing = [source for source in files if not Path(source).is_file()]
    if missing:
        _stop(f"{missing[0]} {'is a folder' if Path(missing[0]).is_dir() else 'does not exist'}")
    root = _made()
    compiler = _compiler(files)
    chosen = any(text.startswith("-std") for text in arguments)
    standard = [] if chosen or Path(files[0]).suffix == ".c" else ["-std=c++17"]
    flags = [*_include_flags(root), *_library_flags(root), "-lpthread"]
    command = [*compiler, *standard, "-O2", *arguments, *flags]
    try:
        done = subprocess.run(command, check=False)  # noqa: S603  # the compiler the user has
    except OSError as error:
        _stop(f"the compiler {compiler[0]} cannot be run: {error}")
    sys.exit(done.returncode)


_OPTIONS: Final = {
    "trace": "ACLNN_PY_TRACE",
    "soc": "ACLNN_PY_SOC",
    "schedule": "ACLNN_PY_SCHEDULE",
}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--soc", type=click.Choice(list(SOC_PROFILES)), help="Default: ACLNN_PY_SOC.")
@click.option("--trace", help="Write a timeline of the streams to this file.")
@click.option("--schedule", help="An order of tasks: eager, lazy, reverse, a seed, a replay.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), help="The same as --schedule with this seed."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(command: tuple[str, ...], seed: int | None, **options: str | None) -> None:
    """Run a host program with this emulator's libraries.

    For example: aclnn-py run --schedule lazy -- ./softmax.
    """
    if seed is not None:
        if options.get("schedule") is not None:
            raise click.UsageError("--seed is a schedule of its own: it goes without --schedule")
        options["schedule"] = str(seed)
    if options.get("schedule") is not None:
        _check_schedule(str(options["schedule"]))
    root = _made()
    environment = dict(os.environ)
    environment["ASCEND_HOME_PATH"] = environment["ASCEND_TOOLKIT_HOME"] = str(root)
    older = environment.get(_LIBRARY_VARIABLE)
    environment[_LIBRARY_VARIABLE] = f"{root}/lib64" + (f":{older}" if older else "")
    environment.setdefault("ACLNN_PY_PYTHON", sys.executable)
    for name, variable in _OPTIONS.items():
        value = options.get(name)
        if value is not None:
            environment[variable] = str(Path(value).absolute()) if name == "trace" else value
    program = shutil.which(command[0])
    if program is None:
        _stop(f"{command[0]} was not found, or may not be executed")
    try:
        os.execve(program, list(command), environment)  # noqa: S606  # the program asked for
    except OSError as error:
        _stop(f"{program} cannot be run: {error.strerror} (scripts begin with #!/bin/sh)")


COMMANDS: Final = (toolkit, build, run)
assert set(_LINKED) <= set(LIBRARIES)
