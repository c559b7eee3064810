"""Tempered stable jumps below a cut ε: a Gaussian and one atom that have their cumulants 2, 4 and 6.

    m_j = ∫_{|z|<ε} |z|^j ν dz,   atoms at ±z₁, z₁² = m_6/m_4, of rate r = m_4/z₁⁴ in all,   Gaussian σ² = m_2 - r z₁²

This is the Gauss-Radau rule of the measure z² ν dz in z², its fixed node 0 being the Gaussian; hence z₁ < ε and σ² > 0.
The Gaussian limit alone (Asmussen and Rosiński, J. Appl. Prob. 38, 2001) errs by the fourth cumulant m_4, and a cut
that makes this negligible leaves hundreds of jumps a step; with the atom the eighth is the first that is wrong, and
some five do. The catch: what is stated is the bias of ONE step; that of many is at most their number times it.

The bias is the Kolmogorov distance between the increment over a step t and the exact one, bounded by inversion:

    sup |P(J ≤ x) - P(J' ≤ x)| ≤ (1/π) ∫_0^∞ |e^{tΨ(k)} - e^{tΨ'(k)}| dk/k
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from solver.errors import ModelError
from solver.jumps import TemperedStableJumps

Array = NDArray[np.float64]

# Gauss-Jacobi nodes on (0, ε): cos kz is integrated to rounding up to kε = _FASTEST (64 nodes follow 20 periods).
_NODES, _FASTEST = 64, 60.0
# The bound is integrated up to where the exact e^{tΨ} has fallen to e^-40, from e^-14 of that, where the integrand, of
# order k^7, has fallen to nothing; 700 points a factor 1.02 apart.
_FALLEN, _DECADES, _POINTS = 40.0, 14.0, 700
# Each cut tried is this part of the one before: the rate of jumps is at most 1/0.85^α of the least that would do.
_NEXT = 0.85
# A bias below the rounding of the bound cannot be asked for.
SMALLEST_BIAS = 1e-13


@dataclass(frozen=True)
class SmallJumps:
    """What stands for the jumps below `cut`: Gaussian `variance` and atoms ±`atom` of total `atom_rate`, per time.

    `bias` bounds the Kolmogorov distance of one increment over `step` from the exact law.
    """

    step: float
    cut: float
    variance: float
    atom: float
    atom_rate: float
    bias: float


def small_jumps(jumps: TemperedStableJumps, step: float, bias: float) -> SmallJumps:
    """The largest cut of a ladder whose bias over `step` is at most `bias`.

    >>> law = small_jumps(TemperedStableJumps(0.4, 1.5, 2.2), 0.05, 1e-8)
    >>> law.bias < 1e-8, 0 < law.atom < law.cut, law.variance > 0
    (True, True, True)
    """
    if not SMALLEST_BIAS <= bias < 1:
        raise ModelError(f"bias = {bias!r}: must lie in [{SMALLEST_BIAS:g}, 1)")
    k = _wave_numbers(jumps, step)
    cut = _FASTEST / float(k[-1])
    while True:
        law = replaced(jumps, step, cut, k)
        if law.bias <= bias:
            return law
        cut *= _NEXT


def replaced(jumps: TemperedStableJumps, step: float, cut: float, k: Array | None = None) -> SmallJumps:
    """The replacement of all jumps below `cut`, with its bias."""
    k = _wave_numbers(jumps, step) if k is None else k
    z, weights = _measure(jumps, cut)
    second, fourth, sixth = (float(weights @ z**j) for j in (0, 2, 4))
    atom = math.sqrt(sixth / fourth)
    rate = fourth / atom**4
    variance = second - rate * atom**2
    # (cos kz - 1)/z² as -(k²/2) sinc²(kz/2), which loses nothing for small kz
    exact_part = -0.5 * k**2 * (np.sinc(np.multiply.outer(k, z) / (2 * math.pi)) ** 2 @ weights)
    other_part = -0.5 * k**2 * (variance + rate * atom**2 * np.sinc(k * atom / (2 * math.pi)) ** 2)
    exact = step * jumps.symbol(k)
    # in all three k ≥ 0, and the integral over dk/k is one over d ln k
    gap = np.abs(np.exp(exact) * np.expm1(step * (other_part - exact_part)))
    bias = float(np.trapezoid(gap, np.log(k))) / math.pi
    return SmallJumps(step, cut, variance, atom, rate, bias)


def _measure(jumps: TemperedStableJumps, cut: float) -> tuple[Array, Array]:
    """Nodes z in (0, ε) and weights of 2 z² ν dz, both sides counted: z^{1-α} is the weight of a Jacobi rule."""
    x, w = roots_jacobi(_NODES, 0.0, 1 - jumps.stability)
    z = 0.5 * cut * (1 + x)
    scale = 2 * jumps.strength * (0.5 * cut) ** (2 - jumps.stability)
    return z, scale * w * np.exp(-jumps.tempering * z)


def _wave_numbers(jumps: TemperedStableJumps, step: float) -> Array:
    """k from nothing to where e^{tΨ(k)} is e^-40, geometric; Ψ falls steadily, so its last k is found by doubling."""
    top = 1.0
    while step * float(jumps.symbol(top)) > -_FALLEN:
        top *= 2
    while step * float(jumps.symbol(top / 1.1)) < -_FALLEN:
        top /= 1.1
    return np.geomspace(top * math.exp(-_DECADES), top, _POINTS)
