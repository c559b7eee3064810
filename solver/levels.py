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

from solver.density import Level
from solver.discretisation import BODY
from solver.grid import Grid
from solver.interpolant import Interpolant
from solver.model import Model
from solver.nullvector import NullVector, Tail
from solver.power_tail import PowerTail

Array = NDArray[np.float64]
Method = Callable[[Model, Grid, int], NullVector]

# No estimate is smaller: rounding of ln ρ and of the interpolation, and the exponential sum (2e-13).
FLOOR = 1e-12
# Depths, in units of the edge's, at which tails of powers are compared: their errors are largest near the edge or at
# infinity, where only the first power is left.
_DEPTHS = np.array([1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 1e2, 1e4, 1e6])
# An error of the decay rate relative to itself costs this much ln ρ at the ends of the body.
_LN_BODY = -float(np.log(BODY))


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

    @property
    def largest(self) -> float:
        """The larger of the two that rtol bounds: body and exponent."""
        return max(self.body, self.exponent)

    def times(self, factor: float) -> Disagreement:
        """The same with every entry multiplied."""
        return Disagreement(
            factor * self.body, factor * self.left_slope, factor * self.right_slope, factor * self.exponent
        )

    def plus(self, other: Disagreement) -> Disagreement:
        """Errors of independent origin add up."""
        return Disagreement(
            self.body + other.body,
            self.left_slope + other.left_slope,
            self.right_slope + other.right_slope,
            self.exponent + other.exponent,
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
    zeta = zeta[inside]
    difference = np.abs(coarse.interpolant.log_density_at(zeta) - fine.null.log_density[inside])
    left, right = fine.body
    limits = np.concatenate([[left, right], fine.beyond])
    at_limits = np.abs(coarse.interpolant.log_density_at(limits) - fine.interpolant.log_density_at(limits))
    in_body = (zeta >= left) & (zeta <= right)
    body = float(max(difference[in_body].max(initial=0.0), at_limits[np.isfinite(at_limits)].max(initial=0.0)))
    drift = np.abs(np.subtract(coarse.exponents, fine.exponents))
    relative = drift / np.abs(fine.exponents)
    slopes = []
    for side, beyond in ((left - zeta, drift[0]), (zeta - right, drift[1])):
        outside = side > 0
        inner = float(((difference[outside] - body) / side[outside]).max(initial=0.0))
        slopes.append(inner if np.isnan(beyond) else max(inner, float(beyond)))
    return Disagreement(body, slopes[0], slopes[1], float(np.max(relative, where=~np.isnan(relative), initial=0.0)))


class History:
    """The levels so far, what successive ones disagree about, and the error of the latest.

    With d the disagreement of the last two levels and p the observed order (base-2 logarithm of the ratio of the last
    two disagreements) the error of the latest is d / (2^{p-1} - 1): one order less than seen, at most the scheme's;
    slower than second order d itself, or d / (2^p - 1) where that is more. Measured over random models the true
    error is d / (2^p - 1) to 20% from p = 4 on. A drift that need not be smooth (a table, a function) may turn from
    a high order to a low one at any level: then the error is d itself.
    """

    def __init__(self, model: Model, order: int, edges: Disagreement) -> None:
        self.model, self.order, self.edges = model, order, edges
        self.solves: list[Solve | None] = []
        self.levels: tuple[Level, ...] = ()
        self.error = UNKNOWN
        self.rounding = 0.0
        self._differences: list[Disagreement] = []

    def add(self, latest: Solve | None, grid: Grid) -> None:
        """Record one more level, finer than the last."""
        previous = self.solves[-1] if self.solves else None
        self.solves.append(latest)
        self._differences.append(UNKNOWN if latest is None or previous is None else disagreement(previous, latest))
        self.rounding = rounding(self.model, grid)
        order = self.observed_order
        floor = Disagreement(_LN_BODY * self.rounding + FLOOR, 0.0, 0.0, self.rounding)
        factor = _factor(order, self.order if self.model.drift.analytic else 1)
        self.error = self._differences[-1].times(factor).plus(self.edges).plus(floor)
        if latest is not None:
            doubt = max((x.doubt / x.exponent for x in (latest.null.left, latest.null.right) if x is not None), default=0.0)
            self.error = self.error.plus(Disagreement(0.0, *self._tails(latest), doubt))
        seconds = np.nan if latest is None else latest.seconds
        self.levels += (Level(grid.spacing, grid.nodes, self.error.largest, order, seconds),)

    def _tails(self, latest: Solve) -> tuple[float, float]:
        """What ln ρ may lose per unit of ζ beyond open edges: by rounding, by the finite reach of the jumps, and by
        taking F as its limit there (δβ ≤ β δκ/κ, because Φ'(β) ≥ κ)."""
        drift, grid = self.model.drift, latest.grid
        slopes = []
        for side, at, limit in (
            (latest.null.left, grid.left, drift.left_limit),
            (latest.null.right, grid.right, drift.right_limit),
        ):
            if side is None:
                slopes.append(0.0)
            else:
                off = abs(float(drift(at)) / limit - 1)
                slopes.append(side.exponent * (self.rounding + off) + side.excess + side.doubt)
        return slopes[0], slopes[1]

    @property
    def observed_order(self) -> float:
        """Base-2 logarithm of the ratio of the last two disagreements; NaN before there are two."""
        if len(self._differences) < 2:
            return np.nan
        before, last = (d.largest for d in self._differences[-2:])
        if not np.isfinite(before) or not np.isfinite(last):
            return np.nan
        return float(np.log2(before / last)) if last > 0 and before > 0 else np.inf

    @property
    def latest(self) -> Solve:
        """The finest solve; there must be one."""
        solve = self.solves[-1]
        if solve is None:
            raise ValueError("the latest level has no solution")
        return solve

    @property
    def resolved(self) -> bool:
        """Does the latest level have a positive density?"""
        return bool(self.solves) and self.solves[-1] is not None and self.solves[-1].positive

    @property
    def stalled(self) -> bool:
        """Has the disagreement come down to rounding, so that finer levels only make it worse?"""
        return self._differences[-1].largest < 3 * _LN_BODY * self.rounding and self.observed_order < 1


def rounding(model: Model, grid: Grid) -> float:
    """Relative error of a decay rate by rounding, bounded by what was measured over random models.

    What is rounded is the noise at the scale of the grid (wave number π/h), which is balanced against h F: eps times
    their ratio, of which at most 0.7 was seen, and some 100 eps besides.
    """
    wavenumber = np.pi / grid.spacing
    noise = model.diffusion * wavenumber**2
    if model.jumps is not None:
        noise -= float(model.jumps.symbol(wavenumber))
    drift = float(np.min(np.abs(model.drift(np.array([grid.left, grid.right])))))
    return float(np.finfo(float).eps * (100 + 2 * noise * grid.spacing / drift))


def _factor(observed: float, nominal: int) -> float:
    """What turns the disagreement of two levels into the error of the finer one."""
    if np.isnan(observed) or observed <= 0:
        return np.inf if np.isnan(observed) else 10.0
    # Faster than the scheme can be: the coarser pair was not resolved, and the order of the finer one is not known yet.
    p = min(observed, float(nominal)) if observed < nominal + 0.5 else nominal - 2.0
    return float(1.0 / (2.0 ** (p - 1) - 1)) if p > 2 else max(1.0, float(1.0 / (2.0**p - 1)) if p > 0 else 1.0)
