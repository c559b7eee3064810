"""The drift alone: where ζ goes in a time t under dζ/dt = F(ζ), exactly or from a table made once.

    linear        φ(ζ) = c + (ζ - c) e^{-rt}
    exponential   e^{-φ} = e^{-ζ-pt} + a (1 - e^{-pt})/p             F = p - a e^ζ
    tanh          sinh x(t) = sinh x(0) e^{-κt/w}, x = (ζ - c)/w      F = -κ tanh x
    any other     a table of φ over ζ, integrated by Runge and Kutta with a step of its own for every point

A walk takes the same t at every step, so one map serves the whole simulation; being the flow itself and not a step of
Euler, it cannot blow up however steep the drift. The catch is a drift that jumps: a trajectory sticks to a zero with F
pointing towards it from both sides. Trajectories on a line never cross a zero of F, so each is kept in its interval.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import exprel

from solver.drifts import Drift, ExponentialDrift, LinearDrift, TanhDrift
from solver.errors import ModelError

Array = NDArray[np.float64]
Flow = Callable[[Array], Array]

# sinh leaves the range of a double at 710; beyond half of that the logarithm of it is taken.
_LARGE = 350.0
# Nodes of a table, uniform in asinh of the distance in units of the drift's length, so that they lie densely where the
# drift varies. Measured error of the monotone cubic between them: 2e-8 for ζ - ζ³, 3e-9 for a logistic step.
_NODES = 2**12
# The table ends this many lengths (or units of ζ, if that is more) from its centre; beyond, every point is integrated.
_REACH = 1e4
# It ends sooner where the drift alone would cover this distance in the time: following e^ζ down from there takes
# hundreds of steps for each node. Nearer than the second number there is no table to speak of.
_STEEPEST, _NEAREST = 1e9, 1e-3
# Lengths of a drift that are taken as they are: a straight line has none, a callable may state any.
_LENGTHS = (1e-6, 1e3)
# Error of one Runge-Kutta step, absolute and relative to ζ: ten times less would cost 1.6 times as many steps.
_TOLERANCE = 1e-9
# A step may grow or shrink by this much at once; 0.9 of the ideal step saves rejections (Hairer, Nørsett and Wanner).
_SHRINK, _GROW, _SAFETY = 0.2, 5.0, 0.9
# A drift that is followed for longer than this runs away: the steepest tried, F = -e^ζ from ζ = 700, takes 4400 steps.
_MOST_STEPS = 100_000

# Dormand and Prince, J. Comp. Appl. Math. 6 (1980): order 5, and the difference to the embedded order 4.
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


@functools.singledispatch
def flow_map(drift: Drift, time: float) -> Flow:
    """The map φ of arrays (n,) to arrays (n,): ζ after `time` > 0 of the drift alone. ModelError where it runs away.

    >>> from solver.drifts import CallableDrift
    >>> flow = flow_map(CallableDrift(lambda z: -z**3), 0.5)  # z / sqrt(1 + 2 t z²)
    >>> flow(np.array([0.0, 1.0, 1e3])).round(7).tolist()
    [0.0, 0.7071068, 0.9999995]
    """
    centre, length = _centre(drift), min(max(drift.length_scale, _LENGTHS[0]), _LENGTHS[1])
    length = length if math.isfinite(drift.length_scale) else 1.0
    reach = _mild_reach(drift, time, centre, _REACH * max(length, 1.0))
    half = math.asinh(reach / length)
    nodes = centre + length * np.sinh(np.linspace(-half, half, _NODES + 1))
    return _Table(drift, time, PchipInterpolator(nodes, integrated(drift, nodes, time)))


@flow_map.register
def _linear(drift: LinearDrift, time: float) -> Flow:
    factor = math.exp(-drift.rate * time)
    return lambda zeta: drift.center + (zeta - drift.center) * factor


@flow_map.register
def _exponential(drift: ExponentialDrift, time: float) -> Flow:
    fall = drift.plateau * time
    if drift.rate == 0:
        return lambda zeta: zeta + fall
    if drift.rate < 0:
        raise ModelError(f"rate = {drift.rate!r}: the drift runs to infinity in a finite time; must be positive")
    wall = math.log(drift.rate) + math.log(time * float(exprel(-fall)))
    return lambda zeta: -np.logaddexp(-zeta - fall, wall)


@flow_map.register
def _tanh(drift: TanhDrift, time: float) -> Flow:
    fall = drift.plateau * time / drift.width
    factor = math.exp(-min(fall, _LARGE))

    def flow(zeta: Array) -> Array:
        x = (zeta - drift.center) / drift.width
        far = np.abs(x) > _LARGE if abs(fall) < _LARGE else np.full(x.shape, True)
        out = np.arcsinh(np.sinh(np.where(far, 0.0, x)) * factor)
        if far.any():
            size = np.abs(x[far])
            with np.errstate(divide="ignore"):  # ln sinh 0
                log_sinh = size + np.log(-np.expm1(-2 * size)) - math.log(2) - fall
            # asinh(e^y) = y + ln(1 + sqrt(1 + e^{-2y})); below y = -20 it is e^y
            y = np.maximum(log_sinh, -20.0)
            large = y + np.log1p(np.sqrt(1 + np.exp(-2 * y)))
            out[far] = np.sign(x[far]) * np.where(log_sinh < -20.0, np.exp(np.minimum(log_sinh, 0.0)), large)
        return np.asarray(drift.center + drift.width * out)

    return flow


@dataclass(frozen=True, eq=False)
class _Table:
    """φ at nodes and monotone between them, as it must be; what lies outside is integrated when it comes."""

    drift: Drift
    time: float
    inside: PchipInterpolator

    def __call__(self, zeta: Array) -> Array:
        out = np.asarray(self.inside(zeta))
        outside = (zeta < self.inside.x[0]) | (zeta > self.inside.x[-1])
        if outside.any():
            out[outside] = integrated(self.drift, zeta[outside], self.time)
        return out


def integrated(drift: Drift, zeta: Array, time: float) -> Array:
    """ζ after `time`, each point by adaptive Runge-Kutta steps of its own; ModelError where that does not end.

    >>> from solver.drifts import CallableDrift
    >>> push = CallableDrift(lambda z: -np.sign(z), breaks=(0.0,))
    >>> integrated(push, np.array([-0.3, 0.1, 2.0]), 0.5).round(9).tolist()
    [0.0, 0.0, 1.5]
    """
    roots = np.concatenate([[-np.inf], np.sort(drift.sign_changes()), [np.inf]])
    place = np.searchsorted(roots, zeta, side="right")
    z = np.array(zeta, dtype=float)
    low, high = roots[place - 1], roots[np.minimum(place, roots.size - 1)]
    left, step = np.full(z.shape, float(time)), np.full(z.shape, float(time))
    active = np.flatnonzero(low < z)  # a point on a zero stays
    for _ in range(_MOST_STEPS):
        if not active.size:
            return z
        here, ends = z[active], (low[active], high[active])
        h = np.minimum(step[active], left[active])
        there, error = _trial(drift, here, h, ends)
        good = error <= 1
        z[active[good]] = there[good]
        left[active[good]] -= h[good]
        with np.errstate(divide="ignore"):
            factor = _SAFETY * error**-0.2
        step[active] = h * np.minimum(np.maximum(factor, _SHRINK), _GROW)
        active = active[left[active] > 0]
    raise ModelError(f"drift: {_MOST_STEPS} steps do not follow it over the time {time:g} from ζ = {zeta[active[0]]:g}")


def _trial(drift: Drift, zeta: Array, h: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """One step of every point, and its error in units of what is allowed."""

    def inside(points: Array) -> Array:
        return np.minimum(np.maximum(points, ends[0]), ends[1])

    def slope(points: Array) -> Array:
        return np.where((points <= ends[0]) | (points >= ends[1]), 0.0, drift(points))

    slopes, there = [slope(zeta)], zeta
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # a step much too long: its error is not finite, so it is refused
        for stage in _STAGES:
            there = inside(zeta + h * sum(a * k for a, k in zip(stage, slopes, strict=True)))
            there = np.where(np.isfinite(there), there, zeta)
            slopes.append(slope(there))
        error = np.abs(h * sum(e * k for e, k in zip(_ERROR, slopes, strict=True)))
        error = error / (_TOLERANCE * (1 + np.abs(zeta)))
    return there, np.where(np.isfinite(error), error, np.inf)


def _centre(drift: Drift) -> float:
    """A zero of the drift, where a table must be finest; 0 if there is none."""
    roots = drift.sign_changes()
    return float(roots[roots.size // 2]) if roots.size else 0.0


def _mild_reach(drift: Drift, time: float, centre: float, reach: float) -> float:
    """`reach`, or as much of it as the drift is mild on: a user's function may overflow far out, and refuse to."""
    while reach > _NEAREST:
        try:
            if np.all(np.abs(drift(np.array([centre - reach, centre + reach]))) * time < _STEEPEST):
                return reach
        except ModelError:
            pass  # looked at from nearer, and if that fails everywhere the sentence below says so
        reach *= 0.8
    raise ModelError(f"drift: not finite near ζ = {centre:g}, or above {_STEEPEST / time:g}")
