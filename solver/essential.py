"""Where the continuous part of the relaxation spectrum begins, and how fast modes below it fade outwards.

Far to one side, where the drift is a constant κ towards the middle, e^{-b|ζ|} is carried by the adjoint at the rate

    Φ(b) = η_G b² + η_J ψ(b) - κ b,        0 ≤ b ≤ λ

and so is e^{b|ζ|} by the backward generator. A perturbation out there is measured by a weight e^{b|ζ|}; in that norm
it cannot fade faster than e^{Φ(b) t}, and the best weight gives the edge of the essential spectrum,

    edge = -min Φ(b) = max over 0 ≤ b ≤ λ of κ b - η_G b² - η_J ψ(b),

the smaller one of the two sides. Isolated rates (modes) lie below it, at any other rate there is a continuum. A mode
with rate r falls as e^{-c₂|ζ|} where its observable grows as e^{c₁|ζ|}, c₁ < c₂ the two roots of Φ(c) = -r (λ where
there is no second root): c₂ - c₁ sets the domain that holds it, and it closes at the edge.

A drift that grows without bound has no edge (inf) when jumps are tempered or absent: e^{b|ζ|} then shrinks faster
than any exponential. Untempered jumps (λ = 0) leave only algebraic weights: 0 against a drift that saturates or grows
more slowly than |ζ|, α r against one that grows as r |ζ|, none against one that grows faster.

The catch: growth is read off F far away, where a drift that is a table or a function says what it likes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from solver.errors import ModelError
from solver.model import Model

Array = NDArray[np.float64]

# Accuracy of the best weight in units of its largest value: the edge, a minimum, then errs by its square.
_WEIGHT_STEP = 1e-9
# ζ at which the growth of a drift is read, and its double (as for the existence of moments).
_FAR = 1e3
# A power of |ζ| this close to 1 counts as linear growth.
_LINEAR = 0.01

# Accuracy of the exponent at a given spread: it only says how far to look.
_ROOT = 1e-6
# Points of a table of b against the drift it belongs to: any smooth weight will do, 1% is plenty.
_TABLE = 201
# The weight falls by no more than this between nodes: a density, steeper by a factor of 2, is not resolved beyond, and
# what a grid makes of it falls more slowly than it should.
_STEEPEST = 0.5


@dataclass(frozen=True)
class Edge:
    """One side's edge of the essential spectrum (1 / time) and the weight exponent b that attains it (1 / ζ).

    `weight` is 0 where there is no exponential weight to choose: a growing drift, or untempered jumps.
    """

    rate: float
    weight: float
    model: Model
    plateau: float

    @property
    def saturates(self) -> bool:
        """Does the drift tend to a constant on this side?"""
        return bool(np.isfinite(self.plateau))

    def spread(self, rate: float) -> float:
        """c₂ - c₁ > 0 of a mode with this rate < edge on a side that saturates: its error falls as e^{-(c₂-c₁) L}."""
        low = float(brentq(lambda b: _carried(self.model, self.plateau, b) + rate, 0.0, self.weight))
        return self._partner(low) - low

    def rate_of(self, spread: float) -> float:
        """The rate at which c₂ - c₁ has this value; -inf if it has it at no rate."""
        if self._partner(0.0) <= spread:
            return -np.inf
        low = brentq(lambda b: self._partner(b) - b - spread, 0.0, self.weight, rtol=_ROOT)
        return -_carried(self.model, self.plateau, low)

    def _partner(self, low: float) -> float:
        """c₂ for c₁."""
        level, top = _carried(self.model, self.plateau, low), _heaviest(self.model, self.plateau)

        def excess(b: float) -> float:
            return _carried(self.model, self.plateau, b) - level

        if low >= self.weight or excess(self.weight) >= 0:
            return self.weight
        return float(brentq(excess, self.weight, top)) if excess(top) > 0 else top


def essential_edge(model: Model, side: str) -> Edge:
    """The edge on one side, "left" or "right", of a model with a stationary density.

    Raises ModelError for another word.

    >>> from solver.drifts import TanhDrift
    >>> essential_edge(Model(TanhDrift(1.0), 0.3, None), "left").rate  # κ²/(4 η_G)
    0.833333333333
    """
    if side not in ("left", "right"):
        raise ModelError(f"side = {side!r}: must be 'left' or 'right'")
    plateau = model.left_plateau if side == "left" else model.right_plateau
    tempered = model.jumps is None or model.jumps.tempering > 0
    if not np.isfinite(plateau):
        return Edge(np.inf if tempered else _stable_edge(model, side), 0.0, model, plateau)
    if not tempered:
        return Edge(0.0, 0.0, model, plateau)
    top = _heaviest(model, plateau)
    options = {"xatol": _WEIGHT_STEP * top}
    best = minimize_scalar(lambda b: _carried(model, plateau, b), bounds=(0.0, top), method="bounded", options=options)
    weight = top if _carried(model, plateau, top) <= best.fun else float(best.x)
    return Edge(-_carried(model, plateau, weight), weight, model, plateau)


def best_weight(model: Model, zeta: Array) -> Array:
    """ln of a weight under which densities and observables spread alike, at ascending ζ of shape (N,); 0 at most.

    Its slope is the exponent b that minimises Φ for the drift at hand, F(ζ) in the place of κ, with the sign of F:
    half the slope of ln ρ for pure diffusion, the weight of the essential edge on a plateau. Against a drift that
    grows it is at most λ/2, half the slope of ln ρ again.

    >>> from solver.drifts import LinearDrift
    >>> best_weight(Model(LinearDrift(1.0), 0.5, None), np.linspace(-2.0, 2.0, 41))[::10].round(9)  # -ζ²/2
    array([-2. , -0.5,  0. , -0.5, -2. ])
    """
    drift = model.drift(zeta)
    if model.jumps is None:
        slope = drift / (2 * model.diffusion)
    elif model.jumps.tempering == 0:
        return np.zeros(zeta.shape)
    else:
        b = model.jumps.tempering * (1 - np.linspace(1.0, 0.0, _TABLE) ** 2)  # dense at λ, where ψ is steep
        forces = np.diff(model.diffusion * b**2 + model.jumps.laplace_exponent(b)) / np.diff(b)
        middles = 0.5 * (b[1:] + b[:-1])
        slope = np.interp(np.abs(drift), np.append(0.0, forces), np.append(0.0, middles))
        tops = [b[-1] if np.isfinite(limit) else 0.5 * b[-1] for limit in (model.left_plateau, model.right_plateau)]
        # the slope of a weight, not a result: any weight gives a bound, these ends keep it in the space
        slope = np.clip(np.sign(drift) * slope, -tops[1], tops[0])
    step = np.diff(zeta)
    slope = np.clip(slope, -_STEEPEST / step.min(), _STEEPEST / step.min())
    weight = np.concatenate([[0.0], np.cumsum(0.5 * step * (slope[1:] + slope[:-1]))])
    return np.asarray(weight - weight.max())


def _carried(model: Model, plateau: float, b: float) -> float:
    """Φ(b)."""
    jumps = 0.0 if model.jumps is None else float(model.jumps.laplace_exponent(b))
    return float(model.diffusion * b * b + jumps - plateau * b)


def _heaviest(model: Model, plateau: float) -> float:
    """The largest exponent to look at: λ, or where Φ vanishes without jumps."""
    return float(plateau / model.diffusion) if model.jumps is None else float(model.jumps.tempering)


def _stable_edge(model: Model, side: str) -> float:
    """Untempered jumps against an unbounded drift |F| ~ r |ζ|^g: inf for g > 1, α r for g = 1, else 0."""
    sign = -1.0 if side == "left" else 1.0
    near, far = np.abs(model.drift(np.array([sign * _FAR, 2 * sign * _FAR])))
    law = None if model.jumps is None else model.jumps.power_law
    if law is None or not np.isfinite(far):
        return np.inf
    growth = float(np.log2(far / near))
    if abs(growth - 1) <= _LINEAR:
        return float(law.stability * (far - near) / _FAR)
    return np.inf if growth > 1 else 0.0
