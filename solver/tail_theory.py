"""What theory makes of a model's far tails, constants included, and how a law that was read compares with it.

    root, no jumps      C = β N(β) / Φ'(β)                                  N(s) = ∫ e^{-sζ} (κ - F) ρ dζ  (theory (37))
    no root             C = η_J c λ N(λ) / Φ(λ)²                                                           (theory (38))
    threshold, α < 1    C = λ N(λ) α sin(πα) / (π η_J c)                                                   (theory (39))
    threshold, α = 1    C = λ N(λ) / (η_J c)                                                               (theory (40))
    threshold, α > 1    C = λ N(λ) / Φ'(λ)                                                                 (theory (41))
    κ - F ~ a/|ζ|       ρ ~ C e^{βζ} |ζ|^p,  p = a β/Φ'(β), at a root or without jumps                     (theory (42))

The right tail is the left tail of the density of -ζ. N needs the solution, but only where the drift has not reached its
limit: the constant of the far tail is predicted from the body, to the accuracy of the body.

The catch: with κ - F ~ a/|ζ| the integral N(β) diverges; the power is known then, the constant is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import exprel

from solver.closed_form import closed_form
from solver.density import StationaryDensity
from solver.jumps import LaplaceJumps, TemperedStableJumps
from solver.model import Model
from solver.tail_form import TailForm
from solver.tails import TailLaw

Array = NDArray[np.float64]

# Depths at which (κ - F)|ζ| is looked at; it has a limit if it is the same to this share at both.
_FAR, _SAME = (1e4, 1e5), 0.02
# Steps of ζ beyond an open edge on the far side that are summed for N, in nodes.
_BEYOND = 20_000
# No density tells a model that is nearer to its threshold, by η_J*/η_J - 1, from one at it.
CLOSE = 1e-5
# κ - F below this share of κ is rounding.
_ROUNDED = 1e-13


@dataclass(frozen=True)
class TailTheory:
    """A predicted tail: the form, its power with that of a slow drift, ln C (NaN where there is no formula), and why.

    `distance` is η_J*/η_J - 1, NaN where there is no threshold.
    """

    form: TailForm
    power: float
    log_constant: float
    slow_drift: float
    note: str = ""
    distance: float = math.nan


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
        """Whether every difference is within the law's uncertainty."""
        error = self.law.uncertainty
        pairs = (
            (self.exponent_difference, error.exponent),
            (self.power_difference, error.power),
            (self.log_constant_difference, error.log_constant),
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
            f"theory: {self.theory.form.case}, {self.theory.form}, ln C = {self.theory.log_constant:.10g}{note}\n"
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


def log_moment(density: StationaryDensity, s: float, side: str = "left") -> float:
    """ln N(s), N(s) = ∫ e^{-sζ} (κ - F) ρ dζ, by the trapezoid rule on the nodes, which is spectrally accurate.

    On the side of the tail F = κ beyond an open edge and nothing is left out; on the other the terms fall as e^{-sζ} ρ.
    """
    sign = -1.0 if side == "left" else 1.0
    model, grid = density.model, density.grid
    plateau = model.left_plateau if side == "left" else model.right_plateau
    zeta, values = grid.zeta, density.log_density
    far = density.null.right if side == "left" else density.null.left
    if far is not None:
        edge = grid.right if side == "left" else grid.left
        extra = edge - sign * grid.spacing * np.arange(1, _BEYOND + 1)
        zeta, values = np.concatenate([zeta, extra]), np.concatenate([values, density.logpdf(extra)])
    short = plateau + sign * model.drift(zeta)  # κ - F on the left, κ + F on the right
    logs = sign * s * zeta + values
    keep = np.abs(short) > _ROUNDED * plateau
    top = float(logs[keep].max())
    total = float(np.sum(short[keep] * np.exp(logs[keep] - top))) * grid.spacing
    return math.log(total) + top if total > 0 else math.nan


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
    if abs(far) <= _SAME * abs(near) or abs(far) <= _FAR[1] * _ROUNDED * plateau:
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
        return TailTheory(form, form.power, math.log(law.strength / (law.stability * plateau)), a)
    b = form.exponent
    if form.case in ("root", "diffusion"):
        slope = characteristic_slope(model, b, plateau)
        if math.isinf(slope):
            return TailTheory(form, 0.0, math.nan, a, "no constant: doubles do not tell the root from the tempering")
        if a != 0:
            return TailTheory(form, a * b / slope, math.nan, a, "a drift that approaches its limit as 1/|ζ|")
        return TailTheory(form, 0.0, math.log(b) + log_moment(density, b, side) - math.log(slope), a)
    if a != 0 and form.case == "threshold":
        return TailTheory(form, math.nan, math.nan, a, "a slow drift at the threshold: no formula")
    assert isinstance(law, TemperedStableJumps)
    top = math.log(b) + log_moment(density, b, side)
    return TailTheory(form, form.power, top + _log_factor(model, form, plateau), a)


def _log_factor(model: Model, form: TailForm, plateau: float) -> float:
    """ln of C/(λ N(λ)) where the branch point has a say."""
    law = model.jumps
    assert isinstance(law, TemperedStableJumps)
    lam, alpha = law.tempering, law.stability
    if form.case == "tempered":
        phi = model.diffusion * lam**2 + float(law.laplace_exponent(lam)) - plateau * lam
        return math.log(law.strength) - 2 * math.log(-phi)
    if alpha == 1:
        return -math.log(law.strength)
    if alpha < 1:
        return math.log(alpha * math.sin(math.pi * alpha) / (math.pi * law.strength))
    return -math.log(characteristic_slope(model, lam, plateau))


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
