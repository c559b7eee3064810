"""Where a sample departs from a law: the histogram of its probability integral transform, and quantiles against
quantiles.

u = P(ζ) is uniform if the law is right: a slope in its histogram is a shift, a bowl is a law too narrow, a hill one too
wide. The quantile plot shows the same in ζ, where the tails can be seen; its band is that of each order statistic, a
beta law in u.

The catch: bands here are bin by bin and point by point. One bin in twenty outside a 95% band is what a right law gives;
the decision is the Anderson–Darling test's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv

from solver.density import StationaryDensity
from validation.goodness_of_fit import running_weights

Array = NDArray[np.float64]

# Effective values wanted in a bin, so that its own noise stays below 1/√10, and bounds that keep a histogram readable.
PER_BIN, FEWEST_BINS, MOST_BINS = 10, 4, 25
# Points of a quantile plot: all of a small sample; of a large one as many as a drawn line needs, spread evenly in logit
# u.
MOST_POINTS = 200


@dataclass(frozen=True, eq=False)
class PitHistogram:
    """Density of u in equal bins (bins,), 1 if the law is right, `edges` (bins + 1,) and the band of a single bin."""

    edges: Array
    density: Array
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {"density": self.density.tolist(), "low": self.low, "high": self.high}


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Sample quantiles of ζ, those of the density at the same probability, and the band of each; arrays (points,)."""

    probability: Array
    sample: Array
    expected: Array
    low: Array
    high: Array


def pit_histogram(log_cdf: Array, weights: Array, effective_size: float, level: float) -> PitHistogram:
    """Histogram of e^{log_cdf}; a bin's count of n_eff/bins expected values has the band of a Poisson law."""
    bins = min(max(FEWEST_BINS, int(effective_size // PER_BIN)), MOST_BINS)
    counts, edges = np.histogram(np.exp(log_cdf), bins=bins, range=(0.0, 1.0), weights=weights)
    expected = effective_size / bins
    # a gamma law of the expected count: the continuous form of Poisson quantiles
    low, high = (float(gammaincinv(expected, p)) / expected for p in (0.5 * level, 1 - 0.5 * level))
    return PitHistogram(edges, counts * bins / weights.sum(), low, high)


def quantiles(
    zeta: Array, weights: Array, density: StationaryDensity, effective_size: float, level: float
) -> Quantiles:
    """Quantile pairs of log rates in increasing order (n,) at the middles of their shares of the weight."""
    share = running_weights(weights)
    middle = 0.5 * (share[1:] + share[:-1])
    if zeta.size > MOST_POINTS:
        logit = np.log(middle / (1 - middle))
        chosen = np.unique(np.searchsorted(logit, np.linspace(logit[0], logit[-1], MOST_POINTS)))
    else:
        chosen = np.arange(zeta.size)
    u = middle[chosen]
    # the i-th of n order statistics is Beta(i, n + 1 - i) in u
    a, b = effective_size * u + 0.5, effective_size * (1 - u) + 0.5
    law = density.distribution
    with np.errstate(divide="ignore"):  # a beta quantile may underflow: the end of the support
        low, high = (law.from_lower(np.log(betaincinv(a, b, p))) for p in (0.5 * level, 1 - 0.5 * level))
    return Quantiles(u, zeta[chosen], law.from_lower(np.log(u)), low, high)


def describe_departure(zeta: Array, weights: Array, effective_size: float, density: StationaryDensity) -> str:
    """The plainest difference in words: of the medians, or else of the quartiles, or else in the tails."""
    share = running_weights(weights)
    quartiles = np.interp([0.25, 0.5, 0.75], 0.5 * (share[1:] + share[:-1]), zeta)
    expected = density.ppf([0.25, 0.5, 0.75])
    u = density.cdf(quartiles)
    # three standard errors of a quantile in u, √(q(1-q)/n)
    if abs(u[1] - 0.5) > 1.5 / math.sqrt(effective_size):
        word = "slower" if quartiles[1] < expected[1] else "faster"
        return f"the sample is {word}, its median τ {_tau(quartiles[1])} where {_tau(expected[1])} is expected"
    if abs((u[2] - u[0]) - 0.5) > 1.5 / math.sqrt(effective_size):
        spread, wanted = quartiles[2] - quartiles[0], expected[2] - expected[0]
        word = "narrower" if spread < wanted else "wider"
        return f"the sample is {word}, its quartiles of ln τ {spread:.3g} apart where {wanted:.3g} is expected"
    return "medians and quartiles agree, the difference is in the shape or the tails"


def _tau(zeta: float) -> str:
    return f"{math.exp(-zeta):.4g}" if abs(zeta) < 700 else f"e^{-zeta:.4g}"
