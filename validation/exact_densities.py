"""Stationary densities in closed form, each with the drift and noise that it belongs to.

    no jumps                 ln ρ = ∫F/η_G: cosh^{-s} (tanh), a Gamma law of e^ζ (κ - a e^ζ), a normal law, two wells
    Cauchy noise             rational: F = -ζ³ and F = -ζ⁵
    Laplace jumps, a step    two exponentials on either side

Cauchy noise of intensity 1 has the symbol -|k|. With φ the characteristic function, F = -ζ^{2n-1} gives
φ^{(2n-1)} = (-1)^n φ for k > 0; the decaying solutions with φ(0) = 1 and no odd moments have rational transforms,

    ρ = 1 / (π (1 - ζ² + ζ⁴))     n = 2,          ρ = 1 / (π (1 + ζ²) (1 - 2 cos(π/5) ζ² + ζ⁴))     n = 3

(Chechkin, Klafter, Gonchar, Metzler and Tanatarov 2003; Dubkov and Spagnolo 2007). The catch: these are ln ρ up to
rounding only; where ρ is a difference of large terms, nothing here says so, and so no such form is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import NDArray

from solver.drifts import CallableDrift
from solver.jumps import LaplaceJumps
from solver.model import Model

Array = NDArray[np.float64]


def gamma_log_density(zeta: Array, a: float, b: float) -> Array:
    """F = D (a - b e^ζ), η_G = D: e^ζ ~ Gamma(a, rate b), ln ρ = a ln b - ln Γ(a) + a ζ - b e^ζ."""
    return np.asarray(a * np.log(b) - scipy.special.gammaln(a) + a * zeta - b * np.exp(zeta))


def cosh_log_density(zeta: Array, s: float) -> Array:
    """F = -κ tanh ζ, s = κ/η_G: ln ρ = -s ln cosh ζ - ln ∫ cosh^{-s}, the integral √π Γ(s/2)/Γ((s+1)/2)."""
    log_cosh = np.logaddexp(zeta, -zeta) - np.log(2.0)
    log_norm = 0.5 * np.log(np.pi) + scipy.special.gammaln(s / 2) - scipy.special.gammaln((s + 1) / 2)
    return np.asarray(-s * log_cosh - log_norm)


def normal_log_density(zeta: Array, rate: float, centre: float, diffusion: float) -> Array:
    """F = -rate (ζ - centre): variance η_G / rate."""
    variance = diffusion / rate
    return np.asarray(-0.5 * (zeta - centre) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance))


def cubic_log_density(zeta: Array) -> Array:
    """F = -ζ³ with Cauchy noise of intensity 1: two peaks, at ζ² = 1/2."""
    return np.asarray(-np.log(np.pi * (1 - zeta**2 + zeta**4)))


def quintic_log_density(zeta: Array) -> Array:
    """F = -ζ⁵ with Cauchy noise of intensity 1."""
    square = zeta**2
    return np.asarray(-np.log(np.pi * (1 + square) * (1 - 2 * np.cos(np.pi / 5) * square + square**2)))


# Two wells of unequal depth: F = ζ - ζ³ + 0.02.
WELLS = CallableDrift(lambda z: z - z**3 + 0.02, left=np.inf, right=np.inf, scale=0.5)
WELL_PLACES = np.sort(np.roots([-1.0, 0.0, 1.0, 0.02]).real)  # left well, barrier, right well


def wells_potential(zeta: Array) -> Array:
    """V = -∫F."""
    return np.asarray(zeta**4 / 4 - zeta**2 / 2 - 0.02 * zeta)


BARRIER = float(wells_potential(WELL_PLACES[1]) - wells_potential(WELL_PLACES[2]))


def wells_log_density(zeta: Array, diffusion: float) -> Array:
    """ln ρ = -V/η_G - ln Z; Z by the trapezoid rule, spectrally accurate."""
    fine = np.linspace(-3.0, 3.0, 6001)
    log_norm = scipy.special.logsumexp(-wells_potential(fine) / diffusion) + np.log(1e-3)
    return np.asarray(-wells_potential(np.asarray(zeta)) / diffusion - log_norm)


@dataclass(frozen=True)
class Corner:
    """F = -κ sign ζ with diffusion and Laplace jumps: ρ = Σ_j A_j e^{-b_j |ζ|}, j = 1, 2.

    On one side e^{-bζ} is stationary where Φ(b) = η_G b² + rate b²/(λ² - b²) - κ b vanishes, a cubic once b is taken
    out:

        η_G b³ - κ b² - (η_G λ² + rate) b + κ λ² = 0,        0 < b_1 < λ < b_2.

    The jumps of such a pair of tails leave a term in e^{-λζ}, which must vanish: Σ_j A_j b_j / (λ² - b_j²) = 0. The
    mass, 2 Σ A_j/b_j = 1, is the second condition; the step of F ρ against the step of η_G ρ' at 0, κ Σ A_j =
    η_G Σ A_j b_j, then holds by itself, which the tests use.

    >>> corner = Corner(plateau=1.0, diffusion=0.3, rate=0.5, tempering=2.0)
    >>> corner.decays.round(9)
    array([1.58034197, 3.91050906])
    """

    plateau: float
    diffusion: float
    rate: float
    tempering: float

    @property
    def model(self) -> Model:
        """The step, written as a function with its limits and its break."""
        return Model(_step(self.plateau), self.diffusion, LaplaceJumps(self.rate, self.tempering))

    @property
    def decays(self) -> Array:
        """b_1, b_2."""
        eta, lam = self.diffusion, self.tempering
        cubic = [eta, -self.plateau, -(eta * lam**2 + self.rate), self.plateau * lam**2]
        roots = np.sort(np.roots(cubic).real)  # three real ones, the first negative
        slope = np.polyder(cubic)
        return np.asarray(roots[1:] - np.polyval(cubic, roots[1:]) / np.polyval(slope, roots[1:]))

    @property
    def amplitudes(self) -> Array:
        """A_1, A_2, both positive."""
        b = self.decays
        relative = np.array([1.0, b[0] / (self.tempering**2 - b[0] ** 2) * (b[1] ** 2 - self.tempering**2) / b[1]])
        return np.asarray(relative / (2 * np.sum(relative / b)))

    def log_density(self, zeta: Array) -> Array:
        """ln ρ at ζ of any shape."""
        exponents = np.multiply.outer(np.abs(zeta), -self.decays) + np.log(self.amplitudes)
        return np.asarray(scipy.special.logsumexp(exponents, axis=-1))


def _step(plateau: float) -> CallableDrift:
    """-κ sign ζ; the mean of both sides at the step itself."""
    return CallableDrift(lambda z: -plateau * np.sign(z), left=plateau, right=plateau, scale=1.0, breaks=(0.0,))
