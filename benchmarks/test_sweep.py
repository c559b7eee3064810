"""What a map and a sweep cost, and what a second process gains. Run on a machine that does nothing else:

    OPENBLAS_NUM_THREADS=1 python -m pytest benchmarks/test_sweep.py -q -s

SWEEP_POINTS=4000 in the environment makes it the size that docs/performance.md quotes; the default is short.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from solver.phase_diagram import phase_diagram
from solver.presets import load_preset
from solver.sweep import sweep

POINTS = int(os.environ.get("SWEEP_POINTS", "200"))
# Two processes share memory and caches, and this one keeps the results: less than 2 is to be expected.
LEAST_GAIN = 1.6


def test_a_map_of_a_million_points() -> None:
    """Seconds of the clock and of the processor: they differ on a machine that is busy."""
    model = load_preset("concentrated")
    for x, y in (
        (("intensity", np.linspace(0.01, 1.5, 1000)), ("plateau", np.linspace(0.05, 3, 1000))),
        (("stability", np.linspace(0.02, 1.98, 1000)), ("tempering", np.linspace(0.05, 6, 1000))),
    ):
        phase_diagram(model, (x[0], x[1][:9]), (y[0], y[1][:9]))
        clock, processor = time.perf_counter(), time.process_time()
        phase_diagram(model, x, y)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        print(f"\n{x[0]} x {y[0]}, a million points: {clock:.2f} s, {processor:.2f} s of one processor")


def test_two_processes_against_one(tmp_path: Path) -> None:
    """The same sweep, rtol 1e-6, everything kept; the start of the processes is part of it."""
    columns = max(2, POINTS // 40)
    axes = {"intensity": np.linspace(0.1, 1.5, columns), "plateau": np.linspace(0.3, 2.0, POINTS // columns)}
    seconds = {}
    for jobs in (1, 2):
        started = time.perf_counter()
        data = sweep(load_preset("concentrated"), axes, rtol=1e-6, jobs=jobs, store=tmp_path / f"points{jobs}")
        seconds[jobs] = time.perf_counter() - started
        assert (data["status"] == "ok").all()
    gain = seconds[1] / seconds[2]
    print(f"\n{data['status'].size} solves: one process {seconds[1]:.1f} s, two {seconds[2]:.1f} s, {gain:.2f} times")
    assert gain >= LEAST_GAIN
