"""The closed form against the solution: one exponent, read four ways from a density that knew nothing of it.

The closed form needs algebra only and the solution needs no exponent, so that their agreement means
something. Read are the spectral radius of the step beyond the open edge, the slope of ln ρ, the fall of p(τ)
and the fall of f(ℓ); where the tail law carries a power of the depth s (design: no root, threshold, no
tempering), the power is removed first:

    d ln ρ/dζ = exponent - power/s - log_power/(s ln s) + …,     s = distance to the left of where the tail begins

The catch: the law is asymptotic. Each reading is taken at two depths, s/2 and s; what is left decays at least
as 1/s in every case, so that the change from s/2 to s bounds it. Twice that change, the density's own error
and rounding make the tolerance, and each row says so. A drift that grows without bound leaves no exponent to
read; there the rows check that the mass is 1, the equation is solved and the drift balances, E F = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np

from solver.closed_form import ClosedForm, closed_form
from solver.density import StationaryDensity
from solver.moments import mean_drift, moment_exists
from solver.nullvector import Continuation
from solver.power_check import WITHIN, further_powers, power_readings
from solver.power_tail import PowerTail
from solver.tail_form import TailForm
from solver.tail_words import power_of_depth

# Shallowest and deepest readings, in nodes: the first is past the local polynomial, the second where nothing
# else limits.
_FIRST, _LAST = 64, 1e6
# Share of the continuation's reach that is used: half, so that every jump that shapes the tail there is
# exact.
_SHARE = 0.5
# The same without tempering, where longer jumps are missing at any depth: (1/100)^α of a slope of α/s.
_UNTEMPERED = 0.01
# Nodes kept from a stop edge, which bends the density near it.
_INSIDE = 40
# An envelope at lag ℓ feels ρ down to this far below -ln ℓ: e^{-15(1+β)} is below what a stop edge does.
_KERNEL = 15.0
# ln ρ is rounded to eps |ln ρ|; the derivative of the local polynomial amplifies that by about 3/h.
_ROUNDING = 8 * np.finfo(float).eps
# Rounding of the spectral radius: 5e-13 measured at 1.0001 times the threshold, the worst case seen.
_SPECTRAL = 2e-12
# Rounding of sums over the grid and of the componentwise residual: 1e-14 to 1e-13 measured.
_BALANCE = 1e-11


@dataclass(frozen=True)
class Row:
    """One reading: source, exponent, difference to the closed form, where it was read, what is allowed."""

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
    """All rows beside the closed form; `exponent` is the rate the tail law predicts (NaN if there is none).

    `notes` say what could not be read and why.
    """

    closed_form: ClosedForm
    exponent: float
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every row passed."""
        return all(row.passed for row in self.rows)

    def __str__(self) -> str:
        head = f"closed form: exponent {self.exponent:.12g}, tail {self.closed_form.tail}"
        return "\n".join([head, *map(str, self.rows), *self.notes])


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
    notes = []
    if np.isinf(density.model.left_plateau):
        rows, exponent = _balance(density), np.nan
        notes.append("no exponent, the drift grows without bound to the left: mass and balance instead")
    else:
        rows, exponent = _readings(density, tail), tail.exponent
        if density.null.left is None:
            notes.append(f"no spectral radius: the left edge at ζ = {density.grid.left:g} is a stop edge")
    if isinstance(density.null.left, PowerTail):
        rows += [Row(*astuple(reading)) for reading in power_readings(density)]
        notes.append("untempered jumps: powers of the depth, no exponential; read half-way to the edge")
    if rtol is not None:
        allowed = rtol * (exponent if exponent > 0 else 1.0)
        rows = [Row(r.source, r.exponent, r.difference, r.where, allowed, "as asked") for r in rows]
    return CrossCheck(theory, exponent, tuple(rows), tuple(notes))


def _readings(density: StationaryDensity, tail: TailForm) -> list[Row]:
    """The rows of a tail with an exponent; depths s are distances to the left of where the tail begins."""
    # where the left tail begins: half the mass may lie far out on the other side
    origin = min(float(density.median()), float(density.model.drift.sign_changes()[0]))
    spectrum, side = density.timescales(), density.null.left
    # e^{-y} e^{βζ}, y = ℓ e^ζ, is largest at y = β: a lag feels ρ that much to the right of -ln ℓ
    lead = np.log(tail.exponent) if side is not None and 1 < tail.exponent < np.inf else 0.0
    lag_tail = replace(tail, power=power_of_depth(tail, "lag"))

    def slope(s: float) -> float:
        return float(density.local_exponent(origin - s)) + _power(tail, s)

    def chord(s: float) -> float:
        near, far = spectrum.logpdf(log_tau=np.array([0.75 * s, s]) - origin)
        law = tail.power * np.log(0.75)
        if tail.log_power:
            law += tail.log_power * np.log(np.log(0.75 * s) / np.log(s))
        return float((near - far - law) / (0.25 * s)) - 1.0

    def fall(s: float) -> float:
        return float(density.envelope(log_lags=s - origin + lead).local_exponent) + _power(lag_tail, s)

    depth = _depth(density, slope, origin)
    short = bool(np.isneginf(density.logpdf(origin - depth)))
    inner = depth if side is not None else max(0.5 * depth, depth - _KERNEL)

    def row(source: str, read: Callable[[float], float], s: float, law: TailForm, where: str) -> Row:
        if short:
            return Row(source, np.nan, np.nan, where, 0.0, "the grid ends before")
        value, pair = read(s), origin - np.array([0.5 * s, s])
        parts = {
            "change from half the depth": 2 * abs(value - read(0.5 * s)),
            "error of the density": float(density.log_error(pair).sum()) / (0.5 * s),
            "rounding": _rounding(density, origin - s),
            "reach of the jump law": _beyond_reach(density, law, s),
        }
        if isinstance(side, PowerTail):  # several powers, of either sign: their change may vanish where they do not
            parts["further powers of the depth"] = further_powers(density, 0.5 * s)
        return _row(source, value, tail, where, parts)

    rows = [_spectral(density, tail, side)] if isinstance(side, Continuation) else []
    return [
        *rows,
        row("ln ρ", slope, depth, tail, f"ζ = {origin - depth:.4g}"),
        row("p(τ)", chord, depth, tail, f"ln τ = {0.75 * depth - origin:.4g} … {depth - origin:.4g}"),
        row("f(ℓ)", fall, inner, lag_tail, f"ln ℓ = {inner - origin + lead:.4g}"),
    ]


def _row(source: str, value: float, tail: TailForm, where: str, parts: dict[str, float]) -> Row:
    """A row whose tolerance is the sum of its parts; the largest is named as the reason."""
    largest = max(parts, key=lambda part: parts[part])
    return Row(source, value, value - tail.exponent, where, sum(parts.values()), largest)


def _power(tail: TailForm, s: float) -> float:
    """What a power of the depth adds to the slope, to be taken away."""
    return tail.power / s + (tail.log_power / (s * np.log(s)) if tail.log_power else 0.0)


def _depth(density: StationaryDensity, slope: Callable[[float], float], origin: float) -> float:
    """The least depth at which doubling it changes the slope within its own error, or the greatest."""
    h, side, jumps = density.grid.spacing, density.null.left, density.model.jumps
    if isinstance(side, PowerTail):  # beyond the edge it is what was put there
        return WITHIN * (origin - density.grid.left)
    if side is None:
        return max(origin - density.grid.left - _INSIDE * h, _FIRST * h)
    share = _SHARE if jumps is None or jumps.tempering > 0 else _UNTEMPERED
    s, deepest = max(origin - density.grid.left, _FIRST * h), share * min(side.reach, _LAST) * h
    while 2 * s < deepest:
        own = density.error.left_slope + _rounding(density, origin - 2 * s)
        if abs(slope(2 * s) - slope(s)) <= own:
            return 2 * s
        s *= 2
    return s


def _rounding(density: StationaryDensity, zeta: float) -> float:
    """Rounding error of the slope of ln ρ at a point."""
    return _ROUNDING * abs(float(density.logpdf(zeta))) / density.grid.spacing


def _beyond_reach(density: StationaryDensity, law: TailForm, s: float) -> float:
    """What jumps longer than the reach R, which are left out, add to a slope at depth s: e^{-λR} of it."""
    side, jumps = density.null.left, density.model.jumps
    if not isinstance(side, Continuation) or jumps is None or law.power >= 0:
        return 0.0
    reach = side.reach * density.grid.spacing
    return float(2 * -law.power / s * (s / reach) ** -law.power * np.exp(-jumps.tempering * (reach - s)))


def _spectral(density: StationaryDensity, tail: TailForm, side: Continuation) -> Row:
    """The spectral radius; pinned at the tempering it is known to the reach of the exponential sum only."""
    jumps = density.model.jumps
    parts = {"error of the density": density.error.left_slope, "rounding": _SPECTRAL}
    resolution = 1.0 / (side.reach * density.grid.spacing)
    if jumps is not None and abs(tail.exponent - jumps.tempering) <= 10 * resolution:
        parts["reach of the jump law"] = resolution
    return _row("spectral radius", side.exponent, tail, f"beyond ζ = {density.grid.left:.4g}", parts)


def _balance(density: StationaryDensity) -> list[Row]:
    """What can be checked without an exponent: mass, residual and, where the mean exists, E F = 0."""
    error, whole = density.error_estimate, "the whole line"
    excess = density.interpolated_mass - 1.0
    rows = [
        Row("mass", np.nan, excess, whole, error + _BALANCE, "error of the density"),
        Row("residual", np.nan, density.residual, whole, _BALANCE, "rounding"),
    ]
    far = None if density.model.jumps is None else density.model.jumps.power_law
    balanced = far is None or far.stability > 1  # else E |F| = ∞
    if balanced and all(moment_exists(density.model, 1, side) for side in ("left", "right")):
        mean, scale, beyond = mean_drift(density.model.drift, density.distribution.interpolant)
        allowed = (error + _BALANCE) * scale + beyond
        rows.append(Row("mean drift", np.nan, mean, whole, allowed, "error of the density, stop edges"))
    return rows
