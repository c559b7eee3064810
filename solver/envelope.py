"""The envelope f(ℓ) = E exp(-ℓ e^ζ), the mixture of exponentials that the time scales make, at any lag.

With y = ℓ e^ζ everything is a sum of positive terms over the law of ζ, whichever of f and 1 - f is small:

    f = E e^{-y},      1 - f = E (1 - e^{-y}),      -d ln f/d ln ℓ = (1/f) E y e^{-y}

so that f keeps its digits at long lags and ln f ≈ -ℓ E e^ζ at short ones. The kernels have width one in ζ: at long
lags only what is around ζ = -ln ℓ matters, and all that lies further left is one value of the distribution function.
Deep in a tail ln P is nearly a parabola, ln P(-ln ℓ + u) = ln P + p u + q u²/2, and f is a gamma function,

    f = P Γ(1+p) [1 + (q/2) (ψ² + ψ')(1+p)],      -d ln f/d ln ℓ = p + q ψ(1+p)

The catch: an envelope at lag ℓ is read at ζ ≈ -ln ℓ. Beyond an open edge that is exact; at a stop edge the
density ends, and `truncation` bounds what may be missing, relative to f. Where that is everything, f is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from solver.checks import array
from solver.continuation import Continuation
from solver.distribution import Distribution
from solver.envelope_sums import long_lags, short_lags
from solver.errors import ModelError
from solver.exponential_mean import log_tilted_mean
from solver.interpolant import Array, Interpolant
from solver.moments import log_missing_mass
from solver.panels import Bools

# Distance beyond an edge from which three terms of ln P about a point do: the next is of the order s^-3.
_DEEP = 1e5
# An exponential tail must cover e^{βu - e^u} to where it is e^{-45} of its largest value, at u = ln β: with u = ln β
# + v, β (e^v - 1 - v) ≥ β v²/2 ≥ 45, and v = 6 does for small β.
_COVERED = 6.0
# What is smaller by e^{-45} does not matter.
_ALONE = 45.0
# A share of the right tail's decay rate at which its mean of e^{sζ} is finite and not large.
_NEARLY = 0.98
# The logarithm of the smallest number that a double holds.
_UNDERFLOW = -745.2
# At a stop edge f is not looked for where y > 1e6 on all of the grid: it is below e^{-1e6}.
_LOST = 1e6


@dataclass(frozen=True, eq=False)
class Envelope:
    """f at some lags, arrays of one shape: `log_lags` ln ℓ, `log_values` ln f, `local_exponent` -d ln f/d ln
    ℓ, both right relative to themselves at any lag (0 where a double holds nothing else).

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
    """The envelope of the law of ζ at `lags` ≥ 0 or at e^{log_lags}; ModelError for a negative lag.

    Raises ModelError where it is read deeper in a tail than that is known (`Continuation.require`).

    >>> from solver.interpolant import Interpolant
    >>> z = np.linspace(-9.0, 9.0, 181)
    >>> narrow = Distribution(Interpolant(-9.0, 0.1, -50 * z**2 - 0.5 * np.log(2 * np.pi / 100)))
    >>> envelope(narrow, [0.0, 1.0]).values  # nearly one rate, e^{-ℓ}
    array([1.        , 0.36788397])
    """
    if (lags is None) == (log_lags is None):
        raise ModelError("lags, log_lags: give one of them")
    if lags is not None:
        given = array("lags", lags)
        if (given < 0).any():
            raise ModelError(f"lag {given[given < 0].flat[0]:g}: the envelope is defined for lags ≥ 0")
        with np.errstate(divide="ignore"):
            log_lags = np.log(given)
    logs = array("log_lags", log_lags)
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
    """ln f and -d ln f/d ln ℓ at finite ln ℓ, flat."""
    inner = law.interpolant
    log_values, slopes = np.full(log_lags.shape, np.nan), np.full(log_lags.shape, np.nan)
    if not log_lags.size:
        return log_values, slopes
    short = -log_lags > float(law.from_lower(-np.log(2.0)))
    deep = ~short & _follows_law(inner, log_lags + inner.left)
    lost = np.zeros(log_lags.shape, dtype=bool)
    if inner.before is None:
        lost = log_lags + inner.left + inner.spacing > np.log(_LOST)
    nothing = short & (_bound_of_rest(law, log_lags) < _UNDERFLOW)
    beyond = short & ~nothing & _follows_law(inner.mirrored, -log_lags - inner.right, alone=_ALONE)
    near = short & ~nothing & ~beyond
    rest, fall = np.full(log_lags.shape, -np.inf), np.full(log_lags.shape, -np.inf)
    if deep.any():
        log_values[deep], slopes[deep] = _by_law(law, log_lags[deep], -1)
    if (far := ~short & ~deep & ~lost).any():
        log_values[far], slopes[far] = long_lags(law, log_lags[far])
    if beyond.any():
        rest[beyond], share = _by_law(law, log_lags[beyond], 1)
        fall[beyond] = rest[beyond] + np.log(-share)
    if near.any():
        rest[near], fall[near] = short_lags(law, log_lags[near])
    log_values[short] = np.log1p(-np.exp(rest[short]))
    slopes[short] = np.exp(fall[short] - log_values[short])
    return log_values, slopes


def _follows_law(inner: Interpolant, depth: Array, alone: float = 0.0) -> Bools:
    """Is the left tail at these distances beyond the edge all that matters, and smooth enough for three terms?

    `alone`: the e-folds by which it must outweigh an average of y over the rest of the density.
    """
    side = inner.before
    if side is None:
        return np.zeros(depth.shape, dtype=bool)
    law_from = side.law_from * inner.spacing if isinstance(side, Continuation) else np.inf
    covered = law_from + np.log1p(side.exponent) + min(_COVERED, (2 * _ALONE / max(side.exponent, 1.0)) ** 0.5)
    smooth = (depth > covered) | (depth > _DEEP)
    if alone == 0.0:
        return np.asarray(smooth)
    if side.exponent >= 1:
        return np.zeros(depth.shape, dtype=bool)
    start = law_from if np.isfinite(law_from) else 0.0
    # a power of the depth, s^-3 or slower, may weaken a pinned tail
    return np.asarray(smooth & ((1.0 - side.exponent) * (depth - start) >= alone + 3 * np.log(np.maximum(depth, 1.0))))


def _by_law(law: Distribution, log_lags: Array, sign: int) -> tuple[Array, Array]:
    """ln E k and -d ln E k/d ln ℓ of a deep tail: f on the left (sign -1), 1 - f on the right (sign 1)."""
    inner = law.interpolant if sign < 0 else law.interpolant.mirrored
    side, zeta = inner.before, sign * log_lags  # in the mirror for the right
    assert side is not None
    log_mass = law.logcdf(zeta) if sign < 0 else law.logsf(-zeta)
    slope = inner.slope_at(zeta)
    if not isinstance(side, Continuation):  # a power of the depth: its own mass is known to rounding
        p = np.exp(inner.log_density_at(zeta) - np.log(law.interpolated_mass) - log_mass)
        q = p * (slope - p)
    elif side.pinned:
        step = 0.01 * (inner.left - zeta)
        q = (inner.slope_at(zeta + step) - inner.slope_at(zeta - step)) / (2 * step)
        p = slope - q / slope  # p' = p (slope - p) and q = p' ≈ slope'
    else:
        p, q = slope, np.zeros(slope.shape)
    p = -sign * p
    values = log_mass + gammaln(1 + p) + np.log1p(0.5 * q * (digamma(1 + p) ** 2 + polygamma(1, 1 + p)))
    return values, p + q * digamma(1 + p)


def _bound_of_rest(law: Distribution, log_lags: Array) -> Array:
    """A bound of ln(1 - f): 1 - e^{-y} ≤ y^s for s ≤ 1, of finite mean for s below the decay rate of the right tail."""
    side = law.interpolant.after
    rate = 1.0 if side is None else min(1.0, _NEARLY * side.exponent)
    return np.asarray(rate * log_lags + log_tilted_mean(law.interpolant, rate))
