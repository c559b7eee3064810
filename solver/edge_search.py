"""Where the edges go that no constant drift settles: beyond the body, just so far that the rest does not matter.

A wide domain is solved, cut to where its mass ends, and solved again; what they disagree about is what the cut costs.

The catch: a tail far below the density's own content at the wave number of the grid is not resolved, and looks like
mass that the domain does not hold. Then the spacing is halved, not the domain widened.
"""

from __future__ import annotations

from dataclasses import replace

from solver import power_domain
from solver.affordable import require_affordable, require_resolvable
from solver.discretisation import BODY, FLAT, Domain
from solver.errors import NotConvergedError
from solver.levels import Disagreement, Method, disagreement, solve
from solver.model import Model
from solver.untempered import is_untempered

# An edge that is not settled may cost this fraction of rtol. Until then the mass beyond it is lowered by this factor,
# and the domain widened by that one where it does not reach so far.
_EDGE_SHARE = 0.1
_WIDER = 1.5
_DEEPER = 1e-4
_WIDENINGS = 20
# The domain is placed on a level up to this much finer than the first, where that one does not resolve its far tails.
_FINER = 8
# A density of whose transform this much is left at the wave number of a grid is sharp; less of it is below a body.
_NEEDLE = 1e-12
# Where the tail is not resolved, edges may lie where the mass beyond is this share of the body's limit; and after so
# many widenings it is the spacing and not the domain that fails to hold the density.
_JUST_BEYOND, _ENOUGH = 1e-2, 2


def settled(
    method: Method, model: Model, domain: Domain, spacing: float, rtol: float, order: int, max_nodes: int
) -> tuple[Domain, Disagreement]:
    """Place the unsettled edges: just so far beyond the body that the rest, in a wider domain, does not matter.

    Returns the domain and what its edges cost. Deeper edges would not help: entries below ρ̂(π/h), the density's
    own content at the grid's wave number, are not resolved at spacing h whatever the method.
    """
    flat = Disagreement(10 * FLAT * rtol, 0.0, 0.0, 10 * FLAT * rtol)
    if all(domain.settled):
        return domain, flat
    if is_untempered(model):
        return power_domain.settled(method, model, domain, spacing, rtol, order, max_nodes)
    mass, finest, widened = BODY * rtol, spacing / _FINER, 0
    for _ in range(_WIDENINGS):
        require_affordable(model, domain, spacing, max_nodes)
        wide = solve(method, model, domain.grid(spacing), order)
        if wide is None or (not wide.positive and spacing > finest):  # its far tail says nothing yet
            spacing /= 2
            continue
        if not wide.positive:  # entries far below ρ̂(π/h) are out of reach: an edge must do with less
            mass = max(mass, _JUST_BEYOND * BODY)
        if not wide.holds(mass, domain.settled):
            if not wide.positive and widened >= _ENOUGH:
                spacing = _finer(model, domain, spacing, max_nodes)
            else:
                domain, widened = domain.widened(_WIDER), widened + 1
            continue
        tight = domain.cut(*wide.limits(mass))
        if tight.right - tight.left <= 2 * spacing:  # no grid has fewer nodes
            spacing /= 2
            continue
        narrow = solve(method, model, tight.grid(spacing), order)
        if narrow is not None:
            change = disagreement(wide, narrow)
            if change.body <= _EDGE_SHARE * rtol:
                return tight, change.plus(flat)
        if wide.positive:
            mass *= _DEEPER
        else:
            spacing = _finer(model, domain, spacing, max_nodes)
    raise NotConvergedError(
        f"no domain up to [{domain.left:g}, {domain.right:g}] holds the density to rtol = {rtol:g} within "
        f"max_nodes = {max_nodes} at h = {spacing:g}: the drift approaches its limit, or the density falls, "
        "very slowly. Allow more nodes, or a larger rtol"
    )


def trimmed(
    method: Method, model: Model, domain: Domain, spacing: float, rtol: float, order: int, max_nodes: int
) -> Domain:
    """The domain cut to what carries mass, its plateaus given up where they lie deeper."""
    require_affordable(model, domain, spacing, max_nodes)
    wide = solve(method, model, replace(domain, edges=("stop", "stop")).grid(spacing), order)
    if wide is None:
        return domain
    left, right = wide.limits(BODY * rtol * _DEEPER)
    return domain.trimmed(left, right)


def _finer(model: Model, domain: Domain, spacing: float, max_nodes: int) -> float:
    """Half the spacing, if three levels of it can be afforded."""
    width = domain.right - domain.left
    if 4 * width / spacing > max_nodes:
        # a needle, if the transform of the density says so; else it is its far tail alone
        require_resolvable(model, width, width / spacing, _NEEDLE)
        raise NotConvergedError(
            f"far out in [{domain.left:g}, {domain.right:g}] some entries are not positive at h = {spacing:.3g}, where "
            f"the noise hardly spreads the density against the drift, and max_nodes = {max_nodes} allows no finer "
            "levels: no edge can be placed. Allow more nodes or a larger rtol, or give the model some diffusion"
        )
    return spacing / 2
