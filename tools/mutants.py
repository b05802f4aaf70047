# SPDX-License-Identifier: Apache-2.0
"""Plants faults, one at a time, in a copy of the sources: each must turn tests red.

    python tools/mutants.py              all of them, and a table
    python tools/mutants.py -k stale     those whose name contains "stale"
    python tools/mutants.py --list       names, files and tests; nothing is run

A Python fault is written over the installed copy, a C fault is recompiled. A run that hangs is
red, too. A fault that no test notices, or that no longer fits the sources, makes the exit status 1.
One in the kernels of an instruction set that this processor lacks is not tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from mutant_list import MUTANTS

if TYPE_CHECKING:
    from mutant import Mutant

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"aclnn_py": "aclnn_py", "runtime/aclnn_runtime": "aclnn_runtime"}
NOT_SOURCES = (
    ".git",
    ".venv",
    "build",
    "dist",
    "out",
    "__pycache__",
    ".*_cache",
    "*.so",
    "*.egg-info",
)
HANG_SECONDS = 120


class Copy:
    """A private installation: sources, build folder and packages in one temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.sources, self.build, self.site = folder / "src", folder / "build", folder / "site"
        self.python = folder / "venv" / "bin" / "python"
        shutil.copytree(ROOT, self.sources, ignore=shutil.ignore_patterns(*NOT_SOURCES))
        # The environment that runs this may hold an editable installation, whose import hook would
        # win over any path; a bare one, with the dependencies on its path, has no such hook.
        _output(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
        _output(
            sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps",
            "--disable-pip-version-check", "--target", str(self.site), f"-Cbuild-dir={self.build}",
            str(self.sources),
        )  # fmt: skip

    def rebuild(self) -> None:
        """Recompile what has changed and put the libraries where they are imported from."""
        _output("cmake", "--build", str(self.build))
        for library in (*self.build.rglob("libaclnn_py.*"), *self.build.rglob("_calls.*")):
            if library.suffix in (".so", ".dylib"):
                shutil.copy2(library, self.site / "aclnn_native" / library.name)

    def write(self, name: str, text: str) -> None:
        """Exchange one source file, and whatever is made from it."""
        (self.sources / name).write_text(text)
        if name.startswith("native/"):
            self.rebuild()
        else:
            package = next(p for p in PACKAGES if name.startswith(f"{p}/"))
            target = self.site / PACKAGES[package] / name.removeprefix(f"{package}/")
            target.write_text(text)
            for stale in target.parent.glob(f"__pycache__/{target.stem}.*"):
                stale.unlink()

    def runs(self, isa: str) -> bool:
        """Whether this processor has an instruction set."""
        code = (
            "from aclnn_native import lib; import sys;"
            f" sys.exit(lib.aclpy_isa_mask({isa.encode()!r}) & ~lib.aclpy_isa_supported() != 0)"
        )
        done = subprocess.run(  # noqa: S603  # the line above
            [str(self.python), "-c", code], cwd=self.sources, env=self._environment(), check=False
        )
        return done.returncode == 0

    def _environment(self, isa: str = "") -> dict[str, str]:
        paths = [str(self.site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        forced = {"ACLNN_PY_ISA": isa} if isa else {}
        return {**os.environ, **forced, "PYTHONPATH": os.pathsep.join(paths)}

    def test(self, selection: tuple[str, ...], isa: str = "") -> tuple[bool, str]:
        """Whether the selected tests pass, and what pytest says last."""
        command = [str(self.python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(  # noqa: S603  # our own test suite
                [*command, *selection],
                cwd=self.sources,
                env=self._environment(isa),
                capture_output=True,
                text=True,
                check=False,
                timeout=HANG_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False, f"hangs for {HANG_SECONDS} s"
        lines = (done.stdout + done.stderr).strip().splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        if done.returncode < 0:
            return False, f"dies of signal {-done.returncode}"
        if done.returncode not in (0, 1):  # usage, collection: the run proves nothing
            raise SystemExit(f"pytest cannot run {selection}:\n" + "\n".join(lines[-20:]))
        return done.returncode == 0, (failed or lines or [""])[0][:110]


# cmake and ninja of the environment that runs this come before the system's.
_PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
_ENVIRONMENT = {**os.environ, "PATH": _PATH}


def _output(*command: str) -> str:
    done = subprocess.run(  # noqa: S603  # commands written in this file
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=_ENVIRONMENT
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        raise SystemExit(f"{' '.join(command)} failed:\n" + "\n".join(lines[-40:]))
    return done.stdout


def try_mutant(copy: Copy, mutant: Mutant) -> tuple[bool, str]:
    """Whether the suite notices the fault, and how."""
    original = (copy.sources / mutant.file).read_text()
    if original.count(mutant.old) != 1:
        return False, f"does not fit: found {original.count(mutant.old)} times in {mutant.file}"
    try:
        copy.write(mutant.file, original.replace(mutant.old, mutant.new))
        green, text = copy.test(mutant.tests, mutant.isa)
    finally:
        copy.write(mutant.file, original)
    return not green, text


def main() -> int:
    """Run the selected mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-k", default="", help="only mutants whose name contains this")
    parser.add_argument("--list", action="store_true", help="print them and stop")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.k in mutant.name]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:42} {mutant.file:42} {' '.join(mutant.tests)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="aclnn-py-mutants-") as folder:
        print("Building a copy of the sources")
        copy = Copy(Path(folder))
        unseen = [m for m in chosen if m.isa and not copy.runs(m.isa)]
        for mutant in unseen:
            print(f"{'not tried':9} {mutant.name:42} this processor has no {mutant.isa}")
        chosen = [mutant for mutant in chosen if mutant not in unseen]
        for isa in sorted({mutant.isa for mutant in chosen}):
            tests = sorted({test for m in chosen if m.isa == isa for test in m.tests})
            green, text = copy.test(tuple(tests), isa)
            if not green:
                print(f"The tests fail without any fault planted ({isa or 'any'}): {text}")
                return 1
        survivors = 0
        for mutant in chosen:
            started = time.monotonic()
            caught, text = try_mutant(copy, mutant)
            survivors += not caught
            verdict = "red" if caught else "SURVIVES"
            print(
                f"{verdict:9} {mutant.name:42} {time.monotonic() - started:5.1f} s  {text}",
                flush=True,
            )
    print(f"{len(chosen) - survivors} of {len(chosen)} faults turn the suite red")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
