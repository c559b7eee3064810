"""How the exponent moves with each parameter, by implicit differentiation of Φ(β; p) = 0.

    ∂β/∂p = -(∂Φ/∂p) / Φ'(β),      Φ'(β) = 2 η_G β + η_J ∂ψ/∂b - κ > 0

    ∂ψ/∂b = c Γ(2-α) [(λ+b)^{α-1} - (λ-b)^{α-1}] / (α-1)     ∂ψ/∂λ = (α ψ - b ∂ψ/∂b) / λ     (ψ scales as λ^α)

∂ψ/∂α is differenced, to high order, from a ψ that is right to 1e-13. The catch is the threshold with α ≤ 1: there Φ' is
infinite, the exponent follows λ and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.differentiate import derivative
from scipy.special import exprel

from solver.checks import instance
from solver.closed_form import closed_form
from solver.errors import ModelError
from solver.exponent import Array
from solver.jump_exponents import convention_constant, unit_laplace_exponent
from solver.jumps import TemperedStableJumps
from solver.model import Model

# First step of the difference in α, as a share of the distance to where ψ ends: analytic in between, and of order 8.
_STEP = 0.25


@dataclass(frozen=True)
class Sensitivities:
    """∂β/∂parameter, in units of 1 over that of the parameter; NaN for parameters the model does not have.

    The intensity is that of the model's convention, whose constant changes with α; `exponent` is β.
    """

    exponent: float
    plateau: float
    diffusion: float
    intensity: float
    stability: float
    tempering: float


def sensitivities(model: Model) -> Sensitivities:
    """Derivatives of the exponent β of the left tail; all NaN where there is no root ("no root" is an answer).

    Raises ModelError for jumps of another law than TemperedStableJumps.

    >>> from solver.drifts import TanhDrift
    >>> model = Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    >>> slopes = sensitivities(model)
    >>> slopes.intensity, slopes.plateau
    (-1.9039459, 1.2287645)
    """
    instance("model", model, Model, "Model(TanhDrift(1.0), diffusion=0.3)")
    if model.jumps is not None and not isinstance(model.jumps, TemperedStableJumps):
        raise ModelError(f"jumps: sensitivities are for TemperedStableJumps, got {type(model.jumps).__name__}")
    theory = closed_form(model)
    beta, nan = theory.exponent, math.nan
    if not theory.has_root:
        return Sensitivities(nan, nan, nan, nan, nan, nan)
    kappa, eta_g, law = model.left_plateau, model.diffusion, model.jumps
    if law is None:
        return Sensitivities(beta, 1 / eta_g, -beta / eta_g, nan, nan, nan)
    alpha, lam = law.stability, law.tempering
    psi = float(unit_laplace_exponent(beta, alpha, lam, law.convention))
    psi_b = _slope(beta, law)
    slope = 2 * eta_g * beta + law.intensity * psi_b - kappa
    if math.isinf(slope):
        return Sensitivities(beta, 0.0, 0.0, 0.0, 0.0, 1.0)
    return Sensitivities(
        exponent=beta,
        plateau=beta / slope,
        diffusion=-(beta**2) / slope,
        intensity=-psi / slope,
        stability=-law.intensity * _by_stability(beta, law) / slope,
        tempering=law.intensity * (beta * psi_b - alpha * psi) / (lam * slope),
    )


def _slope(b: float, law: TemperedStableJumps) -> float:
    """∂ψ/∂b: the logarithms of 1 ± b/λ have opposite signs, so that nothing cancels; inf at b = λ for α ≤ 1."""
    alpha, lam, e = law.stability, law.tempering, law.stability - 1
    up = math.log1p(b / lam)
    scale = float(convention_constant(alpha, law.convention)) * math.gamma(2 - alpha) * lam**e
    if b == lam:
        return scale * (up * float(exprel(e * up)) + 1 / e) if e > 0 else math.inf
    down = math.log1p(-b / lam) if b < lam / 2 else math.log((lam - b) / lam)
    return float(scale * (up * exprel(e * up) - down * exprel(e * down)))


def _by_stability(b: float, law: TemperedStableJumps) -> float:
    """∂ψ/∂α; the convention "laplacian" has a corner at α = 1, which is not crossed."""

    def psi(alpha: Array) -> Array:
        return unit_laplace_exponent(b, alpha, law.tempering, law.convention)

    ends = [0.0, 2.0] + ([1.0] if law.convention == "laplacian" else [])
    room = min(abs(law.stability - end) for end in ends)
    found = derivative(psi, np.array(law.stability), initial_step=_STEP * room, order=8)
    return float(found.df)
