"""The null vector of the adjoint on a grid, in logarithms, and its exact continuation beyond an open edge.

Beyond an open edge the drift is constant, so every block of nodes answers to its neighbour in the same way: with the
message η (what the block nearer the bulk sends outwards) a block's densities are Y η and the message it hands on is
M η. Block k beyond the edge is therefore Y M^k η: exact at any depth, by powers of M, in logarithms throughout.

The catch: Y and M come from an exponential sum that is accurate up to a stated distance; deeper than that a tail that
is pinned by the tempering turns geometric. `Continuation.reach` says how far the sum holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.power_tail import PowerTail

Array = NDArray[np.float64]

# Powers M^(2^j) are used for j below this: with blocks of 64 nodes they reach beyond node 10^12.
_POWERS = 40


def _scaled(matrix: Array) -> tuple[Array, float]:
    """Split a matrix into one of size about 1 and the logarithm of its size."""
    size = float(np.abs(matrix).max())
    return (matrix / size, float(np.log(size))) if size > 0 else (matrix, -np.inf)


@dataclass(frozen=True, eq=False)
class Continuation:
    """The half-line beyond an open edge; node n = 1, 2, … counts outwards from the edge node.

    `block` (b, p) maps the message to b densities, the one nearest the edge first; `step` (p, p) carries the message
    one block outwards; `message` (p,) times e^{log_scale} is what the edge block sends; `exponent` is the decay rate
    of ρ per unit of ζ, from the spectral radius of `step`; `reach` is the last node to which the jump law is exact.
    No density decays faster than its jumps, so `exponent` is at most their tempering; `excess` is by how much the
    spectral radius exceeds it, an effect of the finite reach, and `doubt` how far that may put the exponent off.
    """

    block: Array
    step: Array
    message: Array
    log_scale: float
    spacing: float
    exponent: float
    reach: float
    excess: float = 0.0
    doubt: float = 0.0
    _powers: list[tuple[Array, float]] = field(default_factory=list, repr=False)  # M^(2^j), as far as needed yet

    def _power(self, bit: int) -> tuple[Array, float]:
        """M^(2^bit), scaled to size 1, and the logarithm of its size."""
        if not self._powers:
            self._powers.append(_scaled(self.step))
        while len(self._powers) <= bit:
            matrix, log_size = self._powers[-1]
            square, extra = _scaled(matrix @ matrix)
            self._powers.append((square, 2 * log_size + extra))
        return self._powers[bit]

    def _messages(self, blocks: NDArray[np.int64]) -> tuple[Array, Array]:
        """M^k η for each k in `blocks` (one column each), and the logarithm of each column's scale."""
        columns = np.repeat(self.message[:, None], blocks.size, axis=1)
        scales = np.full(blocks.size, self.log_scale)
        for bit in range(int(blocks.max(initial=0)).bit_length()):
            chosen = (blocks >> bit) & 1 == 1
            if chosen.any():
                matrix, log_size = self._power(bit)
                moved = matrix @ columns[:, chosen]
                size = np.abs(moved).max(axis=0)
                columns[:, chosen] = moved / size
                scales[chosen] += log_size + np.log(size)
        return columns, scales

    def _evaluate(self, n: ArrayLike, rows: Array) -> Array:
        """ln of rows[(n-1) mod b] · M^{(n-1) div b} η; NaN where that is not positive (an unresolved grid)."""
        index = np.asarray(n, dtype=np.int64) - 1
        if index.size and index.min() < 0:
            raise ValueError(f"n = {index.min() + 1}: nodes beyond the edge are counted from 1")
        if index.size and index.max() >= self.block.shape[0] << _POWERS:
            raise ValueError(
                f"n = {index.max() + 1}: deeper than node {self.block.shape[0] << _POWERS} beyond the edge"
            )
        which, inverse = np.unique(index.ravel() // self.block.shape[0], return_inverse=True)
        columns, scales = self._messages(which)
        values = np.einsum("ij,ij->i", rows[index.ravel() % self.block.shape[0]], columns.T[inverse])
        out = np.full(values.shape, np.nan)
        np.log(values, out=out, where=values > 0)
        logs: Array = (out + scales[inverse]).reshape(index.shape)
        return logs

    def log_density(self, n: ArrayLike) -> Array:
        """ln ρ at nodes n ≥ 1 beyond the edge, any shape."""
        return self._evaluate(n, self.block)

    def _summed(self, row: Array) -> Array:
        """row · (I + M + M² + …), by doubling: sums of positive terms, accurate entry by entry where a solve is not."""
        total, power = row, self.step
        for _ in range(_POWERS):
            further = total @ power
            total = total + further
            if np.all(np.abs(further) <= np.finfo(float).eps * np.abs(total)):
                break
            power = power @ power
        return total

    @cached_property
    def _mass_rows(self) -> Array:
        beyond = self._summed(self.block.sum(axis=0)) @ self.step
        rows: Array = np.cumsum(self.block[::-1], axis=0)[::-1] + beyond
        return rows

    def log_mass_from(self, n: ArrayLike) -> Array:
        """ln( spacing · Σ_{k ≥ n} ρ_k ), the mass of node n and everything beyond it."""
        logs: Array = self._evaluate(n, self._mass_rows) + np.log(self.spacing)
        return logs

    def moments(self) -> tuple[float, float, float]:
        """spacing · Σ_{n ≥ 1} n^p ρ_n for p = 0, 1, 2, summed to infinity through (I - M)^{-1}."""
        # With S = I + M + M² + …: Σ k M^k = M S², Σ k² M^k = M (I + M) S³, applied to rows from the left.
        length = self.block.shape[0]
        inside = np.arange(1, length + 1)
        r0, r1, r2 = (
            self._summed(row) for row in (self.block.sum(axis=0), inside @ self.block, inside**2 @ self.block)
        )
        r0_once, r1_once = self._summed(r0) @ self.step, self._summed(r1) @ self.step
        r0_twice = self._summed(r0_once + r0_once @ self.step)
        scale = self.spacing * np.exp(self.log_scale)
        return (
            float(scale * (r0 @ self.message)),
            float(scale * ((length * r0_once + r1) @ self.message)),
            float(scale * ((length**2 * r0_twice + 2 * length * r1_once + r2) @ self.message)),
        )

    def shifted(self, log_factor: float) -> Continuation:
        """The same half-line with its density multiplied by e^{log_factor}."""
        return replace(self, log_scale=self.log_scale + log_factor)

    def arrays(self) -> dict[str, Array]:
        """Plain arrays for saving; `from_arrays` is the inverse."""
        numbers = np.array([self.log_scale, self.spacing, self.exponent, self.reach, self.excess, self.doubt])
        return {"block": self.block, "step": self.step, "message": self.message, "numbers": numbers}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Continuation:
        """Rebuild what `arrays` gave."""
        log_scale, spacing, exponent, reach, excess, doubt = (float(x) for x in arrays["numbers"])
        block, step, message = arrays["block"], arrays["step"], arrays["message"]
        return cls(block, step, message, log_scale, spacing, exponent, reach, excess, doubt)


# What may lie beyond an open edge: exponentials, or without tempering a sum of powers.
Tail = Continuation | PowerTail


@dataclass(frozen=True, eq=False)
class NullVector:
    """A null vector of the adjoint: ln|ρ| and sign at the nodes, normalised with the mass beyond open edges.

    `residual` is the largest componentwise |Aρ| / (|A||ρ|); `column_defect` the largest column sum of the last Schur
    complement relative to its diagonal (zero for a method that has none).
    """

    log_density: Array
    sign: Array
    left: Tail | None
    right: Tail | None
    residual: float
    column_defect: float


def normalised(
    log_density: Array,
    sign: Array,
    spacing: float,
    left: Tail | None = None,
    right: Tail | None = None,
    *,
    residual: float = np.nan,
    column_defect: float = 0.0,
) -> NullVector:
    """Scale a null vector so that spacing · Σρ plus the mass beyond open edges is 1, signs respected."""
    peak = float(log_density.max())
    mass = spacing * float(np.sum(sign * np.exp(log_density - peak)))
    for side in (left, right):
        if side is not None:
            mass += float(np.exp(side.log_mass_from(1) - peak))
    if not mass > 0:
        raise FloatingPointError(f"the null vector has mass {mass} instead of a positive one")
    shift = -peak - float(np.log(mass))
    return NullVector(
        log_density + shift,
        sign,
        None if left is None else left.shifted(shift),
        None if right is None else right.shifted(shift),
        residual,
        column_defect,
    )
