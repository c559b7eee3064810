"""What theory makes of a model's far tails, constants included, and how a law that was read compares with it.

    root, no jumps      C = β N(β) / Φ'(β)                                  N(s) = ∫ e^{-sζ} (κ - F) ρ dζ  (theory (37))
    no root             C = η_J c λ N(λ) / Φ(λ)²                                                           (theory (38))
    threshold, α < 1    C = λ N(λ) α sin(πα) / (π η_J c)                                                   (theory (39))
    threshold, α = 1    C = λ N(λ) / (η_J c)                                                               (theory (40))
    threshold, α > 1    C = λ N(λ) / Φ'(λ)                                                                 (theory (41))
    κ - F ~ a/|ζ|       ρ ~ C e^{βζ} |ζ|^p,  p = a β/Φ'(β), at a root or without jumps                     (theory (42))

The right tail is the left tail of the density of -ζ. N needs the solution, but only where the drift has not reached its
limit: the constant of the far tail is predicted from the body, to the accuracy of the body (`tail_moment`).

The catch: with κ - F ~ a/|ζ| the integral N(β) diverges; the power is known then, the constant is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import exprel

from solver.checks import instance
from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.tail_form import TailForm
from solver.tail_moment import ROUNDED, body_moment
from solver.tails import TailLaw

Array = NDArray[np.float64]

# Depths at which (κ - F)|ζ| is looked at; it has a limit if it is the same to this share at both.
_FAR, _SAME = (1e4, 1e5), 0.02
# No density tells a model that is nearer to its threshold, by η_J*/η_J - 1, from one at it.
CLOSE = 1e-5
# Relative rounding of what Φ and Φ' are sums of (ψ is right to 1e-13), of which a small difference may be left.
_PHI = 2e-13


@dataclass(frozen=True)
class TailTheory:
    """A predicted tail: the form, its power with that of a slow drift, ln C (NaN where there is no formula), and why.

    `distance` is η_J*/η_J - 1, NaN where there is no threshold; `log_constant_error` bounds the error of ln C, inf
    where the grid ends long before the drift is constant.
    """

    form: TailForm
    power: float
    log_constant: float
    slow_drift: float
    note: str = ""
    distance: float = math.nan
    log_constant_error: float = math.inf


@dataclass(frozen=True)
class TailComparison:
    """A law that was read beside the predicted one; differences are read minus predicted, NaN where there is none."""

    law: TailLaw
    theory: TailTheory
    exponent_difference: float
    power_difference: float
    log_constant_difference: float

    @property
    def same_case(self) -> bool:
        """Whether the law has the predicted case; "threshold" where a density cannot tell the model from it."""
        at_threshold = self.law.case == "threshold" and abs(self.theory.distance) <= CLOSE
        return self.law.case == self.theory.form.case or at_threshold

    @property
    def covered(self) -> bool:
        """Whether every difference is within the law's uncertainty, that of ln C with the theory's own."""
        error = self.law.uncertainty
        pairs = (
            (self.exponent_difference, error.exponent),
            (self.power_difference, error.power),
            (self.log_constant_difference, error.log_constant + self.theory.log_constant_error),
        )
        return all(math.isnan(d) or abs(d) <= e for d, e in pairs)

    @property
    def passed(self) -> bool:
        """The same case, or "undecided", and every number within its uncertainty."""
        return (self.same_case or self.law.case == "undecided") and self.covered

    def __str__(self) -> str:
        verdict = "FAILED" if not self.passed else "undecided" if self.law.case == "undecided" else "ok"
        note = f" ({self.theory.note})" if self.theory.note else ""
        return (
            f"{self.law}\n"
            f"theory: {self.theory.form.case}, {self.theory.form}, "
            f"ln C = {self.theory.log_constant:.10g} ± {self.theory.log_constant_error:.1e}{note}\n"
            f"differences: exponent {self.exponent_difference:+.1e}, power {self.power_difference:+.1e}, "
            f"ln C {self.log_constant_difference:+.1e}: {verdict}"
        )


def laplace_slope(model: Model, b: float) -> float:
    """d/db of ∫ (e^{bz} - 1) ν dz for 0 < b < λ (b ≤ λ where α > 1).

    η_J c Γ(2-α) [(λ+b)^{α-1} - (λ-b)^{α-1}]/(α-1), written with exprel, so that it is smooth through α = 1.
    """
    law = model.jumps
    if law is None:
        return 0.0
    if isinstance(law, LaplaceJumps):
        gap = (law.tempering - b) * (law.tempering + b)
        if gap == 0:  # a double does not tell the root from the tempering
            return math.inf
        return float(2.0 * law.rate * b * law.tempering**2 / gap**2)
    assert isinstance(law, TemperedStableJumps)
    alpha, lam = law.stability, law.tempering
    if b == lam:
        if alpha <= 1:
            return math.inf
        return float(law.strength * math.gamma(2 - alpha) * (2 * lam) ** (alpha - 1) / (alpha - 1))
    up, down = math.log1p(b / lam), math.log1p(-b / lam) if b < 0.5 * lam else math.log((lam - b) / lam)
    e = alpha - 1
    bracket = up * float(exprel(e * up)) - down * float(exprel(e * down))
    return float(law.strength * math.gamma(2 - alpha) * lam**e * bracket)


def characteristic_slope(model: Model, b: float, plateau: float) -> float:
    """Φ'(b) = 2 η_G b + η_J ψ'(b) - κ."""
    return 2.0 * model.diffusion * b + laplace_slope(model, b) - plateau


def slow_approach(model: Model, side: str = "left") -> float:
    """a of κ - F ~ a/|ζ| on a side: 0 for anything faster; NaN for anything slower.

    >>> from solver.drifts import CallableDrift, TanhDrift
    >>> slow_approach(Model(TanhDrift(1.0), 0.3, None))
    0.0
    >>> drift = CallableDrift(lambda z: -z / (1 + abs(z)), left=1.0, right=1.0, scale=1.0)
    >>> round(slow_approach(Model(drift, 0.3, None)), 6)
    1.0
    """
    sign = -1.0 if side == "left" else 1.0
    plateau = model.left_plateau if side == "left" else model.right_plateau
    near, far = (s * (plateau + sign * float(model.drift(np.asarray(sign * s)))) for s in _FAR)
    if abs(far) <= _SAME * abs(near) or abs(far) <= _FAR[1] * ROUNDED * plateau:
        return 0.0
    if abs(far - near) > _SAME * abs(far):
        return 0.0 if abs(far) < 0.2 * abs(near) else math.nan
    return far + (far - near) / (_FAR[1] / _FAR[0] - 1)  # what is left falls as 1/s


def tail_theory(density: StationaryDensity, side: str = "left") -> TailTheory:
    """The tail that theory gives for the model of a density, its constant from N of the density.

    >>> from solver.drifts import ExponentialDrift
    >>> from solver.stationary import solve_stationary
    >>> theory = tail_theory(solve_stationary(Model(ExponentialDrift(0.6, 0.3), 0.3, None)))  # e^ζ ~ Gamma(2, 1): C = 1
    >>> theory.form.case, round(theory.log_constant, 8) + 0.0
    ('diffusion', 0.0)
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    model = density.model
    closed = closed_form(model)
    threshold = closed.threshold if side == "left" else closed.right_threshold
    found = _theory(density, side, closed.tail if side == "left" else closed.right_tail)
    distance = threshold / model.jumps.intensity - 1 if isinstance(model.jumps, TemperedStableJumps) else math.nan
    return replace(found, distance=distance)


def _theory(density: StationaryDensity, side: str, form: TailForm) -> TailTheory:
    model = density.model
    plateau = model.left_plateau if side == "left" else model.right_plateau
    if not math.isfinite(plateau) or form.case in ("confined", "none"):
        return TailTheory(form, form.power, math.nan, 0.0, "no constant: the drift grows without bound")
    a = slow_approach(model, side)
    law = model.jumps
    if form.case == "stable":
        assert isinstance(law, TemperedStableJumps)
        constant = math.log(law.strength / (law.stability * plateau))
        return TailTheory(form, form.power, constant, a, log_constant_error=_PHI)
    b = form.exponent
    if form.case in ("root", "diffusion"):
        slope = characteristic_slope(model, b, plateau)
        terms = 2.0 * model.diffusion * b + laplace_slope(model, b) + plateau
        if math.isinf(slope) and isinstance(law, LaplaceJumps):
            # doubles do not tell b from λ: b = λ - rate/(2(κ - η_G λ)), at which Φ' = 2λ (κ - η_G λ)²/rate
            away = plateau - model.diffusion * law.tempering
            log_slope, lost = math.log(2 * law.tempering * away) + math.log(away / law.rate), plateau / away
        elif math.isinf(slope):
            return TailTheory(form, 0.0, math.nan, a, "no constant: doubles do not tell the root from the tempering")
        else:
            log_slope, lost = math.log(slope), terms / slope
        if a != 0:
            power = a * b * math.exp(-log_slope)
            return TailTheory(form, power, math.nan, a, "a drift that approaches its limit as 1/|ζ|")
        body = body_moment(density, b, side)
        error = body.error + _PHI * lost
        return TailTheory(form, 0.0, math.log(b) + body.log_value - log_slope, a, log_constant_error=error)
    if a != 0 and form.case == "threshold":
        return TailTheory(form, math.nan, math.nan, a, "a slow drift at the threshold: no formula")
    assert isinstance(law, TemperedStableJumps)
    body = body_moment(density, b, side)
    log_factor, lost = _log_factor(model, form, plateau)
    constant = math.log(b) + body.log_value + log_factor
    return TailTheory(form, form.power, constant, a, log_constant_error=body.error + _PHI * lost)


def _log_factor(model: Model, form: TailForm, plateau: float) -> tuple[float, float]:
    """ln of C/(λ N(λ)) where the branch point has a say, and its error in units of rounding."""
    law = model.jumps
    assert isinstance(law, TemperedStableJumps)
    lam, alpha = law.tempering, law.stability
    if form.case == "tempered":
        noise = model.diffusion * lam**2 + float(law.laplace_exponent(lam))
        phi = noise - plateau * lam
        return math.log(law.strength) - 2 * math.log(-phi), 2 * (noise + plateau * lam) / -phi
    if alpha == 1:
        return -math.log(law.strength), 1.0
    if alpha < 1:
        return math.log(alpha * math.sin(math.pi * alpha) / (math.pi * law.strength)), 1.0
    slope = characteristic_slope(model, lam, plateau)
    return -math.log(slope), (slope + 2 * plateau) / slope


def compare_tail(law: TailLaw, density: StationaryDensity) -> TailComparison:
    """A law read by `tail_law` against theory; the model enters here, and only here.

    >>> from solver.drifts import TanhDrift
    >>> from solver.stationary import solve_stationary
    >>> from solver.tails import tail_law
    >>> density = solve_stationary(Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2)))
    >>> found = compare_tail(tail_law(density), density)
    >>> found.passed, abs(found.log_constant_difference) < 1e-8
    (True, True)
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    instance("law", law, TailLaw, "tail_law(density)")
    theory = tail_theory(density, law.side)
    if law.case == "threshold" != theory.form.case and abs(theory.distance) <= CLOSE:
        note = f"{theory.distance:.1e} from the threshold: not told apart from it at any depth that was looked at"
        return TailComparison(law, replace(theory, note=note), math.nan, math.nan, math.nan)
    exponent = theory.form.exponent
    return TailComparison(
        law,
        theory,
        law.exponent - exponent if math.isfinite(exponent) else math.nan,
        law.power - theory.power,
        law.log_constant - theory.log_constant,
    )
