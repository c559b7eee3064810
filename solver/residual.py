"""The componentwise residual |Aρ|_i / (|A| |ρ|)_i of a density given by logarithms, node by node.

Every node is measured against its own size, so a residual of 1e-15 at a density of 1e-300 means as much as at the
peak. Band terms are evaluated as ratios of neighbours; far jumps by running sums Σ q^{n-1} ρ, block by block, each
block with its own scale. The definition is used directly: nothing of the elimination's algebra enters but what arrives
from beyond an open edge.

The catch: a closure of a half-line that is wrong everywhere alike satisfies these equations too; the column defect is
the check that may see it, and a second domain is the one that does.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from solver.blocks import BLOCK, Scheme, Sends

Array = NDArray[np.float64]


def residual(
    scheme: Scheme,
    drift: Array,
    log_density: Array,
    sign: Array,
    arriving: tuple[tuple[Array, float] | None, tuple[Array, float] | None],
) -> float:
    """The largest componentwise residual over the nodes.

    `drift`, `log_density`, `sign` (N + 2m,) carry m neighbours on either side (at a stop edge log ρ = -inf there).
    `arriving` holds for each side the exponential sums that arrive from beyond an open edge, with the logarithm of
    their scale; None is a stop edge.
    """
    m = scheme.m
    own = slice(m, -m)
    if not np.isfinite(log_density[own]).all():
        return np.inf
    n = log_density.size - 2 * m
    outside = (arriving[0] is None, arriving[1] is None)
    rate = np.zeros(n)
    size = np.zeros(n)
    for offset in range(-m, m + 1):
        sender = slice(m - offset, m - offset + n)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow makes the residual infinite, see below
            term = np.exp(log_density[sender] - log_density[own])
            term *= sign[sender] * (scheme.first[m + offset] * drift[sender] + scheme.even[m + offset])
        rate += term
        size += np.abs(term)
    rate -= scheme.out_rate * sign[own]
    size += scheme.out_rate
    far, far_size = _arrivals(scheme.right, log_density[own], sign[own], arriving[0], outside[1])
    back, back_size = _arrivals(scheme.left, log_density[own][::-1], sign[own][::-1], arriving[1], outside[0])
    rate += far + back[::-1]
    size += far_size + back_size[::-1]
    for stopped, edge, step in ((outside[0], 0, 1), (outside[1], n - 1, -1)):
        for index in range(m if stopped else 0):
            node = m + edge + step * index
            leaving = scheme.band(drift[node : node + 1])[::-step, 0][m + index + 1 :]
            term = leaving.sum() * sign[node] * np.exp(log_density[node] - log_density[m + edge])
            rate[edge] += term
            size[edge] += abs(term)
    with np.errstate(invalid="ignore"):
        worst = float(np.max(np.abs(rate) / size))
    return np.inf if np.isnan(worst) else worst


def _arrivals(
    sends: Sends, log_density: Array, sign: Array, first: tuple[Array, float] | None, stops: bool
) -> tuple[Array, Array]:
    """What arrives at each node from its left through far jumps, and its absolute value, relative to the node's ρ.

    With `stops` the last node also receives everything that would leave past it.
    """
    n = log_density.size
    if sends.weights.size == 0:
        return np.zeros(n), np.zeros(n)
    count = -(-n // BLOCK)
    padded = np.full(count * BLOCK, -np.inf)
    padded[:n] = log_density
    signs = np.ones(count * BLOCK)
    signs[:n] = sign
    logs = padded.reshape(count, BLOCK).T
    scales = logs.max(axis=0)
    local = signs.reshape(count, BLOCK).T * np.exp(logs - scales)
    distance = np.arange(float(BLOCK))
    powers = sends.powers(distance)
    own = scipy.linalg.toeplitz(np.concatenate([[0.0], powers[:-1] @ sends.weights]), np.zeros(BLOCK))
    sent = powers[::-1].T @ local
    through = np.exp(BLOCK * sends.log_ratios)
    messages = np.empty((sends.weights.size, count))
    message, scale = (np.zeros(sends.weights.size), float(scales[0])) if first is None else first
    for block in range(count):
        message = message * np.exp(scale - scales[block])
        messages[:, block] = message
        message = through * message + sent[:, block]
        scale = scales[block]
    back = scales - logs
    incoming = own @ local + (powers * sends.weights) @ messages
    absolute = own @ np.abs(local) + (powers * sends.weights) @ np.abs(messages)
    with np.errstate(over="ignore", invalid="ignore"):
        relative, size = incoming * np.exp(back), absolute * np.exp(back)
    relative, size = relative.T.ravel()[:n], size.T.ravel()[:n]
    if stops:
        last = n - 1 - (count - 1) * BLOCK
        ending = sends.powers(np.arange(last, -1, -1.0)).T @ local[: last + 1, -1]
        ending += np.exp((last + 1) * sends.log_ratios) * messages[:, -1]
        lump = float(sends.beyond @ ending) * np.exp(back[last, -1])
        relative[-1] += lump
        size[-1] += abs(lump)
    return relative, size
