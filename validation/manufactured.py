"""Densities chosen first, drifts derived from them: exact laws with plateaus and jumps, which nothing else provides.

A stationary density carries no flux. Jumps of more than y to the right start at ζ - y, so their flux through ζ is
∫_0^∞ N(y) [ρ(ζ-y) - ρ(ζ+y)] dy with N(y) = ∫_y^∞ ν dz, and zero flux is solved for the drift:

    F = η_G ρ'/ρ - ∫_0^∞ N(y) [ρ(ζ-y) - ρ(ζ+y)] / ρ(ζ) dy                                    (F)

With the tails e^{βζ} and e^{-γζ}, β, γ < λ, F has plateaus, and letting ζ → -∞ in (F) gives κ = η_G β + η_J ψ(β)/β:
Φ(β) = 0, without a line of the theory. Laplace jumps need no integral. Their kernel inverts 1 - ∂²/λ², so with
ρ = G - G''/λ², G any density smooth enough, J*ρ = rate G''/λ²:

    F = [η_G ρ' + (rate/λ²) G'] / ρ,           ρ > 0

Both take the logistic law of type IV for ρ, or G: e^{βζ} (1+e^ζ)^{-β-γ} / B(β,γ). The catch: (F) is a quadrature, right
to 1e-14 where N is; its trapezoid rule in ln y is spectrally accurate and its range is cut where nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.special
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from solver.drifts import CallableDrift
from solver.jumps import JumpLaw, LaplaceJumps, TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]

# y = e^t from 1e-34, where y N(y) times the difference of densities, ~ y^{2-α}, is below 1e-17 for α = 3/2, to where
# e^{-(λ-max(β,γ)) y} is below e^{-45}; 0.1 in t is twice as fine as 1e-14 takes (measured: 0.2 changes 3e-15).
_LEAST, _FADED, _STEP = -78.0, 45.0, 0.1
# (F) costs 1 ms per ten values, so the model gets a spline of degree 9 through values this far apart: right to 1e-13
# (measured: 3e-14), because F is analytic within π of the real line. Beyond the table F is its limit to 1e-16.
_APART, _REACH, _DEGREE = 0.05, 45.0, 9


@dataclass(frozen=True)
class Logistic:
    """The logistic law of type IV, ln G = β ζ - (β+γ) ln(1+e^ζ) - ln B(β,γ), and its first derivatives."""

    left: float
    right: float

    def log_density(self, zeta: Array) -> Array:
        """ln G."""
        norm = scipy.special.betaln(self.left, self.right)
        return np.asarray(self.left * zeta - (self.left + self.right) * np.logaddexp(0.0, zeta) - norm)

    def slopes(self, zeta: Array) -> tuple[Array, Array, Array]:
        """p = (ln G)', p' and p''."""
        up, down = scipy.special.expit(zeta), scipy.special.expit(-zeta)
        both = self.left + self.right
        first = -both * up * down
        return self.left * down - self.right * up, first, first * (down - up)


@dataclass(frozen=True)
class LaplaceMade:
    """ρ = G - G''/λ² with diffusion and Laplace jumps; positive where max(β,γ) < λ and (β+γ)/4 < λ²."""

    shape: Logistic
    diffusion: float
    jumps: LaplaceJumps

    def _excess(self, zeta: Array) -> tuple[Array, Array, Array]:
        """p, q = ρ/G = 1 - (p² + p')/λ², and q'."""
        p, first, second = self.shape.slopes(zeta)
        square = self.jumps.tempering**2
        return p, 1 - (p**2 + first) / square, -(2 * p * first + second) / square

    def log_density(self, zeta: Array) -> Array:
        """ln ρ."""
        return np.asarray(self.shape.log_density(zeta) + np.log(self._excess(zeta)[1]))

    def drift(self, zeta: Array) -> Array:
        """F."""
        p, q, slope = self._excess(zeta)
        return np.asarray(self.diffusion * (p + slope / q) + self.jumps.rate / self.jumps.tempering**2 * p / q)

    @property
    def model(self) -> Model:
        """Its model; the limits of F are its own values far out."""
        return _model(self.drift, self.diffusion, self.jumps)


@dataclass(frozen=True)
class StableMade:
    """ρ = G with diffusion and tempered stable jumps of α = 3/2, by (F)."""

    shape: Logistic
    diffusion: float
    jumps: TemperedStableJumps

    @cached_property
    def _rule(self) -> tuple[Array, Array]:
        """Nodes y and weights of ∫ N(y) … dy."""
        slowest = self.jumps.tempering - max(self.shape.left, self.shape.right)
        y = np.exp(np.arange(_LEAST, np.log(_FADED / slowest), _STEP))
        return y, _STEP * y * rate_beyond(self.jumps, y)

    @cached_property
    def _spline(self) -> BSpline:
        zeta = np.linspace(-_REACH, _REACH, round(2 * _REACH / _APART) + 1)
        return make_interp_spline(zeta, self.exact_drift(zeta), k=_DEGREE)

    def drift(self, zeta: Array) -> Array:
        """F at ζ of any shape, from the spline; constant beyond its ends, where F has reached its limit."""
        return np.asarray(self._spline(np.clip(zeta, -_REACH, _REACH)))

    def exact_drift(self, zeta: Array) -> Array:
        """F at ζ of shape (n,), from the integral."""
        y, weights = self._rule
        return self.diffusion * self.shape.slopes(zeta)[0] - self._difference(zeta[:, None], y) @ weights

    def _difference(self, zeta: Array, y: Array) -> Array:
        """[ρ(ζ-y) - ρ(ζ+y)]/ρ(ζ), as 2 e^{mean} sinh of half the difference of the logarithms: exact for small y."""
        up, both = scipy.special.expit(zeta), self.shape.left + self.shape.right
        ahead, behind = _grown(up, zeta, y), _grown(up, zeta, -y)
        half = -self.shape.left * y + 0.5 * both * (ahead - behind)
        mean = -0.5 * both * (ahead + behind)
        small = np.abs(half) < 1.0  # beyond, e^{mean} may underflow where the sinh overflows
        near = 2 * np.exp(np.where(small, mean, 0.0)) * np.sinh(np.where(small, half, 0.0))
        return np.where(small, near, np.exp(mean + half) - np.exp(mean - half))

    def log_density(self, zeta: Array) -> Array:
        """ln ρ."""
        return self.shape.log_density(zeta)

    @property
    def model(self) -> Model:
        """Its model; the limits of F are its own values far out."""
        return _model(self.drift, self.diffusion, self.jumps)


def _grown(up: Array, zeta: Array, y: Array) -> Array:
    """ln((1+e^{ζ+y})/(1+e^ζ)); from σ(ζ) expm1(y) where that is small, so that nothing cancels for small y."""
    close = np.abs(y) < 1.0
    near = np.log1p(up * np.expm1(np.where(close, y, 0.0)))
    return np.where(close, near, np.logaddexp(0.0, zeta + y) - np.logaddexp(0.0, zeta))


def rate_beyond(jumps: TemperedStableJumps, y: Array) -> Array:
    """N(y) = ∫_y^∞ ν dz = η_J c y^{-α} E_{1+α}(λy) for α = 3/2, by parts from E_{1/2}(x) = √(π/x) erfc √x.

    >>> law = TemperedStableJumps(2.0, 1.5, 3.0)
    >>> z = np.linspace(0.5, 16.0, 200_001)
    >>> abs(np.trapezoid(law.levy_density(z), z) / rate_beyond(law, np.array([0.5]))[0] - 1) < 1e-7
    np.True_
    """
    assert jumps.stability == 1.5
    x = jumps.tempering * y
    order = np.sqrt(np.pi / x) * scipy.special.erfcx(np.sqrt(x))  # e^x E_s(x), s = 1/2
    for s in (0.5, 1.5):  # s E_{s+1} = e^{-x} - x E_s
        order = (1 - x * order) / s
    return np.asarray(jumps.strength * y**-1.5 * np.exp(-x) * order)


def _model(drift: Callable[[Array], Array], diffusion: float, jumps: JumpLaw) -> Model:
    left, right = drift(np.array([-1e3, 1e3]))
    return Model(CallableDrift(drift, left=float(left), right=-float(right), scale=1.0), diffusion, jumps)
