"""ln ρ between the nodes and beyond them: one local polynomial, the same inside the grid and on the
half-lines.

Through the twelve nodes around a point runs one polynomial of degree eleven in ln ρ; its value, its
derivative and the integral of its exponential are all that the distribution needs. Beyond an open edge the
nodes come from the exact `Continuation`, so edges are not special. Working on ln ρ keeps the relative
accuracy of tails at any depth, and nothing global is solved, so that a grid of a million nodes costs only
what is asked of it.

The catch: next to a stop edge there are no nodes beyond, and the twelve nodes sit on one side (accurate to
the same order with a larger constant; the density there is below the error estimate). The interpolant is
continuous everywhere, its derivative only up to the interpolation error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.nullvector import Tail
from solver.power_tail import PowerTail

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Nodes of the local polynomial: degree 11 for schemes of order 8 at most, so that interpolation is never what
# limits. Measured on ln ρ = -2 ln cosh ζ, relative error of ρ at h = 0.2, 0.1, 0.05: 5e-8, 3e-11, 1e-13 (with
# 10 nodes 2e-7, 3e-10, 4e-13; with 14 little better, and at stop edges the rounding grows fourfold with each
# pair).
POINTS = 12
# Deeper than this beyond an edge the exact powers are replaced by the geometric law they have become: far
# deeper than `Continuation.reach`, and no float resolves single nodes there.
_DEEPEST = 10**12
# Gauss points in a cell: with |d ln ρ/dζ| h = 0.5, the steepest a resolved grid has, 8 points are exact to
# rounding, and to 1e-11 even at 5.
_GAUSS = 8
# Points handled at once: each needs up to 12 nodes, and a node of the continuation about 75 numbers, 120 MB
# in all.
_CHUNK = 1 << 14


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


def in_chunks(function: Callable[[Any], Array], values: NDArray[Any]) -> Array:
    """Apply a vectorised function of a flat array piece by piece, to bound its temporaries."""
    if values.size <= _CHUNK:
        return function(values)
    return np.concatenate([function(values[i : i + _CHUNK]) for i in range(0, values.size, _CHUNK)])


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
        nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
        values = np.exp(self._increment(t * (0.5 * (1 + nodes))[:, None]))
        with np.errstate(divide="ignore"):
            return self.base + np.log(t * (0.5 * weights @ values))

    def _increment(self, t: Array) -> Array:
        """ln ρ - base; t may carry leading axes."""
        out = np.zeros_like(t)
        for k in range(self.coefficients.shape[1] - 1, -1, -1):
            out = out * t + self.coefficients[:, k]
        return out


@dataclass(frozen=True, eq=False)
class Interpolant:
    """ln ρ as a function of ζ from its values at uniform nodes and what continues them on either side.

    `left` is the first node, `spacing` h, `log_density` (N,) the values; `before` and `after` continue them
    outwards, None where the density ends (a stop edge).

    >>> gauss = Interpolant(-5.0, 0.1, -0.5 * np.linspace(-5.0, 5.0, 101) ** 2)
    >>> gauss.log_density_at(np.array([0.03, -6.0])), gauss.slope_at(np.array([0.3]))
    (array([-0.00045, -inf]), array([-0.3]))
    """

    left: float
    spacing: float
    log_density: Array
    before: Tail | None = None
    after: Tail | None = None

    @property
    def size(self) -> int:
        """Number of nodes N of the grid."""
        return self.log_density.size

    @property
    def right(self) -> float:
        """The last node."""
        return self.left + self.spacing * (self.size - 1)

    @cached_property
    def mirrored(self) -> Interpolant:
        """The density of -ζ."""
        return Interpolant(-self.right, self.spacing, self.log_density[::-1], self.after, self.before)

    @cached_property
    def points(self) -> int:
        """Nodes of each local polynomial: POINTS, or all there are on a smaller closed grid."""
        closed = self.before is None and self.after is None
        return min(POINTS, self.size) if closed else POINTS

    def at_node(self, index: Index) -> Array:
        """ln ρ at node `index`, any integer (0 … N-1 inside); -inf beyond a stop edge."""
        out = np.full(index.shape, -np.inf)
        inside = (index >= 0) & (index < self.size)
        out[inside] = self.log_density[index[inside]]
        for side, beyond in ((self.before, -index), (self.after, index - (self.size - 1))):
            chosen = beyond > 0
            if side is not None and chosen.any():
                out[chosen] = continued(side.log_density, side.exponent * self.spacing, beyond[chosen])
        return out

    def windows(self, first: Index, count: int) -> Array:
        """ln ρ at the `count` nodes from each node of `first` on, shape (len(first), count)."""
        nodes = first[:, None] + np.arange(count)
        span = int(np.ptp(first)) + count if first.size else 0
        if span >= nodes.size:
            return self.at_node(nodes)
        start = int(first.min())
        shared = self.at_node(np.arange(start, start + span))
        return np.asarray(shared[nodes - start])

    def cells(self, index: Index) -> Cells:
        """The local polynomials of the cells between node `index` and the next one."""
        first = index - (self.points // 2 - 1)
        if self.before is None:
            first = np.maximum(first, 0)
        if self.after is None:
            first = np.minimum(first, self.size - self.points)
        values = self.windows(first, self.points)
        origin = index - first  # the same for all cells, but for those next to a stop edge
        base = values[np.arange(index.size), origin]
        # coefficients of ln ρ - base: differences first, so that a large ln ρ costs no digits twice
        coefficients = np.empty(values.shape)
        for place in np.unique(origin):
            own = origin == place
            matrix = polynomial_coefficients(self.points, int(place))
            coefficients[own] = (values[own] - base[own, None]) @ matrix.T
        return Cells(base, coefficients)

    def locate(self, zeta: Array) -> tuple[Index, Array]:
        """Cell and fraction of finite points on the support (`on_support`)."""
        position = (zeta - self.left) / self.spacing
        index = np.floor(position).astype(np.int64)
        if self.before is None:
            index = np.maximum(index, 0)
        if self.after is None:
            index = np.minimum(index, self.size - 2)
        return index, position - index

    def on_support(self, zeta: Array) -> NDArray[np.bool_]:
        """Finite points not beyond a stop edge (and within the range of integers, 10^18 nodes), nor on powers."""
        near = np.abs(zeta) < 1e18 * self.spacing
        if self.before is None:
            near &= zeta >= self.left
        if self.after is None:
            near &= zeta <= self.right
        for far, *_ in self.on_powers(zeta):
            near &= ~far
        return near

    def on_powers(self, zeta: Array) -> list[tuple[NDArray[np.bool_], PowerTail, Array, float]]:
        """Points a node or more beyond an edge with a tail of powers, which needs no nodes: which, tail, n, sign."""
        found = []
        for side, edge, sign in ((self.before, self.left, -1.0), (self.after, self.right, 1.0)):
            if isinstance(side, PowerTail):
                n = sign * (zeta - edge) / self.spacing
                far = (n >= 1) & np.isfinite(n)
                found.append((far, side, n[far], sign))
        return found

    def log_density_at(self, zeta: Array) -> Array:
        """ln ρ(ζ) for a flat array: -inf beyond stop edges and at ±inf, NaN for NaN."""
        out = self._map(zeta, lambda cells, t: cells.value(t), -np.inf)
        for far, side, n, _ in self.on_powers(zeta):
            out[far] = side.log_density(n)
        return out

    def slope_at(self, zeta: Array) -> Array:
        """d ln ρ/dζ for a flat array: NaN where there is no density; the tail's own exponent at ±inf."""
        out = self._map(zeta, lambda cells, t: cells.slope(t) / self.spacing, np.nan)
        for side, sign in ((self.before, -1.0), (self.after, 1.0)):
            if side is not None:
                out[zeta == sign * np.inf] = -sign * side.exponent
        for far, powers, n, sign in self.on_powers(zeta):
            out[far] = -sign * powers.decay(n) / self.spacing
        return out

    def _map(self, zeta: Array, function: Callable[[Cells, Array], Array], outside: float) -> Array:
        out = np.where(np.isnan(zeta), np.nan, outside)
        chosen = self.on_support(zeta)

        def evaluate(points: Array) -> Array:
            index, t = self.locate(points)
            return function(self.cells(index), t)

        if chosen.any():
            out[chosen] = in_chunks(evaluate, zeta[chosen])
        return out


def continued(function: Callable[[Index], Array], decay: float, beyond: Index) -> Array:
    """A logarithm that `function` gives at nodes beyond an edge, geometric past the deepest one."""
    near = np.minimum(beyond, _DEEPEST)
    return function(near) - decay * (beyond - near)
