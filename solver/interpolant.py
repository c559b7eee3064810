"""ln ρ between the nodes and beyond them: one local polynomial, the same inside the grid and on the
half-lines.

Through the twelve nodes around a point runs one polynomial of degree eleven in ln ρ; its value, its
derivative and the integral of its exponential are all that the distribution needs. Beyond an open edge the
nodes come from the exact `Continuation`, so edges are not special; far out one exponential, or a sum of
powers, is left and needs no nodes. Working on ln ρ keeps the relative accuracy of tails at any depth, and
nothing global is solved, so that a grid of a million nodes costs only what is asked of it.

The catch: next to a stop edge there are no nodes beyond, and the twelve nodes sit on one side (accurate to
the same order with a larger constant; the density there is below the error estimate). The interpolant is
continuous everywhere, its derivative only up to the interpolation error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.cells import Cells, polynomial_coefficients
from solver.continuation import Continuation
from solver.nullvector import Tail

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Nodes of the local polynomial: degree 11 for schemes of order 8 at most, so that interpolation is never what
# limits. Measured on ln ρ = -2 ln cosh ζ, relative error of ρ at h = 0.2, 0.1, 0.05: 5e-8, 3e-11, 1e-13 (with
# 10 nodes 2e-7, 3e-10, 4e-13; with 14 little better, and at stop edges the rounding grows fourfold with each
# pair).
POINTS = 12
# Points handled at once: each needs up to 12 nodes, and a node of the continuation about 75 numbers, 120 MB
# in all.
_CHUNK = 1 << 14


def in_chunks(function: Callable[[Any], Array], values: NDArray[Any]) -> Array:
    """Apply a vectorised function of a flat array piece by piece, to bound its temporaries."""
    if values.size <= _CHUNK:
        return function(values)
    return np.concatenate([function(values[i : i + _CHUNK]) for i in range(0, values.size, _CHUNK)])


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
                out[chosen] = side.log_density(beyond[chosen])
        return out

    def windows(self, first: Index, count: int) -> tuple[Array, Array]:
        """ln ρ at the `count` nodes from each node of `first` on, (len(first), count), and what to add to each row.

        What is to be added is 0 but for windows that lie beyond an edge (`Continuation.windows`).
        """
        values, common = np.empty((first.size, count)), np.zeros(first.size)
        rest = np.ones(first.size, dtype=bool)
        for side, nearest, order in ((self.before, 1 - first - count, -1), (self.after, first - (self.size - 1), 1)):
            beyond = nearest >= 1
            if isinstance(side, Continuation) and beyond.any():
                outwards, common[beyond] = side.windows(nearest[beyond], count)
                values[beyond] = outwards[:, ::order]
                rest &= ~beyond
        if rest.any():
            start = int(first[rest].min())
            span = int(first[rest].max()) - start + count
            nodes = first[rest, None] + np.arange(count)
            shared = self.at_node(np.arange(start, start + span)) if span < nodes.size else None
            values[rest] = self.at_node(nodes) if shared is None else shared[nodes - start]
        return values, common

    def cells(self, index: Index) -> Cells:
        """The local polynomials of the cells between node `index` and the next one."""
        first = index - (self.points // 2 - 1)
        if self.before is None:
            first = np.maximum(first, 0)
        if self.after is None:
            first = np.minimum(first, self.size - self.points)
        values, common = self.windows(first, self.points)
        origin = index - first  # the same for all cells, but for those next to a stop edge
        base = values[np.arange(index.size), origin]
        # coefficients of ln ρ - base: differences first, so that a large ln ρ costs no digits twice
        coefficients = np.empty(values.shape)
        for place in np.unique(origin):
            own = origin == place
            matrix = polynomial_coefficients(self.points, int(place))
            coefficients[own] = (values[own] - base[own, None]) @ matrix.T
        return Cells(base + common, coefficients)

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
        """Finite points not beyond a stop edge, and not where a law in closed form takes over (`on_law`).

        Raises ModelError for a finite point at which the density is not known.
        """
        near = np.isfinite(zeta)
        for side, depth in ((self.before, self.left - zeta), (self.after, zeta - self.right)):
            if side is None:
                near &= depth <= 0
            else:
                side.require(float(depth[np.isfinite(depth)].max(initial=-np.inf)))
        for far, *_ in self.on_law(zeta):
            near &= ~far
        return near

    def on_law(self, zeta: Array) -> Iterator[tuple[NDArray[np.bool_], Tail, Array, float]]:
        """Points so deep that the tail's own law needs no nodes: which, the tail, distances beyond the edge, sign."""
        for side, edge, sign in ((self.before, self.left, -1.0), (self.after, self.right, 1.0)):
            depth = sign * (zeta - edge)
            if side is None or not (depth >= max(side.near, 1) * self.spacing).any():
                continue
            far = (depth >= side.law_from * self.spacing) & np.isfinite(depth)
            if far.any():
                yield far, side, depth[far], sign

    @property
    def known(self) -> tuple[float, float]:
        """The ends of where the density is known: infinite but for a tail that is pinned by the tempering."""
        before, after = (np.inf if side is None else side.deepest for side in (self.before, self.after))
        return self.left - before * self.spacing, self.right + after * self.spacing

    def log_density_at(self, zeta: Array) -> Array:
        """ln ρ(ζ) for a flat array: -inf beyond stop edges and at ±inf, NaN for NaN.

        Raises ModelError beyond `known`.
        """
        out = self._map(zeta, lambda cells, t: cells.value(t), -np.inf)
        for far, side, distance, _ in self.on_law(zeta):
            out[far] = side.far_log_density(distance)
        return out

    def slope_at(self, zeta: Array) -> Array:
        """d ln ρ/dζ for a flat array: NaN where there is no density; the tail's own exponent at ±inf."""
        out = self._map(zeta, lambda cells, t: cells.slope(t) / self.spacing, np.nan)
        for side, sign in ((self.before, -1.0), (self.after, 1.0)):
            if side is not None:
                out[zeta == sign * np.inf] = -sign * side.exponent
        for far, side, distance, sign in self.on_law(zeta):
            out[far] = -sign * side.far_decay(distance)
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
