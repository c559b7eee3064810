"""The levels of one solve and the error of the latest: how fast they agree says how far the last one is off.

The catch: an order seen between coarse levels may not last. What is assumed is always slower than what was seen.
"""

from __future__ import annotations

import numpy as np

from solver.blocks import BLOCK
from solver.density import ErrorEstimate, Level
from solver.discretisation import BODY
from solver.far_jumps import FADED
from solver.grid import Grid
from solver.levels import UNKNOWN, Disagreement, Solve, disagreement, disagreement_near
from solver.model import Model
from solver.nullvector import Continuation
from solver.observed_order import error_factor

# No estimate is smaller: rounding of ln ρ and of the interpolation, and the exponential sum (2e-13).
FLOOR = 1e-12
# Relative error of the jump weights, the promise of the exponential sum.
WEIGHTS = 2e-13
# An error of the decay rate relative to itself costs this much ln ρ at the ends of the body.
_LN_BODY = -float(np.log(BODY))
# Levels that disagree more and more say nothing about a limit; ten times their disagreement is no promise either, but
# it keeps such a level from being taken for the best.
_GROWING = 10.0
# Two levels that disagree by more about ln ρ have no digit of ρ in common.
_NO_DIGIT = 1.0
# Ratio of two disagreements at one place from which they are taken to fall.
_SLOWEST = 2.0
# Levels without a smaller disagreement than before, after which no finer one is tried: a feature that coarse levels
# miss makes them disagree more for two or three, then less.
_PATIENCE = 4
# Error at the nodes next to a stop edge, in units of what two levels disagree about there (measured: up to 4.1).
_AT_STOP = 8.0
# Rounding of a spectral radius, in eps (measured: up to 10 where a block spans 1e-5 of a decay length); ln ρ far out
# follows it, the body does not.
_RADIUS = 16.0
# Distances beyond an open edge at which F is compared with its limit: a bump of width 1% of its distance is seen.
BEYOND = np.concatenate([[0.0], np.geomspace(1e-3, 1e5, 2000)])


class History:
    """The levels so far, what successive ones disagree about, and the error of the latest.

    With d the disagreement of the last two levels and p the observed order (base-2 logarithm of the ratio of the last
    two disagreements) the error of the latest is d / (2^{p-1} - 1): one order less than seen, at most the scheme's;
    slower than second order d itself, or d / (2^p - 1) where that is more. Measured over random models the true
    error is d / (2^p - 1) to 20% from p = 4 on. The order is that of the place where the last two disagree most, if it
    is less there: coarse levels may have disagreed more elsewhere, about what is resolved since. Nor is an order
    believed that levels without a single digit take part in. A drift that need not be smooth (a table, a function) may
    turn from a high order to a low one at any level: then no order is believed either.
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
        self.rounding = rounding(self.model, grid) + (0.0 if latest is None else _spectral_rounding(latest))
        order = self.observed_order
        floor = Disagreement(_LN_BODY * self.rounding + FLOOR, 0.0, 0.0, self.rounding)
        nominal = self.order if self.model.drift.analytic else 1
        unresolved = len(self._differences) > 1 and self._differences[-2].body > _NO_DIGIT
        factor = _factor(min(order, self._order_there(floor.body)), nominal, unresolved)
        self.error = self._differences[-1].times(factor).plus(self.edges).plus(floor)
        if latest is not None:
            self.error = self.error.plus(Disagreement(0.0, *self._tails(latest), _doubt(latest)))
        seconds = np.nan if latest is None else latest.seconds
        self.levels += (Level(grid.spacing, grid.nodes, self.error.largest, order, seconds),)

    def _tails(self, latest: Solve) -> tuple[float, float]:
        """What else ln ρ may lose per unit of ζ beyond the body.

        At open edges: by rounding, by the error of the jump weights (δβ ≤ δ(η_J ψ)/Φ'(β), and η_J ψ ≤ κ β), and by
        taking F as its limit there (δβ ≤ β δκ/κ), because Φ'(β) ≥ κ. At stop edges several times what two levels
        disagree about: the edge node itself carries what would leave, and no level is right there.
        """
        drift, grid, last = self.model.drift, latest.grid, self._differences[-1]
        slopes = []
        for side, beyond, limit, seen in (
            (latest.null.left, grid.left - BEYOND, drift.left_limit, last.left_slope),
            (latest.null.right, grid.right + BEYOND, drift.right_limit, last.right_slope),
        ):
            if side is None:
                slopes.append(_AT_STOP * seen)
            else:
                off = float(np.abs(drift(beyond) / limit - 1).max())
                weights = 0.0 if self.model.jumps is None else WEIGHTS
                spectral = _RADIUS * _spectral_rounding(latest)
                slopes.append(side.exponent * (self.rounding + spectral + off + weights))
        return slopes[0], slopes[1]

    @property
    def estimate(self) -> ErrorEstimate:
        """The error of the latest level at any depth."""
        (left_excess, left_reach), (right_excess, right_reach) = self._beyond_reach()
        slopes = self.error.left_slope, self.error.right_slope
        excess, reach = (left_excess, right_excess), (left_reach, right_reach)
        return ErrorEstimate(self.error.largest, *slopes, *self.latest.body, *excess, *reach)

    def _beyond_reach(self) -> list[tuple[float, float]]:
        """For either side: the slope by which ln ρ is further off where the jumps are no longer exact, and the place.

        Jumps longer than the reach land deeper, where the drift carries them back: they are felt 40/λ before it.
        """
        found, null, grid = [], self.latest.null, self.latest.grid
        for sign, side, edge in ((-1.0, null.left, grid.left), (1.0, null.right, grid.right)):
            if not isinstance(side, Continuation) or self.model.jumps is None:
                found.append((0.0, sign * np.inf))
                continue
            exact = side.reach * side.spacing - FADED / self.model.jumps.tempering
            found.append((side.excess + side.doubt, edge + sign * max(0.0, exact)))
        return found

    @property
    def observed_order(self) -> float:
        """Base-2 logarithm of the ratio of the last two disagreements; NaN before there are two."""
        if len(self._differences) < 2:
            return np.nan
        before, last = (d.largest for d in self._differences[-2:])
        if not np.isfinite(before) or not np.isfinite(last):
            return np.nan
        return float(np.log2(before / last)) if last > 0 and before > 0 else np.inf

    def _order_there(self, floor: float) -> float:
        """The same where the last two levels disagree most, inf where it says nothing: by rounding, or in a tail."""
        last, *before = self._differences[-1], *self.solves[-3:-1]
        if len(before) < 2 or before[0] is None or before[1] is None or not last.body > max(last.exponent, floor):
            return np.inf
        there = disagreement_near(before[0], before[1], last.place) if np.isfinite(last.place) else np.nan
        if not np.isfinite(there):
            return np.inf
        # no slower than that: a disagreement that changes its sign there would be taken for one that grows
        return float(np.log2(max(there / last.body, _SLOWEST)))

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
    def weakness(self) -> str:
        """What about the model makes rounding show."""
        if 2 * _spectral_rounding(self.latest) > self.rounding:
            return f"whose tails decay by {np.nanmin(self.latest.exponents):.2g} per unit of ζ only"
        return "whose noise is strong against its drift at the spacing it needs"

    @property
    def stalled(self) -> bool:
        """Has the disagreement come down to rounding, or not come down at all, so that finer levels do not help?"""
        if self._differences[-1].largest < 3 * _LN_BODY * self.rounding and self.observed_order < 1:
            return True
        sizes = [difference.largest for difference in self._differences]
        return bool(np.isfinite(sizes).any()) and int(np.nanargmin(sizes)) < len(sizes) - _PATIENCE


def _doubt(latest: Solve) -> float:
    """How far a decay rate may be off, relative to itself, by the finite reach of the jumps."""
    sides = [side for side in (latest.null.left, latest.null.right) if side is not None and side.doubt > 0]
    return max((side.doubt / side.exponent for side in sides), default=0.0)


def _spectral_rounding(latest: Solve) -> float:
    """Relative error of a decay rate β read off a spectral radius e^{-β b h} so close to 1 that its digits end."""
    rates = [abs(rate) for rate in latest.exponents if rate != 0 and np.isfinite(rate)]
    return float(np.finfo(float).eps / (BLOCK * latest.grid.spacing * min(rates))) if rates else 0.0


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


def _factor(observed: float, nominal: int, unresolved: bool = False) -> float:
    """What turns the disagreement of two levels into the error of the finer one; inf before an order is seen."""
    if np.isnan(observed):
        return np.inf
    if observed <= 0:
        return _GROWING
    # Faster than the scheme can be: the coarser pair was not resolved, and the order of the finer one is not known yet.
    if observed >= nominal + 0.5 or (unresolved and observed > nominal - 2):
        observed = nominal - 2
    return error_factor(2.0**observed, nominal)
