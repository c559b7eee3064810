"""The stationary density to a wanted accuracy: confinement first, then levels of halved spacing until they agree.

Each level is an independent solve on half the spacing of the one before; what two levels disagree about, node by node
over the body of the density, is the evidence. The error estimate uses the order that was observed, never the nominal
one, so that a drift with a corner, or noise that does not smooth, is reported as slow as it is.

The catch: levels that agree prove that the discretisation has settled, not that the domain is right; the domain is
tested by moving the edges whose drift is not yet constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from solver import dense, edge_search, eigen, given_grid, power_domain, untempered
from solver.affordable import require_affordable, require_resolvable
from solver.checks import choice, number, shown
from solver.confinement import require_confinement
from solver.density import StationaryDensity
from solver.discretisation import Domain, first_domain, first_spacing
from solver.errors import ModelError, NotConvergedError
from solver.extremes import within_doubles
from solver.grid import Grid
from solver.history import History
from solver.levels import Disagreement, Method, solve
from solver.model import Model
from solver.nullvector import NullVector

Progress = Callable[[int, int, float], None]

METHODS: dict[str, Method] = {
    "elimination": untempered.null_vector,
    "eigs": eigen.null_vector,
    "dense": dense.null_vector,
}
# Order of the stencils: the highest there is, which smooth models reward.
_ORDER = 8
# Work stops here by default; a drift that varies everywhere takes some 5 s on two cores.
MAX_NODES = 400_000
# The largest depth that may be asked for: ln ρ itself is rounded to 1e-8 there.
DEEPEST = 1e8
_NO_DEPTH = "the grid ends at two stop edges, beyond which there is no density; leave depth out"
# A needle of which this much is left at the wave number of the finest grid of which three levels are allowed is not
# worth a start: entries are positive from 4e-12 on (measured, linear drift), other drifts are known less well.
_SHARPEST = 1e-10
# A fixed grid is compared with itself coarsened so many times, which is what an observed order takes.
_COARSER = 2


@within_doubles
def solve_stationary(
    model: Model,
    rtol: float = 1e-8,
    *,
    method: str = "elimination",
    order: int | None = None,
    grid: Grid | None = None,
    depth: float | None = None,
    max_nodes: int = MAX_NODES,
    progress: Progress | None = None,
) -> StationaryDensity:
    """The stationary density of a model, ln ρ right to `rtol` over the body, the tail exponent relative to itself.

    Solves 0 = -(Fρ)' + η_G ρ'' + J*ρ. The body is all ζ with cdf and sf above 1e-12; `density.log_error(z)` says what
    the error is at any depth. Spacing and domain are chosen here, unless `grid` fixes them: then the estimate says what
    that grid gives, whatever `rtol`. `method` is "elimination", or one of the references "eigs" and "dense", which need
    a `grid` with two stop edges. `order` of the stencils is 8, for "dense" 2, unless given.
    `depth`, a distance in ζ, is how far from the centre a tail is followed that its tempering pins (no root, or next to
    the threshold): without it to 1e6 nodes or 100/λ, whichever is more; at most 1e8. Other open tails are exact to any
    depth. `progress(level, nodes, estimate)` is called before each level, and with level 0 before each solve that only
    places the domain.

    Raises NoStationaryDensityError where the drift does not confine, ModelError for bad arguments, NotConvergedError
    (with the best density and its estimate) where `max_nodes` or the rounding of doubles does not allow `rtol`: the
    presets reach 1e-11 (measured, with estimates of 2e-12 to 8e-12), strong noise against a weak drift reaches less.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> density = solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)))
    >>> density.error_estimate < 1e-8, round(density.tail_exponent, 9)
    (True, 1.267360049)
    """
    rtol = number("rtol", rtol, low=1e-12, high=0.1)
    method = choice("method", method, METHODS)
    solver = METHODS[method]
    if depth is not None:
        depth = number("depth", depth, low=0.0, high=DEEPEST, open_low=True)
        if method != "elimination":
            raise ModelError(f"depth = {depth:g}: method = {method!r} ends at its stop edges; leave depth out")
        solver = partial(untempered.null_vector, depth=depth)
    if order is None:
        order = dense.ORDER if method == "dense" else _ORDER
    order = int(number("order", order, integer=True))
    if grid is not None and not isinstance(grid, Grid):
        raise ModelError(f"grid = {shown(grid)}: must be a Grid, such as Grid(left=-20, right=20, nodes=801)")
    max_nodes = int(number("max_nodes", max_nodes, low=64, integer=True))
    require_confinement(model)
    run = _Run(model, solver, method, order, max_nodes, progress)
    if grid is not None:
        given_grid.require_body(model, grid)
        if depth is not None and "open" not in grid.edges:
            raise ModelError(f"depth = {depth:g}: {_NO_DEPTH}")
        return run.fixed(grid)
    if method != "elimination":
        raise ModelError(f"method = {method!r}: a reference needs a grid, pass grid=Grid(left, right, nodes, 'stop')")
    domain = (power_domain.first if untempered.is_untempered(model) else first_domain)(model, rtol)
    if depth is not None and "open" not in domain.edges:
        raise ModelError(f"depth = {depth:g}: {_NO_DEPTH}")
    if model.diffusion == 0:
        require_resolvable(model, domain.right - domain.left, max_nodes / 4, _SHARPEST)
    spacing = first_spacing(model, domain, rtol, order)
    limits = (spacing, rtol, order, max_nodes)
    try:
        return run.refine(*edge_search.settled(run.place, model, domain, *limits), spacing, rtol)
    except _UnresolvedDepth:
        domain = edge_search.trimmed(run.place, model, domain, *limits)
        return run.refine(*edge_search.settled(run.place, model, domain, *limits), spacing, rtol, last_domain=True)


class _UnresolvedDepth(Exception):
    """The density is not positive at the third level, perhaps only far beyond its body: trim the domain."""


@dataclass(frozen=True)
class _Run:
    """One call of solve_stationary: what stays the same over its levels."""

    model: Model
    method: Method
    name: str
    order: int
    max_nodes: int
    progress: Progress | None

    def place(self, model: Model, grid: Grid, order: int) -> NullVector:
        """The method, for a solve that only places the domain."""
        if self.progress is not None:
            self.progress(0, grid.nodes, np.inf)
        return self.method(model, grid, order)

    def refine(
        self, domain: Domain, edges: Disagreement, spacing: float, rtol: float, last_domain: bool = False
    ) -> StationaryDensity:
        """Halve the spacing until the estimate is at most rtol and every entry is positive."""
        require_affordable(self.model, domain, spacing, self.max_nodes)
        grid = domain.grid(spacing)
        history = History(self.model, self.order, edges)
        best: StationaryDensity | None = None
        reason = ""
        while not reason:
            if grid.nodes > self.max_nodes:
                reason = f"the next level needs {grid.nodes} nodes and max_nodes = {self.max_nodes}; allow more nodes"
                break
            self._step(history, grid)
            if not history.resolved and len(history.solves) == 3 and not last_domain and any(domain.settled):
                raise _UnresolvedDepth
            if history.resolved:
                latest = self._density(history, domain.assumptions)
                if history.error.largest <= rtol:
                    return latest
                best = latest if best is None or latest.error_estimate <= best.error_estimate else best
                if edges.body > rtol and history.error.largest <= 2 * edges.body:
                    reason = (
                        f"beyond [{grid.left:g}, {grid.right:g}] the density is continued by powers of the depth, to "
                        f"{edges.body:.0e} only, and max_nodes = {self.max_nodes} allows no wider domain; "
                        "allow more nodes"
                    )
                if (history.rounding > rtol and best.error_estimate < np.inf) or history.stalled:
                    reason = (
                        f"rounding limits this model, {history.weakness}; expect no better than "
                        f"{best.error_estimate:.0e}"
                    )
            grid = Grid(grid.left, grid.right, 2 * grid.nodes - 1, grid.edges)
        estimate = float("inf") if best is None else best.error_estimate
        reached = f"best estimate {estimate:.1e}" if estimate < np.inf else "no estimate yet: it takes three levels"
        raise NotConvergedError(
            f"rtol = {rtol:g} was not reached ({reached}): {reason}, or take a larger rtol",
            best,
            estimate,
        )

    def fixed(self, grid: Grid) -> StationaryDensity:
        """Solve on the given grid, and on coarser ones for the estimate."""
        edges, assumptions = given_grid.doubt(self.model, grid, self.order, self.max_nodes)
        powers = power_domain.doubt(self.method, self.model, grid, self.order)
        history = History(self.model, self.order, edges.plus(powers))
        for k in range(_COARSER, -1, -1):
            nodes = (grid.nodes - 1) // 2**k + 1
            if k == 0 or nodes > 2 * self.order:
                self._step(history, Grid(grid.left, grid.right, nodes, grid.edges), optional=k > 0)
        if not history.resolved:
            raise NotConvergedError(
                f"the grid (h = {grid.spacing:g} in [{grid.left:g}, {grid.right:g}]) does not resolve the density: "
                "some entries are negative or not finite; take more nodes or leave out deep tails"
            )
        return self._density(history, self.model.drift.assumed + assumptions)

    def _step(self, history: History, grid: Grid, optional: bool = False) -> None:
        if self.progress is not None:
            self.progress(len(history.solves) + 1, grid.nodes, history.error.largest)
        try:
            history.add(solve(self.method, self.model, grid, self.order), grid)
        except ModelError:
            if not optional:  # a coarsened grid may be too coarse for the method; the grid itself may not
                raise

    def _density(self, history: History, assumptions: tuple[str, ...]) -> StationaryDensity:
        latest = history.latest
        return StationaryDensity(
            self.model, latest.grid, self.order, self.name, latest.null, history.estimate, history.levels, assumptions
        )
