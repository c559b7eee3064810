"""Expectations under ρ: the sum over the nodes, which is spectrally accurate, plus the exact sum beyond open
edges.

E g(ζ) = spacing · Σ g(ζ_i) ρ_i for g a power or the drift; beyond an open edge node n carries ρ_n = Y M^k η,
and Σ_n n^p ρ_n is a resolvent of M like the mass.

The catch: an expectation may not exist, and a sum over a finite grid never says so: for powers under
untempered jumps (λ = 0) the power law of the tail decides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver.drifts import Drift
from solver.interpolant import Interpolant
from solver.model import Model
from solver.power_tail import PowerTail
from solver.untempered import growth, middle

# Where the slope of a tail cut by a stop edge is read: past the layer that the edge itself bends, 40 nodes at
# least and a twentieth of the grid (noise that hardly smooths makes that layer wide).
_INSIDE, _SHARE = 40, 0.05


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
    far = None if model.jumps is None else model.jumps.power_law
    if far is None:
        return True
    return bool(far.stability + growth(model.drift, -1 if side == "left" else 1).power > power + 1)


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
