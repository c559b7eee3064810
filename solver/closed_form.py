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
from solver.exponent import intensity_for_exponent, phase, spectral_exponent, threshold_intensity
from solver.extremes import within_doubles
from solver.model import Model
from solver.tail_form import TailForm

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
    the true law of ρ at ζ → -∞ even where there is no root. `threshold` is in the intensity's `convention`; it is NaN
    without jumps and for a law that has a root at any intensity. `phase` belongs to the left side, the long time
    scales; it is "none" when either side does not hold. `convention` is None where the law knows no choice.
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


@within_doubles
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
    words = {side: _phase(model, plateau) for side, plateau in plateaus.items()}
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
        convention=None if model.jumps is None else model.jumps.normalisation,
    )


def _phase(model: Model, plateau: float) -> str:
    """The phase that one side's plateau stands for."""
    if model.jumps is None:
        return str(phase(plateau, model.diffusion, 0.0, 1.0, 0.0))  # any legal law: intensity 0 is no jumps
    return model.jumps.phase(plateau, model.diffusion)


def _side(model: Model, plateau: float, stationary: bool) -> tuple[float, bool, float, TailForm]:
    """Exponent, has_root, threshold and tail on the side whose drift pulls inwards with `plateau`."""
    if not stationary:
        return math.nan, False, math.nan, TailForm("none", math.nan, math.nan)
    if model.jumps is None:
        beta = plateau / model.diffusion
        case = "diffusion" if math.isfinite(beta) else "confined"
        return beta, math.isfinite(beta), math.nan, TailForm(case, beta, 0.0)
    beta = model.jumps.exponent(plateau, model.diffusion)
    star = math.nan if math.isinf(plateau) else model.jumps.threshold(plateau, model.diffusion)
    return beta, math.isfinite(beta), star, model.jumps.tail(plateau, model.diffusion)
