"""Intervals of the noise's parameters by profile likelihood: how far each may go before the data object.

    { g(shape) : 2 (ℓ_max - ℓ(shape)) ≤ d χ²_1(0.9) },    g one of η_G, η_J, α, λ, all else adjusted to it

Quantiles of draws will not do for these: along the ridge on which they trade off the likelihood is nearly flat, and
where a truth lies near its end, a flat prior in q and α puts most of the draws on the other side (presets, 200 units x
400 steps: such intervals held the truth of α in 42% of 19 runs of `broad`).

The catch: an end is found by constrained search from the farthest draw that the data allow. Where the search fails that
draw is the end, and the interval is a little short. d flattens the likelihood as in `bootstrap`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chi2

from validation.networks.bootstrap import Draws
from validation.networks.fit import Fit
from validation.networks.likelihood import DRIFT, EDGE, fit_noise, noise_scores
from validation.networks.noise_law import Cells, Noise
from validation.networks.parameters import LEVEL, NOISE_NAMES, Interval, columns, intervals

Array = NDArray[np.float64]

# Iterations of one search; it ends after 10 to 20.
_MOST = 40
# A found end may exceed the allowed loss of ln likelihood (1.35) by this much: 2% of the interval's length.
_SLACK = 0.05
# Draws looked through for where to start a search.
_LOOKED = 200
# Difference step of ln g in the coordinates.
_STEP = 1e-5


def profile_intervals(
    cells: Cells, counts: Array, interval: float, shape: Array, flattened: float, draws: Array, shift: Array
) -> dict[str, Interval]:
    """Intervals at LEVEL of η_G, η_J, α, λ, around a fit with jumps; `draws` (n, 4) are places to start from.

    All are coordinates of the splitting; `shift` (4,) takes its bias off the numbers, as in `Fit`.
    """
    used = np.flatnonzero(counts)
    weight = counts[used]

    def worth(at: Array) -> float:
        return float(weight @ cells.log_density(Noise.of(at), interval)[used])

    best, value = fit_noise(cells, counts, interval, shape, prior=False)
    looked = draws[:: max(1, len(draws) // _LOOKED)]
    worths = np.array([worth(at) for at in looked])
    most = max(value, float(worths.max()), worth(shape))
    allowed = most - 0.5 * flattened * float(chi2.ppf(LEVEL, 1))

    def slope(at: Array) -> Array:
        return np.asarray(noise_scores(cells, at, interval)[:, used] @ weight)

    inside = [*looked[worths >= allowed], *(at for at in (best, shape) if worth(at) >= allowed)]
    out = {}
    for name in NOISE_NAMES:
        ends = []
        number = _log(name, shift)
        for sign in (-1.0, 1.0):
            start = max(inside, key=lambda at: sign * number(at))
            ends.append(math.exp(_farthest(number, sign, start, worth, slope, allowed, flattened)))
        out[name] = Interval(ends[0], ends[1])
    return out


def all_intervals(fit: Fit, counts: Array, interval: float, draws: Draws) -> dict[str, Interval]:
    """Of the drift and the exponents from the draws, of the noise by profile likelihood where there are jumps."""
    out = intervals(columns(draws.theta))
    if fit.theta.size > DRIFT + 1:
        shift = fit.shift.by[DRIFT:]
        shapes = draws.theta[:, DRIFT:] - shift
        out |= profile_intervals(fit.cells, counts, interval, fit.theta[DRIFT:], draws.flattened, shapes, shift)
    return out


def _farthest(
    value: Callable[[Array], float],
    sign: float,
    start: Array,
    worth: Callable[[Array], float],
    slope: Callable[[Array], Array],
    allowed: float,
    flattened: float,
) -> float:
    """The extreme of `value` where the likelihood allows it."""

    def gradient(at: Array) -> Array:
        steps = _STEP * np.eye(at.size)
        return np.array([-sign * (value(at + step) - value(at - step)) / (2 * _STEP) for step in steps])

    found = minimize(
        lambda at: -sign * value(at),
        start,
        jac=gradient,
        method="SLSQP",
        # around where the chain went, and never beyond the edges of q and α
        bounds=[(start[0] - 2, start[0] + 2), (-EDGE, EDGE), (-EDGE, EDGE), (start[3] - 4, start[3] + 4)],
        constraints={
            "type": "ineq",
            "fun": lambda at: (worth(at) - allowed) / flattened,
            "jac": lambda at: slope(at) / flattened,
        },
        options={"maxiter": _MOST, "ftol": 1e-3},
    )
    reached = np.asarray(found.x)
    if np.isfinite(reached).all() and worth(reached) >= allowed - _SLACK * flattened:
        return max(sign * value(reached), sign * value(start)) * sign
    return value(start)


def _log(name: str, shift: Array) -> Callable[[Array], float]:
    """ln of a parameter as a function of the coordinates of the splitting."""

    def value(at: Array) -> float:
        noise = Noise.of(at + shift)
        number = noise.diffusion if name == "diffusion" else getattr(noise.jumps, name)
        return math.log(number)

    return value
