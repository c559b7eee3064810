"""The null vector by Grassmann–Taksar–Heyman elimination of the order-2 matrix: nothing is subtracted.

At order 2 the matrix is a Markov chain's, with non-negative rates off the diagonal, as long as

    h |F_i| < 2 (η_G + h² w_1)      at every node.

Eliminating node n then adds to the rate from j to i what travels j → n → i, A_in A_nj / S_n, and S_n = Σ_i
A_in is summed from the outflows instead of being read from the diagonal (Grassmann, Taksar and Heyman
1985). Every operation adds, multiplies or divides positive numbers: each entry of ρ keeps its relative
accuracy, whatever its size.

The catch: O(N³) time, O(N²) memory and only second order; and numbers of size e^{-λ|ζ|} underflow. So the
chain is kept in the scale ρ_i e^{λ|ζ_i - centre|}, in which rates away from the centre fall like a power,
nodes are eliminated from the outside inwards, and ρ itself is kept as mantissa and exponent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz
from scipy.optimize import brentq

from solver.errors import ModelError
from solver.far_jumps import jump_tables
from solver.generator import Generator, build_generator
from solver.grid import Grid
from solver.model import Model
from solver.nullvector import NullVector, normalised

Array = NDArray[np.float64]

ORDER = 2  # the only order whose matrix has rates of one sign; the formulas below use its half-width, 1
PANEL = 64  # nodes eliminated between two matrix products; at N = 4000, 32 to 128 differ by less than 15%
MOST_NODES = 8000  # half a GB a matrix, 2.2 GB at the peak, and half a minute
HALVINGS = 60  # spacings tried downwards for the error message: h/2^60 is far below any useful one
EXPONENT = 700.0  # e^700 is representable; a rate that needs more is below 1e-300 of its neighbours


def null_vector(model: Model, grid: Grid, order: int = ORDER) -> NullVector:
    """The stationary density on a grid with two `stop` edges, every entry accurate relative to itself.

    Time grows as N³ and memory as N². Raises ModelError for another order, more than 8000 nodes, an
    `open` edge, or a spacing at which a rate would be negative: it names the worst node and the spacing
    that would do.

    >>> from solver.drifts import LinearDrift
    >>> normal = null_vector(Model(LinearDrift(1.0), 0.5, None), Grid(-9.0, 9.0, 361, "stop"))
    >>> abs(normal.log_density[120] - normal.log_density[180] + 9.0) < 0.05  # -ζ² at ζ = -3 against 0
    np.True_
    """
    if order != ORDER:
        raise ModelError(f"order = {order!r}: the dense method is subtraction-free at order {ORDER} only")
    if grid.nodes > MOST_NODES:
        raise ModelError(f"nodes = {grid.nodes}: the dense method takes at most {MOST_NODES}; use method elimination")
    generator = build_generator(model, grid, ORDER)
    _check_spacing(generator)
    distance = np.abs(np.arange(grid.nodes) - generator.centre)
    tilt = 0.0 if model.jumps is None else model.jumps.tempering * grid.spacing
    nearest_first = np.argsort(distance, kind="stable")
    matrix = _scaled_matrix(generator, distance, tilt)[np.ix_(nearest_first, nearest_first)]
    mantissa, exponent = _eliminate(matrix.copy(), tilt * distance[nearest_first])
    residual = max(_row_residual(row, mantissa, exponent) for row in matrix)
    log_density = np.empty(grid.nodes)
    log_density[nearest_first] = np.log(mantissa) + math.log(2.0) * exponent
    log_density -= tilt * distance
    return normalised(log_density, np.ones(grid.nodes), grid.spacing, residual=residual)


def _check_spacing(generator: Generator) -> None:
    """Refuse a spacing at which order 2 has a negative rate, and find one at which it has none."""
    model, grid = generator.model, generator.grid
    steepest = int(np.argmax(np.abs(generator.drift)))
    speed = abs(float(generator.drift[steepest]))

    def margin(h: float) -> float:
        near = 0.0 if model.jumps is None else float(model.jumps.lattice_weights(h, 1, 1)[0])
        return 2.0 * (model.diffusion + h**2 * near) - h * speed

    if margin(grid.spacing) > 0.0:
        return
    tried = (grid.spacing / 2**k for k in range(1, HALVINGS))
    fine = next((h for h in tried if margin(h) > 0.0), None)
    if fine is None:
        remedy = "no smaller one does (drift outruns pure jumps with α ≤ 1); use method elimination or eigs"
    else:
        enough = float(brentq(margin, fine, 2.0 * fine)) if margin(2.0 * fine) < 0.0 else fine
        nodes = math.floor((grid.right - grid.left) / enough) + 2
        remedy = f"a spacing below {enough:.4g} would do: {nodes} nodes on this interval"
    raise ModelError(
        f"spacing = {grid.spacing:.6g}: the dense method needs h|F| < 2(η_G + h² w_1) at every node, but at "
        f"node {steepest} (ζ = {grid.zeta[steepest]:.6g}) h|F| = {grid.spacing * speed:.4g} exceeds it by "
        f"{-margin(grid.spacing):.4g}; {remedy}"
    )


def _scaled_matrix(generator: Generator, distance: NDArray[np.int64], tilt: float) -> Array:
    """A_ij e^{tilt (d_i - d_j)} from j to i, d being the distance to the centre in nodes.

    In this scale no rate of a jump outwards underflows.
    """
    nodes = generator.grid.nodes
    index = np.arange(nodes)
    if generator.far_jumps is None:
        matrix = np.zeros((nodes, nodes))
    else:
        weights, sums = jump_tables(generator.far_jumps, nodes, tilt)  # without their factor e^{-tilt |i-j|}
        weights[: ORDER // 2 + 1] = 0.0
        sums[: ORDER // 2 + 1] = 0.0
        detour = distance[:, None] - distance - np.abs(index[:, None] - index)  # ≤ 0
        matrix = toeplitz(weights) * np.exp(tilt * detour)
        matrix[0] += sums * np.exp(tilt * (distance[0] - distance - index))
        matrix[-1] += sums[::-1] * np.exp(tilt * (distance[-1] - distance - index[::-1]))
    for offset in (-1, 0, 1):
        receiver = index[max(-offset, 0) : nodes - max(offset, 0)]
        sender = receiver + offset
        rise = distance[receiver] - distance[sender]
        matrix[receiver, sender] += generator.band.diagonal(offset) * np.exp(tilt * rise)
    return matrix


def _eliminate(rates: Array, level: Array) -> tuple[Array, NDArray[np.int64]]:
    """The null vector of a chain in the scale e^{level} as mantissa · 2^exponent; the last node goes first.

    `rates` (N, N), from column to row, is overwritten; its diagonal is not read. `level` (N,) ascends.
    """
    end = rates.shape[0]
    while end > 1:
        start = max(end - PANEL, 1)
        inflow, outflow = np.zeros((end - start, end)), np.zeros((end, end - start))
        for k, n in enumerate(range(end - 1, start - 1, -1)):
            leaving = rates[:n, n] + outflow[:n, :k] @ inflow[:k, n]
            arriving = rates[n, :n] + outflow[n, :k] @ inflow[:k, :n]
            near = int(np.searchsorted(level[:n], level[n] - EXPONENT))
            # S_n in the chain's own scale: positive, because the neighbour towards the centre is still there
            total = float(leaving[near:] @ np.exp(level[n] - level[near:n]))
            rates[n, :n] = inflow[k, :n] = arriving / total
            outflow[:n, k] = leaving
        rates[:start, :start] += outflow[:start] @ inflow[:, :start]
        end = start
    mantissa, exponent = np.full(rates.shape[0], 0.5), np.ones(rates.shape[0], dtype=np.int64)
    for n in range(1, rates.shape[0]):
        terms, shift = _products(rates[n, :n], mantissa[:n], exponent[:n])
        mantissa[n], own = np.frexp(terms.sum())
        exponent[n] = shift + int(own)
    return mantissa, exponent


def _products(row: Array, mantissa: Array, exponent: NDArray[np.int64]) -> tuple[Array, int]:
    """row · mantissa · 2^exponent as terms · 2^shift; exact but for what is 2^-1000 of the largest term."""
    fraction, power = np.frexp(row)
    power = power + exponent
    shift = int(power[row != 0.0].max())
    return np.ldexp(fraction * mantissa, np.maximum(power - shift, -2000)), shift


def _row_residual(row: Array, mantissa: Array, exponent: NDArray[np.int64]) -> float:
    terms, _ = _products(row, mantissa, exponent)
    return float(abs(math.fsum(terms)) / np.abs(terms).sum())
