"""The parameter that gives a wanted exponent, and how the exponent moves when a parameter does.

    Φ(β; p) = η_G β² + η_J ψ(β; α, λ) - κ β = 0

is linear in η_J, κ and η_G: a formula. For λ and α it is a root to be bracketed; ψ falls with λ, so that one is unique.
The catch is α: ψ first falls and then rises with it, two values can give the same exponent, and the one nearer to the
model's own is taken. Not every exponent can be had from every parameter; the complaint says which can.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from solver.axes import parameter, with_parameters
from solver.checks import choice, instance, positive, too_extreme
from solver.closed_form import closed_form
from solver.design_range import Array, reachable, stabilities
from solver.errors import ModelError, NotConvergedError
from solver.exponent import SMALLEST
from solver.jump_exponents import unit_laplace_exponent
from solver.jumps import TemperedStableJumps
from solver.model import Model

FREE = ("intensity", "plateau", "diffusion", "tempering", "stability")

# The promise: closed_form of the result is the wanted exponent to this, relative.
_ACCURACY = 1e-12
# λ is looked for up to this many times β: its square is still a double, and ψ has fallen as λ^{α-2}.
_LARGEST_RATIO = 1e100
# Of the roots; zero is not allowed for the first, which is meant.
_XTOL, _RTOL = 1e-300, 4 * np.finfo(float).eps


def design(model: Model, exponent: float, free: str = "intensity") -> Model:
    """The model with one parameter changed so that its left tail has this exponent β.

    `free` is "intensity", "plateau", "diffusion", "tempering" or "stability"; closed_form of the result returns β to
    1e-12. Raises ModelError, with the exponents that can be reached, where no value gives β or the model has no such
    parameter.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    >>> design(model, exponent=0.42, free="plateau").drift.plateau
    0.327220254
    >>> design(model, exponent=2.5)
    Traceback (most recent call last):
    ...
    solver.errors.ModelError: exponent = 2.5: no intensity gives it; exponents that can be reached are (0, 2.2]
    """
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    beta = positive("exponent", exponent)
    name = choice("free", free, FREE)
    parameter(model, name)
    if name != "plateau" and math.isinf(model.left_plateau):
        raise ModelError(
            f"drift: {type(model.drift).__name__} grows without bound to the left, where there is no exponent to design"
        )
    value = _value(model, beta, name)
    if value is None:
        raise ModelError(
            f"exponent = {beta:g}: no {name} gives it; exponents that can be reached are {reachable(model, name)}"
        )
    result = with_parameters(model, {name: value})
    found = closed_form(result).exponent
    if not abs(found - beta) <= _ACCURACY * beta:
        raise NotConvergedError(
            f"{name} = {value!r} should give the exponent {beta!r} but gives {found!r}: "
            "a change of its last digit moves the exponent by more than 1e-12"
        )
    return result


def _value(model: Model, beta: float, name: str) -> float | None:
    """The parameter's value; None if there is none."""
    if name == "tempering":
        return _tempering(model, beta)
    if name == "stability":
        return _stability(model, beta)
    jumps = _psi(model, beta)
    if jumps is None:
        return None
    kappa, eta_g = model.left_plateau, model.diffusion
    if name == "plateau":
        return eta_g * beta + jumps / beta
    if name == "diffusion":
        value = (kappa - jumps / beta) / beta
        possible = value > 0 or (value == 0 and model.jumps is not None)
    else:
        intensity = parameter(model, "intensity")
        if jumps < SMALLEST:
            raise too_extreme([("exponent", beta)])
        value = intensity * beta * (kappa - eta_g * beta) / jumps
        possible = value > 0
    return value if possible else None


def _psi(model: Model, beta: float) -> float | None:
    """η_J ψ(β); None where the jumps have no such moment."""
    if model.jumps is None:
        return 0.0
    if beta > model.jumps.tempering:
        return None
    value = float(model.jumps.laplace_exponent(beta))
    return value if math.isfinite(value) else None


def _pull(model: Model, beta: float) -> float:
    """κβ - η_G β²: what the jumps have to balance."""
    return beta * (model.left_plateau - model.diffusion * beta)


def _tempering(model: Model, beta: float) -> float | None:
    """λ ≥ β with η_J ψ(β; λ) = κβ - η_G β²; the left side falls from its value at λ = β to 0.

    Sought is λ/β - 1: where ψ has a steep edge at λ = β, that is what has to be resolved.
    """
    pull = _pull(model, beta)
    if not pull > 0:
        return None

    def excess(gap: float) -> float:
        jumps = with_parameters(model, {"tempering": beta * (1 + gap)}).jumps
        return float(jumps.laplace_exponent(beta)) / pull - 1  # type: ignore[union-attr]

    at_beta = excess(0.0)
    if abs(at_beta) <= _ACCURACY:
        return beta
    least = math.log(np.finfo(float).eps)
    if at_beta < 0 or excess(_LARGEST_RATIO) > 0:
        return None
    if excess(math.exp(least)) < 0:  # the root lies between two neighbouring doubles
        return beta * (1 + math.exp(least))
    log_gap = brentq(lambda log: excess(math.exp(log)), least, math.log(_LARGEST_RATIO), xtol=_XTOL, rtol=_RTOL)
    return beta * (1 + math.exp(log_gap))


def _stability(model: Model, beta: float) -> float | None:
    """The α nearest to the model's own with η_J ψ(β; α) = κβ - η_G β²."""
    pull = _pull(model, beta)
    if not pull > 0 or _psi(model, beta) is None:
        return None

    law = model.jumps
    assert isinstance(law, TemperedStableJumps)  # the only one with a stability

    def excess(alpha: Array | float) -> Array:
        psi = unit_laplace_exponent(beta, alpha, law.tempering, law.convention)
        return np.asarray(law.intensity * psi / pull - 1)

    roots = _all_roots(excess, stabilities())
    return min(roots, key=lambda root: abs(root - parameter(model, "stability")), default=None)


def _all_roots(excess: Callable[[Array], Array], places: Array) -> list[float]:
    """All roots between places: changes of sign, and pairs of roots around a minimum between three places."""
    values = excess(places)
    for i in np.flatnonzero((values[1:-1] > 0) & (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])) + 1:
        lowest = minimize_scalar(excess, bounds=(places[i - 1], places[i + 1]), method="bounded")
        if lowest.fun <= 0:
            places, values = np.append(places, lowest.x), np.append(values, lowest.fun)
    order = np.argsort(places)
    places, values = places[order], values[order]
    roots = [float(place) for place in places[values == 0]]
    for i in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
        roots.append(float(brentq(excess, places[i], places[i + 1], xtol=_XTOL, rtol=_RTOL)))
    return roots
