"""The jumps of ζ: a symmetric tempered α-stable law, seen three ways that must agree.

    ν(z) = η_J c e^{-λ|z|} / |z|^{1+α}                       density of jumps of size z
    η_J ψ(b) = ∫ (e^{bz} - 1) ν dz,  |b| ≤ λ                 on real exponentials (convex, ≥ 0)
    symbol(k) = ∫ (cos kz - 1) ν dz                          in Fourier space (≤ 0): the same with b = ik
    w_n, n = 1, 2, …                                         on a lattice of spacing h

The catch is the singularity at z = 0. Sampling ν on the lattice misses it; corrections of the nearest
weights that restore the even moments repair that to high order, whatever α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import zeta

from solver.checks import choice, number, positive
from solver.errors import ModelError
from solver.exponential_sum import ExponentialSum, unit_exponential_sum
from solver.jump_exponents import CONVENTIONS, convention_constant, unit_laplace_exponent, unit_symbol

__all__ = [
    "CONVENTIONS",
    "TemperedStableJumps",
    "convention_constant",
    "unit_laplace_exponent",
    "unit_symbol",
]

Array = NDArray[np.float64]

# The moment series converges like (λh/2π)^r; with λh ≤ 1 forty terms leave less than 1e-20.
_MOMENT_TERMS = 40


@dataclass(frozen=True)
class TemperedStableJumps:
    """Symmetric tempered α-stable jumps; the equations are at the head of this module.

    `intensity` η_J > 0, `stability` α in (0, 2), `tempering` λ ≥ 0 in 1/ζ (0 is the stable limit),
    `convention` the constant c: "levy", "stable" or "laplacian" (see convention_constant). Raises
    ModelError.

    >>> jumps = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)
    >>> round(float(jumps.laplace_exponent(1.0)), 12), round(float(jumps.symbol(1.0)), 12)
    (0.484578004005, -0.472164173122)
    """

    intensity: float
    stability: float
    tempering: float
    convention: str = "levy"

    def __post_init__(self) -> None:
        checked = {
            "intensity": positive("intensity", self.intensity),
            "stability": number("stability", self.stability, 0.0, 2.0, open_low=True, open_high=True),
            "tempering": number("tempering", self.tempering, low=0.0),
            "convention": choice("convention", self.convention, CONVENTIONS),
        }
        for field in fields(self):
            object.__setattr__(self, field.name, checked[field.name])
        _ = self.constant  # refuses "laplacian" at α = 1 now, not at first use

    @property
    def constant(self) -> float:
        """c of the convention."""
        return float(convention_constant(self.stability, self.convention))

    @property
    def strength(self) -> float:
        """η_J c: what multiplies e^{-λ|z|}/|z|^{1+α}, whatever the convention."""
        return self.intensity * self.constant

    @property
    def second_moment(self) -> float:
        """∫ z² ν dz = 2 η_J c Γ(2-α) λ^{α-2}; infinite for λ = 0."""
        if self.tempering == 0:
            return math.inf
        power = self.stability - 2
        return float(2 * self.strength * math.gamma(-power) * self.tempering**power)

    def levy_density(self, z: ArrayLike) -> Array:
        """ν(z), any shape; infinite at z = 0.

        >>> TemperedStableJumps(2.0, 1.0, 0.0).levy_density([-0.5, 2.0]).tolist()
        [8.0, 0.5]
        """
        size = np.abs(np.asarray(z, dtype=float))
        power = np.power(size, -1 - self.stability, out=np.full(size.shape, np.inf), where=size > 0)
        return np.asarray(self.strength * np.exp(-self.tempering * size) * power)

    def laplace_exponent(self, b: ArrayLike) -> Array:
        """η_J ψ(b) = ∫ (e^{bz} - 1) ν dz for |b| ≤ λ, any shape; beyond, ModelError."""
        return self.intensity * unit_laplace_exponent(b, self.stability, self.tempering, self.convention)

    def symbol(self, k: ArrayLike) -> Array:
        """∫ (cos kz - 1) ν dz ≤ 0 for real k of any shape; relative error below 1e-12, also for λ = 0."""
        return self.intensity * unit_symbol(k, self.stability, self.tempering, self.convention)

    def lattice_corrections(self, spacing: float, count: int) -> Array:
        """η_J c γ_n, n = 1 … count: what is added to the nearest weights w_n = h ν(nh).

        With them the lattice has the exact even moments 2, 4, …, 2·count of ν, so that the discrete symbol
        is right to O(h^{2·count+2-α}) for every α. They solve

            Σ_n 2 n^{2k} γ_n = -2 h^{-α} Σ_{r≥0} (-λh)^r / r! ζ_R(α+1-2k-r),   k = 1 … count.

        Raises ModelError unless λh ≤ 1.
        """
        step, m = positive("spacing", spacing), int(number("count", count, low=1, integer=True))
        ratio = self.tempering * step
        if ratio > 1:
            raise ModelError(
                f"spacing = {step!r}: must be at most 1/tempering = {1 / self.tempering:.6g}, "
                "the range over which the jump density falls by e"
            )
        r = np.arange(_MOMENT_TERMS)
        powers = np.cumprod(np.concatenate([[1.0], -ratio / r[1:]]))
        k = np.arange(1, m + 1)
        # α - (2k+r-1) and not α+1-2k-r: near the pole, α → 2 with k = 1, the first form is exact.
        moments = zeta(self.stability - (2 * k[:, None] + r - 1)) @ powers
        return np.asarray(-self.strength * step**-self.stability * (_inverse_moment_matrix(m) @ moments))

    def lattice_weights(self, spacing: float, count: int, corrections: int) -> Array:
        """w_1 … w_count: h ν(nh), the first `corrections` of them with lattice_corrections added (0: none).

        >>> jumps = TemperedStableJumps(1.0, 1.5, 1.0)
        >>> n, h = np.arange(1, 4001), 0.01
        >>> moment = 2 * h**2 * float(n**2 @ jumps.lattice_weights(h, 4000, 4))
        >>> abs(moment / jumps.second_moment - 1) < 1e-12
        True
        """
        step, length = positive("spacing", spacing), int(number("count", count, low=1, integer=True))
        m = int(number("corrections", corrections, low=0, high=length, integer=True))
        weights = step * self.levy_density(step * np.arange(1.0, length + 1))
        if m:
            weights[:m] += self.lattice_corrections(step, m)
        return weights

    def exponential_sum(self, spacing: float, reach: float) -> ExponentialSum:
        """The far weights w_n = h ν(nh) = Σ_k g_k q_k^{n-1}, without corrections, to 2e-13 for 1 ≤ n ≤ reach.

        >>> jumps = TemperedStableJumps(0.4, 1.5, 2.2)
        >>> sums = jumps.exponential_sum(0.05, 1e4)
        >>> bool(abs(sums.values(40) / (0.05 * jumps.levy_density(2.0)) - 1) < 3e-13)
        True
        """
        step = positive("spacing", spacing)
        rates, coefficients = unit_exponential_sum(self.stability, float(reach))
        log_ratios = -(rates + self.tempering * step)
        scale = self.strength * step**-self.stability
        return ExponentialSum(scale * coefficients * np.exp(log_ratios), log_ratios)


@lru_cache(maxsize=16)
def _inverse_moment_matrix(m: int) -> Array:
    """Inverse of the matrix n^{2k} (rows k, columns n), found in rationals: no digit is lost. Read-only."""
    rows = [[Fraction(n ** (2 * k)) for n in range(1, m + 1)] for k in range(1, m + 1)]
    for k, row in enumerate(rows):
        row.extend(Fraction(int(k == j)) for j in range(m))
    for k in range(m):  # a Vandermonde matrix in n² with positive nodes: every pivot is positive
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for j in range(m):
            if j != k:
                factor = rows[j][k]
                rows[j] = [entry - factor * pivot for entry, pivot in zip(rows[j], rows[k], strict=True)]
    inverse = np.array([[float(entry) for entry in row[m:]] for row in rows])
    inverse.setflags(write=False)
    return inverse
