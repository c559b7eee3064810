"""Elimination, eigs and dense side by side at 500 to 4000 nodes. Run with

    OPENBLAS_NUM_THREADS=1 python -m pytest benchmarks/test_methods.py -q --benchmark-columns=min,median,rounds \
        --benchmark-sort=name

One null vector of the baseline between stop edges, each method at its own order (8, 8 and 2), h = 25/(N-1): what grows
is the number of nodes, not the depth, so that all three have the same density to find.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from solver import Grid, Model, TanhDrift, TemperedStableJumps, dense, eigen, elimination

HALF_WIDTH = 12.5


def baseline() -> Model:
    return Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))


@pytest.mark.benchmark(group="nodes and method")
@pytest.mark.parametrize("nodes", [500, 1000, 2000, 4000])
@pytest.mark.parametrize("method", [elimination, eigen, dense], ids=lambda module: module.__name__.split(".")[-1])
def test_null_vector(benchmark: Any, method: ModuleType, nodes: int) -> None:
    grid = Grid(-HALF_WIDTH, HALF_WIDTH, nodes, "stop")
    null = benchmark.pedantic(method.null_vector, (baseline(), grid), rounds=3, warmup_rounds=1)
    assert null.residual < 1e-6
