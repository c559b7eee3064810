"""How long and in which steps to walk, when nobody says: from the solver's relaxation rate and correlation time.

The catch: a simulation that takes its length from the solver is independent of the solver's density, but not of its
rates. Give `time` where that matters; a run twice as long that changes nothing is the proof.
"""

from __future__ import annotations

import math

import numpy as np

from solver.checks import positive
from solver.density import StationaryDensity
from solver.errors import ModelError, NotConvergedError
from solver.model import Model
from solver.modes import relaxation_modes
from solver.stationary import solve_stationary

# Burn-in in units of the slowest relaxation time: what is left of the start is e^-12 = 6e-6, the noise of 1e10 paths.
BURN_IN = 12.0
# Records of one walker are this many correlation times apart: the next is worth 0.9 of an independent one.
APART = 3.0
# Step times the steepest slope of the drift. The law then errs by a few 1e-4 (measured, docs/validation.md).
STEP = 0.1
# Share of the density over which the drift's slope is looked at, and points there: farther out it may be as steep as it
# likes, since the flow is exact. A drift that jumps has no slope: the step is at least this share of the relaxation
# time.
_CENTRAL, _POINTS, _SHORTEST = 0.9, 400, 1e-4
# Accuracy of a rate, and of the density that the step is read from: two digits would do.
_RATE_RTOL, _DENSITY_RTOL = 1e-3, 1e-6


def relaxation_time(model: Model) -> float:
    """1/gap; ModelError where the model relaxes like a power of time, NoStationaryDensityError where not at all."""
    try:
        gap = relaxation_modes(model, k=1, rtol=_RATE_RTOL).gap
    except NotConvergedError:
        return memory(model)
    if gap == 0:
        raise ModelError("time: missing; this model relaxes like a power of time, so you must say how long is enough")
    return 1 / gap if math.isfinite(gap) else memory(model)  # no continuum, and no mode was found


def memory(model: Model) -> float:
    """The correlation time of tanh ζ about the median, in units of the density's spread: bounded, so that it exists."""
    density = rough_density(model)
    low, middle, high = density.ppf([0.25, 0.5, 0.75])
    return float(density.correlation_time(lambda zeta: np.tanh((zeta - middle) / (high - low))))


def rough_density(model: Model) -> StationaryDensity:
    """The stationary density, as accurately as it was reached: it only sets lengths here."""
    try:
        return solve_stationary(model, rtol=_DENSITY_RTOL)
    except NotConvergedError as failure:
        if not isinstance(failure.density, StationaryDensity):
            raise
        return failure.density


def default_step(model: Model, density: StationaryDensity | None = None) -> float:
    """STEP over the steepest |F'| in the central part of the stationary density.

    >>> from solver.drifts import LinearDrift
    >>> round(default_step(Model(LinearDrift(2.0), 0.5)), 6)
    0.05
    """
    density = rough_density(model) if density is None else density
    ends = density.ppf([0.5 - _CENTRAL / 2, 0.5 + _CENTRAL / 2])
    zeta = np.linspace(ends[0], ends[1], _POINTS)
    slope = float(np.abs(np.diff(model.drift(zeta))).max() * (_POINTS - 1) / (ends[1] - ends[0]))
    lowest = _SHORTEST * relaxation_time(model) if model.drift.breaks else 0.0
    if slope == 0:
        return STEP * relaxation_time(model)
    return max(STEP / slope, lowest)


def default_start(model: Model) -> float:
    """A zero of the drift that draws from both sides, the middle one; ModelError if there is none."""
    roots = model.drift.sign_changes()
    stable = [root for root in roots if _attracts(model, float(root))]
    if not stable:
        raise ModelError("start: missing; the drift has no zero that draws from both sides")
    return float(stable[len(stable) // 2])


def _attracts(model: Model, root: float) -> bool:
    near = 1e-6 * max(1.0, abs(root))
    before, after = model.drift(np.array([root - near, root + near]))
    return bool(before > 0 > after)


# More steps take days for a single walker; the number is a slip of the pen.
MOST_STEPS = 1e8


def whole_steps(time: float, dt: float) -> tuple[int, float]:
    """How many steps, and `dt` shortened so that they fill `time` exactly.

    >>> whole_steps(1.0, 0.3)
    (4, 0.25)
    """
    time = positive("time", time)
    ratio = time / positive("dt", dt)
    if not ratio <= MOST_STEPS:
        raise ModelError(f"dt = {dt:g}: time = {time:g} takes {ratio:.3g} steps; at most {MOST_STEPS:.0e} are walked")
    steps = max(1, math.ceil(ratio * (1 - 1e-12)))
    return steps, time / steps
