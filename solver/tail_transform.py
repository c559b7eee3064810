"""The tail of a density whose transform has a branch point: all its powers of the depth at once.

    ρ(s) e^{λs} = (1/2πi) ∫ e^{us} R(u) du,     R = P(u)/D(u),     D(u) = τ + f u - (u^α - u)/(α - 1)      (theory (43))

s is the depth, u = λ - b the distance to the end of the strip of analyticity, P a polynomial, and D is -Φ(λ-u) over a
constant: its only singularity is what jumps e^{-λz} z^{-1-α} make. Expanded in powers of u^α it gives the powers of
s^{-1} in {jα + k}; kept whole it holds where that series is useless: α of 0.1, or a root that has nearly come up to λ
(τ → 0). The form is smooth in α through 1, where D = τ + f u - u ln u.

Two ways to turn R into ρ. Along the cut u < 0 only the jump of R counts, so that nothing analytic can cancel: right for
τ > 0. A contour around the cut takes a pole along and does not mind it coming close: right for τ near 0.

The catch: the cut's integrand has a peak of relative width v^{α-1} about v = τ/f when α > 1 and τ is small; a fit that
lives on depths up to 1/v does not resolve it and says so by its misfit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Step in ln u along the cut: the trapezoid rule errs by e^{-2πw/0.08} for a peak of relative width w: 1e-10 at w = 0.3.
_STEP = 0.08
# The cut is left where e^{-vs} < e^{-45}, and where v^{1+α} < e^{-36} of its value at 1/s (v^{1-α} near a threshold).
_FAR, _NEAR = 45.0, 36.0
# Points of Talbot's contour with the parameters of Abate and Valko (2004): 0.6 digits each, and e^{2·24/5} of rounding.
_TALBOT = 24
# Below this |x| the series of (e^x - 1)/x, 18 terms: 0.5^18/19! is below any rounding.
_SMALL, _TERMS = 0.5, 18
_SERIES = [1.0 / math.factorial(k + 1) for k in range(_TERMS)]


@dataclass(frozen=True, eq=False)
class Rule:
    """A quadrature for the inverse transform at given depths: R is wanted at `u`, whose logarithms are `log_u`.

    `weights` is (depths, points) for a rule whose points serve all depths, and acts on -Im R; a contour has its own
    points for every depth, `weights` (points,), and acts on R.
    """

    u: Complex
    log_u: Complex
    weights: NDArray[Any]
    depths: Array
    shared: bool

    def invert(self, rows: Complex) -> Array:
        """ρ e^{λs} at every depth (n, m) of the transforms whose values are `rows` (m, points)."""
        if self.shared:
            return np.asarray(-(self.weights @ rows.imag.T))
        values = rows.reshape(rows.shape[0], self.depths.size, -1)
        return np.asarray(((values * self.weights).sum(axis=-1).real / self.depths).T)


def cut_rule(depths: Array) -> Rule:
    """Along the cut: (1/π) ∫ e^{-vs} (-Im R(-v + i0)) dv by the trapezoid rule in ln v."""
    x = np.arange(-_NEAR - np.log(depths.max()), np.log(_FAR / depths.min()), _STEP)
    v = np.exp(x)
    weights = np.exp(-np.multiply.outer(depths, v)) * v * (_STEP / np.pi)
    return Rule(-v + 0j, x + 1j * np.pi, weights, depths, shared=True)


def contour_rule(depths: Array) -> Rule:
    """Around the cut and a pole near 0: Talbot's contour, scaled with each depth.

    >>> rule = contour_rule(np.array([2.0, 50.0]))
    >>> bool(abs(rule.invert(rule.u[None] ** -0.5)[:, 0] * np.sqrt(np.pi * rule.depths) - 1).max() < 1e-11)
    True
    """
    angle = np.arange(1, _TALBOT) * np.pi / _TALBOT
    cot = 1.0 / np.tan(angle)
    z = 0.4 * _TALBOT * np.concatenate([[1.0], angle * (cot + 1j)])
    turn = np.concatenate([[0.5], 1 + 1j * angle * (1 + cot**2) - 1j * cot])
    u = (z / depths[:, None]).ravel()
    return Rule(u.astype(complex), np.log(u), 0.4 * turn * np.exp(z), depths, shared=False)


def relative_exponential(x: Complex) -> Complex:
    """(e^x - 1)/x for complex x, smooth at 0.

    >>> complex(relative_exponential(np.array([0j, 1e-9 + 0j, 2.0 + 0j]))[1])
    (1.0000000005+0j)
    """
    small = np.abs(x) < _SMALL
    out = np.empty(x.shape, dtype=complex)
    near, total = x[small], np.zeros(int(small.sum()), dtype=complex)
    for coefficient in reversed(_SERIES):
        total = total * near + coefficient
    out[small] = total
    out[~small] = np.expm1(x[~small]) / x[~small]
    return out


def denominator(u: Complex, log_u: Complex, index: float, level: float, slope: float) -> Complex:
    """D(u) = level + slope·u - (u^α - u)/(α - 1)."""
    return np.asarray(level + slope * u - u * log_u * relative_exponential((index - 1.0) * log_u))


def level_of_root(index: float, slope: float, gap: float) -> float:
    """τ for which D vanishes at u = `gap` > 0: the root lies that far below λ."""
    u = np.array([gap + 0j])
    return float(-denominator(u, np.log(u), index, 0.0, slope)[0].real)


def slope_at(index: float, slope: float, gap: float) -> float:
    """D'(gap) = slope - (α gap^{α-1} - 1)/(α - 1)."""
    x = np.array([(index - 1.0) * math.log(gap) + 0j])
    return float(slope - 1.0 - index * math.log(gap) * relative_exponential(x)[0].real)


def transforms(rule: Rule, index: float, level: float, slope: float, gap: float, terms: int, further: int) -> Complex:
    """u^k/D for k < `terms`, and u^{2+k}/D² for k < `further`: what D leaves out, to first order; (m, points).

    With a `gap` the variable is the distance to the root and not to λ: depths are then weighed with e^{βs}.
    """
    u = rule.u + gap
    log_u = np.log(u) if gap else rule.log_u
    d = denominator(u, log_u, index, level, slope)
    rows = [u**k / d for k in range(terms)] + [(u / d) ** 2 * u**k for k in range(further)]
    return np.asarray(rows)
