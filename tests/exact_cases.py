"""Stationary densities known exactly: one table, each case with its model and ln ρ.

    no jumps           ln ρ = ∫F/η_G: cosh^{-s}, a Gamma law of e^ζ, a normal law, two wells
    F = -rate (ζ - c)  ln E e^{wζ} = c w + (1/rate) ∫_0^w Psi(u)/u du,  Psi(u) = η_G u² + η_J ψ(u)

The Fourier inversion of the second line runs along Re w = tilt, just inside the strip |Re w| < λ, so that it
keeps its relative accuracy in the tails. Its ψ is the textbook formula and not the solver's. The catch: that
formula cancels for small u, which here costs an absolute 1e-16 only, and a tilt so near to λ needs a long
period.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.special
from known_densities import cosh_log_density, gamma_log_density
from numpy.typing import NDArray

from solver.drifts import CallableDrift, ExponentialDrift, LinearDrift, TanhDrift
from solver.jumps import TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]
Complex = NDArray[np.complexfloating]

TILT = 0.9  # of λ: rounding grows as e^{(λ - tilt)|ζ|}, a factor of 50 where λ|ζ| = 40
PERIODS = 40.0  # the images of the periodic sum lie e^{-40} below
FADED = 42.0  # the characteristic function is cut where it has fallen by e^{-42}
PANEL = np.polynomial.legendre.leggauss(10)  # exact to rounding on panels well below the distance to ±λ


@dataclass(frozen=True)
class ExactCase:
    """A model, its exact ln ρ, and the interval on which the two are compared."""

    slug: str
    tags: tuple[str, ...]
    model: Model
    log_density: Callable[[Array], Array]
    left: float
    right: float
    extent: tuple[float, float] = (-60.0, 60.0)  # holds all mass but 1e-15

    @property
    def points(self) -> Array:
        """Where the comparison is made: irregular, so that it does not favour any grid."""
        places = np.linspace(self.left, self.right, 61)
        return places + 0.003 * np.sin(7.0 * places)


def unit_exponent(jumps: TemperedStableJumps, u: Complex) -> Complex:
    """η_J ψ(u) for complex |Re u| < λ, from the textbook formula."""
    alpha, lam = jumps.stability, jumps.tempering
    if alpha == 1:
        value = (lam + u) * np.log(lam + u) + (lam - u) * np.log(lam - u) - 2 * lam * np.log(lam)
    else:
        value = scipy.special.gamma(-alpha) * ((lam + u) ** alpha + (lam - u) ** alpha - 2 * lam**alpha)
    return np.asarray(jumps.strength * value)


def _along(model: Model, start: complex, step: complex, count: int) -> Complex:
    """(1/rate) ∫ Psi(u)/u du from `start` to start + n·step, n = 0 … count."""
    assert isinstance(model.drift, LinearDrift) and model.jumps is not None
    nodes, weights = PANEL
    u = start + step * (np.arange(count)[:, None] + 0.5 * (1 + nodes))
    slope = model.diffusion * u + unit_exponent(model.jumps, u) / u
    return np.asarray(np.concatenate([[0.0], np.cumsum(slope @ weights * (0.5 * step))]) / model.drift.rate)


def ornstein_uhlenbeck(model: Model, zeta: Array, tilt: float = TILT) -> Array:
    """ln ρ(ζ) of a LinearDrift with tempered jumps, by inversion of the characteristic function."""
    assert isinstance(model.drift, LinearDrift) and model.jumps is not None
    lam = model.jumps.tempering
    shift = tilt * lam
    base = float(_along(model, 0.0, shift / 40, 40)[-1].real)
    step = 2 * np.pi * (lam - shift) / PERIODS
    count = 512
    while (log_values := _along(model, shift, 1j * step, count))[-1].real > -FADED:
        count *= 2
    kept = int(np.argmax(log_values.real < -FADED))
    k, log_values = step * np.arange(kept), log_values[:kept]
    distance = np.abs(np.asarray(zeta, dtype=float) - model.drift.center)  # the law is symmetric
    terms = np.exp(log_values - 1j * np.multiply.outer(distance, k)).real
    terms[..., 0] *= 0.5
    return np.asarray(np.log(terms.sum(axis=-1) * step / np.pi) + base - shift * distance)


def _linear(slug: str, model: Model, half: float) -> ExactCase:
    assert isinstance(model.drift, LinearDrift) and model.jumps is not None
    centre = model.drift.center
    tags = ("jumps", "linear") if model.diffusion > 0 else ("jumps", "linear", "pure jumps")
    extent = (centre - 40 / model.jumps.tempering, centre + 40 / model.jumps.tempering)
    return ExactCase(slug, tags, model, lambda z: ornstein_uhlenbeck(model, z), centre - half, centre + half, extent)


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


def _normal(zeta: Array) -> Array:
    """F = -1.5 (ζ + 1), η_G = 0.4: variance η_G / rate."""
    return np.asarray(-0.5 * (zeta + 1.0) ** 2 * 1.5 / 0.4 - 0.5 * np.log(2 * np.pi * 0.4 / 1.5))


def _scaled_cosh(zeta: Array) -> Array:
    """F = -0.8 tanh((ζ + 2)/1.5), η_G = 0.3: exponent 4 in the scaled variable."""
    return np.asarray(cosh_log_density((zeta + 2.0) / 1.5, 0.8 * 1.5 / 0.3) - np.log(1.5))


def _ou(stability: float, diffusion: float, intensity: float, tempering: float, word: str = "levy") -> Model:
    return Model(LinearDrift(1.0, 0.5), diffusion, TemperedStableJumps(intensity, stability, tempering, word))


CASES: tuple[ExactCase, ...] = (
    ExactCase(
        "cosh", ("diffusion", "plateau"), Model(TanhDrift(1.0), 0.5, None),
        lambda z: cosh_log_density(z, 2.0), -13.0, 13.0,
    ),
    ExactCase(
        "cosh-steep", ("diffusion", "plateau"), Model(TanhDrift(1.0), 0.05, None),
        lambda z: cosh_log_density(z, 20.0), -1.9, 1.9, (-5.0, 5.0),
    ),
    ExactCase(
        "cosh-scaled", ("diffusion", "plateau"), Model(TanhDrift(0.8, -2.0, 1.5), 0.3, None),
        _scaled_cosh, -11.0, 7.0,
    ),
    ExactCase(
        "gamma", ("diffusion", "plateau", "wall"), Model(ExponentialDrift(0.6, 0.3), 0.3, None),
        lambda z: gamma_log_density(z, 2.0, 1.0), -13.0, 3.3, (-60.0, 6.0),
    ),
    ExactCase(
        "gamma-broad", ("diffusion", "plateau", "wall"), Model(ExponentialDrift(0.14, 0.4), 0.2, None),
        lambda z: gamma_log_density(z, 0.7, 2.0), -38.0, 2.5, (-120.0, 5.0),
    ),
    ExactCase(
        "normal", ("diffusion", "linear"), Model(LinearDrift(1.5, -1.0), 0.4, None),
        _normal, -4.5, 2.5, (-12.0, 10.0),
    ),
    ExactCase(
        "wells", ("diffusion", "wells"), Model(WELLS, BARRIER / 12, None),
        lambda z: wells_log_density(z, BARRIER / 12), -1.6, 1.6, (-3.0, 3.0),
    ),
    _linear("ou-half", _ou(0.5, 0.3, 0.4, 2.2), 10.0),
    _linear("ou-one", _ou(1.0, 0.3, 0.4, 2.2), 10.0),
    _linear("ou-three-halves", _ou(1.5, 0.3, 0.4, 2.2), 10.0),
    _linear("ou-near-two", _ou(1.9, 0.05, 0.1, 1.0), 12.0),
    _linear("ou-stable-words", _ou(1.3, 0.1, 0.5, 1.5, "stable"), 10.0),
    _linear("ou-jumps-one", _ou(1.0, 0.0, 1.0, 1.5), 15.0),
    _linear("ou-jumps-three-halves", _ou(1.5, 0.0, 0.4, 2.2), 9.0),
)  # fmt: skip
