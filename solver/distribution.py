"""The law of ζ as scipy.stats speaks of it, but in logarithms: density, both tails, quantiles.

Each point takes the tail it lies in: left of the node nearest the median the mass is cumulated from the left,
right of it from the right, and the other tail is the complement. So ln cdf far left and ln sf far right keep
their relative accuracy and cdf + sf = 1 everywhere.

The catch: there are two masses. The null vector is normalised by its sum over the nodes, spacing · Σ ρ, and
that is what logpdf returns, untouched. The mass of the interpolant, `interpolated_mass`, differs from 1 by
the interpolation error (1e-13 on a resolved grid); probabilities are shares of it, so that they run from 0 to
1 without a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from solver.cumulative import LowerMass
from solver.interpolant import Array, Interpolant

# Where ln(1 - e^x) changes from log1p to expm1: e^x = 1/2, beyond which 1 - e^x cancels (Maechler 2012).
_HALF = -float(np.log(2.0))


def log_complement(log_p: Array) -> Array:
    """ln(1 - e^x) for x ≤ 0, accurate at both ends.

    >>> log_complement(np.array([-1e-20, -50.0, 0.0]))
    array([-4.605e+01, -1.929e-22, -inf])
    """
    with np.errstate(divide="ignore"):
        return np.where(log_p > _HALF, np.log(-np.expm1(log_p)), np.log1p(-np.exp(np.minimum(log_p, _HALF))))


def log_probability(p: Array) -> Array:
    """ln p; NaN outside [0, 1]."""
    with np.errstate(divide="ignore"):
        return np.log(np.where((p >= 0) & (p <= 1), p, np.nan))


def elementwise(function: Callable[[Array], Array], values: ArrayLike) -> Array:
    """Apply a function of a flat array to an array of any shape; a scalar gives a numpy scalar."""
    array = np.asarray(values, dtype=float)
    out: Array = function(np.atleast_1d(array).ravel()).reshape(array.shape)[()]
    return out


@dataclass(frozen=True, eq=False)
class Distribution:
    """Probabilities of an interpolated density; every method takes an array of any shape.

    >>> z = np.linspace(-9.0, 9.0, 181)
    >>> gauss = Distribution(Interpolant(-9.0, 0.1, -0.5 * z**2 - 0.5 * np.log(2 * np.pi)))
    >>> print(f"{gauss.logsf(5.0):.9f} {gauss.from_lower(np.log(0.975)):.12f}")
    -15.064998394 1.959963984540
    """

    interpolant: Interpolant

    @cached_property
    def _lower(self) -> LowerMass:
        return LowerMass(self.interpolant)

    @cached_property
    def _upper(self) -> LowerMass:
        return LowerMass(self.interpolant.mirrored)

    @cached_property
    def _split(self) -> int:
        """The node nearest the median."""
        return int(np.argmin(np.abs(self._lower.at_nodes - self._upper.at_nodes[::-1])))

    @cached_property
    def _log_total(self) -> float:
        left, right = self._lower.at_nodes[self._split], self._upper.at_nodes[::-1][self._split]
        return float(np.logaddexp(left, right))

    @property
    def interpolated_mass(self) -> float:
        """∫ of the interpolant over the line, its continuation beyond open edges included."""
        return float(np.exp(self._log_total))

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the support: infinite at an open edge, the last node at a stop edge."""
        inner = self.interpolant
        return (
            inner.left if inner.before is None else -np.inf,
            inner.right if inner.after is None else np.inf,
        )

    def logpdf(self, zeta: ArrayLike) -> Array:
        """ln ρ(ζ)."""
        return elementwise(self.interpolant.log_density_at, zeta)

    def slope(self, zeta: ArrayLike) -> Array:
        """d ln ρ/dζ."""
        return elementwise(self.interpolant.slope_at, zeta)

    def logcdf(self, zeta: ArrayLike) -> Array:
        """ln P(Z ≤ ζ)."""
        return elementwise(lambda z: self.tails(z)[0], zeta)

    def logsf(self, zeta: ArrayLike) -> Array:
        """ln P(Z > ζ)."""
        return elementwise(lambda z: self.tails(z)[1], zeta)

    def tails(self, zeta: Array) -> tuple[Array, Array]:
        """ln cdf and ln sf of a flat array, each exact in its own tail."""
        inner = self.interpolant
        middle = inner.left + inner.spacing * self._split
        lower, upper = np.full(zeta.shape, np.nan), np.full(zeta.shape, np.nan)
        below, above = zeta <= middle, zeta > middle  # NaN is neither
        lower[below] = self._lower.log_mass(zeta[below]) - self._log_total
        upper[above] = self._upper.log_mass(-zeta[above]) - self._log_total
        lower[above] = log_complement(upper[above])
        upper[below] = log_complement(lower[below])
        return lower, upper

    def from_lower(self, log_probability: ArrayLike) -> Array:
        """The ζ with ln P(Z ≤ ζ) = x: the support's ends for -inf and 0, NaN for x > 0 or NaN."""
        return elementwise(lambda x: self._quantile(x, log_complement(np.minimum(x, 0.0))), log_probability)

    def from_upper(self, log_probability: ArrayLike) -> Array:
        """The ζ with ln P(Z > ζ) = x."""
        return elementwise(lambda x: self._quantile(log_complement(np.minimum(x, 0.0)), x), log_probability)

    def _quantile(self, log_lower: Array, log_upper: Array) -> Array:
        out = np.full(log_lower.shape, np.nan)
        possible = (log_lower <= 0) & (log_upper <= 0)
        ends = self.support
        out[possible & np.isneginf(log_lower)] = ends[0]
        out[possible & np.isneginf(log_upper)] = ends[1]
        inside = possible & np.isfinite(log_lower) & np.isfinite(log_upper)
        at_split = self._lower.at_nodes[self._split] - self._log_total
        below, above = inside & (log_lower <= at_split), inside & (log_lower > at_split)
        out[below] = self._lower.inverse(log_lower[below] + self._log_total)
        out[above] = -self._upper.inverse(log_upper[above] + self._log_total)
        return out

    def random(self, size: int | tuple[int, ...] | None, random_state: object) -> Array:
        """Independent draws by inversion; `random_state` a Generator, a RandomState, a seed or None."""
        known = (np.random.Generator, np.random.RandomState)
        source = random_state if isinstance(random_state, known) else np.random.default_rng(random_state)  # type: ignore[arg-type]
        # uniform draws are multiples of 2^-53; zero, which has no quantile, stands for the first half of that
        draws = np.maximum(source.uniform(size=size), 2.0**-54)
        return self.from_lower(np.log(draws))
