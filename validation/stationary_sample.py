"""Values of many walkers at many times, and what they are worth: effective number, standard errors, step error.

Walkers are independent, so the scatter of their means says everything about memory, with no model of it:

    T = records · Var(mean of a walker) / Var(value),    n_eff = walkers · records / T

The catch: T belongs to a function of ζ. For the empirical distribution the ranks and the indicators of the deciles are
looked at, and the largest T counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from validation.effective_size import mean_ranks

Array = NDArray[np.float64]

_DECILES = np.linspace(0.1, 0.9, 9)
# Where the distributions of two step lengths are compared: every hundredth of the sample.
_CENTILES = np.linspace(0.01, 0.99, 99)
# Order of the splitting in the law, by which halving is extrapolated.
ORDER = 2


@dataclass(frozen=True)
class Estimate:
    """A mean over a sample and its standard error."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class StationarySample:
    """`zeta` (records, walkers): every walker at `records` times `spacing` apart, after `burn_in`, in steps of `dt`.

    >>> independent = StationarySample(np.random.default_rng(1).normal(size=(10, 2000)), 0.1, 5.0, 1.0)
    >>> bool(0.9 < independent.correlation < 1.15), abs(independent.estimate(np.square).value - 1) < 0.03
    (True, True)
    """

    zeta: Array
    dt: float
    burn_in: float
    spacing: float

    @property
    def values(self) -> Array:
        """All of them, shape (size,)."""
        return self.zeta.ravel()

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.zeta.size

    @cached_property
    def correlation(self) -> float:
        """T ≥ 1: how many values are worth an independent one, for the empirical distribution."""
        if min(self.zeta.shape) < 2:
            return 1.0
        ranks = mean_ranks(self.values).reshape(self.zeta.shape)
        thresholds = np.quantile(ranks, _DECILES)
        looked_at = [ranks, *(np.asarray(ranks < threshold, dtype=float) for threshold in thresholds)]
        return max(1.0, *(float(g.shape[0] * g.mean(axis=0).var(ddof=1) / g.var()) for g in looked_at))

    @property
    def effective(self) -> float:
        """How many independent values the sample is worth."""
        return self.size / self.correlation

    def estimate(self, function: Callable[[Array], Array]) -> Estimate:
        """Mean of a function of ζ (arrays to arrays) with its standard error."""
        means = np.asarray(function(self.zeta), dtype=float).mean(axis=0)
        return Estimate(float(means.mean()), float(means.std(ddof=1) / np.sqrt(means.size)))


@dataclass(frozen=True, eq=False)
class StepBias:
    """What halving the step changes: `difference` = P(ζ ≤ z; dt) - P(ζ ≤ z; dt/2) at `zeta` (99,), ± `standard_error`.

    With an error of order dt² the difference is 3/4 of that of `dt` and 3 times that of dt/2.
    """

    dt: float
    zeta: Array
    difference: Array
    standard_error: Array

    @classmethod
    def between(cls, coarse: StationarySample, fine: StationarySample) -> StepBias:
        """From two samples of the same walkers under the same noise, one in steps half as long."""
        points = np.quantile(fine.values, _CENTILES)
        gaps = (np.mean((coarse.zeta <= z).astype(float) - (fine.zeta <= z), axis=0) for z in points)
        pairs = np.array([(gap.mean(), gap.std(ddof=1) / np.sqrt(gap.size)) for gap in gaps])
        return cls(coarse.dt, points, pairs[:, 0], pairs[:, 1])

    @property
    def largest(self) -> Estimate:
        """The largest difference, without its sign."""
        place = int(np.argmax(np.abs(self.difference)))
        return Estimate(float(abs(self.difference[place])), float(self.standard_error[place]))

    @property
    def coarse(self) -> Estimate:
        """Kolmogorov distance of the law in steps of `dt` from that without steps."""
        return self._scaled(1 / (1 - 2.0**-ORDER))

    @property
    def fine(self) -> Estimate:
        """The same for steps of dt/2."""
        return self._scaled(1 / (2.0**ORDER - 1))

    def _scaled(self, factor: float) -> Estimate:
        return Estimate(factor * self.largest.value, factor * self.largest.standard_error)
