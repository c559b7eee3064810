"""What two solves of the same model disagree about, over the body of the density and beyond it.

The body is everything between the two points with mass 1e-12 beyond them; it may reach past an open edge, where the
continuation is compared at the body's limit. Beyond the body the disagreement is measured as a slope in ζ, because
there an error of the tail exponent is what grows.

The catch: the coarse density is compared between its nodes too (at the fine nodes), so that interpolation, which is
what a user gets, is part of the evidence.
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
from solver.nullvector import Continuation, NullVector, Tail
from solver.power_tail import PowerTail

Array = NDArray[np.float64]
Method = Callable[[Model, Grid, int], NullVector]

# Depths, in units of the edge's, at which tails of powers are compared: their errors are largest near the edge or at
# infinity, where only the first power is left.
_DEPTHS = np.array([1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 1e2, 1e4, 1e6])
# Nodes beyond the edge, in decades up to the reach, at which tails pinned by the tempering are compared: they are no
# exponentials, so that equal decay rates do not make them equal.
_DECADES = 3
# Coarse nodes on either side of a place that are looked at with it: a disagreement changes its sign here and there.
_NEAR = 2


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

    def holds(self, mass: float, settled: tuple[bool, bool] = (False, False)) -> bool:
        """Is the mass beyond either end of the grid, but for `settled` ones, below `mass`?"""
        left, right = self.limits(mass)
        return (settled[0] or left > self.grid.left) and (settled[1] or right < self.grid.right)

    @cached_property
    def interpolant(self) -> Interpolant:
        null = self.null
        return Interpolant(self.grid.left, self.grid.spacing, null.log_density, null.left, null.right)

    @cached_property
    def body(self) -> tuple[float, float]:
        """The points with mass BODY beyond them."""
        return self.limits(BODY)

    def limits(self, mass: float) -> tuple[float, float]:
        """The points with this mass beyond them, past an open edge if need be, at a stop edge at most."""
        left = _limit(self.null.log_density, self.grid.spacing, self.null.left, mass)
        right = _limit(self.null.log_density[::-1], self.grid.spacing, self.null.right, mass)
        return self.grid.left + left, self.grid.right - right

    @property
    def exponents(self) -> tuple[float, float]:
        """Decay rates beyond the open edges; NaN at a stop edge and for a tail of powers."""
        left, right = (
            np.nan if side is None or isinstance(side, PowerTail) else side.exponent
            for side in (self.null.left, self.null.right)
        )
        return left, right

    @property
    def beyond(self) -> Array:
        """Places beyond the edges at which tails of powers are compared: they belong to the body."""
        places = [np.zeros(0)]
        for side, edge, sign in ((self.null.left, self.grid.left, -1), (self.null.right, self.grid.right, 1)):
            if isinstance(side, PowerTail):
                places.append(edge + sign * side.start * side.spacing * (_DEPTHS - 1))
        return np.concatenate(places)

    def known(self, zeta: Array) -> NDArray[np.bool_]:
        """Is the density known there? Not beyond the reach of the jumps where they pin a tail."""
        within = np.full(zeta.shape, True)
        for side, beyond in ((self.null.left, self.grid.left - zeta), (self.null.right, zeta - self.grid.right)):
            if isinstance(side, Continuation):
                within &= beyond <= side.deepest * side.spacing
        return within

    @cached_property
    def pinned(self) -> Array:
        """Places beyond the edges, as far as the jumps are exact, where a tail is no exponential."""
        places = [np.zeros(0)]
        for side, edge, sign in ((self.null.left, self.grid.left, -1), (self.null.right, self.grid.right, 1)):
            if isinstance(side, Continuation) and side.pinned:
                decades = np.log10(side.reach)
                nodes = np.logspace(1.0, decades, int(_DECADES * decades))
                places.append(edge + sign * side.spacing * np.floor(nodes))
        return np.concatenate(places)


def solve(method: Method, model: Model, grid: Grid, order: int) -> Solve | None:
    """Run a method; None where the grid is so coarse that what comes out has no mass or no solution at all."""
    start = time.perf_counter()
    try:
        with np.errstate(over="raise", invalid="raise"):
            null = method(model, grid, order)
    except (FloatingPointError, np.linalg.LinAlgError):
        return None
    return Solve(grid, null, time.perf_counter() - start)


def _limit(log_density: Array, spacing: float, beyond: Tail | None, mass: float) -> float:
    """Distance inwards from the first node to where the mass outside is `mass` (negative: beyond the edge).

    A tail of powers has no such place within reach of a number; it is taken to lie at the edge.
    """
    outside = -np.inf if beyond is None else float(beyond.log_mass_from(1))
    if beyond is not None and outside > np.log(mass):
        return 0.0 if isinstance(beyond, PowerTail) else -(outside - np.log(mass)) / beyond.exponent
    peak = float(log_density.max())
    inside = np.exp(outside - peak) + spacing * np.cumsum(np.exp(log_density - peak))
    return float(spacing * np.searchsorted(inside, mass * np.exp(-peak)))


@dataclass(frozen=True)
class Disagreement:
    """Largest |Δ ln ρ| over the body, its growth per unit of ζ beyond it on either side, and |Δβ|/β of open tails."""

    body: float
    left_slope: float
    right_slope: float
    exponent: float
    place: float = np.nan  # ζ of the largest of the body, at a node

    @property
    def largest(self) -> float:
        """The larger of the two that rtol bounds: body and exponent."""
        return max(self.body, self.exponent)

    def times(self, factor: float) -> Disagreement:
        """The same with every entry multiplied."""
        return Disagreement(
            factor * self.body, factor * self.left_slope, factor * self.right_slope, factor * self.exponent, self.place
        )

    def plus(self, other: Disagreement) -> Disagreement:
        """Errors of independent origin add up."""
        return Disagreement(
            self.body + other.body,
            self.left_slope + other.left_slope,
            self.right_slope + other.right_slope,
            self.exponent + other.exponent,
            self.place,
        )


NOTHING = Disagreement(0.0, 0.0, 0.0, 0.0)
UNKNOWN = Disagreement(np.inf, np.inf, np.inf, np.inf)


def disagreement(coarse: Solve, fine: Solve) -> Disagreement:
    """Compare ln ρ of two solves at the nodes of the second, and the tails beyond.

    Where the first has no density (beyond its stop edge) nothing is compared.
    """
    zeta = fine.grid.zeta
    inside = (zeta >= coarse.grid.left if coarse.null.left is None else True) & (
        zeta <= coarse.grid.right if coarse.null.right is None else np.full(zeta.shape, True)
    )
    pinned = fine.pinned[coarse.known(fine.pinned)]
    zeta = np.concatenate([zeta[inside], pinned])
    values = np.concatenate([fine.null.log_density[inside], fine.interpolant.log_density_at(pinned)])
    difference = np.abs(coarse.interpolant.log_density_at(zeta) - values)
    left, right = fine.body
    limits = np.concatenate([[left, right], fine.beyond])
    at_limits = np.abs(coarse.interpolant.log_density_at(limits) - fine.interpolant.log_density_at(limits))
    in_body = (zeta >= left) & (zeta <= right)
    at_nodes = float(difference[in_body].max(initial=0.0))
    body = max(at_nodes, float(at_limits[np.isfinite(at_limits)].max(initial=0.0)))
    place = float(zeta[in_body][np.argmax(difference[in_body])]) if 0 < at_nodes == body else np.nan
    if not np.isfinite(difference).all():  # no logarithm where a coarse solve is negative: they agree about nothing
        return UNKNOWN
    drift = np.abs(np.subtract(coarse.exponents, fine.exponents))
    relative = drift / np.abs(fine.exponents)
    slopes = []
    for side, beyond in ((left - zeta, drift[0]), (zeta - right, drift[1])):
        outside = side > 0
        inner = float(((difference[outside] - body) / side[outside]).max(initial=0.0))
        slopes.append(inner if np.isnan(beyond) else max(inner, float(beyond)))
    exponent = float(np.max(relative, where=~np.isnan(relative), initial=0.0))
    return Disagreement(body, slopes[0], slopes[1], exponent, place)


def disagreement_near(coarse: Solve, fine: Solve, place: float) -> float:
    """Largest |Δ ln ρ| of two solves at the nodes of the second around a place, NaN where there is none."""
    zeta = fine.grid.zeta
    near = np.abs(zeta - place) <= _NEAR * coarse.grid.spacing
    difference = np.abs(coarse.interpolant.log_density_at(zeta[near]) - fine.null.log_density[near])
    return float(difference.max()) if difference.size else np.nan
