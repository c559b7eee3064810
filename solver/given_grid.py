"""What the edges of a grid that the user chose cost: the density on it against that on a grid that goes on.

Three things can be wrong with such an edge. An `open` one may lie where the drift has not become constant: beyond, it
is taken as its limit. A `stop` one may cut mass off. Or the body may not be on the grid at all. The first two are
charged in full: the same spacing, continued to where the edges would have been put, gives another density, and the
difference is the cost. The last is refused, and so is an `open` edge beyond which the drift has no limit.

The catch: the longer grid has the same spacing, so it says nothing about that; and it is charged twice, because its own
edges need not be the last word where a drift approaches its limit slowly.
"""

from __future__ import annotations

import numpy as np

from solver import power_domain, untempered
from solver.discretisation import FLAT, first_domain
from solver.errors import ModelError
from solver.grid import Grid
from solver.history import BEYOND
from solver.levels import NOTHING, UNKNOWN, Disagreement, disagreement, solve
from solver.model import Model

# A grid has no rtol of its own: edges that cost less than a thousandth of the default one are not looked at.
_RTOL = 1e-8
# Share of the difference that is charged.
_TWICE = 2.0


def require_body(model: Model, grid: Grid) -> None:
    """Raise ModelError unless the drift changes sign on the grid, between its two ends."""
    zeros = model.drift.sign_changes()
    if zeros.size and not ((zeros > grid.left) & (zeros < grid.right)).any():
        places = ", ".join(f"{place:.6g}" for place in zeros[:3])
        raise ModelError(
            f"grid = [{grid.left:g}, {grid.right:g}]: the body of the density is not on it, the drift has its zero at "
            f"ζ = {places}; take left < {zeros[0]:.6g} and right > {zeros[-1]:.6g}"
        )


def doubt(model: Model, grid: Grid, order: int, max_nodes: int) -> tuple[Disagreement, tuple[str, ...]]:
    """What the edges of `grid` cost at most, and what was taken for granted about them, in words.

    Raises ModelError for an `open` edge beyond which the drift has no finite limit, unless untempered jumps make the
    density a sum of powers there.
    """
    free = untempered.is_untempered(model)
    natural = (power_domain.first if free else first_domain)(model, _RTOL)
    settled, notes = [], []
    for k, word in enumerate(("left", "right")):
        edge = (grid.left, grid.right)[k]
        limit = (model.drift.left_limit, model.drift.right_limit)[k]
        if grid.edges[k] == "stop" or free:
            settled.append(grid.edges[k] == "open")  # powers are judged by `power_domain.doubt`
            continue
        if not np.isfinite(limit):
            raise ModelError(
                f"edges: the {word} edge must be 'stop', not 'open': the drift grows without bound there (F → "
                f"{limit:g}) and an open edge needs one that is constant beyond it"
            )
        off = float(np.abs(model.drift(edge + (-1, 1)[k] * BEYOND) / limit - 1).max())
        settled.append(off <= FLAT * _RTOL)
        if not settled[-1]:
            notes.append(
                f"drift taken as its limit {limit:g} beyond the {word} edge of the given grid, though it is "
                f"{float(model.drift(edge)):.6g} at ζ = {edge:g}"
            )
    if all(settled):
        return NOTHING, ()
    given = solve(untempered.null_vector, model, grid, order)
    if given is None:
        return UNKNOWN, tuple(notes)
    held = tuple(edge == "open" for edge in grid.edges)
    if not notes and given.holds(FLAT * _RTOL, (held[0], held[1])):
        return NOTHING, ()
    left = grid.left if settled[0] else min(grid.left, natural.left)
    right = grid.right if settled[1] else max(grid.right, natural.right)
    before, after = (int(np.ceil(length / grid.spacing)) for length in (grid.left - left, right - grid.right))
    nodes = grid.nodes + before + after
    if nodes > max_nodes:
        return UNKNOWN, tuple(notes)
    edges = tuple(own if done else best for own, best, done in zip(grid.edges, natural.edges, settled, strict=True))
    longer = Grid(grid.left - before * grid.spacing, grid.right + after * grid.spacing, nodes, (edges[0], edges[1]))
    whole = solve(untempered.null_vector, model, longer, order)
    if whole is None or not whole.positive:
        return UNKNOWN, tuple(notes)
    return disagreement(whole, given).times(_TWICE), tuple(notes)
