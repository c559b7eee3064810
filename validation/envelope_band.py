"""The empirical envelope Σ w_q e^{-ℓ/τ_q} / Σ w_q beside f(ℓ), with a bootstrap band that covers all lags at once.

Values are drawn again in groups: of independent values, shuffled, as many groups as fit; of a chain, stretches of its
time order longer than its memory, which a bootstrap of single values would forget (sorted, it is shuffled and s
multiplied by √T instead). With s(ℓ) the standard deviation of ln f* over the resamples and c the quantile 1 - level of
their largest |ln f* - ln f_emp|/s, the band is ln f_emp ± c·s(ℓ): f is inside at every lag with probability 1 - level.
A band lag by lag would be left somewhere far more often.

The catch: beyond the tenth-largest τ the empirical envelope is made by a handful of values and no resample can tell
what others might have been. The lags end there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity

Array = NDArray[np.float64]

# Lags compared: neighbours are then so much alike that more would tell nothing new.
LAGS = 30
# Groups at most: the error of the bootstrap's spread is 1/√(2·500) = 3%, and time and memory no longer grow with the
# sample.
MOST_GROUPS = 500
# A stretch of a chain this many autocorrelation times long is nearly independent of the next: T counts both sides of
# the memory.
STRETCH = 3.0
# The last lag is the τ above which this many effective values lie.
LAST_VALUES = 10


@dataclass(frozen=True, eq=False)
class EnvelopeBand:
    """ln f at `log_lags`: of the sample with its band `low` … `high`, and of the density (`expected`, NaN where cut
    off).

    `largest_deviation` is max |ln f_emp - ln f|/s and `critical` the value that bounds it with probability 1 - level;
    `groups` were drawn again. `exponent` and `expected_exponent` are -d ln f/d ln ℓ at the last lag.
    """

    log_lags: Array
    log_values: Array
    low: Array
    high: Array
    expected: Array
    largest_deviation: float
    critical: float
    groups: int
    exponent: float
    expected_exponent: float

    @property
    def inside(self) -> bool:
        """Whether f stays in the band at every lag."""
        return bool(self.largest_deviation <= self.critical)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        arrays = ("log_lags", "log_values", "low", "high", "expected")
        rest = ("largest_deviation", "critical", "inside", "groups", "exponent", "expected_exponent")
        return {name: getattr(self, name).tolist() for name in arrays} | {name: getattr(self, name) for name in rest}


def envelope_band(
    zeta: Array,
    weights: Array,
    density: StationaryDensity,
    random: np.random.Generator,
    time: float = 1.0,
    level: float = 0.05,
    resamples: int = 500,
) -> EnvelopeBand | None:
    """Compare the envelope of log rates in their order in time, shape (n,); None for too few values to have a tail.

    `time` is the autocorrelation time (1: independent, and then the order does not matter).
    """
    chain = time > 1 and bool((np.diff(zeta) < 0).any())
    order = np.arange(zeta.size) if chain else random.permutation(zeta.size)
    groups = _groups(zeta.size, time if chain else 1.0)
    log_lags = _lags(zeta, weights, time)
    if groups < 2 or log_lags is None:
        return None
    sums, sloped, mass = _group_sums(zeta[order], weights[order], log_lags, groups)
    drawn = random.multinomial(groups, np.full(groups, 1 / groups), size=resamples).astype(float)
    total = sums.sum(axis=0)
    log_values = np.log(total / mass.sum())
    scatter = np.log(drawn @ sums / (drawn @ mass)[:, None]) - log_values
    scatter *= 1.0 if chain else math.sqrt(time)
    spread = scatter.std(axis=0, ddof=1)
    if not (spread > 0).all():
        return None  # equal values: nothing varies
    critical = float(np.quantile(np.abs(scatter / spread).max(axis=1), 1 - level))
    envelope = density.envelope(log_lags=log_lags)
    deviation = np.abs(log_values - envelope.log_values) / spread
    return EnvelopeBand(
        log_lags=log_lags,
        log_values=log_values,
        low=log_values - critical * spread,
        high=log_values + critical * spread,
        expected=envelope.log_values,
        # a lag where the density's envelope is cut off (NaN) says nothing
        largest_deviation=float(np.max(deviation[np.isfinite(deviation)], initial=0.0)),
        critical=critical,
        groups=groups,
        exponent=float(sloped.sum() / total[-1]),
        expected_exponent=float(envelope.local_exponent[-1]),
    )


def _groups(size: int, time: float) -> int:
    """How many groups of equal length the values are cut into."""
    length = max(1, math.ceil(STRETCH * time) if time > 1 else 1, math.ceil(size / MOST_GROUPS))
    return size // length


def _lags(zeta: Array, weights: Array, time: float) -> Array | None:
    """ln ℓ from where the fastest tenth has decayed to the τ with LAST_VALUES effective values above it."""
    order = np.argsort(zeta)
    share = np.cumsum(weights[order]) / weights.sum()
    effective = np.cumsum(weights[order]) ** 2 / np.cumsum(weights[order] ** 2) / time
    enough = effective >= LAST_VALUES
    if not enough.any():
        return None
    last = -float(zeta[order][np.argmax(enough)])
    first = -float(zeta[order][min(int(np.searchsorted(share, 0.9)), zeta.size - 1)])
    return np.linspace(min(first, last - 1.0), last, LAGS)


def _group_sums(zeta: Array, weights: Array, log_lags: Array, groups: int) -> tuple[Array, Array, Array]:
    """Σ w e^{-ℓ/τ} (groups, lags), Σ w (ℓ/τ) e^{-ℓ/τ} at the last lag, Σ w; a remainder joins the last group."""
    starts = np.arange(groups) * (zeta.size // groups)
    sums = np.empty((groups, log_lags.size))
    for column, log_lag in enumerate(log_lags):
        with np.errstate(over="ignore", under="ignore"):  # e^{-inf} = 0 is the right term
            rate = np.exp(log_lag + zeta)
            terms = weights * np.exp(-rate)
        sums[:, column] = np.add.reduceat(terms, starts)
    decaying = np.zeros_like(terms)
    decaying[terms > 0] = rate[terms > 0] * terms[terms > 0]  # elsewhere the rate may be inf
    return sums, np.add.reduceat(decaying, starts), np.add.reduceat(weights, starts)
