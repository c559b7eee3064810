"""n^{-1-α} as a short sum of exponentials with positive weights: what makes the elimination O(N).

    n^{-s} = 1/Γ(s) ∫ e^{st} exp(-n e^t) dt ≈ Σ_k c_k e^{-n x_k},    s = 1+α,   1 ≤ n ≤ reach

The trapezoid rule in t is accurate and positive but wasteful at its two ends: below x = 10/reach a kernel
e^{-nx} is nearly a polynomial in x, and above x = ln 4 it is nearly a polynomial in q = e^{-x}. Each end is
therefore replaced by the Gauss rule of its own discrete measure (Golub and Welsch 1969), positive too. The
middle cannot be shortened: -ln(error)/π² terms per unit of ln n is the rate of the best exponential sums
(Braess and Hackbusch 2005). The catch: the sum is good for 1 ≤ n ≤ reach only; beyond, it decays
exponentially.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq
from scipy.special import gammainccinv, gammaincinv, gammaln, loggamma

from solver.checks import number

Array = NDArray[np.float64]

# The promise is 2e-13 relative. The step takes 1.5e-13 of it; rounding and the two Gauss rules add less
# than 2e-14 (measured over α in (0.01, 1.99), reach 1e2 to 1e9). A tenth of the error would cost 8% more
# terms.
_STEP_ERROR = 1.5e-13
# What the cut ends leave out, relative, at n = reach and n = 1: invisible, and free because the ends are
# compressed.
_CUT_ERROR = 1e-16
# Windows and sizes of the Gauss rules, measured: one node less costs accuracy (5e-13 and more at some α),
# wider windows with more nodes give the same total within one term.
_SLOW_WINDOW, _SLOW_NODES = 10.0, 10  # reach * x < 10
_FAST_WINDOW, _FAST_NODES = math.log(4.0), 6  # x > ln 4, that is q < 1/4
# Below this reach the two windows would meet; a longer sum costs a handful of terms.
_SHORTEST_REACH = 100.0


@dataclass(frozen=True, eq=False)
class ExponentialSum:
    """Jump weights w_n = Σ_k g_k q_k^{n-1}, n ≥ 1, with g_k > 0 and 0 < q_k < 1.

    `weights` is g and `log_ratios` is ln q < 0, both of shape (K,). ln q is the primary quantity: 1 - q is
    formed from it without cancellation.

    >>> one = ExponentialSum(np.array([0.5]), np.array([-np.log(2.0)]))
    >>> one.values([1, 2, 3]).tolist(), float(one.out_rate)
    ([0.5, 0.25, 0.125], 1.0)
    """

    weights: Array
    log_ratios: Array

    @property
    def ratios(self) -> Array:
        """q, shape (K,)."""
        return np.exp(self.log_ratios)

    @property
    def out_rate(self) -> float:
        """Σ_{n≥1} w_n = Σ_k g_k / (1-q_k): the rate of all jumps to one side."""
        return float(np.sum(self.weights / -np.expm1(self.log_ratios)))

    def values(self, n: ArrayLike) -> Array:
        """w_n for integers n ≥ 1 of any shape."""
        steps = np.asarray(n, dtype=float)[..., None] - 1.0
        return np.asarray(np.exp(steps * self.log_ratios) @ self.weights)


@lru_cache(maxsize=64)
def unit_exponential_sum(stability: float, reach: float) -> tuple[Array, Array]:
    """Rates x and coefficients c, shape (K,), of n^{-1-α} ≈ Σ_k c_k e^{-n x_k} for 1 ≤ n ≤ reach.

    Relative error at most 2e-13; K is 24 to 27 for reach 1e2, 55 to 62 for 1e6 and 78 to 89 for 1e9,
    growing with α. All x and c are positive, x ascending. The arrays are shared by all callers and
    read-only. Raises ModelError outside 0 < α < 2 or for reach < 1.

    >>> x, c = unit_exponential_sum(1.5, 1000.0)
    >>> n = np.array([1.0, 7.0, 1000.0])
    >>> bool(np.max(np.abs(np.exp(-np.outer(n, x)) @ c * n**2.5 - 1)) < 2e-13)
    True
    """
    alpha = number("stability", stability, low=0.0, high=2.0, open_low=True, open_high=True)
    longest = max(number("reach", reach, low=1.0), _SHORTEST_REACH)
    x, c = _trapezoid(1.0 + alpha, longest)
    slow, fast = x * longest < _SLOW_WINDOW, x > _FAST_WINDOW
    slow_x, slow_c = _gauss(longest * x[slow], c[slow], _SLOW_NODES)
    fast_q, fast_g = _gauss(np.exp(-x[fast]), c[fast] * np.exp(-x[fast]), _FAST_NODES)
    middle = ~(slow | fast)
    rates = np.concatenate([slow_x / longest, x[middle], -np.log(fast_q[::-1])])
    coefficients = np.concatenate([slow_c, c[middle], (fast_g / fast_q)[::-1]])
    for array in (rates, coefficients):
        array.setflags(write=False)
    return rates, coefficients


def _trapezoid(s: float, reach: float) -> tuple[Array, Array]:
    """The trapezoid rule in t = ln x; relative error 2|Γ(s+2πi/δ)|/Γ(s) for every n, by Poisson's formula."""

    def excess(frequency: float) -> float:
        log_error = math.log(2.0) + loggamma(complex(s, frequency)).real - gammaln(s)
        return float(log_error - math.log(_STEP_ERROR))

    step = 2.0 * math.pi / brentq(excess, 1.0, 100.0)  # e^{-π·100/2} is far below any error a double can see
    # The parts left out are ∫_0^{x n} and ∫_x^∞ of the Gamma(s) density; n = reach and n = 1 are the worst.
    lowest = math.log(gammaincinv(s, _CUT_ERROR) / reach)
    highest = math.log(gammainccinv(s, _CUT_ERROR))
    t = lowest + step * np.arange(math.ceil((highest - lowest) / step) + 1)
    return np.exp(t), step * np.exp(s * t - gammaln(s))


def _gauss(nodes: Array, weights: Array, count: int) -> tuple[Array, Array]:
    """The count-point Gauss rule of Σ_k weights_k δ(x - nodes_k); ascending nodes, positive weights.

    Lanczos on diag(nodes) from sqrt(weights) gives the Jacobi matrix; two passes of reorthogonalisation
    keep it exact.
    """
    start = np.sqrt(weights)
    norm = float(np.linalg.norm(start))
    basis = np.empty((count, nodes.size))
    diagonal, off_diagonal = np.empty(count), np.empty(count)
    vector = start / norm
    for j in range(count):
        basis[j] = vector
        vector = nodes * vector
        diagonal[j] = basis[j] @ vector
        for _ in range(2):
            vector = vector - basis[: j + 1].T @ (basis[: j + 1] @ vector)
        off_diagonal[j] = np.linalg.norm(vector)
        vector = vector / off_diagonal[j]
    points, vectors = eigh_tridiagonal(diagonal, off_diagonal[:-1])
    return points, (norm * vectors[0]) ** 2
