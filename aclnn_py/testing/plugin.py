# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: fixtures, tests under many schedules, and a leak check behind each test.

Installing the project installs the plugin; ``-p no:aclnn_py`` leaves it out.

- ``acl_device``, ``acl_context``, ``acl_stream``: fixtures; device 0 as a noun, a context of its
  own that is current in the test's thread, a stream of the device.
- ``@pytest.mark.acl_schedules(50)`` runs a test under that many schedules; the first failure shows
  the string that replays it, and a picture (``--acl-timelines FOLDER``).
- ``--acl-schedule r1:...`` runs such tests under that schedule alone.
- ``acl_leaks = off`` in the configuration: no leak checks.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from aclnn_py import Context, Device, Stream
    from aclnn_py.testing.leaks import Ledger

__all__ = ["acl_context", "acl_device", "acl_stream"]

_LONGEST_NAME: Final = 120  # bytes of a picture's file name: file systems take 255 or fewer
_POLICIES: Final = ("eager", "lazy", "reverse")
_LEDGER: Final = pytest.StashKey["Ledger"]()
_WATCH: Final = pytest.StashKey[ExitStack]()
_FAILED: Final = pytest.StashKey[bool]()
# What a schedule may look like; the scheduler itself looks at the rest.
_SCHEDULE: Final = re.compile(r"eager|lazy|reverse|[+-]?\d+|r\d+:.*")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options above."""
    group = parser.getgroup("aclnn_py")
    group.addoption(
        "--acl-schedule",
        metavar="SCHEDULE",
        help="run tests marked acl_schedules under this schedule alone: eager, lazy, reverse, a "
        "seed, or a replay string of an earlier failure",
    )
    group.addoption(
        "--acl-timelines",
        metavar="FOLDER",
        default="acl-timelines",
        help="where the pictures of failed schedules go (default: acl-timelines, below the root)",
    )
    parser.addini(
        "acl_leaks", "error or off: whether what a test leaves open fails it", default="error"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker above; a misspelt option is an error."""
    config.addinivalue_line(
        "markers", "acl_schedules(count): run the test under that many orders of its streams' tasks"
    )
    only = config.getoption("--acl-schedule")
    if only is not None and not _SCHEDULE.fullmatch(only):
        raise pytest.UsageError(
            f"--acl-schedule: expected eager, lazy, reverse, a seed or a replay string (r1:...), "
            f"got {only!r}"
        )
    if config.getini("acl_leaks") not in ("error", "off"):
        raise pytest.UsageError(
            f"acl_leaks: expected error or off, got {config.getini('acl_leaks')}"
        )


# ---- fixtures ----


@pytest.fixture
def acl_device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Device 0, as a noun: it leaves the thread's current context alone."""
    import aclnn_py as acl  # noqa: PLC0415  # a test session without such tests loads nothing

    with acl.Device(0) as device:
        yield device
        _before_closing(request, device._ctx)  # noqa: SLF001  # the primary context's handle


@pytest.fixture
def acl_context(request: pytest.FixtureRequest) -> Iterator[Context]:
    """A context of its own on device 0, current in the test's thread, for the C names."""
    import aclnn_py as acl  # noqa: PLC0415  # as above

    context = acl.aclrtCreateContext(0)
    yield context
    if not context.closed:
        _before_closing(request, context.handle)
        context.close()


def _before_closing(request: pytest.FixtureRequest, context: int) -> None:
    ledger = request.node.stash.get(_LEDGER, None)
    if ledger is not None:
        ledger.before_closing(context)


@pytest.fixture
def acl_stream(request: pytest.FixtureRequest, acl_device: Device) -> Iterator[Stream]:
    """A stream of `acl_device`."""
    from aclnn_runtime import AclError  # noqa: PLC0415  # as above

    stream = acl_device.create_stream()
    yield stream
    aborted = (AclError,) if request.node.stash.get(_FAILED, False) else ()
    with suppress(*aborted):
        stream.close()


# ---- schedules ----


def _count(item: pytest.Function, marker: pytest.Mark) -> int:
    given = [*marker.args, *(value for name, value in marker.kwargs.items() if name == "count")]
    if len(given) == 1 == len(marker.args) + len(marker.kwargs) and type(given[0]) is int:
        count: int = given[0]
        if count > 0:
            return count
    raise pytest.UsageError(
        f"{item.nodeid}: acl_schedules takes one argument, the number of schedules, at least 1"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test once a schedule; fixtures are set up once for all of them."""
    marker = pyfuncitem.get_closest_marker("acl_schedules")
    if marker is None:
        return None
    count = _count(pyfuncitem, marker)
    only = pyfuncitem.config.getoption("--acl-schedule")
    schedules = [only] if only else _schedules(count)
    for number, policy in enumerate(schedules, 1):
        diverged = _run(pyfuncitem, policy, f"schedule {number} of {len(schedules)} ({policy})")
        if only and diverged:
            pytest.fail(
                f"it passed, but the replay string does not fit it from step {diverged} on: the "
                "test has changed since, or this string is another test's",
                pytrace=False,
            )
    return True


def _schedules(count: int) -> list[str]:
    seeds = [str(seed) for seed in range(count - len(_POLICIES))]
    return [*_POLICIES, *seeds][:count]


def _call(item: pytest.Function) -> None:
    names = item._fixtureinfo.argnames  # noqa: SLF001  # as pytest's own hook does
    result = item.obj(**{name: item.funcargs[name] for name in names})
    if hasattr(result, "__await__") or hasattr(result, "__aiter__"):
        if hasattr(result, "close"):
            result.close()  # else Python warns that it was never awaited
        raise pytest.UsageError(
            f"{item.nodeid}: acl_schedules does not run asynchronous tests; call asyncio.run() "
            "inside of an ordinary one"
        )


def _run(item: pytest.Function, policy: str, title: str) -> int:
    """The step at which a replay no longer fitted; 0 where it did."""
    from aclnn_py.testing.schedule import scheduler  # noqa: PLC0415  # loads the native library

    schedule = None
    try:
        with scheduler(policy) as schedule:
            _call(item)
    except pytest.skip.Exception:
        raise  # an Exception as well, but no failure
    except (Exception, pytest.fail.Exception):
        if schedule is not None:
            _abort_streams(item)  # for the picture
            replay = schedule.replay
            lines = [
                f"failed under {title}; the same order again:",
                f"  pytest '{item.nodeid}' --acl-schedule '{replay}'",
                f"  scheduler({replay!r})",
                _timeline(item, replay),
            ]
            if schedule.diverged:
                lines.insert(
                    1,
                    f"  (the string asked for does not fit this test from step "
                    f"{schedule.diverged} on: this is not the order that it stands for)",
                )
            item.add_report_section("call", "acl schedule", "\n".join(lines))
        raise
    return schedule.diverged


def _timeline(item: pytest.Function, replay: str) -> str:
    """Where the picture is, or why there is none: the test's own failure is what counts."""
    try:
        return _picture(item, replay)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001  # said
        return f"timeline: none ({type(error).__name__}: {' '.join(str(error).split())})"


def _file_name(item: pytest.Function) -> str:
    """The test's name as that of a file; a long one is cut, and told from others by a number."""
    name = "".join(sign if sign.isalnum() else "-" for sign in item.name)
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    number = sha256(item.nodeid.encode(errors="backslashreplace")).hexdigest()[:12]
    return f"{name.encode()[:_LONGEST_NAME].decode(errors='ignore')}-{number}"


def _picture(item: pytest.Function, replay: str) -> str:
    """Run the failing order once more under a trace, and draw it."""
    from aclnn_py.testing.schedule import scheduler  # noqa: PLC0415  # loads the native library
    from aclnn_py.testing.timeline import trace  # noqa: PLC0415  # same

    folder = Path(item.config.rootpath, item.config.getoption("--acl-timelines"))
    folder.mkdir(parents=True, exist_ok=True)
    name = _file_name(item)
    events, picture = folder / f"{name}.json", folder / f"{name}.svg"
    with trace(events), suppress(Exception, pytest.fail.Exception), scheduler(replay):
        _call(item)
    done = subprocess.run(  # noqa: S603  # our own command line
        [sys.executable, "-m", "aclnn_py", "timeline", str(events), "-o", str(picture)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return f"timeline: {events} (no picture: {done.stderr.strip()})"
    return f"timeline: {picture} (to explore it: {events} in Perfetto)"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse markers that nothing would follow: methods of unittest are not called by pytest."""
    case = getattr(sys.modules.get("unittest"), "TestCase", ())
    for item in items:
        cls = getattr(item, "cls", None)
        if (
            isinstance(cls, type)
            and issubclass(cls, case)
            and item.get_closest_marker("acl_schedules") is not None
        ):
            raise pytest.UsageError(
                f"{item.nodeid}: acl_schedules does not run methods of unittest.TestCase; write a "
                "function, or a class without that base"
            )


# ---- leaks ----


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """From here on what is opened is noted."""
    if item.config.getini("acl_leaks") != "off":
        from aclnn_py.testing.leaks import Ledger  # noqa: PLC0415  # loads the native library

        item.stash[_LEDGER] = ledger = Ledger()
        item.stash[_WATCH] = watch = ExitStack()
        watch.enter_context(ledger.watching())
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """What a fixture of a wider scope opens lives longer than the test."""
    ledger = _current(request)
    if ledger is None or fixturedef.scope == "function":
        return (yield)
    with ledger.paused():
        return (yield)


def _current(request: pytest.FixtureRequest) -> Ledger | None:
    item = getattr(request, "_pyfuncitem", None)
    return None if item is None else item.stash.get(_LEDGER, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember failures: their tracebacks hold what the test had."""
    report = yield
    if not report.passed:
        item.stash[_FAILED] = True
        _abort_streams(item)
    return report


def _abort_streams(item: pytest.Item) -> None:
    """Drop what a failed test has queued: it may wait for ever, and its fixtures with it."""
    ledger = item.stash.get(_LEDGER, None)
    if ledger is not None:
        ledger.abort_streams()
    given = getattr(item, "funcargs", {})
    contexts = [given["acl_device"]._ctx] if "acl_device" in given else []  # noqa: SLF001  # as above
    contexts += [given["acl_context"].handle] if "acl_context" in given else []
    for context in contexts:  # with streams that are merely garbage, and the default stream
        from aclnn_native import lib  # noqa: PLC0415  # loaded already

        if lib.aclpy_context_abort(context):
            lib.aclpy_error_clear()  # closed, or its streams are being captured


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Behind the fixtures' own ends: whatever a passing test has left open is an error."""
    try:
        result = yield
    finally:
        watch = item.stash.get(_WATCH, None)
        if watch is not None:
            watch.close()
    ledger = item.stash.get(_LEDGER, None)
    if ledger is None or item.stash.get(_FAILED, False):
        return result
    if hasattr(item, "funcargs"):
        item.funcargs.clear()  # fixtures that merely live on in pytest are closed or garbage
    left = ledger.still_open()
    if left:
        lines = "\n".join(f"  {opened}" for opened in left)
        pytest.fail(f"{len(left)} objects of the runtime are still open:\n{lines}", pytrace=False)
    return result
