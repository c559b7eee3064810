"""Which exponents a parameter can give: the answer to a design that has no solution.

    Φ(β; p) = η_G β² + η_J ψ(β; α, λ) - κ β = 0,  0 < β ≤ λ

The catch: the range need not be an interval. Where α < 1, little tempering pins β below a small λ and much of it lets β
rise towards κ/η_G, and between the two there may be no root at all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from solver.axes import parameter, with_parameters
from solver.checks import interval
from solver.closed_form import closed_form
from solver.exponent import spectral_exponent
from solver.jumps import TemperedStableJumps
from solver.model import Model

Array = NDArray[np.float64]

NOTHING = "none"
# α is scanned at so many places, dense at both ends and never at 1, where the convention "laplacian" has no jumps;
# the largest exponent between two of them is refined.
_PLACES = 400
# How near to 0 and 2 α is looked for: the jump law degenerates there.
_EDGE = 1e-9
# λ and β are looked for between these, in the units of the model.
_SMALLEST, _LARGEST = 1e-100, 1e100


def reachable(model: Model, name: str) -> str:
    """The exponents that some value of the parameter gives, as intervals in words; numbers to six digits.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> model = Model(TanhDrift(1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0))
    >>> reachable(model, "tempering")
    '(0, 0.178822] or [8.58234, 10)'
    """
    if name == "plateau":
        return interval(0.0, _tempering(model), open_low=True, open_high=not _attained(model))
    if not model.left_plateau > 0:
        return f"{NOTHING}: the drift does not point inwards on the left"
    if model.jumps is not None and model.jumps.tempering == 0 and name != "tempering":
        return f"{NOTHING}: jumps without tempering leave no exponent"
    if name == "stability":
        return _of_stability(model)
    if name == "tempering":
        return _of_tempering(model)
    return _of_diffusion(model) if name == "diffusion" else _of_intensity(model)


def stabilities() -> Array:
    """The places at which α is tried."""
    inner = 1 - np.cos(np.linspace(0, math.pi, _PLACES))[1:-1]
    return np.concatenate([[_EDGE], inner, [2 - _EDGE]])


def _tempering(model: Model) -> float:
    return math.inf if model.jumps is None else model.jumps.tempering


def _attained(model: Model) -> bool:
    """Whether ψ(λ) is finite, so that a root can lie at λ itself."""
    return model.jumps is not None and bool(np.isfinite(model.jumps.laplace_exponent(model.jumps.tempering)))


def _limit(model: Model) -> float:
    """κ/η_G, which β stays below whatever the jumps."""
    return model.left_plateau / model.diffusion if model.diffusion > 0 else math.inf


def _of_intensity(model: Model) -> str:
    limit, lam = _limit(model), _tempering(model)
    return interval(0.0, min(limit, lam), open_low=True, open_high=limit <= lam)


def _of_diffusion(model: Model) -> str:
    if model.jumps is None:
        return interval(0.0, math.inf, open_low=True)
    without = closed_form(with_parameters(model, {"diffusion": 0.0}))
    return interval(0.0, without.exponent if without.has_root else _tempering(model), open_low=True)


def _of_tempering(model: Model) -> str:
    """Where η_J ψ(β; λ = β) ≥ κβ - η_G β²: jumps that are tempered as little as can be must be enough."""
    limit = _limit(model)
    if not _attained(model):
        return interval(0.0, limit, open_low=True)

    def excess(log_beta: float) -> float:
        beta = math.exp(log_beta)
        jumps = with_parameters(model, {"tempering": beta}).jumps
        return model.diffusion * beta + float(jumps.laplace_exponent(beta)) / beta - model.left_plateau  # type: ignore[union-attr]

    top = math.log(min(limit, _LARGEST))
    ends = [math.log(_SMALLEST), top]
    # Convex for α < 1, increasing for α > 1: at most one root on either side of the lowest point.
    lowest = minimize_scalar(excess, bounds=tuple(ends), method="bounded", options={"xatol": 1e-10}).x
    pieces, low = [], 0.0 if excess(ends[0]) > 0 else None
    for left, right in ((ends[0], lowest), (lowest, top)):
        if excess(left) * excess(right) < 0:
            root = math.exp(brentq(excess, left, right))
            if low is not None:
                pieces.append(interval(low, root, open_low=low == 0.0))
                low = None
            else:
                low = root
    if low is not None:
        pieces.append(interval(low, limit, open_low=low == 0.0, open_high=True))
    return " or ".join(pieces) or NOTHING


def _of_stability(model: Model) -> str:
    """From the least to the largest exponent over α. Where there is no root for some α, β rises to λ next to it."""

    law = model.jumps
    assert isinstance(law, TemperedStableJumps)  # the only one with a stability

    def exponent(alpha: Array | float) -> Array:
        return spectral_exponent(
            model.left_plateau, model.diffusion, law.intensity, alpha, law.tempering, law.convention
        )

    places = stabilities()
    found = exponent(places)
    if np.all(np.isnan(found)):
        return NOTHING
    ends = []
    for sign in (1.0, -1.0):
        worst = int(np.nanargmin(sign * found))
        bounds = places[max(worst - 1, 0)], places[min(worst + 1, places.size - 1)]
        refined = minimize_scalar(lambda a, s=sign: s * float(exponent(a)), bounds=bounds, method="bounded").fun
        ends.append(sign * float(np.nanmin([sign * found[worst], refined])))
    if np.any(np.isnan(found)):
        ends[1] = parameter(model, "tempering")
    return f"from about {ends[0]:.6g} to {ends[1]:.6g}"
