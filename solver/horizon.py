"""How many samples a lag costs, and how far a number of samples reaches.

Gradient noise of index α_s in (1, 2] averages out over N samples like N^{-(α_s-1)/α_s} (α_s = 2: like N^{-1/2}), and
a signal at lag ℓ has size f(ℓ). It can be learnt when the two meet:

    N(ℓ) = N_0 f(ℓ)^{-α_s/(α_s-1)},      H(N) = the lag with N(H) = N                       (theory (50))

The catch: N_0, the samples that lag 0 takes, belongs to the task and is 1 here. What the spectrum decides is how N
grows: like a power of ℓ wherever f has an algebraic tail, with a logarithm where the tempering pins it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise

from solver.checks import array, instance, number
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.envelope import Envelope
from solver.errors import ModelError
from solver.interpolant import Array
from solver.tail_words import power_of_depth

# An envelope at lag ℓ feels ρ at most this far below -ln ℓ (its kernel has fallen to 4e-18 there).
_BELOW = 40.0


@dataclass(frozen=True)
class Growth:
    """N(ℓ) ~ ℓ^power (ln ℓ)^log_power as ℓ → ∞; `power` is inf where N outgrows every power.

    >>> print(Growth(2.0, 3.0))
    N ~ ℓ^2 (ln ℓ)^3, polynomial with logarithm
    """

    power: float
    log_power: float

    @property
    def kind(self) -> str:
        """In words, how the cost grows with the lag."""
        if math.isinf(self.power):
            return "faster than any power"
        if self.power == 0:
            return "logarithmic"
        return "polynomial with logarithm" if self.log_power else "polynomial"

    def __str__(self) -> str:
        if math.isinf(self.power):
            return f"N grows {self.kind}"
        factors = [f"ℓ^{self.power:.6g}"] if self.power else []
        factors += [f"(ln ℓ)^{self.log_power:.6g}"] if self.log_power else []
        return f"N ~ {' '.join(factors) or '1'}, {self.kind}"


@dataclass(frozen=True, eq=False)
class LearningCost:
    """Samples against lag: arrays of one shape, both as logarithms, and the law that they approach.

    `local_exponent` is d ln N/d ln ℓ at the same places; `log_error` the estimated error of `log_samples`,
    `envelope` the f that they come from.
    """

    log_lags: Array
    log_samples: Array
    local_exponent: Array
    log_error: Array
    envelope: Envelope
    noise_index: float
    growth: Growth

    @property
    def lags(self) -> Array:
        """ℓ; inf where a double cannot hold it."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_lags)

    @property
    def samples(self) -> Array:
        """N; inf where a double cannot hold it."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_samples)


def sample_complexity(
    density: StationaryDensity,
    lags: ArrayLike | None = None,
    *,
    log_lags: ArrayLike | None = None,
    noise_index: float = 2.0,
) -> LearningCost:
    """N(ℓ) = f(ℓ)^{-α_s/(α_s-1)} at `lags` ≥ 0 or e^{log_lags}, for gradient noise of index α_s in (1, 2].

    Raises ModelError for a noise index outside, and where a stop edge cuts off what the envelope would need.

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> cost = sample_complexity(solve_stationary(Model(TanhDrift(1.0), 2.0, None)), log_lags=[50.0, 100.0])
    >>> str(cost.growth), cost.local_exponent.round(9).tolist()  # β = κ/η_G = 1/2
    ('N ~ ℓ^1, polynomial', [1.0, 1.0])
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    power = _power(noise_index)
    return _cost(density, density.envelope(lags, log_lags=log_lags), power)


def horizon(
    density: StationaryDensity,
    samples: ArrayLike | None = None,
    *,
    log_samples: ArrayLike | None = None,
    noise_index: float = 2.0,
) -> LearningCost:
    """H(N), the lag that `samples` ≥ 1 (or e^{log_samples}) reach: the inverse of `sample_complexity`.

    Raises ModelError for fewer than one sample, for a noise index outside (1, 2], and where the lag would lie beyond
    a stop edge.

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> density = solve_stationary(Model(TanhDrift(1.0), 2.0, None))
    >>> cost = sample_complexity(density, lags=[3.0, 1e9])
    >>> horizon(density, log_samples=cost.log_samples).lags.round(4).tolist()
    [3.0, 1000000000.0]
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    power = _power(noise_index)
    if (samples is None) == (log_samples is None):
        raise ModelError("samples, log_samples: give one of them")
    if log_samples is None:
        given = array("samples", samples)
        wrong = ~(given >= 1)
        if wrong.any():
            raise ModelError(f"samples = {given[wrong].flat[0]:g}: must be at least 1")
        log_samples = np.log(given)
    wanted = array("log_samples", log_samples)
    wrong = ~((wanted >= 0) & (wanted < math.inf))
    if wrong.any():
        raise ModelError(f"log_samples = {wanted[wrong].flat[0]:g}: must be finite and at least 0")
    log_lags = np.full(wanted.shape, -math.inf)
    some = wanted > 0
    if some.any():
        log_lags[some] = _reached(density, wanted[some] / power)
    return _cost(density, density.envelope(log_lags=log_lags), power)


def _power(noise_index: float) -> float:
    """α_s/(α_s-1)."""
    index = number("noise_index", noise_index, 1.0, 2.0, open_low=True)
    return index / (index - 1)


def _cost(density: StationaryDensity, envelope: Envelope, power: float) -> LearningCost:
    log_lags = envelope.log_lags
    if np.isnan(envelope.log_values).any():
        first = np.min(log_lags[np.isnan(envelope.log_values)])
        raise ModelError(
            f"log lag {first:g}: the density ends at a stop edge, ζ = {density.grid.left:g}, and holds no mass where "
            "this lag is felt; choose shorter lags, fewer samples, or a grid that ends deeper"
        )
    felt = -np.where(np.isneginf(log_lags), 0.0, log_lags) - _BELOW
    if density.grid.edges[0] == "stop":
        felt = np.maximum(felt, density.grid.left)
    error = power * (density.log_error(felt) + envelope.truncation)
    slopes, values = power * envelope.local_exponent, -power * envelope.log_values + 0.0
    noise_index = power / (power - 1)
    return LearningCost(log_lags, values, slopes, error, envelope, noise_index, _growth(density, power))


def _growth(density: StationaryDensity, power: float) -> Growth:
    tail = closed_form(density.model).tail
    if math.isinf(tail.exponent) or tail.over_drift:
        return Growth(math.inf, 0.0)
    return Growth(power * tail.exponent, -power * power_of_depth(tail, "lag") + 0.0)


def _reached(density: StationaryDensity, depth: Array) -> Array:
    """ln ℓ where -ln f(ℓ) = depth > 0, flat; f falls monotonously from 1."""

    def excess(log_lag: Array, wanted: Array) -> Array:
        return np.asarray(density.envelope(log_lags=log_lag).log_values + wanted)

    # With P(ζ > z) = share: 1 - f ≤ share + ℓe^z, so that here -ln f is still below `depth` …
    share = np.minimum(depth, 1.0) / 4
    low = np.log(share) - density.distribution.from_upper(np.log(share))
    # … and with ln P(ζ ≤ z) = -depth - 1: f ≤ P(ζ ≤ z) + exp(-ℓe^z), so that here it is above.
    high = np.log(depth + 1) - density.distribution.from_lower(-depth - 1)
    cut = ~(excess(high, depth) < 0)
    if cut.any():
        raise ModelError(
            f"ln f = {-depth[cut].min():g} is wanted: no lag with this value is resolved before the stop edge at ζ = "
            f"{density.grid.left:g}; take fewer samples, or a grid that ends deeper"
        )
    return np.asarray(elementwise.find_root(excess, (low, high), args=(depth,)).x)
