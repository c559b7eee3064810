"""The closed form against the solution: one exponent, read four ways from a density that knew nothing of it.

The closed form needs algebra only and the solution needs no exponent, so that their agreement means
something. Read are the spectral radius of the step beyond the open edge, the slope of ln ρ, the fall of p(τ)
and the fall of f(ℓ); where the tail law carries a power of the depth s (design: no root, threshold, no
tempering), the power is removed first:

    d ln ρ/dζ = exponent - power/s - log_power/(s ln s) + …,     s = distance to the left of where the tail begins

The catch: the law is asymptotic. Each reading is made at many depths and taken where the sum of its errors is least:
what is left of the approach (`settled`), the density's own error, rounding, the reach of the jumps. That sum is the
tolerance. Where even the least is no small share of the exponent, or the predicted law is known to take over only
deeper than can be read, the row says "not decided". A drift that grows without bound leaves no exponent to
read; there the rows check that the mass is 1, the equation is solved and the drift balances, E F = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace

import numpy as np

from solver.check_row import CrossCheck, Row
from solver.checks import instance
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.interpolant import Array
from solver.moments import mean_drift, moment_exists
from solver.nullvector import Continuation
from solver.power_check import WITHIN, further_powers, power_readings
from solver.power_tail import PowerTail
from solver.settled import BEFORE, changes, doublings
from solver.tail_data import tail_data
from solver.tail_form import TailForm
from solver.tail_theory import tail_theory
from solver.tail_words import power_of_depth

# Shallowest reading, in nodes: past the local polynomial.
_FIRST = 64
# Where the tail is an exponential it holds at any depth, and is read at least this far out: the envelope averages over
# a few units of ζ whatever the length of the drift.
_AT_LEAST = 64.0
# Untempered, longer jumps are missing at any depth: (1/100)^α of a slope of α/s is left at this share of their reach.
_UNTEMPERED = 0.01
# Nodes kept from a stop edge, which bends the density near it.
_INSIDE = 40
# An envelope at lag ℓ feels ρ down to this far below -ln ℓ: e^{-15(1+β)} is below what a stop edge does.
_KERNEL = 15.0
# Rounding of a slope: the derivative of the local polynomial amplifies eps times what ln ρ changes by over its 12
# nodes, at least 1, by about 3/h; inside the grid ln ρ itself is rounded.
_ROUNDING, _NODES = 8 * np.finfo(float).eps, 12
# Rounding of f's exponent: every term of its sum has the rounding of ln ρ (measured: 10 eps |ln ρ|).
_SUMMED = 32 * np.finfo(float).eps
# Rounding of the spectral radius: 5e-13 measured at 1.0001 times the threshold, the worst case seen.
_SPECTRAL = 2e-12
# Of the depths at which this many times the least sum of errors is allowed the shallowest is taken: far out an
# exponential is its spectral radius and no evidence of its own.
_AS_GOOD = 2.0
# A row that allows more than this share of the exponent says nothing.
_INFORMATIVE = 0.01
# The law has not taken over where ρ is still this many times what the law says, and falls faster.
_OVERTAKEN = 2.0
# Rounding of sums over the grid and of the componentwise residual: 1e-14 to 1e-13 measured.
_BALANCE = 1e-11


def cross_check(density: StationaryDensity, rtol: float | None = None) -> CrossCheck:
    """Compare the left tail of a density with its closed form; `rtol` replaces the derived tolerances.

    With `rtol` a row may differ by rtol · exponent (by rtol where there is no exponent).

    >>> from solver import TanhDrift, Grid, Model, TemperedStableJumps, solve_stationary
    >>> model = Model(TanhDrift(1.0, 0.0, 1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    >>> check = cross_check(solve_stationary(model))
    >>> check.passed, f"{check.exponent:.9f}", [row.source for row in check.rows]
    (True, '1.267360049', ['spectral radius', 'ln ρ', 'p(τ)', 'f(ℓ)'])
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
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
        rows = [replace(row, tolerance=allowed, reason="as asked", limit=np.inf, excuse="") for row in rows]
    return CrossCheck(theory, exponent, tuple(rows), tuple(notes))


def _readings(density: StationaryDensity, tail: TailForm) -> list[Row]:
    """The rows of a tail with an exponent; depths s are distances to the left of where the tail begins."""
    # where the left tail begins: half the mass may lie far out on the other side
    origin = min(float(density.median()), float(density.model.drift.sign_changes()[0]))
    spectrum, side, h = density.timescales(), density.null.left, density.grid.spacing
    # e^{-y} e^{βζ}, y = ℓ e^ζ, is largest at y = β: a lag feels ρ that much to the right of -ln ℓ
    lead = np.log(tail.exponent) if side is not None and 1 < tail.exponent < np.inf else 0.0
    lag_tail = replace(tail, power=power_of_depth(tail, "lag"))

    def slope(s: Array) -> Array:
        return density.local_exponent(origin - s) + _power(tail, s)

    def chord(s: Array) -> Array:
        near, far = spectrum.logpdf(log_tau=np.array([0.75 * s, s]) - origin)
        law = tail.power * np.log(0.75)
        if tail.log_power:
            law = law + tail.log_power * np.log(np.log(0.75 * s) / np.log(s))
        return np.asarray((near - far - law) / (0.25 * s)) - 1.0

    def fall(s: Array) -> Array:
        return density.envelope(log_lags=s - origin + lead).local_exponent + _power(lag_tail, s)

    def rounding(s: Array, source: str) -> Array:
        size = np.abs(density.logpdf(origin - s))
        if source == "p(τ)":
            return 2 * _ROUNDING * size / (0.25 * s)
        if source == "f(ℓ)":
            return _SUMMED * size
        beyond = origin - s < density.grid.left - _NODES * h
        changing = np.where(beyond, np.maximum(1.0, _NODES * h * abs(tail.exponent)), np.maximum(1.0, size))
        if isinstance(side, Continuation):  # there the slope is the exponent
            changing = np.where(density.grid.left - origin + s >= side.law_from * h, 0.0, changing)
        return np.asarray(_ROUNDING * changing / h + _SPECTRAL)

    depths = _depths(density, origin)
    depth = float(depths[-1])
    short = bool(np.isneginf(density.logpdf(origin - depth)))
    ends = isinstance(side, PowerTail) or side is None  # of what the equation made: there is one depth to read at
    lags = depths if side is not None else depths * (max(0.5 * depth, depth - _KERNEL) / depth)

    def row(
        source: str, read: Callable[[Array], Array], depths: Array, law: TailForm, where: Callable[[float], str]
    ) -> Row:
        if short:
            return Row(source, np.nan, np.nan, where(float(depths[-1])), 0.0, "the grid ends before")
        values, errors = read(depths), density.log_error(origin - depths)
        # the error of the density at half the depth and at the depth, over what lies between
        parts = {
            "error of the density": (errors[1:-1] + errors[BEFORE:]) / (0.5 * depths[BEFORE:]),
            "rounding": rounding(depths, source)[BEFORE:],
            "reach of the jump law": _beyond_reach(density, law, depths[BEFORE:]),
        }
        own = sum(parts.values(), start=np.zeros(depths.size - BEFORE))
        parts["change from half the depth"] = changes(values, own)
        if isinstance(side, PowerTail):  # several powers, of either sign: their change may vanish where they do not
            parts["further powers of the depth"] = np.array([further_powers(density, 0.5 * depth)])
        total = sum(parts.values(), start=np.zeros(depths.size - BEFORE))
        known = np.where(np.isnan(total), np.inf, total)
        best = total.size - 1 if ends else int(np.argmax(known <= _AS_GOOD * known.min()))
        s, value = float(depths[BEFORE + best]), float(values[BEFORE + best])
        found = _row(source, value, tail, where(s), {name: float(part[best]) for name, part in parts.items()})
        excused = found.verdict == "FAILED" and value > tail.exponent and _not_yet(density, origin - depth)
        return replace(found, excuse="the law takes over deeper than can be read") if excused else found

    rows = [_spectral(density, tail, side)] if isinstance(side, Continuation) else []
    return [
        *rows,
        row("ln ρ", slope, depths, tail, lambda s: f"ζ = {origin - s:.4g}"),
        row("p(τ)", chord, depths, tail, lambda s: f"ln τ = {0.75 * s - origin:.4g} … {s - origin:.4g}"),
        row("f(ℓ)", fall, lags, lag_tail, lambda s: f"ln ℓ = {s - origin + lead:.4g}"),
    ]


def _row(source: str, value: float, tail: TailForm, where: str, parts: dict[str, float]) -> Row:
    """A row whose tolerance is the sum of its parts; the largest is named as the reason."""
    largest = max(parts, key=lambda part: parts[part])
    limit = _INFORMATIVE * tail.exponent if tail.exponent > 0 else np.inf
    return Row(source, value, value - tail.exponent, where, sum(parts.values()), largest, limit)


def _power(tail: TailForm, s: Array) -> Array:
    """What a power of the depth adds to the slope, to be taken away."""
    return np.asarray(tail.power / s + (tail.log_power / (s * np.log(s)) if tail.log_power else 0.0))


def _not_yet(density: StationaryDensity, zeta: float) -> bool:
    """Is ρ there still more than the law that theory puts furthest out? It may then fall faster than the law."""
    theory = tail_theory(density)
    law = theory.log_constant + theory.form.exponent * zeta + theory.power * np.log(-zeta) if zeta < 0 else np.nan
    return bool(float(density.logpdf(zeta)) > law + np.log(_OVERTAKEN))


def _depths(density: StationaryDensity, origin: float) -> Array:
    """Depths to read at, ascending; one, with those it is compared with, where the equation made no more."""
    h, side, jumps = density.grid.spacing, density.null.left, density.model.jumps
    edge = origin - density.grid.left
    if isinstance(side, PowerTail):  # beyond the edge it is what was put there
        return doublings(WITHIN * edge, WITHIN * edge)
    if side is None:
        inside = max(edge - _INSIDE * h, _FIRST * h)
        return doublings(inside, inside)
    first = max(edge, _FIRST * h)
    deepest = tail_data(density).deepest + origin
    if not side.pinned:
        deepest = max(deepest, _AT_LEAST)
    elif jumps is not None and jumps.tempering == 0:
        deepest = _UNTEMPERED * side.reach * h
    return doublings(first, max(deepest, first))


def _beyond_reach(density: StationaryDensity, law: TailForm, s: Array) -> Array:
    """What jumps longer than the reach R, which are left out, add to a slope at depth s: e^{-λR} of it."""
    side, jumps = density.null.left, density.model.jumps
    if not isinstance(side, Continuation) or jumps is None or law.power >= 0:
        return np.zeros(s.size)
    reach = side.reach * density.grid.spacing
    with np.errstate(under="ignore"):
        return np.asarray(2 * -law.power / s * (s / reach) ** -law.power * np.exp(-jumps.tempering * (reach - s)))


def _spectral(density: StationaryDensity, tail: TailForm, side: Continuation) -> Row:
    """The spectral radius; next to the threshold it is known to the reach of the exponential sum only."""
    parts = {
        "error of the density": density.error.left_slope,
        "rounding": _SPECTRAL * max(1.0, tail.exponent),
        "reach of the jump law": side.doubt,
    }
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
