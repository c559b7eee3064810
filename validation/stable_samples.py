"""Standard stable variables, drawn exactly from a uniform and an exponential one.

    one-sided, 0 < α < 1     E e^{-uS} = e^{-u^α}       Kanter (1975)
    symmetric, 0 < α < 2     E e^{ikX} = e^{-|k|^α}     Chambers, Mallows and Stuck (1976)

The catch is small α: powers 1/α leave the range of a double, so everything is a logarithm until the end, and the
one-sided variable is returned as one: rejection from it needs no more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def log_one_sided(stability: float, size: int, rng: np.random.Generator) -> Array:
    """ln S, shape (size,), for 0 < α < 1.

    With U uniform in (0, π) and E exponential,
    S = sin(αU) sin(U)^{-1/α} (sin((1-α)U)/E)^{(1-α)/α}   (Kanter, Ann. Probab. 3, 1975).

    >>> draws = np.exp(log_one_sided(0.5, 100_000, np.random.default_rng(1)))
    >>> bool(abs(np.exp(-draws).mean() - math.exp(-1)) < 0.003)  # four standard errors
    True
    """
    alpha = stability
    angle = math.pi * _open_uniform(size, rng)
    wait = rng.standard_exponential(size)
    power = (1 - alpha) / alpha
    with np.errstate(divide="ignore"):  # an exponential of exactly 0 (once in 1e16) is an infinite S
        log_wait = np.log(wait)
    log_sines = np.log(np.sin((1 - alpha) * angle)) - log_wait
    return np.asarray(np.log(np.sin(alpha * angle)) - np.log(np.sin(angle)) / alpha + power * log_sines)


def symmetric(stability: float, size: int, rng: np.random.Generator) -> Array:
    """X, shape (size,), for 0 < α < 2; ±inf where it leaves the range of a double (α below 0.05).

    With V uniform in (-π/2, π/2) and E exponential,
    X = sin(αV) cos(V)^{-1/α} (cos((1-α)V)/E)^{(1-α)/α}   (Chambers, Mallows and Stuck, J. Am. Stat. Assoc. 71, 1976).

    >>> draws = symmetric(1.0, 100_000, np.random.default_rng(1))  # Cauchy: a quarter lies above 1
    >>> bool(abs((draws > 1).mean() - 0.25) < 0.006)
    True
    """
    alpha = stability
    angle = math.pi * (_open_uniform(size, rng) - 0.5)
    if alpha == 1.0:
        return np.asarray(np.tan(angle))
    wait = rng.standard_exponential(size)
    power = (1 - alpha) / alpha
    with np.errstate(divide="ignore", over="ignore"):  # an exponential of 0, and the far tail of small α
        log_size = -np.log(np.cos(angle)) / alpha + power * (np.log(np.cos((1 - alpha) * angle)) - np.log(wait))
        return np.asarray(np.sin(alpha * angle) * np.exp(log_size))


def _open_uniform(size: int, rng: np.random.Generator) -> Array:
    """Uniform in (0, 1) without its ends: generators return multiples of 2^-53, 0 among them."""
    return np.asarray(rng.random(size) + 2.0**-54)
