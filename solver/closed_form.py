"""What algebra alone says about a model: the exponent of its time scales, their phase and both tails.

    ρ ~ C e^{βζ} as ζ → -∞,   p(τ) ~ C τ^{-1-β} as τ → ∞,   β the root of Φ(b) = η_G b² + η_J ψ(b) - κ b

Nothing here knows of a grid. The catch is the phase without a root. The source of the theory calls it
collapsed and light-tailed; for a drift that saturates the density is still algebraic, pinned at λ by the
tempering. Both are reported: the phase in the source's words, the true law as a TailForm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver.errors import ModelError
from solver.exponent import (
    at_threshold,
    intensity_for_exponent,
    phase,
    spectral_exponent,
    threshold_intensity,
)
from solver.model import Model
from solver.tail_form import TailForm, jump_tail, threshold_tail

__all__ = [
    "ClosedForm",
    "TailForm",
    "closed_form",
    "intensity_for_exponent",
    "phase",
    "spectral_exponent",
    "threshold_intensity",
]


@dataclass(frozen=True)
class ClosedForm:
    """What the algebra says about a model; the right side is the same theory with -F.

    `exponent` is NaN without a root, inf for a drift that grows without bound (phase "confined"); `tail` is
    the true law of ρ at ζ → -∞ even where there is no root. `threshold` is in the intensity's `convention`,
    NaN without jumps. `phase` belongs to the left side, the long time scales; it is "none" when either side
    does not hold.
    """

    exponent: float
    has_root: bool
    threshold: float
    phase: str
    tail: TailForm
    right_exponent: float
    right_has_root: bool
    right_threshold: float
    right_tail: TailForm
    convention: str | None


def closed_form(model: Model) -> ClosedForm:
    """Exponent, threshold, phase and tail laws of a model.

    Raises ModelError when the drift does not know its limit at one end.

    >>> from solver.drifts import TanhDrift
    >>> from solver.jumps import TemperedStableJumps
    >>> theory = closed_form(Model(TanhDrift(1.0, 0.0, 1.0), 0.1, TemperedStableJumps(0.2, 0.5, 1.0)))
    >>> theory.exponent, theory.has_root, theory.threshold, theory.phase, str(theory.tail)
    (nan, False, 0.433409338777, 'collapsed', 'e^(-1 s) s^-1.5')
    """
    plateaus = {"left": model.left_plateau, "right": model.right_plateau}
    for side, plateau in plateaus.items():
        if math.isnan(plateau):
            raise ModelError(f"drift: its limit on the {side} is unknown; give the drift `{side}=`")
    words = {side: str(phase(plateau, *_parameters(model))) for side, plateau in plateaus.items()}
    stationary = "none" not in words.values()
    exponent, has_root, threshold, tail = _side(model, plateaus["left"], stationary)
    right_exponent, right_has_root, right_threshold, right_tail = _side(model, plateaus["right"], stationary)
    return ClosedForm(
        exponent=exponent,
        has_root=has_root,
        threshold=threshold,
        phase=words["left"] if stationary else "none",
        tail=tail,
        right_exponent=right_exponent,
        right_has_root=right_has_root,
        right_threshold=right_threshold,
        right_tail=right_tail,
        convention=None if model.jumps is None else model.jumps.convention,
    )


def _parameters(model: Model) -> tuple[float, float, float, float, str]:
    """Diffusion, intensity, stability, tempering, convention; without jumps intensity 0 and any legal law."""
    if model.jumps is None:
        return model.diffusion, 0.0, 1.0, 0.0, "levy"
    law = model.jumps
    return model.diffusion, law.intensity, law.stability, law.tempering, law.convention


def _side(model: Model, plateau: float, stationary: bool) -> tuple[float, bool, float, TailForm]:
    """Exponent, has_root, threshold and tail on the side whose drift pulls inwards with `plateau`."""
    eta_g, eta_j, alpha, lam, convention = _parameters(model)
    if not stationary:
        return math.nan, False, math.nan, TailForm("none", math.nan, math.nan)
    beta = float(spectral_exponent(plateau, eta_g, eta_j, alpha, lam, convention))
    if eta_j == 0:
        case = "diffusion" if math.isfinite(beta) else "confined"
        return beta, math.isfinite(beta), math.nan, TailForm(case, beta, 0.0)
    if math.isinf(beta):
        return beta, False, math.nan, jump_tail(alpha, lam, over_drift=True)
    star = float(threshold_intensity(plateau, eta_g, alpha, lam, convention))
    if math.isnan(beta):
        return beta, False, star, jump_tail(alpha, lam)
    tail = threshold_tail(alpha, lam) if at_threshold(eta_j, star) else TailForm("root", beta, 0.0)
    return beta, True, star, tail
