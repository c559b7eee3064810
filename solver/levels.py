"""What two solves of the same model disagree about, over the body of the density and beyond it.

The body is everything between the two points with mass 1e-12 beyond them; it may reach past an open edge, where the
continuation is compared at the body's limit. Beyond the body the disagreement is measured as a slope in ζ, because
there an error of the tail exponent is what grows.

The catch: the coarse density is compared between its nodes too (at the fine nodes), so that interpolation, which is what
a user gets, is part of the evidence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solver.discretisation import BODY
from solver.grid import Grid
from solver.interpolant import Interpolant
from solver.model import Model
from solver.nullvector import Continuation, NullVector

Array = NDArray[np.float64]
Method = Callable[[Model, Grid, int], NullVector]


@dataclass(frozen=True, eq=False)
class Solve:
    """One null vector on one grid, and the time it took."""

    grid: Grid
    null: NullVector
    seconds: float

    @property
    def positive(self) -> bool:
        """Is every entry positive? A resolved grid gives no other."""
        return bool((self.null.sign > 0).all() and np.isfinite(self.null.log_density).all())

    @cached_property
    def interpolant(self) -> Interpolant:
        null = self.null
        return Interpolant(self.grid.left, self.grid.spacing, null.log_density, null.left, null.right)

    @cached_property
    def body(self) -> tuple[float, float]:
        """The points with mass BODY beyond them, past an open edge if need be, at a stop edge at most."""
        left = _limit(self.null.log_density, self.grid.spacing, self.null.left)
        right = _limit(self.null.log_density[::-1], self.grid.spacing, self.null.right)
        return self.grid.left + left, self.grid.right - right

    @property
    def exponents(self) -> tuple[float, float]:
        """Decay rates beyond the open edges; NaN at a stop edge."""
        left, right = (np.nan if side is None else side.exponent for side in (self.null.left, self.null.right))
        return left, right


def solve(method: Method, model: Model, grid: Grid, order: int) -> Solve | None:
    """Run a method; None where the grid is so coarse that what comes out has no mass or no solution at all."""
    start = time.perf_counter()
    try:
        null = method(model, grid, order)
    except (FloatingPointError, np.linalg.LinAlgError):
        return None
    return Solve(grid, null, time.perf_counter() - start)


def _limit(log_density: Array, spacing: float, beyond: Continuation | None) -> float:
    """Distance inwards from the first node to where the mass outside is BODY (negative: beyond the edge)."""
    outside = -np.inf if beyond is None else float(beyond.log_mass_from(1))
    if beyond is not None and outside > np.log(BODY):
        return -(outside - np.log(BODY)) / beyond.exponent
    peak = float(log_density.max())
    mass = np.exp(outside - peak) + spacing * np.cumsum(np.exp(log_density - peak))
    return spacing * float(np.searchsorted(mass, BODY * np.exp(-peak)))


@dataclass(frozen=True)
class Disagreement:
    """Largest |Δ ln ρ| over the body, its growth per unit of ζ beyond it on either side, and |Δβ|/β of open tails."""

    body: float
    left_slope: float
    right_slope: float
    exponent: float

    def scaled(self, factor: float) -> Disagreement:
        """The same with every entry multiplied."""
        return Disagreement(
            factor * self.body, factor * self.left_slope, factor * self.right_slope, factor * self.exponent
        )


def disagreement(coarse: Solve, fine: Solve) -> Disagreement:
    """Compare ln ρ of two solves at the nodes of the second, and the tails beyond.

    Where the first has no density (beyond its stop edge) nothing is compared.
    """
    zeta = fine.grid.zeta
    inside = (zeta >= coarse.grid.left if coarse.null.left is None else True) & (
        zeta <= coarse.grid.right if coarse.null.right is None else np.full(zeta.shape, True)
    )
    zeta = zeta[inside]
    difference = np.abs(coarse.interpolant.log_density_at(zeta) - fine.null.log_density[inside])
    left, right = fine.body
    limits = np.array([left, right])
    at_limits = np.abs(coarse.interpolant.log_density_at(limits) - fine.interpolant.log_density_at(limits))
    in_body = (zeta >= left) & (zeta <= right)
    body = float(max(difference[in_body].max(initial=0.0), at_limits[np.isfinite(at_limits)].max(initial=0.0)))
    drift = np.abs(np.subtract(coarse.exponents, fine.exponents))
    relative = drift / np.abs(fine.exponents)
    slopes = []
    for side, beyond in ((left - zeta, drift[0]), (zeta - right, drift[1])):
        outside = side > 0
        inner = float(((difference[outside] - body) / side[outside]).max(initial=0.0))
        slopes.append(max(inner, 0.0 if np.isnan(beyond) else float(beyond)))
    return Disagreement(body, slopes[0], slopes[1], float(np.max(relative, where=~np.isnan(relative), initial=0.0)))
