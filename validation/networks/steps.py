"""From a table of ζ to steps from one checkpoint to the next, at any stride; and how much successive steps remember.

Under the model the noise of one interval knows nothing of the one before. A network with momentum, or a time scale
measured with error, does: its increments are correlated, and the remedy is to look less often.

The catch: a unit that is missing at one end makes no step, and a stride of s takes every s-th checkpoint, not s
overlapping series, so that its steps share no interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.networks.likelihood import Steps

Array = NDArray[np.float64]

# Bins of ζ in which the median increment is taken off before correlations are looked at.
_BINS = 20
# Correlations beyond a quarter of the series have too few products to be summed.
_LONGEST = 4


@dataclass(frozen=True)
class Memory:
    """Correlation of a unit's successive increments: at lag one, its standard error, and the time 1 + 2 Σ ρ_k.

    `time` is in units of the stride; `common` is the share of the increments' variance that all units have together.
    """

    first: float
    error: float
    time: float
    common: float


def steps_of(zeta: Array, interval: float, stride: int = 1) -> Steps:
    """All steps whose both ends are there; `interval` is the time between successive rows.

    >>> steps = steps_of(np.array([[0.0, 1.0], [0.5, np.nan], [0.7, 2.0]]), 1.0)
    >>> steps.x.tolist(), steps.y.tolist(), steps.checkpoint.tolist()
    ([0.0, 0.5], [0.5, 0.7], [0, 1])
    """
    rows = zeta[::stride]
    start, end = rows[:-1], rows[1:]
    there = np.isfinite(start) & np.isfinite(end)
    checkpoint = np.broadcast_to(np.arange(start.shape[0])[:, None], start.shape)[there]
    return Steps(start[there], end[there], checkpoint, start.shape[0], interval * stride)


def remaining(steps: Steps, zeta: Array, stride: int) -> Array:
    """Increments less their median at that ζ, (checkpoints, units), NaN where there is no step.

    A mean would follow single jumps.
    """
    edges = np.unique(np.quantile(steps.x, np.linspace(0, 1, _BINS + 1)[1:-1]))
    place = np.searchsorted(edges, steps.x, side="right")
    increments = steps.y - steps.x
    inside = [increments[place == number] for number in range(edges.size + 1)]
    middle = np.array([np.median(values) if values.size else 0.0 for values in inside])
    rows = zeta[::stride]
    out = np.full((rows.shape[0] - 1, rows.shape[1]), np.nan)
    out[np.isfinite(rows[:-1]) & np.isfinite(rows[1:])] = increments - middle[place]
    return out


def memory(increments: Array) -> Memory:
    """Correlations of increments (checkpoints, units), in ranks: one jump must not decide.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((500, 20))
    >>> found = memory(noise[1:] + noise[:-1])  # correlation 1/2 at lag one, none beyond
    >>> round(found.first, 1), round(found.time, 0)
    (0.5, 2.0)
    """
    there = np.isfinite(increments)
    ranks = np.zeros(increments.shape)
    ranks[there] = (np.argsort(np.argsort(increments[there])) + 0.5) / max(int(there.sum()), 1) - 0.5
    variance = float((ranks**2).sum()) / max(int(there.sum()), 1) + 1e-300
    correlation, total, first, error = 1.0, 1.0, 0.0, np.inf
    for lag in range(1, max(2, increments.shape[0] // _LONGEST)):
        both = there[lag:] & there[:-lag]
        if not both.any():
            break
        products = (ranks[lag:] * ranks[:-lag]).sum(axis=1) / variance
        correlation = float(products.sum()) / int(both.sum())
        if lag == 1:
            first = correlation
            # the scatter between checkpoints: units that move together count once
            rows = max(products.size, 2)
            error = float(np.std(products, ddof=1)) * rows**0.5 / int(both.sum()) if products.size > 1 else np.inf
        # summed until noise: the first correlation below two standard errors of an independent series ends it
        if correlation < 2 / int(both.sum()) ** 0.5:
            break
        total += 2 * correlation
    units = there.sum(axis=1)
    together = ranks.sum(axis=1) ** 2 - (ranks**2).sum(axis=1)  # products of different units
    pairs = float((units * (units - 1)).sum())
    common = float(together.sum()) / pairs / variance if pairs else 0.0
    return Memory(first, error, max(total, 1.0), common)
