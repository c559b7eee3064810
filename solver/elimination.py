"""The null vector of the adjoint by block elimination: O(N), every entry accurate relative to itself.

Blocks are eliminated from both ends towards the block that holds most mass; there one small singular system is left.
Its null vector is then carried outwards, message by message, with a logarithmic scale, so that log ρ is the primary
result and nothing underflows. Where the drift is constant the steps repeat and are reused; beyond an open edge they
repeat for ever, which closes the half-line without truncation.

The catch: positivity is a property of a resolved grid, not of the method. Orders above 2 have stencils of both signs,
and a grid that is too coarse shows it by negative entries, which are returned as they are (`NullVector.sign`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.blocks import BLOCK, Block, Scheme, assemble, build_scheme
from solver.grid import Grid
from solver.halfline import HalfLine, ShapedLine, Shapes, absorb, balance_rows, half_lines
from solver.model import Model
from solver.nullvector import NullVector, Tail, normalised
from solver.reach import FARTHER, FARTHEST, REACH, reach_for, usual_reach
from solver.residual import residual

Array = NDArray[np.float64]

# Relative change of the reflection at which steps on a plateau inside the grid count as repeating.
_REPEATS = 2e-15


@dataclass(frozen=True, eq=False)
class Step:
    """`count` equal eliminated blocks: response Y (b, p) and message map M (p, p)."""

    response: Array
    message: Array
    count: int


@dataclass(frozen=True, eq=False)
class Side:
    """One eliminated side: its steps from the outside inwards, and what it reflects into the middle."""

    steps: list[Step]
    reflection: Array
    half_line: HalfLine | ShapedLine | None


def null_vector(
    model: Model,
    grid: Grid,
    order: int = 8,
    *,
    reach: float = REACH,
    depth: float = 0.0,
    shapes: Shapes = (None, None),
) -> NullVector:
    """The stationary density on `grid`, ln ρ (N,), open edges closed exactly; normalised with the mass beyond them.

    `reach` is the least distance in nodes to which far jumps are exact (relative error 2e-13), `depth` the least one in
    ζ. Beyond an open edge with one of `shapes` the drift is not taken as constant: the density has that shape, and only
    its size is found.
    """
    usual, asked = usual_reach(model, grid, reach), reach_for(depth, model, grid)
    reach = max(usual, asked)
    scheme = build_scheme(model.jumps, model.diffusion, grid.spacing, order, reach)
    drift = _with_neighbours(model, grid, scheme.m, shapes)
    peak = _meeting_place(model, grid)
    split = _split(grid.nodes, peak)
    m = scheme.m
    beyond = half_lines(scheme, grid.edges, drift, shapes)
    if usual < FARTHEST and FARTHER * usual > asked and any(side is not None and side.doubt > 0 for side in beyond):
        reach = FARTHER * usual
        scheme = build_scheme(model.jumps, model.diffusion, grid.spacing, order, reach)
        beyond = half_lines(scheme, grid.edges, drift, shapes)
    left = _sweep(scheme, drift[: split[0] + 2 * m], beyond[0])
    right = _sweep(scheme.mirrored, -drift[split[1] :][::-1], beyond[1])
    stops = (grid.edges[0] == "stop" and not left.steps, grid.edges[1] == "stop" and not right.steps)
    middle = assemble(scheme, drift[split[0] : split[1] + 2 * m], *stops)
    density, outward_left, outward_right, defect = _middle(middle, left.reflection, right.reflection, peak - split[0])
    log_l, sign_l, beyond_l, arriving_l = _outwards(left, outward_left, scheme)
    log_r, sign_r, beyond_r, arriving_r = _outwards(right, outward_right, scheme)
    log_c, sign_c = _log(density)
    ghosts = np.arange(1, m + 1)
    outside_l = np.full(m, -np.inf) if beyond_l is None else beyond_l.log_density(ghosts)[::-1]
    outside_r = np.full(m, -np.inf) if beyond_r is None else beyond_r.log_density(ghosts)
    log_density = np.concatenate([outside_l, log_l[::-1], log_c, log_r, outside_r])
    sign = np.concatenate([np.ones(m), sign_l[::-1], sign_c, sign_r, np.ones(m)])
    return normalised(
        log_density[m:-m],
        sign[m:-m],
        grid.spacing,
        beyond_l,
        beyond_r,
        residual=residual(scheme, drift, log_density, sign, (arriving_l, arriving_r)),
        column_defect=defect,
    )


def _meeting_place(model: Model, grid: Grid) -> int:
    """The node where the potential -∫F is lowest: the sweeps meet in the well that holds most mass."""
    drift = model.drift(grid.zeta)
    return int(np.argmax(np.concatenate([[0.0], np.cumsum(drift[1:] + drift[:-1])])))


def _with_neighbours(model: Model, grid: Grid, m: int, shapes: Shapes) -> Array:
    """F at the nodes and m more on either side: the limit from the m-th node of an open edge on, so that the half-line
    and the grid agree on what crosses the edge; itself where the half-line has a shape; anything beyond a stop edge."""
    drift = np.pad(model.drift(grid.zeta), m, mode="edge")
    step = grid.spacing * np.arange(1, m + 1)
    if shapes[0] is not None:
        drift[:m] = model.drift(grid.left - step[::-1])
    elif grid.edges[0] == "open":
        drift[: 2 * m] = model.drift.left_limit
    if shapes[1] is not None:
        drift[-m:] = model.drift(grid.right + step)
    elif grid.edges[1] == "open":
        drift[-2 * m :] = model.drift.right_limit
    return drift


def _split(nodes: int, peak: int) -> tuple[int, int]:
    """First and one past the last node of the middle block, which holds the peak; the rest are whole blocks."""
    start = peak // BLOCK * BLOCK
    if nodes - start < BLOCK:  # the peak sits at the right end
        start = max(0, start - BLOCK)
    return start, nodes - max(0, nodes - start - BLOCK) // BLOCK * BLOCK


def _sweep(scheme: Scheme, drift: Array, half_line: HalfLine | ShapedLine | None) -> Side:
    """Eliminate whole blocks from the left edge inwards; `drift` carries m neighbours on either side.

    Beyond an open edge lies `half_line`; without one the edge is a stop edge.
    """
    m = scheme.m
    if half_line is None:
        reflection = np.zeros((scheme.right.weights.size + m, scheme.left.weights.size + m))
    else:
        reflection = half_line.reflection
    flat = _flat(drift, m)
    steps: list[Step] = []
    repeating = isinstance(half_line, HalfLine)
    for index in range(flat.size):
        begin = index * BLOCK
        if repeating and flat[index]:
            last = steps[-1] if steps else None
            if last is not None:
                steps[-1] = Step(last.response, last.message, last.count + 1)
            elif isinstance(half_line, HalfLine):
                steps.append(Step(half_line.block, half_line.step, 1))
            continue
        block = assemble(scheme, drift[begin : begin + BLOCK + 2 * m], half_line is None and index == 0)
        response, message, updated = absorb(block, reflection)
        steps.append(Step(response, message, 1))
        repeating = bool(flat[index]) and float(np.abs(updated - reflection).max()) <= _REPEATS * float(
            np.abs(updated).max()
        )
        reflection = updated
    return Side(steps, reflection, half_line)


def _flat(drift: Array, m: int) -> NDArray[np.bool_]:
    """For each block: is the drift constant over it and its neighbours, and the same as in the block before?"""
    count = (drift.size - 2 * m) // BLOCK
    if count == 0:
        return np.zeros(0, dtype=bool)
    pieces = np.lib.stride_tricks.sliding_window_view(drift, BLOCK + 2 * m)[::BLOCK][:count]
    before = drift[m - 1 : -1 : BLOCK][:count]
    flags: NDArray[np.bool_] = np.max(np.abs(pieces - before[:, None]), axis=1) <= np.finfo(float).eps * np.abs(before)
    return flags


def _middle(block: Block, left: Array, right: Array, anchor: int) -> tuple[Array, Array, Array, float]:
    """The joint null vector: density, the messages to the left and to the right, and the column defect.

    `left` reflects leftward messages into rightward ones; `right` the other way. The two reflections see each other
    through the middle block, hence the first solve.
    """
    through = left * block.t_back @ (right * block.t)
    from_left = np.linalg.solve(
        np.eye(through.shape[0]) - through,
        left @ block.v_back + left * block.t_back @ (right @ block.v),
    )
    from_right = right @ (block.v + block.t[:, None] * from_left)
    matrix = block.a + block.u @ from_left + block.u_back @ from_right
    defect = float(np.max(np.abs(matrix.sum(axis=0)) / np.abs(np.diag(matrix))))
    rows = balance_rows(-matrix, np.zeros(matrix.shape[0]))
    # Nothing leaves the whole line: the empty last balance makes room for ρ = 1 at the peak (one entry; a full row,
    # such as Σρ = 1, would cost the small entries their accuracy).
    rows[-1] = 0.0
    rows[-1, anchor] = 1.0
    target = np.zeros(matrix.shape[0])
    target[-1] = 1.0
    density = np.linalg.solve(rows / np.abs(rows).max(axis=1, keepdims=True), target)
    return (
        density,
        block.v_back @ density + block.t_back * (from_right @ density),
        block.v @ density + block.t * (from_left @ density),
        defect,
    )


def _log(values: Array) -> tuple[Array, Array]:
    """ln|x| and the sign; an exact zero gives -inf, which a caller can see."""
    with np.errstate(divide="ignore"):
        return np.log(np.abs(values)), np.where(values > 0, 1.0, -1.0)


def _outwards(
    side: Side, message: Array, scheme: Scheme
) -> tuple[Array, Array, Tail | None, tuple[Array, float] | None]:
    """Carry the middle's message outwards through the eliminated blocks: ln|ρ| and sign, nearest node first.

    Beyond an open edge follow the continuation and the exponential sums that arrive from there, with their log scale.
    """
    logs: list[Array] = []
    signs: list[Array] = []
    scale = 0.0
    for step in reversed(side.steps):
        messages, scales = _repeat(step.message, message, step.count)
        log_values, sign = _log(step.response[::-1] @ messages[:, :-1])
        logs.append((log_values + (scale + scales[:-1])).T.ravel())
        signs.append(sign.T.ravel())
        message, scale = messages[:, -1], scale + float(scales[-1])
    beyond, arriving = None, None
    if side.half_line is not None:
        beyond = side.half_line.beyond(message, scale, scheme)
        arriving = ((side.half_line.reflection @ message)[: -scheme.m], scale)
    empty = [np.zeros(0)]
    return np.concatenate(logs or empty), np.concatenate(signs or empty), beyond, arriving


def _repeat(matrix: Array, vector: Array, count: int) -> tuple[Array, Array]:
    """Columns matrix^k · vector, k = 0 … count, each scaled to size 1, with the logarithms of the scales."""
    columns, scales = vector[:, None] / np.abs(vector).max(), np.array([np.log(np.abs(vector).max())])
    power, log_power = matrix, 0.0
    while columns.shape[1] <= count:
        moved = power @ columns
        sizes = np.abs(moved).max(axis=0)
        columns = np.concatenate([columns, moved / sizes], axis=1)
        scales = np.concatenate([scales, scales + np.log(sizes) + log_power])
        power = power @ power
        size = np.abs(power).max()
        power, log_power = power / size, 2 * log_power + np.log(size)
    return columns[:, : count + 1], scales[: count + 1]
