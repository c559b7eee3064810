"""What the documents show and takes minutes: the first command of the README, a cluster, what a contributor does.

Blocks marked `slow` are run as they stand. Those marked `quiet` (whole test suites, and benchmarks, which mean
something only on a machine that does nothing else) are collected by pytest but not run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from test_docs import DOCUMENTS, blocks
from test_docs_printed import differences, result_of_the_readme

SLOW = [(path, block) for path in DOCUMENTS for block in blocks(path, "bash slow")]
QUIET = [(path, block) for path in DOCUMENTS for block in blocks(path, "bash quiet")]


def script(lines: str, where: Path, seconds: float, **variables: str) -> tuple[int, str]:
    """(exit status, stdout) of a bash script; whatever it left running is ended with it."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **variables, "PATH": paths}
    with open(where / "printed", "w+", encoding="utf-8") as printed:
        process = subprocess.Popen(
            ["bash", "-ec", lines], cwd=where, env=environment, stdout=printed, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        printed.seek(0)
        return status, printed.read()


def clone(where: Path) -> Path:
    """What git would give a reader, without what was built or cached here."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", ".hypothesis", "*.egg-info")
    return Path(shutil.copytree(ROOT, where / "clone", ignore=left_out))


@pytest.mark.slow
def test_the_first_command_of_the_readme(tmp_path: Path) -> None:
    """Installed into an empty environment, with the core's dependencies alone."""
    first = blocks(ROOT / "README.md", "bash")[0].splitlines()[0]
    status, printed = script(first, clone(tmp_path), seconds=600)
    assert status == 0
    assert differences(result_of_the_readme(), printed) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SLOW)))
def test_slow_blocks_run(number: int, tmp_path: Path) -> None:
    """As they stand, but for the name of the host and a port that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = SLOW[number][1].replace("HOST", "127.0.0.1").replace("8786", str(port))
    assert script(lines, clone(tmp_path), seconds=1200)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(QUIET)))
def test_quiet_blocks_collect_tests(number: int, tmp_path: Path) -> None:
    lines = QUIET[number][1].replace(".venv/bin/", "")
    status, printed = script(lines, clone(tmp_path), 300, PYTEST_ADDOPTS="--collect-only")
    assert status == 0
    assert printed.count("tests collected") == lines.count("pytest")


def test_there_are_such_blocks() -> None:
    assert {path.name for path, _ in SLOW} == {"contribute.md", "sweeps.md"}
    assert {path.name for path, _ in QUIET} == {"contribute.md", "performance.md"}
