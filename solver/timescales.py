"""The spectrum of time scales τ = e^{-ζ}: p(τ) = ρ(-ln τ)/τ, its tails, quantiles and mean.

Everything is the law of ζ seen in the mirror: the slow end τ → ∞ is the left tail of ρ. The catch: τ
overflows long before the tail says anything new (e^{710}); every method that takes τ therefore takes
`log_tau` = ln τ instead, and quantiles and draws exist as logarithms too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from solver.distribution import Distribution, elementwise, log_probability
from solver.exponential_mean import ExponentialMean, exponential_mean
from solver.interpolant import Array
from solver.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class TimescaleSpectrum:
    """The law of τ = e^{-ζ}; `law` is the law of ζ, `tempering` the λ of the jumps (inf without jumps).

    `model` and `log_error`, the error of ln ρ(ζ), serve the mean only. Give τ by position or `log_tau` by name,
    arrays of any shape; there is no mass at τ ≤ 0.

    >>> from solver.interpolant import Interpolant
    >>> z = np.linspace(-9.0, 9.0, 181)
    >>> gauss = Distribution(Interpolant(-9.0, 0.1, -0.5 * z**2 - 0.5 * np.log(2 * np.pi)))
    >>> spectrum = TimescaleSpectrum(gauss, tempering=np.inf)  # log-normal
    >>> spectrum.cdf([1.0, np.e])
    array([0.5       , 0.84134475])
    >>> print(f"{spectrum.mean():.12f} {spectrum.pdf(log_tau=0.0):.12f}")
    1.648721270706 0.398942280401
    """

    law: Distribution
    tempering: float
    model: Model | None = None
    log_error: Callable[[Array], Array] | None = None

    def __repr__(self) -> str:
        return f"TimescaleSpectrum(median {self.median():.6g}, mean {self.mean():.6g})"

    def logpdf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """ln p(τ) = ln ρ(-ln τ) - ln τ, a density in τ.

        At τ = 0 it is the limit, +inf where ρ falls more slowly than e^{-ζ} as ζ → ∞.
        """
        log = _logarithm(tau, log_tau)
        negative = np.zeros(log.shape, dtype=bool) if tau is None else np.asarray(tau, dtype=float) < 0
        side = self.law.interpolant.after
        at_zero = np.inf if side is not None and side.exponent < 1 else -np.inf
        finite = np.where(np.isinf(log), 0.0, log)
        value = self.law.logpdf(-finite) - finite
        value = np.where(np.isinf(log), np.where((log < 0) & ~negative, at_zero, -np.inf), value)
        return value[()]

    def pdf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """p(τ)."""
        return _exponential(self.logpdf(tau, log_tau=log_tau))

    def logcdf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """ln P(T ≤ τ), the upper tail of ζ."""
        return self.law.logsf(-_logarithm(tau, log_tau))

    def cdf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """P(T ≤ τ)."""
        return np.exp(self.logcdf(tau, log_tau=log_tau))

    def logsf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """ln P(T > τ), the lower tail of ζ."""
        return self.law.logcdf(-_logarithm(tau, log_tau))

    def sf(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """P(T > τ)."""
        return np.exp(self.logsf(tau, log_tau=log_tau))

    def local_exponent(self, tau: ArrayLike | None = None, *, log_tau: ArrayLike | None = None) -> Array:
        """-1 - d ln p/d ln τ, which tends to β where p ~ τ^{-1-β}; NaN for τ < 0.

        It equals d ln ρ/dζ at ζ = -ln τ.
        """
        exponent = self.law.slope(-_logarithm(tau, log_tau))
        return exponent if tau is None else np.where(np.asarray(tau, dtype=float) < 0, np.nan, exponent)[()]

    def log_ppf(self, q: ArrayLike) -> Array:
        """ln of the τ with cdf(τ) = q."""
        return -elementwise(lambda p: self.law.from_upper(log_probability(p)), q)

    def ppf(self, q: ArrayLike) -> Array:
        """The τ with cdf(τ) = q; NaN outside [0, 1], inf where τ overflows (see `log_ppf`)."""
        return _exponential(self.log_ppf(q))

    def isf(self, q: ArrayLike) -> Array:
        """The τ with sf(τ) = q."""
        return _exponential(-elementwise(lambda p: self.law.from_lower(log_probability(p)), q))

    def median(self) -> float:
        """The τ with cdf(τ) = 1/2."""
        return float(self.ppf(0.5))

    @cached_property
    def mean_estimate(self) -> ExponentialMean:
        """ln E τ, its relative error, and how it was found or why it is not known."""
        return exponential_mean(self.law.interpolant, self.tempering, self.model, self.log_error)

    def log_mean(self) -> float:
        """ln E τ; inf where the mean does not exist, NaN where it is not known to 10% (`mean_estimate.reason`)."""
        return self.mean_estimate.log_value

    def mean(self) -> float:
        """E τ = ∫ e^{-ζ} ρ dζ; inf in the broad phase, NaN where it is not known to 10% (`mean_estimate`).

        With a left plateau κ it is E[(κ - F) e^{-ζ}] / (κ - η_G - η_J ψ(1)) (`solver.exponential_mean`).
        """
        return float(_exponential(np.asarray(self.log_mean())))

    def mean_error(self) -> float:
        """Estimated relative error of `mean`: that of the density, and what is lost next to the critical point."""
        return self.mean_estimate.error

    def log_rvs(self, size: int | tuple[int, ...] | None = None, random_state: object = None) -> Array:
        """ln τ of independent draws."""
        return -self.law.random(size, random_state)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: object = None) -> Array:
        """Independent draws of τ; the ζ of the same `random_state` are -ln τ."""
        return _exponential(self.log_rvs(size, random_state))


def _logarithm(tau: ArrayLike | None, log_tau: ArrayLike | None) -> Array:
    """ln τ from whichever was given; -inf for τ ≤ 0."""
    if (tau is None) == (log_tau is None):
        raise TypeError("give either tau or log_tau")
    if log_tau is not None:
        return np.asarray(log_tau, dtype=float)
    with np.errstate(divide="ignore"):
        logs: Array = np.log(np.maximum(np.asarray(tau, dtype=float), 0.0))
    return logs


def _exponential(log_value: Array) -> Array:
    """e^x, inf where a double cannot hold it."""
    with np.errstate(over="ignore"):
        return np.exp(log_value)
