"""The domain of untempered jumps: no grid holds the body, so the edges go where moving them no longer matters.

Beyond its open edges the density is continued by powers of the depth (`untempered`), and the whole line is compared:
twice the domain against the domain, inside, between the two edges, and far beyond both.

The catch: where a wider domain does not help, the spacing may be what limits. Waves at the scale of the grid have the
size ρ̂(π/h), fall off more slowly than the tail, and blur what is read from it.
"""

from __future__ import annotations

import numpy as np

from solver.discretisation import BODY, FIRST_DEPTH, Domain, depth_reached, least_width
from solver.grid import Grid
from solver.levels import NOTHING, UNKNOWN, Disagreement, Method, disagreement, solve
from solver.model import Model
from solver.untempered import growth, is_untempered, middle, tail_scale

# Half-width of the first domain, in units of the length at which the tail begins: its corrections 1/s² are below 1e-2
# there, so that their coefficients can be read; doubled until moving the edge does not matter.
_FROM = 12.0
_DOUBLINGS = 40
# Nodes that the finest level takes for each one of a domain twice as wide on the first level: three levels at least.
_LEVELS_NODES = 2
# The edges may cost this share of rtol: nodes are dear here.
_SHARE = 0.3
# A domain twice as wide helps if it lowers the cost of its edges to this fraction (a tail read to 1/s² gives a
# quarter at least), and if half the spacing lowers it less than to the second one, the tail itself is slow.
_HELPS, _SLOWLY = 0.3, 0.7
# What the wider domain still misses, where errors fall as 1/s, is as much again as its difference to the narrower one.
_DOUBT = 2.0


def first(model: Model, rtol: float) -> Domain:
    """Edges where the tail has begun; a stop edge, far out, on a side where the drift outgrows every power."""
    assert model.jumps is not None and model.jumps.power_law is not None
    far_jumps = model.jumps.power_law
    drift = model.drift
    zeros = drift.sign_changes()
    centre = float(drift.breaks[0] if drift.breaks else zeros[zeros.size // 2])
    half = _FROM * max(tail_scale(model), least_width(model), float(zeros[-1] - zeros[0]))
    ends, edges, assumptions = [], [], list(drift.assumed)
    for side, outermost in ((-1, zeros[0]), (1, zeros[-1])):
        law = growth(drift, side)
        edges.append("open" if law.bounded else "stop")
        if law.bounded:
            ends.append(middle(drift) + side * half)
            power = far_jumps.stability + law.power
            assumptions.append(
                f"beyond the {'left' if side < 0 else 'right'} edge the density is continued by powers of the depth, "
                f"|ζ|^-{power:.4g} first, as untempered jumps make it"
            )
        else:
            ends.append(depth_reached(model, float(outermost), side, FIRST_DEPTH - 0.5 * np.log(rtol)))
    return Domain(ends[0], ends[1], centre, (edges[0], edges[1]), (False, False), tuple(assumptions))


def settled(
    method: Method, model: Model, domain: Domain, spacing: float, rtol: float, order: int, max_nodes: int
) -> tuple[Domain, Disagreement]:
    """The domain that a domain twice as wide changes by less than rtol, and by how much: over all ζ.

    When `max_nodes` runs out, the best domain so far and what it costs.
    """
    best, halved, enough = (domain, UNKNOWN), False, _HELPS
    before = coarser = np.inf
    for _ in range(_DOUBLINGS):
        wide = domain.scaled(2.0)
        if _LEVELS_NODES * (wide.right - wide.left) / spacing > max_nodes:
            break
        outer = solve(method, model, wide.grid(spacing), order)
        narrow = domain if outer is None else domain.cut(*outer.limits(BODY * rtol))
        inner = solve(method, model, narrow.grid(spacing), order)
        resolved = outer is not None and inner is not None and outer.positive and inner.positive
        change = disagreement(outer, inner).times(_DOUBT) if outer and inner and resolved else UNKNOWN
        best = min(best, (narrow, change), key=lambda pair: pair[1].body)
        if change.body <= _SHARE * rtol:
            break
        if resolved and (halved or change.body <= enough * before):
            if halved and change.body > _SLOWLY * coarser:  # it was the domain after all, and its tail is slow
                spacing, enough = 2 * spacing, _SLOWLY
            domain, before, halved = wide, change.body, False
        else:
            spacing, coarser, halved = spacing / 2, change.body, True
    return best


def doubt(method: Method, model: Model, grid: Grid, order: int) -> Disagreement:
    """What continuing by powers beyond the open edges of a fixed grid costs at most: what it costs half the grid."""
    if not is_untempered(model) or "open" not in grid.edges:
        return NOTHING
    cut = [grid.nodes // 4 if edge == "open" else 0 for edge in grid.edges]
    left, right = grid.zeta[cut[0]], grid.zeta[grid.nodes - 1 - cut[1]]
    half = Grid(float(left), float(right), grid.nodes - sum(cut), grid.edges)
    outer, inner = (solve(method, model, one, order) for one in (grid, half))
    return UNKNOWN if outer is None or inner is None else disagreement(outer, inner)
