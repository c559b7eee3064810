"""The shape of a far tail of the stationary density, up to its constant.

    ρ(ζ) ~ C e^{-exponent·s} s^{power} (ln s)^{log_power},    s = |ζ| → ∞

    over |F(ζ)| if `over_drift`, and then times exp(repeated · ∫ ds/|F|): far jumps that follow one another

A tail of ρ at ζ → -∞ is the same tail of the time scales, p(τ) ~ C τ^{-1-exponent} (ln τ)^{power} …, and of
the envelope, f(ℓ) ~ C Γ(exponent) ℓ^{-exponent} (ln ℓ)^{power} …; at ζ → +∞ it is the behaviour of p(τ) at
τ → 0. The catch: the shape is asymptotic. Where `power` is not 0 the corrections run in s^{-α} or slower
and reach far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# case: what rules the tail
CASES = {
    "root": "balance of drift, diffusion and jumps: the root β < λ",
    "tempered": "single jumps: no root below the tempering",
    "threshold": "the root has just reached the tempering",
    "diffusion": "drift against Gaussian noise, no jumps",
    "stable": "single jumps without tempering: no exponential at all",
    "confined": "a drift that grows without bound",
    "none": "no stationary density",
}


@dataclass(frozen=True)
class TailForm:
    """One tail; the fields are those of the equation at the head of this module, `case` is a key of CASES.

    `exponent` is inf where the density falls faster than any exponential, and NaN in the case "none".

    >>> print(TailForm("tempered", 1.0, -1.5))
    e^(-1 s) s^-1.5
    """

    case: str
    exponent: float
    power: float
    log_power: int = 0
    over_drift: bool = False
    repeated: float = 0.0

    @property
    def drift_factor(self) -> str:
        """What the drift does to the tail, " / |F|" where it grows; "" where it does not.

        >>> TailForm("confined", 2.0, 0.0, over_drift=True, repeated=0.25).drift_factor
        ' exp(0.25 ∫ds/|F|) / |F|'
        """
        if not self.over_drift:
            return ""
        return (f" exp({self.repeated:.4g} ∫ds/|F|)" if self.repeated else "") + " / |F|"

    @property
    def meaning(self) -> str:
        """In words, what rules the tail."""
        return CASES[self.case]

    def __str__(self) -> str:
        if self.case == "none":
            return "none"
        if math.isinf(self.exponent):
            return "faster than any exponential"
        factors = [f"e^(-{self.exponent:.6g} s)"] if self.exponent else []
        factors += [f"s^{self.power:.6g}"] if self.power else []
        factors += [f"(ln s)^{self.log_power}"] if self.log_power else []
        return " ".join(factors) + self.drift_factor


def jump_tail(stability: float, tempering: float, over_drift: bool = False) -> TailForm:
    """The tail made by single large jumps: |F| ρ ~ the integral of ν from s to ∞, up to a constant.

    Tempering turns that integral into ν itself, e^{-λs} s^{-1-α}; without it, it is s^{-α}.

    >>> str(jump_tail(1.5, 0.0)), str(jump_tail(1.5, 2.0, over_drift=True))
    ('s^-1.5', 'e^(-2 s) s^-2.5 / |F|')
    """
    case = "confined" if over_drift else "tempered" if tempering > 0 else "stable"
    power = -1.0 - stability if tempering > 0 else -stability
    return TailForm(case, tempering, power, over_drift=over_drift)


def threshold_tail(stability: float, tempering: float) -> TailForm:
    """The tail exactly at the threshold, where the root meets the singularity (λ-b)^α of ψ at b = λ.

    >>> str(threshold_tail(1.0, 2.0)), str(threshold_tail(1.5, 2.0))
    ('e^(-2 s) (ln s)^-1', 'e^(-2 s)')
    """
    power = min(stability - 1.0, 0.0)
    return TailForm("threshold", tempering, power, log_power=-1 if stability == 1.0 else 0)
