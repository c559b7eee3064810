"""The likelihood of trajectories: one number a step, its derivatives one a parameter, and sums of both a checkpoint.

    θ = (left, right, center, ln width; ln V, logit q, logit α/2, ln s),    ℓ = Σ ln f(r) - ln φ'(φ⁻¹(y))

`splitting` gives r, `noise_law` gives f and says what V, q, s are. Drift and noise are nearly orthogonal, since a
symmetric law knows no place, so each is fitted with the other held.

The catch: the derivatives are differences, of steps long enough for a linearly read ln f and short enough for its bend;
and the information is the sum of their squares (Berndt, Hall, Hall and Hausman), which holds if the model does.
What the intervals rest on, the scatter of the scores between checkpoints, holds either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from solver.drifts import LogisticDrift
from validation.networks.noise_law import Cells, Noise
from validation.networks.splitting import residuals

Array = NDArray[np.float64]

DRIFT = 4
# Difference step of the noise's coordinates, all of them logarithms or logits: ln f changes by 1e-4 of itself.
_STEP = 1e-3
# The drift's step in units of the mean increment's noise: derivative errors of 1e-4 (halving it changes no digit).
_DRIFT_STEP = 1e-2
# q and α nearer to an edge than e^-9 = 1e-4 are not looked at: there a logit moves nothing any more.
EDGE = 9.0
# A width of e^300 or e^-300 is none to any data; beyond e^709 it is no double.
LONGEST = 300.0
# A step of the noise's fit that gains less than this in ln likelihood is the last: 1% of what the data can tell.
_GAIN, _MOST_ROUNDS, _TRIALS = 1e-3, 100, 12


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps from x to y over `interval`, all (n,), and the checkpoint each starts from, 0 … checkpoints - 1."""

    x: Array
    y: Array
    checkpoint: NDArray[np.int64]
    checkpoints: int
    interval: float

    def thinned(self, most: int, rng: np.random.Generator) -> Steps:
        """At most `most` steps drawn without return."""
        if self.x.size <= most:
            return self
        some = np.sort(rng.choice(self.x.size, most, replace=False))
        return Steps(self.x[some], self.y[some], self.checkpoint[some], self.checkpoints, self.interval)


def drift_of(theta: Array) -> LogisticDrift:
    """The drift of the first four coordinates."""
    return LogisticDrift(float(theta[0]), float(theta[1]), float(theta[2]), width_of(float(theta[3])))


def width_of(logarithm: float) -> float:
    """e^x within the range of doubles: a draw of a width the data do not hold may have any logarithm."""
    return math.exp(min(max(logarithm, -LONGEST), LONGEST))


def drift_residuals(steps: Steps, drift: Array) -> tuple[Array, Array]:
    """r and ln φ' for the drift's four coordinates."""
    return residuals(drift_of(drift), steps.interval, steps.x, steps.y)


def log_prior(shape: Array) -> float:
    """Uniform in q and α: keeps their logits finite, and weighs as much as one step or two.

    >>> round(log_prior(np.array([0.0, 0.0, 0.0, 1.0])), 3)
    -2.773
    """
    if len(shape) == 1:
        return 0.0
    return float(sum(np.log(expit(v) * expit(-v)) for v in shape[1:3]))


def fit_noise(cells: Cells, counts: Array, interval: float, start: Array, prior: bool = True) -> tuple[Array, float]:
    """Coordinates of the noise that make the counts most likely, and their ln likelihood, with the `prior` or without.

    Fisher scoring damped as by Levenberg and Marquardt; it ends when a step gains less than _GAIN.
    """
    used = np.flatnonzero(counts)
    weight = counts[used]

    def worth(shape: Array) -> float:
        if (np.abs(shape[1:3]) > EDGE).any():
            return -math.inf
        return float(weight @ cells.log_density(Noise.of(shape), interval)[used]) + (log_prior(shape) if prior else 0.0)

    shape, damping = start, 1e-2
    value = worth(shape)
    for _ in range(_MOST_ROUNDS):
        scores = noise_scores(cells, shape, interval)[:, used]
        slope, bend = prior_slopes(shape) if prior else (np.zeros(shape.size), np.zeros(shape.size))
        information = (scores * weight) @ scores.T + np.diag(bend)
        gradient = scores @ weight + slope
        for _ in range(_TRIALS):
            step = np.linalg.solve(information + damping * np.diag(np.diag(information) + 1e-300), gradient)
            trial = shape + step / max(1.0, float(np.abs(step).max()))  # a factor e at once, no more
            risen = worth(trial)
            if risen > value:
                break
            damping *= 5
        else:
            return shape, value
        gain, shape, value = risen - value, trial, risen
        damping /= 5
        if gain < _GAIN:
            return shape, value
    return shape, value


def noise_scores(cells: Cells, shape: Array, interval: float) -> Array:
    """d ln f / d(coordinates) over the cells, (coordinates, cells)."""
    rows = []
    for column in range(shape.size):
        up, down = (cells.log_density(Noise.of(_moved(shape, column, sign * _STEP)), interval) for sign in (1, -1))
        rows.append((up - down) / (2 * _STEP))
    return np.array(rows)


def prior_slopes(shape: Array) -> tuple[Array, Array]:
    """Slope and minus the bend of `log_prior`."""
    slope, bend = np.zeros(shape.size), np.zeros(shape.size)
    if shape.size > 1:
        slope[1:3] = expit(-shape[1:3]) - expit(shape[1:3])
        bend[1:3] = 2 * expit(shape[1:3]) * expit(-shape[1:3])
    return slope, bend


def step_scores(steps: Steps, theta: Array, cells: Cells) -> Array:
    """d ln p / dθ of every step, (n, parameters)."""
    drift, shape = theta[:DRIFT], theta[DRIFT:]
    table = cells.log_density(Noise.of(shape), steps.interval)
    out = np.empty((steps.x.size, theta.size))
    for column, h in enumerate(drift_steps(drift, steps)):
        out[:, column] = (
            _terms(steps, _moved(drift, column, h), cells, table)
            - _terms(steps, _moved(drift, column, -h), cells, table)
        ) / (2 * h)
    r = drift_residuals(steps, drift)[0]
    for column, row in enumerate(noise_scores(cells, shape, steps.interval)):
        out[:, DRIFT + column] = cells.read(row, r)
    return out


def log_likelihood(steps: Steps, theta: Array, cells: Cells) -> float:
    """ℓ without the prior."""
    table = cells.log_density(Noise.of(theta[DRIFT:]), steps.interval)
    return float(_terms(steps, theta[:DRIFT], cells, table).sum())


def drift_steps(drift: Array, steps: Steps) -> Array:
    """Difference steps of the drift's four coordinates."""
    width = math.exp(float(drift[3]))
    scale = max(abs(float(drift[0])), abs(float(drift[1])), 1e-12)
    return _DRIFT_STEP * np.array([scale, scale, width, 1.0])


def _moved(values: Array, place: int, by: float) -> Array:
    out = values.copy()
    out[place] += by
    return out


def _terms(steps: Steps, drift: Array, cells: Cells, table: Array) -> Array:
    r, log_jacobian = drift_residuals(steps, drift)
    return cells.read(table, r) - log_jacobian
