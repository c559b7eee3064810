"""Drift and noise of trajectories by maximum likelihood, each in turn with the other held.

First guess: the drift from means of the increments in bins of ζ, the noise from the residuals' spread. Then, four times
or until nothing moves: counts of residuals → noise; steps of Fisher scoring → drift. Many steps are first fitted on a
random part of them; the full set then takes scoring steps from there.

The catch of scoring is a drift that the data do not hold: its information is singular. Its step is damped, and what is
not held shows as a wide interval, not as a failure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import chi2

from validation.networks.likelihood import (
    DRIFT,
    Steps,
    drift_of,
    drift_residuals,
    fit_noise,
    log_likelihood,
    step_scores,
)
from validation.networks.noise_law import Cells
from validation.networks.splitting_bias import Shift, shift

Array = NDArray[np.float64]

# Steps of a first fit: half a minute for four million would be spent where 3 s do.
FIRST = 60_000
# Rounds of drift and noise in turn; they are nearly orthogonal, so the third changes the sixth digit.
_ROUNDS, _SCORINGS = 3, 4
# Bins of the first guess.
_BINS = 30
# Damping of a scoring step, relative to the diagonal of the information.
_DAMPING = 1e-3
# Jumps must be worth this in twice the ln likelihood: three parameters at the level 1e-3.
JUMPS_WORTH = float(chi2.isf(1e-3, 3))
# Where searches for the noise begin: (logit q, logit α/2, ln of s over the residuals' spread).
_STARTS = ((0.0, 0.5, 0.7), (1.0, -1.0, 0.3), (0.5, 1.5, 1.5))


@dataclass(frozen=True, eq=False)
class Fit:
    """θ̂ (see `likelihood`), the cells its law lives on, scores summed by checkpoint (T, p), information (p, p).

    θ̂ makes the steps most likely if the splitting were exact; `shift` takes its bias off.
    """

    theta: Array
    cells: Cells
    scores: Array
    information: Array
    log_likelihood: float
    without_jumps: float  # ln likelihood of diffusion alone
    shift: Shift

    @property
    def corrected(self) -> Array:
        """θ̂ without the bias of the splitting: what the numbers of the model are."""
        return np.asarray(self.theta + self.shift.by)


def fit(steps: Steps, rng: np.random.Generator) -> Fit:
    """Fit a logistic drift and diffusion with or without tempered stable jumps."""
    some = steps.thinned(FIRST, rng)
    drift = first_drift(some)
    shape = None
    for _ in range(_ROUNDS):
        cells, shape, _ = _noise(some, drift, shape)
        drift = _scoring(some, np.concatenate([drift, shape]), cells)
    if some is not steps:
        for _ in range(_ROUNDS):
            cells, shape, _ = _noise(steps, drift, shape)
            before, drift = drift, _scoring(steps, np.concatenate([drift, shape]), cells, rounds=1)
            if np.array_equal(before, drift):
                break
    cells, shape, alone = _noise(steps, drift, shape)
    theta = np.concatenate([drift, shape])
    scores, information = summed_scores(steps, theta, cells)
    off = shift(steps, theta, cells, information)
    return Fit(theta, cells, scores, information, log_likelihood(steps, theta, cells), alone, off)


def summed_scores(steps: Steps, theta: Array, cells: Cells) -> tuple[Array, Array]:
    """Scores summed over each checkpoint (T, p) and the information, the sum of their squares over steps (p, p)."""
    scores = np.zeros((steps.checkpoints, theta.size))
    information = np.zeros((theta.size, theta.size))
    size = 500_000  # steps at a time: 32 MB for eight parameters
    for first in range(0, steps.x.size, size):
        part = slice(first, first + size)
        chunk = Steps(steps.x[part], steps.y[part], steps.checkpoint[part], steps.checkpoints, steps.interval)
        each = step_scores(chunk, theta, cells)
        information += each.T @ each
        for column in range(theta.size):
            scores[:, column] += np.bincount(chunk.checkpoint, each[:, column], steps.checkpoints)
    return scores, information


def first_drift(steps: Steps) -> Array:
    """Least squares of a logistic drift through the mean increments in quantile bins of ζ."""
    edges = np.quantile(steps.x, np.linspace(0, 1, _BINS + 1))
    place = np.minimum(np.searchsorted(edges[1:-1], steps.x, side="right"), _BINS - 1)
    count = np.bincount(place, minlength=_BINS)
    kept = count > 1
    rate = (steps.y - steps.x) / steps.interval
    mean = np.bincount(place, rate, _BINS)[kept] / count[kept]
    centre = np.bincount(place, steps.x, _BINS)[kept] / count[kept]
    error = float(rate.std()) / np.sqrt(count[kept]) + 1e-300
    low, high = float(mean[:3].mean()), float(-mean[-3:].mean())
    spread = float(steps.x.std())
    best, cost = np.zeros(DRIFT), math.inf
    for width in (0.2, 0.5, 1.5):
        start = np.array([low, high, float(np.median(steps.x)), math.log(width * spread)])
        bound = np.array([20 * np.abs(mean).max()] * 2 + [10 * spread, 3.0]) + 1e-12
        found = least_squares(
            lambda p: (drift_of(p)(centre) - mean) / error,
            start,
            bounds=(start - bound, start + bound),
            x_scale=np.array([np.abs(mean).max() + 1e-12] * 2 + [spread, 1.0]),
        )
        if found.cost < cost:
            best, cost = found.x, found.cost
    return np.asarray(best)


def _noise(steps: Steps, drift: Array, shape: Array | None) -> tuple[Cells, Array, float]:
    """Cells, the better of the laws with and without jumps, ln likelihood without."""
    r = drift_residuals(steps, drift)[0]
    cells = Cells.around(r)
    counts = cells.counts(r)
    variance = float(r.var())
    alone, worth = fit_noise(cells, counts, steps.interval, np.array([math.log(variance / steps.interval)]))
    starts = [np.array([math.log(variance / steps.interval), q, a, math.log(variance) / 2 + s]) for q, a, s in _STARTS]
    if shape is not None and shape.size > 1:
        starts = [shape]
    found = [fit_noise(cells, counts, steps.interval, start) for start in starts]
    best = max(found, key=lambda item: item[1])
    jumps = 2 * (best[1] - worth) > JUMPS_WORTH
    return cells, (best[0] if jumps else alone), worth


def _scoring(steps: Steps, theta: Array, cells: Cells, rounds: int = _SCORINGS) -> Array:
    """The drift after steps of Fisher scoring, each halved until the likelihood rises."""
    value = log_likelihood(steps, theta, cells)
    for _ in range(rounds):
        scores, information = summed_scores(steps, theta, cells)
        block = information[:DRIFT, :DRIFT]
        step = np.linalg.solve(block + _DAMPING * np.diag(np.diag(block) + 1e-300), scores[:, :DRIFT].sum(axis=0))
        length = float(np.abs(step[3]))
        step = step / max(1.0, length)  # the width changes by a factor e at most
        for _ in range(6):
            trial = theta.copy()
            trial[:DRIFT] += step
            risen = log_likelihood(steps, trial, cells)
            if risen > value:
                theta, gain, value = trial, risen - value, risen
                break
            step = step / 2
        else:
            break
        if gain < 1e-3:
            break
    return theta[:DRIFT]
