"""N(s) = ∫ e^{-sζ} (κ - F) ρ dζ, the number of the body that sets the constant of the far tail, and its error.

The sum is the trapezoid rule on the nodes, spectrally accurate. On the side of the tail it ends at the edge, on the
other it goes on, where its terms fall as e^{-sζ} ρ. The right tail is the left tail of the density of -ζ.

    error = that of ρ, term by term  +  what κ - F still is beyond the edge, times e^{-sζ} ρ there  +  the rule's own

The catch: the second part is zero only where the drift has come to its limit; a grid that ends before leaves it out of
ρ and of N alike, and where it is no small share of N nothing is known of the constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.density import StationaryDensity
from solver.history import BEYOND

Array = NDArray[np.float64]

# Nodes beyond an open edge on the far side that are summed.
_FURTHER = 20_000
# κ - F below this share of κ is rounding.
ROUNDED = 1e-13
# Nodes kept from a stop edge, which bends the density near it.
_INSIDE = 40
# e to this is still a double.
_HIGHEST = 700.0
# Rounding of the sum, relative to the sum of its terms' sizes.
_SUM = 1e-14


@dataclass(frozen=True)
class BodyMoment:
    """ln N(s), NaN where N is not positive, and a bound of its error, inf where nothing is known."""

    log_value: float
    error: float


def body_moment(density: StationaryDensity, s: float, side: str = "left") -> BodyMoment:
    """N(s) for the tail on a side.

    >>> from solver import Grid, Model, TanhDrift, solve_stationary
    >>> model = Model(TanhDrift(1.0), 0.5, None)  # ρ = 1/(2 cosh² ζ), N(2) = 1
    >>> found = body_moment(solve_stationary(model), 2.0)
    >>> abs(found.log_value) <= found.error < 1e-7
    True
    >>> found = body_moment(solve_stationary(model, grid=Grid(-4.0, 20.0, 961, ("open", "open"))), 2.0)
    >>> 1e-4 < found.error < 1e-2  # 1 - tanh 4 is 7e-4
    True
    """
    sign = -1.0 if side == "left" else 1.0
    model, grid = density.model, density.grid
    plateau = model.left_plateau if side == "left" else model.right_plateau
    zeta, values = grid.zeta[:: int(sign)], density.log_density[:: int(sign)]  # towards the tail
    far = density.null.right if side == "left" else density.null.left
    if far is not None:
        extra = zeta[0] - sign * grid.spacing * np.arange(_FURTHER, 0, -1.0)
        zeta, values = np.concatenate([extra, zeta]), np.concatenate([density.logpdf(extra), values])

    def short(z: Array) -> Array:  # κ - F on the left, κ + F on the right
        return np.asarray(plateau + sign * model.drift(z))

    logs = sign * s * zeta + values
    gap = short(zeta)
    keep = np.abs(gap) > ROUNDED * plateau
    if not keep.any():
        return BodyMoment(math.nan, math.inf)
    top = float(logs[keep].max())
    weight = np.exp(logs - top, out=np.zeros(logs.size), where=keep)
    terms = gap * weight
    total = float(terms.sum())
    if not total > 0:
        return BodyMoment(math.nan, math.inf)
    sizes = np.abs(terms)
    with np.errstate(over="ignore"):  # inf is right for an error that no double holds
        relative = np.expm1(density.log_error(zeta))
    own = float((sizes[sizes > 0] * relative[sizes > 0]).sum())
    nearest = zeta.size - 1 - (_INSIDE if grid.edges[0 if side == "left" else 1] == "stop" else 0)
    left_out = float(np.trapezoid(np.abs(short(zeta[-1] + sign * BEYOND)), BEYOND)) / grid.spacing
    outermost = math.exp(min(float(logs[max(nearest, 0)]) - top, _HIGHEST))
    rounded = float(np.finfo(float).eps * plateau * weight[keep].sum()) + _SUM * float(sizes.sum())
    share = (own + left_out * outermost + rounded) / total + _rule(terms, total)
    error = -math.log1p(-share) if share < 1 else math.inf
    return BodyMoment(math.log(total * grid.spacing) + top, error)


def _rule(terms: Array, total: float) -> float:
    """Error of the trapezoid rule by its sums over every node, every second and every fourth: what is left falls at
    least as fast as the last change did."""
    second, fourth = 2 * float(terms[::2].sum()), 4 * float(terms[::4].sum())
    last, before = abs(total - second), abs(second - fourth)
    ratio = last / before if before > 0 else 0.0
    return last * (ratio / (1 - ratio) if ratio < 0.5 else 1.0) / total
