"""What a solution costs. Run with

    OPENBLAS_NUM_THREADS=1 python -m pytest benchmarks -q --benchmark-columns=min,median,rounds --benchmark-sort=name

and copy the table into docs/performance.md. Ratios within a group are what to compare: machines differ, and are noisy.
The methods side by side are in test_methods.py.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from solver import (
    Grid,
    Model,
    NotConvergedError,
    TanhDrift,
    TemperedStableJumps,
    build_generator,
    elimination,
    solve_stationary,
)
from solver.presets import load_preset, preset_names

SPACING = 0.05
MILLION = 1_000_001


def baseline() -> Model:
    return Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))


def wide_grid(nodes: int, edges: str) -> Grid:
    half = SPACING * (nodes - 1) / 2
    return Grid(-half, half, nodes, edges)


@pytest.mark.benchmark(group="a million nodes")
def test_elimination(benchmark: Any) -> None:
    """The whole solve, ln ρ down to -31 000, residual included."""
    grid = wide_grid(MILLION, "open")
    null = benchmark.pedantic(elimination.null_vector, (baseline(), grid), rounds=3, warmup_rounds=1)
    assert null.residual < 1e-10


@pytest.mark.benchmark(group="a million nodes")
def test_one_fft_application(benchmark: Any) -> None:
    """One product with the same operator, its weights prepared beforehand."""
    generator = build_generator(baseline(), wide_grid(MILLION, "stop"))
    generator.matvec(np.ones(MILLION))
    benchmark.pedantic(generator.matvec, (np.ones(MILLION),), rounds=3)


@pytest.mark.benchmark(group="time per node")
@pytest.mark.parametrize("nodes", [1_001, 10_001, 100_001, MILLION])
def test_nodes(benchmark: Any, nodes: int) -> None:
    benchmark.pedantic(elimination.null_vector, (baseline(), wide_grid(nodes, "open")), rounds=3, warmup_rounds=1)


@pytest.mark.benchmark(group="presets")
@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
@pytest.mark.parametrize("name", [name for name in preset_names() if name != "frozen-gates"])
def test_presets(benchmark: Any, name: str, rtol: float) -> None:
    try:
        benchmark.pedantic(solve_stationary, (load_preset(name), rtol), rounds=5, warmup_rounds=1)
    except NotConvergedError as failure:
        pytest.fail(str(failure))


def test_memory_of_a_million_nodes() -> None:
    """Largest resident size of a process that solves and nothing else: below 600 MB."""
    code = (
        "import benchmarks.test_speed as b; "
        "b.elimination.null_vector(b.baseline(), b.wide_grid(b.MILLION, 'open')); "
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    megabytes = float(done.stdout) / 1024  # not ru_maxrss, which a child inherits from its parent
    print(f"{megabytes:.0f} MB")
    assert megabytes < 600
