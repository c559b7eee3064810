"""The exact continuation of a density beyond an open edge: its values and sums at any depth.

Beyond an open edge the drift is constant, so every block of nodes answers to its neighbour in the same way: with the
message η (what the block nearer the bulk sends outwards) a block's densities are Y η and the message it hands on is
M η. Block k beyond the edge is therefore Y M^k η: exact at any depth, by powers of M, in logarithms throughout.

The catch: Y and M come from an exponential sum that is accurate up to a stated distance, `Continuation.reach`. Where
the drift decides the decay (a root) that is all there is to know: far out one exponential is left, and its law holds to
any depth. A tail that is pinned by the tempering is no exponential; beyond the reach nothing is known of it, and asking
is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.errors import ModelError

Array = NDArray[np.float64]

# Sums over M^k converge within so many doublings: 2^40 blocks.
_POWERS = 40
# Blocks over which exponentials are summed even where one is left: finding that out costs a tenth of a solve.
_NEAR = 64
# Everything but the slowest exponential is gone once it is smaller by e^{-40} = 4e-18.
_FADED = 40.0
# Rounding that two ways to one ln ρ may differ by, relative to it (measured: 5e-13, next to a threshold).
_ROUNDING = 2e-12
# The end itself, as rounded by whoever adds it to the edge, is known.
_END = 1 + 1e-9
# Rows of a window that reaches into the next block: the widest asked for has 12 nodes.
_OVERLAP = 16


def _scaled(matrix: Array) -> tuple[Array, float]:
    """Split a matrix into one of size about 1 and the logarithm of its size."""
    size = float(np.abs(matrix).max())
    return (matrix / size, float(np.log(size))) if size > 0 else (matrix, -np.inf)


def _log(values: Array) -> Array:
    """ln, NaN where there is none."""
    out = np.full(values.shape, np.nan)
    return np.asarray(np.log(values, out=out, where=values > 0))


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

    @property
    def pinned(self) -> bool:
        """Is the decay that of the jumps, or not told apart from it? Then the tail is no exponential."""
        return self.excess > 0 or self.doubt > 0

    @property
    def deepest(self) -> float:
        """The last node at which the density is known; inf where the tail is an exponential."""
        return self.reach if self.pinned else np.inf

    def require(self, depth: float) -> None:
        """Raise ModelError for a distance (in ζ) beyond the edge at which the density is not known."""
        if depth > _END * self.deepest * self.spacing:
            raise ModelError(
                f"depth {depth:.6g} beyond the edge: the tail is pinned by the tempering of the jumps, which are exact "
                f"over {self.reach * self.spacing:.6g} in ζ only; ask for more with solve_stationary(model, depth=...)"
            )

    @property
    def near(self) -> int:
        """The last node before which ρ is never taken from its law."""
        return 1 + _NEAR * int(self.block.shape[0])

    @cached_property
    def law_from(self) -> float:
        """A node from `near` on, from which on ρ is one exponential to rounding; inf where the tail is pinned.

        There the next exponential is below e^{-40} of it, by the two largest eigenvalues of M; two nodes, one twice as
        far as the other, confirm it.
        """
        if self.pinned:
            return np.inf
        length = self.block.shape[0]
        sizes = np.sort(np.abs(np.linalg.eigvals(self.step)))[::-1]
        gap = np.log(sizes[0] / sizes[1]) if sizes.size > 1 and sizes[1] > 0 else np.inf
        count = max(1, int(np.ceil(_FADED / gap)))
        limit = min(self.reach, float(length << _POWERS))
        while 2 * count * length < limit:
            near, far = self._exact(np.array([1, 1 + count * length]) + count * length, self.block)
            if abs(far - near + self.exponent * self.spacing * count * length) <= _ROUNDING * max(1.0, abs(far)):
                break
            count *= 2
        return float(max(1 + count * length, self.near))

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

    def _exact(self, index: NDArray[np.int64], rows: Array) -> Array:
        """ln of rows[(n-1) mod b] · M^{(n-1) div b} η; NaN where that is not positive (an unresolved grid)."""
        which, inverse = np.unique((index.ravel() - 1) // self.block.shape[0], return_inverse=True)
        columns, scales = self._messages(which)
        values = np.einsum("ij,ij->i", rows[(index.ravel() - 1) % self.block.shape[0]], columns.T[inverse])
        return np.asarray((_log(values) + scales[inverse]).reshape(index.shape))

    def _evaluate(self, n: ArrayLike, rows: Array) -> Array:
        """`_exact` where the exponentials still mix, and the one that is left further out: any depth a double holds."""
        index = np.asarray(n)
        if not index.size:
            return np.zeros(index.shape)
        if index.min() < 1:
            raise ValueError(f"n = {index.min()}: nodes beyond the edge are counted from 1")
        # a window about a point at the reach holds a few nodes more
        self.require((float(index.max()) - _OVERLAP) * self.spacing)
        near = np.minimum(index, self.law_from) if index.max() > self.near else index
        with np.errstate(over="ignore"):  # -inf is right for a logarithm that no double holds
            beyond = self.exponent * (self.spacing * (index - near))
        return np.asarray(self._exact(near.astype(np.int64), rows) - beyond)

    def log_density(self, n: ArrayLike) -> Array:
        """ln ρ at nodes n ≥ 1 beyond the edge, any shape.

        Raises ModelError beyond `reach` where the tail is pinned.
        """
        return self._evaluate(n, self.block)

    @cached_property
    def _window_rows(self) -> Array:
        """Y, Y M, Y M² … as far as a window may reach that begins in the first block."""
        rows = [self.block]
        while sum(map(len, rows)) < self.block.shape[0] + _OVERLAP:
            rows.append(rows[-1] @ self.step)
        return np.concatenate(rows)

    def windows(self, first: NDArray[np.int64], count: int) -> tuple[Array, Array]:
        """ln ρ at the `count` ≤ 16 nodes from each n of `first` on, (len(first), count), and what to add to each row.

        Nodes run outwards. The large common part is kept apart, so that differences within a window have all their
        digits at any depth.
        """
        which, inverse = np.unique((first - 1) // self.block.shape[0], return_inverse=True)
        columns, scales = self._messages(which)
        table = _log(self._window_rows @ columns)
        rows = ((first - 1) % self.block.shape[0])[:, None] + np.arange(count)
        return table[rows, inverse[:, None]], scales[inverse]

    def far_log_density(self, distance: Array) -> Array:
        """ln ρ at distances in ζ beyond the edge, at least `law_from` nodes."""
        start = np.array([int(self.law_from)])
        with np.errstate(over="ignore"):  # -inf is right for a logarithm that no double holds
            beyond = self.exponent * (distance - self.law_from * self.spacing)
        return np.asarray(self._exact(start, self.block) - beyond)

    def far_decay(self, distance: Array) -> Array:
        """-d ln ρ / d distance there."""
        return np.full(distance.shape, self.exponent)

    def far_log_mass(self, distance: Array) -> Array:
        """ln of the mass beyond: the integral, where `log_mass_from` is a sum over nodes."""
        return np.asarray(self.far_log_density(distance) - np.log(self.exponent))

    def far_distance(self, log_mass: Array) -> Array:
        """The distance beyond which this mass lies."""
        start = np.array([self.law_from * self.spacing])
        return np.asarray(start + (self.far_log_mass(start) - log_mass) / self.exponent)

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
        return np.asarray(np.cumsum(self.block[::-1], axis=0)[::-1] + beyond)

    def log_mass_from(self, n: ArrayLike) -> Array:
        """ln( spacing · Σ_{k ≥ n} ρ_k ), the mass of node n and everything beyond it."""
        return np.asarray(self._evaluate(n, self._mass_rows) + np.log(self.spacing))

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
        parts = arrays["block"], arrays["step"], arrays["message"]
        return cls(*parts, log_scale, spacing, exponent, reach, excess, doubt)
