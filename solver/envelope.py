"""The envelope f(ℓ) = E exp(-ℓ e^ζ), the mixture of exponentials that the time scales make, at any lag.

Integrated by parts it is an average of the distribution function, and its logarithmic slope is a ratio of two
averages with one positive kernel,

    f(ℓ) = ∫ P(ζ) k(ζ + ln ℓ) dζ,     -d ln f/d ln ℓ = (1/f) ∫ ρ(ζ) k(ζ + ln ℓ) dζ,     k(x) = e^{x - e^x}

k is a bump of width one at ζ = -ln ℓ: each lag needs only the nodes around it, at any depth, and the
trapezoid sum of something so smooth is spectrally accurate. All in logarithms.

The catch: an envelope at lag ℓ is read at ζ ≈ -ln ℓ. Beyond an open edge that is exact; at a stop edge the
density ends, and `truncation` bounds what may be missing, relative to f. Where that is everything, f is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from solver.distribution import Distribution
from solver.interpolant import Array
from solver.moments import log_missing_mass

# Widest step of the sum: the kernel's spectrum |Γ(1 + 2πi/d)| is e^{-49} there; coarser grids are
# interpolated.
_WIDEST = 0.2
# e-folds kept on the left of the kernel's peak (k falls as e^x and so does all else, or faster): e^{-40} is
# 4e-18.
_LEFT = 40.0
# Exponent ℓe^ζ up to which terms are kept on the right, on top of -ln P at the peak, which bounds f from
# below: e^{-60}.
_RIGHT = 60.0


@dataclass(frozen=True, eq=False)
class Envelope:
    """f at some lags, arrays of one shape: `log_lags` ln ℓ, `log_values` ln f, `local_exponent` -d ln f/d ln
    ℓ.

    `truncation` bounds the missing part relative to f (0 where the left edge is open).
    """

    log_lags: Array
    log_values: Array
    local_exponent: Array
    truncation: Array

    @property
    def lags(self) -> Array:
        """ℓ; inf where a double cannot hold it."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_lags)

    @property
    def values(self) -> Array:
        """f(ℓ)."""
        return np.exp(self.log_values)


def envelope(law: Distribution, lags: ArrayLike | None = None, *, log_lags: ArrayLike | None = None) -> Envelope:
    """The envelope of the law of ζ at `lags` ≥ 0 or at e^{log_lags}; ValueError for a negative lag.

    >>> from solver.interpolant import Interpolant
    >>> z = np.linspace(-9.0, 9.0, 181)
    >>> narrow = Distribution(Interpolant(-9.0, 0.1, -50 * z**2 - 0.5 * np.log(2 * np.pi / 100)))
    >>> envelope(narrow, [0.0, 1.0]).values  # nearly one rate, e^{-ℓ}
    array([1.        , 0.36788397])
    """
    if (lags is None) == (log_lags is None):
        raise TypeError("give either lags or log_lags")
    if lags is not None:
        given = np.asarray(lags, dtype=float)
        if (given < 0).any():
            raise ValueError(f"lag {given[given < 0].flat[0]:g}: the envelope is defined for lags ≥ 0")
        with np.errstate(divide="ignore"):
            log_lags = np.log(given)
    logs = np.asarray(log_lags, dtype=float)
    flat = np.atleast_1d(logs).ravel()
    log_values, slopes = np.full(flat.shape, np.nan), np.full(flat.shape, np.nan)
    log_values[np.isneginf(flat)], slopes[np.isneginf(flat)] = 0.0, 0.0
    before = law.interpolant.before
    if before is not None:
        log_values[np.isposinf(flat)], slopes[np.isposinf(flat)] = -np.inf, before.exponent
    finite = np.isfinite(flat)
    log_values[finite], slopes[finite] = _evaluate(law, flat[finite])
    truncation = np.zeros(flat.shape)
    if before is None:
        log_missing = log_missing_mass(law.interpolant)
        hidden = ~np.isneginf(flat) & ~(log_missing < log_values)
        log_values[hidden], slopes[hidden] = np.nan, np.nan
        truncation = np.exp(log_missing - log_values)
    return Envelope(*(part.reshape(logs.shape)[()] for part in (flat, log_values, slopes, truncation)))


def _evaluate(law: Distribution, log_lags: Array) -> tuple[Array, Array]:
    """ln f and -d ln f/d ln ℓ at finite ln ℓ, flat; lags whose windows overlap share their nodes."""
    inner = law.interpolant
    step = inner.spacing / np.ceil(inner.spacing / _WIDEST)
    log_values, slopes = np.full(log_lags.shape, np.nan), np.full(log_lags.shape, np.nan)
    peak_mass = law.logcdf(-log_lags)
    chosen = np.flatnonzero(np.isfinite(peak_mass))
    chosen = chosen[np.argsort(-log_lags[chosen])]  # windows from left to right
    if not chosen.size:
        return log_values, slopes
    log_total = np.log(law.interpolated_mass)  # the derivative of P is ρ over the mass that P is a share of
    median = float(law.from_lower(-np.log(2.0)))
    lowest = np.minimum(-log_lags[chosen], median) - _LEFT
    highest = -log_lags[chosen] + np.log(_RIGHT - peak_mass[chosen])
    first = np.floor((lowest - inner.left) / step).astype(np.int64)
    last = np.ceil((highest - inner.left) / step).astype(np.int64) + 1
    reached = np.maximum.accumulate(last)
    breaks = np.flatnonzero(first[1:] > reached[:-1]) + 1
    for group in np.split(np.arange(chosen.size), breaks):
        zeta = inner.left + step * np.arange(first[group].min(), reached[group[-1]])
        log_density, log_mass = law.logpdf(zeta) - log_total, law.logcdf(zeta)
        for which in group:
            window = slice(first[which] - first[group].min(), last[which] - first[group].min())
            x = zeta[window] + log_lags[chosen[which]]
            log_kernel = x - np.exp(x)
            log_f = np.logaddexp.reduce(log_mass[window] + log_kernel)
            log_values[chosen[which]] = log_f + np.log(step)
            slopes[chosen[which]] = np.exp(np.logaddexp.reduce(log_density[window] + log_kernel) - log_f)
    return log_values, slopes
