# SPDX-License-Identifier: Apache-2.0
"""aclInit's configuration, the callbacks around it, versions of packages, last errors."""

from __future__ import annotations

import json
import logging
import textwrap

import pytest

import aclnn_py as acl
from support.process import in_thread, run_python


def run(code: str, **environment: str) -> str:
    done = run_python("import aclnn_py as acl\n" + textwrap.dedent(code), **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def status_of(call, *arguments):
    with pytest.raises(acl.AclError) as caught:
        call(*arguments)
    return caught.value.status


def test_a_default_device_is_set_implicitly(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text(json.dumps({"defaultDevice": {"default_device": "1"}}))
    out = run(
        f"""
        import threading
        acl.aclInit({str(path)!r})
        found = []
        def work():
            acl.aclrtFree(acl.aclrtMalloc(8))
            found.append(acl.aclrtGetDevice())
            acl.aclrtResetDevice(1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print(found, acl.aclrtGetPrimaryCtxState(1))
        acl.aclFinalize()
        try:
            acl.aclrtGetDevice()
        except acl.AclError as error:
            print(error.status)
        """,
        ACLNN_PY_DEVICES="2",
    )
    assert out.split() == ["[1]", "0", "107002"]


@pytest.mark.parametrize(
    ("value", "status"),
    [("x", 100008), ("", 100008), (1.5, 100008), ("1 ", 100008), ("1", 107001), (-1, 107001)],
)
def test_a_default_device_that_is_none(tmp_path, value, status):
    path = tmp_path / "acl.json"
    path.write_text(json.dumps({"defaultDevice": {"default_device": value}}))
    assert status_of(acl.aclInit, path) == status


def test_an_unknown_chip():
    out = run(
        """
        try:
            acl.aclInit()
        except acl.AclError as error:
            print(error.status, acl.aclrtGetSocName())
        """,
        ACLNN_PY_SOC="Abacus",
    )
    assert out.split() == ["500000", "None"]


def test_callbacks_of_init_and_finalize(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text('{"max_opqueue_num": "5"}')
    out = run(
        f"""
        acl.aclInitCallbackRegister(1, lambda text: print("init", text))
        def finished():
            print("over")
        acl.aclFinalizeCallbackRegister(1, finished)
        acl.aclInit({str(path)!r})
        acl.aclFinalizeReference()
        acl.aclFinalizeCallbackUnRegister(1, finished)
        acl.aclInit({str(path)!r})
        acl.aclFinalize()
        """
    )
    assert out.splitlines() == ['init {"max_opqueue_num": "5"}', "over", out.splitlines()[0]]


def test_a_callback_that_raises_is_the_status_of_init():
    out = run(
        """
        import logging
        logging.disable(logging.CRITICAL)
        def broken(text):
            raise ValueError(text)
        def refusing(text):
            raise acl.AclError("no", status=148048)
        for callback in (broken, refusing):
            acl.aclInitCallbackRegister(2, callback)
            try:
                acl.aclInit()
            except acl.AclError as error:
                print(error.status)
            acl.aclFinalize()
            acl.aclInitCallbackUnRegister(2, callback)
        """
    )
    assert out.split() == ["500001", "148048"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8.1.3", 80103000),
        ("8.1.RC1", 80099901),
        ("8.0.0.alpha002", 79999702),
        ("9.0.0-beta.1", 89999801),
        ("9.0.0.beta1", 89999801),
        ("9.0.0-alpha.3", 89999703),
        ("1.2.3.4", None),
        ("next", None),
        ("", None),
    ],
)
def test_versions_of_packages(tmp_path, monkeypatch, text, number):
    folder = tmp_path / "share" / "info" / "some-package"
    folder.mkdir(parents=True)
    (folder / "version.info").write_text(f"# comment\nVersion={text}\nother=1\n")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    assert acl.aclsysGetVersionStr("some_package") == text
    if number is None:
        assert status_of(acl.aclsysGetVersionNum, "some-package") == 500000
    else:
        assert acl.aclsysGetVersionNum("some-package") == number
    assert status_of(acl.aclsysGetVersionStr, "other") == 100003
    (folder / "version.info").write_text("nothing\n")
    assert status_of(acl.aclsysGetVersionStr, "some-package") == 500000


def test_the_last_error_belongs_to_the_thread_and_to_the_runtime():
    def body():
        assert acl.aclrtGetLastError() == 0
        assert status_of(acl.aclrtMalloc, 0) == 100000
        assert acl.aclrtPeekAtLastError() == 0
        assert status_of(acl.aclrtGetDevice) == 107002
        assert in_thread(acl.aclrtPeekAtLastError) == 0
        assert status_of(acl.aclrtGetDeviceInfo, 0, 601) == 207000
        assert acl.aclrtPeekAtLastError(0) == 107002
        assert acl.aclrtGetLastError(0) == 107002
        assert acl.aclrtGetLastError(0) == 0

    in_thread(body)


def test_a_failed_task_calls_back_and_surfaces_at_the_synchronise(caplog, monkeypatch):
    # Libraries that configure logging may have switched existing loggers off.
    monkeypatch.setattr(logging.getLogger("aclnn_py"), "disabled", False)

    def body():
        seen = []

        def broken(info):
            raise KeyError("of the callback")

        def task(_):
            raise ValueError("of the task")

        acl.aclrtSetDevice(0)
        stream = acl.aclrtCreateStream()
        acl.aclrtSetExceptionInfoCallback(seen.append)
        acl.aclrtExceptionInfoCallbackRegister(broken)
        acl.aclrtExceptionInfoCallbackRegister(seen.append)
        acl.aclrtGetLastError()
        acl.aclrtLaunchHostFunc(stream, task, None)
        with pytest.raises(acl.AclError) as caught:
            acl.aclrtSynchronizeStream(stream)
        assert caught.value.status == 507000
        assert isinstance(caught.value.__cause__, ValueError)
        assert acl.aclrtGetLastError() == 507000
        assert len(seen) == 2
        info = seen[0]
        assert acl.aclrtGetErrorCodeFromExceptionInfo(info) == 507000
        assert acl.aclrtGetDeviceIdFromExceptionInfo(info) == 0
        assert acl.aclrtGetStreamIdFromExceptionInfo(info) > 0
        assert acl.aclrtGetThreadIdFromExceptionInfo(info) > 0
        assert acl.aclrtGetTaskIdFromExceptionInfo(info) == info.task_id
        assert acl.aclrtGetTaskIdFromExceptionInfo(None) == 0xFFFFFFFF
        assert acl.aclrtGetErrorVerbose(0) == 0xFFFF
        acl.aclrtSetExceptionInfoCallback(None)
        acl.aclrtExceptionInfoCallbackUnregister(seen.append)
        acl.aclrtExceptionInfoCallbackUnregister(broken)
        acl.aclrtLaunchHostFunc(stream, task, None)
        assert status_of(acl.aclrtSynchronizeStream, stream) == 507000
        assert len(seen) == 2
        acl.aclrtResetDevice(0)

    with caplog.at_level(logging.ERROR, "aclnn_py"):
        in_thread(body)
    assert "aclrtExceptionInfoCallbackRegister raised" in caplog.text


def test_log_lines_go_to_standard_error():
    code = """
    acl.aclAppLog(1, "main", "host.py", 7, "shown only when asked for")
    acl.aclAppLog(3, "main", "host.py", 8, "x" * 2000)
    """
    for level, lines in (("", 1), ("1", 2), ("4", 0)):
        done = run_python(
            "import aclnn_py as acl\n" + textwrap.dedent(code), ASCEND_GLOBAL_LOG_LEVEL=level
        )
        assert done.returncode == 0, done.stderr
        shown = done.stderr.splitlines()
        assert len(shown) == lines
        assert all(len(line) < 1100 for line in shown)


def test_an_operator_that_is_only_declared_is_in_the_log_once():
    code = """
    import ctypes as c
    from aclnn_py.abi.toolkit import library_path
    library, size, executor = c.CDLL(str(library_path())), c.c_uint64(), c.c_void_p()
    for name in ("Abs", "Abs", "Acos"):
        plan = library[f"aclnn{name}GetWorkspaceSize"]
        assert plan(None, None, c.byref(size), c.byref(executor)) == 561003
    """
    for level, names in (("", ["Abs", "Acos"]), ("4", [])):
        done = run_python(textwrap.dedent(code), ASCEND_GLOBAL_LOG_LEVEL=level)
        assert done.returncode == 0, done.stderr
        begins = [f"[ERROR] aclnn{name}GetWorkspaceSize: " for name in names]
        shown = done.stderr.splitlines()
        assert [line[: len(begin)] for line, begin in zip(shown, begins, strict=True)] == begins
