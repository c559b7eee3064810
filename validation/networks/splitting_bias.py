"""What the splitting does to a fit, and its undoing: θ such that exact steps of θ look most likely under θ̂.

    b(θ) = mean over the starts x of  E_θ[ s(y | x; θ̂) ],    s = d ln p/dθ of the splitting,    wanted: b(θ) = 0

θ̂ makes the splitting's scores of the data vanish, so the law behind the data makes their expectation vanish
(Gourieroux, Monfort and Renault 1993). The expectation needs no paths: the scores, a function of y for each of some
starts, are carried back over the interval by the same splitting in many short steps, on a grid.

The catch: what the data do not hold, b does not either; there the prior of the fit holds the shift back, as if it were
more data: n b(θ) + B (θ - θ̂) = 0 is solved, B being minus the bend of the prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import NoConvergence, broyden1
from scipy.sparse import csr_array

from validation.networks.likelihood import DRIFT, Steps, drift_of, prior_slopes, step_scores
from validation.networks.noise_law import Cells, Noise
from validation.networks.splitting import runge_kutta

Array = NDArray[np.float64]

# Starts, of equal share of the steps, and nodes of the grid: a third of the drift's width apart, twelve to the noise of
# one interval.
_STARTS = 192
_PER_WIDTH, _PER_SPREAD, _LEAST_NODES, _MOST_NODES = 3, 12, 200, 3000
# Broyden's steps end when less than this many standard errors is left: four to twelve are taken.
_ROUNDS, _SETTLED = 30, 2e-2
# The interval is cut until the noise of a part is half as wide as the drift's step, and the flow bends by an eighth.
_FEWEST, _MOST = 4, 32
# A step aside, in standard errors, for the slope of b.
_ASIDE = 0.1
# A shift by more (ln width; plateaus relative to their sum) is none of a small bias any more.
_FARTHEST = 0.7


@dataclass(frozen=True, eq=False)
class Shift:
    """θ - θ̂ (p,), and dθ/dθ̂ of the drift's coordinates (4, 4); `settled` is False where the bias is too large."""

    by: Array
    response: Array
    settled: bool

    @classmethod
    def none(cls, size: int) -> Shift:
        """Nothing is undone."""
        return cls(np.zeros(size), np.eye(DRIFT), False)


def shift(steps: Steps, theta: Array, cells: Cells, information: Array) -> Shift:
    """By how much a fit of θ̂ is moved; `information` is that of all steps at θ̂."""
    starts = np.quantile(steps.x, (np.arange(_STARTS) + 0.5) / _STARTS)
    grid = _grid(steps, theta)
    scores = _scores(starts, grid, theta, cells, steps.interval)
    prior = np.diag(1e-9 * np.diag(information) + 1e-300)
    prior[DRIFT:, DRIFT:] += np.diag(prior_slopes(theta[DRIFT:])[1])
    held = information + prior
    # what the grid makes of a law whose scores vanish by construction is the grid's own error
    own = _expected(scores, starts, grid, theta, steps.interval, 1)
    scale = np.array([1 / (abs(theta[0]) + abs(theta[1]) + 1e-300)] * 2 + [0.0, 1.0])
    root = np.linalg.cholesky(held)

    def left(u: Array) -> Array:
        """What is left of b at θ̂ + root⁻ᵀ u, both in standard errors, so that the Jacobian is nearly 1."""
        out = np.linalg.solve(root.T, u)
        if np.abs(scale * out[:DRIFT]).max() > _FARTHEST:
            raise NoConvergence(u)
        at = theta + out
        b = _expected(scores, starts, grid, at, steps.interval, _parts(at, steps.interval)) - own
        return np.asarray(np.linalg.solve(root, steps.x.size * b + prior @ out))

    try:
        with np.errstate(invalid="ignore"):  # its test of a step that was not yet taken divides infinities
            u = broyden1(left, np.zeros(theta.size), alpha=-1.0, line_search=None, f_tol=_SETTLED, maxiter=_ROUNDS)
        here, asides = left(u), _ASIDE / np.sqrt(np.diag(held))[:DRIFT]
        moved = [(left(u + root[column] * h) - here) / h for column, h in enumerate(asides)]
    except NoConvergence:
        return Shift.none(theta.size)
    # a score of the data moves θ̂ by the inverse of `held`, θ by the inverse of db/dθ
    slope = (root @ np.stack(moved, axis=1))[:DRIFT]
    return Shift(np.linalg.solve(root.T, u), np.linalg.solve(slope, held[:DRIFT, :DRIFT]), True)


def _grid(steps: Steps, theta: Array) -> Array:
    drift = drift_of(theta[:DRIFT])
    low, high = float(min(steps.x.min(), steps.y.min())), float(max(steps.x.max(), steps.y.max()))
    room = 0.25 * (high - low)
    spread = math.sqrt(math.exp(theta[DRIFT]) * steps.interval)
    count = (high - low + 2 * room) / min(drift.width / _PER_WIDTH, spread / _PER_SPREAD)
    return np.linspace(low - room, high + room, int(min(_MOST_NODES, max(count, _LEAST_NODES))))


def _scores(starts: Array, grid: Array, theta: Array, cells: Cells, interval: float) -> Array:
    """s(y | x; θ̂), (nodes, starts x parameters)."""
    y, x = (a.ravel() for a in np.meshgrid(grid, starts, indexing="ij"))
    pairs = Steps(x, y, np.zeros(x.size, dtype=np.int64), 1, interval)
    return step_scores(pairs, theta, cells).reshape(grid.size, -1)


def _expected(scores: Array, starts: Array, grid: Array, theta: Array, interval: float, count: int) -> Array:
    """Mean over the starts of E_θ[s], (p,), the law of θ being the splitting in `count` steps."""
    drift, noise = drift_of(theta[:DRIFT]), Noise.of(theta[DRIFT:])
    time = interval / count
    half = _reading(grid, runge_kutta(drift, grid, 0.5 * time))
    whole = _reading(grid, runge_kutta(drift, grid, time))
    law = _weights(noise, time, grid)
    u = half @ scores
    for step in range(count):
        if step:
            u = whole @ u
        u = _mean(u, law)
    u = half @ u
    place = _reading(grid, starts)
    each = np.arange(starts.size)
    return np.asarray((place @ u).reshape(starts.size, starts.size, theta.size)[each, each].mean(axis=0))


def _reading(grid: Array, points: Array) -> csr_array:
    """The matrix that reads a function on the grid at points: cubic through four nodes, flat beyond the ends."""
    place = np.interp(points, grid, np.arange(grid.size))
    first = np.minimum(np.maximum(place.astype(int) - 1, 0), grid.size - 4)
    t = place - first
    weights = [
        -(t - 1) * (t - 2) * (t - 3) / 6,
        t * (t - 2) * (t - 3) / 2,
        -t * (t - 1) * (t - 3) / 2,
        t * (t - 1) * (t - 2) / 6,
    ]
    columns = first[:, None] + np.arange(4)
    return csr_array(
        (np.stack(weights, axis=1).ravel(), columns.ravel(), 4 * np.arange(points.size + 1)), (points.size, grid.size)
    )


def _weights(noise: Noise, time: float, grid: Array) -> Array:
    """Transform of the noise's law over `time` on a circle of twice the grid."""
    k = 2 * math.pi * np.fft.rfftfreq(2 * grid.size, grid[1] - grid[0])
    exponent = -noise.diffusion * k * k
    if noise.jumps is not None:
        exponent = exponent + noise.jumps.symbol(k)
    return np.exp(time * exponent)


def _mean(u: Array, law: Array) -> Array:
    """E u(y + ξ): u goes on beyond the grid as it is at its ends, joined smoothly across the circle."""
    size = u.shape[0]
    ends = size - size // 2
    padded = np.concatenate([u, np.repeat(u[-1:], ends, 0), np.repeat(u[:1], size - ends, 0)])
    return np.fft.irfft(np.fft.rfft(padded, axis=0) * law[:, None], 2 * size, axis=0)[:size]


def _parts(theta: Array, interval: float) -> int:
    drift = drift_of(theta[:DRIFT])
    noise = 4 * math.exp(theta[DRIFT]) * interval / drift.width**2
    bend = 8 * interval * abs(drift.left + drift.right) / (4 * drift.width)
    return int(min(_MOST, max(_FEWEST, math.ceil(min(max(noise, bend), _MOST)))))
