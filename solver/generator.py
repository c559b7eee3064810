"""The generator of the process on a grid, and its transpose, which moves the density.

What is discretised is the BACKWARD generator L (every row sums to zero); the adjoint is its transpose A =
Lᵀ, so that mass is conserved by construction. With central stencils D¹, D² of order 2m and jump weights
w_n,

    (Lu)_i = F_i (D¹u)_i + η_G (D²u)_i + Σ_{j≠i} w_{|i-j|} (u_j - u_i)
             + W⁻_i (u_0 - u_i) + W⁺_i (u_{N-1} - u_i)

One rule holds at a `stop` edge, for stencils and jumps alike: what would leave the grid acts on the edge
node. The catch it avoids: one-sided stencils at the edge leave a second null vector, and jumps that are
dropped instead leave the tails wrong.

Nothing is stored densely. Entries within m of the diagonal (stencils, near jumps, lattice corrections γ and
every outflow) are one band; jumps beyond it are a symmetric Toeplitz matrix applied by FFT, plus one row
for each edge. Weights, out-rates and the edge sums W all come from the same exponential sum: the matrix is
singular to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import matmul_toeplitz, toeplitz
from scipy.sparse import dia_array
from scipy.sparse.linalg import LinearOperator

from solver.checks import number, shown
from solver.errors import ModelError
from solver.exponential_sum import ExponentialSum
from solver.far_jumps import far_jumps, jump_tables
from solver.grid import Grid
from solver.model import Model

Array = NDArray[np.float64]

ORDERS = (2, 4, 6, 8)


@lru_cache(maxsize=len(ORDERS))
def stencil(order: int) -> tuple[Array, Array]:
    """Central differences (d1, d2) for unit spacing, each of shape (order + 1,), at offsets -m … m.

    (D¹u)_i = Σ_s d1[s+m] u_{i+s} / h and (D²u)_i = Σ_s d2[s+m] u_{i+s} / h², 2m = order. The coefficients
    are findiff's exact rationals rounded once; the middle of d2 is minus the sum of the others, so that the
    derivatives of a constant vanish. Raises ModelError unless order is 2, 4, 6 or 8.

    >>> [d.tolist() for d in stencil(2)]
    [[-0.5, 0.0, 0.5], [1.0, -2.0, 1.0]]
    """
    if order not in ORDERS:
        raise ModelError(f"order = {shown(order)}: the stencils' order is one of {ORDERS}")
    from findiff import coefficients  # here, because it brings sympy, a third of the time that `import solver` took

    order = int(order)  # 8.0 is 8
    half = order // 2
    pair = []
    for derivative in (1, 2):
        exact = coefficients(deriv=derivative, acc=order, symbolic=True)["center"]
        by_offset = dict(zip(exact["offsets"], exact["coefficients"], strict=True))
        values = np.array([float(by_offset[offset]) for offset in range(-half, half + 1)])
        values[half] = 0.0
        values[half] = -math.fsum(values)
        values.flags.writeable = False
        pair.append(values)
    return pair[0], pair[1]


@dataclass(frozen=True, eq=False)
class Generator:
    """The matrix A = Lᵀ of a model on a grid with two `stop` edges; `build_generator` makes it."""

    model: Model
    grid: Grid
    order: int

    @cached_property
    def drift(self) -> Array:
        """F(ζ_i), shape (N,)."""
        return np.asarray(self.model.drift(self.grid.zeta), dtype=float)

    @cached_property
    def centre(self) -> int:
        """The node where ∫F dζ is largest (trapezoid rule): the bottom of the deepest well."""
        work = np.concatenate([[0.0], np.cumsum(self.drift[1:] + self.drift[:-1])])
        return int(np.argmax(work))

    @cached_property
    def corrections(self) -> Array:
        """γ_1 … γ_m times the intensity: what the lattice adds to the nearest jump weights."""
        half = self.order // 2
        if self.model.jumps is None:
            return np.zeros(half)
        return np.asarray(self.model.jumps.lattice_corrections(self.grid.spacing, half), dtype=float)

    @cached_property
    def far_jumps(self) -> ExponentialSum | None:
        """The jump weights without γ, as the sum of exponentials that everything here is made from."""
        jumps = self.model.jumps
        return None if jumps is None else far_jumps(jumps, self.grid.spacing, self.grid.nodes)

    @cached_property
    def jump_tables(self) -> tuple[Array, Array]:
        """(w, W): w[n], n = 0 … N-1, without γ (w[0] = 0), and W[i] = Σ_{n>i} w[n] to infinity; both (N,)."""
        if self.far_jumps is None:
            return np.zeros(self.grid.nodes), np.zeros(self.grid.nodes)
        return jump_tables(self.far_jumps, self.grid.nodes)

    @cached_property
    def band(self) -> dia_array:
        """The entries of A within m of the diagonal, complete (drift, diffusion, jumps, edges), sparse."""
        nodes, h, half = self.grid.nodes, self.grid.spacing, self.order // 2
        d1, d2 = stencil(self.order)
        weights, tails = self.jump_tables
        symmetric = self.model.diffusion * d2 / h**2
        symmetric[half + 1 :] += self.corrections
        symmetric[:half] += self.corrections[::-1]
        symmetric[half] -= 2.0 * math.fsum(self.corrections)
        rows = np.multiply.outer(self.drift / h, d1) + symmetric  # rows[i, s+m] = L[i, i+s]
        for i in range(half):  # the m - i offsets that leave the grid from node i, at either end
            rows[i, half - i] += rows[i, : half - i].sum()
            rows[i, : half - i] = 0.0
            rows[-1 - i, half + i] += rows[-1 - i, half + i + 1 :].sum()
            rows[-1 - i, half + i + 1 :] = 0.0
        rows[:, half] -= 2.0 * tails[0]
        for n in range(1, half + 1):
            rows[n:, half - n] += weights[n]
            rows[:-n, half + n] += weights[n]
        for i in range(half + 1):  # the edge sums that fall inside the band
            rows[i, half - i] += tails[i]
            rows[-1 - i, half + i] += tails[i]
        return dia_array((rows.T, np.arange(half, -half - 1, -1)), shape=(nodes, nodes))

    @cached_property
    def far_weights(self) -> Array:
        """w_n for m < n < N at index n, zero for n ≤ m: the symmetric Toeplitz part of A, shape (N,)."""
        far = self.jump_tables[0].copy()
        far[: self.order // 2 + 1] = 0.0
        return far

    @cached_property
    def edge_sums(self) -> Array:
        """W⁻_i for i > m at index i, zero for i ≤ m (there it is in the band); W⁺ is its mirror image."""
        sums = self.jump_tables[1].copy()
        sums[: self.order // 2 + 1] = 0.0
        return sums

    def matvec(self, density: ArrayLike) -> Array:
        """Aρ, the rate of change of a density ρ of shape (N,), in O(N log N); its sum is zero to rounding.

        Accurate to rounding relative to max |ρ|, not entry by entry: the FFT mixes all of them.
        """
        rho = self._vector(density)
        return self._apply(self.band, rho)

    def absolute_matvec(self, density: ArrayLike) -> Array:
        """|A| ρ with A taken entry by entry in absolute value: the scale of a componentwise residual."""
        return self._apply(self._absolute_band, self._vector(density))

    def rmatvec(self, function: ArrayLike) -> Array:
        """Lu, the backward generator on a function u of shape (N,), in O(N log N); zero for a constant."""
        u = self._vector(function)
        result = self.band.T @ u
        if self.model.jumps is not None:
            result += matmul_toeplitz(self.far_weights, u)
            result += self.edge_sums * u[0] + self.edge_sums[::-1] * u[-1]
        return np.asarray(result)

    def to_dense(self) -> Array:
        """A as an array of shape (N, N): 8 N² bytes, for tests and small N."""
        dense = self.band.toarray() + toeplitz(self.far_weights)
        dense[0] += self.edge_sums
        dense[-1] += self.edge_sums[::-1]
        return np.asarray(dense)

    def as_linear_operator(self) -> LinearOperator:
        """A for scipy's iterative solvers; its adjoint is L."""
        shape = (self.grid.nodes, self.grid.nodes)
        return LinearOperator(shape, matvec=self.matvec, rmatvec=self.rmatvec, dtype=np.dtype(float))

    def lattice_symbol(self, wavenumber: ArrayLike) -> Array:
        """The symbol of the jumps on the unbounded lattice, 2 Σ_n w_n (cos(n k h) - 1), k of any shape.

        Summed in closed form over the exponentials, where nothing cancels:

            Σ_n q^{n-1} (1 - cos nθ) = (1+q)(1-cos θ) / ((1-q)((1-q)² + 2q(1-cos θ)))

        It tends to the symbol of the jump law as h^{2m+2-α}.
        """
        theta = np.asarray(wavenumber, dtype=float) * self.grid.spacing
        terms = self.far_jumps
        if terms is None:
            return np.zeros_like(theta)
        gap = -np.expm1(terms.log_ratios)
        versine = 2.0 * np.sin(0.5 * theta)[..., None] ** 2
        far = (terms.weights * (2.0 - gap) / gap) * versine / (gap**2 + 2.0 * (1.0 - gap) * versine)
        count = np.arange(1, self.order // 2 + 1)
        near = self.corrections * 2.0 * np.sin(0.5 * theta[..., None] * count) ** 2
        return np.asarray(-2.0 * (far.sum(axis=-1) + near.sum(axis=-1)))

    @cached_property
    def _absolute_band(self) -> dia_array:
        return abs(self.band)

    def _apply(self, band: dia_array, rho: Array) -> Array:
        result = np.asarray(band @ rho)
        if self.model.jumps is not None:
            result += matmul_toeplitz(self.far_weights, rho)
            result[0] += self.edge_sums @ rho
            result[-1] += self.edge_sums[::-1] @ rho
        return result

    def _vector(self, values: ArrayLike) -> Array:
        vector = np.asarray(values, dtype=float)
        if vector.shape == (self.grid.nodes, 1):  # scipy's operators may pass a column
            vector = vector[:, 0]
        if vector.shape != (self.grid.nodes,):
            nodes = self.grid.nodes
            raise ValueError(f"a vector of shape {vector.shape} on {nodes} nodes: give shape ({nodes},)")
        return vector


def build_generator(model: Model, grid: Grid, order: int = 8) -> Generator:
    """The generator of `model` on `grid` with stencils and jump weights of the given order (2, 4, 6 or 8).

    Raises ModelError for an unknown order, a grid with no more nodes than the order, an `open` edge (the
    half-line beyond it has no matrix) and tempering · spacing > 1.

    >>> from solver.drifts import TanhDrift
    >>> model = Model(drift=TanhDrift(plateau=1.0, center=0.0, width=1.0), diffusion=0.3, jumps=None)
    >>> generator = build_generator(model, Grid(-8.0, 8.0, 161, "stop"), order=4)
    >>> abs(generator.rmatvec(np.ones(161))).max() < 1e-12
    np.True_
    """
    if not isinstance(model, Model) or not isinstance(grid, Grid):
        wrong, kind = ("model", model) if not isinstance(model, Model) else ("grid", grid)
        raise ModelError(f"{wrong} = {shown(kind)}: must be a {wrong.capitalize()}, got {type(kind).__name__}")
    order = int(number("order", order, integer=True))
    stencil(order)
    for side, edge in zip(("left", "right"), grid.edges, strict=True):
        if edge == "open":
            raise ModelError(
                f'{side} edge = "open": the half-line beyond it has no matrix; build the generator on a grid '
                'with edges="stop", or keep the open edge and solve by elimination'
            )
    if grid.nodes <= order:
        raise ModelError(f"nodes = {grid.nodes}: a generator of order {order} needs more than {order} nodes")
    if model.jumps is not None:
        model.jumps.lattice_corrections(grid.spacing, order // 2)  # refuses tempering · spacing > 1 now
    return Generator(model, grid, order)
