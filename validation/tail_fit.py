"""The slow tail of a sample in two estimates, each beside what the density makes of the same window.

    Hill:                b = 1/m,                   m = mean of ln τ - ln t over τ > t
    maximum likelihood:  1/b - W/(e^{bW} - 1) = m,  m = mean of ln τ - ln t over t < τ < t',  W = ln t'/t

Given the threshold, an order statistic, the values beyond are independent draws of the conditional law (Rényi), so both
means can be tested against `tail_expectation` with the variance that the density has there. The second window ends
below the largest tenth of the tail, because a measured τ saturates where the lags end, and the two then disagree.

The bands are those of the estimate: for Hill the gamma law of a sum of k exponentials, its shape k m²/s² corrected by
the density's own mean m and variance s² (1 for an exact power law); for the other ±z standard errors.

The catch: with weights or a correlated chain k is the effective number of values in the window; extremes cluster less
than the body does, so for a chain the band is rather too wide.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammaincinv, ndtr, ndtri

from solver.density import StationaryDensity
from validation.effective_size import kish_size
from validation.tail_expectation import Excess, expected_excess, expected_excesses

Array = NDArray[np.float64]

# Share of the sample that is its tail, and the least number of values that one estimate is made from: ten give b to
# 32%.
TAIL_SHARE, FEWEST = 0.1, 10
# Share of the tail above the window of the second estimate.
TOP_SHARE = 0.1
# Thresholds of the Hill plot: a smooth curve.
CURVE = 60
# |b| W beyond which the truncated exponential's mean is at an end of the window to 1e-300.
_STEEPEST = 600.0


@dataclass(frozen=True)
class TailFit:
    """One estimate: `exponent` with its band `low` … `high`, `expected` by the density over the same window.

    `count` values (effectively `effective`) with ln τ in `log_tau_low` … `log_tau_high`; `p_value` of the deviation,
    two-sided; NaN where the density has no mean excess or no variance of it.
    """

    exponent: float
    low: float
    high: float
    expected: float
    p_value: float
    count: int
    effective: float
    log_tau_low: float
    log_tau_high: float


@dataclass(frozen=True, eq=False)
class TailFits:
    """Both estimates, and the Hill plot, arrays over `counts` of values; `local` is d ln ρ/dζ at the threshold."""

    hill: TailFit
    likelihood: TailFit | None
    counts: NDArray[np.int64]
    log_tau: Array
    curve: Array
    expected: Array
    expected_low: Array
    expected_high: Array
    local: Array
    tail_exponent: float

    def to_dict(self) -> dict[str, Any]:
        """The two estimates and the exponents as plain numbers."""
        return {
            "hill": asdict(self.hill),
            "likelihood": None if self.likelihood is None else asdict(self.likelihood),
            "local_exponent": float(self.local[np.argmin(np.abs(self.log_tau - self.hill.log_tau_low))]),
            "tail_exponent": self.tail_exponent,
        }


def fit_tail(
    zeta: Array, weights: Array, density: StationaryDensity, time: float = 1.0, level: float = 0.05
) -> TailFits | None:
    """The slow tail of log rates in increasing order, shape (n,); None below 2 · FEWEST values.

    `time` is the autocorrelation time by which numbers of values are divided; bands cover 1 - level.
    """
    log_tau, n = -zeta, zeta.size  # decreasing: the slowest first
    if n < 2 * FEWEST:
        return None
    k = min(max(FEWEST, round(TAIL_SHARE * n)), n - 1)
    counts = np.unique(np.geomspace(min(FEWEST, k), n // 2, CURVE).astype(np.int64))
    excesses = expected_excesses(density, -log_tau[counts])
    curve = [_mean_excess(log_tau, weights, 0, int(count)) for count in counts]
    sizes = [kish_size(weights[:count]) / time for count in counts]
    bands = [_expected_band(excess, size, level) for excess, size in zip(excesses, sizes, strict=True)]
    return TailFits(
        hill=_hill(log_tau, weights, k, density, time, level),
        likelihood=_likelihood(log_tau, weights, k, density, time, level),
        counts=counts,
        log_tau=log_tau[counts],
        curve=_inverse(np.array(curve)),
        expected=_inverse(np.array([excess.mean for excess in excesses])),
        expected_low=np.array([low for low, _ in bands]),
        expected_high=np.array([high for _, high in bands]),
        local=density.local_exponent(-log_tau[counts]),
        tail_exponent=density.tail_exponent,
    )


def _mean_excess(log_tau: Array, weights: Array, first: int, last: int) -> float:
    """Weighted mean of ln τ over its threshold, the value after the last; 0 where all are equal."""
    return float(np.average(log_tau[first:last] - log_tau[last], weights=weights[first:last]))


def _inverse(mean: Array) -> Array:
    """1/m, with inf for a mean of zero (all values equal) and 0 for an infinite one."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / mean)


def _expected_band(excess: Excess, size: float, level: float) -> tuple[float, float]:
    """Where Hill's exponent of `size` values lies with probability 1 - level if the density is right."""
    if not 0 < excess.variance < math.inf:
        return math.nan, math.nan
    shape = size * excess.mean**2 / excess.variance
    low, high = (float(gammaincinv(shape, p)) * excess.mean / shape for p in (0.5 * level, 1 - 0.5 * level))
    return 1 / high, 1 / low if low > 0 else math.inf


def _hill(log_tau: Array, weights: Array, k: int, density: StationaryDensity, time: float, level: float) -> TailFit:
    mean, size = _mean_excess(log_tau, weights, 0, k), kish_size(weights[:k]) / time
    excess = expected_excess(density, -float(log_tau[k]))
    known = 0 < excess.variance < math.inf
    shape = size * excess.mean**2 / excess.variance if known else size
    low, high = (float(gammaincinv(shape, p)) / shape for p in (0.5 * level, 1 - 0.5 * level))
    where = shape * mean / excess.mean if known else math.nan
    p_value = 2 * min(float(gammainc(shape, where)), float(gammaincc(shape, where))) if known else math.nan
    exponent = 1 / mean if mean > 0 else math.inf
    # the sum is gamma: m = M · G/shape, so that 1/M lies between 1/m times the quantiles of G/shape
    band = (exponent * low, exponent * high) if mean > 0 else (0.0, math.inf)
    expected = 1 / excess.mean if 0 < excess.mean < math.inf else math.nan
    return TailFit(exponent, *band, expected, min(p_value, 1.0), k, size, float(log_tau[k]), math.inf)


def _likelihood(
    log_tau: Array, weights: Array, k: int, density: StationaryDensity, time: float, level: float
) -> TailFit | None:
    """None where the window is empty: fewer than FEWEST values in it, or all of them equal."""
    top = max(1, round(TOP_SHARE * k))
    width = float(log_tau[top - 1] - log_tau[k])
    if k - top < FEWEST - 1 or width <= 0:
        return None
    mean, size = _mean_excess(log_tau, weights, top, k), kish_size(weights[top:k]) / time
    if not 0 < mean < width:
        return None
    exponent = truncated_exponent(mean, width)
    variance = _variance(exponent, width)
    if not variance > 0:  # one value far from all others: they pile up at one end of the window
        return None
    half = -float(ndtri(0.5 * level)) / math.sqrt(size * variance)
    excess = expected_excess(density, -float(log_tau[k]), -float(log_tau[top - 1]))
    deviation = abs(mean - excess.mean) / math.sqrt(excess.variance / size)
    expected = truncated_exponent(excess.mean, width) if math.isfinite(excess.mean) else math.nan
    window = (float(log_tau[k]), float(log_tau[top - 1]))
    return TailFit(
        exponent, exponent - half, exponent + half, expected, 2 * float(ndtr(-deviation)), k - top, size, *window
    )


def truncated_exponent(mean: float, width: float) -> float:
    """The b of the density ∝ e^{-bx} on (0, W) with this mean: any sign; ±inf where it is at an end of the window.

    >>> print(f"{truncated_exponent(0.5, 1.0):.3f} {truncated_exponent(0.01, 1.0):.3f}")
    0.000 100.000
    """
    share = mean / width

    def gap(x: float) -> float:
        return _share(x) - share

    if gap(_STEEPEST) >= 0:
        return math.inf
    if gap(-_STEEPEST) <= 0:
        return -math.inf
    return float(brentq(gap, -_STEEPEST, _STEEPEST, xtol=1e-12)) / width


def _share(x: float) -> float:
    """Mean over W of the truncated exponential, 1/x - 1/(e^x - 1) with x = bW; the series for small x."""
    if abs(x) < 1e-3:  # next term x^5/30240: 3e-20
        return 0.5 - x / 12 + x**3 / 720
    return 1 / x - 1 / math.expm1(x)


def _variance(exponent: float, width: float) -> float:
    """Variance of the truncated exponential, which is the Fisher information of b: W² (1/x² - 1/(4 sinh²(x/2)))."""
    x = abs(exponent * width)
    if x < 1e-2:  # next term x^4/6048: 2e-12
        return width**2 * (1 / 12 - x**2 / 240)
    return width**2 * (1 / x**2 - (0.25 / math.sinh(0.5 * x) ** 2 if x < _STEEPEST else 0.0))
