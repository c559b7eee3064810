"""The polynomial of ln ρ in each cell between two nodes: its value, its slope and the integral of its exponential.

The catch: coefficients are those of ln ρ less its value at the cell's left node, so that a large ln ρ costs no digits;
where it is large, differences of it must already have been formed with care (`Continuation.windows`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Gauss points in a cell: with |d ln ρ/dζ| h = 0.5, the steepest a resolved grid has, 8 points are exact to
# rounding, and to 1e-11 even at 5.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@lru_cache(maxsize=32)
def polynomial_coefficients(count: int, origin: int) -> Array:
    """(count, count): row k maps the values at nodes -origin … count-1-origin to the coefficient of t^k.

    Lagrange's polynomials in exact rationals, rounded once: the Vandermonde matrix is too badly conditioned.
    """
    nodes = range(-origin, count - origin)
    columns = []
    for own in nodes:
        basis = [Fraction(1)]  # Π (t - other)/(own - other), lowest power first
        for other in nodes:
            if other != own:
                shifted = [Fraction(0), *basis]
                scaled = [*(other * c for c in basis), Fraction(0)]
                basis = [(up - down) / (own - other) for up, down in zip(shifted, scaled, strict=True)]
        columns.append([float(c) for c in basis])
    return np.array(columns).T


@dataclass(frozen=True, eq=False)
class Cells:
    """The polynomials of some cells: ln ρ = base + Σ_k coefficients[:, k] t^k, t from 0 to 1 across each."""

    base: Array
    coefficients: Array

    def value(self, t: Array) -> Array:
        """ln ρ at the fraction t of each cell."""
        return self.base + self._increment(t)

    def slope(self, t: Array) -> Array:
        """d ln ρ / dt, per cell width."""
        out = np.zeros_like(t)
        for k in range(self.coefficients.shape[1] - 1, 0, -1):
            out = out * t + k * self.coefficients[:, k]
        return out

    def log_integral(self, t: Array) -> Array:
        """ln ∫_0^t ρ, in units of the cell width; -inf where t = 0."""
        values = np.exp(self._increment(t * (0.5 * (1 + _NODES))[:, None]))
        with np.errstate(divide="ignore"):
            return self.base + np.log(t * (0.5 * _WEIGHTS @ values))

    def _increment(self, t: Array) -> Array:
        """ln ρ - base; t may carry leading axes."""
        out = np.zeros_like(t)
        for k in range(self.coefficients.shape[1] - 1, -1, -1):
            out = out * t + self.coefficients[:, k]
        return out
