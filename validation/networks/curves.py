"""What a figure of a calibration draws: mean rates in bins of ζ with their errors, and what the fit expects there.

The fitted F is not the mean increment over an interval: the mean is F carried along its own flow and smeared by the
noise. Both are drawn, so that points can be held against the right curve. The catch: bins are quantiles of ζ, and the
outermost are wide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from validation.networks.bootstrap import block_weights
from validation.networks.fit import Fit
from validation.networks.likelihood import DRIFT, Steps, drift_of
from validation.networks.noise_law import Noise
from validation.networks.splitting import runge_kutta

Array = NDArray[np.float64]

# Bins, each of 1/24 of the steps, and resamples for their error bars (known to 7%).
BINS, _RESAMPLES = 24, 100


@dataclass(frozen=True, eq=False)
class MeanRates:
    """Mean ζ, mean increment per time and its standard error in bins, all (bins,), and a falling curve through them."""

    zeta: Array
    rate: Array
    error: Array
    falling: Array


def mean_rates(steps: Steps, block: int, bins: int = BINS) -> MeanRates:
    """Means over quantile bins of ζ, errors by drawing blocks of checkpoints.

    >>> steps = Steps(np.arange(8.0), np.arange(8.0) + 0.5, np.arange(8) // 2, 4, 0.5)
    >>> mean_rates(steps, 1, bins=2).rate.tolist()
    [1.0, 1.0]
    """
    edges = np.unique(np.quantile(steps.x, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(edges, steps.x, side="right")
    size = edges.size + 1
    key = steps.checkpoint * size + place
    shape = (steps.checkpoints, size)
    count = np.bincount(key, minlength=shape[0] * size).reshape(shape).astype(float)
    total = np.bincount(key, (steps.y - steps.x) / steps.interval, shape[0] * size).reshape(shape)
    weights = block_weights(steps.checkpoints, block, _RESAMPLES, np.random.default_rng(0))
    drawn = weights @ count
    with np.errstate(invalid="ignore"):  # a bin that a resample does not reach has no mean there
        error = np.nanstd(weights @ total / np.where(drawn > 0, drawn, np.nan), axis=0)
    held = count.sum(axis=0)
    kept = held > 0
    rate = total.sum(axis=0)[kept] / held[kept]
    zeta = np.bincount(place, steps.x, size)[kept] / held[kept]
    falling = isotonic_regression(rate, weights=held[kept], increasing=False).x
    return MeanRates(zeta, rate, error[kept], np.asarray(falling))


def expected_rate(fit: Fit, interval: float, zeta: Array) -> Array:
    """The mean increment per time that the fit expects from ζ (n,): E φ(φ(ζ) + r) - ζ over the interval."""
    drift = drift_of(fit.theta)
    mass = np.exp(fit.cells.log_density(Noise.of(fit.theta[DRIFT:]), interval)) * fit.cells.spacing
    inner = runge_kutta(drift, zeta, 0.5 * interval)
    far = float(np.abs(fit.cells.centres).max())
    nodes = np.linspace(inner.min() - far, inner.max() + far, 4001)
    table = runge_kutta(drift, nodes, 0.5 * interval) - nodes
    moved = np.array([mass @ np.interp(at + fit.cells.centres, nodes, table) for at in inner]) / mass.sum()
    return np.asarray((inner - zeta + moved) / interval)
