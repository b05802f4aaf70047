# SPDX-License-Identifier: Apache-2.0
"""Code in another thread, and in another interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading


def in_thread(function, *args):
    """Result or exception of `function` in a thread of its own, which has no current context."""
    outcome = {}

    def body():
        try:
            outcome["result"] = function(*args)
        except BaseException as error:  # noqa: BLE001  # handed on below
            outcome["error"] = error

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "the thread hangs"
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def run_python(
    code: str, *, timeout_s: float = 60, **environment: str
) -> subprocess.CompletedProcess:
    """Run `code` in a new interpreter; a hang is a failure."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env={**os.environ, **environment},
    )
