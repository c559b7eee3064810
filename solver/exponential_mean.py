"""The mean time scale E τ = E e^{-ζ}, where a direct sum over the tail converges slowly or not at all.

Multiply the stationary equation by e^{-sζ} and integrate: the constant part of the drift, the diffusion and the jumps
give Φ(s) E e^{-sζ}, the rest of the drift an average that feels the body only (docs/theory.md, equation 14),

    E τ = N/(-Φ(1)),      N = E (κ - F) e^{-ζ},      -Φ(1) = κ - η_G - η_J ψ(1)

κ - F dies out along the plateau, so that N converges exponentially even where the tail is e^{ζ} times a power of |ζ|
(λ = 1 without a root) and the direct sum loses |ζ|^{-α}. The mean is finite where λ ≥ 1 and Φ(1) < 0.

The catch: next to the critical point Φ(1) is a small difference, and what is left of its digits is all there is; every
mean comes with an estimate of its relative error. A drift that grows without bound has no κ: there the sum is direct.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver.continuation import Continuation
from solver.interpolant import Array, Interpolant
from solver.model import Model
from solver.moments import cut_tail

# Where -Φ(1) is below this share of its terms the exponent is 1 as far as the phases are concerned (|β - 1| ≤ 1e-12).
_CRITICAL = 1e-12
# Relative accuracy of ψ(1), and of a sum over the grid.
_PSI, _SUM = 1e-13, 1e-14
# Nodes beyond an open edge over which the drift is followed to its plateau: past the edge κ - F is 1e-10 or less, and
# it falls further as e^{-2|ζ|/width} or so, with about ten nodes to a width.
_FURTHER = 1024
# A mean that may be off by more than this says nothing: it is given as NaN.
USELESS = 0.1


@dataclass(frozen=True)
class ExponentialMean:
    """ln E e^{-ζ}, an estimate of the relative error of the mean, and how it was found, or why it is not known.

    `log_value` is inf where the mean does not exist and NaN where it is not known to 10%.
    """

    log_value: float
    error: float
    reason: str


def exponential_mean(
    interpolant: Interpolant,
    tempering: float,
    model: Model | None = None,
    log_error: Callable[[Array], Array] | None = None,
) -> ExponentialMean:
    """E e^{-ζ} by the balance of `model` where that has a finite left plateau, by the direct sum otherwise.

    `tempering` is the λ of the jumps (inf without any): jumps alone make ρ at least as heavy as e^{λζ}. `log_error` is
    the error of ln ρ as a function of ζ (0 where it is not given).
    """
    if tempering < 1:
        return ExponentialMean(math.inf, 0.0, f"infinite: jumps tempered by {tempering:g} < 1")
    error = log_error or (lambda zeta: np.zeros(np.shape(zeta)))
    if model is not None and np.isfinite(model.left_plateau):
        found = _balanced(interpolant, model, error)
    else:
        found = _direct(interpolant, tempering, error)
    if found.log_value == math.inf or found.error <= USELESS:
        return found
    reason = f"not known: {found.reason}, and its relative error may be {found.error:.1g}"
    return ExponentialMean(math.nan, found.error, reason)


def _balanced(inner: Interpolant, model: Model, log_error: Callable[[Array], Array]) -> ExponentialMean:
    kappa = model.left_plateau
    jumps = 0.0 if model.jumps is None else float(model.jumps.laplace_exponent(1.0))
    gap, scale = math.fsum((kappa, -model.diffusion, -jumps)), kappa + model.diffusion + jumps
    if not gap > _CRITICAL * scale:
        return ExponentialMean(math.inf, 0.0, "infinite: the tail's exponent is at most 1")
    further = _FURTHER if isinstance(inner.before, Continuation) else 0
    index = np.arange(-further, inner.size)
    zeta = np.asarray(inner.left + inner.spacing * index, dtype=float)
    logs = inner.at_node(index) - zeta + np.log(inner.spacing)  # of e^{-ζ} ρ
    largest = float(logs.max())
    mass = np.exp(logs - largest)
    terms = (kappa - model.drift(zeta)) * mass
    # beyond an open edge ρ is that of a constant drift: what comes from there is right to its own size
    error = float(np.abs(terms[:further]).sum())
    end = abs(float(kappa - model.drift(zeta[0])))
    if isinstance(inner.after, Continuation):
        right = (kappa - model.drift.right_limit) * np.exp(log_tilted_mass(inner.after, -1.0) - inner.right - largest)
        terms, zeta = np.append(terms, right), np.append(zeta, inner.right)
    total = float(terms.sum())
    if not total > 0:
        return ExponentialMean(math.nan, math.inf, "the drift exceeds its left limit in the body, and nothing is left")
    sizes = np.abs(terms)
    value = total / gap
    beyond = max(0.0, 1.0 - float(mass.sum()) / value)  # the share of the mean further left
    error = (
        (error + float(sizes @ np.expm1(log_error(zeta)) + _SUM * sizes.sum())) / total
        + beyond * end / gap
        + _PSI * scale / gap
    )
    return ExponentialMean(math.log(value) + largest, error, "by the balance of e^{-ζ}")


def _direct(inner: Interpolant, tempering: float, log_error: Callable[[Array], Array]) -> ExponentialMean:
    """The sum over the nodes and what lies beyond: exact at an open edge, taken as geometric at a stop edge."""
    step, side = inner.spacing, inner.before
    zeta = np.asarray(inner.left + step * np.arange(inner.size), dtype=float)
    logs = inner.log_density - zeta + np.log(step)
    inside = float(np.logaddexp.reduce(logs))
    body = float(np.exp(logs - inside) @ np.expm1(log_error(zeta)))
    if isinstance(side, Continuation):
        rate, edge = side.exponent, 0.0
        if side.pinned and abs(rate - 1) <= 1 / (side.reach * step):
            return ExponentialMean(math.nan, math.inf, "the tail's exponent is pinned at 1")
    else:
        edge, rate = cut_tail(inner)
    if not rate > 1 + _CRITICAL:
        return ExponentialMean(math.inf, 0.0, "infinite: the tail's exponent is at most 1")
    if isinstance(side, Continuation):
        beyond = log_tilted_mass(side, 1.0) - inner.left
    else:
        beyond = edge - inner.left - float(np.log(np.expm1((rate - 1) * step) / step))
    total = float(np.logaddexp(inside, beyond))
    share = float(np.exp(beyond - total))
    if isinstance(side, Continuation):  # the error of ln ρ where that part comes from
        doubt = float(np.expm1(log_error(np.array([inner.left - 2 / (rate - 1)])))[0])
    else:  # a power of the depth makes more of it than an exponential, but not twice as much
        doubt = 1.0
    return ExponentialMean(total, body + share * doubt + _SUM, "by the sum over the density")


def log_tilted_mean(interpolant: Interpolant, rate: float) -> float:
    """ln E e^{rate·ζ} for 0 ≤ rate < decay rate of the right tail; the direct sum."""
    inner = interpolant
    logs = inner.log_density + rate * (inner.left + inner.spacing * np.arange(inner.size)) + np.log(inner.spacing)
    total = float(np.logaddexp.reduce(logs))
    for side, edge, sign in ((inner.before, inner.left, -1.0), (inner.after, inner.right, 1.0)):
        if isinstance(side, Continuation):
            total = float(np.logaddexp(total, log_tilted_mass(side, sign * rate) + rate * edge))
        elif side is not None:
            total = float(np.logaddexp(total, side.log_mass_from(1) + rate * edge))  # at least as much as there is
    return total


def log_tilted_mass(side: Continuation, rate: float) -> float:
    """ln( spacing · Σ_{n ≥ 1} e^{rate · n · spacing} ρ_n ) beyond an edge, for rate < exponent."""
    length = side.block.shape[0]
    inside = np.exp(rate * side.spacing * np.arange(1, length + 1)) @ side.block
    growth = np.exp(rate * side.spacing * length)
    resolvent = np.linalg.solve(np.eye(side.step.shape[0]) - growth * side.step, side.message)
    return float(np.log(side.spacing * (inside @ resolvent)) + side.log_scale)
