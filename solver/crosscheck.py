"""The closed form against the solution: one exponent, read four ways from a density that knew nothing of it.

The closed form needs algebra only and the solution needs no exponent, so that their agreement means something. Read are
the spectral radius of the step beyond the open edge, the slope of ln ρ, the fall of p(τ) and the fall of f(ℓ); where the
tail law carries a power of the depth s (design: no root, threshold, no tempering), the power is removed first:

    d ln ρ/dζ = exponent - power/s - log_power/(s ln s) + …,     s = distance from the median, to the left

The catch: the law is asymptotic. Each reading is taken at two depths, s/2 and s; what is left decays at least as 1/s in
every case, so that the change from s/2 to s bounds it. That change, the density's own error and rounding make the
tolerance, and each row says so. A drift that grows without bound leaves no exponent to read; there the rows check that
the mass is 1, the equation is solved and the drift balances, E F = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver.closed_form import ClosedForm, closed_form
from solver.density import StationaryDensity
from solver.moments import mean_drift, moment_exists
from solver.tail_form import TailForm

# Shallowest and deepest readings, in nodes: the first is past the local polynomial, the second where nothing else limits.
_FIRST, _LAST = 64, 1e6
# Share of the continuation's reach that is used: half, so that every jump that shapes the tail there is exact.
_SHARE = 0.5
# Nodes kept from a stop edge, which bends the density near it.
_INSIDE = 40
# ln ρ is rounded to eps |ln ρ|; the derivative of the local polynomial amplifies that by about 3/h.
_ROUNDING = 8 * np.finfo(float).eps
# Rounding of the spectral radius: 5e-13 measured at 1.0001 times the threshold, the worst case seen.
_SPECTRAL = 2e-12


@dataclass(frozen=True)
class Row:
    """One reading: where it comes from, its exponent, the difference to the closed form, and what was allowed and why."""

    source: str
    exponent: float
    difference: float
    where: str
    tolerance: float
    reason: str

    @property
    def passed(self) -> bool:
        """Whether |difference| ≤ tolerance; a reading that could not be made (NaN) has not passed."""
        return bool(abs(self.difference) <= self.tolerance)

    def __str__(self) -> str:
        verdict = "ok" if self.passed else "FAILED"
        return (
            f"{self.source:16} {self.exponent:<18.12g} difference {self.difference:+.1e} "
            f"(allowed {self.tolerance:.1e}: {self.reason}) at {self.where}: {verdict}"
        )


@dataclass(frozen=True)
class CrossCheck:
    """All rows beside the closed form; `exponent` is the rate the tail law predicts (NaN if there is none)."""

    closed_form: ClosedForm
    exponent: float
    rows: tuple[Row, ...]

    @property
    def passed(self) -> bool:
        """Whether every row passed."""
        return all(row.passed for row in self.rows)

    def __str__(self) -> str:
        head = f"closed form: exponent {self.exponent:.12g}, tail {self.closed_form.tail}"
        return "\n".join([head, *map(str, self.rows)])


def cross_check(density: StationaryDensity, rtol: float | None = None) -> CrossCheck:
    """Compare the left tail of a density with its closed form; `rtol` replaces the derived tolerances.

    With `rtol` a row may differ by rtol · exponent (by rtol where there is no exponent).

    >>> from solver import TanhDrift, Grid, Model, TemperedStableJumps, solve_stationary
    >>> model = Model(TanhDrift(1.0, 0.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    >>> check = cross_check(solve_stationary(model))
    >>> check.passed, f"{check.exponent:.9f}", [row.source for row in check.rows]
    (True, '1.267360049', ['spectral radius', 'ln ρ', 'p(τ)', 'f(ℓ)'])
    """
    theory = closed_form(density.model)
    tail = theory.tail
    if np.isinf(density.model.left_plateau):
        rows, exponent = _balance(density), np.nan
    else:
        rows, exponent = _readings(density, tail), tail.exponent
    if rtol is not None:
        allowed = rtol * (exponent if exponent > 0 else 1.0)
        rows = [Row(r.source, r.exponent, r.difference, r.where, allowed, "as asked") for r in rows]
    return CrossCheck(theory, exponent, tuple(rows))


def _readings(density: StationaryDensity, tail: TailForm) -> list[Row]:
    """The four rows of a tail with an exponent."""
    origin, spectrum = density.median(), density.timescales()

    def slope(s: float) -> float:
        return float(density.local_exponent(origin - s)) + _power(tail, s)

    def chord(s: float) -> float:
        near, far = spectrum.logpdf(log_tau=np.array([0.75 * s, s]) - origin)
        law = tail.power * np.log(0.75) + tail.log_power * np.log(np.log(0.75 * s) / np.log(s))
        return float((near - far - law) / (0.25 * s)) - 1.0

    def fall(s: float) -> float:
        return float(density.envelope(log_lags=s - origin).local_exponent) + _power(tail, s)

    s = _depth(density, slope, origin)
    name = {"ln ρ": f"ζ = {origin - s:.4g}", "p(τ)": f"ln τ = {0.75 * s - origin:.4g} … {s - origin:.4g}"}
    rows = [_spectral(density, tail)]
    readings: tuple[tuple[str, Callable[[float], float]], ...] = (("ln ρ", slope), ("p(τ)", chord), ("f(ℓ)", fall))
    for source, read in readings:
        value, before = read(s), read(0.5 * s)
        own = float(density.log_error(origin - s) + density.log_error(origin - 0.5 * s)) / (0.5 * s)
        rounding = _ROUNDING * abs(float(density.logpdf(origin - s))) / density.grid.spacing
        change = abs(value - before)
        parts = {"change from half the depth": change, "error of the density": own, "rounding": rounding}
        where = name.get(source, f"ln ℓ = {s - origin:.4g}")
        rows.append(
            Row(source, value, value - tail.exponent, where, sum(parts.values()), max(parts, key=lambda k: parts[k]))
        )
    return rows


def _power(tail: TailForm, s: float) -> float:
    """What a power of the depth adds to the slope, to be taken away."""
    return tail.power / s + (tail.log_power / (s * np.log(s)) if tail.log_power else 0.0)


def _depth(density: StationaryDensity, slope: Callable[[float], float], origin: float) -> float:
    """The least depth at which doubling changes the slope no more than its own error, or the greatest there is."""
    h, side = density.grid.spacing, density.null.left
    if side is None:
        return max(origin - density.grid.left - _INSIDE * h, _FIRST * h)
    s, deepest = max(origin - density.grid.left, _FIRST * h), _SHARE * min(side.reach, _LAST) * h
    while 2 * s < deepest:
        own = density.error.left_slope + _ROUNDING * abs(float(density.logpdf(origin - 2 * s))) / h
        if abs(slope(2 * s) - slope(s)) <= own:
            return 2 * s
        s *= 2
    return s


def _spectral(density: StationaryDensity, tail: TailForm) -> Row:
    """The spectral radius; pinned at the tempering it is known to the reach of the exponential sum only."""
    side, jumps = density.null.left, density.model.jumps
    if side is None:
        reason = "a stop edge has no spectral radius"
        return Row("spectral radius", np.nan, np.nan, f"stop edge {density.grid.left:g}", 0.0, reason)
    parts = {"error of the density": density.error.left_slope, "rounding": _SPECTRAL}
    resolution = 1.0 / (side.reach * density.grid.spacing)
    if jumps is not None and abs(tail.exponent - jumps.tempering) <= 10 * resolution:
        parts["reach of the jump law"] = resolution
    where, reason = f"beyond ζ = {density.grid.left:.4g}", max(parts, key=lambda k: parts[k])
    value = side.exponent
    return Row("spectral radius", value, value - tail.exponent, where, sum(parts.values()), reason)


def _balance(density: StationaryDensity) -> list[Row]:
    """What can be checked without an exponent: mass, residual and, where the mean exists, E F = 0."""
