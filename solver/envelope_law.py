"""The law of the envelope at long lags, from the law that the tail of ρ was seen to follow.

Averaged with the kernel e^{-ℓe^ζ} a tail e^{log_constant} e^{-exponent·s} s^{power} (ln s)^{log_power} of ρ becomes

    f(ℓ) ≈ e^{log_constant} Γ(exponent) ℓ^{-exponent} (ln ℓ)^{power} (ln ln ℓ)^{log_power}        (theory (45))

and without an exponential, where f is the mass below -ln ℓ, f ≈ e^{log_constant}/(-power - 1) (ln ℓ)^{power + 1}.

The catch: `holds_from` is the lag from which the bare power ℓ^{-exponent} describes the local exponent. With a power of
ln ℓ beside it that is astronomical: the local exponent differs by -power/ln ℓ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from solver.checks import instance, number
from solver.density import StationaryDensity
from solver.errors import ModelError
from solver.interpolant import Array
from solver.tails import TailLaw, tail_law

# Lags looked at for `holds_from`, evenly spaced in ln ln ℓ: steps of ln ℓ of at most 10% between 1 and 1e5.
_LOOKS = 121
# … and again between the last that is off and the next.
_CLOSER = 21
# A lag is felt at most this far below -ln ℓ.
_BELOW = 40.0


@dataclass(frozen=True)
class EnvelopeLaw:
    """f ≈ e^{log_constant} ℓ^{-exponent} (ln ℓ)^{power} (ln ln ℓ)^{log_power} at long lags.

    `uncertainty` is that of `log_constant`; `holds_from` the ln ℓ from which on -d ln f/d ln ℓ is within the share
    `within` of `exponent` (inf where it is not by `looked`, the largest ln ℓ looked at; NaN without an exponent).
    """

    exponent: float
    power: float
    log_power: int
    log_constant: float
    uncertainty: float
    within: float
    holds_from: float
    looked: float

    @property
    def constant(self) -> float:
        """The constant in front."""
        return float(np.exp(self.log_constant))

    def log_value(self, log_lags: ArrayLike) -> Array:
        """ln of the law at ln ℓ > 0 (> 1 where there is a double logarithm), any shape."""
        x = np.asarray(log_lags, dtype=float)
        value = self.log_constant - self.exponent * x + (self.power * np.log(x) if self.power else 0.0)
        return np.asarray(value + self.log_power * np.log(np.log(x)) if self.log_power else value)

    def __str__(self) -> str:
        factors = [f"{self.constant:.8g}", f"ℓ^-{self.exponent:.9g}" if self.exponent else ""]
        factors += [f"(ln ℓ)^{self.power:.6g}" if self.power else "", "/ (ln ln ℓ)" if self.log_power else ""]
        return "f ≈ " + " ".join(factor for factor in factors if factor)


def envelope_law(density: StationaryDensity, law: TailLaw | None = None, within: float = 0.01) -> EnvelopeLaw:
    """The envelope's law at long lags; `law` is the left tail's, read here unless given.

    Raises ModelError where the tail is cut off or shows no law (`log_constant` is NaN), and unless 0 < within < 1.

    >>> from solver import Model, TanhDrift, solve_stationary
    >>> law = envelope_law(solve_stationary(Model(TanhDrift(1.0), 0.5, None)))  # ρ → 2 e^{2ζ}, Γ(2) = 1
    >>> print(law, round(law.holds_from, 1))
    f ≈ 2 ℓ^-2 3.5
    """
    instance("density", density, StationaryDensity, "solve_stationary(model)")
    within = number("within", within, 0.0, 1.0, open_low=True, open_high=True)
    if density.null.left is None:
        raise ModelError(f"the density ends at a stop edge, ζ = {density.grid.left:g}: its tail is cut off there")
    law = tail_law(density) if law is None else law
    if not np.isfinite(law.log_constant):
        raise ModelError(f"law: the {law.side} tail shows none ({law.reason}), so the envelope has none either")
    looked = max(law.sampled - _BELOW, 2.0) if np.isfinite(law.sampled) else 1e5
    if law.exponent == 0:
        constant = law.log_constant - float(np.log(-law.power - 1))
        return EnvelopeLaw(0.0, law.power + 1, 0, constant, law.uncertainty.log_constant, within, float("nan"), looked)
    constant = law.log_constant + float(gammaln(law.exponent))
    # the constant inherits the exponent's error through Γ
    slack = abs(float(gammaln(law.exponent + law.uncertainty.exponent) - gammaln(law.exponent)))
    return EnvelopeLaw(
        law.exponent,
        law.power,
        law.log_power,
        constant,
        law.uncertainty.log_constant + slack,
        within,
        _onset(density, law.exponent, within, looked),
        looked,
    )


def _onset(density: StationaryDensity, exponent: float, within: float, looked: float) -> float:
    """The first ln ℓ looked at from which on the local exponent stays within the share `within`."""

    def near(log_lags: Array) -> NDArray[np.bool_]:
        return np.abs(density.envelope(log_lags=log_lags).local_exponent - exponent) <= within * exponent

    log_lags = np.concatenate([np.linspace(-2.0, 1.0, 31)[:-1], np.geomspace(1.0, looked, _LOOKS)])
    wrong = np.flatnonzero(~near(log_lags))
    if not wrong.size:
        return float(log_lags[0])
    if wrong[-1] == log_lags.size - 1:
        return float("inf")
    between = np.linspace(log_lags[wrong[-1]], log_lags[wrong[-1] + 1], _CLOSER)
    return float(between[np.flatnonzero(~near(between))[-1] + 1])
