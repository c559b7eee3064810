"""The stationary density to a wanted accuracy: confinement first, then levels of halved spacing until they agree.

Each level is an independent solve on half the spacing of the one before; what two levels disagree about, node by node
over the body of the density, is the evidence. The error estimate uses the order that was observed, never the nominal
one, so that a drift with a corner, or noise that does not smooth, is reported as slow as it is.

The catch: levels that agree prove that the discretisation has settled, not that the domain is right; the domain is
tested by moving the edges whose drift is not yet constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solver import dense, eigen, power_domain, untempered
from solver.checks import choice, number
from solver.confinement import require_confinement
from solver.density import ErrorEstimate, StationaryDensity
from solver.discretisation import BODY, FLAT, Domain, first_domain, first_spacing
from solver.errors import ModelError, NotConvergedError
from solver.grid import Grid
from solver.history import History
from solver.levels import Disagreement, Method, disagreement, solve
from solver.model import Model

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
# An edge that is not settled may cost this fraction of rtol. Until then the mass beyond it is lowered by this factor,
# and the domain widened by that one where it does not reach so far.
_EDGE_SHARE = 0.1
_WIDER = 1.5
_DEEPER = 1e-4
_WIDENINGS = 20
# The domain is placed on a level up to this much finer than the first, where that one does not resolve its far tails.
_FINER = 8
# A fixed grid is compared with itself coarsened so many times, which is what an observed order takes.
_COARSER = 2


def solve_stationary(
    model: Model,
    rtol: float = 1e-8,
    *,
    method: str = "elimination",
    order: int | None = None,
    grid: Grid | None = None,
    max_nodes: int = MAX_NODES,
    progress: Progress | None = None,
) -> StationaryDensity:
    """The stationary density of a model, ln ρ right to `rtol` over the body, the tail exponent relative to itself.

    Solves 0 = -(Fρ)' + η_G ρ'' + J*ρ. The body is all ζ with cdf and sf above 1e-12; `density.log_error(z)` says what
    the error is at any depth. Spacing and domain are chosen here, unless `grid` fixes them: then the estimate says what
    that grid gives, whatever `rtol`. `method` is "elimination", or one of the references "eigs" and "dense", which need
    a `grid` with two stop edges. `order` of the stencils is 8, for "dense" 2, unless given.
    `progress(level, nodes, estimate)` is called before each level.

    Raises NoStationaryDensityError where the drift does not confine, ModelError for bad arguments, NotConvergedError
    (with the best density and its estimate) where `max_nodes` or the rounding of doubles does not allow `rtol`.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> density = solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)))
    >>> density.error_estimate < 1e-8, round(density.tail_exponent, 9)
    (True, 1.267360049)
    """
    rtol = number("rtol", rtol, low=1e-12, high=0.1)
    method = choice("method", method, METHODS)
    if order is None:
        order = dense.ORDER if method == "dense" else _ORDER
    if grid is not None and not isinstance(grid, Grid):
        raise ModelError(f"grid = {grid!r}: must be a Grid, such as Grid(left=-20, right=20, nodes=801)")
    max_nodes = int(number("max_nodes", max_nodes, low=64, integer=True))
    require_confinement(model)
    run = _Run(model, METHODS[method], method, order, max_nodes, progress)
    if grid is not None:
        return run.fixed(grid)
    if method != "elimination":
        raise ModelError(f"method = {method!r}: a reference needs a grid, pass grid=Grid(left, right, nodes, 'stop')")
    domain = (power_domain.first if untempered.is_untempered(model) else first_domain)(model, rtol)
    spacing = first_spacing(model, domain, rtol, order)
    try:
        return run.refine(*run.settle(domain, spacing, rtol), spacing, rtol)
    except _UnresolvedDepth:
        domain = run.trimmed(domain, spacing, rtol)
        return run.refine(*run.settle(domain, spacing, rtol), spacing, rtol, last_domain=True)


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

    def settle(self, domain: Domain, spacing: float, rtol: float) -> tuple[Domain, Disagreement]:
        """Place the unsettled edges: just so far beyond the body that the rest, in a wider domain, does not matter.

        Returns the domain and what its edges cost. Deeper edges would not help: entries below ρ̂(π/h), the density's
        own content at the grid's wave number, are not resolved at spacing h whatever the method.
        """
        flat = Disagreement(10 * FLAT * rtol, 0.0, 0.0, 10 * FLAT * rtol)
        if all(domain.settled):
            return domain, flat
        if untempered.is_untempered(self.model):
            return power_domain.settled(self.method, self.model, domain, spacing, rtol, self.order, self.max_nodes)
        mass, finest = BODY * rtol, spacing / _FINER
        for _ in range(_WIDENINGS):
            self._affordable(domain, spacing)
            wide = solve(self.method, self.model, domain.grid(spacing), self.order)
            if wide is None or (not wide.positive and spacing > finest):  # its far tail says nothing yet
                spacing /= 2
                continue
            if not wide.holds(mass, domain.settled):
                domain = domain.widened(_WIDER)
                continue
            tight = domain.cut(*wide.limits(mass))
            narrow = solve(self.method, self.model, tight.grid(spacing), self.order)
            if narrow is not None:
                change = disagreement(wide, narrow)
                if change.body <= _EDGE_SHARE * rtol:
                    return tight, change.plus(flat)
            mass *= _DEEPER
        raise NotConvergedError(
            f"no domain up to [{domain.left:g}, {domain.right:g}] holds the density to rtol = {rtol:g} within "
            f"max_nodes = {self.max_nodes} at h = {spacing:g}: the drift approaches its limit, or the density falls, "
            "very slowly. Allow more nodes, or a larger rtol"
        )

    def trimmed(self, domain: Domain, spacing: float, rtol: float) -> Domain:
        """The domain cut to what carries mass, its plateaus given up where they lie deeper."""
        self._affordable(domain, spacing)
        wide = solve(self.method, self.model, replace(domain, edges=("stop", "stop")).grid(spacing), self.order)
        if wide is None:
            return domain
        left, right = wide.limits(BODY * rtol * _DEEPER)
        return domain.trimmed(left, right)

    def refine(
        self, domain: Domain, edges: Disagreement, spacing: float, rtol: float, last_domain: bool = False
    ) -> StationaryDensity:
        """Halve the spacing until the estimate is at most rtol and every entry is positive."""
        self._affordable(domain, spacing)
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
                best = self._density(history, domain.assumptions)
                if history.error.largest <= rtol:
                    return best
                if edges.body > rtol and history.error.largest <= 2 * edges.body:
                    reason = (
                        f"beyond [{grid.left:g}, {grid.right:g}] the density is continued by powers of the depth, to "
                        f"{edges.body:.0e} only, and max_nodes = {self.max_nodes} allows no wider domain; "
                        "allow more nodes"
                    )
                if (history.rounding > rtol and best.error_estimate < np.inf) or history.stalled:
                    reason = (
                        "rounding limits this model: its noise is strong against its drift at the spacing it needs; "
                        f"expect no better than {best.error_estimate:.0e}"
                    )
            grid = Grid(grid.left, grid.right, 2 * grid.nodes - 1, grid.edges)
        estimate = float("inf") if best is None else best.error_estimate
        raise NotConvergedError(
            f"rtol = {rtol:g} was not reached (best estimate {estimate:.1e}): {reason}, or take a larger rtol",
            best,
            estimate,
        )

    def _affordable(self, domain: Domain, spacing: float) -> None:
        """Refuse a first level that is already too large, before any grid is made."""
        nodes = (domain.right - domain.left) / spacing
        if not nodes <= self.max_nodes:
            raise NotConvergedError(
                f"the coarsest useful grid has {nodes:.3g} nodes (h = {spacing:.3g} in [{domain.left:g}, "
                f"{domain.right:g}]), max_nodes = {self.max_nodes}: the lengths of drift and noise are too far apart"
            )

    def fixed(self, grid: Grid) -> StationaryDensity:
        """Solve on the given grid, and on coarser ones for the estimate."""
        history = History(self.model, self.order, power_domain.doubt(self.method, self.model, grid, self.order))
        for k in range(_COARSER, -1, -1):
            nodes = (grid.nodes - 1) // 2**k + 1
            if k == 0 or nodes > 2 * self.order:
                self._step(history, Grid(grid.left, grid.right, nodes, grid.edges), optional=k > 0)
        if not history.resolved:
            raise NotConvergedError(
                f"the grid (h = {grid.spacing:g} in [{grid.left:g}, {grid.right:g}]) does not resolve the density: "
                "some entries are negative or not finite; take more nodes or leave out deep tails"
            )
        return self._density(history, self.model.drift.assumed)

    def _step(self, history: History, grid: Grid, optional: bool = False) -> None:
        if self.progress is not None:
            self.progress(len(history.solves) + 1, grid.nodes, history.error.largest)
        try:
            history.add(solve(self.method, self.model, grid, self.order), grid)
        except ModelError:
            if not optional:  # a coarsened grid may be too coarse for the method; the grid itself may not
                raise

    def _density(self, history: History, assumptions: tuple[str, ...]) -> StationaryDensity:
        latest, error = history.latest, history.error
        estimate = ErrorEstimate(error.largest, error.left_slope, error.right_slope, *latest.body)
        return StationaryDensity(
            self.model, latest.grid, self.order, self.name, latest.null, estimate, history.levels, assumptions
        )
