"""How far, in nodes, the jumps of a solve must be exact: a tail that they pin is right as deep as they are, no deeper.

Below the threshold ρ ~ e^{λζ} |ζ|^{-1-α} is made by single jumps of length |ζ|. Their exponential sum holds to a reach
and decays too fast beyond, and the tail with it. Longer ones land deeper, where the drift carries them back, so that a
density exact to some depth takes jumps exact to 40/λ more.

The catch: the slowest exponentials of a long sum lie close together, and the spectral radius of what is made of them
loses digits. The reach is therefore as long as needed, not as long as possible.
"""

from __future__ import annotations

from solver.errors import ModelError
from solver.far_jumps import FADED
from solver.grid import Grid
from solver.model import Model

# Far jumps are exact to at least so many nodes, and so many tempering lengths 1/λ: a body, e^{λζ} > 1e-12, ends at
# 28 of them. The exponential sum grows by only 9 terms for each factor of ten.
REACH = 1e6
TEMPERED_REACH = 100.0
# Next to the threshold, where the exponent depends on jumps of any size, the reach grows by this factor up to that; at
# 1e12 the slowest exponentials are too close for the spectral radius (off by 4e-9 at the threshold, 5e-12 at 1e9).
FARTHER = 1e3
FARTHEST = 1e9
# The longest that may be asked for: ln ρ at depth 1e6 agrees with that of shorter reaches to 2e-11 (below the
# threshold) and 2e-8 (at it, which is what 2e-13 in the weights does); deeper nodes `interpolant` does not tell apart.
LONGEST = 1e12


def usual_reach(model: Model, grid: Grid, least: float = REACH) -> float:
    """Nodes to which far jumps are exact when nobody asks for more."""
    tempering = 0.0 if model.jumps is None else model.jumps.tempering
    return max(least, float(grid.nodes), TEMPERED_REACH / (tempering * grid.spacing) if tempering > 0 else 0.0)


def reach_for(depth: float, model: Model, grid: Grid) -> float:
    """Nodes to which jumps must be exact for a density that is exact to `depth` in ζ; 0 where every depth is.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> model = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
    >>> reach_for(1e5, model, Grid(-10.0, 10.0, 201, "open"))
    1000400.0
    """
    tempering = 0.0 if model.jumps is None else model.jumps.tempering
    if depth == 0 or tempering == 0:  # powers of the depth (`untempered`) have no reach
        return 0.0
    nodes = (depth + FADED / tempering) / grid.spacing
    if not nodes <= LONGEST:
        most = LONGEST * grid.spacing - FADED / tempering
        advice = f"ask for at most {most:.3g}" if most > 0 else f"tempering = {tempering:g} is too weak for any depth"
        raise ModelError(
            f"depth = {depth:g}: needs jumps that are exact over {nodes:.3g} nodes of h = {grid.spacing:.3g}, and they "
            f"are over {LONGEST:.0e} at most; {advice}"
        )
    return nodes
