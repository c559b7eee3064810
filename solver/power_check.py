"""The tail of untempered jumps as theory has it, against the solution inside the grid.

    ρ ≈ Σ_j a_j s^{-q_j}:     q_0 = α + p,  a_0 = η_J c/(α κ)     for |F| ≈ κ s^p, s the depth

Beyond the edge the density is what was put there; half-way to the edge it is a solution of the equation, and knows of
these powers and their size only by what the jumps do.

The catch: what the series leaves out falls as 1/s at least, so that the change of a reading from half the depth bounds
what is left of it; where the drift saturates and α is near 1, the series itself is useful at great depth only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.untempered import expansions, middle

# Readings are made at this share of the edge's depth, and their change is taken from half of that.
WITHIN = 0.5
# ln ρ is rounded to eps |ln ρ|; the derivative of the local polynomial amplifies that by about 3/h.
_ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True)
class PowerReading:
    """One reading: its value, the difference to theory, where it was made, what is allowed and why."""

    source: str
    value: float
    difference: float
    where: str
    tolerance: float
    reason: str


def further_powers(density: StationaryDensity, s: float) -> float:
    """How much all powers but the first add to the slope -d ln ρ/ds at depth s."""
    powers, sizes = (np.array(column) for column in zip(*expansions(density.model)[0], strict=True))
    parts = sizes * s ** (powers[0] - powers)
    return abs(float(parts @ powers / parts.sum()) - float(powers[0])) / s


def power_readings(density: StationaryDensity) -> list[PowerReading]:
    """The local power -d ln ρ/d ln s and the ratio of ρ to the series, on the left."""
    origin, terms = middle(density.model.drift), expansions(density.model)[0]
    powers, sizes = (np.array(column) for column in zip(*terms, strict=True))

    def parts(s: float) -> NDArray[np.float64]:
        return np.asarray(sizes * s ** (powers[0] - powers))

    def local_power(s: float) -> tuple[float, float]:
        value = s * float(density.local_exponent(origin - s))
        return value, value - float(parts(s) @ powers / parts(s).sum())

    def ratio(s: float) -> tuple[float, float]:
        value = float(np.exp(density.logpdf(origin - s) + powers[0] * np.log(s)) / parts(s).sum())
        return value, value - 1.0

    s = WITHIN * (origin - density.grid.left)
    own = float(density.log_error(origin - s))
    noise = s * _ROUNDING * abs(float(density.logpdf(origin - s))) / density.grid.spacing
    return [
        _reading("power of |ζ|", local_power, s, origin, own + noise),
        _reading("size of the tail", ratio, s, origin, own + noise / s),
    ]


def _reading(
    source: str, read: Callable[[float], tuple[float, float]], s: float, origin: float, own: float
) -> PowerReading:
    value, difference = read(s)
    change = 2 * abs(difference - read(0.5 * s)[1])
    reason = "change from half the depth" if change > own else "error of the density"
    return PowerReading(source, value, difference, f"ζ = {origin - s:.4g}", change + own, reason)
