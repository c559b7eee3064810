"""Densities known in closed form, put on a grid as if a solver had found them, and a way to spoil one.

gamma_density:  F = D (a - b e^ζ), no jumps: e^ζ ~ Gamma(a, rate b)
cosh_density:   F = -κ tanh ζ, no jumps, s = κ/η_G, open on both sides
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from solver.density import ErrorEstimate, StationaryDensity
from solver.drifts import ExponentialDrift, TanhDrift
from solver.grid import Grid
from solver.model import Model
from solver.nullvector import Continuation, NullVector
from validation.exact_densities import cosh_log_density, gamma_log_density

Array = NDArray[np.float64]


def geometric(spacing: float, rate: float, log_edge: float) -> Continuation:
    """The half-line ρ_n = ρ_edge e^{-rate n h}: one number sent on from node to node."""
    step = np.array([[np.exp(-rate * spacing)]])
    return Continuation(np.ones((1, 1)), step, step[0], log_edge, spacing, rate, np.inf)


def on_grid(
    model: Model, grid: Grid, values: Array, rates: tuple[float, float], error: float = 1e-12
) -> StationaryDensity:
    """ln ρ at the nodes as a density; an open edge goes on geometrically with its rate."""
    left = geometric(grid.spacing, rates[0], values[0]) if grid.edges[0] == "open" else None
    right = geometric(grid.spacing, rates[1], values[-1]) if grid.edges[1] == "open" else None
    null = NullVector(values, np.ones(values.size), left, right, residual=0.0, column_defect=0.0)
    return StationaryDensity(model, grid, 8, "exact", null, ErrorEstimate(error), (), ())


def gamma_density(
    a: float,
    b: float = 1.0,
    spacing: float = 0.05,
    left: float = -40.0,
    right: float = 5.0,
    edge: str = "open",
) -> StationaryDensity:
    """e^ζ ~ Gamma(a, rate b); for b = 1 the mass beyond ζ = 5 is e^{-148}."""
    grid = Grid(left, right, round((right - left) / spacing) + 1, (edge, "stop"))
    model = Model(ExponentialDrift(0.3 * a, 0.3 * b), 0.3, None)
    return on_grid(model, grid, gamma_log_density(grid.zeta, a, b), (a, np.nan))


def cosh_density(s: float, spacing: float = 0.05, half: float = 20.0) -> StationaryDensity:
    """ρ ∝ cosh^{-s} ζ; its tails are geometric to e^{-2·half}."""
    grid = Grid(-half, half, round(2 * half / spacing) + 1, "open")
    return on_grid(Model(TanhDrift(0.3 * s, 0.0, 1.0), 0.3, None), grid, cosh_log_density(grid.zeta, s), (s, s))


def tilted(density: StationaryDensity, rate: float) -> StationaryDensity:
    """The density times e^{rate·ζ}, continuation included: a wrong answer that looks right."""

    def side(half: Continuation | None, edge: float, outwards: float) -> Continuation | None:
        if half is None:
            return None
        factor = np.exp(outwards * rate * half.spacing * np.arange(1, half.block.shape[0] + 1))
        return dataclasses.replace(
            half,
            block=half.block * factor[:, None],
            step=half.step * factor[-1],
            log_scale=half.log_scale + rate * edge,
            exponent=half.exponent - outwards * rate,
        )

    null, grid = density.null, density.grid
    spoiled = dataclasses.replace(
        null,
        log_density=null.log_density + rate * grid.zeta,
        left=side(null.left, grid.left, -1.0),
        right=side(null.right, grid.right, 1.0),
    )
    return dataclasses.replace(density, null=spoiled)
