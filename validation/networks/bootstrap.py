"""How far drift and noise may be off: a block bootstrap of the drift, and draws of the noise from its likelihood.

Checkpoints are drawn in blocks with return; each draw moves the drift by one Newton step, I⁻¹ Σ (w - 1) score, which is
what a refit would do to first order and costs a product of matrices (estimating-function bootstrap, Hu and Kalbfleisch,
Can. J. Statist. 28, 2000).

The catch is the noise. α, λ, η_J and η_G trade off along a bent ridge that one Newton step leaves: there, "η_G may be
anything below 0.5" is the truth, which no ellipse says. So its coordinates are drawn from the likelihood itself (flat
in q and α), by Metropolis, raised to the power 1/d: d is what the blocks say the scores scatter more than
independent steps would (1 if they do not). Both draws are put together as independent: the information that drift and
noise share is reported (`shared`), and small since a symmetric law knows no place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.networks.fit import Fit
from validation.networks.likelihood import DRIFT, EDGE, log_prior
from validation.networks.noise_law import Noise

Array = NDArray[np.float64]

# Draws kept: the ends of a 90% interval are then known to a tenth of a standard deviation.
DRAWS = 400
# Steps of the chain that draws them, and those given to forgetting its start. A random walk in four dimensions is worth
# one draw in some twenty steps.
_CHAIN, _BURN = 3200, 400
# Length of its steps in units of the posterior's spread (Roberts, Gelman and Gilks 1997: 2.38/√dimension).
_JUMP = 2.38


@dataclass(frozen=True, eq=False)
class Draws:
    """θ drawn, (draws, p), without the bias of the splitting; by how much the noise's likelihood was flattened.

    `shared` is the information that drift and noise have in common, `accepted` the share of steps the chain took.
    """

    theta: Array
    block: int
    flattened: float
    shared: float
    accepted: float


def draw(fit: Fit, counts: Array, interval: float, block: int, rng: np.random.Generator, size: int = DRAWS) -> Draws:
    """`size` draws around a fit; `block` checkpoints are drawn together, `counts` are those of the residuals."""
    weights = block_weights(fit.scores.shape[0], block, size, rng)
    drift_information = fit.information[:DRIFT, :DRIFT]
    # a pseudo-inverse: what the data do not hold at all does not move, and `findings` says that it is not held
    moves = (weights - 1) @ fit.scores[:, :DRIFT] @ np.linalg.pinv(drift_information, rcond=1e-12, hermitian=True)
    drift = fit.theta[:DRIFT] + moves @ fit.shift.response.T
    shape = fit.theta[DRIFT:]
    flattened = max(1.0, scatter(fit.scores[:, DRIFT:], fit.information[DRIFT:, DRIFT:], block))
    noise, accepted = (
        _chain(fit, counts, interval, flattened, rng, size)
        if shape.size > 1
        else (_gaussian(fit, flattened, rng, size), 1.0)
    )
    scale = np.sqrt(np.diag(fit.information)) + 1e-300
    shared = float(np.abs((fit.information / np.outer(scale, scale))[:DRIFT, DRIFT:]).max())
    return Draws(np.column_stack([drift, noise]) + fit.shift.by, block, flattened, shared, accepted)


def block_weights(checkpoints: int, block: int, size: int, rng: np.random.Generator) -> Array:
    """How often each checkpoint is drawn, (size, checkpoints): blocks on a circle (Politis and Romano 1992)."""
    count = math.ceil(checkpoints / block)
    starts = rng.integers(checkpoints, size=(size, count))
    places = (starts[:, :, None] + np.arange(block)).reshape(size, -1)[:, :checkpoints] % checkpoints
    rows = np.repeat(np.arange(size), checkpoints)
    flat = np.bincount(rows * checkpoints + places.ravel(), minlength=size * checkpoints)
    return flat.reshape(size, checkpoints).astype(float)


def scatter(scores: Array, information: Array, block: int) -> float:
    """Mean ratio of the scores' scatter between blocks of checkpoints to their information; 1 for a true model.

    >>> scores = np.random.default_rng(0).standard_normal((4000, 2))
    >>> round(scatter(scores, 4000 * np.eye(2), 1), 1)
    1.0
    >>> scatter(np.repeat(scores, 5, 0), 2e4 * np.eye(2), 50) > 4  # five steps tell as much as one
    True
    """
    count = scores.shape[0] // block
    if count < 2:
        return math.inf
    sums = scores[: count * block].reshape(count, block, -1).sum(axis=1)
    between = np.cov(sums.T).reshape(scores.shape[1], -1) * (scores.shape[0] / block)
    ratio: float = np.trace(np.linalg.pinv(information, hermitian=True) @ between) / scores.shape[1]
    return float(ratio)


def _gaussian(fit: Fit, flattened: float, rng: np.random.Generator, size: int) -> Array:
    spread = math.sqrt(flattened / float(fit.information[DRIFT, DRIFT]))
    return np.asarray(fit.theta[DRIFT:] + spread * rng.standard_normal((size, 1)))


def _chain(
    fit: Fit, counts: Array, interval: float, flattened: float, rng: np.random.Generator, size: int
) -> tuple[Array, float]:
    """Draws of the noise's coordinates and the share of accepted steps."""
    used = np.flatnonzero(counts)
    shape = fit.theta[DRIFT:].copy()

    def worth(at: Array) -> float:
        if (np.abs(at[1:3]) > EDGE).any():
            return -math.inf
        table = fit.cells.log_density(Noise.of(at), interval)
        return float(counts[used] @ table[used]) / flattened + log_prior(at)

    # the prior's curvature, 2 p (1-p) ≤ 1/2 of a logit, keeps a flat direction finite
    information = fit.information[DRIFT:, DRIFT:] / flattened + np.diag([0.0, 0.4, 0.4, 0.0])
    root = np.linalg.cholesky(np.linalg.pinv(information, hermitian=True) + 1e-12 * np.eye(shape.size))
    value, kept, accepted = worth(shape), [], 0
    size_of_step, seen = _JUMP / math.sqrt(shape.size), []
    for step in range(_CHAIN + _BURN):
        trial = shape + size_of_step * root @ rng.standard_normal(shape.size)
        other = worth(trial)
        if math.log(rng.random()) < other - value:
            shape, value, accepted = trial, other, accepted + 1
        seen.append(shape)
        if step + 1 == _BURN:  # from here on with the spread that was seen, and no further change: it stays a chain
            cloud = np.cov(np.array(seen[_BURN // 4 :]).T)
            root, accepted = np.linalg.cholesky(0.5 * cloud + 0.5 * root @ root.T), 0
        elif step >= _BURN:
            kept.append(shape)
    chosen = np.linspace(0, _CHAIN - 1, size).astype(int)
    return np.array(kept)[rng.permutation(chosen)], accepted / _CHAIN
