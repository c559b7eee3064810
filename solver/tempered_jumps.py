"""Symmetric tempered α-stable jumps, in the views that every jump law has (`solver.jump_law`).

    ν(z) = η_J c e^{-λ|z|} / |z|^{1+α}                   0 < α < 2, λ ≥ 0
    η_J ψ(b) = ∫ (e^{bz} - 1) ν dz,  |b| ≤ λ             closed forms in `solver.jump_exponents`
    w_n = h ν(nh) + η_J c γ_n                            the first m of them corrected

The catch is the singularity at z = 0, which no sampling sees, and the constant c, of which three are in use: an
intensity means something only together with its convention.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.checks import choice, number, positive
from solver.exponent import at_threshold, phase, spectral_exponent, threshold_intensity
from solver.exponential_sum import ExponentialSum, unit_exponential_sum
from solver.jump_exponents import CONVENTIONS, convention_constant, unit_laplace_exponent, unit_symbol
from solver.jump_law import JumpLaw, PowerLaw, moment_corrections
from solver.tail_form import TailForm, jump_tail, threshold_tail

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class TemperedStableJumps(JumpLaw):
    """Symmetric tempered α-stable jumps; the equations are at the head of this module.

    `intensity` η_J > 0, `stability` α in (0, 2), `tempering` λ ≥ 0 in 1/ζ (0 is the stable limit),
    `convention` the constant c: "levy", "stable" or "laplacian" (see convention_constant). Raises
    ModelError.

    >>> jumps = TemperedStableJumps(intensity=0.4, stability=1.5, tempering=2.2)
    >>> round(float(jumps.laplace_exponent(1.0)), 12), round(float(jumps.symbol(1.0)), 12)
    (0.484578004005, -0.472164173122)
    """

    kind: ClassVar[str] = "tempered_stable"
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
    def activity(self) -> float:
        """α."""
        return self.stability

    @property
    def power_law(self) -> PowerLaw | None:
        """ν itself for λ = 0."""
        return PowerLaw(self.stability, self.strength) if self.tempering == 0 else None

    @property
    def normalisation(self) -> str | None:
        """The convention."""
        return self.convention

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

        The discrete symbol is then right to O(h^{2·count+2-α}) for every α. Raises ModelError unless λh ≤ 1.
        """
        return moment_corrections(self.stability, self.strength, self.tempering, spacing, count)

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

    def exponent(self, plateau: float, diffusion: float) -> float:
        """`solver.exponent.spectral_exponent` of this law."""
        return float(spectral_exponent(plateau, diffusion, *self._parameters))

    def threshold(self, plateau: float, diffusion: float) -> float:
        """`solver.exponent.threshold_intensity` of this law, in its convention."""
        return float(threshold_intensity(plateau, diffusion, self.stability, self.tempering, self.convention))

    def phase(self, plateau: float, diffusion: float) -> str:
        """`solver.exponent.phase` of this law."""
        return str(phase(plateau, diffusion, *self._parameters))

    def tail(self, plateau: float, diffusion: float) -> TailForm:
        """The root, or single jumps where there is none, or the two together at the threshold."""
        beta = self.exponent(plateau, diffusion)
        if math.isinf(beta):
            return jump_tail(self.stability, self.tempering, over_drift=True)
        if math.isnan(beta):
            return jump_tail(self.stability, self.tempering)
        if at_threshold(self.intensity, self.threshold(plateau, diffusion)):
            return threshold_tail(self.stability, self.tempering)
        return TailForm("root", beta, 0.0)

    @property
    def _parameters(self) -> tuple[float, float, float, str]:
        return self.intensity, self.stability, self.tempering, self.convention
