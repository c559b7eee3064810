"""What is found out about a drift that is only a Python function: its limits and its length scale.

Both are guesses made from samples, and a wrong guess would go unseen into every result. So a limit that is
not clearly reached is passed on with a sentence that says so, a limit the user gave is compared with the
samples, and a jump nobody mentioned is refused with its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solver.drift_base import FARTHEST, FloatArray
from solver.drift_scan import Function, crossings, scan_points
from solver.errors import ModelError

_FIRST_SCALE = 0.1  # sampling for a drift of unknown scale: 170 000 points, a few milliseconds
_SETTLED = 1e-10  # relative change over a doubling of the distance below which a far value is the limit
_GROWS = 0.99  # growth: the change over a doubling is no smaller than over the one before (ln ζ gives 1)
_SAME = 1e-6  # a limit the user gave may be rounded to six digits; beyond that it contradicts the function
_RESOLVED = 1.01  # two halves of an interval whose slopes differ by less than 1%: the slope is resolved
_NARROW = 1e-12  # ... unless the interval has become as narrow as this: then it is a jump, however smooth
_HALVINGS = 200  # of an interval until its slope is resolved: neighbouring doubles, or 1e-60 next to ζ = 0
_LASTING = 0.01  # share of the rise left between neighbouring doubles in a jump (sqrt|ζ| leaves 1e-30)


@dataclass(frozen=True, eq=False)
class Survey:
    """The samples, the limits F(∓inf), whether each is trusted, the length scale, and what was assumed."""

    points: FloatArray
    values: FloatArray
    limits: tuple[float, float]
    trusted: tuple[bool, bool]
    scale: float
    assumed: tuple[str, ...]


def survey(
    function: Function,
    left: float | None,
    right: float | None,
    scale: float | None,
    breaks: tuple[float, ...],
) -> Survey:
    """Sample `function`, which may return ±inf but not nan; left, right, scale as in CallableDrift."""
    # Samples may be ±inf or differ by more than a double holds; the comparisons below are made for that.
    with np.errstate(over="ignore", invalid="ignore"):
        lower, lower_note = _limit(function, -1.0, left)
        upper, upper_note = _limit(function, 1.0, right)
        points = scan_points(_FIRST_SCALE if scale is None else scale, breaks)
        values = function(points)
        if scale is None:
            scale = _rise_over_slope(function, points, values, (lower, upper), breaks)
            if scale < _FIRST_SCALE:
                points = scan_points(scale, breaks)
                values = function(points)
                scale = _rise_over_slope(function, points, values, (lower, upper), breaks)
    notes = tuple(note for note in (lower_note, upper_note) if note)
    return Survey(points, values, (lower, upper), (not lower_note, not upper_note), scale, notes)


def _limit(function: Function, side: float, given: float | None) -> tuple[float, str]:
    """F(side * inf) and, when it is only the farthest value, the sentence that says so."""
    found, note = _far_value(function, side)
    if given is None:
        return found, note
    limit = -side * given
    if (note and limit * found < 0) or not (note or math.isclose(limit, found, rel_tol=_SAME, abs_tol=_SAME)):
        name, sign = ("left", "+") if side < 0 else ("right", "-")
        raise ModelError(
            f"{name} = {given:g}: says that F tends to {sign}{name} = {limit:g}, but the function is "
            f"{found:g} at zeta = {side * FARTHEST:g}; leave it out to have it read off the function"
        )
    return limit, ""


def _far_value(function: Function, side: float) -> tuple[float, str]:
    """The same without a given limit. Settled: nine samples over the last doubling agree. Unbounded: over the
    last four doublings F changes in one direction by amounts that do not shrink. Else: slow, or oscillating.
    """
    values = function(side * FARTHEST * 2.0 ** (-np.arange(33) / 8.0))
    farthest, last = float(values[0]), values[:9]
    if math.isinf(farthest) or np.ptp(last) <= _SETTLED * np.max(np.abs(last)):
        return farthest, ""
    outwards = values[::-1]
    steps = np.diff(outwards[::8])
    if np.all(steps[1:] / steps[:-1] >= _GROWS) and np.all(np.diff(outwards) * steps[0] > 0):
        return math.copysign(math.inf, steps[0]), ""
    sign = "-" if side < 0 else "+"
    return farthest, (
        f"drift is taken to tend to {farthest:.6g} as zeta -> {sign}inf: it still changes "
        f"by {abs(farthest - last[-1]):.1g} between zeta = {side * FARTHEST / 2:g} and {side * FARTHEST:g}"
    )


def _rise_over_slope(
    function: Function,
    points: FloatArray,
    values: FloatArray,
    limits: tuple[float, float],
    breaks: tuple[float, ...],
) -> float:
    """Half the range of F over its steepest slope: the width of a tanh; inf where F is constant.

    An unbounded drift is judged where |F| is at most twice its finite limit; without one, between its
    outermost zeros and one span of them (at least one unit) further.
    """
    finite = [abs(limit) for limit in limits if math.isfinite(limit)]
    core = np.isfinite(values)
    if len(finite) == 1 and finite[0] > 0:
        core &= np.abs(values) <= 2.0 * finite[0]
    elif len(finite) < 2:
        zeros = crossings(function, points, values)
        first, last = (zeros[0], zeros[-1]) if zeros.size else (0.0, 0.0)
        margin = max(1.0, last - first)
        core &= (points >= first - margin) & (points <= last + margin)
    corner = np.isin(points, breaks)
    inside = core[:-1] & core[1:] & ~corner[:-1] & ~corner[1:]
    slopes = np.where(inside, np.abs(np.diff(values)) / np.diff(points), 0.0)
    steepest = int(np.argmax(slopes))
    if not slopes[steepest] > 0:
        return math.inf
    slope = _resolved_slope(function, points[steepest], points[steepest + 1])
    return float(0.5 * np.ptp(values[core]) / slope)


def _resolved_slope(function: Function, left: float, right: float) -> float:
    """The steepest slope in an interval: into the steeper half until both agree; refuses a jump.

    Where the slope grows without end but the rise does not last (sqrt|ζ| at 0), the mean slope.
    """

    def rises(*places: float) -> FloatArray:
        return np.abs(np.diff(function(np.array(places))))

    mean = slope = float(rises(left, right)[0]) / (right - left)
    a, b = left, right
    for _ in range(_HALVINGS):
        middle = 0.5 * a + 0.5 * b
        if middle in (a, b):
            break
        slopes = rises(a, middle, b) / (0.5 * (b - a))
        if np.max(slopes) <= _RESOLVED * slope and b - a > _NARROW * max(1.0, abs(a)):
            return slope
        slope = float(np.max(slopes))
        a, b = (a, middle) if slopes[0] == slope else (middle, b)
    rise = float(rises(a, b)[0])
    if rise > _LASTING * mean * (right - left):
        # 0.3, not 0.30000000000000004; and 0.0, not -0.0
        place = min(float(a), float(b), key=lambda end: len(repr(end))) + 0.0
        raise ModelError(f"function: jumps by {rise:.3g} at zeta = {place!r}; name every jump, breaks=({place!r},)")
    return mean
