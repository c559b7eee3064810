"""The mass to one side of a point, in logarithms, and its inverse; the other side is the same thing in the
mirror.

Cell by cell the exponential of the interpolant is integrated by Gauss's rule, and the cells are cumulated
from outside inwards, so that the mass of a far tail is a sum of what lies beyond it and keeps its relative
accuracy. Beyond an open edge the exact sum over all further nodes is turned into the integral by its end
correction.

The catch: that sum, spacing · Σ ρ, is not the integral. For f(k) = e^{-σk} g(k) with g slowly varying,

    ∫_0^∞ f = Σ_{k≥0} f(k) + φ(D) f |_0,     φ(u) = 1/(e^u - 1) - 1/u,     φ(D) e^{-σk} g = Σ_j φ^{(j)}(-σ)/j!
    · g^{(j)}

which is exact for a geometric tail of any slope, where Euler-Maclaurin in powers of σ would not be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.special

from solver.cells import polynomial_coefficients
from solver.errors import NotConvergedError
from solver.interpolant import Array, Index, Interpolant, in_chunks

# Nodes either side of the point where a sum is turned into an integral: g is a polynomial of degree 10 there.
_HALF = 5
# Terms of φ about 0, whose radius of convergence is 2π: at σ = 1, twice the steepest resolved slope, the 30th
# is 1e-24.
_TERMS = 30
# Change of ln ρ between nodes beyond which the tail is not resolved anyway and is taken as geometric.
_STEEPEST = 2.0
# Newton on a nearly linear function in a bracket needs 3 to 5 steps, bisection to the last bit 60.
_STEPS = 80
# A few roundings: ln mass and ζ are not known better.
_RESOLVED = 4 * np.finfo(float).eps


@lru_cache(maxsize=1)
def _end_correction() -> tuple[Array, Array]:
    """Rows j: φ^{(j)}(u)/j! as a power series in u, and g^{(j)} at the middle of its nodes."""
    count = 2 * _HALF + 1
    order = np.arange(1, _TERMS + count + 1)
    # 1/(e^u - 1) = 1/u + Σ_{m≥0} B_{m+1}/(m+1)! u^m
    series = scipy.special.bernoulli(order[-1])[1:] / scipy.special.factorial(order)
    power = np.arange(_TERMS)
    taylor = np.array([series[j : j + _TERMS] * scipy.special.binom(power + j, j) for j in range(count)])
    derivatives = polynomial_coefficients(count, _HALF) * scipy.special.factorial(np.arange(count))[:, None]
    return taylor, derivatives


@dataclass(frozen=True, eq=False)
class LowerMass:
    """ln ∫_{-∞}^ζ ρ of an interpolant; for the upper side give it `interpolant.mirrored`.

    >>> gauss = LowerMass(Interpolant(-9.0, 0.1, -0.5 * np.linspace(-9.0, 9.0, 181) ** 2))
    >>> np.exp(gauss.log_mass(np.array([0.0])) - gauss.at_nodes[-1])
    array([0.5])
    """

    interpolant: Interpolant

    @cached_property
    def at_nodes(self) -> Array:
        """ln of the mass to the left of each node, shape (N,), ascending."""
        inner = self.interpolant
        cells = np.arange(inner.size - 1, dtype=np.int64)
        pieces = in_chunks(lambda index: inner.cells(index).log_integral(np.ones(index.size)), cells)
        start = self.beyond(np.zeros(1, dtype=np.int64))
        table: Array = np.logaddexp.accumulate(np.concatenate([start, pieces + np.log(inner.spacing)]))
        return table

    def beyond(self, distance: Index) -> Array:
        """ln ∫ of all that is left of the node `distance` ≥ 0 beyond the left edge; -inf at a stop edge."""
        inner, side = self.interpolant, self.interpolant.before
        if side is None:
            return np.full(distance.shape, -np.inf)
        log_h = np.log(inner.spacing)
        nodes, common = inner.windows(-distance - _HALF, 2 * _HALF + 1)
        nodes = nodes[:, ::-1]  # outwards
        here = nodes[:, _HALF] + common
        log_sum = np.empty(distance.shape)
        chosen = distance > 0
        log_sum[chosen] = side.log_mass_from(distance[chosen])
        if not chosen.all():
            log_sum[~chosen] = np.logaddexp(side.log_mass_from(1), here[~chosen] + log_h)
        decay = 0.5 * (nodes[:, _HALF - 1] - nodes[:, _HALF + 1])
        slow = np.abs(decay) < _STEEPEST
        correction = np.empty(distance.shape)
        steep = decay[~slow]
        correction[~slow] = -1 / (steep * scipy.special.exprel(-steep)) + 1 / steep  # exact for a geometric tail
        outwards = np.arange(-_HALF, _HALF + 1)
        smooth = np.exp(nodes[slow] - nodes[slow, _HALF, None] + decay[slow, None] * outwards)
        taylor, derivatives = _end_correction()
        weights = np.power.outer(-decay[slow], np.arange(_TERMS)) @ taylor.T
        correction[slow] = np.einsum("nj,jk,nk->n", weights, derivatives, smooth)
        mass: Array = log_sum + np.log1p(correction * np.exp(here + log_h - log_sum))
        return mass

    def log_mass(self, zeta: Array) -> Array:
        """ln ∫_{-∞}^ζ ρ for a flat array: -inf left of a stop edge, NaN for NaN, the total right of the grid.

        Raises ModelError where the density is not known (`Interpolant.known`).
        Right of an open right edge the mass is still growing: ask the mirrored side there.
        """
        inner = self.interpolant
        out = np.where(np.isnan(zeta), np.nan, np.where(zeta > inner.right, self.at_nodes[-1], -np.inf))
        chosen = inner.on_support(zeta) & (zeta <= inner.right)
        if chosen.any():
            out[chosen] = in_chunks(self._on_grid, zeta[chosen])
        for far, side, distance, sign in inner.on_law(zeta):
            if sign < 0:
                out[far] = side.far_log_mass(distance)
        return out

    def _on_grid(self, zeta: Array) -> Array:
        inner = self.interpolant
        index, t = inner.locate(zeta)
        index = np.minimum(index, inner.size - 2)
        t = (zeta - inner.left) / inner.spacing - index
        start = np.empty(index.shape)
        outside = index < 0
        start[~outside] = self.at_nodes[index[~outside]]
        start[outside] = self.beyond(-index[outside])
        total: Array = np.logaddexp(start, inner.cells(index).log_integral(t) + np.log(inner.spacing))
        return total

    def inverse(self, target: Array) -> Array:
        """The ζ with ln mass `target` (flat array, finite, at most the last of `at_nodes`)."""
        side, out = self.interpolant.before, np.empty(target.shape)
        far = np.zeros(target.shape, dtype=bool)
        if side is not None and (target < self.at_nodes[0]).any():
            law_from = np.array([side.law_from * self.interpolant.spacing])
            if np.isfinite(law_from[0]):
                far = target < side.far_log_mass(law_from)
                out[far] = self.interpolant.left - side.far_distance(target[far])
        out[~far] = in_chunks(self._inverse, target[~far])
        return out

    def _inverse(self, target: Array) -> Array:
        low, high, guess = self._bracket(target)
        active = np.arange(target.size)
        for _ in range(_STEPS):
            z, goal = guess[active], target[active]
            log_mass = self._on_grid(z)
            gap = log_mass - goal
            step = gap * np.exp(log_mass - self.interpolant.log_density_at(z))
            # rounding of the logarithm itself, or of ζ measured from the grid's end: nothing is left to gain
            grain = _RESOLVED * np.maximum(np.abs(z), abs(self.interpolant.left))
            settled = np.abs(gap) <= _RESOLVED * np.maximum(1.0, np.abs(goal))
            settled |= (high[active] - low[active] <= grain) | (np.abs(step) <= grain)
            if settled.all():
                return guess
            active, z, gap, step = active[~settled], z[~settled], gap[~settled], step[~settled]
            low[active] = np.where(gap < 0, z, low[active])
            high[active] = np.where(gap >= 0, z, high[active])
            moved = z - step
            middle = 0.5 * (low[active] + high[active])
            guess[active] = np.where((moved > low[active]) & (moved < high[active]), moved, middle)
        raise NotConvergedError(f"quantile at ln mass = {target[active[0]]!r}: not found in {_STEPS} steps")

    def _bracket(self, target: Array) -> tuple[Array, Array, Array]:
        """Points below and above each solution, and a first guess: linear in ln mass between them."""
        inner, side, table = self.interpolant, self.interpolant.before, self.at_nodes
        cell = np.minimum(np.searchsorted(table, target, side="right") - 1, inner.size - 2)
        low = inner.left + inner.spacing * cell
        high = low + inner.spacing
        guess = 0.5 * (low + high)
        known = (cell >= 0) & np.isfinite(table[cell])
        fraction = (target[known] - table[cell[known]]) / (table[cell[known] + 1] - table[cell[known]])
        guess[known] = low[known] + inner.spacing * np.minimum(fraction, 1.0)
        outside = cell < 0
        if side is not None and outside.any():
            fall = (table[0] - target[outside]) * np.exp(table[0] - inner.log_density[0])
            deepest = side.deepest * inner.spacing
            depth = np.minimum(inner.spacing + 2 * fall, deepest)
            for _ in range(_STEPS):
                short = self._on_grid(inner.left - depth) >= target[outside]
                if not short.any():
                    break
                side.require(float(2 * depth[short & (depth >= deepest)].max(initial=0.0)))
                depth = np.where(short, np.minimum(2 * depth, deepest), depth)
            low[outside], high[outside] = inner.left - depth, inner.left
            guess[outside] = inner.left - fall
        return low, high, guess
