"""What every jump law answers, and how a lattice takes over from its density near z = 0.

    ν(z), even                                           density of jumps of size z, in 1 / (time · ζ)
    laplace_exponent(b) = ∫ (e^{bz} - 1) ν dz            on real exponentials (convex, ≥ 0)
    symbol(k) = ∫ (cos kz - 1) ν dz                      in Fourier space (≤ 0): the same with b = ik
    w_n = h ν(nh) + corrections = Σ_k g_k q_k^{n-1} + corrections       on a lattice of spacing h

and what the algebra needs: the root β of Φ(b) = η_G b² + laplace_exponent(b) - κ b, its threshold and the tails. The
catch is z = 0. Sampling a density that is singular or has a kink there misses something of a low order in h;
corrections of the nearest weights that restore the even moments repair that to a high one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import zeta

from solver.checks import number, positive
from solver.errors import ModelError
from solver.exponential_sum import ExponentialSum
from solver.tail_form import TailForm

Array = NDArray[np.float64]

# The moment series converges like (λh/2π)^r; with λh ≤ 1 forty terms leave less than 1e-20.
_MOMENT_TERMS = 40


@final
@dataclass(frozen=True)
class PowerLaw:
    """Far jumps without tempering: ν(z) ~ strength / |z|^{1+stability}."""

    stability: float
    strength: float


class JumpLaw(ABC):
    """Abstract symmetric jump law; the concrete ones are frozen dataclasses of checked numbers, and final."""

    kind: ClassVar[str]  # the word in model files
    tempering: float  # λ: ν falls as e^{-λ|z|}, up to powers of |z|; 0: not exponentially

    @property
    @abstractmethod
    def activity(self) -> float:
        """The power a in ν ~ |z|^{-1-a} as z → 0: from 1 on jumps alone smooth a step of the drift."""

    @property
    @abstractmethod
    def power_law(self) -> PowerLaw | None:
        """How far jumps fall where they fall as a power (λ = 0); None where they fall exponentially."""

    @property
    @abstractmethod
    def normalisation(self) -> str | None:
        """The convention of the constant in front of ν; None where there is no choice."""

    @property
    @abstractmethod
    def second_moment(self) -> float:
        """∫ z² ν dz, possibly infinite."""

    @abstractmethod
    def levy_density(self, z: ArrayLike) -> Array:
        """ν(z), any shape."""

    @abstractmethod
    def laplace_exponent(self, b: ArrayLike) -> Array:
        """∫ (e^{bz} - 1) ν dz for |b| ≤ λ, any shape, inf where it diverges at |b| = λ; beyond, ModelError."""

    @abstractmethod
    def symbol(self, k: ArrayLike) -> Array:
        """∫ (cos kz - 1) ν dz ≤ 0 for real k of any shape."""

    @abstractmethod
    def lattice_corrections(self, spacing: float, count: int) -> Array:
        """What is added to the nearest weights w_n = h ν(nh), n = 1 … count, for exact even moments 2 … 2·count.

        Raises ModelError unless λh ≤ 1.
        """

    @abstractmethod
    def exponential_sum(self, spacing: float, reach: float) -> ExponentialSum:
        """The far weights w_n = h ν(nh) = Σ_k g_k q_k^{n-1}, without corrections, to 2e-13 for 1 ≤ n ≤ reach."""

    @abstractmethod
    def exponent(self, plateau: float, diffusion: float) -> float:
        """β, the root of Φ in (0, λ]; NaN where there is none, inf for an infinite plateau."""

    @abstractmethod
    def threshold(self, plateau: float, diffusion: float) -> float:
        """The smallest intensity that has a root; NaN where every intensity has one."""

    @abstractmethod
    def phase(self, plateau: float, diffusion: float) -> str:
        """The phase in words, as `solver.exponent.phase` defines them."""

    @abstractmethod
    def tail(self, plateau: float, diffusion: float) -> TailForm:
        """The shape of ρ far out on a side whose drift pulls inwards with `plateau` > 0, possibly inf."""

    def lattice_weights(self, spacing: float, count: int, corrections: int) -> Array:
        """w_1 … w_count: h ν(nh), the first `corrections` of them with lattice_corrections added (0: none).

        >>> from solver.jumps import TemperedStableJumps
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


def moment_corrections(index: float, strength: float, tempering: float, spacing: float, count: int) -> Array:
    """The lattice corrections of ν = s e^{-λ|z|} |z|^{-1-α}, `index` α from -1 to 2, `strength` s; shape (count,).

    With them the lattice has the exact even moments 2, 4, …, 2·count of ν. They are s γ_n with

        Σ_n 2 n^{2k} γ_n = -2 h^{-α} Σ_{r≥0} (-λh)^r / r! ζ_R(α+1-2k-r),   k = 1 … count,

    the Euler–Maclaurin defect of Σ n^{2k-1-α} e^{-λhn}. Raises ModelError unless λh ≤ 1.
    """
    step, m = positive("spacing", spacing), int(number("count", count, low=1, integer=True))
    ratio = tempering * step
    if ratio > 1:
        raise ModelError(
            f"spacing = {step!r}: must be at most 1/tempering = {1 / tempering:.6g}, "
            "the range over which the jump density falls by e"
        )
    r = np.arange(_MOMENT_TERMS)
    powers = np.cumprod(np.concatenate([[1.0], -ratio / r[1:]]))
    k = np.arange(1, m + 1)
    # α - (2k+r-1) and not α+1-2k-r: near the pole, α → 2 with k = 1, the first form is exact.
    moments = zeta(index - (2 * k[:, None] + r - 1)) @ powers
    return np.asarray(-strength * step**-index * (_inverse_moment_matrix(m) @ moments))


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
