"""Reading limits, length scale, zeros and plateaus of a drift off its values alone.

A function nobody described is sampled once, densely near the origin and ever more widely out to |ζ| = 1e6,
and every answer comes from those samples, refined by bisection. The catch is what lies between two samples: a
feature narrower than 1/16 of the length scale near the origin, or than 1/800 of its distance from it further
out (1/40 000 when the scale is small), can go unseen.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solver.checks import number
from solver.drift_base import FARTHEST, FloatArray

Function = Callable[[FloatArray], FloatArray]

_PER_SCALE = 16  # samples per length scale near the origin: a sine of that length is cut into 100 pieces
_RADIUS = 50.0  # samples stay nearly uniform for |ζ| below this: time scales from e^-50 to e^50
_UNIFORM = 2500.0  # ... but at most this many length scales: two million samples at most
_HALVINGS = 64  # of a bracket: neighbouring doubles, or 1e-19 of the bracket where the place is ζ = 0


def scan_points(scale: float, breaks: tuple[float, ...] = ()) -> FloatArray:
    """Where to sample, from -1e6 to 1e6, ascending; with each break come its two neighbouring doubles.

    >>> points = scan_points(1.0)
    >>> points.size, bool(np.max(np.diff(points)[abs(points[1:]) < 1]) < 0.0626)
    (16957, True)
    """
    fine = min(scale, 1.0)
    radius = min(_RADIUS, _UNIFORM * fine)
    end = math.asinh(FARTHEST / radius)
    steps = math.ceil(end * _PER_SCALE * radius / fine)
    half = np.append(radius * np.sinh(np.linspace(0.0, end, steps + 1)[:-1]), FARTHEST)
    corners = np.array(breaks, dtype=float)
    beside = [np.nextafter(corners, -np.inf), np.nextafter(corners, np.inf)]
    return np.unique(np.concatenate([-half, half, corners, *beside]))


def crossings(function: Function, points: FloatArray, values: FloatArray) -> FloatArray:
    """Where a function sampled as `values` at `points` changes sign; of several zero samples, the middle.

    >>> points = scan_points(1.0)
    >>> crossings(lambda z: z - z**3, points, points - points**3).tolist()
    [-1.0, 0.0, 1.0]
    """
    signed = np.flatnonzero(values)
    flips = np.flatnonzero(np.sign(values[signed[:-1]]) != np.sign(values[signed[1:]]))
    if not flips.size:
        return np.array([])
    before, after = signed[flips], signed[flips + 1]
    zeros = 0.5 * points[before + 1] + 0.5 * points[after - 1]  # right where samples are exactly zero
    between = after == before + 1
    signs = np.sign(values[before[between]])
    brackets = points[before[between]], points[after[between]]
    _, zeros[between] = _bisect(lambda z: np.sign(function(z)) == signs, *brackets)
    return zeros


def plateau_reach(
    function: Function,
    points: FloatArray,
    values: FloatArray,
    limits: tuple[float, float],
    tolerance: float,
) -> tuple[float, float]:
    """Drift.plateau_reach from samples; the middle of the samples where the tolerance covers them all."""
    number("tolerance", tolerance, low=0.0)
    middle = float(0.5 * points[0] + 0.5 * points[-1])
    left = _flat_until(function, points, values, limits[0], tolerance)
    right = _flat_until(lambda z: function(-z), -points[::-1], values[::-1], limits[1], tolerance)
    return (middle if left is None else left), (middle if right is None else -right)


def _flat_until(
    function: Function, points: FloatArray, values: FloatArray, limit: float, tolerance: float
) -> float | None:
    """The last point up to which |function - limit| <= tolerance: -inf if nowhere, None if everywhere."""
    if math.isinf(limit):
        return -math.inf
    bad = np.flatnonzero(np.abs(values - limit) > tolerance)
    if not bad.size:
        return None
    if bad[0] == 0:
        return -math.inf
    bracket = points[bad[0] - 1 : bad[0]], points[bad[0] : bad[0] + 1]
    last, _ = _bisect(lambda z: np.abs(function(z) - limit) <= tolerance, *bracket)
    return float(last[0])


def _bisect(
    holds: Callable[[FloatArray], NDArray[np.bool_]], good: FloatArray, bad: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Narrow every bracket between a place where `holds` is true and one where it is false."""
    for _ in range(_HALVINGS):
        middle = 0.5 * good + 0.5 * bad
        if np.all((middle == good) | (middle == bad)):
            break
        keep = holds(middle)
        good, bad = np.where(keep, middle, good), np.where(keep, bad, middle)
    return good, bad
