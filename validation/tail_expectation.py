"""What a tail estimator should find at a finite threshold, from the density itself and not from its exponent.

The excess X = ln τ - ln t over a threshold t = e^{-z} has, with P the distribution function of ζ,

    E[X | τ > t] = ∫_{-∞}^{z} P(ζ) dζ / P(z),     E[X² | τ > t] = 2 ∫_{-∞}^{z} (z - ζ) P(ζ) dζ / P(z)

and in a window t < τ < t' the same with P - P(z') for P, z' = -ln t' in place of -∞. Hill's estimator is the mean
excess, so this is its expectation; 1/β only far out. That difference is no defect of the sample, and only the density
knows it.

The catch: without tempering the excess may have no variance or no mean. Then the answer is inf and nothing can be
compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.moments import moment_exists

Array = NDArray[np.float64]

# Where the integral is cut: P has fallen by e^{-40} = 4e-18 below its value at the deepest threshold.
_DEEP = 40.0
# Panels over the grid, and Gauss points in each. Doubling both changes the mean of the presets by less than 1e-12.
_PANELS, _GAUSS = 300, 8


@dataclass(frozen=True)
class Excess:
    """Mean and variance of ln τ - ln t given t < τ < t'; inf where they do not exist."""

    mean: float
    variance: float


def expected_excess(density: StationaryDensity, zeta: float, deepest: float = -np.inf) -> Excess:
    """The excess of ln τ over -zeta given -zeta < ln τ < -deepest.

    >>> from solver import LinearDrift, Model, solve_stationary
    >>> normal = solve_stationary(Model(LinearDrift(1.0, 0.0), 1.0, None))
    >>> excess = expected_excess(normal, 0.0)  # of a standard normal law: mean √(2/π), second moment 1
    >>> print(f"{excess.mean:.9f} {excess.variance + excess.mean**2:.9f}")
    0.797884561 1.000000000
    """
    return expected_excesses(density, np.array([zeta]), deepest)[0]


def expected_excesses(density: StationaryDensity, zeta: Array, deepest: float = -np.inf) -> list[Excess]:
    """The same for several thresholds (k,) and one `deepest`, sharing the values of P; NaN where there is no mass."""
    if not np.isfinite(deepest) and not moment_exists(density.model, 1, "left"):
        return [Excess(np.inf, np.inf)] * zeta.size
    nodes, log_weights, log_lowest = _rule(density, zeta, deepest)
    log_mass = density.logcdf(nodes)
    with np.errstate(divide="ignore"):  # ln 0 = -inf at the window's deep end
        log_mass = log_mass + np.log(-np.expm1(np.minimum(log_lowest - log_mass, 0.0)))
    variance_exists = bool(np.isfinite(deepest)) or moment_exists(density.model, 2, "left")
    found = []
    for threshold, top in zip(zeta, density.logcdf(zeta), strict=True):
        inside = nodes < threshold
        if not top > log_lowest:  # beyond the support, or a window of no mass: there is no conditional law
            found.append(Excess(np.nan, np.nan))
            continue
        terms = log_weights[inside] + log_mass[inside] - top - np.log(-np.expm1(log_lowest - top))
        mean = float(np.exp(np.logaddexp.reduce(terms)))
        square = 2 * float(np.exp(np.logaddexp.reduce(terms + np.log(threshold - nodes[inside]))))
        found.append(Excess(mean, square - mean**2 if variance_exists else np.inf))
    return found


def _rule(density: StationaryDensity, zeta: Array, deepest: float) -> tuple[Array, Array, float]:
    """Quadrature nodes and the logarithms of their weights, from `deepest` to the thresholds, and ln P(deepest).

    Equal panels over the grid, with every threshold an edge of one; beyond the grid panels that double, which suit an
    exponential as well as a power.
    """
    start = deepest
    log_lowest = float(density.logcdf(deepest)) if np.isfinite(deepest) else -np.inf
    if not np.isfinite(deepest):
        log_masses = density.logcdf(zeta)
        log_top = float(log_masses[np.isfinite(log_masses)].min(initial=0.0))
        start = float(density.distribution.from_lower(log_top - _DEEP))
    near = max(start, min(density.grid.left, float(zeta.min())))
    edges = [np.linspace(near, float(zeta.max()), _PANELS + 1), zeta]
    step, place = density.grid.spacing, near
    while place > start:
        place = max(start, place - step)
        edges.append(np.array([place]))
        step *= 2
    edge = np.unique(np.concatenate(edges))
    points, weights = np.polynomial.legendre.leggauss(_GAUSS)
    width = np.diff(edge)
    nodes = (edge[:-1, None] + 0.5 * width[:, None] * (1 + points)).ravel()
    return nodes, np.log((0.5 * width[:, None] * weights).ravel()), log_lowest
