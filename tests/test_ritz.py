"""Modes of one grid against dense algebra, and the continuum that a grid makes discrete."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solver.drifts import CallableDrift, LogisticDrift, TanhDrift
from solver.essential import best_weight
from solver.generator import build_generator
from solver.grid import Grid
from solver.jumps import TemperedStableJumps
from solver.model import Model
from solver.modes import relaxation_modes
from solver.ritz import ritz

JUMPS = TemperedStableJumps(0.05, 0.7, 4.0)


def dense_rates(model: Model, grid: Grid) -> np.ndarray:
    """All rates of a small grid by dense algebra in the same weighted coordinates, the stationary state first."""
    weight = np.exp(best_weight(model, grid.zeta))
    matrix = build_generator(model, grid).to_dense() * weight[None, :] / weight[:, None]
    values = -np.linalg.eigvals(matrix)
    return values[np.argsort(values.real)]


DENSE = {
    "asymmetric": (Model(LogisticDrift(1.0, 3.0, 0.2, 0.3), 0.05, TemperedStableJumps(0.1, 1.2, 4.0)), (-12.0, 9.0)),
    "three wells": (
        Model(CallableDrift(lambda z: -np.sin(3 * z) - z / 2, left=np.inf, right=np.inf, scale=0.3), 0.1, JUMPS),
        (-6.0, 6.0),
    ),
    "pure jumps": (Model(TanhDrift(1.0, 0.5, 2.0), 0.0, TemperedStableJumps(0.3, 0.9, 3.0)), (-14.0, 15.0)),
}


@pytest.mark.parametrize("name", DENSE)
def test_against_dense_algebra(name: str) -> None:
    """The same grid: Arnoldi on the elimination, LAPACK on the generator's matrix."""
    model, ends = DENSE[name]
    grid = Grid(*ends, 501, "stop")
    found = ritz(model, grid, best_weight(model, grid.zeta), 5, shift=0.1)
    exact = dense_rates(model, grid)
    assert abs(exact[0]) < 1e-11
    near = [exact[np.argmin(np.abs(exact - rate))] for rate in found.rates]
    assert np.abs(found.rates / near - 1).max() < 1e-10  # measured 1e-12, dense algebra's own
    assert np.allclose(np.sort(np.abs(found.rates)), np.sort(np.abs(exact[1 : found.rates.size + 1])), rtol=1e-9)


@pytest.mark.parametrize("name", DENSE)
def test_no_mode_is_missed(name: str) -> None:
    """Dense algebra on a grid of its own finds as many rates below the edge, and these."""
    model, ends = DENSE[name]
    modes = relaxation_modes(model, k=4)
    exact = dense_rates(model, Grid(2 * ends[0], 2 * ends[1], 801, "stop"))[1:]
    below = exact[exact.real < modes.searched_below][:4]
    assert below.size == modes.rates.size
    assert np.abs(modes.rates / below.real - 1).max(initial=0.0) < 1e-6  # measured 2e-8 (pure jumps): the dense grid's


def test_the_continuum_is_not_returned(baseline: Any) -> None:
    """The baseline has no mode. Its rates on a grid lie above the edge and come down to it as the grid widens."""
    modes = relaxation_modes(baseline)
    edge = modes.essential_edge
    assert modes.rates.size == 0 and modes.right.shape == modes.left.shape == (0, modes.zeta.size)
    assert modes.gap == edge and modes.searched_below < edge
    lowest = []
    for half in (40.0, 80.0):
        grid = Grid(-half, half, int(20 * half) + 1, "stop")
        lowest.append(ritz(baseline, grid, best_weight(baseline, grid.zeta), 1, shift=0.05).rates[0].real - edge)
    assert lowest[0] > lowest[1] > 0
    assert abs(lowest[0] / lowest[1] - 4) < 0.5  # measured 3.7: as the square of the wave number that fits
