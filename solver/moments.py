"""Expectations under ρ: the sum over the nodes, which is spectrally accurate, plus the exact sum beyond open
edges.

E g(ζ) = spacing · Σ g(ζ_i) ρ_i for g a power or an exponential; beyond an open edge node n carries ρ_n = Y
M^k η, and Σ_n e^{sn} ρ_n is a resolvent of M like the mass.

The catch: an expectation may not exist, and a sum over a finite grid never says so. For the exponential the
tail's own exponent decides, for powers under untempered jumps (λ = 0) the power law of the tail does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver.drifts import Drift
from solver.interpolant import Interpolant
from solver.model import Model
from solver.nullvector import Continuation
from solver.power_tail import PowerTail
from solver.untempered import growth, middle

# Where the slope of a tail cut by a stop edge is read: past the layer that the edge itself bends, 40 nodes at
# least and a twentieth of the grid (noise that hardly smooths makes that layer wide).
_INSIDE, _SHARE = 40, 0.05
# An exponent this close to 1 is 1: the width of the critical phase, the rounding of the spectral radius.
_CRITICAL = 1e-12
# Nodes of a marginal tail that are summed one by one at most: 1e6 take half a second.
_DEEP = 1e6


def mean_and_variance(interpolant: Interpolant) -> tuple[float, float]:
    """E ζ and E (ζ - E ζ)², with the exact contribution of everything beyond open edges."""
    inner = interpolant
    weight = inner.spacing * np.exp(inner.log_density)
    zeta = inner.left + inner.spacing * np.arange(inner.size)
    sides = [
        (edge, sign * inner.spacing, side.moments())
        for edge, sign, side in ((inner.left, -1.0, inner.before), (inner.right, 1.0, inner.after))
        if side is not None
    ]
    mean = float(weight @ zeta) + sum(edge * s0 + step * s1 for edge, step, (s0, s1, _) in sides)
    variance = float(weight @ (zeta - mean) ** 2) + sum(
        (edge - mean) ** 2 * s0 + 2 * (edge - mean) * step * s1 + step**2 * s2 for edge, step, (s0, s1, s2) in sides
    )
    return mean, variance


def moment_exists(model: Model, power: int, side: str) -> bool:
    """Whether E |ζ|^power is finite on one side ("left" or "right").

    With λ > 0 every power is. With λ = 0 the tail is ρ ≈ (η_J c/α) |ζ|^{-α}/|F|, so that with |F| ~ |ζ|^g the
    moment exists if α + g > power + 1.
    """
    if model.jumps is None or model.jumps.tempering > 0:
        return True
    return bool(model.jumps.stability + growth(model.drift, -1 if side == "left" else 1).power > power + 1)


def mean_drift(drift: Drift, interpolant: Interpolant) -> tuple[float, float, float]:
    """E F, E |F| and a bound on what is missing beyond stop edges.

    In a stationary state with a mean E F = 0, whatever the noise, as long as it is symmetric.
    """
    inner = interpolant
    values = drift(inner.left + inner.spacing * np.arange(inner.size))
    terms = inner.spacing * values * np.exp(inner.log_density)
    mean, scale, missing = float(terms.sum()), float(np.abs(terms).sum()), 0.0
    limits = (drift.left_limit, drift.right_limit)
    for one, limit, edge in ((inner, limits[0], values[0]), (inner.mirrored, limits[1], values[-1])):
        if isinstance(one.before, PowerTail):
            beyond, doubt = _power_drift(drift, one.before, -1 if one is inner else 1)
            mean, scale, missing = mean + beyond, scale + abs(beyond), missing + doubt
        elif one.before is not None:
            beyond = limit * float(np.exp(one.before.log_mass_from(1)))
            mean, scale = mean + beyond, scale + abs(beyond)
        else:
            missing += abs(edge) * float(np.exp(log_missing_mass(one)))
    return mean, scale, missing


def _power_drift(drift: Drift, tail: PowerTail, side: int) -> tuple[float, float]:
    """E F beyond an edge where F is nearly a power of the depth, and what that neglects; for stability > 1."""
    law, depth = growth(drift, side), tail.start * tail.spacing
    at_edge = law.size * depth**law.power
    thinner = replace(tail, powers=tail.powers - law.power)
    beyond = -side * at_edge * float(np.exp(thinner.log_mass_from(1)))
    true = abs(float(drift(middle(drift) + side * depth)))
    return beyond, abs(beyond) * abs(true / at_edge - 1)


def log_exponential_mean(interpolant: Interpolant, tempering: float) -> float:
    """ln E e^{-ζ}: inf where the left tail is too heavy.

    `tempering` is the λ of the jumps (inf without any): jumps alone make ρ at least as heavy as e^{λζ}. At
    an open edge the tail's exponent decides and the sum beyond is exact; where λ = 1 pins it at 1, the power
    of the depth that comes with it decides. At a stop edge the slope inside decides (`cut_tail`), and what is
    missing beyond is taken as geometric.
    """
    inner = interpolant
    step = inner.spacing
    terms = inner.log_density - (inner.left + step * np.arange(inner.size)) + np.log(step)
    total = float(np.logaddexp.reduce(terms))
    if tempering < 1:
        return float("inf")
    side = inner.before
    if isinstance(side, Continuation):
        if max(abs(side.exponent - 1), abs(tempering - 1)) <= 1 / (side.reach * step):
            return _log_marginal_mean(inner, side, total)
        if not side.exponent > 1 + _CRITICAL:
            return float("inf")
        return float(np.logaddexp(total, log_tilted_mass(side, 1.0) - inner.left))
    log_edge, slope = cut_tail(inner)
    if not slope > 1:
        return float("inf")
    return float(np.logaddexp(total, log_edge - inner.left - np.log(np.expm1((slope - 1) * step) / step)))


def cut_tail(interpolant: Interpolant) -> tuple[float, float]:
    """ln ρ at the left end and d ln ρ/dζ as a geometric tail read further inside gives them."""
    inner = interpolant
    inside = min(max(_INSIDE, int(_SHARE * inner.size)), inner.size - 2)
    slope = float(inner.log_density[inside + 1] - inner.log_density[inside]) / inner.spacing
    return float(inner.log_density[inside]) - slope * inside * inner.spacing, slope


def log_missing_mass(interpolant: Interpolant) -> float:
    """ln of the mass that a geometric tail holds beyond the left end; inf for one that does not fall."""
    log_edge, slope = cut_tail(interpolant)
    return log_edge - float(np.log(slope)) if slope > 0 else float("inf")


def log_tilted_mass(side: Continuation, rate: float) -> float:
    """ln( spacing · Σ_{n ≥ 1} e^{rate · n · spacing} ρ_n ) beyond an edge, for rate < exponent."""
    length = side.block.shape[0]
    inside = np.exp(rate * side.spacing * np.arange(1, length + 1)) @ side.block
    growth = np.exp(rate * side.spacing * length)
    resolvent = np.linalg.solve(np.eye(side.step.shape[0]) - growth * side.step, side.message)
    return float(np.log(side.spacing * (inside @ resolvent)) + side.log_scale)


def _log_marginal_mean(inner: Interpolant, side: Continuation, total: float) -> float:
    """ln E e^{-ζ} for a tail e^{ζ} s^{-p}: inf for p ≤ 1, else a sum to the depth s and f(s) s/(p-1) beyond.

    That remainder errs by s^{-2(p-1)}, because corrections run in s^{-(p-1)}; two depths remove it.
    """
    step, last = inner.spacing, int(min(side.reach, _DEEP) // 2)
    terms = side.log_density(np.arange(1, last + 1)) + np.log(step) - inner.left
    terms += step * np.arange(1, last + 1)
    estimates = []
    for n in (last // 2, last):
        s = step * n
        power = -s * float(terms[n - 1] - terms[n - 2]) / step
        if not power > 1:
            return float("inf")
        beyond = s / step / (power - 1) - 0.5  # the sum has its last term whole, the trapezoid rule half
        estimates.append(float(np.logaddexp.reduce([total, *terms[:n], terms[n - 1] + np.log(beyond)])))
    halved = 2.0 ** (2 * (power - 1))
    return estimates[1] + float(np.log1p(-np.expm1(estimates[0] - estimates[1]) / (halved - 1)))
