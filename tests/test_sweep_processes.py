"""Sweeps in processes: killed and resumed, on a Dask cluster, interrupted; the same numbers to the last bit.

The killed process is the one that hands out points and keeps results. Its workers are left to find out by themselves,
as after a crash; which points they had begun is written by a stand-in for `solve_point` in a module of its own.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from solver.drifts import TanhDrift
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.sweep import sweep

MODEL = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
KILLS = 5
JOBS = 2
PATIENCE = 240.0  # seconds for anything to happen on a machine that is busy

COUNTED = """
    import os
    import time
    from solver import sweep_point

    original = sweep_point.solve_point

    def solve_point(task):
        # one short write with O_APPEND is whole, whatever other processes do
        log = os.open(os.environ["COUNTED_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{os.environ['COUNTED_RUN']} {task.index}\\n".encode())
        os.close(log)
        time.sleep(0.02)  # so that a kill finds points in work
        return original(task)
"""
SCRIPT = """
    import sys
    import counted
    from solver import sweep_point
    from test_sweep_processes import SHAPES, run

    if __name__ == "__main__":
        sweep_point.solve_point = counted.solve_point
        run(sys.argv[1], SHAPES[sys.argv[2]])
"""
SHAPES = {"small": (8, 5), "large": (20, 20)}


def run(store: str | None, shape: tuple[int, int] = SHAPES["small"], **where: Any) -> Any:
    """The sweep of all tests here; one point in each row has no stationary density."""
    axes = {"intensity": np.linspace(0.1, 0.9, shape[0]), "plateau": np.linspace(-0.2, 1.2, shape[1])}
    return sweep(MODEL, axes, rtol=1e-2, store=store, **({"jobs": JOBS} | where))


def same_bits(one: Any, other: Any) -> bool:
    """Whether two data sets are equal, NaN included, to the last bit."""
    if not one.identical(other):
        return False
    return all(one[name].values.tobytes() == other[name].values.tobytes() for name in one.data_vars)


def stored_keys(store: Path) -> set[str]:
    """Keys in a store that another process may be writing."""
    if not store.exists():
        return set()
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)
    try:
        return {key for (key,) in connection.execute("SELECT key FROM points")}
    except sqlite3.OperationalError:  # the table is not there yet
        return set()
    finally:
        connection.close()


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of a test, each the head of its own group; whatever is left of the groups ends with the test."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def begin(
    started: list[subprocess.Popen[bytes]], folder: Path, words: list[str], number: int
) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "tests")])
    environment = os.environ | {"PYTHONPATH": path, "COUNTED_LOG": str(folder / "log"), "COUNTED_RUN": str(number)}
    with (folder / f"errors{number}").open("wb") as errors:
        process = subprocess.Popen(words, env=environment, stderr=errors, start_new_session=True)
    started.append(process)
    return process


def killed_and_resumed(started: list[subprocess.Popen[bytes]], folder: Path, shape: str) -> None:
    rows, columns = SHAPES[shape]
    total, store = rows * columns, folder / "points.sqlite"
    (folder / "counted.py").write_text(textwrap.dedent(COUNTED))
    (folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    words = [sys.executable, str(folder / "script.py"), str(store), shape]
    rng = np.random.default_rng(11)
    kept_before: list[int] = []
    for number in range(KILLS):
        before = len(stored_keys(store))
        kept_before.append(before)
        process = begin(started, folder, words, number)
        # a random number of further points, at least one so that there is progress, then a random moment
        wanted = before + 1 + int(rng.integers(0, (total - before) // (KILLS + 2 - number)))
        deadline = time.monotonic() + PATIENCE
        while len(stored_keys(store)) < wanted and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0, 0.05)))
        assert process.poll() is None, (folder / f"errors{number}").read_text()
        process.kill()
        process.wait()
    kept_before.append(len(stored_keys(store)))
    assert kept_before[0] == 0 < kept_before[-1] < total and kept_before == sorted(kept_before)
    last = begin(started, folder, words, KILLS)
    assert last.wait(PATIENCE) == 0, (folder / f"errors{KILLS}").read_text()
    assert len(stored_keys(store)) == total

    begun = [tuple(map(int, line.split())) for line in (folder / "log").read_text().splitlines()]
    for number in range(KILLS + 1):
        one_run = [index for run_number, index in begun if run_number == number]
        assert len(one_run) == len(set(one_run)), "within a run nothing is computed twice"
        # nothing that was kept is begun again: a run has only so many points left to begin
        assert len(one_run) <= total - kept_before[number]
    assert {index for _, index in begun} == set(range(total))
    # begun but not kept: what was out when the kill came, two points a worker
    assert len(begun) <= total + KILLS * 2 * JOBS
    assert same_bits(run(str(store), SHAPES[shape]), run(None, SHAPES[shape]))


def test_killed_five_times_and_resumed_bit_for_bit(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    killed_and_resumed(started, tmp_path, "small")


@pytest.mark.slow
def test_a_larger_sweep_killed_five_times(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    killed_and_resumed(started, tmp_path, "large")


def test_one_process_and_a_dask_cluster_give_the_same_bits(tmp_path: Path) -> None:
    """A scheduler and two worker processes over TCP; a store filled by one engine serves the other."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, protocol="tcp", dashboard_address=None
    ) as cluster:
        assert cluster.scheduler_address.startswith("tcp://")
        clustered = run(str(tmp_path / "dask"), scheduler=cluster.scheduler_address)
        seen: list[int] = []
        assert same_bits(
            run(str(tmp_path / "dask"), scheduler=cluster.scheduler_address, progress=counting(seen)), clustered
        )
        assert seen == [], "the second time nothing is left to do"
    assert same_bits(run(None, jobs=1, progress=counting(seen)), clustered)
    assert sum(seen) == clustered["status"].size and set(seen) == {1}


def counting(seen: list[int]) -> Any:
    """A progress that notes what it is told."""
    from contextlib import contextmanager

    @contextmanager
    def progress(total: int, label: str) -> Iterator[Any]:
        yield seen.append

    return progress


def test_an_interrupted_command_says_what_is_kept_and_goes_on(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(
        'model = "concentrated"\nrtol = 1e-2\n[axes]\nplateau = { range = [0.5, 1.5], points = 150 }\n'
    )
    code = "import typer; from solver.command_sweep import sweep; typer.run(sweep)"
    words = [sys.executable, "-c", code, str(tmp_path / "s.toml"), "--out", str(tmp_path / "s"), "--jobs", "2"]
    process = begin(started, tmp_path, words, 0)
    store, deadline = tmp_path / "s" / "points.sqlite", time.monotonic() + PATIENCE
    while len(stored_keys(store)) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    assert process.wait(PATIENCE) == 130
    said = " ".join((tmp_path / "errors0").read_text().split())
    number = len(stored_keys(store))
    assert f"interrupted; {number} of 150 points are stored in" in said and "the same command goes on" in said
    assert "Traceback" not in said
    assert 5 <= number < 150 and not (tmp_path / "s" / "sweep.nc").exists()
