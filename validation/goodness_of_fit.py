"""Distance of a sample from a fully specified law: Kolmogorov–Smirnov and Anderson–Darling, with p-values.

With u_i = P(ζ_i), weights w_i of sum one and W_i their running sum in the order of u,

    D = sup |F_w(u) - u|,     A² = n ∫_0^1 (F_w(u) - u)² / (u (1 - u)) du
      = n [ -1 - Σ (W_i² - W_{i-1}²) ln u_i - Σ ((1-W_{i-1})² - (1-W_i)²) ln(1 - u_i) ]

n is the effective size. For weights that do not depend on the values the process √n (F_w - u) has exactly the
covariance of a Brownian bridge when n = (Σw)²/Σw², so that E A² = 1 at any size and the limit laws hold with that n.

Everything takes ln u and ln(1 - u): a value 1e-40 deep in the tail then weighs what it should, where u itself would
have been rounded to 0 or 1 and given A² = inf. The catch: both tests are for a law fixed before the sample was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Gauss–Chebyshev points on each interval of the Anderson–Darling series. Measured against 30 digits by mpmath: relative
# error 3e-15 at A² = 0.05 … 10 and 2e-13 at 60 (24 points: 1e-11 at 60), because e^{-xy/2} grows steeper with x.
_POINTS = 64
# Terms kept: term k is at most e^{-x (k-1/2)²·2}; e^{-45} is 3e-20.
_SMALLEST = 45.0
# Below this A² the survival function is 1 to the last bit: cdf ~ e^{-π²/(8x)} = 1e-18 at 0.03.
_CERTAIN = 0.03


@dataclass(frozen=True)
class Statistic:
    """A test statistic and the probability of a larger one if the law is right."""

    value: float
    p_value: float


def running_weights(weights: Array) -> Array:
    """0, W_1, … W_n = 1: the running sums of weights (positive, sorted with their values), shape (n + 1,)."""
    total = np.concatenate(([0.0], np.cumsum(weights)))
    shares: Array = total / total[-1]
    return shares


def ks_statistic(log_cdf: Array, weights: Array) -> float:
    """D = sup |F_w - u| from ln u in increasing order, shape (n,)."""
    u, share = np.exp(log_cdf), running_weights(weights)
    return float(max(np.max(share[1:] - u), np.max(u - share[:-1])))


def ad_statistic(log_cdf: Array, log_sf: Array, weights: Array, effective_size: float) -> float:
    """A² from ln u and ln(1 - u) in increasing order of u, shape (n,); inf if some value has probability zero.

    >>> u = np.array([0.2, 0.5, 0.8])
    >>> print(f"{ad_statistic(np.log(u), np.log1p(-u), np.ones(3), 3.0):.6f}")
    0.203065
    """
    share = running_weights(weights)
    below, above = share[1:] ** 2 - share[:-1] ** 2, (1 - share[:-1]) ** 2 - (1 - share[1:]) ** 2
    # positive terms; the last factor of each sum is positive, so that no 0 · inf can arise
    return float(effective_size * (-1 - below @ log_cdf - above @ log_sf))


def ks_test(log_cdf: Array, weights: Array, effective_size: float) -> Statistic:
    """D and its exact p-value for ⌊n⌋ independent values (Simard and L'Ecuyer 2011, as in scipy.stats.kstwo)."""
    from scipy.stats import (
        kstwo,
    )  # here: scipy.stats takes half a second to import, which other commands need not wait for

    value = ks_statistic(log_cdf, weights)
    return Statistic(value, float(kstwo.sf(value, max(1, math.floor(effective_size)))))


def ad_test(log_cdf: Array, log_sf: Array, weights: Array, effective_size: float) -> Statistic:
    """A² and its p-value in the limit of large n.

    The limit is near: simulated, 5% in the limit are 5.2% for n = 5 and 5.0% from n = 10 on; the largest difference of
    the two distribution functions is 0.009 at n = 5 and 0.004 at n = 10.
    """
    value = ad_statistic(log_cdf, log_sf, weights, effective_size)
    return Statistic(value, float(ad_survival(value)))


def ad_survival(statistic: ArrayLike) -> Array:
    """P(A² > x) for n → ∞, any shape, with relative accuracy however small (underflow at x > 745).

    A² tends to Σ_j χ²_j / (j(j+1)) (Anderson and Darling 1952), whose Fredholm determinant is D(y) = Π (1 - y/(j(j+1)))
    = -cos(π/2 √(1+4y)) / (π y). Moving the contour of the inverse Laplace transform onto the cuts between λ_{2k-1} and
    λ_{2k}, λ_j = j(j+1) (Smirnov's formula), and s = √(1+4y) = 4k + σ gives

        P(A² > x) = 1/(2√π) Σ_k (-1)^{k+1} ∫_{-1}^{1} e^{-xy/2} s y^{-1/2} cos(πσ/2)^{-1/2} dσ,     y = (s² - 1)/4

    and the two square-root ends are those of Gauss–Chebyshev quadrature. Raises ValueError for NaN.

    >>> np.round(ad_survival([1.933, 2.492, 3.878]), 3)  # the 10%, 5% and 1% points
    array([0.1 , 0.05, 0.01])
    """
    x = np.asarray(statistic, dtype=float)
    if np.isnan(x).any():
        raise ValueError("A² is NaN: no p-value")
    out = np.where(x < _CERTAIN, 1.0, 0.0)
    flat = (x >= _CERTAIN) & np.isfinite(x)
    if flat.any():
        out[flat] = _series(x[flat])
    return out[()]


def _series(x: Array) -> Array:
    terms = math.ceil(math.sqrt(_SMALLEST / (2 * float(x.min()))) + 0.5)
    sigma = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    rule = np.pi / _POINTS * np.sqrt((1 - sigma**2) / np.cos(0.5 * np.pi * sigma))
    total = np.zeros_like(x)
    for k in range(terms, 0, -1):
        s = 4 * k + sigma
        y = 0.25 * (s**2 - 1)
        total += (-1) ** (k + 1) * (np.exp(-0.5 * x[:, None] * y) @ (rule * s / np.sqrt(y)))
    return total / (2 * math.sqrt(math.pi))
