"""Jumps that arrive one by one with two-sided exponential sizes: the jump law for which everything is rational.

    ν(z) = rate (λ/2) e^{-λ|z|}                          a compound Poisson process
    ∫ (e^{bz} - 1) ν dz = rate b² / (λ² - b²)            |b| < λ; infinite at λ
    w_n = h ν(nh) = g q^{n-1},  q = e^{-λh}              one term, exact at every distance

It is the tempered stable density with α = -1 and η_J c = rate λ/2, and so are its exponent and its lattice corrections.
What differs follows from the pole of the exponent at λ: a root β < λ exists for every plateau κ > 0 and every rate, so
there is no threshold; and where the drift grows without bound jumps follow one another, e^{-λs} with a factor
exp(∫ (rate/2) ds/|F|) that a single jump does not have.

The catch: jumps this rare smooth nothing. Without diffusion a density has a corner or a peak where the drift vanishes
(ρ ~ |ζ|^{rate/|F'| - 1}), and an atom where it steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from solver.checks import positive
from solver.errors import ModelError
from solver.exponent import phase_word
from solver.exponential_sum import ExponentialSum
from solver.jump_law import JumpLaw, PowerLaw, moment_corrections
from solver.tail_form import TailForm

Array = NDArray[np.float64]

# The tempered stable index whose density has no power of |z|.
_INDEX = -1.0
# Relative tolerance of the root: the least that brentq takes, 4 eps.
_ROOT = 4 * np.finfo(float).eps


@final
@dataclass(frozen=True)
class LaplaceJumps(JumpLaw):
    """Compound Poisson jumps, `rate` > 0 of them per time, Laplace distributed with `tempering` λ > 0 (1 / ζ).

    Raises ModelError. The equations are at the head of this module.

    >>> jumps = LaplaceJumps(rate=0.5, tempering=2.0)
    >>> float(jumps.laplace_exponent(1.0)), float(jumps.symbol(2.0)), jumps.second_moment
    (0.166666666667, -0.25, 0.25)
    """

    kind: ClassVar[str] = "laplace"
    rate: float
    tempering: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive("rate", self.rate))
        object.__setattr__(self, "tempering", positive("tempering", self.tempering))

    @property
    def activity(self) -> float:
        """-1: the density is finite at z = 0."""
        return _INDEX

    @property
    def power_law(self) -> PowerLaw | None:
        """None: all jumps are tempered."""
        return None

    @property
    def normalisation(self) -> str | None:
        """None: the rate is that of all jumps."""
        return None

    @property
    def second_moment(self) -> float:
        """2 rate / λ²."""
        return 2 * self.rate / self.tempering**2

    def levy_density(self, z: ArrayLike) -> Array:
        """ν(z), any shape.

        >>> LaplaceJumps(3.0, 2.0).levy_density([0.0, -1e3]).tolist()
        [3.0, 0.0]
        """
        return np.asarray(0.5 * self.rate * self.tempering * np.exp(-self.tempering * np.abs(np.asarray(z, float))))

    def laplace_exponent(self, b: ArrayLike) -> Array:
        """rate b² / (λ² - b²) for |b| ≤ λ, any shape, inf at |b| = λ; beyond, ModelError."""
        size, lam = np.abs(np.asarray(b, dtype=float)), self.tempering
        if not np.all(size <= lam):
            worst = float(size[~(size <= lam)].flat[0])
            raise ModelError(
                f"b = {worst!r} exceeds tempering = {lam!r}: the exponential moment of the jumps is infinite"
            )
        x, gap = size / lam, (lam - size) / lam  # the gap from λ - b, which is exact where it matters
        out = np.full(size.shape, np.inf)
        return np.asarray(np.divide(self.rate * x**2, gap * (1 + x), out=out, where=gap > 0))

    def symbol(self, k: ArrayLike) -> Array:
        """-rate k² / (λ² + k²) for real k of any shape."""
        return np.asarray(-self.rate * (np.asarray(k, dtype=float) / np.hypot(k, self.tempering)) ** 2)

    def lattice_corrections(self, spacing: float, count: int) -> Array:
        """What the kink at z = 0 costs the moments 2 … 2·count: Σ n^{2k} q^n against ∫ x^{2k} e^{-λhx} dx.

        The discrete symbol is then right to O(h^{2·count+4}): half the terms of the series vanish, as ζ_R(-2j) = 0.
        The lattice's number of jumps per time is not that of ν, and need not be, since jumps of size 0 do nothing.
        Raises ModelError unless λh ≤ 1.
        """
        return moment_corrections(_INDEX, 0.5 * self.rate * self.tempering, self.tempering, spacing, count)

    def exponential_sum(self, spacing: float, reach: float) -> ExponentialSum:
        """One term, exact to infinity whatever the reach.

        >>> LaplaceJumps(1.0, 2.0).exponential_sum(0.5, 1e6).values([1, 3]) / np.exp([-1.0, -3.0])
        array([0.5, 0.5])
        """
        step = positive("spacing", spacing)
        log_ratio = -self.tempering * step
        return ExponentialSum(np.array([0.5 * self.rate * -log_ratio * np.exp(log_ratio)]), np.array([log_ratio]))

    def exponent(self, plateau: float, diffusion: float) -> float:
        """β: with x = β/λ, D = η_G λ/κ, R = rate/(λκ) the root in (0, 1) of R x - (1 - x²)(1 - D x) = 0, to 1e-15.

        NaN for κ ≤ 0. The left side is -1 at x = 0 and R at x = 1, and Φ is convex: there is one root.

        >>> LaplaceJumps(1.5, 2.0).exponent(plateau=1.0, diffusion=0.5)  # 0.5 + 1.5/(4 - 1) = 1
        1.0
        """
        if math.isinf(plateau):
            return math.inf if plateau > 0 else math.nan
        if not plateau > 0:
            return math.nan
        d, r = diffusion * self.tempering / plateau, self.rate / (self.tempering * plateau)

        def balance(x: float) -> float:
            return r * x - (1 - x) * (1 + x) * (1 - d * x)

        return self.tempering * float(brentq(balance, 0.0, 1.0, xtol=np.finfo(float).tiny, rtol=_ROOT))

    def threshold(self, plateau: float, diffusion: float) -> float:
        """NaN: every rate has a root."""
        return math.nan

    def phase(self, plateau: float, diffusion: float) -> str:
        """Never "collapsed"; else as for every law."""
        return phase_word(plateau, self.exponent(plateau, diffusion))

    def tail(self, plateau: float, diffusion: float) -> TailForm:
        """The root, or e^{-λs} exp(∫ (rate/2) ds/|F|) / |F| where the drift grows without bound.

        With ρ = e^{-λs} A'(s) the jumps from s' < s to s leave |F| A' = (rate/2) A: hence the factor.
        """
        if math.isinf(plateau):
            return TailForm("confined", self.tempering, 0.0, over_drift=True, repeated=0.5 * self.rate)
        return TailForm("root", self.exponent(plateau, diffusion), 0.0)
