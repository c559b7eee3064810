"""The resolvent (σ - A)⁻¹ of the adjoint and its transpose by block elimination: factor once, apply in O(N).

Two things need more than the null vector: relaxation modes, which are the eigenvectors of (σ - A)⁻¹, and integrated
correlations, which are one solve at σ = 0. Both are the elimination with a source (`solver.shifted_side`), from both
ends towards the block where the drift's potential is lowest.

The catch: a density of this operator and an observable of its transpose live at opposite ends of the range of a double.
`log_weight` (the w below) balances them: sources and solutions are then e^{-w} times densities, e^{w} times
observables; inside, each block has its own scale, so that w may range over any number of decades.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.blocks import BLOCK, Block, assemble, build_scheme
from solver.checks import number
from solver.errors import ModelError
from solver.grid import Grid
from solver.halfline import balance_rows
from solver.model import Model
from solver.shifted_side import Side, sweep

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Resolvent:
    """(σ - A)⁻¹ on a grid with two `stop` edges; `resolvent` makes it.

    With σ = 0 it is the solution that vanishes at the peak, of A x = -f for sources of no mass, Σ f = 0.
    """

    shift: float
    log_weight: Array
    _local: Array
    _left: Side
    _right: Side
    _middle: Array

    def apply(self, source: ArrayLike) -> Array:
        """x with (σ - A) x = f, both (N,) or (N, k), as e^{-w} times the densities."""
        return self._solve(source, transposed=False)

    def apply_transposed(self, source: ArrayLike) -> Array:
        """u with (σ - L) u = g, both (N,) or (N, k), as e^{w} times the observables."""
        return self._solve(source, transposed=True)

    def _solve(self, source: ArrayLike, transposed: bool) -> Array:
        f = np.asarray(source, dtype=float)
        nodes = self._local.size
        if f.shape[:1] != (nodes,) or f.ndim > 2:
            raise ValueError(f"a source of shape {f.shape} on {nodes} nodes: give ({nodes},) or ({nodes}, k)")
        scale = 1 / self._local if transposed else self._local
        columns = f.reshape(nodes, -1) * scale[:, None]
        n_l, n_r = self._left.blocks * BLOCK, self._right.blocks * BLOCK
        k, p = columns.shape[1], self._left.reflection.shape[0]
        left = columns[:n_l].reshape(-1, BLOCK, k)
        right = columns[nodes - n_r :][::-1].reshape(-1, BLOCK, k)
        first, second = (Side.scatter_transposed, Side.gather_transposed) if transposed else (Side.gather, Side.scatter)
        own_l, from_l = first(self._left, left)
        own_r, from_r = first(self._right, right)
        matrix = self._middle.T if transposed else self._middle
        joint = matrix @ np.concatenate([columns[n_l : nodes - n_r], from_l, from_r])
        middle, out_l, out_r = np.split(joint, [nodes - n_l - n_r, nodes - n_l - n_r + p])
        solved_l, solved_r = second(self._left, own_l, out_l), second(self._right, own_r, out_r)
        result = np.concatenate([solved_l.reshape(-1, k), middle, solved_r.reshape(-1, k)[::-1]])
        return np.asarray((result / scale[:, None]).reshape(f.shape))


def resolvent(model: Model, grid: Grid, shift: float, order: int = 8, log_weight: ArrayLike | None = None) -> Resolvent:
    """Factor σ - A on `grid`: `shift` is σ ≥ 0 (1 / time), `log_weight` is w at the nodes, shape (N,), 0 by default.

    The matrix is that of `build_generator`, to 2e-13. Raises ModelError for a negative shift, an open edge and a grid
    with no more nodes than the order.

    >>> from solver.drifts import LinearDrift
    >>> model, grid = Model(LinearDrift(2.0), 0.5, None), Grid(-5.0, 5.0, 201, "stop")
    >>> decay = resolvent(model, grid, shift=1.0).apply_transposed(grid.zeta)  # L ζ = -2 ζ
    >>> abs(3 * decay - grid.zeta)[60:-60].max() < 1e-12
    np.True_
    """
    sigma = number("shift", shift, low=0.0)
    if "open" in grid.edges:
        raise ModelError(f'edges = {grid.edges}: a source needs a grid that ends, with edges="stop"')
    if grid.nodes <= order:
        raise ModelError(f"nodes = {grid.nodes}: stencils of order {order} need more than {order} nodes")
    weight = np.zeros(grid.nodes) if log_weight is None else np.asarray(log_weight, dtype=float)
    if weight.shape != (grid.nodes,) or not np.isfinite(weight).all():
        raise ValueError(f"log_weight of shape {weight.shape}: give {grid.nodes} finite numbers, one for each node")
    scheme = build_scheme(model.jumps, model.diffusion, grid.spacing, order, float(grid.nodes))
    m = scheme.m
    drift = np.pad(model.drift(grid.zeta), m, mode="edge")
    peak = int(np.argmax(np.concatenate([[0.0], np.cumsum(drift[m : -m - 1] + drift[m + 1 : -m])])))
    start = peak // BLOCK * BLOCK
    if grid.nodes - start < BLOCK:  # the peak sits at the right end
        start = max(0, start - BLOCK)
    stop = grid.nodes - max(0, grid.nodes - start - BLOCK) // BLOCK * BLOCK
    left = sweep(scheme, drift[: start + 2 * m], sigma, weight[:start], weight[peak])
    right = sweep(scheme.mirrored, -drift[stop:][::-1], sigma, weight[stop:][::-1], weight[peak])
    block = assemble(scheme, drift[start : stop + 2 * m], start == 0, stop == grid.nodes)
    scales = np.repeat(weight[:start:BLOCK], BLOCK), np.repeat(weight[: stop - 1 : -BLOCK], BLOCK)[::-1]
    references = np.concatenate([scales[0], np.full(stop - start, weight[peak]), scales[1]])
    middle = _middle(block, left, right, sigma, peak - start)
    return Resolvent(sigma, weight, np.exp(weight - references), left, right, middle)


def _middle(block: Block, left: Side, right: Side, sigma: float, anchor: int) -> Array:
    """The block that both sides meet in: (f, s_left, s_right) to (x, message to the left, message to the right).

    The two reflections see each other through the block.
    """
    n, p, q = block.a.shape[0], block.v.shape[0], block.v_back.shape[0]
    past = left.reflection * block.t_back  # a message to the left that passes the block and comes back
    arrivals = np.linalg.solve(
        np.eye(p) - past @ (right.reflection * block.t),
        np.concatenate([left.reflection @ block.v_back + past @ right.reflection @ block.v, np.eye(p), past], axis=1),
    )  # what arrives from the left for (x, s_left, s_right); from the right:
    others = right.reflection @ (block.t[:, None] * arrivals)
    others[:, :n] += right.reflection @ block.v
    others[:, n + p :] += np.eye(q)
    to_left, to_right = block.t_back[:, None] * others, block.t[:, None] * arrivals
    to_left[:, :n] += block.v_back
    to_right[:, :n] += block.v
    incoming = block.u @ arrivals + block.u_back @ others
    outflow = sigma * (1 + left.held @ to_left[:, :n] + right.held @ to_right[:, :n])
    inverse = _inverse(-(block.a + incoming[:, :n]), outflow, anchor)
    solution = np.concatenate([inverse, inverse @ incoming[:, n:]], axis=1)
    messages = [to[:, :n] @ solution for to in (to_left, to_right)]
    for message, to in zip(messages, (to_left, to_right), strict=True):
        message[:, n:] += to[:, n:]
    return np.concatenate([solution, *messages])


def _inverse(matrix: Array, outflow: Array, anchor: int) -> Array:
    """Inverse of a block that nothing leaves but its `outflow`; x = 0 at the anchor where there is none.

    The balances of flow are summed from both ends towards the anchor, where most mass is: a balance summed from the far
    end would find the little that flows into a tail as the difference of all that is lost and all that is sent.
    """
    n = outflow.size
    rows, sums = np.empty((n, n)), np.tri(n)
    rows[:anchor] = balance_rows(matrix, outflow)[:anchor]
    rows[anchor + 1 :] = balance_rows(matrix[::-1, ::-1], outflow[::-1])[: n - 1 - anchor][::-1, ::-1]
    sums[anchor + 1 :] = np.tri(n)[: n - 1 - anchor][::-1, ::-1]
    rows[anchor], sums[anchor] = outflow, 1.0
    if not outflow.any():
        rows[anchor, anchor], sums[anchor] = 1.0, 0.0
    size = np.abs(rows).max(axis=1, keepdims=True)
    return np.linalg.solve(rows / size, sums / size)
