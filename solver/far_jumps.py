"""The jumps of a lattice as exponentials, complete to infinity: weights, out-rates and edge sums together.

    w_n = h ν(nh) = Σ_k g_k q_k^{n-1},      W_n = Σ_{j>n} w_j = Σ_k g_k q_k^n / (1 - q_k)

Because both come from the same terms, a matrix made of them is singular to rounding. The catch: an
exponential sum is good up to its reach only, and without tempering the jumps beyond any reach are not rare
(α = 0.3: 1% of all jumps are longer than 1e6 nodes, and the sum misses a third of those). One term more, so
slow that no weight within reach feels it, carries what is missing. It says how many jumps leave a grid, not
where they land: right at a `stop` edge, useless for the half-line beyond an open one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

from solver.exponential_sum import ExponentialSum
from solver.jumps import JumpLaw

Array = NDArray[np.float64]

REACH = 1e6  # nodes to which far jumps are exact at least: beyond any matrix, for some more terms
FADED = 40.0  # e^{-40} = 4e-18: tempered jumps longer than 40/λ are below rounding
UNSEEN = 1e-14  # share of the slow term in the weight at the reach: a twentieth of the sum's own error, 2e-13
CHUNK = 8192  # nodes per slice of the (node, exponential) table: 8192 x 71 doubles are 5 MB, about a cache


def far_jumps(jumps: JumpLaw, spacing: float, reach: float) -> ExponentialSum:
    """The weights w_n of jumps over n ≥ 1 nodes, to 2e-13 up to `reach` and in their sum to infinity.

    `reach` is raised to REACH and to where tempering has ended all jumps. Without tempering (λ = 0) one
    term is added: g_0 / (1-q_0) is the rate Σ_{n>R} of jumps beyond the reach that the sum misses
    (Hurwitz's zeta function gives all of it).

    >>> from solver.jumps import TemperedStableJumps
    >>> stable = TemperedStableJumps(intensity=1.0, stability=0.3, tempering=0.0)
    >>> round(far_jumps(stable, 1.0, 1e4).out_rate / float(zeta(1.3)) - 1.0, 11)
    0.0
    """
    deepest = max(float(reach), REACH)
    law = jumps.power_law
    if law is None:
        return jumps.exponential_sum(spacing, max(deepest, FADED / (jumps.tempering * spacing)))
    deepest = float(np.ceil(deepest))
    terms = jumps.exponential_sum(spacing, deepest)
    scale = law.strength * spacing**-law.stability
    kept = np.sum(terms.weights * np.exp(deepest * terms.log_ratios) / -np.expm1(terms.log_ratios))
    missing = scale * float(zeta(1.0 + law.stability, deepest + 1.0)) - float(kept)
    slow = UNSEEN * scale * deepest ** (-1.0 - law.stability)  # the same at every n within reach
    return ExponentialSum(np.append(slow, terms.weights), np.append(-slow / missing, terms.log_ratios))


def jump_tables(terms: ExponentialSum, count: int, tilt: float = 0.0) -> tuple[Array, Array]:
    """(w_n e^{tilt n}, W_n e^{tilt n}) for n = 0 … count-1, with w_0 = 0.

    A tilt of λh takes the exponential part out, so that neither underflows however far apart two nodes are.

    >>> weights, sums = jump_tables(ExponentialSum(np.array([0.5]), np.array([-np.log(2.0)])), 3)
    >>> weights.tolist(), sums.tolist()
    ([0.0, 0.5, 0.25], [1.0, 0.5, 0.25])
    """
    weights, sums = np.zeros(count), np.zeros(count)
    per_jump = terms.weights / terms.ratios
    beyond = terms.weights / -np.expm1(terms.log_ratios)
    for start in range(0, count, CHUNK):
        n = np.arange(start, min(start + CHUNK, count))
        powers = np.exp(np.multiply.outer(n, terms.log_ratios + tilt))
        weights[n], sums[n] = powers @ per_jump, powers @ beyond
    weights[0] = 0.0
    return weights, sums
