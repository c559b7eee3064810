"""The linear drift with jumps: its characteristic function, and the density by inversion of it.

F = -r (ζ - m). The solution of dζ = F dt + dX, with X the noise of symbol S(k) = -η_G k² + symbol of the jumps, is
ζ - m = ∫_0^∞ e^{-rs} dX(-s), a sum of independent parts, so that their logarithms add:

    ln φ(k) = i k m + ∫_0^∞ S(k e^{-rs}) ds = i k m + (1/r) ∫_0^k S(u)/u du                          (OU)

With w = ik the same integral runs along any path in the strip |Re w| < λ, with Psi(w) = η_G w² + η_J ψ(w). For Laplace
jumps it is elementary: ln φ = i k m - η_G k²/(2r) - (rate/(2r)) ln(1 + k²/λ²).

The inversion runs along Re w = tilt, just inside the strip, so that it keeps its relative accuracy in the tails. Its ψ
is the textbook formula and not the solver's. The catch: that formula cancels for small u, which here costs an
absolute 1e-16 only, and a tilt so near to λ needs a long period.
"""

from __future__ import annotations

import numpy as np
import scipy.special
from numpy.typing import NDArray

from solver.drifts import LinearDrift
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]
Complex = NDArray[np.complexfloating]

TILT = 0.9  # of λ: rounding grows as e^{(λ - tilt)|ζ|}, a factor of 50 where λ|ζ| = 40
PERIODS = 40.0  # the images of the periodic sum lie e^{-40} below
FADED = 42.0  # the characteristic function is cut where it has fallen by e^{-42}
PANEL = np.polynomial.legendre.leggauss(10)  # exact to rounding on panels well below the distance to ±λ
PANELS = 40  # from 0 to one point: each a twentieth of λ at most for the wave numbers in use


def unit_exponent(jumps: TemperedStableJumps, u: Complex) -> Complex:
    """η_J ψ(u) for complex |Re u| < λ, from the textbook formula."""
    alpha, lam = jumps.stability, jumps.tempering
    if alpha == 1:
        value = (lam + u) * np.log(lam + u) + (lam - u) * np.log(lam - u) - 2 * lam * np.log(lam)
    else:
        value = scipy.special.gamma(-alpha) * ((lam + u) ** alpha + (lam - u) ** alpha - 2 * lam**alpha)
    return np.asarray(jumps.strength * value)


def log_characteristic(model: Model, k: float) -> complex:
    """ln φ(k) of a LinearDrift with tempered stable or Laplace jumps, k > 0; equation (OU)."""
    drift, jumps = model.drift, model.jumps
    assert isinstance(drift, LinearDrift)
    shift = 1j * k * drift.center
    if isinstance(jumps, LaplaceJumps):
        noise = model.diffusion * k**2 + jumps.rate * np.log1p((k / jumps.tempering) ** 2)
        return complex(shift - noise / (2 * drift.rate))
    return complex(shift + _along(model, 0.0, 1j * k / PANELS, PANELS)[-1])


def _along(model: Model, start: complex, step: complex, count: int) -> Complex:
    """(1/rate) ∫ Psi(u)/u du from `start` to start + n·step, n = 0 … count."""
    assert isinstance(model.drift, LinearDrift) and isinstance(model.jumps, TemperedStableJumps)
    nodes, weights = PANEL
    u = start + step * (np.arange(count)[:, None] + 0.5 * (1 + nodes))
    slope = model.diffusion * u + unit_exponent(model.jumps, u) / u
    return np.asarray(np.concatenate([[0.0], np.cumsum(slope @ weights * (0.5 * step))]) / model.drift.rate)


def ornstein_uhlenbeck(model: Model, zeta: Array, tilt: float = TILT) -> Array:
    """ln ρ(ζ) of a LinearDrift with tempered stable jumps, by inversion of the characteristic function."""
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
