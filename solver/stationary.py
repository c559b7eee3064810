"""The stationary density to a wanted accuracy: confinement first, then levels of halved spacing until they agree.

Each level is an independent solve on half the spacing of the one before; what two levels disagree about, node by node
over the body of the density, is the evidence. The error estimate uses the order that was observed, never the nominal
one, so that a drift with a corner, or noise that does not smooth, is reported as slow as it is.

The catch: levels that agree prove that the discretisation has settled, not that the domain is right; the domain is
tested by moving the edges whose drift is not yet constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from solver import dense, eigen, elimination
from solver.checks import choice, number
from solver.confinement import require_confinement
from solver.density import ErrorEstimate, Level, StationaryDensity
from solver.discretisation import Domain, first_domain, first_spacing
from solver.errors import NotConvergedError
from solver.grid import Grid
from solver.levels import Disagreement, Method, Solve, disagreement, solve
from solver.model import Model

Progress = Callable[[int, int, float], None]

METHODS: dict[str, Method] = {
    "elimination": elimination.null_vector,
    "eigs": eigen.null_vector,
    "dense": dense.null_vector,
}
# Spacings of the first three levels in units of the one expected to do: three are needed to observe an order.
_FIRST = 4.0
# Work stops here by default; a drift that varies everywhere takes some 5 s on two cores.
MAX_NODES = 400_000


def solve_stationary(
    model: Model,
    rtol: float = 1e-8,
    *,
    method: str = "elimination",
    order: int = 8,
    grid: Grid | None = None,
    max_nodes: int = MAX_NODES,
    progress: Progress | None = None,
) -> StationaryDensity:
    """x"""
    rtol = number("rtol", rtol, low=1e-12, high=0.1)
    method = choice("method", method, METHODS)
    max_nodes = int(number("max_nodes", max_nodes, low=50, integer=True))
    require_confinement(model)
    domain = first_domain(model, rtol)
    spacing = _FIRST * first_spacing(model, domain, rtol, order)
    return _refine(model, domain, spacing, rtol, METHODS[method], order, max_nodes)


def _refine(model, domain, spacing, rtol, method, order, max_nodes):
    hist=[]
    solves=[]
    grid = domain.grid(spacing)
    while grid.nodes<=max_nodes:
        s = solve(method, model, grid, order)
        solves.append(s)
        if len(solves)>1 and solves[-2] is not None and s is not None:
            hist.append((grid.spacing,grid.nodes,disagreement(solves[-2],s)))
        else: hist.append((grid.spacing,grid.nodes,None))
        if hist[-1][2] and hist[-1][2].body<rtol: break
        grid = Grid(grid.left, grid.right, 2*grid.nodes-1, grid.edges)
    return solves,hist
